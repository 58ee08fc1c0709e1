/* Diego's paths of actual LRPs: each request becomes the named move that it is (behaviour.md
 * 10.3). */
#include "bbs/lrp/move.h"
#include "bbs/route/route.h"
#include "models/actual_lrp_requests.pb-c.h"

#include <assert.h>

/* Without a key the move has no subject, which is said. */
static Board__Move *new_move(struct ask *ask, const char *name, const Models__ActualLRPKey *key)
{
    Board__Move *m = move_new_instance(ask->arena, name, key ? key->process_guid : "",
                                       key ? key->index : 0, 0, key ? key->domain : "");
    m->subject = key ? m->subject : NULL;
    return m;
}

/* Claim and remove name no domain. */
static Board__Move *new_move_at(struct ask *ask, const char *name, const char *process_guid,
                                int32_t index)
{
    return move_new_instance(ask->arena, name, process_guid, index, 0, "");
}

static void run(struct ask *ask, Board__Move *m, struct effects *out)
{
    const struct move_row *row = move_row_named(&lrp_moves, m->move);
    assert(row);
    struct validation v;
    validation_init(&v);
    row->valid(&v, m);
    if (ask_valid(ask, &v, out)) {
        ask->in.request = &m->base;
        ask_op(ask, row->op, out);
    }
}

void route_claim(struct ask *ask, struct effects *out)
{
    const Models__ClaimActualLRPRequest *r =
        (const Models__ClaimActualLRPRequest *)ask->in.request;
    Board__Move *m = new_move_at(ask, "claim", r->process_guid, r->index);
    m->instance->actual_lrp_instance_key = r->actual_lrp_instance_key;
    run(ask, m, out);
}

static Board__Move *start_move(struct ask *ask)
{
    const Models__StartActualLRPRequest *r =
        (const Models__StartActualLRPRequest *)ask->in.request;
    Board__Move *m = new_move(ask, "start", r->actual_lrp_key);
    m->instance->actual_lrp_instance_key = r->actual_lrp_instance_key;
    m->instance->actual_lrp_net_info = r->actual_lrp_net_info;
    m->instance->availability_zone = r->availability_zone;
    if (r->optional_routable_case == MODELS__START_ACTUAL_LRPREQUEST__OPTIONAL_ROUTABLE_ROUTABLE) {
        m->instance->optional_routable_case = BOARD__INSTANCE_MOVE__OPTIONAL_ROUTABLE_ROUTABLE;
        m->instance->routable = r->routable;
    }
    return m;
}

void route_start_r1(struct ask *ask, struct effects *out)
{
    const Models__StartActualLRPRequest *r =
        (const Models__StartActualLRPRequest *)ask->in.request;
    Board__Move *m = start_move(ask);
    m->instance->n_actual_lrp_internal_routes = r->n_actual_lrp_internal_routes;
    m->instance->actual_lrp_internal_routes = r->actual_lrp_internal_routes;
    m->instance->n_metric_tags = r->n_metric_tags;
    m->instance->metric_tags =
        ARENA_ARRAY(ask->arena, r->n_metric_tags, Board__InstanceMove__MetricTagsEntry *);
    for (size_t i = 0; i < r->n_metric_tags; i++) {
        m->instance->metric_tags[i] = ARENA_NEW(ask->arena, Board__InstanceMove__MetricTagsEntry);
        board__instance_move__metric_tags_entry__init(m->instance->metric_tags[i]);
        m->instance->metric_tags[i]->key = r->metric_tags[i]->key;
        m->instance->metric_tags[i]->value = r->metric_tags[i]->value;
    }
    run(ask, m, out);
}

/* r0 knows neither internal routes nor metric tags. */
void route_start_r0(struct ask *ask, struct effects *out)
{
    run(ask, start_move(ask), out);
}

void route_crash(struct ask *ask, struct effects *out)
{
    const Models__CrashActualLRPRequest *r =
        (const Models__CrashActualLRPRequest *)ask->in.request;
    Board__Move *m = new_move(ask, "crash", r->actual_lrp_key);
    m->instance->actual_lrp_instance_key = r->actual_lrp_instance_key;
    m->instance->error_message = r->error_message;
    run(ask, m, out);
}

void route_fail(struct ask *ask, struct effects *out)
{
    const Models__FailActualLRPRequest *r = (const Models__FailActualLRPRequest *)ask->in.request;
    Board__Move *m = new_move(ask, "fail", r->actual_lrp_key);
    m->instance->error_message = r->error_message;
    run(ask, m, out);
}

void route_remove(struct ask *ask, struct effects *out)
{
    const Models__RemoveActualLRPRequest *r =
        (const Models__RemoveActualLRPRequest *)ask->in.request;
    Board__Move *m = new_move_at(ask, "remove", r->process_guid, r->index);
    m->instance->actual_lrp_instance_key = r->actual_lrp_instance_key;
    run(ask, m, out);
}

void route_retire(struct ask *ask, struct effects *out)
{
    const Models__RetireActualLRPRequest *r =
        (const Models__RetireActualLRPRequest *)ask->in.request;
    run(ask, new_move(ask, "retire", r->actual_lrp_key), out);
}
