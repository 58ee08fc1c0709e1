#include "converger/spread.h"

#include "common/base/memory.h"
#include "common/model/component_path.h"
#include "common/model/head.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A pool that is to stand. */
struct wanted_pool {
    const char *path; /* of the component that it comes with */
    const char *name; /* path:name */
    const Board__NodePool *is;
};

/* A service that is to stand. */
struct wanted_service {
    const Board__IndexRecord__Entry *entry;
    const char *tree;
};

struct spread {
    struct arena arena; /* holds what the trees say */
    uint64_t generation;
    const char *path, *holder;
    struct map wanted; /* key of the service -> struct wanted_service */
    struct map pools;  /* key of the pool -> struct wanted_pool */
    /* What the last comparison found, and was not seen done since: */
    struct map untold;  /* key of a service that is to be told -> the same struct */
    struct map extra;   /* key of a service that is to go -> this struct */
    struct map secrets; /* name -> struct secret_need, of those that were untold */
};

/* How many of `untold` need it. */
struct secret_need {
    size_t count;
};

/* ---- What is to stand ------------------------------------------------------------------------ */

static void add_pools(struct spread *s, const char *uid, const Board__IndexRecord__Entry *e)
{
    for (size_t i = 0; i < e->n_pools; i++) {
        struct wanted_pool *pool = ARENA_NEW(&s->arena, struct wanted_pool);
        pool->path = e->path;
        pool->name = arena_printf(&s->arena, "%s:%s", e->path, e->pools[i]->name);
        pool->is = e->pools[i];
        map_put(&s->pools, key_pool(&s->arena, uid, pool->name), pool);
    }
}

static void add_service(struct spread *s, const char *uid, const Board__IndexRecord__Entry *e,
                        const char *tree)
{
    struct wanted_service *w = ARENA_NEW(&s->arena, struct wanted_service);
    *w = (struct wanted_service){e, tree};
    map_put(&s->wanted, key_service(&s->arena, uid, e->path), w);
}

/* Services and pools of the tree that count: under the path, and where no longer root stands.
 * False: the tree has not come. */
static bool add_tree(struct spread *s, const struct watched_system *v, const Board__Root *root)
{
    struct watched_system kept = *v;
    kept.arena = &s->arena;
    const Board__IndexRecord *index = system_record(&kept, key_index(v->arena, root->tree), NULL);
    const char *tree = arena_strdup(&s->arena, root->tree);
    for (size_t i = 0; index && i < index->n_entries; i++) {
        const Board__IndexRecord__Entry *e = index->entries[i];
        if (!component_path_within(e->path, s->path) || head_root(v->head, e->path) != root) {
            continue;
        }
        add_pools(s, v->uid, e);
        if (strcmp(e->kind, "service") == 0) {
            add_service(s, v->uid, e, tree);
        }
    }
    return index != NULL;
}

void spread_drop(struct spread **kept)
{
    struct spread *s = *kept;
    if (s) {
        map_done(&s->wanted, NULL);
        map_done(&s->pools, NULL);
        map_done(&s->untold, NULL);
        map_done(&s->extra, NULL);
        map_done(&s->secrets, NULL);
        arena_done(&s->arena);
        free(s);
        *kept = NULL;
    }
}

uint64_t spread_generation(const struct spread *s)
{
    return s->generation;
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
static bool delete_pools(const struct watched_system *v, const struct spread *w,
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
static bool spread_pools(const struct watched_system *v, const struct spread *w,
                         struct system_moves *out)
{
    bool told = delete_pools(v, w, w->path, out);
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

static void need_secrets(struct spread *s, const Board__IndexRecord__Entry *e, bool needs)
{
    for (size_t i = 0; i < e->n_secrets; i++) {
        struct secret_need *need = map_get(&s->secrets, e->secrets[i]);
        if (!need) {
            need = ARENA_NEW(&s->arena, struct secret_need);
            map_put(&s->secrets, e->secrets[i], need);
        }
        assert(needs || need->count > 0);
        need->count = needs ? need->count + 1 : need->count - 1;
    }
}

/* Finds all that is to be told, and all that is to go. */
static void compare(struct spread *s, const struct watched_system *v)
{
    const struct service_seen **list;
    assert(s->untold.count == 0 && s->extra.count == 0);
    for (struct map_node *n = map_first(&s->wanted); n; n = map_next(n)) {
        struct wanted_service *w = map_value(n);
        if (!was_told(v, map_get(v->services, map_key(n)), w->entry, s->holder)) {
            map_put(&s->untold, map_key(n), w);
            need_secrets(s, w->entry, true);
        }
    }
    size_t count = system_services_within(v, s->path, &list);
    for (size_t i = 0; i < count; i++) {
        const char *key = key_service(v->arena, v->uid, list[i]->path);
        if (list[i]->state != SERVICE_DELETING && !map_get(&s->wanted, key)) {
            map_put(&s->extra, key, s);
        }
    }
}

struct spread *spread_new(const struct watched_system *v, const char *path, const char *holder,
                          uint64_t generation)
{
    const Board__Root **roots;
    struct spread *s = mem_zeroed(sizeof(*s));
    bool whole = true;
    arena_init(&s->arena);
    s->generation = generation;
    s->path = arena_strdup(&s->arena, path);
    s->holder = arena_strdup(&s->arena, holder);
    size_t count = head_roots_of(v->arena, v->head, path, &roots);
    for (size_t i = 0; i < count && whole; i++) {
        whole = !*roots[i]->tree || add_tree(s, v, roots[i]);
    }
    if (whole) {
        compare(s, v);
    } else {
        spread_drop(&s);
    }
    return s;
}

/* Those of them that the board shows told are left out from now on. */
static void tell(struct spread *s, const struct watched_system *v, struct system_moves *out)
{
    bool room = true;
    MAP_EACH(&s->untold, n)
    {
        const struct wanted_service *w = map_value(n);
        const struct service_seen *is = map_get(v->services, map_key(n));
        if (was_told(v, is, w->entry, s->holder)) {
            need_secrets(s, w->entry, false);
            map_remove(&s->untold, map_key(n));
        } else if (!room) {
            break;
        } else if (!is || is->state != SERVICE_DELETING) { /* otherwise it waits */
            Board__Move *m = move_of_service(v, "target", w->entry->path, s->holder);
            m->service->tree = (char *)(uintptr_t)w->tree;
            room = system_moves_add(out, "spread", m);
        }
    }
}

/* The same of those that are to go. */
static void delete_extra(struct spread *s, const struct watched_system *v,
                         struct system_moves *out)
{
    bool room = true;
    MAP_EACH(&s->extra, n)
    {
        const struct service_seen *is = map_get(v->services, map_key(n));
        if (!is || is->state == SERVICE_DELETING) {
            map_remove(&s->extra, map_key(n));
        } else if (!room) {
            break;
        } else {
            Board__Move *m = move_of_service(v, "delete", is->path, s->holder);
            room = system_moves_add(out, "spread", m);
        }
    }
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

/* `pools`: they are as they are to be, so services may be told. True: nothing is left to do. */
static bool go_on(struct spread *s, const struct watched_system *v, bool pools,
                  struct system_moves *out)
{
    if (pools) {
        tell(s, v, out);
    }
    delete_extra(s, v, out);
    return s->untold.count == 0 && s->extra.count == 0;
}

bool spread_under(struct spread *s, const struct watched_system *v, struct system_moves *out)
{
    bool pools = spread_pools(v, s, out);
    if (!go_on(s, v, pools, out)) {
        return false;
    }
    compare(s, v); /* all that was found is done: whether that is all */
    return go_on(s, v, pools, out) && pools;
}

/* Of a service the first one that is not set; NULL = all are. */
static const char *unset_of(const struct watched_system *v, const Board__IndexRecord__Entry *e)
{
    for (size_t i = 0; i < e->n_secrets; i++) {
        if (!map_get(v->records, key_secret(v->arena, v->uid, e->secrets[i]))) {
            return e->secrets[i];
        }
    }
    return NULL;
}

const char *spread_lacks(const struct spread *s, const struct watched_system *v,
                         const char **ret_path)
{
    bool unset = false;
    for (struct map_node *n = map_first(&s->secrets); n && !unset; n = map_next(n)) {
        const struct secret_need *need = map_value(n);
        unset = need->count > 0 && !map_get(v->records, key_secret(v->arena, v->uid, map_key(n)));
    }
    for (struct map_node *n = map_first(&s->untold); n && unset; n = map_next(n)) {
        const struct wanted_service *w = map_value(n);
        const char *lacks = unset_of(v, w->entry);
        *ret_path = w->entry->path;
        if (lacks && !was_told(v, map_get(v->services, map_key(n)), w->entry, s->holder)) {
            return lacks;
        }
    }
    return NULL;
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
