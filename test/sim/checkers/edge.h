/* What the checkers of a centre and its sites share. A cluster alone has none of it. */
#pragma once

#include "test/sim/checkers/checkers.h"

#include "bbs/edge/tracked.h"

enum { FEDERATION_SITES_MAX = 4 };

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
