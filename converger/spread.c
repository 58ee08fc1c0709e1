#include "converger/spread.h"

#include "common/model/component_path.h"
#include "common/model/head.h"

#include <assert.h>
#include <string.h>

/* A pool that is to stand. */
struct wanted_pool {
    const char *path; /* of the component that it comes with */
    const char *name; /* path:name */
    const Board__NodePool *is;
};

/* What is to stand, while it is compared with what does. */
struct wanted_services {
    struct map by_key; /* key of the service -> its entry */
    struct map pools;  /* key of the pool -> struct wanted_pool */
    bool whole;        /* each tree that counts was there */
};

static const Board__IndexRecord *index_of(const struct watched_system *v, const char *tree)
{
    return system_record(v, key_index(v->arena, tree), NULL);
}

static void add_pools(const struct watched_system *v, const Board__IndexRecord__Entry *e,
                      struct wanted_services *w)
{
    for (size_t i = 0; i < e->n_pools; i++) {
        struct wanted_pool *pool = ARENA_NEW(v->arena, struct wanted_pool);
        pool->path = e->path;
        pool->name = arena_printf(v->arena, "%s:%s", e->path, e->pools[i]->name);
        pool->is = e->pools[i];
        map_put(&w->pools, key_pool(v->arena, v->uid, pool->name), pool);
    }
}

/* Services and pools of the tree that count: under the path, and where no longer root stands. */
static void add_tree(const struct watched_system *v, const Board__Root *root, const char *path,
                     struct wanted_services *w)
{
    const Board__IndexRecord *index = index_of(v, root->tree);
    if (!index) {
        w->whole = false;
        return;
    }
    for (size_t i = 0; i < index->n_entries; i++) {
        Board__IndexRecord__Entry *e = index->entries[i];
        if (!component_path_within(e->path, path) || head_root(v->head, e->path) != root) {
            continue;
        }
        add_pools(v, e, w);
        if (strcmp(e->kind, "service") == 0) {
            map_put(&w->by_key, key_service(v->arena, v->uid, e->path), e);
        }
    }
}

static void wanted_under(const struct watched_system *v, const char *path,
                         struct wanted_services *ret)
{
    const Board__Root **roots;
    map_init(&ret->by_key);
    map_init(&ret->pools);
    ret->whole = true;
    size_t count = head_roots_of(v->arena, v->head, path, &roots);
    for (size_t i = 0; i < count; i++) {
        if (*roots[i]->tree) {
            add_tree(v, roots[i], path, ret);
        }
    }
}

/* ---- Pools ----------------------------------------------------------------------------------- */

/* In which the service of the entry is to run; NULL = none, or one that has no record. */
static const struct pool_seen *pool_of(const struct watched_system *v,
                                       const Board__IndexRecord__Entry *e)
{
    const char *name = *e->pool ? e->pool : arena_printf(v->arena, "%s:", e->path);
    const struct pool_seen *p = map_get(v->pools, key_pool(v->arena, v->uid, name));
    return p && p->state != POOL_DELETING ? p : NULL;
}

/* That which brings the pool to what it is to be; NULL = it is that. One that goes is opened anew.
 */
static const char *pool_move(const struct pool_seen *p, const struct wanted_pool *w)
{
    bool stands = p && p->state != POOL_DELETING;
    return !stands                                       ? "open"
           : strcmp(p->type, w->is->instance_type) != 0  ? "renew"
           : p->wanted != w->is->num_instances           ? "adjust"
                                                         : NULL;
}

/* True: the pool is as it is to be. A service's own waits for the end of the former service. */
static bool tell_pool(const struct watched_system *v, const char *key, const struct wanted_pool *w,
                      struct system_moves *out)
{
    const struct service_seen *s = map_get(v->services, key_service(v->arena, v->uid, w->path));
    const char *move = pool_move(map_get(v->pools, key), w);
    if (move && !(s && s->state == SERVICE_DELETING)) {
        Board__Move *m = move_of_pool(v, move, w->name);
        m->pool->instance_type = w->is->instance_type;
        m->pool->wanted = w->is->num_instances;
        system_moves_add(out, "spread", m);
    }
    return !move;
}

/* Those at and below the path that are not wanted go; `w` NULL = none is. True: none was left. */
static bool delete_pools(const struct watched_system *v, const struct wanted_services *w,
                         const char *path, struct system_moves *out)
{
    bool told = true;
    for (struct map_node *n = map_first(v->pools); n; n = map_next(n)) {
        const struct pool_seen *p = map_value(n);
        bool wanted = w && map_get(&w->pools, map_key(n));
        if (!wanted && p->state != POOL_DELETING && system_pool_within(v, p, path)) {
            told = false;
            system_moves_add(out, "spread", move_of_pool(v, "delete", p->name));
        }
    }
    return told;
}

/* True: every pool at and below the path is told what it is to be. */
static bool spread_pools(const struct watched_system *v, const struct wanted_services *w,
                         const char *path, struct system_moves *out)
{
    bool told = delete_pools(v, w, path, out);
    for (struct map_node *n = map_first(&w->pools); n; n = map_next(n)) {
        told = tell_pool(v, map_key(n), map_value(n), out) && told;
    }
    return told;
}

/* ---- Services -------------------------------------------------------------------------------- */

/* Also of its pool: what it runs goes to the cells that the pool takes now. */
static bool was_told(const struct watched_system *v, const struct service_seen *s,
                     const Board__IndexRecord__Entry *e, const char *holder)
{
    const struct pool_seen *pool = pool_of(v, e);
    return s && s->state != SERVICE_DELETING && strcmp(s->deploy, holder) == 0 &&
           strcmp(s->component, e->hash) == 0 && s->pool_epoch == (pool ? pool->epoch : 0);
}

/* False: it waits, or there is no room. */
static bool tell(const struct watched_system *v, const struct service_seen *s,
                 const Board__IndexRecord__Entry *e, const char *holder, struct system_moves *out)
{
    if (!s || s->state != SERVICE_DELETING) {
        Board__Move *m = move_of_service(v, "target", e->path, holder);
        m->service->tree = head_root(v->head, e->path)->tree;
        system_moves_add(out, "spread", m);
    }
    return false;
}

void spread_nothing(const struct watched_system *v, const char *path, const char *holder,
                    struct system_moves *out)
{
    delete_pools(v, NULL, path, out);
    const struct service_seen **list;
    size_t count = system_services_within(v, path, &list);
    for (size_t i = 0; i < count; i++) {
        if (list[i]->state != SERVICE_DELETING &&
            !system_moves_add(out, "spread", move_of_service(v, "delete", list[i]->path, holder))) {
            return;
        }
    }
}

/* Those that stand and are not wanted. False: some are yet to be told. */
static bool delete_others(const struct watched_system *v, const struct wanted_services *w,
                          const char *path, const char *holder, struct system_moves *out)
{
    bool told = true;
    const struct service_seen **list;
    size_t count = system_services_within(v, path, &list);
    for (size_t i = 0; i < count; i++) {
        const char *key = key_service(v->arena, v->uid, list[i]->path);
        if (list[i]->state != SERVICE_DELETING && !map_get(&w->by_key, key)) {
            told = false;
            system_moves_add(out, "spread", move_of_service(v, "delete", list[i]->path, holder));
        }
    }
    return told;
}

bool spread_under(const struct watched_system *v, const char *path, const char *holder,
                  struct system_moves *out)
{
    struct wanted_services w;
    wanted_under(v, path, &w);
    bool pools = w.whole && spread_pools(v, &w, path, out);
    bool told = w.whole && pools;
    for (struct map_node *n = map_first(&w.by_key); n && pools; n = map_next(n)) {
        const struct service_seen *s = map_get(v->services, map_key(n));
        if (!was_told(v, s, map_value(n), holder)) {
            told = tell(v, s, map_value(n), holder, out);
        }
    }
    told = w.whole && delete_others(v, &w, path, holder, out) && told;
    map_done(&w.by_key, NULL);
    map_done(&w.pools, NULL);
    return told;
}

const char *spread_lacks(const struct watched_system *v, const char *path, const char *holder,
                         const Board__IndexRecord__Entry **ret_entry)
{
    struct wanted_services w;
    const char *lacks = NULL;
    wanted_under(v, path, &w);
    for (struct map_node *n = map_first(&w.by_key); n && !lacks; n = map_next(n)) {
        const Board__IndexRecord__Entry *e = map_value(n);
        bool told = was_told(v, map_get(v->services, map_key(n)), e, holder);
        *ret_entry = e;
        for (size_t i = 0; i < e->n_secrets && !told && !lacks; i++) {
            bool set = map_get(v->records, key_secret(v->arena, v->uid, e->secrets[i]));
            lacks = set ? NULL : e->secrets[i];
        }
    }
    map_done(&w.by_key, NULL);
    map_done(&w.pools, NULL);
    return lacks;
}

/* One that has failed fails who holds the path; *ret_failed stays what it was otherwise. */
static bool pools_settled(const struct watched_system *v, const char *path,
                          const struct pool_seen **ret_failed)
{
    bool settled = true;
    for (struct map_node *n = map_first(v->pools); n; n = map_next(n)) {
        const struct pool_seen *p = map_value(n);
        if (!system_pool_within(v, p, path)) {
            continue;
        }
        *ret_failed = p->state == POOL_FAILED && !*ret_failed ? p : *ret_failed;
        settled = settled && p->ready;
    }
    return settled;
}

bool spread_settled(const struct watched_system *v, const char *path, const char *holder,
                    const struct service_seen **ret_failed, const struct pool_seen **ret_pool)
{
    const struct service_seen **list;
    *ret_failed = NULL;
    *ret_pool = NULL;
    bool settled = pools_settled(v, path, ret_pool);
    size_t count = system_services_within(v, path, &list);
    for (size_t i = 0; i < count; i++) {
        bool told = strcmp(list[i]->deploy, holder) == 0;
        assert(list[i]->path);
        if (told && list[i]->state == SERVICE_FAILED && !*ret_failed) {
            *ret_failed = list[i];
        }
        settled = settled && told && list[i]->state == SERVICE_STABLE;
    }
    return settled;
}
