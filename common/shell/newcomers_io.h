/* The connections of a server whose TLS handshake is not finished. Whoever reaches the port can
 * make one without a certificate, and each takes a place. So when all places are taken, some that
 * say nothing yield to who comes next: of the address that has most of them, the oldest first. One
 * whose handshake is finished never yields, nor one that is young or has sent what is not read yet.
 */
#pragma once

#include "common/base/map.h"
#include "common/shell/log_io.h"

#include <openssl/ssl.h>
#include <stdint.h>
#include <sys/queue.h>

struct event;
struct event_base;
struct newcomer_address;

enum {
    NEWCOMER_YOUNG_MS = 1000, /* a handshake over a slow line takes less */
    NEWCOMERS_LOOK_MS = 100,  /* while all places are taken and none is old enough */
    NEWCOMERS_SHARE = 16, /* of the address's at once: a 16th of them, so that each costs little */
    NEWCOMERS_TELL_MS = 10 * 1000, /* each line is logged at most so often */
};

struct newcomer { /* in a connection; all zero: it is none */
    TAILQ_ENTRY(newcomer) link;
    struct newcomer_address *address;
    int64_t since_ns;
    const SSL *ssl;
    int fd;
};

struct newcomers_handlers {
    bool (*full)(void *context); /* no place is free */
    /* Breaks the connection off, which leaves by newcomers_remove(). */
    void (*cut)(void *context, struct newcomer *c);
    void *context;
};

struct newcomers {
    struct newcomers_handlers handlers;
    struct log *log;
    struct event *timer;
    struct map addresses; /* to struct newcomer_address */
    unsigned yielded;     /* since it was reported last */
    int64_t yielded_reported_ns, full_reported_ns;
};

/* `log` may be NULL; it and `base` must outlive them. */
void newcomers_init(struct newcomers *n, struct event_base *base, struct log *log,
                    const struct newcomers_handlers *handlers);
/* All have left. */
void newcomers_done(struct newcomers *n);

/* A connection was accepted; and its handshake is finished, or it has gone (or was none). */
void newcomers_add(struct newcomers *n, struct newcomer *c, int fd, const SSL *ssl);
void newcomers_remove(struct newcomers *n, struct newcomer *c);

/* Whence it came; "" when that is not known, or it is none any more. */
const char *newcomer_address(const struct newcomer *c);

/* The last place of `open` was taken, and no more are accepted: from the loop, and again until one
 * is free, some yield. */
void newcomers_make_room(struct newcomers *n, unsigned open);
