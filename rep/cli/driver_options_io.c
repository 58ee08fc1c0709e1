#include "rep/cli/driver_options_io.h"

#include "rep/cli/commands_io.h"
#include "rep/driver/seccomp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
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

const struct cli_option rep_image_options[] = {
    {.name = "images",
     .value = "auto|off",
     .help = "whether images are pulled: if skopeo and containers-storage are there, or never",
     .fallback = "auto"},
    {.name = "registries",
     .value = "FILE",
     .help = "containers-registries.conf(5): default registry, mirrors; the system's by default"},
    {.name = "registry-certs",
     .value = "DIR",
     .help = "in DIR/HOST:PORT: *.crt of CAs that are believed of that registry"},
    {.name = "oci-root", .value = "DIR", .help = "images oci:///PATH#TAG stand below it"},
    {.name = "image-cache",
     .value = "BYTES",
     .help = "most that images take; a fifth of their file system by default"},
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

/* Whether a program is found. */
static bool program_there(struct arena *a, const char *name)
{
    const char *search = getenv("PATH");
    while (search && *search) {
        size_t n = strcspn(search, ":");
        if (access(arena_printf(a, "%.*s/%s", (int)n, search, name), X_OK) == 0) {
            return true;
        }
        search += n + (search[n] == ':');
    }
    return false;
}

static int check_path(const char *option, const char *path, int mode, struct err *err)
{
    if (path && path[0] != '/') {
        return err_set(err, ERR_INVALID, "--%s must be an absolute path, not %.120s", option, path);
    }
    return !path || access(path, mode) == 0
               ? 0
               : err_set(err, ERR_INVALID, "cannot read --%s %.120s: %s", option, path,
                         strerror(errno));
}

int driver_images_from(const struct invocation *call, enum driver_kind kind, const char *state_dir,
                       struct driver_image_config *ret_images, struct err *err)
{
    enum { PART = 5 };
    struct statvfs v;
    const char *images = "auto";
    struct driver_image_config i = {
        .registries = cli_text(call, "registries"),
        .registry_certs = cli_text(call, "registry-certs"),
        .oci_root = cli_text(call, "oci-root"),
        .bytes = statvfs(state_dir, &v) == 0
                     ? (int64_t)((double)v.f_blocks * (double)v.f_frsize / PART)
                     : DRIVER_IMAGE_BYTES,
    };
    int r = cli_choice(call, "images", &images, err);
    r = r < 0 ? r : cli_number(call, "image-cache", 1, INT64_MAX / 4, &i.bytes, err);
    r = r < 0 ? r : check_path("registries", i.registries, R_OK, err);
    r = r < 0 ? r : check_path("registry-certs", i.registry_certs, R_OK | X_OK, err);
    r = r < 0 ? r : check_path("oci-root", i.oci_root, R_OK | X_OK, err);
    if (r == 0) {
        i.on = strcmp(images, "auto") == 0 && kind == DRIVER_OCI && geteuid() == 0 &&
               program_there(call->arena, "skopeo") &&
               program_there(call->arena, "containers-storage");
        *ret_images = i;
    }
    return r;
}
