/* Reads of DesiredLRPs (behaviour.md 8.5): whole ones, and what their scheduling parts alone tell,
 * scheduling infos and routing infos. */
#include "bbs/route/opened.h"
#include "bbs/route/read.h"
#include "bbs/route/whole_desired.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- which ----------------------------------------------------------------------------------- */

static int by_key(const void *x, const void *y)
{
    return strcmp(((const struct picked *)x)->key, ((const struct picked *)y)->key);
}

/* Somebody may name one twice. */
static size_t drop_repeated(struct picked *list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || strcmp(list[kept - 1].key, list[i].key) != 0) {
            list[kept++] = list[i];
        }
    }
    assert(kept <= count);
    return kept;
}

static size_t find_named(struct view *v, const Models__DesiredLRPsRequest *r, const char *domain,
                         struct picked *list)
{
    struct arena *a = view_arena(v);
    size_t count = 0;
    for (size_t i = 0; i < r->n_process_guids; i++) {
        struct picked *p = &list[count];
        if (view_pick_one(v, key_desired(a, r->process_guids[i]), p) &&
            (!domain[0] || strcmp(p->domain, domain) == 0)) {
            count++;
        }
    }
    qsort(list, count, sizeof(*list), by_key);
    return drop_repeated(list, count);
}

/* The scheduling parts of those in `domain` ("" = any) and among the request's process_guids (none
 * = any), each once, in the order of their keys, not decoded. */
static size_t find(struct view *v, const Models__DesiredLRPsRequest *r, const char *domain,
                   struct picked **ret_list)
{
    struct arena *a = view_arena(v);
    if (r->n_process_guids > 0) {
        *ret_list = ARENA_ARRAY(a, r->n_process_guids, struct picked);
        return find_named(v, r, domain, *ret_list);
    }
    Board__Selector selector = read_selector(v, RECORD_DESIRED);
    selector.domain = arena_strdup(a, domain);
    return view_pick(v, &selector, ret_list);
}

static size_t pick_desired(struct view *v, const void *request,
                           struct picked **ret_list)
{
    const Models__DesiredLRPsRequest *r = request;
    return find(v, r, r->domain, ret_list);
}

/* The request's domain does not filter here. */
static size_t pick_routing(struct view *v, const void *request,
                           struct picked **ret_list)
{
    return find(v, (const Models__DesiredLRPsRequest *)request, "", ret_list);
}

static const char *guid_of(const void *request)
{
    return ((const Models__DesiredLRPByProcessGuidRequest *)request)->process_guid;
}

static size_t pick_one(struct view *v, const void *request, struct picked **ret_list)
{
    return read_pick_one(v, key_desired(view_arena(v), guid_of(request)), ret_list);
}

/* Whether or not its record can be read. */
static size_t pick_stored(struct view *v, const void *request, struct picked **ret_list)
{
    *ret_list = ARENA_NEW(view_arena(v), struct picked);
    return view_pick_one(v, key_desired(view_arena(v), guid_of(request)), *ret_list);
}

static void valid_guid(struct validation *v, const void *request)
{
    valid_process_guid(v, guid_of(request));
}

/* ---- scheduling infos ------------------------------------------------------------------------ */

static Models__DesiredLRPKey *info_key(struct arena *a, const Models__DesiredLRP *d)
{
    Models__DesiredLRPKey *key = arena_message(a, &models__desired_lrpkey__descriptor);
    key->process_guid = d->process_guid;
    key->domain = d->domain;
    key->log_guid = d->log_guid;
    return key;
}

static Models__DesiredLRPResource *info_resource(struct arena *a, const Models__DesiredLRP *d)
{
    Models__DesiredLRPResource *resource = ARENA_NEW(a, Models__DesiredLRPResource);
    models__desired_lrpresource__init(resource);
    resource->memory_mb = d->memory_mb;
    resource->disk_mb = d->disk_mb;
    resource->root_fs = d->root_fs;
    resource->max_pids = d->max_pids;
    return resource;
}

static Models__DesiredLRPSchedulingInfo *scheduling_info(struct arena *a,
                                                         const Models__DesiredLRP *d)
{
    Models__DesiredLRPSchedulingInfo *info = ARENA_NEW(a, Models__DesiredLRPSchedulingInfo);
    models__desired_lrpscheduling_info__init(info);
    info->desired_lrp_key = info_key(a, d);
    info->annotation = d->annotation;
    info->instances = d->instances;
    info->desired_lrp_resource = info_resource(a, d);
    info->routes = d->routes;
    info->modification_tag = d->modification_tag;
    Models__VolumePlacement *placement = arena_message(a, &models__volume_placement__descriptor);
    placement->driver_names = ARENA_ARRAY(a, d->n_volume_mounts, char *);
    for (size_t i = 0; i < d->n_volume_mounts; i++) {
        placement->driver_names[placement->n_driver_names++] = d->volume_mounts[i]->driver;
    }
    info->volume_placement = placement;
    info->n_placementtags = d->n_placementtags;
    info->placementtags = d->placementtags;
    return info;
}

static const ProtobufCMessage *scheduling_view(struct arena *a, ProtobufCMessage *decoded)
{
    return &scheduling_info(a, (const Models__DesiredLRP *)decoded)->base;
}

static const struct record_viewer scheduling_viewer = {&models__desired_lrp__descriptor,
                                                       scheduling_view};

/* ---- routing infos --------------------------------------------------------------------------- */

/* As they are stored: the names of the metric source are not harmonised here. */
static const ProtobufCMessage *routing_view(struct arena *a, ProtobufCMessage *decoded)
{
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)decoded;
    Models__DesiredLRP *info = arena_message(a, &models__desired_lrp__descriptor);
    info->process_guid = d->process_guid;
    info->domain = d->domain;
    info->log_guid = d->log_guid;
    info->instances = d->instances;
    info->routes = d->routes;
    info->modification_tag = d->modification_tag;
    info->n_metric_tags = d->n_metric_tags;
    info->metric_tags = d->metric_tags;
    return &info->base;
}

static const struct record_viewer routing_viewer = {&models__desired_lrp__descriptor, routing_view};

const struct read_row read_scheduling = {.pick = pick_desired, .viewer = &scheduling_viewer};
const struct read_row read_scheduling_of_one = {
    .valid = valid_guid, .pick = pick_one, .one = true, .viewer = &scheduling_viewer};
const struct read_row read_routing = {.pick = pick_routing, .viewer = &routing_viewer};

/* ---- whole ones ------------------------------------------------------------------------------ */

static void add_whole(struct records *records, struct view *v, const struct picked *list,
                      size_t count, bool r2)
{
    SCOPED_ARENA(scratch);
    for (size_t i = 0; i < count; i++) {
        whole_desired_add(records, v, &scratch, &list[i], r2);
        arena_reset(&scratch);
    }
}

const struct read_row read_desired = {.pick = pick_desired, .add = add_whole};
const struct read_row read_desired_r2 = {.pick = pick_desired, .add = add_whole, .r2 = true};
const struct read_row read_one_desired = {.valid = valid_guid,
                                          .pick = pick_stored,
                                          .one = true,
                                          .whole = true,
                                          .add = add_whole,
                                          .opened = opened_desired};
const struct read_row read_one_desired_r2 = {.valid = valid_guid,
                                             .pick = pick_stored,
                                             .one = true,
                                             .whole = true,
                                             .add = add_whole,
                                             .r2 = true};
