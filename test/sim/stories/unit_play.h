/* Acts about units, relations, services and machines, as rows of words; whatever is done, all
 * checkers look on, and in the end all services are destroyed and nothing of them is left.
 *
 * An act is "VERB WORD...", several are separated by ";":
 *   deploy S N, add S N, unused S, relate R, unrelate R (a number of unit_relations; 5 is the
 * second end of the logger, "audit", and web), rmunit U, rmservice S, rmmachine N, addmachine CELL,
 *   force U (within 1 ms), forcemachine N, resolve U,
 *   kill CELL, start CELL, killbbs, startbbs, killconverger; anew: the cell's state directory is
 *   another one, and nothing of it is left; empty: the cell is emptied; fall [S]: the first
 *   container ends, or the first of this service,
 *   hooks on|off|fail|SERVICE: how those that run end, or those of this service alone;
 *   await WHAT; watch WHAT: as often as anything may change, and what follows is done at once;
 *   snapshot, restore: etcd is saved, and restored as it was then, with another board generation;
 *   recall: an operator ends what no board knows;
 *   later KEY, present KEY: the record is as a later version writes it, or as this one does again;
 *   rest: 3 s
 * WHAT, also what it comes to, is "KIND=N ..." (records of a kind; "started", "stopped" and "error"
 * of statuses, "dying" and "dead" of units, "departing" of members, "made" of containers, "lost" of
 * cells, "hooks" that run; "stops", "brokens", "removes": stop hooks that were noted, broken ones
 * that have ended, removals that drivers were asked for; "oldest": the lowest number of a
 * subordinate), or several of these by "|": one of them. */
#pragma once

#include "test/sim/checkers/checkers.h"
#include "test/sim/stories/story.h"

struct racing {
    struct cluster *cluster;
    struct checkers checkers;
    struct arena arena;
    int hooks_exit;       /* of those that run; -1 = they go on */
    const char *hooks_of; /* the service whose hooks end; NULL = all */

    /* Heard of reps and drivers. */
    int stops, brokens, removes;
    int commands;      /* of units that were begun */
    char order[512];   /* of the hooks of web that were noted: "install config-changed " */
    uint32_t last_run; /* of these */
    int hook;          /* of these that was noted last; HOOK_NONE = it has ended */
    int64_t snapshot;  /* the revision of etcd that was saved */
};

void race_begins(struct racing *r, struct cluster *c);
void race_is_over(struct racing *r);

/* So long after each of them. */
void race_acts(struct racing *r, const char *text, int64_t apart_ns);

/* Hooks end as they are to, and so long goes by. */
void race_step(struct racing *r, int64_t ns);

/* It looks as often; fails after two minutes. */
void race_await(struct racing *r, const char *text, int64_t step_ns);
int race_counted(struct racing *r, const char *what);

/* Kills it, or starts it anew. */
void race_process(struct racing *r, struct node *n, bool up);

/* A service of that name without units, which is related to db. */
void race_deploy_named(struct racing *r, const char *name);
void race_remove_service(struct racing *r, const char *name);
