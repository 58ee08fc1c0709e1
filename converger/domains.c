/* The keeper of domains: one whose time is over goes with the next full pass; one that is fresh
 * again begins a full pass, for what was left alone may be stopped now (design.md 5, freshness and
 * clocks). What is known of them is the cache's. Pure. */
#include "common/model/freshness.h"
#include "converger/inside.h"

static void change(void *state, const char *key, const struct followed *record)
{
    (void)record;
    struct converger *x = ((struct kept *)state)->x;
    const struct cached_domain *d =
        key_type(key) == RECORD_DOMAIN ? cache_domain_at(&x->cache, key) : NULL;
    if (d && d->turned) {
        x->full_ns = 0;
    }
}

static bool is_over(const struct converger *x, const struct cached_domain *d)
{
    return d->known && domain_over(&d->record, d->seen, x->life.now);
}

static void look(void *state, bool all, struct effects *out)
{
    struct kept *k = state;
    struct converger *x = k->x;
    MAP_EACH(&x->cache.domains, n)
    {
        if (all && is_over(x, map_value(n)) && mover_room(&x->mover, 1)) {
            mover_add(&x->mover, &k->owner, map_key(n), move_of_domain(out->arena, map_key(n)));
        }
    }
}

static void plan(void *state, struct plan_shown *ret)
{
    struct converger *x = ((struct kept *)state)->x;
    MAP_EACH(&x->cache.domains, n)
    {
        if (is_over(x, map_value(n))) {
            plan_show(ret, "expired", move_of_domain(ret->arena, map_key(n)));
        }
    }
}

const struct keeper domains_keeper = {.state_size = sizeof(struct kept),
                                      .change = change,
                                      .look = look,
                                      .plan = plan};
