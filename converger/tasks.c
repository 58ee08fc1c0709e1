#include "converger/tasks.h"

#include "common/lifecycle/task.h"
#include "common/model/record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void tasks_init(struct tasks *t)
{
    map_init(&t->by_guid);
    due_init(&t->due);
    TAILQ_INIT(&t->waiting);
    t->waiting_count = t->moving_count = 0;
}

void tasks_done(struct tasks *t, struct facts *f)
{
    tasks_clear(t, f);
    map_done(&t->by_guid, NULL);
    due_done(&t->due);
}

/* ---- Which await a look ---------------------------------------------------------------------- */

static void list(struct tasks *t, struct task *one)
{
    if (one->touched && !one->listed && !one->moving) {
        TAILQ_INSERT_TAIL(&t->waiting, one, link);
        t->waiting_count++;
        one->listed = true;
    }
}

static void unlist(struct tasks *t, struct task *one)
{
    if (one->listed) {
        TAILQ_REMOVE(&t->waiting, one, link);
        t->waiting_count--;
        one->listed = false;
    }
}

static void touch(struct tasks *t, struct task *one)
{
    one->touched = true;
    list(t, one);
}

void tasks_touch_cell(struct tasks *t, const struct cell_facts *cell)
{
    struct task *one;
    LIST_FOREACH(one, &cell->tasks, neighbour)
    {
        touch(t, one);
    }
}

void tasks_touch_all(struct tasks *t)
{
    MAP_EACH(&t->by_guid, n)
    {
        touch(t, map_value(n));
    }
}

struct task *tasks_next(struct tasks *t)
{
    struct task *one = TAILQ_FIRST(&t->waiting);
    if (one) {
        unlist(t, one);
        one->touched = false;
    }
    return one;
}

void tasks_due(struct tasks *t, struct task *one, int64_t due_ns)
{
    due_set(&t->due, &one->due_ns, due_ns, one->guid, one);
}

void tasks_wake(struct tasks *t, int64_t now_ns)
{
    struct task *one;
    int64_t due_ns;
    while ((one = due_next(&t->due, &due_ns)) && due_ns <= now_ns) {
        due_clear(&t->due, &one->due_ns, one->guid);
        touch(t, one);
    }
}

int64_t tasks_wake_ns(const struct tasks *t)
{
    int64_t due_ns;
    due_next(&t->due, &due_ns);
    return due_ns;
}

/* ---- Repairs on their way -------------------------------------------------------------------- */

static void set_moving(struct tasks *t, struct task *one, bool moving)
{
    t->moving_count += moving;
    t->moving_count -= one->moving;
    one->moving = moving;
}

void tasks_moving(struct tasks *t, struct task *one)
{
    assert(!one->moving);
    unlist(t, one);
    due_clear(&t->due, &one->due_ns, one->guid);
    set_moving(t, one, true);
}

void tasks_settled(struct tasks *t, const char *guid, int64_t again_ns)
{
    struct task *one = map_get(&t->by_guid, guid);
    if (one && one->moving) {
        set_moving(t, one, false);
        tasks_due(t, one, again_ns);
        list(t, one);
    }
}

void tasks_forget_moves(struct tasks *t)
{
    MAP_EACH(&t->by_guid, n)
    {
        set_moving(t, map_value(n), false);
        list(t, map_value(n));
    }
}

/* ---- News ------------------------------------------------------------------------------------ */

static struct task *named(struct tasks *t, const char *guid)
{
    struct task *one = map_get(&t->by_guid, guid);
    if (!one) {
        size_t size = strlen(guid) + 1;
        one = calloc(1, sizeof(*one) + size);
        if (!one) {
            abort();
        }
        memcpy(one->guid, guid, size);
        one->due_ns = NEVER_NS;
        map_put(&t->by_guid, guid, one);
    }
    return one;
}

static void leave_cell(struct facts *f, struct task *one)
{
    if (one->cell) {
        LIST_REMOVE(one, neighbour);
        facts_drop_unused(f, one->cell);
        one->cell = NULL;
    }
}

/* A record that this version cannot read says nothing: nobody repairs it. */
static void learn(struct facts *f, struct task *one, const struct followed *record)
{
    struct arena a;
    ProtobufCMessage *m;
    arena_init(&a);
    leave_cell(f, one);
    one->view = (struct task_view){.state = -1};
    if (record_decode(&a, RECORD_TASK, blob_bytes(record->record), &m, NULL) == 0) {
        const Models__Task *task = (const Models__Task *)m;
        task_view_of(task, &one->view);
        if (one->view.state == TASK_RUNNING && *task->cell_id) {
            one->cell = facts_cell_named(f, task->cell_id);
            LIST_INSERT_HEAD(&one->cell->tasks, one, neighbour);
        }
    }
    arena_done(&a);
}

static void drop(struct tasks *t, struct facts *f, struct task *one)
{
    leave_cell(f, one);
    unlist(t, one);
    set_moving(t, one, false);
    due_clear(&t->due, &one->due_ns, one->guid);
    map_remove(&t->by_guid, one->guid);
    free(one);
}

void tasks_record(struct tasks *t, struct facts *f, const char *guid, const struct followed *record)
{
    struct task *one;
    if (record) {
        one = named(t, guid);
        learn(f, one, record);
        due_clear(&t->due, &one->due_ns, one->guid); /* what it waited for may be out of date */
        touch(t, one);
    } else if ((one = map_get(&t->by_guid, guid))) {
        drop(t, f, one);
    }
}

void tasks_clear(struct tasks *t, struct facts *f)
{
    MAP_EACH(&t->by_guid, n)
    {
        drop(t, f, map_value(n));
    }
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* Of a cell without a record nobody knows since when: the task's own last change must do. */
struct task_view tasks_view(const struct task *one)
{
    struct task_view v = one->view;
    const struct cell_facts *cell = one->cell;
    if (v.state == TASK_RUNNING && !(cell && cell->present)) {
        bool later = cell && cell->known && cell->since_ns > v.updated_ns;
        v.absent_ns = later ? cell->since_ns : v.updated_ns;
    }
    return v;
}
