/* Where what names a pool is to run: for services and runs. */
#include "bbs/pool/pool.h"
#include "common/model/component_path.h"
#include "common/model/head.h"
#include "common/model/pool_record.h"
#include "common/model/pool_tag.h"

#include <assert.h>
#include <string.h>

const Board__NodePool *pool_defined(struct view *v, const Board__HeadRecord *head, const char *name)
{
    struct arena *a = view_arena(v);
    const char *path = component_subname_path(a, name), *leaf = component_subname_leaf(name);
    const Board__Root *root = head ? head_root(head, path) : NULL;
    const Board__ComponentRecord *c =
        root && *root->tree ? view_message(v, key_tree(a, root->tree, path)) : NULL;
    if (!c || !*leaf) {
        return c ? c->own_pool : NULL;
    }
    for (size_t i = 0; i < c->n_node_pools; i++) {
        if (strcmp(c->node_pools[i]->name, leaf) == 0) {
            return c->node_pools[i];
        }
    }
    return NULL;
}

static bool is_shared(const Board__NodePool *pool)
{
    return strcmp(pool->instance_type, POOL_SHARED_TYPE) == 0;
}

const char *pool_of_component(struct arena *a, const Board__ComponentRecord *c)
{
    if (!c->own_pool) {
        return c->pool;
    }
    return is_shared(c->own_pool) ? "" : arena_printf(a, "%s:", c->path);
}

/* Why the pool has no place now, NULL = it has, in its newest epoch. */
static const char *lack_of(struct arena *a, const Board__NodePool *defined,
                           const Board__PoolRecord *pool, const char *name)
{
    const Board__PoolEpoch *newest = pool_newest(pool);
    if (!defined) {
        return arena_printf(a, "no definition that stands has node pool %s", name);
    }
    if (!pool) {
        return arena_printf(a, "node pool %s is not there yet", name);
    }
    if (!newest) {
        return arena_printf(a, "node pool %s is being deleted: it is made again after that", name);
    }
    return strcmp(newest->instance_type, defined->instance_type) == 0
               ? NULL
               : arena_printf(a, "node pool %s gets cells of type %s first", name,
                              defined->instance_type);
}

struct pool_place pool_place_gather(struct view *v, const char *uid, const Board__HeadRecord *head,
                                    const char *name)
{
    struct arena *a = view_arena(v);
    const Board__NodePool *defined = *name ? pool_defined(v, head, name) : NULL;
    if (!*name || (defined && is_shared(defined))) {
        return (struct pool_place){.name = ""};
    }
    const Board__PoolRecord *pool = view_message(v, key_pool(a, uid, name));
    struct pool_place place = {.name = name, .lack = lack_of(a, defined, pool, name)};
    if (!place.lack) {
        place.epoch = pool_newest(pool)->number;
        place.tag = pool_tag(a, uid, name, place.epoch);
    }
    return place;
}

char **pool_place_tags(struct arena *a, const struct pool_place *place, char *const *tags,
                       size_t count, size_t *ret_count)
{
    char **list = ARENA_ARRAY(a, count + 1, char *);
    assert(!place->lack);
    if (count) {
        memcpy(list, tags, count * sizeof(*list));
    }
    if (place->tag) {
        list[count++] = arena_strdup(a, place->tag);
    }
    *ret_count = count;
    return list;
}
