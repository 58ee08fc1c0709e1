/* The answer of the board's feed, cut into its frames. Pure. */
#pragma once

#include "board.pb-c.h"
#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

/* A record has at most 1 MiB. */
enum { FRAME_MAX = 2 * 1024 * 1024, FRAME_DECODED_MAX = 64 * 1024 * 1024 };

struct frames {
    struct buf partial; /* the begin of a frame */
};

void frames_init(struct frames *f);
void frames_done(struct frames *f);

/* A new connection: what was cut off is dropped. */
void frames_connect(struct frames *f);

/* Gives each frame that is whole now to `take`; it lives in the arena, which lasts as long as the
 * call. ERR_INVALID when the bytes are no feed. */
int frames_take(struct frames *f, struct bytes bytes,
                void (*take)(void *owner, struct arena *a, const Board__FeedFrame *frame),
                void *owner, struct err *err);

/* The record of a frame, in the arena; NULL when it is of a later type or version. */
ProtobufCMessage *frame_record(struct arena *a, const Board__FeedFrame *frame);
