/* What the records of units say twice: a machine and a unit of each other, a principal and its
 * subordinate, a relation and its names, a membership and its scope. One move writes both, and one
 * takes both away; what stands alone is a fault, or somebody's hand in etcd. Nobody repairs it, for
 * nobody knows which of the two is right: the plan shows it. Pure. */
#pragma once

#include "common/client/feed_client.h"

/* Who hears of each record whose counterpart is not there, or is of another guid. Texts are in the
 * arena. It says whether it wants more. */
struct unit_mirrors {
    struct arena *arena;
    const struct feed_client *board;
    bool (*lacks)(void *context, const char *key, const char *counterpart);
    void *context;
};

/* In the order of their kinds, and by key. Of a record of a newer version nothing is asked, and it
 * is a counterpart whatever it says. O(records of units). */
void unit_mirrors_each(const struct unit_mirrors *m);
