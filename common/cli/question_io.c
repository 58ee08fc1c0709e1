#include "common/cli/question_io.h"

#include "common/cli/cli_io.h"
#include "common/cli/state_text.h"

#include <string.h>

const struct cli_option question_options[] = {
    {.name = "timeout", .value = "TIME", .help = "how long to try", .fallback = "10s"},
    {.name = "output",
     .value = "table|json",
     .help = "for people or for programs",
     .fallback = "table"},
    {0},
};

int question_open(const struct invocation *call, struct question *ret, struct err *err)
{
    int64_t limit_ms = 0;
    const char *output = "table";
    *ret = (struct question){0};
    buf_init(&ret->out);
    int r = cli_choice(call, "output", &output, err);
    r = r < 0 ? r : cli_duration_ms(call, "timeout", &limit_ms, err);
    r = r < 0 ? r : cli_client_open(call, cli_text(call, "url"), &ret->client, err);
    if (r == 0) {
        cli_client_limit(ret->client, limit_ms);
    }
    ret->json = strcmp(output, "json") == 0;
    return r;
}

int question_close(struct question *q, int r, struct err *err)
{
    r = r < 0 ? r : cli_print(buf_bytes(&q->out), err);
    cli_client_close(q->client);
    buf_done(&q->out);
    return r;
}

int question_state_run(const struct invocation *call, struct err *err)
{
    struct question q;
    struct bytes body;
    int r = question_open(call, &q, err);
    r = r < 0 ? r : cli_client_get(q.client, call->arena, "/state", &body, err);
    r = r < 0 ? r : cli_state_text(body, q.json, &q.out, err);
    return question_close(&q, r, err);
}
