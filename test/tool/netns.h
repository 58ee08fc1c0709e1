/* A network of its own for a test program (root only): its ports meet nobody else's, and packets on
 * its loopback can be dropped. */
#pragma once

#include <stdbool.h>

/* Moves this process, and what it starts from now on, to a new network namespace whose loopback is
 * up. False when that is not permitted; then nothing changed. */
bool netns_enter(void);

/* Drops all TCP packets from and to a port; only within netns_enter(). False when it cannot be
 * done. */
bool netns_drop(int port);

/* Ends that. */
void netns_restore(void);
