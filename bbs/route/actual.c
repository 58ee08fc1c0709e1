/* Diego's paths of actual LRPs: each request becomes the named move that it is (behaviour.md
 * 10.3). */
#include "bbs/lrp/move.h"
#include "bbs/route/route.h"
#include "models/actual_lrp_requests.pb-c.h"

#include <assert.h>

static Board__Move *new_move(struct ask *ask, const char *name)
{
    Board__Move *m = ARENA_NEW(ask->arena, Board__Move);
    board__move__init(m);
    m->move = arena_strdup(ask->arena, name);
    return m;
}

/* Claim and remove name no domain. */
static Models__ActualLRPKey *key_of(struct ask *ask, char *process_guid, int32_t index)
{
    Models__ActualLRPKey *key = ARENA_NEW(ask->arena, Models__ActualLRPKey);
    models__actual_lrpkey__init(key);
    key->process_guid = process_guid;
    key->index = index;
    return key;
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
    Board__Move *m = new_move(ask, "claim");
    m->actual_lrp_key = key_of(ask, r->process_guid, r->index);
    m->actual_lrp_instance_key = r->actual_lrp_instance_key;
    run(ask, m, out);
}

static Board__Move *start_move(struct ask *ask)
{
    const Models__StartActualLRPRequest *r =
        (const Models__StartActualLRPRequest *)ask->in.request;
    Board__Move *m = new_move(ask, "start");
    m->actual_lrp_key = r->actual_lrp_key;
    m->actual_lrp_instance_key = r->actual_lrp_instance_key;
    m->actual_lrp_net_info = r->actual_lrp_net_info;
    m->availability_zone = r->availability_zone;
    if (r->optional_routable_case == MODELS__START_ACTUAL_LRPREQUEST__OPTIONAL_ROUTABLE_ROUTABLE) {
        m->optional_routable_case = BOARD__MOVE__OPTIONAL_ROUTABLE_ROUTABLE;
        m->routable = r->routable;
    }
    return m;
}

void route_start_r1(struct ask *ask, struct effects *out)
{
    const Models__StartActualLRPRequest *r =
        (const Models__StartActualLRPRequest *)ask->in.request;
    Board__Move *m = start_move(ask);
    m->n_actual_lrp_internal_routes = r->n_actual_lrp_internal_routes;
    m->actual_lrp_internal_routes = r->actual_lrp_internal_routes;
    m->n_metric_tags = r->n_metric_tags;
    m->metric_tags = ARENA_ARRAY(ask->arena, r->n_metric_tags, Board__Move__MetricTagsEntry *);
    for (size_t i = 0; i < r->n_metric_tags; i++) {
        m->metric_tags[i] = ARENA_NEW(ask->arena, Board__Move__MetricTagsEntry);
        board__move__metric_tags_entry__init(m->metric_tags[i]);
        m->metric_tags[i]->key = r->metric_tags[i]->key;
        m->metric_tags[i]->value = r->metric_tags[i]->value;
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
    Board__Move *m = new_move(ask, "crash");
    m->actual_lrp_key = r->actual_lrp_key;
    m->actual_lrp_instance_key = r->actual_lrp_instance_key;
    m->error_message = r->error_message;
    run(ask, m, out);
}

void route_fail(struct ask *ask, struct effects *out)
{
    const Models__FailActualLRPRequest *r = (const Models__FailActualLRPRequest *)ask->in.request;
    Board__Move *m = new_move(ask, "fail");
    m->actual_lrp_key = r->actual_lrp_key;
    m->error_message = r->error_message;
    run(ask, m, out);
}

void route_remove(struct ask *ask, struct effects *out)
{
    const Models__RemoveActualLRPRequest *r =
        (const Models__RemoveActualLRPRequest *)ask->in.request;
    Board__Move *m = new_move(ask, "remove");
    m->actual_lrp_key = key_of(ask, r->process_guid, r->index);
    m->actual_lrp_instance_key = r->actual_lrp_instance_key;
    run(ask, m, out);
}

void route_retire(struct ask *ask, struct effects *out)
{
    Board__Move *m = new_move(ask, "retire");
    m->actual_lrp_key =
        ((const Models__RetireActualLRPRequest *)ask->in.request)->actual_lrp_key;
    run(ask, m, out);
}
