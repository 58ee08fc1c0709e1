#include "common/base/version.h"
#include "common/cli/cli_io.h"
#include "common/cli/serve_io.h"
#include "crm/cli/commands_io.h"
#include "crm/crm.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const struct cli_option crm_serve_options[] = {
    {.name = "name", .value = "NAME", .help = "in log lines", .fallback = "crm"},
    {.name = "cloudlet",
     .value = "ORG/NAME",
     .help = "which cloudlet of the centre this site is",
     .required = true},
    {.name = "centre",
     .value = "URLS",
     .help = "the centre's bbs servers, comma-separated",
     .required = true},
    {.name = "centre-ca",
     .value = "FILE",
     .help = "certificate of the centre's CA",
     .required = true},
    {.name = "centre-cert",
     .value = "FILE",
     .help = "certificate at the centre: OU crm, CN ORG/NAME",
     .required = true},
    {.name = "centre-key", .value = "FILE", .help = "its key", .required = true},
    {.name = "launch",
     .value = "COMMAND",
     .help = "starts and stops other versions: COMMAND start VERSION, COMMAND stop VERSION"},
    {.name = "release",
     .value = "VERSION",
     .help = "the version that it says it is",
     .fallback = CORKBOARD_VERSION},
    {0},
};

const struct cli_option crm_url_options[] = {
    {.name = "url", .value = "URL", .help = "the CRM's URL", .env = "CRM_URL", .required = true},
    {0},
};

static int readable(const struct invocation *call, const char *option, const char **ret_file,
                    struct err *err)
{
    *ret_file = cli_text(call, option);
    return access(*ret_file, R_OK) == 0 ? 0
                                        : err_set(err, ERR_INVALID, "cannot read --%s %.120s: %s",
                                                  option, *ret_file, strerror(errno));
}

int crm_serve_run(const struct invocation *call, struct err *err)
{
    struct host_config host = {0};
    int r = serve_host_config(call, &host, err);
    r = r < 0 ? r : readable(call, "centre-ca", &host.centre_tls.ca, err);
    r = r < 0 ? r : readable(call, "centre-cert", &host.centre_tls.cert, err);
    r = r < 0 ? r : readable(call, "centre-key", &host.centre_tls.key, err);
    if (r < 0) {
        return r;
    }
    const struct crm_config config = {
        .name = host.name,
        .cloudlet = cli_text(call, "cloudlet"),
        .version = cli_text(call, "release"),
        .boards = cli_text(call, "bbs"),
        .centres = cli_text(call, "centre"),
        .url = cli_text(call, "url"),
        .launch = cli_text(call, "launch"),
    };
    return serve_role(crm_new(&config), &host, err);
}
