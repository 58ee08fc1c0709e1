/* What is to be done about a system itself, and about what it keeps (docs/systems.md; common/
 * lifecycle/system.def). Pure.
 *
 * The first that holds:
 *   1. pending                        open; if that was refused so often: check, then give_up
 *   2. deleting                       its services go; then what was deployed, built and kept;
 *                                     then it goes itself
 *   3. all were told of the head      spread, unless a deploy that succeeds says so
 *   4. its state, or what is said of it, is another one   observe */
#pragma once

#include "converger/watched_system.h"

/* So many tries to open a system may come to nothing. */
enum { SYSTEM_TRIES_MAX = 5 };

/* What is kept of those that are over: the last ones. */
enum { BUILDS_KEPT = 50, DEPLOYS_KEPT = 200, TEARDOWNS_KEPT = 200 };

/* So many deploys, or teardowns, more than are kept do not wait for a full pass: whoever asks for
 * many would come to the bound of how many there may be. */
enum { SURPLUS_AT_ONCE = 64 };

/* Rules 1 and 2. `refused`: the last try to open it, or to remove it, was. */
void system_opens(const struct watched_system *v, bool refused, struct system_moves *out);
void system_goes(const struct watched_system *v, bool refused, struct system_moves *out);

/* Rule 3: every deploy and teardown in progress has told all that it holds, and the one that made
 * the head is known. Rule 4: `may_tell` = what is said of it may be written though its state stays.
 */
void system_told(const struct watched_system *v, struct system_moves *out);
void system_observed(const struct watched_system *v, bool may_tell, struct system_moves *out);

/* Builds, deploys and teardowns that are over, more than are kept: a tree that nothing needs goes
 * portion by portion, and records that nothing names. All of them when the system goes. */
void system_forgets(const struct watched_system *v, struct system_moves *out);
/* Of these only deploys and teardowns, and only where there is such a surplus: for every look. */
void system_forgets_surplus(const struct watched_system *v, struct system_moves *out);
