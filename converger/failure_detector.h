/* The failure detector (design.md 6): which cell is lost, and whether so many fell silent together
 * that the limiter holds them first. It keeps what the feed tells of cells and of the limiter, and
 * asks the leader's liveness report for silences. Pure; its decision changes nothing.
 *
 *   lose     a PRESENT cell that was not heard for the window, while a bbs counts; with its
 *            incarnation
 *   hold     instead, when it is a mass loss: more than a third of the cells and at least 3, or
 *            every cell of a zone of 3 or more while another zone lives, within one window. While
 *            the limiter is HELD or KEPT, whoever falls silent joins it; cells that are heard
 *            again, have gone or have another incarnation drop out; with none left it goes.
 *   release  a HELD limiter whose time is over. Then its cells are lost a bounded number at a time.
 *
 * Cells that die together fall silent within two heartbeats of each other. So the detector does not
 * lose a cell while others are silent for longer than a healthy cell and would make it a mass loss
 * if they were dead too: it waits until that is known, for `spread_ns` at most. */
#pragma once

#include "common/client/liveness_report.h"
#include "common/model/keys.h"
#include "common/model/settings.h"
#include "common/model/sighting.h"

/* Released cells are lost so many at a time, so long after one another. */
#define RELEASE_INTERVAL_NS (2 * SECOND_NS)
enum { RELEASE_MAX = 10 };

/* A cell as its record tells. */
struct watched_cell {
    char *zone;
    uint64_t incarnation;
    bool lost;        /* its record is LOST */
    int64_t lost_ns;  /* when we saw that happen; NEVER_NS = not, or the limiter had listed it */
    bool asked;       /* its lose is on its way */
    int64_t again_ns; /* the next one not before */
};

/* A cell that the limiter lists. */
struct held_cell {
    uint64_t incarnation;
    uint64_t heard; /* how often it had been heard when it was listed */
};

struct failure_detector {
    const struct settings *settings; /* in force */
    struct liveness_report *liveness_report;
    struct map cells; /* id -> struct watched_cell */
    /* The limiter's record. */
    struct failure_detector_limiter {
        bool present;
        int state; /* Board__LimiterRecord__State */
        int64_t until; /* wall clock of who held it */
        struct sighting held;
        struct map cells; /* id -> struct held_cell */
    } limiter;
    bool limiter_asked; /* a move about the limiter is on its way */
    int64_t limiter_ns; /* the next one not before */
    int64_t release_ns; /* released cells are lost not before */
};

/* A move that the failure detector plans. */
struct verdict {
    const char *move;        /* "lose", "hold", "release" */
    const char *cell_id;     /* of lose; "" otherwise */
    uint64_t incarnation;         /* of lose: that was judged */
    Board__CellHeartbeat **cells; /* of hold: all that are to be held */
    size_t cell_count;
};

struct verdicts {
    struct arena *arena;
    struct verdict *list; /* those who lose come first, by the length of their silence */
    size_t count;
};

/* Settings and report must outlive it; both may change. */
void failure_detector_init(struct failure_detector *j, const struct settings *settings,
                           struct liveness_report *liveness_report);
void failure_detector_done(struct failure_detector *j);

/* Changes of the feed. */
void failure_detector_reset(struct failure_detector *j);
void failure_detector_cell(struct failure_detector *j, const char *cell_id,
                           const Board__CellRecord *record, struct moment now);
void failure_detector_cell_gone(struct failure_detector *j, const char *cell_id);
void failure_detector_limiter(struct failure_detector *j, const Board__LimiterRecord *record,
                              struct sighting seen);
void failure_detector_limiter_gone(struct failure_detector *j);

/* The moves to make now, in the arena, without those that are on their way. */
void failure_detector_decide(const struct failure_detector *j, struct moment now,
                             struct verdicts *ret, struct arena *a);

/* A planned move is sent; its answer came, and if it was not done it is thought over at `again_ns`.
 * `cell_id` is "" for one about the limiter. */
void failure_detector_asked(struct failure_detector *j, const struct verdict *verdict,
                            struct moment now);
void failure_detector_settled(struct failure_detector *j, const char *cell_id, int64_t again_ns);

/* No answers are awaited any more: the leader is another one. A new leader begins all windows
 * again. */
void failure_detector_forget_moves(struct failure_detector *j);

/* What is shown of a cell: in order of the ids; false at the end. `i` counts from 0. */
struct watched_cell_view {
    const char *cell_id, *zone;
    uint64_t incarnation;
    bool lost; /* its record is LOST */
    bool held; /* the limiter is HELD or KEPT and lists it */
    int64_t silent_ns;
};
void failure_detector_each(const struct failure_detector *j,
                           void (*each)(void *context, const struct watched_cell_view *cell),
                           void *context);
