#include "common/cli/serve_io.h"
#include "common/contract/moment.h"
#include "converger/cli/commands_io.h"
#include "converger/converger.h"
#include "converger/resolver/resolver_io.h"

const struct cli_option converger_serve_options[] = {
    {.name = "name", .value = "NAME", .help = "in log lines", .fallback = "converger"},
    {.name = "interval", .value = "TIME", .help = "between two full passes", .fallback = "30s"},
    {.name = "expire-pending-task-duration",
     .value = "TIME",
     .help = "Pending for longer: a task fails (setting task_pending)"},
    {.name = "expire-completed-task-duration",
     .value = "TIME",
     .help = "Completed without a callback for so long: a task goes (setting task_keep)"},
    {.name = "kick-task-duration",
     .value = "TIME",
     .help = "Resolving for so long: a task is Completed again (setting task_kick)"},
    {.name = "git-dir",
     .value = "DIR",
     .help = "keeps what it reads of git repositories; else a directory of its own below TMPDIR"},
    {.name = "git-ca",
     .value = "FILE",
     .help = "certificates that repositories at https:// are trusted by; else the machine's"},
    {.name = "allow-file",
     .help = "systems may be defined by repositories on this machine's disk: file://"},
    {.name = "system-domain",
     .value = "DOMAIN",
     .help = "addresses of public ports are below it: api.shop.DOMAIN"},
    {.name = "task-loss",
     .value = "TIME",
     .help = "its cell absent for so long: a Running task fails (setting task_loss)"},
    {0},
};

/* A limit of tasks, at least a second; not given, it stays 0: the cluster's setting. */
static int limit_ns(const struct invocation *call, const char *name, int64_t *ret_ns,
                    struct err *err)
{
    int64_t ms = 0;
    if (!cli_text(call, name)) {
        return 0;
    }
    int r = cli_duration_ms(call, name, &ms, err);
    if (r == 0 && ms < 1000) {
        r = err_set(err, ERR_INVALID, "--%s must be at least 1s", name);
    }
    *ret_ns = ms * MILLISECOND_NS;
    return r;
}

static int task_limits(const struct invocation *call, struct task_times *ret, struct err *err)
{
    int r = limit_ns(call, "expire-pending-task-duration", &ret->expire_pending_ns, err);
    r = r < 0 ? r
              : limit_ns(call, "expire-completed-task-duration", &ret->expire_completed_ns, err);
    r = r < 0 ? r : limit_ns(call, "kick-task-duration", &ret->kick_ns, err);
    return r < 0 ? r : limit_ns(call, "task-loss", &ret->loss_ns, err);
}

int converger_serve_run(const struct invocation *call, struct err *err)
{
    struct host_config host = {0};
    struct task_times limits = {0};
    int64_t interval_ms = 0;
    int r = serve_host_config(call, &host, err);
    r = r < 0 ? r : cli_duration_ms(call, "interval", &interval_ms, err);
    r = r < 0 ? r : task_limits(call, &limits, err);
    if (r < 0) {
        return r;
    }
    if (interval_ms < 1000) {
        return err_set(err, ERR_INVALID, "--interval must be at least 1s");
    }
    struct converger_config config = {
        .name = host.name,
        .boards = cli_text(call, "bbs"),
        .url = cli_text(call, "url"),
        .interval_ns = interval_ms * MILLISECOND_NS,
        .tasks = limits,
    };
    struct resolver_config definitions = {
        .git_dir = cli_text(call, "git-dir"),
        .git_ca = cli_text(call, "git-ca"),
        .allow_file = cli_switch(call, "allow-file"),
        .system_domain = cli_text(call, "system-domain"),
    };
    host.resolver_new = resolver_new;
    host.resolver_config = &definitions;
    return serve_role(converger_new(&config), &host, err);
}
