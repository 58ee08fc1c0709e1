/* The program converger: finds and repairs what got lost. */
#include "common/cli/cli_io.h"
#include "common/cli/question_io.h"
#include "common/cli/serve_io.h"
#include "converger/cli/commands_io.h"
#include "converger/resolver/resolver_io.h"

static const struct cli_option *const serve[] = {converger_serve_options, serve_leader_options,
                                                 serve_options, NULL};
static const struct cli_option *const question[] = {converger_url_options, question_options,
                                                    cli_tls_options, NULL};

static const struct cli_option *const no_options[] = {NULL};

static const struct cli_command commands[] = {
    {"serve", "", "runs a converger; one leads, others stand by", NULL, serve, 0, 0,
     converger_serve_run},
    {"plan", "", "shows what it would repair now; changes nothing", NULL, question, 0, 0,
     converger_plan_run},
    {"once", "", "lets the leader look at everything now", NULL, question, 0, 0,
     converger_once_run},
    {"state", "", "shows what the leader holds; of a standby that --url names, what that one does",
     NULL, question, 0, 0, question_state_run},
    {"resolve", "", "reads a definition for a converger, which starts this itself", NULL,
     no_options, 0, 0, resolver_child_run},
    {0},
};

int main(int argc, char **argv)
{
    static const struct cli_program program = {
        .name = "converger",
        .summary = "finds and repairs what got lost in a Corkboard cluster",
        .commands = commands,
    };
    return cli_main(&program, argc, argv);
}
