/* A bump allocator: everything a step makes lives in one arena and goes with it (design.md 3.7).
 * Memory comes zeroed. Running out of memory ends the process: the board remembers. */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdarg.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    size_t used;                /* bytes handed out since init or reset */
};

/* Starts empty; takes no memory until the first allocation. */
void arena_init(struct arena *a);

/* Frees everything. Accepts an arena that was never used. */
void arena_done(struct arena *a);

/* Declares an arena, empty, that is done where its block ends. */
#define SCOPED_ARENA(name) struct arena name __attribute__((cleanup(arena_done))) = {0}

/* Forgets everything handed out but keeps the newest block for reuse. */
void arena_reset(struct arena *a);

/* `size` zeroed bytes, aligned for any type; never NULL (size 0 gives a unique pointer). */
void *arena_alloc(struct arena *a, size_t size) __attribute__((malloc, returns_nonnull));

/* Array of `count` elements of `size` bytes; ends the process when the product overflows. */
void *arena_array(struct arena *a, size_t count, size_t size) __attribute__((returns_nonnull));

/* Copies that live in the arena. arena_strdup(NULL) is "". */
void *arena_copy(struct arena *a, const void *from, size_t size) __attribute__((returns_nonnull));
char *arena_strdup(struct arena *a, const char *s) __attribute__((returns_nonnull));
char *arena_strndup(struct arena *a, const char *s, size_t size) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));
char *arena_vprintf(struct arena *a, const char *format, va_list args)
    __attribute__((format(printf, 2, 0), returns_nonnull));

/* An empty message of the type, initialised. The caller's pointer is of that type. */
void *arena_message(struct arena *a, const ProtobufCMessageDescriptor *type)
    __attribute__((returns_nonnull));

/* For X__unpack(): decoded messages live in the arena, X__free_unpacked() is then not called.
 * The result points to the arena and is valid as long as it. */
ProtobufCAllocator arena_protobuf(struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, count, type) ((type *)arena_array((a), (count), sizeof(type)))
