#include "converger/tasks.h"

#include "common/lifecycle/task.h"
#include "common/model/record.h"
#include "converger/inside.h"

#include <assert.h>
#include <stdlib.h>

/* Tasks looked at in one step. */
enum { LOOKS_MAX = 1024 };

static void init(void *state, const struct converger_config *c)
{
    struct tasks *t = state;
    map_init(&t->by_guid);
    work_init(&t->work);
    t->given = c->tasks;
}

/* ---- Changes --------------------------------------------------------------------------------- */

static struct task *named(struct tasks *t, const char *guid)
{
    struct task *one = map_named(&t->by_guid, guid, offsetof(struct task, guid));
    if (!one->item.name) {
        work_item_init(&one->item, one->guid);
    }
    return one;
}

/* A record that this version cannot read says nothing: nobody repairs it. */
static void learn(struct cache *c, struct task *one, const struct followed *record)
{
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    const struct task_facts was = one->facts;
    cell_leave(c, &one->on);
    one->facts = (struct task_facts){.state = -1};
    if (record_decode(&a, RECORD_TASK, blob_bytes(record->record), &m, NULL) == 0) {
        const Models__Task *task = (const Models__Task *)m;
        task_facts_of(task, &one->facts);
        /* kick leaves updated_at: what waits since then goes on. */
        bool goes_on = was.state >= 0 && was.updated_ns == task->updated_at;
        one->facts.seen = goes_on ? was.seen : record->seen;
        one->facts.made = record->made;
        cell_use(c, KEEPER_tasks, &one->on, one->facts.state == TASK_RUNNING ? task->cell_id : "");
    }
}

static void drop(struct tasks *t, struct task *one)
{
    cell_leave(&t->kept.x->cache, &one->on);
    work_drop(&t->work, &one->item);
    map_remove(&t->by_guid, one->guid);
    free(one);
}

/* task/<task_guid> */
static void on_task(struct tasks *t, const char *guid, const struct followed *record)
{
    struct task *one;
    if (record) {
        one = named(t, guid);
        learn(&t->kept.x->cache, one, record);
        work_clear_due(&t->work, &one->item); /* what it waited for may be out of date */
        work_touch(&t->work, &one->item);
    } else if ((one = map_get(&t->by_guid, guid))) {
        drop(t, one);
    }
}

/* cell/<cell_id>: whether it is there changes what is decided about the tasks that run on it. */
static void on_cell(struct tasks *t, const char *key)
{
    const struct cached_cell *cell = cache_cell_at(&t->kept.x->cache, key);
    if (!cell || !cell->turned) {
        return;
    }
    struct cell_user *u;
    LIST_FOREACH(u, &cell->users[KEEPER_tasks], link)
    {
        work_touch(&t->work, &CELL_USER_OF(u, struct task, on)->item);
    }
}

static void change(void *state, const char *key, const struct followed *record)
{
    SCOPED_ARENA(a);
    const char *name = key_component(&a, key, 1);
    if (key_type(key) == RECORD_CELL) {
        on_cell(state, key);
    } else if (name) {
        on_task(state, name, record);
    }
}

static void current(void *state)
{
    struct tasks *t = state;
    MAP_EACH(&t->by_guid, n)
    {
        work_touch(&t->work, &((struct task *)map_value(n))->item);
    }
}

static void reset(void *state)
{
    struct tasks *t = state;
    MAP_EACH(&t->by_guid, n)
    {
        drop(t, map_value(n));
    }
}

static void done(void *state)
{
    struct tasks *t = state;
    reset(t);
    map_done(&t->by_guid, NULL);
    work_done(&t->work);
}

/* ---- Looking --------------------------------------------------------------------------------- */

static void decide(const struct tasks *t, const struct task *one, struct task_repair *ret)
{
    const struct converger *x = t->kept.x;
    struct task_facts f = one->facts;
    const struct cached_cell *cell = one->on.cell;
    f.absent = !(cell && cell->present);
    f.cell_seen = cell && cell->known ? cell->seen : f.seen;
    task_passes_run(&f, &t->given, &x->settings.tasks, x->life.now, ret);
}

static void look_at(struct tasks *t, struct task *one, struct arena *a)
{
    struct converger *x = t->kept.x;
    struct task_repair repair;
    decide(t, one, &repair);
    if (repair.pass) {
        assert(one->item.moving == 0);
        mover_add(&x->mover, &t->kept.owner, one->guid,
                  move_of_task(a, repair.move, one->guid, repair.after_ns));
        work_moving(&t->work, &one->item);
        work_clear_due(&t->work, &one->item);
    }
    if (repair.due_ns != NEVER_NS) {
        work_due(&t->work, &one->item,
                 earlier_ns(repair.due_ns, x->life.now.mono_ns + x->interval_ns));
    }
}

static bool has_room(const struct tasks *t)
{
    return t->work.moving_count < TASKS_MOVING_MAX && mover_room(&t->kept.x->mover, 1);
}

static void look(void *state, bool all, struct effects *out)
{
    struct tasks *t = state;
    int64_t now_ns = t->kept.x->life.now.mono_ns;
    if (all) {
        current(t);
    }
    struct work_item *due;
    while ((due = work_wake(&t->work, now_ns))) {
        work_touch(&t->work, due);
    }
    int looks = 0;
    struct task *one;
    while (has_room(t) && looks < LOOKS_MAX && (one = (struct task *)work_next(&t->work))) {
        look_at(t, one, out->arena);
        looks++;
    }
    bool more = looks == LOOKS_MAX && has_room(t);
    effects_due(out, more ? now_ns : work_wake_ns(&t->work));
}

static void settled(void *state, const char *task_guid, enum move_end end)
{
    struct tasks *t = state;
    struct task *one = map_get(&t->by_guid, task_guid);
    if (one) {
        work_settled(&t->work, &one->item, work_again_ns(end, t->kept.x->life.now.mono_ns));
    }
}

/* ---- What is shown --------------------------------------------------------------------------- */

static void plan(void *state, struct plan_shown *ret)
{
    struct tasks *t = state;
    MAP_EACH(&t->by_guid, n)
    {
        const struct task *one = map_value(n);
        struct task_repair repair;
        decide(t, one, &repair);
        if (repair.pass && !ret->plan->more) {
            plan_show(ret, repair.pass,
                      move_of_task(ret->arena, repair.move, one->guid, repair.after_ns));
        }
    }
}

static void show(void *state, Converge__ConvergerState *ret, struct arena *a)
{
    (void)a;
    const struct tasks *t = state;
    ret->tasks = t->by_guid.count;
    ret->tasks_waiting = t->work.waiting_count;
}

const struct keeper tasks_keeper = {.state_size = sizeof(struct tasks),
                                    .init = init,
                                    .done = done,
                                    .reset = reset,
                                    .change = change,
                                    .current = current,
                                    .look = look,
                                    .settled = settled,
                                    .plan = plan,
                                    .show = show};
