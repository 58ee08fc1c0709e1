/* Whether a site takes changes of what is there (docs/edge.md, The centre's records): before each
 * create, update, refresh and delete of a cluster or an instance, in its transaction. Pure. */
#pragma once

#include "bbs/edge/said.h"

/* Why not, a sentence; NULL = it does. The first that holds:
 * 1. There is no such cloudlet, or it is being deleted.
 * 2. It is being upgraded.
 * 3. It is in maintenance.
 * 4. An upgrade failed: somebody has to repair it.
 * 5. It never was READY.
 * 6. Its CRM is not READY. */
const char *site_refuses(struct arena *a, const struct edge_site *s, int64_t wall_ns);

/* Whether the cloudlet goes: what is there of our own goes first. */
bool site_goes(const struct edge_site *s);
