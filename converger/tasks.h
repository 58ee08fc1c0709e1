/* The tasks of the board, as far as their passes need to know them, kept up on each piece of news
 * so that a look decodes nothing; and which of them await a look: touched by news of the feed, due
 * by time, or all of them in a full pass. One whose repair is on its way waits until that is
 * answered. Pure. */
#ifndef CONVERGER_TASKS_H
#define CONVERGER_TASKS_H

#include "converger/facts.h"
#include "converger/task_passes.h"
#include "converger/work.h"

/* Repairs of tasks on their way at once; the rest waits, so that instances find room as well. */
enum { TASKS_MOVING_MAX = 2048 };

struct task {
    struct work_item item;      /* first: a struct work_item * is a struct task * */
    LIST_ENTRY(task) neighbour; /* while `cell` */
    struct cell_facts *cell;    /* that it runs on; NULL = none */
    struct task_view view;      /* but for what a look finds out */
    char guid[];
};

struct tasks {
    struct map by_guid; /* -> struct task */
    struct work work;
};

void tasks_init(struct tasks *t);
void tasks_done(struct tasks *t, struct facts *f);

/* News of a record, which touches it; NULL = it is gone. */
void tasks_record(struct tasks *t, struct facts *f, const char *guid,
                  const struct followed *record);
/* Nothing is known of any task any more. */
void tasks_clear(struct tasks *t, struct facts *f);

/* They await a look: those of a cell, all of them. */
void tasks_touch_cell(struct tasks *t, const struct cell_facts *cell);
void tasks_touch_all(struct tasks *t);

/* The next one to look at, no more waiting; NULL if there is none. */
struct task *tasks_next(struct tasks *t);

/* For task_passes_run(). */
struct task_view tasks_view(const struct task *one);

/* Touched at `due_ns` unless sooner; and those that are due by now. */
void tasks_due(struct tasks *t, struct task *one, int64_t due_ns);
void tasks_wake(struct tasks *t, int64_t now_ns);
int64_t tasks_wake_ns(const struct tasks *t); /* NEVER_NS = nothing is due by time */

/* A repair of it is on its way, and it is not due by time; it was answered, and is to be thought
 * over at `again_ns` (NEVER_NS = it is well). Unknown guids are ignored: the task has gone
 * meanwhile. */
void tasks_moving(struct tasks *t, struct task *one);
void tasks_settled(struct tasks *t, const char *guid, int64_t again_ns);

#endif
