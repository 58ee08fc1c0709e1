/* Trials of real drivers. Race-prone ones are repeated dozens of times. */
#include "test/e2e/driver_trials.h"

#include "test/tool/patience.h"

#include <dirent.h>
#include <event2/event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "rep/shim/identity.h"

static bool is_oci(const struct rig *r)
{
    return r->config.kind == DRIVER_OCI;
}

static void pause_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

static long long size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (long long)st.st_size : -1;
}

/* The whole of a small file, or "". */
static const char *text_of(const char *path)
{
    static char text[65536];
    text[0] = '\0';
    identity_slurp(AT_FDCWD, path, text, sizeof(text));
    return text;
}

static void done(struct verb_answer a)
{
    if (a.outcome != VERB_DONE) {
        fail_msg("verb %d of %s: outcome %d: %s", a.verb, a.guid, a.outcome, a.text);
    }
}

void trial_conformance(void **state)
{
    struct rig *r = *state;
    driver_conformance(&r->subject);
}

/* ---- What a container is like inside ---- */

/* Runs the script to its end and gives what it wrote to stdout. */
static const char *output_of(struct rig *r, struct container_spec *spec, int *ret_code)
{
    struct arena arena;
    arena_init(&arena);
    done(subject_prepare(&r->subject, &arena, "inside", spec));
    done(subject_plain(&r->subject, &arena, VERB_START, "inside"));
    *ret_code = subject_await_end(&r->subject, "inside").exit_code;
    const char *text = text_of(rig_path(r, "inside", "log/stdout"));
    subject_remove(&r->subject, "inside");
    arena_done(&arena);
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
    struct arena arena;
    const char *args[4];
    char expected[300], home[200];
    int code;
    arena_init(&arena);
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
    arena_done(&arena);
}

void trial_users(void **state)
{
    struct rig *r = *state;
    struct arena arena;
    const char *args[4];
    int code;
    arena_init(&arena);
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
    arena_done(&arena);
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
    assert_int_equal(size_of(r->rootfs_path) > 0, 1);
    char mine[200];
    snprintf(mine, sizeof(mine), "%s/mine", r->rootfs_path);
    assert_int_equal(size_of(mine), -1); /* the preloaded one is as it was */
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

void trial_out_of_memory(void **state)
{
    struct rig *r = *state;
    const char *args[4];
    struct arena arena;
    arena_init(&arena);
    struct container_spec spec = rig_shell(r, "tail /dev/zero; exit $?", args);
    spec.memory_mb = 32;
    done(subject_prepare(&r->subject, &arena, "greedy", &spec));
    done(subject_plain(&r->subject, &arena, VERB_START, "greedy"));
    struct ended e = subject_await_end(&r->subject, "greedy");
    assert_true(e.oom_killed);
    assert_int_equal(e.exit_code, 128 + SIGKILL);
    assert_true(subject_find(&r->subject, &arena, "greedy").oom_killed);
    subject_remove(&r->subject, "greedy");
    arena_done(&arena);
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
    struct arena arena;
    arena_init(&arena);
    rig_begin_shell(r, "host", "sleep 1000");
    struct verb_answer a = exec_shell(r, &arena, "echo out; echo err >&2; exit 7", PATIENCE_MS);
    done(a);
    assert_int_equal(a.exit_code, 7);
    assert_non_null(strstr(a.text, "out\n"));
    assert_non_null(strstr(a.text, "err\n"));
    a = exec_shell(r, &arena, "kill -9 $$", PATIENCE_MS);
    done(a);
    assert_int_equal(a.exit_code, 128 + SIGKILL);
    a = exec_shell(r, &arena, "for i in $(seq 0 2999); do echo line $i; done", PATIENCE_MS);
    done(a);
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
    arena_done(&arena);
}

/* Names that a runtime could take for options. */
void trial_dash(void **state)
{
    static const char *const names[] = {"-dash", "--help", "--", "-"};
    static const char *const argv[] = {"/bin/sh", "-c", "exit 7", NULL};
    struct rig *r = *state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct arena arena;
        arena_init(&arena);
        rig_begin_shell(r, names[i], "trap 'exit 5' TERM; while :; do sleep 0.1; done");
        struct verb_answer a =
            subject_verb(&r->subject, &arena,
                         (struct verb_call){.verb = VERB_EXEC, .guid = names[i], .argv = argv});
        done(a);
        assert_int_equal(a.exit_code, 7);
        subject_remove(&r->subject, names[i]);
        arena_done(&arena);
    }
}

/* ---- Logs ---- */

static struct container_usage usage_of(struct rig *r, struct arena *arena, const char *guid)
{
    struct verb_answer a = subject_plain(&r->subject, arena, VERB_MEASURE, NULL);
    assert_int_equal(a.outcome, VERB_DONE);
    for (size_t i = 0; i < a.usage_count; i++) {
        if (strcmp(a.usages[i].guid, guid) == 0) {
            return a.usages[i];
        }
    }
    fail_msg("%s is not measured", guid);
    return (struct container_usage){0};
}

/* One that works and one that sleeps; the figures are the machine's, so they are only bounded. */
void trial_measure(void **state)
{
    struct rig *r = *state;
    struct arena arena;
    arena_init(&arena);
    rig_begin_shell(r, "busy",
                    "dd if=/dev/zero of=rig bs=64k count=32 2>/dev/null; "
                    "while true; do :; done");
    rig_begin_shell(r, "idle", "exec sleep 1000");
    pause_ms(1500);
    struct container_usage busy = usage_of(r, &arena, "busy");
    struct container_usage idle = usage_of(r, &arena, "idle");
    assert_true(busy.cpu_fraction > 0.05 && busy.cpu_fraction < 2);
    assert_true(idle.cpu_fraction < busy.cpu_fraction);
    assert_true(idle.memory_bytes > 10000 && idle.memory_bytes < 100 << 20);
    assert_true(busy.disk_bytes >= 32 * 65536 && busy.disk_bytes < 64 << 20);
    assert_true(idle.disk_bytes < busy.disk_bytes);
    subject_remove(&r->subject, "busy");
    subject_remove(&r->subject, "idle");
    arena_done(&arena);
}

/* ---- Output ---- */

static struct reply reply_of(struct rig *r, const char *guid, int64_t lines, bool follow)
{
    return rig_output(
        r, &(struct output_request){.guid = guid, .lines = lines, .follow = follow});
}

/* All that the cursor gives until it waits or ends; static. */
static const char *taken(struct cursor *c, enum cursor_state *ret_state)
{
    static struct buf text;
    buf_done(&text);
    buf_init(&text);
    do {
        *ret_state = cursor_fill(c, &text, CURSOR_SLICE_BYTES);
    } while (*ret_state == CURSOR_MORE);
    return buf_string(&text);
}

static void gives(struct rig *r, const char *guid, int64_t lines, const char *expected)
{
    enum cursor_state end;
    struct reply reply = reply_of(r, guid, lines, false);
    assert_int_equal(reply.status, 200);
    assert_string_equal(taken(reply.cursor, &end), expected);
    assert_int_equal(end, CURSOR_END);
    cursor_free(reply.cursor);
}

/* Waits until this stands in its output. */
static void comes_to_say(struct rig *r, const char *guid, const char *text)
{
    bool says = false;
    for (struct patience p = {0}; !says && patience(&p);) {
        enum cursor_state end;
        struct reply reply = reply_of(r, guid, -1, false);
        says = reply.cursor && strstr(taken(reply.cursor, &end), text);
        if (reply.cursor) {
            cursor_free(reply.cursor);
        }
    }
    assert_true(says);
}

static void signal_shell(struct rig *r, const char *guid)
{
    struct arena arena;
    arena_init(&arena);
    done(subject_signal(&r->subject, &arena, guid, SIGUSR1));
    arena_done(&arena);
}

static void remove_labelled(struct rig *r, const char *guid, const char *label)
{
    struct arena arena;
    arena_init(&arena);
    struct verb_answer a =
        subject_verb(&r->subject, &arena,
                     (struct verb_call){.verb = VERB_REMOVE, .guid = guid, .label = label});
    assert_int_equal(a.outcome, VERB_DONE);
    arena_done(&arena);
}

static size_t kept_of(struct rig *r, const char *label)
{
    struct reply reply = rig_output(r, &(struct output_request){.label = label});
    assert_int_equal(reply.status, 200);
    size_t count = 0;
    char *text = strndup((const char *)reply.body.data, reply.body.size);
    for (const char *at = text; (at = strstr(at, "instance_guid")); at++) {
        count++;
    }
    free(text);
    return count;
}

/* The last lines, those that come, and those of a container that has gone. */
void trial_output(void **state)
{
    struct rig *r = *state;
    enum cursor_state end;
    rig_begin_shell(r, "talks",
                    "n=0; trap 'n=$((n + 1))' USR1; echo one; echo two; echo three; echo bad >&2; "
                    "while [ $n -lt 1 ]; do sleep 0.1; done; echo four; printf five; "
                    "while [ $n -lt 2 ]; do sleep 0.1; done; printf six");
    comes_to_say(r, "talks", "three\n");
    comes_to_say(r, "talks", "bad\n");
    gives(r, "talks", -1, "one\ntwo\nthree\nbad\n");
    gives(r, "talks", 2, "two\nthree\nbad\n");
    gives(r, "talks", 0, "");
    assert_int_equal(reply_of(r, "nobody", -1, false).status, 404);
    assert_int_equal(reply_of(r, "../talks", -1, false).status, 404);
    struct reply follow = reply_of(r, "talks", 1, true);
    assert_string_equal(follow.channel, "output");
    assert_string_equal(taken(follow.cursor, &end), "three\nbad\n");
    assert_int_equal(end, CURSOR_WAIT);
    signal_shell(r, "talks");
    comes_to_say(r, "talks", "four\n");
    assert_string_equal(taken(follow.cursor, &end), "four\n"); /* whole lines */
    assert_int_equal(end, CURSOR_WAIT);
    signal_shell(r, "talks");
    subject_await_end(&r->subject, "talks");
    assert_string_equal(taken(follow.cursor, &end), "fivesix\n");
    assert_int_equal(end, CURSOR_END);
    remove_labelled(r, "talks", "app/0");
    cursor_free(follow.cursor);
    gives(r, "talks", 2, "four\nfivesix\nbad\n");
    assert_int_equal(kept_of(r, "app/0"), 1);
    assert_int_equal(kept_of(r, "app/1"), 0);
    rig_restart(r);
    gives(r, "talks", 1, "fivesix\nbad\n");
}

/* Readers have descriptors, whether they follow or not. */
void trial_output_bounded(void **state)
{
    enum { READERS = 128 };
    struct rig *r = *state;
    struct reply readers[READERS];
    rig_begin_shell(r, "read", "echo one; exec sleep 1000");
    for (size_t i = 0; i < READERS; i++) {
        readers[i] = reply_of(r, "read", -1, i % 2);
        assert_int_equal(readers[i].status, 200);
    }
    assert_int_equal(reply_of(r, "read", -1, false).status, 503);
    assert_int_equal(reply_of(r, "read", -1, true).status, 503);
    cursor_free(readers[0].cursor);
    readers[0] = reply_of(r, "read", -1, false);
    assert_int_equal(readers[0].status, 200);
    for (size_t i = 0; i < READERS; i++) {
        cursor_free(readers[i].cursor);
    }
    /* What cannot be read now is not said to be missing. */
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int status = reply_of(r, "read", -1, false).status;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(status, 503);
    subject_remove(&r->subject, "read");
}

/* A reader goes on across rotations, and says when it was left behind. */
void trial_output_rotates(void **state)
{
    struct rig *r = *state;
    enum cursor_state end;
    r->config.log_bytes = 4096;
    r->config.log_files = 3;
    rig_restart(r);
    rig_begin_shell(r, "counts",
                    "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); "
                    "[ $((i % 100)) = 0 ] && sleep 0.05; done; sleep 0.5; "
                    "i=0; while [ $i -lt 3000 ]; do echo more $i; i=$((i+1)); done");
    struct reply follow = reply_of(r, "counts", -1, true);
    int next = 0;
    bool lost = false;
    do {
        pause_ms(20);
        char *save = NULL, *text = strdup(taken(follow.cursor, &end));
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            int number;
            if (sscanf(line, "line %d", &number) == 1) {
                assert_true(number == next || (lost && number > next));
                next = number + 1;
            } else if (strncmp(line, "--", 2) == 0) {
                lost = true; /* a slow machine: the reader did not keep up, and is told */
            } else {
                assert_int_equal(sscanf(line, "more %d", &number), 1);
                next = 3000;
            }
        }
        free(text);
    } while (next < 3000);
    subject_await_end(&r->subject, "counts");
    while (end != CURSOR_END) {
        lost |= strstr(taken(follow.cursor, &end), "-- corkboard: lines were rotated away") != NULL;
        pause_ms(20);
    }
    assert_true(lost);
    cursor_free(follow.cursor);
    subject_remove(&r->subject, "counts");
}

/* Three a label; on a full disk none, but the container goes. */
void trial_output_kept(void **state)
{
    struct rig *r = *state;
    char guid[24], fill[200], command[300];
    rig_suspend(r);
    assert_int_equal(mount("tmpfs", r->state, "tmpfs", 0, "size=100m"), 0);
    rig_resume(r);
    for (int i = 0; i < 5; i++) {
        snprintf(guid, sizeof(guid), "kept-%d", i);
        rig_begin_shell(r, guid, "echo here");
        subject_await_end(&r->subject, guid);
        remove_labelled(r, guid, "app/0");
        pause_ms(1100); /* they are told apart by the second */
    }
    assert_int_equal(kept_of(r, "app/0"), 3);
    gives(r, "kept-4", -1, "here\n");
    gives(r, "kept-2", -1, "here\n");
    assert_int_equal(reply_of(r, "kept-1", -1, false).status, 404);
    rig_begin_shell(r, "silent", "true");
    subject_await_end(&r->subject, "silent");
    remove_labelled(r, "silent", "quiet/0"); /* nothing was written: nothing is kept */
    rig_begin_shell(r, "last", "echo here; sleep 3");
    snprintf(fill, sizeof(fill), "%s/fill", r->state);
    snprintf(command, sizeof(command), "dd if=/dev/zero of=%s bs=64k 2>/dev/null", fill);
    assert_int_not_equal(system(command), 0);
    remove_labelled(r, "last", "app/0");
    assert_int_equal(kept_of(r, "app/0"), 0);
    unlink(fill);
    rig_suspend(r);
    assert_int_equal(umount2(r->state, MNT_DETACH), 0);
    rig_resume(r);
}

void trial_logs(void **state)
{
    enum { LINES = 100000, LIMIT = 65536 };
    struct rig *r = *state;
    char script[200];
    struct event ev;
    struct arena arena;
    arena_init(&arena);
    /* Under the limit every line arrives, however fast they come. */
    snprintf(script, sizeof(script),
             "yes 'a line of a log' | head -%d; yes err | head -%d >&2; echo end", LINES, LINES);
    rig_begin_shell(r, "burst", script);
    subject_await_end(&r->subject, "burst");
    assert_int_equal(size_of(rig_path(r, "burst", "log/stdout")), LINES * 16 + 4);
    assert_int_equal(size_of(rig_path(r, "burst", "log/stderr")), LINES * 4);
    subject_remove(&r->subject, "burst");
    /* Over it the oldest go, whole files at a time, and lines stay whole. */
    r->config.log_bytes = LIMIT;
    r->config.log_files = 3;
    rig_restart(r);
    rig_begin_shell(r, "bounded", script);
    while (r->subject.next(&r->subject, 0, &arena, &ev)) {
        fail_msg("it ended too soon to be looked at");
    }
    subject_await_end(&r->subject, "bounded");
    assert_true(size_of(rig_path(r, "bounded", "log/stdout")) <= LIMIT);
    assert_true(size_of(rig_path(r, "bounded", "log/stdout.1")) <= LIMIT);
    assert_true(size_of(rig_path(r, "bounded", "log/stdout.2")) > LIMIT / 2);
    assert_int_equal(size_of(rig_path(r, "bounded", "log/stdout.3")), -1);
    const char *last = text_of(rig_path(r, "bounded", "log/stdout"));
    assert_string_equal(last + strlen(last) - 20, "a line of a log\nend\n");
    assert_int_equal(strncmp(text_of(rig_path(r, "bounded", "log/stdout.1")), "a line", 6), 0);
    subject_remove(&r->subject, "bounded");
    arena_done(&arena);
}

/* The state directory on a small disk of its own, and that full: the container runs on, its end is
 * kept, and its log says what it has lost. */
void trial_full_disk(void **state)
{
    struct rig *r = *state;
    struct arena arena;
    char fill[200], command[300];
    arena_init(&arena);
    rig_suspend(r);
    assert_int_equal(mount("tmpfs", r->state, "tmpfs", 0, "size=2m"), 0);
    rig_resume(r);
    rig_begin_shell(r, "noisy", "while true; do printf '%0200d\n' 1; sleep 0.005; done");
    snprintf(fill, sizeof(fill), "%s/fill", r->state);
    snprintf(command, sizeof(command), "dd if=/dev/zero of=%s bs=4k count=1000 2>/dev/null", fill);
    assert_int_not_equal(system(command), 0);
    pause_ms(1000);
    assert_int_equal(subject_find(&r->subject, &arena, "noisy").state, CONTAINER_RUNNING);
    struct container_spec spec = {.rootfs = r->subject.rootfs, .path = "/bin/true"};
    struct verb_answer a = subject_prepare(&r->subject, &arena, "late", &spec);
    assert_int_equal(a.outcome, VERB_FAILED);
    assert_non_null(strstr(a.text, "No space left"));
    rig_restart(r); /* adoption needs no space */
    assert_int_equal(subject_find(&r->subject, &arena, "noisy").state, CONTAINER_RUNNING);
    unlink(fill);
    snprintf(command, sizeof(command), "grep -q 'bytes of log were lost here' %s",
             rig_path(r, "noisy", "log/stdout"));
    int status = system(command);
    for (struct patience p = {0}; status != 0 && patience(&p);) {
        status = system(command);
    }
    assert_int_equal(status, 0);
    snprintf(command, sizeof(command), "dd if=/dev/zero of=%s bs=4k count=1000 2>/dev/null", fill);
    assert_int_not_equal(system(command), 0);
    done(subject_signal(&r->subject, &arena, "noisy", SIGKILL));
    struct ended e = subject_await_end(&r->subject, "noisy");
    assert_true(e.exit_signal == SIGKILL || e.exit_code == 128 + SIGKILL);
    subject_remove(&r->subject, "noisy");
    rig_suspend(r);
    assert_int_equal(umount2(r->state, MNT_DETACH), 0);
    rig_resume(r);
    arena_done(&arena);
}

/* ---- Kills ---- */

static void kill_shim(struct rig *r, const char *guid)
{
    struct identity id;
    assert_int_equal(identity_read(AT_FDCWD, rig_path(r, guid, "shim.pid"), &id), 0);
    int fd = identity_open(&id);
    assert_true(fd >= 0);
    assert_int_equal(identity_signal(fd, SIGKILL), 0);
    close(fd);
}

static void await_state(struct rig *r, const char *guid, enum container_state wanted)
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

void trial_shim_killed(void **state)
{
    enum { TIMES = 24 };
    struct rig *r = *state;
    struct arena arena;
    arena_init(&arena);
    for (int i = 0; i < TIMES; i++) {
        rig_begin_shell(r, "orphan", "sleep 1000 & (setsid sleep 1000 &) ; exec sleep 1000");
        bool watched = i % 2 == 0; /* or it happens while no rep looks */
        if (!watched) {
            rig_suspend(r);
        }
        kill_shim(r, "orphan");
        if (!watched) {
            rig_resume(r);
            await_state(r, "orphan", CONTAINER_EXITED);
        } else {
            struct ended e = subject_await_end(&r->subject, "orphan");
            assert_int_equal(e.exit_signal, SIGKILL);
        }
        struct container_status c = subject_find(&r->subject, &arena, "orphan");
        assert_non_null(strstr(c.text, "shim was killed"));
        subject_remove(&r->subject, "orphan");
        assert_int_equal(rig_processes(r), 0);
        arena_reset(&arena);
        r->subject.ended_count = 0;
    }
    arena_done(&arena);
}

/* A rep of its own process: prepares and starts three containers, then waits to be killed. */
static void play_rep(struct rig *r)
{
    struct arena arena;
    arena_init(&arena);
    event_reinit(r->loop);
    rig_resume(r);
    for (int i = 0; i < 3; i++) {
        char guid[24];
        const char *args[4];
        struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
        snprintf(guid, sizeof(guid), "c%d", i);
        subject_prepare(&r->subject, &arena, guid, &spec);
        subject_plain(&r->subject, &arena, VERB_START, guid);
    }
    for (;;) {
        pause();
    }
}

static void settle(struct rig *r)
{
    struct arena arena;
    arena_init(&arena);
    for (int i = 0; i < 3; i++) {
        char guid[24];
        snprintf(guid, sizeof(guid), "c%d", i);
        for (int tries = 0; tries < 500; tries++) {
            struct container_status c = subject_find(&r->subject, &arena, guid);
            if (!c.guid || c.state != CONTAINER_STARTING) {
                break;
            }
            pause_ms(10);
        }
        struct container_status c = subject_find(&r->subject, &arena, guid);
        if (c.guid && c.state == CONTAINER_EXITED) {
            fail_msg("%s ended with the rep: %s", guid, c.text);
        }
        if (c.guid && c.state == CONTAINER_PREPARED) { /* what was begun can be gone on with */
            struct verb_answer a = subject_plain(&r->subject, &arena, VERB_START, guid);
            if (a.outcome == VERB_UNCERTAIN) { /* its shim was on its way */
                await_state(r, guid, CONTAINER_RUNNING);
            } else {
                done(a);
            }
        }
        subject_remove(&r->subject, guid);
        arena_reset(&arena);
    }
    arena_done(&arena);
}

void trial_rep_killed(void **state)
{
    enum { TIMES = 48, STEP_MS = 5 };
    struct rig *r = *state;
    for (int i = 0; i < TIMES; i++) {
        rig_suspend(r);
        pid_t rep = fork();
        if (rep == 0) {
            play_rep(r);
        }
        pause_ms(i * STEP_MS);
        kill(rep, SIGKILL);
        waitpid(rep, NULL, 0);
        rig_resume(r);
        settle(r);
        assert_int_equal(rig_processes(r), 0);
    }
}

/* A rep was killed between the beginning of a shim and that one's first word: its successor saw a
 * container that was never started, and begins a second shim. That one fails, but the container is
 * in force: LIST tells. */
void trial_started_by_another(void **state)
{
    struct rig *r = *state;
    struct arena arena;
    struct identity id;
    char text[128];
    const char *args[4];
    struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
    arena_init(&arena);
    done(subject_prepare(&r->subject, &arena, "twice", &spec));
    pid_t other = fork();
    while (other == 0) {
        pause();
    }
    assert_int_equal(identity_of(other, &id), 0);
    int n = identity_print(&id, text, sizeof(text));
    FILE *f = fopen(rig_path(r, "twice", "shim.pid"), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, (size_t)n, f), n);
    fclose(f);
    struct verb_answer a = subject_plain(&r->subject, &arena, VERB_START, "twice");
    enum container_state found = subject_find(&r->subject, &arena, "twice").state;
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    subject_remove(&r->subject, "twice");
    assert_int_equal(a.outcome, VERB_UNCERTAIN);
    assert_int_equal(found, CONTAINER_STARTING);
    arena_done(&arena);
}

/* A container that a successor removes while it is being started, at 48 points of that. */
void trial_removed_amid_start(void **state)
{
    enum { TIMES = 48, STEP_US = 1200 };
    struct rig *r = *state;
    struct subject *s = &r->subject;
    struct arena arena;
    struct event ev;
    const char *args[4];
    struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
    arena_init(&arena);
    for (int i = 0; i < TIMES; i++) {
        done(subject_prepare(s, &arena, "amid", &spec));
        struct verb_call c = {.id = ++s->ids,
                              .verb = VERB_START,
                              .guid = "amid",
                              .deadline_ns = s->now_ns(s) + 20 * SECOND_NS};
        s->call(s, &c);
        s->next(s, i * STEP_US * MICROSECOND_NS, &arena, &ev);
        rig_restart(r);
        subject_remove(s, "amid");
        assert_int_equal(rig_processes(r), 0);
        arena_reset(&arena);
    }
    arena_done(&arena);
}

/* A runtime that was killed while a copy of itself was mounted in its directory. */
void trial_runtime_killed(void **state)
{
    struct rig *r = *state;
    struct subject *s = &r->subject;
    struct arena arena;
    const char *args[4];
    struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
    arena_init(&arena);
    done(subject_prepare(s, &arena, "mounted", &spec));
    rig_mount_copy(r, "mounted");
    assert_int_not_equal(rig_leftovers(r), 0);
    subject_remove(s, "mounted");
    arena_done(&arena); /* and nothing is left, as rig_close demands of each trial */
}

/* The kernel drops what the first process of a namespace has not asked for yet: started must mean
 * that it has. */
void trial_term_at_once(void **state)
{
    enum { TIMES = 48 };
    struct rig *r = *state;
    struct arena arena;
    arena_init(&arena);
    for (int i = 0; i < TIMES; i++) {
        subject_begin(&r->subject, "brief", PROGRAM_SLEEPS);
        done(subject_signal(&r->subject, &arena, "brief", SIGTERM));
        struct ended e = subject_await_end(&r->subject, "brief");
        assert_true(e.exit_signal == SIGTERM || e.exit_code == 128 + SIGTERM);
        subject_remove(&r->subject, "brief");
        arena_reset(&arena);
    }
    arena_done(&arena);
}

/* ---- Many, and quick ---- */

void trial_many(void **state)
{
    enum { MANY = 20 };
    struct rig *r = *state;
    struct subject *s = &r->subject;
    struct arena arena;
    struct event ev;
    const char *args[4];
    struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
    int answers = 0;
    arena_init(&arena);
    int64_t begun = s->now_ns(s);
    static const enum verb verbs[] = {VERB_PREPARE, VERB_START, VERB_REMOVE};
    for (size_t v = 0; v < 3; v++) {
        answers = 0;
        for (int i = 0; i < MANY; i++) {
            struct verb_call c = {.id = ++s->ids,
                                  .verb = verbs[v],
                                  .guid = arena_printf(&arena, "many-%d", i),
                                  .spec = &spec,
                                  .deadline_ns = s->now_ns(s) + 60 * SECOND_NS};
            s->call(s, &c);
        }
        while (answers < MANY && s->next(s, 60 * SECOND_NS, &arena, &ev)) {
            assert_int_equal(ev.kind, EVENT_VERB);
            done(ev.verb);
            answers++;
        }
        assert_int_equal(answers, MANY);
    }
    print_message("%d containers in %.0f ms\n", MANY, (double)(s->now_ns(s) - begun) / 1e6);
    arena_done(&arena);
}

void trial_quick_ends(void **state)
{
    enum { TIMES = 48 };
    struct rig *r = *state;
    for (int i = 0; i < TIMES; i++) {
        char script[64], guid[32];
        snprintf(script, sizeof(script), "echo %d; exit %d", i, i);
        snprintf(guid, sizeof(guid), "quick-%d", i);
        rig_begin_shell(r, guid, script);
        assert_int_equal(subject_await_end(&r->subject, guid).exit_code, i);
        assert_int_equal(atoi(text_of(rig_path(r, guid, "log/stdout"))), i);
        subject_remove(&r->subject, guid);
    }
}

/* The end of the first process is the end of all, whatever they think of it. */
void trial_whole_family(void **state)
{
    enum { TIMES = 24 };
    struct rig *r = *state;
    for (int i = 0; i < TIMES; i++) {
        rig_begin_shell(r, "family",
                        "trap '' TERM HUP; for i in 1 2 3; do (setsid sleep 1000 &) ; sleep 1000 & "
                        "done; (setsid sh -c 'while true; do sleep 0.01; done' &) ; exit 4");
        struct ended e = subject_await_end(&r->subject, "family");
        assert_int_equal(e.exit_code, 4);
        assert_int_equal(rig_processes(r), 0);
        subject_remove(&r->subject, "family");
    }
}

/* ---- A runtime that hangs ---- */

static void hung_runtime(struct rig *r, char *path, size_t size)
{
    snprintf(path, size, "%s/hung", r->dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\ntrap '' TERM\nsleep 1001\nsleep 1001\n");
    fclose(f);
    chmod(path, 0755);
}

void trial_hung_runtime(void **state)
{
    struct rig *r = *state;
    struct subject *s = &r->subject;
    struct arena arena;
    char good[sizeof(r->choice.runtime)];
    const char *args[4];
    struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
    arena_init(&arena);
    rig_begin_shell(r, "healthy", "exec sleep 1000");
    strcpy(good, r->choice.runtime);
    hung_runtime(r, r->choice.runtime, sizeof(r->choice.runtime));
    rig_restart(r);
    for (int i = 0; i < 4; i++) { /* more than there are places */
        char guid[24];
        snprintf(guid, sizeof(guid), "hung-%d", i);
        done(subject_prepare(s, &arena, guid, &spec));
        int64_t before = s->now_ns(s);
        struct verb_call c = {.verb = VERB_START, .guid = guid};
        c.deadline_ns = before + 200 * MILLISECOND_NS;
        assert_int_equal(subject_verb(s, &arena, c).outcome, VERB_UNCERTAIN);
        assert_true(s->now_ns(s) - before < 2 * SECOND_NS);
        /* Neither the loop nor the others notice. */
        assert_int_equal(subject_find(s, &arena, "healthy").state, CONTAINER_RUNNING);
    }
    for (int i = 0; i < 4; i++) {
        char guid[24];
        snprintf(guid, sizeof(guid), "hung-%d", i);
        await_state(r, guid, CONTAINER_EXITED);
    }
    struct verb_call c = {.verb = VERB_REMOVE, .guid = "healthy"};
    c.deadline_ns = s->now_ns(s) + 500 * MILLISECOND_NS;
    struct verb_answer a = subject_verb(s, &arena, c);
    if (a.outcome != VERB_UNCERTAIN) {
        fail_msg("outcome %d: %s", a.outcome, a.text);
    }
    strcpy(r->choice.runtime, good);
    pause_ms(50);
    rig_restart(r);
    for (int i = 0; i < 4; i++) {
        char guid[24];
        snprintf(guid, sizeof(guid), "hung-%d", i);
        subject_remove(s, guid);
    }
    subject_remove(s, "healthy");
    arena_done(&arena);
}

void trial_probe(void **state)
{
    struct rig *r = *state;
    struct driver_config config = r->config;
    struct driver_choice choice;
    struct err err;
    config.runtime = "/bin/false";
    config.choice = NULL;
    assert_int_equal(driver_probe(&config, &choice, &err), -ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "/bin/false"));
    assert_int_equal(rig_leftovers(r), 0); /* though it cannot delete either */
    config.runtime = NULL;
    config.init = "/bin/no-such-init";
    assert_int_equal(driver_probe(&config, &choice, &err), -ERR_UNAVAILABLE);
    config.init = NULL;
    config.shim = "/bin/no-such-shim";
    assert_int_equal(driver_probe(&config, &choice, &err), -ERR_NOT_FOUND);
}

/* What a rep that was killed amid PREPARE or REMOVE left is cleared away by the next. */
void trial_leftovers(void **state)
{
    struct rig *r = *state;
    struct arena arena;
    char path[512];
    arena_init(&arena);
    rig_suspend(r);
    snprintf(path, sizeof(path), "mkdir -p %s/containers/half/log/deep && touch %s/containers/half/"
             "note.tmp && cd %s/containers/half/log/deep && for i in $(seq 100); do mkdir d && "
             "cd d; done", r->state, r->state, r->state);
    assert_int_equal(system(path), 0);
    rig_resume(r);
    assert_null(subject_find(&r->subject, &arena, "half").guid);
    struct container_spec spec = {.rootfs = r->subject.rootfs, .path = "/bin/true"};
    struct verb_answer a = {0};
    for (struct patience p = {0}; a.outcome != VERB_DONE && patience(&p);) {
        a = subject_prepare(&r->subject, &arena, "half", &spec);
    }
    done(a);
    subject_remove(&r->subject, "half");
    arena_done(&arena);
}
