#include "bbs/cli/events.h"

#include "bbs/cli/record_text.h"
#include "common/base/memory.h"
#include "common/base/time_text.h"
#include "common/cli/table.h"
#include "common/codec/json.h"
#include "common/codec/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A record that was reported. */
struct events_known {
    int64_t mod_revision;
    uint64_t listing; /* the last snapshot that had it */
};

void events_init(struct events *e, bool json)
{
    *e = (struct events){.json = json};
    frames_init(&e->frames);
    map_init(&e->known);
    buf_init(&e->out);
}

void events_done(struct events *e)
{
    frames_done(&e->frames);
    map_done(&e->known, free);
    buf_done(&e->out);
}

void events_connect(struct events *e, bool compares)
{
    frames_connect(&e->frames);
    e->compares = compares;
    e->snapshot = e->caught_up = e->older = e->missed = e->behind = false;
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
    const char *topic = record_kind(type)->topic;
    if (topic && strcmp(topic, "edge") == 0) {
        return record_edge_name(a, type, key);
    }
    const char *name = key_component(a, key, 1), *what = record_name(a, type, m);
    if (*what) {
        return arena_printf(a, "%s %s", type == RECORD_JOB_RUN ? "job run" : record_type_name(type),
                            what);
    }
    return name ? arena_printf(a, "%s %s", record_type_name(type), name) : key;
}

static const char *verb_of(const struct events *e, const Board__FeedFrame *f)
{
    if (f->kind == BOARD__FEED_FRAME__KIND__DELETE) {
        return "gone";
    }
    /* Of a snapshot only what was not there before is new, whatever became of it since. */
    bool first = f->kind == BOARD__FEED_FRAME__KIND__RECORD ? !map_get(&e->known, f->key)
                                                            : f->create_revision == f->mod_revision;
    return first ? "new" : "changed";
}

/* A record of a snapshot has the snapshot's revision. */
static int64_t revision_of(const Board__FeedFrame *f)
{
    return f->kind == BOARD__FEED_FRAME__KIND__RECORD ? f->mod_revision : f->revision;
}

static void print_text(struct events *e, struct arena *a, const Board__FeedFrame *f,
                       enum record_type type, const ProtobufCMessage *m)
{
    const char *what = m ? record_text(a, type, m) : "";
    char time[WALL_TEXT_BYTES];
    buf_printf(&e->out, "%s%s", e->times ? wall_text(e->now_ns, time) : "", e->times ? " " : "");
    printable_append(&e->out,
                     arena_printf(a, "%-8lld %-8s %s%s%s", (long long)revision_of(f), verb_of(e, f),
                                  text_of_key(a, f->key, type, m), *what ? ": " : "", what));
    buf_append_string(&e->out, "\n");
}

static void print_json(struct events *e, const Board__FeedFrame *f, const ProtobufCMessage *m)
{
    buf_printf(&e->out, "{\"change\":\"%s\",\"revision\":%lld,", verb_of(e, f),
               (long long)revision_of(f));
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
    if (*f->board_generation) {
        snprintf(e->board_generation, sizeof(e->board_generation), "%s", f->board_generation);
    }
    e->revision = f->revision;
}

/* ---- What was reported, so that a snapshot can be compared with it ---- */

/* Once a connection. */
static void miss(struct events *e)
{
    if (!e->missed) {
        buf_append_string(&e->out,
                          e->json ? "{\"change\":\"missed\"}\n" : "(some changes were missed)\n");
    }
    e->missed = true;
}

static void learn(struct events *e, const Board__FeedFrame *f)
{
    struct events_known *k = map_get(&e->known, f->key);
    if (!k) {
        k = mem_zeroed(sizeof(*k));
        map_put(&e->known, f->key, k);
    }
    *k = (struct events_known){f->mod_revision, e->listing};
}

static void reset(struct events *e, const Board__FeedFrame *f)
{
    bool other = strcmp(e->board_generation, f->board_generation) != 0;
    bool before = f->revision < e->revision || f->revision < e->change_revision;
    e->older = e->compares && !other && before;
    e->snapshot = true;
    e->compared = 0;
    e->listing++;
    if (e->seen && !e->older && (other || !e->compares)) {
        miss(e);
    }
    if (other) { /* its revisions are others */
        map_done(&e->known, free);
        map_init(&e->known);
        e->change_revision = 0;
    }
    e->fresh = other;
}

static void take_record(struct events *e, struct arena *a, const Board__FeedFrame *f)
{
    struct events_known *k = map_get(&e->known, f->key);
    if (e->compares && !e->fresh && f->mod_revision > e->revision) {
        if (k) {
            k->listing = e->listing;
        }
        return; /* it is reported in its turn */
    }
    if (!e->fresh && (!k || k->mod_revision != f->mod_revision)) {
        miss(e);
        print_change(e, a, f);
    }
    learn(e, f);
}

/* What the snapshot has not is gone, and nobody reported. */
static void tell_unlisted(struct events *e, struct arena *a, int64_t revision)
{
    MAP_EACH(&e->known, n)
    {
        struct events_known *k = map_value(n);
        if (k->listing != e->listing) {
            Board__FeedFrame gone = BOARD__FEED_FRAME__INIT;
            gone.kind = BOARD__FEED_FRAME__KIND__DELETE;
            gone.revision = revision;
            gone.key = arena_strdup(a, map_key(n));
            miss(e);
            print_change(e, a, &gone);
            free(map_remove(&e->known, gone.key));
        }
    }
}

static void take_current(struct events *e, struct arena *a, const Board__FeedFrame *f)
{
    e->behind = e->compares && !e->fresh && f->revision > e->revision;
    e->snapshot = false;
    e->seen = e->caught_up = true;
    if (e->behind) {
        e->compared = f->revision;
        return;
    }
    tell_unlisted(e, a, f->revision);
    move_to(e, f);
}

static void take_heartbeat(struct events *e, struct arena *a, const Board__FeedFrame *f)
{
    if (e->snapshot) {
        return; /* a long one is alive, and its end has the position */
    }
    e->caught_up =
        f->revision >= e->revision || strcmp(f->board_generation, e->board_generation) != 0;
    if (e->caught_up) {
        move_to(e, f);
    }
    if (e->compared && e->revision >= e->compared) {
        tell_unlisted(e, a, e->compared);
        e->compared = 0;
    }
}

/* What has the revision at which the feed was resumed may be reported again. */
static void take_change(struct events *e, struct arena *a, const Board__FeedFrame *f)
{
    const struct events_known *k = map_get(&e->known, f->key);
    if (f->kind == BOARD__FEED_FRAME__KIND__DELETE) {
        if (k && k->mod_revision <= f->revision) {
            print_change(e, a, f);
            free(map_remove(&e->known, f->key));
        }
    } else if (!k || k->mod_revision < f->mod_revision) {
        print_change(e, a, f);
        learn(e, f);
    }
}

static void take_frame(void *events, struct arena *a, const Board__FeedFrame *f)
{
    struct events *e = events;
    if (e->older || e->behind) {
        return; /* what follows here would move the position past what comes in its turn */
    }
    switch (f->kind) {
    case BOARD__FEED_FRAME__KIND__RESET:
        reset(e, f);
        break;
    case BOARD__FEED_FRAME__KIND__RECORD:
        take_record(e, a, f);
        break;
    case BOARD__FEED_FRAME__KIND__CURRENT:
        take_current(e, a, f);
        break;
    case BOARD__FEED_FRAME__KIND__HEARTBEAT:
        take_heartbeat(e, a, f);
        break;
    case BOARD__FEED_FRAME__KIND__PUT:
    case BOARD__FEED_FRAME__KIND__DELETE:
        take_change(e, a, f);
        /* More changes may have this revision: only a heartbeat says that all were reported. */
        e->revision = f->revision > e->revision ? f->revision - 1 : e->revision;
        e->change_revision = f->revision > e->change_revision ? f->revision : e->change_revision;
        break;
    default:
        break;
    }
}

int events_take(struct events *e, struct bytes bytes, struct err *err)
{
    int r = frames_take(&e->frames, bytes, take_frame, e, err);
    return r == 0 && e->older ? err_set(err, ERR_UNAVAILABLE, "this bbs is behind another one") : r;
}
