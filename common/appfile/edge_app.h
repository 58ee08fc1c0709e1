/* App files of a centre of sites: what `bbs edge-apps apply` is told, in YAML or JSON. They are app
 * files (app.h) with keys of their own, and without those that the centre, the flavor or the
 * instance says:
 *
 *   organization, name, version   the app's name, dev/shop/1.0
 *   flavor                        of its instances, unless they say another one
 *   public_ports                  a list of 8080, "53/udp", "8000-8010" and "8000-8010/udp"
 *   scale_with_cluster            an instance a node, else one
 *   auto_delete                   its instances go with their cluster
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

#include "board.pb-c.h"

struct edge_app {
    unsigned line;                          /* where it begins in its file */
    Board__EdgeAppRevisionRecord *revision; /* with name, spec and definition */
};

/* As appfile_parse(): a list under `apps:`, or a document each. At most APPS_MAX. */
int edge_app_parse(struct arena *a, const char *file, struct bytes text, struct edge_app **ret_apps,
                   size_t *ret_count, struct err *err);
