#include "rep/instance/instance.h"

#include "common/model/moves.h"
#include "rep/inside.h"

#include <assert.h>
#include <string.h>

/* ---- Of a container -------------------------------------------------------------------------- */

/* The container's own address is named to everybody; whether it is reached from elsewhere is for
 * whoever made the network to say. */
static Models__ActualLRPNetInfo *net_info(const struct rep *r, struct arena *a,
                                          const struct container *c)
{
    const Rep__Note *about = c->about;
    bool own = about->own_network && c->address;
    Models__ActualLRPNetInfo *net = arena_message(a, &models__actual_lrpnet_info__descriptor);
    net->address = (char *)r->config.address;
    net->instance_address = own ? arena_strdup(a, c->address) : (char *)r->config.address;
    net->preferred_address = own && r->config.advertise_instance
                                 ? MODELS__ACTUAL_LRPNET_INFO__PREFERRED_ADDRESS__INSTANCE
                                 : MODELS__ACTUAL_LRPNET_INFO__PREFERRED_ADDRESS__HOST;
    net->n_ports = about->n_ports;
    net->ports = about->ports;
    return net;
}

static void fill_start(const struct rep *r, struct arena *a, const struct container *c,
                       Board__InstanceMove *move)
{
    const Rep__Note *about = c->about;
    move->actual_lrp_net_info = net_info(r, a, c);
    move->n_actual_lrp_internal_routes = about->n_internal_routes;
    move->actual_lrp_internal_routes = about->internal_routes;
    move->n_metric_tags = about->n_metric_tags;
    move->metric_tags =
        ARENA_ARRAY(a, about->n_metric_tags, Board__InstanceMove__MetricTagsEntry *);
    for (size_t i = 0; i < about->n_metric_tags; i++) {
        move->metric_tags[i] = ARENA_NEW(a, Board__InstanceMove__MetricTagsEntry);
        board__instance_move__metric_tags_entry__init(move->metric_tags[i]);
        move->metric_tags[i]->key = about->metric_tags[i]->key;
        move->metric_tags[i]->value = about->metric_tags[i]->value;
    }
    move->optional_routable_case = BOARD__INSTANCE_MOVE__OPTIONAL_ROUTABLE_ROUTABLE;
    move->routable = health_is_routable(about->health);
    move->optional_routed_case = BOARD__INSTANCE_MOVE__OPTIONAL_ROUTED_ROUTED;
    move->routed = about->routed;
    move->availability_zone = (char *)r->config.zone;
}

/* About the record of that presence. */
static Board__Move *new_move(const struct rep *r, struct arena *a, enum harmony_action action,
                             const Models__ActualLRPKey *key, const char *guid, int presence)
{
    Board__Move *move =
        move_new_instance(a, harmony_action_name(action), key->process_guid, key->index, presence,
                          arena_strdup(a, key->domain));
    Models__ActualLRPInstanceKey *instance_key = ARENA_NEW(a, Models__ActualLRPInstanceKey);
    models__actual_lrpinstance_key__init(instance_key);
    instance_key->instance_guid = arena_strdup(a, guid);
    instance_key->cell_id = (char *)r->config.cell_id;
    move->instance->actual_lrp_instance_key = instance_key;
    move->incarnation = r->config.incarnation;
    return move;
}

static bool is_evacuation(enum harmony_action action)
{
    return action == HARMONY_EVACUATE_CLAIMED || action == HARMONY_EVACUATE_CRASHED ||
           action == HARMONY_EVACUATE_STOPPED || action == HARMONY_EVACUATE_RUNNING;
}

Board__Move *instance_move(const struct rep *r, struct arena *a, struct container *c,
                           struct move_order *o)
{
    struct arena scratch; /* a call has many moves, and a record may be long */
    const Models__ActualLRP *record = NULL;
    arena_init(&scratch);
    enum harmony_record seen =
        knowledge_of(&r->knowledge, &scratch, c->about->key, container_guid(c), &record);
    if (is_evacuation(o->action)) {
        o->blind = !harmony_record_is_own(seen);
        assert(o->blind || record);
        o->presence = o->blind ? o->presence : record->presence;
    }
    bool removes = o->action == HARMONY_REMOVE && record;
    o->presence = removes ? record->presence : o->presence;
    arena_done(&scratch);
    Board__Move *move = new_move(r, a, o->action, c->about->key, container_guid(c),
                                 removes ? (int)o->presence : 0);
    move->instance->definition_id = c->about->definition_id;
    if (o->action == HARMONY_CRASH || o->action == HARMONY_EVACUATE_CRASHED) {
        move->instance->error_message = c->exit_text;
    } else if (o->action == HARMONY_START || o->action == HARMONY_EVACUATE_RUNNING) {
        fill_start(r, a, c, move->instance);
        c->start_wanted = false;
    }
    return move;
}

/* Only some answers say that there is no record; others were given before it was looked at. */
static bool tells_of_absence(const Board__MoveResult *result)
{
    if (result->outcome != BOARD__MOVE_RESULT__OUTCOME__REFUSED) {
        return true;
    }
    switch (result->error ? result->error->type : MODELS__ERROR__TYPE__UnknownError) {
    case MODELS__ERROR__TYPE__ResourceNotFound:
    case MODELS__ERROR__TYPE__ActualLRPCannotBeClaimed:
    case MODELS__ERROR__TYPE__ActualLRPCannotBeStarted:
    case MODELS__ERROR__TYPE__ActualLRPCannotBeCrashed:
    case MODELS__ERROR__TYPE__ActualLRPCannotBeRemoved:
    case MODELS__ERROR__TYPE__ActualLRPCannotBeUnclaimed:
        return true;
    default:
        return false;
    }
}

void instance_learn(struct rep *r, struct arena *a, const Models__ActualLRPKey *key,
                    const struct move_order *o, const Board__MoveResult *result)
{
    const Models__ActualLRP *record = result->record;
    if (record || (!o->blind && tells_of_absence(result))) {
        int presence = (int)(record ? record->presence : o->presence);
        knowledge_answer(&r->knowledge, key_actual(a, key->process_guid, key->index, presence),
                         record ? &record->base : NULL, result->revision);
    }
}

/* ---- Of a record without one ----------------------------------------------------------------- */

/* It names its instance, which has no container here. */
static bool is_without(const struct rep *r, const Models__ActualLRP *record)
{
    return record && record->actual_lrp_key && record->actual_lrp_instance_key &&
           !container_find(&r->containers, record->actual_lrp_instance_key->instance_guid);
}

static enum harmony_action judge_stray(const struct rep *r, const Models__ActualLRP *record)
{
    const char *cell_id = r->config.cell_id;
    if (!is_without(r, record) || strcmp(record->actual_lrp_instance_key->cell_id, cell_id) != 0) {
        return HARMONY_NOTHING;
    }
    const char *guid = record->actual_lrp_instance_key->instance_guid;
    return harmonise(WITHOUT, harmony_record_of(record, guid, cell_id)).action;
}

enum harmony_action instance_stray(const struct rep *r, const char *key)
{
    struct arena scratch; /* a pass looks at all there are */
    arena_init(&scratch);
    enum harmony_action action = judge_stray(r, knowledge_at(&r->knowledge, &scratch, key));
    arena_done(&scratch);
    assert(action == HARMONY_NOTHING || harmony_is_move(action));
    return action;
}

Board__Move *instance_stray_move(const struct rep *r, struct arena *a, struct move_order *o)
{
    assert(o->stray);
    SCOPED_ARENA(scratch);
    const Models__ActualLRP *record = knowledge_at(&r->knowledge, &scratch, o->name);
    Board__Move *move = NULL;
    if (is_without(r, record)) {
        o->presence = record->presence;
        /* The other moves find theirs by the instance's key. */
        move = new_move(r, a, o->action, record->actual_lrp_key,
                        record->actual_lrp_instance_key->instance_guid,
                        o->action == HARMONY_REMOVE ? (int)record->presence : 0);
    }
    return move;
}

bool instance_stray_settled(struct rep *r, const struct move_order *o,
                            const Board__MoveResult *result)
{
    assert(o->stray);
    SCOPED_ARENA(scratch);
    const Models__ActualLRP *record = knowledge_at(&r->knowledge, &scratch, o->name);
    if (record) {
        instance_learn(r, &scratch, record->actual_lrp_key, o, result);
    }
    return record != NULL;
}
