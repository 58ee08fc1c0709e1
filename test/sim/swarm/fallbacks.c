/* What stands in for what failed says so in the log. Each such line is a row here, with the faults
 * that explain it; in a calm seed nothing does, and nothing may be warned of at all. */
#include "test/sim/swarm/inside.h"

#include <string.h>

enum { PERCENT_CALM = 4, PERCENT_SILENT = 4 };

#define IS(fault) (UINT64_C(1) << FAULT_##fault)
#define UNEXPLAINED 0
/* Two that meet, no more: also in a calm seed. */
#define NO_FAULT_NEEDED IS(COUNT)
/* A node pool has taken a cell or given one back, maybe one that has just accepted work, whose
 * claim is refused then: also in a calm seed. */
#define POOL_CHANGED (IS(COUNT) << 1)
/* etcd is what it was earlier, and its revisions repeat. */
#define WENT_BACK (IS(RESTORE) | IS(LOST_WRITES))
#define PAUSES (IS(PAUSE) | IS(LONG_PAUSE))
/* A watch is behind, for a while. */
#define LAGS                                                                                       \
    (IS(WATCH_STALL) | IS(CUT_STORE) | PAUSES | IS(EVACUATE_AT_ONCE) | WENT_BACK |                 \
     IS(WATCH_BREAK) | IS(STORM))
/* A watch tells it otherwise, and the copy is loaded again. */
#define SLIPS (IS(WATCH_SKIP) | IS(WATCH_CHANGE) | IS(WATCH_SILENT) | IS(COMPACT))
/* A process is not there, or its machine. */
#define GONE                                                                                       \
    (IS(KILL) | IS(KILL_WITHIN) | IS(KILL_ASKING) | IS(KILL_COMMIT) | IS(CELL_FELL) |              \
     IS(CELL_AWAY) | IS(MASS_LOSS) | IS(EVACUATE) | IS(ROLLING))
/* What one process tells another is lost or late. */
#define UNHEARD                                                                                    \
    (PAUSES | IS(LOSSES) | IS(DELAYS) | IS(STORM) | IS(CUT_ONE_WAY) | IS(CUT_TWO_WAY) |            \
     IS(CELL_CUT) | IS(MASS_LOSS) | IS(EVACUATE_AT_ONCE))
/* What a bbs asks of etcd is. */
#define STORE (IS(CUT_STORE) | IS(STORE_LOSSES) | IS(STORE_DELAYS) | IS(ELECTION))
/* What a cell does takes its time. */
#define RUNTIME (IS(SLOW_RUNTIME) | IS(HUNG_RUNTIME))

static const struct {
    const char *message;
    const char *data; /* that it has within; "" = any */
    uint64_t faults;  /* one of these has befallen the seed */
} rows[] = {
    /* etcd forgets a deletion at the very revision that it is compacted at, and a revision may be
     * nothing else; a bbs that frees a full etcd compacts it, too. */
    {"the copy of the board is loaded again", "left out a revision",
     IS(WATCH_SKIP) | IS(COMPACT) | IS(NO_SPACE)},
    {"the copy of the board is loaded again", "left out a change",
     IS(WATCH_CHANGE) | IS(COMPACT) | IS(NO_SPACE)},
    {"the copy of the board is loaded again", "change of its transaction twice", IS(WATCH_CHANGE)},
    {"the copy of the board is loaded again", "a revision twice or backwards", WENT_BACK},
    {"the copy of the board is loaded again", "a value that the copy never had", IS(WATCH_SILENT)},
    {"the copy of the board is loaded again", "the copy differs from etcd", IS(WATCH_SILENT)},
    {"the copy of the board differs from etcd", "", IS(WATCH_SILENT)},
    {"the copy of the board is loaded again", "has kept", IS(COMPACT) | IS(NO_SPACE) | LAGS},
    {"the copy of the board is loaded again", "is behind the copy", WENT_BACK},
    {"the copy of the board is loaded again", "board generation", WENT_BACK},
    {"the copy of the board is loaded again", "was restored", WENT_BACK},
    {"the copy of the board is loaded again", "went back to an older revision", WENT_BACK},
    {"the copy of the board is loaded again", "5 s behind",
     LAGS | IS(WATCH_SKIP)}, /* of the last revision for long */
    {"the copy of the board is loaded again", "",
     UNEXPLAINED}, /* for a reason that no row above names */
    {"a listing found an end that no event had reported", "", GONE | IS(HUNG_RUNTIME)},
    {"a full pass found what no change had led to", "",
     GONE | UNHEARD | STORE | LAGS | SLIPS | RUNTIME},
    {"an unknown outcome was settled", "", STORE | PAUSES | IS(STORM) | WENT_BACK},
    {"the feed begins again", "", GONE | UNHEARD | LAGS | SLIPS},
    /* The cell did not answer, or could not be asked. */
    {"what waited was placed, and nothing had reported that it could be", "",
     GONE | UNHEARD | STORE | LAGS | RUNTIME | IS(FAILING_RUNTIME) | IS(NO_SPACE)},
    {"what a cell took did not show on the board, and is placed again", "",
     GONE | UNHEARD | STORE | LAGS | SLIPS | RUNTIME | IS(NO_SPACE) | POOL_CHANGED},
    /* The auctioneer has not heard yet that it leads; the container has just ended. */
    {"a notice did not arrive; the feed repeats it", "status=503", NO_FAULT_NEEDED},
    {"a notice did not arrive; the feed repeats it", "status=500", NO_FAULT_NEEDED},
    {"a notice did not arrive; the feed repeats it", "", GONE | UNHEARD | WENT_BACK},
    /* Its container has just ended. */
    {"run not begun", "container does not run", NO_FAULT_NEEDED},
    /* A task is rejected while a later auction places it. */
    {"work came back", "given back", NO_FAULT_NEEDED},
    {"work came back", "", GONE | UNHEARD | WENT_BACK},
    /* A crowd changes one app, and eight conflicts in turn were its: it asks again. */
    {"moves not settled", "answered 503", NO_FAULT_NEEDED},
    {"a request was not done", "not as fresh as its store", LAGS | STORE | SLIPS},
};

void calm_plan(struct swarm *s, uint64_t seed)
{
    struct random aside;
    random_seed(&aside, (uint64_t[2]){0x63616c6d, seed});
    s->calm = random_below(&aside, 100) < PERCENT_CALM;
    if (s->calm) {
        memset(s->enabled, 0, sizeof(s->enabled));
        s->strays = false;
    }
    s->enabled[FAULT_WATCH_SILENT] = !s->calm && random_below(&aside, 100) < PERCENT_SILENT;
}

static bool explained(const struct swarm *s, uint64_t faults)
{
    if ((faults & NO_FAULT_NEEDED) || (s->went_back && (faults & WENT_BACK)) ||
        ((faults & POOL_CHANGED) && s->checkers.seen[SEEN_POOLS] > 0)) {
        return true;
    }
    for (int f = 0; f < FAULT_COUNT; f++) {
        if ((faults >> f & 1) && s->result->faults[f]) {
            return true;
        }
    }
    return false;
}

void fallback_logged(struct swarm *s, struct node *n, const struct log_line *line)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].message, line->message) != 0 || !strstr(line->data, rows[i].data)) {
            continue;
        }
        s->result->done[DONE_FALLBACKS]++;
        if (!explained(s, rows[i].faults)) {
            checkers_report(&s->checkers, "fallback", "no fault explains that %s says: %s %s",
                            node_name(n), line->message, line->data);
        }
        return;
    }
    if (s->calm && s->ready && line->level >= LOG_WARN_LEVEL) {
        checkers_report(&s->checkers, "calm", "%s warns, and nothing befell it: %s %s",
                        node_name(n), line->message, line->data);
    }
}
