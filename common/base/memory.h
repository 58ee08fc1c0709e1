/* Memory of its own, for free(). Running out of it ends the process: the board remembers. So none
 * of these gives NULL, but a copy of NULL. */
#pragma once

#include <stddef.h>

/* `size` zeroed bytes. */
void *mem_zeroed(size_t size) __attribute__((malloc, returns_nonnull));

/* An array of `count` zeroed elements of `size` bytes. */
void *mem_array(size_t count, size_t size) __attribute__((malloc, returns_nonnull));

/* The array (may be NULL) with room for `count` elements of `size` bytes; what is new is not
 * zeroed. */
void *mem_resized(void *array, size_t count, size_t size) __attribute__((returns_nonnull));

/* A copy of the text; NULL gives NULL. */
char *mem_text(const char *s) __attribute__((malloc));

/* A text made as by printf. */
char *mem_printf(const char *format, ...)
    __attribute__((format(printf, 1, 2), malloc, returns_nonnull));
