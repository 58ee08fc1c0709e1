/* Diego's event streams as a client reads them (behaviour.md 16.1): frames out of the pieces of a
 * stream, and events as a line of text, which clients and checkers compare. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"

enum { EVENT_NAME_BYTES = 64 };

enum event_frame_state {
    EVENT_FRAME_NONE, /* not all of it has come */
    EVENT_FRAME_TAKEN,
    EVENT_FRAME_WRONG, /* no event, or not the next one; its text is the payload */
};

/* Takes the next event off `text`, whose number must be *number, which is raised. The payload lives
 * in the arena. */
enum event_frame_state event_frame_take(struct buf *text, long *number, struct arena *a,
                                        char ret_name[EVENT_NAME_BYTES], struct bytes *ret_payload);

/* All that a Diego client can see of a record; a field of our own in it is told as "OURS". */
const char *event_actual_text(struct arena *a, const Models__ActualLRP *r);
const char *event_task_text(struct arena *a, const Models__Task *t);

/* Of its scheduling part and of its run part, which may be the same message. What r0 shows
 * otherwise (behaviour.md 8.5) is left out. */
const char *event_desired_text(struct arena *a, const Models__DesiredLRP *d,
                               const Models__DesiredLRP *run);

/* What an ActualLRPInfo keeps of a record. */
const char *event_info_text(struct arena *a, const Models__ActualLRP *r);

/* "process/index guid@cell" of an instance; NULL and an empty one are the same. */
const char *event_instance_text(struct arena *a, const Models__ActualLRPKey *key,
                                const Models__ActualLRPInstanceKey *instance);

/* What an event shows, with the trace of the request that it tells; "" = it tells none. */
const char *event_traced(struct arena *a, const char *text, const char *trace_id);

/* The event as a line: its name, then what it shows. NULL: no client would know it, or it is empty
 * or malformed. */
const char *event_text(struct arena *a, const char *name, struct bytes payload);
