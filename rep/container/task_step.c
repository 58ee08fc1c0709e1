#include "rep/container/task_step.h"

#include "common/lifecycle/container.h"

#include <assert.h>

struct step {
    const char *name;
    int phase;
    enum harmony_task side;
};

static const struct step steps[TASK_STEP_COUNT] = {
    [STEP_NONE] = {"none", PHASE_NONE, TASK_WITHOUT},
    [STEP_OFFERED] = {"offered", PHASE_RESERVED, TASK_NOT_EXECUTING},
    [STEP_ASKED] = {"asked", PHASE_RESERVED, TASK_NOT_EXECUTING},
    [STEP_GRANTED] = {"granted", PHASE_INITIALIZING, TASK_NOT_EXECUTING},
    [STEP_MADE] = {"made", PHASE_CREATED, TASK_NOT_EXECUTING},
    [STEP_NOTED] = {"noted", PHASE_CREATED, TASK_EXECUTING},
    [STEP_STARTED] = {"started", PHASE_CREATED, TASK_EXECUTING},
    [STEP_RUNNING] = {"running", PHASE_RUNNING, TASK_EXECUTING},
    [STEP_REJECTABLE] = {"rejectable", PHASE_COMPLETED, TASK_REJECTABLE},
    [STEP_FAILED] = {"failed", PHASE_COMPLETED, TASK_FINISHED},
    [STEP_ENDED] = {"ended", PHASE_COMPLETED, TASK_FINISHED},
    [STEP_SUCCEEDED] = {"succeeded", PHASE_COMPLETED, TASK_FINISHED},
};

const char *task_step_name(enum task_step step)
{
    assert(step < TASK_STEP_COUNT);
    return steps[step].name;
}

int task_step_phase(enum task_step step)
{
    assert(step > STEP_NONE && step < TASK_STEP_COUNT);
    return steps[step].phase;
}

enum harmony_task task_step_side(enum task_step step)
{
    assert(step > STEP_NONE && step < TASK_STEP_COUNT);
    return steps[step].side;
}

bool task_step_failed(enum task_step step)
{
    return step == STEP_REJECTABLE || step == STEP_FAILED;
}

bool task_step_ended_well(enum task_step step)
{
    return step == STEP_ENDED || step == STEP_SUCCEEDED;
}

enum task_step task_step_entered(int phase, bool executing)
{
    for (int i = STEP_NONE + 1; i < TASK_STEP_COUNT; i++) {
        bool too_early = executing && steps[i].phase >= PHASE_CREATED &&
                         steps[i].side != TASK_EXECUTING && steps[i].side != TASK_FINISHED;
        if (steps[i].phase == phase && !too_early) {
            return (enum task_step)i;
        }
    }
    return STEP_NONE;
}
