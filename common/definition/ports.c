/* The ports of a service, how its health is found out, and its addresses. */
#include "common/definition/compile_inside.h"
#include "common/model/component_path.h"

#include <stdlib.h>
#include <string.h>

static bool has_port(const Models__DesiredLRP *lrp, int64_t port)
{
    for (size_t i = 0; i < lrp->n_ports; i++) {
        if (lrp->ports[i] == port) {
            return true;
        }
    }
    return false;
}

/* 0: told. */
static uint32_t port_number(const struct definition_source *s, const struct node *at,
                            const char *text)
{
    char *end;
    unsigned long number = strspn(text, "0123456789") ? strtoul(text, &end, 10) : 0;
    if (number < 1 || number > 65535 || *end) {
        definition_mistake(s, at, "ports", "\"%.20s\" is no port: 1 to 65535", text);
        return 0;
    }
    return (uint32_t)number;
}

static bool is_public(const struct definition_source *s, const struct node *port)
{
    const struct node *access = node_given(port, "external_access");
    const char *protocol = definition_text(s, port, "protocol");
    if (*protocol && strcmp(protocol, "HTTP") != 0 && strcmp(protocol, "TCP") != 0) {
        definition_mistake(s, node_given(port, "protocol"), "protocol", "must be HTTP or TCP");
    }
    if (!access || !definition_check_keys(s, access, "external_access", DK_ACCESS)) {
        return false;
    }
    const struct node *value = node_given(access, "public");
    if (value && value->kind != NODE_TRUE && value->kind != NODE_FALSE) {
        definition_mistake(s, value, "public", "must be true or false");
    }
    return value && value->kind == NODE_TRUE;
}

static void read_port(const struct definition_source *s, const char *text, const struct node *port,
                      Board__ComponentRecord *c)
{
    uint32_t number = port_number(s, port, text);
    if (!number) {
        return;
    }
    if (has_port(c->run, number)) {
        definition_mistake(s, port, "ports", "%u stands here twice", number);
        return;
    }
    c->run->ports[c->run->n_ports++] = number;
    if (port->kind == NODE_NULL || !definition_check_keys(s, port, text, DK_PORT)) {
        return;
    }
    if (is_public(s, port)) {
        c->public_ports[c->n_public_ports++] = number;
    }
}

static void read_health(const struct definition_source *s, const struct node *n,
                        Models__DesiredLRP *lrp)
{
    const struct node *health = node_given(n, "health_check");
    if (!health || !definition_check_keys(s, health, "health_check", DK_HEALTH)) {
        return;
    }
    const struct node *http = node_given(health, "http");
    if (!http) {
        definition_mistake(s, health, "health_check.http", "is missing");
        return;
    }
    if (!definition_check_keys(s, http, "health_check.http", DK_HTTP)) {
        return;
    }
    const char *path = definition_text(s, http, "path");
    int64_t port = definition_integer(s, http, "port", 1, 65535, 0);
    if (port == 0 && !node_given(http, "port")) {
        definition_mistake(s, http, "health_check.http.port", "is missing");
    } else if (port && !has_port(lrp, port)) {
        definition_mistake(s, http, "health_check.http.port", "%lld is none of its ports",
                           (long long)port);
    }
    if (*path && *path != '/') {
        definition_mistake(s, http, "health_check.http.path", "must begin with /");
    }
    Models__Check *check = arena_message(s->arena, &models__check__descriptor);
    check->http_check = arena_message(s->arena, &models__httpcheck__descriptor);
    check->http_check->port = (uint32_t)port;
    check->http_check->path = arena_strdup(s->arena, *path ? path : "/");
    Models__CheckDefinition *checks =
        arena_message(s->arena, &models__check_definition__descriptor);
    checks->checks = ARENA_ARRAY(s->arena, 1, Models__Check *);
    checks->readiness_checks = ARENA_ARRAY(s->arena, 1, Models__Check *);
    checks->checks[checks->n_checks++] = check;
    checks->readiness_checks[checks->n_readiness_checks++] = check;
    lrp->check_definition = checks;
}

static void add_route(const struct definition_source *s, Models__ProtoRoutes *routes,
                      const char *key, const char *json)
{
    Models__ProtoRoutes__RoutesEntry *e =
        arena_message(s->arena, &models__proto_routes__routes_entry__descriptor);
    e->key = arena_strdup(s->arena, key);
    e->value.data = arena_copy(s->arena, json, strlen(json));
    e->value.len = strlen(json);
    routes->routes[routes->n_routes++] = e;
}

/* Every service with a port has a name inside; public ports have an address outside. */
static void make_routes(const struct definition_source *s, const struct definition_target *target,
                        Board__ComponentRecord *c)
{
    const char *host = component_path_host(s->arena, c->path, target->system);
    Models__ProtoRoutes *routes = arena_message(s->arena, &models__proto_routes__descriptor);
    routes->routes = ARENA_ARRAY(s->arena, 2, Models__ProtoRoutes__RoutesEntry *);
    if (c->run->n_ports == 0) {
        return;
    }
    if (c->n_public_ports > 0 && target->system_domain && *target->system_domain) {
        const char *list = "";
        for (size_t i = 0; i < c->n_public_ports; i++) {
            list = arena_printf(
                s->arena, "%s%s{\"hostnames\":[\"%s.%s\"],\"port\":%u}", list, i ? "," : "",
                i ? arena_printf(s->arena, "%u.%s", c->public_ports[i], host) : host,
                target->system_domain, c->public_ports[i]);
        }
        add_route(s, routes, "cf-router", arena_printf(s->arena, "[%s]", list));
    }
    add_route(s, routes, "internal-router",
              arena_printf(s->arena, "[{\"hostname\":\"%s.internal\"}]", host));
    c->run->routes = routes;
}

void definition_read_ports(const struct definition_source *s, const struct node *n,
                           const struct definition_target *target, Board__ComponentRecord *c)
{
    const struct node *ports = node_given(n, "ports");
    if (ports && (ports->kind != NODE_MAP || ports->count > DEFINITION_PORTS_MAX)) {
        definition_mistake(s, ports, "ports", "must be a map of at most %d ports",
                           DEFINITION_PORTS_MAX);
        ports = NULL;
    }
    c->run->ports = ARENA_ARRAY(s->arena, DEFINITION_PORTS_MAX, uint32_t);
    c->public_ports = ARENA_ARRAY(s->arena, DEFINITION_PORTS_MAX, uint32_t);
    for (size_t i = 0; ports && i < ports->count; i++) {
        read_port(s, ports->keys[i], ports->items[i], c);
    }
    read_health(s, n, c->run);
    make_routes(s, target, c);
}
