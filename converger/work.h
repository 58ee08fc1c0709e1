/* Things that await a look: those that changed, in that order, and those that are due by time. A
 * thing whose repairs are on their way waits for the answers, so that nothing is planned twice. The
 * things are the owner's; each begins with a struct work_item. Pure. */
#pragma once

#include "common/client/mover.h"
#include "converger/due.h"

#include <bsd/sys/queue.h>
#include <stdbool.h>
#include <stddef.h>

struct work_item {
    TAILQ_ENTRY(work_item) link; /* while `listed` */
    bool touched;                /* awaits a look */
    bool listed;                 /* in the list: touched, and no repair is on its way */
    size_t moving;               /* its repairs on their way */
    int64_t due_ns;              /* due at this time; NEVER_NS = not by time */
    const char *name;            /* its own among all of them; the owner's */
};

TAILQ_HEAD(work_list, work_item);

struct work {
    struct due due;
    struct work_list waiting;
    size_t waiting_count; /* listed */
    size_t moving_count;  /* repairs on their way, of all */
};

void work_init(struct work *w);
void work_done(struct work *w); /* the items stay the owner's */

/* A new one, untouched. `name` must stay valid as long as it. */
void work_item_init(struct work_item *one, const char *name);

/* It is to be freed: it waits no more, is not due, and no answer is awaited for it. */
void work_drop(struct work *w, struct work_item *one);

/* It awaits a look. */
void work_touch(struct work *w, struct work_item *one);

/* The next one to look at, no more waiting; NULL if there is none. */
struct work_item *work_next(struct work *w);

/* It is due at `due_ns` unless sooner; it is not due by time any more. */
void work_due(struct work *w, struct work_item *one, int64_t due_ns);
void work_clear_due(struct work *w, struct work_item *one);

/* The next one that is due by now, and due no more: the owner touches it. NULL if there is none. */
struct work_item *work_wake(struct work *w, int64_t now_ns);
int64_t work_wake_ns(const struct work *w); /* NEVER_NS = nothing is due by time */

/* When what became of a move is to be thought over; NEVER_NS = it is well. A refused one after a
 * while, for clocks differ; an unanswered one sooner. */
int64_t work_again_ns(enum move_end end, int64_t now_ns);

/* One more repair of it is on its way; one was answered, and is to be thought over at `again_ns`
 * (NEVER_NS = it is well): ignored when none is awaited. */
void work_moving(struct work *w, struct work_item *one);
void work_settled(struct work *w, struct work_item *one, int64_t again_ns);

/* The record on which the move of a thing rests. A move that was done shows by another revision of
 * it, or the thing is looked at again at `until_ns`. Begins as {0}. */
struct judged {
    int64_t revision, until_ns;
};

/* Its one move is on its way, and rests on that revision. */
void work_judged(struct work *w, struct work_item *one, struct judged *j, int64_t revision,
                 int64_t now_ns);
/* What became of it. */
void work_judged_end(struct work *w, struct work_item *one, struct judged *j, enum move_end end,
                     int64_t now_ns);
/* Whether it does not show yet in a record of that revision: then the thing is due when it must. */
bool work_unseen(struct work *w, struct work_item *one, const struct judged *j, int64_t revision,
                 int64_t now_ns);
