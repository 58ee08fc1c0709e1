/* Events that came while a step was running: kept, with all they point to, until it is their turn
 * (steps never nest). */
#pragma once

#include "common/base/arena.h"
#include "common/contract/event.h"

struct queued_event;

struct event_queue {
    struct queued_event *first, **end;
    size_t count;
};

void event_queue_init(struct event_queue *q);

/* Drops what is left. */
void event_queue_done(struct event_queue *q);

/* Appends a deep copy. Time and entropy are not kept: they are of the step. */
void event_queue_push(struct event_queue *q, const struct event *ev);

/* Takes the oldest event out: it and all it points to live until queued_free(). NULL when empty. */
struct queued_event *event_queue_pop(struct event_queue *q, struct event **ret_event);
void queued_free(struct queued_event *e);
