/* A charm as a message of the board, and back. */
#include "common/base/message.h"
#include "common/charmfile/charm.h"

#include <assert.h>

static const Board__Endpoint__Role roles[CHARM_ROLE_COUNT] = {
    [CHARM_PROVIDES] = BOARD__ENDPOINT__ROLE__PROVIDER,
    [CHARM_REQUIRES] = BOARD__ENDPOINT__ROLE__REQUIRER,
    [CHARM_PEERS] = BOARD__ENDPOINT__ROLE__PEER,
};

static enum charm_role role_of(Board__Endpoint__Role role)
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

struct charm charm_of_message(struct arena *a, const Board__Charm *from)
{
    const Board__Charm *m = (const Board__Charm *)message_copy(a, &from->base);
    struct charm_endpoint *endpoints = ARENA_ARRAY(a, m->n_endpoints, struct charm_endpoint);
    struct charm_value *config = ARENA_ARRAY(a, m->n_config, struct charm_value);
    struct charm_hook *hooks = ARENA_ARRAY(a, m->n_hooks, struct charm_hook);
    assert(m->run && charm_name_is_valid(m->name));
    for (size_t i = 0; i < m->n_endpoints; i++) {
        const Board__Endpoint *e = m->endpoints[i];
        endpoints[i] =
            (struct charm_endpoint){.name = e->name,
                                    .role = role_of(e->role),
                                    .interface = e->interface,
                                    .container = e->scope == BOARD__ENDPOINT__SCOPE__CONTAINER};
    }
    for (size_t i = 0; i < m->n_config; i++) {
        config[i] = (struct charm_value){m->config[i]->key, m->config[i]->value};
    }
    for (size_t i = 0; i < m->n_hooks; i++) {
        hooks[i] = (struct charm_hook){m->hooks[i]->name, m->hooks[i]->script, m->hooks[i]->path};
    }
    return (struct charm){.name = m->name,
                          .subordinate = m->subordinate,
                          .endpoints = endpoints,
                          .endpoint_count = m->n_endpoints,
                          .config = config,
                          .config_count = m->n_config,
                          .hooks = hooks,
                          .hook_count = m->n_hooks,
                          .hook_timeout_s =
                              m->hook_timeout_s ? m->hook_timeout_s : CHARM_HOOK_TIMEOUT_S,
                          .container = m->run};
}
