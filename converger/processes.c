#include "converger/processes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void processes_init(struct processes *p)
{
    map_init(&p->by_guid);
    work_init(&p->work);
}

void processes_done(struct processes *p)
{
    work_done(&p->work);
    map_done(&p->by_guid, free);
}

struct process *processes_named(struct processes *p, const char *guid)
{
    struct process *one = map_get(&p->by_guid, guid);
    if (!one) {
        size_t size = strlen(guid) + 1;
        one = calloc(1, sizeof(*one) + size);
        if (!one) {
            abort();
        }
        memcpy(one->guid, guid, size);
        work_item_init(&one->item, one->guid);
        map_put(&p->by_guid, guid, one);
    }
    return one;
}

static void touch(struct processes *p, struct process *one, int32_t first, int32_t last)
{
    bool touched = one->item.touched;
    one->first = touched && one->first < first ? one->first : first;
    one->last = touched && one->last > last ? one->last : last;
    work_touch(&p->work, &one->item);
}

void processes_touch_index(struct processes *p, struct process *one, int32_t index)
{
    one->called = true;
    touch(p, one, index, index);
}

void processes_touch(struct processes *p, struct process *one)
{
    one->called = true;
    touch(p, one, 0, INT32_MAX);
}

void processes_touch_all(struct processes *p)
{
    MAP_EACH(&p->by_guid, n)
    {
        struct process *one = map_value(n);
        one->full = true;
        touch(p, one, 0, INT32_MAX);
    }
}

struct process *processes_next(struct processes *p)
{
    return (struct process *)work_next(&p->work);
}

void processes_due(struct processes *p, struct process *one, int64_t due_ns)
{
    work_due(&p->work, &one->item, due_ns);
}

void processes_wake(struct processes *p, int64_t now_ns)
{
    struct process *one;
    while ((one = (struct process *)work_wake(&p->work, now_ns))) {
        processes_touch(p, one);
    }
}

int64_t processes_wake_ns(const struct processes *p)
{
    return work_wake_ns(&p->work);
}

void processes_moving(struct processes *p, struct process *one)
{
    work_moving(&p->work, &one->item);
}

void processes_settled(struct processes *p, const char *guid, int64_t now_ns, int64_t again_ns)
{
    struct process *one = map_get(&p->by_guid, guid);
    if (one) {
        one->repaired_ns = now_ns;
        one->called = one->called || again_ns != NEVER_NS;
        work_settled(&p->work, &one->item, again_ns);
    }
}

void processes_drop(struct processes *p, struct process *one)
{
    assert(one->item.moving == 0 && !facts_any(one));
    work_drop(&p->work, &one->item);
    map_remove(&p->by_guid, one->guid);
    free(one);
}
