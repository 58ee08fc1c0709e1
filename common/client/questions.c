#include "common/client/questions.h"

#include "common/codec/json.h"
#include "common/contract/caller.h"

void questions_answer(const struct path_table *all, struct role *role, const struct request *q,
                      struct effects *out)
{
    const struct path_match m = path_find(all, q->method, q->path, out->arena);
    const struct question_route *route = m.row;
    if (!route) {
        question_reply(q, 404, QUESTION_TEXT, "404 page not found\n", out);
    } else if (m.allow) {
        question_reply(q, 405, QUESTION_TEXT, "Method Not Allowed\n", out)->allow = m.allow;
    } else if (!actor_among(actor_of_unit(q->peer.unit), route->callers)) {
        const char *text = caller_refusal(out->arena, q, route->callers, CALLER_REMEDY);
        question_reply(q, 403, QUESTION_TEXT, arena_printf(out->arena, "%s\n", text), out);
    } else {
        route->handle(role, q, out);
    }
}

struct reply *question_reply(const struct request *q, int status, const char *type,
                             const char *text, struct effects *out)
{
    effects_reply(out, q->id, status, type, bytes_of(text));
    return &out->list[out->count - 1].reply;
}

void question_reply_json(const struct request *q, const ProtobufCMessage *m, struct effects *out)
{
    SCOPED_BUF(body);
    struct err err;
    if (json_encode(m, 0, &body, &err) < 0) {
        question_reply(q, 500, QUESTION_TEXT, err.text, out);
    } else {
        question_reply(q, 200, QUESTION_JSON, buf_string(&body), out);
    }
}

void question_refer(const struct leading *l, const struct request *q, const char *does,
                    struct effects *out)
{
    const Board__LeaderLockRecord *holder = leader_holder(&l->leader, out->arena);
    question_reply(q, 503, QUESTION_TEXT,
                   arena_printf(out->arena, "this %s %s; the leader is %s\n", l->role.ops->name,
                                does, holder ? holder->url : "not known"),
                   out)
        ->retry_after_s = 1;
}
