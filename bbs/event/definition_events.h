/* The payloads of events about DesiredLRPs and tasks (behaviour.md 16.2), from the records as the
 * board holds them. Pure. */
#pragma once

#include "bbs/board/copy.h"
#include "bbs/event/api_event.h"

/* A DesiredLRP or a task that was made (no `before`), changed, or is gone (no `after`). */
struct definition_change {
    const struct version *before, *after;
    const struct blob *run; /* of a DesiredLRP: its other part; NULL = it has none */
    const char *trace_id;   /* "" = none; tasks have none */
};

/* "desired_lrp_created", "desired_lrp_changed", "desired_lrp_removed"; the same of a task. */
const char *desired_event_name(const struct definition_change *change);
const char *task_event_name(const struct definition_change *change);

/* Appends the event's message. Current payloads are the records joined, byte for byte; those of
 * version 0 are decoded in `a` and rewritten (8.5). */
void desired_event_r1(const struct definition_change *change, struct buf *out);
void desired_event_r0(struct arena *a, const struct definition_change *change, struct buf *out);

/* The same for tasks, without our own fields. Appends nothing when Diego's clients can see no
 * difference (or none of it can be read). */
void task_event_r1(struct arena *a, const struct definition_change *change, struct buf *out);
void task_event_r0(struct arena *a, const struct definition_change *change, struct buf *out);
