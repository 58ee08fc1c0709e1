/* The keeper of tasks: it finds those that have waited for too long and plans their repair
 * (tasks.def). A task whose repair is on its way waits for the answer. Pure. */
#pragma once

#include "converger/cache.h"
#include "converger/task_passes.h"
#include "converger/work.h"

/* Repairs of tasks on their way at once; the rest waits, so that instances find room as well. */
enum { TASKS_MOVING_MAX = 2048 };

struct task {
    struct work_item item; /* first: a struct work_item * is a struct task * */
    struct cell_user on;   /* the cell that it runs on */
    struct task_facts facts; /* but for its cell */
    char guid[];
};

struct tasks {
    struct kept kept;
    struct map by_guid; /* -> struct task */
    struct work work;
    struct task_times given; /* limits; 0 = the cluster's */
};
