/* Inside of the HTTP server shell: one connection, from accept to close. */
#pragma once

#include "common/base/map.h"
#include "common/shell/http_server_io.h"
#include "common/shell/id_table.h"
#include "common/shell/log_io.h"
#include "common/shell/newcomers_io.h"

#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>

enum phase {
    PHASE_HANDSHAKE, /* TLS is not up, or nothing has come since */
    PHASE_IDLE,      /* between two requests */
    PHASE_HEAD,
    PHASE_BODY,
    PHASE_ROLE,      /* the role has the request */
    PHASE_ANSWER,    /* the answer, or its end, is in the output buffer */
    PHASE_STREAM,    /* a cursor gives the answer */
    PHASE_LINGER,    /* answered for the last time: waits for the peer to hang up */
};

struct connection {
    TAILQ_ENTRY(connection) all;
    TAILQ_ENTRY(connection) line; /* of those that wait on a channel, or of the runnable ones */
    struct http_server *server;
    struct bufferevent *bev;
    struct evhttp_connection *evcon; /* NULL until adopted */
    struct evhttp_request *request;  /* the present one; evhttp's */
    SSL *ssl;                        /* NULL: refused */
    struct event *adopt;             /* takes hold of evhttp's next request */
    struct event *timer;             /* the deadline of the phase */
    struct event *drain;             /* PHASE_LINGER: reads into nothing */
    enum phase phase;
    struct newcomer newcomer; /* while TLS is not up */
    bool close;     /* close after this answer */
    bool too_large; /* the body is beyond the limit */
    bool head_seen;
    int refuse_status; /* not 0: answered by us with this, the role does not see it */
    char *unit, *name; /* of the peer; NULL until asked for */
    uint64_t id;       /* of the request that the role has, 0 = none */
    char *path, *query;
    size_t body_limit;
    struct buf body;
    size_t drained;
    int64_t progress_ns; /* when the reader last took something */
    /* PHASE_STREAM. */
    struct cursor *cursor;
    int64_t size, given; /* of the whole answer, -1 = chunked; given by the cursor so far */
    bool endless;        /* on a channel: bytes from the peer end it (behaviour.md 16.1) */
    bool cut;            /* break off when the output is through */
    bool runnable;
    struct channel *channel; /* waits on it; NULL = does not wait */
    char *channel_name;
};

TAILQ_HEAD(connection_list, connection);

struct channel {
    struct connection_list waiting;
};

struct http_server {
    LIST_ENTRY(http_server) siblings;
    struct event_base *base;
    struct log *log;
    struct http_server_handlers handlers;
    struct http_times times;
    SSL_CTX *ctx;
    SSL *(*ssl_new)(SSL_CTX *ctx);
    struct evhttp *http;
    struct evconnlistener *listener;
    struct event *retry; /* of accepting, after it failed */
    struct event *pump;  /* asks the cursors of `runnable` */
    struct connection_list all, runnable;
    struct newcomers newcomers;
    unsigned count, max;
    bool stopped; /* accepts no more: at the limit */
    bool closing; /* for good */
    bool freeing;
    uint64_t last_id;
    struct id_table by_id; /* connections whose request the role has */
    struct map channels;   /* name to struct channel, while one waits */
    int port;
};

/* evhttp's callback for the bufferevent of a new connection; `server` is the http_server. */
struct bufferevent *connection_accept(struct event_base *base, void *server);

/* Breaks the connection off, now. The pointer is dead afterwards. */
void connection_cut(struct connection *c);

/* Starts the deadline of a phase; 0 = none. */
void connection_deadline(struct connection *c, int timeout_ms);

/* An answer of ours to a request that the role does not see; the connection closes after it. */
void connection_refuse(struct connection *c, int status);

/* Gives the role's answer (http_answer_io.c). */
void connection_answer(struct connection *c, const struct reply *reply);

/* Asks the cursor for what the reader can take now. The connection may be gone afterwards. */
void connection_pump(struct connection *c);

/* Drops what was kept of the request. */
void connection_forget(struct connection *c);

/* Drops cursor and channel. */
void connection_end_stream(struct connection *c);

/* A connection was added or is gone: accepts no more at the limit, or again below it. */
void server_count(struct http_server *s, int change);

int64_t shell_now_ns(void); /* monotonic */
