/* desire: a new DesiredLRP and its first instances (behaviour.md 8.2). */
#include "bbs/lrp/desired.h"
#include "bbs/board/errors.h"
#include "common/lifecycle/desired_lrp.h"

#include <assert.h>
#include <stdlib.h>

static const Models__DesiredLRP *asked(const struct op_input *in)
{
    return ((const Models__DesireLRPRequest *)in->request)->desired_lrp;
}

static const char *desire_target(struct arena *a, const struct op_input *in)
{
    return key_desired(a, asked(in)->process_guid);
}

static void desire_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct desired_snapshot *s = snapshot;
    const Models__DesiredLRP *d = asked(in);
    desired_gather(v, d->process_guid, s);
    slice_use_gather(v, in, d->slice, &s->use);
    if (!s->desired) {
        desired_gather_instances(v, d->process_guid, d->instances, "", 0, d->instances, s);
    }
}

/* A port and its place in the list. */
struct port_place {
    uint32_t port;
    size_t at;
};

static int by_port(const void *x, const void *y)
{
    const struct port_place *a = x, *b = y;
    return a->port != b->port ? (a->port < b->port ? -1 : 1) : (a->at > b->at) - (a->at < b->at);
}

/* The first of equal numbers stays where it was. A body has room for half a million of them. */
static void drop_duplicate_ports(struct arena *a, Models__DesiredLRP *d)
{
    struct port_place *places = ARENA_ARRAY(a, d->n_ports, struct port_place);
    bool *again = ARENA_ARRAY(a, d->n_ports, bool);
    uint32_t *ports = ARENA_ARRAY(a, d->n_ports, uint32_t);
    size_t count = 0;
    for (size_t i = 0; i < d->n_ports; i++) {
        places[i] = (struct port_place){d->ports[i], i};
    }
    qsort(places, d->n_ports, sizeof(*places), by_port);
    for (size_t i = 1; i < d->n_ports; i++) {
        again[places[i].at] = places[i].port == places[i - 1].port;
    }
    for (size_t i = 0; i < d->n_ports; i++) {
        if (!again[i]) {
            ports[count++] = d->ports[i];
        }
    }
    d->ports = ports;
    d->n_ports = count;
}

static Models__DesiredLRP *stored(struct plan *p, const struct op_input *in,
                                  const struct slice_use *use)
{
    Models__DesiredLRP *d =
        arena_copy(p->arena, slice_use_tagged(p->arena, use, asked(in)), sizeof(*d));
    Models__ModificationTag *tag = arena_message(p->arena, &models__modification_tag__descriptor);
    tag->epoch = arena_alloc(p->arena, GUID_BYTES);
    random_guid(in->random, tag->epoch);
    d->modification_tag = tag;
    d->deprecated_start_timeout_s = 0;
    drop_duplicate_ports(p->arena, d);
    if (!d->routes) { /* reads always return one (behaviour.md 2) */
        d->routes = arena_message(p->arena, &models__proto_routes__descriptor);
    }
    return d;
}

/* 1. The guid is in use, in whatever domain: ResourceExists. Who asks may not ask for what is in
 * this slice, or in none, or it has no room there: ResourceConflict; the slice's uses are written
 * in the same transaction.
 * 2. Larger than a transaction takes: InvalidRequest.
 * 3. Stored with a new epoch, index 0, without what Diego drops, in its two parts.
 * 4. UNCLAIMED records for the indices that have none, the auctioneer is asked; what goes beyond
 *    one portion is a job's. */
void desire_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct desired_snapshot *s = snapshot;
    if (s->desired) { /* 1 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceExists);
        return;
    }
    const Models__DesireLRPRequest *request = in->request;
    if (!slice_use_permitted(&s->use, in, request->term, p) ||
        !slice_use_fits(&s->use, asked(in), p)) { /* 1 */
        return;
    }
    int to = lifecycle_transition(&desired_lrp_lifecycle, DESIRED_LRP_NONE, in->actor,
                                  DESIRED_LRP_TRIGGER_DESIRE, 0);
    assert(to == DESIRED_LRP_DESIRED);
    Models__DesiredLRP *scheduling, *run;
    desired_split(p->arena, stored(p, in, &s->use), &scheduling, &run);
    if (models__desired_lrp__get_packed_size(scheduling) +
            models__desired_lrp__get_packed_size(run) >
        DESIRED_BYTES_MAX) { /* 2 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__InvalidRequest);
        return;
    }
    const char *guid = scheduling->process_guid;
    plan_put(p, key_desired(p->arena, guid), "desire", in->actor, &scheduling->base); /* 3 */
    plan_put(p, key_run(p->arena, guid, scheduling->modification_tag->epoch), "desire", in->actor,
             &run->base);
    slice_use_put(&s->use, in, guid, scheduling, p); /* 1 */
    instances_settle(&s->instances, guid, scheduling, in, p);  /* 4 */
    instances_job(&s->instances, guid, scheduling, s->job, in, p);
}

const struct op_row desire_row = {
    .name = "desire",
    .target = desire_target,
    .gather = desire_gather,
    .decide = desire_decide,
    .snapshot_size = sizeof(struct desired_snapshot),
};
