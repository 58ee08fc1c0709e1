#include "common/codec/json_syntax.h"

#include <string.h>

/* A reader stands before a byte, or at the end. The innermost bracket is the last bit of `objects`:
 * set for an object. */
struct syntax_reader {
    const uint8_t *at, *end;
    size_t depth;
    uint8_t objects[JSON_SYNTAX_DEPTH_MAX / 8 + 1];
};

/* The next byte, -1 at the end. */
static int peek(const struct syntax_reader *r)
{
    return r->at < r->end ? *r->at : -1;
}

static bool take(struct syntax_reader *r, int c)
{
    bool well = peek(r) == c;
    r->at += well;
    return well;
}

static void skip_space(struct syntax_reader *r)
{
    while (take(r, ' ') || take(r, '\t') || take(r, '\n') || take(r, '\r')) {
    }
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(int c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool digits(struct syntax_reader *r)
{
    const uint8_t *from = r->at;
    while (is_digit(peek(r))) {
        r->at++;
    }
    return r->at > from;
}

static bool number(struct syntax_reader *r)
{
    take(r, '-');
    if (!take(r, '0') && !digits(r)) {
        return false;
    }
    if (take(r, '.') && !digits(r)) {
        return false;
    }
    if (!take(r, 'e') && !take(r, 'E')) {
        return true;
    }
    if (!take(r, '+')) {
        take(r, '-');
    }
    return digits(r);
}

/* Behind a backslash. */
static bool escape(struct syntax_reader *r)
{
    int c = peek(r);
    if (c <= 0 || !strchr("\"\\/bfnrtu", c)) {
        return false;
    }
    r->at++;
    for (unsigned i = 0; c == 'u' && i < 4; i++) {
        if (!is_hex(peek(r))) {
            return false;
        }
        r->at++;
    }
    return true;
}

static bool string(struct syntax_reader *r)
{
    if (!take(r, '"')) {
        return false;
    }
    while (!take(r, '"')) {
        if (peek(r) < 0x20) { /* or the end */
            return false;
        }
        if (*r->at++ == '\\' && !escape(r)) {
            return false;
        }
    }
    return true;
}

static bool word(struct syntax_reader *r, const char *text)
{
    size_t size = strlen(text);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, text, size) != 0) {
        return false;
    }
    r->at += size;
    return true;
}

static bool in_object(const struct syntax_reader *r)
{
    return r->objects[r->depth / 8] & 1u << r->depth % 8;
}

static bool name(struct syntax_reader *r)
{
    skip_space(r);
    bool well = string(r);
    skip_space(r);
    return well && take(r, ':');
}

/* Behind an opening bracket: up to where a value is wanted, or past the one that closes it at once,
 * which *ret_closed tells. */
static bool opened(struct syntax_reader *r, bool object, bool *ret_closed)
{
    if (r->depth >= JSON_SYNTAX_DEPTH_MAX) {
        return false;
    }
    skip_space(r);
    *ret_closed = take(r, object ? '}' : ']');
    if (*ret_closed) {
        return true;
    }
    r->depth++;
    uint8_t bit = (uint8_t)(1u << r->depth % 8);
    r->objects[r->depth / 8] = (uint8_t)((r->objects[r->depth / 8] & ~bit) | (object ? bit : 0));
    return !object || name(r);
}

/* Behind a value: past the brackets that it closes, up to where another is wanted or to the end of
 * the outermost. */
static bool closed(struct syntax_reader *r)
{
    while (r->depth) {
        skip_space(r);
        if (take(r, ',')) {
            return !in_object(r) || name(r);
        }
        if (!take(r, in_object(r) ? '}' : ']')) {
            return false;
        }
        r->depth--;
    }
    return true;
}

static bool scalar(struct syntax_reader *r)
{
    switch (peek(r)) {
    case '"':
        return string(r);
    case 't':
        return word(r, "true");
    case 'f':
        return word(r, "false");
    case 'n':
        return word(r, "null");
    default:
        return number(r);
    }
}

bool json_syntax_valid(struct bytes text)
{
    if (text.size == 0) {
        return false;
    }
    struct syntax_reader r = {.at = text.data, .end = text.data + text.size};
    do {
        bool object, whole = true;
        skip_space(&r);
        object = peek(&r) == '{';
        if (take(&r, '{') || take(&r, '[')) {
            if (!opened(&r, object, &whole)) {
                return false;
            }
        } else if (!scalar(&r)) {
            return false;
        }
        if (whole && !closed(&r)) {
            return false;
        }
        if (whole && r.depth == 0) {
            break;
        }
    } while (true);
    skip_space(&r);
    return r.at == r.end;
}
