/* The ids of a container with a user namespace: which id of this machine an id of the container is.
 * Whoever makes or owns a file for a container asks here. Pure. */
#pragma once

#include "common/base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* `count` ids from 0 on inside are those from `first` on outside; first 0: no user namespace, and
 * each id is itself. */
struct id_range {
    uint32_t first, count;
};

/* The range of a container that begins at `first`, as its spec says. */
struct id_range id_range_of(uint32_t first);

/* False when the container has no such id. */
bool id_range_map(struct id_range r, uint32_t inside, uint32_t *ret_outside);

/* As it stands in the file `ids` of the container's directory: "FIRST COUNT" and a line feed. False
 * when it is something else. */
bool id_range_parse(struct bytes text, struct id_range *ret);
void id_range_print(struct id_range r, struct buf *out);
