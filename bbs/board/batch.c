#include "bbs/board/batch.h"

#include <assert.h>
#include <string.h>

void batch_init(struct batch *b)
{
    memset(b, 0, sizeof(*b));
}

const char *commit_too_large(const struct commit *c)
{
    if (c->write_count > BATCH_RECORDS_MAX) {
        return "more than 64 records in one change";
    }
    for (size_t i = 0; i < c->write_count; i++) {
        for (size_t j = 0; j < i; j++) {
            assert(strcmp(c->writes[i].key, c->writes[j].key) != 0); /* etcd refuses it */
        }
    }
    /* Its failure reads are never more than its compares, of which no two are equal. */
    if (c->compare_count > BATCH_COMPARES_MAX) {
        return "more than 118 records read for one change";
    }
    if (c->bytes > COMMIT_BYTES_MAX) {
        return "the change is larger than 1.25 MiB";
    }
    return NULL;
}

static uint64_t hash(const char *key)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *key; key++) {
        h = (h ^ (unsigned char)*key) * 0x100000001b3u;
    }
    return h;
}

/* The place of the key, or the free one where it would be. */
static struct batch_key *place_of(struct batch *b, const char *key)
{
    size_t at = hash(key) & (BATCH_TABLE - 1);
    while (b->table[at].key && strcmp(b->table[at].key, key) != 0) {
        at = (at + 1) & (BATCH_TABLE - 1);
    }
    return &b->table[at];
}

/* Nothing that `c` writes is read or written by the batch. */
static bool writes_apart(struct batch *b, const struct commit *c)
{
    for (size_t i = 0; i < c->write_count; i++) {
        const char *key = c->writes[i].key;
        if (place_of(b, key)->key) {
            return false;
        }
        for (size_t r = 0; r < b->range_count; r++) {
            if (compare_covers(b->ranges[r], key)) {
                return false;
            }
        }
    }
    return true;
}

static bool range_is_written(const struct batch *b, const struct compare *range)
{
    for (size_t m = 0; m < b->count; m++) {
        for (size_t w = 0; w < b->members[m]->write_count; w++) {
            if (compare_covers(range, b->members[m]->writes[w].key)) {
                return true;
            }
        }
    }
    return false;
}

/* Nothing that `c` reads is written by the batch, and no compare contradicts one that is there. */
static bool reads_apart(struct batch *b, const struct commit *c)
{
    for (size_t i = 0; i < c->compare_count; i++) {
        const struct compare *r = &c->compares[i];
        if (compare_is_range(r->kind)) {
            if (range_is_written(b, r)) {
                return false;
            }
            continue;
        }
        const struct batch_key *place = place_of(b, r->key);
        if (place->key && (place->written || compare_excludes(place->compare, r))) {
            return false;
        }
    }
    return true;
}

/* Whether the batch has an equal compare, and whether one of its reads serves this one too. */
static void find_compare(struct batch *b, const struct compare *c, bool *ret_same, bool *ret_read)
{
    *ret_same = *ret_read = false;
    if (!compare_is_range(c->kind)) {
        const struct batch_key *place = place_of(b, c->key);
        *ret_read = place->key != NULL;
        if (place->key && compare_equal(place->compare, c)) {
            *ret_same = true;
            return;
        }
        if (!place->key) {
            return;
        }
    }
    for (size_t i = 0; i < b->compare_count; i++) {
        *ret_same = *ret_same || compare_equal(b->compares[i], c);
        *ret_read = *ret_read || compare_same_read(b->compares[i], c);
    }
}

static void add_compare(struct batch *b, const struct compare *c)
{
    bool same, read;
    find_compare(b, c, &same, &read);
    if (!same) {
        b->compares[b->compare_count++] = c;
    }
    if (!read) {
        b->reads[b->read_count++] = c;
    }
    if (compare_is_range(c->kind)) {
        if (!same) {
            b->ranges[b->range_count++] = c;
        }
        return;
    }
    struct batch_key *place = place_of(b, c->key);
    if (!place->key) {
        place->key = c->key;
        place->compare = c;
        b->key_count++;
    }
}

static bool room_for(struct batch *b, const struct commit *c)
{
    if (b->count == 0) {
        return true;
    }
    size_t compares = b->compare_count, reads = b->read_count;
    for (size_t i = 0; i < c->compare_count; i++) {
        bool same, read;
        find_compare(b, &c->compares[i], &same, &read);
        compares += !same;
        reads += !read;
    }
    return b->record_count + c->write_count <= BATCH_RECORDS_MAX &&
           compares <= BATCH_COMPARES_MAX && reads <= BATCH_READS_MAX &&
           b->bytes + c->bytes <= BATCH_BYTES_MAX && b->count < BATCH_RECORDS_MAX;
}

bool batch_join(struct batch *b, const struct commit *c)
{
    if (!writes_apart(b, c) || !reads_apart(b, c) || !room_for(b, c)) {
        return false;
    }
    for (size_t i = 0; i < c->compare_count; i++) {
        add_compare(b, &c->compares[i]);
    }
    for (size_t i = 0; i < c->write_count; i++) {
        struct batch_key *place = place_of(b, c->writes[i].key);
        if (!place->key) {
            place->key = c->writes[i].key;
            b->key_count++;
        }
        place->written = true;
    }
    assert(b->key_count <= BATCH_TABLE / 2);
    b->members[b->count++] = c;
    b->record_count += c->write_count;
    b->bytes += c->bytes;
    return true;
}
