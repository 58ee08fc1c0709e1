/* Which lines are wanted of whom, by the query of a path that ends in /logs (docs/rest.md, Logs).
 * Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { LOG_TAIL_MAX = 1000000 };

struct log_query {
    const char *instance; /* a guid, or an index; NULL = not said */
    int32_t index;        /* that index; -1 = it is none */
    const char *sidecar;  /* NULL = of all that runs in the container */
    bool follow, previous;
    const char *words; /* what else is wanted, as a rep is asked for it: "follow=1&tail=10" */
};

/* Texts are in the arena. ERR_INVALID names the parameter that cannot be, or is none. */
int log_query_read(struct arena *a, const char *query, struct log_query *ret, struct err *err);
