#include "auctioneer/score.h"

void room_init(struct room *r, const Cell__CellState *state)
{
    static const Cell__Resources none = CELL__RESOURCES__INIT;
    const Cell__Resources *total = state->totalresources ? state->totalresources : &none;
    const Cell__Resources *free = state->availableresources ? state->availableresources : &none;
    *r = (struct room){
        .total_memory = total->memorymb,
        .total_disk = total->diskmb,
        .total_containers = total->containers,
        .per_memory = 1.0 / total->memorymb,
        .per_disk = 1.0 / total->diskmb,
        .per_containers = 1.0 / total->containers,
        .memory_mb = free->memorymb,
        .disk_mb = free->diskmb,
        .containers = free->containers,
        .proxy_memory_mb = state->proxymemoryallocationmb,
        .starting = state->startingcontainercount,
        .tasks = (int64_t)state->n_tasks,
        .index = state->cell_index,
    };
}

int64_t room_memory_needed(const struct room *r, const struct demand *q)
{
    return q->memory_mb + (q->kind == JOB_LRP ? r->proxy_memory_mb : 0);
}

bool room_fits(const struct room *r, const struct demand *q)
{
    return r->disk_mb >= q->disk_mb && r->memory_mb >= room_memory_needed(r, q) &&
           r->containers >= 1;
}

void room_take(struct room *r, const struct score_rules *rules, const struct demand *q)
{
    r->memory_mb -= rules->scoring == SCORING_DIEGO ? q->memory_mb : room_memory_needed(r, q);
    r->disk_mb -= q->disk_mb;
    r->containers -= 1;
    r->starting += 1;
    r->tasks += q->kind == JOB_TASK;
}

/* 5.2: used(x) = 1 - (available.x - requested.x) / total.x, and their mean. */
static double mean_used(const struct room *r, const struct demand *q)
{
    int64_t memory_mb = room_memory_needed(r, q);
    double memory = 1.0 - (double)(r->memory_mb - memory_mb) / r->total_memory;
    double disk = 1.0 - (double)(r->disk_mb - q->disk_mb) / r->total_disk;
    double containers = 1.0 - (double)(r->containers - 1) / r->total_containers;
    return (memory + disk + containers) / 3.0;
}

static double largest_used(const struct room *r, const struct demand *q)
{
    int64_t memory_mb = room_memory_needed(r, q);
    double memory = (r->total_memory - (double)(r->memory_mb - memory_mb)) * r->per_memory;
    double disk = (r->total_disk - (double)(r->disk_mb - q->disk_mb)) * r->per_disk;
    double containers = (r->total_containers - (double)(r->containers - 1)) * r->per_containers;
    if (!(r->per_memory < SCORE_INITIAL_BEST && r->per_disk < SCORE_INITIAL_BEST)) {
        return SCORE_INITIAL_BEST; /* a total of 0: what is not a number would vanish below */
    }
    double largest = memory > disk ? memory : disk;
    return largest > containers ? largest : containers;
}

double score_base(const struct room *r, const struct score_rules *rules, const struct demand *q)
{
    double used = rules->scoring == SCORING_DIEGO ? mean_used(r, q) : largest_used(r, q);
    double score = used + (double)r->starting * rules->starting_container_weight;
    if (q->kind == JOB_TASK) {
        return score + SCORE_LOCALITY_WEIGHT * (double)r->tasks;
    }
    return score + r->index * rules->bin_pack_first_fit_weight;
}
