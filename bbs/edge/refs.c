#include "bbs/edge/refs.h"

#include "common/model/edge_name.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void add_spec(struct footprint *f, const Board__ClusterSpec *s)
{
    if (!s || !s->node) {
        return;
    }
    int64_t memory = (int64_t)s->nodes * s->node->memory_mb;
    int64_t disk = (int64_t)s->nodes * s->node->disk_mb;
    int64_t containers = (int64_t)s->nodes * s->node->containers;
    f->memory_mb = memory > f->memory_mb ? memory : f->memory_mb;
    f->disk_mb = disk > f->disk_mb ? disk : f->disk_mb;
    f->containers = containers > f->containers ? containers : f->containers;
}

struct footprint cluster_footprint(const Board__ClusterInstRecord *c)
{
    struct footprint f = {.clusters = 1};
    add_spec(&f, c->spec);
    add_spec(&f, c->former);
    assert(!c->automatic || c->reservable_id < EDGE_RESERVABLE_MAX);
    f.reservable_ids = c->automatic ? (uint64_t)1 << (c->reservable_id & 63) : 0;
    return f;
}

/* ---- Ports ----------------------------------------------------------------------------------- */

static uint32_t end_of(const Board__EdgePort *p, uint32_t first)
{
    return first + (p->last > p->internal ? p->last - p->internal : 0) + 1;
}

bool ports_overlap(const Board__EdgePort *x, const Board__EdgePort *y, bool as_public)
{
    uint32_t x_first = as_public ? x->public_ : x->internal;
    uint32_t y_first = as_public ? y->public_ : y->internal;
    return x->protocol == y->protocol && x_first < end_of(y, y_first) &&
           y_first < end_of(x, x_first);
}

static int port_order(const Board__RefsPort *x, uint32_t port, Board__EdgePort__Protocol protocol)
{
    return x->port != port ? (x->port < port ? -1 : 1)
                           : (x->protocol > protocol) - (x->protocol < protocol);
}

/* Where it stands, or would. */
static size_t place_of(Board__RefsPort *const *list, size_t count, uint32_t port,
                       Board__EdgePort__Protocol protocol)
{
    size_t low = 0, high = count;
    assert(port > 0 || count == 0);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (port_order(list[middle], port, protocol) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static const Board__RefsPort *taken(const Board__RefsRecord *refs, uint32_t port,
                                    Board__EdgePort__Protocol protocol)
{
    size_t at = refs ? place_of(refs->ports, refs->n_ports, port, protocol) : 0;
    return refs && at < refs->n_ports && port_order(refs->ports[at], port, protocol) == 0
               ? refs->ports[at]
               : NULL;
}

static const Board__EdgePort *same_port(Board__EdgePort *const *list, size_t count,
                                        const Board__EdgePort *p)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i]->protocol == p->protocol && list[i]->internal == p->internal &&
            list[i]->last == p->last && list[i]->public_) {
            return list[i];
        }
    }
    return NULL;
}

static bool given(Board__EdgePort *const *list, size_t count, uint32_t port,
                  Board__EdgePort__Protocol protocol)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i]->protocol == protocol && list[i]->public_ == port) {
            return true;
        }
    }
    return false;
}

static bool is_free(const Board__RefsRecord *refs, const char *name, Board__EdgePort *const *list,
                    size_t count, uint32_t port, Board__EdgePort__Protocol protocol)
{
    const Board__RefsPort *r = taken(refs, port, protocol);
    return port != PORT_SSH && (!r || strcmp(r->taken_by, name) == 0) &&
           !given(list, count, port, protocol);
}

Board__EdgePort **ports_shared(struct arena *a, const Board__RefsRecord *refs, const char *name,
                               Board__EdgePort *const *wanted, size_t count,
                               Board__EdgePort *const *had, size_t had_count,
                               const char **ret_fault)
{
    Board__EdgePort **list = ARENA_ARRAY(a, count, Board__EdgePort *);
    *ret_fault = NULL;
    for (size_t i = 0; i < count; i++) {
        const Board__EdgePort *before = same_port(had, had_count, wanted[i]);
        Board__EdgePort *p = arena_copy(a, wanted[i], sizeof(*p));
        if (p->last > p->internal) {
            *ret_fault = arena_printf(a,
                                      "ports %u to %u: on the shared address of a cloudlet there "
                                      "are no ranges: a dedicated cluster has them",
                                      p->internal, p->last);
            return NULL;
        }
        uint32_t port = before ? before->public_ : p->internal;
        bool is_one = is_free(refs, name, list, i, port, p->protocol);
        for (uint32_t next = PORT_FIRST; !is_one && next < PORT_END; next++) {
            port = next;
            is_one = is_free(refs, name, list, i, port, p->protocol);
        }
        if (!is_one) {
            *ret_fault =
                arena_printf(a, "no public port of %d to %d is free", PORT_FIRST, PORT_END - 1);
            return NULL;
        }
        assert(port > 0 && port < 65536 && port != PORT_SSH);
        p->public_ = port;
        list[i] = p;
    }
    return list;
}

Board__EdgePort **ports_own(struct arena *a, Board__EdgePort *const *wanted, size_t count)
{
    Board__EdgePort **list = ARENA_ARRAY(a, count, Board__EdgePort *);
    for (size_t i = 0; i < count; i++) {
        list[i] = arena_copy(a, wanted[i], sizeof(*list[i]));
        list[i]->public_ = list[i]->internal;
    }
    return list;
}

/* ---- The record ------------------------------------------------------------------------------ */

static void take_ports(struct arena *a, Board__RefsRecord *r, const char *name,
                       const struct footprint *after)
{
    Board__RefsPort **list = ARENA_ARRAY(a, r->n_ports + after->port_count, Board__RefsPort *);
    size_t count = 0;
    for (size_t i = 0; i < r->n_ports; i++) { /* its own are given back first */
        if (strcmp(r->ports[i]->taken_by, name) != 0) {
            list[count++] = r->ports[i];
        }
    }
    for (size_t i = 0; i < after->port_count; i++) {
        const Board__EdgePort *p = after->ports[i];
        size_t at = place_of(list, count, p->public_, p->protocol);
        if (at < count && port_order(list[at], p->public_, p->protocol) == 0) {
            continue; /* of both specs */
        }
        Board__RefsPort *port = arena_message(a, &board__refs_port__descriptor);
        port->port = p->public_;
        port->protocol = p->protocol;
        port->taken_by = arena_strdup(a, name);
        memmove(&list[at + 1], &list[at], (count - at) * sizeof(*list));
        list[at] = port;
        count++;
    }
    assert(count <= r->n_ports + after->port_count);
    r->ports = list;
    r->n_ports = count;
}

Board__RefsRecord *refs_after(struct arena *a, const Board__RefsRecord *refs, const char *name,
                              const struct footprint *before, const struct footprint *after)
{
    Board__RefsRecord *r = arena_copy(a, refs, sizeof(*r));
    Board__EdgeResources *used = arena_message(a, &board__edge_resources__descriptor);
    if (refs->used) {
        *used = *refs->used;
    }
    used->memory_mb += after->memory_mb - before->memory_mb;
    used->disk_mb += after->disk_mb - before->disk_mb;
    used->containers += after->containers - before->containers;
    r->used = used;
    assert(!(after->reservable_ids & r->reservable_ids & ~before->reservable_ids));
    r->clusters += after->clusters - before->clusters;
    r->instances += after->instances - before->instances;
    r->reservable_ids = (r->reservable_ids & ~before->reservable_ids) | after->reservable_ids;
    if (before->instances || after->instances) {
        take_ports(a, r, name, after);
    }
    return r;
}

/* What there may be of one resource; 0 = nobody says. */
static int64_t bound_of(int64_t quota, int64_t total)
{
    return quota ? (total && total < quota ? total : quota) : total;
}

static const char *resource_fault(struct arena *a, const char *cloudlet, const char *what,
                                  const char *unit, int64_t before, int64_t after, int64_t bound)
{
    return after <= before || after <= bound ? NULL
           : bound == 0
               ? arena_printf(a, "%s of %s: how much it has is not known, for its CRM has not come",
                              what, cloudlet)
               : arena_printf(a, "not enough %s at %s: %lld%s wanted, %lld of %lld%s free", what,
                              cloudlet, (long long)(after - before), unit,
                              (long long)(bound > before ? bound - before : 0), (long long)bound,
                              unit);
}

const char *refs_fault(struct arena *a, const char *cloudlet, const Board__RefsRecord *before,
                       const Board__RefsRecord *after, const Board__EdgeResources *quota,
                       const Board__EdgeResources *totals)
{
    static const Board__EdgeResources none = BOARD__EDGE_RESOURCES__INIT;
    const Board__EdgeResources *q = quota ? quota : &none, *t = totals ? totals : &none;
    const Board__EdgeResources *b = before->used ? before->used : &none, *n = after->used;
    if (after->clusters > SITE_CLUSTERS_MAX && after->clusters > before->clusters) {
        return arena_printf(a, "cloudlet %s has %d clusters, which is the most", cloudlet,
                            SITE_CLUSTERS_MAX);
    }
    if (after->instances > SITE_INSTANCES_MAX && after->instances > before->instances) {
        return arena_printf(a, "cloudlet %s has %d app instances, which is the most", cloudlet,
                            SITE_INSTANCES_MAX);
    }
    if (after->n_ports > SITE_PORTS_MAX && after->n_ports > before->n_ports) {
        return arena_printf(a, "cloudlet %s has given out %d public ports, which is the most",
                            cloudlet, SITE_PORTS_MAX);
    }
    const char *fault = resource_fault(a, cloudlet, "memory", " MiB", b->memory_mb, n->memory_mb,
                                       bound_of(q->memory_mb, t->memory_mb));
    fault = fault ? fault
                  : resource_fault(a, cloudlet, "disk", " MiB", b->disk_mb, n->disk_mb,
                                   bound_of(q->disk_mb, t->disk_mb));
    return fault ? fault
                 : resource_fault(a, cloudlet, "containers", "", b->containers, n->containers,
                                  bound_of(q->containers, t->containers));
}

static const char *resource_alert(struct arena *a, const char *cloudlet, const char *what,
                                  const char *unit, int64_t before, int64_t after, int64_t bound,
                                  uint32_t percent)
{
    assert(percent > 0 && bound >= 0);
    bool beyond = bound && after * 100 > bound * percent;
    return beyond && before * 100 <= bound * percent
               ? arena_printf(a, "%s has given out %lld of %lld%s %s, more than %u %%", cloudlet,
                              (long long)after, (long long)bound, unit, what, percent)
               : NULL;
}

const char *refs_alert(struct arena *a, const char *cloudlet, const Board__RefsRecord *before,
                       const Board__RefsRecord *after, const Board__CloudletSpec *spec,
                       const Board__EdgeResources *totals)
{
    static const Board__EdgeResources none = BOARD__EDGE_RESOURCES__INIT;
    const Board__EdgeResources *q = spec && spec->quota ? spec->quota : &none;
    const Board__EdgeResources *t = totals ? totals : &none;
    const Board__EdgeResources *b = before && before->used ? before->used : &none;
    const Board__EdgeResources *n = after->used ? after->used : &none;
    uint32_t percent = spec && spec->alert_percent ? spec->alert_percent : ALERT_PERCENT;
    const char *text = resource_alert(a, cloudlet, "memory", " MiB", b->memory_mb, n->memory_mb,
                                      bound_of(q->memory_mb, t->memory_mb), percent);
    text = text ? text
                : resource_alert(a, cloudlet, "disk", " MiB", b->disk_mb, n->disk_mb,
                                 bound_of(q->disk_mb, t->disk_mb), percent);
    return text ? text
                : resource_alert(a, cloudlet, "containers", "", b->containers, n->containers,
                                 bound_of(q->containers, t->containers), percent);
}

unsigned refs_free_id(const Board__RefsRecord *refs)
{
    unsigned id = 0;
    while (id < EDGE_RESERVABLE_MAX && refs->reservable_ids >> id & 1) {
        id++;
    }
    assert(id <= EDGE_RESERVABLE_MAX);
    return id;
}
