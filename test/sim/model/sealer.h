/* A sealer that marks what it seals (common/contract/seal.h): for the simulator and for rows of
 * decisions. It keeps nothing secret, but no text that it seals can be read in what it makes, and
 * what it makes opens under the same names and key only. */
#pragma once

#include "common/contract/seal.h"

/* One that has these keys, ascending; it lives in the arena. */
const struct seal *model_sealer(struct arena *a, const uint32_t *numbers, size_t count);
