/* The root filesystem of a container: which directories lie below its own upper layer, the
 * uppermost first, and what is found in them together, as an overlay shows it. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/contract/driver.h"

struct rootfs_lowers {
    const char *const *paths;
    size_t count;
};

/* Of an image's layers, which the store at `images` has; in the arena. Pure. */
struct rootfs_lowers rootfs_layers(struct arena *a, const char *images,
                                   const struct container_spec *spec);

/* rootfs_io.c: the file at `path` (without a "/" before it) in all of them together, appended to
 * `out` as far as `most` bytes; nothing when there is none. Links are followed within one layer. */
void rootfs_read(const struct rootfs_lowers *lowers, const char *path, size_t most,
                 struct buf *out);

/* Whether an absolute path is a directory in them. */
bool rootfs_is_directory(const struct rootfs_lowers *lowers, const char *path);
