#include "test/unit/bbs/board/feed_frames.h"

static void frame(struct buf *b, const Board__FeedFrame *f)
{
    buf_varint(b, board__feed_frame__get_packed_size(f));
    buf_message(b, &f->base);
}

static void position(struct buf *b, Board__FeedFrame__Kind kind, const char *board_generation,
                     int64_t revision)
{
    Board__FeedFrame f = BOARD__FEED_FRAME__INIT;
    f.kind = kind;
    f.board_generation = (char *)(uintptr_t)board_generation;
    f.revision = revision;
    frame(b, &f);
}

void frame_reset(struct buf *b, const char *board_generation)
{
    position(b, BOARD__FEED_FRAME__KIND__RESET, board_generation, 0);
}

void frame_reset_at(struct buf *b, const char *board_generation, int64_t revision)
{
    position(b, BOARD__FEED_FRAME__KIND__RESET, board_generation, revision);
}

void frame_current(struct buf *b, const char *board_generation, int64_t revision)
{
    position(b, BOARD__FEED_FRAME__KIND__CURRENT, board_generation, revision);
}

void frame_heartbeat(struct buf *b, const char *board_generation, int64_t revision)
{
    position(b, BOARD__FEED_FRAME__KIND__HEARTBEAT, board_generation, revision);
}

static void change(struct buf *b, Board__FeedFrame__Kind kind, const char *key, struct bytes value,
                   int64_t revision)
{
    Board__FeedFrame f = BOARD__FEED_FRAME__INIT;
    f.kind = kind;
    f.key = (char *)(uintptr_t)key;
    f.record = (ProtobufCBinaryData){.data = (uint8_t *)(uintptr_t)value.data, .len = value.size};
    f.revision = kind == BOARD__FEED_FRAME__KIND__RECORD ? 0 : revision;
    f.create_revision = f.mod_revision = revision;
    frame(b, &f);
}

void frame_change(struct buf *b, Board__FeedFrame__Kind kind, const char *key,
                  const ProtobufCMessage *record, int64_t revision)
{
    SCOPED_BUF(value);
    buf_append(&value, "\x01", 1);
    buf_message(&value, record);
    change(b, kind, key, buf_bytes(&value), revision);
}

void frame_later_version(struct buf *b, const char *key, int64_t revision)
{
    change(b, BOARD__FEED_FRAME__KIND__PUT, key, bytes_of("\x7f later"), revision);
}
