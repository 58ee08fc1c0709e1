/* What clusters and instances have in common: one operation at a time, led on by one actor from
 * each state (common/lifecycle/tracked.def; docs/edge.md, Tracked states). Each kind finds out what
 * it is to be; all else is here. Pure. */
#pragma once

#include "bbs/edge/refs.h"
#include "bbs/edge/said.h"
#include "common/model/edge_times.h"

#include <stddef.h>

/* How both records begin. */
struct tracked_head {
    ProtobufCMessage base;
    char *name;
    char *uid;
    char *state;
    int64_t since;
    uint64_t request;
    Board__EdgeOperation *operation;
};

enum { TRACKED_USES_MAX = 16, DEPENDENTS_TOLD_MAX = 3 };

/* That one refers to another. */
struct tracked_use {
    const char *referred; /* key */
    const char *key;      /* of the use */
    bool stands, wanted;
};

/* What depends on a cluster: its instances. */
struct dependents {
    size_t count, busy, stay;               /* under way; not deleted along */
    const char *names[DEPENDENTS_TOLD_MAX]; /* of the first that stay */
    const char *along[DEPENDENTS_TOLD_MAX]; /* of the first that go with it */
    const char *busy_name, *busy_state;     /* of the first that is under way */
    int64_t busy_since;
};

/* All that a move rests on, and what comes of it as far as the records tell. */
struct tracked_shot {
    struct edge_site site;
    const struct edge_times *times; /* in force; read by the moves that begin something */
    const char *key, *name;
    const struct tracked_head *object; /* NULL = none, or `unreadable` */
    bool unreadable;                   /* a later version has written it */
    const Board__ProgressRecord *progress;
    const Board__RefsRecord *refs; /* where the row reads it */
    struct dependents dependents;
    bool goes_along; /* it may go without a client's word */

    const char *fault;         /* why it cannot be so; NULL = it can */
    bool missing;              /* for something that it needs is not there */
    const char *cluster_fault; /* why its cluster does not take it */
    bool cluster_failed;       /* the one that was made for it */
    bool automatic;            /* a cluster is made for it */
    bool changed;              /* it would be another than it is */
    const char *asked;         /* for progress: what was asked for */
    const char *asked_more;    /* a second line of that; NULL = none */

    struct tracked_head *after; /* with what it is to be; NULL = it goes */
    Board__RefsRecord *refs_after;
    struct tracked_use uses[TRACKED_USES_MAX];
    size_t use_count;
    const char *dns_name;                    /* of an instance */
    const Board__DnsNameRecord *dns;         /* that stands */
    const Board__ClusterInstRecord *cluster; /* of an instance */
    Board__ClusterInstRecord *cluster_after; /* made, reserved or given back; NULL = as it is */
};

/* A kind. */
struct tracked_kind {
    const struct move_family *family;
    enum record_type type;
    const char *noun;                       /* "cluster" */
    size_t create_ns, update_ns, delete_ns; /* how long each may take: of struct edge_times */
    /* What a client wants it to be, and what it depends on or depends on it. Reads what it needs.
     */
    void (*look)(struct view *v, const struct op_input *in, struct tracked_shot *s);
    /* What else changes with `after` that stands by then; NULL = nothing. */
    void (*beside)(struct view *v, const struct op_input *in, struct tracked_shot *s);
    /* Takes what the CRM reports into a record. */
    void (*report)(struct tracked_head *after, const Board__EdgeMove *m);
    /* The former values are the present ones again, or are no more. */
    void (*restore)(struct tracked_head *after);
    void (*settle)(struct tracked_head *after);
    /* What it refers to: keys, at most TRACKED_USES_MAX / 2. */
    size_t (*refers)(struct arena *a, const struct tracked_head *o, const char **ret_keys);
    /* What it has of its site, or would have. */
    struct footprint (*footprint)(struct arena *a, const struct tracked_shot *s,
                                  const struct tracked_head *o);
};

enum {
    TRACKED_OWN,  /* `reads` of a row: the object and its site */
    TRACKED_ALL,  /* what it has of the site too, and what is to be */
    TRACKED_HERE, /* what depends on it, or what it depends on */
};

/* What a turn's snapshot is. */
struct tracked_turn {
    const struct tracked_kind *kind;
    struct tracked_shot shot;
};

/* Reads all that a move of this kind rests on. */
void tracked_gather(struct view *v, const struct op_input *in, const struct tracked_kind *k,
                    struct tracked_turn *ret);

/* For the kinds. */
bool tracked_asks(const struct op_input *in, int trigger); /* the move has this name */
bool tracked_is_at_rest(const char *state);
bool tracked_is(const struct tracked_head *o, int state); /* of tracked.def; NULL is in `none` */
const char *tracked_digest(struct arena *a, const ProtobufCMessage *spec, const char *more);
char *tracked_text(const char *borrowed); /* messages are not written to */

/* The rows' functions: `begin`, `guards`, `refuse` and `decide` of a struct tracked_turn. */
bool tracked_begin(struct move_turn *t);
uint32_t tracked_guards(const struct move_turn *t);
void tracked_refuse(const struct move_turn *t);
void tracked_change(const struct move_turn *t);
