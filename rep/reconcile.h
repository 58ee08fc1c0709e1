/* One reconcile function for all causes: what changed (a record, a container, an answer, time) only
 * queues the containers concerned; every 30 s all of them and all records are looked at (design.md
 * 5, Harmonising). */
#ifndef REP_RECONCILE_H
#define REP_RECONCILE_H

#include "common/contract/effect.h"
#include "models/error.pb-c.h"
#include "rep/container.h"
#include "rep/harmonise.h"

struct rep;

/* Containers looked at in one step, and the memory of a step with which no further one is; the rest wait
 * for the next, which is asked for at once. */
enum { RECONCILE_A_STEP_MAX = 512, RECONCILE_BYTES_ENOUGH = 8 * 1024 * 1024 };

/* The end of each step: acts on what is queued, passes over everything when that is due, sends the
 * moves, and says when it wants to be woken. */
void reconcile(struct rep *r, struct effects *out);

/* Everything is looked at at the end of this step: because of something that happened, or only because it
 * was not for long. What the latter finds is told in the log, for what should have told was missed. */
void reconcile_all(struct rep *r);
void reconcile_all_again(struct rep *r);

/* The rows without a container, for the record at this key: only after adoption ended, while the
 * listing succeeds, the feed is current and the session open. */
void reconcile_record(struct rep *r, const char *key, struct effects *out);

/* Whether there is a move to ask for the record at this key, which has no container. */
bool reconcile_is_stray(const struct rep *r, const char *key);

/* Whether the table still lets this container start: its record is ours and no stop was asked. */
bool reconcile_may_launch(struct rep *r, struct container *c);

/* bbs did what was asked for this container, or found it done. */
void reconcile_moved(struct container *c, enum harmony_action action, struct effects *out);

/* bbs answered evacuate_running: the container is kept, or goes. */
void reconcile_evacuated(struct rep *r, struct container *c, bool keep, struct effects *out);

/* bbs refused it; what stands on the board is already known. */
void reconcile_refused(struct rep *r, struct container *c, enum harmony_action action,
                       Models__Error__Type type, struct effects *out);

/* Asks for its stop, which is to count as `end`; why goes to the log. Asked before: only that it is
 * disowned is news. */
void reconcile_stop(struct container *c, enum container_end end, const char *why,
                    struct effects *out);

/* Nothing is left to do but its removal. */
void reconcile_delete(struct container *c, const char *why, struct effects *out);

/* ---- for cell_task.c ---- */

/* Its back-off is not over: it comes again. */
bool reconcile_must_wait(struct rep *r, struct container *c);

/* Wants the move, unless it must wait or there is no session. */
void reconcile_want_move(struct rep *r, struct container *c, enum harmony_action action);

/* A running one of which a stop was asked: the next signal when it is due. */
void reconcile_signal(struct rep *r, struct container *c, struct effects *out);

#endif
