/* Where in a container something can be mounted. Pure. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

/* "A", "A/B/...": no step of it is empty, "." or "..", so that none leads elsewhere. */
bool path_steps_good(const char *path);

/* What brings a tree there: ERR_INVALID, with a sentence, for the root itself, /dev, and /proc and
 * /sys with all below them, by whatever steps the path leads there. A relative one begins at the
 * root. Links are not looked at. */
int mount_place_check(const char *path, struct err *err);

/* A volume's: it must be absolute, too, and of good steps. */
int volume_place_check(const char *path, struct err *err);
