/* DesiredLRPs: desire, update, remove and their reads (behaviour.md 8). A DesiredLRP is two
 * records, so a list is the copy's scheduling parts joined with the run parts, which are
 * fetched. */
#include "bbs/lrp/desired.h"
#include "bbs/lrp/errors.h"
#include "bbs/route/answer.h"
#include "bbs/route/records.h"
#include "bbs/route/route.h"
#include "common/base/map.h"

#include <stdlib.h>
#include <string.h>

/* Up to so many run parts are fetched one by one, beyond it all of them at once. */
enum { FETCH_SINGLY_MAX = 256, GET_ATTEMPTS_MAX = 3 };

/* ---- writes ---------------------------------------------------------------------------------- */

/* The key of the job that the plan opened, NULL if none. */
static const char *opened_job(const struct plan *p)
{
    for (const struct change *c = p->changes; c; c = c->next) {
        if (c->message && key_type(c->key) == RECORD_JOB) {
            return c->key;
        }
    }
    return NULL;
}

/* Whether the copy, already past the commit, has no such job any more. */
static bool job_over(struct ask *ask, const char *key, int64_t revision, struct arena *a)
{
    struct view *v = board_view(ask->bbs->board, a);
    return view_revision(v) >= revision && !view_peek(v, key);
}

/* Answers after the last slice (DESIGN 2, Jobs). */
static void answer_after_job(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    const char *job = result->end == OP_DECIDED ? opened_job(result->plan) : NULL;
    if (job && !job_over(ask, job, result->revision, out->arena)) {
        waiters_add(&ask->bbs->waiters, ask->request_id, job, board_now(ask->bbs->board));
    } else {
        ask_answer(context, result, out);
    }
}

void route_desire(struct ask *ask, struct effects *out)
{
    struct validation v;
    validation_init(&v);
    valid_desire(&v, ((const Models__DesireLRPRequest *)ask->in.request)->desired_lrp);
    if (ask_valid(ask, &v, out)) {
        board_op(ask->bbs->board, &desire_row, &ask->in, ask->arena, answer_after_job, ask, out);
    }
}

void route_update(struct ask *ask, struct effects *out)
{
    struct validation v;
    validation_init(&v);
    valid_update(&v, (const Models__UpdateDesiredLRPRequest *)ask->in.request);
    if (ask_valid(ask, &v, out)) {
        board_op(ask->bbs->board, &update_row, &ask->in, ask->arena, answer_after_job, ask, out);
    }
}

/* Answers before the instances are gone. */
void route_remove_desired(struct ask *ask, struct effects *out)
{
    struct validation v;
    validation_init(&v);
    valid_process_guid(&v,
                       ((const Models__RemoveDesiredLRPRequest *)ask->in.request)->process_guid);
    if (ask_valid(ask, &v, out)) {
        ask_op(ask, &remove_row, out);
    }
}

/* ---- which ones ------------------------------------------------------------------------------ */

/* A scheduling part that was asked for. */
struct found {
    const Models__DesiredLRP *desired;
    struct blob *blob; /* borrowed until the step returns */
};

static bool in_domain(const Models__DesiredLRP *d, const char *domain)
{
    return !domain[0] || strcmp(d->domain, domain) == 0;
}

/* Those named, each once. */
static size_t find_named(struct view *v, const Models__DesiredLRPsRequest *r, struct found *list)
{
    struct arena *a = view_arena(v);
    struct map named;
    size_t count = 0;
    map_init(&named);
    for (size_t i = 0; i < r->n_process_guids; i++) {
        const struct seen *seen = view_peek(v, key_desired(a, r->process_guids[i]));
        if (!seen || map_put(&named, r->process_guids[i], list)) {
            continue;
        }
        const Models__DesiredLRP *d = (const Models__DesiredLRP *)seen->message;
        if (in_domain(d, r->domain)) {
            list[count++] = (struct found){.desired = d, .blob = seen->blob};
        }
    }
    map_done(&named, NULL);
    return count;
}

static size_t find_all(struct view *v, const char *domain, struct found **ret_list)
{
    struct arena *a = view_arena(v);
    Board__Selector selector = BOARD__SELECTOR__INIT;
    selector.type = arena_strdup(a, "desired");
    selector.domain = arena_strdup(a, domain);
    struct blob **blobs;
    size_t total = view_select(v, &selector, &blobs), count = 0;
    struct found *list = ARENA_ARRAY(a, total, struct found);
    for (size_t i = 0; i < total; i++) {
        ProtobufCMessage *m;
        if (record_decode(a, RECORD_DESIRED, blob_bytes(blobs[i]), &m, NULL) == 0) {
            list[count++] = (struct found){.desired = (const Models__DesiredLRP *)m,
                                           .blob = blobs[i]};
        }
    }
    *ret_list = list;
    return count;
}

static size_t find(struct view *v, const Models__DesiredLRPsRequest *r, struct found **ret_list)
{
    if (r->n_process_guids == 0) {
        return find_all(v, r->domain, ret_list);
    }
    *ret_list = ARENA_ARRAY(view_arena(v), r->n_process_guids, struct found);
    return find_named(v, r, *ret_list);
}

/* ---- whole DesiredLRPs ----------------------------------------------------------------------- */

static bool has_source_tag(const Models__DesiredLRP *d, const char **ret_value)
{
    for (size_t i = 0; i < d->n_metric_tags; i++) {
        if (strcmp(d->metric_tags[i]->key, "source_id") == 0) {
            *ret_value = d->metric_tags[i]->value ? d->metric_tags[i]->value->static_ : "";
            return true;
        }
    }
    return false;
}

static struct blob *encoded(const ProtobufCMessage *m)
{
    struct buf b;
    buf_init(&b);
    record_encode(&b, m);
    struct blob *blob = blob_new(b.data, b.size);
    buf_done(&b);
    return blob;
}

/* The two legacy names of the metric source (behaviour.md 8.5): a few fields to be joined with the
 * rest, or NULL. */
static struct blob *harmonised(const Models__DesiredLRP *d)
{
    Models__DesiredLRP extra = MODELS__DESIRED_LRP__INIT;
    const char *value;
    if (has_source_tag(d, &value)) {
        if (d->metrics_guid[0] || !value[0]) {
            return NULL;
        }
        extra.metrics_guid = (char *)(uintptr_t)value;
        return encoded(&extra.base);
    }
    if (!d->metrics_guid[0]) {
        return NULL;
    }
    Models__MetricTagValue source = MODELS__METRIC_TAG_VALUE__INIT;
    source.static_ = d->metrics_guid;
    Models__DesiredLRP__MetricTagsEntry entry = MODELS__DESIRED_LRP__METRIC_TAGS_ENTRY__INIT;
    char name[] = "source_id";
    entry.key = name;
    entry.value = &source;
    Models__DesiredLRP__MetricTagsEntry *entries[] = {&entry};
    extra.n_metric_tags = 1;
    extra.metric_tags = entries;
    return encoded(&extra.base);
}

/* An answer under way: the scheduling parts, waiting for their run parts. Lives in the fetch's
 * arena. */
struct listing {
    struct bbs *bbs;
    uint64_t request_id;
    size_t count;
    struct {
        struct blob *scheduling; /* counted */
        struct blob *extra;      /* counted; may be NULL */
        const char *run_key;
    } *list;
    /* For get: how to ask again. */
    const char *process_guid; /* NULL for a list */
    unsigned attempts;
};

static void get_again(struct bbs *b, uint64_t request_id, const char *process_guid,
                      unsigned attempts, struct effects *out);

static void listing_release(struct listing *l)
{
    for (size_t i = 0; i < l->count; i++) {
        blob_unref(l->list[i].scheduling);
        blob_unref(l->list[i].extra);
    }
}

/* Without its run part an LRP was removed meanwhile: a get looks again, for another may be desired
 * under its name. A list reads all run parts at the revision of its scheduling parts, so that it is
 * the board at one instant; there none is missing but what this version cannot read. */
static void answer_listing(struct listing *l, struct map *runs, struct effects *out)
{
    struct records *records = records_new(l->count);
    size_t whole = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct blob *run = map_get(runs, l->list[i].run_key);
        if (run) {
            records_add(records, (struct blob *const[RECORD_PARTS]){l->list[i].scheduling, run,
                                                                    l->list[i].extra});
            whole++;
        }
    }
    if (l->process_guid && whole == 0) {
        records_free(records);
        get_again(l->bbs, l->request_id, l->process_guid, l->attempts + 1, out);
    } else {
        records_answer(records, l->request_id, out);
    }
}

static void runs_fetched(void *context, const struct seen *list, size_t count, const char *text,
                         struct effects *out)
{
    struct listing *l = context;
    if (text) {
        answer_unavailable(out, l->request_id);
    } else {
        struct map runs;
        map_init(&runs);
        for (size_t i = 0; i < count; i++) {
            map_put(&runs, list[i].key, list[i].blob);
        }
        answer_listing(l, &runs, out);
        map_done(&runs, NULL);
    }
    listing_release(l);
}

/* Fetches the run parts of what was found, as they stood at `revision` (0 = now), then answers. */
static void fetch_runs(struct bbs *b, uint64_t request_id, const struct found *found, size_t count,
                       int64_t revision, const char *process_guid, unsigned attempts,
                       struct effects *out)
{
    struct arena *a = board_arena();
    struct listing *l = ARENA_NEW(a, struct listing);
    *l = (struct listing){.bbs = b, .request_id = request_id, .count = count,
                          .attempts = attempts};
    l->process_guid = process_guid ? arena_strdup(a, process_guid) : NULL;
    l->list = arena_array(a, count, sizeof(*l->list));
    const char **keys = ARENA_ARRAY(a, count + 1, const char *);
    for (size_t i = 0; i < count; i++) {
        const Models__DesiredLRP *d = found[i].desired;
        l->list[i].scheduling = blob_ref(found[i].blob);
        l->list[i].extra = harmonised(d);
        l->list[i].run_key =
            key_run(a, d->process_guid, d->modification_tag ? d->modification_tag->epoch : "");
        keys[i] = l->list[i].run_key;
    }
    if (count > FETCH_SINGLY_MAX) {
        keys[0] = arena_printf(a, "%s/", record_type_name(RECORD_RUN));
        count = 1;
    }
    board_fetch(b->board, a, keys, count, revision, runs_fetched, l, out);
}

static void list_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    struct found *list;
    size_t count = find(v, (const Models__DesiredLRPsRequest *)ask->in.request, &list);
    if (count == 0) {
        answer_well(out, ask->request_id);
    } else {
        fetch_runs(ask->bbs, ask->request_id, list, count, view_revision(v), NULL, 0, out);
    }
}

void route_list_desired(struct ask *ask, struct effects *out)
{
    ask_read(ask, list_read, out);
}

static void not_found(uint64_t request_id, struct effects *out)
{
    answer_error(out, request_id, MODELS__ERROR__TYPE__ResourceNotFound,
                 error_text(MODELS__ERROR__TYPE__ResourceNotFound));
}

/* A get in one of its attempts. */
struct getting {
    struct bbs *bbs;
    uint64_t request_id;
    const char *process_guid;
    unsigned attempts;
};

static void get_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct getting *g = context;
    if (!v) {
        answer_unavailable(out, g->request_id);
        return;
    }
    const struct seen *seen = view_peek(v, key_desired(view_arena(v), g->process_guid));
    if (!seen) {
        not_found(g->request_id, out);
        return;
    }
    struct found found = {.desired = (const Models__DesiredLRP *)seen->message,
                          .blob = seen->blob};
    fetch_runs(g->bbs, g->request_id, &found, 1, 0, g->process_guid, g->attempts, out);
}

static void get_again(struct bbs *b, uint64_t request_id, const char *process_guid,
                      unsigned attempts, struct effects *out)
{
    if (attempts >= GET_ATTEMPTS_MAX) { /* it was there each time: "not found" would be untrue */
        answer_unavailable(out, request_id);
        return;
    }
    struct arena *a = board_arena();
    struct getting *g = ARENA_NEW(a, struct getting);
    *g = (struct getting){.bbs = b,
                          .request_id = request_id,
                          .process_guid = arena_strdup(a, process_guid),
                          .attempts = attempts};
    board_barrier(b->board, a, get_read, g, out);
}

/* The guid that a get asks for, valid; NULL after the answer that it is not. */
static const char *asked_guid(struct ask *ask, struct effects *out)
{
    const char *guid =
        ((const Models__DesiredLRPByProcessGuidRequest *)ask->in.request)->process_guid;
    struct validation v;
    validation_init(&v);
    valid_process_guid(&v, guid);
    return ask_valid(ask, &v, out) ? guid : NULL;
}

void route_get_desired(struct ask *ask, struct effects *out)
{
    const char *guid = asked_guid(ask, out);
    if (guid) {
        get_again(ask->bbs, ask->request_id, guid, 0, out);
        ask_end(ask);
    }
}

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

static void scheduling_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    struct arena *a = view_arena(v);
    struct found *list;
    size_t count = find(v, (const Models__DesiredLRPsRequest *)ask->in.request, &list);
    Models__DesiredLRPSchedulingInfosResponse response =
        MODELS__DESIRED_LRPSCHEDULING_INFOS_RESPONSE__INIT;
    response.n_desired_lrp_scheduling_infos = count;
    response.desired_lrp_scheduling_infos =
        ARENA_ARRAY(a, count, Models__DesiredLRPSchedulingInfo *);
    for (size_t i = 0; i < count; i++) {
        response.desired_lrp_scheduling_infos[i] = scheduling_info(a, list[i].desired);
    }
    effects_reply_message(out, ask->request_id, &response.base);
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
    struct arena *a = view_arena(v);
    const char *guid =
        ((const Models__DesiredLRPByProcessGuidRequest *)ask->in.request)->process_guid;
    const struct seen *seen = view_peek(v, key_desired(a, guid));
    if (!seen) {
        not_found(ask->request_id, out);
        return;
    }
    Models__DesiredLRPSchedulingInfoByProcessGuidResponse response =
        MODELS__DESIRED_LRPSCHEDULING_INFO_BY_PROCESS_GUID_RESPONSE__INIT;
    response.desired_lrp_scheduling_info =
        scheduling_info(a, (const Models__DesiredLRP *)seen->message);
    effects_reply_message(out, ask->request_id, &response.base);
}

void route_get_scheduling(struct ask *ask, struct effects *out)
{
    if (asked_guid(ask, out)) {
        ask_read(ask, one_scheduling_read, out);
    }
}
