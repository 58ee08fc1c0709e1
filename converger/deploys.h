/* Deploys and teardowns that are not over: what is to be done about each (docs/systems.md,
 * Deploys; common/lifecycle/deploy.def, teardown.def). Pure.
 *
 * A deploy that is pending, in the order in which they were asked for. The first that holds:
 *   1. the system goes                                     refuse
 *   2. somebody holds its path, or a part of it            refuse, with who does
 *   3. its target is not good                              refuse, with why
 *   4. one before it takes a part of its path just now     it waits
 *   5. what it is to put is there, and nothing lacks       begin
 *   6. otherwise                                           accept
 * Accepted:
 *   1. the system goes                                     fail
 *   2. its build is gone or failed, or what it undoes is gone  fail, by that
 *   3. the build knows the version, the deploy does not, and it is not over  note
 *   4. the build is not over                               it waits
 *   5. a secret that it needs is not set                   fail, by the secret
 *      the system would have too many services             fail, by the build
 *   6. otherwise                                           begin
 * In progress:
 *   1. the system goes                                     fail
 *   2. it was aborted, and reverts not yet                 revert
 *   3. one that was not told needs a secret that is unset  as 5, by the secret
 *   4. not every pool and service under its path was told  open, renew, adjust, target, delete
 *                                                          (spread.h)
 *   5. one that it told has failed, or a pool there        revert if that was asked for and is not
 *                                                          done yet, else fail; by that one
 *   6. all of them are stable, none goes, pools are ready  succeed; fail if it reverts
 *   7. otherwise                                           it waits
 * A teardown that is pending: 1. the system goes: refuse; 2. somebody holds a part of it: refuse;
 * 3. otherwise begin. In progress: 1. the system goes: fail; 2. a service does not go yet: delete;
 * 3. none is left: succeed. */
#pragma once

#include "converger/watched_system.h"

/* Plans for all of them. `seen->told` of those that are in progress is kept up. */
void deploys_run(const struct watched_system *v, struct system_moves *out);
