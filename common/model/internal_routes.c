#include "common/model/internal_routes.h"

#include "common/codec/json_syntax.h"
#include "common/codec/json_text.h"

#include <string.h>
#include <strings.h>

/* Text that is JSON by its grammar, and UTF-8, without white space between its tokens; a NUL ends
 * it. So each function below stands where it should, and finds the end that must be there. */

static const char *behind_string(const char *at)
{
    for (at++; *at != '"'; at++) {
        at += *at == '\\';
    }
    return at + 1;
}

static const char *behind_value(const char *at)
{
    size_t depth = 0;
    do {
        if (*at == '"') {
            at = behind_string(at);
            continue;
        }
        depth += *at == '[' || *at == '{';
        depth -= (*at == ']' || *at == '}') && depth > 0;
        at++;
    } while (depth > 0 || (*at && !strchr(",]}", *at)));
    return at;
}

/* ---- Strings --------------------------------------------------------------------------------- */

static unsigned hex4(const char *at)
{
    unsigned code = 0;
    for (int i = 0; i < 4; i++) {
        code = code << 4 | (unsigned)(at[i] <= '9' ? at[i] - '0' : (at[i] | 0x20) - 'a' + 10);
    }
    return code;
}

static bool is_half(unsigned code)
{
    return code >= 0xd800 && code <= 0xdfff;
}

/* At "uXXXX", perhaps with the other half of a pair behind it; half a pair alone is U+FFFD. */
static unsigned take_code(const char **at)
{
    unsigned code = hex4(*at + 1);
    *at += 5;
    if (!is_half(code)) {
        return code;
    }
    if (code < 0xdc00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        unsigned low = hex4(*at + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *at += 6;
            return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return 0xfffd;
}

static void append_code(struct buf *out, unsigned code)
{
    static const struct {
        unsigned below, leader_lock;
    } forms[] = {{0x80, 0}, {0x800, 0xc0}, {0x10000, 0xe0}, {0x110000, 0xf0}};
    unsigned more = 0;
    while (code >= forms[more].below) {
        more++;
    }
    buf_printf(out, "%c", (int)(forms[more].leader_lock | code >> 6 * more));
    for (unsigned i = more; i-- > 0;) {
        buf_printf(out, "%c", (int)(0x80 | (code >> 6 * i & 0x3f)));
    }
}

/* False when there is a NUL in it. */
static bool read_string(const char *at, struct buf *out)
{
    static const char escapes[] = "bfnrt", meant[] = "\b\f\n\r\t";
    bool whole = true;
    for (at++; *at != '"';) {
        if (*at != '\\') {
            buf_append(out, at++, 1);
            continue;
        }
        const char *escape = strchr(escapes, *++at);
        if (*at == 'u') {
            unsigned code = take_code(&at);
            whole = whole && code;
            append_code(out, code);
        } else {
            buf_append(out, escape ? &meant[escape - escapes] : at, 1);
            at++;
        }
    }
    return whole;
}

/* ---- The list -------------------------------------------------------------------------------- */

static bool is_hostname(const char *key)
{
    SCOPED_BUF(name);
    return read_string(key, &name) && strcasecmp(buf_string(&name), "hostname") == 0;
}

/* The string that is its hostname, NULL if it has none; `at` moves behind the object. */
static const char *take_object(const char **at)
{
    const char *hostname = NULL;
    while (**at != '}') {
        const char *key = ++*at; /* behind "{" or "," */
        if (*key == '}') {
            break;
        }
        const char *value = behind_string(key) + 1;
        if (*value == '"' && is_hostname(key)) {
            hostname = value;
        }
        *at = behind_value(value);
    }
    ++*at;
    return hostname;
}

static void read_list(struct arena *a, const char *at, const char ***ret_list, size_t *ret_count)
{
    size_t count = 0;
    for (const char *c = at; *c; c++) {
        count += *c == '{';
    }
    *ret_list = ARENA_ARRAY(a, count, const char *);
    while (*at == '[' || *at == ',') {
        at++;
        const char *hostname = NULL;
        if (*at == '{') {
            hostname = take_object(&at);
        } else if (*at != ']') {
            at = behind_value(at);
        }
        SCOPED_BUF(name);
        if (hostname && read_string(hostname, &name)) {
            (*ret_list)[(*ret_count)++] = arena_strdup(a, buf_string(&name));
        }
    }
}

void internal_hostnames(struct arena *a, struct bytes text, const char ***ret_list,
                        size_t *ret_count)
{
    SCOPED_BUF(compact);
    *ret_list = NULL;
    *ret_count = 0;
    if (!json_syntax_valid(text)) {
        return;
    }
    json_as_written(text, &compact);
    read_list(a, buf_string(&compact), ret_list, ret_count);
}
