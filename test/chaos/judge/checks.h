/* The judge's checks: each looks at the history and adds what it finds to the verdict. Pure. */
#pragma once

#include "test/chaos/judge/board.h"
#include "test/chaos/judge/verdict.h"

#define CHECK_S ((int64_t)1000000000)
enum {
    CHECK_RECONCILES_S = 60, /* two reconcile intervals */
    CHECK_STOP_S = 15,
    CHECK_CALM_S = 30, /* after a fault its consequences are not judged by bounds of calm */
};

/* S4, S5, S6: the calls on each record have an order. */
void chaos_check_calls(const struct history *h, struct verdict *v);

/* S1, S3: containers of one index, of one task. */
void chaos_check_containers(const struct history *h, const struct board *b, struct verdict *v);

/* S13, L3: containers that nobody has a record of, records without a container, and what was
 * removed. */
void chaos_check_orphans(const struct history *h, const struct board *b, struct verdict *v);

/* S2 S10, S4, S8, S9, S12: what the streams told. */
void chaos_check_board(const struct history *h, const struct board *b, struct verdict *v);

/* L1, L2: how it stands at the end, if the work came to its end. */
void chaos_check_rest(const struct history *h, const struct board *b, struct verdict *v);

/* Whether the times from `from` to `to` are CHECK_CALM_S away from each fault. */
bool chaos_check_is_calm(const struct history *h, int64_t from, int64_t to);

/* A restore of the store began at or before `at`, and after `since`. */
bool chaos_check_was_restored(const struct history *h, int64_t since, int64_t at);

/* How long each fault left things broken. */
struct recovery {
    const struct befallen *fault;
    int64_t worst_ns; /* from its begin, or from its end (bound_from_end) */
    const char *what; /* what took that long */
    int64_t bound_ns;
    int64_t window_end;  /* until when it was looked at */
    uint64_t sent, lost; /* requests to the app with the most instances */
    uint64_t all_sent, all_lost;
};

/* One for each fault, in their order; the caller frees. Adds what is beyond its bound, and faults
 * that were not there. */
struct recovery *chaos_check_recoveries(const struct history *h, const struct board *b,
                                        struct verdict *v);
