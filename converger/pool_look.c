#include "converger/pool_look.h"

#include "common/lifecycle/pool.h"
#include "common/model/moves.h"
#include "common/model/pool_record.h"
#include "common/model/pool_state.h"
#include "common/model/pool_tag.h"

#include <assert.h>
#include <string.h>

/* One look, while it goes on. */
struct pool_turn {
    struct arena *arena;
    const struct pool_look *l;
    const Board__PoolRecord *record;
    const Board__PoolEpoch *newest; /* NULL = none, or it goes */
    struct pool_facts facts;
    struct pool_answer *ret;
};

/* ---- What it knows --------------------------------------------------------------------------- */

static const struct pool_cell *cell_of(const struct pool_turn *t, const char *id)
{
    return map_get(t->l->cells, id);
}

static const char *tag_of(const struct pool_turn *t, const Board__PoolEpoch *e)
{
    return pool_tag(t->arena, t->record->uid, t->record->name, e->number);
}

/* A cell that bears the tag of an epoch which names it; NULL = it has no record, or one that was
 * made anew since, and is of no pool or of another one. */
static const struct pool_cell *cell_in(const struct pool_turn *t, const char *tag, const char *id)
{
    const struct pool_cell *cell = cell_of(t, id);
    return cell && strcmp(cell->pool, tag) == 0 ? cell : NULL;
}

static int32_t serving_of(const struct pool_turn *t, const Board__PoolEpoch *e)
{
    int32_t serving = 0;
    const char *tag = e ? tag_of(t, e) : NULL;
    for (size_t i = 0; e && i < e->n_cells; i++) {
        const struct pool_cell *cell = cell_in(t, tag, e->cells[i]);
        serving += cell && cell->serves;
    }
    return serving;
}

/* One that asks for placement tags of its own is for nobody else. */
static bool is_of_type(const struct pool_turn *t, const struct pool_cell *cell)
{
    const char *type = pool_type_tag(t->arena, t->newest->instance_type);
    for (size_t i = 0; i < cell->tag_count; i++) {
        if (strcmp(cell->tags[i], type) == 0) {
            return !cell->picky;
        }
    }
    return false;
}

/* Its newest epoch could have the cell, or can as soon as nothing is on it. */
static bool may_have(const struct pool_turn *t, const struct pool_cell *cell)
{
    return cell->serves && !cell->asked && !*cell->pool && is_of_type(t, cell);
}

static int32_t occupied_of(const struct pool_turn *t)
{
    int32_t occupied = 0;
    MAP_EACH(t->l->cells, n)
    {
        const struct pool_cell *cell = map_value(n);
        occupied += cell->used && may_have(t, cell);
    }
    return occupied;
}

static void learn_facts(struct pool_turn *t)
{
    const Board__PoolRecord *p = t->record;
    struct pool_facts *f = &t->facts;
    *f = (struct pool_facts){
        .deleting = lifecycle_state(&pool_lifecycle, p->state) == POOL_DELETING,
        .epochs = p->n_epochs,
        .type = p->instance_type,
        .wanted = p->wanted > 0 ? p->wanted : 0,
        .cells = t->newest ? (int32_t)t->newest->n_cells : 0,
        .serving = serving_of(t, t->newest),
        .overdue = t->l->now.mono_ns >= t->l->short_ns + POOL_SHORT_S * SECOND_NS,
        .held = t->l->unconfirmed
                    ? "the board was restored: nothing is done until bbs systems confirm"
                    : "",
    };
    for (size_t i = 0; i < p->n_epochs; i++) {
        f->old_cells += p->epochs[i] != t->newest ? (int32_t)p->epochs[i]->n_cells : 0;
    }
    f->occupied = t->newest && f->serving < f->wanted ? occupied_of(t) : 0;
}

static void turn_begin(struct pool_turn *t, struct arena *a, const struct pool_look *l)
{
    *t = (struct pool_turn){.arena = a, .l = l, .record = l->record};
    t->newest = pool_newest(l->record);
    learn_facts(t);
    assert(t->facts.cells >= t->facts.serving);
}

bool pool_is_short(const struct pool_look *l)
{
    SCOPED_ARENA(a);
    struct pool_turn t;
    turn_begin(&t, &a, l);
    return !t.facts.deleting && !l->unconfirmed && t.facts.serving < t.facts.wanted;
}

static bool is_named(const struct pool_turn *t, const Board__PoolEpoch *e)
{
    return map_get(t->l->named, tag_of(t, e));
}

/* ---- Moves ----------------------------------------------------------------------------------- */

static Board__PoolMove *move_begin(struct pool_turn *t, const char *name)
{
    assert(!t->ret->move);
    Board__Move *m = move_new(t->arena, name, key_pool(t->arena, t->record->uid, t->record->name));
    m->body_case = BOARD__MOVE__BODY_POOL;
    m->pool = arena_message(t->arena, &board__pool_move__descriptor);
    t->ret->move = m;
    return m->pool;
}

static void move_cell_of(struct pool_turn *t, const char *name, const Board__PoolEpoch *e,
                         const char *cell_id)
{
    Board__PoolMove *m = move_begin(t, name);
    m->cell_id = arena_strdup(t->arena, cell_id);
    m->epoch = e->number;
}

static void observe(struct pool_turn *t, const char *message)
{
    Board__PoolMove *m = move_begin(t, "observe");
    m->state = (char *)(uintptr_t)pool_lifecycle.states[pool_state_of(&t->facts)];
    m->message = arena_strdup(t->arena, message);
}

/* ---- Giving cells back ----------------------------------------------------------------------- */

/* How many cells of the epoch are in the zone. */
static size_t in_zone(const struct pool_turn *t, const Board__PoolEpoch *e, const char *zone)
{
    size_t count = 0;
    for (size_t i = 0; i < e->n_cells; i++) {
        const struct pool_cell *cell = cell_of(t, e->cells[i]);
        count += cell && strcmp(cell->zone, zone) == 0;
    }
    return count;
}

/* 3. False: none is over now. */
static bool retire(struct pool_turn *t)
{
    for (size_t i = 0; i < t->record->n_epochs; i++) {
        const Board__PoolEpoch *e = t->record->epochs[i];
        if (e != t->newest && !e->released && !is_named(t, e)) {
            move_begin(t, "retire")->epoch = e->number;
            return true;
        }
    }
    return false;
}

/* A cell that the epoch has no more, or that nothing is on; NULL = none. */
static const char *empty_cell(const struct pool_turn *t, const Board__PoolEpoch *e, bool gone_only)
{
    const char *tag = tag_of(t, e);
    for (size_t i = 0; i < e->n_cells; i++) {
        const struct pool_cell *cell = cell_in(t, tag, e->cells[i]);
        if (!cell || (!gone_only && !cell->used)) {
            return e->cells[i];
        }
    }
    return NULL;
}

/* 4. False: none of an epoch that is over is to be given back now. */
static bool release_old(struct pool_turn *t)
{
    for (size_t i = 0; i < t->record->n_epochs; i++) {
        const Board__PoolEpoch *e = t->record->epochs[i];
        const char *cell = e->released ? empty_cell(t, e, false) : NULL;
        if (cell) {
            move_cell_of(t, "release", e, cell);
            return true;
        }
    }
    return false;
}

/* Whether one cell is to be given back before another. */
static bool goes_before(const struct pool_turn *t, const struct pool_cell *one,
                        const struct pool_cell *other)
{
    if (one->serves != other->serves) {
        return !one->serves;
    }
    size_t of_one = in_zone(t, t->newest, one->zone), of_other = in_zone(t, t->newest, other->zone);
    return of_one != of_other ? of_one > of_other : strcmp(one->id, other->id) > 0;
}

/* How many cells of the newest epoch are not to go; `serving`: of those that serve. */
static int32_t staying_of(const struct pool_turn *t, bool serving)
{
    int32_t staying = 0;
    const char *tag = tag_of(t, t->newest);
    for (size_t i = 0; i < t->newest->n_cells; i++) {
        const struct pool_cell *cell = cell_in(t, tag, t->newest->cells[i]);
        staying += cell && !cell->leaves && (cell->serves || !serving);
    }
    return staying;
}

/* Of more cells than are wanted one with work on it that is not to go yet, or one without; NULL =
 * none. `serving` of them serve. */
static const char *surplus_cell(const struct pool_turn *t, bool used, int32_t serving)
{
    const struct pool_cell *best = NULL;
    const char *tag = tag_of(t, t->newest);
    for (size_t i = 0; i < t->newest->n_cells; i++) {
        const struct pool_cell *cell = cell_in(t, tag, t->newest->cells[i]);
        bool needed = cell && cell->serves && serving <= t->facts.wanted;
        bool fits = cell && cell->used == used && !(used && cell->leaves);
        if (fits && !needed && (!best || goes_before(t, cell, best))) {
            best = cell;
        }
    }
    return best ? best->id : NULL;
}

/* 7. False: none is to be given back now. */
static bool release(struct pool_turn *t)
{
    const char *cell = t->newest ? empty_cell(t, t->newest, true) : NULL;
    if (!cell && t->newest && t->facts.cells > t->facts.wanted) {
        cell = surplus_cell(t, false, t->facts.serving);
    }
    if (cell) {
        move_cell_of(t, "release", t->newest, cell);
    }
    return cell != NULL;
}

/* 8. False: none is to go that does not know it. */
static bool mark(struct pool_turn *t)
{
    const char *cell = t->newest && staying_of(t, false) > t->facts.wanted
                           ? surplus_cell(t, true, staying_of(t, true))
                           : NULL;
    if (cell) {
        move_cell_of(t, "mark", t->newest, cell);
    }
    return cell != NULL;
}

/* ---- Taking cells ---------------------------------------------------------------------------- */

static bool is_free(const struct pool_turn *t, const struct pool_cell *cell)
{
    return !cell->used && may_have(t, cell);
}

/* 6. False: none that was to go is missed. */
static bool keep(struct pool_turn *t)
{
    const char *tag = t->newest ? tag_of(t, t->newest) : NULL;
    for (size_t i = 0; tag && i < t->newest->n_cells; i++) {
        const struct pool_cell *cell = cell_in(t, tag, t->newest->cells[i]);
        if (cell && cell->leaves && cell->serves && staying_of(t, true) < t->facts.wanted) {
            move_cell_of(t, "keep", t->newest, cell->id);
            return true;
        }
    }
    return false;
}

/* 6. Cells come by name: the first of those that are as good. */
static bool assign(struct pool_turn *t)
{
    const struct pool_cell *best = NULL;
    size_t fewest = 0;
    if (!t->newest || t->facts.serving >= t->facts.wanted ||
        pool_cells(t->record) >= POOL_CELLS_MAX) {
        return false;
    }
    MAP_EACH(t->l->cells, n)
    {
        const struct pool_cell *cell = map_value(n);
        size_t there = is_free(t, cell) ? in_zone(t, t->newest, cell->zone) : 0;
        if (is_free(t, cell) && (!best || there < fewest)) {
            best = cell;
            fewest = there;
        }
    }
    if (best) {
        move_cell_of(t, "assign", t->newest, best->id);
    }
    return best != NULL;
}

/* ---- The look -------------------------------------------------------------------------------- */

static bool state_differs(const struct pool_turn *t)
{
    int state = pool_state_of(&t->facts);
    return state != POOL_DELETING && state != POOL_PENDING &&
           strcmp(t->record->state, pool_lifecycle.states[state]) != 0;
}

/* 9. Of one that goes nothing is written but its end. */
static void tell(struct pool_turn *t)
{
    const char *message = pool_state_text(t->arena, &t->facts);
    bool later = t->l->observe_ns && t->l->now.mono_ns < t->l->observe_ns + POOL_STEP_NS;
    bool said = t->facts.deleting || t->record->n_epochs == 0 ||
                strcmp(t->record->message, message) == 0;
    if (!said && later) {
        t->ret->settled = false;
    } else if (!said) {
        observe(t, message);
    }
}

void pool_look_at(struct arena *a, const struct pool_look *l, struct pool_answer *ret)
{
    struct pool_turn t;
    turn_begin(&t, a, l);
    t.ret = ret;
    *ret = (struct pool_answer){
        .settled = l->unconfirmed || pool_state_of(&t.facts) == POOL_STABLE,
    };
    bool acts = !l->unconfirmed;
    if (acts && t.facts.deleting && l->record->n_epochs == 0) {
        move_begin(&t, "remove"); /* 2 */
    } else if (acts && (retire(&t) || release_old(&t))) {
        return; /* 3, 4 */
    } else if (!t.facts.deleting && state_differs(&t)) {
        observe(&t, pool_state_text(a, &t.facts)); /* 5 */
    } else if (!acts || (!keep(&t) && !assign(&t) && !release(&t) && !mark(&t))) { /* 6, 7, 8 */
        tell(&t);                                                                  /* 9 */
    }
}
