#include "common/base/query.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

char *percent_decoded(struct arena *a, const char *text, size_t size)
{
    char *to = arena_alloc(a, size + 1);
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        int high = text[i] == '%' && i + 2 < size ? digit(text[i + 1]) : -1;
        int low = high >= 0 ? digit(text[i + 2]) : -1;
        bool escape = low >= 0 && (high || low);
        to[n++] = escape ? (char)(high * 16 + low) : text[i];
        i += escape ? 2 : 0;
    }
    return to;
}

char *percent_encoded(struct arena *a, const char *text)
{
    static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                     "0123456789-_.~";
    char *encoded = arena_alloc(a, strlen(text) * 3 + 1), *to = encoded;
    for (; *text; text++) {
        if (strchr(unreserved, *text)) {
            *to++ = *text;
        } else {
            to += snprintf(to, 4, "%%%02X", (unsigned char)*text);
        }
    }
    *to = 0;
    return encoded;
}

/* As browsers write it. */
static const char *decoded(struct arena *a, const char *text, size_t size)
{
    char *plain = arena_strndup(a, text, size);
    for (size_t i = 0; i < size; i++) {
        plain[i] = plain[i] == '+' ? ' ' : plain[i];
    }
    return percent_decoded(a, plain, size);
}

const char *query_value(struct arena *a, const char *query, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = query; *at; at += *at == '&') {
        size_t part = strcspn(at, "&");
        if (part > size && strncmp(at, name, size) == 0 && at[size] == '=') {
            return decoded(a, at + size + 1, part - size - 1);
        }
        at += part;
    }
    return NULL;
}
