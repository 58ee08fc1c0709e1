/* Inside of the gRPC server shell: one connection and its calls. */
#pragma once

#include "common/shell/grpc_call.h"
#include "common/shell/grpc_server_io.h"
#include "common/shell/id_table.h"
#include "common/shell/log_io.h"
#include "common/shell/newcomers_io.h"

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <sys/queue.h>

enum grpc_phase {
    GRPC_PHASE_REQUEST, /* headers or body are still coming */
    GRPC_PHASE_ROLE,
    GRPC_PHASE_ANSWER, /* it has its answer, which may not be sent yet */
};

struct grpc_call {
    TAILQ_ENTRY(grpc_call) link;
    struct grpc_connection *connection;
    int32_t stream;
    enum grpc_phase phase;
    uint64_t id; /* that the role knows; 0 = it does not, or not any more */
    struct grpc_head head;
    struct buf body;
    struct event *timer;
    struct buf answer; /* the framed message */
    size_t given;      /* of it, to nghttp2 */
};

TAILQ_HEAD(grpc_call_list, grpc_call);

struct grpc_connection {
    TAILQ_ENTRY(grpc_connection) link;
    struct grpc_server *server;
    struct bufferevent *bev;
    SSL *ssl;
    nghttp2_session *session; /* NULL until TLS is up */
    struct newcomer newcomer; /* until TLS is up */
    struct event *timer;      /* handshake, or idle */
    char *unit, *name;        /* of the peer */
    struct grpc_call_list calls;
    unsigned call_count;
    bool settled;  /* its SETTINGS have come */
    bool inside;   /* nghttp2 is calling us: it must not be asked for output */
    bool doomed;   /* breaks off as soon as we are outside */
    size_t held;   /* bytes of bodies and answers of its calls */
    int64_t frames_left, counted_ns; /* of those that ask for nothing (rule 4) */
};

TAILQ_HEAD(grpc_connection_list, grpc_connection);

struct grpc_server {
    struct event_base *base;
    struct log *log;
    struct grpc_server_handlers handlers;
    struct grpc_times times;
    SSL_CTX *ctx;
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;
    struct evconnlistener *listener;
    struct event *retry; /* of accepting, after it failed */
    struct grpc_connection_list all;
    struct newcomers newcomers;
    unsigned count, max;
    size_t held;
    bool stopped; /* accepts no more: at the limit */
    bool closing; /* for good */
    bool freeing;
    uint64_t last_id;
    struct id_table by_id; /* calls that the role has */
    int port;
};

/* Takes over the accepted socket. */
void grpc_connection_new(struct grpc_server *s, int fd);

/* Breaks it off: at once, or as soon as nghttp2 has returned. */
void grpc_connection_cut(struct grpc_connection *c);

/* From within nghttp2: the peer floods. It gets a GOAWAY, and nothing more of it is taken. */
void grpc_connection_calm(struct grpc_connection *c);

/* No new calls: breaks off when the present ones have ended and the peer has been notified. */
void grpc_connection_leave(struct grpc_connection *c);

/* An answer of the role is still on its way. */
bool grpc_connection_owes(const struct grpc_connection *c);

/* Gives nghttp2's output to the socket, as far as the peer takes it. The connection may be gone
 * afterwards. */
void grpc_connection_flush(struct grpc_connection *c);

/* ---- grpc_stream_io.c: the calls ------------------------------------------------------------- */

/* What nghttp2 calls for each server's sessions. */
void grpc_stream_callbacks(nghttp2_session_callbacks *callbacks);

/* Forgets a call; the role is notified if it has it. */
void grpc_call_free(struct grpc_call *call);

/* Answers with the role's words, then flushes. */
void grpc_call_reply(struct grpc_call *call, const struct reply *reply);

/* A connection has gone: accepts again, if it was at the limit. */
void grpc_server_gone(struct grpc_server *s);

/* Starts a timer; 0 = stops it. */
void grpc_timer(struct event *timer, int64_t timeout_ms);
