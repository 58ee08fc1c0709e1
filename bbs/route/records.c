#include "bbs/route/records.h"

#include "bbs/route/answer.h"
#include "common/contract/cursor.h"
#include "common/model/record.h"

#include <assert.h>
#include <stdlib.h>

/* Field 2, length-delimited. */
enum { FIELD_TAG = 2 << 3 | 2 };

struct message {
    struct blob *parts[RECORD_PARTS];
};

struct records {
    struct cursor cursor;
    struct message *list;
    size_t count;
    size_t capacity;
    size_t next;  /* not yet given */
    int64_t size; /* of the whole answer */
};

static size_t body_size(const struct message *m)
{
    size_t size = 0;
    for (size_t i = 0; i < RECORD_PARTS; i++) {
        size += record_body(blob_bytes(m->parts[i])).size;
    }
    return size;
}

static size_t varint_size(uint64_t value)
{
    size_t size = 1;
    for (; value > 127; value >>= 7) {
        size++;
    }
    return size;
}

static enum cursor_state fill(struct cursor *c, struct buf *out, size_t max)
{
    struct records *r = (struct records *)c;
    size_t end = out->size + max;
    while (r->next < r->count && out->size < end) {
        struct message *m = &r->list[r->next++];
        buf_varint(out, FIELD_TAG);
        buf_varint(out, body_size(m));
        for (size_t i = 0; i < RECORD_PARTS; i++) {
            struct bytes body = record_body(blob_bytes(m->parts[i]));
            buf_append(out, body.data, body.size);
            blob_unref(m->parts[i]);
            m->parts[i] = NULL;
        }
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
    struct records *r = calloc(1, sizeof(*r));
    if (!r || !(r->list = calloc(capacity ? capacity : 1, sizeof(*r->list)))) {
        abort();
    }
    r->cursor.ops = &ops;
    r->capacity = capacity;
    return r;
}

void records_add(struct records *r, struct blob *const parts[RECORD_PARTS])
{
    assert(r->count < r->capacity);
    struct message *m = &r->list[r->count++];
    for (size_t i = 0; i < RECORD_PARTS; i++) {
        m->parts[i] = blob_ref(parts[i]);
    }
    size_t size = body_size(m);
    r->size += (int64_t)(varint_size(FIELD_TAG) + varint_size(size) + size);
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
    for (size_t i = r->next; i < r->count; i++) {
        for (size_t k = 0; k < RECORD_PARTS; k++) {
            blob_unref(r->list[i].parts[k]);
        }
    }
    free(r->list);
    free(r);
}
