/* What is kept of each service and node pool and of each build, deploy and teardown of a system, so
 * that a look at the system decodes little: kept up with each change. Pure. */
#pragma once

#include "common/client/feed_client.h"
#include "converger/watched_system.h"

struct system_copy {
    struct map services; /* key -> struct service_seen */
    struct map pools;    /* key -> struct pool_seen */
    struct map actions;  /* key -> struct action_seen */
    struct map going;    /* of these, those that are not over: what a look costs */
    struct actions_over over;
    struct system_tally tally;
};

/* Empty. */
void system_copy_init(struct system_copy *f);
void system_copy_done(struct system_copy *f);

/* A record of the system, of any kind; NULL = it is gone. */
void system_copy_change(struct system_copy *f, const char *key, const struct followed *record);

/* The system of this uid as the copy and the facts show it. `id` is NULL when its own record never
 * came. The arena holds what is decoded; the rest is borrowed. */
void system_copy_view(const struct system_copy *f, const struct map *records, struct arena *a,
                      const char *uid, const char *id, const char *board_generation,
                      struct watched_system *ret);
