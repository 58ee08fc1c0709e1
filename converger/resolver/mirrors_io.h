/* The directory of mirrors of repositories: each a bare repository named by the hash of its URL,
 * with a lock beside it; and the one configuration that git reads there. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"

#include <stdint.h>

/* Makes the directory ready: it is there, is ours, can be written, has git's configuration. */
int mirrors_prepare(const char *dir, struct err *err);

/* What is over the bound of all mirrors goes, the longest unused first. */
void mirrors_make_room(const char *dir, int64_t bytes_max);

/* The directory of the mirror of this URL, made if it is not there; the caller frees it. */
int mirror_open(const char *dir, const char *url, char **ret_dir, struct err *err);

/* Nobody else writes to the mirror meanwhile. Waits until `end_ms` (program_now_ms()). */
int mirror_lock(const char *mirror, int64_t end_ms, int *ret_lock, struct err *err);
void mirror_unlock(int lock); /* -1 = none */

/* Bytes that one mirror may have: GIT_REPOSITORY_BYTES_MAX, or fewer. */
int64_t mirror_bytes_max(void);

/* Bytes on the disk. */
int64_t mirror_bytes(const char *mirror);

/* A directory with all that is in it. No error where it is not there. */
void directory_remove(const char *dir);

/* "dir/name", in the arena. */
const char *mem_path(struct arena *a, const char *dir, const char *name);
