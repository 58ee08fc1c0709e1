/* The program auctioneer: decides which cell starts what. */
#include "auctioneer/cli/commands_io.h"
#include "common/cli/cli_io.h"
#include "common/cli/question_io.h"
#include "common/cli/serve_io.h"

static const struct cli_option *const serve[] = {auctioneer_serve_options, serve_leader_options,
                                                 auctioneer_rules_options, serve_options, NULL};
static const struct cli_option *const simulate[] = {
    auctioneer_simulate_options, auctioneer_rules_options, NULL};
static const struct cli_option *const question[] = {auctioneer_url_options, question_options,
                                                    cli_tls_options, NULL};

static const char simulate_details[] =
    "The apps of the FILEs and the tasks of --task are placed; without any, what waits on the board.\n"
    "The cells are asked for what they have now; or --cells FILE says it: a JSON list of cell states,\n"
    "or one on each line, as `rep state --output json` and GET /state give them.\n"
    "Between cells that are equally good it draws, as an auction does; another --seed draws otherwise.\n"
    "A cell whose last starts failed at once counts as worse (failed_starts of its state).\n"
    "Exit status 7: something would be placed nowhere.\n";

static const struct cli_command commands[] = {
    {"serve", "", "runs an auctioneer; one leads, others stand by", NULL, serve, 0, 0,
     auctioneer_serve_run},
    {"simulate", "[FILE...]", "shows what would be placed where and why; changes nothing",
     simulate_details, simulate, 0, CLI_ARGUMENTS_MAX, auctioneer_simulate_run},
    {"state", "", "shows what the leader holds; of a standby that --url names, what that one does",
     NULL, question, 0, 0,
     question_state_run},
    {0},
};

int main(int argc, char **argv)
{
    static const struct cli_program program = {
        .name = "auctioneer",
        .summary = "decides which cell of a Corkboard cluster starts what",
        .commands = commands,
    };
    return cli_main(&program, argc, argv);
}
