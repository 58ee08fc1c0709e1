/* Diego's paths of an evacuation: each request becomes the named move that it is (behaviour.md 11).
 * Their answers tell whether to keep the container. */
#include "bbs/board/errors.h"
#include "bbs/lrp/move.h"
#include "bbs/route/answer.h"
#include "bbs/route/route.h"
#include "models/evacuation.pb-c.h"

#include <assert.h>

static void answer_move(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    Models__Error error;
    if (result->end == OP_UNAVAILABLE) {
        ask_answer_unavailable(ask, result, out);
        return;
    }
    bool failed = plan_error(result->plan, &error);
    answer_evacuation(out, ask->request_id, failed ? error.type : 0, failed ? error.message : NULL,
                      result->plan->keep_container);
}

/* `keep` is what a request that is not valid is answered. */
static void run(struct ask *ask, Board__Move *m, bool keep, struct effects *out)
{
    const struct move_row *row = move_row_named(&lrp_moves, m->move);
    assert(row);
    struct validation v;
    validation_init(&v);
    row->valid(&v, m);
    if (validation_ok(&v)) {
        ask->in.request = &m->base;
        board_op(ask->router->board, row->op, &ask->in, ask->arena, answer_move, ask, out);
    } else {
        answer_evacuation(out, ask->request_id, MODELS__ERROR__TYPE__InvalidRequest,
                          validation_text(&v), keep);
        ask_end(ask);
    }
    validation_done(&v);
}

/* Without a key the move has no subject, which is said. */
static Board__Move *new_move(struct ask *ask, const char *name, const Models__ActualLRPKey *key,
                             Models__ActualLRPInstanceKey *instance_key)
{
    Board__Move *m = move_new_instance(ask->arena, name, key ? key->process_guid : "",
                                       key ? key->index : 0, 0, key ? key->domain : "");
    m->subject = key ? m->subject : NULL;
    m->instance->actual_lrp_instance_key = instance_key;
    return m;
}

void route_evacuate_claimed(struct ask *ask, struct effects *out)
{
    const Models__EvacuateClaimedActualLRPRequest *r =
        (const Models__EvacuateClaimedActualLRPRequest *)ask->in.request;
    run(ask, new_move(ask, "evacuate_claimed", r->actual_lrp_key, r->actual_lrp_instance_key), true,
        out);
}

void route_evacuate_crashed(struct ask *ask, struct effects *out)
{
    const Models__EvacuateCrashedActualLRPRequest *r =
        (const Models__EvacuateCrashedActualLRPRequest *)ask->in.request;
    Board__Move *m =
        new_move(ask, "evacuate_crashed", r->actual_lrp_key, r->actual_lrp_instance_key);
    m->instance->error_message = r->error_message;
    run(ask, m, false, out);
}

void route_evacuate_stopped(struct ask *ask, struct effects *out)
{
    const Models__EvacuateStoppedActualLRPRequest *r =
        (const Models__EvacuateStoppedActualLRPRequest *)ask->in.request;
    run(ask, new_move(ask, "evacuate_stopped", r->actual_lrp_key, r->actual_lrp_instance_key),
        false, out);
}

static Board__Move *running_move(struct ask *ask)
{
    const Models__EvacuateRunningActualLRPRequest *r =
        (const Models__EvacuateRunningActualLRPRequest *)ask->in.request;
    Board__Move *m =
        new_move(ask, "evacuate_running", r->actual_lrp_key, r->actual_lrp_instance_key);
    m->instance->actual_lrp_net_info = r->actual_lrp_net_info;
    m->instance->availability_zone = r->availability_zone;
    if (r->optional_routable_case ==
        MODELS__EVACUATE_RUNNING_ACTUAL_LRPREQUEST__OPTIONAL_ROUTABLE_ROUTABLE) {
        m->instance->optional_routable_case = BOARD__INSTANCE_MOVE__OPTIONAL_ROUTABLE_ROUTABLE;
        m->instance->routable = r->routable;
    }
    return m;
}

void route_evacuate_running_r1(struct ask *ask, struct effects *out)
{
    const Models__EvacuateRunningActualLRPRequest *r =
        (const Models__EvacuateRunningActualLRPRequest *)ask->in.request;
    Board__Move *m = running_move(ask);
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
    run(ask, m, true, out);
}

/* r0 knows neither internal routes nor metric tags. */
void route_evacuate_running_r0(struct ask *ask, struct effects *out)
{
    run(ask, running_move(ask), true, out);
}

void route_remove_evacuating(struct ask *ask, struct effects *out)
{
    const Models__RemoveEvacuatingActualLRPRequest *r =
        (const Models__RemoveEvacuatingActualLRPRequest *)ask->in.request;
    Board__Move *m =
        new_move(ask, "remove_evacuating", r->actual_lrp_key, r->actual_lrp_instance_key);
    const struct move_row *row = move_row_named(&lrp_moves, m->move);
    struct validation v;
    validation_init(&v);
    row->valid(&v, m);
    if (ask_valid(ask, &v, out)) {
        ask->in.request = &m->base;
        ask_op(ask, row->op, out);
    }
}
