#include "common/codec/json_text.h"

#include "common/codec/json.h"

#include <jansson.h>
#include <string.h>

/* Length of the UTF-8 sequence at the front, 0 when it is not valid. */
static size_t utf8_length(const uint8_t *at, size_t left)
{
    static const struct {
        uint8_t mask, lead, low, high; /* low and high bound the second byte */
        uint8_t size;
    } forms[] = {
        {0x80, 0x00, 0, 0, 1},       {0xff, 0xe0, 0xa0, 0xbf, 3}, /* no overlong form */
        {0xff, 0xed, 0x80, 0x9f, 3},                              /* no surrogate */
        {0xff, 0xf0, 0x90, 0xbf, 4}, {0xff, 0xf4, 0x80, 0x8f, 4}, /* nothing above U+10FFFF */
        {0xe0, 0xc0, 0x80, 0xbf, 2}, {0xf0, 0xe0, 0x80, 0xbf, 3}, {0xf8, 0xf0, 0x80, 0xbf, 4},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if ((at[0] & forms[i].mask) != forms[i].lead) {
            continue;
        }
        size_t size = forms[i].size;
        if (size > left || at[0] == 0xc0 || at[0] == 0xc1 || at[0] > 0xf4) {
            return 0;
        }
        for (size_t k = 1; k < size; k++) {
            uint8_t low = k == 1 ? forms[i].low : 0x80, high = k == 1 ? forms[i].high : 0xbf;
            if (at[k] < low || at[k] > high) {
                return 0;
            }
        }
        return size;
    }
    return 0;
}

bool utf8_valid(struct bytes text)
{
    for (size_t at = 0; at < text.size;) {
        size_t size = utf8_length(text.data + at, text.size - at);
        if (size == 0) {
            return false;
        }
        at += size;
    }
    return true;
}

static bool is_line_separator(const uint8_t *at, size_t size)
{
    return size == 3 && at[0] == 0xe2 && at[1] == 0x80 && (at[2] | 1) == 0xa9;
}

/* The escape for one character as Go writes it, NULL when it stands for itself. */
static const char *escape_of(uint8_t c, char text[8])
{
    static const char *const short_forms[128] = {
        ['"'] = "\\\"", ['\\'] = "\\\\",   ['\n'] = "\\n",    ['\r'] = "\\r",
        ['\t'] = "\\t", ['<'] = "\\u003c", ['>'] = "\\u003e", ['&'] = "\\u0026",
    };
    static const char digits[] = "0123456789abcdef";
    if (c < 128 && short_forms[c]) {
        return short_forms[c];
    }
    if (c >= 0x20) {
        return NULL;
    }
    memcpy(text, "\\u00", 4);
    text[4] = digits[c >> 4];
    text[5] = digits[c & 15];
    text[6] = 0;
    return text;
}

void json_string_text(struct bytes text, struct buf *out)
{
    buf_append(out, "\"", 1);
    for (size_t i = 0, size; i < text.size; i += size) {
        char room[8];
        const uint8_t *at = text.data + i;
        size = utf8_length(at, text.size - i);
        if (size == 0) {
            size = 1;
            buf_append_string(out, "\\ufffd");
        } else if (is_line_separator(at, size)) {
            buf_append_string(out, at[2] == 0xa8 ? "\\u2028" : "\\u2029");
        } else if (size > 1 || !escape_of(*at, room)) {
            buf_append(out, at, size);
        } else {
            buf_append_string(out, escape_of(*at, room));
        }
    }
    buf_append(out, "\"", 1);
}

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct bytes in, struct buf *out)
{
    for (size_t i = 0; i < in.size; i += 3) {
        size_t n = in.size - i < 3 ? in.size - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++) {
            bits = bits << 8 | (k < n ? in.data[i + k] : 0);
        }
        char group[4];
        for (size_t k = 0; k < 4; k++) {
            group[k] = k <= n ? base64_digits[bits >> (18 - 6 * k) & 63] : '=';
        }
        buf_append(out, group, 4);
    }
}

int base64_decode(struct arena *a, struct bytes text, struct bytes *ret_bytes, struct err *err)
{
    size_t padding = 0;
    while (padding < 2 && padding < text.size && text.data[text.size - 1 - padding] == '=') {
        padding++;
    }
    if (text.size % 4) {
        return err_set(err, ERR_INVALID, "is not base64: its length is not a multiple of 4");
    }
    uint8_t *out = arena_alloc(a, text.size / 4 * 3);
    size_t size = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < text.size; i++) {
        bool pad = i >= text.size - padding;
        const char *digit = pad ? base64_digits : strchr(base64_digits, text.data[i]);
        if (!digit || text.data[i] == 0) {
            return err_set(err, ERR_INVALID, "is not base64: wrong character at %zu", i);
        }
        bits = bits << 6 | (uint32_t)(digit - base64_digits);
        if (i % 4 == 3) {
            out[size++] = (uint8_t)(bits >> 16);
            out[size++] = (uint8_t)(bits >> 8);
            out[size++] = (uint8_t)bits;
        }
    }
    *ret_bytes = (struct bytes){out, size - padding};
    return 0;
}

int json_check_bounds(struct bytes text, struct err *err)
{
    size_t depth = 0, values = 1;
    bool quoted = false;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
            continue;
        }
        quoted = c == '"';
        values += c == ',' || c == '[' || c == '{';
        depth += c == '[' || c == '{';
        depth -= (c == ']' || c == '}') && depth > 0;
        if (depth > JSON_DEPTH_MAX || values > JSON_VALUES_MAX) {
            return err_set(err, ERR_TOO_LARGE,
                           "JSON nested deeper than %d or of more than %d values", JSON_DEPTH_MAX,
                           JSON_VALUES_MAX);
        }
    }
    return 0;
}

/* One character of a string, which needs no escape as JSON has it. */
static size_t append_character(struct bytes text, struct buf *out)
{
    char room[8];
    size_t size = utf8_length(text.data, text.size);
    if (size == 0) {
        buf_append_string(out, "\\ufffd");
        return 1;
    }
    if (is_line_separator(text.data, size)) {
        buf_append_string(out, text.data[2] == 0xa8 ? "\\u2028" : "\\u2029");
    } else if (*text.data == '<' || *text.data == '>' || *text.data == '&') {
        buf_append_string(out, escape_of(*text.data, room));
    } else {
        buf_append(out, text.data, size);
    }
    return size;
}

void json_as_written(struct bytes text, struct buf *out)
{
    bool quoted = false;
    for (size_t i = 0, size; i < text.size; i += size) {
        uint8_t c = text.data[i];
        size = 1;
        if (!quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
            continue;
        }
        if (quoted && c == '\\') {
            size = text.size - i < 2 ? text.size - i : 2;
            buf_append(out, text.data + i, size);
            continue;
        }
        quoted ^= c == '"';
        size = append_character((struct bytes){text.data + i, text.size - i}, out);
    }
}

int json_compact(struct bytes text, struct buf *out, struct err *err)
{
    int r = json_check_bounds(text, err);
    if (r < 0) {
        return r;
    }
    json_error_t e;
    json_t *value = json_loadb((const char *)text.data, text.size,
                               JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &e);
    if (!value) {
        return err_set(err, ERR_INVALID, "not valid JSON: %s", e.text);
    }
    json_decref(value);
    json_as_written(text, out);
    return 0;
}
