/* What a site has given out: refs/<cloudlet> is the sum over its clusters and instances, and
 * changes in the transaction of each of them (docs/edge.md, The centre's records). Pure; all in the
 * given arena. */
#pragma once

#include "common/base/arena.h"

#include "board.pb-c.h"

#include <stdbool.h>

enum {
    SITE_CLUSTERS_MAX = 256,
    SITE_INSTANCES_MAX = 4096,
    SITE_PORTS_MAX = 16384, /* public ones given out: a record has 1.5 MiB */
    PORT_FIRST = 10000,     /* that are given out in the place of one that is taken */
    PORT_END = 65000,
    PORT_SSH = 22,      /* never given out */
    ALERT_PERCENT = 80, /* unless a cloudlet says otherwise */
};

/* What one object has of it. */
struct footprint {
    int64_t memory_mb, disk_mb, containers;
    uint32_t clusters, instances;
    uint64_t reservable_ids;       /* a bit, of an automatic cluster */
    Board__EdgePort *const *ports; /* public ones of an instance, on the cloudlet's address */
    size_t port_count;
};

/* The nodes of the larger of both specs: what runs before an update stays until it is done. */
struct footprint cluster_footprint(const Board__ClusterInstRecord *c);

/* The refs when an object of this name has `after` in the place of `before`. Of ports those that it
 * has no more are given back, and those that it has are taken. */
Board__RefsRecord *refs_after(struct arena *a, const Board__RefsRecord *refs, const char *name,
                              const struct footprint *before, const struct footprint *after);

/* Why refs that grew so are more than the site has or may have; NULL = they are not:
 * more clusters, instances or ports than there may be; memory, disk or containers beyond its quota,
 * or its totals where it has none. What did not grow is not looked at. */
const char *refs_fault(struct arena *a, const char *cloudlet, const Board__RefsRecord *before,
                       const Board__RefsRecord *after, const Board__EdgeResources *quota,
                       const Board__EdgeResources *totals);

/* That more than the alert's part of what the site has, or may have, is given out of a resource,
 * and was not before (NULL: nothing was); the first one, a sentence. NULL = it is not so. */
const char *refs_alert(struct arena *a, const char *cloudlet, const Board__RefsRecord *before,
                       const Board__RefsRecord *after, const Board__CloudletSpec *spec,
                       const Board__EdgeResources *totals);

/* The lowest id that no automatic cluster has; EDGE_RESERVABLE_MAX = all are taken. */
unsigned refs_free_id(const Board__RefsRecord *refs);

/* The public ports of an instance of this name with these wanted ones, on the cloudlet's shared
 * address: what it has already (`had`), else the internal one where it is free, else the first free
 * one from PORT_FIRST on. NULL with a sentence in *ret_fault: a range, or none is free. */
Board__EdgePort **ports_shared(struct arena *a, const Board__RefsRecord *refs, const char *name,
                               Board__EdgePort *const *wanted, size_t count,
                               Board__EdgePort *const *had, size_t had_count,
                               const char **ret_fault);

/* The same on the address of a cluster of its own: as they are inside. */
Board__EdgePort **ports_own(struct arena *a, Board__EdgePort *const *wanted, size_t count);

/* Whether two have a number of one protocol in common, inside or as public ones. */
bool ports_overlap(const Board__EdgePort *x, const Board__EdgePort *y, bool as_public);
