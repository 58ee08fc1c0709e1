#include "common/model/service_wants.h"

#include "common/base/message.h"

#include <string.h>

typedef Models__ProtoRoutes__RoutesEntry route_entry;

static bool has_route(const Models__ProtoRoutes *routes, const route_entry *wanted)
{
    for (size_t i = 0; i < routes->n_routes; i++) {
        const route_entry *r = routes->routes[i];
        if (strcmp(r->key, wanted->key) == 0) {
            return r->value.len == wanted->value.len &&
                   (r->value.len == 0 ||
                    memcmp(r->value.data, wanted->value.data, r->value.len) == 0);
        }
    }
    return false;
}

/* Maps come in any order; no routes and an empty message are the same. */
static bool routes_met(const Models__ProtoRoutes *wanted, const Models__ProtoRoutes *is)
{
    size_t count = wanted ? wanted->n_routes : 0;
    bool met = count == (is ? is->n_routes : 0);
    for (size_t i = 0; i < count && met; i++) {
        met = has_route(is, wanted->routes[i]);
    }
    return met;
}

static bool has_tag(const Models__DesiredLRP *desired, const char *key,
                    const Models__MetricTagValue *wanted)
{
    for (size_t i = 0; i < desired->n_metric_tags; i++) {
        const Models__MetricTagValue *is = desired->metric_tags[i]->value;
        if (strcmp(desired->metric_tags[i]->key, key) == 0) {
            return is && wanted ? message_equal(&is->base, &wanted->base) : is == wanted;
        }
    }
    return false;
}

/* An update replaces tags and cannot take them all away (behaviour.md 8.3): none wanted is always
 * met. */
static bool tags_met(const Board__ServiceRecord *service, const Models__DesiredLRP *desired)
{
    bool met = service->n_metric_tags == 0 || service->n_metric_tags == desired->n_metric_tags;
    for (size_t i = 0; i < service->n_metric_tags && met; i++) {
        met = has_tag(desired, service->metric_tags[i]->key, service->metric_tags[i]->value);
    }
    return met;
}

bool service_wants_met(const Board__ServiceRecord *service, const Models__DesiredLRP *desired)
{
    return strcmp(service->annotation, desired->annotation) == 0 &&
           service->on_cell_loss == desired->on_cell_loss &&
           service->on_evacuate == desired->on_evacuate &&
           routes_met(service->routes, desired->routes) && tags_met(service, desired);
}
