#include "bbs/route/records.h"

#include "bbs/route/answer.h"
#include "common/base/memory.h"
#include "common/model/record.h"

#include <assert.h>
#include <stdlib.h>

/* Fields of the response and of an ActualLRPGroup, length-delimited. */
enum { FIELD_TAG = 2 << 3 | 2, INSTANCE_TAG = 1 << 3 | 2, EVACUATING_TAG = 2 << 3 | 2 };

enum form { JOINED, VIEWED, GROUP };

struct message {
    struct blob *parts[RECORD_PARTS];
    const struct record_viewer *viewer; /* of VIEWED */
    uint32_t size;
    enum form form;
};

struct records {
    struct cursor cursor;
    struct message *list;
    size_t count;
    size_t capacity;
    size_t next;  /* not yet given */
    int64_t size; /* of the whole answer */
};

static size_t varint_size(uint64_t value)
{
    size_t size = 1;
    for (; value > 127; value >>= 7) {
        size++;
    }
    return size;
}

/* Of a length-delimited field whose tag takes one byte. */
static size_t field_size(size_t size)
{
    return 1 + varint_size(size) + size;
}

static struct bytes part(const struct message *m, size_t n)
{
    return record_body(blob_bytes(m->parts[n]));
}

static size_t joined_size(const struct message *m)
{
    size_t size = 0;
    for (size_t i = 0; i < RECORD_PARTS; i++) {
        size += part(m, i).size;
    }
    return size;
}

static void append_joined(const struct message *m, struct buf *out)
{
    for (size_t i = 0; i < RECORD_PARTS; i++) {
        buf_append(out, part(m, i).data, part(m, i).size);
    }
}

/* The message as it is shown; NULL if it cannot be decoded. */
static const ProtobufCMessage *viewed(struct arena *a, const struct message *m)
{
    SCOPED_BUF(joined);
    append_joined(m, &joined);
    ProtobufCAllocator allocator = arena_protobuf(a);
    ProtobufCMessage *decoded =
        protobuf_c_message_unpack(m->viewer->type, &allocator, joined.size, joined.data);
    return decoded ? m->viewer->show(a, decoded) : NULL;
}

static size_t group_size(const struct message *m)
{
    size_t size = 0;
    for (size_t i = 0; i < 2; i++) {
        size += m->parts[i] ? field_size(part(m, i).size) : 0;
    }
    return size;
}

static void append_group(const struct message *m, struct buf *out)
{
    static const uint8_t tags[] = {INSTANCE_TAG, EVACUATING_TAG};
    for (size_t i = 0; i < 2; i++) {
        if (m->parts[i]) {
            buf_varint(out, tags[i]);
            buf_varint(out, part(m, i).size);
            buf_append(out, part(m, i).data, part(m, i).size);
        }
    }
}

static void append_viewed(const struct message *m, struct buf *out)
{
    SCOPED_ARENA(a);
    buf_message(out, viewed(&a, m));
}

static void append(const struct message *m, struct buf *out)
{
    buf_varint(out, FIELD_TAG);
    buf_varint(out, m->size);
    size_t before = out->size;
    switch (m->form) {
    case JOINED:
        append_joined(m, out);
        break;
    case VIEWED:
        append_viewed(m, out);
        break;
    case GROUP:
        append_group(m, out);
        break;
    }
    assert(out->size - before == m->size);
}

static void release(struct message *m)
{
    for (size_t i = 0; i < RECORD_PARTS; i++) {
        blob_unref(m->parts[i]);
        m->parts[i] = NULL;
    }
}

static enum cursor_state fill(struct cursor *c, struct buf *out, size_t max)
{
    struct records *r = (struct records *)c;
    size_t end = out->size + max;
    while (r->next < r->count && out->size < end) {
        struct message *m = &r->list[r->next++];
        assert(m->size > 0);
        append(m, out);
        release(m);
    }
    return r->next < r->count ? CURSOR_MORE : CURSOR_END;
}

static void free_cursor(struct cursor *c)
{
    records_free((struct records *)c);
}

static const struct cursor_ops ops = {.fill = fill, .free = free_cursor};

struct records *records_new(size_t capacity)
{
    struct records *r = mem_zeroed(sizeof(*r));
    r->list = mem_array(capacity ? capacity : 1, sizeof(*r->list));
    r->cursor.ops = &ops;
    r->capacity = capacity;
    return r;
}

/* Keeps the message, of which `size` bytes are shown; no bytes: nothing could be read. */
static void add(struct records *r, struct message m, size_t size)
{
    assert(r->count < r->capacity && size <= UINT32_MAX);
    if (size == 0) {
        return;
    }
    m.size = (uint32_t)size;
    for (size_t i = 0; i < RECORD_PARTS; i++) {
        blob_ref(m.parts[i]);
    }
    r->list[r->count++] = m;
    r->size += (int64_t)field_size(m.size);
}

void records_add(struct records *r, struct blob *const parts[RECORD_PARTS])
{
    struct message m = {.form = JOINED, .parts = {parts[0], parts[1], parts[2]}};
    add(r, m, joined_size(&m));
}

void records_add_view(struct records *r, struct blob *const parts[RECORD_PARTS],
                      const struct record_viewer *viewer)
{
    struct message m = {.form = VIEWED, .parts = {parts[0], parts[1], parts[2]}, .viewer = viewer};
    SCOPED_ARENA(a);
    const ProtobufCMessage *shown = viewed(&a, &m);
    add(r, m, shown ? protobuf_c_message_get_packed_size(shown) : 0);
}

void records_add_group(struct records *r, struct blob *instance, struct blob *evacuating)
{
    struct message m = {.form = GROUP, .parts = {instance, evacuating}};
    add(r, m, group_size(&m));
}

size_t records_count(const struct records *r)
{
    return r->count;
}

void records_answer(struct records *r, uint64_t request_id, struct effects *out)
{
    if (r->count == 0) {
        answer_well(out, request_id);
        records_free(r);
        return;
    }
    effects_add(out, EFFECT_REPLY)->reply = (struct reply){
        .id = request_id,
        .status = 200,
        .content_type = PROTOBUF_TYPE,
        .etag = "",
        .allow = "",
        .cursor = &r->cursor,
        .size = r->size,
        .channel = "",
    };
}

void records_free(struct records *r)
{
    if (!r) {
        return;
    }
    assert(r->next <= r->count);
    for (size_t i = r->next; i < r->count; i++) {
        release(&r->list[i]);
    }
    free(r->list);
    free(r);
}
