/* The evacuation on disk: its limit, in the state directory beside the incarnation, for a rep that
 * is killed before any bbs has heard of the evacuation. The rep writes it before it answers POST
 * /evacuate and deletes it before the cell leaves the board or the process ends, so that the next
 * start is an ordinary one. A disk that refuses holds up neither the evacuation nor its end;
 * whoever asked hears of it. */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"

#include <stdbool.h>

struct rep;

/* Requests that wait for the disk; one more is answered 503. */
enum { DRAIN_WAITING_MAX = 64 };

struct drain_kept {
    bool wanted; /* what is to stand on the disk: the evacuation, or nothing */
    bool asked;  /* what was asked for last */
    bool stands; /* the disk has what is wanted */
    bool failed; /* the disk refused it; not tried again before somebody asks */
    uint64_t id; /* of the EFFECT_EVACUATION under way, 0 = none */
    uint64_t waiting[DRAIN_WAITING_MAX]; /* request ids */
    size_t count;
    char why[160]; /* it failed */
};

/* Before anything else: what the disk has at the start is not wanted before somebody says so. */
void drain_kept_init(struct rep *r);

/* Has the evacuation kept with the limit that it has now. */
void drain_keep(struct rep *r, struct effects *out);

/* Answers the request, now or when the disk has answered: 202, with a "warning" when it refused.
 * After a refusal it is asked once more. */
void drain_await_kept(struct rep *r, uint64_t request_id, struct effects *out);

/* Has it dropped. True once it is, or the disk has refused; before that EVENT_EVACUATION is to
 * come. */
bool drain_drop(struct rep *r, struct effects *out);

/* The disk's answer. */
void drain_kept_answer(struct rep *r, const struct evacuation_kept *answer, struct effects *out);

/* A peer that waited has gone. */
void drain_kept_hangup(struct rep *r, uint64_t request_id);
