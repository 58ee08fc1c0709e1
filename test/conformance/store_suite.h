/* Runs the conformance program on one kind of store. */
#pragma once

#include "test/conformance/store_backend.h"

/* Short by default; longer by `--rounds N` or CONFORMANCE_ROUNDS=N. Round i of the random parts
 * uses seed + i (`--seed N`); storms change between TLS and none. */
struct store_suite {
    const char *name;
    struct store_backend *(*backend_new)(const struct backend_options *options);
    bool tls;    /* of the cases */
    bool storms; /* run them too */
    unsigned rounds;
    uint64_t seed;
};

/* Gives the number of failed tests. */
int store_suite_run(const struct store_suite *suite);

/* Reads arguments and environment. */
void store_suite_options(struct store_suite *suite, int argc, char **argv);
