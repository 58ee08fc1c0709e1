/* A cell's cache of what it downloaded, as data: what must go for something to come, what a key
 * stands for, and whether the server need be asked. A file of the cache is an object, named by its
 * content ("sha256-<hex>"); a tree is one that was unpacked, by the same name; a key (of the cache
 * key or the URL) says which object its content was. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CACHE_KEYS_MAX = 10000,         /* one more, and the least recently used goes */
    CACHE_FREE_PERCENT = 10,        /* of its file system, which the cache leaves free */
    CACHE_DIGEST_BYTES = 7 + 64,    /* "sha256-" and hex digits */
    CACHE_CHECKSUM_BYTES = 7 + 128, /* "sha512:" and hex digits, the longest */
    CACHE_VALIDATOR_BYTES = 1024,   /* longest ETag or Last-Modified that is kept */
};

/* ---- what goes ---- */

enum cache_kind { CACHE_TREE, CACHE_OBJECT };

struct cache_item {
    enum cache_kind kind;
    const char *digest;
    int64_t size; /* bytes on the disk */
    int64_t used_ns;
    bool in_use;
};

struct cache_key {
    const char *name;
    const char *digest; /* of its object; "" when it cannot be read */
    int64_t used_ns;
};

struct cache_facts {
    const struct cache_item *items;
    size_t item_count;
    const struct cache_key *keys;
    size_t key_count;
    int64_t disk_bytes, disk_free; /* of its file system */
};

/* Indices into the facts: what is to be removed, in this order. */
struct cache_plan {
    size_t *items, *keys;
    size_t item_count, key_count;
};

/* What to remove so that `more` bytes can come, when all may take at most `bytes_max`; lives in the
 * arena. -ERR_TOO_LARGE when there is no room whatever goes; then nothing should go. With `more` 0
 * it never fails: what can go to come below the bounds, goes. */
int cache_plan(struct arena *a, const struct cache_facts *f, int64_t bytes_max, int64_t more,
               struct cache_plan *ret, struct err *err);

/* ---- what is in use ---- */

/* Digests that containers use, one a line, as whoever keeps the containers wrote them. */
struct cache_uses {
    const char **digests; /* sorted */
    size_t count;
};

/* Reads them; empty lines are passed over. -ERR_INVALID at a line that is no digest: then nothing
 * is known, and nothing should go. */
int cache_uses_parse(struct arena *a, struct bytes file, struct cache_uses *ret, struct err *err);

/* Whether a digest is among them. */
bool cache_uses_has(const struct cache_uses *uses, const char *digest);

/* Whether the text is the name of an object: "sha256-" and 64 hex digits in small letters. */
bool cache_digest_valid(const char *text);

/* ---- keys ---- */

/* What a key stands for. Texts are "" when there are none. */
struct cache_record {
    char digest[CACHE_DIGEST_BYTES + 1];
    int64_t size;
    char etag[CACHE_VALIDATOR_BYTES + 1]; /* with its quotes, and W/ of a weak one */
    char modified[CACHE_VALIDATOR_BYTES + 1];
    char checksum[CACHE_CHECKSUM_BYTES + 1]; /* that it was found to have: "md5:<hex>" */
};

/* As a key's file; gives back what cache_record_print() was given. -ERR_INVALID for anything else:
 * the key is then unknown. */
int cache_record_parse(struct bytes file, struct cache_record *ret, struct err *err);
void cache_record_print(const struct cache_record *r, struct buf *out);

/* Whether a header's value may be kept as ETag or Last-Modified: printable, and not too long. */
bool cache_validator_valid(struct bytes value);

enum cache_way {
    CACHE_USE,   /* the object, without a question */
    CACHE_ASK,   /* whether it is still the same: a conditional request */
    CACHE_FETCH, /* all of it */
};

/* How to come by the content of a key. `known`: what it stands for, or NULL; `present`: that object
 * is there; `checksum`: what was asked for, "alg:hex" in small letters, or NULL. */
enum cache_way cache_way(const struct cache_record *known, bool present, const char *checksum);
