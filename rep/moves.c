#include "rep/moves.h"

#include "common/codec/scan.h"
#include "common/model/moves.h"
#include "rep/inside.h"
#include "rep/reconcile.h"
#include "rep/cell_task.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* 256 results with a record each: an instance's has some hundred bytes, a task's, of which there are
 * few, up to 16 MiB when decoded. */
enum { APPLY_DECODED_MAX = 64 * 1024 * 1024 };

void moves_init(struct moves *m)
{
    *m = (struct moves){0};
    m->end = &m->first;
    map_init(&m->strays);
}

static void orders_free(struct move_order *o)
{
    while (o) {
        struct move_order *next = o->next;
        free(o);
        o = next;
    }
}

void moves_done(struct moves *m)
{
    orders_free(m->first);
    for (size_t i = 0; i < MOVE_CALLS_MAX; i++) {
        orders_free(m->calls[i].orders);
    }
    map_done(&m->strays, free);
}

static void order(struct moves *m, enum harmony_action action, bool stray, const char *name)
{
    assert(harmony_is_move(action));
    size_t size = strlen(name) + 1;
    struct move_order *o = calloc(1, sizeof(*o) + size);
    if (!o) {
        abort();
    }
    o->action = action;
    o->stray = stray;
    memcpy(o->name, name, size);
    *m->end = o;
    m->end = &o->next;
}

void moves_add(struct rep *r, struct container *c, enum harmony_action action)
{
    assert(c->op == OP_NONE && r->session.open);
    c->op = OP_MOVE;
    order(&r->moves, action, false, container_guid(c));
}

bool moves_know_stray(const struct rep *r, const char *key)
{
    return map_get(&r->moves.strays, key) != NULL;
}

int64_t moves_add_stray(struct rep *r, const char *key, enum harmony_action action)
{
    struct stray *s = map_get(&r->moves.strays, key);
    if (!s) {
        s = calloc(1, sizeof(*s));
        if (!s) {
            abort();
        }
        map_put(&r->moves.strays, key, s);
    }
    if (s->busy) {
        return NEVER_NS;
    }
    if (r->now.mono_ns < s->retry_ns) {
        return s->retry_ns;
    }
    s->busy = true;
    order(&r->moves, action, true, key);
    return NEVER_NS;
}

void moves_retry_strays(struct moves *m)
{
    MAP_EACH(&m->strays, n)
    {
        ((struct stray *)map_value(n))->retry_ns = 0;
    }
}

/* ---- Sending --------------------------------------------------------------------------------- */

static Models__ActualLRPNetInfo *net_info(const struct rep *r, struct arena *a,
                                          const Rep__Note *about)
{
    Models__ActualLRPNetInfo *net = ARENA_NEW(a, Models__ActualLRPNetInfo);
    models__actual_lrpnet_info__init(net);
    net->address = (char *)r->config.address;
    net->instance_address = (char *)r->config.address;
    net->preferred_address = MODELS__ACTUAL_LRPNET_INFO__PREFERRED_ADDRESS__HOST;
    net->n_ports = about->n_ports;
    net->ports = about->ports;
    return net;
}

static void fill_start(const struct rep *r, struct arena *a, const Rep__Note *about,
                       Board__InstanceMove *move)
{
    move->actual_lrp_net_info = net_info(r, a, about);
    move->n_actual_lrp_internal_routes = about->n_internal_routes;
    move->actual_lrp_internal_routes = about->internal_routes;
    move->n_metric_tags = about->n_metric_tags;
    move->metric_tags = ARENA_ARRAY(a, about->n_metric_tags, Board__InstanceMove__MetricTagsEntry *);
    for (size_t i = 0; i < about->n_metric_tags; i++) {
        move->metric_tags[i] = ARENA_NEW(a, Board__InstanceMove__MetricTagsEntry);
        board__instance_move__metric_tags_entry__init(move->metric_tags[i]);
        move->metric_tags[i]->key = about->metric_tags[i]->key;
        move->metric_tags[i]->value = about->metric_tags[i]->value;
    }
    move->optional_routable_case = BOARD__INSTANCE_MOVE__OPTIONAL_ROUTABLE_ROUTABLE;
    move->routable = true;
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
    move->session = r->config.session;
    return move;
}

static bool is_evacuation(enum harmony_action action)
{
    return action == HARMONY_EVACUATE_CLAIMED || action == HARMONY_EVACUATE_CRASHED ||
           action == HARMONY_EVACUATE_STOPPED || action == HARMONY_EVACUATE_RUNNING;
}

static Board__Move *container_move_message(const struct rep *r, struct arena *a,
                                           struct move_order *o)
{
    struct container *c = container_find(&r->containers, o->name);
    assert(c && c->op == OP_MOVE);
    if (container_is_task(c)) {
        return cell_task_move(r, a, c, o->action);
    }
    struct arena scratch; /* a call has many moves, and a record may be long */
    const Models__ActualLRP *record = NULL;
    arena_init(&scratch);
    enum harmony_record seen =
        knowledge_of(&r->knowledge, &scratch, c->about->key, container_guid(c), &record);
    if (is_evacuation(o->action)) {
        o->blind = !harmony_record_is_own(seen);
        o->presence = o->blind ? o->presence : record->presence;
    }
    bool removes = o->action == HARMONY_REMOVE && record;
    o->presence = removes ? record->presence : o->presence;
    arena_done(&scratch);
    Board__Move *move = new_move(r, a, o->action, c->about->key, container_guid(c),
                                 removes ? (int)o->presence : 0);
    move->instance->definition = c->about->definition;
    if (o->action == HARMONY_CRASH || o->action == HARMONY_EVACUATE_CRASHED) {
        move->instance->error_message = c->exit_text;
    } else if (o->action == HARMONY_START || o->action == HARMONY_EVACUATE_RUNNING) {
        fill_start(r, a, c->about, move->instance);
        c->start_wanted = false;
    }
    return move;
}

static Board__Move *stray_record_move(const struct rep *r, struct arena *a,
                                      const Models__ActualLRP *record, struct move_order *o)
{
    if (!record || !record->actual_lrp_key || !record->actual_lrp_instance_key) {
        return NULL;
    }
    const char *guid = record->actual_lrp_instance_key->instance_guid;
    if (container_find(&r->containers, guid)) {
        return NULL;
    }
    o->presence = record->presence;
    /* The other moves find theirs by the instance's key. */
    return new_move(r, a, o->action, record->actual_lrp_key, guid,
                    o->action == HARMONY_REMOVE ? (int)record->presence : 0);
}

/* NULL when the record is not a stray any more. */
static Board__Move *stray_move_message(const struct rep *r, struct arena *a, struct move_order *o)
{
    if (key_type(o->name) == RECORD_TASK) {
        return cell_task_stray_move(r, a, o->name);
    }
    struct arena scratch;
    arena_init(&scratch);
    Board__Move *move =
        stray_record_move(r, a, knowledge_at(&r->knowledge, &scratch, o->name), o);
    arena_done(&scratch);
    return move;
}

static void stray_forget(struct rep *r, const char *key)
{
    free(map_remove(&r->moves.strays, key));
}

static struct move_order *take_first(struct moves *m)
{
    struct move_order *o = m->first;
    m->first = o->next;
    if (!m->first) {
        m->end = &m->first;
    }
    o->next = NULL;
    return o;
}

/* Moves orders from the outbox into the call and their messages into the request. */
static void load(struct rep *r, struct arena *a, struct move_call *call,
                 Board__ApplyRequest *request)
{
    struct move_order **end = &call->orders;
    size_t tasks = 0, bytes = 0;
    while (r->moves.first && request->n_moves < MOVES_A_CALL_MAX &&
           tasks < TASK_MOVES_A_CALL_MAX && bytes < MOVES_BYTES_ENOUGH) {
        struct move_order *o = take_first(&r->moves);
        Board__Move *move =
            o->stray ? stray_move_message(r, a, o) : container_move_message(r, a, o);
        if (!move) {
            stray_forget(r, o->name);
            free(o);
            continue;
        }
        tasks += move->body_case == BOARD__MOVE__BODY_TASK;
        bytes += board__move__get_packed_size(move);
        request->moves[request->n_moves++] = move;
        *end = o;
        end = &o->next;
    }
}

static void send(struct rep *r, struct move_call *call, struct effects *out)
{
    Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
    request.cell_id = (char *)r->config.cell_id;
    request.epoch = r->follower.epoch;
    request.moves = ARENA_ARRAY(out->arena, MOVES_A_CALL_MAX, Board__Move *);
    load(r, out->arena, call, &request);
    if (request.n_moves == 0) {
        return;
    }
    call->url = boards_url(&r->boards);
    call->id = boards_call(&r->boards, out, "/v1/board/apply", "", &request.base,
                           r->now.mono_ns + BOARD_CALL_TIMEOUT_NS);
}

void moves_flush(struct rep *r, struct effects *out)
{
    for (size_t i = 0; i < MOVE_CALLS_MAX && r->moves.first && r->session.open; i++) {
        if (!r->moves.calls[i].id) {
            send(r, &r->moves.calls[i], out);
        }
    }
}

/* ---- Answers --------------------------------------------------------------------------------- */

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

static void learn(struct rep *r, const Models__ActualLRPKey *key, const struct move_order *o,
                  const Board__MoveResult *result)
{
    const Models__ActualLRP *record = result->record;
    if (record || (!o->blind && tells_of_absence(result))) {
        knowledge_answer(&r->knowledge, key, record ? record->presence : o->presence, record,
                         result->revision);
    }
}

static bool is_settled(const Board__MoveResult *result)
{
    return result && (result->outcome == BOARD__MOVE_RESULT__OUTCOME__DONE ||
                      result->outcome == BOARD__MOVE_RESULT__OUTCOME__NOTHING ||
                      result->outcome == BOARD__MOVE_RESULT__OUTCOME__REFUSED);
}

/* A refusal that is about the session, not about the instance; a task is shown only once the session
 * was found good. */
static bool session_refused(const Board__MoveResult *result)
{
    return result->outcome == BOARD__MOVE_RESULT__OUTCOME__REFUSED && result->error &&
           !result->task &&
           result->error->type == MODELS__ERROR__TYPE__ResourceConflict;
}

static void stray_settled(struct rep *r, const struct move_order *o,
                          const Board__MoveResult *result, struct effects *out)
{
    bool task = key_type(o->name) == RECORD_TASK;
    struct arena scratch;
    arena_init(&scratch);
    const Models__ActualLRP *record =
        task ? NULL : knowledge_at(&r->knowledge, &scratch, o->name);
    if (task) {
        cell_task_learn(r, key_component(out->arena, o->name, 1), result);
    } else if (record) {
        learn(r, record->actual_lrp_key, o, result);
    }
    if (task || record) {
        effects_log(out, LOG_INFO_LEVEL, "record without container", "key=%s move=%s end=%s",
                    o->name, harmony_action_name(o->action),
                    result->error ? result->error->message : "done");
    }
    arena_done(&scratch);
}

/* What was asked may have been answered before the record came back: nobody else looks again. */
static void settle_stray(struct rep *r, const struct move_order *o, const Board__MoveResult *result,
                         struct effects *out)
{
    struct stray *s = map_get(&r->moves.strays, o->name);
    assert(s && s->busy);
    if (is_settled(result) && !session_refused(result)) {
        stray_settled(r, o, result, out);
        if (!reconcile_is_stray(r, o->name)) {
            stray_forget(r, o->name);
            return;
        }
    }
    s->busy = false;
    s->failures++;
    s->retry_ns = r->now.mono_ns + rep_back_off_ns(r, s->failures);
    r->pass_ns = earlier_ns(r->pass_ns, s->retry_ns);
}

static void settle_container(struct rep *r, const struct move_order *o,
                             const Board__MoveResult *result, struct effects *out)
{
    struct container *c = container_find(&r->containers, o->name);
    assert(c && c->op == OP_MOVE);
    c->op = OP_NONE;
    container_touch(c);
    if (!is_settled(result) || session_refused(result)) {
        c->start_wanted |= o->action == HARMONY_START;
        rep_retry_later(r, c);
        return;
    }
    if (container_is_task(c)) {
        cell_task_settled(r, c, o->action, result, out);
        return;
    }
    learn(r, c->about->key, o, result);
    if (result->outcome == BOARD__MOVE_RESULT__OUTCOME__REFUSED) {
        reconcile_refused(r, c, o->action,
                          result->error ? result->error->type : MODELS__ERROR__TYPE__UnknownError,
                          out);
    } else if (o->action == HARMONY_EVACUATE_RUNNING) {
        reconcile_evacuated(r, c, result->keep_container, out);
    } else {
        reconcile_moved(c, o->action, out);
    }
}

static void settle(struct rep *r, const struct move_order *o, const Board__MoveResult *result,
                   struct effects *out)
{
    if (result && session_refused(result)) {
        session_lost(r, result->error->message, out);
    }
    if (o->stray) {
        settle_stray(r, o, result, out);
    } else {
        settle_container(r, o, result, out);
    }
}

/* The results, or NULL with the reason why there are none. */
static const Board__ApplyResponse *read_answer(struct rep *r, const struct response *response,
                                               struct effects *out, const char **ret_why)
{
    if (response->outcome != CALL_ANSWERED) {
        *ret_why = response->text;
        return NULL;
    }
    if (response->status != 200) {
        *ret_why = arena_printf(out->arena, "answered %d", response->status);
        return NULL;
    }
    ProtobufCMessage *m;
    struct err err;
    if (scan_and_unpack_answer(out->arena, &board__apply_response__descriptor, response->body,
                               APPLY_DECODED_MAX, &m, &err) < 0) {
        *ret_why = arena_strdup(out->arena, err.text);
        return NULL;
    }
    const Board__ApplyResponse *answer = (const Board__ApplyResponse *)m;
    if (answer->error) {
        *ret_why = answer->error->message;
        if (answer->error->type == MODELS__ERROR__TYPE__ResourceConflict) {
            session_lost(r, answer->error->message, out);
        }
        return NULL;
    }
    if (*r->follower.epoch && *answer->epoch && strcmp(r->follower.epoch, answer->epoch) != 0) {
        *ret_why = "it answers for another epoch of the board";
        return NULL;
    }
    knowledge_epoch(&r->knowledge, answer->epoch);
    return answer;
}

bool moves_response(struct rep *r, const struct response *response, struct effects *out)
{
    struct move_call *call = NULL;
    for (size_t i = 0; i < MOVE_CALLS_MAX; i++) {
        if (r->moves.calls[i].id && r->moves.calls[i].id == response->id) {
            call = &r->moves.calls[i];
        }
    }
    if (!call) {
        return false;
    }
    struct move_order *orders = call->orders;
    call->id = 0;
    call->orders = NULL;
    const char *why = "";
    const Board__ApplyResponse *answer = read_answer(r, response, out, &why);
    if (!answer) {
        boards_failed(&r->boards, call->url);
        effects_log(out, LOG_WARN_LEVEL, "moves not settled", "url=%s why=\"%s\"", call->url, why);
    }
    size_t i = 0;
    for (const struct move_order *o = orders; o; o = o->next, i++) {
        settle(r, o, answer && i < answer->n_results ? answer->results[i] : NULL, out);
    }
    orders_free(orders);
    return true;
}

void moves_trim(struct rep *r)
{
    MAP_EACH(&r->moves.strays, n)
    {
        struct stray *s = map_value(n);
        if (!s->busy && !follower_get(&r->follower, map_key(n))) {
            stray_forget(r, map_key(n));
        }
    }
}

void moves_release(struct rep *r, struct effects *out)
{
    while (r->moves.first) {
        struct move_order *o = take_first(&r->moves);
        settle(r, o, NULL, out);
        free(o);
    }
}
