/* Many calls at once on a store that fails in between, then the judgement of all that happened. */
#pragma once

#include "test/conformance/store_judge.h"

struct storm_result {
    size_t done, lost, unknown, refused; /* transactions, by outcome; lost = compares failed */
    size_t landed;                       /* unknown ones that turned out to have landed */
    unsigned watches;                    /* how many it took */
};

/* Needs a fresh store. Every fault is made once, with calls in flight; the cmocka test fails when
 * the history is not right. `calls` are made in all. */
void store_storm(struct tester *t, uint64_t seed, unsigned calls, struct storm_result *ret);
