/* POST /v1/board/apply: named moves of our own roles, each an op of its own (design.md 2, 4). */
#include "bbs/board/errors.h"
#include "bbs/board/move_family.h"
#include "bbs/route/answer.h"
#include "bbs/route/crm.h"
#include "bbs/route/route.h"
#include "common/base/memory.h"
#include "common/base/message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOVES_MAX = 256 };

/* One request: its results come one by one, in any order. */
struct apply_batch {
    struct router *router;
    uint64_t request_id;
    size_t count;
    size_t open;    /* ops not yet answered */
    size_t unknown; /* of the results */
    struct arena arena;
    Board__MoveResult *results;
};

/* One of its moves; lives in the op's arena. */
struct move_ask {
    struct apply_batch *batch;
    size_t number;
    struct op_input in;
};

static void batch_answer(struct apply_batch *t, struct effects *out)
{
    assert(t->open == 0 && t->unknown <= t->count);
    if (t->unknown == t->count && t->count > 0) {
        answer_unavailable(out, t->request_id);
    } else {
        Board__ApplyResponse response = BOARD__APPLY_RESPONSE__INIT;
        response.board_generation = arena_strdup(&t->arena, board_generation(t->router->board));
        response.n_results = t->count;
        response.results = ARENA_ARRAY(&t->arena, t->count, Board__MoveResult *);
        for (size_t i = 0; i < t->count; i++) {
            response.results[i] = &t->results[i];
        }
        effects_reply_message(out, t->request_id, &response.base);
    }
    arena_done(&t->arena);
    free(t);
}

/* What the answer shows: an instance; to a rep, which starts it, a task; of other records' moves
 * nothing. A leader moves hundreds of tasks in a call, and each may have 1 MiB. */
static void set_record(struct arena *a, Board__MoveResult *r, const ProtobufCMessage *record,
                       enum actor actor)
{
    if (record && record->descriptor == &models__actual_lrp__descriptor) {
        r->record = (Models__ActualLRP *)message_copy(a, record);
    } else if (record && record->descriptor == &models__task__descriptor && actor == ACTOR_REP) {
        r->task = (Models__Task *)message_copy(a, record);
    }
}

static void set_error(struct arena *a, Board__MoveResult *r, Models__Error__Type type,
                      const char *message)
{
    r->error = arena_message(a, &models__error__descriptor);
    r->error->type = type;
    r->error->message = arena_strdup(a, message);
}

static void set_result(struct arena *a, Board__MoveResult *r, const struct op_result *result,
                       enum actor actor)
{
    static const Board__MoveResult__Outcome outcomes[] = {
        [PLAN_NOTHING] = BOARD__MOVE_RESULT__OUTCOME__NOTHING,
        [PLAN_COMMIT] = BOARD__MOVE_RESULT__OUTCOME__DONE,
        [PLAN_REFUSE] = BOARD__MOVE_RESULT__OUTCOME__REFUSED,
    };
    Models__Error error;
    r->outcome = outcomes[result->plan->verdict];
    r->revision = result->revision;
    r->keep_container = result->plan->keep_container;
    if (plan_error(result->plan, &error)) {
        set_error(a, r, error.type, error.message);
    }
    set_record(a, r, result->plan->record, actor);
    if (r->outcome == BOARD__MOVE_RESULT__OUTCOME__DONE && result->plan->number_count) {
        r->numbers = arena_message(a, &board__number_range__descriptor);
        r->numbers->first = result->plan->first_number;
        r->numbers->count = result->plan->number_count;
    }
}

static void move_done(void *context, const struct op_result *result, struct effects *out)
{
    struct move_ask *ask = context;
    struct apply_batch *t = ask->batch;
    Board__MoveResult *r = &t->results[ask->number];
    assert(t->open > 0 && ask->number < t->count);
    if (result->end == OP_UNAVAILABLE) {
        t->unknown++;
        set_error(&t->arena, r, MODELS__ERROR__TYPE__UnknownError, result->text);
    } else {
        set_result(&t->arena, r, result, ask->in.actor);
    }
    if (--t->open == 0) {
        batch_answer(t, out);
    }
}

/* A move gets an arena of its own, for its op may outlive the answer. */
static const Board__Move *copy_move(struct arena *a, const Board__Move *m)
{
    size_t size = board__move__get_packed_size(m);
    uint8_t *packed = arena_alloc(a, size);
    board__move__pack(m, packed);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Board__Move *copy = board__move__unpack(&allocator, size, packed);
    assert(copy);
    return copy;
}

static void start_move(struct apply_batch *t, size_t number, const struct ask *ask,
                       const struct move_row *row, const Board__Move *m, struct effects *out)
{
    struct arena *a = board_arena();
    struct move_ask *one = ARENA_NEW(a, struct move_ask);
    *one = (struct move_ask){.batch = t, .number = number};
    one->in.actor = ask->in.actor;
    one->in.peer_name = arena_strdup(a, ask->in.peer_name);
    one->in.trace_id = arena_strdup(a, ask->in.trace_id);
    one->in.boot_id = arena_strdup(a, ask->in.boot_id);
    one->in.seal = ask->in.seal;
    one->in.request = &copy_move(a, m)->base;
    board_op(t->router->board, ask->in.actor == ACTOR_REP ? row->op_of_rep : row->op, &one->in, a,
             move_done, one, out);
}

/* What a rep must name and did not, or NULL. */
static const char *lacking(const struct move_row *row, enum actor actor, const Board__Move *m)
{
    if (actor != ACTOR_REP || !row->rep_says) {
        return NULL;
    }
    bool attempt = strcmp(row->rep_says, "attempt") == 0;
    const char *said = attempt ? move_task(m)->attempt : move_instance(m)->definition_id;
    return said[0] ? NULL : row->rep_says;
}

#define MOVES(family, ...) extern const struct move_family family##_moves;
#define UNMOVED
#define RECORD_ROW(ID, name, key, message, lifecycle, place, tags, topic, text, story, moves) moves
#include "common/model/records.def"
#undef MOVES
#undef UNMOVED

/* The family of the move's subject; NULL if no move is about such records. */
static const struct move_family *family_of(const Board__Move *m)
{
    static const struct move_family *const families[RECORD_TYPE_COUNT] = {
#define MOVES(family, ...) &family##_moves
#define UNMOVED NULL
#define RECORD_ROW(ID, name, key, message, lifecycle, place, tags, topic, text, story, moves)      \
    [RECORD_##ID] = moves,
#include "common/model/records.def"
    };
    return families[move_kind(m)];
}

/* The row of a move that may be tried; NULL with the error in the result. */
static const struct move_row *check_move(struct apply_batch *t, Board__MoveResult *r,
                                         enum actor actor, const Board__Move *m)
{
    const struct move_family *family = family_of(m);
    const struct move_row *row = family ? move_row_named(family, m->move) : NULL;
    struct validation v = {0};
    if (!move_well_formed(&t->arena, m)) {
        say_field(&v, "subject");
    } else if (!row || !move_permitted(family, row, actor)) {
        say_field(&v, "move"); /* nobody knows it, or it is another role's (design.md 2) */
    } else {
        row->valid(&v, m);
        if (lacking(row, actor, m)) {
            say_field(&v, row->rep_says);
        }
    }
    if (!validation_ok(&v)) {
        r->outcome = BOARD__MOVE_RESULT__OUTCOME__REFUSED;
        set_error(&t->arena, r, MODELS__ERROR__TYPE__InvalidRequest, validation_text(&v));
        row = NULL;
    }
    validation_done(&v);
    return row;
}

/* What is wrong with the request as a whole; NULL if nothing is. */
static const char *refused(const struct ask *ask, const Board__ApplyRequest *r,
                           Models__Error__Type *ret_type)
{
    const char *present = board_generation(ask->router->board);
    if (r->n_moves > MOVES_MAX) {
        *ret_type = MODELS__ERROR__TYPE__InvalidRequest;
        return arena_printf(ask->arena, "%zu moves in one request: at most %d", r->n_moves,
                            MOVES_MAX);
    }
    if (r->board_generation[0] && strcmp(r->board_generation, present) != 0) {
        *ret_type = MODELS__ERROR__TYPE__ResourceConflict;
        return arena_printf(ask->arena, "the board generation is %s, not %s: list again", present,
                            r->board_generation);
    }
    return NULL;
}

static struct apply_batch *batch_new(const struct ask *ask, size_t count)
{
    struct apply_batch *t = mem_zeroed(sizeof(*t));
    *t = (struct apply_batch){.router = ask->router, .request_id = ask->request_id, .count = count};
    arena_init(&t->arena);
    t->results = ARENA_ARRAY(&t->arena, count, Board__MoveResult);
    for (size_t i = 0; i < count; i++) {
        board__move_result__init(&t->results[i]);
    }
    return t;
}

/* Whose the moves are, where they are not the caller's: the whole request is denied; NULL = no word
 * against it. */
static const char *not_the_callers(const struct ask *ask, const Board__ApplyRequest *r,
                                   struct arena *a)
{
    const char *name = ask->in.peer_name;
    if (ask->in.actor == ACTOR_REP && r->cell_id[0] && strcmp(r->cell_id, name) != 0) {
        return arena_printf(a, "the certificate is of cell %s, not of %s\n", name, r->cell_id);
    }
    const char *foreign = ask->in.actor == ACTOR_CRM ? crm_foreign(a, name, r) : NULL;
    return foreign ? arena_printf(a,
                                  "the certificate is of cloudlet %s, and \"%.200s\" is not "
                                  "its own\n",
                                  name, foreign)
                   : NULL;
}

void route_apply(struct ask *ask, struct effects *out)
{
    const Board__ApplyRequest *r = ask->in.request;
    Models__Error__Type type;
    const char *text = refused(ask, r, &type);
    const char *denied = not_the_callers(ask, r, out->arena);
    if (denied) {
        answer_text(out, ask->request_id, 403, denied);
    } else if (text) {
        answer_error(out, ask->request_id, type, text);
    } else {
        struct apply_batch *t = batch_new(ask, r->n_moves);
        t->open = 1; /* ours, so that the answer waits for the loop's end */
        for (size_t i = 0; i < t->count; i++) {
            const struct move_row *row = check_move(t, &t->results[i], ask->in.actor, r->moves[i]);
            if (row) {
                t->open++;
                start_move(t, i, ask, row, r->moves[i], out);
            }
        }
        if (--t->open == 0) {
            batch_answer(t, out);
        }
    }
    ask_end(ask);
}
