/* state, plan and once: what a running converger is asked. */
#include "common/cli/cli_io.h"
#include "common/cli/client_io.h"
#include "common/cli/state_text.h"
#include "converger/cli/commands_io.h"
#include "converger/cli/plan_text.h"

#include <string.h>

const struct cli_option converger_question_options[] = {
    {.name = "url",
     .value = "URL",
     .help = "the converger's URL",
     .env = "CONVERGER_URL",
     .required = true},
    {.name = "timeout", .value = "TIME", .help = "how long to try", .fallback = "10s"},
    {.name = "output",
     .value = "table|json",
     .help = "for people or for programs",
     .fallback = "table"},
    {0},
};

struct question {
    struct cli_client *client;
    bool json;
};

static int open_question(const struct invocation *call, struct question *q, struct err *err)
{
    int64_t limit_ms = 0;
    const char *output = "table";
    int r = cli_choice(call, "output", &output, err);
    r = r < 0 ? r : cli_duration_ms(call, "timeout", &limit_ms, err);
    r = r < 0 ? r : cli_client_open(call, cli_text(call, "url"), &q->client, err);
    if (r == 0) {
        cli_client_limit(q->client, limit_ms);
    }
    q->json = strcmp(output, "json") == 0;
    return r;
}

static int close_question(struct question *q, int r, struct buf *out, struct err *err)
{
    r = r < 0 ? r : cli_print(buf_bytes(out), err);
    cli_client_close(q->client);
    buf_done(out);
    return r;
}

int converger_state_run(const struct invocation *call, struct err *err)
{
    struct question q = {0};
    struct bytes body;
    struct buf out;
    buf_init(&out);
    int r = open_question(call, &q, err);
    r = r < 0 ? r : cli_client_get(q.client, call->arena, "/state", &body, err);
    r = r < 0 ? r : cli_state_text(body, q.json, &out, err);
    return close_question(&q, r, &out, err);
}

int converger_plan_run(const struct invocation *call, struct err *err)
{
    struct question q = {0};
    struct bytes body;
    struct buf out;
    buf_init(&out);
    int r = open_question(call, &q, err);
    r = r < 0 ? r : cli_client_get(q.client, call->arena, "/plan", &body, err);
    r = r < 0 ? r : converger_plan_json_text(call->arena, body, q.json, &out, err);
    return close_question(&q, r, &out, err);
}

int converger_once_run(const struct invocation *call, struct err *err)
{
    struct question q = {0};
    struct buf out;
    Converge__OnceRequest nothing = CONVERGE__ONCE_REQUEST__INIT;
    ProtobufCMessage *m = NULL;
    buf_init(&out);
    int r = open_question(call, &q, err);
    r = r < 0 ? r
              : cli_client_call(q.client, call->arena, "/once", &nothing.base,
                                &converge__once_response__descriptor, &m, err);
    r = r < 0 ? r
              : converger_plan_text(call->arena, ((Converge__OnceResponse *)m)->plan, q.json, &out,
                                    err);
    return close_question(&q, r, &out, err);
}
