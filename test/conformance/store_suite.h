/* Runs the conformance program on one kind of store. */
#ifndef TEST_CONFORMANCE_STORE_SUITE_H
#define TEST_CONFORMANCE_STORE_SUITE_H

#include "test/conformance/store_backend.h"

/* Times of the program: short by default, longer by environment (CONFORMANCE_ROUNDS=n) or by the
 * first argument. `seed` by the second, or chosen and printed. */
struct store_suite {
    const char *name;
    struct store_backend *(*backend_new)(const struct backend_options *options);
    bool tls;
    unsigned rounds;
    uint64_t seed;
};

/* Gives the number of failed tests. */
int store_suite_run(const struct store_suite *suite);

/* Reads arguments and environment. */
void store_suite_options(struct store_suite *suite, int argc, char **argv);

#endif
