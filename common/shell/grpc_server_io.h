/* The gRPC server shell: unary calls over HTTP/2 (nghttp2) and mutual TLS for one role. A call
 * becomes EVENT_REQUEST with `grpc` set, the role's reply its message or its status (design.md 8,
 * 12).
 *
 * Rules, each with a test in test/api/test_grpc_*.c:
 *  1. TLS with ALPN "h2" and a client certificate, or no connection.
 *  2. Bounds on connections, on calls of one at a time, on headers, on the message, on answers that
 * a peer has not taken. Whatever exceeds the bound of a call ends the call, and not the connection.
 *     When no more connections are accepted, those that say nothing before their handshake is
 *     finished yield (newcomers_io.h).
 *  3. Handshake, request and idle connection have each a time-out; a peer that takes nothing of its
 *     answers is cut off.
 *  4. Frames that cost the peer nothing (PING, SETTINGS, RST_STREAM, ...) are counted against the
 *     calls that it makes: who floods is sent ENHANCE_YOUR_CALM and cut off.
 *  5. While a peer does not read, we do not read from it.
 *  6. grpc-timeout ends a call with DEADLINE_EXCEEDED; the role is notified that the peer has gone,
 * as it is when the peer resets the stream. */
#pragma once

#include "common/base/err.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "common/shell/host_io.h"

struct event_base;
struct grpc_server;
struct log;

enum {
    GRPC_CONNECTIONS_MAX = 256,
    GRPC_STREAMS_MAX = 100,                 /* calls of a connection at a time */
    GRPC_MESSAGE_BYTES = 64 * 1024,         /* of a request */
    GRPC_OUTPUT_BYTES = 64 * 1024,          /* given to the socket and not taken: no more is made */
    GRPC_HELD_BYTES = 4 * 1024 * 1024,      /* bodies and answers of a connection; one answer alone
                                             * may be larger */
    GRPC_HELD_ALL_BYTES = 64 * 1024 * 1024, /* of all connections, and one answer more */
    GRPC_HELD_SURE_BYTES = 128 * 1024,      /* that each connection has, whatever others hold */
    GRPC_FREE_FRAMES_MAX = 1000,            /* frames that ask for nothing: so many at once, ... */
    GRPC_FREE_FRAMES_A_SECOND = 100,        /* ... so many more each second ... */
    GRPC_FREE_FRAMES_A_CALL = 8,            /* ... and with each call that is answered */
    GRPC_RESETS_MAX = 200,                  /* streams that the peer resets: so many at once, ... */
    GRPC_RESETS_A_SECOND = 33,
};

/* Defaults of struct grpc_times. */
enum {
    GRPC_HANDSHAKE_MS = 10 * 1000, /* until the first SETTINGS */
    GRPC_REQUEST_MS = 30 * 1000,   /* from a call's first header to its last byte */
    GRPC_IDLE_MS = 10 * 60 * 1000, /* without any call */
    GRPC_STALL_MS = 10 * 1000,     /* nothing of what lies ready was taken */
};

struct grpc_times { /* 0 = the default */
    int handshake_ms, request_ms, idle_ms, stall_ms;
};

struct grpc_server_config {
    const char *listen; /* "127.0.0.1:8891", "[::1]:0" (any free port) */
    struct tls_files tls;
    struct grpc_times times;
    unsigned connections_max; /* 0 = GRPC_CONNECTIONS_MAX */
};

/* Called from the loop; both may call grpc_server_reply(). */
struct grpc_server_handlers {
    void (*on_request)(void *context, const struct request *request);
    void (*on_hangup)(void *context, uint64_t id);
    void *context;
};

/* Binds and listens. INVALID for an address or files that cannot be used, IO when the address is
 * taken. `log` may be NULL; it and `base` must outlive the server. */
int grpc_server_new(const struct grpc_server_config *config, struct event_base *base,
                    struct log *log, const struct grpc_server_handlers *handlers,
                    struct grpc_server **ret_server, struct err *err);

/* Closes everything; no on_hangup. Accepts NULL. */
void grpc_server_free(struct grpc_server *s);

/* That it listens on: the settings may leave it to the system (0). */
int grpc_server_port(const struct grpc_server *s);

/* Whether a request's id is one of a gRPC server: no HTTP server gives such a one. */
bool grpc_server_id(uint64_t id);

/* Answers a call with what effects_grpc() or effects_grpc_refuse() made; everything is copied. A
 * reply to a call whose peer has gone does nothing. */
void grpc_server_reply(struct grpc_server *s, const struct reply *reply);

/* Stops accepting and tells peers to go; true while bytes of answers are still on their way to a
 * reader that takes them. */
bool grpc_server_closing(struct grpc_server *s);

/* Connections now open, for tests and logs. */
unsigned grpc_server_connections(const struct grpc_server *s);
