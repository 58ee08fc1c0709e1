#include "common/lifecycle/actor.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
    enum actor actor;
    const char *name;
} actors[] = {
    {ACTOR_CLIENT, "client"},
    {ACTOR_BBS, "bbs"},
    {ACTOR_REP, "rep"},
    {ACTOR_AUCTIONEER, "auctioneer"},
    {ACTOR_CONVERGER, "converger"},
    {ACTOR_STRANGER, "stranger"},
    {ACTOR_OPERATOR, "operator"},
    {ACTOR_CRM, "crm"},
    {ACTOR_SITE, "site"},
};

const char *actor_name(enum actor actor)
{
    for (size_t i = 0; i < sizeof(actors) / sizeof(actors[0]); i++) {
        if (actors[i].actor == actor) {
            return actors[i].name;
        }
    }
    return "nobody";
}

enum actor actor_of_unit(const char *unit)
{
    assert(unit);
    for (size_t i = 0; i < sizeof(actors) / sizeof(actors[0]); i++) {
        if (strcmp(actors[i].name, unit) == 0) {
            return actors[i].actor;
        }
    }
    return ACTOR_STRANGER;
}

actor_set actor_among(enum actor caller, actor_set callers)
{
    assert(caller && !(caller & (caller - 1))); /* one actor, not a set */
    bool as_client = caller == ACTOR_OPERATOR && !(callers & ACTOR_OPERATOR);
    return callers & (as_client ? ACTOR_CLIENT : caller);
}
