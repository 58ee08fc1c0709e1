/* Long lists of DesiredLRPs: each holds in memory what it shows, so only a few are made and read at
 * once; more wait in order of arrival, and what finds no room even there is told to come again (503).
 * Pure.
 *
 *   LIST_LONG           a list of more DesiredLRPs than this is a long one
 *   LIST_HEAVY_BYTES    and so is one that has read so much of them, and has more to read
 *   LISTS_AT_ONCE       places: lists that are made or read
 *   LISTS_WAITING_MAX   that wait for a place
 *   LIST_WAIT_MAX_NS    a wait that is longer ends in 503
 *   LIST_HOLD_MAX_NS    a list that takes longer is cut off when others wait: a reader that trickles
 *                       holds up nobody for good */
#ifndef BBS_LISTS_H
#define BBS_LISTS_H

#include "common/base/bytes.h"
#include "common/contract/effect.h"
#include "common/contract/moment.h"

#include <stdbool.h>
#include <sys/queue.h>

enum {
    LIST_LONG = 256,
    LIST_HEAVY_BYTES = 4 * 1024 * 1024,
    LISTS_AT_ONCE = 4,
    LISTS_WAITING_MAX = 64,
};

#define LIST_WAIT_MAX_NS (30 * SECOND_NS)
#define LIST_HOLD_MAX_NS (60 * SECOND_NS)
#define LISTS_LOOK_NS (10 * MILLISECOND_NS) /* a reader's end makes no event: so often it is looked */

/* A place, from the decision to make a long list until its reader has it or went away. */
struct list_place;

/* What waits for a place: all that is needed to ask again. */
struct list_wait {
    uint64_t request_id;
    bool r2;              /* without image layers */
    struct bytes request; /* packed models.DesiredLRPsRequest */
};

struct list_waiter;

struct lists {
    void *context;
    /* The waiter's turn: `wait` is borrowed, the place is the callee's. */
    void (*begin)(void *context, const struct list_wait *wait, struct list_place *place,
                  struct effects *out);
    LIST_HEAD(, list_place) places;
    size_t taken;
    TAILQ_HEAD(, list_waiter) waiters; /* in order of arrival */
    size_t waiting;
    int64_t now_ns;
};

void lists_init(struct lists *l, void *context,
                void (*begin)(void *context, const struct list_wait *wait,
                              struct list_place *place, struct effects *out));

/* Nobody is answered; places that are still held may be given back later. */
void lists_done(struct lists *l);

/* A place for the list that answers this request; NULL when all are taken or others wait. */
struct list_place *lists_take(struct lists *l, uint64_t request_id, struct moment now);

/* Waits for a place; all of `wait` is copied. False when LISTS_WAITING_MAX wait already. */
bool lists_wait(struct lists *l, const struct list_wait *wait, struct moment now);

/* Ends every step: gives free places to those who wait, answers those whose time is over with 503. */
void lists_timer(struct lists *l, struct moment now, struct effects *out);

/* The peer of this request went away: it waits no more, or its list is not wanted any more. */
void lists_hangup(struct lists *l, uint64_t request_id);

/* The place's holder: gives it back (accepts NULL), from within a step or not. */
void list_place_free(struct list_place *p);

/* The list is wanted no more: its reader went away, or has had it for too long while others wait. */
bool list_place_void(const struct list_place *p);

#endif
