#include "auctioneer/auctioneer.h"
#include "auctioneer/cli/commands_io.h"
#include "common/cli/serve_io.h"

#include <string.h>

/* Far above any used fraction, far below what a score must not reach. */
#define WEIGHT_MAX 1000000.0

const struct cli_option auctioneer_serve_options[] = {
    {.name = "name", .value = "NAME", .help = "in log lines", .fallback = "auctioneer"},
    {.name = "zones",
     .value = "A,B,C",
     .help = "preferred zones in turn; the fewest instances first unless told"},
    {.name = "scoring",
     .value = "default|diego",
     .help = "how cells are compared",
     .fallback = "default"},
    {.name = "starting-container-count-maximum",
     .value = "N",
     .help = "containers that are being started at once, over all cells; 0 = no limit",
     .fallback = "0"},
    {.name = "starting-container-weight",
     .value = "W",
     .help = "what a container that is being started adds to a cell's score; 0.25 with diego's "
             "scoring, else 0"},
    {.name = "bin-pack-first-fit-weight",
     .value = "W",
     .help = "above 0: cells of a zone are filled one after another, by their index",
     .fallback = "0"},
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
    const char *scoring = "default", *zones = cli_text(call, "zones");
    double starting_weight = -1, bin_pack_weight = 0;
    int64_t starting_maximum = 0;
    int r = serve_host_config(call, &host, err);
    r = r < 0 ? r : cli_choice(call, "scoring", &scoring, err);
    r = r < 0 ? r
              : cli_number(call, "starting-container-count-maximum", 0, INT32_MAX,
                           &starting_maximum, err);
    r = r < 0
            ? r
            : cli_decimal(call, "starting-container-weight", 0, WEIGHT_MAX, &starting_weight, err);
    r = r < 0
            ? r
            : cli_decimal(call, "bin-pack-first-fit-weight", 0, WEIGHT_MAX, &bin_pack_weight, err);
    if (r < 0) {
        return r;
    }
    struct auctioneer_config config = {
        .name = host.name,
        .boards = cli_text(call, "bbs"),
        .url = cli_text(call, "url"),
        .zones = zones ? zones : "",
        .scoring = scoring,
        .starting_container_maximum = (int32_t)starting_maximum,
        .starting_container_weight = starting_weight,
        .bin_pack_first_fit_weight = bin_pack_weight,
    };
    return serve_role(auctioneer_new(&config), &host, err);
}
