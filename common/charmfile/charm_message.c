/* A charm as a message of the board, and back. */
#include "common/base/message.h"
#include "common/charmfile/charm.h"

#include <assert.h>
#include <string.h>

static const Board__Endpoint__Role roles[CHARM_ROLE_COUNT] = {
    [CHARM_PROVIDES] = BOARD__ENDPOINT__ROLE__PROVIDER,
    [CHARM_REQUIRES] = BOARD__ENDPOINT__ROLE__REQUIRER,
    [CHARM_PEERS] = BOARD__ENDPOINT__ROLE__PEER,
};

enum charm_role charm_role_of(Board__Endpoint__Role role)
{
    for (int i = 0; i < CHARM_ROLE_COUNT; i++) {
        if (roles[i] == role) {
            return (enum charm_role)i;
        }
    }
    assert(!"a record has one of the roles");
    return CHARM_PEERS;
}

static Board__Endpoint *endpoint_message(struct arena *a, const struct charm_endpoint *e)
{
    assert(!e->implicit); /* which is in no charm */
    Board__Endpoint *m = arena_message(a, &board__endpoint__descriptor);
    m->name = arena_strdup(a, e->name);
    m->role = roles[e->role];
    m->interface = arena_strdup(a, e->interface);
    m->scope = e->container ? BOARD__ENDPOINT__SCOPE__CONTAINER : BOARD__ENDPOINT__SCOPE__GLOBAL;
    return m;
}

static Board__CharmHook *hook_message(struct arena *a, const struct charm_hook *h)
{
    Board__CharmHook *m = arena_message(a, &board__charm_hook__descriptor);
    m->name = arena_strdup(a, h->name);
    m->script = arena_strdup(a, h->script);
    m->path = arena_strdup(a, h->path);
    return m;
}

static Board__UnitSetting *value_message(struct arena *a, const struct charm_value *v)
{
    Board__UnitSetting *m = arena_message(a, &board__unit_setting__descriptor);
    m->key = arena_strdup(a, v->key);
    m->value = arena_strdup(a, v->value);
    return m;
}

Board__Charm *charm_message(struct arena *a, const struct charm *c)
{
    assert(c->endpoint_count <= CHARM_ENDPOINTS_MAX && c->hook_count <= CHARM_HOOKS_MAX);
    Board__Charm *m = arena_message(a, &board__charm__descriptor);
    m->name = arena_strdup(a, c->name);
    m->subordinate = c->subordinate;
    m->run = (Models__DesiredLRP *)message_copy(a, &c->container->base);
    m->hook_timeout_s = c->hook_timeout_s;
    m->endpoints = ARENA_ARRAY(a, c->endpoint_count, Board__Endpoint *);
    m->config = ARENA_ARRAY(a, c->config_count, Board__UnitSetting *);
    m->hooks = ARENA_ARRAY(a, c->hook_count, Board__CharmHook *);
    while (m->n_endpoints < c->endpoint_count) {
        m->endpoints[m->n_endpoints] = endpoint_message(a, &c->endpoints[m->n_endpoints]);
        m->n_endpoints++;
    }
    while (m->n_config < c->config_count) {
        m->config[m->n_config] = value_message(a, &c->config[m->n_config]);
        m->n_config++;
    }
    while (m->n_hooks < c->hook_count) {
        m->hooks[m->n_hooks] = hook_message(a, &c->hooks[m->n_hooks]);
        m->n_hooks++;
    }
    return m;
}

struct charm charm_ends_of_message(struct arena *a, const Board__Charm *m)
{
    struct charm_endpoint *endpoints = ARENA_ARRAY(a, m->n_endpoints, struct charm_endpoint);
    for (size_t i = 0; i < m->n_endpoints; i++) {
        const Board__Endpoint *e = m->endpoints[i];
        endpoints[i] =
            (struct charm_endpoint){.name = e->name,
                                    .role = charm_role_of(e->role),
                                    .interface = e->interface,
                                    .container = e->scope == BOARD__ENDPOINT__SCOPE__CONTAINER};
    }
    return (struct charm){.name = m->name,
                          .subordinate = m->subordinate,
                          .endpoints = endpoints,
                          .endpoint_count = m->n_endpoints};
}

struct charm charm_of_message(struct arena *a, const Board__Charm *from)
{
    const Board__Charm *m = (const Board__Charm *)message_copy(a, &from->base);
    struct charm c = charm_ends_of_message(a, m);
    struct charm_value *config = ARENA_ARRAY(a, m->n_config, struct charm_value);
    struct charm_hook *hooks = ARENA_ARRAY(a, m->n_hooks, struct charm_hook);
    assert(m->run && charm_name_is_valid(m->name));
    for (size_t i = 0; i < m->n_config; i++) {
        config[i] = (struct charm_value){m->config[i]->key, m->config[i]->value};
    }
    for (size_t i = 0; i < m->n_hooks; i++) {
        hooks[i] = (struct charm_hook){m->hooks[i]->name, m->hooks[i]->script, m->hooks[i]->path};
    }
    c.config = config;
    c.config_count = m->n_config;
    c.hooks = hooks;
    c.hook_count = m->n_hooks;
    c.hook_timeout_s = m->hook_timeout_s ? m->hook_timeout_s : CHARM_HOOK_TIMEOUT_S;
    c.container = m->run;
    return c;
}

/* ---- Of a client ----------------------------------------------------------------------------- */

/* Whether `name` comes after the one before it in byte order, which is NULL of the first. */
static bool comes_after(const char *before, const char *name)
{
    return !before || strcmp(before, name) < 0;
}

static bool endpoint_is_good(const Board__Endpoint *e)
{
    bool container = e->scope == BOARD__ENDPOINT__SCOPE__CONTAINER;
    bool requires = e->role == BOARD__ENDPOINT__ROLE__REQUIRER;
    return charm_name_is_valid(e->name) && charm_name_is_valid(e->interface) &&
           protobuf_c_enum_descriptor_get_value(&board__endpoint__role__descriptor, e->role) &&
           (container || e->scope == BOARD__ENDPOINT__SCOPE__GLOBAL) &&
           !(container && e->role == BOARD__ENDPOINT__ROLE__PEER) &&
           strcmp(e->name, CHARM_IMPLICIT) != 0 &&
           (requires || strcmp(e->interface, CHARM_IMPLICIT) != 0);
}

static const char *endpoints_fault(struct arena *a, const Board__Charm *m)
{
    bool joins = false;
    if (m->n_endpoints > CHARM_ENDPOINTS_MAX) {
        return arena_printf(a, "it has %zu endpoints; there can be %d at most", m->n_endpoints,
                            CHARM_ENDPOINTS_MAX);
    }
    for (size_t i = 0; i < m->n_endpoints; i++) {
        const Board__Endpoint *e = m->endpoints[i];
        if (!endpoint_is_good(e) || !comes_after(i ? m->endpoints[i - 1]->name : NULL, e->name)) {
            return arena_printf(a, "its endpoint \"%.60s\" is none that a charm file can have, or "
                                   "stands twice, or out of order",
                                e->name);
        }
        joins = joins || (e->role == BOARD__ENDPOINT__ROLE__REQUIRER &&
                          e->scope == BOARD__ENDPOINT__SCOPE__CONTAINER);
    }
    return m->subordinate && !joins ? "it is subordinate, and requires no endpoint of container "
                                      "scope by which its units come to their principals"
                                    : NULL;
}

static const char *config_fault(struct arena *a, const Board__Charm *m)
{
    struct charm_value *values = ARENA_ARRAY(a, m->n_config, struct charm_value);
    for (size_t i = 0; i < m->n_config; i++) {
        values[i] = (struct charm_value){m->config[i]->key, m->config[i]->value};
        if (!comes_after(i ? values[i - 1].key : NULL, values[i].key)) {
            return arena_printf(a, "its option \"%.60s\" stands twice, or out of order",
                                values[i].key);
        }
    }
    const char *fault = charm_values_fault(a, values, m->n_config);
    return fault ? arena_printf(a, "its config: %s", fault) : NULL;
}

static const char *hooks_fault(struct arena *a, const Board__Charm *m, const struct charm *c)
{
    if (m->n_hooks > CHARM_HOOKS_MAX) {
        return arena_printf(a, "it has %zu hooks; there can be %d at most", m->n_hooks,
                            CHARM_HOOKS_MAX);
    }
    for (size_t i = 0; i < m->n_hooks; i++) {
        const Board__CharmHook *h = m->hooks[i];
        bool one = *h->script ? !*h->path : charm_path_is_valid(h->path);
        if (!charm_hook_is_possible(c, h->name) ||
            !comes_after(i ? m->hooks[i - 1]->name : NULL, h->name)) {
            return arena_printf(a, "there is no such hook as \"%.60s\", or it stands twice, or out "
                                   "of order",
                                h->name);
        }
        if (!one || strlen(h->script) > CHARM_SCRIPT_BYTES_MAX) {
            return arena_printf(a, "its hook %s needs a script of %d bytes at most, or a path",
                                h->name, CHARM_SCRIPT_BYTES_MAX);
        }
    }
    return NULL;
}

const char *charm_message_fault(struct arena *a, const Board__Charm *m)
{
    if (!m || !m->run) {
        return "it is missing, or has nothing to run";
    }
    if (protobuf_c_message_get_packed_size(&m->base) > CHARM_BYTES_MAX) {
        return arena_printf(a, "it is larger than %d KiB", CHARM_BYTES_MAX >> 10);
    }
    if (!charm_name_is_valid(m->name)) {
        return "its name " CHARM_NAME_RULE;
    }
    if (m->hook_timeout_s > CHARM_HOOK_TIMEOUT_MAX_S) {
        return "its hook_timeout must be 1 h at most";
    }
    if (m->subordinate && m->run && m->run->n_ports) {
        return "it is subordinate, and has ports: they are its principal's, whose network it "
               "shares";
    }
    const char *fault = endpoints_fault(a, m);
    fault = fault ? fault : config_fault(a, m);
    if (fault) {
        return fault;
    }
    struct charm c = charm_of_message(a, m);
    return hooks_fault(a, m, &c);
}
