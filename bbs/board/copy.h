/* The memory copy of the board (design.md 2): each record as one immutable, counted version
 * (encoded blob beside a small decoded index), found by key, by cell and by owner. The watch alone
 * changes it. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/model/record.h"
#include "common/model/sighting.h"

#include <stdbool.h>
#include <stdint.h>

/* One version of one record; shared by the copy, the feed's ring, its readers and lists. */
struct version {
    unsigned references;
    uint32_t tags[TAG_COUNT]; /* offsets into text[] */
    enum record_type type;
    bool readable; /* by this version of the program */
    int64_t create_revision;
    int64_t mod_revision;
    struct blob *blob; /* with its version byte */
    char text[];       /* the key, then the tags */
};

/* A new version with one reference, the caller's. Decodes the value in `scratch` for its index, if
 * its kind has one; what is of another format version has the index that it seems to have. */
struct version *version_new(struct arena *scratch, const char *key, struct bytes value,
                            int64_t create_revision, int64_t mod_revision);
struct version *version_ref(struct version *i);  /* NULL gives NULL */
void version_unref(struct version *i);        /* accepts NULL */
size_t version_bytes(const struct version *i); /* that it takes in memory; 0 for NULL */

static inline const char *version_key(const struct version *i)
{
    return i->text;
}

static inline const char *version_tag(const struct version *i, enum tag tag)
{
    return i->text + i->tags[tag];
}

struct copy;
struct copied; /* a place in the copy: a version and when it was first seen */

/* Empty; the caller frees it, with its references to versions. */
struct copy *copy_new(void);
void copy_free(struct copy *c); /* accepts NULL */

size_t copy_count(const struct copy *c); /* of records */

/* Puts a version (taking over the reference) in the place of its key; gives the reference to the
 * one that was there, or NULL. */
struct version *copy_put(struct copy *c, struct version *item, struct sighting seen);

/* Takes the version out and gives its reference, or NULL. */
struct version *copy_remove(struct copy *c, const char *key);

/* NULL if there is none. */
struct copied *copy_find(const struct copy *c, const char *key);

struct version *copied_version(const struct copied *p); /* borrowed */
struct sighting copied_seen(const struct copied *p); /* its present revision */
struct sighting copied_made(const struct copied *p); /* its creation */

/* Walks in byte order of the keys; `copy_from` begins at the first key not below `key`. */
struct copied *copy_from(const struct copy *c, const char *key);
struct copied *copy_next(struct copied *p);

/* The last whose key starts with `prefix`; NULL if there is none. */
struct copied *copy_last(const struct copy *c, const char *prefix);

/* The records of one cell or owner (tag and its text, not empty), in byte order of the keys. */
struct copied *copy_tagged(const struct copy *c, enum tag tag, const char *text);
struct copied *copied_next_tagged(struct copied *p, enum tag tag);

/* Keeps what `old` has seen of the records whose revision, or creation, is still the same; what it
 * had not seen was written after `after_ns`, until when it was up to date. */
void copy_inherit(struct copy *c, const struct copy *old, int64_t after_ns);
