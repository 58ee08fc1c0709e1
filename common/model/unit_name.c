#include "common/model/unit_name.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_decimal(char c)
{
    return c >= '0' && c <= '9';
}

/* Each part has a letter, so that "web-1" is no name and nobody takes one for a unit. */
bool unit_service_name_is_valid(const char *name)
{
    bool letter = false;
    size_t size = 0;
    for (; name[size]; size++) {
        if (size == UNIT_SERVICE_NAME_MAX || (size == 0 && !is_lower(name[0]))) {
            return false;
        }
        if (name[size] == '-') {
            if (!letter) {
                return false;
            }
            letter = false;
        } else if (!is_lower(name[size]) && !is_decimal(name[size])) {
            return false;
        } else {
            letter = letter || is_lower(name[size]);
        }
    }
    return letter;
}

/* All digits, at most 10, of a number of 32 bits. */
static bool number_parse(const char *text, uint32_t *ret)
{
    size_t size = strspn(text, "0123456789");
    unsigned long long number = size && size <= 10 ? strtoull(text, NULL, 10) : UINT64_MAX;
    *ret = (uint32_t)number;
    return !text[size] && number <= UINT32_MAX;
}

bool unit_name_parse(struct arena *a, const char *text, struct unit_name *ret)
{
    const char *slash = strchr(text, '/');
    if (!slash || (slash[1] == '0' && slash[2])) {
        return false;
    }
    ret->service = arena_strndup(a, text, (size_t)(slash - text));
    return number_parse(slash + 1, &ret->number) && unit_service_name_is_valid(ret->service);
}

const char *unit_name_text(struct arena *a, struct unit_name u)
{
    return arena_printf(a, "%s/%u", u.service, u.number);
}

bool unit_name_equal(struct unit_name a, struct unit_name b)
{
    return a.number == b.number && strcmp(a.service, b.service) == 0;
}

const char *unit_scope_text(struct arena *a, struct unit_name principal)
{
    return arena_printf(a, "%s.%u", principal.service, principal.number);
}

/* ---- Keys read back: what is read is made again, and must be the same ---- */

static bool unit_at(struct arena *a, const char *key, unsigned n, struct unit_name *ret)
{
    const char *number = key_component(a, key, n + 1);
    ret->service = key_component(a, key, n);
    return number && *ret->service && number_parse(number, &ret->number);
}

static bool number_at(struct arena *a, const char *key, unsigned n, uint32_t *ret)
{
    const char *number = key_component(a, key, n);
    return number && number_parse(number, ret);
}

bool unit_of_key(struct arena *a, const char *key, struct unit_name *ret)
{
    const char *made = "", *child;
    uint32_t number = 0;
    enum record_type type = key_type(key);
    if (!unit_at(a, key, type == RECORD_MACHINE_UNIT ? 2 : 1, ret)) {
        return false;
    }
    switch (type) {
    case RECORD_UNIT:
        made = key_unit(a, *ret);
        break;
    case RECORD_UNIT_STATUS:
        made = key_unit_status(a, *ret);
        break;
    case RECORD_UNIT_CHILD:
        child = key_component(a, key, 3);
        made = child ? key_unit_child(a, *ret, child) : "";
        break;
    case RECORD_UNIT_SCOPE:
        made = number_at(a, key, 3, &number) ? key_unit_scope(a, *ret, number) : "";
        break;
    case RECORD_MACHINE_UNIT:
        made = number_at(a, key, 1, &number) ? key_machine_unit(a, number, *ret) : "";
        break;
    default:
        break;
    }
    return strcmp(made, key) == 0;
}

bool member_of_key(struct arena *a, const char *key, struct member_name *ret)
{
    enum record_type type = key_type(key);
    const char *role = key_component(a, key, 3);
    bool settings = type == RECORD_RELATION_SETTINGS;
    if (!settings && type != RECORD_RELATION_MEMBER) {
        return false;
    }
    if (!role || !is_decimal(role[0]) || role[1] || !number_at(a, key, 1, &ret->relation) ||
        !unit_at(a, key, 4, &ret->unit)) {
        return false;
    }
    ret->principal = key_component(a, key, 2);
    ret->role = role[0] - '0';
    return *ret->principal && strcmp(settings ? key_relation_settings(a, ret)
                                              : key_relation_member(a, ret), key) == 0;
}

bool number_of_key(struct arena *a, const char *key, uint32_t *ret)
{
    struct unit_name unit;
    switch (key_type(key)) {
    case RECORD_MACHINE:
        return number_at(a, key, 1, ret) && strcmp(key_machine(a, *ret), key) == 0;
    case RECORD_RELATION:
        return number_at(a, key, 1, ret) && strcmp(key_relation(a, *ret), key) == 0;
    case RECORD_UNIT_SERVICE_RELATION:
        return number_at(a, key, 2, ret) &&
               strcmp(key_unit_service_relation(a, key_component(a, key, 1), *ret), key) == 0;
    case RECORD_UNIT_SCOPE:
        return unit_of_key(a, key, &unit) && number_at(a, key, 3, ret);
    default:
        return false;
    }
}

/* ---- Relations ---- */

static const char *end_text(struct arena *a, const Board__RelationEnd *end)
{
    return arena_printf(a, "%s:%s", end->service, end->endpoint->name);
}

const char *relation_canonical(struct arena *a, Board__RelationEnd *const *ends, size_t count)
{
    assert(count == 1 || count == 2);
    const char *first = end_text(a, ends[0]);
    if (count == 1) {
        return first;
    }
    bool turned = ends[0]->endpoint->role == BOARD__ENDPOINT__ROLE__PROVIDER;
    const char *second = end_text(a, ends[1]);
    return arena_printf(a, "%s %s", turned ? second : first, turned ? first : second);
}
