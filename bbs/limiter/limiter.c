#include "bbs/limiter/limiter.h"

#include "bbs/setting/in_force.h"
#include "common/lifecycle/limiter.h"

#include <assert.h>
#include <string.h>

static int state_of(const Board__LimiterRecord *limiter)
{
    if (!limiter) {
        return LIMITER_NONE;
    }
    switch (limiter->state) {
    case BOARD__LIMITER_RECORD__STATE__HELD:
        return LIMITER_HELD;
    case BOARD__LIMITER_RECORD__STATE__KEPT:
        return LIMITER_KEPT;
    case BOARD__LIMITER_RECORD__STATE__RELEASED:
        return LIMITER_RELEASED;
    default: /* of a newer version */
        return -1;
    }
}

static Board__LimiterRecord__State wire_state(int state)
{
    assert(state == LIMITER_HELD || state == LIMITER_KEPT || state == LIMITER_RELEASED);
    return state == LIMITER_HELD   ? BOARD__LIMITER_RECORD__STATE__HELD
           : state == LIMITER_KEPT ? BOARD__LIMITER_RECORD__STATE__KEPT
                                 : BOARD__LIMITER_RECORD__STATE__RELEASED;
}

static bool lists(const Board__LimiterRecord *limiter, const char *cell_id)
{
    for (size_t i = 0; limiter && i < limiter->n_cells; i++) {
        if (strcmp(limiter->cells[i]->cell_id, cell_id) == 0) {
            return true;
        }
    }
    return false;
}

/* What this version does not know holds: doubt means that nothing is lost. */
bool limiter_holds(const Board__LimiterRecord *limiter, const char *cell_id)
{
    return state_of(limiter) != LIMITER_RELEASED && lists(limiter, cell_id);
}

void cell_status(const Board__CellRecord *cell, const Board__LimiterRecord *limiter,
                 Board__CellStatus *ret_status)
{
    board__cell_status__init(ret_status);
    bool lost = cell->state != BOARD__CELL_RECORD__STATE__PRESENT;
    bool held = !lost && limiter_holds(limiter, cell->presence->cell_id);
    ret_status->presence = cell->presence;
    ret_status->state = (char *)(uintptr_t)(held ? "LOST (held)" : lost ? "LOST" : "PRESENT");
    ret_status->since = held ? limiter->since : cell->since;
    ret_status->incarnation = cell->incarnation;
    ret_status->evacuating = cell->evacuating;
    ret_status->admin_url = cell->admin_url;
    ret_status->pool = cell->pool;
    ret_status->pool_leaves = cell->pool_leaves;
}

static const Board__LimiterRecord *limiter_at(struct view *v)
{
    return view_message(v, key_brake(view_arena(v)));
}

static const char *limiter_target(struct arena *a, const struct op_input *in)
{
    (void)in;
    return key_brake(a);
}

static void limiter_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct limiter_snapshot *s = snapshot;
    s->limiter = limiter_at(v);
    /* Longer lists make new revisions: no older than the first of them is what holds. */
    s->seen = (struct sighting){
        .since_ns = view_seen(v, key_brake(view_arena(v))).since_ns,
        .after_ns = view_made(v, key_brake(view_arena(v))).after_ns,
    };
    s->settings = settings_gather(v);
    speaker_gather(v, in, &s->by);
}

/* Both lists are in the order of their ids, so one walk tells. */
static bool fewer(const Board__LimiterRecord *limiter, const Board__LimiterMove *m)
{
    size_t at = 0;
    for (size_t i = 0; i < m->n_cells; i++) {
        while (at < limiter->n_cells &&
               strcmp(limiter->cells[at]->cell_id, m->cells[i]->cell_id) < 0) {
            at++;
        }
        if (at == limiter->n_cells ||
            strcmp(limiter->cells[at]->cell_id, m->cells[i]->cell_id) != 0) {
            return false;
        }
    }
    return true;
}

static bool same_cells(const Board__LimiterRecord *limiter, const Board__LimiterMove *m)
{
    if (limiter->n_cells != m->n_cells) {
        return false;
    }
    for (size_t i = 0; i < m->n_cells; i++) {
        if (strcmp(limiter->cells[i]->cell_id, m->cells[i]->cell_id) != 0 ||
            limiter->cells[i]->incarnation != m->cells[i]->incarnation) {
            return false;
        }
    }
    return true;
}

/* In another state since now, held for so long; `until` counts while HELD. */
static Board__LimiterRecord *changed(struct arena *a, const Board__LimiterRecord *before, int to,
                                     int64_t hold_ns, struct moment now)
{
    Board__LimiterRecord *after = arena_message(a, &board__limiter_record__descriptor);
    assert(before || to == LIMITER_HELD);
    if (before) {
        *after = *before;
    }
    if (state_of(before) != to) {
        after->state = wire_state(to);
        after->since = now.wall_ns > after->since ? now.wall_ns : after->since;
        after->until = to == LIMITER_HELD ? now.wall_ns + hold_ns : 0;
    }
    return after;
}

static bool limiter_begin(struct move_turn *t)
{
    const struct limiter_snapshot *s = t->snapshot;
    t->record = s->limiter ? &s->limiter->base : NULL;
    t->from = state_of(s->limiter);
    return speaker_authorised(&s->by, t->in, t->plan);
}

static void limiter_put(const struct move_turn *t, const Board__LimiterRecord *record)
{
    move_put(t, key_brake(t->plan->arena), t->from, t->to, &record->base);
}

static int64_t hold_ns_of(const struct move_turn *t)
{
    return ((const struct limiter_snapshot *)t->snapshot)->settings->limiter.hold_ns;
}

static const Board__LimiterRecord *before_of(const struct move_turn *t)
{
    return (const Board__LimiterRecord *)t->record;
}

static uint32_t list_guards(const struct move_turn *t)
{
    return (move_limiter(t->move)->n_cells == 0 ? LIMITER_IF_NO_CELLS : 0) |
           (t->record && fewer(before_of(t), move_limiter(t->move)) ? LIMITER_IF_FEWER : 0);
}

/* 1. No cells: the record goes; none stands: nothing.
 * 2. The same cells: nothing.
 * 3. None stood, or others fell silent after it was released: HELD, for the setting's time.
 * 4. Otherwise the list is replaced, state and time stay. */
static void hold_decide(const struct move_turn *t)
{
    const Board__LimiterRecord *before = before_of(t);
    if (t->to == LIMITER_NONE) { /* 1 */
        if (before) {
            move_delete(t, key_brake(t->plan->arena), t->from, "hold");
        }
    } else if (!before || !same_cells(before, move_limiter(t->move))) { /* 2 */
        Board__LimiterRecord *after =
            changed(t->plan->arena, before, t->to, hold_ns_of(t), t->in->now); /* 3, 4 */
        after->n_cells = move_limiter(t->move)->n_cells;
        after->cells = move_limiter(t->move)->cells;
        limiter_put(t, after);
    }
}

static uint32_t due_guards(const struct move_turn *t)
{
    const struct limiter_snapshot *s = t->snapshot;
    int64_t hold_ns = hold_ns_of(t);
    int64_t began_ns = s->limiter->until - hold_ns; /* which a longer list does not change */
    bool due = t->from == LIMITER_HELD &&
               stood_left_ns(hold_ns, began_ns, s->seen, t->in->now) <= 0;
    return due ? LIMITER_IF_DUE : 0;
}

/* Released already: nothing. */
static void release_refuse(const struct move_turn *t)
{
    if (t->from != LIMITER_RELEASED) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "the mass-loss limiter %s",
                    t->from == LIMITER_HELD ? "holds for some time yet"
                                            : "is kept until confirmed");
    }
}

static void release_decide(const struct move_turn *t)
{
    limiter_put(t, changed(t->plan->arena, before_of(t), t->to, 0, t->in->now));
}

/* A state of a newer version. */
static void hold_refuse(const struct move_turn *t)
{
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                "the mass-loss limiter is in a state of a newer version");
}

/* In the order of their ids, none twice: so two lists of the same cells are equal. */
static void valid_hold(struct validation *v, const Board__Move *move)
{
    const Board__LimiterMove *m = move_limiter(move);
    bool good = m->n_cells <= LIMITER_CELLS_MAX;
    for (size_t i = 0; i < m->n_cells && good; i++) {
        const char *before = i ? m->cells[i - 1]->cell_id : "";
        good = m->cells[i]->incarnation && strcmp(before, m->cells[i]->cell_id) < 0;
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
    move_decide(&limiter_moves, snapshot, in, p);
}

static const struct op_row limiter_op = {
    .name = "limiter",
    .target = limiter_target,
    .gather = limiter_gather,
    .decide = decide,
    .snapshot_size = sizeof(struct limiter_snapshot),
};

#define MOVE_ROW(move, absents, guard)                                                             \
    {                                                                                              \
        .name = #move, .valid = valid_##move, .absent = ABSENT_##absents,                          \
        .guards = guard##_guards, .refuse = move##_refuse, .decide = move##_decide,                \
        .op = &limiter_op, .op_of_rep = &limiter_op,                                               \
    }

static const struct move_row rows[] = {
    MOVE_ROW(hold, MOVES, list),
    MOVE_ROW(release, NOTHING, due),
};

const struct move_family limiter_moves = {
    .lifecycle = &limiter_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = limiter_begin,
};

/* ---- an operator's word ---------------------------------------------------------------------- */

void valid_limiter_word(struct validation *v, const Board__LimiterRequest *request)
{
    if (request->confirm && request->keep) {
        say_field(v, "keep"); /* not both */
    }
}

static void word_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    (void)in;
    struct limiter_word_snapshot *s = snapshot;
    s->limiter = limiter_at(v);
}

/* 1. No word: nothing, it is looked at.
 * 2. No limiter: ResourceNotFound.
 * 3. Kept when its cells are being lost already, or a state of a newer version: ResourceConflict.
 * 4. So already: nothing.
 * 5. KEPT or RELEASED. */
void limiter_word_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct limiter_word_snapshot *s = snapshot;
    const Board__LimiterRequest *r = in->request;
    p->record = s->limiter ? &s->limiter->base : NULL;
    if (!r->keep && !r->confirm) { /* 1 */
        return;
    }
    if (!s->limiter) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound, "no cell is held");
        return;
    }
    int from = state_of(s->limiter),
        trigger = r->keep ? LIMITER_TRIGGER_KEEP : LIMITER_TRIGGER_CONFIRM;
    int to = lifecycle_transition(&limiter_lifecycle, from, in->actor, trigger, 0);
    if (to < 0) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    from == LIMITER_RELEASED
                        ? "the mass-loss limiter is released: its cells are being lost"
                        : "the mass-loss limiter is in a state of a newer version");
    } else if (to != from) { /* 4 */
        const Board__LimiterRecord *after = changed(p->arena, s->limiter, to, 0, in->now); /* 5 */
        p->record = &after->base;
        plan_put(p, key_brake(p->arena), limiter_lifecycle.triggers[trigger], in->actor,
                 &after->base);
    }
}

const struct op_row limiter_word_row = {
    .name = "limiter",
    .target = limiter_target,
    .gather = word_gather,
    .decide = limiter_word_decide,
    .snapshot_size = sizeof(struct limiter_word_snapshot),
};
