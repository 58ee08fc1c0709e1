#include "rep/courier/response.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum {
    OK = 200,
    PARTIAL = 206,
    NOT_MODIFIED = 304,
    REQUEST_TIMEOUT = 408,
    RANGE_NOT_SATISFIABLE = 416,
    TOO_MANY_REQUESTS = 429,
    SERVER_ERROR = 500,
};

/* "HTTP/1.1 200 OK", "HTTP/2 200". */
static bool status_line(struct bytes line, int *ret)
{
    const uint8_t *blank = line.size > 5 && memcmp(line.data, "HTTP/", 5) == 0
                               ? memchr(line.data, ' ', line.size)
                               : NULL;
    size_t at = blank ? (size_t)(blank - line.data) + 1 : 0;
    if (!blank || line.size < at + 3 || !isdigit(line.data[at]) || !isdigit(line.data[at + 1]) ||
        !isdigit(line.data[at + 2])) {
        return false;
    }
    *ret = (line.data[at] - '0') * 100 + (line.data[at + 1] - '0') * 10 + line.data[at + 2] - '0';
    return true;
}

static bool is_white(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The value, without the blanks around it, if the line is of that header. */
static bool header(struct bytes line, const char *name, struct bytes *ret)
{
    size_t from = strlen(name), to = line.size;
    if (to <= from || line.data[from] != ':' ||
        strncasecmp((const char *)line.data, name, from) != 0) {
        return false;
    }
    from++;
    while (from < to && is_white(line.data[from])) {
        from++;
    }
    while (to > from && is_white(line.data[to - 1])) {
        to--;
    }
    *ret = (struct bytes){line.data + from, to - from};
    return true;
}

static void keep(struct bytes value, char *ret)
{
    if (cache_validator_valid(value)) {
        memcpy(ret, value.data, value.size);
        ret[value.size] = '\0';
    }
}

/* "bytes 100-199/200" */
static int64_t range_start(struct bytes v)
{
    enum { WORD = 6, DIGITS = 18 };
    int64_t start = 0;
    size_t at = WORD;
    if (v.size <= WORD || strncasecmp((const char *)v.data, "bytes ", WORD) != 0) {
        return -1;
    }
    for (; at < v.size && isdigit(v.data[at]) && at < WORD + DIGITS; at++) {
        start = start * 10 + (v.data[at] - '0');
    }
    return at > WORD && at < v.size && v.data[at] == '-' ? start : -1;
}

void response_line(struct server_response *r, struct bytes line)
{
    struct bytes value;
    int status;
    if (status_line(line, &status)) {
        *r = (struct server_response){.status = status, .range_start = -1};
    } else if (header(line, "etag", &value)) {
        keep(value, r->etag);
    } else if (header(line, "last-modified", &value)) {
        keep(value, r->modified);
    } else if (header(line, "content-range", &value)) {
        r->range_start = range_start(value);
    }
}

bool etag_strong(const char *etag)
{
    size_t n = strlen(etag);
    return n >= 2 && etag[0] == '"' && etag[n - 1] == '"';
}

/* 1. A part goes on behind what is here when it begins there and is of the same content: both have
 *    the same strong ETag.
 * 2. 200 is the whole content, whatever was asked.
 * 3. Anything else is no content. */
enum take response_take(const struct server_response *r, const struct part_asked *asked)
{
    assert(asked->offset >= 0);
    if (r->status == PARTIAL) { /* 1 */
        bool same = etag_strong(asked->etag) && strcmp(r->etag, asked->etag) == 0;
        return asked->offset > 0 && r->range_start == asked->offset && same ? TAKE_ON : TAKE_NOT;
    }
    return r->status == OK ? TAKE_ANEW : TAKE_NOT; /* 2, 3 */
}

/* 1. Content that was taken is it.
 * 2. Unchanged, if that was the question.
 * 3. A part that cannot be gone on with, or none when one was asked for: from the beginning.
 * 4. What may pass.
 * 5. All else is final. */
enum fetch_verdict response_verdict(const struct server_response *r, const struct part_asked *asked)
{
    if (response_take(r, asked) != TAKE_NOT) { /* 1 */
        return VERDICT_DONE;
    }
    if (r->status == NOT_MODIFIED && asked->conditional) { /* 2 */
        return VERDICT_UNCHANGED;
    }
    if (asked->offset > 0 && (r->status == PARTIAL || r->status == RANGE_NOT_SATISFIABLE)) { /* 3 */
        return VERDICT_ANEW;
    }
    if (r->status >= SERVER_ERROR || r->status == REQUEST_TIMEOUT ||
        r->status == TOO_MANY_REQUESTS) { /* 4 */
        return VERDICT_AGAIN;
    }
    return VERDICT_FAILED; /* 5 */
}
