/* A snapshot of etcd as a file: etcd's database, then the SHA-256 of it, which `bbs backup` holds
 * it to before it keeps the file, and `bbs backup --verify` later. Pure; bounded memory. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdint.h>

enum {
    SNAPSHOT_HASH_BYTES = 32,
    SNAPSHOT_HEAD_BYTES = 24, /* of the first page: as far as what shows a database of etcd */
};

/* What was taken of one snapshot so far. */
struct snapshot_file {
    struct evp_md_ctx_st *hash; /* of all bytes but those in `tail` */
    uint8_t tail[SNAPSHOT_HASH_BYTES];
    uint8_t head[SNAPSHOT_HEAD_BYTES];
    size_t tail_size;
    uint64_t size; /* bytes taken */
};

/* Begins with no bytes. The caller ends it with snapshot_done(), which accepts what is zero. */
void snapshot_init(struct snapshot_file *s);
void snapshot_done(struct snapshot_file *s);

/* Takes the next bytes, cut wherever they come. */
void snapshot_take(struct snapshot_file *s, struct bytes bytes);

/* All bytes were taken, nothing may be taken after it: 0 when they are a whole snapshot. Errors,
 * all INVALID: it is empty, it is too short or no database of etcd, its hash is wrong (bytes are
 * missing or differ). */
int snapshot_end(struct snapshot_file *s, struct err *err);

/* The hash that a whole snapshot ends with, as 64 hexadecimal digits. After snapshot_end(). */
void snapshot_hash_text(const struct snapshot_file *s, char ret_text[2 * SNAPSHOT_HASH_BYTES + 1]);
