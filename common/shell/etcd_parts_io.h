/* Inside of the store shell, shared by its files: the client, its endpoints, and the channel that
 * calls and each watch have for themselves. Nobody else includes this. */
#ifndef COMMON_SHELL_ETCD_PARTS_IO_H
#define COMMON_SHELL_ETCD_PARTS_IO_H

#include "common/base/arena.h"
#include "common/shell/etcd_io.h"
#include "common/shell/exchange_io.h"
#include "common/shell/transfers_io.h"

#include <stdbool.h>

struct event;

/* A connection pool of its own with a probe: a tiny read that etcd answers without its raft. It
 * travels on the same connections, so its silence is theirs. (An HTTP/2 PING would be cheaper, but
 * etcd without TLS hangs up on a client that pings more often than every 5 s, and libcurl does not
 * look at the answers.) */
struct channel {
    struct etcd *etcd;
    struct transfers *transfers;
    struct exchange *probe;
    bool probing;
    bool dead; /* the probe was not answered; told by on_dead from the loop's top */
    struct event *tick;
    long connections; /* at most */
    /* Whether the connections' silence means anything now. */
    bool (*is_waiting)(struct channel *c);
    /* The peer does not answer. May free the channel's transfers. */
    void (*on_dead)(struct channel *c);
    void (*on_done)(struct channel *c, struct exchange *x, CURLcode result);
    void (*on_progress)(struct channel *c); /* may be NULL */
};

/* Opens nothing. The functions and `connections` are set by the caller before. */
void channel_init(struct channel *c, struct etcd *e);
void channel_done(struct channel *c);

/* Closes all connections; what was under way is out, without news. */
void channel_reset(struct channel *c);

/* Starts a prepared exchange. */
void channel_send(struct channel *c, struct exchange *x);

/* Called from the loop's top after etcd_defer(). */
void channel_deferred(struct channel *c);

struct etcd_call;
struct etcd_refusal;
struct watch;

struct etcd {
    struct event_base *base;
    struct etcd_news news;
    struct event *deferred;
    char *endpoints[ETCD_ENDPOINTS];
    size_t endpoint_count;
    size_t endpoint; /* the one in use */
    struct exchange_options options;
    struct arena arena; /* of the answer that is being delivered */
    struct channel channel; /* of the calls */
    struct etcd_call *open, *spare;
    size_t open_count, spare_count;
    int64_t last_answer_ns;
    struct etcd_refusal *refusals, **refusals_end;
    struct watch *watches;
};

/* Lets the work that must not be done inside libcurl's or the role's calls be done next. */
void etcd_defer(struct etcd *e);

/* Monotonic. */
int64_t etcd_now_ns(void);

/* The URL of a method at the endpoint in use; lives until the next call of this. */
const char *etcd_url(struct etcd *e, const char *method, struct buf *out);

/* An exchange with this endpoint failed: the next one is tried from now on. */
void etcd_endpoint_failed(struct etcd *e, size_t endpoint);

/* The watches' part of deferred work and of etcd_free(). */
void etcd_watches_deferred(struct etcd *e);
void etcd_watches_free(struct etcd *e);

#endif
