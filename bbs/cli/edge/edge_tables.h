/* What the bbs command line shows of a centre and its sites: tables, and one object at length.
 * Pure: records in, text out. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

#include "edge_api.pb-c.h"

/* What a table takes from other records than its rows. */
struct edge_board {
    const Board__EdgeCloudletsResponse *cloudlets;
    const Board__EdgeInfosResponse *infos;
    const Board__EdgeRefsResponse *refs;
    const Board__EdgeMaintenanceResponse *maintenance;
    const Board__EdgeClustersResponse *clusters;
    const Board__EdgeInstancesResponse *instances;
    int64_t now_ns;
    unsigned width; /* columns of the terminal; 0 = as wide as need be (common/cli/table.h) */
};

/* A row each. Below what ended in an error, or has gone beyond its time, stands why. */
void edge_flavors_table(struct arena *a, const Board__EdgeFlavorsResponse *all, int64_t now_ns,
                        unsigned width, struct buf *out);
void edge_apps_table(struct arena *a, const Board__EdgeAppsResponse *all, int64_t now_ns,
                     unsigned width, struct buf *out);
void edge_cloudlets_table(struct arena *a, const struct edge_board *b, struct buf *out);
void edge_clusters_table(struct arena *a, const struct edge_board *b, struct buf *out);
void edge_instances_table(struct arena *a, const struct edge_board *b, struct buf *out);

/* All that is known of one: a line each. The board has what stands beside it. */
void edge_cloudlet_show(struct arena *a, const struct edge_board *b, const Board__CloudletRecord *c,
                        struct buf *out);
void edge_cluster_show(struct arena *a, const struct edge_board *b,
                       const Board__ClusterInstRecord *c, struct buf *out);
void edge_instance_show(struct arena *a, const struct edge_board *b, const Board__AppInstRecord *i,
                        struct buf *out);

/* OK, SERVER_FAIL, CLOUDLET_OFFLINE, UNKNOWN: what its site says, unless nobody hears the site. */
const char *edge_instance_health(const struct edge_board *b, const Board__AppInstRecord *i);

/* The worst of its instances', or what its site says of the cluster; as above. */
const char *edge_cluster_health(const struct edge_board *b, const Board__ClusterInstRecord *c);

/* OFFLINE, NEEDS REPAIR, "DEGRADED 1 of 3", OK; "-" of one that never was READY. */
const char *edge_cloudlet_health(struct arena *a, const struct edge_board *b,
                                 const Board__CloudletRecord *c);

/* Those of this cloudlet; NULL = there is none. */
const Board__CloudletInfoRecord *edge_info_of(const struct edge_board *b, const char *cloudlet);
const Board__RefsRecord *edge_refs_of(const struct edge_board *b, const char *cloudlet);
const Board__MaintenanceRecord *edge_maintenance_of(const struct edge_board *b,
                                                    const char *cloudlet);

/* The cluster that an instance runs in: where its name has an automatic one, that which was made.
 */
const char *edge_real_cluster(struct arena *a, const Board__AppInstRecord *i);
