/* The model etcd's storage: keys with all their versions since the last compaction, and the log of
 * changes that watches read. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/map.h"
#include "etcd.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

/* What a write to a key left behind. Shared by the key's list and the log. */
struct model_version {
    unsigned references;
    int64_t create_revision; /* 0 = a deletion */
    int64_t mod_revision;
    int64_t version;
    int64_t lease;
    struct blob *value;
};

/* One entry of the log; a revision has one or more. */
struct model_change {
    char *key;
    struct model_version *now;
    struct model_version *before; /* at the revision before; NULL when there was none */
};

struct model_mvcc {
    struct map keys; /* to struct model_key */
    struct model_change *log;
    size_t log_count, log_capacity;
    int64_t revision;  /* of the last finished transaction */
    int64_t compacted; /* -1 = never */
    bool changed;      /* the transaction that is under way wrote something */
    int64_t in_use;    /* bytes of all versions kept */
};

/* Keys from `low` to below `high`; `high` NULL = the one key, "" = no end. */
struct model_range {
    const char *low;
    const char *high;
};

struct model_found {
    const char *key;
    const struct model_version *version;
};

void model_mvcc_init(struct model_mvcc *s);
void model_mvcc_done(struct model_mvcc *s);

/* etcd's meaning of key and range_end. Copies into the arena. */
struct model_range model_range_of(struct arena *a, ProtobufCBinaryData key,
                                  ProtobufCBinaryData range_end);
bool model_range_holds(const struct model_range *r, const char *key);

/* The revision that a read within the transaction under way is made at. */
int64_t model_mvcc_reading(const struct model_mvcc *s);

/* All that is there at `revision` (0 = now), in key order; the array lives in the arena. */
size_t model_mvcc_find(const struct model_mvcc *s, const struct model_range *r, int64_t revision,
                       struct arena *a, struct model_found **ret);

/* Writes of the transaction under way. Delete gives how many it deleted. */
void model_mvcc_put(struct model_mvcc *s, const char *key, ProtobufCBinaryData value,
                    int64_t lease);
int64_t model_mvcc_delete(struct model_mvcc *s, const struct model_range *r, struct arena *a);

/* Ends the transaction: a new revision if it wrote something. */
void model_mvcc_commit(struct model_mvcc *s);

/* Drops what no read at `revision` or later can see. */
void model_mvcc_compact(struct model_mvcc *s, int64_t revision);

/* As a snapshot taken at `revision` (not compacted) shows it: all later writes have never been. */
void model_mvcc_restore(struct model_mvcc *s, int64_t revision);

/* The first log entry with a revision not below `revision`; its index. */
size_t model_mvcc_log_from(const struct model_mvcc *s, int64_t revision);

/* As etcd shows it; bytes are copied into the arena. */
void model_kv_fill(struct arena *a, const char *key, const struct model_version *v, bool keys_only,
                   Etcd__KeyValue *ret);
