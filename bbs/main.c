/* The program bbs: the server, and the command line for clients. */
#include "bbs/cli/commands_io.h"
#include "common/cli/cli_io.h"
#include "common/cli/client_io.h"
#include "common/cli/serve_io.h"

#include <stddef.h>

static const struct cli_option *const question[] = {cli_bbs_options, cli_tls_options,
                                                    bbs_timeout_options, bbs_output_options, NULL};
static const struct cli_option *const change[] = {cli_bbs_options, cli_tls_options,
                                                  bbs_wait_options, bbs_output_options, NULL};
static const struct cli_option *const restore[] = {bbs_restore_options, NULL};
static const struct cli_option *const serve[] = {bbs_serve_options, serve_options, NULL};

static const char apply_details[] =
    "A FILE (\"-\" is standard input) holds one app, several YAML documents, or a list under "
    "apps:.\n"
    "\n"
    "  name: web                        what ps, scale and rm call it\n"
    "  instances: 3                     1 unless told; left as it is when not told\n"
    "  rootfs: preloaded:busybox        or image: busybox for docker:///library/busybox\n"
    "  command: exec httpd -f -p $PORT  for /bin/sh -c; or a list: [httpd, -f]\n"
    "  user: root  dir: /app            of the command\n"
    "  env: {KEY: value}\n"
    "  ports: [8080]\n"
    "  memory: 64M  disk: 128M          128M and 256M unless told\n"
    "  routes: {cf-router: [...]}  metric_tags: {key: value}  domain: default\n"
    "\n"
    "and every other key of a DesiredLRP by its name in the API (action, monitor, setup,\n"
    "check_definition, placement_tags, ...). What may change while it runs: instances, routes,\n"
    "annotation, metric_tags, and the policies on_cell_loss (replace, hold) and on_evacuate (move,\n"
    "stay).\n";

static const char cells_details[] =
    "A cell is PRESENT, or LOST when no bbs heard of it for 6 s: then what ran there is started\n"
    "elsewhere. When many fall silent at once, that is held for a minute, for it may be the network\n"
    "and not they: LOST (held).\n"
    "\n"
    "  confirm   they are lost; they become LOST a few at a time, as far as they stay silent\n"
    "  keep      they are not; they stay held until confirmed, or until they are back\n"
    "\n"
    "Exit status 3: no cell is held; 4: they were released already.\n";

static const struct cli_command commands[] = {
    {"apply", "FILE...", "desires what the files describe", apply_details, change, 1,
     CLI_ARGUMENTS_MAX, bbs_apply_run},
    {"ps", "[NAME]", "shows the instances of all processes, or of one", NULL, question, 0, 1,
     bbs_ps_run},
    {"scale", "NAME N", "changes the number of instances", NULL, change, 2, 2, bbs_scale_run},
    {"rm", "NAME...", "removes processes and their instances", NULL, change, 1, CLI_ARGUMENTS_MAX,
     bbs_rm_run},
    {"events", "", "follows the board: one line a change, until Ctrl-C", NULL, question, 0, 0,
     bbs_events_run},
    {"cells", "[confirm|keep]", "shows the cells, or says what of those that are held",
     cells_details, question, 0, 1, bbs_cells_run},
    {"restore", "", "makes the board's epoch anew after etcd was restored from a snapshot", NULL,
     restore, 0, 0, bbs_restore_run},
    {"serve", "", "runs a bbs server", NULL, serve, 0, 0, bbs_serve_run},
    {0},
};

int main(int argc, char **argv)
{
    static const struct cli_program program = {
        .name = "bbs",
        .summary = "guards the board of a Corkboard cluster, and asks it",
        .commands = commands,
    };
    return cli_main(&program, argc, argv);
}
