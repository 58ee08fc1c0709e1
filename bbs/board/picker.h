/* A selector made ready for matching, and the walk over the records of the copy that it picks,
 * along the narrowest index that serves it (design.md 2, Feed). Pure. */
#pragma once

#include "bbs/board/copy.h"

#include "board.pb-c.h"

struct picker {
    enum record_type type; /* RECORD_TYPE_COUNT = any */
    bool impossible;       /* it names a type that there is not */
    const char *key_prefix;
    bool whole_key; /* which is a key */
    const char *tags[TAG_COUNT]; /* "" = any */
};

/* Lives in the arena, with copies of the selector's strings. */
struct picker picker_of(struct arena *a, const Board__Selector *s);

/* Of all keys that the topic begins if it ends in a slash, or of the key that it is. Borrowed. */
struct picker picker_of_topic(const char *topic);

/* Whether it selects the record of this version. */
bool picker_matches(const struct picker *p, const struct version *item);

struct picker_walk {
    const struct picker *picker;
    struct copied *at;
    enum tag tag; /* the index walked; TAG_COUNT = by key, as far as keys match */
};

/* The copy must not change until the walk is over. */
struct picker_walk picker_begin(const struct picker *p, const struct copy *c);

/* The next item picked, in byte order of the keys; NULL at the end. Borrowed. */
struct version *picker_next(struct picker_walk *w);
