/* Three services whose units are principals, one of whose subordinates sit beside them; ends that
 * are peers, global, and of containers. */
#include "test/sim/swarm/units_inside.h"

#include <stdlib.h>
#include <string.h>

enum { ENDS_MAX = 3, HOOK_TIMEOUT_S = 4 };

const char *const unit_services[UNIT_SERVICES] = {"db", "web", "api", "logger"};

const struct unit_relation_row unit_relations[UNIT_RELATIONS] = {
    {"web", "kv", "db", "kv"},
    {"api", "kv", "db", "kv"},
    {"api", "site", "web", "site"},
    {"logger", "log", "web", "juju-info"},
    {"logger", "log", "db", "juju-info"},
};

static const struct end_row {
    const char *name, *interface;
    Board__Endpoint__Role role;
    bool container;
} ends[UNIT_SERVICES][ENDS_MAX] = {
    {{"kv", "kv", BOARD__ENDPOINT__ROLE__PROVIDER, false},
     {"ring", "ring", BOARD__ENDPOINT__ROLE__PEER, false}},
    {{"kv", "kv", BOARD__ENDPOINT__ROLE__REQUIRER, false},
     {"site", "http", BOARD__ENDPOINT__ROLE__PROVIDER, false}},
    {{"kv", "kv", BOARD__ENDPOINT__ROLE__REQUIRER, false},
     {"site", "http", BOARD__ENDPOINT__ROLE__REQUIRER, false}},
    {{"log", "juju-info", BOARD__ENDPOINT__ROLE__REQUIRER, true}},
};

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void add_hook(struct arena *a, Board__Charm *c, const char *name, const char *script)
{
    Board__CharmHook *h = arena_message(a, &board__charm_hook__descriptor);
    h->name = text(name);
    h->script = text(script);
    c->hooks[c->n_hooks++] = h;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(Board__CharmHook *const *)a)->name, (*(Board__CharmHook *const *)b)->name);
}

static void add_end(struct arena *a, Board__Charm *c, const struct end_row *row)
{
    static const char *const kinds[] = {"joined", "changed", "departed", "broken"};
    Board__Endpoint *e = arena_message(a, &board__endpoint__descriptor);
    e->name = text(row->name);
    e->interface = text(row->interface);
    e->role = row->role;
    e->scope = row->container ? BOARD__ENDPOINT__SCOPE__CONTAINER : BOARD__ENDPOINT__SCOPE__GLOBAL;
    c->endpoints[c->n_endpoints++] = e;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        add_hook(a, c, arena_printf(a, "%s-relation-%s", row->name, kinds[i]), "true");
    }
}

static Models__DesiredLRP *runs(struct arena *a)
{
    Models__DesiredLRP *r = arena_message(a, &models__desired_lrp__descriptor);
    r->action = arena_message(a, &models__action__descriptor);
    r->action->run_action = arena_message(a, &models__run_action__descriptor);
    r->action->run_action->path = text(UNIT_COMMAND);
    r->action->run_action->user = text("x");
    r->root_fs = text("preloaded:busybox");
    r->memory_mb = 16;
    r->disk_mb = 16;
    return r;
}

Board__Charm *unit_charm(struct arena *a, unsigned service, unsigned version)
{
    static const char *const names[] = {"config-changed", "install", "start", "stop", "upgrade"};
    Board__Charm *c = arena_message(a, &board__charm__descriptor);
    c->name = text(unit_services[service]);
    c->subordinate = service == UNIT_SERVICES - 1;
    c->run = runs(a);
    c->hook_timeout_s = HOOK_TIMEOUT_S;
    c->hooks = ARENA_ARRAY(a, UNIT_CHARM_HOOKS_MAX, Board__CharmHook *);
    c->endpoints = ARENA_ARRAY(a, ENDS_MAX, Board__Endpoint *);
    c->config = ARENA_ARRAY(a, 1, Board__UnitSetting *);
    c->config[c->n_config++] = arena_message(a, &board__unit_setting__descriptor);
    c->config[0]->key = text("greeting");
    c->config[0]->value = text("hello");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        add_hook(a, c, names[i], arena_printf(a, "true # %u", version));
    }
    for (size_t i = 0; i < ENDS_MAX && ends[service][i].name; i++) {
        add_end(a, c, &ends[service][i]);
    }
    qsort(c->hooks, c->n_hooks, sizeof(c->hooks[0]), by_name);
    return c;
}
