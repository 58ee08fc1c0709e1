/* The settings of the auction on a command line: of serve, and of simulate. */
#include "auctioneer/cli/commands_io.h"

/* Far above any used fraction, far below what a score must not reach. */
#define WEIGHT_MAX 1000000.0

const struct cli_option auctioneer_rules_options[] = {
    {.name = "zones",
     .value = "A,B,C",
     .help = "preferred zones in turn; the fewest instances first by default"},
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

int auctioneer_rules(const struct invocation *call, struct auctioneer_config *ret, struct err *err)
{
    const char *scoring = "default", *zones = cli_text(call, "zones");
    double starting_weight = -1, bin_pack_weight = 0;
    int64_t maximum = 0;
    int r = cli_choice(call, "scoring", &scoring, err);
    r = r < 0 ? r
              : cli_number(call, "starting-container-count-maximum", 0, INT32_MAX, &maximum, err);
    r = r < 0
            ? r
            : cli_decimal(call, "starting-container-weight", 0, WEIGHT_MAX, &starting_weight, err);
    r = r < 0
            ? r
            : cli_decimal(call, "bin-pack-first-fit-weight", 0, WEIGHT_MAX, &bin_pack_weight, err);
    ret->zones = zones ? zones : "";
    ret->scoring = scoring;
    ret->starting_container_maximum = (int32_t)maximum;
    ret->starting_container_weight = starting_weight;
    ret->bin_pack_first_fit_weight = bin_pack_weight;
    return r;
}
