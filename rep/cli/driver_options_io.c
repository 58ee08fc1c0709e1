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

const struct cli_option rep_file_options[] = {
    {.name = "courier",
     .value = "PATH",
     .help = "the program rep-courier; beside rep-shim by default"},
    {.name = "cache",
     .value = "BYTES",
     .help = "most that is kept of what was downloaded",
     .fallback = "10000000000"},
    {.name = "fetch-ca", .value = "FILE", .help = "believes these CAs of file servers, too"},
    {.name = "file-root", .value = "DIR", .help = "allows file: URLs below this directory"},
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

int driver_files_from(const struct invocation *call, struct driver_files *ret_files,
                      struct err *err)
{
    struct driver_files f = {
        .fetch_ca = cli_text(call, "fetch-ca"),
        .file_root = cli_text(call, "file-root"),
    };
    int r = check_program(call, "courier", &f.courier, err);
    r = r < 0 ? r : cli_number(call, "cache", 1, INT64_MAX / 4, &f.cache_bytes, err);
    if (r == 0 && f.fetch_ca && access(f.fetch_ca, R_OK) != 0) {
        r = err_set(err, ERR_INVALID, "cannot read --fetch-ca %.120s: %s", f.fetch_ca,
                    strerror(errno));
    }
    if (r == 0 && f.file_root && f.file_root[0] != '/') {
        r = err_set(err, ERR_INVALID, "--file-root must be an absolute path, not %.120s",
                    f.file_root);
    }
    if (r == 0) {
        *ret_files = f;
    }
    return r;
}
