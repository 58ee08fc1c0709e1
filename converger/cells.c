/* The keeper of cells: the failure detector (converger/failure_detector.h) with what the feed tells
 * it. Pure. */
#include "common/model/record.h"
#include "converger/inside.h"
#include "converger/failure_detector.h"

/* A verdict that was not done: the change that refused it has come by then. */
#define JUDGED_AGAIN_NS (1 * SECOND_NS)

struct cells_keeper {
    struct kept kept;
    struct failure_detector failure_detector;
    int64_t judge_ns; /* its next look; 0 = at once */
};

static void init(void *state, const struct converger_config *c)
{
    struct cells_keeper *k = state;
    (void)c;
    failure_detector_init(&k->failure_detector, &k->kept.x->settings,
                          &k->kept.x->life.leader.liveness_report);
}

static void done(void *state)
{
    failure_detector_done(&((struct cells_keeper *)state)->failure_detector);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void reset(void *state)
{
    failure_detector_reset(&((struct cells_keeper *)state)->failure_detector);
}

static void on_cell(struct cells_keeper *k, const char *id, const ProtobufCMessage *record)
{
    if (record) {
        failure_detector_cell(&k->failure_detector, id, (const Board__CellRecord *)record,
                              k->kept.x->life.now);
    } else {
        failure_detector_cell_gone(&k->failure_detector, id);
    }
}

/* One that this version cannot read says nothing: what was known stays. */
static void change(void *state, const char *key, const struct followed *record)
{
    struct cells_keeper *k = state;
    ProtobufCMessage *m = NULL;
    SCOPED_ARENA(a);
    const char *id = key_component(&a, key, 1);
    k->judge_ns = 0;
    if (record && record_decode(&a, key_type(key), blob_bytes(record->record), &m, NULL) < 0) {
        id = NULL;
    }
    if (id && key_type(key) == RECORD_CELL) {
        on_cell(k, id, m);
    } else if (id && m) {
        failure_detector_limiter(&k->failure_detector, (const Board__LimiterRecord *)m,
                                 record->seen);
    } else if (id) {
        failure_detector_limiter_gone(&k->failure_detector);
    }
}

/* ---- Looking --------------------------------------------------------------------------------- */

static Board__Move *move_of(const struct verdict *g, struct arena *a)
{
    return move_of_cell(a, g->move, g->cell_id, g->incarnation, g->cells, g->cell_count);
}

/* Verdicts do not wait for room: there are never more than cells. */
static void judge(struct cells_keeper *k, struct arena *a, struct effects *out)
{
    struct converger *x = k->kept.x;
    struct verdicts p;
    failure_detector_decide(&k->failure_detector, x->life.now, &p, a);
    for (size_t i = 0; i < p.count; i++) {
        const struct verdict *g = &p.list[i];
        failure_detector_asked(&k->failure_detector, g, x->life.now);
        mover_add_first(&x->mover, &k->kept.owner, g->cell_id, move_of(g, a));
    }
    if (p.count > 0) {
        effects_log(out, LOG_WARN_LEVEL, "cells judged", "moves=%zu first=%s cell=%s cells=%zu",
                    p.count, p.list[0].move, p.list[0].cell_id, p.list[0].cell_count);
    }
}

static void look(void *state, bool all, struct effects *out)
{
    (void)all;
    struct cells_keeper *k = state;
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    if (now_ns >= k->judge_ns) {
        SCOPED_ARENA(a);
        k->judge_ns = now_ns + LIVENESS_REPORT_TICK_NS;
        judge(k, &a, out);
    }
    effects_due(out, k->judge_ns);
}

static void settled(void *state, const char *cell_id, enum move_end end)
{
    struct cells_keeper *k = state;
    if (end == MOVE_FORGOTTEN) {
        failure_detector_forget_moves(&k->failure_detector);
        return;
    }
    int64_t again_ns = k->kept.x->life.now.mono_ns + JUDGED_AGAIN_NS;
    failure_detector_settled(&k->failure_detector, cell_id, end == MOVE_DONE ? 0 : again_ns);
}

static void stand_by(void *state)
{
    ((struct cells_keeper *)state)->judge_ns = 0;
}

/* ---- What is shown --------------------------------------------------------------------------- */

static void plan(void *state, struct plan_shown *ret)
{
    const struct cells_keeper *k = state;
    struct verdicts p;
    failure_detector_decide(&k->failure_detector, k->kept.x->life.now, &p, ret->arena);
    for (size_t i = 0; i < p.count; i++) {
        plan_show(ret, "detector", move_of(&p.list[i], ret->arena));
    }
}

struct cells_shown {
    Converge__ConvergerState *state;
    struct arena *arena;
};

static void show_cell(void *context, const struct watched_cell_view *cell)
{
    struct cells_shown *s = context;
    Converge__CellLivenessReport *c = ARENA_NEW(s->arena, Converge__CellLivenessReport);
    converge__cell_liveness_report__init(c);
    c->cell_id = (char *)(uintptr_t)cell->cell_id;
    c->zone = (char *)(uintptr_t)cell->zone;
    c->incarnation = cell->incarnation;
    c->state = arena_strdup(s->arena, cell->held ? "LOST (held)" : cell->lost ? "LOST" : "PRESENT");
    c->silent_ms = cell->silent_ns / MILLISECOND_NS;
    s->state->cells[s->state->n_cells++] = c;
}

static void show(void *state, Converge__ConvergerState *ret, struct arena *a)
{
    const struct failure_detector *j = &((struct cells_keeper *)state)->failure_detector;
    struct cells_shown s = {.state = ret, .arena = a};
    const ProtobufCEnumValue *limiter = protobuf_c_enum_descriptor_get_value(
        &board__limiter_record__state__descriptor, j->limiter.state);
    ret->cells = ARENA_ARRAY(a, j->cells.count, Converge__CellLivenessReport *);
    failure_detector_each(j, show_cell, &s);
    if (j->limiter.present) {
        ret->limiter = arena_strdup(a, limiter ? limiter->name : "unknown");
    }
    ret->hears = j->liveness_report->counting;
}

const struct keeper cells_keeper = {.state_size = sizeof(struct cells_keeper),
                                    .init = init,
                                    .done = done,
                                    .reset = reset,
                                    .change = change,
                                    .look = look,
                                    .settled = settled,
                                    .stand_by = stand_by,
                                    .plan = plan,
                                    .show = show};
