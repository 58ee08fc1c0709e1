#include "auctioneer/cli/commands_io.h"
#include "common/cli/serve_io.h"

const struct cli_option auctioneer_serve_options[] = {
    {.name = "name", .value = "NAME", .help = "in log lines", .fallback = "auctioneer"},
    {0},
};

const struct cli_option auctioneer_url_options[] = {
    {.name = "url",
     .value = "URL",
     .help = "the auctioneer's URL",
     .env = "AUCTIONEER_URL",
     .required = true},
    {0},
};

int auctioneer_serve_run(const struct invocation *call, struct err *err)
{
    struct host_config host = {0};
    struct auctioneer_config config = {0};
    int r = serve_host_config(call, &host, err);
    r = r < 0 ? r : auctioneer_rules(call, &config, err);
    if (r < 0) {
        return r;
    }
    config.name = host.name;
    config.boards = cli_text(call, "bbs");
    config.url = cli_text(call, "url");
    return serve_role(auctioneer_new(&config), &host, err);
}
