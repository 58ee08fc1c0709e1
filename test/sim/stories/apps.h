/* Plain apps for stories: asked about as `bbs apply` and its like do, and looked at in the store
 * itself. A version of the app "web" is the process "web-<version>". */
#pragma once

#include "test/sim/stories/story.h"

#include "system_api.pb-c.h"

/* So much that no cell has it: a version that never gets an instance. */
enum { APP_TOO_MUCH_MB = 1024 * 1024 };

/* Applies a version: so many instances, ready after a second, failed after 20 s without progress.
 * `memory_mb` 0 = the usual. Demands that it is taken. */
void app_apply(struct cluster *c, const char *version, int instances, int memory_mb);
/* PAUSE, RESUME, ROLLBACK, ABORT, RESTART, DELETE of "web"; SCALE to `instances`. */
void app_change(struct cluster *c, Board__ServiceRequest__Action action, int instances);

/* The state of "web" in the store, "" = there is no such service; and what it says. */
const char *app_state(struct cluster *c);
const char *app_says(struct cluster *c);

/* Waits for the state, two minutes at most. */
void app_await(struct cluster *c, const char *state);

/* The same, and demands that at each moment on the way `least` instances run of all versions. */
void app_await_serving(struct cluster *c, const char *state, int least);
