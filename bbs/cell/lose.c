/* lose: the failure detector did not hear of a cell for the window (design.md 6). The one move of a
 * cell's record that is no request of its rep. */
#include "bbs/limiter/limiter.h"
#include "bbs/cell/cell.h"
#include "common/lifecycle/cell.h"

static void valid_lose(struct validation *v, const Board__Move *move)
{
    if (!move->subject->key[0]) {
        say_field(v, "cell_id");
    }
    if (move_cell(move)->incarnation == 0) {
        say_field(v, "incarnation");
    }
}

static void lose_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct lose_snapshot *s = snapshot;
    s->cell = view_message(v, move_subject_key(view_arena(v), in));
    s->limiter = view_message(v, key_brake(view_arena(v)));
    speaker_gather(v, in, &s->by);
}

/* One that is LOST already is none that could be lost. */
static bool lose_begin(struct move_turn *t)
{
    const struct lose_snapshot *s = t->snapshot;
    t->from = cell_state(s->cell);
    t->record = t->from == CELL_PRESENT ? &s->cell->base : NULL;
    return speaker_authorised(&s->by, t->in, t->plan);
}

static uint32_t lose_guards(const struct move_turn *t)
{
    const struct lose_snapshot *s = t->snapshot;
    return (limiter_holds(s->limiter, s->cell->presence->cell_id) ? 0 : CELL_IF_NOT_HELD) |
           (s->cell->incarnation == move_cell(t->move)->incarnation ? CELL_IF_SAME_INCARNATION : 0);
}

static void lose_refuse(const struct move_turn *t)
{
    const struct lose_snapshot *s = t->snapshot;
    const char *cell_id = s->cell->presence->cell_id;
    const char *why =
        incarnation_refused(t->plan->arena, s->cell, cell_id, move_cell(t->move)->incarnation);
    if (t->guards & CELL_IF_NOT_HELD) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "%s", why);
    } else {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "cell %s is held by the mass-loss limiter", cell_id);
    }
}

/* What the cell said of itself stays, for whoever looks at it. */
static void lose_decide(const struct move_turn *t)
{
    const Board__CellRecord *before = (const Board__CellRecord *)t->record;
    Board__CellRecord *lost = arena_copy(t->plan->arena, before, sizeof(*lost));
    lost->state = BOARD__CELL_RECORD__STATE__LOST;
    lost->since = t->in->now.wall_ns > before->since ? t->in->now.wall_ns : before->since;
    move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to, &lost->base);
}

static void decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&cell_moves, snapshot, in, p);
}

static const struct op_row lose_op = {
    .name = "lose",
    .target = move_subject_key,
    .gather = lose_gather,
    .decide = decide,
    .snapshot_size = sizeof(struct lose_snapshot),
};

static const struct move_row rows[] = {
    {.name = "lose",
     .valid = valid_lose,
     .absent = ABSENT_NOTHING,
     .guards = lose_guards,
     .refuse = lose_refuse,
     .decide = lose_decide,
     .op = &lose_op,
     .op_of_rep = &lose_op},
};

const struct move_family cell_moves = {
    .lifecycle = &cell_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = lose_begin,
};
