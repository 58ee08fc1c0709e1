/* Randomness as an input: a generator seeded from an event's entropy, so that the same seed gives
 * the same trace (design.md 3.1). Not for secrets. */
#pragma once

#include <stdint.h>

struct random {
    uint64_t state[4];
};

/* Seeds from 128 bits. The first draw hangs on seed[1] alone: let it vary. */
void random_seed(struct random *r, const uint64_t seed[2]);

uint64_t random_next(struct random *r); /* 64 bits */

/* Uniform in [0, bound); 0 when bound is 0. */
uint64_t random_below(struct random *r, uint64_t bound);

/* A random UUID (version 4) in text: 36 characters and NUL. */
enum { GUID_BYTES = 37 };
void random_guid(struct random *r, char out[GUID_BYTES]);
