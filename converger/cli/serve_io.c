#include "common/cli/serve_io.h"
#include "common/contract/moment.h"
#include "converger/cli/commands_io.h"
#include "converger/converger.h"

const struct cli_option converger_serve_options[] = {
    {.name = "name", .value = "NAME", .help = "in log lines", .fallback = "converger"},
    {.name = "listen", .value = "HOST:PORT", .help = "address of its API", .required = true},
    {.name = "url", .value = "URL", .help = "how others reach it", .required = true},
    {.name = "bbs", .value = "URLS", .help = "the bbs servers, comma-separated", .required = true},
    {.name = "interval", .value = "TIME", .help = "between two full passes", .fallback = "30s"},
    {0},
};

int converger_serve_run(const struct invocation *call, struct err *err)
{
    struct host_config host = {0};
    int64_t interval_ms = 0;
    int r = serve_host_config(call, &host, err);
    r = r < 0 ? r : cli_duration_ms(call, "interval", &interval_ms, err);
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
    };
    return serve_role(converger_new(&config), &host, err);
}
