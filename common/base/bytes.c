#include "common/base/bytes.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes bytes_of(const char *s)
{
    return (struct bytes){.data = (const uint8_t *)s, .size = s ? strlen(s) : 0};
}

bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

bool text_begins(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

size_t text_characters(const char *s)
{
    size_t count = 0;
    for (; *s; s++) {
        count += ((unsigned char)*s & 0xc0) != 0x80; /* not the second and later byte of one */
    }
    return count;
}

int text_order(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static void append_for_protobuf(ProtobufCBuffer *base, size_t size, const uint8_t *data)
{
    buf_append((struct buf *)base, data, size);
}

struct buf buf_empty(void)
{
    return (struct buf){.base = {.append = append_for_protobuf}};
}

void buf_init(struct buf *b)
{
    *b = buf_empty();
}

void buf_done(struct buf *b)
{
    if (b) {
        free(b->data);
        buf_init(b);
    }
}

void buf_clear(struct buf *b)
{
    b->size = 0;
}

void buf_reserve(struct buf *b, size_t more)
{
    if (b->capacity - b->size >= more) {
        return;
    }
    size_t capacity = b->capacity ? b->capacity : 256;
    while (capacity - b->size < more) {
        if (capacity > SIZE_MAX / 2) {
            abort();
        }
        capacity *= 2;
    }
    uint8_t *data = realloc(b->data, capacity);
    if (!data) {
        abort();
    }
    b->data = data;
    b->capacity = capacity;
}

void buf_append(struct buf *b, const void *data, size_t size)
{
    if (size == 0) {
        return;
    }
    buf_reserve(b, size);
    assert(b->capacity - b->size >= size);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

void buf_append_string(struct buf *b, const char *s)
{
    buf_append(b, s, strlen(s));
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(size >= 0);
    buf_reserve(b, (size_t)size + 1);
    va_start(args, format);
    vsnprintf((char *)b->data + b->size, (size_t)size + 1, format, args);
    va_end(args);
    b->size += (size_t)size;
}

void buf_consume(struct buf *b, size_t size)
{
    assert(size <= b->size);
    if (size == 0) {
        return;
    }
    memmove(b->data, b->data + size, b->size - size);
    b->size -= size;
}

void buf_message(struct buf *b, const ProtobufCMessage *m)
{
    size_t size = protobuf_c_message_get_packed_size(m);
    buf_reserve(b, size + 1);
    b->size += protobuf_c_message_pack(m, b->data + b->size);
    assert(b->size <= b->capacity);
}

void buf_varint(struct buf *b, uint64_t value)
{
    uint8_t out[10];
    size_t size = 0;
    do {
        out[size++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    assert(size <= sizeof(out));
    buf_append(b, out, size);
}

struct bytes buf_bytes(const struct buf *b)
{
    return (struct bytes){.data = b->data, .size = b->size};
}

const char *buf_string(struct buf *b)
{
    buf_reserve(b, 1);
    b->data[b->size] = 0;
    return (const char *)b->data;
}

int bytes_varint(struct bytes in, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (size_t i = 0; i < in.size; i++) {
        if (i == 10 || (i == 9 && in.data[i] > 1)) {
            return -1;
        }
        value |= (uint64_t)(in.data[i] & 0x7f) << (7 * i);
        if (!(in.data[i] & 0x80)) {
            *ret_value = value;
            return (int)i + 1;
        }
    }
    return in.size >= 10 ? -1 : 0;
}

struct blob *blob_new(const void *data, size_t size)
{
    assert(size <= UINT32_MAX);
    struct blob *b = mem_zeroed(sizeof(*b) + size);
    b->references = 1;
    b->size = (uint32_t)size;
    if (size) {
        memcpy(b->data, data, size);
    }
    return b;
}

struct blob *blob_ref(struct blob *b)
{
    if (b) {
        assert(b->references > 0);
        b->references++;
    }
    return b;
}

void blob_unref(struct blob *b)
{
    assert(!b || b->references > 0);
    if (b && --b->references == 0) {
        free(b);
    }
}

struct bytes blob_bytes(const struct blob *b)
{
    return b ? (struct bytes){.data = b->data, .size = b->size} : (struct bytes){0};
}
