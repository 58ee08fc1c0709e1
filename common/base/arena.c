#include "common/base/arena.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16 * 1024 - 64, ALIGN = 16 };

struct arena_block {
    struct arena_block *older;
    size_t size; /* of bytes[] */
    size_t used;
    _Alignas(ALIGN) unsigned char bytes[];
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

static void free_blocks(struct arena_block *b)
{
    while (b) {
        struct arena_block *older = b->older;
        free(b);
        b = older;
    }
}

void arena_done(struct arena *a)
{
    if (!a) {
        return;
    }
    free_blocks(a->blocks);
    arena_init(a);
}

void arena_reset(struct arena *a)
{
    struct arena_block *b = a->blocks;
    a->used = 0;
    if (!b) {
        return;
    }
    free_blocks(b->older);
    b->older = NULL;
    b->used = 0;
    /* One huge step must not pin its memory for ever. */
    if (b->size > BLOCK_BYTES) {
        free(b);
        a->blocks = NULL;
    }
}

static struct arena_block *block_new(size_t size)
{
    struct arena_block *b = malloc(sizeof(*b) + size);
    if (!b) {
        abort();
    }
    b->older = NULL;
    b->size = size;
    b->used = 0;
    return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2) {
        abort();
    }
    size_t want = (size + (size == 0) + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct arena_block *b = a->blocks;
    if (!b || b->size - b->used < want) {
        b = block_new(want > BLOCK_BYTES ? want : BLOCK_BYTES);
        b->older = a->blocks;
        a->blocks = b;
    }
    assert(b->size - b->used >= want);
    void *p = b->bytes + b->used;
    b->used += want;
    a->used += want;
    return memset(p, 0, want);
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        abort();
    }
    return arena_alloc(a, bytes);
}

void *arena_copy(struct arena *a, const void *from, size_t size)
{
    void *p = arena_alloc(a, size);
    if (size) {
        memcpy(p, from, size);
    }
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t size)
{
    char *p = arena_alloc(a, size + 1);
    if (size) {
        memcpy(p, s, size);
    }
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return s ? arena_strndup(a, s, strlen(s)) : arena_strndup(a, "", 0);
}

char *arena_vprintf(struct arena *a, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (size < 0) {
        abort();
    }
    char *p = arena_alloc(a, (size_t)size + 1);
    vsnprintf(p, (size_t)size + 1, format, args);
    return p;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *p = arena_vprintf(a, format, args);
    va_end(args);
    return p;
}

void *arena_message(struct arena *a, const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *m = arena_alloc(a, type->sizeof_message);
    protobuf_c_message_init(type, m);
    return m;
}

static void *protobuf_alloc(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void protobuf_free(void *arena, void *pointer)
{
    (void)arena;
    (void)pointer;
}

ProtobufCAllocator arena_protobuf(struct arena *a)
{
    return (ProtobufCAllocator){
        .alloc = protobuf_alloc, .free = protobuf_free, .allocator_data = a};
}
