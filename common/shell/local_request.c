#include "common/shell/local_request.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#define BEGIN "POST "
#define VERSION " HTTP/1.1"
#define LENGTH "Content-Length:"

/* "/v1/..." of the first line; false: it is not so. */
static bool read_path(const char *line, size_t size, char path[LOCAL_PATH_BYTES])
{
    size_t begin = strlen(BEGIN), version = strlen(VERSION);
    if (size <= begin + version || memcmp(line, BEGIN, begin) != 0 ||
        memcmp(line + size - version, VERSION, version) != 0) {
        return false;
    }
    size_t length = size - begin - version;
    assert(length > 0 && length < size);
    const char *at = line + begin;
    if (length >= LOCAL_PATH_BYTES || at[0] != '/' || memchr(at, ' ', length) ||
        memchr(at, '\0', length)) {
        return false;
    }
    assert(at[length] == ' ');
    memcpy(path, at, length);
    path[length] = '\0';
    return true;
}

/* Digits alone, at most nine; false: it is no length. */
static bool read_number(const char *text, const char *end, size_t *ret)
{
    enum { DIGITS_MAX = 9 };
    size_t number = 0, digits = 0;
    assert(text <= end);
    while (text < end && *text == ' ') {
        text++;
    }
    for (; text < end && *text >= '0' && *text <= '9' && digits < DIGITS_MAX; text++, digits++) {
        number = number * 10 + (size_t)(*text - '0');
    }
    *ret = number;
    return digits > 0 && text == end;
}

/* The lines behind the first one; one of them, and no other, tells the body's length. */
static bool read_length(const char *at, const char *end, size_t *ret)
{
    bool found = false;
    assert(at <= end);
    while (at < end) {
        const char *feed = memmem(at, (size_t)(end - at), "\r\n", 2);
        if (!feed) {
            return false;
        }
        if ((size_t)(feed - at) > strlen(LENGTH) && strncasecmp(at, LENGTH, strlen(LENGTH)) == 0) {
            if (found || !read_number(at + strlen(LENGTH), feed, ret)) {
                return false;
            }
            found = true;
        }
        at = feed + 2;
    }
    return found;
}

enum local_parse local_request_parse(struct bytes read, size_t body_max, struct local_request *ret)
{
    const char *begin = read.size > 0 ? (const char *)read.data : "";
    size_t head = read.size < LOCAL_HEAD_BYTES ? read.size : LOCAL_HEAD_BYTES, length;
    const char *end = memmem(begin, head, "\r\n\r\n", 4);
    if (!end) {
        return read.size < LOCAL_HEAD_BYTES ? LOCAL_MORE : LOCAL_MALFORMED;
    }
    const char *line = memmem(begin, head, "\r\n", 2);
    assert(line && line <= end);
    if (!read_path(begin, (size_t)(line - begin), ret->path) ||
        !read_length(line + 2, end + 2, &length)) {
        return LOCAL_MALFORMED;
    }
    if (length > body_max) {
        return LOCAL_TOO_LARGE;
    }
    assert(length <= body_max);
    size_t there = read.size - (size_t)(end + 4 - begin);
    ret->body = (struct bytes){(const uint8_t *)end + 4, length};
    return there < length ? LOCAL_MORE : there > length ? LOCAL_MALFORMED : LOCAL_WHOLE;
}
