#include "common/charmfile/charm.h"

#include "common/appfile/app.h"
#include "common/charmfile/charm_key.h"
#include "common/codec/nearest.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct charm_source {
    struct app_source app;
    struct arena *arena;
    struct charm *charm;
    struct charm_endpoint *endpoints;
};

static const char *const role_names[CHARM_ROLE_COUNT] = {"provides", "requires", "peers"};
static const char *const unit_hooks[] = {"config-changed", "install", "start", "stop", "upgrade"};
static const char *const relation_hooks[] = {"broken", "changed", "departed", "joined"};

enum {
    UNIT_HOOKS = sizeof(unit_hooks) / sizeof(unit_hooks[0]),
    RELATION_HOOKS = sizeof(relation_hooks) / sizeof(relation_hooks[0]),
    HOOKS_POSSIBLE = UNIT_HOOKS + RELATION_HOOKS * CHARM_ENDPOINTS_MAX,
};
_Static_assert((int)HOOKS_POSSIBLE <= (int)CHARM_HOOKS_MAX, "each hook that a charm can have fits");

const char *charm_role_name(enum charm_role role)
{
    assert(role < CHARM_ROLE_COUNT);
    return role_names[role];
}

bool charm_name_is_valid(const char *name)
{
    bool letter = false;
    size_t size = strlen(name);
    if (size == 0 || size > CHARM_NAME_MAX || !islower((unsigned char)name[0])) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c == '-' && !letter) {
            return false;
        }
        if (c != '-' && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) {
            return false;
        }
        letter = c != '-' && (letter || (c >= 'a' && c <= 'z'));
    }
    return letter;
}

const struct charm_endpoint *charm_endpoint_named(const struct charm *c, const char *name)
{
    for (size_t i = 0; i < c->endpoint_count; i++) {
        if (strcmp(c->endpoints[i].name, name) == 0) {
            return &c->endpoints[i];
        }
    }
    return NULL;
}

const struct charm_hook *charm_hook_named(const struct charm *c, const char *name)
{
    for (size_t i = 0; i < c->hook_count; i++) {
        if (strcmp(c->hooks[i].name, name) == 0) {
            return &c->hooks[i];
        }
    }
    return NULL;
}

static const char *below(const struct charm_source *s, const char *path, const char *key)
{
    return arena_printf(s->arena, "%s.%s", path, key);
}

/* A member that must be a text, and nothing that YAML takes for something else. */
static int read_text(const struct charm_source *s, const struct node *map, const char *path,
                     const char *key, const char **ret_text)
{
    const struct node *v = node_member(map, key);
    const char *whole = below(s, path, key);
    if (!v || v->kind == NODE_NULL) {
        return app_mistake(&s->app, v ? v : map, whole, "is missing");
    }
    if (v->kind != NODE_TEXT) {
        return app_mistake(&s->app, v, whole,
                           node_is_scalar(v) ? "must be a text: put it between quotes"
                                             : "must be a text");
    }
    *ret_text = v->text;
    return 0;
}

/* ---- Endpoints ------------------------------------------------------------------------------ */

static int read_scope(const struct charm_source *s, const struct node *map, const char *path,
                      struct charm_endpoint *to)
{
    const struct node *v = node_given(map, "scope");
    const char *key = below(s, path, "scope"), *word = v && node_is_scalar(v) ? v->text : "";
    to->container = strcmp(word, "container") == 0;
    if (v && !to->container && strcmp(word, "global") != 0) {
        return app_mistake(&s->app, v, key, "must be global or container");
    }
    return to->container && to->role == CHARM_PEERS
               ? app_mistake(&s->app, v, key,
                             "must be global: a container has one unit of a service, which has no "
                             "peers there")
               : 0;
}

static int read_endpoint(const struct charm_source *s, const char *name, const struct node *map,
                         const char *path, struct charm_endpoint *to)
{
    int r = charm_check_keys(&s->app, map, path, CK_ENDPOINT);
    r = r < 0 ? r : read_text(s, map, path, "interface", &to->interface);
    if (r == 0 && !charm_name_is_valid(name)) {
        r = app_mistake(&s->app, map, path, CHARM_NAME_RULE);
    }
    if (r == 0 && !charm_name_is_valid(to->interface)) {
        r = app_mistake(&s->app, node_member(map, "interface"), below(s, path, "interface"),
                        CHARM_NAME_RULE);
    }
    bool reserved =
        strcmp(name, CHARM_IMPLICIT) == 0 ||
        (to->role != CHARM_REQUIRES && r == 0 && strcmp(to->interface, CHARM_IMPLICIT) == 0);
    if (r == 0 && reserved) {
        r = app_mistake(&s->app, map, path,
                        "every service provides " CHARM_IMPLICIT " by itself; what requires it has "
                        "a name of its own");
    }
    return r < 0 ? r : read_scope(s, map, path, to);
}

static int read_endpoints(struct charm_source *s, const struct node *charm, enum charm_role role)
{
    const char *key = role_names[role];
    const struct node *map = node_given(charm, key);
    if (map && map->kind != NODE_MAP) {
        return app_mistake(&s->app, map, key, "must be a map, like {db: {interface: kv}}");
    }
    for (size_t i = 0; map && i < map->count; i++) {
        const char *path = below(s, key, map->keys[i]);
        const struct charm_endpoint *twin = charm_endpoint_named(s->charm, map->keys[i]);
        if (twin) {
            return app_mistake(&s->app, map->items[i], path,
                               arena_printf(s->arena,
                                            "stands in %s already; hooks are called by "
                                            "the name, so give it another",
                                            role_names[twin->role]));
        }
        if (s->charm->endpoint_count == CHARM_ENDPOINTS_MAX) {
            return app_mistake(
                &s->app, map->items[i], path,
                arena_printf(s->arena, "a charm has %d endpoints at most", CHARM_ENDPOINTS_MAX));
        }
        struct charm_endpoint *to = &s->endpoints[s->charm->endpoint_count];
        *to = (struct charm_endpoint){.name = map->keys[i], .role = role, .interface = ""};
        int r = read_endpoint(s, map->keys[i], map->items[i], path, to);
        if (r < 0) {
            return r;
        }
        s->charm->endpoint_count++;
    }
    return 0;
}

static int endpoint_order(const void *x, const void *y)
{
    return strcmp(((const struct charm_endpoint *)x)->name,
                  ((const struct charm_endpoint *)y)->name);
}

static int read_all_endpoints(struct charm_source *s, const struct node *charm)
{
    const struct node *subordinate = node_given(charm, "subordinate");
    int r = 0;
    bool container = false;
    if (subordinate && subordinate->kind != NODE_TRUE && subordinate->kind != NODE_FALSE) {
        return app_mistake(&s->app, subordinate, "subordinate", "must be true or false");
    }
    s->charm->subordinate = subordinate && subordinate->kind == NODE_TRUE;
    s->charm->endpoints = s->endpoints;
    for (int role = 0; r == 0 && role < CHARM_ROLE_COUNT; role++) {
        r = read_endpoints(s, charm, (enum charm_role)role);
    }
    for (size_t i = 0; r == 0 && i < s->charm->endpoint_count; i++) {
        container =
            container || (s->endpoints[i].role == CHARM_REQUIRES && s->endpoints[i].container);
    }
    if (r == 0 && s->charm->subordinate && !container) {
        r = app_mistake(&s->app, subordinate, "subordinate",
                        "needs an endpoint in requires with scope: container, by which its units "
                        "come to their principals, for example info: {interface: " CHARM_IMPLICIT
                        ", scope: container}");
    }
    const struct node *ports = node_given(charm, "ports");
    if (r == 0 && s->charm->subordinate && ports) {
        r = app_mistake(&s->app, ports, "ports",
                        "are its principal's, whose network a subordinate shares: leave them out");
    }
    qsort(s->endpoints, s->charm->endpoint_count, sizeof(*s->endpoints), endpoint_order);
    return r;
}

/* ---- Configuration -------------------------------------------------------------------------- */

static int value_order(const void *x, const void *y)
{
    return strcmp(((const struct charm_value *)x)->key, ((const struct charm_value *)y)->key);
}

static int read_option(const struct charm_source *s, const struct node *option, const char *path,
                       struct charm_value *to)
{
    const char *text = "";
    int r = charm_check_keys(&s->app, option, path, CK_OPTION);
    r = r < 0 ? r : read_text(s, option, path, "default", &to->value);
    if (r == 0 && node_given(option, "description")) {
        r = read_text(s, option, path, "description", &text);
    }
    return r;
}

static int read_config(struct charm_source *s, const struct node *charm)
{
    const struct node *map = node_given(charm, "config");
    if (!map) {
        return 0;
    }
    if (map->kind != NODE_MAP) {
        return app_mistake(&s->app, map, "config", "must be a map, like {greeting: {default: hi}}");
    }
    struct charm_value *values = ARENA_ARRAY(s->arena, map->count, struct charm_value);
    for (size_t i = 0; i < map->count; i++) {
        values[i].key = map->keys[i];
        int r = read_option(s, map->items[i], below(s, "config", map->keys[i]), &values[i]);
        if (r < 0) {
            return r;
        }
    }
    const char *fault = charm_values_fault(s->arena, values, map->count);
    if (fault) {
        return app_mistake(&s->app, map, "config", fault);
    }
    qsort(values, map->count, sizeof(*values), value_order);
    s->charm->config = values;
    s->charm->config_count = map->count;
    return 0;
}

/* ---- Hooks ---------------------------------------------------------------------------------- */

/* The endpoint's hook that a name would be, "db-relation-changed". */
static const char *hook_of(const struct charm_source *s, const struct charm_endpoint *e, size_t i)
{
    assert(i < RELATION_HOOKS);
    return arena_printf(s->arena, "%s-relation-%s", e->name, relation_hooks[i]);
}

/* All that the charm can have. */
static size_t possible_hooks(const struct charm_source *s, const char *names[HOOKS_POSSIBLE])
{
    size_t count = 0;
    for (size_t i = 0; i < UNIT_HOOKS; i++) {
        names[count++] = unit_hooks[i];
    }
    for (size_t e = 0; e < s->charm->endpoint_count; e++) {
        for (size_t i = 0; i < RELATION_HOOKS; i++) {
            names[count++] = hook_of(s, &s->endpoints[e], i);
        }
    }
    assert(count <= HOOKS_POSSIBLE);
    return count;
}

static int unknown_hook(const struct charm_source *s, const struct node *at, const char *name,
                        const char *const *possible, size_t count)
{
    const char *path = below(s, "hooks", name);
    const char *relation = strstr(name, "-relation-");
    struct nearest n;
    nearest_begin(&n, name);
    for (size_t i = 0; i < count; i++) {
        nearest_consider(&n, possible[i]);
    }
    if (n.best) {
        return app_mistake(
            &s->app, at, path,
            arena_printf(s->arena, "there is no such hook; did you mean \"%s\"?", n.best));
    }
    if (!relation) {
        return app_mistake(&s->app, at, path,
                           "there is no such hook: there are install, start, stop, upgrade, "
                           "config-changed, and ENDPOINT-relation-joined, changed, departed, "
                           "broken");
    }
    return app_mistake(&s->app, at, path,
                       arena_printf(s->arena,
                                    "the charm has no endpoint \"%.*s\": declare it in provides, "
                                    "requires or peers",
                                    (int)(relation - name), name));
}

bool charm_hook_is_possible(const struct charm *c, const char *name)
{
    const char *rest = strrchr(name, '-');
    for (size_t i = 0; i < UNIT_HOOKS; i++) {
        if (strcmp(name, unit_hooks[i]) == 0) {
            return true;
        }
    }
    for (size_t e = 0; rest && e < c->endpoint_count; e++) {
        size_t size = strlen(c->endpoints[e].name);
        for (size_t i = 0; i < RELATION_HOOKS; i++) {
            if (strncmp(name, c->endpoints[e].name, size) == 0 &&
                strncmp(name + size, "-relation-", strlen("-relation-")) == 0 &&
                strcmp(name + size + strlen("-relation-"), relation_hooks[i]) == 0) {
                return true;
            }
        }
    }
    return false;
}

bool charm_path_is_valid(const char *path)
{
    size_t size = strlen(path);
    if (*path != '/' || size > CHARM_PATH_BYTES_MAX || path[size - 1] == '/') {
        return false;
    }
    for (const char *part = path; *part; part += strcspn(part, "/")) {
        size_t letters = strcspn(++part, "/");
        if (letters == 0 || (letters <= 2 && strncmp(part, "..", letters) == 0)) {
            return false;
        }
    }
    return true;
}

static int read_script(const struct charm_source *s, const struct node *v, const char *path,
                       struct charm_hook *to)
{
    if (v->kind == NODE_MAP) {
        int r = charm_check_keys(&s->app, v, path, CK_SCRIPT);
        r = r < 0 ? r : read_text(s, v, path, "path", &to->path);
        return r < 0 || charm_path_is_valid(to->path)
                   ? r
                   : app_mistake(&s->app, v, below(s, path, "path"),
                                 "must be a program of the root filesystem: begin with /, have "
                                 "no . or .. and at most 1024 bytes");
    }
    if (v->kind != NODE_TEXT || !*v->text) {
        return app_mistake(&s->app, v, path, "must be a script, or {path: /of/the/rootfs}");
    }
    if (strlen(v->text) > CHARM_SCRIPT_BYTES_MAX) {
        return app_mistake(&s->app, v, path,
                           arena_printf(s->arena,
                                        "a script has %d bytes at most; put it into the root "
                                        "filesystem and say {path: ...}",
                                        CHARM_SCRIPT_BYTES_MAX));
    }
    to->script = v->text;
    return 0;
}

static int hook_order(const void *x, const void *y)
{
    return strcmp(((const struct charm_hook *)x)->name, ((const struct charm_hook *)y)->name);
}

static int read_hooks(struct charm_source *s, const struct node *charm)
{
    const char *possible[HOOKS_POSSIBLE];
    size_t count = possible_hooks(s, possible);
    const struct node *map = node_given(charm, "hooks");
    if (!map) {
        return 0;
    }
    if (map->kind != NODE_MAP) {
        return app_mistake(&s->app, map, "hooks", "must be a map, like {install: SCRIPT}");
    }
    if (map->count > CHARM_HOOKS_MAX) {
        return app_mistake(&s->app, map, "hooks",
                           arena_printf(s->arena, "%zu of them; a charm has %d at most", map->count,
                                        CHARM_HOOKS_MAX));
    }
    struct charm_hook *hooks = ARENA_ARRAY(s->arena, map->count, struct charm_hook);
    for (size_t i = 0; i < map->count; i++) {
        const char *name = map->keys[i];
        hooks[i] = (struct charm_hook){.name = name, .script = "", .path = ""};
        int r = charm_hook_is_possible(s->charm, name)
                    ? read_script(s, map->items[i], below(s, "hooks", name), &hooks[i])
                    : unknown_hook(s, map->items[i], name, possible, count);
        if (r < 0) {
            return r;
        }
    }
    qsort(hooks, map->count, sizeof(*hooks), hook_order);
    s->charm->hooks = hooks;
    s->charm->hook_count = map->count;
    return 0;
}

/* "90s", "5m", "1h". */
static int read_timeout(struct charm_source *s, const struct node *charm)
{
    const struct node *v = node_given(charm, "hook_timeout");
    const char *text = v && node_is_scalar(v) ? v->text : "",
               *end = text + strspn(text, "0123456789");
    long long value = strtoll(text, NULL, 10); /* LLONG_MAX of what is larger */
    long long unit = strcmp(end, "s") == 0   ? 1
                     : strcmp(end, "m") == 0 ? 60
                     : strcmp(end, "h") == 0 ? 60 * 60
                                             : 0;
    s->charm->hook_timeout_s = CHARM_HOOK_TIMEOUT_S;
    if (!v) {
        return 0;
    }
    if (end == text || !unit || value < 1 || value > CHARM_HOOK_TIMEOUT_MAX_S / unit) {
        return app_mistake(&s->app, v, "hook_timeout",
                           "must be a time from 1s to 1h, like 90s or 5m");
    }
    s->charm->hook_timeout_s = (uint32_t)(value * unit);
    assert(s->charm->hook_timeout_s <= CHARM_HOOK_TIMEOUT_MAX_S);
    return 0;
}

/* ---- The whole ------------------------------------------------------------------------------ */

/* What stands in it as in an app file, in the same places. */
static struct node container_of_charm(const struct charm_source *s, const struct node *charm)
{
    struct node n = *charm;
    n.keys = ARENA_ARRAY(s->arena, charm->count, const char *);
    n.items = ARENA_ARRAY(s->arena, charm->count, struct node *);
    n.count = 0;
    for (size_t i = 0; i < charm->count; i++) {
        const struct charm_key *k = charm_key_named(charm->keys[i], CK_CHARM);
        if (k && !k->meaning) {
            n.keys[n.count] = charm->keys[i];
            n.items[n.count++] = charm->items[i];
        }
    }
    return n;
}

static int read_charm(struct charm_source *s, const struct node *from)
{
    int r = charm_check_keys(&s->app, from, "", CK_CHARM);
    if (r < 0) {
        return r;
    }
    const struct node *name = node_given(from, "name");
    if (!name || !node_is_scalar(name) || !charm_name_is_valid(name->text)) {
        return app_mistake(&s->app, name ? name : from, "name",
                           name ? CHARM_NAME_RULE : "is missing: what is the charm called?");
    }
    s->charm->name = name->text;
    struct node container = container_of_charm(s, from);
    r = app_definition(&s->app, &container, "default", name->text, &s->charm->container);
    r = r < 0 ? r : read_all_endpoints(s, from);
    r = r < 0 ? r : read_config(s, from);
    r = r < 0 ? r : read_timeout(s, from);
    return r < 0 ? r : read_hooks(s, from);
}

int charm_parse(struct arena *a, const char *file, struct bytes text, struct charm *ret_charm,
                struct err *err)
{
    struct node **documents = NULL, *one = NULL;
    size_t count = 0;
    if (text.size > CHARM_BYTES_MAX) {
        return err_set(err, ERR_TOO_LARGE,
                       "%s: larger than %d KiB; put long scripts into the root filesystem and say "
                       "{path: ...}",
                       file, CHARM_BYTES_MAX >> 10);
    }
    struct charm charm = {.name = ""};
    struct charm_source s = {
        .app = {.arena = a, .file = file, .err = err, .type = &models__desired_lrp__descriptor,
                .may_idle = true},
        .arena = a,
        .charm = &charm,
        .endpoints = ARENA_ARRAY(a, CHARM_ENDPOINTS_MAX, struct charm_endpoint)};
    int r = appfile_documents(a, file, text, &documents, &count, err);
    for (size_t i = 0; r == 0 && i < count; i++) {
        if (documents[i]->kind != NODE_NULL && one) {
            r = app_mistake(&s.app, documents[i], "charm", "a file holds one; this is a second");
        } else if (documents[i]->kind != NODE_NULL) {
            one = documents[i];
        }
    }
    if (r == 0 && !one) {
        r = err_set(err, ERR_INVALID, "%s: holds no charm", file);
    }
    r = r < 0 ? r : read_charm(&s, one);
    if (r == 0) {
        assert(charm.container && charm_name_is_valid(charm.name));
        assert(!charm_values_fault(a, charm.config, charm.config_count));
        *ret_charm = charm;
    }
    return r;
}
