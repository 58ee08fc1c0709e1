/* Our own paths but apply: incarnations, heartbeats, locks, the limiter, feed, state (design.md 2,
 * 4, 6); and ping. */
#include "bbs/limiter/limiter.h"
#include "bbs/cell/cell.h"
#include "bbs/board/errors.h"
#include "bbs/leader_lock/leader_lock.h"
#include "bbs/route/answer.h"
#include "bbs/route/crm.h"
#include "bbs/route/route.h"
#include "models/ping.pb-c.h"

#include <string.h>

static void deny(struct ask *ask, const char *what, struct effects *out)
{
    answer_text(out, ask->request_id, 403,
                arena_printf(out->arena, "the certificate is of %s, not of %s\n",
                             ask->in.peer_name, what));
    ask_end(ask);
}

/* ---- cell ------------------------------------------------------------------------------------ */

static void cell_done(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    Models__Error error;
    if (result->end == OP_UNAVAILABLE) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    Board__CellResponse response = BOARD__CELL_RESPONSE__INIT;
    response.error = plan_error(result->plan, &error) ? &error : NULL;
    response.cell = (Board__CellRecord *)(uintptr_t)result->plan->record;
    response.board_generation = (char *)(uintptr_t)board_generation(ask->router->board);
    effects_reply_message(out, ask->request_id, &response.base);
}

void route_cell(struct ask *ask, struct effects *out)
{
    const Board__CellRequest *r = ask->in.request;
    valid_cell(&ask->faults, r);
    if (!ask_valid(ask, out)) {
        return;
    }
    if (strcmp(r->cell->presence->cell_id, ask->in.peer_name) != 0) {
        deny(ask, r->cell->presence->cell_id, out);
        return;
    }
    board_op(ask->router->board, &cell_row, &ask->in, ask->arena, cell_done, ask, out);
}

/* ---- heartbeat ------------------------------------------------------------------------------- */

/* Why the heartbeat does not count, by this view of the board; NULL if it does. */
static const char *heartbeat_refused(struct ask *ask, struct view *v)
{
    const Board__HeartbeatRequest *r = ask->in.request;
    struct arena *a = view_arena(v);
    const char *text = NULL;
    if (r->cell) {
        text = incarnation_refused(a, view_peek_message(v, key_cell(a, r->cell->cell_id)),
                                   r->cell->cell_id, r->cell->incarnation);
    }
    if (r->site) {
        const char *cloudlet = r->site->cloudlet;
        const char *key = key_edge(a, RECORD_CLOUDLETINFO, cloudlet);
        text = session_refused(a, cloudlet, view_peek_message(v, key), r->site->session);
    }
    for (size_t i = 0; i < r->n_leaders && !text; i++) {
        const struct seen *seen = view_peek(v, key_lead(a, r->leaders[i]->role));
        text = term_refused(a, r->leaders[i]->role, seen ? seen->create_revision : 0,
                            r->leaders[i]->term);
    }
    return text;
}

static void answer_heartbeat(struct ask *ask, const char *refused, struct effects *out)
{
    struct router *r = ask->router;
    Models__Error error = MODELS__ERROR__INIT;
    Board__HeartbeatResponse response = BOARD__HEARTBEAT_RESPONSE__INIT;
    response.board_generation = (char *)(uintptr_t)board_generation(r->board);
    if (refused) {
        error.type = MODELS__ERROR__TYPE__ResourceConflict;
        error.message = (char *)(uintptr_t)refused;
        response.error = &error;
    } else if (!board_heartbeat(r->board, ask->in.request)) {
        answer_unavailable(out, ask->request_id); /* it goes to another bbs */
        return;
    }
    effects_reply_message(out, ask->request_id, &response.base);
}

static void heartbeat_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    answer_heartbeat(ask, heartbeat_refused(ask, v), out);
}

/* True if the caller speaks for itself alone. */
static bool heartbeat_of_caller(const struct ask *ask, const Board__HeartbeatRequest *r)
{
    if (ask->in.actor == ACTOR_REP) {
        return r->cell && strcmp(r->cell->cell_id, ask->in.peer_name) == 0 && r->n_leaders == 0 &&
               !r->site;
    }
    if (ask->in.actor == ACTOR_CRM) {
        return r->site && strcmp(r->site->cloudlet, ask->in.peer_name) == 0 && r->n_leaders == 0 &&
               !r->cell;
    }
    for (size_t i = 0; i < r->n_leaders; i++) {
        if (strcmp(r->leaders[i]->role, actor_name(ask->in.actor)) != 0) {
            return false;
        }
    }
    return !r->cell && !r->site;
}

/* A heartbeat counts by the copy as it is; a refusal, which ends a leader or an incarnation, passes
 * the read barrier first (design.md 2). */
void route_heartbeat(struct ask *ask, struct effects *out)
{
    const Board__HeartbeatRequest *r = ask->in.request;
    if (!heartbeat_of_caller(ask, r)) {
        deny(ask, "whom this heartbeat is of", out);
    } else if (heartbeat_refused(ask, board_view(ask->router->board, ask->arena))) {
        ask_read(ask, heartbeat_read, out);
    } else {
        answer_heartbeat(ask, NULL, out);
        ask_end(ask);
    }
}

/* ---- leader lock ----------------------------------------------------------------------------- */

static void leader_lock_done(void *context, const struct op_result *result, struct effects *out);

/* The lock of a holder unheard of is gone: the caller's second step. */
static void acquire(const struct ask *ask, struct effects *out)
{
    struct arena *a = board_arena();
    struct ask *next = ARENA_NEW(a, struct ask);
    *next = *ask;
    next->arena = a;
    next->in.peer_name = arena_strdup(a, ask->in.peer_name);
    next->in.trace_id = arena_strdup(a, ask->in.trace_id);
    next->in.boot_id = arena_strdup(a, ask->in.boot_id);
    const Board__LeaderLockRecord *wanted =
        ((const Board__LeaderLockRequest *)ask->in.request)->leader_lock;
    Board__LeaderLockRequest *request = arena_message(a, &board__leader_lock_request__descriptor);
    request->leader_lock = arena_message(a, &board__leader_lock_record__descriptor);
    request->leader_lock->role = arena_strdup(a, wanted->role);
    request->leader_lock->holder = arena_strdup(a, wanted->holder);
    request->leader_lock->url = arena_strdup(a, wanted->url);
    next->in.request = &request->base;
    board_op(ask->router->board, &leader_lock_row, &next->in, a, leader_lock_done, next, out);
}

/* The term of the lock as it stands: the commit's revision, or the one in the copy. */
static int64_t term_of(const struct ask *ask, const struct op_result *result, struct arena *a)
{
    const Board__LeaderLockRecord *leader_lock =
        (const Board__LeaderLockRecord *)result->plan->record;
    if (!leader_lock || result->plan->verdict == PLAN_COMMIT) {
        return leader_lock ? result->revision : 0;
    }
    const struct seen *seen =
        view_peek(board_view(ask->router->board, a), key_lead(a, leader_lock->role));
    return seen ? seen->create_revision : 0;
}

static void leader_lock_done(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    const Board__LeaderLockRequest *r = ask->in.request;
    if (result->end == OP_UNAVAILABLE) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    if (result->plan->verdict == PLAN_COMMIT && !result->plan->record && !r->release) {
        acquire(ask, out);
        return;
    }
    Models__Error error;
    Board__Term term = BOARD__TERM__INIT;
    Board__LeaderLockResponse response = BOARD__LEADER_LOCK_RESPONSE__INIT;
    response.error = plan_error(result->plan, &error) ? &error : NULL;
    response.leader_lock = (Board__LeaderLockRecord *)(uintptr_t)result->plan->record;
    if (response.leader_lock) {
        term.role = response.leader_lock->role;
        term.board_generation = (char *)(uintptr_t)board_generation(ask->router->board);
        term.term = term_of(ask, result, out->arena);
        response.term = &term;
    }
    effects_reply_message(out, ask->request_id, &response.base);
}

void route_leader_lock(struct ask *ask, struct effects *out)
{
    const Board__LeaderLockRequest *r = ask->in.request;
    valid_leader_lock(&ask->faults, r);
    if (!ask_valid(ask, out)) {
        return;
    }
    if (strcmp(r->leader_lock->role, actor_name(ask->in.actor)) != 0) {
        deny(ask, r->leader_lock->role, out);
        return;
    }
    board_op(ask->router->board, &leader_lock_row, &ask->in, ask->arena, leader_lock_done, ask,
             out);
}

/* ---- limiter --------------------------------------------------------------------------------- */

static void limiter_done(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    Models__Error error;
    if (result->end == OP_UNAVAILABLE) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    Board__LimiterResponse response = BOARD__LIMITER_RESPONSE__INIT;
    response.error = plan_error(result->plan, &error) ? &error : NULL;
    response.limiter = (Board__LimiterRecord *)(uintptr_t)result->plan->record;
    effects_reply_message(out, ask->request_id, &response.base);
}

void route_limiter(struct ask *ask, struct effects *out)
{
    valid_limiter_word(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        board_op(ask->router->board, &limiter_word_row, &ask->in, ask->arena, limiter_done, ask,
                 out);
    }
}

/* ---- feed, state ----------------------------------------------------------------------------- */

static void feed_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    struct board *board = ask->router->board;
    const Board__FeedRequest *r = ask->in.request;
    if (ask->in.actor == ACTOR_CRM) {
        r = crm_feed(out->arena, ask->in.peer_name, r);
    }
    if (v && board_witness(board, r, ask->in.actor, ask->in.peer_name, out)) {
        answer_not_done(out, ask->request_id, board_went_back(board));
        return;
    }
    struct cursor *cursor = v ? board_feed(board, r) : NULL;
    if (!cursor) { /* not fresh, or too many readers or selectors */
        answer_unavailable(out, ask->request_id);
        return;
    }
    effects_add(out, EFFECT_REPLY)->reply = (struct reply){
        .id = ask->request_id,
        .status = 200,
        .content_type = "application/x-protobuf-stream",
        .etag = "",
        .allow = "",
        .cursor = cursor,
        .size = -1,
        .channel = BOARD_FEED_CHANNEL,
    };
}

void route_feed(struct ask *ask, struct effects *out)
{
    ask_read(ask, feed_read, out);
}

void route_state(struct ask *ask, struct effects *out)
{
    Board__BoardState state = BOARD__BOARD_STATE__INIT;
    board_state(ask->router->board, &state);
    effects_reply_message(out, ask->request_id, &state.base);
    ask_end(ask);
}

void route_ping(struct ask *ask, struct effects *out)
{
    Models__PingResponse response = MODELS__PING_RESPONSE__INIT;
    response.available = true;
    effects_reply_message(out, ask->request_id, &response.base);
    ask_end(ask);
}
