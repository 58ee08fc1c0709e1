/* What the checkers of the edge read of a board. */
#include "test/sim/checkers/edge.h"

#include "common/lifecycle/tracked.h"
#include "common/model/edge_name.h"

#include <string.h>

static const struct past *stood(const struct past *p, int64_t revision)
{
    while (p && p->revision > revision) {
        p = p->before;
    }
    return p;
}

const ProtobufCMessage *edge_stood(const struct checkers *k, const char *key, int64_t revision)
{
    const struct past *p = stood(map_get(&k->history.now, key), revision);
    return p ? p->message : NULL;
}

void edge_each_at(const struct checkers *k, const char *prefix, int64_t revision,
                  void (*each)(void *context, const struct past *p), void *context)
{
    struct map_node *n = map_from(&k->history.now, prefix);
    for (; n && strncmp(map_key(n), prefix, strlen(prefix)) == 0; n = map_next(n)) {
        const struct past *p = stood(map_value(n), revision);
        if (p && p->message) {
            each(context, p);
        }
    }
}

const struct tracked_head *edge_head(const struct past *p)
{
    bool tracked = p && (p->type == RECORD_CLUSTERINST || p->type == RECORD_APPINST);
    return tracked ? (const struct tracked_head *)(const void *)p->message : NULL;
}

int edge_state(const struct past *p)
{
    const struct tracked_head *o = edge_head(p);
    return o ? lifecycle_state(&tracked_lifecycle, o->state) : TRACKED_NONE;
}

bool edge_is_busy(int state)
{
    return state != TRACKED_NONE && state != TRACKED_READY && state != TRACKED_CREATE_ERROR &&
           state != TRACKED_UPDATE_ERROR && state != TRACKED_DELETE_ERROR;
}

bool edge_is_in_work(int state)
{
    return state == TRACKED_CREATE_REQUESTED || state == TRACKED_CREATING ||
           state == TRACKED_UPDATE_REQUESTED || state == TRACKED_UPDATING;
}

const char *edge_runs_in(struct arena *a, const Board__AppInstRecord *r)
{
    return *r->real_cluster ? r->real_cluster : edge_cluster_of(a, r->name);
}

bool edge_is_reserved_anew(const struct past *p)
{
    const Board__ClusterInstRecord *was =
        p->before ? (const Board__ClusterInstRecord *)p->before->message : NULL;
    const Board__ClusterInstRecord *is = (const Board__ClusterInstRecord *)p->message;
    return p->type == RECORD_CLUSTERINST && was && is && strcmp(was->uid, is->uid) == 0 &&
           strcmp(was->state, is->state) == 0 && was->request == is->request &&
           strcmp(was->reserved_by, is->reserved_by) != 0;
}

struct dependents_sought {
    struct arena *arena;
    const char *cluster;
    struct edge_dependents found;
};

static void count_dependent(void *context, const struct past *p)
{
    struct dependents_sought *x = context;
    const Board__AppInstRecord *r = (const Board__AppInstRecord *)p->message;
    if (strcmp(edge_runs_in(x->arena, r), x->cluster) == 0) {
        x->found.count++;
        x->found.busy += edge_is_busy(edge_state(p));
        x->found.in_work += edge_is_in_work(edge_state(p));
    }
}

struct edge_dependents edge_dependents_at(const struct checkers *k, const char *cluster,
                                          int64_t revision)
{
    SCOPED_ARENA(a);
    struct dependents_sought x = {.arena = &a, .cluster = cluster};
    const char *all = key_edge_all(&a, RECORD_APPINST, edge_cloudlet_of(&a, cluster));
    edge_each_at(k, all, revision, count_dependent, &x);
    return x.found;
}
