/* The converger from inside: its parts and what ties them together. For converger/ only. */
#ifndef CONVERGER_INSIDE_H
#define CONVERGER_INSIDE_H

#include "common/client/leading.h"
#include "common/client/mover.h"
#include "common/client/questions.h"
#include "converger/converger.h"
#include "converger/domains.h"
#include "converger/facts.h"
#include "converger/judge.h"
#include "converger/locks.h"
#include "converger/moves.h"
#include "converger/passes.h"
#include "converger/processes.h"
#include "converger/tasks.h"

#include "converge.pb-c.h"

struct converger {
    struct leading life; /* first: a struct role * is a struct converger * */
    int64_t interval_ns;
    int64_t unplaced_after_ns;
    struct task_limits limits; /* without 0 */
    const struct crash_policy *policy;

    char epoch[FOLLOWER_EPOCH_BYTES]; /* of what it knows */
    struct domains domains;
    struct locks locks;
    int64_t locks_ns; /* the next look at them; 0 = at once */
    struct facts facts;
    struct processes processes;
    struct tasks tasks;
    struct mover mover;
    struct mover_owner instances, about_tasks, cells, others;
    struct judge judge;
    int64_t judge_ns; /* its next look; 0 = at once */
    int64_t full_ns;  /* the next full pass; 0 = at once */
    uint64_t full_passes;
    bool by_time;        /* the full pass of now began because its time had come */
    uint64_t found_late; /* repairs that news should have brought, and that such a pass found */
};

/* These indices of a process, for passes_run(). The round of looks has begun; the arena holds the
 * list. */
void converger_view(struct converger *x, struct arena *a, const struct process *p, int32_t first,
                    int32_t last, struct process_view *ret);

/* What a full pass would do now, in the arena; nothing on the board changes. */
void converger_plan(struct converger *x, struct arena *a, Converge__Plan *ret);

/* Begins a full pass: everything is looked at. Only while it leads. */
void converger_begin_pass(struct converger *x);

/* What it is asked: GET /state, GET /plan, POST /once. */
extern const struct questions converger_questions;

#endif
