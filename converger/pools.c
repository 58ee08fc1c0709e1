/* The keeper of node pools: it gives them cells and takes them back, one after the other, and
 * writes down how they are (pool_look.h). What a definition says of them is told by deploys
 * (spread.h). Pure. */
#include "common/base/memory.h"
#include "common/lifecycle/job_run.h"
#include "common/lifecycle/pool.h"
#include "common/lifecycle/system.h"
#include "common/model/pool_tag.h"
#include "common/model/service_record.h"
#include "converger/inside.h"
#include "converger/pool_look.h"
#include "converger/work.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Pools looked at in one step. */
enum { POOL_LOOKS_MAX = 64 };

/* A pool with a record. */
struct kept_pool {
    struct work_item item; /* first: a struct work_item * is a struct kept_pool * */
    struct judged judged;
    /* Monotonic, and what of the record they belong to. */
    int64_t term, short_ns, observe_ns;
    int32_t wanted;
    uint32_t epoch;
    bool is_short; /* at the last look */
    char *asked; /* the cell that a move on its way gives it; NULL = none; owned */
    char key[];
};

/* A service or a run that names epochs. */
struct naming {
    size_t count;
    char **tags; /* of these epochs, some perhaps twice */
};

struct pools_keeper {
    struct kept kept;
    struct map by_key;    /* -> struct kept_pool */
    struct map cells;     /* id -> struct pool_cell */
    struct map by_record; /* key of a service or run that names an epoch -> struct naming */
    struct map named;     /* tag of an epoch -> struct map, of those that name it, by their keys */
    struct work work;
};

static void init(void *state, const struct converger_config *config)
{
    struct pools_keeper *k = state;
    (void)config;
    map_init(&k->by_key);
    map_init(&k->cells);
    map_init(&k->by_record);
    map_init(&k->named);
    work_init(&k->work);
}

/* ---- Who names an epoch ---------------------------------------------------------------------- */

static void name_no_more(struct pools_keeper *k, const char *key)
{
    struct naming *was = map_get(&k->by_record, key);
    for (size_t i = 0; was && i < was->count; i++) {
        struct map *by = map_get(&k->named, was->tags[i]);
        if (by) {
            map_remove(by, key);
        }
        if (by && by->count == 0) {
            map_remove(&k->named, was->tags[i]);
            free(by);
        }
        free(was->tags[i]);
    }
    if (was) {
        map_remove(&k->by_record, key);
        free(was->tags);
        free(was);
    }
}

static void name_epoch(struct pools_keeper *k, const char *key, struct naming *is, const char *tag)
{
    struct map *by = map_get(&k->named, tag);
    if (!by) {
        by = mem_zeroed(sizeof(*by));
        map_init(by);
        map_put(&k->named, tag, by);
    }
    is->tags[is->count++] = mem_text(tag);
    map_put(by, key, is);
    assert(by->count > 0);
}

static void learn_service(struct pools_keeper *k, struct arena *a, const char *key,
                          const Board__ServiceRecord *s)
{
    struct naming *is = NULL;
    for (size_t i = 0; i < s->n_revisions; i++) {
        const Board__Revision *r = s->revisions[i];
        if (r->pool_epoch == 0 || !service_revision_stands(s, r)) {
            continue;
        }
        if (!is) {
            is = mem_zeroed(sizeof(*is));
            is->tags = mem_array(s->n_revisions, sizeof(*is->tags));
            map_put(&k->by_record, key, is);
        }
        name_epoch(k, key, is, pool_tag(a, s->uid, r->pool, r->pool_epoch));
    }
}

static void learn_run(struct pools_keeper *k, struct arena *a, const char *key,
                      const Board__JobRunRecord *r)
{
    int state = lifecycle_state(&job_run_lifecycle, r->state);
    struct naming *is;
    if (state != JOB_RUN_SUCCEEDED && state != JOB_RUN_FAILED && r->pool_epoch > 0) {
        is = mem_zeroed(sizeof(*is));
        is->tags = mem_array(1, sizeof(*is->tags));
        name_epoch(k, key, is, pool_tag(a, r->uid, r->pool, r->pool_epoch));
        map_put(&k->by_record, key, is);
    }
}

/* One that this version cannot read names what it named. */
static void learn_naming(struct pools_keeper *k, struct arena *a, const char *key,
                         const struct followed *record)
{
    const void *m = message_of(a, key, record);
    if (record && !m) {
        return;
    }
    name_no_more(k, key);
    if (m && key_type(key) == RECORD_SERVICE) {
        learn_service(k, a, key, m);
    } else if (m) {
        learn_run(k, a, key, m);
    }
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void empty_cell(struct pool_cell *c)
{
    for (size_t i = 0; i < c->tag_count; i++) {
        free(c->tags[i]);
    }
    free(c->tags);
    free(c->zone);
    free(c->pool);
    c->tags = NULL;
    c->tag_count = 0;
    c->zone = c->pool = NULL;
}

static void free_cell(void *value)
{
    empty_cell(value);
    free(value);
}

/* One that this version cannot read is no cell that could be taken; but it is not gone. */
static void learn_cell(struct pools_keeper *k, struct arena *a, const char *key,
                       const struct followed *record)
{
    const char *id = key_component(a, key, 1);
    if (id && !record) {
        struct pool_cell *gone = map_remove(&k->cells, id);
        if (gone) {
            free_cell(gone);
        }
    }
    if (!id || !record) {
        return;
    }
    struct pool_cell *c = map_named(&k->cells, id, offsetof(struct pool_cell, id));
    const Board__CellRecord *r = message_of(a, key, record);
    const Models__CellPresence *p = r ? r->presence : NULL;
    empty_cell(c);
    c->picky = p && p->n_placement_tags > 0;
    c->serves = r && r->state == BOARD__CELL_RECORD__STATE__PRESENT && !r->evacuating;
    c->zone = mem_text(p ? p->zone : "");
    c->pool = mem_text(r ? r->pool : "");
    c->leaves = r && r->pool_leaves;
    c->tag_count = p ? p->n_optional_placement_tags : 0;
    c->tags = c->tag_count ? mem_array(c->tag_count, sizeof(*c->tags)) : NULL;
    for (size_t i = 0; i < c->tag_count; i++) {
        c->tags[i] = mem_text(p->optional_placement_tags[i]);
    }
}

/* What the cache knows of who is where. */
static void see_cells(struct pools_keeper *k)
{
    MAP_EACH(&k->cells, n)
    {
        struct pool_cell *c = map_value(n);
        const struct cached_cell *cached = map_get(&k->kept.x->cache.cells, c->id);
        c->used = cached && cached->on_count > 0;
    }
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void ask_no_more(struct pools_keeper *k, struct kept_pool *one)
{
    struct pool_cell *cell = one->asked ? map_get(&k->cells, one->asked) : NULL;
    if (cell) {
        cell->asked = false;
    }
    free(one->asked);
    one->asked = NULL;
}

static void drop(struct pools_keeper *k, struct kept_pool *one)
{
    ask_no_more(k, one);
    work_drop(&k->work, &one->item);
    map_remove(&k->by_key, one->key);
    free(one);
}

static void on_pool(struct pools_keeper *k, const char *key, const struct followed *record)
{
    struct kept_pool *one = map_get(&k->by_key, key);
    if (!record && one) {
        drop(k, one);
    } else if (record) {
        one = map_named(&k->by_key, key, offsetof(struct kept_pool, key));
        if (!one->item.name) {
            work_item_init(&one->item, one->key);
        }
        work_touch(&k->work, &one->item);
    }
}

/* Those whose keys begin so. */
static void touch_range(struct pools_keeper *k, const char *range)
{
    for (struct map_node *n = map_from(&k->by_key, range); n && text_begins(map_key(n), range);
         n = map_next(n)) {
        work_touch(&k->work, &((struct kept_pool *)map_value(n))->item);
    }
}

static void change(void *state, const char *key, const struct followed *record)
{
    struct pools_keeper *k = state;
    SCOPED_ARENA(a);
    const Board__SystemRecord *system;
    switch ((int)key_type(key)) {
    case RECORD_POOL:
        on_pool(k, key, record);
        break;
    case RECORD_CELL:
        learn_cell(k, &a, key, record);
        touch_range(k, "");
        break;
    case RECORD_SYSTEM:
        system = message_of(&a, key, record);
        if (system && *system->uid) {
            touch_range(k, key_range_of(&a, RECORD_POOL, system->uid));
        }
        break;
    default:
        learn_naming(k, &a, key, record);
    }
}

static void current(void *state)
{
    touch_range(state, "");
}

static void reset(void *state)
{
    struct pools_keeper *k = state;
    MAP_EACH(&k->by_key, n)
    {
        drop(k, map_value(n));
    }
    MAP_EACH(&k->by_record, n)
    {
        name_no_more(k, map_key(n));
    }
    map_done(&k->cells, free_cell);
    map_init(&k->cells);
    assert(k->named.count == 0);
}

static void done(void *state)
{
    struct pools_keeper *k = state;
    reset(k);
    map_done(&k->by_key, NULL);
    map_done(&k->cells, NULL);
    map_done(&k->by_record, NULL);
    map_done(&k->named, NULL);
    work_done(&k->work);
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* The system that the pool is of; NULL = none that this version can read. */
static const Board__SystemRecord *system_of(const struct pools_keeper *k, struct arena *a,
                                            const Board__PoolRecord *p)
{
    const Board__SystemRecord *system =
        *p->system ? message_at(&k->kept, a, key_system(a, p->system)) : NULL;
    return system && strcmp(system->uid, p->uid) == 0 ? system : NULL;
}

/* False: its record says nothing to this version. */
static bool see(const struct pools_keeper *k, struct arena *a, const struct kept_pool *one,
                struct pool_look *ret)
{
    const Board__PoolRecord *p = message_at(&k->kept, a, one->key);
    if (!p || lifecycle_state(&pool_lifecycle, p->state) < 0) {
        return false;
    }
    const Board__SystemRecord *system = system_of(k, a, p);
    *ret = (struct pool_look){
        .record = p,
        .now = k->kept.x->life.now,
        .cells = &k->cells,
        .named = &k->named,
        .unconfirmed =
            !system || strcmp(system->board_generation, k->kept.x->board_generation) != 0,
        .short_ns = one->short_ns,
        .observe_ns = one->observe_ns,
    };
    return true;
}

/* The time in which it has too few cells begins anew in each term, with each word of a definition,
 * and at the first look at which it has too few: nothing may have called for one before that. */
static void keep_time(const struct pools_keeper *k, struct kept_pool *one, struct pool_look *l)
{
    int64_t term = k->kept.x->life.leader.term;
    const Board__PoolRecord *p = l->record;
    uint32_t epoch = p->n_epochs > 0 ? p->epochs[p->n_epochs - 1]->number : 0;
    bool was_short = one->is_short;
    one->is_short = pool_is_short(l);
    bool same = one->term == term && one->wanted == p->wanted && one->epoch == epoch;
    if (!same || !was_short || !one->is_short) {
        one->term = term;
        one->wanted = p->wanted;
        one->epoch = epoch;
        one->short_ns = l->now.mono_ns;
    }
    l->short_ns = one->short_ns;
}

static void add_move(struct pools_keeper *k, struct kept_pool *one, const struct pool_look *l,
                     Board__Move *move, int64_t revision)
{
    assert(one->item.moving == 0 && !one->asked);
    move->subject->revision = revision;
    move->pool->system = l->record->system;
    if (strcmp(move->move, "assign") == 0) {
        struct pool_cell *cell = map_get(&k->cells, move->pool->cell_id);
        one->asked = mem_text(cell->id);
        cell->asked = true;
    }
    one->observe_ns = strcmp(move->move, "observe") == 0 ? l->now.mono_ns : one->observe_ns;
    mover_add(&k->kept.x->mover, &k->kept.owner, one->key, move);
    work_judged(&k->work, &one->item, &one->judged, revision, l->now.mono_ns);
}

static void look_at(struct pools_keeper *k, struct arena *a, struct kept_pool *one)
{
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    const struct followed *f = feed_client_get(&k->kept.x->life.feed_client, one->key);
    struct pool_look l;
    struct pool_answer answer;
    if (f && work_unseen(&k->work, &one->item, &one->judged, f->mod_revision, now_ns)) {
        return;
    }
    if (!f || !see(k, a, one, &l)) {
        return;
    }
    keep_time(k, one, &l);
    pool_look_at(a, &l, &answer);
    work_clear_due(&k->work, &one->item);
    if (answer.move) {
        add_move(k, one, &l, answer.move, f->mod_revision);
    } else if (!answer.settled) {
        work_due(&k->work, &one->item, now_ns + POOL_STEP_NS);
    }
}

static void look(void *state, bool all, struct effects *out)
{
    struct pools_keeper *k = state;
    struct work *work = &k->work;
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    if (all) {
        current(k);
    }
    struct work_item *item;
    while ((item = work_wake(work, now_ns))) {
        work_touch(work, item);
    }
    if (work->waiting_count > 0) {
        see_cells(k);
    }
    SCOPED_ARENA(a);
    int looks = 0;
    while (mover_room(&k->kept.x->mover, 1) && looks < POOL_LOOKS_MAX &&
           (item = work_next(work))) {
        look_at(k, &a, (struct kept_pool *)item);
        looks++;
    }
    bool more = looks == POOL_LOOKS_MAX && mover_room(&k->kept.x->mover, 1);
    effects_due(out, more ? now_ns : work_wake_ns(work));
}

static void settled(void *state, const char *key, enum move_end end)
{
    struct pools_keeper *k = state;
    struct kept_pool *one = map_get(&k->by_key, key);
    if (one) {
        ask_no_more(k, one);
        work_judged_end(&k->work, &one->item, &one->judged, end, k->kept.x->life.now.mono_ns);
    }
}

/* ---- What is shown --------------------------------------------------------------------------- */

static void plan(void *state, struct plan_shown *ret)
{
    struct pools_keeper *k = state;
    see_cells(k);
    MAP_EACH(&k->by_key, n)
    {
        struct pool_look l;
        struct pool_answer answer;
        const struct kept_pool *one = map_value(n);
        if (!ret->plan->more && see(k, ret->arena, one, &l)) {
            bool in_term = one->term != 0 && one->term == k->kept.x->life.leader.term;
            l.short_ns = in_term ? l.short_ns : l.now.mono_ns;
            pool_look_at(ret->arena, &l, &answer);
            if (answer.move) {
                plan_show(ret, "pool", answer.move);
            }
        }
    }
}

static void show(void *state, Converge__ConvergerState *ret, struct arena *a)
{
    const struct pools_keeper *k = state;
    (void)a;
    ret->pools = k->by_key.count;
    ret->pools_waiting = k->work.waiting_count;
}

const struct keeper pools_keeper = {.state_size = sizeof(struct pools_keeper),
                                    .init = init,
                                    .done = done,
                                    .reset = reset,
                                    .change = change,
                                    .current = current,
                                    .look = look,
                                    .settled = settled,
                                    .plan = plan,
                                    .show = show};
