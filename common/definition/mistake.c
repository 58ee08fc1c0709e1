#include "common/definition/mistake.h"

#include "common/codec/nearest.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

static const struct definition_key keys[] = {
#define KEY(places, name, value, otherwise, meaning) {name, DK_##places, value, otherwise, meaning},
#include "common/definition/keys.def"
#undef KEY
};

enum { KEY_COUNT = sizeof(keys) / sizeof(keys[0]) };

const struct definition_key *definition_keys(size_t *ret_count)
{
    *ret_count = KEY_COUNT;
    return keys;
}

static void add(struct arena *a, struct definition_faults *faults, const char *text)
{
    if (!faults->list) {
        faults->list = ARENA_ARRAY(a, DEFINITION_FAULTS_MAX, const char *);
    }
    if (faults->count < DEFINITION_FAULTS_MAX) {
        faults->list[faults->count] = text;
    }
    faults->count++;
}

void definition_fault(struct arena *a, struct definition_faults *faults, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(a, faults, arena_vprintf(a, format, args));
    va_end(args);
}

void definition_mistake(const struct definition_source *s, const struct node *at, const char *key,
                        const char *format, ...)
{
    assert(at && key);
    va_list args;
    va_start(args, format);
    const char *what = arena_vprintf(s->arena, format, args);
    va_end(args);
    add(s->arena, s->faults,
        arena_printf(s->arena, "%s: %s:%u: %.100s%s%.300s", s->path, s->file, at->line, key,
                     *key ? ": " : "", what));
}

const char *definition_fault_text(struct arena *a, const struct definition_faults *faults)
{
    const char *text = "";
    size_t shown = faults->count < DEFINITION_FAULTS_MAX ? faults->count : DEFINITION_FAULTS_MAX;
    for (size_t i = 0; i < shown; i++) {
        text = arena_printf(a, "%s%s%s", text, i ? "; " : "", faults->list[i]);
    }
    return faults->count > shown ? arena_printf(a, "%s; and %zu more", text, faults->count - shown)
                                 : text;
}

static void unknown_key(const struct definition_source *s, const struct node *at, const char *name,
                        unsigned place)
{
    struct nearest n;
    nearest_begin(&n, name);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, name) == 0) { /* it stands elsewhere */
            continue;
        }
        nearest_consider(&n, keys[i].places & place ? keys[i].name : NULL);
    }
    if (n.best) {
        definition_mistake(s, at, name, "unknown key; did you mean \"%s\"?", n.best);
    } else {
        definition_mistake(s, at, name, "unknown key");
    }
}

bool definition_check_keys(const struct definition_source *s, const struct node *map,
                           const char *key, unsigned place)
{
    if (map->kind != NODE_MAP) {
        definition_mistake(s, map, key, "must be a map");
        return false;
    }
    for (size_t i = 0; i < map->count; i++) {
        bool known = false;
        for (size_t k = 0; k < KEY_COUNT && !known; k++) {
            known = (keys[k].places & place) && strcmp(keys[k].name, map->keys[i]) == 0;
        }
        if (!known) {
            unknown_key(s, map->items[i], map->keys[i], place);
        }
    }
    return true;
}
