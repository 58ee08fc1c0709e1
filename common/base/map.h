/* A sorted map from string to pointer. Always walked in byte order of the keys, so that the same
 * seed gives the same trace (style 3.6). Keys are copied; values belong to the caller. */
#pragma once

#include <stddef.h>

struct map_node;

struct map {
    struct map_node *root;
    size_t count;
};

void map_init(struct map *m);

/* Drops all entries; calls free_value (may be NULL) on each value. */
void map_done(struct map *m, void (*free_value)(void *value));

/* The value, or NULL. */
void *map_get(const struct map *m, const char *key);

/* Sets the value (not NULL) and gives the one it replaced, or NULL. */
void *map_put(struct map *m, const char *key, void *value);

/* The value; if there is none, zeroed bytes are put there that end with a copy of the key, `key_at`
 * bytes on: for free(). For a struct that ends with its own name. */
void *map_named(struct map *m, const char *key, size_t key_at);

/* Takes the entry out and gives its value, or NULL. */
void *map_remove(struct map *m, const char *key);

/* Walking: the node itself stays valid until its own removal. `map_from` is the first entry whose
 * key is not below `key`. NULL at the end. */
struct map_node *map_first(const struct map *m);
struct map_node *map_from(const struct map *m, const char *key);
struct map_node *map_next(struct map_node *n);
const char *map_key(const struct map_node *n);
void *map_value(const struct map_node *n);

/* The loop may remove the current entry, and nothing else. */
#define MAP_EACH(m, n)                                                                             \
    for (struct map_node *n = map_first(m), *n##_next = n ? map_next(n) : NULL; n;                 \
         n = n##_next, n##_next = n ? map_next(n) : NULL)
