/* The cells as the auctioneer sees them: who is there, from the feed; what is free, from the cells
 * themselves, asked before each auction (design.md 5; rep-auctioneer.md 2.1, 4). Pure. */
#pragma once

#include "auctioneer/machines.h"
#include "board.pb-c.h"
#include "common/client/boards.h"
#include "common/base/map.h"

/* Time-out of a question for /state and of a /work. */
#define CELL_CALL_NS (1 * SECOND_NS)
/* One that did not answer in time is left alone so long: it would delay every auction. */
#define CELL_PAUSE_NS (2 * SECOND_NS)
/* Questions on their way at once, and the bytes of one state, decoded. */
enum { CELL_CALLS_MAX = 256, CELL_STATE_MAX = 32 * 1024 * 1024 };

struct cell {
    char *url;        /* rep_url */
    char *pool;       /* tag of the node pool that has it, by the board; "" = none */
    bool pool_leaves; /* that pool gives it back: it takes nothing new */
    char *identity;   /* of its state directory */
    uint64_t incarnation;
    bool present;                 /* on the board and PRESENT; LOST ones are not asked */
    bool usable;                  /* its last state may be relied on in this auction */
    bool left_out;                /* gave work back, or did not answer, in this auction */
    bool grew;                    /* has more room than when last seen */
    bool frees_more;              /* more is being freed than when last seen */
    bool awaited;                 /* what it frees something refused may take (freeing.h) */
    unsigned returns;             /* how often it gave work back in this auction */
    const char *why;              /* not usable: constant text */
    struct arena arena;           /* of the state */
    const Cell__CellState *told;  /* as it answered; NULL until it did once */
    const Cell__CellState *state; /* the same, with the tag of its pool as a required one */
    /* What it has taken since: without it the cell would show so much less. */
    struct {
        int64_t memory_mb, disk_mb, containers;
    } taken;
    char *etag;
    int64_t pause_until_ns;
    char id[];
};

struct cells {
    uint64_t *next_call_id;
    bool starting_counts; /* there is a limit in flight: what has started makes room; the owner's */
    struct map by_id;
    struct machines machines;
    /* The present round of questions. */
    struct cell **queue;
    size_t queued, asked;
    struct {
        uint64_t id;
        struct cell *cell;
    } open[CELL_CALLS_MAX];
    size_t open_count;
    bool looking;
    bool grew; /* some cell has become usable or has more room than when last seen */
};

/* `next_call_id` is borrowed: calls take their ids from it. */
void cells_init(struct cells *c, uint64_t *next_call_id);
void cells_done(struct cells *c);

/* What a cell told, with the tag of its node pool ("" = none) as a required one; tags of pools that
 * it tells itself do not count: only the board says of which pool a cell is. Borrows from `told`.
 */
Cell__CellState *cell_state_in_pool(struct arena *a, const Cell__CellState *told, const char *pool);

/* Why a cell is not relied on whose pool has too many. */
#define CELL_POOL_LEAVES_TEXT "its node pool gives it back"

/* Changes of the feed. */
void cells_record(struct cells *c, const char *cell_id, const Board__CellRecord *record);
void cells_gone(struct cells *c, const char *cell_id);
void cells_reset(struct cells *c);
/* Of a machine, and of which one a cell is, by the record's key; NULL = there is none any more. */
void cells_machine(struct cells *c, const char *key, const Board__MachineRecord *record);
void cells_machine_cell(struct cells *c, const char *cell_id,
                        const Board__MachineCellRecord *record);

/* Which machine it is. */
struct machine_sight cells_machine_of(const struct cells *c, const struct cell *cell);

/* Begins to ask all that are present. Must not be looking. */
void cells_look(struct cells *c, const struct event *ev, struct effects *out);

/* The same of the awaited ones alone: whether they have more room by now. No auction rests on it.
 */
void cells_look_awaited(struct cells *c, const struct event *ev, struct effects *out);

/* True if the event was its own; `looking` is false when all have answered or failed. */
bool cells_step(struct cells *c, const struct event *ev, struct effects *out);

/* Asks no more: answers under way are not waited for. */
void cells_stop_looking(struct cells *c, struct effects *out);

/* It has accepted an instance or a task of this size. */
void cell_took(struct cell *cell, int64_t memory_mb, int64_t disk_mb);

/* The usable ones by cell id, those left out closed. Gives their number; *ret_from tells which cell
 * each one is. The states live until the cell's next answer. */
size_t cells_usable(const struct cells *c, struct arena *a, struct schedule_cell **ret_cells,
                    struct cell ***ret_from);

/* It gave some of its work back. Left out of this auction when it did so too often: what it tells
 * of its room is wrong, or it takes nothing at all. */
enum { CELL_RETURNS_MAX = 8 };
void cell_returned(struct cell *cell);

/* It did not answer to its work: left out of this auction. */
void cell_leave_out(struct cell *cell, const char *why);
