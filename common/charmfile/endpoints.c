#include "common/charmfile/endpoints.h"

#include "common/codec/nearest.h"

#include <assert.h>
#include <string.h>

enum {
    ENDS_MAX = CHARM_ENDPOINTS_MAX + 1, /* with the implicit one */
    TOLD_MAX = 4,                       /* of candidates; a text of an error is short */
    ENDS_TOLD_MAX = 3,                  /* of a charm's own, likewise */
};

static const struct charm_endpoint implicit = {
    .name = CHARM_IMPLICIT, .role = CHARM_PROVIDES, .interface = CHARM_IMPLICIT, .implicit = true};

/* What a named end may be: itself; of one that was left out all that the service has. Its peers'
 * ends are never another service's. */
static size_t candidates_of(const struct charm_end *end, const struct charm_endpoint *out[ENDS_MAX])
{
    const struct charm *c = end->charm;
    size_t count = 0;
    for (size_t i = 0; i < c->endpoint_count; i++) {
        const struct charm_endpoint *e = &c->endpoints[i];
        if (*end->endpoint ? strcmp(e->name, end->endpoint) == 0 : e->role != CHARM_PEERS) {
            out[count++] = e;
        }
    }
    if (!*end->endpoint || strcmp(end->endpoint, CHARM_IMPLICIT) == 0) {
        out[count++] = &implicit;
    }
    assert(count <= ENDS_MAX);
    return count;
}

/* "db, ring and juju-info"; of many the first. */
static const char *ends_of(struct arena *a, const struct charm *c)
{
    const char *text = "";
    size_t told = c->endpoint_count < ENDS_TOLD_MAX ? c->endpoint_count : ENDS_TOLD_MAX;
    for (size_t i = 0; i < told; i++) {
        text = arena_printf(a, "%s%s%.63s", text, i ? ", " : "", c->endpoints[i].name);
    }
    assert(told <= c->endpoint_count && c->endpoint_count <= CHARM_ENDPOINTS_MAX);
    return told < c->endpoint_count
               ? arena_printf(a, "%s and %zu more", text, c->endpoint_count + 1 - told)
               : arena_printf(a, "%s%s" CHARM_IMPLICIT, text, told ? " and " : "");
}

static int unknown_end(struct arena *a, const struct charm_end *end, struct err *err)
{
    struct nearest n;
    nearest_begin(&n, end->endpoint);
    for (size_t i = 0; i < end->charm->endpoint_count; i++) {
        nearest_consider(&n, end->charm->endpoints[i].name);
    }
    return n.best ? err_set(err, ERR_INVALID, "%s has no endpoint \"%.63s\"; did you mean \"%s\"?",
                            end->service, end->endpoint, n.best)
                  : err_set(err, ERR_INVALID, "%s has no endpoint \"%.63s\"; it has %s",
                            end->service, end->endpoint, ends_of(a, end->charm));
}

static bool roles_meet(const struct charm_endpoint *x, const struct charm_endpoint *y)
{
    return (x->role == CHARM_PROVIDES && y->role == CHARM_REQUIRES) ||
           (x->role == CHARM_REQUIRES && y->role == CHARM_PROVIDES);
}

/* Why two ends make no relation; NULL if they do. */
static const char *misfit(struct arena *a, const struct charm_end ends[2],
                          const struct charm_endpoint *x, const struct charm_endpoint *y)
{
    const char *pair =
        arena_printf(a, "%s:%s and %s:%s", ends[0].service, x->name, ends[1].service, y->name);
    if (x->role == CHARM_PEERS || y->role == CHARM_PEERS) {
        const struct charm_end *peers = x->role == CHARM_PEERS ? &ends[0] : &ends[1];
        return arena_printf(a,
                            "%s:%s is for the units of %s alone: a relation of peers is made and "
                            "ends with its service",
                            peers->service, x->role == CHARM_PEERS ? x->name : y->name,
                            peers->service);
    }
    if (!roles_meet(x, y)) {
        bool provide = x->role == CHARM_PROVIDES;
        return arena_printf(a, "%s both %s something: one end provides what the other requires",
                            pair, provide ? "provide" : "require");
    }
    if (strcmp(x->interface, y->interface) != 0) {
        return arena_printf(a, "%s have different interfaces: %s and %s", pair, x->interface,
                            y->interface);
    }
    if (x->container != y->container && !x->implicit && !y->implicit) {
        return arena_printf(a,
                            "%s differ in scope: %s:%s is for units of one container, the other "
                            "for all",
                            pair, ends[x->container ? 0 : 1].service,
                            x->container ? x->name : y->name);
    }
    if ((x->container || y->container) &&
        ends[0].charm->subordinate == ends[1].charm->subordinate) {
        return arena_printf(a,
                            "%s have container scope: one of the services must be subordinate, "
                            "and %s",
                            pair, ends[0].charm->subordinate ? "both are" : "none is");
    }
    return NULL;
}

struct fits {
    struct charm_fit list[ENDS_MAX * ENDS_MAX];
    size_t count;
    bool said; /* one is among them whose ends the charms say themselves */
};

static void find_fits(struct arena *a, const struct charm_end ends[2],
                      const struct charm_endpoint *const *xs, size_t x_count,
                      const struct charm_endpoint *const *ys, size_t y_count, struct fits *to)
{
    for (size_t x = 0; x < x_count; x++) {
        for (size_t y = 0; y < y_count; y++) {
            bool said = !xs[x]->implicit && !ys[y]->implicit;
            if (misfit(a, ends, xs[x], ys[y]) || (to->said && !said)) {
                continue;
            }
            if (said && !to->said) { /* implicit ones give way */
                to->count = 0;
                to->said = true;
            }
            assert(to->count < ENDS_MAX * ENDS_MAX);
            to->list[to->count++] = (struct charm_fit){
                .ends = {*xs[x], *ys[y]}, .container = xs[x]->container || ys[y]->container};
        }
    }
}

static int several(struct arena *a, const struct charm_end ends[2], const struct fits *f,
                   struct err *err)
{
    const char *list = "";
    for (size_t i = 0; i < f->count && i < TOLD_MAX; i++) {
        list = arena_printf(a, "%s%s%s:%s %s:%s", list, i ? ", " : "", ends[0].service,
                            f->list[i].ends[0].name, ends[1].service, f->list[i].ends[1].name);
    }
    return err_set(err, ERR_INVALID, "%s and %s fit in %zu ways; name the ends: %s%s",
                   ends[0].service, ends[1].service, f->count, list,
                   f->count > TOLD_MAX ? ", ..." : "");
}

int charm_ends_fit(struct arena *a, const struct charm_end ends[2], struct charm_fit *ret_fit,
                   struct err *err)
{
    const struct charm_endpoint *xs[ENDS_MAX], *ys[ENDS_MAX];
    if (strcmp(ends[0].service, ends[1].service) == 0) {
        return err_set(err, ERR_INVALID,
                       "%s cannot be related to itself; its units speak by an endpoint in peers, "
                       "whose relation is made with the service",
                       ends[0].service);
    }
    size_t x_count = candidates_of(&ends[0], xs), y_count = candidates_of(&ends[1], ys);
    if (x_count == 0 || y_count == 0) {
        return unknown_end(a, x_count == 0 ? &ends[0] : &ends[1], err);
    }
    struct fits *f = ARENA_NEW(a, struct fits);
    find_fits(a, ends, xs, x_count, ys, y_count, f);
    if (f->count == 1) {
        *ret_fit = f->list[0];
        return 0;
    }
    if (f->count > 1) {
        return several(a, ends, f, err);
    }
    return x_count == 1 && y_count == 1
               ? err_set(err, ERR_INVALID, "%s", misfit(a, ends, xs[0], ys[0]))
               : err_set(err, ERR_INVALID,
                         "nothing of %s and %s fits: one must provide an interface that the other "
                         "requires, and a relation of container scope joins a subordinate to "
                         "another service",
                         ends[0].service, ends[1].service);
}

const char *charm_lacks_end(struct arena *a, const struct charm *c,
                            const struct charm_endpoint *end, bool container)
{
    const struct charm_endpoint *own = charm_endpoint_named(c, end->name);
    if (strcmp(end->name, CHARM_IMPLICIT) == 0) {
        return NULL;
    }
    if (!own || own->role != end->role || strcmp(own->interface, end->interface) != 0) {
        return arena_printf(a, "the charm %s does not have %s in %s with the interface %s", c->name,
                            end->name, charm_role_name(end->role), end->interface);
    }
    return own->container && !container
               ? arena_printf(a,
                              "the charm %s has %s with container scope, which takes no relation "
                              "of global scope",
                              c->name, end->name)
               : NULL;
}
