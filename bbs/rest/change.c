/* Changes: an op, and what it came to in JSON. */
#include "bbs/board/errors.h"
#include "bbs/rest/answer.h"
#include "bbs/rest/refusal.h"

#include <assert.h>

char *rest_new_id(struct rest *q)
{
    return board_new_guid(q->ask->router->board, q->ask->arena);
}

static void answer_op(void *context, const struct op_result *result, struct effects *out)
{
    struct rest *q = context;
    Models__Error error;
    if (result->end == OP_UNAVAILABLE) {
        ask_log_undone(result, out);
        if (result->may_have_done) {
            rest_unavailable(out, q->ask->request_id, "the store has not answered in time");
        } else {
            rest_not_now(out, q->ask->request_id);
        }
        return;
    }
    const struct plan *p = result->plan;
    assert(p && q->status);
    if (plan_error(p, &error)) {
        struct refusal r = op_refusal(out->arena, q, &error, p->record);
        rest_refuse(out, q->ask->request_id, r.status, r.code, "%s", r.text);
        return;
    }
    const ProtobufCMessage *shown = q->show && p->record ? q->show(out->arena, p->record) : NULL;
    if (shown) {
        rest_answer(out, q->ask->request_id, q->status, shown);
    } else {
        effects_reply(out, q->ask->request_id, q->status, REST_TYPE, bytes_of("{}\n"));
    }
}

void rest_op(struct rest *q, const struct op_row *row, const ProtobufCMessage *request,
             struct effects *out)
{
    struct ask *ask = q->ask;
    assert(row && request && q->missing && q->invalid);
    if (!validation_ok(&ask->faults)) {
        const char *text = arena_strdup(out->arena, validation_text(&ask->faults));
        rest_refuse_now(q, out, 400, q->invalid, text);
        return;
    }
    ask->in.request = request;
    board_op(ask->router->board, row, &ask->in, ask->arena, answer_op, q, out);
}
