/* The program rep: represents one cell, and tells about it. */
#include "common/cli/cli_io.h"
#include "common/cli/question_io.h"
#include "common/cli/serve_io.h"
#include "rep/cli/commands_io.h"
#include "rep/cli/network_options_io.h"

static const struct cli_option *const serve[] = {rep_serve_options, rep_driver_options,
                                                 rep_network_options, rep_file_options,
                                                 rep_image_options,   serve_options,
                                                 NULL};
static const struct cli_option *const question[] = {rep_url_options, question_options,
                                                    cli_tls_options, NULL};
static const struct cli_option *const evacuate[] = {rep_evacuate_options, cli_tls_options, NULL};
static const struct cli_option *const recall[] = {rep_recall_options, cli_tls_options, NULL};
static const struct cli_option *const audit[] = {rep_audit_options, NULL};
static const struct cli_option *const destroy[] = {rep_driver_options, rep_destroy_options, NULL};

static const struct cli_command commands[] = {
    {"serve", "", "runs the rep of a cell",
     "SIGTERM empties the cell first (--on-term drain). A supervisor must wait longer for the end\n"
     "than --evacuation-limit, the setting drain and 20 s, or it kills what still empties the\n"
     "cell, and the next rep goes on: it can not be called off. For an upgrade in place, with the\n"
     "containers running on, stop it with SIGINT, or run it with --on-term leave.\n"
     "Gives 0 when it was ended or the cell is empty, 1 when containers were left at the end.\n",
     serve, 0, 0, rep_serve_run},
    {"state", "", "shows what a cell has and holds", NULL, question, 0, 0, rep_state_run},
    {"containers", "", "shows a cell's containers", NULL, question, 0, 0, rep_containers_run},
    {"metrics", "", "shows what a cell's containers use", NULL, question, 0, 0, rep_metrics_run},
    {"evacuate", "", "empties a cell and waits for the end of its rep",
     "What runs is replaced elsewhere first; at the rep's --evacuation-limit what is left is "
     "stopped.\n"
     "An evacuation can not be called off. That the cell has left the board is proved only with\n"
     "--bbs-url; without it, exit status 0 says that nothing was left when the rep last answered.\n"
     "Gives 0 when the rep has ended, 1 when the cell is still on the board or the rep ended with\n"
     "something left (or may have), 6 when the time is over: then the evacuation goes on.\n",
     evacuate, 0, 0, rep_evacuate_run},
    {"recall", "UNIT", "ends a unit here that the board does not know",
     "After a restore of the board a cell may have units that it says nothing of (rep containers\n"
     "shows them as UNKNOWN). Nothing ends them but this. UNIT is a name, web/3, or a guid. The\n"
     "container is stopped and deleted, with no hook.\n"
     "Gives 0 when that has begun, 3 when there is no such unit, 4 when its board knows it.\n",
     recall, 1, 1, rep_recall_run},
    {"destroy", "", "removes all containers of a cell whose rep does not run", NULL, destroy, 0, 0,
     rep_destroy_run},
    {"audit", "", "lists what is left on this machine of containers that are gone",
     "It changes nothing, and the cell's rep may run. What it finds is looked for twice, a second\n"
     "apart, so that what just goes is not told. Who is not root sees what that user may see.\n"
     "Gives 0 when nothing is left, 1 when something is.\n",
     audit, 0, 0, rep_audit_run},
    {0},
};

int main(int argc, char **argv)
{
    static const struct cli_program program = {
        .name = "rep",
        .summary = "represents one cell of a Corkboard cluster",
        .commands = commands,
    };
    return cli_main(&program, argc, argv);
}
