#include "rep/http/work.h"

#include "rep/http/cell_state.h"
#include "rep/inside.h"
#include "rep/instance/instance.h"
#include "rep/task/cell_task.h"
#include "rep/unit/unit_work.h"

#include <stdlib.h>

/* An LRP, a unit or a task: one of them. */
struct wish {
    Cell__LRP *lrp;
    Cell__UnitOffer *unit;
    Cell__Task *task;
    int32_t memory_mb;
    size_t place;
};

/* LRPs first, and tasks last. */
static int class_of(const struct wish *w)
{
    return w->lrp ? 0 : w->unit ? 1 : 2;
}

static int by_descending_memory(const void *left, const void *right)
{
    const struct wish *a = left, *b = right;
    if (class_of(a) != class_of(b)) {
        return class_of(a) - class_of(b);
    }
    if (a->memory_mb != b->memory_mb) {
        return a->memory_mb > b->memory_mb ? -1 : 1;
    }
    return a->place < b->place ? -1 : 1;
}

static size_t wish_count(const Cell__Work *work)
{
    return work->n_lrps + work->n_tasks + work->n_units;
}

static struct wish *sorted_wishes(const Cell__Work *work, struct arena *a)
{
    struct wish *wishes = ARENA_ARRAY(a, wish_count(work), struct wish), *w = wishes;
    for (size_t i = 0; i < work->n_lrps; i++) {
        Cell__LRP *lrp = work->lrps[i];
        *w++ = (struct wish){.lrp = lrp, .memory_mb = lrp->memorymb, .place = i};
    }
    for (size_t i = 0; i < work->n_units; i++) {
        Cell__UnitOffer *unit = work->units[i];
        *w++ = (struct wish){.unit = unit, .memory_mb = unit->memory_mb, .place = i};
    }
    for (size_t i = 0; i < work->n_tasks; i++) {
        Cell__Task *task = work->tasks[i];
        *w++ = (struct wish){.task = task, .memory_mb = task->memorymb, .place = i};
    }
    qsort(wishes, wish_count(work), sizeof(*wishes), by_descending_memory);
    return wishes;
}

static bool reserve(struct rep *r, const struct wish *w, struct effects *out)
{
    return w->lrp    ? instance_reserve(r, w->lrp, out)
           : w->unit ? unit_work_reserve(r, w->unit, out)
                     : cell_task_reserve(r, w->task, out);
}

static void give_back(const struct wish *w, Cell__Work *rest)
{
    if (w->lrp) {
        rest->lrps[rest->n_lrps++] = w->lrp;
    } else if (w->unit) {
        rest->units[rest->n_units++] = w->unit;
    } else {
        rest->tasks[rest->n_tasks++] = w->task;
    }
}

Cell__Work *work_take(struct rep *r, const Cell__Work *work, struct effects *out)
{
    Cell__Work *rest = arena_message(out->arena, &cell__work__descriptor);
    rest->lrps = ARENA_ARRAY(out->arena, work->n_lrps, Cell__LRP *);
    rest->tasks = ARENA_ARRAY(out->arena, work->n_tasks, Cell__Task *);
    rest->units = ARENA_ARRAY(out->arena, work->n_units, Cell__UnitOffer *);
    rest->answers_units = work->n_units > 0;
    const struct wish *wishes = sorted_wishes(work, out->arena);
    bool well = cell_state_is_well(r) && !r->drain.on;
    for (size_t i = 0; i < wish_count(work); i++) {
        if (!well || !reserve(r, &wishes[i], out)) {
            give_back(&wishes[i], rest);
        }
    }
    if (rest->n_lrps + rest->n_tasks > 0) {
        effects_log(out, LOG_INFO_LEVEL, "work returned", "lrps=%zu tasks=%zu well=%d",
                    rest->n_lrps, rest->n_tasks, (int)well);
    }
    if (rest->n_units > 0) {
        effects_log(out, LOG_INFO_LEVEL, "units returned", "units=%zu well=%d", rest->n_units,
                    (int)well);
    }
    return rest;
}
