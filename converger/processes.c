#include "converger/processes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void processes_init(struct processes *p)
{
    map_init(&p->by_guid);
    due_init(&p->due);
    TAILQ_INIT(&p->waiting);
    p->waiting_count = 0;
}

void processes_done(struct processes *p)
{
    due_done(&p->due);
    map_done(&p->by_guid, free);
}

static void list(struct processes *p, struct process *one)
{
    if (one->touched && !one->listed && one->moving == 0) {
        TAILQ_INSERT_TAIL(&p->waiting, one, link);
        p->waiting_count++;
        one->listed = true;
    }
}

static void unlist(struct processes *p, struct process *one)
{
    if (one->listed) {
        TAILQ_REMOVE(&p->waiting, one, link);
        p->waiting_count--;
        one->listed = false;
    }
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
        one->due_ns = NEVER_NS;
        map_put(&p->by_guid, guid, one);
    }
    return one;
}

static void touch(struct processes *p, struct process *one, int32_t first, int32_t last)
{
    one->first = one->touched && one->first < first ? one->first : first;
    one->last = one->touched && one->last > last ? one->last : last;
    one->touched = true;
    list(p, one);
}

void processes_touch_index(struct processes *p, struct process *one, int32_t index)
{
    touch(p, one, index, index);
}

void processes_touch(struct processes *p, struct process *one)
{
    touch(p, one, 0, INT32_MAX);
}

void processes_touch_all(struct processes *p)
{
    MAP_EACH(&p->by_guid, n)
    {
        struct process *one = map_value(n);
        one->full = true;
        processes_touch(p, one);
    }
}

struct process *processes_next(struct processes *p)
{
    struct process *one = TAILQ_FIRST(&p->waiting);
    if (one) {
        unlist(p, one);
        one->touched = false;
    }
    return one;
}

void processes_due(struct processes *p, struct process *one, int64_t due_ns)
{
    due_set(&p->due, &one->due_ns, due_ns, one->guid, one);
}

void processes_wake(struct processes *p, int64_t now_ns)
{
    struct process *one;
    int64_t due_ns;
    while ((one = due_next(&p->due, &due_ns)) && due_ns <= now_ns) {
        due_clear(&p->due, &one->due_ns, one->guid);
        processes_touch(p, one);
    }
}

int64_t processes_wake_ns(const struct processes *p)
{
    int64_t due_ns;
    due_next(&p->due, &due_ns);
    return due_ns;
}

void processes_moving(struct processes *p, struct process *one)
{
    unlist(p, one);
    one->moving++;
}

void processes_settled(struct processes *p, const char *guid, int64_t again_ns)
{
    struct process *one = map_get(&p->by_guid, guid);
    if (!one || one->moving == 0) {
        return;
    }
    one->moving--;
    processes_due(p, one, again_ns);
    list(p, one);
}

void processes_forget_moves(struct processes *p)
{
    MAP_EACH(&p->by_guid, n)
    {
        struct process *one = map_value(n);
        one->moving = 0;
        list(p, one);
    }
}

void processes_drop(struct processes *p, struct process *one)
{
    assert(one->moving == 0 && !facts_any(one));
    unlist(p, one);
    due_clear(&p->due, &one->due_ns, one->guid);
    map_remove(&p->by_guid, one->guid);
    free(one);
}
