/* The model etcd: etcd 3.4 as a deterministic, sequential object without I/O (design.md 3.4). It
 * holds all revisions since the last compaction, leases under virtual time, alarms and a quota.
 * Delays, losses and reordering are the business of the world around it. It passes
 * test/conformance. */
#pragma once

#include "common/base/arena.h"
#include "common/contract/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_etcd;

struct model_etcd_config {
    uint64_t cluster_id; /* 0 = 1 */
    uint64_t member_id;  /* 0 = 1 */
    int64_t quota_bytes; /* 0 = 2 GiB, as etcd */
};

/* Limits of etcd's own, as its defaults. */
enum {
    MODEL_ETCD_TXN_OPS = 128,
    MODEL_ETCD_REQUEST_BYTES = 3 * 512 * 1024,
    MODEL_ETCD_LEASE_MIN_S = 2,
};

/* Revision 1, no keys, raft term 2. */
struct model_etcd *model_etcd_new(const struct model_etcd_config *config);
void model_etcd_free(struct model_etcd *m);

/* Carries out one call at once. Fills in everything of *ret but the id; outcome is DONE or REFUSED.
 * The answer's message and text live in `arena`; `message` is of the call's type and only read.
 * Time does not pass by itself: model_etcd_advance() first. Keys hold no NUL byte (but the range
 * ends and starts "\0"). */
void model_etcd_apply(struct model_etcd *m, enum store_call call, const ProtobufCMessage *message,
                      struct arena *arena, struct store_answer *ret);

/* Virtual time rises to `mono_ns`: leases that ended by then are revoked, in order of their end. */
void model_etcd_advance(struct model_etcd *m, int64_t mono_ns);

/* When the next lease ends; NEVER_NS if none. */
int64_t model_etcd_due(const struct model_etcd *m);

int64_t model_etcd_revision(const struct model_etcd *m);
int64_t model_etcd_compacted(const struct model_etcd *m); /* 0 = never compacted */

/* As if its disk had room for `bytes` from now on: below what it holds, the next write is refused
 * and raises the alarm. 0 = the default. */
void model_etcd_set_quota(struct model_etcd *m, int64_t bytes);
int64_t model_etcd_file_bytes(const struct model_etcd *m);
bool model_etcd_alarmed(const struct model_etcd *m); /* no write is taken until it is disarmed */

/* A new leader: the raft term rises and all leases begin again with their whole TTL, as etcd does
 * (issue 12291). */
void model_etcd_elect(struct model_etcd *m);

/* A new cluster made from a snapshot that was taken at `revision` (not compacted since): all later
 * writes have never been, revisions repeat from there on, the raft term begins again. Leases stay,
 * with their whole TTL. */
void model_etcd_restore(struct model_etcd *m, int64_t revision);

/* What a watch over the whole key space is told first: `created`, with the header of now. */
const Etcd__WatchResponse *model_etcd_watch_created(struct model_etcd *m, struct arena *arena);

/* What a watch whose next revision is `from` (1 or more) is told next: at most `max` responses, one
 * a revision, with previous values; all live in `arena`. The caller's next `from` is the last
 * response's last event's mod_revision + 1. When `from` is below the compacted revision: exactly
 * one response, `canceled` with compact_revision, after which a watch is over. Gives their number.
 * As etcd does, a previous value that was compacted away meanwhile is missing, and so is a deletion
 * at exactly the compacted revision. */
size_t model_etcd_events_since(struct model_etcd *m, int64_t from, size_t max, struct arena *arena,
                               Etcd__WatchResponse ***ret_list);
