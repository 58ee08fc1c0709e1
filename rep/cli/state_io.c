#include "common/cli/cli_io.h"
#include "common/cli/client_io.h"
#include "common/codec/json.h"
#include "rep/cli/commands_io.h"
#include "rep/cli/state_table.h"

#include <string.h>

const struct cli_option rep_url_options[] = {
    {.name = "url",
     .value = "URL",
     .help = "the rep's URL (bbs cells shows it)",
     .env = "REP_URL",
     .required = true},
    {.name = "timeout", .value = "TIME", .help = "how long to try", .fallback = "10s"},
    {.name = "output",
     .value = "table|json",
     .help = "for people or for programs",
     .fallback = "table"},
    {0},
};

static int get_state(const struct invocation *call, struct bytes *ret_body, struct err *err)
{
    struct cli_client *c = NULL;
    int64_t limit_ms = 0;
    int r = cli_duration_ms(call, "timeout", &limit_ms, err);
    r = r < 0 ? r : cli_client_open(call, cli_text(call, "url"), &c, err);
    if (r == 0) {
        cli_client_limit(c, limit_ms);
        r = cli_client_get(c, call->arena, "/state", ret_body, err);
    }
    cli_client_close(c);
    return r;
}

static int show(const struct invocation *call,
                void (*table)(struct arena *, const Cell__CellState *, struct buf *),
                struct err *err)
{
    struct bytes body;
    const char *output = "table";
    int r = cli_choice(call, "output", &output, err);
    r = r < 0 ? r : get_state(call, &body, err);
    ProtobufCMessage *state = NULL;
    r = r < 0
            ? r
            : json_decode(call->arena, &cell__cell_state__descriptor, body, CODEC_OWN, &state, err);
    if (r < 0) {
        return r;
    }
    struct buf out;
    buf_init(&out);
    if (strcmp(output, "json") == 0) {
        r = json_encode(state, CODEC_OWN, &out, err);
        buf_append_string(&out, "\n");
    } else {
        table(call->arena, (const Cell__CellState *)state, &out);
    }
    r = r < 0 ? r : cli_print(buf_bytes(&out), err);
    buf_done(&out);
    return r;
}

int rep_state_run(const struct invocation *call, struct err *err)
{
    return show(call, rep_state_table, err);
}

int rep_containers_run(const struct invocation *call, struct err *err)
{
    return show(call, rep_containers_table, err);
}
