#include "auctioneer/score.h"

#include <string.h>

/* A rep of another version may tell more, or nonsense. */
static double failed_starts(const Cell__CellState *state)
{
    int32_t failed = state->failedstarts;
    return failed < 0 ? 0 : failed > SCORE_FAILED_STARTS_MAX ? SCORE_FAILED_STARTS_MAX : failed;
}

static size_t count_ended(const Cell__CellState *state)
{
    size_t count = 0;
    for (size_t i = 0; i < state->n_tasks; i++) {
        count += strcmp(state->tasks[i]->state, "Completed") == 0;
    }
    return count;
}

void room_init(struct room *r, const Cell__CellState *state)
{
    static const Cell__Resources none = CELL__RESOURCES__INIT;
    const Cell__Resources *total = state->totalresources ? state->totalresources : &none;
    const Cell__Resources *free = state->availableresources ? state->availableresources : &none;
    *r = (struct room){
        .free_memory = free->memorymb,
        .free_disk = free->diskmb,
        .free_containers = free->containers,
        .used_memory = (double)total->memorymb - free->memorymb,
        .used_disk = (double)total->diskmb - free->diskmb,
        .used_containers = (double)total->containers - free->containers,
        .total_memory = total->memorymb,
        .total_disk = total->diskmb,
        .total_containers = total->containers,
        .per_memory = 1.0 / total->memorymb,
        .per_disk = 1.0 / total->diskmb,
        .per_containers = 1.0 / total->containers,
        .proxy_memory = state->proxymemoryallocationmb,
        .starting = state->startingcontainercount,
        .failed_starts = failed_starts(state),
        .tasks = (double)state->n_tasks,
        .ended_tasks = (double)count_ended(state),
        .index = state->cell_index,
        .whole = total->memorymb > 0 && total->diskmb > 0 && total->containers > 0,
    };
}

bool score_counts(const struct score_rules *rules, const Cell__LRP *lrp)
{
    return rules->scoring == SCORING_DIEGO ||
           (strcmp(lrp->state, "CRASHED") != 0 && strcmp(lrp->state, "SHUTDOWN") != 0);
}

void room_take(struct room *r, const struct score_rules *rules, const struct demand *q)
{
    double memory = rules->scoring == SCORING_DIEGO ? q->memory_mb : room_memory_needed(r, q);
    r->free_memory -= memory;
    r->used_memory += memory;
    r->free_disk -= q->disk_mb;
    r->used_disk += q->disk_mb;
    r->free_containers -= 1;
    r->used_containers += 1;
    r->starting += 1;
    r->tasks += q->kind == JOB_TASK;
    r->used = r->used || q->kind == JOB_UNIT;
}

double score_mean_used(const struct room *r, const struct demand *q)
{
    double memory = 1.0 - (r->free_memory - room_memory_needed(r, q)) / r->total_memory;
    double disk = 1.0 - (r->free_disk - q->disk_mb) / r->total_disk;
    double containers = 1.0 - (r->free_containers - 1) / r->total_containers;
    return (memory + disk + containers) / 3.0;
}
