/* What handlers do with a request: below the table of routes, which calls them. */
#include "bbs/board/errors.h"
#include "bbs/route/answer.h"
#include "bbs/route/route.h"
#include "common/codec/json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum actor route_caller(const struct router *r, const struct request *q)
{
    enum actor actor = actor_of_unit(q->peer.unit);
    return actor == ACTOR_STRANGER && r->any_client ? ACTOR_CLIENT : actor;
}

struct ask *ask_new(struct router *r, const struct request *q, actor_set callers)
{
    struct arena *a = board_arena();
    struct ask *ask = ARENA_NEW(a, struct ask);
    *ask = (struct ask){
        .router = r,
        .arena = a,
        .request_id = q->id,
        .in = {.actor = (enum actor)actor_among(route_caller(r, q), callers),
               .peer_name = arena_strdup(a, q->peer.name),
               .trace_id = arena_strndup(a, q->trace_id, strnlen(q->trace_id, TRACE_ID_BYTES_MAX)),
               .boot_id = arena_strdup(a, board_boot_id(r->board)),
               .seal = r->seal},
    };
    return ask;
}

void ask_end(struct ask *ask)
{
    struct arena *arena = ask->arena; /* the ask lives in it */
    validation_done(&ask->faults);
    arena_done(arena);
    free(arena);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static const Models__Error *error_in(const ProtobufCMessage *m)
{
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(m->descriptor, 1);
    bool has = f && f->type == PROTOBUF_C_TYPE_MESSAGE && f->label != PROTOBUF_C_LABEL_REPEATED &&
               f->descriptor == &models__error__descriptor;
    return has ? *(Models__Error *const *)((const char *)m + f->offset) : NULL;
}

static int status_of(const Models__Error *e)
{
    switch (e ? (int)e->type : -1) {
    case -1:
        return 200;
    case MODELS__ERROR__TYPE__InvalidRequest:
        return 400;
    case MODELS__ERROR__TYPE__ResourceNotFound:
        return 404;
    case MODELS__ERROR__TYPE__ResourceExists:
    case MODELS__ERROR__TYPE__ResourceConflict:
        return 409;
    default:
        return 500;
    }
}

void ask_reply(const struct ask *ask, const ProtobufCMessage *m, struct effects *out)
{
    SCOPED_BUF(text);
    if (!ask->json) {
        effects_reply_message(out, ask->request_id, m);
        return;
    }
    int r = json_encode(m, CODEC_OWN | CODEC_SNAKE_CASE, &text, NULL); /* nested a few levels */
    assert(r == 0);
    (void)r;
    buf_append_string(&text, "\n");
    effects_reply(out, ask->request_id, status_of(error_in(m)), JSON_TYPE, buf_bytes(&text));
}

void ask_refuse(const struct ask *ask, Models__Error__Type type, const char *text,
                struct effects *out)
{
    Board__UnitsChanged refused = BOARD__UNITS_CHANGED__INIT;
    Models__Error error = MODELS__ERROR__INIT;
    assert(*text);
    if (!ask->json) {
        answer_error(out, ask->request_id, type, text);
        return;
    }
    error.type = type;
    error.message = (char *)(uintptr_t)text;
    refused.error = &error;
    ask_reply(ask, &refused.base, out);
}

bool ask_valid(struct ask *ask, struct effects *out)
{
    if (validation_ok(&ask->faults)) {
        return true;
    }
    ask_refuse(ask, MODELS__ERROR__TYPE__InvalidRequest, validation_text(&ask->faults), out);
    ask_end(ask);
    return false;
}

const struct op_row *ask_move(struct ask *ask, const struct move_family *family, Board__Move *m)
{
    const struct move_row *row = move_row_named(family, m->move);
    assert(row);
    row->valid(&ask->faults, m);
    ask->in.request = &m->base;
    return row->op;
}

void ask_log_undone(const struct op_result *result, struct effects *out)
{
    effects_log(out, LOG_INFO_LEVEL, "a request was not done", "why=\"%s\"%s", result->text,
                result->may_have_done ? " may_have_done=true" : "");
}

void ask_answer_unavailable(struct ask *ask, const struct op_result *result, struct effects *out)
{
    ask_log_undone(result, out);
    if (result->may_have_done) {
        answer_unsure(out, ask->request_id);
    } else {
        answer_unavailable(out, ask->request_id);
    }
}

void ask_answer(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    Models__Error error;
    if (result->end == OP_UNAVAILABLE) {
        ask_answer_unavailable(ask, result, out);
        return;
    }
    if (plan_error(result->plan, &error)) {
        ask_refuse(ask, error.type, error.message, out);
    } else if (ask->json) {
        answer_well_json(out, ask->request_id);
    } else {
        answer_well(out, ask->request_id);
    }
}

void ask_op(struct ask *ask, const struct op_row *row, struct effects *out)
{
    board_op(ask->router->board, row, &ask->in, ask->arena, ask_answer, ask, out);
}

/* The key of the job that the plan opened, NULL if none. */
static const char *opened_job(const struct plan *p)
{
    for (const struct change *c = p->changes; c; c = c->next) {
        if (c->message && key_type(c->key) == RECORD_JOB) {
            return c->key;
        }
    }
    return NULL;
}

/* Whether the copy, already past the commit, has no such job any more. */
static bool job_over(struct ask *ask, const char *key, int64_t revision, struct arena *a)
{
    struct view *v = board_view(ask->router->board, a);
    return view_revision(v) >= revision && !view_peek(v, key);
}

/* Answers after the last portion (design.md 2, Jobs). */
static void answer_after_job(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    const char *job = result->end == OP_DECIDED ? opened_job(result->plan) : NULL;
    if (job && !job_over(ask, job, result->revision, out->arena)) {
        waiters_add(&ask->router->waiters, ask->request_id, job, ask->json,
                    board_now(ask->router->board));
    } else {
        waiters_release(&ask->router->waiters);
        ask->answer(context, result, out);
    }
}

void ask_op_with_job(struct ask *ask, const struct op_row *row, op_done *answer,
                     struct effects *out)
{
    assert(answer && !ask->answer);
    ask->answer = answer;
    if (waiters_reserve(&ask->router->waiters)) {
        board_op(ask->router->board, row, &ask->in, ask->arena, answer_after_job, ask, out);
    } else {
        answer_unavailable(out, ask->request_id);
        ask_end(ask);
    }
}

void ask_read(struct ask *ask, board_read *read, struct effects *out)
{
    board_barrier(ask->router->board, ask->arena, read, ask, out);
}
