#include "auctioneer/cli/commands_io.h"
#include "common/cli/state_text.h"
#include "common/cli/cli_io.h"
#include "common/cli/client_io.h"

#include <string.h>

const struct cli_option auctioneer_state_options[] = {
    {.name = "url",
     .value = "URL",
     .help = "the auctioneer's URL",
     .env = "AUCTIONEER_URL",
     .required = true},
    {.name = "timeout", .value = "TIME", .help = "how long to try", .fallback = "10s"},
    {.name = "output",
     .value = "table|json",
     .help = "for people or for programs",
     .fallback = "table"},
    {0},
};

int auctioneer_state_run(const struct invocation *call, struct err *err)
{
    struct cli_client *c = NULL;
    struct bytes body;
    struct buf out;
    int64_t limit_ms = 0;
    const char *output = "table";
    buf_init(&out);
    int r = cli_choice(call, "output", &output, err);
    r = r < 0 ? r : cli_duration_ms(call, "timeout", &limit_ms, err);
    r = r < 0 ? r : cli_client_open(call, cli_text(call, "url"), &c, err);
    if (r == 0) {
        cli_client_limit(c, limit_ms);
        r = cli_client_get(c, call->arena, "/state", &body, err);
    }
    r = r < 0 ? r : cli_state_text(body, strcmp(output, "json") == 0, &out, err);
    r = r < 0 ? r : cli_print(buf_bytes(&out), err);
    cli_client_close(c);
    buf_done(&out);
    return r;
}
