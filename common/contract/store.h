/* The store as a role sees it: calls and a watch, with etcd's own messages (proto/etcd.proto).
 * The real one is common/shell/etcd_io.h, the simulated one test/sim/model/etcd.h; both pass the
 * conformance program. */
#pragma once

#include "common/base/err.h"
#include "common/contract/grpc_status.h"
#include "etcd.pb-c.h"

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

enum store_call {
    STORE_RANGE,        /* Etcd__RangeRequest -> Etcd__RangeResponse; one page: the caller pages */
    STORE_TXN,          /* Etcd__TxnRequest -> Etcd__TxnResponse */
    STORE_COMPACT,      /* Etcd__CompactionRequest */
    STORE_LEASE_GRANT,  /* Etcd__LeaseGrantRequest */
    STORE_LEASE_REVOKE, /* Etcd__LeaseRevokeRequest */
    STORE_LEASE_KEEP_ALIVE, /* Etcd__LeaseKeepAliveRequest; TTL 0 in the answer: it is gone */
    STORE_STATUS,           /* Etcd__StatusRequest */
    STORE_ALARM,            /* Etcd__AlarmRequest */
    STORE_DEFRAGMENT,       /* Etcd__DefragmentRequest */
    STORE_CALL_COUNT
};

/* "A commit ends in done, lost or unknown" (design.md 2); whether a DONE transaction's compares
 * held stands in its answer (succeeded). One refusal is not quite one: "database space exceeded"
 * (8) is also what etcd says to the write that it applies while crossing the quota. Conclude
 * nothing from it but that there is no space; its slot's next compare tells. */
enum store_outcome {
    STORE_DONE,    /* the answer is at hand */
    STORE_REFUSED, /* etcd said no and did nothing: grpc_status and text say why */
    STORE_UNKNOWN, /* time-out, broken connection, no grpc-status: it may or may not have landed */
};

struct store_request {
    uint64_t id; /* chosen by the role, unique among its open calls */
    enum store_call call;
    /* Of the type above; borrowed until the step's effects are taken. */
    const ProtobufCMessage *message;
    int64_t deadline_ns;             /* monotonic; then UNKNOWN */
};

struct store_answer {
    uint64_t id;
    enum store_call call;
    enum store_outcome outcome;
    /* For REFUSED, and for UNKNOWN when etcd gave one; 11 = out of range (compacted). */
    int grpc_status;
    const char *text;                /* for REFUSED and UNKNOWN; never NULL */
    const ProtobufCMessage *message; /* for DONE; borrowed during the step */
};

/* One watch a role, over the whole key space, with previous values (design.md 2). It has a
 * connection of its own. A revision arrives whole, in one response, however etcd cut it. */
enum watch_event_kind {
    WATCH_OPEN,    /* etcd confirmed it; response->header.revision is etcd's at that time */
    WATCH_EVENTS,  /* response->events, revisions only rising */
    WATCH_CLOSED,  /* ended: compact_revision != 0 when the start was compacted away; else broken */
};

struct watch_event {
    uint64_t id;
    enum watch_event_kind kind;
    const Etcd__WatchResponse *response; /* NULL for a broken connection */
    const char *text;                    /* for CLOSED; never NULL */
};
