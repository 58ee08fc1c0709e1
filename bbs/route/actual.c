/* Diego's paths of actual LRPs and of their evacuation: each request becomes the named move that it
 * is (behaviour.md 10.3, 11). Answers to an evacuation tell whether to keep the container. */
#include "bbs/board/errors.h"
#include "bbs/lrp/move.h"
#include "bbs/route/answer.h"
#include "bbs/route/route.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/evacuation.pb-c.h"

/* ---- Moves ----------------------------------------------------------------------------------- */

/* Claim and remove name no domain. */
static Board__Move *new_move_at(struct ask *ask, const char *name, const char *process_guid,
                                int32_t index, Models__ActualLRPInstanceKey *instance_key)
{
    Board__Move *m = move_new_instance(ask->arena, name, process_guid, index, 0, "");
    m->instance->actual_lrp_instance_key = instance_key;
    return m;
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

/* Of an instance that runs. */
static void say_running(Board__InstanceMove *m, Models__ActualLRPNetInfo *net_info, char *zone,
                        bool says_routable, bool routable)
{
    m->actual_lrp_net_info = net_info;
    m->availability_zone = zone;
    if (says_routable) {
        m->optional_routable_case = BOARD__INSTANCE_MOVE__OPTIONAL_ROUTABLE_ROUTABLE;
        m->routable = routable;
    }
}

/* What r1 says of it, too, in requests of two types: r0 knows neither internal routes nor metric
 * tags. */
#define SAY_RUNNING_R1(a, m, r)                                                                    \
    do {                                                                                           \
        (m)->n_actual_lrp_internal_routes = (r)->n_actual_lrp_internal_routes;                     \
        (m)->actual_lrp_internal_routes = (r)->actual_lrp_internal_routes;                         \
        (m)->n_metric_tags = (r)->n_metric_tags;                                                   \
        (m)->metric_tags =                                                                         \
            ARENA_ARRAY(a, (r)->n_metric_tags, Board__InstanceMove__MetricTagsEntry *);            \
        for (size_t i = 0; i < (r)->n_metric_tags; i++) {                                          \
            (m)->metric_tags[i] = tag(a, (r)->metric_tags[i]->key, (r)->metric_tags[i]->value);    \
        }                                                                                          \
    } while (0)

static Board__InstanceMove__MetricTagsEntry *tag(struct arena *a, char *key, char *value)
{
    Board__InstanceMove__MetricTagsEntry *entry =
        ARENA_NEW(a, Board__InstanceMove__MetricTagsEntry);
    board__instance_move__metric_tags_entry__init(entry);
    entry->key = key;
    entry->value = value;
    return entry;
}

static void run(struct ask *ask, Board__Move *m, struct effects *out)
{
    const struct op_row *op = ask_move(ask, &lrp_moves, m);
    if (ask_valid(ask, out)) {
        ask_op(ask, op, out);
    }
}

/* ---- Of an instance -------------------------------------------------------------------------- */

void route_claim(struct ask *ask, struct effects *out)
{
    const Models__ClaimActualLRPRequest *r = ask->in.request;
    run(ask, new_move_at(ask, "claim", r->process_guid, r->index, r->actual_lrp_instance_key), out);
}

static Board__Move *start_move(struct ask *ask)
{
    const Models__StartActualLRPRequest *r = ask->in.request;
    Board__Move *m = new_move(ask, "start", r->actual_lrp_key, r->actual_lrp_instance_key);
    say_running(m->instance, r->actual_lrp_net_info, r->availability_zone,
                r->optional_routable_case ==
                    MODELS__START_ACTUAL_LRPREQUEST__OPTIONAL_ROUTABLE_ROUTABLE,
                r->routable);
    return m;
}

void route_start_r1(struct ask *ask, struct effects *out)
{
    const Models__StartActualLRPRequest *r = ask->in.request;
    Board__Move *m = start_move(ask);
    SAY_RUNNING_R1(ask->arena, m->instance, r);
    run(ask, m, out);
}

void route_start_r0(struct ask *ask, struct effects *out)
{
    run(ask, start_move(ask), out);
}

void route_crash(struct ask *ask, struct effects *out)
{
    const Models__CrashActualLRPRequest *r = ask->in.request;
    Board__Move *m = new_move(ask, "crash", r->actual_lrp_key, r->actual_lrp_instance_key);
    m->instance->error_message = r->error_message;
    run(ask, m, out);
}

void route_fail(struct ask *ask, struct effects *out)
{
    const Models__FailActualLRPRequest *r = ask->in.request;
    Board__Move *m = new_move(ask, "fail", r->actual_lrp_key, NULL);
    m->instance->error_message = r->error_message;
    run(ask, m, out);
}

void route_remove(struct ask *ask, struct effects *out)
{
    const Models__RemoveActualLRPRequest *r = ask->in.request;
    run(ask, new_move_at(ask, "remove", r->process_guid, r->index, r->actual_lrp_instance_key),
        out);
}

void route_retire(struct ask *ask, struct effects *out)
{
    const Models__RetireActualLRPRequest *r = ask->in.request;
    run(ask, new_move(ask, "retire", r->actual_lrp_key, NULL), out);
}

/* ---- Of an evacuation ------------------------------------------------------------------------ */

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
static void evacuate(struct ask *ask, Board__Move *m, bool keep, struct effects *out)
{
    const struct op_row *op = ask_move(ask, &lrp_moves, m);
    if (validation_ok(&ask->faults)) {
        board_op(ask->router->board, op, &ask->in, ask->arena, answer_move, ask, out);
    } else {
        answer_evacuation(out, ask->request_id, MODELS__ERROR__TYPE__InvalidRequest,
                          validation_text(&ask->faults), keep);
        ask_end(ask);
    }
}

void route_evacuate_claimed(struct ask *ask, struct effects *out)
{
    const Models__EvacuateClaimedActualLRPRequest *r = ask->in.request;
    evacuate(ask,
             new_move(ask, "evacuate_claimed", r->actual_lrp_key, r->actual_lrp_instance_key), true,
             out);
}

void route_evacuate_crashed(struct ask *ask, struct effects *out)
{
    const Models__EvacuateCrashedActualLRPRequest *r = ask->in.request;
    Board__Move *m =
        new_move(ask, "evacuate_crashed", r->actual_lrp_key, r->actual_lrp_instance_key);
    m->instance->error_message = r->error_message;
    evacuate(ask, m, false, out);
}

void route_evacuate_stopped(struct ask *ask, struct effects *out)
{
    const Models__EvacuateStoppedActualLRPRequest *r = ask->in.request;
    evacuate(ask,
             new_move(ask, "evacuate_stopped", r->actual_lrp_key, r->actual_lrp_instance_key),
             false, out);
}

static Board__Move *evacuate_running_move(struct ask *ask)
{
    const Models__EvacuateRunningActualLRPRequest *r = ask->in.request;
    Board__Move *m =
        new_move(ask, "evacuate_running", r->actual_lrp_key, r->actual_lrp_instance_key);
    say_running(m->instance, r->actual_lrp_net_info, r->availability_zone,
                r->optional_routable_case ==
                    MODELS__EVACUATE_RUNNING_ACTUAL_LRPREQUEST__OPTIONAL_ROUTABLE_ROUTABLE,
                r->routable);
    return m;
}

void route_evacuate_running_r1(struct ask *ask, struct effects *out)
{
    const Models__EvacuateRunningActualLRPRequest *r = ask->in.request;
    Board__Move *m = evacuate_running_move(ask);
    SAY_RUNNING_R1(ask->arena, m->instance, r);
    evacuate(ask, m, true, out);
}

void route_evacuate_running_r0(struct ask *ask, struct effects *out)
{
    evacuate(ask, evacuate_running_move(ask), true, out);
}

/* It has no container to keep: answered as any move. */
void route_remove_evacuating(struct ask *ask, struct effects *out)
{
    const Models__RemoveEvacuatingActualLRPRequest *r = ask->in.request;
    run(ask, new_move(ask, "remove_evacuating", r->actual_lrp_key, r->actual_lrp_instance_key),
        out);
}
