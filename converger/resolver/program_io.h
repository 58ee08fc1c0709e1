/* Runs a program to its end and gives what it wrote: for the resolver's child, which waits. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdint.h>

struct program_run {
    const char *const *argv; /* found by PATH; NULL-terminated */
    const char *const *env;  /* all of it; NULL-terminated */
    size_t bytes_max;        /* of its standard output */
    int64_t end_ms;          /* by program_now_ms(); then it is killed */
};

/* The monotonic clock. */
int64_t program_now_ms(void);

/* `ret_output` in the arena. ERR_TIMEOUT: it was killed; ERR_TOO_LARGE: so, for it wrote too much;
 * ERR_IO: it ended with another status than 0, and the text is the end of what it complained. */
int program_run_to_end(struct arena *a, const struct program_run *p, struct bytes *ret_output,
                       struct err *err);
