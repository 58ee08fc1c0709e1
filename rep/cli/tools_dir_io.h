/* What a rep keeps for hooks of units in its state directory, bound into their containers: the
 * program rep-hook with a link a tool, and the directory of the socket where it is asked. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"

struct tools_directories {
    const char *tools, *socket; /* NULL: there is no rep-hook beside this program, nor units here */
};

/* Makes both, from `program`, a rep-hook that may be absent; a tool that runs keeps the one before.
 * Paths are in the arena. IO when the disk refuses. */
int tools_directories_make(struct arena *a, const char *state_dir, const char *program,
                           struct tools_directories *ret, struct err *err);

/* The rep-hook beside the running program, in the arena; NULL: that cannot be told. */
const char *tools_program(struct arena *a);
