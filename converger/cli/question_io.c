/* plan and once: what a running converger is asked, beside its state. */
#include "common/cli/question_io.h"
#include "converger/cli/commands_io.h"
#include "converger/cli/plan_text.h"

const struct cli_option converger_url_options[] = {
    {.name = "url",
     .value = "URL",
     .help = "the converger's URL",
     .env = "CONVERGER_URL",
     .required = true},
    {0},
};

int converger_plan_run(const struct invocation *call, struct err *err)
{
    struct question q;
    struct bytes body;
    int r = question_open(call, &q, err);
    r = r < 0 ? r : cli_client_get(q.client, call->arena, "/plan", &body, err);
    r = r < 0 ? r : converger_plan_json_text(call->arena, body, q.json, &q.out, err);
    return question_close(&q, r, err);
}

int converger_once_run(const struct invocation *call, struct err *err)
{
    struct question q;
    Converge__OnceRequest nothing = CONVERGE__ONCE_REQUEST__INIT;
    ProtobufCMessage *m = NULL;
    int r = question_open(call, &q, err);
    r = r < 0 ? r
              : cli_client_call(q.client, call->arena, "/once", &nothing.base,
                                &converge__once_response__descriptor, &m, err);
    r = r < 0 ? r
              : converger_plan_text(call->arena, ((Converge__OnceResponse *)m)->plan, q.json,
                                    &q.out, err);
    return question_close(&q, r, err);
}
