#include "rep/cli/driver_options_io.h"

#include "rep/cli/commands_io.h"
#include "rep/driver/seccomp.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const struct cli_option rep_driver_options[] = {
    {.name = "state-dir",
     .value = "DIR",
     .help = "where the cell and its containers are kept",
     .required = true},
    {.name = "driver",
     .value = "oci|process",
     .help = "containers by runc or crun, or plain processes without isolation",
     .fallback = "oci"},
    {.name = "runtime", .value = "PATH", .help = "runc or crun; the first that works by default"},
    {.name = "seccomp",
     .value = "FILE",
     .help = "profile of the system calls of containers; none = all are allowed",
     .fallback = SECCOMP_PROFILE},
    {.name = "shim", .value = "PATH", .help = "the program rep-shim; beside rep by default"},
    {0},
};

static int check_program(const struct invocation *call, const char *option, const char **ret_path,
                         struct err *err)
{
    const char *path = cli_text(call, option);
    if (path && access(path, X_OK) != 0) {
        return err_set(err, ERR_INVALID, "cannot run --%s %.120s: %s", option, path,
                       strerror(errno));
    }
    *ret_path = path;
    return 0;
}

int driver_config_from(const struct invocation *call, const char *state_dir,
                       struct driver_config *ret_config, struct err *err)
{
    struct driver_config c = {.state_dir = state_dir};
    const char *kind = "oci";
    int r = cli_choice(call, "driver", &kind, err);
    r = r < 0 ? r : check_program(call, "runtime", &c.runtime, err);
    r = r < 0 ? r : check_program(call, "shim", &c.shim, err);
    if (r == 0) {
        c.seccomp = cli_text(call, "seccomp");
        c.seccomp = strcmp(c.seccomp, "none") == 0 ? "" : c.seccomp;
        c.kind = strcmp(kind, "process") == 0 ? DRIVER_PROCESS : DRIVER_OCI;
        *ret_config = c;
    }
    return r;
}
