/* What is said of an app or a task stands at the top: `bbs apply`, and not `bbs apps apply`. */
#include "bbs/cli/commands_io.h"

static const struct cli_option *const question[] = BBS_ASKS_WITH(bbs_timeout_options);
static const struct cli_option *const change[] = BBS_ASKS_WITH(bbs_wait_options);
static const struct cli_option *const restart[] = BBS_ASKS_WITH(bbs_restart_options);
static const struct cli_option *const run[] =
    BBS_ASKS_WITH(bbs_run_options, bbs_job_options, bbs_secrets_options);
static const struct cli_option *const task[] =
    BBS_ASKS_WITH(bbs_task_options, bbs_timeout_options, bbs_secrets_options);
static const struct cli_option *const logs[] =
    BBS_ASKS_WITH(bbs_logs_options, bbs_timeout_options);
static const struct cli_option *const why[] =
    BBS_ASKS_WITH(bbs_why_options, bbs_timeout_options, bbs_secrets_options);
static const struct cli_option *const events[] =
    BBS_ASKS_WITH(bbs_events_options, bbs_timeout_options, bbs_secrets_options);

static const char apply_details[] =
    "A FILE (\"-\" is standard input) holds one app, several YAML documents, or a list under "
    "apps:.\n"
    "\n"
    "  name: web                        what ps, scale and rm call it\n"
    "  instances: 3                     1 by default; left as it is when not given\n"
    "  rootfs: preloaded:busybox        a root filesystem that cells have: bbs cells\n"
    "  command: exec httpd -f -p $PORT  for /bin/sh -c; or a list: [httpd, -f]\n"
    "  user: root  dir: /app            of the command\n"
    "  env: {KEY: value}\n"
    "  ports: [8080]\n"
    "  memory: 64M  disk: 128M          128M and 256M by default\n"
    "  cpu: 50                          its weight where processors are short, 1 to 100;\n"
    "                                   by default an ordinary process's, which 100 is about\n"
    "  routes: {cf-router: [...]}  metric_tags: {key: value}  domain: default\n"
    "\n"
    "and other keys of a DesiredLRP by their names in the API (action, max_pids, placement_tags,\n"
    "...); docs/app-file.md lists all. What no cell can do is refused.\n"
    "\n"
    "While it runs, these change in place: instances, routes, annotation, metric_tags, and the\n"
    "policies on_cell_loss (replace, hold) and on_evacuate (move, stay). With any other change the\n"
    "app is replaced: new instances are started beside the old ones, which are removed when all\n"
    "the new ones run. The command waits for that, for --timeout at most; if they do not come up,\n"
    "the old ones run on (exit status 6 or 7). If it was interrupted, apply the file again. Of several\n"
    "definitions of an app that are applied at the same time one stays, as if one were applied after\n"
    "the other: the last one ends with 0, the others say that another apply was in between, with 4.\n"
    "\n"
    "All files are read before anything is done. Then each app is applied, also when another one\n"
    "fails; the exit status is that of the first that failed.\n";

static const char ps_details[] =
    "NAME is an app's, or a process_guid; NAME/N is the instance of that index. It may be a\n"
    "system's, too, or SYSTEM:PATH for what stands at and below that path (SYSTEM: when an app is\n"
    "called so).\n"
    "\n"
    "A row is an instance. PROCESS is the app's name, or a process_guid while two definitions of it\n"
    "stand side by side. STATE is one of\n"
    "\n"
    "  UNCLAIMED   it waits for a cell; below it stands why it has none\n"
    "  CLAIMED     a cell makes its container\n"
    "  RUNNING     it runs\n"
    "  CRASHED     it ended, and is started again after a while; below it stands how it ended\n"
    "  STOPPING    it was asked to stop\n"
    "\n"
    "(suspect) is one whose cell is lost, (evacuating) one whose cell is being emptied: it is shown\n"
    "until another instance of its index runs. ADDRESS:PORT->PORT is where it is reached, and the\n"
    "port that its file says. CRASHES counts from when it last ran for five minutes.\n"
    "\n"
    "In JSON a line is the record of an instance; last come the processes that have none, as\n"
    "{\"process_guid\":\"web-1\",\"domain\":\"default\",\"instances\":0}, without index and state.\n";

static const char why_details[] = "NAME is an app's, or a process_guid; NAME/N, or NAME N, is the "
                                  "instance of that index. It may be a\n"
                                  "system's, or SYSTEM:PATH: then it tells what holds it, whose turn\n"
                                  "it is, since when, and what would end it. Without N\n"
                                  "all instances are explained; of more than 50, those that do not "
                                  "run come first. What waits for a\n"
                                  "cell is explained by the auctioneer, too, if one answers.\n";

static const char restart_details[] =
    "NAME is an app's, or a process_guid; with /N only that index. Each instance is asked to "
    "stop,\n"
    "one that waits, or has crashed, is made again, and the next one is not touched before the "
    "new\n"
    "one has run for a second: its cell, ports and crash count are new, the definition is the "
    "same.\n"
    "It goes no further when one crashes as it starts (exit status 1), does not run in time (6), "
    "or\n"
    "somebody removes the app or scales it down meanwhile (4); how far it came is reported. What "
    "was\n"
    "stopped is started again in any case, by the cluster.\n"
    "\n"
    "An instance on a cell that is LOST is made again elsewhere, also with on_cell_loss: hold, "
    "while the\n"
    "old one may still run there until the cell is back: the line of the result says so (in JSON\n"
    "\"warning\").\n";

static const char rm_details[] =
    "NAME is an app's, with all its definitions, or a process_guid. When a NAME is not there "
    "nothing\n"
    "is removed (exit status 3). A removal that fails is reported, and the others go on.\n"
    "\n"
    "With --wait, what was on a cell that is LOST is named: it may run still, and is stopped when "
    "the\n"
    "cell is back. That is not waited for, and the exit status is 6.\n";

static const char scale_details[] =
    "With --wait, what is to stop on a cell that is LOST is named: it may run still, and is "
    "stopped when\n"
    "the cell is back. That is not waited for, and the exit status is 6. Somebody else who asks "
    "for\n"
    "another number meanwhile ends the waiting, which says so (4).\n";

static const char run_details[] =
    "SYSTEM:PATH in its place is a job of a system: bbs jobs run --help. --env, --secret and a\n"
    "command behind -- are for those.\n"
    "\n"
    "A FILE (\"-\" is standard input) holds one task, in YAML or JSON.\n"
    "\n"
    "  name: backup                     what tasks, task, cancel and logs --task call it\n"
    "  rootfs: preloaded:busybox        a root filesystem that cells have: bbs cells\n"
    "  command: tar cf /tmp/b.tar /etc  for /bin/sh -c; or a list: [tar, cf, ...]\n"
    "  user: root  dir: /app            of the command\n"
    "  env: {KEY: value}\n"
    "  memory: 64M  disk: 128M          128M and 256M by default\n"
    "  cpu: 50                          its weight where processors are short, 1 to 100;\n"
    "                                   by default an ordinary process's, which 100 is about\n"
    "  result_file: /tmp/result         what stands in it at the end is the result\n"
    "  completion_callback_url: https://...\n"
    "  max_retries: 3  keep: 24h        rejections by cells; how long it is kept when it is over\n"
    "  domain: default  task_guid: ...  the name and a random part by default\n"
    "\n"
    "and other keys of a TaskDefinition by their names in the API; docs/app-file.md lists all. "
    "What\n"
    "no cell can do is refused.\n"
    "\n"
    "It runs at most once. With --wait the exit status is 0 when it succeeded, 1 when it failed,\n"
    "6 when it was not over in time (it goes on), 3 when it was deleted, by somebody or as keep "
    "says,\n"
    "before its end was seen; interrupted, it prints the guid, and the task goes on. It is kept "
    "for\n"
    "its result until bbs task GUID --rm, or as long as keep says; --wait --rm deletes it at "
    "once.\n";

static const char logs_details[] =
    "NAME is an app's, with all its definitions, or a process_guid; NAME/N, or NAME N, is the instance\n"
    "of that index. A system, SYSTEM:PATH and a job of one have logs, too.\n"
    "\n"
    "Without N all are shown, and each line begins with NAME/N when there are several\n"
    "(with PROCESS_GUID/N when there are several definitions). Lines stand in the order in\n"
    "which the cell read them; JSON reads stdout and stderr each by itself, and says which it is.\n"
    "\n"
    "-f goes on through restarts, moves and changes of the app, with new instances, too: 64 at\n"
    "once. On standard error it says where each is and that it ended, and how. It ends when the app\n"
    "is removed (0), or by Ctrl-C (130).\n"
    "\n"
    "What an instance wrote is kept for an hour after it has gone, of each index the last 3.\n"
    "--previous asks all cells for it, also of an app that was removed, of a definition that was\n"
    "replaced, of an index that is not desired any more. It shows the newest of each, those that\n"
    "ended last first, and names on standard error what it shows, and cells that do not answer.\n";

static const char events_details[] =
    "With a NAME, an app's, a system's or SYSTEM:PATH, only what changes of that.\n"
    "\n"
    "A line is a change: the revision of the board, new, changed or gone, and how it is now. In "
    "JSON\n"
    "\"record\" is the whole record; of one that is gone, as it was, if that is known.\n"
    "\n"
    "When a bbs is lost it goes on at another one, and shows each change once. If changes were "
    "missed all\n"
    "the same, (some changes were missed), in JSON {\"change\":\"missed\"}, stands before what "
    "differs\n"
    "from what was shown: how it is now, and not what became of it in between.\n";

static const struct cli_command verbs[] = {
    {"apply", "FILE...", "keeps running what app files describe", apply_details, change, 1,
     CLI_ARGUMENTS_MAX, bbs_apply_run},
    {"ps", "[NAME[/N]]", "shows the instances of all processes, or of one", ps_details, question, 0,
     1, bbs_ps_run},
    {"scale", "NAME N", "changes the number of instances", scale_details, change, 2, 2,
     bbs_scale_run},
    {"restart", "NAME[/N]", "stops and starts instances again, one at a time", restart_details,
     restart, 1, 1, bbs_restart_run},
    {"rm", "NAME...", "removes processes and their instances", rm_details, change, 1,
     CLI_ARGUMENTS_MAX, bbs_rm_run},
    {"run", "FILE", "runs a task, or a job of a system, once", run_details, run, 1,
     CLI_ARGUMENTS_MAX, bbs_run_run},
    {"task", "NAME", "shows one task: how it stands, or ended, and its result", NULL, task, 1, 1,
     bbs_task_run},
    {"cancel", "NAME...", "ends tasks that are not over", bbs_cancel_details, question, 1,
     CLI_ARGUMENTS_MAX, bbs_cancel_run},
    {"why", "NAME[/N]", "explains why an app, a task or a system is as it is", why_details, why, 1,
     2, bbs_why_run},
    {"logs", "NAME[/N]", "shows what instances write", logs_details, logs, 1, 2, bbs_logs_run},
    {"events", "[NAME]", "follows the board: one line a change, until Ctrl-C", events_details,
     events, 0, 1, bbs_events_run},
    {0},
};

const struct cli_group bbs_work_group = {"", "Apps and tasks:", verbs};
