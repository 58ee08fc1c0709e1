/* Group commit: which ready ops travel together in one etcd transaction (design.md 2). Pure.
 * etcd judges all compares against the state before the transaction, so an op joins only if nothing
 * it writes is read or written by another op of the batch and nothing it reads is written there;
 * ranges count. */
#pragma once

#include "bbs/board/compare.h"
#include "common/base/bytes.h"

enum {
    BATCH_RECORDS_MAX = 64,
    /* Each leaves room for the board generation and the cause slot, which every transaction has. */
    BATCH_COMPARES_MAX = 118,
    BATCH_READS_MAX = 118,
    BATCH_BYTES_MAX = 1024 * 1024,
    /* What one op alone may weigh; etcd refuses 1.5 MiB. */
    COMMIT_BYTES_MAX = 1024 * 1024 + 256 * 1024,
    BATCH_TABLE = 512, /* places of the key table; a power of two, over twice the keys */
};

/* One record put (or, without bytes, deleted). */
struct commit_write {
    const char *key;
    struct bytes record; /* data NULL = delete */
};

/* What one op wants to commit. Everything lives in the op's arena. */
struct commit {
    const struct compare *compares;
    size_t compare_count;
    const struct commit_write *writes;
    size_t write_count;
    size_t bytes; /* of keys, records and cause entries, about */
};

/* Why a commit can never travel, for its error text; NULL if it can. */
const char *commit_too_large(const struct commit *c);

struct batch_key {
    const char *key; /* NULL = free */
    const struct compare *compare; /* one that reads it, or NULL */
    bool written;
};

struct batch {
    const struct commit *members[BATCH_RECORDS_MAX];
    size_t count;
    size_t record_count;
    /* Merged: equal compares and equal failure reads once. */
    const struct compare *compares[BATCH_COMPARES_MAX];
    size_t compare_count;
    const struct compare *reads[BATCH_READS_MAX];
    size_t read_count;
    const struct compare *ranges[BATCH_COMPARES_MAX];
    size_t range_count;
    size_t bytes;
    size_t key_count;
    struct batch_key table[BATCH_TABLE];
};

void batch_init(struct batch *b);

/* Takes the commit along, or leaves the batch as it was and gives false. One for which
 * commit_too_large() is NULL always fits into an empty batch. */
bool batch_join(struct batch *b, const struct commit *c);
