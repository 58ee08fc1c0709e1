#include "common/cli/table.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct table_row {
    struct table_row *next;
    bool note;
    const char *cells[];
};

static void append(struct table *t, struct table_row *row)
{
    if (t->last) {
        t->last->next = row;
    } else {
        t->first = row;
    }
    t->last = row;
}

static struct table_row *new_row(struct table *t, unsigned cells)
{
    return arena_alloc(t->arena, sizeof(struct table_row) + cells * sizeof(char *));
}

const char *text_upper(struct arena *a, const char *text)
{
    char *copy = arena_strdup(a, text);
    for (char *c = copy; *c; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
    return copy;
}

static const char *printable(struct arena *a, const char *text)
{
    return text && *text ? text_printable(a, text) : "-";
}

/* Whole letters of UTF-8, the last of them the ellipsis. */
static const char *cut(struct arena *a, const char *text)
{
    size_t letters = 0, keep = 0;
    for (size_t i = 0; text[i]; i++) {
        bool begins = ((unsigned char)text[i] & 0xc0) != 0x80;
        keep = begins && letters == TABLE_CELL_LETTERS - 1 ? i : keep;
        letters += begins;
    }
    return letters > TABLE_CELL_LETTERS ? arena_printf(a, "%.*s\u2026", (int)keep, text) : text;
}

void table_init(struct table *t, struct arena *a, unsigned columns, const char *const *titles)
{
    assert(columns > 0 && columns <= TABLE_COLUMNS_MAX);
    *t = (struct table){.arena = a, .columns = columns};
    table_add(t, titles);
}

void table_add(struct table *t, const char *const *cells)
{
    struct table_row *row = new_row(t, t->columns);
    for (unsigned i = 0; i < t->columns; i++) {
        const char *text = printable(t->arena, cells[i]);
        row->cells[i] = t->terminal ? cut(t->arena, text) : text;
    }
    append(t, row);
}

void table_note(struct table *t, const char *text)
{
    struct table_row *row = new_row(t, 1);
    row->note = true;
    row->cells[0] = printable(t->arena, text);
    append(t, row);
}

/* How many of the columns stand in a row. */
static unsigned columns_in_row(const struct table *t, const size_t *widths)
{
    size_t used = widths[0];
    unsigned fit = 1;
    while (fit < t->columns && (t->width == 0 || used + 2 + widths[fit] <= t->width)) {
        used += 2 + widths[fit++];
    }
    assert(fit >= 1 && fit <= t->columns);
    assert(t->width == 0 || fit == 1 || used <= t->width);
    return fit;
}

static void print_row(const struct table *t, const struct table_row *row, const size_t *widths,
                      unsigned fit, struct buf *out)
{
    for (unsigned i = 0; i < fit; i++) {
        buf_append_string(out, row->cells[i]);
        if (i + 1 < fit) {
            buf_printf(out, "%*s", (int)(widths[i] - text_characters(row->cells[i]) + 2), "");
        }
    }
    buf_append_string(out, "\n");
    for (unsigned i = fit; i < t->columns && row != t->first; i++) {
        if (strcmp(row->cells[i], "-") != 0) {
            buf_printf(out, "      %s: %s\n", t->first->cells[i], row->cells[i]);
        }
    }
}

void table_print(const struct table *t, struct buf *out)
{
    size_t widths[TABLE_COLUMNS_MAX] = {0};
    for (const struct table_row *row = t->first; row; row = row->next) {
        for (unsigned i = 0; !row->note && i < t->columns; i++) {
            size_t width = text_characters(row->cells[i]);
            widths[i] = width > widths[i] ? width : widths[i];
        }
    }
    unsigned fit = columns_in_row(t, widths);
    for (const struct table_row *row = t->first; row; row = row->next) {
        if (row->note) {
            buf_printf(out, "    %s\n", row->cells[0]);
        } else {
            print_row(t, row, widths, fit, out);
        }
    }
}

const char *age_text(struct arena *a, int64_t age_ns)
{
    long long seconds = age_ns > 0 ? age_ns / 1000000000 : 0;
    if (seconds < 2 * 60) {
        return arena_printf(a, "%llds", seconds);
    }
    if (seconds < 2 * 3600) {
        return arena_printf(a, "%lldm", seconds / 60);
    }
    if (seconds < 48 * 3600) {
        return arena_printf(a, "%lldh", seconds / 3600);
    }
    return arena_printf(a, "%lldd", seconds / 86400);
}

const char *times_text(struct arena *a, int64_t times)
{
    return times == 1   ? "once"
           : times == 2 ? "twice"
                        : arena_printf(a, "%lld times", (long long)times);
}
