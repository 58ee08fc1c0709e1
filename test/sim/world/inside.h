/* What the files of the simulated world share among themselves; stories use world.h alone. */
#pragma once

#include "common/base/map.h"
#include "test/sim/world/queue.h"
#include "test/sim/world/world.h"

struct exchange;
struct outside;

/* Longer than anything is decided and sent for: jumps of a clock further apart are none of one
 * decision. */
#define CLOCK_CALM_NS (30 * SECOND_NS)

/* One process at one start: events for an earlier start are dropped. */
struct node {
    struct node_config config;
    struct world *world;
    size_t index;
    struct role *role; /* NULL = down */
    unsigned starts;
    int64_t started_ns;
    int64_t heard_ns;
    unsigned boots;    /* of its machine, after the first */
    int64_t booted_ns; /* where its monotonic clock began */
    unsigned
        incarnation; /* in its state directory: raised at each start, and when it asks for it */
    struct kept_evacuation evacuation; /* in its state directory, from `evacuation_incarnation` */
    unsigned evacuation_incarnation;
    char boot_id[64]; /* of that */
    struct kept_evacuation keeping; /* on its way to the disk */
    char keeping_boot_id[64];
    uint64_t keeping_id; /* 0 = nothing is */
    uint64_t timer;    /* generation of the last timer set */
    unsigned launches;      /* programs that it awaits the end of */
    unsigned left_at_start; /* when it last ended in order: `starts` then */
    struct model_containers *containers;
    uint64_t containers_timer;
    bool cut_to[WORLD_NODES_MAX];
    bool cut_from_etcd, cut_to_etcd;
    bool paused;
    struct item **held; /* what waits for it to wake, in order */
    size_t held_count, held_capacity;
    int64_t clock_ahead_ns; /* of its wall clock */
    int64_t clock_jumped_ns; /* when it last jumped; NEVER_NS = never */
    int64_t clock_most_ns;   /* and how far it was ahead at most, in the jumps shortly before too */
    int64_t store_troubled_ns; /* when a call to etcd last failed or took long; the same */
    bool dies;              /* within its next step, after dies_after effects */
    unsigned dies_after;
    int64_t last_words_late_ns; /* dies when it next asks for moves, so much late; 0 = no */
    bool last_words;            /* it asks them now */

    uint64_t watch_id; /* 0 = none open */
    int64_t watch_next; /* first revision not yet sent to it */
    bool watch_opened; /* etcd has taken it and it lasts */
    bool watch_stalled;
    enum watch_slip watch_slip; /* what befalls the next revision that has what it takes */
    int64_t watch_last_at_ns; /* events of one watch arrive in order */
};

struct world {
    struct world_options options;
    struct random random;
    int64_t now_ns;
    struct queue queue;
    struct node *nodes[WORLD_NODES_MAX];
    size_t node_count;
    struct store *stores[WORLD_STORES_MAX];
    size_t store_count;
    struct exchange *exchanges; /* open ones, oldest first */
    struct outside *outside;    /* open calls to users' servers */
    world_outside_server *serve_outside;
    void *serve_context;
    world_resolve *resolve; /* NULL = nobody */
    void *resolve_context;
    world_programs *programs; /* NULL = there are none */
    void *programs_context;
    uint64_t next_request_id;
    struct buf trace;
    bool trace_logs, trace_calls;
    struct world_faults faults;
    struct world_observer observer;
    world_bending *bend; /* NULL = nothing is changed */
    void *bend_context;
};

struct store {
    struct world *world;
    const char *name;
    struct model_etcd *etcd;
    int64_t stalls_until_ns;
    int64_t down_until_ns;
    unsigned breaks; /* of all connections: what was sent before the last one is lost */
};

/* The wall clock of the world when its virtual time is 0: 2026-01-01. */
#define WORLD_WALL_START_NS (INT64_C(1767225600) * SECOND_NS)

int64_t world_draw(struct world *w, struct span span);

/* True `permille` times of a thousand; draws nothing for 0. */
bool world_strikes(struct world *w, unsigned permille);

/* Keeps the item until its owner wakes. */
void node_hold(struct node *n, struct item *i);

/* Hands an event to a node that is up and not paused; the world carries out its effects. */
void node_step(struct node *n, struct event *ev);

/* network.c: requests, answers and streams between nodes. */
void network_call(struct node *from, const struct call *call, bool stream);
void network_cancel(struct node *from, uint64_t call_id);
void network_reply(struct node *to, const struct reply *reply);
void network_wake(struct node *to, const char *channel);
void network_node_down(struct node *n); /* before its role is freed */
void network_break(struct world *w);
void network_free(struct world *w);

/* outside.c: calls to users' servers. */
void outside_call(struct node *from, const struct call *call);
void outside_free(struct world *w);

/* store.c: calls to a store and its watches. */
void store_free(struct store *s);
void store_call_start(struct node *from, const struct store_request *request);
void store_watch(struct node *n, uint64_t id, int64_t start_revision);
void store_unwatch(struct node *n);
void store_feed_watch(struct node *n); /* something that held its events back is over */

/* containers.c: verbs and ends of containers. */
void containers_call(struct node *n, const struct verb_call *call);
void containers_changed(struct node *n); /* a story changed something: see what is due now */

/* probes.c: of the health of instances. */
void probes_make(struct node *n, const struct probe *probe);

/* resolves.c: definitions that are read. */
void resolve_begin(struct node *n, const struct resolve_request *request);

/* launches.c: programs of the operator's. */
void launch_begin(struct node *n, const struct launch *launch);
void launches_left(struct node *n); /* it ends in order, and what it has launched with it */

/* trace.c */
/* Tells what a transaction does, a line for each record; `how` stands before each ("" = it is
 * done). */
void trace_transaction(struct world *w, const char *who, const ProtobufCMessage *txn,
                       const char *how);
