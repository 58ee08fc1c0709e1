#include "rep/container/task_step.h"

#include "common/lifecycle/container.h"

#include <assert.h>

struct step {
    int phase;
    enum harmony_task side;
};

static const struct step steps[TASK_STEP_COUNT] = {
    [STEP_NONE] = {PHASE_NONE, TASK_WITHOUT},
    [STEP_OFFERED] = {PHASE_RESERVED, TASK_NOT_EXECUTING},
    [STEP_ASKED] = {PHASE_RESERVED, TASK_NOT_EXECUTING},
    [STEP_GRANTED] = {PHASE_INITIALIZING, TASK_NOT_EXECUTING},
    [STEP_MADE] = {PHASE_CREATED, TASK_NOT_EXECUTING},
    [STEP_NOTED] = {PHASE_CREATED, TASK_EXECUTING},
    [STEP_STARTED] = {PHASE_CREATED, TASK_EXECUTING},
    [STEP_RUNNING] = {PHASE_RUNNING, TASK_EXECUTING},
    [STEP_REJECTABLE] = {PHASE_COMPLETED, TASK_REJECTABLE},
    [STEP_FAILED] = {PHASE_COMPLETED, TASK_FINISHED},
    [STEP_ENDED] = {PHASE_COMPLETED, TASK_FINISHED},
    [STEP_SUCCEEDED] = {PHASE_COMPLETED, TASK_FINISHED},
};

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
