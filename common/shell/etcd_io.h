/* The store shell: etcd's calls and one Watch as gRPC over HTTP/2, on libcurl's multi interface
 * driven by libevent (design.md 2, "Access"). It turns the store_requests of
 * common/contract/store.h into store_answers; what an outcome means stands there. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/contract/store.h"

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct etcd;

/* Bounds. An answer beyond ETCD_ANSWER_BYTES (a joined revision of a watch too) is given up:
 * UNKNOWN, or the watch CLOSED. A call beyond ETCD_CALLS open ones is REFUSED with
 * RESOURCE_EXHAUSTED and never sent. */
enum {
    ETCD_ENDPOINTS = 16,
    ETCD_CALLS = 4096,
    ETCD_WATCHES = 8,
    ETCD_ANSWER_BYTES = 64 * 1024 * 1024,
};

/* Times. A peer that is silently gone is noticed within ETCD_SILENCE_MS + ETCD_PROBE_MS, on calls
 * and watches alike; the endpoint is then left for the next one. */
enum {
    ETCD_CONNECT_MS = 2000,      /* TCP and TLS together */
    ETCD_USER_TIMEOUT_MS = 3000, /* TCP_USER_TIMEOUT: unacknowledged for so long is broken */
    ETCD_SILENCE_MS = 3000,      /* a probe not answered for so long: the connection is dead */
    ETCD_PROBE_MS = 1000,        /* how often a connection that somebody waits on is probed */
    ETCD_WATCH_OPEN_MS = 5000,   /* a watch not confirmed for so long is CLOSED */
};

struct etcd_config {
    const char *endpoints; /* "https://a:2379,https://b:2379"; http:// is HTTP/2 without TLS */
    const char *ca;        /* PEM files, for https; the server's certificate is always verified */
    const char *cert;      /* of this client; NULL = none */
    const char *key;
};

/* What is called from the loop, never from inside a function below. What the argument points to is
 * borrowed during the call. Each call and watch may be started or ended from inside. */
struct etcd_handlers {
    void (*on_answer)(void *context, const struct store_answer *answer);
    void (*on_watch)(void *context, const struct watch_event *event);
    void *context;
};

/* Connects to nothing yet. The strings are copied; `base` must outlive the etcd. Errors: INVALID
 * for endpoints or files that cannot be used; UNAVAILABLE when the libcurl at run time is older
 * than 8.14 or has no HTTP/2 (it loses answers: design.md 2). */
int etcd_new(const struct etcd_config *config, struct event_base *base,
             const struct etcd_handlers *handlers, struct etcd **ret, struct err *err);

/* Drops all calls and watches without an event, closes all connections. Accepts NULL. Not to be
 * called from inside on_answer or on_watch. */
void etcd_free(struct etcd *e);

/* Sends a call; exactly one on_answer with its id follows. The request is packed before this
 * returns. All calls share one connection, 100 at a time; they wait until it is known to be alive,
 * and nobody there, at any endpoint, is REFUSED with UNAVAILABLE at once. What was given to the
 * connection and not answered is UNKNOWN; it is never sent again. A deadline beyond
 * ETCD_CALL_MAX_MS from now is cut to that; one in the past is REFUSED (status 4, nothing sent). */
enum { ETCD_CALL_MAX_MS = 60 * 1000 };
void etcd_call(struct etcd *e, const struct store_request *request);

/* Opens a watch over all keys from `start_revision` (0 = from now) with previous values, on a
 * connection of its own. Events: OPEN at most once and first, EVENTS, then CLOSED once; after
 * CLOSED or etcd_unwatch() nothing more comes of this id. Reopening is the role's business. */
void etcd_watch(struct etcd *e, uint64_t id, int64_t start_revision);
void etcd_unwatch(struct etcd *e, uint64_t id);

/* What takes a snapshot. `take` gets the bytes in their order, and how many follow (the hash at the
 * end not counted); a negative code with its text ends the call. `stop` is asked at least once a
 * second; true ends the call with UNKNOWN. */
struct etcd_snapshot_sink {
    int (*take)(void *context, struct bytes bytes, uint64_t left, struct err *err);
    bool (*stop)(void *context);
    void *context;
};

/* Streams a snapshot of the store: its database, then 32 bytes, the SHA-256 of that. Waits for its
 * end, so it is for command lines. Asks one server after the other until one begins; then no other
 * is asked. Errors: UNAVAILABLE when none answers or the stream breaks off, with the last server's
 * reason; those of the sink. */
int etcd_snapshot(struct etcd *e, const struct etcd_snapshot_sink *sink, struct err *err);
