/* The HTTP client shell: EFFECT_CALL, EFFECT_SUBSCRIBE and EFFECT_CANCEL over HTTPS with our client
 * certificate, on libcurl (design.md 2 "Access", 8). The server's certificate and name are
 * verified. Proxy settings of the environment are ignored. */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "common/shell/host_io.h"

struct event_base;
struct http_client;

/* Bounds. A call beyond HTTP_CALLS open ones is REFUSED; an answer beyond HTTP_ANSWER_BYTES gives
 * UNKNOWN (the peer did what was asked, its words are lost). Events of a stream carry at most
 * HTTP_STREAM_BYTES each. Calls to one peer share HTTP_PEER_CONNECTIONS connections; more calls
 * wait for one. Each subscription has a connection of its own. */
enum {
    HTTP_CALLS = 65536,
    HTTP_ANSWER_BYTES = 64 * 1024 * 1024,
    HTTP_STREAM_BYTES = 64 * 1024,
    HTTP_PEER_CONNECTIONS = 16,
    HTTP_IDLE_CONNECTIONS = 1024,
    HTTP_OUTSIDE_REDIRECTS = 9, /* followed by a call outside: Go's client makes ten requests */
    HTTP_NAMES_MAX =
        HTTP_OUTSIDE_REDIRECTS + 1,  /* lookups of a call: of each host that it is sent to, or
                                      * again when it waited so long that one is forgotten */
    HTTP_OUTSIDE_BYTES = 256 * 1024, /* of such an answer's body are read, and thrown away */
};

/* Times. Idle connections are left before the server closes them (HTTP_IDLE_MS of
 * http_server_io.h), so that a call seldom meets a closing one. */
enum {
    HTTP_CONNECT_MS = 2000,
    HTTP_OUTSIDE_CONNECT_MS = 60000, /* the deadline comes first */
    HTTP_USER_TIMEOUT_MS = 3000, /* TCP_USER_TIMEOUT */
    HTTP_PROBE_S = 1,            /* TCP keep-alive: begins after so long, repeated so often ... */
    HTTP_PROBES = 3,             /* ... and given up after so many */
    HTTP_REUSE_S = 60,           /* an idle connection older than this is not used again */
};

/* Called from the loop, never from inside a function below; what the argument points to is borrowed
 * during the call. Each may call any function below but http_client_free(). */
struct http_client_handlers {
    void (*on_response)(void *context, const struct response *response);
    void (*on_stream)(void *context, const struct stream_event *event);
    void *context;
};

/* The file names are copied and read at each connection, so that renewed certificates are taken up.
 * Connects to nothing yet. */
struct http_client *http_client_new(const struct tls_files *files, struct event_base *base,
                                    const struct http_client_handlers *handlers);

/* Drops all calls and subscriptions without an event. Accepts NULL. */
void http_client_free(struct http_client *c);

/* Begins a call: exactly one on_response with its id follows, unless it is cancelled. REFUSED means
 * that no byte of the request was sent. Everything is copied. A call outside is ANSWERED once a
 * head has come that is no redirect, whatever becomes of the body; its server's certificate is
 * checked with our CA alone and it may ask for ours. */
void http_client_call(struct http_client *c, const struct call *call);

/* Begins a subscription. Events: first one without data when the head of the answer has come
 * (status says whether it is 200), then data, then closed once. Everything is copied. */
void http_client_subscribe(struct http_client *c, const struct call *call);

/* The same, for bytes that are taken and not told: events carry no data and say that there may be
 * some, and the last one comes when all were taken. At most HTTP_STREAM_BYTES wait, and what one
 * read of libcurl brings: then the peer waits. The deadline is of the answer's head. */
void http_client_pull(struct http_client *c, const struct call *call);

/* Moves what waits of a pulled subscription to the end of `out`, at most `max` bytes; gives their
 * number, 0 of an unknown id. Not from inside libcurl. */
size_t http_client_take(struct http_client *c, uint64_t id, struct buf *out, size_t max);

/* No more events of this id; an unknown id is let be. The call may have been done. */
void http_client_cancel(struct http_client *c, uint64_t id);
