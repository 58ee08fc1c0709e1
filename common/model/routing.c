#include "common/model/routing.h"

#include "common/model/internal_routes.h"

#include <stdlib.h>
#include <string.h>

/* ---- As desired ------------------------------------------------------------------------------ */

static const char *tag_value(struct arena *a, const Models__MetricTagValue *value, int32_t index,
                             const char *instance_guid)
{
    switch (value ? value->dynamic : MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__DynamicValueInvalid) {
    case MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__INDEX:
        return arena_printf(a, "%d", (int)index);
    case MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__INSTANCE_GUID:
        return instance_guid;
    default:
        return value ? value->static_ : "";
    }
}

void routing_desired(struct arena *a, const Models__DesiredLRP *desired, int32_t index,
                     const char *instance_guid, struct routing *ret)
{
    *ret = (struct routing){.routed = desired->routes && desired->routes->n_routes > 0};
    for (size_t i = 0; desired->routes && i < desired->routes->n_routes; i++) {
        const Models__ProtoRoutes__RoutesEntry *entry = desired->routes->routes[i];
        if (strcmp(entry->key, "internal-router") == 0) {
            internal_hostnames(a,
                               (struct bytes){.data = entry->value.data, .size = entry->value.len},
                               &ret->hostnames, &ret->hostname_count);
            break;
        }
    }
    ret->tags = ARENA_ARRAY(a, desired->n_metric_tags, struct routing_tag);
    for (size_t i = 0; i < desired->n_metric_tags; i++) {
        const Models__DesiredLRP__MetricTagsEntry *entry = desired->metric_tags[i];
        ret->tags[ret->tag_count++] =
            (struct routing_tag){entry->key, tag_value(a, entry->value, index, instance_guid)};
    }
}

/* ---- As it is -------------------------------------------------------------------------------- */

void routing_actual(struct arena *a, const Models__ActualLRP *record, struct routing *ret)
{
    *ret = (struct routing){
        .hostnames = ARENA_ARRAY(a, record->n_actual_lrp_internal_routes, const char *),
        .tags = ARENA_ARRAY(a, record->n_metric_tags, struct routing_tag),
        .routed = record->routed,
        .untold = record->optional_routed_case == MODELS__ACTUAL_LRP__OPTIONAL_ROUTED__NOT_SET,
    };
    for (size_t i = 0; i < record->n_actual_lrp_internal_routes; i++) {
        ret->hostnames[ret->hostname_count++] = record->actual_lrp_internal_routes[i]->hostname;
    }
    for (size_t i = 0; i < record->n_metric_tags; i++) {
        ret->tags[ret->tag_count++] =
            (struct routing_tag){record->metric_tags[i]->key, record->metric_tags[i]->value};
    }
}

static int tag_order(const void *x, const void *y)
{
    const struct routing_tag *one = x, *two = y;
    return strcmp(one->key, two->key);
}

/* In order, each once. */
static size_t sort_names(struct arena *a, const struct routing *r, const char ***ret)
{
    const char **list = arena_copy(a, r->hostnames, r->hostname_count * sizeof(*list));
    size_t count = 0;
    if (r->hostname_count > 1) {
        qsort(list, r->hostname_count, sizeof(*list), text_order);
    }
    for (size_t i = 0; i < r->hostname_count; i++) {
        if (count == 0 || strcmp(list[i], list[count - 1]) != 0) {
            list[count++] = list[i];
        }
    }
    *ret = list;
    return count;
}

static struct routing_tag *sort_tags(struct arena *a, const struct routing *r)
{
    struct routing_tag *list = arena_copy(a, r->tags, r->tag_count * sizeof(*list));
    if (r->tag_count > 1) {
        qsort(list, r->tag_count, sizeof(*list), tag_order);
    }
    return list;
}

static bool same_names(struct arena *a, const struct routing *x, const struct routing *y)
{
    const char **one, **two;
    size_t count = sort_names(a, x, &one);
    bool same = sort_names(a, y, &two) == count;
    for (size_t i = 0; same && i < count; i++) {
        same = strcmp(one[i], two[i]) == 0;
    }
    return same;
}

static bool same_tags(struct arena *a, const struct routing *x, const struct routing *y)
{
    bool same = x->tag_count == y->tag_count;
    const struct routing_tag *one = sort_tags(a, x), *two = sort_tags(a, y);
    for (size_t i = 0; same && i < x->tag_count; i++) {
        same = strcmp(one[i].key, two[i].key) == 0 && strcmp(one[i].value, two[i].value) == 0;
    }
    return same;
}

bool routing_equal(const struct routing *x, const struct routing *y)
{
    SCOPED_ARENA(a);
    bool same = x->untold || y->untold || x->routed == y->routed;
    return same && same_names(&a, x, y) && same_tags(&a, x, y);
}

/* ---- Digest: FNV-1a, mixed so that sums of it do not cancel out ------------------------------ */

static uint64_t hash(uint64_t h, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text;; c++) {
        h = (h ^ *c) * 0x100000001b3u;
        if (*c == '\0') {
            return h;
        }
    }
}

static uint64_t mixed(uint64_t h)
{
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

static const uint64_t HASH_START = 0xcbf29ce484222325u;

uint64_t routing_digest_tag(const char *key, const char *value)
{
    return mixed(hash(hash(HASH_START, key), value));
}

uint64_t routing_digest(const struct routing *r, const char *instance_guid)
{
    SCOPED_ARENA(a);
    const char **names;
    uint64_t sum = 0;
    size_t count = sort_names(&a, r, &names);
    for (size_t i = 0; i < count; i++) {
        sum += mixed(hash(HASH_START, names[i]));
    }
    for (size_t i = 0; i < r->tag_count; i++) {
        const struct routing_tag *tag = &r->tags[i];
        bool own = *instance_guid && strcmp(tag->value, instance_guid) == 0;
        sum += routing_digest_tag(tag->key, own ? ROUTING_OWN_GUID : tag->value);
    }
    return sum;
}
