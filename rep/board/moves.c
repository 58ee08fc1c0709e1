#include "rep/board/moves.h"

#include "common/base/memory.h"
#include "rep/container/back_off.h"
#include "rep/container/operation.h"
#include "rep/inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* 256 results with a record each: an instance's has some hundred bytes, a task's, of which there
 * are few, up to 16 MiB when decoded. */
enum { APPLY_DECODED_MAX = 64 * 1024 * 1024 };

void moves_init(struct moves *m, struct rep *r)
{
    STAILQ_INIT(&m->orders);
    for (size_t i = 0; i < MOVE_CALLS_MAX; i++) {
        m->calls[i] = (struct move_call){.rep = r};
        STAILQ_INIT(&m->calls[i].orders);
    }
    map_init(&m->strays);
}

static void orders_free(struct move_orders *list)
{
    struct move_order *o;
    while ((o = STAILQ_FIRST(list))) {
        STAILQ_REMOVE_HEAD(list, link);
        free(o);
    }
}

void moves_done(struct moves *m)
{
    orders_free(&m->orders);
    for (size_t i = 0; i < MOVE_CALLS_MAX; i++) {
        orders_free(&m->calls[i].orders);
    }
    map_done(&m->strays, free);
}

static struct move_order *order_named(struct rep *r, const char *name)
{
    size_t size = strlen(name) + 1;
    struct move_order *o = mem_zeroed(sizeof(*o) + size);
    memcpy(o->name, name, size);
    STAILQ_INSERT_TAIL(&r->moves.orders, o, link);
    return o;
}

static void order(struct rep *r, enum harmony_action action, bool stray, const char *name)
{
    assert(harmony_is_move(action));
    struct move_order *o = order_named(r, name);
    o->action = action;
    o->stray = stray;
}

void moves_want_of(struct rep *r, const struct move_source *source, const char *name)
{
    assert(r->incarnation.open);
    order_named(r, name)->source = source;
}

void moves_want(struct rep *r, struct container *c, enum harmony_action action)
{
    if (r->incarnation.open && !operation_must_wait(r, c)) {
        assert(c->op == OP_NONE);
        c->op = OP_MOVE;
        order(r, action, false, container_guid(c));
    }
}

void moves_tell_late(const char *what, const char *name, enum harmony_action action,
                     struct effects *out)
{
    effects_log(out, LOG_WARN_LEVEL, "a full pass found what no change had led to",
                "%s=%s action=%s", what, name, harmony_action_name(action));
}

/* ---- Records without a container ------------------------------------------------------------- */

/* A record for which a move was asked. */
struct stray {
    bool busy;
    unsigned failures;
    int64_t retry_ns;
};

static void forget_stray(struct rep *r, const char *key)
{
    free(map_remove(&r->moves.strays, key));
}

static struct stray *remember(struct rep *r, const char *key)
{
    assert(!map_get(&r->moves.strays, key));
    struct stray *s = mem_zeroed(sizeof(*s));
    map_put(&r->moves.strays, key, s);
    return s;
}

void moves_look_at_stray(struct rep *r, const char *key, struct effects *out)
{
    if (!r->feed_client.current || !r->incarnation.open || !listing_is_good(&r->listing)) {
        return; /* what is missing comes with a pass over everything */
    }
    enum harmony_action action = container_kind_at(&r->containers, key)->stray(r, key);
    if (!harmony_is_move(action)) {
        return;
    }
    struct stray *s = map_get(&r->moves.strays, key);
    if (!s && r->pass.late) {
        moves_tell_late("record", key, action, out);
    }
    s = s ? s : remember(r, key);
    if (!s->busy && r->now.mono_ns < s->retry_ns) {
        pass_by(&r->pass, s->retry_ns);
    } else if (!s->busy) {
        s->busy = true;
        order(r, action, true, key);
    }
}

void moves_trim_strays(struct rep *r)
{
    MAP_EACH(&r->moves.strays, n)
    {
        struct stray *s = map_value(n);
        if (!s->busy && !feed_client_get(&r->feed_client, map_key(n))) {
            forget_stray(r, map_key(n));
        }
    }
}

void moves_retry_strays(struct rep *r)
{
    MAP_EACH(&r->moves.strays, n)
    {
        ((struct stray *)map_value(n))->retry_ns = 0;
    }
}

/* ---- Answers --------------------------------------------------------------------------------- */

static bool is_settled(const Board__MoveResult *result)
{
    return result && (result->outcome == BOARD__MOVE_RESULT__OUTCOME__DONE ||
                      result->outcome == BOARD__MOVE_RESULT__OUTCOME__NOTHING ||
                      result->outcome == BOARD__MOVE_RESULT__OUTCOME__REFUSED);
}

/* A refusal that is about the incarnation, not about the instance; a task is shown only once the
 * incarnation was found good. */
static bool incarnation_refused(const Board__MoveResult *result)
{
    return result->outcome == BOARD__MOVE_RESULT__OUTCOME__REFUSED && result->error &&
           !result->task &&
           result->error->type == MODELS__ERROR__TYPE__ResourceConflict;
}

/* What was asked may have been answered before the record came back: nobody else looks again. */
static void settle_stray(struct rep *r, const struct move_order *o, const Board__MoveResult *result,
                    struct effects *out)
{
    const struct container_kind *kind = container_kind_at(&r->containers, o->name);
    struct stray *s = map_get(&r->moves.strays, o->name);
    assert(s && s->busy);
    if (result) {
        if (kind->stray_settled(r, o, result)) {
            effects_log(out, LOG_INFO_LEVEL, "record without container", "key=%s move=%s end=%s",
                        o->name, harmony_action_name(o->action),
                        result->error ? result->error->message : "done");
        }
        if (!harmony_is_move(kind->stray(r, o->name))) {
            forget_stray(r, o->name);
            return;
        }
    }
    s->busy = false;
    s->failures++;
    s->retry_ns = r->now.mono_ns + back_off_ns(&r->random, s->failures);
    pass_by(&r->pass, s->retry_ns);
}

static void settle_container(struct rep *r, const struct move_order *o,
                             const Board__MoveResult *result, struct effects *out)
{
    struct container *c = container_find(&r->containers, o->name);
    assert(c && c->op == OP_MOVE);
    c->op = OP_NONE;
    container_touch(c);
    if (result) {
        c->kind->settled(r, c, o, result, out);
    } else {
        c->start_wanted |= o->action == HARMONY_START;
        operation_retry_later(r, c);
    }
}

/* By its result, or without one: then it is asked again. */
static void settle(struct rep *r, const struct move_order *o, const Board__MoveResult *result,
                   struct effects *out)
{
    assert(o->source || harmony_is_move(o->action));
    if (o->source) { /* a lost incarnation is told by heartbeats */
        o->source->settled(r, o->name, is_settled(result) ? result : NULL, out);
        return;
    }
    bool lost = result && incarnation_refused(result);
    if (lost) {
        incarnation_lost(r, result->error->message, out);
    }
    result = lost || !is_settled(result) ? NULL : result;
    if (o->stray) {
        settle_stray(r, o, result, out);
    } else {
        settle_container(r, o, result, out);
    }
}

/* The results, or NULL with the reason why there are none. A call as a whole is refused for its
 * board generation alone: that says nothing of the cell, whose incarnation stays, and that the feed
 * of another one is to be had. */
static const Board__ApplyResponse *read_answer(struct rep *r, const struct response *response,
                                               struct effects *out, const char **ret_why)
{
    const Board__ApplyResponse *answer = (const Board__ApplyResponse *)boards_answer(
        out->arena, response, &board__apply_response__descriptor, APPLY_DECODED_MAX, ret_why);
    if (!answer) {
        return NULL;
    }
    if (answer->error) {
        *ret_why = answer->error->message;
        if (answer->error->type == MODELS__ERROR__TYPE__ResourceConflict) {
            feed_client_hurry(&r->feed_client, out);
        }
        return NULL;
    }
    if (*r->feed_client.board_generation && *answer->board_generation &&
        strcmp(r->feed_client.board_generation, answer->board_generation) != 0) {
        *ret_why = "it answers for another board generation";
        return NULL;
    }
    knowledge_board_generation(&r->knowledge, answer->board_generation);
    return answer;
}

static void answered(void *context, const struct response *response, struct effects *out)
{
    struct move_call *call = context;
    struct rep *r = call->rep;
    assert(call->id && !STAILQ_EMPTY(&call->orders));
    struct move_orders orders = STAILQ_HEAD_INITIALIZER(orders);
    STAILQ_CONCAT(&orders, &call->orders);
    call->id = 0;
    const char *why = "";
    const Board__ApplyResponse *answer = read_answer(r, response, out, &why);
    if (!answer) {
        boards_failed(&r->boards, call->url);
        effects_log(out, LOG_WARN_LEVEL, "moves not settled", "url=%s why=\"%s\"", call->url, why);
    }
    size_t i = 0;
    struct move_order *o;
    STAILQ_FOREACH(o, &orders, link)
    {
        settle(r, o, answer && i < answer->n_results ? answer->results[i] : NULL, out);
        i++;
    }
    orders_free(&orders);
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* NULL when it is about a record that is no stray any more, or its source does not want it. */
static Board__Move *message(struct rep *r, struct arena *a, struct move_order *o)
{
    if (o->source) {
        return o->source->message(r, a, o->name);
    }
    if (o->stray) {
        return container_kind_at(&r->containers, o->name)->stray_move(r, a, o);
    }
    struct container *c = container_find(&r->containers, o->name);
    assert(c && c->op == OP_MOVE);
    return c->kind->move(r, a, c, o);
}

/* Moves orders from the outbox into the call and their messages into the request. */
static void load(struct rep *r, struct arena *a, struct move_call *call,
                 Board__ApplyRequest *request)
{
    struct move_order *o;
    size_t tasks = 0, bytes = 0;
    while ((o = STAILQ_FIRST(&r->moves.orders)) && request->n_moves < MOVES_A_CALL_MAX &&
           tasks < TASK_MOVES_A_CALL_MAX && bytes < MOVES_BYTES_ENOUGH) {
        STAILQ_REMOVE_HEAD(&r->moves.orders, link);
        Board__Move *move = message(r, a, o);
        if (!move) {
            if (o->stray) {
                forget_stray(r, o->name);
            }
            free(o);
            continue;
        }
        tasks += move->body_case == BOARD__MOVE__BODY_TASK;
        bytes += board__move__get_packed_size(move);
        assert(move->incarnation == r->config.incarnation);
        request->moves[request->n_moves++] = move;
        STAILQ_INSERT_TAIL(&call->orders, o, link);
    }
}

static void send(struct rep *r, struct move_call *call, struct effects *out)
{
    assert(!call->id && STAILQ_EMPTY(&call->orders));
    Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
    request.cell_id = (char *)r->config.cell_id;
    request.board_generation = r->feed_client.board_generation;
    request.moves = ARENA_ARRAY(out->arena, MOVES_A_CALL_MAX, Board__Move *);
    load(r, out->arena, call, &request);
    if (request.n_moves == 0) {
        return;
    }
    call->url = boards_url(&r->boards);
    call->id = boards_call(&r->boards, out, "/v1/board/apply", "", &request.base,
                           r->now.mono_ns + BOARD_CALL_TIMEOUT_NS);
    askers_add(&r->askers, call->id, answered, call);
}

void moves_flush(struct rep *r, struct effects *out)
{
    struct moves *m = &r->moves;
    for (size_t i = 0; i < MOVE_CALLS_MAX && !STAILQ_EMPTY(&m->orders) && r->incarnation.open;
         i++) {
        if (!m->calls[i].id) {
            send(r, &m->calls[i], out);
        }
    }
}

void moves_release(struct rep *r, struct effects *out)
{
    struct move_order *o;
    while ((o = STAILQ_FIRST(&r->moves.orders))) {
        STAILQ_REMOVE_HEAD(&r->moves.orders, link);
        settle(r, o, NULL, out);
        free(o);
    }
}
