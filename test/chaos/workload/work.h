/* The parts of the workload, a thread each. They end soon after `stop`; what they change ends
 * before, at `rest`, so that the cluster can come to rest while readers and visitors go on. */
#pragma once

#include "test/chaos/workload/caller_io.h"
#include "test/chaos/workload/recorder_io.h"
#include "test/chaos/workload/routes_io.h"
#include "test/chaos/workload/target_io.h"

#include <pthread.h>
#include <stdatomic.h>

#define CHAOS_DOMAIN "chaos"             /* upserted again and again: fresh */
#define CHAOS_STALE_DOMAIN "chaos-stale" /* never upserted */

enum {
    WORK_CLIENTS = 3, /* that write and read registers */
    WORK_REGISTERS = 4,
    WORK_VISITORS = 4,
    WORK_VISIT_MS = 100, /* between two requests of a visitor */
    WORK_CALL_MS = 100,  /* between two calls of a client */
    WORK_APPS = 4,
};

/* The converger's leader as the feeds last told it: its term and the board's generation. */
struct lead_seen {
    int64_t term; /* 0 = none is known */
    char generation[64];
};

struct work {
    struct target target;
    const char *dir;
    uint64_t seed;
    char run[32]; /* in the guids of this run, so that a second one on the same cluster is apart */
    struct recorder *recorder;
    struct routes *routes;
    pthread_mutex_t lead_lock;
    struct lead_seen lead; /* under it */
    atomic_bool rest, stop;
};

/* For any thread. An older term than is known changes nothing. */
void lead_note(struct work *work, const char *generation, int64_t term);
struct lead_seen lead_read(struct work *work);

/* One of them. */
struct worker {
    struct work *work;
    int number;
    const struct target_process *bbs; /* of a reader */
    struct caller *caller;
    uint64_t random;
};

/* 0 to n - 1. */
uint64_t worker_draw(struct worker *w, uint64_t n);

/* A call that is recorded: once, at the bbs that is drawn. `value` may be NULL. Makes `saw` of the
 * answer by `see`, if given and the call was OK; of one that failed it is the error. */
struct asked {
    const char *op, *key, *value, *path;
    const ProtobufCMessage *request;
    const ProtobufCMessageDescriptor *answer_type;
    json_t *(*see)(const ProtobufCMessage *answer);
    int instances; /* recorded if >= 0 */
};
enum { ASKED_ANY_BBS = -1 };
struct reply worker_ask(struct worker *w, struct arena *a, const struct asked *ask);

/* The threads' functions; `worker` is theirs. */
void *work_registers(void *worker);
void *work_apps(void *worker);
void *work_churn(void *worker);
void *work_tasks(void *worker);
void *work_visits(void *worker);
void *work_reads(void *worker);
void *work_probes(void *worker);

/* At the end of all: the apps that were always desired go. Once each; no bbs, no removal. */
void work_remove_apps(struct worker *worker);

/* The apps that are always desired: their guids and numbers of instances. */
struct steady_app {
    const char *name, *domain;
    int instances;
};
extern const struct steady_app steady_apps[WORK_APPS];
