/* What the converger is asked: GET /state, GET /plan and GET /metrics by anybody, POST /once by an
 * ordinary client. */
#include "converger/inside.h"

static void state(struct role *role, const struct request *q, struct effects *out)
{
    struct converger *x = (struct converger *)role;
    Converge__ConvergerState s = CONVERGE__CONVERGER_STATE__INIT;
    const Board__LeaderLockRecord *holder = leader_holder(&x->life.leader, out->arena);
    s.name = (char *)(uintptr_t)x->life.name;
    s.leads = x->life.leader.leads;
    s.leader_url = holder ? holder->url : s.leader_url;
    s.term = x->life.leader.term;
    s.board_generation = x->life.feed_client.board_generation;
    s.current = x->life.feed_client.current;
    s.revision = x->life.feed_client.revision;
    s.moves = x->mover.count;
    s.full_passes = x->full_passes;
    s.repaired = x->mover.done;
    s.refused = x->mover.refused;
    converger_show(x, &s, out->arena);
    question_reply_json(q, &s.base, out);
}

static void plan(struct role *role, const struct request *q, struct effects *out)
{
    struct converger *x = (struct converger *)role;
    Converge__Plan p;
    converger_plan(x, out->arena, &p);
    question_reply_json(q, &p.base, out);
}

/* In Prometheus' text format. */
static void metrics(struct role *role, const struct request *q, struct effects *out)
{
    struct converger *x = (struct converger *)role;
    SCOPED_BUF(text);
    buf_printf(&text,
               "# HELP corkboard_converger_leads Whether this converger leads.\n"
               "# TYPE corkboard_converger_leads gauge\ncorkboard_converger_leads %d\n",
               x->life.leader.leads);
    for (size_t i = 0; i < KEEPER_COUNT; i++) {
        if (keeper_rows[i].keeper->measure) {
            keeper_rows[i].keeper->measure(x->keepers[i], out->arena, &text);
        }
    }
    question_reply(q, 200, "text/plain; version=0.0.4; charset=utf-8", buf_string(&text), out);
}

/* A full pass begins now: the answer is what it plans. */
static void once(struct role *role, const struct request *q, struct effects *out)
{
    struct converger *x = (struct converger *)role;
    if (!x->life.leader.leads || !x->life.feed_client.current) {
        question_refer(&x->life, q, x->life.leader.leads ? "waits for its feed" : "stands by", out);
        return;
    }
    Converge__OnceResponse response = CONVERGE__ONCE_RESPONSE__INIT;
    Converge__Plan p;
    converger_plan(x, out->arena, &p);
    response.plan = &p;
    x->full_ns = 0;
    effects_reply_message(out, q->id, &response.base);
}

/* ---- The routes ------------------------------------------------------------------------------ */

static const struct question_route routes[] = {
    {{"GET", "/state", 0}, ACTORS_ANYBODY, state},
    {{"GET", "/plan", 0}, ACTORS_ANYBODY, plan},
    {{"GET", "/metrics", 0}, ACTORS_ANYBODY, metrics},
    {{"POST", "/once", 0}, ACTOR_CLIENT, once},
};

const struct path_table converger_questions = PATH_TABLE(routes);
