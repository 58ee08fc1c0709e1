#include "bbs/cli/events.h"

#include "bbs/cli/lrps.h"
#include "bbs/cli/tasks.h"
#include "board.pb-c.h"
#include "common/cli/table.h"
#include "common/codec/json.h"
#include "common/codec/secrets.h"
#include "common/model/record.h"

#include <stdio.h>
#include <string.h>

void events_init(struct events *e, bool json)
{
    *e = (struct events){.json = json};
    frames_init(&e->frames);
    buf_init(&e->out);
}

void events_done(struct events *e)
{
    frames_done(&e->frames);
    buf_done(&e->out);
}

void events_connect(struct events *e)
{
    frames_connect(&e->frames);
    e->snapshot = false;
}

static const char *text_of_actual(struct arena *a, const Models__ActualLRP *r)
{
    const Models__ActualLRPInstanceKey *at = r->actual_lrp_instance_key;
    const char *cell = at && *at->cell_id ? arena_printf(a, " on %s", at->cell_id) : "";
    const char *net = net_info_text(a, r->actual_lrp_net_info);
    const char *problem = lrp_reason(r);
    return arena_printf(a, "%s%s%s%s%s%s%s", state_text(a, r), cell, *net == '-' ? "" : " ",
                        *net == '-' ? "" : net, *problem ? " (" : "", problem, *problem ? ")" : "");
}

static const char *text_of_cell(struct arena *a, const Board__CellRecord *c)
{
    const ProtobufCEnumValue *state =
        protobuf_c_enum_descriptor_get_value(&board__cell_record__state__descriptor, (int)c->state);
    return arena_printf(a, "%s%s%s session %llu%s", state ? state->name : "?",
                        c->presence ? " zone " : "", c->presence ? c->presence->zone : "",
                        (unsigned long long)c->session, c->evacuating ? " evacuating" : "");
}

static const char *text_of(struct arena *a, enum record_type type, const ProtobufCMessage *m)
{
    switch (type) {
    case RECORD_ACTUAL:
        return text_of_actual(a, (const Models__ActualLRP *)m);
    case RECORD_BRAKE: {
        const Board__BrakeRecord *brake = (const Board__BrakeRecord *)m;
        const ProtobufCEnumValue *state = protobuf_c_enum_descriptor_get_value(
            &board__brake_record__state__descriptor, (int)brake->state);
        return arena_printf(a, "%s, %zu cells", state ? state->name : "?", brake->n_cells);
    }
    case RECORD_CELL:
        return text_of_cell(a, (const Board__CellRecord *)m);
    case RECORD_DESIRED: {
        const Models__DesiredLRP *lrp = (const Models__DesiredLRP *)m;
        return arena_printf(a, "%s, %d instances", lrp_name(lrp), (int)lrp->instances);
    }
    case RECORD_TASK: {
        const Models__Task *task = (const Models__Task *)m;
        bool why = task_is_over(task) && task->failed;
        return arena_printf(a, "%s%s%s%s%s%s", task_state_text(a, task),
                            *task->cell_id ? " on " : "", task->cell_id, why ? " (" : "",
                            why ? task_failure_text(a, task) : "", why ? ")" : "");
    }
    case RECORD_LEAD: {
        const Board__LeadRecord *lead = (const Board__LeadRecord *)m;
        return arena_printf(a, "held by %s at %s", lead->holder, lead->url);
    }
    default:
        return "";
    }
}

/* "web-81c3f7580f 2" for a person: the key without its escapes and padding. */
static const char *text_of_key(struct arena *a, const char *key, enum record_type type,
                               const ProtobufCMessage *m)
{
    if (type == RECORD_ACTUAL && m) {
        const Models__ActualLRPKey *k = ((const Models__ActualLRP *)m)->actual_lrp_key;
        if (k) {
            return arena_printf(a, "instance %s/%d", k->process_guid, (int)k->index);
        }
    }
    const char *name = key_component(a, key, 1);
    return name ? arena_printf(a, "%s %s", record_type_name(type), name) : key;
}

static const char *verb_of(const Board__FeedFrame *f)
{
    return f->kind == BOARD__FEED_FRAME__KIND__DELETE ? "gone"
           : f->create_revision == f->mod_revision    ? "new"
                                                      : "changed";
}

static void print_text(struct events *e, struct arena *a, const Board__FeedFrame *f,
                       enum record_type type, const ProtobufCMessage *m)
{
    const char *what = m ? text_of(a, type, m) : "";
    char time[WALL_TEXT_BYTES];
    buf_printf(&e->out, "%s%s", e->times ? wall_text(e->now_ns, time) : "", e->times ? " " : "");
    printable_append(&e->out,
                     arena_printf(a, "%-8lld %-8s %s%s%s", (long long)f->revision, verb_of(f),
                                  text_of_key(a, f->key, type, m), *what ? ": " : "", what));
    buf_append_string(&e->out, "\n");
}

static void print_json(struct events *e, const Board__FeedFrame *f, const ProtobufCMessage *m)
{
    buf_printf(&e->out, "{\"change\":\"%s\",\"revision\":%lld,", verb_of(f),
               (long long)f->revision);
    if (e->times) {
        buf_printf(&e->out, "\"heard_at\":%lld,", (long long)e->now_ns);
    }
    buf_append_string(&e->out, "\"key\":");
    json_string_text(bytes_of(f->key), &e->out);
    buf_append_string(&e->out, ",\"record\":");
    if (!m || json_encode(m, CODEC_OWN | CODEC_SNAKE_CASE, &e->out, NULL) < 0) {
        buf_append_string(&e->out, "null");
    }
    buf_append_string(&e->out, "}\n");
}

/* A record of a later version or type is shown by its key alone. */
static void print_change(struct events *e, struct arena *a, const Board__FeedFrame *f)
{
    enum record_type type = key_type(f->key);
    ProtobufCMessage *m = frame_record(a, f);
    if (m && !e->show_secrets) {
        secrets_hide(a, m);
    }
    if (e->json) {
        print_json(e, f, m);
    } else {
        print_text(e, a, f, type, m);
    }
}

static void move_to(struct events *e, const Board__FeedFrame *f)
{
    if (*f->epoch) {
        snprintf(e->epoch, sizeof(e->epoch), "%s", f->epoch);
    }
    e->revision = f->revision;
}

static void take_frame(void *events, struct arena *a, const Board__FeedFrame *f)
{
    struct events *e = events;
    switch (f->kind) {
    case BOARD__FEED_FRAME__KIND__RESET:
        e->snapshot = true;
        if (e->seen && !e->json) {
            buf_append_string(&e->out, "(some changes were missed)\n");
        }
        break;
    case BOARD__FEED_FRAME__KIND__CURRENT:
        e->snapshot = false;
        e->seen = true;
        move_to(e, f);
        break;
    case BOARD__FEED_FRAME__KIND__HEARTBEAT:
        move_to(e, f);
        break;
    case BOARD__FEED_FRAME__KIND__PUT:
    case BOARD__FEED_FRAME__KIND__DELETE:
        print_change(e, a, f);
        /* More changes may have this revision: only a heartbeat says that all were told. */
        e->revision = f->revision > e->revision ? f->revision - 1 : e->revision;
        break;
    default:
        break;
    }
}

int events_take(struct events *e, struct bytes bytes, struct err *err)
{
    return frames_take(&e->frames, bytes, take_frame, e, err);
}
