#include "common/base/map.h"

#include "common/base/memory.h"

#include <assert.h>
#include <bsd/sys/tree.h>
#include <stdlib.h>
#include <string.h>

struct map_node {
    RB_ENTRY(map_node) link;
    void *value;
    char key[];
};

RB_HEAD(tree, map_node);

static int node_compare(const struct map_node *a, const struct map_node *b)
{
    return strcmp(a->key, b->key);
}

RB_GENERATE_INTERNAL(tree, map_node, link, node_compare, static __attribute__((unused)))

/* The tree's head is one pointer, so struct map need not show it. */
static struct tree *tree_of(const struct map *m)
{
    _Static_assert(sizeof(struct tree) == sizeof(m->root), "head is one pointer");
    return (struct tree *)(void *)&((struct map *)(size_t)m)->root;
}

void map_init(struct map *m)
{
    *m = (struct map){0};
}

void map_done(struct map *m, void (*free_value)(void *value))
{
    MAP_EACH(m, n)
    {
        RB_REMOVE(tree, tree_of(m), n);
        if (free_value) {
            free_value(n->value);
        }
        free(n);
    }
    map_init(m);
}

static struct map_node *find(const struct map *m, const char *key)
{
    struct map_node *n = m->root;
    while (n) {
        int order = strcmp(key, n->key);
        if (order == 0) {
            return n;
        }
        n = order < 0 ? RB_LEFT(n, link) : RB_RIGHT(n, link);
    }
    return NULL;
}

void *map_get(const struct map *m, const char *key)
{
    struct map_node *n = find(m, key);
    return n ? n->value : NULL;
}

void *map_named(struct map *m, const char *key, size_t key_at)
{
    char *value = map_get(m, key);
    if (!value) {
        value = mem_zeroed(key_at + strlen(key) + 1);
        strcpy(value + key_at, key);
        map_put(m, key, value);
    }
    return value;
}

void *map_put(struct map *m, const char *key, void *value)
{
    assert(value);
    struct map_node *n = find(m, key);
    if (n) {
        void *old = n->value;
        n->value = value;
        return old;
    }
    size_t size = strlen(key) + 1;
    n = mem_zeroed(sizeof(*n) + size);
    memcpy(n->key, key, size);
    n->value = value;
    struct map_node *stood = RB_INSERT(tree, tree_of(m), n);
    assert(!stood);
    m->count++;
    return NULL;
}

void *map_remove(struct map *m, const char *key)
{
    struct map_node *n = find(m, key);
    if (!n) {
        return NULL;
    }
    void *value = n->value;
    RB_REMOVE(tree, tree_of(m), n);
    free(n);
    assert(m->count > 0);
    m->count--;
    assert((m->count == 0) == (m->root == NULL));
    return value;
}

struct map_node *map_first(const struct map *m)
{
    return m->root ? RB_MIN(tree, tree_of(m)) : NULL;
}

struct map_node *map_from(const struct map *m, const char *key)
{
    struct map_node *n = m->root, *best = NULL;
    while (n) {
        if (strcmp(key, n->key) <= 0) {
            best = n;
            n = RB_LEFT(n, link);
        } else {
            n = RB_RIGHT(n, link);
        }
    }
    return best;
}

struct map_node *map_next(struct map_node *n)
{
    assert(n);
    return RB_NEXT(tree, NULL, n);
}

const char *map_key(const struct map_node *n)
{
    return n->key;
}

void *map_value(const struct map_node *n)
{
    return n->value;
}
