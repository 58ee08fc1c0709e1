/* lose: the judge did not hear of a cell for the window (DESIGN 6). */
#include "bbs/cell/brake.h"
#include "bbs/cell/cell.h"
#include "common/lifecycle/cell.h"

#include <assert.h>

static const Board__Move *asked(const struct op_input *in)
{
    return (const Board__Move *)in->request;
}

const char *lose_target(struct arena *a, const struct op_input *in)
{
    return key_cell(a, asked(in)->cell_id);
}

void lose_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct move_snapshot *s = snapshot;
    const struct seen *cell = view_get(v, lose_target(view_arena(v), in));
    const struct seen *brake = view_get(v, key_brake(view_arena(v)));
    s->cell = cell ? (const Board__CellRecord *)cell->message : NULL;
    s->brake = brake ? (const Board__BrakeRecord *)brake->message : NULL;
    move_gather_actor(v, in, s);
}

static void refuse(const struct move_snapshot *s, const struct op_input *in, bool held,
                   struct plan *p)
{
    if (held) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "cell %s is held by the brake",
                    asked(in)->cell_id);
        return;
    }
    plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                "session %llu of cell %s is over: the board's is %llu",
                (unsigned long long)asked(in)->session, asked(in)->cell_id,
                (unsigned long long)s->cell->session);
}

/* 1. No such cell, or LOST already: nothing.
 * 2. Another session than the one that was judged, or held by the brake: ResourceConflict.
 * 3. LOST; what the cell said of itself stays, for whoever looks at it. */
void lose_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    if (!move_authorised(s, in, p)) {
        return;
    }
    int from = cell_state(s->cell);
    if (from != CELL_PRESENT) { /* 1 */
        return;
    }
    bool held = brake_holds(s->brake, asked(in)->cell_id);
    uint32_t guards = held ? 0 : CELL_IF_NOT_HELD;
    guards |= s->cell->session == asked(in)->session ? CELL_IF_SAME_SESSION : 0;
    int to = lifecycle_move(&cell_lifecycle, from, in->actor, CELL_NEWS_LOSE, guards);
    if (to < 0) { /* 2 */
        refuse(s, in, held, p);
        return;
    }
    assert(to == CELL_LOST);
    Board__CellRecord *lost = arena_copy(p->arena, s->cell, sizeof(*lost)); /* 3 */
    lost->state = BOARD__CELL_RECORD__STATE__LOST;
    lost->since = in->now.wall_ns > s->cell->since ? in->now.wall_ns : s->cell->since;
    plan_put(p, lose_target(p->arena, in), "lose", in->actor, &lost->base);
}
