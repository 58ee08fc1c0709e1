/* Deploys and teardowns that change, and those that are over. Pure. */
#pragma once

#include "bbs/system/parts.h"

/* In this state, otherwise as it is. */
Board__DeployRecord *deploy_changed(struct arena *a, const Board__DeployRecord *before, int to);
Board__TeardownRecord *teardown_changed(struct arena *a, const Board__TeardownRecord *before,
                                        int to);

/* The same in a final state, over now: one that never started, started now, too. The message is
 * cut. */
Board__DeployRecord *deploy_over(struct arena *a, const Board__DeployRecord *before, int to,
                                 const char *message, struct moment now);
Board__TeardownRecord *teardown_over(struct arena *a, const Board__TeardownRecord *before, int to,
                                     const char *message, struct moment now);

/* Its system goes, or enough of those that are over are kept without it; and no deploy that is not
 * over wants to undo it. Not compared: those that are over stay so, and others only become more. */
bool deploy_kept_enough(struct view *v, const struct system_facts *f,
                        const Board__DeployRecord *deploy);
bool teardown_kept_enough(struct view *v, const struct system_facts *f,
                          const Board__TeardownRecord *teardown);
