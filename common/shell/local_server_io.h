/* A server for programs of this machine, and of its containers, on a unix socket: plain HTTP/1.1,
 * one request a connection (local_request.h). Whoever reaches the socket may ask; who asks is told
 * by what is asked.
 *
 *  1. So many connections at once, and so many of each user of the machine but the server's own;
 *     one more is answered 503 and closed.
 *  2. A request that is not whole in time is dropped; an answer that nobody takes, too.
 *  3. What is malformed or too large is answered 400 or 413, and the role hears nothing of it. */
#pragma once

#include "common/base/err.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"

struct event_base;
struct local_server;

enum {
    LOCAL_CONNECTIONS_MAX = 256,
    LOCAL_CONNECTIONS_OF_USER_MAX = 8,
    LOCAL_BODY_MAX = 1024 * 1024,
    LOCAL_LIFE_MS = 10 * 1000, /* for a request to be whole; then for its answer to be taken */
};

struct local_server_config {
    const char *dir, *name; /* the socket: a file of this directory, replaced if it is there */
    uint64_t ids_above;     /* of its requests */
    unsigned of_own_max;    /* connections of the server's own user; 0 = as many as of all */
};

struct local_server_handlers {
    void (*on_request)(void *context, const struct request *request);
    void (*on_hangup)(void *context, uint64_t id);
    void *context;
};

/* Binds and listens; IO when that cannot be. `base` must outlive it. */
int local_server_new(const struct local_server_config *config, struct event_base *base,
                     const struct local_server_handlers *handlers, struct local_server **ret,
                     struct err *err);
/* Closes everything, without on_hangup; the socket's file stays. Accepts NULL. */
void local_server_free(struct local_server *s);

/* Answers a request; of one whose peer has gone it does nothing. Cursors are not for it. */
void local_server_reply(struct local_server *s, const struct reply *reply);
