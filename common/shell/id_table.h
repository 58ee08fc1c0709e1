/* A table from 64-bit ids to pointers: the shells' open requests, calls and subscriptions. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct id_slot;

struct id_table {
    struct id_slot *slots; /* a power of two of them, at most half used */
    size_t capacity;
    size_t count;
};

void id_table_init(struct id_table *t);
void id_table_done(struct id_table *t);

/* The value, or NULL. */
void *id_table_get(const struct id_table *t, uint64_t id);

/* Adds an entry; the id must not be in the table, the value not NULL. */
void id_table_add(struct id_table *t, uint64_t id, void *value);

/* Takes the entry out and gives its value, or NULL. */
void *id_table_remove(struct id_table *t, uint64_t id);
