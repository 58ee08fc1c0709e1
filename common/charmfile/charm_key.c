#include "common/charmfile/charm_key.h"

#include "common/codec/nearest.h"

#include <assert.h>
#include <string.h>

static const struct charm_key keys[] = {
#define KEY(places, name, value, otherwise, meaning) {name, CK_##places, value, otherwise, meaning},
#define AS_OF_APP(name) {name, CK_CHARM, NULL, NULL, NULL},
#include "common/charmfile/keys.def"
#undef KEY
#undef AS_OF_APP
};

enum { KEY_COUNT = sizeof(keys) / sizeof(keys[0]) };

const struct charm_key *charm_keys(size_t *ret_count)
{
    *ret_count = KEY_COUNT;
    return keys;
}

const struct charm_key *charm_key_named(const char *name, enum charm_place place)
{
    assert(name);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (keys[i].place == place && strcmp(keys[i].name, name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

static int unknown(const struct app_source *s, const struct node *at, const char *path,
                   const char *name, enum charm_place place)
{
    struct nearest n;
    nearest_begin(&n, name);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        nearest_consider(&n, keys[i].place == place ? keys[i].name : NULL);
    }
    return app_mistake(s, at, path,
                       n.best ? arena_printf(s->arena, "unknown key; did you mean \"%s\"?", n.best)
                              : "unknown key; docs/units.md, A charm, has all");
}

int charm_check_keys(const struct app_source *s, const struct node *map, const char *path,
                     enum charm_place place)
{
    assert(path);
    if (map->kind != NODE_MAP) {
        return app_mistake(s, map, *path ? path : "charm", "must be a map");
    }
    for (size_t i = 0; i < map->count; i++) {
        if (!charm_key_named(map->keys[i], place)) {
            const char *whole =
                *path ? arena_printf(s->arena, "%s.%s", path, map->keys[i]) : map->keys[i];
            return unknown(s, map->items[i], whole, map->keys[i], place);
        }
    }
    return 0;
}
