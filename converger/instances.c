#include "converger/instances.h"

#include "converger/inside.h"

#include <assert.h>
#include <stdlib.h>

#define UNPLACED_AFTER_NS (30 * SECOND_NS)
/* What a repair did is on the feed by then, also what a rep hears first. */
#define REPAIR_SHOWS_NS (5 * SECOND_NS)
/* A client that retires a crashed instance may look whether it is gone: Diego makes it again in
 * its next pass, up to 30 s later, and its acceptance suite looks every 500 ms. While further
 * records of the process go, the first of them is made again after the longer of the two at the
 * latest. */
#define REMAKE_AFTER_NS (2 * SECOND_NS)
#define REMAKE_WITHIN_NS (4 * SECOND_NS)
/* Processes looked at in one step. */
enum { LOOKS_MAX = 1024 };

static void init(void *state, const struct converger_config *c)
{
    struct instances_keeper *k = state;
    map_init(&k->by_guid);
    work_init(&k->work);
    k->unplaced_after_ns = c->unplaced_after_ns ? c->unplaced_after_ns : UNPLACED_AFTER_NS;
}

/* ---- Which processes await a look ------------------------------------------------------------ */

/* An unknown one is made. */
static struct process *named(struct instances_keeper *k, const char *guid)
{
    struct process *one = map_named(&k->by_guid, guid, offsetof(struct process, guid));
    if (!one->item.name) {
        work_item_init(&one->item, one->guid);
    }
    return one;
}

/* Nothing of it is on the board, and nothing is on its way. */
static void drop(struct instances_keeper *k, struct process *one)
{
    assert(one->item.moving == 0 && !process_cache_any(one));
    work_drop(&k->work, &one->item);
    map_remove(&k->by_guid, one->guid);
    free(one);
}

static void touch(struct instances_keeper *k, struct process *one, int32_t first, int32_t last)
{
    bool touched = one->item.touched;
    one->first = touched && one->first < first ? one->first : first;
    one->last = touched && one->last > last ? one->last : last;
    work_touch(&k->work, &one->item);
}

/* Something calls for a look at this index; at all of it. */
static void call_index(struct instances_keeper *k, struct process *one, int32_t index)
{
    one->called = true;
    touch(k, one, index, index);
}

static void call(struct instances_keeper *k, struct process *one)
{
    one->called = true;
    touch(k, one, 0, INT32_MAX);
}

/* Without being called. Also when the copy is complete again: some may be gone. */
static void touch_all(void *state)
{
    struct instances_keeper *k = state;
    MAP_EACH(&k->by_guid, n)
    {
        struct process *one = map_value(n);
        one->full = true;
        touch(k, one, 0, INT32_MAX);
    }
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* What is on its way stays on its way. */
static void reset(void *state)
{
    struct instances_keeper *k = state;
    MAP_EACH(&k->by_guid, n)
    {
        process_cache_clear(&k->kept.x->cache, map_value(n));
    }
}

static void done(void *state)
{
    struct instances_keeper *k = state;
    reset(k);
    map_done(&k->by_guid, free);
    work_done(&k->work);
}

static void wait_to_remake(struct process *one, int64_t now_ns)
{
    if (one->remake_ns == 0) {
        one->gone_ns = now_ns;
    }
    one->remake_ns = earlier_ns(now_ns + REMAKE_AFTER_NS, one->gone_ns + REMAKE_WITHIN_NS);
}

/* actual/<process_guid>/<index>/<presence> */
static void on_actual(struct instances_keeper *k, struct arena *a, const char *key,
                      const struct followed *record)
{
    const char *guid = key_component(a, key, 1), *index = key_component(a, key, 2),
               *presence = key_component(a, key, 3);
    if (presence) {
        struct process *one = named(k, guid);
        int32_t at = (int32_t)strtol(index, NULL, 10);
        process_cache_actual(&k->kept.x->cache, one, at, (int)strtol(presence, NULL, 10), record);
        if (!record) {
            wait_to_remake(one, k->kept.x->life.now.mono_ns);
        }
        call_index(k, one, at);
    }
}

/* desired/<process_guid>, job/<process_guid>; a job with a name brings no instances in line. */
static void on_process(struct instances_keeper *k, struct arena *a, const char *key,
                       const struct followed *record)
{
    const char *guid = key_component(a, key, 1);
    if (guid && !key_component(a, key, 2)) {
        struct process *one = named(k, guid);
        if (key_type(key) == RECORD_JOB) {
            process_cache_job(one, record != NULL);
        } else {
            process_cache_desired(one, record);
        }
        call(k, one);
    }
}

/* cell/<cell_id>: whether it is there changes what is decided about the records that name it. */
static void on_cell(struct instances_keeper *k, const char *key)
{
    const struct cached_cell *cell = cache_cell_at(&k->kept.x->cache, key);
    if (!cell || !cell->turned) {
        return;
    }
    struct cell_user *u;
    LIST_FOREACH(u, &cell->users[KEEPER_instances], link)
    {
        struct cached_instance *i = CELL_USER_OF(u, struct cached_instance, on);
        call_index(k, i->process, i->view.index);
    }
}

static void change(void *state, const char *key, const struct followed *record)
{
    SCOPED_ARENA(a);
    switch (key_type(key)) {
    case RECORD_ACTUAL:
        on_actual(state, &a, key, record);
        break;
    case RECORD_CELL:
        on_cell(state, key);
        break;
    default:
        on_process(state, &a, key, record);
        break;
    }
}

/* ---- Looking --------------------------------------------------------------------------------- */

static void view_of(const struct instances_keeper *k, struct arena *a, const struct process *p,
                    int32_t first, int32_t last, struct process_view *ret)
{
    const struct converger *x = k->kept.x;
    *ret = (struct process_view){
        .now = x->life.now,
        .remake_ns = p->remake_ns,
        .unplaced_after_ns = k->unplaced_after_ns,
        .policy = &x->settings.crash,
    };
    process_cache_view(&x->cache, x->life.now, a, p, first, last, ret);
}

/* Nothing called for a look, and yet there is something to repair that changes bring: they were
 * missed. Not if it was repaired a moment ago, and does not show yet. */
static void note_late(struct instances_keeper *k, const struct process *one,
                      const struct repairs *repairs, struct effects *out)
{
    const struct converger *x = k->kept.x;
    bool shows =
        !one->repaired_ns || x->life.now.mono_ns - one->repaired_ns >= REPAIR_SHOWS_NS;
    bool uncalled = x->by_time && one->full && !one->called && shows;
    for (size_t i = 0; uncalled && i < repairs->count; i++) {
        const struct repair *r = &repairs->list[i];
        if (r->on_change) {
            k->found_late++;
            effects_log(out, LOG_WARN_LEVEL, "a full pass found what no change had led to",
                        "process_guid=%s index=%d pass=%s", one->guid, r->index, r->pass);
        }
    }
}

static void look_at(struct instances_keeper *k, struct arena *a, struct process *one,
                    struct effects *out)
{
    struct converger *x = k->kept.x;
    struct process_view v;
    struct repairs repairs;
    repairs_init(&repairs, a);
    view_of(k, a, one, one->first, one->last, &v);
    passes_run(&v, one->full, &repairs);
    note_late(k, one, &repairs, out);
    one->full = one->called = false;
    for (size_t i = 0; i < repairs.count; i++) {
        mover_add(&x->mover, &k->kept.owner, one->guid,
                  move_of_instance(a, repairs.list[i].move, one->guid, repairs.list[i].index));
        work_moving(&k->work, &one->item);
    }
    if (repairs.due_ns != NEVER_NS) {
        work_due(&k->work, &one->item,
                 earlier_ns(repairs.due_ns, x->life.now.mono_ns + x->interval_ns));
    }
    if (repairs.more) {
        call(k, one);
    } else if (one->remake_ns <= x->life.now.mono_ns) {
        one->remake_ns = 0;
    }
    if (one->item.moving == 0 && !process_cache_any(one)) {
        drop(k, one);
    }
}

/* As long as there is room for what comes of it. The rest follows in the next step, or when
 * moves are answered. */
static void look(void *state, bool all, struct effects *out)
{
    struct instances_keeper *k = state;
    struct work *work = &k->work;
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    if (all) {
        touch_all(k);
    }
    struct process *one;
    while ((one = (struct process *)work_wake(work, now_ns))) {
        call(k, one);
    }
    SCOPED_ARENA(a);
    int looks = 0;
    while (mover_room(&k->kept.x->mover, REPAIRS_MAX) && looks < LOOKS_MAX &&
           (one = (struct process *)work_next(work))) {
        look_at(k, &a, one, out);
        arena_reset(&a);
        looks++;
    }
    bool more = looks == LOOKS_MAX && mover_room(&k->kept.x->mover, REPAIRS_MAX);
    effects_due(out, more ? now_ns : work_wake_ns(work));
}

static void settled(void *state, const char *process_guid, enum move_end end)
{
    struct instances_keeper *k = state;
    struct process *one = map_get(&k->by_guid, process_guid);
    if (one) {
        int64_t again_ns = work_again_ns(end, k->kept.x->life.now.mono_ns);
        one->repaired_ns = k->kept.x->life.now.mono_ns;
        one->called = one->called || again_ns != NEVER_NS;
        work_settled(&k->work, &one->item, again_ns);
    }
}

/* What is touched needs no look, but what is gone is forgotten. An election begins with a full
 * pass. */
static void stand_by(void *state)
{
    struct instances_keeper *k = state;
    struct process *one;
    while ((one = (struct process *)work_next(&k->work))) {
        if (!process_cache_any(one)) {
            drop(k, one);
        }
    }
}

/* ---- What is shown --------------------------------------------------------------------------- */

static void plan_process(const struct instances_keeper *k, const struct process *one,
                         struct plan_shown *ret)
{
    SCOPED_ARENA(a);
    struct process_view v;
    struct repairs repairs;
    repairs_init(&repairs, &a);
    view_of(k, &a, one, 0, INT32_MAX, &v);
    passes_run(&v, true, &repairs);
    ret->plan->more = ret->plan->more || repairs.more;
    for (size_t i = 0; i < repairs.count; i++) {
        const struct repair *r = &repairs.list[i];
        plan_show(ret, r->pass, move_of_instance(&a, r->move, one->guid, r->index));
    }
}

static void plan(void *state, struct plan_shown *ret)
{
    struct instances_keeper *k = state;
    MAP_EACH(&k->by_guid, n)
    {
        if (!ret->plan->more) {
            plan_process(k, map_value(n), ret);
        }
    }
}

static void show(void *state, Converge__ConvergerState *ret, struct arena *a)
{
    (void)a;
    const struct instances_keeper *k = state;
    ret->processes = k->by_guid.count;
    ret->waiting = k->work.waiting_count;
    ret->found_late = k->found_late;
}

const struct keeper instances_keeper = {.state_size = sizeof(struct instances_keeper),
                                        .init = init,
                                        .done = done,
                                        .reset = reset,
                                        .change = change,
                                        .current = touch_all,
                                        .look = look,
                                        .settled = settled,
                                        .stand_by = stand_by,
                                        .plan = plan,
                                        .show = show};
