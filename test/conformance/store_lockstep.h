/* The same random operations on two stores, one after the other: equal answers, equal watches. */
#pragma once

#include "test/conformance/store_tester.h"

/* Both stores must be fresh. Fails the cmocka test at the first difference, which it prints with
 * seed and step. */
void store_lockstep(struct tester *a, struct tester *b, uint64_t seed, unsigned steps);
