/* Strings of bytes in three shapes: borrowed (struct bytes), growing (struct buf), and shared,
 * immutable, counted (struct blob). */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed: whoever gave it owns it. */
struct bytes {
    const uint8_t *data;
    size_t size;
};

/* Of a text without its end; borrowed. */
struct bytes bytes_of(const char *s);
bool bytes_equal(struct bytes a, struct bytes b); /* in size and content */

/* Of texts with an end. */
bool text_begins(const char *s, const char *prefix);
size_t text_characters(const char *s);        /* of UTF-8; malformed it has at most its bytes */
int text_order(const void *x, const void *y); /* by bytes, for qsort() of a list of texts */

/* Growing, owned by its holder. `base` first, so that a &buf->base can be given to a
 * protobuf-c pack_to_buffer call. */
struct buf {
    ProtobufCBuffer base;
    uint8_t *data;
    size_t size;
    size_t capacity;
};

/* Those that add copy what they add; a buffer that finds no memory ends the process. */
struct buf buf_empty(void);
void buf_init(struct buf *b);
void buf_done(struct buf *b);
void buf_clear(struct buf *b);                                 /* size 0, keeps the memory */
void buf_reserve(struct buf *b, size_t more);                  /* room for `more` bytes */
void buf_append(struct buf *b, const void *data, size_t size);
void buf_append_string(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_consume(struct buf *b, size_t size);                  /* drops the first `size` bytes */
void buf_message(struct buf *b, const ProtobufCMessage *m);    /* appends the packed message */
void buf_varint(struct buf *b, uint64_t value);
struct bytes buf_bytes(const struct buf *b);
const char *buf_string(struct buf *b);                         /* NUL-terminated, owned by b */

/* Declares a buf, empty, that is done where its block ends. */
#define SCOPED_BUF(name) struct buf name __attribute__((cleanup(buf_done))) = buf_empty()

/* Reads a varint at the front of `in`: its length in bytes, 0 when more bytes are needed, -1 when
 * it is malformed. */
int bytes_varint(struct bytes in, uint64_t *ret_value);

/* Shared and immutable; single-threaded counting. */
struct blob {
    unsigned references;
    uint32_t size;
    uint8_t data[];
};

struct blob *blob_new(const void *data, size_t size);          /* one reference, the caller's */
struct blob *blob_ref(struct blob *b);                         /* NULL gives NULL */
void blob_unref(struct blob *b);                               /* accepts NULL */
struct bytes blob_bytes(const struct blob *b);                 /* NULL gives no bytes */
