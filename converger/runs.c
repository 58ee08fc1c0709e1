/* The keeper of job runs: each is queued once, told as its Task goes, and forgotten in time
 * (run_look.h says what is due). Pure. */
#include "common/base/memory.h"
#include "common/lifecycle/job_run.h"
#include "common/lifecycle/system.h"
#include "common/lifecycle/task.h"
#include "common/model/moves.h"
#include "common/model/pool_state.h"
#include "common/model/task_guards.h"
#include "converger/inside.h"
#include "converger/run_look.h"
#include "converger/work.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Runs looked at in one step; moves of them on their way. */
enum { RUN_LOOKS_MAX = 1024, RUNS_MOVING_MAX = 1024 };

struct run_seen {
    struct work_item item; /* first: a struct work_item * is a struct run_seen * */
    int state;             /* JOB_RUN_...; -1 = of a newer version */
    int64_t completed_at;
    bool spare;        /* more are over than are kept, and it is among the oldest */
    char *system, *pool, *task_guid, *message; /* "" = none; owned */
    char key[];        /* of its record */
};

struct runs_keeper {
    struct kept kept;
    struct map by_key;  /* -> struct run_seen */
    struct map by_task; /* task_guid -> struct run_seen, of those that have one */
    struct work work;
};

static void init(void *state, const struct converger_config *config)
{
    struct runs_keeper *k = state;
    (void)config;
    map_init(&k->by_key);
    map_init(&k->by_task);
    work_init(&k->work);
}

static const char *uid_of(struct arena *a, const struct run_seen *s)
{
    const char *uid = key_component(a, s->key, 1);
    assert(uid);
    return uid;
}

static bool run_is_over(const struct run_seen *s)
{
    return s->state == JOB_RUN_SUCCEEDED || s->state == JOB_RUN_FAILED;
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void set_text(char **at, const char *text)
{
    if (!*at || strcmp(*at, text) != 0) {
        free(*at);
        *at = mem_text(text);
    }
}

static void leave_task(struct runs_keeper *k, struct run_seen *s)
{
    if (s->task_guid && *s->task_guid && map_get(&k->by_task, s->task_guid) == s) {
        map_remove(&k->by_task, s->task_guid);
    }
}

static void drop(struct runs_keeper *k, struct run_seen *s)
{
    leave_task(k, s);
    work_drop(&k->work, &s->item);
    map_remove(&k->by_key, s->key);
    free(s->system);
    free(s->pool);
    free(s->task_guid);
    free(s->message);
    free(s);
}

/* What this version cannot read is left alone. */
static void learn(struct runs_keeper *k, struct run_seen *s, const struct followed *record)
{
    SCOPED_ARENA(a);
    static const Board__JobRunRecord unread = BOARD__JOB_RUN_RECORD__INIT;
    const Board__JobRunRecord *read = message_of(&a, s->key, record);
    const Board__JobRunRecord *r = read ? read : &unread;
    leave_task(k, s);
    s->state = read ? lifecycle_state(&job_run_lifecycle, r->state) : -1;
    s->completed_at = r->completed_at;
    set_text(&s->system, r->system);
    set_text(&s->pool, r->pool);
    set_text(&s->task_guid, r->task_guid);
    set_text(&s->message, r->message);
    if (*s->task_guid) {
        map_put(&k->by_task, s->task_guid, s);
    }
}

static int later_first(const void *x, const void *y)
{
    const struct run_seen *a = *(struct run_seen *const *)x;
    const struct run_seen *b = *(struct run_seen *const *)y;
    return a->completed_at != b->completed_at ? (a->completed_at < b->completed_at) -
                                                    (a->completed_at > b->completed_at)
                                              : strcmp(a->key, b->key);
}

/* Of the runs of this system that are over the oldest go, where there are too many. */
static void find_spare(struct runs_keeper *k, const char *range)
{
    SCOPED_ARENA(a);
    struct run_seen **over = ARENA_ARRAY(&a, k->by_key.count, struct run_seen *);
    size_t count = 0;
    for (struct map_node *n = map_from(&k->by_key, range); n && text_begins(map_key(n), range);
         n = map_next(n)) {
        struct run_seen *s = map_value(n);
        if (run_is_over(s)) {
            over[count++] = s;
        }
    }
    if (count > RUNS_KEPT) {
        qsort(over, count, sizeof(struct run_seen *), later_first);
    }
    for (size_t i = RUNS_KEPT; i < count; i++) {
        over[i]->spare = true;
        work_touch(&k->work, &over[i]->item);
    }
}

static void on_run(struct runs_keeper *k, const char *key, const struct followed *record)
{
    struct run_seen *s = map_get(&k->by_key, key);
    if (!record) {
        if (s) {
            drop(k, s);
        }
        return;
    }
    if (!s) {
        s = map_named(&k->by_key, key, offsetof(struct run_seen, key));
        work_item_init(&s->item, s->key);
    }
    bool was_over = run_is_over(s);
    learn(k, s, record);
    work_clear_due(&k->work, &s->item);
    work_touch(&k->work, &s->item);
    if (run_is_over(s) && !was_over) {
        SCOPED_ARENA(a);
        find_spare(k, key_range_of(&a, RECORD_JOB_RUN, uid_of(&a, s)));
    }
}

/* Those of a system that are not over, or all. */
static void touch_range(struct runs_keeper *k, const char *uid, bool all)
{
    SCOPED_ARENA(a);
    const char *range = key_range_of(&a, RECORD_JOB_RUN, uid);
    for (struct map_node *n = map_from(&k->by_key, range); n && text_begins(map_key(n), range);
         n = map_next(n)) {
        struct run_seen *s = map_value(n);
        if (all || !run_is_over(s)) {
            work_touch(&k->work, &s->item);
        }
    }
}

/* One that is gone is told by its id alone. */
static void on_system(struct runs_keeper *k, const char *key, const char *id,
                      const struct followed *record)
{
    SCOPED_ARENA(a);
    const Board__SystemRecord *r = message_of(&a, key, record);
    if (r && *r->uid) {
        touch_range(k, r->uid, lifecycle_state(&system_lifecycle, r->state) == SYSTEM_DELETING);
        return;
    }
    MAP_EACH(&k->by_key, n)
    {
        struct run_seen *s = map_value(n);
        if (strcmp(s->system, id) == 0) {
            work_touch(&k->work, &s->item);
        }
    }
}

static void change(void *state, const char *key, const struct followed *record)
{
    struct runs_keeper *k = state;
    SCOPED_ARENA(a);
    const char *name = key_component(&a, key, 1);
    struct run_seen *of_task;
    switch ((int)key_type(key)) {
    case RECORD_JOB_RUN:
        on_run(k, key, record);
        break;
    case RECORD_SYSTEM:
        on_system(k, key, name ? name : "", record);
        break;
    case RECORD_POOL:
        touch_range(k, name ? name : "-", false);
        break;
    default:
        of_task = name ? map_get(&k->by_task, name) : NULL;
        if (of_task) {
            work_touch(&k->work, &of_task->item);
        }
    }
}

static void current(void *state)
{
    struct runs_keeper *k = state;
    SCOPED_ARENA(a);
    const char *range = "";
    MAP_EACH(&k->by_key, n)
    {
        struct run_seen *s = map_value(n);
        work_touch(&k->work, &s->item);
        if (!*range || !text_begins(s->key, range)) {
            range = key_range_of(&a, RECORD_JOB_RUN, uid_of(&a, s));
            find_spare(k, range);
        }
    }
}

static void reset(void *state)
{
    struct runs_keeper *k = state;
    MAP_EACH(&k->by_key, n)
    {
        drop(k, map_value(n));
    }
    assert(k->by_task.count == 0);
}

static void done(void *state)
{
    struct runs_keeper *k = state;
    reset(k);
    map_done(&k->by_key, NULL);
    map_done(&k->by_task, NULL);
    work_done(&k->work);
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* That it waits for its pool, and why, in the arena; NULL = it waits for none. */
static const char *waits_text(const struct runs_keeper *k, struct arena *a,
                              const struct run_seen *s)
{
    const Board__PoolRecord *pool =
        *s->pool ? message_at(&k->kept, a, key_pool(a, uid_of(a, s), s->pool)) : NULL;
    const char *why = pool ? pool->message : "it is not there yet";
    if (!*s->pool || (pool && pool_is_ready(pool))) {
        return NULL;
    }
    return arena_printf(a, "waits for node pool %s%s%s", s->pool, *why ? ": " : "", why);
}

static void facts_of(const struct runs_keeper *k, const struct run_seen *s, struct run_facts *ret)
{
    SCOPED_ARENA(a);
    const char *uid = uid_of(&a, s);
    const Board__SystemRecord *system =
        *s->system ? message_at(&k->kept, &a, key_system(&a, s->system)) : NULL;
    system = system && strcmp(system->uid, uid) == 0 ? system : NULL;
    const char *waits = waits_text(k, &a, s);
    const char *task = *s->task_guid ? key_task(&a, s->task_guid) : NULL;
    bool stands = task && feed_client_get(&k->kept.x->life.feed_client, task);
    *ret = (struct run_facts){
        .state = s->state,
        .system = system ? lifecycle_state(&system_lifecycle, system->state) : SYSTEM_NONE,
        .confirmed = system && strcmp(system->board_generation, k->kept.x->board_generation) == 0,
        .pool_ready = !waits,
        .told = waits && strcmp(s->message, waits) == 0,
        .task = stands ? -1 : TASK_NONE,
        .completed_at = s->completed_at,
        .later = s->spare ? RUNS_KEPT : 0,
    };
    const Models__Task *m = stands ? message_at(&k->kept, &a, task) : NULL;
    ret->task = m ? task_state(m) : ret->task;
}

static Board__Move *move_of_run(const struct runs_keeper *k, struct arena *a, const char *move,
                                const struct run_seen *s)
{
    Board__Move *m = move_new(a, move, s->key);
    m->body_case = BOARD__MOVE__BODY_JOB_RUN;
    m->job_run = arena_message(a, &board__job_run_move__descriptor);
    m->job_run->system = arena_strdup(a, s->system);
    if (strcmp(move, "note") == 0) {
        m->job_run->message = arena_strdup(a, waits_text(k, a, s));
    }
    return m;
}

static void look_at(struct runs_keeper *k, struct run_seen *s, struct arena *a)
{
    struct converger *x = k->kept.x;
    struct run_facts facts;
    int64_t due_ns;
    facts_of(k, s, &facts);
    const char *move = run_look(&facts, x->life.now, &due_ns);
    if (move) {
        assert(s->item.moving == 0);
        mover_add(&x->mover, &k->kept.owner, s->key, move_of_run(k, a, move, s));
        work_moving(&k->work, &s->item);
        work_clear_due(&k->work, &s->item);
    } else if (due_ns != NEVER_NS) {
        work_due(&k->work, &s->item, earlier_ns(due_ns, x->life.now.mono_ns + x->interval_ns));
    }
}

static bool has_room(const struct runs_keeper *k)
{
    return k->work.moving_count < RUNS_MOVING_MAX && mover_room(&k->kept.x->mover, 1);
}

static void look(void *state, bool all, struct effects *out)
{
    struct runs_keeper *k = state;
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    if (all) {
        current(k);
    }
    struct work_item *due;
    while ((due = work_wake(&k->work, now_ns))) {
        work_touch(&k->work, due);
    }
    int looks = 0;
    struct run_seen *s;
    while (has_room(k) && looks < RUN_LOOKS_MAX &&
           (s = (struct run_seen *)work_next(&k->work))) {
        look_at(k, s, out->arena);
        looks++;
    }
    effects_due(out, looks == RUN_LOOKS_MAX && has_room(k) ? now_ns : work_wake_ns(&k->work));
}

static void settled(void *state, const char *key, enum move_end end)
{
    struct runs_keeper *k = state;
    struct run_seen *s = map_get(&k->by_key, key);
    if (s) {
        work_settled(&k->work, &s->item, work_again_ns(end, k->kept.x->life.now.mono_ns));
    }
}

static void plan(void *state, struct plan_shown *ret)
{
    struct runs_keeper *k = state;
    MAP_EACH(&k->by_key, n)
    {
        const struct run_seen *s = map_value(n);
        struct run_facts facts;
        int64_t due_ns;
        facts_of(k, s, &facts);
        const char *move = run_look(&facts, k->kept.x->life.now, &due_ns);
        if (move && !ret->plan->more) {
            plan_show(ret, "run", move_of_run(k, ret->arena, move, s));
        }
    }
}

static void show(void *state, Converge__ConvergerState *ret, struct arena *a)
{
    const struct runs_keeper *k = state;
    (void)a;
    ret->job_runs = k->by_key.count;
    ret->job_runs_waiting = k->work.waiting_count;
}

const struct keeper runs_keeper = {.state_size = sizeof(struct runs_keeper),
                                   .init = init,
                                   .done = done,
                                   .reset = reset,
                                   .change = change,
                                   .current = current,
                                   .look = look,
                                   .settled = settled,
                                   .plan = plan,
                                   .show = show};
