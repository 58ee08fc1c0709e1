/* Small files of a courier: read whole, written by rename; and paths that are opened without
 * leaving a directory. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* All of a file of at most `most` bytes, in the arena. */
int small_read(struct arena *a, int dir, const char *path, size_t most, struct bytes *ret,
               struct err *err);

/* The first line of a file, without its end, in the arena. */
int small_line(struct arena *a, const char *path, char **ret, struct err *err);

/* Makes, or overwrites, a small file in a directory. */
int small_write(int dir, const char *name, struct bytes text, struct err *err);

/* Writes `path` by a file beside it and rename(2). */
int small_replace(const char *path, struct bytes text, struct err *err);

/* A regular file below a directory, opened for reading without leaving the directory by whatever
 * links, and without waiting. A descriptor, or an error code whose text has no path. */
int open_below(const char *root, const char *path, struct err *err);

/* Opens what a container's path leads to, as seen with `root` as its root: no link leads out. As
 * openat(2): a descriptor, or -1 with errno. */
int open_rooted(int root, const char *path, int flags);

/* Opens what is to be a container's root: a directory; or, where that is NULL, the root of the
 * first process that the file "pid" of the directory `container` names, with all that is mounted
 * there. A descriptor, or an error code. */
int open_root(const char *root, const char *container, struct err *err);

/* Opens what stands below the working directory, through no link at all. Likewise. */
int open_straight(const char *path, int flags);

/* Removes a file or a directory with all below it, however deep, never crossing into another file
 * system. True when it is gone. */
bool remove_whole(int dir, const char *name);
