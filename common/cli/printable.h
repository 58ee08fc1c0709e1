/* What others wrote, made so that it cannot play with a terminal. Pure. A control character is one
 * of U+0000 to U+001F, U+007F, and U+0080 to U+009F, which a terminal obeys in UTF-8, too; or one
 * that turns the order of a line, of U+202A to U+202E and U+2066 to U+2069. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

/* For a cell of a table or a part of a sentence: "?" for each control character. */
char *text_printable(struct arena *a, const char *text);
void printable_append(struct buf *out, const char *text);

/* For what a container wrote, which comes in pieces of any size. */
struct printable {
    uint8_t held[4]; /* the begin of a character whose end has not come, or a carriage return */
    size_t held_count;
};

/* Appends the bytes: UTF-8, tabs and the ends of lines (also "\r\n") as they are, other control
 * characters as "\u001b", bytes that are no UTF-8 as "\xff". What is JSON stays the same JSON. */
void printable_take(struct printable *p, struct bytes bytes, struct buf *out);

/* No more comes: what was held is no whole character. */
void printable_end(struct printable *p, struct buf *out);
