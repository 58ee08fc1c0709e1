/* Commands that disturb and mend a cluster, run by /bin/sh. Each is in a process group of its own,
 * so that a Ctrl-C which ends the harness does not end what heals. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t nanoseconds_now(void);

/* What ran, and what it said on both outputs: the beginning, one line, NUL-terminated. */
struct command_result {
    int status; /* its exit status; 128 and more: ended by a signal, or by the time limit */
    char said[1024];
};

/* Runs `command` with these words behind it, quoted. Ends it when `limit_ms` is over. The words are
 * as they stand in a row of `count` texts of `size` bytes each. Gives whether its status is 0. */
bool command_run(const char *command, const char *words, size_t size, int count,
                 int64_t limit_ms, struct command_result *ret_result);
