#include "common/base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, enum err_code code, const char *format, ...)
{
    assert((int)code > 0); /* what it gives is negative */
    if (err) {
        va_list args;
        va_start(args, format);
        err->code = code;
        vsnprintf(err->text, sizeof(err->text), format, args);
        va_end(args);
    }
    return -(int)code;
}

int err_prefix(struct err *err, const char *format, ...)
{
    if (!err) {
        return -(int)ERR_UNKNOWN;
    }
    char joined[2 * sizeof(err->text)];
    va_list args;
    va_start(args, format);
    vsnprintf(joined, sizeof(err->text), format, args);
    va_end(args);
    size_t size = strlen(joined);
    snprintf(joined + size, sizeof(joined) - size, ": %s", err->text);
    snprintf(err->text, sizeof(err->text), "%.*s", (int)sizeof(err->text) - 1, joined);
    return -(int)err->code;
}
