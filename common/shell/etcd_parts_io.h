/* Inside of the store shell, shared by its files: the client, its endpoints, and the channel that
 * calls and each watch have for themselves. Nobody else includes this. */
#pragma once

#include "common/base/arena.h"
#include "common/shell/curl_loop_io.h"
#include "common/shell/etcd_io.h"
#include "common/shell/exchange_io.h"

#include <stdbool.h>
#include <sys/queue.h>

struct event;

/* A connection of its own with a probe: a tiny read that etcd answers without its raft. It travels
 * on the same connection, so its silence is the connection's. (An HTTP/2 PING would be cheaper, but
 * etcd without TLS hangs up on a client that pings more often than every 5 s, and libcurl does not
 * look at the answers.) Nothing that writes is sent before a probe was answered: what waits for
 * that is certainly not done. */
struct etcd_channel {
    struct etcd *etcd;
    struct curl_loop *loop;
    struct exchange *probe;
    size_t endpoint; /* of the connection */
    bool pinned;     /* to that endpoint; else the next probe goes to the one in use */
    bool warm;       /* the last that came was an answer */
    bool probing;
    bool dead;         /* a probe failed; reported by on_dead from the loop's top */
    unsigned tries;    /* probes that failed in a row */
    char problem[200]; /* of the last one */
    struct event *tick;
    /* Whether the connection's silence means anything now. */
    bool (*is_waiting)(struct etcd_channel *c);
    void (*on_warm)(struct etcd_channel *c); /* may be NULL */
    /* The peer does not answer. May reset the channel. */
    void (*on_dead)(struct etcd_channel *c);
    void (*on_done)(struct etcd_channel *c, struct exchange *x, CURLcode result);
    void (*on_progress)(struct etcd_channel *c); /* may be NULL */
};

/* Opens nothing. The functions are set by the caller before. */
void channel_init(struct etcd_channel *c, struct etcd *e);
void channel_done(struct etcd_channel *c);

/* Closes the connection; what was under way is out, without an event. */
void channel_reset(struct etcd_channel *c);

/* Probes unless that is under way; then on_warm or on_dead follows. */
void channel_probe(struct etcd_channel *c);

/* Starts an exchange that is filled and aimed. */
void channel_send(struct etcd_channel *c, struct exchange *x);

/* Called from the loop's top after etcd_defer(). */
void channel_deferred(struct etcd_channel *c);

struct etcd_call;
struct etcd_watch;
TAILQ_HEAD(etcd_calls, etcd_call);

/* The calls: those that wait for the channel, and those that are under way in it. */
struct calls {
    struct etcd_channel channel;
    struct etcd_calls waiting, sent, spare;
    struct etcd_calls refused; /* to be told from the loop's top */
    size_t open_count;         /* waiting and sent */
    size_t sent_count, spare_count;
    int64_t last_answer_ns;
    struct arena arena; /* of the answer that is being reported */
};

struct etcd {
    struct event_base *base;
    struct etcd_handlers handlers;
    struct event *deferred;
    char *endpoints[ETCD_ENDPOINTS];
    size_t endpoint_count;
    size_t endpoint; /* the one in use */
    struct exchange_options options;
    struct calls calls;
    struct etcd_watch *watches;
};

/* Lets the work that must not be done inside libcurl's or the role's calls be done next. */
void etcd_defer(struct etcd *e);

/* Monotonic. */
int64_t etcd_now_ns(void);

/* The URL of a method at an endpoint; lives as long as `out` is left alone. */
const char *etcd_url(const struct etcd *e, size_t endpoint, const char *method, struct buf *out);

/* An exchange with this endpoint failed: the next one is tried from now on. */
void etcd_endpoint_failed(struct etcd *e, size_t endpoint);

/* The calls' and the watches' parts of etcd_new(), deferred work and etcd_free(). */
void etcd_calls_init(struct etcd *e);
void etcd_calls_deferred(struct etcd *e);
void etcd_calls_free(struct etcd *e);
void etcd_watches_deferred(struct etcd *e);
void etcd_watches_free(struct etcd *e);
