/* Names of a centre and its sites (docs/edge.md, The centre's records): what people write, and what
 * stands in keys behind the kind. Pure; results live in the given arena.
 *
 *   cloudlet   <organization>/<name>                      acme/paris
 *   cluster    <cloudlet>/<organization>/<name>           acme/paris/dev/web
 *   app        <organization>/<name>/<version>            dev/shop/1.0
 *   instance   <cluster>/<app>                            acme/paris/dev/web/dev/shop/1.0
 *   flavor     <name>                                     small
 *
 * Each part begins with a letter or digit, and has further ones, - _ and . besides: it becomes a
 * DNS name and the name of a file. A cloudlet stands in a certificate too, so that its parts are
 * shorter. */
#pragma once

#include "common/base/arena.h"
#include "common/model/keys.h"

#include <stdbool.h>

enum {
    EDGE_FOREIGN_TOLD_MAX = 8, /* names of objects that a site may not prune */
    EDGE_NAME_MAX = 40,
    EDGE_SITE_NAME_MAX = 31, /* of each part of a cloudlet's name: CN has 64 */
    EDGE_RESERVABLE_MAX = 64,
    EDGE_DNS_NAME_MAX = 253,
};

/* Who has the reservable clusters, made for app instances or by a client: an organization whose
 * clusters any app may have, one at a time. */
#define EDGE_OWN_ORGANIZATION "corkboard"

/* Why `name` cannot be one of a record of this kind: a sentence that says which part, and its
 * bound; NULL = it can. Of a kind that has no such names: a sentence too. */
const char *edge_name_fault(struct arena *a, enum record_type type, const char *name);

/* The same of a cluster that a client makes: reservable<digits>, autocluster... and defaultclust
 * are not his, nor is the organization of ours. */
const char *edge_cluster_fault(struct arena *a, const char *name);

/* Parts `first` up to but not including `end` of a name, from 0; "" where it has fewer. */
const char *edge_name_parts(struct arena *a, const char *name, unsigned first, unsigned end);

/* Of a cluster or an instance, its cloudlet; of an instance its cluster and its app. */
const char *edge_cloudlet_of(struct arena *a, const char *name);
const char *edge_cluster_of(struct arena *a, const char *instance);
const char *edge_app_of(struct arena *a, const char *instance);

/* The cluster of this name is to be made, or found, for the instance: its last part begins with
 * "autocluster". */
bool edge_cluster_is_automatic(const char *cluster);

/* "acme/paris/corkboard/reservable7" */
const char *edge_reservable_name(struct arena *a, const char *cloudlet, unsigned id);

/* The DNS name of an instance: its parts, the most special first, in lower case with - for what no
 * label may have. NULL = it would be longer than EDGE_DNS_NAME_MAX. Two instances may come to the
 * same one. */
const char *edge_dns_name(struct arena *a, const char *instance);

/* Versions, "1.10.2", as numbers from left to right; parts that are none by their bytes. Below,
 * equal and above 0. An empty one is below all. */
int edge_version_order(const char *left, const char *right);
