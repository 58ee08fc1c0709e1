/* `rep audit`: what is left on this machine of containers of a cell that are gone. A container's
 * directory is made before anything else of it and goes last, so what has none is nobody's. */
#include "common/cli/cli_io.h"
#include "rep/cli/audit_table.h"
#include "rep/cli/commands_io.h"
#include "rep/container/image_plan.h"
#include "rep/driver/driver_io.h"
#include "rep/driver/oci_spec.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"

enum {
    AUDIT_PAUSE_MS = 1000,   /* between two looks */
    UNFINISHED_GRACE_S = 90, /* a directory that a rep makes has become a container by then */
};

const struct cli_option rep_audit_options[] = {
    {.name = "state-dir",
     .value = "DIR",
     .help = "where the cell and its containers are kept",
     .required = true},
    {.name = "subnet",
     .value = "BLOCK",
     .help = "addresses of containers, as the rep has it",
     .fallback = NETWORK_SUBNET},
    {.name = "output",
     .value = "table|json",
     .help = "for people or for programs",
     .fallback = "table"},
    {0},
};

struct audit_look {
    struct audit found;
    const char *state_dir, *containers; /* the paths */
    const char *subnet;
    uint32_t hash;
    bool rep_runs;
};

static const char *path_in(struct audit_look *l, const char *dir, const char *name)
{
    return arena_printf(l->found.arena, "%s/%s", dir, name);
}

/* Looked at after the thing itself was seen. */
static bool lives(struct audit_look *l, const char *guid)
{
    return access(path_in(l, l->containers, guid), F_OK) == 0 || errno != ENOENT;
}

static void judge(struct audit_look *l, const char *kind, const char *what, const char *guid)
{
    if (guid && !lives(l, guid)) {
        audit_add(&l->found, kind, what, guid);
    }
}

/* For each entry of a directory, if it is there. */
static void each_in(struct audit_look *l, const char *dir,
                    void (*see)(struct audit_look *l, const char *dir, const char *name))
{
    DIR *all = opendir(dir);
    for (struct dirent *e; all && (e = readdir(all));) {
        if (e->d_name[0] != '.') {
            see(l, dir, e->d_name);
        }
    }
    if (all) {
        closedir(all);
    }
}

/* ---- Processes ---- */

/* The value of the mark in its environment, in the arena; NULL: it has none, or shows none. */
static const char *mark_of(struct audit_look *l, const char *path)
{
    char text[4096]; /* it stands first */
    static const char name[] = MARK_VARIABLE "=";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) {
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    for (const char *at = text; n > 0 && at < text + n; at += strlen(at) + 1) {
        if (strncmp(at, name, sizeof(name) - 1) == 0) {
            return arena_strdup(l->found.arena, at + sizeof(name) - 1);
        }
    }
    return NULL;
}

/* By its mark, or by the directory that it works in: a shim has its container's. */
static void see_process(struct audit_look *l, const char *dir, const char *name)
{
    char cwd[PATH_MAX] = "";
    struct arena *a = l->found.arena;
    if (!isdigit((unsigned char)name[0])) {
        return;
    }
    const char *mark = mark_of(l, arena_printf(a, "%s/%s/environ", dir, name));
    const char *guid = mark ? audit_below(a, mark, l->containers) : NULL;
    if (!guid && readlink(arena_printf(a, "%s/%s/cwd", dir, name), cwd, sizeof(cwd) - 1) > 0) {
        guid = audit_below(a, cwd, l->containers);
    }
    judge(l, "process", name, guid);
}

/* ---- Control groups ---- */

static void see_group(struct audit_look *l, const char *dir, const char *name)
{
    struct stat st;
    const char *path = path_in(l, dir, name);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        judge(l, "control group", path, audit_group(name, l->hash));
    }
}

/* Below the root itself in version 2, below each controller's in version 1. */
static void see_hierarchy(struct audit_look *l, const char *dir, const char *name)
{
    see_group(l, dir, name);
    if (!audit_group(name, l->hash)) {
        each_in(l, path_in(l, dir, name), see_group);
    }
}

/* ---- Mounts and what is below them ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static void see_mounts(struct audit_look *l)
{
    char *line = NULL;
    size_t size = 0;
    struct arena *a = l->found.arena;
    const char *runtime = path_in(l, l->state_dir, "runtime");
    FILE *f = fopen("/proc/self/mountinfo", "re");
    while (f && getline(&line, &size, f) > 0) {
        const char *at = audit_mount_point(a, line);
        const char *guid = at ? audit_below(a, at, l->containers) : NULL;
        guid = !guid && at ? audit_below(a, at, runtime) : guid;
        judge(l, at && ends_with(at, "/netns") ? "network namespace" : "mount", at, guid);
    }
    if (f) {
        fclose(f);
    }
    free(line);
}

/* A disk of limited size whose file system has not been given back. */
static void see_loop(struct audit_look *l, const char *dir, const char *name)
{
    char path[PATH_MAX] = "";
    struct arena *a = l->found.arena;
    FILE *f = fopen(arena_printf(a, "%s/%s/loop/backing_file", dir, name), "re");
    if (f && fgets(path, sizeof(path), f)) {
        judge(l, "loop device", arena_printf(a, "/dev/%s", name),
              audit_below(a, path, l->containers));
    }
    if (f) {
        fclose(f);
    }
}

/* ---- Files of the cell ---- */

static bool is_younger(const char *path, int seconds)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_mtime + seconds > time(NULL);
}

/* What is kept of a container whose network others share (rep/shim/joined.c). */
static bool is_shared(struct audit_look *l, const char *path)
{
    const char *users = path_in(l, path, "users");
    bool shared = false;
    DIR *all = access(path_in(l, path, "kept"), F_OK) == 0 ? opendir(users) : NULL;
    for (struct dirent *e; all && (e = readdir(all));) {
        shared |= e->d_name[0] != '.' && lives(l, e->d_name);
    }
    if (all) {
        closedir(all);
    }
    return shared;
}

/* What a rep makes at this moment has no note yet. */
static void see_container(struct audit_look *l, const char *dir, const char *name)
{
    const char *path = path_in(l, dir, name);
    if (access(path_in(l, path, "note"), F_OK) < 0 && errno == ENOENT &&
        !(l->rep_runs && is_younger(path, UNFINISHED_GRACE_S)) && !is_shared(l, path) &&
        access(path, F_OK) == 0) {
        audit_add(&l->found, "unfinished directory", path, name);
    }
}

static void see_runtime(struct audit_look *l, const char *dir, const char *name)
{
    judge(l, "directory of the runtime", path_in(l, dir, name), name);
}

static void see_pin(struct audit_look *l, const char *dir, const char *name)
{
    const char *path = path_in(l, dir, name);
    if (!(l->rep_runs && is_younger(path, IMAGE_PIN_GRACE_S))) {
        judge(l, "pin of an image", path, name);
    }
}

static void see_use(struct audit_look *l, const char *dir, const char *name)
{
    judge(l, "use of the cache", path_in(l, dir, name), name);
}

/* ---- The network ---- */

static void take_lines(struct audit_look *l, int fd)
{
    char *line = NULL;
    size_t size = 0;
    FILE *f = fdopen(fd, "r");
    while (f && getline(&line, &size, f) > 0) {
        line[strcspn(line, "\n")] = '\0';
        audit_network_line(&l->found, line);
    }
    if (f) {
        fclose(f);
    } else {
        close(fd);
    }
    free(line);
}

/* Only on a cell that ever had a network of its own. */
static int see_network(struct audit_look *l, struct err *err)
{
    struct arena *a = l->found.arena;
    int fds[2], status = -1;
    const char *program = program_beside(a, "rep-network");
    char *const argv[] = {arena_strdup(a, program),
                          arena_strdup(a, "audit"),
                          arena_printf(a, "corkboard-%08x", (unsigned)l->hash),
                          arena_strdup(a, l->containers),
                          arena_strdup(a, l->subnet),
                          NULL};
    if (access(path_in(l, l->state_dir, "network"), F_OK) < 0) {
        return 0;
    }
    if (pipe2(fds, O_CLOEXEC) < 0) {
        return err_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        execv(program, argv);
        _exit(127);
    }
    close(fds[1]);
    take_lines(l, fds[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && status == 0
               ? 0
               : err_set(err, ERR_UNAVAILABLE, "%s could not tell what the network has", program);
}

/* ---- All of it ---- */

/* Without taking the lock, which would keep a rep from starting. */
static bool is_locked(const char *path)
{
    char *line = NULL, wanted[64];
    size_t size = 0;
    struct stat st;
    bool found = false;
    FILE *f = fopen("/proc/locks", "re");
    if (stat(path, &st) < 0) {
        st.st_ino = 0;
    }
    snprintf(wanted, sizeof(wanted), " %02x:%02x:%llu ", major(st.st_dev), minor(st.st_dev),
             (unsigned long long)st.st_ino);
    while (f && st.st_ino && !found && getline(&line, &size, f) > 0) {
        found = strstr(line, wanted) && !strstr(line, "->"); /* which waits for it */
    }
    if (f) {
        fclose(f);
    }
    free(line);
    return found || (!f && st.st_ino);
}

static int look(struct audit_look *l, struct err *err)
{
    each_in(l, "/proc", see_process);
    each_in(l, CGROUPS, see_hierarchy);
    see_mounts(l);
    each_in(l, "/sys/block", see_loop);
    each_in(l, l->containers, see_container);
    each_in(l, path_in(l, l->state_dir, "runtime"), see_runtime);
    each_in(l, path_in(l, l->state_dir, "images/pins"), see_pin);
    each_in(l, path_in(l, l->state_dir, "cache/uses"), see_use);
    return see_network(l, err);
}

static int look_twice(struct audit_look *l, struct err *err)
{
    struct audit_look again = *l;
    int r = look(l, err);
    if (r == 0 && l->found.count > 0) {
        cli_sleep_ms(AUDIT_PAUSE_MS);
        r = look(&again, err);
        audit_keep(&l->found, &again.found);
    }
    return r;
}

int rep_audit_run(const struct invocation *call, struct err *err)
{
    char path[PATH_MAX];
    const char *output = "table", *dir = cli_text(call, "state-dir");
    struct subnet unused;
    SCOPED_BUF(out);
    int r = cli_choice(call, "output", &output, err);
    r = r < 0 ? r : subnet_parse(cli_text(call, "subnet"), &unused, err);
    if (r < 0) {
        return r;
    }
    if (!realpath(dir, path)) {
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO,
                       errno == ENOENT ? "no state directory %.150s"
                                       : "cannot use the state directory %.150s",
                       dir);
    }
    struct audit_look l = {
        .found.arena = call->arena,
        .state_dir = path,
        .containers = arena_printf(call->arena, "%s/containers", path),
        .subnet = cli_text(call, "subnet"),
        .hash = state_dir_hash(path),
        .rep_runs = is_locked(arena_printf(call->arena, "%s/lock", path)),
    };
    r = look_twice(&l, err);
    if (r == 0) {
        (strcmp(output, "json") == 0 ? audit_show_json : audit_show)(&l.found, &out);
        r = cli_print(buf_bytes(&out), err);
    }
    return r < 0 ? r : l.found.count > 0 ? CLI_FAILED : CLI_DONE;
}
