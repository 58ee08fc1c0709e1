/* A driver in the loop of a rep's host. */
#include "common/shell/log_io.h"
#include "rep/driver/driver_parts.h"

static void deliver_to_host(void *host, const struct event *ev)
{
    host_deliver(host, ev);
}

static void reply_by_host(void *host, const struct reply *reply)
{
    host_reply(host, reply);
}

static void wake_host(void *host, const char *channel)
{
    host_wake(host, channel);
}

/* Once, at the start: which runtime was chosen and why, for whoever reads the log. */
static void say_choice(const struct driver *d)
{
    struct log *log = log_new("driver", LOG_INFO_LEVEL, STDERR_FILENO);
    struct log_line line = {.level = LOG_INFO_LEVEL, .message = d->choice.text, .data = ""};
    log_put(log, &line);
    if (d->network.no_resolver) {
        line.level = LOG_WARN_LEVEL;
        line.message = "containers have no name server: all of this machine's are at loopback "
                       "addresses; give one by --dns";
        log_put(log, &line);
    }
    log_free(log);
}

struct driver_shell *driver_new(void *config, struct host *host, struct err *err)
{
    struct driver_owner owner = {host, deliver_to_host, reply_by_host, wake_host};
    struct driver_shell *shell = driver_open(config, host_loop(host), &owner, err);
    if (shell) {
        say_choice((struct driver *)shell);
    }
    return shell;
}
