/* Patterns of paths, and tables whose rows begin with a method and a pattern. Pure.
 *
 * A pattern is "/v1/tasks/{task_guid}/cancel": a component "{name}" stands for one component that
 * is not empty, a parameter; all else stands for itself, byte for byte. A slash at the end makes
 * another path. */
#pragma once

#include "common/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PATH_PARAMETERS_MAX = 4, /* of a pattern */
    /* Of a value, with its escapes; a longer one fits no pattern. */
    PATH_PARAMETER_BYTES_MAX = 1024,
};

/* What each row of a table begins with. */
struct path_row {
    const char *method;
    const char *pattern;
    size_t body_max; /* bytes of a request's body */
};

struct path_table {
    const void *rows;
    size_t count;
    size_t row_size; /* in bytes */
};

/* The initialiser for an array of rows. */
#define PATH_TABLE(rows_)                                                                          \
    {                                                                                              \
        .rows = (rows_), .count = sizeof(rows_) / sizeof((rows_)[0]),                              \
        .row_size = sizeof((rows_)[0])                                                             \
    }

struct path_match {
    const void *row;   /* NULL: no pattern fits the path */
    const char *allow; /* NULL, or the methods that the path takes ("GET, POST"), not this one */
    const char *parameters[PATH_PARAMETERS_MAX]; /* in their order, without escapes; then "" */
};

/* The row for this method and path; what it gives lives in the arena. */
struct path_match path_find(const struct path_table *t, const char *method, const char *path,
                            struct arena *a);

/* The largest body that a row for this path takes, whatever the method; `otherwise` if none fits.
 */
size_t path_body_max(const struct path_table *t, const char *path, size_t otherwise);

/* The first row that this table cannot have: its pattern is malformed, or a row before it takes the
 * same method and fits some of the same paths. NULL: none. Whoever has a table asserts at its start
 * that it has none. */
const struct path_row *path_table_fault(const struct path_table *t);

/* Row i, less than the count. */
const struct path_row *path_row_at(const struct path_table *t, size_t i);
