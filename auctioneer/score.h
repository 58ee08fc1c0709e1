/* How good a cell is for a job: lower wins (DESIGN 5, score; rep-auctioneer.md 5.2). Pure. */
#ifndef AUCTIONEER_SCORE_H
#define AUCTIONEER_SCORE_H

#include "cell.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

enum job_kind { JOB_LRP, JOB_TASK };

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
/* A score must be below it to win at all: totals of 0 give infinite ones, or none. */
#define SCORE_INITIAL_BEST 1e20

/* What is free on a cell, as numbers. */
struct room {
    double total_memory, total_disk, total_containers;
    double per_memory, per_disk, per_containers; /* 1 / total */
    int64_t memory_mb, disk_mb, containers;      /* available */
    int64_t proxy_memory_mb;                     /* added to each LRP */
    int64_t starting;                            /* containers that are being started */
    int64_t tasks;
    double index; /* for bin packing: the cell's index among those of its zone */
};

/* From what the cell tells; `index` is its cell_index. */
void room_init(struct room *r, const Cell__CellState *state);

/* What is asked of a cell. */
struct demand {
    enum job_kind kind;
    int32_t memory_mb;
    int32_t disk_mb;
};

/* Memory that a cell must have for it: an LRP's includes the proxy's. */
int64_t room_memory_needed(const struct room *r, const struct demand *q);

bool room_fits(const struct room *r, const struct demand *q);

/* Takes the job's resources off. Diego does not take the proxy's memory off (5.2, quirk), so neither
 * does SCORING_DIEGO. */
void room_take(struct room *r, const struct score_rules *rules, const struct demand *q);

/* Everything of the score but the locality of an LRP. Never falls when something is placed on the
 * cell. */
double score_base(const struct room *r, const struct score_rules *rules, const struct demand *q);

/* The score of an LRP on a cell that holds `locality` instances of its process. */
static inline double score_with(double base, uint32_t locality)
{
    return base + SCORE_LOCALITY_WEIGHT * locality;
}

#endif
