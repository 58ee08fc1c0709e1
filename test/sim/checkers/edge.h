/* What the checkers of a centre and its sites share. A cluster alone has none of it. */
#pragma once

#include "test/sim/checkers/checkers.h"

#include "bbs/edge/tracked.h"

enum { EDGE_SITES_MAX = 4 };

/* ---- What a board shows (edge_look.c) ---- */

/* The record of the key as it stood once `revision` was committed; NULL = none. */
const ProtobufCMessage *edge_stood(const struct checkers *k, const char *key, int64_t revision);

/* Calls `each` for every record that stood then under the prefix. */
void edge_each_at(const struct checkers *k, const char *prefix, int64_t revision,
                  void (*each)(void *context, const struct past *p), void *context);

/* What clusters and instances begin with; NULL of another kind, or of one that is gone. */
const struct tracked_head *edge_head(const struct past *p);

/* TRACKED_*; TRACKED_NONE of one that is gone. */
int edge_state(const struct past *p);

/* Whether an operation is under way in it. */
bool edge_is_busy(int state);

/* It comes or changes, and that may be carried out at the site: it does not wait for its cluster.
 */
bool edge_is_in_work(int state);

/* A cluster that another instance has now, or nobody: that changes with the instance, and is no
 * move of its own. */
bool edge_is_reserved_anew(const struct past *p);

/* Name of the cluster that an instance runs in; in the arena, or the record's. */
const char *edge_runs_in(struct arena *a, const Board__AppInstRecord *r);

/* Instances in the cluster of this name, and those of them that are busy, or in work. */
struct edge_dependents {
    unsigned count, busy, in_work;
};
struct edge_dependents edge_dependents_at(const struct checkers *k, const char *cluster,
                                          int64_t revision);

/* edge_guards.c: which guards of an edge lifecycle held at the change. `wall_ns`: no clock showed
 * later when it was decided; 0 = nobody knows. */
struct guards_seen edge_guards_seen(struct checkers *k, struct arena *a, const struct past *p,
                                    int64_t wall_ns);

/* ---- A centre and its sites, looked at together (edge_lives.c) ---- */

/* How an object of a centre stood for a while. */
struct edge_version {
    struct edge_version *before;
    int64_t at_ns, until_ns; /* NEVER_NS = it stands so now */
    int state;               /* TRACKED_*; NONE: it was gone */
    uint64_t request;
    const char *digest, *former_digest;
    bool lost; /* gone, and no more than by a restore of the centre */
    bool told; /* the site said that it has this digest whole */
};

/* An object in all of its life. */
struct edge_life {
    const char *uid, *key;
    struct edge_version *last;
};

/* What a site has of one digest of an object; of a cluster the digest of its slice. */
struct edge_held {
    bool stands;
    uint64_t ran;          /* a bit each index that has been RUNNING while it stood */
    uint32_t wanted;       /* indices; of a slice 0 */
    bool whole;            /* all of it is there, and no other digest of the object */
    int64_t last_whole_ns; /* when it was so last; NEVER_NS = never */
};

struct edge_place {
    struct checkers *checkers;
    const char *cloudlet;
    bool restored;    /* its board was, once: it may have lost what it had */
    int64_t heard_ns; /* when its CRM was last answered by the centre */
    struct map held;  /* "uid digest" -> struct edge_held */
};

/* Of all boards of a federation, which share it. */
struct edge_lives {
    struct arena arena;
    struct checkers *centre;
    struct edge_place places[EDGE_SITES_MAX];
    unsigned place_count;
    struct map lives; /* uid -> struct edge_life */
    struct map words; /* edge_words.c: what CRMs asked the centre for */
    bool tells;       /* each version goes to the trace */
};

void edge_lives_init(struct edge_lives *l, struct checkers *centre);
void edge_lives_add(struct edge_lives *l, struct checkers *site, const char *cloudlet);
void edge_lives_done(struct edge_lives *l);

/* NULL = it is none of a site's. */
struct edge_place *edge_place_of(const struct checkers *k);
struct edge_place *edge_place_named(const struct edge_lives *l, const char *cloudlet);
const struct edge_life *edge_life_of(const struct edge_lives *l, const char *uid);
/* When the centre asked first for what the object is now: its request and digest. */
int64_t edge_asked_ns(const struct edge_life *life);
/* When the site last had this digest whole, until now; NEVER_NS = never. */
int64_t edge_whole_ns(const struct edge_place *p, const char *uid, const char *digest);

/* A process of a site was answered by the centre. */
void edge_heard(struct edge_lives *l, const struct node *crm);

/* edge_words.c: this was sent to a CRM, on whatever stream. */
void edge_sent(struct edge_lives *l, const struct node *crm, struct bytes data);
