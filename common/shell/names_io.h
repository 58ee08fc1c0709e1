/* Names looked up beside the loop. A name server that does not answer keeps getaddrinfo() for half
 * a minute, so each lookup has a thread of its own. Their number is bounded, and all who wait for
 * one name share one lookup and its answer: however many calls there are, a dead name server costs
 * NAMES_AT_ONCE threads. A name nobody waits for any more is not begun. */
#pragma once

#include <sys/queue.h>

struct event;
struct event_base;
struct name_lookup;
struct names;

enum {
    NAMES_AT_ONCE = 16,      /* lookups; more names wait for their turn */
    NAME_ADDRESSES_MAX = 16, /* of one name are reported */
};

enum name_end { NAME_FOUND, NAME_NOT_FOUND, NAME_TIMED_OUT };

/* Called once, from the loop: the addresses as "127.0.0.1,[::1]", or why there are none. */
typedef void name_done(void *context, enum name_end end, const char *text);

struct name_wait { /* in whoever waits; all zero: it does not */
    TAILQ_ENTRY(name_wait) link;
    struct name_lookup *lookup;
    struct event *timer;
    name_done *done;
    void *context;
};

/* The base must outlive it. */
struct names *names_new(struct event_base *base);
/* Nobody waits. Lookups under way end by themselves. Accepts NULL. */
void names_free(struct names *n);

/* The host is copied; `timeout_ms` 0 = none. */
void names_ask(struct names *n, struct name_wait *wait, const char *host, int timeout_ms,
               name_done *done, void *context);
/* It is not called any more; also for one that does not wait. */
void names_cancel(struct name_wait *wait);
