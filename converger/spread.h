/* What is to stand at and below a path, and whom that has not been told yet: the services and node
 * pools that are in the trees of the head, and those that are there and in none (docs/systems.md,
 * Deploys). A deploy that tells many goes on in each look where it stood: what is to stand is read
 * once, and only what was found to be done is looked at until it is. Pure. */
#pragma once

#include "converger/watched_system.h"

/* What a deploy has yet to tell. */
struct spread;

/* Compares what is to stand at and below the path, which this deploy holds with the head of this
 * generation, with what does. NULL = a tree of the head has not come yet. For spread_drop(). */
struct spread *spread_new(const struct watched_system *v, const char *path, const char *holder,
                          uint64_t generation);
uint64_t spread_generation(const struct spread *s);
/* Frees it; *kept becomes NULL. NULL = there is none. */
void spread_drop(struct spread **kept);

/* Plans `open`, `adjust` or `renew` for each pool that is not as it is to be; when all are, a
 * `target` for each service that is to stand there and was not told so by the deploy; and a
 * `delete` for each service and pool that is not to stand; as many as there is room for. A path
 * whose former service is still being deleted waits. True: all were told, and all that is to go is
 * on its way: another comparison of everything found nothing. */
bool spread_under(struct spread *s, const struct watched_system *v, struct system_moves *out);

/* A secret that is not set and that a service needs which is to stand there, and was not told so by
 * the deploy: "path:name", with *ret_path the service's, of the spread; NULL = none lacks. */
const char *spread_lacks(const struct spread *s, const struct watched_system *v,
                         const char **ret_path);

/* Plans a `delete` for each service and pool at and below the path that does not go yet, for this
 * holder; "" = its system goes. */
void spread_nothing(const struct watched_system *v, const char *path, const char *holder,
                    struct system_moves *out);

/* Each service at and below the path was told by this deploy, and is stable: none is on its way to
 * go; and each pool there has its cells. *ret_failed becomes a service that was told by it and has
 * failed, *ret_pool a pool there that has; NULL = none. */
bool spread_settled(const struct watched_system *v, const char *path, const char *holder,
                    const struct service_seen **ret_failed, const struct pool_seen **ret_pool);
