/* Y11, E7: a cell is in one pool, or slice, which takes it while nothing is on it; a cell of a pool
 * runs only what bears its tag, which goes nowhere else; an epoch goes only when nothing is to run
 * there. And at rest: a pool has every cell that it can have, and nothing of it is left over. */
#include "common/model/pool_tag.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

/* What is looked for among the records that stand. */
struct sought_on_cell {
    const char *cell_id, *tag;
    const char *found; /* key of one; NULL = none */
};

/* ---- Cells and pools ------------------------------------------------------------------------- */

static bool slice_has_cell(struct checkers *k, struct arena *a, const char *uid,
                           const char *cell_id)
{
    const Board__SliceRecord *slice =
        (const Board__SliceRecord *)history_now(&k->history, key_slice(a, uid));
    for (size_t i = 0; slice && i < slice->n_cells; i++) {
        if (strcmp(slice->cells[i], cell_id) == 0) {
            return true;
        }
    }
    return false;
}

/* The pool of the tag has the cell in that epoch; or the slice has it. */
static bool has_cell(struct checkers *k, struct arena *a, const char *tag, const char *cell_id)
{
    if (slice_tag_uid(tag)) {
        return slice_has_cell(k, a, slice_tag_uid(tag), cell_id);
    }
    struct pool_tag t;
    const Board__PoolRecord *pool =
        pool_tag_parse(a, tag, &t)
            ? (const Board__PoolRecord *)history_now(&k->history, key_pool(a, t.uid, t.name))
            : NULL;
    for (size_t i = 0; pool && i < pool->n_epochs; i++) {
        const Board__PoolEpoch *e = pool->epochs[i];
        for (size_t c = 0; e->number == t.epoch && c < e->n_cells; c++) {
            if (strcmp(e->cells[c], cell_id) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void note_actual_on(void *context, const struct past *p)
{
    struct sought_on_cell *s = context;
    const Models__ActualLRPInstanceKey *key =
        ((const Models__ActualLRP *)p->message)->actual_lrp_instance_key;
    if (key && strcmp(key->cell_id, s->cell_id) == 0) {
        s->found = p->key;
    }
}

static void note_task_on(void *context, const struct past *p)
{
    struct sought_on_cell *s = context;
    if (strcmp(((const Models__Task *)p->message)->cell_id, s->cell_id) == 0) {
        s->found = p->key;
    }
}

static void note_unit_on(void *context, const struct past *p)
{
    struct sought_on_cell *s = context;
    if (strcmp(((const Board__UnitRecord *)p->message)->cell_id, s->cell_id) == 0) {
        s->found = p->key;
    }
}

/* What is on the cell; NULL = nothing. */
static const char *on_cell(struct checkers *k, const char *cell_id)
{
    struct sought_on_cell s = {.cell_id = cell_id};
    history_each(&k->history, "unit/", note_unit_on, &s);
    history_each(&k->history, "actual/", note_actual_on, &s);
    history_each(&k->history, "task/", note_task_on, &s);
    return s.found;
}

static void check_cell(struct checkers *k, const struct past *p)
{
    SCOPED_ARENA(a);
    const Board__CellRecord *is = (const Board__CellRecord *)p->message;
    const Board__CellRecord *was = p->before ? (const Board__CellRecord *)p->before->message : NULL;
    const char *id = key_component(&a, p->key, 1), *before = was ? was->pool : "";
    if (!is || strcmp(is->pool, before) == 0) {
        return;
    }
    if (*is->pool && *before) {
        checkers_report(k, "Y11", "cell %s goes from pool %s to %s", id, before, is->pool);
    } else if (*is->pool && !has_cell(k, &a, is->pool, id)) {
        checkers_report(k, "Y11", "cell %s is in %s, which has it not", id, is->pool);
    } else if (on_cell(k, id)) {
        checkers_report(k, "Y11", "cell %s %s %s while %s is on it", id,
                        *is->pool ? "comes into" : "leaves", *is->pool ? is->pool : before,
                        on_cell(k, id));
    }
}

/* ---- Epochs ---------------------------------------------------------------------------------- */

static void note_bearer(void *context, const struct past *p)
{
    struct sought_on_cell *s = context;
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)p->message;
    for (size_t i = 0; i < d->n_placementtags; i++) {
        s->found = strcmp(d->placementtags[i], s->tag) == 0 ? p->key : s->found;
    }
}

static const Board__PoolEpoch *epoch_in(const Board__PoolRecord *pool, uint32_t number)
{
    for (size_t i = 0; pool && i < pool->n_epochs; i++) {
        if (pool->epochs[i]->number == number) {
            return pool->epochs[i];
        }
    }
    return NULL;
}

/* What is over now, and was not. */
static void check_pool(struct checkers *k, const struct past *p)
{
    const Board__PoolRecord *was = p->before ? (const Board__PoolRecord *)p->before->message : NULL;
    for (size_t i = 0; was && i < was->n_epochs; i++) {
        SCOPED_ARENA(a);
        const Board__PoolEpoch *e = was->epochs[i];
        const Board__PoolEpoch *is = epoch_in((const Board__PoolRecord *)p->message, e->number);
        struct sought_on_cell s = {.tag = pool_tag(&a, was->uid, was->name, e->number)};
        if (!e->released && (!is || is->released)) {
            history_each(&k->history, "desired/", note_bearer, &s);
        }
        if (s.found) {
            checkers_report(k, "Y11", "%s is over while %s bears it", s.tag, s.found);
        }
    }
}

/* ---- What comes to a cell -------------------------------------------------------------------- */

static void check_place(struct checkers *k, const char *what, const char *cell_id,
                        char *const *tags, size_t count)
{
    SCOPED_ARENA(a);
    const Board__CellRecord *cell =
        (const Board__CellRecord *)history_now(&k->history, key_cell(&a, cell_id));
    if (cell && !pool_tag_fits(cell->pool, tags, count)) {
        checkers_report(k, "Y11", "%s comes to cell %s, whose pool is \"%s\"", what, cell_id,
                        cell->pool);
    }
}

static const char *cell_of(const ProtobufCMessage *m)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)m;
    return r && r->actual_lrp_instance_key ? r->actual_lrp_instance_key->cell_id : "";
}

/* The index has a record of this cell, of whatever presence, or had one before this change. */
static bool was_there(struct checkers *k, struct arena *a, const struct past *p,
                      const char *cell_id, const Models__ActualLRPKey *key)
{
    bool was = p->before && strcmp(cell_of(p->before->message), cell_id) == 0;
    for (int presence = 0; presence <= 3; presence++) {
        const struct past *other =
            map_get(&k->history.now, key_actual(a, key->process_guid, key->index, presence));
        const struct past *then = other && other->revision == p->revision ? other->before : other;
        was = was || (other && other != p && then && strcmp(cell_of(then->message), cell_id) == 0);
    }
    return was;
}

/* A hole: a client that claims and starts in the place of a cell is not asked for that cell's pool.
 * Our cells hear only their own rep. */
static bool of_client(const struct past *p)
{
    return p->cause && strcmp(p->cause->actor, "client") == 0;
}

static void check_actual(struct checkers *k, const struct past *p)
{
    SCOPED_ARENA(a);
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    const char *cell_id = cell_of(p->message);
    if (!*cell_id || of_client(p) || was_there(k, &a, p, cell_id, r->actual_lrp_key)) {
        return;
    }
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)history_now(
        &k->history, key_desired(&a, r->actual_lrp_key->process_guid));
    if (d) {
        check_place(k, p->key, cell_id, d->placementtags, d->n_placementtags);
    }
}

static void check_pool_task(struct checkers *k, const struct past *p)
{
    const Models__Task *is = (const Models__Task *)p->message;
    const Models__Task *was = p->before ? (const Models__Task *)p->before->message : NULL;
    const Models__TaskDefinition *d = is ? is->task_definition : NULL;
    if (d && *is->cell_id && !of_client(p) && (!was || strcmp(was->cell_id, is->cell_id) != 0)) {
        check_place(k, p->key, is->cell_id, d->placement_tags, d->n_placement_tags);
    }
}

void check_pools(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    (void)commit;
    for (size_t i = 0; i < p->count; i++) {
        switch ((int)p->list[i]->type) {
        case RECORD_CELL:
            check_cell(k, p->list[i]);
            break;
        case RECORD_POOL:
            check_pool(k, p->list[i]);
            k->seen[SEEN_POOLS]++;
            break;
        case RECORD_ACTUAL:
            check_actual(k, p->list[i]);
            break;
        case RECORD_TASK:
            check_pool_task(k, p->list[i]);
            break;
        default:
            break;
        }
    }
}

/* ---- At rest --------------------------------------------------------------------------------- */

struct free_cells {
    struct checkers *k;
    const char *type;
    const char *id; /* of one of that type that a pool could have; NULL = none */
};

static void note_free(void *context, const struct past *p)
{
    struct free_cells *f = context;
    const Board__CellRecord *cell = (const Board__CellRecord *)p->message;
    const Models__CellPresence *presence = cell->presence;
    bool fits = false;
    for (size_t i = 0; presence && i < presence->n_optional_placement_tags; i++) {
        fits = fits || (strncmp(presence->optional_placement_tags[i], "type:", 5) == 0 &&
                        strcmp(presence->optional_placement_tags[i] + 5, f->type) == 0);
    }
    if (fits && cell->state == BOARD__CELL_RECORD__STATE__PRESENT && !cell->evacuating &&
        !*cell->pool && !on_cell(f->k, presence->cell_id)) {
        f->id = presence->cell_id;
    }
}

struct resting_pools {
    struct checkers *k;
    struct buf *why;
};

static void rest_pool(void *context, const struct past *p)
{
    struct resting_pools *r = context;
    const Board__PoolRecord *pool = (const Board__PoolRecord *)p->message;
    const Board__PoolEpoch *newest = pool->n_epochs ? pool->epochs[pool->n_epochs - 1] : NULL;
    struct free_cells f = {.k = r->k, .type = pool->instance_type};
    if (strcmp(pool->state, "pending") == 0) {
        buf_printf(r->why, "%s is pending (YL2); ", p->key);
    }
    if (newest && strcmp(pool->state, "deleting") != 0 && newest->n_cells < (size_t)pool->wanted) {
        history_each(&r->k->history, "cell/", note_free, &f);
    }
    if (f.id) {
        buf_printf(r->why, "%s lacks cells, and %s is free (YL2); ", p->key, f.id);
    }
}

/* A cell's pool is one that has it. */
static void rest_cell(void *context, const struct past *p)
{
    struct resting_pools *r = context;
    const Board__CellRecord *cell = (const Board__CellRecord *)p->message;
    SCOPED_ARENA(a);
    const char *id = key_component(&a, p->key, 1);
    if (*cell->pool && !has_cell(r->k, &a, cell->pool, id)) {
        buf_printf(r->why, "cell %s is of pool %s, which is not there; ", id, cell->pool);
    }
}

void check_pools_rest(struct checkers *k, struct buf *ret_why)
{
    struct resting_pools r = {k, ret_why};
    history_each(&k->history, "pool/", rest_pool, &r);
    history_each(&k->history, "cell/", rest_cell, &r);
}
