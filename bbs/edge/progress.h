/* What a user is told of an operation at a site while it goes: progress/<uid>, written in the
 * transaction of each of its moves (docs/edge.md, The centre's records). Pure; all in the given
 * arena. */
#pragma once

#include "common/base/arena.h"

#include "board.pb-c.h"

enum {
    PROGRESS_LINES_MAX = 256, /* where more come the middle is left out, and one line says so */
    PROGRESS_LINE_BYTES_MAX = 512,
};

/* What stands, `before` (NULL = nothing), as of this operation: of another request or life it
 * begins anew, but its lines stay and their numbers go on. */
Board__ProgressRecord *progress_of(struct arena *a, const Board__ProgressRecord *before,
                                   const char *kind, const char *name, const char *uid,
                                   uint64_t request, const char *word);

/* One more line, cut at PROGRESS_LINE_BYTES_MAX where no character is broken. */
void progress_line(struct arena *a, Board__ProgressRecord *p, int64_t wall_ns, const char *text);

/* The operation is over: `end` is "ready", "deleted" or "failed", `error` why. No line follows. */
void progress_end(struct arena *a, Board__ProgressRecord *p, int64_t wall_ns, const char *end,
                  const char *error);
