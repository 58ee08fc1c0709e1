/* A centre of sites: what clients ask for, and what anybody may see. */
#include "bbs/edge/catalogue.h"
#include "bbs/edge/edge.h"
#include "bbs/route/read.h"
#include "common/model/edge_name.h"

#include "edge_api.pb-c.h"

#include <string.h>

/* ---- Requests -------------------------------------------------------------------------------- */

static void edge_op(struct ask *ask, const struct op_row *row, struct effects *out)
{
    if (ask_valid(ask, out)) {
        ask_op(ask, row, out);
    }
}

void route_set_flavor(struct ask *ask, struct effects *out)
{
    valid_flavor(&ask->faults, ask->in.request);
    edge_op(ask, &set_flavor_row, out);
}

static void remove_named(struct ask *ask, enum record_type type, const struct op_row *row,
                         struct effects *out)
{
    const Board__EdgeRemoveRequest *r = ask->in.request;
    const char *fault = edge_name_fault(ask->arena, type, r->name);
    if (fault) {
        say(&ask->faults, fault);
    }
    edge_op(ask, row, out);
}

void route_remove_flavor(struct ask *ask, struct effects *out)
{
    remove_named(ask, RECORD_FLAVOR, &remove_flavor_row, out);
}

void route_apply_edge_app(struct ask *ask, struct effects *out)
{
    valid_edge_app(&ask->faults, ask->in.request);
    edge_op(ask, &apply_edge_app_row, out);
}

void route_remove_edge_app(struct ask *ask, struct effects *out)
{
    remove_named(ask, RECORD_APP, &remove_edge_app_row, out);
}

/* The move about the object of the request's name. What a client does not say is left out: life,
 * session and whatever else a CRM says is none of his. */
static void edge_move(struct ask *ask, const struct move_family *family, enum record_type type,
                      const char *verb, struct effects *out)
{
    const Board__EdgeRequest *r = ask->in.request;
    const char *fault = edge_name_fault(ask->arena, type, r->name);
    if (fault) {
        say(&ask->faults, fault);
        ask_valid(ask, out);
        return;
    }
    Board__Move *m = move_new(ask->arena, verb, key_edge(ask->arena, type, r->name));
    m->body_case = BOARD__MOVE__BODY_EDGE;
    m->edge = arena_message(ask->arena, &board__edge_move__descriptor);
    if (r->says) {
        m->edge->override = r->says->override;
        m->edge->version = r->says->version;
        m->edge->cloudlet = r->says->cloudlet;
        m->edge->cluster = r->says->cluster;
        m->edge->instance = r->says->instance;
        m->edge->reservable = r->says->reservable;
        m->edge->replace_site = r->says->replace_site;
        m->edge->force = r->says->force;
    }
    edge_op(ask, ask_move(ask, family, m), out);
}

#define EDGE_ROUTE(handler, family, type, verb)                                                    \
    void route_##handler(struct ask *ask, struct effects *out)                                     \
    {                                                                                              \
        edge_move(ask, &family##_moves, RECORD_##type, verb, out);                                 \
    }
EDGE_ROUTE(create_cloudlet, cloudlet, CLOUDLET, "create")
EDGE_ROUTE(update_cloudlet, cloudlet, CLOUDLET, "update")
EDGE_ROUTE(upgrade_cloudlet, cloudlet, CLOUDLET, "upgrade")
EDGE_ROUTE(delete_cloudlet, cloudlet, CLOUDLET, "delete")
EDGE_ROUTE(start_maintenance, maintenance, MAINTENANCE, "start")
EDGE_ROUTE(start_maintenance_no_failover, maintenance, MAINTENANCE, "start_no_failover")
EDGE_ROUTE(end_maintenance, maintenance, MAINTENANCE, "end")
EDGE_ROUTE(create_cluster, clusterinst, CLUSTERINST, "create")
EDGE_ROUTE(update_cluster, clusterinst, CLUSTERINST, "update")
EDGE_ROUTE(delete_cluster, clusterinst, CLUSTERINST, "delete")
EDGE_ROUTE(create_instance, appinst, APPINST, "create")
EDGE_ROUTE(update_instance, appinst, APPINST, "update")
EDGE_ROUTE(refresh_instance, appinst, APPINST, "refresh")
EDGE_ROUTE(delete_instance, appinst, APPINST, "delete")

/* ---- Reads ----------------------------------------------------------------------------------- */

/* That of this name, and those below it. */
static size_t pick_below(struct view *v, enum record_type type, const char *name,
                         struct picked **ret_list)
{
    struct arena *a = view_arena(v);
    Board__Selector selector = read_selector(v, type);
    size_t count = 0;
    struct picked one;
    if (!*name) {
        return view_pick(v, &selector, ret_list);
    }
    struct picked *below;
    selector.key_prefix = arena_strdup(a, key_edge_all(a, type, name));
    size_t below_count = view_pick(v, &selector, &below);
    struct picked *list = ARENA_ARRAY(a, below_count + 1, struct picked);
    if (view_pick_one(v, key_edge(a, type, name), &one)) {
        list[count++] = one;
    }
    for (size_t i = 0; i < below_count; i++) {
        list[count++] = below[i];
    }
    *ret_list = list;
    return count;
}

/* Every answer of a list has an error and a list. */
static const ProtobufCMessage *told_below(const struct ask *ask, struct view *v,
                                          enum record_type type,
                                          const ProtobufCMessageDescriptor *response)
{
    struct arena *a = view_arena(v);
    const Board__EdgeListRequest *r = ask->in.request;
    struct picked *picked;
    size_t picked_count = pick_below(v, type, r->name, &picked), count = 0;
    ProtobufCMessage *answer = arena_message(a, response);
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(response, 2);
    ProtobufCMessage **list = ARENA_ARRAY(a, picked_count, ProtobufCMessage *);
    for (size_t i = 0; i < picked_count; i++) {
        count += record_decode(a, type, blob_bytes(picked[i].blob), &list[count], NULL) == 0;
    }
    memcpy((char *)answer + f->offset, &list, sizeof(list));
    memcpy((char *)answer + f->quantifier_offset, &count, sizeof(count));
    return answer;
}

#define EDGE_READ(noun, type, response)                                                            \
    static size_t pick_##noun(struct view *v, const void *request, struct picked **ret_list)       \
    {                                                                                              \
        return pick_below(v, RECORD_##type, ((const Board__EdgeListRequest *)request)->name,       \
                          ret_list);                                                               \
    }                                                                                              \
    static const ProtobufCMessage *told_##noun(const struct ask *ask, struct view *v)              \
    {                                                                                              \
        return told_below(ask, v, RECORD_##type, &response##__descriptor);                         \
    }                                                                                              \
    const struct read_row read_edge_##noun = {.json = told_##noun, .pick = pick_##noun};
EDGE_READ(flavors, FLAVOR, board__edge_flavors_response)
EDGE_READ(apps, APP, board__edge_apps_response)
EDGE_READ(cloudlets, CLOUDLET, board__edge_cloudlets_response)
EDGE_READ(infos, CLOUDLETINFO, board__edge_infos_response)
EDGE_READ(maintenance, MAINTENANCE, board__edge_maintenance_response)
EDGE_READ(refs, REFS, board__edge_refs_response)
EDGE_READ(clusters, CLUSTERINST, board__edge_clusters_response)
EDGE_READ(instances, APPINST, board__edge_instances_response)

static const ProtobufCMessage *told_progress(const struct ask *ask, struct view *v)
{
    struct arena *a = view_arena(v);
    const Board__EdgeProgressRequest *r = ask->in.request;
    Board__EdgeProgressResponse *answer =
        arena_message(a, &board__edge_progress_response__descriptor);
    answer->progress =
        (Board__ProgressRecord *)(uintptr_t)view_peek_message(v, key_progress(a, r->uid));
    if (!answer->progress) {
        answer->error = arena_message(a, &models__error__descriptor);
        answer->error->type = MODELS__ERROR__TYPE__ResourceNotFound;
        answer->error->message = arena_printf(a, "no operation of %s is known", r->uid);
    }
    return &answer->base;
}

const struct read_row read_edge_progress = {.message = told_progress};
