#include "test/sim/world/story.h"

#include "board.pb-c.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"

#include <string.h>

static void story_named(struct buf *out, const struct story_subject *s, const ProtobufCMessage *m)
{
    buf_printf(out, "%s %s", s->kind, s->name);
}

static void story_named_gone(struct buf *out, const struct story_subject *s)
{
    buf_printf(out, "%s %s gone", s->kind, s->name);
}

/* "source_id" is every instance's. */
static void print_tags(struct buf *out, const Models__ActualLRP *r)
{
    for (size_t i = 0; i < r->n_metric_tags; i++) {
        if (strcmp(r->metric_tags[i]->key, "source_id") != 0) {
            buf_printf(out, ", %s=%s", r->metric_tags[i]->key, r->metric_tags[i]->value);
        }
    }
}

static void story_actual(struct buf *out, const struct story_subject *s, const ProtobufCMessage *m)
{
    static const char *const presences[] = {"", " EVACUATING", " SUSPECT"};
    const Models__ActualLRP *r = (const Models__ActualLRP *)m;
    buf_printf(out, "%s%s", r->state, presences[r->presence]);
    if (r->actual_lrp_instance_key && *r->actual_lrp_instance_key->cell_id) {
        buf_printf(out, " on %s", r->actual_lrp_instance_key->cell_id);
    }
    print_tags(out, r);
    if (r->stopping) {
        buf_append_string(out, ", stopping");
    }
    if (r->crash_count) {
        buf_printf(out, ", crashes: %d", r->crash_count);
    }
    if (*r->placement_error) {
        buf_printf(out, " (%s)", r->placement_error);
    }
}

static void story_actual_gone(struct buf *out, const struct story_subject *s)
{
    buf_append_string(out, "gone");
}

static void story_limiter(struct buf *out, const struct story_subject *s, const ProtobufCMessage *m)
{
    static const char *const states[] = {"HELD", "KEPT", "RELEASED"};
    const Board__LimiterRecord *r = (const Board__LimiterRecord *)m;
    buf_printf(out, "the limiter is %s for", states[r->state]);
    for (size_t i = 0; i < r->n_cells; i++) {
        buf_printf(out, "%s %s", i ? "," : "", r->cells[i]->cell_id);
    }
}

static void story_limiter_gone(struct buf *out, const struct story_subject *s)
{
    buf_append_string(out, "the limiter is off");
}

static void story_cell(struct buf *out, const struct story_subject *s, const ProtobufCMessage *m)
{
    const Board__CellRecord *r = (const Board__CellRecord *)m;
    buf_printf(out, "%s %s, incarnation %llu%s", r->presence->cell_id,
               r->state == BOARD__CELL_RECORD__STATE__PRESENT ? "PRESENT" : "LOST",
               (unsigned long long)r->incarnation, r->evacuating ? ", evacuating" : "");
}

static void story_cell_gone(struct buf *out, const struct story_subject *s)
{
    story_named_gone(out, s);
}

static void story_desired(struct buf *out, const struct story_subject *s, const ProtobufCMessage *m)
{
    buf_printf(out, "%s desired, instances: %d", s->name,
               ((const Models__DesiredLRP *)m)->instances);
}

static void story_desired_gone(struct buf *out, const struct story_subject *s)
{
    buf_printf(out, "%s not desired any more", s->name);
}

static void story_board_generation(struct buf *out, const struct story_subject *s,
                                   const ProtobufCMessage *m)
{
    buf_append_string(out, *((const Board__BoardGenerationRecord *)m)->went_back
                               ? "etcd went back: the board generation is marked"
                               : "a board generation begins");
}

static void story_board_generation_gone(struct buf *out, const struct story_subject *s)
{
    buf_append_string(out, "a board generation ends");
}

static void story_job(struct buf *out, const struct story_subject *s, const ProtobufCMessage *m)
{
    const Board__JobRecord *r = (const Board__JobRecord *)m;
    if (r->instances) {
        buf_printf(out, "job for %s, at %d of %d", r->target, r->instances->cursor,
                   r->instances->end);
    } else if (r->units && *r->units->service) {
        buf_printf(out, "job for units of %s", r->units->service);
    } else {
        buf_append_string(out, "job");
    }
}

static void story_job_gone(struct buf *out, const struct story_subject *s)
{
    buf_append_string(out, "job done");
}

static void story_leader_lock(struct buf *out, const struct story_subject *s,
                              const ProtobufCMessage *m)
{
    buf_printf(out, "the lock of the %s", s->name);
}

static void story_leader_lock_gone(struct buf *out, const struct story_subject *s)
{
    buf_printf(out, "the lock of the %s is free", s->name);
}

static void story_lock(struct buf *out, const struct story_subject *s, const ProtobufCMessage *m)
{
    buf_printf(out, "%s is %s's", s->name, ((const Board__LockRecord *)m)->owner);
}

static void story_lock_gone(struct buf *out, const struct story_subject *s)
{
    buf_printf(out, "%s is free", s->name);
}

#define story_untold NULL
#define story_untold_gone NULL

const struct story *story_of(enum record_type type)
{
    static const struct story stories[RECORD_TYPE_COUNT] = {
#define RECORD_ROW(ID, name, key, message, lifecycle, place, tags, topic, text, story, ...) \
    [RECORD_##ID] = {story_##story, story_##story##_gone},
#include "common/model/records.def"
        [RECORD_UNKNOWN] = {story_named, story_named_gone},
    };
    return stories[type].put ? &stories[type] : NULL;
}
