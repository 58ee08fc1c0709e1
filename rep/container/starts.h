/* How many starts of this cell failed at once, in a row. They make the cell worse in an auction,
 * for a cell that fails fast is always idle and would draw all work. The count is bounded and
 * fades, so that a cell does not suffer for long, nor for an app that is to blame. */
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
