#include "common/cli/printable.h"

/* U+202A to U+202E and U+2066 to U+2069 turn the order in which a line is shown. */
static bool is_control(uint32_t letter)
{
    return letter < 0x20 || (letter >= 0x7f && letter < 0xa0) ||
           (letter >= 0x202a && letter <= 0x202e) || (letter >= 0x2066 && letter <= 0x2069);
}

/* The bytes of the control character that the text begins with; 0 = it begins with none. The text
 * may be no UTF-8. */
static size_t control_at(const uint8_t *at)
{
    if (at[0] < 0x80) {
        return is_control(at[0]);
    }
    if (at[0] == 0xc2 && at[1] >= 0x80) {
        return is_control(at[1]) ? 2 : 0;
    }
    bool three = at[0] == 0xe2 && (at[1] & 0xc0) == 0x80 && (at[2] & 0xc0) == 0x80;
    return three && is_control(0x2000u | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu)) ? 3 : 0;
}

void printable_append(struct buf *out, const char *text)
{
    for (const uint8_t *at = (const uint8_t *)text; *at;) {
        size_t control = control_at(at);
        buf_append(out, control ? (const uint8_t *)"?" : at, 1);
        at += control ? control : 1;
    }
}

char *text_printable(struct arena *a, const char *text)
{
    SCOPED_BUF(out);
    printable_append(&out, text);
    return arena_strdup(a, buf_string(&out));
}

/* How many bytes the character has that begins so; 0: none begins so. */
static size_t size_of(uint8_t first)
{
    return first < 0x80                    ? 1
           : first >= 0xc2 && first < 0xe0 ? 2
           : first >= 0xe0 && first < 0xf0 ? 3
           : first >= 0xf0 && first < 0xf5 ? 4
                                           : 0;
}

static void drop_held(struct printable *p, struct buf *out)
{
    for (size_t i = 0; i < p->held_count; i++) {
        buf_printf(out, p->held[i] < 0x80 ? "\\u%04x" : "\\x%02x", (unsigned)p->held[i]);
    }
    p->held_count = 0;
}

/* A whole character is held. One that is written longer than need be, or is half of a pair, is
 * none. */
static void give_held(struct printable *p, struct buf *out)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t letter = p->held[0] & (0xff >> (p->held_count + 1));
    for (size_t i = 1; i < p->held_count; i++) {
        letter = letter << 6 | (p->held[i] & 0x3f);
    }
    if (letter < least[p->held_count] || (letter >= 0xd800 && letter < 0xe000) ||
        letter > 0x10ffff) {
        drop_held(p, out);
        return;
    }
    if (is_control(letter)) {
        buf_printf(out, "\\u%04x", (unsigned)letter);
    } else {
        buf_append(out, p->held, p->held_count);
    }
    p->held_count = 0;
}

static void begin(struct printable *p, uint8_t byte, struct buf *out)
{
    size_t size = size_of(byte);
    if (size == 1 && byte != '\r' && (byte == '\n' || byte == '\t' || !is_control(byte))) {
        buf_append(out, &byte, 1);
        return;
    }
    p->held[0] = byte;
    p->held_count = 1;
    if (size <= 1 && byte != '\r') {
        drop_held(p, out);
    }
}

static void take(struct printable *p, uint8_t byte, struct buf *out)
{
    if (p->held_count > 0 && p->held[0] == '\r') {
        p->held_count = byte == '\n' ? 0 : 1;
        buf_append_string(out, byte == '\n' ? "\r" : "");
        drop_held(p, out);
    } else if (p->held_count > 0 && (byte & 0xc0) == 0x80) {
        p->held[p->held_count++] = byte;
        if (p->held_count == size_of(p->held[0])) {
            give_held(p, out);
        }
        return;
    }
    drop_held(p, out);
    begin(p, byte, out);
}

void printable_take(struct printable *p, struct bytes bytes, struct buf *out)
{
    for (size_t i = 0; i < bytes.size; i++) {
        take(p, bytes.data[i], out);
    }
}

void printable_end(struct printable *p, struct buf *out)
{
    drop_held(p, out);
}
