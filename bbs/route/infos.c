/* DesiredLRPs in part, from their scheduling parts alone: scheduling infos and routing infos
 * (behaviour.md 8.5). */
#include "bbs/board/errors.h"
#include "bbs/route/answer.h"
#include "bbs/route/find_desired.h"
#include "bbs/route/records.h"
#include "bbs/route/route.h"

/* ---- scheduling infos ------------------------------------------------------------------------ */

static Models__DesiredLRPKey *info_key(struct arena *a, const Models__DesiredLRP *d)
{
    Models__DesiredLRPKey *key = ARENA_NEW(a, Models__DesiredLRPKey);
    models__desired_lrpkey__init(key);
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
    Models__VolumePlacement *placement = ARENA_NEW(a, Models__VolumePlacement);
    models__volume_placement__init(placement);
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

/* Each in `list` as the viewer shows it. */
static void answer_viewed(struct ask *ask, const struct picked *list, size_t count,
                          const struct record_viewer *viewer, struct effects *out)
{
    struct records *records = records_new(count);
    for (size_t i = 0; i < count; i++) {
        records_add_view(records, (struct blob *const[RECORD_PARTS]){list[i].blob}, viewer);
    }
    records_answer(records, ask->request_id, out);
}

static void scheduling_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    const Models__DesiredLRPsRequest *r = (const Models__DesiredLRPsRequest *)ask->in.request;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    struct picked *list;
    size_t count = find_desired(v, r, r->domain, &list);
    answer_viewed(ask, list, count, &scheduling_viewer, out);
}

void route_list_scheduling(struct ask *ask, struct effects *out)
{
    ask_read(ask, scheduling_read, out);
}

static void one_scheduling_read(void *context, struct view *v, const char *text,
                                struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    const char *guid =
        ((const Models__DesiredLRPByProcessGuidRequest *)ask->in.request)->process_guid;
    const struct seen *seen = view_peek(v, key_desired(view_arena(v), guid));
    if (!seen) {
        answer_error(out, ask->request_id, MODELS__ERROR__TYPE__ResourceNotFound,
                     error_text(MODELS__ERROR__TYPE__ResourceNotFound));
        return;
    }
    answer_viewed(ask, &(struct picked){.blob = seen->blob}, 1, &scheduling_viewer, out);
}

void route_get_scheduling(struct ask *ask, struct effects *out)
{
    struct validation v;
    validation_init(&v);
    valid_process_guid(
        &v, ((const Models__DesiredLRPByProcessGuidRequest *)ask->in.request)->process_guid);
    if (ask_valid(ask, &v, out)) {
        ask_read(ask, one_scheduling_read, out);
    }
}

/* ---- routing infos --------------------------------------------------------------------------- */

/* As they are stored: the names of the metric source are not harmonised here. */
static const ProtobufCMessage *routing_view(struct arena *a, ProtobufCMessage *decoded)
{
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)decoded;
    Models__DesiredLRP *info = ARENA_NEW(a, Models__DesiredLRP);
    models__desired_lrp__init(info);
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

/* The request's domain does not filter here. */
static void routing_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    const Models__DesiredLRPsRequest *r = (const Models__DesiredLRPsRequest *)ask->in.request;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    struct picked *list;
    size_t count = find_desired(v, r, "", &list);
    answer_viewed(ask, list, count, &routing_viewer, out);
}

void route_list_routing(struct ask *ask, struct effects *out)
{
    ask_read(ask, routing_read, out);
}
