#include "bbs/cell/brake.h"

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

const char *brake_target(struct arena *a, const struct op_input *in)
{
    (void)in;
    return key_brake(a);
}

void brake_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct move_snapshot *s = snapshot;
    s->brake = brake_at(v);
    /* Longer lists make new revisions: no older than the first of them is what holds. */
    s->brake_seen = (struct sighting){
        .since_ns = view_seen(v, key_brake(view_arena(v))).since_ns,
        .after_ns = view_made(v, key_brake(view_arena(v))).after_ns,
    };
    move_gather_actor(v, in, s);
}

/* Both lists are in the order of their ids, so one walk tells. */
static bool fewer(const Board__BrakeRecord *brake, const Board__Move *m)
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

static bool same_cells(const Board__BrakeRecord *brake, const Board__Move *m)
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

static void put(struct plan *p, const struct op_input *in, const Board__BrakeRecord *record,
                int news)
{
    plan_put(p, key_brake(p->arena), brake_lifecycle.news[news], in->actor, &record->base);
}

/* 1. No cells: the record goes; none stands: nothing.
 * 2. The same cells: nothing.
 * 3. None stood, or others fell silent after it was released: HELD, for BRAKE_HOLD_NS.
 * 4. Otherwise the list is replaced, state and time stay.
 * 5. A state of a newer version: ResourceConflict. */
void brake_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    uint32_t guards = m->n_cells == 0 ? BRAKE_IF_NO_CELLS : 0;
    guards |= s->brake && fewer(s->brake, m) ? BRAKE_IF_FEWER : 0;
    int from = state_of(s->brake);
    int to = lifecycle_move(&brake_lifecycle, from, in->actor, BRAKE_NEWS_BRAKE, guards);
    if (to < 0) { /* 5 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the brake is in a state of a newer version");
    } else if (to == BRAKE_NONE) { /* 1 */
        if (s->brake) {
            plan_delete(p, key_brake(p->arena), "brake", in->actor);
        }
    } else if (!s->brake || !same_cells(s->brake, m)) { /* 2 */
        Board__BrakeRecord *after = changed(p->arena, s->brake, to, in->now); /* 3, 4 */
        after->n_cells = m->n_cells;
        after->cells = m->cells;
        put(p, in, after, BRAKE_NEWS_BRAKE);
    }
}

/* 1. None, or released already: nothing.
 * 2. Kept by an operator, or its time is not over: ResourceConflict.
 * 3. RELEASED. */
void release_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    if (!move_authorised(s, in, p)) {
        return;
    }
    int from = state_of(s->brake);
    if (from == BRAKE_NONE || from == BRAKE_RELEASED) { /* 1 */
        return;
    }
    int64_t began_ns = s->brake->until - BRAKE_HOLD_NS; /* which a longer list does not change */
    bool due = from == BRAKE_HELD &&
               stood_left_ns(BRAKE_HOLD_NS, began_ns, s->brake_seen, in->now) <= 0;
    int to = lifecycle_move(&brake_lifecycle, from, in->actor, BRAKE_NEWS_RELEASE,
                            due ? BRAKE_IF_DUE : 0);
    if (to < 0) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "the brake %s",
                    from == BRAKE_HELD ? "holds for some time yet" : "is kept until confirmed");
        return;
    }
    put(p, in, changed(p->arena, s->brake, to, in->now), BRAKE_NEWS_RELEASE); /* 3 */
}

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
    int from = state_of(s->brake), news = r->keep ? BRAKE_NEWS_KEEP : BRAKE_NEWS_CONFIRM;
    int to = lifecycle_move(&brake_lifecycle, from, in->actor, news, 0);
    if (to < 0) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    from == BRAKE_RELEASED ? "the brake is released: its cells are being lost"
                                           : "the brake is in a state of a newer version");
    } else if (to != from) { /* 4 */
        const Board__BrakeRecord *after = changed(p->arena, s->brake, to, in->now); /* 5 */
        p->record = &after->base;
        put(p, in, after, news);
    }
}

const struct op_row brake_word_row = {
    .name = "brake",
    .target = brake_target,
    .gather = word_gather,
    .decide = brake_word_decide,
    .snapshot_size = sizeof(struct brake_word_snapshot),
};
