#include "auctioneer/auctioneer.h"
#include "auctioneer/cli/commands_io.h"
#include "common/cli/serve_io.h"

#include <string.h>

const struct cli_option auctioneer_serve_options[] = {
    {.name = "name", .value = "NAME", .help = "in log lines", .fallback = "auctioneer"},
    {.name = "listen", .value = "HOST:PORT", .help = "address of its API", .required = true},
    {.name = "url", .value = "URL", .help = "how others reach it", .required = true},
    {.name = "bbs", .value = "URLS", .help = "the bbs servers, comma-separated", .required = true},
    {.name = "zones",
     .value = "A,B,C",
     .help = "preferred zones in turn; the fewest instances first unless told"},
    {.name = "scoring",
     .value = "default|diego",
     .help = "how cells are compared",
     .fallback = "default"},
    {0},
};

int auctioneer_serve_run(const struct invocation *call, struct err *err)
{
    struct host_config host = {0};
    const char *scoring = "default", *zones = cli_text(call, "zones");
    int r = serve_host_config(call, &host, err);
    r = r < 0 ? r : cli_choice(call, "scoring", &scoring, err);
    if (r < 0) {
        return r;
    }
    struct auctioneer_config config = {
        .name = host.name,
        .boards = cli_text(call, "bbs"),
        .url = cli_text(call, "url"),
        .zones = zones ? zones : "",
        .scoring = scoring,
    };
    return serve_role(auctioneer_new(&config), &host, err);
}
