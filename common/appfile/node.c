#include "common/appfile/node.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct node *node_member(const struct node *n, const char *key)
{
    assert(key);
    for (size_t i = 0; n->kind == NODE_MAP && i < n->count; i++) {
        if (strcmp(n->keys[i], key) == 0) {
            return n->items[i];
        }
    }
    return NULL;
}

const struct node *node_given(const struct node *n, const char *key)
{
    const struct node *v = node_member(n, key);
    return v && v->kind != NODE_NULL ? v : NULL;
}

bool node_is_scalar(const struct node *n)
{
    return n->kind != NODE_LIST && n->kind != NODE_MAP;
}

static json_t *list_to_json(const struct node *n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n->count; i++) {
        json_t *item = node_to_json(n->items[i]);
        if (!item) {
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *map_to_json(const struct node *n)
{
    json_t *map = json_object();
    for (size_t i = 0; i < n->count; i++) {
        json_t *item = node_to_json(n->items[i]);
        if (!item || json_object_set_new(map, n->keys[i], item) < 0) {
            json_decref(map);
            return NULL;
        }
    }
    return map;
}

json_t *node_to_json(const struct node *n)
{
    switch (n->kind) {
    case NODE_NULL:
        return json_null();
    case NODE_TRUE:
        return json_true();
    case NODE_FALSE:
        return json_false();
    case NODE_INTEGER:
        return json_integer(n->integer);
    case NODE_REAL:
        return json_real(strtod(n->text, NULL));
    case NODE_TEXT:
        return json_string(n->text);
    case NODE_LIST:
        return list_to_json(n);
    case NODE_MAP:
        return map_to_json(n);
    }
    return NULL;
}

/* The member whose key is the longest beginning of `path`, for keys may hold dots. */
static const struct node *longest_member(const struct node *n, const char *path, size_t *ret_size)
{
    const struct node *best = NULL;
    *ret_size = 0;
    for (size_t i = 0; n->kind == NODE_MAP && i < n->count; i++) {
        size_t size = strlen(n->keys[i]);
        bool whole = strncasecmp(n->keys[i], path, size) == 0 && strchr(".[", path[size]);
        if (whole && size >= *ret_size) {
            best = n->items[i];
            *ret_size = size;
        }
    }
    return best;
}

const struct node *node_at(const struct node *n, const char *path)
{
    while (*path) {
        const struct node *next = NULL;
        size_t size = 0;
        if (*path == '[') {
            char *end;
            size_t i = strtoul(path + 1, &end, 10);
            next = n->kind == NODE_LIST && i < n->count ? n->items[i] : NULL;
            size = (size_t)(end - path) + (*end == ']');
        } else {
            next = longest_member(n, path, &size);
        }
        if (!next) {
            break;
        }
        n = next;
        path += size;
        path += *path == '.';
    }
    return n;
}
