/* The options of `chaos nemesis`. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct nemesis_options {
    bool help, list;
    const char *target;  /* the file */
    const char *history; /* the file that it writes */
    const char *command; /* only prints the target's command of this name */
    const char *faults;  /* kinds, comma-separated; NULL: each that the target has commands for */
    uint64_t seed;
    int64_t seconds; /* draws no fault after so long */
    int64_t count;   /* nor after so many */
};

/* Reads them. Fails with ERR_INVALID and what is wrong with the words. */
int nemesis_options_parse(int argc, char **argv, struct nemesis_options *ret_options,
                          struct err *err);
