/* Records that the copy does not keep: as they are (outside.c), or decoded for an op (fetch.c) */
#ifndef BBS_BOARD_OUTSIDE_H
#define BBS_BOARD_OUTSIDE_H

#include "bbs/board/view.h"
#include "common/contract/effect.h"
#include "etcd.pb-c.h"

struct board;

enum { FETCH_KEYS = 32 }; /* of one transaction that fetches by key */

/* Takes what was read. */
struct outside_taker {
    void *context;
    /* Found at keys[asked], or under that prefix (then in key order); borrowed. */
    void (*record)(void *context, size_t asked, const Etcd__KeyValue *kv);
    /* One answer of etcd was given whole: true if no more is wanted. NULL: all is. */
    bool (*enough)(void *context, struct effects *out);
    /* What was given is void: the revision was compacted away meanwhile, it begins anew. Never when
     * the caller named the revision. */
    void (*anew)(void *context);
    /* Once, at the end: at which revision it was read, or a text that says what went wrong. */
    void (*done)(void *context, int64_t revision, const char *text, struct effects *out);
};

/* Reads keys and prefixes (ending in "/") at one revision (0 = etcd's present one). `keys` must live
 * until `done`. */
void outside_start(struct board *b, const char *const *keys, size_t count, int64_t revision,
                   const struct outside_taker *taker, struct effects *out);
void outside_reads_free(struct board *b, struct effects *nowhere);

/* What an op has fetched from outside the copy. */
struct fetched {
    const char *key; /* or prefix */
    struct seen *list;
    size_t count;
};


struct fetch_result {
    struct fetched *list; /* whose blobs `done` takes over: fetched_release() */ 
    size_t count;     /* one for each key asked, in that order */
    int64_t revision;           /* of etcd, when it was read */
    const char *text;           /* what went wrong; then nothing else holds */
};

typedef void fetch_done(void *context, const struct fetch_result *result, struct effects *out);

/* Into the arena, which must live until `done`, as must the keys. */
void fetch_start(struct board *b, struct arena *arena, const char *const *keys, size_t count,
                 fetch_done *done, void *context, struct effects *out);

/* Gives the blobs back. */
void fetched_release(struct fetched *list, size_t count);

#endif
