#include "common/cli/serve_io.h"

#include "common/model/image_name.h"
#include "rep/cli/commands_io.h"
#include "rep/cli/driver_options_io.h"
#include "rep/driver/volumes.h"
#include "rep/cli/network_options_io.h"
#include "rep/container/id_ranges.h"
#include "rep/cli/tools_dir_io.h"
#include "rep/rep.h"
#include "rep/state_dir_io.h"
#include "rep/unit/cell_unit.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

const struct cli_option rep_serve_options[] = {
    {.name = "cell-id", .value = "ID", .help = "the cell's name, unique", .required = true},
    {.name = "zone", .value = "ZONE", .help = "availability zone", .fallback = "z1"},
    {.name = "name", .value = "NAME", .help = "in log lines; the cell id by default"},
    {.name = "listen", .value = "IP:PORT", .help = "address of its API", .required = true},
    {.name = "url", .value = "URL", .help = "how others reach it", .required = true},
    {.name = "bbs", .value = "URLS", .help = "the bbs servers, comma-separated", .required = true},
    {.name = "address",
     .value = "IP",
     .help = "where its instances are reached",
     .fallback = "127.0.0.1"},
    {.name = "rootfs",
     .value = "NAME=DIR",
     .help = "root filesystem preloaded:NAME; NAME=oci:PATH:TAG is an image in a layout",
     .repeated = true},
    {.name = "rootfs-dir", .value = "DIR", .help = "each directory in it is one by its own name"},
    {.name = "volume",
     .value = "NAME=DIR",
     .help = "directory that containers may have as a volume, or one below it",
     .repeated = true},
    {.name = "memory-mb", .value = "N", .help = "memory of the cell; the machine's by default"},
    {.name = "disk-mb", .value = "N", .help = "disk of the cell", .fallback = "10240"},
    {.name = "containers", .value = "N", .help = "most containers", .fallback = "250"},
    {.name = "proxy-memory",
     .value = "MB",
     .help = "memory set aside for each LRP's proxy, beside its own",
     .fallback = "0"},
    {.name = "cell-index",
     .value = "N",
     .help = "place among the cells that are filled one after the other",
     .fallback = "0"},
    {.name = "ports",
     .value = "LOW-HIGH",
     .help = "host ports for instances",
     .fallback = "61000-62999"},
    {.name = "ids",
     .value = "FIRST-LAST",
     .help = "user ids for containers, 65536 each; none = no user namespaces",
     .fallback = "1000000000-1268435455"},
    {.name = "isolation",
     .value = "auto|strict",
     .help = "whether the rep starts where not all of the isolation works",
     .fallback = "auto"},
    {.name = "privileged",
     .value = "deny|allow",
     .help = "whether privileged containers may run here",
     .fallback = "deny"},
    {.name = "hooks",
     .value = "N",
     .help = "so many hooks of units run at once, at most 64",
     .fallback = "4"},
    {.name = "placement-tag",
     .value = "TAG",
     .help = "only work with this tag comes here",
     .repeated = true},
    {.name = "admin-listen",
     .value = "IP:PORT",
     .help = "where this machine's tools reach it (rep evacuate); nowhere by default"},
    {.name = "on-term",
     .value = "drain|leave",
     .help = "what SIGTERM does: empties the cell, or ends the rep while its containers run on; "
             "SIGINT always does the latter, and a second signal ends it at once",
     .fallback = "drain"},
    {.name = "evacuation-limit",
     .value = "TIME",
     .help = "after so long what is left is stopped",
     .fallback = "10m"},
    {.name = "optional-placement-tag",
     .value = "TAG",
     .help = "work with this tag may come here",
     .repeated = true},
    {0},
};

struct rootfs_list {
    struct driver_rootfs entries[CLI_REPEATS_MAX];
    const char *names[CLI_REPEATS_MAX + 1]; /* of both */
    size_t count, name_count;
    struct name_value images[CLI_REPEATS_MAX];
    size_t image_count;
};

struct volume_list {
    struct volume_source entries[CLI_REPEATS_MAX];
    size_t count;
};

/* A name is the first step of a volume_id, so it has no slash. */
static int read_volumes(const struct invocation *call, struct volume_list *list, struct err *err)
{
    for (const char *const *given = cli_list(call, "volume"); *given; given++) {
        const char *equals = strchr(*given, '=');
        struct stat st;
        if (!equals || equals == *given || memchr(*given, '/', (size_t)(equals - *given))) {
            return err_set(err, ERR_INVALID, "--volume must be NAME=DIR, not \"%.60s\"", *given);
        }
        char *real = realpath(equals + 1, NULL);
        if (!real || stat(real, &st) < 0 || !S_ISDIR(st.st_mode)) {
            free(real);
            return err_set(err, ERR_INVALID, "--volume: \"%.120s\" is no directory", equals + 1);
        }
        list->entries[list->count++] = (struct volume_source){
            .name = arena_strndup(call->arena, *given, (size_t)(equals - *given)),
            .path = arena_strdup(call->arena, real),
        };
        free(real);
    }
    return 0;
}

/* PATH:TAG of a layout. */
static int add_image(const struct invocation *call, const char *name, const char *place,
                     struct rootfs_list *list, struct err *err)
{
    struct image_name parsed;
    struct err why;
    size_t path = strcspn(place, ":");
    const char *image = arena_printf(call->arena, "oci://%.*s%s%s", (int)path, place,
                                     place[path] ? "#" : "", place[path] ? place + path + 1 : "");
    if (image_name_parse(call->arena, image, &parsed, &why) < 0) {
        return err_set(err, ERR_INVALID, "root filesystem %.60s: oci:%.120s: %.120s", name, place,
                       why.text);
    }
    if (access(parsed.path, F_OK) < 0) {
        return err_set(err, ERR_INVALID, "root filesystem %.60s: cannot use %.120s: %s", name,
                       parsed.path, strerror(errno));
    }
    list->images[list->image_count++] = (struct name_value){arena_strdup(call->arena, name), image};
    list->names[list->name_count++] = list->images[list->image_count - 1].name;
    return 0;
}

static int add_rootfs(const struct invocation *call, const char *name, const char *path,
                      struct rootfs_list *list, struct err *err)
{
    char real[PATH_MAX];
    struct stat st;
    if (list->name_count == CLI_REPEATS_MAX) {
        return err_set(err, ERR_INVALID, "more than %d root filesystems", CLI_REPEATS_MAX);
    }
    if (strncmp(path, "oci:", 4) == 0) {
        return add_image(call, name, path + 4, list, err);
    }
    if (!realpath(path, real) || stat(real, &st) < 0) {
        return err_set(err, ERR_INVALID, "root filesystem %.60s: cannot use %.120s: %s", name, path,
                       strerror(errno));
    }
    list->entries[list->count] = (struct driver_rootfs){
        .name = arena_strdup(call->arena, name),
        .path = arena_strdup(call->arena, real),
    };
    list->names[list->name_count++] = list->entries[list->count].name;
    list->count++;
    return 0;
}

static int add_directory(const struct invocation *call, const char *path, struct rootfs_list *list,
                         struct err *err);

static int read_rootfs(const struct invocation *call, struct rootfs_list *list, struct err *err)
{
    for (const char *const *given = cli_list(call, "rootfs"); *given; given++) {
        const char *equals = strchr(*given, '=');
        if (!equals || equals == *given || !equals[1]) {
            return err_set(err, ERR_INVALID,
                           "--rootfs must be NAME=DIR or NAME=oci:PATH:TAG, not \"%.60s\"", *given);
        }
        const char *name = arena_strndup(call->arena, *given, (size_t)(equals - *given));
        int r = add_rootfs(call, name, equals + 1, list, err);
        if (r < 0) {
            return r;
        }
    }
    const char *directory = cli_text(call, "rootfs-dir");
    return directory ? add_directory(call, directory, list, err) : 0;
}

static int read_ports(const struct invocation *call, struct rep_config *config, struct err *err)
{
    const char *text = cli_text(call, "ports");
    unsigned low = 0, high = 0;
    char end;
    if (sscanf(text, "%5u-%5u%c", &low, &high, &end) != 2 || low < 1 || high > 65535 ||
        low > high) {
        return err_set(err, ERR_INVALID,
                       "--ports must be LOW-HIGH, like 61000-62999, not \"%.40s\"", text);
    }
    config->port_low = (uint16_t)low;
    config->port_high = (uint16_t)high;
    return 0;
}

/* Both included. Id 0 is the machine's own root. */
static int read_ids(const struct invocation *call, struct rep_config *config, struct err *err)
{
    const char *text = cli_text(call, "ids");
    unsigned long long first = 0, last = 0;
    char end;
    if (strcmp(text, "none") == 0) {
        return 0;
    }
    if (sscanf(text, "%10llu-%10llu%c", &first, &last, &end) != 2 || first < 1 ||
        last >= UINT32_MAX || last < first || last - first + 1 < CONTAINER_IDS) {
        return err_set(err, ERR_INVALID,
                       "--ids must be FIRST-LAST with at least %d ids, like "
                       "1000000000-1268435455, or none, not \"%.40s\"", CONTAINER_IDS, text);
    }
    config->ids_first = (uint32_t)first;
    config->ids_count = (uint32_t)(last - first + 1);
    return 0;
}

static int read_isolation(const struct invocation *call, struct rep_config *config,
                          bool *ret_strict, struct err *err)
{
    const char *isolation = "auto", *privileged = "deny";
    int r = read_ids(call, config, err);
    r = r < 0 ? r : cli_choice(call, "isolation", &isolation, err);
    r = r < 0 ? r : cli_choice(call, "privileged", &privileged, err);
    *ret_strict = strcmp(isolation, "strict") == 0;
    config->privileged = strcmp(privileged, "allow") == 0;
    return r;
}

static int64_t machine_memory_mb(void)
{
    int64_t mb = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / (1024 * 1024);
    return mb > INT32_MAX ? INT32_MAX : mb > 0 ? mb : 1;
}

static int read_capacity(const struct invocation *call, struct rep_config *config, struct err *err)
{
    int64_t memory_mb = machine_memory_mb(), disk_mb = 0, containers = 0, proxy_mb = 0, index = 0;
    int64_t hooks = UNIT_HOOKS_AT_ONCE;
    int r = cli_number(call, "memory-mb", 1, INT32_MAX, &memory_mb, err);
    r = r < 0 ? r : cli_number(call, "disk-mb", 0, INT32_MAX, &disk_mb, err);
    r = r < 0 ? r : cli_number(call, "containers", 1, DRIVER_CONTAINERS_MAX, &containers, err);
    r = r < 0 ? r : cli_number(call, "proxy-memory", 0, INT32_MAX, &proxy_mb, err);
    r = r < 0 ? r : cli_number(call, "cell-index", 0, INT32_MAX, &index, err);
    r = r < 0 ? r : cli_number(call, "hooks", 1, UNIT_HOOKS_MAX, &hooks, err);
    config->hooks = (unsigned)hooks;
    config->proxy_memory_mb = (int32_t)proxy_mb;
    config->index = (int32_t)index;
    config->memory_mb = (int32_t)memory_mb;
    config->disk_mb = (int32_t)disk_mb;
    config->containers = (int32_t)containers;
    return r;
}

static int read_evacuation(const struct invocation *call, struct rep_config *config,
                           struct err *err)
{
    const char *on_term = "drain";
    int64_t limit_ms = 0;
    int r = cli_choice(call, "on-term", &on_term, err);
    r = r < 0 ? r : cli_duration_ms(call, "evacuation-limit", &limit_ms, err);
    if (r == 0 && limit_ms < 1000) {
        r = err_set(err, ERR_INVALID, "--evacuation-limit must be at least 1s");
    }
    config->leave_on_term = strcmp(on_term, "leave") == 0;
    config->evacuation_ns = limit_ms * MILLISECOND_NS;
    return r;
}

static int read_config(const struct invocation *call, struct rep_config *config, struct err *err)
{
    *config = (struct rep_config){
        .cell_id = cli_text(call, "cell-id"),
        .zone = cli_text(call, "zone"),
        .boards = cli_text(call, "bbs"),
        .url = cli_text(call, "url"),
        .address = cli_text(call, "address"),
        .placement_tags = cli_list(call, "placement-tag"),
        .optional_placement_tags = cli_list(call, "optional-placement-tag"),
    };
    if (strlen(config->cell_id) > 200) {
        return err_set(err, ERR_INVALID, "--cell-id is longer than 200 letters");
    }
    int r = read_ports(call, config, err);
    r = r < 0 ? r : read_evacuation(call, config, err);
    return r < 0 ? r : read_capacity(call, config, err);
}

/* What the driver may come to hold, for no connection to take it. As far as it may be raised, the
 * limit leaves that and OTHERS; where it does not, containers and connections have a half each. */
static unsigned files_of_driver(const struct rep_config *config)
{
    enum { OTHERS = 1024 };
    struct rlimit files;
    rlim_t needed = driver_files((unsigned)config->containers), wanted = needed + OTHERS;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0) {
        return 0;
    }
    if (files.rlim_cur < wanted) {
        files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    return (unsigned)(needed < files.rlim_cur / 2 ? needed : files.rlim_cur / 2);
}

static int keep_incarnation(void *owner, uint64_t incarnation, struct err *err)
{
    return state_dir_raise(owner, incarnation, err);
}

static int keep_evacuation(void *owner, const struct kept_evacuation *kept, struct err *err)
{
    return state_dir_keep(owner, kept, err);
}

/* NULL: this system does not tell. */
static const char *boot_id(struct arena *a)
{
    char text[64] = "";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool read = f && fgets(text, sizeof(text), f);
    if (f) {
        fclose(f);
    }
    text[strcspn(text, "\n")] = '\0';
    return read && *text ? arena_strdup(a, text) : NULL;
}

/* Without a directory there is no use in "bind", and work that needs it is not placed here. */
static const char *const *volume_drivers(const struct driver_config *driver)
{
    static const char *const none[] = {NULL}, *const memory[] = {"tmpfs", NULL};
    static const char *const both[] = {"bind", "tmpfs", NULL};
    return driver->kind != DRIVER_OCI ? none : driver->volume_count > 0 ? both : memory;
}

/* Before the role is made, which goes by what works here. */
static int probe(const struct invocation *call, struct driver_config *driver,
                 struct rep_config *config, struct err *err)
{
    struct driver_choice *choice = ARENA_NEW(call->arena, struct driver_choice);
    int r = read_isolation(call, config, &driver->strict, err);
    driver->ids_first = id_ranges_last(config->ids_first, config->ids_count);
    r = r < 0 ? r : driver_probe(driver, choice, err);
    if (r == 0) {
        driver->choice = choice;
        config->isolation = choice->isolation;
        config->volume_drivers = volume_drivers(driver);
        config->ids_count = choice->user_namespaces ? config->ids_count : 0;
    }
    return r;
}

struct directories {
    struct rootfs_list rootfs;
    struct volume_list volumes;
};

static int serve(const struct invocation *call, struct host_config *host, struct rep_config *config,
                 struct directories *directories, struct err *err)
{
    const struct rootfs_list *rootfs = &directories->rootfs;
    struct state_dir state;
    struct driver_config driver;
    struct network_choice network;
    struct tools_directories tools = {0};
    int r = state_dir_open(&state, cli_text(call, "state-dir"), config->cell_id, err);
    r = r < 0 ? r : driver_config_from(call, state.path, &driver, err);
    r = r < 0 ? r : network_from(call, &driver, &network, err);
    r = r < 0 ? r : driver_files_from(call, &driver.files, err);
    r = r < 0 ? r
              : driver_images_from(call, driver.kind, state.path, &driver.images, err);
    if (r == 0) {
        config->pulls_images = driver.images.on;
        config->own_network = network.own;
        config->advertise_instance = network.advertise_instance;
        config->network = network.text;
        driver.rootfs = rootfs->entries;
        driver.rootfs_count = rootfs->count;
        driver.volumes = directories->volumes.entries;
        driver.volume_count = directories->volumes.count;
        r = probe(call, &driver, config, err);
    }
    r = r < 0 ? r
              : tools_directories_make(call->arena, state.path, tools_program(call->arena), &tools,
                                       err);
    if (r == 0 && rootfs->image_count > 0 && !config->pulls_images) {
        r = err_set(err, ERR_INVALID,
                    "root filesystem %.60s is an image, and this cell pulls none: that takes the "
                    "oci driver, root, skopeo and containers-storage",
                    rootfs->images[0].name);
    }
    if (r == 0) {
        host->driver_new = driver_new;
        host->driver_config = &driver;
        host->driver_files = files_of_driver(config);
        host->incarnation_keep = keep_incarnation;
        host->evacuation_keep = keep_evacuation;
        host->state_owner = &state;
        host->tools = tools.socket;
        config->tools_dir = tools.tools;
        config->tools_socket_dir = tools.socket;
        config->identity = state.identity;
        config->incarnation = state.incarnation;
        config->evacuation = state.evacuation;
        config->boot_id = boot_id(call->arena);
        config->rootfs_names = rootfs->names;
        config->rootfs_images = rootfs->images;
        config->rootfs_image_count = rootfs->image_count;
        r = serve_role(rep_new(config), host, err);
    }
    state_dir_close(&state);
    return r;
}

int rep_serve_run(const struct invocation *call, struct err *err)
{
    struct host_config host = {0};
    struct rep_config config;
    struct directories directories = {.rootfs.count = 0};
    int r = serve_host_config(call, &host, err);
    r = r < 0 ? r : read_config(call, &config, err);
    r = r < 0 ? r : read_rootfs(call, &directories.rootfs, err);
    r = r < 0 ? r : read_volumes(call, &directories.volumes, err);
    if (r == 0) {
        host.name = host.name ? host.name : config.cell_id;
        host.admin = cli_text(call, "admin-listen");
        config.admin_url = host.admin ? arena_printf(call->arena, "https://%s", host.admin) : NULL;
        r = serve(call, &host, &config, &directories, err);
    }
    return r;
}

/* Each directory in `path`, by name. */
static int add_directory(const struct invocation *call, const char *path, struct rootfs_list *list,
                         struct err *err)
{
    struct dirent **found;
    int count = scandir(path, &found, NULL, alphasort);
    if (count < 0) {
        return err_set(err, ERR_INVALID, "cannot read --rootfs-dir %.120s: %s", path,
                       strerror(errno));
    }
    int r = 0;
    for (int i = 0; i < count; i++) {
        struct stat st;
        const char *one = arena_printf(call->arena, "%s/%s", path, found[i]->d_name);
        if (r == 0 && found[i]->d_name[0] != '.' && stat(one, &st) == 0 && S_ISDIR(st.st_mode)) {
            r = add_rootfs(call, found[i]->d_name, one, list, err);
        }
        free(found[i]);
    }
    free(found);
    return r;
}
