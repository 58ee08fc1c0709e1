/* What stands in for what failed says so in the log. Each such line is a row here, with the faults that
 * explain it; in a calm seed nothing does, and nothing may be warned of at all. */
#include "test/sim/swarm_parts.h"

#include <string.h>

enum { PERCENT_CALM = 4, PERCENT_SILENT = 4 };

#define IS(fault) (UINT64_C(1) << FAULT_##fault)
#define ANY_FAULT UINT64_MAX
/* etcd is what it was earlier, and its revisions repeat. */
#define WENT_BACK (IS(RESTORE) | IS(LOST_WRITES))
/* A watch is behind, for a while. */
#define LAGS                                                                                       \
    (IS(WATCH_STALL) | IS(CUT_STORE) | IS(PAUSE) | IS(LONG_PAUSE) | IS(EVACUATE_AT_ONCE) |         \
     WENT_BACK | IS(WATCH_BREAK) | IS(STORM))

static const struct {
    const char *message;
    const char *data; /* that it has within; "" = any */
    uint64_t faults;  /* one of these has befallen the seed */
} rows[] = {
    {"the copy of the board is loaded anew", "left out a revision", IS(WATCH_SKIP)},
    {"the copy of the board is loaded anew", "left out a change",
     IS(WATCH_CHANGE) | IS(COMPACT)},
    {"the copy of the board is loaded anew", "change of its transaction twice", IS(WATCH_CHANGE)},
    {"the copy of the board is loaded anew", "a revision twice or backwards", WENT_BACK},
    {"the copy of the board is loaded anew", "a value that the copy never had",
     IS(WATCH_SILENT)},
    {"the copy of the board is loaded anew", "the copy differs from etcd", IS(WATCH_SILENT)},
    {"the copy of the board differs from etcd", "", IS(WATCH_SILENT)},
    {"the copy of the board is loaded anew", "has kept", IS(COMPACT) | LAGS},
    {"the copy of the board is loaded anew", "is behind the copy", WENT_BACK},
    {"the copy of the board is loaded anew", "epoch", WENT_BACK},
    {"the copy of the board is loaded anew", "was restored", WENT_BACK},
    {"the copy of the board is loaded anew", "went back to an older revision", WENT_BACK},
    {"the copy of the board is loaded anew", "5 s behind",
     LAGS | IS(WATCH_SKIP)}, /* of the last revision for long */
    {"the copy of the board is loaded anew", "", 0}, /* for a reason that no row above names */
    {"a listing found an end that no news had told", "",
     IS(KILL) | IS(KILL_WITHIN) | IS(KILL_ASKING) | IS(KILL_COMMIT) | IS(CELL_FELL) |
         IS(CELL_AWAY) | IS(MASS_LOSS) | IS(HUNG_RUNTIME) | IS(EVACUATE)},
    {"a full pass found what no news had told", "", ANY_FAULT},
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
    if (s->went_back && (faults & WENT_BACK)) {
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
    if (s->calm && s->ready && line->level >= LOG_WARN_LEVEL) {
        checkers_report(&s->checkers, "calm", "%s warns, and nothing befell it: %s %s",
                        node_name(n), line->message, line->data);
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].message, line->message) != 0 || !strstr(line->data, rows[i].data)) {
            continue;
        }
        s->result->fallbacks++;
        if (!explained(s, rows[i].faults)) {
            checkers_report(&s->checkers, "fallback", "no fault explains that %s says: %s %s",
                            node_name(n), line->message, line->data);
        }
        return;
    }
}
