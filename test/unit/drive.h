/* Drives a role, or a part of one, by hand-made events on virtual time: one arena a step, and the
 * effects of the last step at hand. For unit tests. */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"

struct drive {
    /* What is driven. */
    void (*step)(void *target, const struct event *ev, struct effects *out);
    void *target;

    struct moment now;
    struct arena arena;
    struct effects out; /* of the last step; valid until the next one. due_ns is the role's. */
};

/* Time starts at 1000 s monotonic. */
void drive_init(struct drive *d, void (*step)(void *, const struct event *, struct effects *),
                void *target);
void drive_done(struct drive *d);

/* Hands over one event at the present time; `ev->now` and `ev->entropy` are filled in. */
void drive_event(struct drive *d, struct event ev);

void drive_start(struct drive *d);
void drive_timer(struct drive *d);

/* Moves time on by `ms`, with a timer event at each due instant on the way; all their effects are
 * then at hand together. */
void drive_advance(struct drive *d, int64_t ms);

/* Moves time on without telling anybody. */
void drive_sleep(struct drive *d, int64_t ms);

/* The end of a call: answered with a packed message, or with status and body, or not at all. */
void drive_answer(struct drive *d, uint64_t id, const ProtobufCMessage *m);
void drive_response(struct drive *d, uint64_t id, int status, const char *etag, struct bytes body);
void drive_unanswered(struct drive *d, uint64_t id, enum call_outcome outcome);

/* Bytes, or the end, of a subscription. */
void drive_stream(struct drive *d, uint64_t id, struct bytes data);
void drive_closed(struct drive *d, uint64_t id);

/* The n-th effect of this kind in the last step (0 = first); NULL if there are fewer. */
const struct effect *drive_effect(const struct drive *d, enum effect_kind kind, size_t n);

/* The n-th CALL or SUBSCRIBE of the last step whose url contains `part`; NULL if there is none. */
const struct call *drive_call(const struct drive *d, const char *part, size_t n);
