/* A cursor gives the bytes of a long answer or of an endless stream in chunks (design.md 3.1c). A
 * role makes it and hands it to the shell with EFFECT_REPLY; from then on the shell owns it and
 * asks for bytes when the reader can take some. Shared data (a ring, counted blobs) is never
 * copied per reader beyond one chunk. */
#pragma once

#include "common/base/bytes.h"

/* A chunk: fill() is asked for about this much. */
enum { CURSOR_CHUNK_BYTES = 64 * 1024 };

enum cursor_state {
    CURSOR_MORE, /* something was appended; ask again when the reader has taken it */
    CURSOR_WAIT, /* nothing to give now; ask again after EFFECT_WAKE for its channel */
    CURSOR_END,  /* finished well: end the answer */
    CURSOR_CUT,  /* the reader fell behind what is kept: break the connection off */
};

struct cursor {
    const struct cursor_ops *ops;
};

struct cursor_ops {
    /* Appends at most about `max` bytes to `out` (one record may exceed it). MORE has appended at
     * least one byte; END and CUT may have appended a last piece. */
    enum cursor_state (*fill)(struct cursor *c, struct buf *out, size_t max);
    /* Called exactly once, when the answer ended or the reader went away. */
    void (*free)(struct cursor *c);
};

static inline enum cursor_state cursor_fill(struct cursor *c, struct buf *out, size_t max)
{
    return c->ops->fill(c, out, max);
}

static inline void cursor_free(struct cursor *c)
{
    if (c) {
        c->ops->free(c);
    }
}
