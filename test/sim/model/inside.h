/* Inside of the model etcd, shared by its files. */
#pragma once

#include "test/sim/model/etcd.h"
#include "test/sim/model/mvcc.h"

struct model_lease {
    int64_t id;
    int64_t ttl_s;
    int64_t ends_ns;
};

struct model_etcd {
    struct model_etcd_config config;
    struct model_mvcc store;
    struct model_lease *leases; /* sorted by id */
    size_t lease_count, lease_capacity;
    int64_t last_lease_id;
    int64_t now_ns;
    uint64_t raft_term;
    uint64_t raft_index;
    int64_t file_bytes; /* of the database; only defragmentation lowers it */
    bool no_space;      /* the alarm */
};

/* How etcd refuses; status 0 = it does not. */
struct model_refusal {
    int status;
    const char *text;
};

/* Every answer's header: ids, raft term, and this revision. */
Etcd__ResponseHeader *model_header(struct model_etcd *m, struct arena *a, int64_t revision);

bool model_lease_exists(const struct model_etcd *m, int64_t id);

/* A write of this cost, as etcd counts: refused when the alarm stands or the file would grow beyond
 * the quota, which raises the alarm. Costs 0 always pass. */
struct model_refusal model_check_quota(struct model_etcd *m, int64_t cost);

/* One page. `revision` of the request 0 = now. For STORE_RANGE (inner false) and within Txn. */
struct model_refusal model_range(struct model_etcd *m, const Etcd__RangeRequest *request,
                                 bool inner, struct arena *a, Etcd__RangeResponse **ret);

struct model_refusal model_txn(struct model_etcd *m, const Etcd__TxnRequest *request,
                               struct arena *a, Etcd__TxnResponse **ret);

#define MODEL_NEW(a, type, NAME)                                                                   \
    ({                                                                                             \
        type *model_new = ARENA_NEW(a, type);                                                      \
        *model_new = (type)NAME##__INIT;                                                           \
        model_new;                                                                                 \
    })
