/* The DesiredLRP that an app instance is at its site (docs/edge.md, What the CRM does): the app's
 * definition, with what the centre says of the instance. Pure; results live in the arena, or borrow
 * from what is given. */
#pragma once

#include "board.pb-c.h"
#include "models/desired_lrp.pb-c.h"

#include "common/base/arena.h"

#include <stdbool.h>

#define APP_LRP_OWNER_KIND "appinst"

/* "a-<uid>-<digest>": one definition of one life. The digest has no "-". */
const char *app_lrp_guid(struct arena *a, const char *uid, const char *digest);

/* Both of them in such a guid; false if it is none. */
bool app_lrp_parse(struct arena *a, const char *process_guid, const char **ret_uid,
                   const char **ret_digest);

/* "edge.<cluster uid>": only the CRM vouches for it. */
const char *app_lrp_domain(struct arena *a, const char *cluster_uid);

/* 1. What the instance says wins over the definition: number, size, tags, variables of the same
 *    name.
 * 2. Its ports are opened beside the definition's, once each.
 * 3. Its name is the annotation, where the definition has none: the site knows whose it is.
 * 4. cf-router has its URI at the first TCP port, tcp-router each public TCP port. */
const Models__DesiredLRP *app_lrp(struct arena *a, const Board__AppInstRecord *instance,
                                  const Models__DesiredLRP *definition);
