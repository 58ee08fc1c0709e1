/* The oci driver: containers by runc or crun through their standard command line, over an overlay
 * of a preloaded directory, on the host's network (design.md 7). */
#include "common/base/memory.h"
#include "rep/driver/cgroup_files.h"
#include "rep/driver/driver_parts.h"
#include "rep/driver/network_plan.h"

#include <sys/stat.h>

enum { USERS_BYTES_MAX = 4 * 1024 * 1024 };

/* With a home only if that is there. */
static int resolve_user(const struct rootfs_lowers *root, const char *words, struct user *ret,
                        struct err *err)
{
    SCOPED_BUF(passwd);
    SCOPED_BUF(group);
    rootfs_read(root, "etc/passwd", USERS_BYTES_MAX, &passwd);
    rootfs_read(root, "etc/group", USERS_BYTES_MAX, &group);
    int result = user_resolve(words, buf_bytes(&passwd), buf_bytes(&group), ret, err);
    if (result == 0 && !rootfs_is_directory(root, ret->home)) {
        ret->home[0] = '\0';
    }
    return result;
}

/* The layers of an image, or a directory that the cell has; in the arena. */
static int find_lowers(struct driver *d, struct arena *a, const struct container_spec *spec,
                       struct rootfs_lowers *ret, struct err *err)
{
    if (spec->layer_count > 0) {
        *ret = rootfs_layers(a, d->images.dir, spec);
    } else {
        const char **path = ARENA_NEW(a, const char *);
        *path = rootfs_path(d, spec->rootfs, err);
        *ret = (struct rootfs_lowers){path, 1};
    }
    for (size_t i = 0; ret->paths[i] && i < ret->count; i++) {
        if (access(ret->paths[i], F_OK) < 0) {
            return err_set(err, ERR_NOT_FOUND, "cannot open the root filesystem %.120s: %s",
                           ret->paths[i], strerror(errno));
        }
        if (i + 1 == ret->count) {
            return 0;
        }
    }
    return -err->code;
}

/* One level, so that nothing remains once the runtime has removed it. */
static void oci_cgroup(const struct driver *d, const char *guid, char *out, size_t size)
{
    snprintf(out, size, "/corkboard-%08x-%s", d->hash, guid);
}

/* Looked for each time: the kernel's module may be loaded while the rep runs. */
static bool has_fuse(void)
{
    struct stat st;
    return stat("/dev/fuse", &st) == 0 && S_ISCHR(st.st_mode);
}

/* One whose ids the container does not have would not be let in by the runtime, in other words. */
static int take_user(const struct rootfs_lowers *root, const char *words, struct oci_params *p,
                     struct err *err)
{
    uint32_t outside;
    int result = resolve_user(root, words ? words : "", &p->user, err);
    if (result == 0 && (!id_range_map(p->ids, p->user.uid, &outside) ||
                        !id_range_map(p->ids, p->user.gid, &outside))) {
        result = err_set(err, ERR_INVALID,
                         "the ids %u:%u of user \"%s\" are beyond the %d of a container",
                         p->user.uid, p->user.gid, words, CONTAINER_IDS);
    }
    return result;
}

static int write_ids(const char *dir, const struct id_range *ids, struct err *err)
{
    SCOPED_BUF(text);
    if (ids->first == 0) {
        return 0;
    }
    id_range_print(*ids, &text);
    return file_write(dir, "ids", buf_bytes(&text), err);
}

static void add_ids(struct command *c, const struct id_range *ids)
{
    if (ids->first > 0) {
        command_add(c, "--ids=%u", ids->first);
    }
}

/* Whose the trees are that all containers see: nobody's of any of them. */
static const struct user nobody_inside = {0};

/* The runtime's own text of it does not say which. */
static int check_dir(const char *dir, struct err *err)
{
    return !dir || !*dir || *dir == '/'
               ? 0
               : err_set(err, ERR_INVALID, "its directory %.100s is no absolute path", dir);
}

/* A step's process is the container's with words of its own; it needs no init. */
static int write_step(const char *dir, const struct rootfs_lowers *root,
                      const struct container_spec *spec, const struct step_process *step,
                      struct oci_params *p, struct err *err)
{
    char name[64];
    struct container_spec own = step_spec(spec, step);
    int result = take_user(root, step->user, p, err);
    if (result < 0) {
        return result;
    }
    if (step->transfer) {
        struct user owner = p->user; /* as the cell knows him; take_user() saw that he is there */
        id_range_map(p->ids, owner.uid, &owner.uid);
        id_range_map(p->ids, owner.gid, &owner.gid);
        return transfer_prepare(dir, step, step->transfer->bound ? &nobody_inside : &owner, NULL,
                                err);
    }
    own.dir = own.dir && own.dir[0] ? own.dir : p->user.home;
    result = check_dir(step->dir, err);
    result = result < 0 ? result : step_dir_make(dir, step->step, err);
    snprintf(name, sizeof(name), "steps/%u/process.json", step->step);
    return result < 0 ? result : json_write(dir, name, oci_process(&own, p, false), err);
}

static int write_steps(const char *dir, const struct rootfs_lowers *root,
                       const struct container_spec *spec, struct oci_params *p, struct err *err)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < spec->step_count; i++) {
        result = write_step(dir, root, spec, &spec->steps[i], p, err);
    }
    return result;
}

static int plan_volumes(const struct driver *d, const struct container_spec *spec,
                        struct volume_plan *plans, struct command *c, struct err *err)
{
    if (spec->volume_count > VOLUMES_MAX) {
        return err_set(err, ERR_TOO_LARGE, VOLUME_FAILED ": %d are the most of a container",
                       VOLUMES_MAX);
    }
    for (size_t i = 0; i < spec->volume_count; i++) {
        int result = volume_plan(&spec->volumes[i], d->volumes, d->volume_count, &plans[i], err);
        if (result < 0) {
            return result;
        }
        if (plans[i].source) {
            command_add(c, "--volume=%s", plans[i].source);
            command_add(c, "--below=%s", plans[i].below);
        }
    }
    return 0;
}

/* `address`: what p borrows. */
static int take_network(struct driver *d, const struct container_spec *spec, struct oci_params *p,
                        char address[ADDRESS_TEXT_BYTES], struct err *err)
{
    if (!d->network.own && !spec->join) {
        return 0;
    }
    int result = spec->join ? network_join(d, p->guid, p->dir, spec->join, address, err)
                            : network_prepare(d, p->guid, p->dir, spec, address, err);
    p->network = p->dir;
    p->network_program = d->network.program;
    p->address = address[0] ? address : NULL;
    return result;
}

static int oci_prepare(struct driver *d, const char *guid, const char *dir,
                       const struct container_spec *spec, struct command *c, struct err *err)
{
    char cgroup[128], address[ADDRESS_TEXT_BYTES] = "";
    struct rootfs_lowers root;
    struct oci_params p = {
        .guid = guid,
        .cgroup = cgroup,
        .init = spec->path ? d->choice.init : d->shim,
        .seccomp = d->choice.seccomp ? d->seccomp : NULL,
        .ids = id_range_of(d->choice.user_namespaces ? spec->ids_first : 0),
        .facts = d->facts,
    };
    struct container_spec own = *spec;
    oci_cgroup(d, guid, cgroup, sizeof(cgroup));
    p.facts.limits = d->choice.limits;
    p.facts.fuse = has_fuse();
    struct volume_plan plans[VOLUMES_MAX];
    p.volumes = plans;
    p.volume_count = spec->volume_count;
    p.dir = dir;
    int result = find_lowers(d, &c->arena, spec, &root, err);
    result = result < 0 ? result : given_make(dir, spec, p.ids.first, false, err);
    result = result < 0 ? result : plan_volumes(d, spec, plans, c, err);
    if (result < 0) {
        return result;
    }
    if (spec->join) {
        p.join = arena_printf(&c->arena, "%s/%s/" NETWORK_NAMESPACE_FILE, d->containers_dir,
                              spec->join);
        command_add(c, "--join=%s", spec->join);
    }
    result = take_user(&root, spec->user, &p, err);
    result = result < 0 ? result : check_dir(spec->dir, err);
    result = result < 0 ? result : write_ids(dir, &p.ids, err);
    result = result < 0 ? result : take_network(d, spec, &p, address, err);
    if (result == 0) {
        own.dir = spec->dir && spec->dir[0] ? spec->dir : p.user.home;
        json_t *binds = given_mounts(dir, spec);
        p.binds = binds;
        result = json_write(dir, "config.json", oci_config(&own, &p), err);
        json_decref(binds);
    }
    result = result < 0 ? result : write_steps(dir, &root, spec, &p, err);
    for (size_t i = 0; i < root.count; i++) {
        command_add(c, "--lower=%s", root.paths[i]);
    }
    add_ids(c, &p.ids);
    if (spec->disk_mb > 0 && d->choice.disk) {
        command_add(c, "--disk-mb=%d", spec->disk_mb);
        command_add(c, "--mkfs=mkfs.ext4");
    }
    return result;
}

static void add_runtime(struct driver *d, struct command *c, const char *log)
{
    command_add(c, "%s", d->choice.runtime);
    command_add(c, "--root=%s", d->runtime_dir);
    if (log) {
        command_add(c, "--log=%s", log);
        command_add(c, "--log-format=json");
    }
}

/* The guid of a task may begin with "-". */
static void add_guid(struct command *c, const char *guid)
{
    command_add(c, "--");
    command_add(c, "%s", guid);
}

/* On a hybrid machine the controller is of the one version or of the other. */
static enum cgroup_version memory_version(void)
{
    return access(CGROUP_ROOT "/memory", F_OK) == 0 ? CGROUP_V1 : CGROUP_V2;
}

static void add_oom_file(struct driver *d, const char *guid, struct command *c)
{
    char cgroup[128], path[256];
    oci_cgroup(d, guid, cgroup, sizeof(cgroup));
    if (cgroup_path(memory_version(), CGROUP_OOM_KILLS, CGROUP_ROOT, cgroup, path, sizeof(path))) {
        command_add(c, "--oom-file=%s", path);
    }
}

/* True: it has a user namespace. Of a trial, which is no container of the table, its file tells. */
static bool add_ids_of(struct driver *d, const char *guid, struct command *c)
{
    const struct driver_container *known = map_get(&d->containers, guid);
    struct id_range ids = known ? known->ids : (struct id_range){0};
    if (!known) {
        char *dir = mem_printf("%s/%s", d->containers_dir, guid);
        ids = ids_read(dir);
        free(dir);
    }
    add_ids(c, &ids);
    return ids.first > 0;
}

/* Once, however often a start is tried. */
static void add_mount(json_t *mounts, const struct bound_tree *tree)
{
    json_t *one = json_pack("{s:s s:s s:s s:[s s s s]}", "destination", tree->to, "type", "bind",
                            "source", tree->from, "options", "rbind", "ro", "nosuid", "nodev");
    size_t i;
    json_t *there;
    json_array_foreach(mounts, i, there) {
        if (json_equal(there, one)) {
            json_decref(one);
            return;
        }
    }
    json_array_append_new(mounts, one);
}

/* What was brought for it before it starts. With ids of its own, its root sees it as root's: then
 * the shim mounts it so, where the runtime finds it. */
static int add_bound(struct driver *d, const char *dir, bool mapped, struct command *c,
                     struct err *err)
{
    SCOPED_ARENA(a);
    struct bound_tree *list;
    size_t count = 0;
    int result = transfer_bound(d, dir, &a, &list, &count, err);
    json_t *config = result == 0 && count > 0 ? json_read(dir, "config.json", err) : NULL;
    if (result < 0 || count == 0) {
        return result;
    }
    if (!config) {
        return -err->code;
    }
    for (size_t i = 0; i < count; i++) {
        if (mapped) {
            command_add(c, "--bound=%s", list[i].from);
            list[i].from = arena_printf(&a, "%s/bound/%zu", dir, i);
        }
        add_mount(json_object_get(config, "mounts"), &list[i]);
    }
    return json_write(dir, "config.json", config, err);
}

/* "run --detach" at once: 27 ms beside 32 ms for create and start (runc 1.1.5, median of 12). */
static int oci_start(struct driver *d, const char *guid, const char *dir, struct command *c,
                     struct err *err)
{
    char *joined = NULL;
    int result = program_check(dir, err);
    bool mapped = add_ids_of(d, guid, c);
    result = result < 0 ? result : add_bound(d, dir, mapped, c, err);
    result = result < 0 ? result : network_joined(d, dir, &joined, err);
    if (result < 0) {
        return result;
    }
    add_oom_file(d, guid, c);
    command_add(c, "--runtime-log=runtime.log");
    command_add(c, "--pid-file=runtime.pid");
    command_add(c, "--init=" INIT_INSIDE);
    if (mapped) {
        command_add(c, "--root-at=" ROOT_FOR_RUNTIME);
        if (joined) {
            command_add(c, "--users-of=%s", joined);
        }
    }
    free(joined);
    command_add(c, "--");
    add_runtime(d, c, "runtime.log");
    command_add(c, "run");
    command_add(c, "--detach");
    command_add(c, "--bundle=.");
    command_add(c, "--pid-file=runtime.pid");
    add_guid(c, guid);
    return 0;
}

/* The container's own process once more, with other words and no init. */
static int write_exec(const char *dir, const char *const *argv, const char *name, struct err *err)
{
    json_t *config = json_read(dir, "config.json", err);
    if (!config) {
        return -err->code;
    }
    json_t *process = json_incref(json_object_get(config, "process"));
    json_t *args = json_array();
    for (; *argv; argv++) {
        json_array_append_new(args, json_string_nocheck(*argv));
    }
    json_object_set_new(process, "args", args);
    json_decref(config);
    return json_write(dir, name, process, err);
}

static int oci_exec(struct driver *d, const char *guid, const char *dir, const char *const *argv,
                    uint32_t step, uint64_t number, struct command *c, struct err *err)
{
    const char *name =
        argv ? arena_printf(&c->arena, "exec-%llu.json", (unsigned long long)number)
             : arena_printf(&c->arena, "steps/%u/process.json", step);
    int result = argv ? write_exec(dir, argv, name, err) : 0;
    if (result < 0) {
        return result;
    }
    command_add(c, "--runtime-log=exec-%llu.log", (unsigned long long)number);
    command_add(c, "--pid-file=exec-%llu.pid", (unsigned long long)number);
    add_ids_of(d, guid, c);
    command_add(c, "--");
    char *log = arena_printf(&c->arena, "exec-%llu.log", (unsigned long long)number);
    add_runtime(d, c, log);
    command_add(c, "exec");
    command_add(c, "--detach");
    command_add(c, "--process=%s", name);
    command_add(c, "--pid-file=exec-%llu.pid", (unsigned long long)number);
    add_guid(c, guid);
    return 0;
}

/* One more process, whose shim is the parent that sees its end. A program that is not there is the
 * runtime's to find: there is no init between them. */
static int oci_step(struct driver *d, const char *guid, const char *dir, struct command *c,
                    struct err *err)
{
    (void)dir;
    (void)err;
    add_oom_file(d, guid, c);
    command_add(c, "--runtime-log=runtime.log");
    command_add(c, "--pid-file=runtime.pid");
    add_ids_of(d, guid, c);
    command_add(c, "--");
    add_runtime(d, c, "runtime.log");
    command_add(c, "exec");
    command_add(c, "--detach");
    command_add(c, "--process=process.json");
    command_add(c, "--pid-file=runtime.pid");
    add_guid(c, guid);
    return 0;
}

/* As whom is told by the files as the container sees them now. */
static int oci_run(struct driver *d, const char *guid, const char *dir,
                   const struct step_process *run, struct err *err)
{
    SCOPED_ARENA(a);
    const char *seen = arena_printf(&a, "%s/rootfs", dir);
    const struct rootfs_lowers root = {&seen, 1};
    struct oci_params p = {.guid = guid, .ids = ids_read(dir), .facts = d->facts};
    struct step_process own = *run;
    int result = take_user(&root, run->user, &p, err);
    result = result < 0 ? result : check_dir(run->dir, err);
    own.dir = run->dir && run->dir[0] ? run->dir : p.user.home;
    return result < 0 ? result : run_write(dir, &own, &p, NULL, err);
}

static void oci_remove(struct driver *d, const char *guid, struct command *c)
{
    char cgroup[128];
    oci_cgroup(d, guid, cgroup, sizeof(cgroup));
    command_add(c, "--guid=%s", guid);
    command_add(c, "--cgroup=%s", cgroup);
    command_add(c, "--runtime-root=%s", d->runtime_dir);
    command_add(c, "--network=%s", d->network.program);
    command_add(c, "--");
    add_runtime(d, c, NULL);
    command_add(c, "delete");
    command_add(c, "--force");
    add_guid(c, guid);
}

const struct driver_ops oci_driver = {
    .name = "oci",
    .root = "rootfs",
    .prepare = oci_prepare,
    .start = oci_start,
    .exec = oci_exec,
    .step = oci_step,
    .run = oci_run,
    .remove = oci_remove,
    .group = oci_cgroup,
};
