/* Whether what a deploy wants can be put into its system: decided when it is accepted, by the
 * converger who asks for that and by the bbs that does it (docs/systems.md, Deploys). Pure. */
#pragma once

#include "common/base/arena.h"
#include "systems.pb-c.h"

#include <stdbool.h>

/* What it is judged by. */
struct deploy_target_facts {
    const Board__DeployRecord *deploy;
    const Board__SystemRecord *system;
    const Board__BuildRecord *build;   /* of target build: that one; NULL = there is none */
    const Board__DeployRecord *undone; /* of target undo: that one; NULL = there is none */
    bool deployed;                     /* of target path: a definition stands there */
    const Board__BuildRecord *own;     /* the build of its id; NULL = there is none */
    const Board__HeadRecord *head;     /* NULL = not known */
    const Board__HoldRecord *hold;     /* NULL = not known */
};

/* Whether it makes a build of its own, with its id, when it is accepted: of target version or path.
 */
bool deploy_makes_build(const Board__DeployRecord *d);

/* NULL = it can; else why not, in the arena. The first that holds:
 *   1. version: the system has no repository
 *   2. path: nothing is deployed there
 *   3. build: there is none; it failed; it is a path build; its tree was collected
 *   4. undo: there is no such deploy; it is not over; it never began
 *   5. version, path: a build of its id is there, which is another one's
 *   6. the head has no room for one path more */
const char *deploy_target_fault(struct arena *a, const struct deploy_target_facts *f);
