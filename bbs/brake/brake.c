#include "bbs/brake/brake.h"

#include "common/lifecycle/brake.h"

#include <assert.h>
#include <string.h>

static int state_of(const Board__BrakeRecord *brake)
{
    if (!brake) {
        return BRAKE_NONE;
    }
    switch (brake->state) {
    case BOARD__BRAKE_RECORD__STATE__HELD:
        return BRAKE_HELD;
    case BOARD__BRAKE_RECORD__STATE__KEPT:
        return BRAKE_KEPT;
    case BOARD__BRAKE_RECORD__STATE__RELEASED:
        return BRAKE_RELEASED;
    default: /* of a newer version */
        return -1;
    }
}

static Board__BrakeRecord__State wire_state(int state)
{
    return state == BRAKE_HELD   ? BOARD__BRAKE_RECORD__STATE__HELD
           : state == BRAKE_KEPT ? BOARD__BRAKE_RECORD__STATE__KEPT
                                 : BOARD__BRAKE_RECORD__STATE__RELEASED;
}

static bool lists(const Board__BrakeRecord *brake, const char *cell_id)
{
    for (size_t i = 0; brake && i < brake->n_cells; i++) {
        if (strcmp(brake->cells[i]->cell_id, cell_id) == 0) {
            return true;
        }
    }
    return false;
}

/* What this version does not know holds: doubt means that nothing is lost. */
bool brake_holds(const Board__BrakeRecord *brake, const char *cell_id)
{
    return state_of(brake) != BRAKE_RELEASED && lists(brake, cell_id);
}

void cell_status(const Board__CellRecord *cell, const Board__BrakeRecord *brake,
                 Board__CellStatus *ret_status)
{
    board__cell_status__init(ret_status);
    bool lost = cell->state != BOARD__CELL_RECORD__STATE__PRESENT;
    bool held = !lost && brake_holds(brake, cell->presence->cell_id);
    ret_status->presence = cell->presence;
    ret_status->state = (char *)(uintptr_t)(held ? "LOST (held)" : lost ? "LOST" : "PRESENT");
    ret_status->since = held ? brake->since : cell->since;
    ret_status->session = cell->session;
    ret_status->evacuating = cell->evacuating;
    ret_status->admin_url = cell->admin_url;
}

static const Board__BrakeRecord *brake_at(struct view *v)
{
    const struct seen *seen = view_get(v, key_brake(view_arena(v)));
    return seen ? (const Board__BrakeRecord *)seen->message : NULL;
}

static const char *brake_target(struct arena *a, const struct op_input *in)
{
    (void)in;
    return key_brake(a);
}

static void brake_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct brake_snapshot *s = snapshot;
    s->brake = brake_at(v);
    /* Longer lists make new revisions: no older than the first of them is what holds. */
    s->seen = (struct sighting){
        .since_ns = view_seen(v, key_brake(view_arena(v))).since_ns,
        .after_ns = view_made(v, key_brake(view_arena(v))).after_ns,
    };
    speaker_gather(v, in, &s->by);
}

/* Both lists are in the order of their ids, so one walk tells. */
static bool fewer(const Board__BrakeRecord *brake, const Board__BrakeMove *m)
{
    size_t at = 0;
    for (size_t i = 0; i < m->n_cells; i++) {
        while (at < brake->n_cells && strcmp(brake->cells[at]->cell_id, m->cells[i]->cell_id) < 0) {
            at++;
        }
        if (at == brake->n_cells || strcmp(brake->cells[at]->cell_id, m->cells[i]->cell_id) != 0) {
            return false;
        }
    }
    return true;
}

static bool same_cells(const Board__BrakeRecord *brake, const Board__BrakeMove *m)
{
    if (brake->n_cells != m->n_cells) {
        return false;
    }
    for (size_t i = 0; i < m->n_cells; i++) {
        if (strcmp(brake->cells[i]->cell_id, m->cells[i]->cell_id) != 0 ||
            brake->cells[i]->session != m->cells[i]->session) {
            return false;
        }
    }
    return true;
}

/* In another state since now; `until` counts while HELD. */
static Board__BrakeRecord *changed(struct arena *a, const Board__BrakeRecord *before, int to,
                                   struct moment now)
{
    Board__BrakeRecord *after = ARENA_NEW(a, Board__BrakeRecord);
    board__brake_record__init(after);
    if (before) {
        *after = *before;
    }
    if (state_of(before) != to) {
        after->state = wire_state(to);
        after->since = now.wall_ns > after->since ? now.wall_ns : after->since;
        after->until = to == BRAKE_HELD ? now.wall_ns + BRAKE_HOLD_NS : 0;
    }
    return after;
}


static bool brake_begin(struct move_turn *t)
{
    const struct brake_snapshot *s = t->snapshot;
    t->record = s->brake ? &s->brake->base : NULL;
    t->from = state_of(s->brake);
    return speaker_authorised(&s->by, t->in, t->plan);
}

static void brake_put(const struct move_turn *t, const Board__BrakeRecord *record)
{
    move_put(t, key_brake(t->plan->arena), t->from, t->to, &record->base);
}

static const Board__BrakeRecord *before_of(const struct move_turn *t)
{
    return (const Board__BrakeRecord *)t->record;
}

static uint32_t list_guards(const struct move_turn *t)
{
    return (move_brake(t->move)->n_cells == 0 ? BRAKE_IF_NO_CELLS : 0) |
           (t->record && fewer(before_of(t), move_brake(t->move)) ? BRAKE_IF_FEWER : 0);
}

/* 1. No cells: the record goes; none stands: nothing.
 * 2. The same cells: nothing.
 * 3. None stood, or others fell silent after it was released: HELD, for BRAKE_HOLD_NS.
 * 4. Otherwise the list is replaced, state and time stay. */
static void brake_decide(const struct move_turn *t)
{
    const Board__BrakeRecord *before = before_of(t);
    if (t->to == BRAKE_NONE) { /* 1 */
        if (before) {
            move_delete(t, key_brake(t->plan->arena), t->from, "brake");
        }
    } else if (!before || !same_cells(before, move_brake(t->move))) { /* 2 */
        Board__BrakeRecord *after = changed(t->plan->arena, before, t->to, t->in->now); /* 3, 4 */
        after->n_cells = move_brake(t->move)->n_cells;
        after->cells = move_brake(t->move)->cells;
        brake_put(t, after);
    }
}

static uint32_t due_guards(const struct move_turn *t)
{
    const struct brake_snapshot *s = t->snapshot;
    int64_t began_ns = s->brake->until - BRAKE_HOLD_NS; /* which a longer list does not change */
    bool due = t->from == BRAKE_HELD &&
               stood_left_ns(BRAKE_HOLD_NS, began_ns, s->seen, t->in->now) <= 0;
    return due ? BRAKE_IF_DUE : 0;
}

/* Released already: nothing. */
static void release_refuse(const struct move_turn *t)
{
    if (t->from != BRAKE_RELEASED) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "the brake %s",
                    t->from == BRAKE_HELD ? "holds for some time yet"
                                          : "is kept until confirmed");
    }
}

static void release_decide(const struct move_turn *t)
{
    brake_put(t, changed(t->plan->arena, before_of(t), t->to, t->in->now));
}

/* A state of a newer version. */
static void brake_refuse(const struct move_turn *t)
{
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                "the brake is in a state of a newer version");
}

/* In the order of their ids, none twice: so two lists of the same cells are equal. */
static void valid_brake(struct validation *v, const Board__Move *move)
{
    const Board__BrakeMove *m = move_brake(move);
    bool good = m->n_cells <= BRAKE_CELLS_MAX;
    for (size_t i = 0; i < m->n_cells && good; i++) {
        const char *before = i ? m->cells[i - 1]->cell_id : "";
        good = m->cells[i]->session && strcmp(before, m->cells[i]->cell_id) < 0;
    }
    if (!good) {
        say_field(v, "cells");
    }
}

static void valid_release(struct validation *v, const Board__Move *move)
{
    (void)v; /* it names nothing */
    (void)move;
}

static void decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&brake_moves, snapshot, in, p);
}

static const struct op_row brake_op = {
    .name = "brake",
    .target = brake_target,
    .gather = brake_gather,
    .decide = decide,
    .snapshot_size = sizeof(struct brake_snapshot),
};

#define MOVE_ROW(move, absents, guard)                                                             \
    {                                                                                              \
        .name = #move, .valid = valid_##move, .absent = ABSENT_##absents,                          \
        .guards = guard##_guards, .refuse = move##_refuse, .decide = move##_decide,                \
        .op = &brake_op, .op_of_rep = &brake_op,                                                   \
    }

static const struct move_row rows[] = {
    MOVE_ROW(brake, MOVES, list),
    MOVE_ROW(release, NOTHING, due),
};

const struct move_family brake_moves = {
    .lifecycle = &brake_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = brake_begin,
};

/* ---- an operator's word ----------------------------------------------------------------------- */

void valid_brake_word(struct validation *v, const Board__BrakeRequest *request)
{
    if (request->confirm && request->keep) {
        say_field(v, "keep"); /* not both */
    }
}

static void word_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    (void)in;
    struct brake_word_snapshot *s = snapshot;
    s->brake = brake_at(v);
}

/* 1. No word: nothing, it is looked at.
 * 2. No brake: ResourceNotFound.
 * 3. Kept when its cells are being lost already, or a state of a newer version: ResourceConflict.
 * 4. So already: nothing.
 * 5. KEPT or RELEASED. */
void brake_word_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct brake_word_snapshot *s = snapshot;
    const Board__BrakeRequest *r = (const Board__BrakeRequest *)in->request;
    p->record = s->brake ? &s->brake->base : NULL;
    if (!r->keep && !r->confirm) { /* 1 */
        return;
    }
    if (!s->brake) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound, "no cell is held");
        return;
    }
    int from = state_of(s->brake), trigger = r->keep ? BRAKE_TRIGGER_KEEP : BRAKE_TRIGGER_CONFIRM;
    int to = lifecycle_transition(&brake_lifecycle, from, in->actor, trigger, 0);
    if (to < 0) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    from == BRAKE_RELEASED ? "the brake is released: its cells are being lost"
                                           : "the brake is in a state of a newer version");
    } else if (to != from) { /* 4 */
        const Board__BrakeRecord *after = changed(p->arena, s->brake, to, in->now); /* 5 */
        p->record = &after->base;
        plan_put(p, key_brake(p->arena), brake_lifecycle.triggers[trigger], in->actor,
                 &after->base);
    }
}

const struct op_row brake_word_row = {
    .name = "brake",
    .target = brake_target,
    .gather = word_gather,
    .decide = brake_word_decide,
    .snapshot_size = sizeof(struct brake_word_snapshot),
};
