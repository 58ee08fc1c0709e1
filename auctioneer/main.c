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
    "The apps of the FILEs, the tasks of --task and the units of --charm are placed; without any,\n"
    "what waits on the board. --pool is a pool that cells have, as `bbs pools` names it (/:main).\n"
    "The cells are asked for what they have now; or --cells FILE says it: a JSON list of cell\n"
    "states, or one on each line, as `rep state --output json` and GET /state give them. What the\n"
    "board says of them is then in --pools FILE, as `bbs cells --output json` gives it, and in\n"
    "--machines FILE, as `bbs units machines --output json` does; a cell that is not there is of no\n"
    "pool but that of its placement tags, and is no machine yet.\n"
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
