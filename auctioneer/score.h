/* How good a cell is for a job: lower wins (design.md 5, Score; rep-auctioneer.md 5.2). Pure. */
#pragma once

#include "cell.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

enum job_kind { JOB_LRP, JOB_TASK, JOB_UNIT, JOB_KIND_COUNT };

enum scoring {
    SCORING_LARGEST, /* "default": the largest used fraction after placing */
    SCORING_DIEGO,   /* "diego": the mean used fraction, and a weight for starting containers */
};

struct score_rules {
    enum scoring scoring;
    double starting_container_weight;
    double bin_pack_first_fit_weight;
};

#define SCORE_LOCALITY_WEIGHT 1000.0
/* What each start that failed at once counts, of a few: four are as bad as a full cell, and nothing
 * beside one instance of the same process. Not in Diego's scoring. */
#define SCORE_FAILED_START_WEIGHT 0.25
enum { SCORE_FAILED_STARTS_MAX = 4 };
/* A score must be below it to win at all. */
#define SCORE_INITIAL_BEST 1e20

/* What a cell has, as whole numbers: doubles hold them exactly, and are what scores need. */
struct room {
    double used_memory, used_disk, used_containers; /* MB, MB */
    double per_memory, per_disk, per_containers;    /* 1 / total */
    double proxy_memory;                            /* added to each LRP */
    double starting;                                /* containers that are being started */
    double failed_starts;      /* in a row, at once; 0 to SCORE_FAILED_STARTS_MAX */
    double index;              /* for bin packing: the cell's index among those of its zone */
    double tasks, ended_tasks; /* of all its tasks, those whose process is gone */
    double free_memory, free_disk, free_containers;
    double total_memory, total_disk, total_containers;
    bool used;  /* a unit was placed on it in this auction: its machine is unused no more */
    bool whole; /* no total is 0: such a cell never wins, for its score is infinite or none (5.2) */
};

/* From what the cell tells; `index` is its cell_index. */
void room_init(struct room *r, const Cell__CellState *state);

/* What is asked of a cell. */
struct demand {
    enum job_kind kind;
    int32_t memory_mb;
    int32_t disk_mb;
    bool unused; /* a machine that never had a unit */
};

/* Memory that a cell must have for it: an LRP's includes the proxy's. */
static inline double room_memory_needed(const struct room *r, const struct demand *q)
{
    return q->kind == JOB_LRP ? q->memory_mb + r->proxy_memory : q->memory_mb;
}

static inline bool room_fits(const struct room *r, const struct demand *q)
{
    return r->free_disk >= q->disk_mb && r->free_memory >= room_memory_needed(r, q) &&
           r->free_containers >= 1 && !(q->unused && r->used);
}

/* Whether an instance that the cell tells of holds others of its process off (locality, zones). One
 * whose process is gone does not: its cell is free for the one that follows it. Diego counts all
 * (5.2). */
bool score_counts(const struct score_rules *rules, const Cell__LRP *lrp);

/* Takes the job's resources off. Diego does not take the proxy's memory off (5.2, quirk), so
 * neither does SCORING_DIEGO. */
void room_take(struct room *r, const struct score_rules *rules, const struct demand *q);

/* 5.2: the mean of used(x) = 1 - (available.x - requested.x) / total.x. */
double score_mean_used(const struct room *r, const struct demand *q);

/* The largest used fraction. */
static inline double score_largest_used(const struct room *r, const struct demand *q)
{
    double memory = (r->used_memory + room_memory_needed(r, q)) * r->per_memory;
    double disk = (r->used_disk + q->disk_mb) * r->per_disk;
    double containers = (r->used_containers + 1) * r->per_containers;
    double largest = memory > disk ? memory : disk;
    return largest > containers ? largest : containers;
}

/* What the failed starts of the cell make of it. */
static inline double score_failed_starts(const struct room *r, const struct score_rules *rules)
{
    return rules->scoring == SCORING_LARGEST ? r->failed_starts * SCORE_FAILED_START_WEIGHT : 0;
}

/* Everything of the score but the locality of an LRP. Never falls when something is placed on the
 * cell. Inline, for it is what a decision does most. */
static inline double score_base(const struct room *r, const struct score_rules *rules,
                                const struct demand *q)
{
    double used =
        rules->scoring == SCORING_LARGEST ? score_largest_used(r, q) : score_mean_used(r, q);
    double score =
        used + r->starting * rules->starting_container_weight + score_failed_starts(r, rules);
    if (q->kind == JOB_TASK) {
        double tasks = rules->scoring == SCORING_DIEGO ? r->tasks : r->tasks - r->ended_tasks;
        return score + SCORE_LOCALITY_WEIGHT * tasks;
    }
    return score + r->index * rules->bin_pack_first_fit_weight;
}

/* The score of an LRP on a cell that holds `locality` instances of its process, or of a unit on one
 * that was given so many of its service in this auction. */
static inline double score_with(double base, uint32_t locality)
{
    return base + SCORE_LOCALITY_WEIGHT * locality;
}
