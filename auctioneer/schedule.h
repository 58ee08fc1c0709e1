/* The decision of an auction: cells and jobs in, placements and refusals with text out (design.md
 * 5; rep-auctioneer.md 5). Pure. Jobs are decided one after another, each seeing the cells
 * as the ones before it left them. */
#pragma once

#include "auctioneer/score.h"
#include "board.pb-c.h"
#include "cell.pb-c.h"
#include "common/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which machine a unit asks for (docs/units.md, Placement); zeros = any. */
struct machine_wish {
    uint32_t number;
    bool only;   /* this one alone */
    bool unused; /* one that never had a unit */
};

/* Which machine a cell is; zeros = none yet. */
struct machine_sight {
    bool is;
    bool open;  /* it takes units */
    bool clean; /* it never had one */
    uint32_t number;
};

/* Something to place. Borrowed; jobs of one process should share their strings and lists: what has
 * been judged for one is then not judged again. */
struct job {
    enum job_kind kind;
    const char *guid; /* of the process, the task, or the unit's service */
    int32_t index;    /* of a task: 0; of a unit: its number */
    const char *unit; /* "web/3"; NULL or "" of anything else */
    const char *root_fs;
    char *const *tags;
    size_t tag_count;
    char *const *drivers;
    size_t driver_count;
    int32_t memory_mb;
    int32_t disk_mb;
    struct machine_wish machine; /* of a unit */
    const uint32_t *barred;      /* cells of the input that are closed to it */
    size_t barred_count;
    /* Cells of the input that took it and did not bring it to the board, the one longest ago first:
     * any other that takes it comes before them, and they come in this order. */
    const uint32_t *late;
    size_t late_count;
};

struct schedule_cell {
    const Cell__CellState *state;
    bool closed; /* takes nothing; what it holds still counts for zones */
    struct machine_sight machine;
};

/* It spreads over cells and zones with the others of its process, or of its service. */
static inline bool job_spreads(const struct job *job)
{
    return job->kind != JOB_TASK;
}

/* Its zone follows from this; one that asks for a machine goes where that is. */
static inline bool job_has_zone(const struct job *job)
{
    return job_spreads(job) && !job->machine.only;
}

static inline struct demand job_demand(const struct job *job)
{
    return (struct demand){job->kind, job->memory_mb, job->disk_mb, job->machine.unused};
}

struct schedule_rules {
    /* docs/instances.md, Zones; zone_count 0: the fewest first (5.3). */
    const char *const *zones;
    size_t zone_count;
    struct score_rules score;
    int32_t starting_container_maximum; /* in flight over all cells; <= 0: no limit */
};

/* What became of a job. */
struct decision {
    int32_t cell;    /* where it is placed; -1 = nowhere */
    uint32_t turn;   /* decided as the n-th, from 0 */
    uint32_t equals; /* cells that were as good, itself among them; of schedule_input.explains */
    int32_t spared;  /* the cell that failed starts kept it from; -1 = none; likewise */
    const char *refusal; /* why nowhere: the placement error; NULL if placed. Lives in the arena. */
    bool lacks_room;     /* nowhere, for compatible cells have no room for it */
};

struct schedule_input {
    const struct schedule_rules *rules;
    const struct schedule_cell *cells; /* sorted by cell id, without double ones */
    size_t cell_count;
    const struct job *jobs; /* without double ones */
    size_t job_count;
    const Board__SliceRecord *const *slices; /* of the board: what they keep free (reserve.h) */
    size_t slice_count;
    /* Placed before in this auction, not yet in the states: job taken[i].job on cell
     * taken[i].cell. */
    const struct schedule_taken {
        const struct job *job;
        size_t cell;
    } * taken;
    size_t taken_count;
    /* By cell: of cells with equal scores the one of the lower rank wins (tie.h draws them); all
     * differ. NULL: the lower cell. */
    const uint32_t *ranks;
    bool explains; /* looks at every cell once more, to tell how it came about */
};

/* Gives job_count decisions, in the order of the jobs. */
struct decision *schedule(struct arena *a, const struct schedule_input *in);
