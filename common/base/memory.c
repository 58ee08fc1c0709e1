#include "common/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was asked for, which is there. */
static void *there(void *p)
{
    if (!p) {
        abort();
    }
    return p;
}

void *mem_zeroed(size_t size)
{
    return mem_array(1, size);
}

void *mem_array(size_t count, size_t size)
{
    return there(calloc(count, size));
}

void *mem_resized(void *array, size_t count, size_t size)
{
    return there(reallocarray(array, count, size));
}

char *mem_text(const char *s)
{
    return s ? there(strdup(s)) : NULL;
}

char *mem_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text;
    int size = vasprintf(&text, format, args);
    va_end(args);
    return there(size < 0 ? NULL : text);
}
