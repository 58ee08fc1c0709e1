/* A whole simulated cluster: bbs, auctioneer and reps as they ship, and what stories do with it. */
#pragma once

#include "common/model/keys.h"
#include "models/error.pb-c.h"
#include "test/sim/world/world.h"

/* What each instance of cluster_desire takes. */
enum { CLUSTER_INSTANCE_MEMORY_MB = 64, CLUSTER_INSTANCE_DISK_MB = 64 };

/* CELLS_MAX: that checkers and swarm have; a benchmark may have more. */
enum { CLUSTER_BBS_MAX = 4, CLUSTER_CELLS_MAX = 40, CLUSTER_LEADERS_MAX = 3 };
enum { CLUSTER_CELLS_MANY = 100 };

struct cluster_options {
    struct world_options world; /* of cluster_new() */
    const char *name; /* "site": it has bbs-1.site, ...; NULL = the centre, which has bbs-1, ... */
    unsigned bbs;   /* 0 = 2 */
    unsigned cells; /* 0 = 3 */
    unsigned zones; /* 0 = 2 */
    unsigned auctioneers; /* one leads, others stand by; 0 = 1 */
    unsigned convergers;  /* the same; 0 = none */
    unsigned cell_instances;      /* that fit on a cell; 0 = 64 */
    unsigned cell_disk_instances; /* whose disk fits on a cell; 0 = 128 */
    unsigned cell_containers;     /* that it may have; 0 = 100 */
    bool graded; /* no two cells are alike: an earlier one has a little more of all than a later
                    one, so that of those equally used it is the best. Else chance decides between
                    them. */
    bool own_network; /* containers have networks of their own */
    bool pulls_images; /* cells do */
    int64_t reconcile_interval_ns; /* of the reps; 0 = their default */
    int64_t evacuation_ns;         /* its limit; 0 = their default */
    int64_t verify_interval_ns;    /* of a bbs's copy; 0 = the default */
    const char *types; /* instance types of cells 1, 2, ...: "small large"; those past the last have
                          none. NULL = no cell has one */
    bool keyless; /* its bbs have no keys for secrets */
};

struct cluster {
    struct world *world;
    struct store *store;  /* that it alone speaks to */
    struct cluster *next; /* another one in the same world */
    struct cluster_options options;
    struct node *bbs[CLUSTER_BBS_MAX];
    struct node *cells[CLUSTER_CELLS_MANY];
    struct node *auctioneers[CLUSTER_LEADERS_MAX];
    struct node *convergers[CLUSTER_LEADERS_MAX];
    struct node *auctioneer; /* the first ones, which lead at the start; NULL without one */
    struct node *converger;
    unsigned anew[CLUSTER_CELLS_MAX]; /* how often its state directory was made anew */
    unsigned keys; /* 2 = a bbs that starts from now on has keys 1 and 2 for secrets, else key 1 */
    struct arena arena; /* names and urls */
};

/* Makes and starts everything; the caller waits with cluster_ready. */
struct cluster *cluster_new(const struct cluster_options *options);
/* Another one, of another name, in the world of the first, with which it is freed. */
struct cluster *cluster_beside(struct cluster *first, const struct cluster_options *options);
/* The world, too, and all that are in it. */
void cluster_free(struct cluster *c);

/* How many instances of cluster_desire fit on a cell. */
unsigned cluster_cell_instances(const struct cluster *c);

/* Every cell has an incarnation, an auctioneer leads, and a converger if there is one. */
bool cluster_ready(void *cluster);

/* Desires `instances` of a run action; gives the error type of the answer (0 = none), -1 when none
 * came. Through the first bbs that is up, unless `bbs` names one. */
int cluster_desire(struct cluster *c, struct node *bbs, const char *process_guid, int instances);
/* The same without waiting for the answer. */
void cluster_desire_send(struct cluster *c, struct node *bbs, const char *process_guid,
                         int instances, world_answered *answered, void *context);

/* One instance, without ports, that joins the network of this instance. */
int cluster_desire_joined(struct cluster *c, const char *process_guid, const char *instance_guid);
/* One instance of this image (docker://...), which its cell pulls. */
int cluster_desire_image(struct cluster *c, const char *process_guid, const char *image);

/* Calls `send` with the request (DesireLRPRequest) that these make. */
void cluster_with_desire(const char *process_guid, int instances,
                         void (*send)(void *context, const ProtobufCMessage *m), void *context);

int cluster_scale(struct cluster *c, const char *process_guid, int instances);
void cluster_scale_send(struct cluster *c, struct node *bbs, const char *process_guid,
                        int instances, world_answered *answered, void *context);
/* Updates its metric tags: beside its "source_id" there is "version" with this value. */
int cluster_tag(struct cluster *c, const char *process_guid, const char *version);
int cluster_remove(struct cluster *c, const char *process_guid);

/* Upserts the domain "default", in which everything is desired; ttl 0 = for ever. */
int cluster_upsert_domain(struct cluster *c, unsigned ttl_s);

/* An operator empties the cell; its rep has accepted it when `answered` comes with 202. */
void cluster_post_evacuate(struct cluster *c, struct node *cell, int64_t limit_ns,
                           world_answered *answered, void *context);
/* Retires one instance. */
int cluster_retire(struct cluster *c, const char *process_guid, int index);

/* A stranger's hand on the store: the record is gone. Watches tell it with the next commit. */
void cluster_lose(struct cluster *c, const char *key);

/* What `bbs restore` does: the board generation is made again. */
void cluster_new_board_generation(struct cluster *c, const char *id);

/* What the store itself holds (not what a bbs says): number of ORDINARY records of the process in
 * this state ("" = any). */
int cluster_count(struct cluster *c, const char *process_guid, const char *state);

/* The same of those that have crashed, and of those that are told to be at this address. */
int cluster_crashed(struct cluster *c, const char *process_guid);
int cluster_addressed(struct cluster *c, const char *process_guid, const char *address);

/* The same of EVACUATING records. */
int cluster_evacuating(struct cluster *c, const char *process_guid);

/* The same of those that are RUNNING and show this tag "version". */
int cluster_tagged(struct cluster *c, const char *process_guid, const char *version);

/* Each record whose key starts with `prefix`, as the store has it. */
void cluster_each(struct cluster *c, const char *prefix,
                  void (*each)(void *context, enum record_type type, const ProtobufCMessage *m),
                  void *context);

/* Number of records whose key starts with `prefix`. */
int cluster_records(struct cluster *c, const char *prefix);

/* How many ORDINARY records the store has on this cell. */
int cluster_on(struct cluster *c, const struct node *cell);

/* How many cells the store calls LOST. */
int cluster_lost_cells(struct cluster *c);

/* The state of the task in the store (task.def), 0 = there is none; unless NULL, how it ended:
 * "failed REASON" or "RESULT". */
int cluster_task(struct cluster *c, const char *task_guid, char *ret_outcome, size_t size);

/* The guid of the process's only instance as the store has it, in the cluster's arena; "" = it has
 * none. */
const char *cluster_instance_guid(struct cluster *c, const char *process_guid);

/* How many instances the store's DesiredLRP says; -1 when there is none. */
int cluster_desired(struct cluster *c, const char *process_guid);

/* Which candidate the store's lock of this role ("auctioneer", "converger") names, from 0; -1 when
 * it is free. */
int cluster_leader(struct cluster *c, const char *role);

/* Number of containers that run on all cells. */
int cluster_containers(struct cluster *c);
