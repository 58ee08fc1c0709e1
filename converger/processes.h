/* Which processes await a look: touched by news of the feed, due by time, or all of them in a full
 * pass. One whose repairs are on their way waits until they are answered, so that nothing is
 * planned twice. Pure. */
#ifndef CONVERGER_PROCESSES_H
#define CONVERGER_PROCESSES_H

#include "common/base/map.h"
#include "converger/facts.h"
#include "converger/work.h"

#include <stdbool.h>
#include <stdint.h>

struct process {
    struct work_item item; /* first: a struct work_item * is a struct process * */
    int32_t first, last;   /* touched at these indices */
    bool full;             /* the look is one of a full pass */
    bool called;           /* for a look: by news, because it was due, or by a repair that was not done */
    int64_t repaired_ns;   /* monotonic: when a repair of it was last answered; 0 = never */
    int64_t gone_ns;       /* monotonic: when the first record went of those that are waited for */
    int64_t remake_ns;     /* monotonic: what is missing is made from then on; 0 = no wait */
    struct process_facts facts;
    char guid[];
};

struct processes {
    struct map by_guid; /* guid -> struct process */
    struct work work;
};

void processes_init(struct processes *p);
void processes_done(struct processes *p);

/* An unknown one is made. */
struct process *processes_named(struct processes *p, const char *guid);

/* It awaits a look: at this index, at all of it, all of them in a full pass. */
void processes_touch_index(struct processes *p, struct process *one, int32_t index);
void processes_touch(struct processes *p, struct process *one);
void processes_touch_all(struct processes *p); /* without being called */

/* The next one to look at, from `first` to `last`, no more waiting; NULL if there is none. */
struct process *processes_next(struct processes *p);

/* Touched at `due_ns` unless sooner; and those that are due by now. */
void processes_due(struct processes *p, struct process *one, int64_t due_ns);
void processes_wake(struct processes *p, int64_t now_ns);
int64_t processes_wake_ns(const struct processes *p); /* NEVER_NS = nothing is due by time */

/* One more repair of it is on its way; one was answered now, and is to be thought over at
 * `again_ns` (NEVER_NS = it is well). Unknown guids are ignored. */
void processes_moving(struct processes *p, struct process *one);
void processes_settled(struct processes *p, const char *guid, int64_t now_ns, int64_t again_ns);

/* Nothing of it is on the board, as far as is known, and nothing is on its way: it is freed. */
void processes_drop(struct processes *p, struct process *one);

#endif
