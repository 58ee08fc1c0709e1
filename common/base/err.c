#include "common/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, enum err_code code, const char *format, ...)
{
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

const char *err_code_name(enum err_code code)
{
    static const char *const names[ERR_CODE_COUNT] = {
        [ERR_INVALID] = "invalid",         [ERR_NOT_FOUND] = "not found",
        [ERR_EXISTS] = "exists",           [ERR_CONFLICT] = "conflict",
        [ERR_DENIED] = "denied",           [ERR_TOO_LARGE] = "too large",
        [ERR_UNAVAILABLE] = "unavailable", [ERR_TIMEOUT] = "timeout",
        [ERR_UNKNOWN] = "unknown",         [ERR_IO] = "io",
    };
    return code > 0 && code < ERR_CODE_COUNT ? names[code] : "none";
}
