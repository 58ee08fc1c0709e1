/* A driver's settings: copied, completed with defaults, its directories made. */
#include "common/base/memory.h"
#include "common/model/image_name.h"
#include "rep/driver/driver_parts.h"

#include "rep/driver/capability.h"
#include "rep/driver/seccomp.h"

#include <limits.h>
#include <sys/utsname.h>

static char *courier_default(const char *shim)
{
    const char *slash = strrchr(shim, '/');
    return mem_printf("%.*srep-courier", slash ? (int)(slash + 1 - shim) : 0, shim);
}

static void copy_files(struct driver *d, const struct driver_files *files)
{
    d->courier = files->courier ? mem_text(files->courier) : courier_default(d->shim);
    d->cache_dir = mem_printf("%s/cache", d->state_dir);
    d->cache_bytes = files->cache_bytes ? files->cache_bytes : DRIVER_CACHE_BYTES;
    d->fetch_ca = mem_text(files->fetch_ca);
    d->file_root = mem_text(files->file_root);
}

const char *program_beside(struct arena *a, const char *name)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    while (n > 0 && path[n - 1] != '/') {
        n--;
    }
    return arena_printf(a, "%.*s%s", (int)(n > 0 ? n : 0), path, name);
}

/* FNV-1a: small, and the same at every start. */
uint32_t state_dir_hash(const char *text)
{
    uint32_t h = 2166136261U;
    for (; *text; text++) {
        h = (h ^ (uint8_t)*text) * 16777619U;
    }
    return h;
}

static void copy_rootfs(struct driver *d, const struct driver_config *config)
{
    d->rootfs_count = config->rootfs_count;
    d->rootfs = calloc(config->rootfs_count + 1, sizeof(*d->rootfs));
    for (size_t i = 0; i < config->rootfs_count; i++) {
        d->rootfs[i].name = strdup(config->rootfs[i].name);
        d->rootfs[i].path = strdup(config->rootfs[i].path);
    }
}

static void copy_volumes(struct driver *d, const struct driver_config *config)
{
    d->volume_count = config->volume_count;
    d->volumes = calloc(config->volume_count + 1, sizeof(*d->volumes));
    for (size_t i = 0; i < config->volume_count; i++) {
        d->volumes[i] = (struct volume_source){strdup(config->volumes[i].name),
                                               strdup(config->volumes[i].path)};
    }
}

/* The profile in the runtime's words, for this machine and the rights that containers have here. */
static void load_seccomp(struct driver *d, const struct driver_config *config)
{
    const char *path = config->seccomp ? config->seccomp : SECCOMP_PROFILE;
    struct utsname u;
    json_error_t error;
    if (!path[0] || uname(&u) < 0) {
        err_set(&d->seccomp_why, ERR_UNAVAILABLE, "no profile is wanted (--seccomp)");
        return;
    }
    json_t *profile = json_load_file(path, 0, &error);
    const struct seccomp_subject subject = {u.machine,
                                            capabilities_of(false, d->facts.capabilities),
                                            kernel_runs_x32()};
    if (!profile) {
        err_set(&d->seccomp_why, ERR_UNAVAILABLE, "cannot read the profile %s: %s", path,
                access(path, R_OK) < 0 ? strerror(errno) : error.text);
    } else {
        struct err why;
        d->seccomp = seccomp_for(profile, &subject, &why);
        if (!d->seccomp) {
            err_set(&d->seccomp_why, ERR_UNAVAILABLE, "cannot use the profile %s: %s", path,
                    why.text);
        }
    }
    json_decref(profile);
}

static int check(const struct driver *d, const struct driver_config *config, struct err *err)
{
    if (d->state_dir[0] != '/') {
        return err_set(err, ERR_INVALID, "the state directory %s is not an absolute path",
                       d->state_dir);
    }
    if (access(d->shim, X_OK) < 0) {
        return err_set(err, ERR_NOT_FOUND, "cannot run the shim %s: %s", d->shim, strerror(errno));
    }
    if (d->log_bytes < 1 || d->log_files < 1 || d->log_files > DRIVER_LOG_FILES_MAX) {
        return err_set(err, ERR_INVALID, "logs are 1 to %d files of at least 1 byte",
                       DRIVER_LOG_FILES_MAX);
    }
    for (size_t i = 0; i < config->rootfs_count; i++) {
        if (access(d->rootfs[i].path, F_OK) < 0) {
            return err_set(err, ERR_NOT_FOUND, "the root filesystem %s is not at %s: %s",
                           d->rootfs[i].name, d->rootfs[i].path, strerror(errno));
        }
    }
    return 0;
}

int settings_init(struct driver *d, const struct driver_config *config, struct err *err)
{
    SCOPED_ARENA(scratch);
    d->ops = config->kind == DRIVER_OCI ? &oci_driver : &process_driver;
    d->state_dir = strdup(config->state_dir);
    d->containers_dir = mem_printf("%s/containers", config->state_dir);
    d->notes_dir = mem_printf("%s/notes", config->state_dir);
    d->runtime_dir = mem_printf("%s/runtime", config->state_dir);
    d->shim = strdup(config->shim ? config->shim : program_beside(&scratch, "rep-shim"));
    d->log_bytes = config->log_bytes ? config->log_bytes : DRIVER_LOG_BYTES;
    d->log_files = config->log_files ? config->log_files : DRIVER_LOG_FILES;
    d->hash = state_dir_hash(config->state_dir);
    copy_rootfs(d, config);
    copy_volumes(d, config);
    copy_files(d, &config->files);
    images_init(d, config);
    facts_gather(&d->facts);
    if (config->kind == DRIVER_OCI) {
        load_seccomp(d, config);
    }
    int result = check(d, config, err);
    if (result == 0) {
        result = network_init(d, &config->network, err);
    }
    result = result < 0 ? result : dir_make(d->state_dir, err);
    result = result < 0 ? result : dir_make(d->containers_dir, err);
    result = result < 0 ? result : dir_make(d->notes_dir, err);
    return result < 0 ? result : dir_make(d->runtime_dir, err);
}

int driver_init(struct driver *d, const struct driver_config *config, struct err *err)
{
    int result = settings_init(d, config, err);
    if (result == 0 && config->choice) {
        d->choice = *config->choice;
    } else if (result == 0) {
        result = driver_probe(config, &d->choice, err);
    }
    return result;
}

void driver_done(struct driver *d)
{
    for (size_t i = 0; i < d->rootfs_count; i++) {
        free(d->rootfs[i].name);
        free(d->rootfs[i].path);
    }
    json_decref(d->seccomp);
    free(d->rootfs);
    for (size_t i = 0; i < d->volume_count; i++) {
        free((char *)(uintptr_t)d->volumes[i].name);
        free((char *)(uintptr_t)d->volumes[i].path);
    }
    free(d->volumes);
    network_done(&d->network);
    images_done(d);
    free(d->state_dir);
    free(d->containers_dir);
    free(d->notes_dir);
    free(d->runtime_dir);
    free(d->shim);
    free(d->courier);
    free(d->cache_dir);
    free(d->fetch_ca);
    free(d->file_root);
}

const char *rootfs_path(struct driver *d, const char *rootfs, struct err *err)
{
    size_t size;
    const char *name = image_name_preloaded(rootfs, &size);
    for (size_t i = 0; name && i < d->rootfs_count; i++) {
        const char *have = d->rootfs[i].name;
        if (strlen(have) == size && memcmp(have, name, size) == 0) {
            return d->rootfs[i].path;
        }
    }
    err_set(err, ERR_NOT_FOUND, "the root filesystem %s is not preloaded on this cell", rootfs);
    return NULL;
}
