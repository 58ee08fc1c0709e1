/* What the conformance program asks of a store: the calls and watches of common/contract/store.h,
 * time, and faults. Two are there: a real etcd behind the store shell, and the model. */
#pragma once

#include "common/shell/etcd_io.h"

#include <stdbool.h>
#include <stdint.h>

enum store_fault {
    STORE_CRASH,   /* the store dies at once and comes back with its data */
    STORE_FREEZE,  /* it stands still with its connections open */
    STORE_CUT,     /* all connections break; the store lives */
    STORE_SILENCE, /* the way to it holds everything back; connections stay open */
    STORE_DROP,    /* packets are dropped (the real one: only within netns_enter()) */
    STORE_FAULT_COUNT
};

struct store_backend {
    const struct store_backend_ops *ops;
    struct etcd_handlers handlers; /* whom to tell; set before the first call */
};

struct store_backend_ops {
    const char *name;
    /* As the functions of etcd_io.h. */
    void (*call)(struct store_backend *b, const struct store_request *request);
    void (*watch)(struct store_backend *b, uint64_t id, int64_t start_revision);
    void (*unwatch)(struct store_backend *b, uint64_t id);
    int64_t (*now_ns)(const struct store_backend *b);
    /* Lets time pass until something was told, `limit_ns` at most. */
    void (*wait)(struct store_backend *b, int64_t limit_ns);
    /* False: this fault cannot be made here. */
    bool (*break_it)(struct store_backend *b, enum store_fault fault);
    /* Ends the fault; the store serves again when this returns. */
    void (*heal)(struct store_backend *b);
    void (*free)(struct store_backend *b);
};

struct backend_options {
    uint64_t seed;       /* of the model's delays */
    bool delays;         /* the model: calls and answers overtake each other */
    int64_t quota_bytes; /* 0 = the default */
    bool tls;            /* the real one */
    enum { BACKEND_RELAY, BACKEND_DEAD_FIRST, BACKEND_DIRECT_SECOND } endpoints; /* the real one */
};

/* End the process with a text when they cannot be made. */
struct store_backend *backend_model_new(const struct backend_options *options);
struct store_backend *backend_etcd_new(const struct backend_options *options);

const char *store_fault_name(enum store_fault fault);
