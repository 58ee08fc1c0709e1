#include "converger/tasks.h"

#include "common/lifecycle/task.h"
#include "common/model/record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void tasks_init(struct tasks *t)
{
    map_init(&t->by_guid);
    work_init(&t->work);
}

void tasks_done(struct tasks *t, struct facts *f)
{
    tasks_clear(t, f);
    map_done(&t->by_guid, NULL);
    work_done(&t->work);
}

/* ---- Which await a look ---------------------------------------------------------------------- */

void tasks_touch_cell(struct tasks *t, const struct cell_facts *cell)
{
    struct task *one;
    LIST_FOREACH(one, &cell->tasks, neighbour)
    {
        work_touch(&t->work, &one->item);
    }
}

void tasks_touch_all(struct tasks *t)
{
    MAP_EACH(&t->by_guid, n)
    {
        struct task *one = map_value(n);
        work_touch(&t->work, &one->item);
    }
}

struct task *tasks_next(struct tasks *t)
{
    return (struct task *)work_next(&t->work);
}

void tasks_due(struct tasks *t, struct task *one, int64_t due_ns)
{
    work_due(&t->work, &one->item, due_ns);
}

void tasks_wake(struct tasks *t, int64_t now_ns)
{
    struct work_item *one;
    while ((one = work_wake(&t->work, now_ns))) {
        work_touch(&t->work, one);
    }
}

int64_t tasks_wake_ns(const struct tasks *t)
{
    return work_wake_ns(&t->work);
}

/* ---- Repairs on their way -------------------------------------------------------------------- */

void tasks_moving(struct tasks *t, struct task *one)
{
    assert(one->item.moving == 0);
    work_moving(&t->work, &one->item);
    work_clear_due(&t->work, &one->item);
}

void tasks_settled(struct tasks *t, const char *guid, int64_t again_ns)
{
    struct task *one = map_get(&t->by_guid, guid);
    if (one) {
        work_settled(&t->work, &one->item, again_ns);
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
        work_item_init(&one->item, one->guid);
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
    const struct task_view was = one->view;
    leave_cell(f, one);
    one->view = (struct task_view){.state = -1};
    if (record_decode(&a, RECORD_TASK, blob_bytes(record->record), &m, NULL) == 0) {
        const Models__Task *task = (const Models__Task *)m;
        task_view_of(task, &one->view);
        /* kick leaves updated_at: what waits since then goes on. */
        bool goes_on = was.state >= 0 && was.updated_ns == task->updated_at;
        one->view.seen = goes_on ? was.seen : record->seen;
        one->view.made = record->made;
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
    work_drop(&t->work, &one->item);
    map_remove(&t->by_guid, one->guid);
    free(one);
}

void tasks_record(struct tasks *t, struct facts *f, const char *guid, const struct followed *record)
{
    struct task *one;
    if (record) {
        one = named(t, guid);
        learn(f, one, record);
        work_clear_due(&t->work, &one->item); /* what it waited for may be out of date */
        work_touch(&t->work, &one->item);
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
    v.absent = v.state == TASK_RUNNING && !(cell && cell->present);
    bool later = cell && cell->known && cell->seen.since_ns > v.seen.since_ns;
    v.absent_seen = later ? cell->seen : v.seen;
    return v;
}
