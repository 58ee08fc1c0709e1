/* A driver in a loop of its own, in a directory of its own. */
#include "test/e2e/driver_trials.h"
#include "test/tool/patience.h"

#include <dirent.h>
#include <event2/event.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rep/shim/identity.h"
#include "test/tool/cmocka.h"

struct kept {
    struct kept *next;
    struct arena arena;
    struct event ev;
};

static struct container_status copy_status(struct arena *a, struct container_status c)
{
    c.guid = arena_strdup(a, c.guid);
    c.text = arena_strdup(a, c.text);
    c.address = c.address ? arena_strdup(a, c.address) : NULL;
    c.note.data = arena_copy(a, c.note.data, c.note.size);
    struct step_fact *facts = ARENA_ARRAY(a, c.fact_count, struct step_fact);
    for (size_t i = 0; i < c.fact_count; i++) {
        facts[i] = c.facts[i];
        facts[i].text = arena_strdup(a, facts[i].text);
    }
    c.facts = facts;
    return c;
}

static void copy_event(struct arena *a, const struct event *from, struct event *to)
{
    *to = *from;
    if (from->kind == EVENT_CONTAINER) {
        to->container = copy_status(a, from->container);
        return;
    }
    size_t count = from->verb.container_count;
    struct container_status *list = ARENA_ARRAY(a, count, struct container_status);
    for (size_t i = 0; i < count; i++) {
        list[i] = copy_status(a, from->verb.containers[i]);
    }
    to->verb.containers = list;
    size_t usage_count = from->verb.usage_count;
    struct container_usage *usages = ARENA_ARRAY(a, usage_count, struct container_usage);
    for (size_t i = 0; i < usage_count; i++) {
        usages[i] = from->verb.usages[i];
        usages[i].guid = arena_strdup(a, usages[i].guid);
    }
    to->verb.usages = usages;
    to->verb.taken =
        arena_copy(a, from->verb.taken, from->verb.taken_count * sizeof(*from->verb.taken));
    to->verb.text = arena_strdup(a, from->verb.text);
    to->verb.address = from->verb.address ? arena_strdup(a, from->verb.address) : NULL;
    to->verb.data.data = arena_copy(a, from->verb.data.data, from->verb.data.size);
    to->verb.guid = from->verb.guid ? arena_strdup(a, from->verb.guid) : NULL;
}

static void deliver(void *rig, const struct event *ev)
{
    struct rig *r = rig;
    struct kept *k = calloc(1, sizeof(*k));
    arena_init(&k->arena);
    copy_event(&k->arena, ev, &k->ev);
    *r->events_end = k;
    r->events_end = &k->next;
    event_base_loopbreak(r->loop);
}

static void keep_reply(void *rig, const struct reply *reply)
{
    struct rig *r = rig;
    assert_false(r->replied);
    buf_done(&r->reply_body);
    buf_init(&r->reply_body);
    buf_append(&r->reply_body, reply->body.data, reply->body.size);
    r->reply = *reply;
    r->reply.body = buf_bytes(&r->reply_body);
    r->replied = true;
    event_base_loopbreak(r->loop);
}

static void wake(void *rig, const char *channel)
{
}

static int64_t now_ns(struct subject *s)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* A range of ids for each container, as a rep gives them. */
static void call(struct subject *s, const struct verb_call *c)
{
    struct rig *r = (struct rig *)s;
    struct verb_call own = *c;
    struct container_spec spec;
    if (c->verb == VERB_PREPARE && c->spec && !c->spec->privileged && !c->spec->ids_first) {
        spec = *c->spec;
        spec.ids_first = RIG_IDS + r->ranges++ % 4096 * CONTAINER_IDS;
        own.spec = &spec;
    }
    r->shell->ops->call(r->shell, &own);
}

static void stop_waiting(evutil_socket_t fd, short what, void *loop)
{
    event_base_loopbreak(loop);
}

static bool next(struct subject *s, int64_t wait_ns, struct arena *arena, struct event *ret)
{
    struct rig *r = (struct rig *)s;
    int64_t until = now_ns(s) + wait_ns;
    struct event *timer = event_new(r->loop, -1, 0, stop_waiting, r->loop);
    while (!r->events && now_ns(s) < until) {
        int64_t left = until - now_ns(s);
        struct timeval t = {left / SECOND_NS, left % SECOND_NS / 1000 + 1};
        event_add(timer, &t);
        event_base_dispatch(r->loop);
    }
    event_free(timer);
    struct kept *k = r->events;
    if (!k) {
        return false;
    }
    r->events = k->next;
    r->events_end = r->events ? r->events_end : &r->events;
    copy_event(arena, &k->ev, ret);
    arena_done(&k->arena);
    free(k);
    return true;
}

static void restart(struct subject *s)
{
    rig_restart((struct rig *)s);
}

static void program(struct subject *s, const char *guid, enum program p,
                    struct container_spec *spec)
{
    static const char *const scripts[] = {
        [PROGRAM_SLEEPS] = "exec sleep 1000",
        [PROGRAM_EXITS] = "sleep 0.1; exit 3",
        [PROGRAM_SAYS] = "sleep 0.1; printf '%5000s' end; exit 3",
        [PROGRAM_IS_STUBBORN] = "trap '' TERM; while true; do sleep 1; done",
    };
    static const char *args[PROGRAM_COUNT][3];
    static char leaves[200];
    snprintf(leaves, sizeof(leaves), "sleep 0.1; printf 'left behind' >%s", s->file);
    args[p][0] = "-c";
    args[p][1] = p == PROGRAM_LEAVES ? leaves : p == PROGRAM_IS_MISSING ? "" : scripts[p];
    spec->path = p == PROGRAM_IS_MISSING ? "/bin/no-such-program" : "/bin/sh";
    spec->args = args[p];
}

static void find_shim(struct rig *r)
{
    ssize_t n = readlink("/proc/self/exe", r->shim, sizeof(r->shim) - 32);
    assert_true(n > 0);
    r->shim[n] = '\0';
    char *at = strstr(r->shim, "/test/e2e/");
    assert_non_null(at);
    strcpy(at, "/bin/rep-shim");
    snprintf(r->network, sizeof(r->network), "%.*s/bin/rep-network", (int)(at - r->shim), r->shim);
}

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
    char command[512];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof(command), format, args);
    va_end(args);
    if (system(command) != 0) {
        fail_msg("failed: %s", command);
    }
}

static void open_driver(struct rig *r)
{
    struct err err;
    struct driver_owner owner = {r, deliver, keep_reply, wake};
    r->shell = driver_open(&r->config, r->loop, &owner, &err);
    if (!r->shell) {
        fail_msg("%s", err.text);
    }
}

static void open_rig(struct rig *r, enum driver_kind kind, const char *subnet)
{
    struct err err;
    *r = (struct rig){.subject = {.name = kind == DRIVER_OCI ? "oci" : "process",
                                  .call = call,
                                  .next = next,
                                  .now_ns = now_ns,
                                  .restart = restart,
                                  .program = program,
                                  .rootfs = "preloaded:busybox",
                                  .knows_rootfs = true}};
    snprintf(r->dir, sizeof(r->dir), "/tmp/corkboard-driver-XXXXXX");
    assert_non_null(mkdtemp(r->dir));
    run("deploy/local/make-rootfs busybox %s/rootfs >/dev/null", r->dir);
    snprintf(r->state, sizeof(r->state), "%s/state", r->dir);
    snprintf(r->rootfs_path, sizeof(r->rootfs_path), "%s/rootfs/busybox", r->dir);
    /* The process driver's containers have this machine's files. */
    snprintf(r->file, sizeof(r->file), "%s/left", kind == DRIVER_OCI ? "" : r->dir);
    r->subject.file = r->file;
    find_shim(r);
    r->rootfs = (struct driver_rootfs){"busybox", r->rootfs_path};
    r->config = (struct driver_config){.kind = kind,
                                       .state_dir = r->state,
                                       .shim = r->shim,
                                       .rootfs = &r->rootfs,
                                       .rootfs_count = 1,
                                       .ids_first = RIG_IDS,
                                       .network = {.own = subnet != NULL,
                                                   .program = r->network,
                                                   .subnet = subnet}};
    if (driver_probe(&r->config, &r->choice, &err) < 0) {
        fail_msg("%s", err.text);
    }
    print_message("%s\n", r->choice.text);
    r->config.choice = &r->choice;
    r->subject.has_ids = r->choice.user_namespaces;
    r->loop = event_base_new();
    r->events_end = &r->events;
    open_driver(r);
}

void rig_open(struct rig *r, enum driver_kind kind)
{
    open_rig(r, kind, NULL);
}

void rig_open_network(struct rig *r, const char *subnet)
{
    open_rig(r, DRIVER_OCI, subnet);
}

struct reply rig_output(struct rig *r, const struct output_request *wanted)
{
    r->replied = false;
    r->shell->ops->output(r->shell, wanted);
    while (!r->replied) {
        event_base_loop(r->loop, EVLOOP_ONCE);
    }
    return r->reply;
}

static void drop_events(struct rig *r)
{
    while (r->events) {
        struct kept *k = r->events;
        r->events = k->next;
        arena_done(&k->arena);
        free(k);
    }
    r->events_end = &r->events;
}

void rig_suspend(struct rig *r)
{
    r->shell->ops->free(r->shell);
    r->shell = NULL;
    drop_events(r);
    r->subject.ended_count = 0;
}

void rig_resume(struct rig *r)
{
    open_driver(r);
}

void rig_restart(struct rig *r)
{
    rig_suspend(r);
    rig_resume(r);
}

/* ---- Nothing left behind ---- */

static bool file_mentions(const char *path, const char *word)
{
    char line[8192];
    bool found = false;
    FILE *f = fopen(path, "r");
    while (f && !found) {
        size_t n = fread(line, 1, sizeof(line) - 1, f);
        if (n == 0) {
            break;
        }
        for (size_t i = 0; i < n; i++) {
            line[i] = line[i] ? line[i] : ' ';
        }
        line[n] = '\0';
        found = strstr(line, word) != NULL;
    }
    if (f) {
        fclose(f);
    }
    return found;
}

/* A process is ours when its working directory, its control group or its environment (the mark of
 * the process driver) says so. Shims work in their container's directory. */
static bool is_ours(long pid, const char *dir, const char *group, char cwd[PATH_MAX])
{
    char path[300];
    snprintf(path, sizeof(path), "/proc/%ld/cwd", pid);
    ssize_t n = readlink(path, cwd, PATH_MAX - 1);
    cwd[n > 0 ? n : 0] = '\0';
    snprintf(path, sizeof(path), "/proc/%ld/cgroup", pid);
    if (strstr(cwd, dir) || file_mentions(path, group)) {
        return true;
    }
    snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
    return file_mentions(path, dir);
}

static int lines_of(const char *command)
{
    char line[512];
    int count = 0;
    FILE *f = popen(command, "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        print_message("left: %s", line);
        count++;
    }
    pclose(f);
    return count;
}

static uint32_t hash_of(const char *text)
{
    uint32_t h = 2166136261U;
    for (; *text; text++) {
        h = (h ^ (uint8_t)*text) * 16777619U;
    }
    return h;
}

/* Whether these words stand in its command line; those of a zombie are gone. */
static bool says(long pid, const char *words)
{
    char path[64], line[4096] = "";
    snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
    if (fd >= 0) {
        close(fd);
    }
    for (ssize_t i = 0; i < size; i++) {
        line[i] = line[i] ? line[i] : ' ';
    }
    return strstr(line, words) != NULL;
}

/* `words`: only of those that say them; NULL = of all. */
static int count_processes(struct rig *r, const char *words, bool tell)
{
    int found = 0;
    char group[64], cwd[PATH_MAX];
    snprintf(group, sizeof(group), "/corkboard-%08x-", hash_of(r->state));
    DIR *proc = opendir("/proc");
    for (struct dirent *e; (e = readdir(proc));) {
        long pid = atol(e->d_name);
        char path[64], stat[512] = "";
        snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
        identity_slurp(AT_FDCWD, path, stat, sizeof(stat));
        /* One that has ended and waits for the machine's init, some of which take their time. */
        bool reaped_by_init = strstr(stat, ") Z 1 ") != NULL;
        if (pid > 0 && pid != getpid() && !reaped_by_init && is_ours(pid, r->dir, group, cwd) &&
            (!words || says(pid, words))) {
            found++;
            if (tell) {
                print_message("left: process in %s: %.60s\n", cwd, stat);
            }
        }
    }
    closedir(proc);
    return found;
}

int rig_processes_saying(struct rig *r, const char *words)
{
    return count_processes(r, words, false);
}

void rig_await_none_saying(struct rig *r, const char *words)
{
    for (struct patience p = {0}; count_processes(r, words, false) > 0 && patience(&p);) {
    }
    assert_int_equal(count_processes(r, words, true), 0);
}

int rig_processes(struct rig *r)
{
    /* The kernel needs a moment for a killed process, and init for reaping it. */
    for (struct patience p = {0}; count_processes(r, NULL, false) > 0 && patience(&p);) {
    }
    return count_processes(r, NULL, true);
}

int rig_leftovers(struct rig *r)
{
    char command[512];
    int found = 0;
    snprintf(command, sizeof(command), "grep -F %s/ /proc/self/mountinfo", r->dir);
    found += lines_of(command);
    snprintf(command, sizeof(command), "ls -A %s/containers %s/runtime | grep -v '^%s.*:$' | "
             "grep -v '^$'", r->state, r->state, r->state);
    found += lines_of(command);
    snprintf(command, sizeof(command), "ls -d /sys/fs/cgroup/corkboard-%08x-* "
             "/sys/fs/cgroup/*/corkboard-%08x-* 2>/dev/null", hash_of(r->state), hash_of(r->state));
    found += lines_of(command);
    if (r->config.network.own) { /* of nobody: no container is left */
        snprintf(command, sizeof(command), "%s audit corkboard-%08x %s/containers %s 2>&1",
                 r->network, hash_of(r->state), r->state, r->config.network.subnet);
        found += lines_of(command);
        found += lines_of("ip -o link show type veth");
    }
    snprintf(command, sizeof(command), "losetup -a 2>/dev/null | grep %s", r->dir);
    return found + lines_of(command);
}

void rig_mount_copy(struct rig *r, const char *guid)
{
    run("mkdir %s/runtime/%s && cd %s/runtime/%s && touch runc.copy && "
        "mount --bind runc.copy runc.copy", r->state, guid, r->state, guid);
}

void rig_close(struct rig *r)
{
    r->shell->ops->free(r->shell);
    drop_events(r);
    buf_done(&r->reply_body);
    event_base_free(r->loop);
    assert_int_equal(rig_processes(r), 0);
    assert_int_equal(rig_leftovers(r), 0);
    if (r->config.network.own) {
        run("%s drop corkboard-%08x", r->network, hash_of(r->state));
    }
    run("rm -rf --one-file-system %s", r->dir);
}

struct container_spec rig_shell(struct rig *r, const char *script, const char *args[4])
{
    args[0] = "-c";
    args[1] = script;
    args[2] = NULL;
    return (struct container_spec){.rootfs = r->subject.rootfs, .path = "/bin/sh", .args = args};
}

void rig_begin_shell(struct rig *r, const char *guid, const char *script)
{
    const char *args[4];
    SCOPED_ARENA(arena);
    struct container_spec spec = rig_shell(r, script, args);
    struct verb_answer a = subject_prepare(&r->subject, &arena, guid, &spec);
    if (a.outcome != VERB_DONE) {
        fail_msg("%s", a.text);
    }
    a = subject_plain(&r->subject, &arena, VERB_START, guid);
    if (a.outcome != VERB_DONE) {
        fail_msg("%s", a.text);
    }
}

const char *rig_path(struct rig *r, const char *guid, const char *name)
{
    static char paths[4][256];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, 256, "%s/containers/%s/%s", r->state, guid, name);
    return path;
}

void rig_pause_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

long long rig_size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (long long)st.st_size : -1;
}

const char *rig_text_of(const char *path)
{
    static char text[65536];
    text[0] = '\0';
    identity_slurp(AT_FDCWD, path, text, sizeof(text));
    return text;
}

const char *rig_wrote(struct rig *r, const char *guid)
{
    static struct buf text;
    struct reply reply = rig_output(
        r, &(struct output_request){.guid = guid, .lines = -1, .stream = OUTPUT_STDOUT});
    buf_done(&text);
    buf_init(&text);
    while (reply.cursor && cursor_fill(reply.cursor, &text, CURSOR_CHUNK_BYTES) == CURSOR_MORE) {
    }
    cursor_free(reply.cursor);
    return buf_string(&text);
}

void rig_done(struct verb_answer a)
{
    if (a.outcome != VERB_DONE) {
        fail_msg("verb %d of %s: outcome %d: %s", a.verb, a.guid, a.outcome, a.text);
    }
}

void rig_await_state(struct rig *r, const char *guid, enum container_state wanted)
{
    struct arena arena;
    arena_init(&arena);
    for (struct patience p = {0}; patience(&p); arena_reset(&arena)) {
        if (subject_find(&r->subject, &arena, guid).state == wanted) {
            arena_done(&arena);
            return;
        }
    }
    fail_msg("%s did not come to state %d", guid, wanted);
}
