/* What a container is like inside, and exec into it. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"

#include "test/tool/patience.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static bool is_oci(const struct rig *r)
{
    return r->config.kind == DRIVER_OCI;
}

/* Runs the script to its end and gives what it wrote to stdout. */
static const char *output_of(struct rig *r, struct container_spec *spec, int *ret_code)
{
    SCOPED_ARENA(arena);
    rig_done(subject_prepare(&r->subject, &arena, "inside", spec));
    rig_done(subject_plain(&r->subject, &arena, VERB_START, "inside"));
    *ret_code = subject_await_end(&r->subject, "inside").exit_code;
    const char *text = rig_wrote(r, "inside");
    subject_remove(&r->subject, "inside");
    return text;
}

void trial_environment(void **state)
{
    static const struct name_value env[] = {{"GREETING", "hello there"}, {"PORT", "8080"}};
    struct rig *r = *state;
    const char *args[4];
    int code;
    struct container_spec spec =
        rig_shell(r, "echo \"$GREETING|$PORT|$(pwd)|$#\"; ulimit -n; exit 9", args);
    spec.env = env;
    spec.env_count = 2;
    spec.dir = "/tmp";
    spec.nofile = 123;
    assert_string_equal(output_of(r, &spec, &code), "hello there|8080|/tmp|0\n123\n");
    assert_int_equal(code, 9);
}

/* A plain process starts in a directory of its own, whoever it runs as, and it goes with it. */
void trial_home(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    const char *args[4];
    char expected[300], home[200];
    int code;
    snprintf(home, sizeof(home), "%s", rig_path(r, "inside", "home"));
    snprintf(expected, sizeof(expected), "%s\n0\nmine\n", home);
    struct container_spec spec = rig_shell(r, "pwd; ls -A | wc -l; echo > mine; ls -A", args);
    assert_string_equal(output_of(r, &spec, &code), expected);
    assert_int_equal(access(home, F_OK), -1);
    if (getuid() == 0) {
        spec.user = "nobody";
        assert_string_equal(output_of(r, &spec, &code), expected);
    }
    rig_begin_shell(r, "left", "echo outcome > result");
    assert_int_equal(subject_await_end(&r->subject, "left").exit_code, 0);
    struct verb_answer got = subject_verb(
        &r->subject, &arena,
        (struct verb_call){.verb = VERB_READ, .guid = "left", .path = "result"});
    assert_int_equal(got.outcome, VERB_DONE);
    assert_true(bytes_equal(got.data, bytes_of("outcome\n")));
    subject_remove(&r->subject, "left");
}

void trial_users(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    const char *args[4];
    int code;
    struct container_spec spec = rig_shell(r, "id -u; id -g", args);
    spec.user = is_oci(r) ? "vcap" : "nobody";
    assert_string_equal(output_of(r, &spec, &code), is_oci(r) ? "2000\n2000\n" : "65534\n65534\n");
    spec.user = "1234:4321";
    assert_string_equal(output_of(r, &spec, &code), "1234\n4321\n");
    spec.user = "no-such-user";
    struct verb_answer a = subject_prepare(&r->subject, &arena, "nobody", &spec);
    assert_int_equal(a.outcome, VERB_FAILED);
    assert_non_null(strstr(a.text, "no-such-user"));
    assert_null(subject_find(&r->subject, &arena, "nobody").guid);
}

/* Who they are is what a login would say. Unless told where to, they start where they are at home;
 * in the root where that is not. */
void trial_at_home(void **state)
{
    struct rig *r = *state;
    const char *args[4];
    char passwd[200];
    int code;
    snprintf(passwd, sizeof(passwd), "%s/etc/passwd", r->rootfs_path);
    FILE *f = fopen(passwd, "a");
    assert_non_null(f);
    fputs("lost:x:5:6::/home/lost:/bin/sh\n", f);
    assert_int_equal(fclose(f), 0);
    struct container_spec spec = rig_shell(r, "id; echo $USER; pwd; echo > mine && ls -A", args);
    spec.user = "vcap";
    assert_string_equal(output_of(r, &spec, &code),
                        "uid=2000(vcap) gid=2000(vcap) groups=2000(vcap),2001(logs)\n"
                        "vcap\n/home/vcap\nmine\n");
    spec = rig_shell(r, "id; echo $USER; pwd", args);
    assert_string_equal(output_of(r, &spec, &code),
                        "uid=0(root) gid=0(root) groups=0(root)\nroot\n/root\n");
    spec.user = "1234:4321";
    assert_string_equal(output_of(r, &spec, &code), "uid=1234 gid=4321 groups=4321\n\n/\n");
    spec.user = "lost";
    assert_string_equal(output_of(r, &spec, &code), "uid=5(lost) gid=6 groups=6\nlost\n/\n");
}

void trial_isolation(void **state)
{
    struct rig *r = *state;
    const char *args[4];
    int code;
    struct container_spec spec = rig_shell(
        r,
        "[ $$ -lt 20 ] && echo few; set -- /proc/[0-9]*; echo $#; hostname; "
        "touch /mine && ls /mine; "
           "ls /etc/shadow 2>/dev/null; mount -t tmpfs none /tmp 2>/dev/null && echo mounted; true",
        args);
    const char *text = output_of(r, &spec, &code);
    /* Its own processes are all it sees: init and shell. */
    assert_string_equal(text, "few\n2\ninside\n/mine\n");
    assert_int_equal(rig_size_of(r->rootfs_path) > 0, 1);
    char mine[200];
    snprintf(mine, sizeof(mine), "%s/mine", r->rootfs_path);
    assert_int_equal(rig_size_of(mine), -1); /* the preloaded one is as it was */
}

void trial_limits(void **state)
{
    struct rig *r = *state;
    const char *args[4];
    int code;
    struct container_spec spec = rig_shell(
        r, "dd if=/dev/zero of=/big bs=1M count=40 2>&1 | grep -c 'No space'; df -m / | tail -1 | "
           "awk '{print ($2 <= 20)}'",
        args);
    spec.disk_mb = 20;
    assert_true(r->choice.disk);
    assert_string_equal(output_of(r, &spec, &code), "1\n1\n");
    assert_true(r->choice.limits);
    spec = rig_shell(r, "echo some; for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & done; echo all", args);
    spec.max_pids = 5;
    assert_string_equal(output_of(r, &spec, &code), "some\n");
    assert_int_not_equal(code, 0);
    spec.max_pids = 20;
    assert_string_equal(output_of(r, &spec, &code), "some\nall\n");
}

/* What the kernel was told of the container's share of the processors. */
static int share_of(const char *guid, bool unified)
{
    char pattern[200], text[32] = "-1";
    glob_t found;
    snprintf(pattern, sizeof(pattern), "/sys/fs/cgroup/%scorkboard-*-%s/cpu.%s",
             unified ? "" : "cpu/", guid, unified ? "weight" : "shares");
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    FILE *f = fopen(found.gl_pathv[0], "r");
    globfree(&found);
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f));
    fclose(f);
    return atoi(text);
}

/* Diego's weights in their proportions; who says nothing has what the kernel gives everybody; more
 * than the kernel takes does not keep a container from starting. */
void trial_weights(void **state)
{
    bool unified = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
    const struct {
        uint32_t weight;
        int share;
    } rows[] = {
        {0, unified ? 100 : 1024},
        {1, unified ? 1 : 10},
        {100, unified ? 100 : 1000},
        {UINT32_MAX, unified ? 10000 : 100000},
    };
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    const char *args[4];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
        spec.cpu_weight = rows[i].weight;
        rig_done(subject_prepare(&r->subject, &arena, "weighs", &spec));
        rig_done(subject_plain(&r->subject, &arena, VERB_START, "weighs"));
        assert_int_equal(share_of("weighs", unified), rows[i].share);
        subject_remove(&r->subject, "weighs");
    }
}

static unsigned long long number_in(const char *guid, const char *const *files, const char *name)
{
    char pattern[300];
    glob_t found;
    unsigned long long n = 0;
    for (; *files; files++) {
        snprintf(pattern, sizeof(pattern), "/sys/fs/cgroup%.*s/corkboard-*-%s/%s",
                 (int)strcspn(*files, ":"), *files, guid, strchr(*files, ':') + 1);
        if (glob(pattern, 0, NULL, &found) == 0) {
            const char *text = rig_text_of(found.gl_pathv[0]);
            const char *at = *name ? strstr(text, name) : text;
            n = at ? strtoull(at + strlen(name), NULL, 10) : 0;
        }
        globfree(&found);
    }
    return n;
}

/* Two programs that would take all they can get no more than a fifth of one processor together. */
void trial_cpu_max(void **state)
{
    enum { LOOK_S = 2, PERCENT = 20 };
    static const char *const stats[] = {"/cpu:cpu.stat", ":cpu.stat", NULL};
    struct rig *r = *state;
    const char *args[4];
    SCOPED_ARENA(arena);
    struct container_spec spec =
        rig_shell(r, "while :; do :; done & while :; do :; done", args);
    spec.cpu_max_percent = PERCENT;
    rig_done(subject_prepare(&r->subject, &arena, "greedy", &spec));
    rig_done(subject_plain(&r->subject, &arena, VERB_START, "greedy"));
    for (struct patience p = {0};
         number_in("greedy", stats, "nr_throttled ") < 3 && patience(&p);) {
    }
    assert_true(number_in("greedy", stats, "nr_throttled ") >= 3);
    static const char *const version1[] = {"/cpuacct:cpuacct.usage", NULL};
    int64_t from_ns = r->subject.now_ns(&r->subject);
    unsigned long long from = number_in("greedy", version1, "");
    unsigned long long from_us = number_in("greedy", stats, "usage_usec ");
    rig_pause_ms(LOOK_S * 1000);
    unsigned long long used_ns = number_in("greedy", version1, "") - from +
                                 1000 * (number_in("greedy", stats, "usage_usec ") - from_us);
    int64_t passed_ns = r->subject.now_ns(&r->subject) - from_ns;
    assert_true(used_ns > 0 && used_ns < (unsigned long long)passed_ns * (PERCENT + 10) / 100);
    subject_remove(&r->subject, "greedy");
}

/* What stands in file systems of memory is its memory. */
void trial_memory_files(void **state)
{
    struct rig *r = *state;
    const char *args[4];
    SCOPED_ARENA(arena);
    struct container_spec spec =
        rig_shell(r, "dd if=/dev/zero of=/dev/shm/big bs=1M count=60; exit $?", args);
    spec.memory_mb = 24;
    rig_done(subject_prepare(&r->subject, &arena, "greedy", &spec));
    rig_done(subject_plain(&r->subject, &arena, VERB_START, "greedy"));
    struct ended e = subject_await_end(&r->subject, "greedy");
    assert_true(e.oom_killed);
    assert_int_not_equal(e.exit_code, 0);
    subject_remove(&r->subject, "greedy");
}

/* Opened, not only there: the group of devices must let it pass. */
void trial_fuse(void **state)
{
    struct rig *r = *state;
    const char *args[4];
    int code;
    bool here = access("/dev/fuse", F_OK) == 0;
    struct container_spec spec = rig_shell(
        r, "if [ -c /dev/fuse ]; then exec 3<>/dev/fuse && echo opened; else echo none; fi", args);
    assert_string_equal(output_of(r, &spec, &code), "none\n");
    spec.privileged = true;
    assert_string_equal(output_of(r, &spec, &code), here ? "opened\n" : "none\n");
    assert_int_equal(code, 0);
}

void trial_out_of_memory(void **state)
{
    struct rig *r = *state;
    const char *args[4];
    SCOPED_ARENA(arena);
    struct container_spec spec = rig_shell(r, "tail /dev/zero; exit $?", args);
    spec.memory_mb = 32;
    rig_done(subject_prepare(&r->subject, &arena, "greedy", &spec));
    rig_done(subject_plain(&r->subject, &arena, VERB_START, "greedy"));
    struct ended e = subject_await_end(&r->subject, "greedy");
    assert_true(e.oom_killed);
    assert_int_equal(e.exit_code, 128 + SIGKILL);
    assert_true(subject_find(&r->subject, &arena, "greedy").oom_killed);
    subject_remove(&r->subject, "greedy");
}

static void await_full(struct rig *r, const char *guid)
{
    char path[256];
    struct statvfs v = {.f_bavail = 1};
    enum { PART = 256 };
    snprintf(path, sizeof(path), "%s/containers/%s/disk", r->state, guid);
    for (int i = 0; i < 200 && v.f_bavail > v.f_blocks / PART; i++) {
        rig_pause_ms(50);
        assert_int_equal(statvfs(path, &v), 0);
    }
    assert_true(v.f_bavail <= v.f_blocks / PART);
}

/* Only what ended badly, by itself, and on a disk that is full says so. */
void trial_out_of_disk(void **state)
{
    static const struct {
        const char *script;
        bool full, stopped;
    } rows[] = {
        {"dd if=/dev/zero of=/big bs=64k 2>/dev/null; exit 3", true, false},
        {"dd if=/dev/zero of=/big bs=64k 2>/dev/null; kill -ABRT $$", true, false},
        {"dd if=/dev/zero of=/big bs=64k 2>/dev/null; exit 0", false, false},
        {"dd if=/dev/zero of=/big bs=64k 2>/dev/null; rm /big; exit 3", false, false},
        {"dd if=/dev/zero of=/big bs=64k 2>/dev/null; exec sleep 1000", false, true},
    };
    struct rig *r = *state;
    const char *args[4];
    SCOPED_ARENA(arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct container_spec spec = rig_shell(r, rows[i].script, args);
        spec.disk_mb = 20;
        rig_done(subject_prepare(&r->subject, &arena, "writer", &spec));
        rig_done(subject_plain(&r->subject, &arena, VERB_START, "writer"));
        if (rows[i].stopped) {
            await_full(r, "writer");
            struct verb_call c = {.verb = VERB_SIGNAL, .guid = "writer", .signal = SIGTERM};
            rig_done(subject_verb(&r->subject, &arena, c));
        }
        struct ended e = subject_await_end(&r->subject, "writer");
        assert_int_equal(e.disk_full, rows[i].full);
        assert_int_equal(subject_find(&r->subject, &arena, "writer").disk_full, rows[i].full);
        subject_remove(&r->subject, "writer");
    }
}

/* ---- exec ---- */

static struct verb_answer exec_shell(struct rig *r, struct arena *arena, const char *script,
                                     int wait_ms)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    int64_t now = r->subject.now_ns(&r->subject);
    return subject_verb(&r->subject, arena,
                        (struct verb_call){.verb = VERB_EXEC,
                                           .guid = "host",
                                           .argv = argv,
                                           .deadline_ns = now + wait_ms * MILLISECOND_NS});
}

void trial_exec(void **state)
{
    static const char *const missing[] = {"/bin/no-such-program", NULL};
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    rig_begin_shell(r, "host", "sleep 1000");
    struct verb_answer a = exec_shell(r, &arena, "echo out; echo err >&2; exit 7", PATIENCE_MS);
    rig_done(a);
    assert_int_equal(a.exit_code, 7);
    assert_non_null(strstr(a.text, "out\n"));
    assert_non_null(strstr(a.text, "err\n"));
    a = exec_shell(r, &arena, "kill -9 $$", PATIENCE_MS);
    rig_done(a);
    assert_int_equal(a.exit_code, 128 + SIGKILL);
    a = exec_shell(r, &arena, "for i in $(seq 0 2999); do echo line $i; done", PATIENCE_MS);
    rig_done(a);
    assert_true(strlen(a.text) <= 4096);
    assert_non_null(strstr(a.text, "line 2999\n")); /* the tail is kept */
    a = subject_verb(&r->subject, &arena,
                     (struct verb_call){.verb = VERB_EXEC, .guid = "host", .argv = missing});
    assert_int_equal(a.outcome, VERB_FAILED);
    assert_non_null(strstr(a.text, "no-such-program"));
    a = exec_shell(r, &arena, "sleep 777", 300);
    assert_int_equal(a.outcome, VERB_UNCERTAIN);
    assert_non_null(strstr(a.text, "deadline"));
    assert_int_equal(subject_find(&r->subject, &arena, "host").state, CONTAINER_RUNNING);
    subject_remove(&r->subject, "host");
}

/* Names that a runtime could take for options. */
void trial_dash(void **state)
{
    static const char *const names[] = {"-dash", "--help", "--", "-"};
    static const char *const argv[] = {"/bin/sh", "-c", "exit 7", NULL};
    struct rig *r = *state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        SCOPED_ARENA(arena);
        rig_begin_shell(r, names[i], "trap 'exit 5' TERM; while :; do sleep 0.1; done");
        struct verb_answer a =
            subject_verb(&r->subject, &arena,
                         (struct verb_call){.verb = VERB_EXEC, .guid = names[i], .argv = argv});
        rig_done(a);
        assert_int_equal(a.exit_code, 7);
        subject_remove(&r->subject, names[i]);
    }
}
