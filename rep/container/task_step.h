/* The steps of a task on its cell, from the offer to its outcome (docs/tasks.md, Harmonising). A
 * step is finer than the container's phase and goes with it: the table says which phase, and which
 * side of the harmonising table, each of them is. */
#pragma once

#include "rep/container/harmonise_task.h"

#include <stdbool.h>

enum task_step {
    STEP_NONE,       /* no task, or nothing of it yet */
    STEP_OFFERED,    /* reserved, and no bbs has heard of it: it may be dropped */
    STEP_ASKED,      /* its start was asked of a bbs, which may have granted it */
    STEP_GRANTED,    /* its container is being made */
    STEP_MADE,       /* made; its note does not say executing */
    STEP_NOTED,      /* the note says executing, durably */
    STEP_STARTED,    /* its process was asked for, maybe by an earlier rep: never again */
    STEP_RUNNING,
    STEP_REJECTABLE, /* over before it executed; another cell may fare better */
    STEP_FAILED,     /* over: its container's text says why */
    STEP_ENDED,      /* its process ended well; its result is still to be read */
    STEP_SUCCEEDED,  /* and has been read, or there is none */
    TASK_STEP_COUNT
};

/* The phase of its container (PHASE_...). Not of STEP_NONE. */
int task_step_phase(enum task_step step);

/* Its row in harmonise_task(). Not of STEP_NONE. */
enum harmony_task task_step_side(enum task_step step);

/* Whether its outcome is a failure: for /state and "complete". */
bool task_step_failed(enum task_step step);

/* Whether its process ended well. Not so of STEP_NONE. */
bool task_step_ended_well(enum task_step step);

/* Where it stands once its container has entered this phase: at the first step of the phase; with
 * `executing` in its note at the first that says so too. */
enum task_step task_step_entered(int phase, bool executing);
