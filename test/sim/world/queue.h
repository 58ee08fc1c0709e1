/* What will happen when in the simulated world: a queue of items sorted by virtual time, then by
 * order of insertion, so that the same seed gives the same run. */
#pragma once

#include "common/base/arena.h"

#include <stdint.h>

struct item {
    int64_t at_ns;
    uint64_t order;
    void (*run)(void *world, struct item *item); /* called once by the queue's owner, then freed */
    void *owner; /* the process that handles it, for the queue's owner; NULL = none */
    struct arena arena;                          /* holds whatever the payload points to */
    void *payload;
};

struct queue {
    struct item **heap;
    size_t count;
    size_t capacity;
    uint64_t next_order;
};

void queue_init(struct queue *q);
void queue_done(struct queue *q); /* drops what is left, unrun */

/* A new item, not yet in the queue; fill in payload from its arena, then push it. */
struct item *item_new(void (*run)(void *world, struct item *item));
void item_free(struct item *i);

/* The queue owns it from now on. */
void queue_push(struct queue *q, struct item *i, int64_t at_ns);

/* The earliest one, taken out; NULL if there is none due at or before `until_ns`. */
struct item *queue_pop(struct queue *q, int64_t until_ns);
