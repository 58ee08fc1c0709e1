/* Random operations over a small key set, drawn from a seed, among them wrong ones. */
#pragma once

#include "common/base/arena.h"
#include "common/base/random.h"
#include "common/contract/store.h"

struct store_random {
    struct random random;
    int64_t revision;  /* of the store; set by the caller */
    int64_t compacted; /* 0 = never; set by the caller */
};

struct random_call {
    enum store_call call;
    const ProtobufCMessage *message; /* in the arena */
};

/* The next operation: mostly transactions with compares and nested ones, ranges, compactions,
 * leases with ids of a small set. */
struct random_call store_random_call(struct store_random *r, struct arena *a);

/* A plain one for histories: compares, puts and deletes, reads in the failure branch; only legal.
 */
struct txn;
struct txn *store_random_txn(struct store_random *r, struct arena *a);
Etcd__RangeRequest *store_random_range(struct store_random *r, struct arena *a);
