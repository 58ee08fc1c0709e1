/* Which images of a cell go so that another one can come (docs/cell.md, Images). A layer that
 * several images have is there once, and goes with the last of them. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"
#include "rep_image.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    IMAGE_LAYERS_MAX = 127,  /* an overlay takes no more */
    IMAGE_PIN_GRACE_S = 600, /* a container's image is kept for it so long before its directory */
};

struct stored_image {
    const Rep__Image *image;
    int64_t used_ns;
    bool pinned; /* a container has it, or is about to */
};

/* Bytes of its layers together. */
int64_t image_bytes(const Rep__Image *image);

/* Indices of those to be removed, in this order: the least recently used first, never a pinned one,
 * and no more than what `more` bytes need, when all may take at most `bytes_max`; in the arena.
 * -ERR_TOO_LARGE when there is no room whatever goes; then nothing should. */
int image_plan(struct arena *a, const struct stored_image *images, size_t count, int64_t bytes_max,
               int64_t more, size_t **ret_go, size_t *ret_count, struct err *err);
