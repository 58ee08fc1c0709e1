#include "common/model/unit_settings.h"

#include <assert.h>
#include <string.h>

size_t unit_settings_bytes(Board__UnitSetting *const *list, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += strlen(list[i]->key) + strlen(list[i]->value);
    }
    return bytes;
}

/* Where the key is, or belongs. */
static size_t setting_at(Board__UnitSetting *const *list, size_t count, const char *key)
{
    size_t at = 0;
    while (at < count && strcmp(list[at]->key, key) < 0) {
        at++;
    }
    return at;
}

const char *unit_setting(Board__UnitSetting *const *list, size_t count, const char *key)
{
    size_t at = setting_at(list, count, key);
    return at < count && strcmp(list[at]->key, key) == 0 ? list[at]->value : NULL;
}

size_t unit_setting_put(struct arena *a, Board__UnitSetting *const *list, size_t count,
                        const char *key, const char *value, Board__UnitSetting ***ret_list)
{
    size_t at = setting_at(list, count, key), rest = at;
    Board__UnitSetting **to = ARENA_ARRAY(a, count + 1, Board__UnitSetting *);
    rest += at < count && strcmp(list[at]->key, key) == 0;
    if (at) {
        memcpy(to, list, at * sizeof(*to));
    }
    size_t after = at;
    if (value && *value) {
        Board__UnitSetting *s = arena_message(a, &board__unit_setting__descriptor);
        s->key = arena_strdup(a, key);
        s->value = arena_strdup(a, value);
        to[after++] = s;
    }
    if (rest < count) {
        memcpy(&to[after], &list[rest], (count - rest) * sizeof(*to));
    }
    *ret_list = to;
    assert(after + count - rest <= count + 1);
    return after + count - rest;
}
