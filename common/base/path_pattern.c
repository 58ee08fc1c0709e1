#include "common/base/path_pattern.h"

#include "common/base/query.h"

#include <assert.h>
#include <string.h>

const struct path_row *path_row_at(const struct path_table *t, size_t i)
{
    assert(i < t->count);
    return (const struct path_row *)((const char *)t->rows + i * t->row_size);
}

/* Bytes up to the next slash, or the end. */
static size_t component_size(const char *at)
{
    return strcspn(at, "/");
}

static bool is_parameter(const char *pattern)
{
    return pattern[0] == '{';
}

/* Parameters go into the arena; NULL: they are not wanted. */
static bool fits(const char *pattern, const char *path, struct arena *a, const char **ret)
{
    while (*pattern && *path) {
        if (!is_parameter(pattern)) {
            if (*pattern++ != *path++) {
                return false;
            }
            continue;
        }
        size_t size = component_size(path);
        if (size == 0 || size > PATH_PARAMETER_BYTES_MAX) {
            return false;
        }
        if (a) {
            *ret++ = percent_decoded(a, path, size);
        }
        path += size;
        pattern += component_size(pattern);
    }
    return *pattern == '\0' && *path == '\0';
}

struct path_match path_find(const struct path_table *t, const char *method, const char *path,
                            struct arena *a)
{
    struct path_match m = {.row = NULL};
    for (size_t i = 0; i < t->count; i++) {
        const struct path_row *row = path_row_at(t, i);
        if (!fits(row->pattern, path, NULL, NULL)) {
            continue;
        }
        m.row = row;
        if (strcmp(row->method, method) == 0) {
            m.allow = NULL;
            break;
        }
        m.allow = m.allow ? arena_printf(a, "%s, %s", m.allow, row->method) : row->method;
    }
    for (size_t i = 0; i < PATH_PARAMETERS_MAX; i++) {
        m.parameters[i] = "";
    }
    if (m.row) {
        fits(((const struct path_row *)m.row)->pattern, path, a, m.parameters);
    }
    return m;
}

size_t path_body_max(const struct path_table *t, const char *path, size_t otherwise)
{
    size_t most = 0;
    bool found = false;
    for (size_t i = 0; i < t->count; i++) {
        const struct path_row *row = path_row_at(t, i);
        if (fits(row->pattern, path, NULL, NULL)) {
            most = row->body_max > most ? row->body_max : most;
            found = true;
        }
    }
    return found ? most : otherwise;
}

static bool well_formed(const char *pattern)
{
    size_t parameters = 0;
    if (pattern[0] != '/') {
        return false;
    }
    for (const char *at = pattern; *at == '/';) {
        size_t size = component_size(++at);
        bool parameter = is_parameter(at);
        parameters += parameter;
        size_t open = strcspn(at, "{"), close = strcspn(at, "}");
        if (parameter ? size < 3 || close != size - 1 : open < size || close < size) {
            return false;
        }
        at += size;
    }
    return parameters <= PATH_PARAMETERS_MAX;
}

/* Whether some path fits both. */
static bool meet(const char *x, const char *y)
{
    while (*x && *y) {
        if (is_parameter(x) || is_parameter(y)) { /* no parameter is empty */
            size_t x_size = component_size(x), y_size = component_size(y);
            if (x_size == 0 || y_size == 0) {
                return false;
            }
            x += x_size;
            y += y_size;
        } else if (*x++ != *y++) {
            return false;
        }
    }
    return *x == *y;
}

const struct path_row *path_table_fault(const struct path_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct path_row *row = path_row_at(t, i);
        if (!well_formed(row->pattern)) {
            return row;
        }
        for (size_t n = 0; n < i; n++) {
            const struct path_row *other = path_row_at(t, n);
            if (strcmp(row->method, other->method) == 0 && meet(row->pattern, other->pattern)) {
                return row;
            }
        }
    }
    return NULL;
}
