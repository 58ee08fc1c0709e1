#include "common/model/component_path.h"

#include <assert.h>
#include <string.h>

static bool of_a_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_';
}

static bool is_root(const char *path)
{
    return path[0] == '/' && !path[1];
}

static const char *segment_fault(struct arena *a, const char *name, size_t size)
{
    if (size == 0 || size > COMPONENT_NAME_BYTES_MAX) {
        return arena_printf(a, "a name has 1 to %d characters, not %zu", COMPONENT_NAME_BYTES_MAX,
                            size);
    }
    for (size_t i = 0; i < size; i++) {
        if (!of_a_name(name[i])) {
            return "a name has letters, digits, - and _ only";
        }
    }
    return NULL;
}

const char *component_name_fault(struct arena *a, const char *name)
{
    const char *fault = segment_fault(a, name, strlen(name));
    return fault ? arena_printf(a, "%.64s: %s", name, fault) : NULL;
}

static const char *form_fault(struct arena *a, const char *path)
{
    if (path[0] != '/') {
        return "a path begins with /";
    }
    size_t segments = 0;
    for (const char *p = path; *p; segments++) {
        const char *name = p + 1;
        size_t size = strcspn(name, "/");
        const char *fault = size > 0    ? segment_fault(a, name, size)
                            : name[0] ? "a name is missing between two /"
                                      : "it ends with a /: leave that out";
        if (fault) {
            return fault;
        }
        p = name + size;
    }
    return segments > COMPONENT_PATH_SEGMENTS_MAX
               ? arena_printf(a, "a path has at most %d segments", COMPONENT_PATH_SEGMENTS_MAX)
               : NULL;
}

const char *component_path_fault(struct arena *a, const char *path)
{
    if (is_root(path)) {
        return NULL;
    }
    const char *fault = strlen(path) > COMPONENT_PATH_BYTES_MAX
                            ? arena_printf(a, "a path has at most %d bytes",
                                           COMPONENT_PATH_BYTES_MAX)
                            : form_fault(a, path);
    return fault ? arena_printf(a, "path %.80s: %s", path[0] ? path : "\"\"", fault) : NULL;
}

const char *component_subname_fault(struct arena *a, const char *text, bool may_be_empty)
{
    const char *colon = strchr(text, ':');
    if (!colon) {
        return arena_printf(a, "%.80s: it is written path:name, as /api:key", text);
    }
    const char *fault = component_path_fault(a, arena_strndup(a, text, (size_t)(colon - text)));
    if (fault || (may_be_empty && !colon[1])) {
        return fault;
    }
    fault = segment_fault(a, colon + 1, strlen(colon + 1));
    return fault ? arena_printf(a, "%.80s: %s", text, fault) : NULL;
}

size_t component_path_depth(const char *path)
{
    assert(path[0] == '/');
    if (is_root(path)) {
        return 0;
    }
    size_t depth = 0;
    for (const char *p = path; *p; p++) {
        depth += *p == '/';
    }
    return depth;
}

bool component_path_within(const char *path, const char *top)
{
    assert(path[0] == '/' && top[0] == '/');
    size_t size = is_root(top) ? 0 : strlen(top);
    return is_root(top) || (strncmp(path, top, size) == 0 && (!path[size] || path[size] == '/'));
}

bool component_path_related(const char *one, const char *other)
{
    return component_path_within(one, other) || component_path_within(other, one);
}

int component_path_compare(const char *one, const char *other)
{
    assert(one[0] == '/' && other[0] == '/');
    if (is_root(one) || is_root(other)) {
        return is_root(one) ? (is_root(other) ? 0 : -1) : 1;
    }
    for (; *one && *one == *other; one++, other++) {
    }
    /* The end of a path comes first, then the end of a segment. */
    int a = *one == '/' ? 1 : *one ? (unsigned char)*one + 1 : 0;
    int b = *other == '/' ? 1 : *other ? (unsigned char)*other + 1 : 0;
    return a - b;
}

const char *component_path_parent(struct arena *a, const char *path)
{
    assert(path[0] == '/');
    if (is_root(path)) {
        return NULL;
    }
    const char *slash = strrchr(path, '/');
    return slash == path ? "/" : arena_strndup(a, path, (size_t)(slash - path));
}

const char *component_path_leaf(const char *path)
{
    assert(path[0] == '/');
    return strrchr(path, '/') + 1;
}

const char *component_path_child(struct arena *a, const char *path, const char *name)
{
    assert(path[0] == '/' && name[0]);
    return is_root(path) ? arena_printf(a, "/%s", name) : arena_printf(a, "%s/%s", path, name);
}

const char *component_path_prefix(struct arena *a, const char *path, size_t n)
{
    assert(n <= component_path_depth(path));
    if (n == 0) {
        return "/";
    }
    const char *end = path;
    for (size_t i = 0; i < n; i++) {
        end += 1 + strcspn(end + 1, "/");
    }
    return arena_strndup(a, path, (size_t)(end - path));
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

const char *component_path_host(struct arena *a, const char *path, const char *system)
{
    const char *host = system;
    size_t depth = component_path_depth(path);
    for (size_t n = 1; n <= depth; n++) {
        const char *leaf = component_path_leaf(component_path_prefix(a, path, n));
        char *name = arena_strdup(a, leaf);
        for (char *c = name; *c; c++) {
            *c = lower(*c);
        }
        host = arena_printf(a, "%s.%s", name, host);
    }
    return host;
}

const char *component_subname_path(struct arena *a, const char *text)
{
    const char *colon = strchr(text, ':');
    assert(colon);
    return arena_strndup(a, text, (size_t)(colon - text));
}

const char *component_subname_leaf(const char *text)
{
    const char *colon = strchr(text, ':');
    assert(colon);
    return colon + 1;
}
