/* Looks at the health of an instance from outside: one request to a port of it (docs/cell.md,
 * Health). The shell makes them: EFFECT_PROBE, answered exactly once by EVENT_PROBED. */
#pragma once

#include <stdint.h>

enum probe_kind {
    PROBE_HTTP, /* GET, redirects within the same address and port followed; only heads are read */
    PROBE_TCP,  /* a connection, closed at once */
};

/* Most probes that a role may have open at once. */
enum { PROBES_MAX = 256 };

/* Most bytes that are read of one answer, and most redirects that are followed. */
enum { PROBE_BYTES_MAX = 64 * 1024, PROBE_REDIRECTS_MAX = 10 };

struct probe {
    uint64_t id;      /* chosen by the role, unique among its open probes */
    const char *guid; /* of the instance; given back */
    enum probe_kind kind;
    const char *address; /* numeric */
    uint32_t port;
    const char *path;   /* of HTTP; begins with "/", and may have a query */
    int64_t timeout_ms; /* of the whole, at least 1 */
};

enum probe_outcome {
    PROBE_ANSWERED, /* connected; HTTP: with this status */
    PROBE_REFUSED,  /* connection refused */
    PROBE_TIMED_OUT,
    PROBE_FAILED, /* otherwise; text says how */
};

struct probed {
    uint64_t id;
    const char *guid;
    enum probe_outcome outcome;
    int status;
    int64_t took_ms;
    const char *text; /* never NULL */
};
