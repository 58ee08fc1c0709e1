/* How this cell's starts fare: how many in a row failed at once. An auction takes a cell for worse
 * by them, for one that fails fast is always idle, and would draw all work. Bounded, and fading:
 * nothing is held against a cell for long, nor against one where an app is to blame. */
#pragma once

#include "common/contract/moment.h"

#include <stdbool.h>
#include <stdint.h>

struct rep;
struct container;

/* A process that ran so long was started well, whatever becomes of it. */
#define STARTS_LASTED_NS (5 * SECOND_NS)
/* One fewer after so long without another. */
#define STARTS_FADE_NS (30 * SECOND_NS)
/* More than these are not counted. */
enum { STARTS_FAILED_MAX = 4 };

struct starts {
    unsigned failed; /* in a row, when the last one did */
    int64_t last_ns;
};

/* A start failed at once; one did not, and all is forgotten. */
void starts_failed(struct starts *s, int64_t now_ns);
void starts_lasted(struct starts *s);

/* What is left of them by now. */
unsigned starts_failed_lately(const struct starts *s, int64_t now_ns);

/* Judges the start of this container, once: failed when it is over, unasked, and has not run for
 * STARTS_LASTED_NS; lasted when it is a task that ended well. Give it each container that changed.
 * */
void starts_judge(struct rep *r, struct container *c);

/* First in each step: those that have run for long enough have lasted. */
void starts_settle(struct rep *r);
