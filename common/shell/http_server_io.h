/* The HTTP server shell: HTTP/1.1 over mutual TLS for one role, on evhttp (design.md 8). It reads
 * whole requests, names the speaker from the client certificate, and gives replies, whole or from
 * cursors.
 *
 * Rules, each with a test in test/api/test_http_{server,sockets,streams}.c:
 *  1. TCP_NODELAY on the listening socket, inherited by its connections.
 *  2. A connection that gets no TLS is refused, never served in plain text.
 *  3. Handshake, head, body, idle connection and unread answer have each a time-out; a stream has
 *     none but the one on a reader that takes nothing.
 *  4. Accepting stops below the descriptor limit and goes on when connections end. One that says
 *     nothing before its handshake is finished yields its place to who comes next (newcomers_io.h).
 *  5. A cursor is asked for a chunk only when the reader has taken what it was given before; a
 *     waiting cursor is asked again after http_server_wake() of its channel.
 *  6. A reader that takes nothing for HTTP_STALL_MS is freed without ceremony, as after CURSOR_CUT.
 *  7. A body beyond the limit of its path is read into nothing: the role gets too_large, the
 *     connection closes after the answer, and what still comes is drained up to HTTP_DRAIN_BYTES.
 *  8. Malformed requests get 400 and the connection closes; every well-formed one reaches the role,
 *     whatever its method. */
#pragma once

#include "common/base/err.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "common/shell/host_io.h"

#include <openssl/ssl.h>

struct event_base;
struct http_server;
struct log;

enum {
    HTTP_HEAD_BYTES = 32 * 1024,   /* request line and header fields together */
    HTTP_INPUT_BYTES = 64 * 1024,  /* read ahead of what is being handled, a connection */
    HTTP_OUTPUT_BYTES = 64 * 1024, /* of a cursor, not taken yet: below it the cursor is asked */
    HTTP_JOINED_BYTES = 16 * 1024, /* of a chunk, joined into one TLS record, which holds no more */
    HTTP_DRAIN_BYTES = 64 * 1024 * 1024,
    HTTP_SPARE_FILES = 32, /* descriptors kept for everything but accepted connections */
};

/* Defaults of struct http_times. */
enum {
    HTTP_HANDSHAKE_MS = 10 * 1000,
    HTTP_HEAD_MS = 10 * 1000,   /* from its first byte to its last, however they trickle */
    HTTP_BODY_MS = 30 * 1000,   /* likewise */
    HTTP_IDLE_MS = 120 * 1000,  /* between requests; more than the Go client's 90 s */
    HTTP_STALL_MS = 10 * 1000,  /* nothing of the answer was taken */
    HTTP_LINGER_MS = 5 * 1000,  /* after the last answer, for the peer to hang up */
};

struct http_times { /* 0 = the default */
    int handshake_ms, head_ms, body_ms, idle_ms, stall_ms, linger_ms;
};

struct http_server_config {
    const char *listen; /* "127.0.0.1:8889", "[::1]:0" (any free port) */
    struct tls_files tls;
    struct http_times times;
    uint64_t ids_above;       /* its requests' ids: for several servers of one role */
    unsigned connections_max; /* 0 = by the descriptor limit alone */
    unsigned others;          /* descriptors that others in this process may take */
    SSL *(*ssl_new)(SSL_CTX *ctx); /* NULL = SSL_new */
};

/* Called from the loop, on_request also when a connection's earlier answer is through. Both may
 * call http_server_reply() and http_server_wake(). */
struct http_server_handlers {
    size_t (*body_limit)(void *context, const char *path);
    void (*on_request)(void *context, const struct request *request);
    void (*on_hangup)(void *context, uint64_t id);
    void *context;
};

/* Binds and listens. INVALID for an address or files that cannot be used, IO when the address is
 * taken. `log` may be NULL; it and `base` must outlive the server. */
int http_server_new(const struct http_server_config *config, struct event_base *base,
                    struct log *log, const struct http_server_handlers *handlers,
                    struct http_server **ret_server, struct err *err);

/* Closes everything, frees cursors; no on_hangup. Accepts NULL. */
void http_server_free(struct http_server *s);

/* The port it listens on. */
int http_server_port(const struct http_server *s);

/* Answers a request. The cursor becomes the server's, everything else is copied. A reply to a
 * request whose peer has gone only frees the cursor. */
void http_server_reply(struct http_server *s, const struct reply *reply);

/* Cursors that wait on this channel are asked again, from the loop. */
void http_server_wake(struct http_server *s, const char *channel);

/* Stops accepting; true while bytes of answers are still on their way to a reader that takes them
 * (streams do not count). */
bool http_server_closing(struct http_server *s);

/* Connections now open, for tests and logs. */
unsigned http_server_connections(const struct http_server *s);
