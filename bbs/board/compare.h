/* From a read set to etcd's compares and back: how a transaction checks that nothing a decision
 * rests on has changed, and what its failure branch reads to tell which did (design.md 2). Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/contract/read_set.h"

#include "etcd.pb-c.h"

/* A range of keys of etcd from a C string (no byte order games elsewhere). */
ProtobufCBinaryData key_data(const char *key);

/* True for the three kinds that speak of a range of keys. */
bool compare_is_range(enum compare_kind kind);

/* Whether a compare of such a kind speaks of this key. */
bool compare_covers(const struct compare *range, const char *key);

/* The compare as etcd wants it; lives in the arena. */
Etcd__Compare *compare_compile(struct arena *a, const struct compare *c);

/* The Range (keys only, at most one) that shows whether the compare holds; lives in the arena. */
Etcd__RequestOp *compare_read(struct arena *a, const struct compare *c);

/* Whether what compare_read() found shows that the compare does not hold. */
bool compare_moved(const struct compare *c, const Etcd__RangeResponse *found);

/* The same read serves both (their failure reads are merged). */
bool compare_same_read(const struct compare *a, const struct compare *b);

/* Both cannot hold at once, for any board: at least one of the two decisions is out of date. */
bool compare_excludes(const struct compare *a, const struct compare *b);

/* Parts of a transaction; all live in the arena. */
Etcd__RequestOp *etcd_op_put(struct arena *a, const char *key, struct bytes value);
Etcd__RequestOp *etcd_op_delete(struct arena *a, const char *key);
Etcd__RequestOp *etcd_op_delete_range(struct arena *a, const char *prefix);
Etcd__RequestOp *etcd_op_range(struct arena *a, const char *key);
