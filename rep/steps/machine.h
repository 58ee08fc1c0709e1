/* The machine of a container's steps: from the tree, the facts so far and the time to what is to be
 * done next. It keeps nothing, so a rep that is restarted goes on as if it had never been gone. A
 * cut is a fact before the signal goes out: no later clock decides otherwise. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/contract/moment.h"
#include "common/contract/step_fact.h"
#include "rep/steps/tree.h"

/* How long a step that is cut may take to end by itself; then until its container is killed. */
#define STEP_GRACE_NS (10 * SECOND_NS)
#define STEP_KILLED_NS (1 * SECOND_NS)

/* The text of a leaf whose end nobody has seen, of a container whose shim was killed, of one whose
 * machine was restarted, of a leaf that cannot be ended, and of a container whose dependencies did
 * not come. */
#define STEP_LOST_TEXT "its process was lost"
#define STEP_SHIM_TEXT "its shim was killed, and the container with it"
#define STEP_MACHINE_TEXT "its machine was restarted"
#define STEP_STUCK_TEXT "process did not exit"
#define STEP_DEPENDENCIES_TEXT "failed to download cached artifacts"

struct step_cut {
    uint32_t step;
    enum cut_why why;
};

/* SIGTERM, or after the grace SIGKILL, to the processes of a leaf; to be repeated if nobody knows
 * whether it was sent. */
struct step_signal {
    uint32_t step;
    bool kill;
};

/* What the log is to say. A step says at most one line before it begins and one as it ends: those
 * that are due by now are all given each time. */
struct step_line {
    uint32_t step;
    bool at_end;
    bool to_stderr;
    const char *source;
    const char *text;
};

/* In numeric order of steps; lines in the order of steps, too, those at the end after all that is
 * beneath. All in the arena. */
struct steps_orders {
    uint32_t *begins; /* leaves */
    size_t begin_count;
    struct step_cut *cuts; /* these facts come before anything else */
    size_t cut_count;
    struct step_signal *signals;
    size_t signal_count;
    struct step_line *lines;
    size_t line_count;
    bool start; /* BEFORE: the container is to be started; then there is nothing else to do */
    bool kill;  /* the container's first process, and all that is left with it: a leaf is stuck */
    bool ready; /* the setup is over, and each leaf that can begin at once has begun */
    bool over;  /* nothing is left to be done or awaited; then as follows */
    bool failed;
    bool cut;   /* because it was cut, and for nothing else */
    const char *text; /* why it failed, as far as somebody did; "" otherwise */
    uint32_t first_well; /* over and well: which of the action and the sidecars ended so first */
    int64_t due_ns;   /* look again then, if nothing happens before; NEVER_NS = no need */
};

/* How far the container is. */
enum steps_where {
    STEPS_BEFORE, /* it is made, and not started yet */
    STEPS_INSIDE, /* it runs */
    STEPS_GONE,   /* no process of it lives any more, and none can begin: then all is over */
};

/* What is next. Facts of other steps than the tree's, or that cannot be, count for nothing. */
struct steps_orders steps_next(struct arena *a, const struct action_tree *tree,
                               const struct step_fact *facts, size_t fact_count, int64_t now_ns,
                               enum steps_where where);
