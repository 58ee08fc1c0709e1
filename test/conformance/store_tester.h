/* A client of a store back end for tests: asks and waits, keeps answers and what watches told, and
 * builds requests. Everything lives in the tester's arena. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "test/conformance/store_backend.h"

enum { TESTER_CALLS = 20000, TESTER_WATCHES = 64 };

/* What a watch told so far. */
struct watch_log {
    uint64_t id;
    bool open;
    bool closed;
    int64_t compact_revision; /* of CLOSED */
    int64_t last_revision;    /* of the last event */
    size_t count, capacity;
    Etcd__WatchResponse **list;
    unsigned wrong; /* events that break the contract of store.h */
};

struct tester {
    struct store_backend *backend;
    struct arena arena;
    const struct store_answer *answers[TESTER_CALLS]; /* by id */
    uint64_t last_id;
    size_t open_count;
    int64_t seen_revision; /* the highest in any answer or event */
    struct watch_log *watches[TESTER_WATCHES];
    size_t watch_count;
    unsigned wrong; /* answers that nobody waits for */
    /* Called with each answer, NULL = not. */
    void (*on_answer)(void *context, const struct store_answer *answer);
    void *context;
};

/* Takes over the back end. */
struct tester *tester_new(struct store_backend *backend);
void tester_free(struct tester *t);

/* Starts a call and gives its id; its answer is in answers[id] once it came. */
uint64_t tester_send(struct tester *t, enum store_call call, const ProtobufCMessage *message,
                     int64_t timeout_ns);

/* A call and its answer; waits as long as it takes (a call always ends). */
const struct store_answer *tester_ask(struct tester *t, enum store_call call,
                                      const ProtobufCMessage *message);

/* Lets time pass. */
void tester_pass(struct tester *t, int64_t duration_ns);

/* Waits until no call is open. */
void tester_settle(struct tester *t);

/* Opens a watch and waits for OPEN or CLOSED. */
struct watch_log *tester_watch(struct tester *t, int64_t start_revision);
void tester_unwatch(struct tester *t, struct watch_log *w);

/* Waits until the watch told this revision or closed, 10 s at most. True if it told it. */
bool tester_watch_until(struct tester *t, const struct watch_log *w, int64_t revision);

/* Waits until the watch closed, `limit_ns` at most. */
bool tester_watch_closes(struct tester *t, const struct watch_log *w, int64_t limit_ns);

/* Revision in the header of a DONE answer. */
int64_t answer_revision(const struct store_answer *answer);

/* Requests */

ProtobufCBinaryData key_of(const char *text);

struct txn {
    Etcd__TxnRequest request;
    struct arena *arena;
};

struct txn *txn_new(struct arena *a);
void txn_if(struct txn *t, Etcd__Compare *c);
void txn_then(struct txn *t, Etcd__RequestOp *op);
void txn_else(struct txn *t, Etcd__RequestOp *op);

Etcd__RequestOp *op_put(struct arena *a, const char *key, const char *value, int64_t lease);
Etcd__RequestOp *op_put_bytes(struct arena *a, const char *key, size_t size);
Etcd__RequestOp *op_delete(struct arena *a, const char *key,
                           const char *end); /* end NULL: one key */
Etcd__RequestOp *op_range(struct arena *a, const char *key, const char *end);
Etcd__RangeRequest *range_new(struct arena *a, const char *key, const char *end);

Etcd__Compare *compare_number(struct arena *a, const char *key, const char *end,
                              Etcd__Compare__CompareTarget target,
                              Etcd__Compare__CompareResult result, int64_t number);
Etcd__Compare *compare_bytes(struct arena *a, const char *key, const char *value);

/* The five kinds of design.md 2, Compares, over `prefix` (which ends in "/") for the last two. */
Etcd__Compare *compare_unchanged(struct arena *a, const char *key, int64_t revision);
Etcd__Compare *compare_exists(struct arena *a, const char *key);
Etcd__Compare *compare_absent(struct arena *a, const char *key);
Etcd__Compare *compare_range_empty(struct arena *a, const char *prefix);
Etcd__Compare *compare_nothing_newer(struct arena *a, const char *prefix, int64_t revision);

/* The end of the range of all keys that start with `prefix`. */
const char *prefix_end(struct arena *a, const char *prefix);

/* Sends it and gives the answer, which is DONE; asserts that. */
const Etcd__TxnResponse *tester_txn(struct tester *t, struct txn *txn);
const Etcd__RangeResponse *tester_range(struct tester *t, const Etcd__RangeRequest *request);

/* Puts one key; gives its revision. */
int64_t tester_put(struct tester *t, const char *key, const char *value);
