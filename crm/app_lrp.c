#include "crm/app_lrp.h"

#include "common/base/bytes.h"

#include <assert.h>
#include <string.h>

#define GUID_PREFIX "a-"

const char *app_lrp_guid(struct arena *a, const char *uid, const char *digest)
{
    assert(*uid && *digest && !strchr(digest, '-'));
    return arena_printf(a, GUID_PREFIX "%s-%s", uid, digest);
}

bool app_lrp_parse(struct arena *a, const char *process_guid, const char **ret_uid,
                   const char **ret_digest)
{
    size_t prefix = strlen(GUID_PREFIX);
    if (strncmp(process_guid, GUID_PREFIX, prefix) != 0) {
        return false;
    }
    const char *uid = process_guid + prefix, *dash = strrchr(uid, '-');
    if (!dash || dash == uid || !dash[1]) {
        return false;
    }
    *ret_uid = arena_strndup(a, uid, (size_t)(dash - uid));
    *ret_digest = arena_strdup(a, dash + 1);
    return true;
}

const char *app_lrp_domain(struct arena *a, const char *cluster_uid)
{
    return arena_printf(a, "edge.%s", cluster_uid);
}

static bool is_named(Models__EnvironmentVariable *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i]->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void set_environment(struct arena *a, const Board__AppInstSpec *spec,
                            Models__DesiredLRP *lrp)
{
    Models__EnvironmentVariable *const *given = lrp->environment_variables;
    size_t count = lrp->n_environment_variables;
    lrp->environment_variables = ARENA_ARRAY(a, count + spec->n_env, Models__EnvironmentVariable *);
    lrp->n_environment_variables = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_named(spec->env, spec->n_env, given[i]->name)) {
            lrp->environment_variables[lrp->n_environment_variables++] = given[i];
        }
    }
    for (size_t i = 0; i < spec->n_env; i++) {
        lrp->environment_variables[lrp->n_environment_variables++] = spec->env[i];
    }
}

static void set_tags(struct arena *a, const Board__NodeSize *size, Models__DesiredLRP *lrp)
{
    char *const *given = lrp->placementtags;
    size_t count = lrp->n_placementtags;
    lrp->placementtags = ARENA_ARRAY(a, count + size->n_placement_tags, char *);
    for (size_t i = 0; i < count; i++) {
        lrp->placementtags[i] = given[i];
    }
    for (size_t i = 0; i < size->n_placement_tags; i++) {
        lrp->placementtags[lrp->n_placementtags++] = size->placement_tags[i];
    }
}

/* What it writes and measures is told as the instance's, where its app does not say whose. */
static void set_source(struct arena *a, const char *name, Models__DesiredLRP *lrp)
{
    if (lrp->n_metric_tags > 0) {
        return;
    }
    Models__DesiredLRP__MetricTagsEntry *tag =
        arena_message(a, &models__desired_lrp__metric_tags_entry__descriptor);
    tag->key = arena_strdup(a, "source_id");
    tag->value = arena_message(a, &models__metric_tag_value__descriptor);
    tag->value->static_ = arena_strdup(a, *lrp->metrics_guid ? lrp->metrics_guid : name);
    lrp->metric_tags = ARENA_ARRAY(a, 1, Models__DesiredLRP__MetricTagsEntry *);
    lrp->metric_tags[lrp->n_metric_tags++] = tag;
}

/* ---- Ports ----------------------------------------------------------------------------------- */

/* How many one is. */
static uint32_t length(const Board__EdgePort *port)
{
    return port->last > port->internal ? port->last - port->internal + 1 : 1;
}

static bool is_open(const Models__DesiredLRP *lrp, uint32_t port)
{
    for (size_t i = 0; i < lrp->n_ports; i++) {
        if (lrp->ports[i] == port) {
            return true;
        }
    }
    return false;
}

static void set_ports(struct arena *a, const Board__AppInstSpec *spec, Models__DesiredLRP *lrp)
{
    const uint32_t *given = lrp->ports;
    size_t count = lrp->n_ports, most = count;
    for (size_t i = 0; i < spec->n_ports; i++) {
        most += length(spec->ports[i]);
    }
    lrp->ports = ARENA_ARRAY(a, most, uint32_t);
    for (size_t i = 0; i < count; i++) {
        lrp->ports[i] = given[i];
    }
    for (size_t i = 0; i < spec->n_ports; i++) {
        for (uint32_t k = 0; k < length(spec->ports[i]); k++) {
            uint32_t port = spec->ports[i]->internal + k;
            if (!is_open(lrp, port)) {
                lrp->ports[lrp->n_ports++] = port;
            }
        }
    }
}

static void add_route(struct arena *a, Models__ProtoRoutes *routes, const char *key,
                      const char *json)
{
    Models__ProtoRoutes__RoutesEntry *e =
        arena_message(a, &models__proto_routes__routes_entry__descriptor);
    e->key = arena_strdup(a, key);
    e->value.data = arena_copy(a, json, strlen(json));
    e->value.len = strlen(json);
    routes->routes[routes->n_routes++] = e;
}

static void set_routes(struct arena *a, const Board__AppInstRecord *instance,
                       Models__DesiredLRP *lrp)
{
    const Board__AppInstSpec *spec = instance->spec;
    Models__ProtoRoutes *routes = arena_message(a, &models__proto_routes__descriptor);
    const Board__EdgePort *first = NULL;
    SCOPED_BUF(list);
    routes->routes = ARENA_ARRAY(a, 2, Models__ProtoRoutes__RoutesEntry *);
    for (size_t i = 0; i < spec->n_ports; i++) {
        const Board__EdgePort *port = spec->ports[i];
        bool tcp = port->protocol == BOARD__EDGE_PORT__PROTOCOL__TCP;
        first = first || !tcp ? first : port;
        for (uint32_t k = 0; tcp && port->public_ > 0 && k < length(port); k++) {
            buf_printf(&list, "%s{\"external_port\":%u,\"container_port\":%u}",
                       list.size ? "," : "", port->public_ + k, port->internal + k);
        }
    }
    if (first && *instance->uri) {
        add_route(a, routes, "cf-router",
                  arena_printf(a, "[{\"hostnames\":[\"%s\"],\"port\":%u}]", instance->uri,
                               first->internal));
    }
    if (list.size) {
        add_route(a, routes, "tcp-router", arena_printf(a, "[%s]", buf_string(&list)));
    }
    lrp->routes = routes;
}

const Models__DesiredLRP *app_lrp(struct arena *a, const Board__AppInstRecord *instance,
                                  const Models__DesiredLRP *definition)
{
    assert(instance->spec && definition);
    const Board__AppInstSpec *spec = instance->spec;
    Models__DesiredLRP *lrp = arena_copy(a, definition, sizeof(*lrp));
    Models__Owner *owner = arena_message(a, &models__owner__descriptor);
    owner->kind = arena_strdup(a, APP_LRP_OWNER_KIND);
    owner->uid = instance->uid;
    lrp->process_guid = arena_strdup(a, app_lrp_guid(a, instance->uid, instance->digest));
    lrp->domain = arena_strdup(a, app_lrp_domain(a, instance->cluster_uid));
    lrp->owner = owner;
    lrp->slice = instance->cluster_uid;
    lrp->instances = (int32_t)spec->instances;
    lrp->annotation = *lrp->annotation ? lrp->annotation : instance->name;
    lrp->memory_mb = spec->size ? spec->size->memory_mb : lrp->memory_mb;
    lrp->disk_mb = spec->size ? spec->size->disk_mb : lrp->disk_mb;
    if (spec->size) {
        set_tags(a, spec->size, lrp);
    }
    set_source(a, instance->name, lrp);
    set_environment(a, spec, lrp);
    set_ports(a, spec, lrp);
    set_routes(a, instance, lrp);
    return lrp;
}
