/* Frames of a feed, made by hand for unit tests: appended to a buffer as a bbs would send them. */
#pragma once

#include "board.pb-c.h"
#include "common/base/bytes.h"

#include <stdint.h>

void frame_reset(struct buf *b, const char *board_generation);
/* With the revision of its snapshot. */
void frame_reset_at(struct buf *b, const char *board_generation, int64_t revision);
void frame_current(struct buf *b, const char *board_generation, int64_t revision);
void frame_heartbeat(struct buf *b, const char *board_generation, int64_t revision);

/* RECORD, PUT or DELETE of this record; create- and mod-revision are `revision`. */
void frame_change(struct buf *b, Board__FeedFrame__Kind kind, const char *key,
                  const ProtobufCMessage *record, int64_t revision);

/* PUT of a record that a later version of the software has written. */
void frame_later_version(struct buf *b, const char *key, int64_t revision);
