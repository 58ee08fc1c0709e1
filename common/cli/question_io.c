#include "common/cli/question_io.h"

#include "common/cli/cli_io.h"
#include "common/cli/printable.h"
#include "common/cli/state_text.h"

#include <stdio.h>
#include <string.h>

const struct cli_option question_options[] = {
    {.name = "timeout", .value = "TIME", .help = CLIENT_TIMEOUT_HELP, .fallback = "10s"},
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

/* At the leader that a standby has named. */
static int ask_leader(const struct invocation *call, const char *url, int64_t limit_ms,
                      struct bytes *ret_body, struct err *err)
{
    struct cli_client *leader = NULL;
    struct bytes body;
    int r = cli_client_open(call, url, &leader, err);
    if (r == 0) {
        cli_client_limit(leader, limit_ms);
        r = cli_client_get(leader, call->arena, "/state", &body, err);
    }
    cli_client_close(leader);
    if (r == 0) {
        *ret_body = body;
    }
    return r;
}

/* "auctioneer: auctioneer-2 stands by; https://... leads" on standard error, and `more`. */
static void tell_standby(const struct invocation *call, const char *name, const char *url,
                         const char *more)
{
    struct arena *a = call->arena;
    const char *who = *url ? arena_printf(a, "; %s leads", text_printable(a, url))
                           : ", and knows of nobody who leads";
    fprintf(stderr, "%s: %s stands by%s%s\n", call->program->name, text_printable(a, name), who,
            more);
}

/* What is to be shown when this is what was answered. */
static int follow_leader(const struct invocation *call, int64_t limit_ms, struct bytes *body,
                         struct err *err)
{
    const char *name, *url;
    if (cli_state_role(call->arena, *body, &name, &url) == STATE_LEADS) {
        return 0;
    }
    if (!*url || cli_typed(call, "url")) {
        tell_standby(call, name, url, "");
        return 0;
    }
    if (ask_leader(call, url, limit_ms, body, err) < 0) {
        tell_standby(call, name, url,
                     arena_printf(call->arena, ", and does not give its state: %s", err->text));
        return cli_interrupted() ? -(int)err->code : 0;
    }
    if (cli_state_role(call->arena, *body, &name, &url) == STATE_STANDS_BY) {
        tell_standby(call, name, url, " (it led a moment ago)");
    }
    return 0;
}

int question_state_run(const struct invocation *call, struct err *err)
{
    struct question q;
    struct bytes body;
    int64_t limit_ms = 0;
    int r = question_open(call, &q, err);
    r = r < 0 ? r : cli_duration_ms(call, "timeout", &limit_ms, err);
    r = r < 0 ? r : cli_client_get(q.client, call->arena, "/state", &body, err);
    r = r < 0 ? r : follow_leader(call, limit_ms, &body, err);
    r = r < 0 ? r : cli_state_text(body, q.json, &q.out, err);
    return question_close(&q, r, err);
}
