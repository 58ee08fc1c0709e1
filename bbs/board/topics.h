/* The topics of a reader of the feed: keys, and prefixes of keys that end in a slash. A changed key
 * is looked up by hash at each of its slashes and as a whole, so that thousands of topics cost a
 * change no more than one does (design.md 2, Feed). Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/model/keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct topics {
    const char **slots; /* open addressing; NULL = free */
    size_t slot_count;  /* a power of two, twice the topics at least; 0 = there are none */
    uint64_t types;     /* bits of the record types that they name; others are not looked up */
};

/* Room for `count` topics, in the arena. */
void topics_init(struct topics *t, struct arena *a, size_t count);

/* Borrowed. The same one again changes nothing. */
void topics_add(struct topics *t, const char *topic);

/* One of them is the key, or is a prefix of it. `type` is the key's. */
bool topics_match(const struct topics *t, enum record_type type, const char *key);
