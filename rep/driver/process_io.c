/* The process driver: the program runs on the host itself, in a session of its own, with no more
 * isolation than that. For trials without privileges. Unless it is told where to start it starts in
 * a directory of its own, HOME in the container's, which goes with the container. */
#include "rep/driver/driver_parts.h"
#include "rep/driver/process_limits.h"

#include <sys/stat.h>

#define HOME "home"
#define BINDS_FILE "binds.json"

static int read_users(struct buf *passwd, struct buf *group, struct err *err)
{
    enum { USERS_BYTES_MAX = 4 * 1024 * 1024 };
    int result = file_read("/etc", "passwd", USERS_BYTES_MAX, passwd, err);
    return result < 0 ? result : file_read("/etc", "group", USERS_BYTES_MAX, group, err);
}

/* Another user needs privileges; "" is who we are. */
static int resolve(const char *words, struct user *ret, struct err *err)
{
    struct buf passwd, group;
    if (words[0] == '\0') {
        *ret = (struct user){.uid = getuid(), .gid = getgid()};
        return 0;
    }
    buf_init(&passwd);
    buf_init(&group);
    int result = read_users(&passwd, &group, err);
    if (result == 0) {
        result = user_resolve(words, buf_bytes(&passwd), buf_bytes(&group), ret, err);
    }
    if (result == 0 && getuid() != 0 && ret->uid != getuid()) {
        result = err_set(err, ERR_DENIED,
                         "only root can run a process as user %.60s; this rep runs as uid %u: say "
                         "user: %u",
                         words, (unsigned)getuid(), (unsigned)getuid());
    }
    buf_done(&passwd);
    buf_done(&group);
    return result;
}

/* For its user alone. */
static int make_home(const char *dir, const struct user *owner, const char **ret_path,
                     struct arena *a, struct err *err)
{
    const char *path = arena_printf(a, "%s/" HOME, dir);
    if (mkdir(path, 0700) < 0 ||
        (getuid() == 0 && lchown(path, (uid_t)owner->uid, (gid_t)owner->gid) < 0)) {
        return err_set(err, ERR_IO, "cannot make the directory %s: %s", path, strerror(errno));
    }
    *ret_path = path;
    return 0;
}

/* What a shim is to run, and the directory that it starts in, if that is the container's own. */
static int write_process(const char *dir, const char *name, const struct container_spec *spec,
                         const struct oci_params *p, const char *home, struct err *err)
{
    struct container_spec own = *spec;
    json_t *config = json_object();
    bool at_home = home && (!spec->dir || !spec->dir[0]);
    own.dir = at_home ? home : spec->dir;
    json_object_set_new(config, "process", oci_process(&own, p, false));
    if (at_home) {
        json_object_set_new(config, "home", json_string_nocheck(home));
    }
    return json_write(dir, name, config, err);
}

/* There is nothing to bind into but the container's own directory. */
static int may_bind(const struct file_transfer *t, struct err *err)
{
    return strchr(t->path, '/')
               ? err_set(err, ERR_INVALID,
                         "plain processes see the cell's own files: \"%.100s\" can only be a name "
                         "in their own directory, without a /",
                         t->path)
               : 0;
}

/* The first of whoever does not say where to start owns the container's directory. */
static int write_step(const char *dir, const struct container_spec *spec,
                      const struct step_process *step, struct oci_params *p, const char **home,
                      struct arena *a, struct err *err)
{
    struct container_spec own = step_spec(spec, step);
    bool bound = step->transfer && step->transfer->bound;
    int result = bound ? may_bind(step->transfer, err) : 0;
    result = result < 0 ? result : resolve(step->user && !bound ? step->user : "", &p->user, err);
    own.dir = step->transfer && step->transfer->path[0] == '/' ? "/" : own.dir;
    if (result == 0 && !*home && (!own.dir || !own.dir[0])) {
        result = make_home(dir, &p->user, home, a, err);
    }
    if (result == 0 && step->transfer) {
        return transfer_prepare(dir, step, &p->user, *home, err);
    }
    result = result < 0 ? result : step_dir_make(dir, step->step, err);
    const char *name = arena_printf(a, "steps/%u/process.json", step->step);
    return result < 0 ? result : write_process(dir, name, &own, p, *home, err);
}

static int prepare_steps(struct driver *d, const char *dir, const struct container_spec *spec,
                         struct oci_params *p, struct arena *a, struct err *err)
{
    static const char *const idle[] = {INIT_IDLE, NULL};
    struct container_spec waits = *spec;
    const char *home = NULL;
    int result = 0;
    for (size_t i = 0; result == 0 && i < spec->step_count; i++) {
        result = write_step(dir, spec, &spec->steps[i], p, &home, a, err);
    }
    waits.path = d->shim;
    waits.args = idle;
    result = result < 0 ? result : resolve(spec->user ? spec->user : "", &p->user, err);
    if (result == 0 && spec->idle && !home && (!waits.dir || !waits.dir[0])) {
        result = make_home(dir, &p->user, &home, a, err); /* where its runs begin */
    }
    if (!home && (!waits.dir || !waits.dir[0])) {
        waits.dir = "/";
    }
    return result < 0 ? result : write_process(dir, "config.json", &waits, p, home, err);
}

/* Nothing can be mounted: links, and a variable that tells where they are. */
static int take_given(const char *dir, const struct container_spec *spec, struct oci_params *p,
                      struct arena *a, struct err *err)
{
    if (spec->bind_count + spec->file_count > 0) {
        char *given = given_path(dir, NULL);
        p->given = arena_strdup(a, given);
        free(given);
    }
    return given_make(dir, spec, getuid(), true, err);
}

/* Which of them has which path in containers that do mount: programs are found by it. */
static int write_binds(const char *dir, const struct container_spec *spec, struct err *err)
{
    json_t *binds = json_object();
    for (size_t i = 0; i < spec->bind_count; i++) {
        json_object_set_new(binds, spec->binds[i].path, json_string_nocheck(spec->binds[i].from));
    }
    return json_write(dir, BINDS_FILE, binds, err);
}

static int process_prepare(struct driver *d, const char *guid, const char *dir,
                           const struct container_spec *spec, struct command *c, struct err *err)
{
    struct oci_params p = {.guid = guid, .mark = dir, .facts = d->facts};
    const char *home = NULL;
    if (!rootfs_path(d, spec->rootfs, err)) {
        return -err->code;
    }
    if (spec->volume_count > 0) { /* it has no mounts of its own */
        return err_set(err, ERR_INVALID, VOLUME_FAILED);
    }
    int result = take_given(dir, spec, &p, &c->arena, err);
    result = result < 0 || !p.given ? result : write_binds(dir, spec, err);
    if (result < 0) {
        return result;
    }
    if (!spec->path) {
        return prepare_steps(d, dir, spec, &p, &c->arena, err);
    }
    result = resolve(spec->user ? spec->user : "", &p.user, err);
    if (result == 0 && (!spec->dir || !spec->dir[0])) {
        result = make_home(dir, &p.user, &home, &c->arena, err);
    }
    return result < 0 ? result : write_process(dir, "config.json", spec, &p, home, err);
}

static void add_all(struct command *c, struct words *w, const json_t *list)
{
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word) {
        words_add(c, w, json_string_value(word));
    }
}

static void add_user(struct command *c, const json_t *user)
{
    const json_t *groups = json_object_get(user, "additionalGids");
    SCOPED_BUF(list);
    size_t i;
    json_t *gid;
    if (getuid() != 0) {
        return;
    }
    json_array_foreach(groups, i, gid) {
        buf_printf(&list, "%s%" JSON_INTEGER_FORMAT, i ? "," : "", json_integer_value(gid));
    }
    command_add(c, "--uid=%" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(user, "uid")));
    command_add(c, "--gid=%" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(user, "gid")));
    command_add(c, "--groups=%s", buf_string(&list));
}

/* What waits for its steps or runs is the shim itself, and ready only when it takes SIGTERM. */
static bool only_waits(const struct driver *d, const json_t *process)
{
    const json_t *args = json_object_get(process, "args");
    const char *program = json_string_value(json_array_get(args, 0));
    const char *verb = json_string_value(json_array_get(args, 1));
    return program && verb && strcmp(program, d->shim) == 0 && strcmp(verb, INIT_IDLE) == 0;
}

/* All options that are the same for whatever runs there. */
static json_t *process_options(const char *dir, const char *name, struct command *c,
                               struct err *err)
{
    json_t *config = json_read(dir, name, err);
    const json_t *process = json_object_get(config, "process");
    const char *home = json_string_value(json_object_get(config, "home"));
    if (!config) {
        return NULL;
    }
    command_add(c, "--process");
    if (home) {
        command_add(c, "--home=%s", home);
    } else {
        command_add(c, "--cwd=%s", json_string_value(json_object_get(process, "cwd")));
    }
    command_add(c, "--nofile=%lld", process_limit_of(process, LIMIT_NOFILE));
    command_add(c, "--nproc=%lld", process_limit_of(process, LIMIT_NPROC));
    add_user(c, json_object_get(process, "user"));
    add_all(c, &c->env, json_object_get(process, "env"));
    return config;
}

/* The program of such a file, and its options. */
static int add_program(const struct driver *d, const char *dir, const char *name,
                       struct command *c, struct err *err)
{
    json_t *config = process_options(dir, name, c, err);
    if (!config) {
        return -err->code;
    }
    const json_t *process = json_object_get(config, "process");
    if (only_waits(d, process)) {
        command_add(c, "--init=%s", d->shim);
    }
    command_add(c, "--");
    add_all(c, &c->argv, json_object_get(process, "args"));
    json_decref(config);
    return 0;
}

/* What was brought for it before it starts: as a link, for nothing can be mounted. */
static int link_bound(struct driver *d, const char *dir, struct err *err)
{
    SCOPED_ARENA(a);
    struct bound_tree *list;
    size_t count = 0;
    int result = transfer_bound(d, dir, &a, &list, &count, err);
    for (size_t i = 0; result == 0 && i < count; i++) {
        const char *path = arena_printf(&a, "%s/" HOME "/%s", dir, list[i].to);
        if (symlink(list[i].from, path) < 0 && errno != EEXIST) {
            result = err_set(err, ERR_IO, "cannot make %s: %s", path, strerror(errno));
        }
    }
    return result;
}

static int process_start(struct driver *d, const char *guid, const char *dir, struct command *c,
                         struct err *err)
{
    (void)guid;
    int result = link_bound(d, dir, err);
    return result < 0 ? result : add_program(d, dir, "config.json", c, err);
}

static int process_step(struct driver *d, const char *guid, const char *dir, struct command *c,
                        struct err *err)
{
    (void)guid;
    return add_program(d, dir, "process.json", c, err);
}

static int process_exec(struct driver *d, const char *guid, const char *dir,
                        const char *const *argv, uint32_t step, uint64_t number,
                        struct command *c, struct err *err)
{
    (void)guid;
    (void)number;
    if (!argv) {
        return add_program(d, dir, arena_printf(&c->arena, "steps/%u/process.json", step), c, err);
    }
    json_t *config = process_options(dir, "config.json", c, err);
    if (!config) {
        return -err->code;
    }
    command_add(c, "--");
    for (; *argv; argv++) {
        words_add(c, &c->argv, *argv);
    }
    json_decref(config);
    return 0;
}

/* Where a program is that lies below the path of a bind; else the program's own path. */
static const char *program_at(const char *dir, const char *path, struct arena *a)
{
    const char *from, *found = path;
    const char *to;
    json_t *value, *binds = json_read(dir, BINDS_FILE, NULL);
    json_object_foreach(binds, to, value)
    {
        size_t size = strlen(to);
        from = json_string_value(value);
        if (strncmp(path, to, size) == 0 && path[size] == '/') {
            found = arena_printf(a, "%s%s", from, path + size);
        }
    }
    json_decref(binds);
    return found;
}

/* In the container's own directory, if that is its, unless it says where. */
static int process_run(struct driver *d, const char *guid, const char *dir,
                       const struct step_process *run, struct err *err)
{
    SCOPED_ARENA(a);
    struct oci_params p = {.guid = guid, .mark = dir, .facts = d->facts};
    struct step_process own = *run;
    char *given = given_path(dir, NULL);
    p.given = access(given, F_OK) == 0 ? arena_strdup(&a, given) : NULL;
    free(given);
    int result = resolve(run->user ? run->user : "", &p.user, err);
    json_t *config = result < 0 ? NULL : json_read(dir, "config.json", err);
    const char *home = json_string_value(json_object_get(config, "home"));
    bool at_home = home && !(run->dir && run->dir[0]);
    own.path = program_at(dir, run->path, &a);
    own.dir = at_home ? home : run->dir;
    if (result == 0) {
        result = config ? run_write(dir, &own, &p, at_home ? home : "", err) : -(int)err->code;
    }
    json_decref(config);
    return result;
}

static void process_remove(struct driver *d, const char *guid, struct command *c)
{
    command_add(c, "--guid=%s", guid);
    command_add(c, "--mark=%s/%s", d->containers_dir, guid);
}

const struct driver_ops process_driver = {
    .name = "process",
    .root = "/",
    .prepare = process_prepare,
    .start = process_start,
    .exec = process_exec,
    .step = process_step,
    .run = process_run,
    .remove = process_remove,
};
