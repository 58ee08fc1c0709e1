/* What is to stand at and below a path, and whom that has not been told yet: the services and node
 * pools that are in the trees of the head, and those that are there and in none (docs/systems.md,
 * Deploys). Pure. */
#pragma once

#include "converger/watched_system.h"

/* Plans for the deploy that holds the path `open`, `adjust` or `renew` for each pool that is not as
 * it is to be; when all are, a `target` for each service that is to stand there and was not told so
 * by it; and a `delete` for each service and pool that is not to stand. A path whose former service
 * is still being deleted waits. True: all were told, and all that is to go is on its way. False too
 * when a tree of the head has not come yet. */
bool spread_under(const struct watched_system *v, const char *path, const char *holder,
                  struct system_moves *out);

/* A secret that is not set and that a service needs which is to stand there, and was not told so by
 * the deploy that holds the path: "path:name", with *ret_entry the service's; NULL = none lacks. */
const char *spread_lacks(const struct watched_system *v, const char *path, const char *holder,
                         const Board__IndexRecord__Entry **ret_entry);

/* Plans a `delete` for each service and pool at and below the path that does not go yet, for this
 * holder; "" = its system goes. */
void spread_nothing(const struct watched_system *v, const char *path, const char *holder,
                    struct system_moves *out);

/* Each service at and below the path was told by this deploy, and is stable: none is on its way to
 * go; and each pool there has its cells. *ret_failed becomes a service that was told by it and has
 * failed, *ret_pool a pool there that has; NULL = none. */
bool spread_settled(const struct watched_system *v, const char *path, const char *holder,
                    const struct service_seen **ret_failed, const struct pool_seen **ret_pool);
