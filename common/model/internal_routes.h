/* What a DesiredLRP's `internal-router` route says. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

#include <stddef.h>

/* The hostnames of [{"hostname": ...}, ...], read as widely as Go reads JSON, for that is what was
 * accepted when it was desired: numbers of any size beside them, what is not UTF-8 as U+FFFD, a key
 * in capitals, of one that stands twice the last. Whatever else is in it is passed over, and so is
 * a hostname with a NUL in it, which no name can have. Nothing is in what is not JSON. */
void internal_hostnames(struct arena *a, struct bytes text, const char ***ret_list,
                        size_t *ret_count);
