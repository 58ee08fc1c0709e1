/* Tables for people: columns as wide as their widest cell. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/cli/printable.h"

#include <stdbool.h>

enum {
    TABLE_COLUMNS_MAX = 12,
    TABLE_CELL_LETTERS = 60, /* of a cell on a terminal, whose lines a long name would break */
};

struct table {
    struct arena *arena;
    unsigned columns;
    bool terminal;  /* cells that are added from now on end with an ellipsis if they are longer */
    unsigned width; /* columns of the terminal; 0 = as wide as need be */
    struct table_row *first, *last;
};

/* A copy in capitals: names of states on the wire are written in more than one way. */
const char *text_upper(struct arena *a, const char *text);

/* `titles` are the first row; all strings are copied into the arena. */
void table_init(struct table *t, struct arena *a, unsigned columns, const char *const *titles);

/* One cell for each column; NULL is shown as "-". */
void table_add(struct table *t, const char *const *cells);

/* A line of its own below the last row, indented. */
void table_note(struct table *t, const char *text);

/* Control characters are shown as "?", so that no record can play with a terminal. The last columns
 * that do not fit into the width stand below their row, a line "      TITLE: cell" each, but for
 * those with nothing in them; the first column always stands in the row. */
void table_print(const struct table *t, struct buf *out);

/* "once", "twice", "3 times" */
const char *times_text(struct arena *a, int64_t times);

/* "47s", "3m", "5h", "12d"; a negative age counts as 0. */
const char *age_text(struct arena *a, int64_t age_ns);
