/* The conformance program, first part: what a store must answer, case by case. Each case takes a
 * fresh or used store of the given kind and asserts with cmocka. */
#pragma once

#include "test/conformance/store_tester.h"

struct store_case {
    const char *name;
    void (*run)(struct tester *t);
};

/* Ends with a NULL name. All can be run on one store, in any order. */
extern const struct store_case store_cases[];

/* Needs a store with a quota of STORE_CASE_QUOTA_BYTES. */
enum { STORE_CASE_QUOTA_BYTES = 4 * 1024 * 1024 };
void store_case_quota(struct tester *t);
