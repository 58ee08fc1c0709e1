/* The probe: a trial container with each candidate, made, started and removed as a real one is.
 * What cannot be tried is not believed (crun 1.8.1 installs well and refuses hybrid cgroups). */
#include "common/base/memory.h"
#include "rep/driver/driver_parts.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

enum { TRIAL_MS = 10000, TRIAL_GUID_BYTES = 32 };

/* ---- Facts ---- */

static uint64_t own_capabilities(void)
{
    char text[4096];
    if (identity_slurp(AT_FDCWD, "/proc/self/status", text, sizeof(text)) <= 0) {
        return 0;
    }
    const char *effective = strstr(text, "\nCapEff:"), *bounding = strstr(text, "\nCapBnd:");
    return effective && bounding
               ? strtoull(effective + 8, NULL, 16) & strtoull(bounding + 8, NULL, 16)
               : 0;
}

/* Asked by a child of its own: a filter that this process itself is under may kill who asks. */
bool kernel_runs_x32(void)
{
#ifdef __X32_SYSCALL_BIT
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        _exit(syscall(__X32_SYSCALL_BIT | SYS_getpid) < 0);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && status == 0;
#else
    return false;
#endif
}

void facts_gather(struct oci_facts *ret)
{
    struct rlimit l = {0}, processes = {0};
    char text[32] = "0";
    getrlimit(RLIMIT_NOFILE, &l);
    getrlimit(RLIMIT_NPROC, &processes);
    identity_slurp(AT_FDCWD, "/proc/self/oom_score_adj", text, sizeof(text));
    bool unified = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
    *ret = (struct oci_facts){
        .capabilities = own_capabilities(),
        .nofile_hard = l.rlim_max,
        .nproc_hard = processes.rlim_max,
        .oom_score_adj = atoi(text),
        .swap_limit = access("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", F_OK) == 0 ||
                      unified,
        .unified = unified,
        .resolv_conf = access("/etc/resolv.conf", R_OK) == 0,
        .hosts = access("/etc/hosts", R_OK) == 0,
    };
}

/* ---- One trial ---- */

struct trial {
    struct driver *d;
    uint32_t ids_first;
    char guid[TRIAL_GUID_BYTES];
    char *dir;
    struct buf said;
};

static int step(struct trial *t, struct command *c, struct err *err)
{
    struct job_plan plan = {
        .dir = t->dir,
        .argv = c->argv.list,
        .envp = c->env.count ? c->env.list : NULL,
    };
    buf_clear(&t->said);
    int result = job_run(&plan, TRIAL_MS, &t->said, err);
    if (result > 0) {
        const char *said = buf_string(&t->said);
        result = err_set(err, ERR_UNAVAILABLE, "%.*s", (int)strcspn(said, "\n"), said);
    }
    return result;
}

static int prepare(struct trial *t, bool disk, struct err *err)
{
    static const char *const args[] = {"probe", NULL};
    const struct container_spec spec = {
        .rootfs = "preloaded:probe",
        .path = "/rep-shim",
        .args = args,
        .memory_mb = 64,
        .max_pids = 64,
        .disk_mb = disk ? 8 : 0,
        .cpu_weight = 10,
        .cpu_max_percent = 100,
        .ids_first = t->d->choice.user_namespaces ? t->ids_first : 0,
    };
    struct command c;
    command_init(&c);
    shim_command(t->d, &c, "prepare");
    t->d->choice.disk = disk;
    int result = dir_make(t->dir, err);
    result = result < 0 ? result : t->d->ops->prepare(t->d, t->guid, t->dir, &spec, &c, err);
    result = result < 0 ? result : file_write(t->dir, "note.tmp", (struct bytes){0}, err);
    result = result < 0 ? result : step(t, &c, err);
    command_done(&c);
    return result;
}

/* The program of the trial is the shim, which is static, so that no root filesystem is needed. */
static int start(struct trial *t, struct err *err)
{
    struct command c;
    struct ending ending;
    command_init(&c);
    shim_command(t->d, &c, "run");
    int result = t->d->ops->start(t->d, t->guid, t->dir, &c, err);
    result = result < 0 ? result : step(t, &c, err);
    command_done(&c);
    buf_clear(&t->said);
    result = result < 0 ? result : file_read(t->dir, "status", 4096, &t->said, err);
    result = result < 0 ? result : status_parse(buf_bytes(&t->said), &ending, err);
    if (result == 0 && (ending.code != 0 || ending.signal != 0)) {
        result = err_set(err, ERR_UNAVAILABLE, "%s",
                         ending.text[0] ? ending.text : "its trial container did not end well");
    }
    return result;
}

static void clear(struct trial *t)
{
    struct command c;
    command_init(&c);
    shim_command(t->d, &c, "remove");
    t->d->ops->remove(t->d, t->guid, &c);
    step(t, &c, NULL);
    command_done(&c);
}

/* One container from the beginning to the end. */
static int try_once(struct driver *d, unsigned *tries, bool limits, bool disk, struct err *err)
{
    struct trial t = {.d = d, .ids_first = d->trial_ids};
    snprintf(t.guid, sizeof(t.guid), "probe-%ld-%u", (long)getpid(), ++*tries);
    t.dir = mem_printf("%s/%s", d->containers_dir, t.guid);
    buf_init(&t.said);
    d->choice.limits = limits;
    int result = prepare(&t, disk, err);
    result = result < 0 ? result : start(&t, err);
    clear(&t);
    buf_done(&t.said);
    free(t.dir);
    return result;
}

/* ---- Candidates ---- */

/* A program by its name, as a shell of root would find it; "" when there is none. */
static void find_program(const char *name, char *out, size_t size)
{
    static const char *const places[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                         "/usr/bin",        "/sbin",          "/bin"};
    out[0] = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !out[0]; i++) {
        snprintf(out, size, "%s/%s", places[i], name);
        if (access(out, X_OK) < 0) {
            out[0] = '\0';
        }
    }
}

static void say_more(char *text, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void say_more(char *text, size_t size, const char *format, va_list args)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", used ? "; " : "");
    used = strlen(text);
    vsnprintf(text + used, size - used, format, args);
}

static void say(struct driver_choice *choice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct driver_choice *choice, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_more(choice->text, sizeof(choice->text), format, args);
    va_end(args);
}

static void say_isolation(struct driver_choice *choice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say_isolation(struct driver_choice *choice, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_more(choice->isolation, sizeof(choice->isolation), format, args);
    va_end(args);
}

/* With everything, or else with less: what a machine refuses is said, not hidden. */
static bool try_runtime(struct driver *d, unsigned *tries, const char *runtime)
{
    static const struct {
        bool limits, disk;
    } ways[] = {{true, true}, {true, false}, {false, true}, {false, false}};
    struct err first = {0}, err;
    snprintf(d->choice.runtime, sizeof(d->choice.runtime), "%s", runtime);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (try_once(d, tries, ways[i].limits, ways[i].disk, &err) == 0) {
            say(&d->choice, "%s works, with %s as init", runtime, d->choice.init);
            if (i > 0) {
                say(&d->choice, "not enforced:%s%s (%s)",
                    ways[i].limits ? "" : " limits of memory, processes and processor",
                    ways[i].disk ? "" : " limits of disk", first.text);
            }
            return true;
        }
        if (i == 0) {
            first = err;
        }
    }
    say(&d->choice, "%s does not work: %s", runtime, first.text);
    return false;
}

static bool try_runtimes(struct driver *d, const struct driver_config *config, unsigned *tries)
{
    static const char *const names[] = {"crun", "runc"};
    char path[sizeof(d->choice.runtime)];
    if (config->runtime) {
        return try_runtime(d, tries, config->runtime);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        find_program(names[i], path, sizeof(path));
        if (!path[0]) {
            say(&d->choice, "%s is not installed", names[i]);
        } else if (try_runtime(d, tries, path)) {
            return true;
        }
    }
    return false;
}

/* ---- Isolation ---- */

/* Whether each root filesystem can be mounted with other ids: not all kinds of file systems can. */
static int try_maps(struct driver *d, const struct driver_config *config, struct err *err)
{
    struct trial t = {.d = d, .dir = d->state_dir};
    int result = 0;
    buf_init(&t.said);
    for (size_t i = 0; result == 0 && i < config->rootfs_count; i++) {
        struct command c;
        command_init(&c);
        shim_command(d, &c, "map");
        command_add(&c, "--lower=%s", config->rootfs[i].path);
        command_add(&c, "--ids=%u", config->ids_first);
        result = step(&t, &c, err);
        command_done(&c);
    }
    buf_done(&t.said);
    return result;
}

/* Below an overlay, mounts with other ids work since Linux 5.19. */
static int check_kernel(struct err *err)
{
    struct utsname u;
    int major = 0, minor = 0;
    if (uname(&u) < 0 || sscanf(u.release, "%d.%d", &major, &minor) != 2 ||
        major * 1000 + minor < 5019) {
        return err_set(err, ERR_UNAVAILABLE, "Linux %.20s is older than 5.19", u.release);
    }
    return 0;
}

static int try_user_namespaces(struct driver *d, const struct driver_config *config,
                               unsigned *tries, struct err *err)
{
    int result = config->ids_first
                     ? check_kernel(err)
                     : err_set(err, ERR_UNAVAILABLE, "no ids are set aside for it (--ids)");
    result = result < 0 ? result : try_maps(d, config, err);
    if (result == 0) {
        d->trial_ids = config->ids_first;
        d->choice.user_namespaces = true;
        result = try_once(d, tries, d->choice.limits, d->choice.disk, err);
        d->choice.user_namespaces = result == 0;
    }
    return result;
}

static int try_seccomp(struct driver *d, unsigned *tries, struct err *err)
{
    if (!d->seccomp) {
        return err_set(err, ERR_UNAVAILABLE, "%s", d->seccomp_why.text);
    }
    d->choice.seccomp = true;
    int result = try_once(d, tries, d->choice.limits, d->choice.disk, err);
    d->choice.seccomp = result == 0;
    return result;
}

/* What works is on, beside what is always so. */
static int try_isolation(struct driver *d, const struct driver_config *config, unsigned *tries,
                         struct err *err)
{
    struct err why;
    bool all = true;
    if (try_user_namespaces(d, config, tries, &why) == 0) {
        say_isolation(&d->choice, "user namespaces");
    } else {
        say_isolation(&d->choice, "no user namespaces: %s", why.text);
        all = false;
    }
    if (try_seccomp(d, tries, &why) == 0) {
        say_isolation(&d->choice, "seccomp");
    } else {
        say_isolation(&d->choice, "no seccomp: %s", why.text);
        all = false;
    }
    return all || !config->strict
               ? 0
               : err_set(err, ERR_UNAVAILABLE, "--isolation strict, but %s", d->choice.isolation);
}

static bool find_init(struct driver *d, const struct driver_config *config)
{
    static const char *const names[] = {"catatonit", "tini-static"};
    if (config->init) {
        snprintf(d->choice.init, sizeof(d->choice.init), "%s", config->init);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !d->choice.init[0]; i++) {
        find_program(names[i], d->choice.init, sizeof(d->choice.init));
    }
    if (!d->choice.init[0]) {
        say(&d->choice, "no init for containers: install catatonit or tini");
    }
    return d->choice.init[0] != '\0';
}

/* The trial's root filesystem: the shim alone, as a file of that name. */
static int make_rootfs(struct driver *d, const char *dir, struct err *err)
{
    SCOPED_BUF(program);
    char path[4200];
    snprintf(path, sizeof(path), "%s/rep-shim", dir);
    int result = dir_make(dir, err);
    result = result < 0 ? result : file_read("", d->shim, 16 << 20, &program, err);
    result = result < 0 ? result : file_write(dir, "rep-shim", buf_bytes(&program), err);
    if (result == 0 && chmod(path, 0755) < 0) {
        result = err_set(err, ERR_IO, "chmod %s: %s", path, strerror(errno));
    }
    return result;
}

static int probe_oci(struct driver *d, const struct driver_config *config, struct err *err)
{
    char dir[4096], file[4200];
    unsigned tries = 0; /* each has a name of its own: one may leave something behind */
    snprintf(dir, sizeof(dir), "%s/probe", config->state_dir);
    snprintf(file, sizeof(file), "%s/rep-shim", dir);
    int result = make_rootfs(d, dir, err);
    if (result == 0 && !(find_init(d, config) && try_runtimes(d, config, &tries))) {
        result = err_set(err, ERR_UNAVAILABLE, "no container runtime works here: %s",
                         d->choice.text);
    }
    result = result < 0 ? result : try_isolation(d, config, &tries, err);
    unlink(file);
    rmdir(dir);
    return result;
}

int driver_probe(const struct driver_config *config, struct driver_choice *ret_choice,
                 struct err *err)
{
    char dir[4096];
    struct driver d = {0};
    snprintf(dir, sizeof(dir), "%s/probe", config->state_dir);
    const struct driver_rootfs rootfs = {.name = "probe", .path = dir};
    struct driver_config trial = *config;
    trial.rootfs = &rootfs;
    trial.rootfs_count = 0; /* not there yet */
    trial.network.own = false; /* which has a probe of its own */
    int result = settings_init(&d, &trial, err);
    if (result == 0 && config->kind == DRIVER_OCI) {
        d.rootfs_count = 1;
        d.rootfs[0] = (struct rootfs){strdup("probe"), strdup(dir)};
        result = probe_oci(&d, config, err);
        say(&d.choice, "isolation: %s", d.choice.isolation);
    } else if (result == 0) {
        say_isolation(&d.choice, "none: the process driver has none");
        say(&d.choice, "process driver: no isolation and no limits, as asked");
    }
    if (result == 0) {
        *ret_choice = d.choice;
    }
    driver_done(&d);
    return result;
}
