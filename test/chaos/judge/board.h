/* The board as the streams told it: each change once, in order, however many bbs told of it. Pure.
 */
#pragma once

#include "test/chaos/judge/history.h"

/* A change of a record. */
struct change {
    const struct event *event;   /* as the first stream told it */
    uint64_t told;               /* by which streams */
    int64_t at;                  /* the earliest that it was heard of */
    const struct change *before; /* of the same key and generation; NULL = none is known */
};

struct board {
    struct change *changes; /* by generation, then revision, then key */
    size_t count;
    const struct change **keys; /* the same, by key first */
};

/* `h` is closed, and stays. */
void chaos_board_init(struct board *b, const struct history *h);
void chaos_board_done(struct board *b);

/* The last change of the key whose `at` is not after `at`; NULL = none. */
const struct change *chaos_board_at(const struct board *b, const char *key, int64_t at);

/* Walks over all changes of the records of one instance index: they lie side by side in `keys`.
 * Gives the first whose event's record is "actual", and process and index are these; SIZE_MAX =
 * none.
 */
bool event_is_instance(const struct event *e, const char *process, int index);
