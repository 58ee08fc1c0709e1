#include "converger/spread.h"

#include "common/model/component_path.h"
#include "common/model/head.h"

#include <assert.h>
#include <string.h>

/* The services that are to stand, while they are compared with those that do. */
struct wanted_services {
    struct map by_key; /* key of the service -> its entry */
    bool whole;        /* each tree that counts was there */
};

static const Board__IndexRecord *index_of(const struct watched_system *v, const char *tree)
{
    return system_record(v, key_index(v->arena, tree), NULL);
}

/* The services of the tree that count: under the path, and where no longer root stands. */
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
        if (strcmp(e->kind, "service") == 0 && component_path_within(e->path, path) &&
            head_root(v->head, e->path) == root) {
            map_put(&w->by_key, key_service(v->arena, v->uid, e->path), e);
        }
    }
}

static void wanted_under(const struct watched_system *v, const char *path,
                         struct wanted_services *ret)
{
    const Board__Root **roots;
    map_init(&ret->by_key);
    ret->whole = true;
    size_t count = head_roots_of(v->arena, v->head, path, &roots);
    for (size_t i = 0; i < count; i++) {
        if (*roots[i]->tree) {
            add_tree(v, roots[i], path, ret);
        }
    }
}

static bool was_told(const struct service_seen *s, const Board__IndexRecord__Entry *e,
                     const char *holder)
{
    return s && s->state != SERVICE_DELETING && strcmp(s->deploy, holder) == 0 &&
           strcmp(s->component, e->hash) == 0;
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
    bool told = w.whole;
    for (struct map_node *n = map_first(&w.by_key); n && w.whole; n = map_next(n)) {
        const struct service_seen *s = map_get(v->services, map_key(n));
        if (!was_told(s, map_value(n), holder)) {
            told = tell(v, s, map_value(n), holder, out);
        }
    }
    told = w.whole && delete_others(v, &w, path, holder, out) && told;
    map_done(&w.by_key, NULL);
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
        bool told = was_told(map_get(v->services, map_key(n)), e, holder);
        *ret_entry = e;
        for (size_t i = 0; i < e->n_secrets && !told && !lacks; i++) {
            bool set = map_get(v->records, key_secret(v->arena, v->uid, e->secrets[i]));
            lacks = set ? NULL : e->secrets[i];
        }
    }
    map_done(&w.by_key, NULL);
    return lacks;
}

bool spread_settled(const struct watched_system *v, const char *path, const char *holder,
                    const struct service_seen **ret_failed)
{
    const struct service_seen **list;
    bool settled = true;
    size_t count = system_services_within(v, path, &list);
    *ret_failed = NULL;
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
