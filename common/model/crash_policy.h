/* The crash policy (behaviour.md 10.4), every number a setting (settings.def): the bbs counts
 * crashes by it, bbs and converger agree by it when a CRASHED instance may run again. Pure. */
#pragma once

#include <stdint.h>

struct crash_policy {
    int64_t reset_ns;        /* RUNNING longer than this: the count begins again */
    int64_t immediate_below; /* a new count below this restarts at once */
    int64_t backoff_base_ns; /* of a CRASHED record with a count of `immediate_below` */
    int64_t backoff_max_ns;  /* doubled with each further crash up to this */
    int64_t restarts_max;    /* from this count on it stays CRASHED */
};

/* How long a record that CRASHED for the `count`-th time stands before it may be restarted;
 * NEVER_NS = it never may. */
int64_t crash_wait_ns(const struct crash_policy *policy, int32_t count);

/* When that is over on the clock that wrote `since_ns`, for who is shown it; NEVER_NS = never. */
int64_t crash_restart_ns(const struct crash_policy *policy, int32_t count, int64_t since_ns);
