/* The program crm: makes a site follow the centre. */
#include "common/cli/cli_io.h"
#include "common/cli/question_io.h"
#include "common/cli/serve_io.h"
#include "crm/cli/commands_io.h"

static const struct cli_option *const serve[] = {crm_serve_options, serve_leader_options,
                                                 serve_options, NULL};
static const struct cli_option *const question[] = {crm_url_options, question_options,
                                                    cli_tls_options, NULL};

static const char serve_details[] =
    "It has two certificates. With --cert, OU site, it leads at this site and moves what belongs "
    "to\n"
    "the centre there, and answers at --listen. With --centre-cert, OU crm, it dials the centre;\n"
    "nothing of the centre dials it.\n";

static const struct cli_command commands[] = {
    {"serve", "", "runs a CRM; one leads at the site, others stand by", serve_details, serve, 0, 0,
     crm_serve_run},
    {"state", "", "shows how it stands with the centre; of a standby that --url names, that one's",
     NULL, question, 0, 0, question_state_run},
    {"plan", "", "shows what it does at the site, what of that waits, and for what", NULL, question,
     0, 0, crm_plan_run},
    {0},
};

int main(int argc, char **argv)
{
    static const struct cli_program program = {
        .name = "crm",
        .summary = "makes a site of Corkboard follow its centre",
        .commands = commands,
    };
    return cli_main(&program, argc, argv);
}
