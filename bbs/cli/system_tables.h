/* The tables of systems, builds, deploys, teardowns, services and job runs. Pure. */
#pragma once

#include "bbs/cli/system_board.h"
#include "common/base/bytes.h"

/* All systems that the view has: NAME DEFINITION VERSION STATUS. `terminal`: as in table.h. */
void systems_table(struct arena *a, const struct system_view *v, bool terminal, struct buf *out);

/* ID TARGET STATE STARTED COMPLETED, newest first; below one that has a message, that. */
void builds_table(struct arena *a, const struct system_view *v, bool terminal, struct buf *out);
void deploys_table(struct arena *a, const struct system_view *v, bool terminal, struct buf *out);
void teardowns_table(struct arena *a, const struct system_view *v, bool terminal, struct buf *out);

/* PATH STATE AVAILABLE UPDATED STALE TERMINATING, at and below `top`. */
void services_table(struct arena *a, const struct system_view *v, const char *top, bool terminal,
                    struct buf *out);

/* ID PATH STATE STARTED COMPLETED of the runs at and below `top`. */
void runs_table(struct arena *a, const struct system_view *v, const char *top, bool terminal,
                struct buf *out);

/* NAME TYPE STATE CELLS WANTED MESSAGE; `name` is that of one, NULL = all. */
void pools_table(struct arena *a, const struct system_view *v, const char *name, bool terminal,
                 struct buf *out);

/* "version 1.5.0", "path /store", "a file", "build 7f3a0c12", "undo 7f3a0c12" */
const char *deploy_target_text(struct arena *a, const Board__DeployRecord *d);
const char *build_target_text(struct arena *a, const Board__BuildRecord *b);
