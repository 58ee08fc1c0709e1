/* The read set: all that a decision read, so that its write compares all of it (design.md 2).
 * Gather fills it, the op compiles it into compares; no decision writes compares by hand. */
#pragma once

#include "common/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everywhere the same six. */
enum compare_kind {
    COMPARE_UNCHANGED,     /* key has mod-revision `revision` */
    COMPARE_EXISTS,        /* key is there, whatever its value */
    COMPARE_ABSENT,        /* key is not there */
    COMPARE_RANGE_EMPTY,   /* no key starts with `key` */
    COMPARE_GAP_EMPTY,     /* no key lies from `key` on to before `end` */
    COMPARE_NOTHING_NEWER, /* no key starting with `key` has a mod-revision above `revision` */
    COMPARE_KIND_COUNT
};

struct compare {
    enum compare_kind kind;
    const char *key;
    const char *end; /* GAP_EMPTY */
    int64_t revision;
    /* NOTHING_NEWER: so many keys start with `key`. No compare of etcd says that none is missing;
     * where nothing is written, a count beside the compares does. */
    int64_t members;
};

struct read_set {
    struct arena *arena;
    struct compare *list; /* no two equal */
    size_t count;
    size_t capacity;
};

/* Empty; compares and keys live in the arena. */
void read_set_init(struct read_set *s, struct arena *arena);

/* Adds one compare; an equal one is merged. The key is copied into the arena. */
void read_set_add(struct read_set *s, enum compare_kind kind, const char *key, int64_t revision);

/* The same of a range of `members` keys. */
void read_set_add_range(struct read_set *s, const char *prefix, int64_t revision, int64_t members);

/* The same of a gap; both are copied. */
void read_set_add_gap(struct read_set *s, const char *from, const char *end);

/* Whether both say the same. */
bool compare_equal(const struct compare *a, const struct compare *b);

/* "unchanged", "exists", ... */
const char *compare_kind_name(enum compare_kind kind);
