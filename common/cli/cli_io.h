/* The shell of a command line: runs a program's command and gives its exit status (design.md 4). */
#pragma once

#include "common/cli/options.h"

/* Of all programs. */

/* Exit statuses of every command. */
enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_NOT_FOUND = 3,
    CLI_CONFLICT = 4,
    CLI_UNAVAILABLE = 5,
    CLI_TIMEOUT = 6,
    CLI_PARTLY_PLACED = 7,
    CLI_DENIED = 8,
    CLI_INTERRUPTED = 130,
};

/* Parses, takes the environment, runs the command. Errors go to standard error as one sentence,
 * after the program's name. */
int cli_main(const struct cli_program *program, int argc, char *const *argv);

/* The exit status that stands for an error code. */
int cli_exit_of(enum err_code code);

/* From the first call on Ctrl-C and TERM set a flag instead of ending the process; a second one
 * ends it. A command that fails with the flag set, or gives an exit status, gives
 * CLI_INTERRUPTED, and its last line on standard error begins with "PROGRAM: interrupted". */
void cli_catch_interrupts(void);
bool cli_interrupted(void);

/* Sleeps, or less when interrupted. */
void cli_sleep_ms(int64_t ms);

/* Milliseconds on the monotonic clock; nanoseconds since 1970 on the wall clock. */
int64_t cli_now_ms(void);
int64_t cli_wall_ns(void);

/* Writes to standard output; ERR_IO when nobody reads it any more. */
int cli_print(struct bytes text, struct err *err);

/* How wide the terminal is that standard output goes to; 0 = to none, or nobody knows. */
unsigned cli_columns(void);

/* Whether standard output takes something, found out without a byte: as cli_print() when nobody
 * reads it any more, or the device takes none. A disk that is full shows it at the first byte. */
int cli_output_check(struct err *err);

/* The same for what is found nowhere else, like a name that was drawn: when it cannot be written
 * the error says `instead`, also when nobody reads, which ends cli_print() quietly. */
int cli_print_or(struct bytes text, const char *instead, struct err *err);

/* A line on standard error that says what is waited for. On a terminal it is cut to its width and
 * replaced by the next one; elsewhere a changed one is written at most every two seconds. NULL
 * clears it. */
struct cli_progress {
    char shown[160];
    int64_t shown_ms;
};
void cli_progress(struct cli_progress *p, const char *text);

/* It has come to this: where lines stay, the last one is not of before. */
void cli_progress_end(struct cli_progress *p, const char *text);
