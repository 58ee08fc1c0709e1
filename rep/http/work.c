#include "rep/http/work.h"

#include "rep/http/cell_state.h"
#include "rep/inside.h"
#include "rep/instance/instance.h"
#include "rep/task/cell_task.h"

#include <stdlib.h>

/* An LRP or a task. */
struct wish {
    Cell__LRP *lrp;
    Cell__Task *task;
    int32_t memory_mb;
    size_t place;
};

/* LRPs first. */
static int by_descending_memory(const void *left, const void *right)
{
    const struct wish *a = left, *b = right;
    if (!a->lrp != !b->lrp) {
        return a->lrp ? -1 : 1;
    }
    if (a->memory_mb != b->memory_mb) {
        return a->memory_mb > b->memory_mb ? -1 : 1;
    }
    return a->place < b->place ? -1 : 1;
}

static struct wish *sorted_wishes(const Cell__Work *work, struct arena *a)
{
    struct wish *wishes = ARENA_ARRAY(a, work->n_lrps + work->n_tasks, struct wish), *w = wishes;
    for (size_t i = 0; i < work->n_lrps; i++) {
        Cell__LRP *lrp = work->lrps[i];
        *w++ = (struct wish){.lrp = lrp, .memory_mb = lrp->memorymb, .place = i};
    }
    for (size_t i = 0; i < work->n_tasks; i++) {
        Cell__Task *task = work->tasks[i];
        *w++ = (struct wish){.task = task, .memory_mb = task->memorymb, .place = i};
    }
    qsort(wishes, work->n_lrps + work->n_tasks, sizeof(*wishes), by_descending_memory);
    return wishes;
}

Cell__Work *work_take(struct rep *r, const Cell__Work *work, struct effects *out)
{
    Cell__Work *rest = arena_message(out->arena, &cell__work__descriptor);
    rest->lrps = ARENA_ARRAY(out->arena, work->n_lrps, Cell__LRP *);
    rest->tasks = ARENA_ARRAY(out->arena, work->n_tasks, Cell__Task *);
    const struct wish *wishes = sorted_wishes(work, out->arena);
    bool well = cell_state_is_well(r) && !r->drain.on;
    for (size_t i = 0; i < work->n_lrps + work->n_tasks; i++) {
        const struct wish *w = &wishes[i];
        if (w->lrp && !(well && instance_reserve(r, w->lrp, out))) {
            rest->lrps[rest->n_lrps++] = w->lrp;
        } else if (w->task && !(well && cell_task_reserve(r, w->task, out))) {
            rest->tasks[rest->n_tasks++] = w->task;
        }
    }
    if (rest->n_lrps + rest->n_tasks > 0) {
        effects_log(out, LOG_INFO_LEVEL, "work returned", "lrps=%zu tasks=%zu well=%d",
                    rest->n_lrps, rest->n_tasks, (int)well);
    }
    return rest;
}
