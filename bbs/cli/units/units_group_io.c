/* bbs units: its verbs and what their help says. */
#include "bbs/cli/units/units_io.h"

static const struct cli_option place_options[] = {
    {.name = "units", .value = "N", .help = "how many units; 1 by default", .letter = 'n'},
    {.name = "to", .value = "MACHINE", .help = "the machine that the unit is to be on"},
    {.name = "unused", .help = "a machine that never had a unit"},
    {0},
};

static const struct cli_option deploy_options[] = {
    {.name = "name", .value = "SERVICE", .help = "of the service; by default the charm's"},
    {.name = "config", .value = "KEY=VALUE", .help = "sets an option of it", .repeated = true},
    {0},
};

static const struct cli_option config_options[] = {
    {.name = "unset", .value = "KEY", .help = "back to the charm's default", .repeated = true},
    {0},
};

static const struct cli_option force_options[] = {
    {.name = "force", .help = "end it whatever its agents do, when they have had their time"},
    {.name = "max-wait", .value = "TIME", .help = "that time, with --force; a minute by default"},
    {0},
};

static const struct cli_option leave_options[] = {
    {.name = "leave", .help = "its cell leaves the cluster first"},
    {0},
};

static const struct cli_option resolved_options[] = {
    {.name = "retry", .help = "the hook that failed runs again"},
    {.name = "skip", .help = "it counts as done"},
    {0},
};

static const struct cli_option manager_options[] = {
    {.name = "manager", .help = "it runs the cluster: it takes no units, and is never destroyed"},
    {0},
};

static const struct cli_option why_options[] = {
    {.name = "machine", .help = "NAME is the number of a machine, not of a relation"},
    {0},
};

static const struct cli_option *const question[] = BBS_ASKS_WITH(bbs_timeout_options);
static const struct cli_option *const logs[] =
    BBS_ASKS_WITH(bbs_unit_logs_options, bbs_timeout_options);
static const struct cli_option *const why[] = BBS_ASKS_WITH(why_options, bbs_timeout_options);
static const struct cli_option *const deploy[] =
    BBS_ASKS_WITH(deploy_options, place_options, bbs_timeout_options);
static const struct cli_option *const add[] = BBS_ASKS_WITH(place_options, bbs_timeout_options);
static const struct cli_option *const config[] = BBS_ASKS_WITH(config_options, bbs_timeout_options);
static const struct cli_option *const force[] = BBS_ASKS_WITH(force_options, bbs_timeout_options);
static const struct cli_option *const leave[] =
    BBS_ASKS_WITH(leave_options, force_options, bbs_timeout_options);
static const struct cli_option *const resolved[] =
    BBS_ASKS_WITH(resolved_options, bbs_timeout_options);
static const struct cli_option *const manager[] =
    BBS_ASKS_WITH(manager_options, bbs_timeout_options);

static const char status_details[] =
    "Services, their units, below each its subordinates, and their relations. STATE is how a unit\n"
    "is: its life unless it is alive, and what its agent says of it; down (started) when its cell\n"
    "is lost, has left, or was made anew. WHY is the first thing that holds whatever is not as it\n"
    "should be; bbs units why tells all.\n"
    "Exit status 3: there is no such service.\n";

static const char logs_details[] =
    "Of the container that the unit has now: what one before it wrote went with that.\n"
    "Exit status 3: there is no such unit, or it has no container; 7: its cell does not answer.\n";

static const char why_details[] =
    "NAME is a service, a unit (web/3), the number of a relation, or with --machine that of a\n"
    "machine. All that holds it is told: since when, and what ends that.\n"
    "Exit status 3: there is no such thing.\n";

static const char deploy_details[] =
    "FILE (\"-\" is standard input) is a charm, in YAML or JSON: docs/units.md. A subordinate\n"
    "service has no units of its own: they come with those that it is related to.\n"
    "Exit status 2: the charm, an option or a name is wrong; 3: there is no such machine; 4: a\n"
    "service has the name, be it dying, or the machine takes no units.\n";

static const char add_details[] =
    "Exit status 3: there is no such service or machine; 4: the service is not alive, or the\n"
    "machine takes no units.\n";

static const char relate_details[] =
    "An end is a service, SERVICE:ENDPOINT where several fit: they are listed then.\n"
    "Exit status 2: no ends fit, or several; 3: there is no such service, or no such relation;\n"
    "4: they are related already, or a service is not alive.\n";

static const char destroy_details[] =
    "Each NAME is tried, also when another one fails; the exit status is that of the first that\n"
    "failed. A unit leaves its relations and runs its last hooks first; what is dying already is\n"
    "no mistake.\n"
    "Exit status 3: there is no such thing; 4: it cannot be destroyed as it is.\n";

static const char config_details[] =
    "Without KEY=VALUE and --unset: the options, and what is in force.\n"
    "Exit status 2: the charm has no such option; 3: there is no such service; 4: it is not "
    "alive.\n";

static const char upgrade_details[] = "FILE is the charm that comes next. Exit status 4: it lacks "
                                      "an end that a relation uses, or the\n"
                                      "service is not alive.\n";

static const char resolved_details[] =
    "Exit status 3: there is no such unit; 4: it is not in error, or is resolved already.\n";

static const char machines_details[] =
    "A machine is a cell that takes units: it is made by the first one, or by add-machine.\n";

static const struct cli_command verbs[] = {
    {"", "[SERVICE...]", "shows units, services and their relations", status_details, question, 0,
     CLI_ARGUMENTS_MAX, bbs_units_status_run},
    {"status", "[SERVICE...]", "the same as bbs units", status_details, question, 0,
     CLI_ARGUMENTS_MAX, bbs_units_status_run},
    {"why", "NAME", "tells all that holds a unit, service, relation or machine", why_details, why,
     1, 1, bbs_units_why_run},
    {"logs", "UNIT", "shows what a unit's command and hooks write", logs_details, logs, 1, 1,
     bbs_units_logs_run},
    {"deploy", "FILE", "makes a unit service of a charm", deploy_details, deploy, 1, 1,
     bbs_units_deploy_run},
    {"add-unit", "SERVICE", "gives a service more units", add_details, add, 1, 1,
     bbs_units_add_run},
    {"config", "SERVICE [KEY=VALUE...]", "shows or sets options of a service", config_details,
     config, 1, CLI_ARGUMENTS_MAX, bbs_units_config_run},
    {"upgrade", "SERVICE FILE", "gives a service another charm", upgrade_details, question, 2, 2,
     bbs_units_upgrade_run},
    {"resolved", "UNIT", "says what becomes of a hook that failed", resolved_details, resolved, 1,
     1, bbs_units_resolved_run},
    {"add-relation", "END END", "relates two services", relate_details, question, 2, 2,
     bbs_units_relate_run},
    {"relations", "", "shows the relations", NULL, question, 0, 0, bbs_units_relations_run},
    {"machines", "", "shows the machines", machines_details, question, 0, 0,
     bbs_units_machines_run},
    {"add-machine", "CELL", "makes a machine of a cell", NULL, manager, 1, 1,
     bbs_units_add_machine_run},
    {"cordon", "MACHINE", "lets a machine take no more units", NULL, question, 1, 1,
     bbs_units_cordon_run},
    {"uncordon", "MACHINE", "lets it take units again", NULL, question, 1, 1,
     bbs_units_uncordon_run},
    {"destroy-unit", "UNIT...", "ends units", destroy_details, force, 1, CLI_ARGUMENTS_MAX,
     bbs_units_destroy_unit_run},
    {"destroy-service", "SERVICE...", "ends services, with their units and relations",
     destroy_details, force, 1, CLI_ARGUMENTS_MAX, bbs_units_destroy_service_run},
    {"destroy-relation", "END END", "ends a relation", relate_details, question, 2, 2,
     bbs_units_destroy_relation_run},
    {"destroy-machine", "MACHINE...", "lets cells be no machines any more", destroy_details, leave,
     1, CLI_ARGUMENTS_MAX, bbs_units_destroy_machine_run},
    {"remove-unit", "UNIT...", "the same as destroy-unit", destroy_details, force, 1,
     CLI_ARGUMENTS_MAX, bbs_units_destroy_unit_run},
    {"remove-service", "SERVICE...", "the same as destroy-service", destroy_details, force, 1,
     CLI_ARGUMENTS_MAX, bbs_units_destroy_service_run},
    {"remove-relation", "END END", "the same as destroy-relation", relate_details, question, 2, 2,
     bbs_units_destroy_relation_run},
    {"remove-machine", "MACHINE...", "the same as destroy-machine", destroy_details, leave, 1,
     CLI_ARGUMENTS_MAX, bbs_units_destroy_machine_run},
    {0},
};

const struct cli_group bbs_units_group = {"units", "Units:", verbs};
