/* Whether an instance is healthy, and whether it is ready to be routed to: what its checks found
 * decides, by a table of rows (docs/cell.md, Health). Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/contract/probe.h"
#include "rep_note.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

/* Most checks of a check_definition; the shortest interval; and below the longest time that counts
 * for one. */
enum { HEALTH_CHECKS_MAX = 100, HEALTH_INTERVAL_LEAST_MS = 100 };
#define HEALTH_TIME_MOST_MS (24 * 60 * 60 * 1000LL)

/* Most of a text that a check gives, of a monitor's output its last bytes. */
enum { HEALTH_TEXT_MAX = 4096 };

/* Health goes from STARTING, readiness from NOT_READY. */
enum health_phase {
    HEALTH_STARTING,
    HEALTH_HEALTHY,
    HEALTH_UNHEALTHY, /* it is ended; nothing leads out of here */
    HEALTH_NOT_READY,
    HEALTH_READY,
    HEALTH_PHASE_COUNT
};

/* What the checks of one kind say together. */
enum health_outcome {
    HEALTH_PASSED,    /* each of them, when it was last made */
    HEALTH_AWAITED,   /* none has failed, some have not come to an end yet */
    HEALTH_BROKEN,    /* one has failed */
    HEALTH_TIME_OVER, /* the start's, and it has not passed */
    HEALTH_OUTCOME_COUNT
};

/* What is said in the log when a row leads to another phase. */
enum health_word {
    HEALTH_SAYS_NOTHING,
    HEALTH_SAYS_HEALTHY,
    HEALTH_SAYS_NEVER,
    HEALTH_SAYS_UNHEALTHY,
    HEALTH_SAYS_READY,
    HEALTH_SAYS_NOT_READY,
};

struct health_next {
    int row; /* number in the table of docs/cell.md; test/decide/test_health.c has the same */
    enum health_phase phase;
    enum health_word says;
};

/* The table. Every pair has an answer. */
struct health_next health_next(enum health_phase phase, enum health_outcome outcome);

/* What became of one check so far. */
struct check_result {
    bool known;      /* one has ended */
    bool passed;     /* the last */
    unsigned tried;  /* how many have ended */
    int64_t took_ms; /* the last */
    int64_t at_wall_ns;
    const char *text; /* why the last one failed; "" = it passed. Never NULL once it is known */
};

/* Of the liveness checks, or of the readiness checks, whose results stand in the order of
 * health->checks. There is no such check: PASSED. The start's time counts for STARTING alone. */
enum health_outcome health_outcome(const Rep__Health *health, const struct check_result *results,
                                   enum health_phase phase, int64_t now_ns);

/* How the cell looks where a check says nothing itself; all more than 0. */
struct health_pace {
    int64_t again_ns;    /* until it has passed, or passes again: to the next try */
    int64_t interval_ns; /* once it has passed */
    int64_t timeout_ns;
};

/* When the check that was due at `due_ns` is made next, given what came of it; NEVER_NS: not before
 * the instance is healthy, for it has passed and the others have not. */
int64_t health_next_ns(const Rep__Check *check, enum health_phase phase, bool passed,
                      int64_t due_ns, int64_t now_ns, const struct health_pace *pace);
int64_t health_interval_ns(const Rep__Check *check, const struct health_pace *pace);
int64_t health_timeout_ms(const Rep__Check *check, const struct health_pace *pace);

/* When the time for its start is over; NEVER_NS: never. */
int64_t health_start_ends_ns(const Rep__Health *health);

/* Whether it has a check of readiness, or else one of liveness. NULL: it has none. */
bool health_has(const Rep__Health *health, bool readiness);

/* Whether it is routed to, as far as its checks go. NULL: it has none. */
bool health_is_routable(const Rep__Health *health);

/* What came of a probe at `address` and `port`: "" = it passed. In the arena. */
const char *health_probe_text(struct arena *a, const Rep__Check *check, const char *address,
                              uint32_t port, int64_t timeout_ms, const struct probed *probed);

/* The reasons, and what is said of them; in the arena. Details: what stands in the log beside the
 * word, with the source of the checks; the reason of the end is `Instance never healthy after D: `
 * or `Instance became unhealthy: ` and the details. */
const char *health_details(struct arena *a, const Rep__Health *health,
                           const struct check_result *results, enum health_phase phase);
const char *health_reason(struct arena *a, const Rep__Health *health, const char *details,
                          enum health_phase phase);
const char *health_line(struct arena *a, const Rep__Health *health, enum health_word word,
                        bool *ret_to_stderr);

/* "http :8080/health", "tcp :5432", "monitor". In the arena. */
const char *health_check_name(struct arena *a, const Rep__Check *check);

/* "[::1]:80", "10.0.0.1:80". In the arena. */
const char *health_address_text(struct arena *a, const char *address, uint32_t port);
