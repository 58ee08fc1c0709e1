/* Configuration and settings: keys with values, their bounds, and defaults. */
#include "common/charmfile/charm.h"
#include "common/codec/json_text.h"
#include "common/codec/nearest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool charm_value_key_is_valid(const char *key)
{
    size_t size = strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
    return size > 0 && key[size] == 0 && size <= CHARM_VALUE_KEY_MAX;
}

const char *charm_values_fault(struct arena *a, const struct charm_value *values, size_t count)
{
    assert(count == 0 || values);
    size_t bytes = 0;
    if (count > CHARM_VALUES_MAX) {
        return arena_printf(a, "%zu keys; there can be %d at most", count, CHARM_VALUES_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        if (!charm_value_key_is_valid(values[i].key)) {
            return arena_printf(a, "the key \"%.60s\" " CHARM_VALUE_KEY_RULE, values[i].key);
        }
        if (!utf8_valid(bytes_of(values[i].value))) {
            return arena_printf(a, "the value of %s is not UTF-8", values[i].key);
        }
        bytes += strlen(values[i].key) + strlen(values[i].value);
    }
    return bytes <= CHARM_VALUES_BYTES_MAX
               ? NULL
               : arena_printf(a, "%zu bytes of keys and values; there can be %d at most", bytes,
                              CHARM_VALUES_BYTES_MAX);
}

static struct charm_value *value_named(struct charm_value *values, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(values[i].key, key) == 0) {
            return &values[i];
        }
    }
    return NULL;
}

static int unknown_option(const struct charm *c, const char *key, struct err *err)
{
    struct nearest n;
    nearest_begin(&n, key);
    for (size_t i = 0; i < c->config_count; i++) {
        nearest_consider(&n, c->config[i].key);
    }
    if (n.best) {
        return err_set(err, ERR_INVALID,
                       "the charm %s has no option \"%.60s\"; did you mean \"%s\"?", c->name, key,
                       n.best);
    }
    return err_set(err, ERR_INVALID, "the charm %s has no option \"%.60s\"%s", c->name, key,
                   c->config_count ? "" : "; it has none at all");
}

int charm_configuration(struct arena *a, const struct charm *c, const struct charm_value *given,
                        size_t count, const struct charm_value **ret_values, size_t *ret_count,
                        struct err *err)
{
    struct charm_value *values = ARENA_ARRAY(a, c->config_count, struct charm_value);
    for (size_t i = 0; i < c->config_count; i++) {
        values[i] = c->config[i];
    }
    for (size_t i = 0; i < count; i++) {
        struct charm_value *v = value_named(values, c->config_count, given[i].key);
        if (!v) {
            return unknown_option(c, given[i].key, err);
        }
        v->value = given[i].value;
    }
    const char *fault = charm_values_fault(a, values, c->config_count);
    if (fault) {
        return err_set(err, ERR_INVALID, "configuration of %s: %s", c->name, fault);
    }
    *ret_values = values;
    *ret_count = c->config_count;
    return 0;
}
