#include "bbs/cli/frames.h"

#include "common/codec/scan.h"
#include "common/model/record.h"

void frames_init(struct frames *f)
{
    buf_init(&f->partial);
}

void frames_done(struct frames *f)
{
    buf_done(&f->partial);
}

void frames_connect(struct frames *f)
{
    buf_clear(&f->partial);
}

int frames_take(struct frames *f, struct bytes bytes,
                void (*take)(void *owner, struct arena *a, const Board__FeedFrame *frame),
                void *owner, struct err *err)
{
    buf_append(&f->partial, bytes.data, bytes.size);
    size_t at = 0;
    int r = 0;
    while (r == 0 && at < f->partial.size) {
        struct bytes rest = {f->partial.data + at, f->partial.size - at};
        uint64_t size;
        int used = bytes_varint(rest, &size);
        if (used < 0 || (used > 0 && size > FRAME_MAX)) {
            return err_set(err, ERR_INVALID, "the answer is not a feed");
        }
        if (used == 0 || rest.size - (size_t)used < size) {
            break;
        }
        SCOPED_ARENA(a);
        ProtobufCMessage *m;
        r = scan_and_unpack(&a, &board__feed_frame__descriptor,
                            (struct bytes){rest.data + used, (size_t)size}, FRAME_DECODED_MAX, &m,
                            err);
        if (r == 0) {
            take(owner, &a, (const Board__FeedFrame *)m);
        }
        at += (size_t)used + (size_t)size;
    }
    buf_consume(&f->partial, at);
    return r;
}

ProtobufCMessage *frame_record(struct arena *a, const Board__FeedFrame *frame)
{
    const ProtobufCMessageDescriptor *d = record_descriptor(key_type(frame->key));
    struct bytes body = record_body((struct bytes){frame->record.data, frame->record.len});
    ProtobufCMessage *m = NULL;
    if (d && body.data) {
        (void)scan_and_unpack(a, d, body, FRAME_DECODED_MAX, &m, NULL);
    }
    return m;
}
