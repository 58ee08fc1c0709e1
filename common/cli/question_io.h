/* What a running program is asked from the command line: one GET or POST, its answer shown as a
 * table or as JSON. */
#pragma once

#include "common/cli/client_io.h"

/* --timeout, --output; beside a --url of the command's own, and cli_tls_options. */
extern const struct cli_option question_options[];

struct question {
    struct cli_client *client;
    bool json;      /* else a table for people */
    struct buf out; /* what question_close() prints */
};

/* Reads the options and connects. question_close() must follow, whatever it gives. */
int question_open(const struct invocation *call, struct question *ret, struct err *err);

/* Prints `out` unless `r` is an error; ends everything. Gives `r`, or why it could not be printed.
 */
int question_close(struct question *q, int r, struct err *err);

/* The whole of a leader's `state`: GET /state, shown. A standby asks no cell and judges none, so it
 * has little to show: the leader that it names is asked instead. One that --url names on the
 * command line itself is shown as it is. stderr says of a standby that it is one, and who leads. */
int question_state_run(const struct invocation *call, struct err *err);
