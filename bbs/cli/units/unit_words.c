#include "bbs/cli/units/unit_words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

Board__UnitEnd *unit_end_read(struct arena *a, const char *text)
{
    Board__UnitEnd *end = arena_message(a, &board__unit_end__descriptor);
    const char *colon = strchr(text, ':');
    end->service = arena_strndup(a, text, colon ? (size_t)(colon - text) : strlen(text));
    end->endpoint = arena_strdup(a, colon ? colon + 1 : "");
    return end;
}

static int by_key(const void *x, const void *y)
{
    return strcmp((*(Board__UnitSetting *const *)x)->key, (*(Board__UnitSetting *const *)y)->key);
}

int unit_settings_read(struct arena *a, const char *const *words, size_t count,
                       Board__UnitSetting ***ret_settings, struct err *err)
{
    Board__UnitSetting **list = ARENA_ARRAY(a, count, Board__UnitSetting *);
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(words[i], '=');
        if (!equals || equals == words[i]) {
            return err_set(err, ERR_INVALID, "\"%.80s\" is no setting: KEY=VALUE", words[i]);
        }
        list[i] = arena_message(a, &board__unit_setting__descriptor);
        list[i]->key = arena_strndup(a, words[i], (size_t)(equals - words[i]));
        list[i]->value = arena_strdup(a, equals + 1);
    }
    if (count > 0) {
        qsort(list, count, sizeof(*list), by_key);
    }
    for (size_t i = 1; i < count; i++) {
        if (strcmp(list[i - 1]->key, list[i]->key) == 0) {
            return err_set(err, ERR_INVALID, "%.80s is set twice", list[i]->key);
        }
    }
    assert(count == 0 || *list[0]->key);
    *ret_settings = list;
    return 0;
}

int machine_number_read(const char *text, uint32_t *ret_number, struct err *err)
{
    size_t digits = strspn(text, "0123456789");
    unsigned long long number = digits > 0 && digits <= 10 ? strtoull(text, NULL, 10) : UINT64_MAX;
    if (text[digits] || number > UINT32_MAX) {
        return err_set(err, ERR_INVALID,
                       "\"%.60s\" is no number of a machine: bbs units machines lists them", text);
    }
    *ret_number = (uint32_t)number;
    return 0;
}

const char *units_destroyed_text(struct arena *a, size_t asked, size_t failed)
{
    assert(failed > 0 && failed <= asked);
    return failed == asked ? "none were destroyed"
                           : arena_printf(a, "some were destroyed, %zu of %zu %s not", failed,
                                          asked, failed == 1 ? "was" : "were");
}

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

bool unit_text_names(const char *text, const char *name)
{
    size_t size = strlen(name);
    bool names = false;
    for (const char *at = text; size && !names && (at = strstr(at, name)); at++) {
        names = (at == text || !is_of_name(at[-1])) && !is_of_name(at[size]);
    }
    return names;
}
