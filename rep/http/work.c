#include "rep/http/work.h"

#include "rep/http/cell_state.h"
#include "rep/inside.h"
#include "rep/instance/instance.h"
#include "rep/task/cell_task.h"

#include <stdlib.h>

struct wish {
    int32_t memory_mb;
    size_t place;
};

static int by_descending_memory(const void *left, const void *right)
{
    const struct wish *a = left, *b = right;
    if (a->memory_mb != b->memory_mb) {
        return a->memory_mb > b->memory_mb ? -1 : 1;
    }
    return a->place < b->place ? -1 : 1;
}

static void take_lrps(struct rep *r, const Cell__Work *work, bool well, Cell__Work *rest,
                      struct effects *out)
{
    rest->lrps = ARENA_ARRAY(out->arena, work->n_lrps, Cell__LRP *);
    struct wish *wishes = ARENA_ARRAY(out->arena, work->n_lrps, struct wish);
    for (size_t i = 0; i < work->n_lrps; i++) {
        wishes[i] = (struct wish){work->lrps[i]->memorymb, i};
    }
    qsort(wishes, work->n_lrps, sizeof(*wishes), by_descending_memory);
    for (size_t i = 0; i < work->n_lrps; i++) {
        Cell__LRP *lrp = work->lrps[wishes[i].place];
        if (!well || !instance_reserve(r, lrp, out)) {
            rest->lrps[rest->n_lrps++] = lrp;
        }
    }
}

static void take_tasks(struct rep *r, const Cell__Work *work, bool well, Cell__Work *rest,
                       struct effects *out)
{
    rest->tasks = ARENA_ARRAY(out->arena, work->n_tasks, Cell__Task *);
    struct wish *wishes = ARENA_ARRAY(out->arena, work->n_tasks, struct wish);
    for (size_t i = 0; i < work->n_tasks; i++) {
        wishes[i] = (struct wish){work->tasks[i]->memorymb, i};
    }
    qsort(wishes, work->n_tasks, sizeof(*wishes), by_descending_memory);
    for (size_t i = 0; i < work->n_tasks; i++) {
        Cell__Task *task = work->tasks[wishes[i].place];
        if (!well || !cell_task_reserve(r, task, out)) {
            rest->tasks[rest->n_tasks++] = task;
        }
    }
}

Cell__Work *work_take(struct rep *r, const Cell__Work *work, struct effects *out)
{
    Cell__Work *rest = ARENA_NEW(out->arena, Cell__Work);
    cell__work__init(rest);
    bool well = cell_state_is_well(r) && !r->drain.on;
    take_lrps(r, work, well, rest, out);
    take_tasks(r, work, well, rest, out);
    if (rest->n_lrps + rest->n_tasks > 0) {
        effects_log(out, LOG_INFO_LEVEL, "work returned", "lrps=%zu tasks=%zu well=%d",
                    rest->n_lrps, rest->n_tasks, (int)well);
    }
    return rest;
}
