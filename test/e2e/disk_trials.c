/* What a driver does beside its loop, for the disk may take its time: measuring, looking for
 * directories that it does not know, deleting what programs left. */
#include "test/e2e/driver_trials.h"

#include <event2/event.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rep/driver/worker_io.h"
#include "rep/shim/shim.h"
#include "test/tool/cmocka.h"

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
    SCOPED_ARENA(arena);
    rig_begin_shell(r, "busy",
                    "dd if=/dev/zero of=rig bs=64k count=32 2>/dev/null; "
                    "while true; do :; done");
    rig_begin_shell(r, "idle", "exec sleep 1000");
    rig_pause_ms(1500);
    struct container_usage busy = usage_of(r, &arena, "busy");
    struct container_usage idle = usage_of(r, &arena, "idle");
    assert_true(busy.cpu_fraction > 0.05 && busy.cpu_fraction < 2);
    assert_true(idle.cpu_fraction < busy.cpu_fraction);
    assert_true(idle.memory_bytes > 10000 && idle.memory_bytes < 100 << 20);
    assert_true(busy.disk_bytes >= 32 * 65536 && busy.disk_bytes < 64 << 20);
    assert_true(idle.disk_bytes < busy.disk_bytes);
    subject_remove(&r->subject, "busy");
    subject_remove(&r->subject, "idle");
}

/* More than wait for the disk are refused; each is answered once. Nothing is told before the loop
 * runs, so the queue fills however fast the disk is. */
void trial_measure_bounded(void **state)
{
    enum { ASKED = WORKER_QUEUE_MAX + 50, FIRST_ID = 1000 };
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    struct event ev;
    int answers[ASKED] = {0}, measured = 0, refused = 0;
    rig_begin_shell(r, "idle", "exec sleep 1000");
    for (uint64_t i = 0; i < ASKED; i++) {
        r->shell->ops->call(r->shell, &(struct verb_call){.id = FIRST_ID + i,
                                                          .verb = VERB_MEASURE,
                                                          .deadline_ns = NEVER_NS});
    }
    while (measured + refused < ASKED &&
           r->subject.next(&r->subject, 60 * SECOND_NS, &arena, &ev)) {
        assert_int_equal(ev.kind, EVENT_VERB);
        assert_in_range(ev.verb.id, FIRST_ID, FIRST_ID + ASKED - 1);
        answers[ev.verb.id - FIRST_ID]++;
        measured += ev.verb.outcome == VERB_DONE && ev.verb.usage_count == 1;
        refused += ev.verb.outcome == VERB_FAILED && strstr(ev.verb.text, "too much waits");
    }
    assert_int_equal(measured + refused, ASKED);
    assert_in_range(measured, WORKER_QUEUE_MAX - 3, WORKER_QUEUE_MAX + 1);
    for (int i = 0; i < ASKED; i++) {
        assert_int_equal(answers[i], 1);
    }
    subject_remove(&r->subject, "idle");
}

/* As a rep without privileges: in the child. */
static void remove_as_nobody(const char *dir, const char *shim)
{
    enum { NOBODY = 65534, HIGH = 10 };
    char name[] = "rep-shim", verb[] = "remove", guid[] = "--guid=c";
    char *argv[] = {name, verb, guid, NULL}, *envp[] = {NULL};
    int program = open(shim, O_RDONLY), null = open("/dev/null", O_WRONLY);
    program = fcntl(program, F_DUPFD, HIGH);
    dup2(null, SHIM_REPORT_FD);
    if (program >= 0 && chdir(dir) == 0 &&
        (getuid() != 0 || (setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
                           setresuid(NOBODY, NOBODY, NOBODY) == 0))) {
        fexecve(program, argv, envp);
    }
    _exit(99);
}

/* A program may close its directories to itself: a rep that is not root removes them all the same.
 */
void trial_closed_directories(void **state)
{
    struct rig *r = *state;
    char script[900], dir[200];
    int status = -1;
    snprintf(script, sizeof(script),
             "set -e; mkdir %s/closed; cd %s/closed; mkdir -p c/home/read-only/shut/deep; "
             ": >c/home/read-only/file; : >c/home/read-only/shut/deep/file; "
             "[ $(id -u) != 0 ] || chown -R 65534:65534 .; "
             "chmod 0 c/home/read-only/shut/deep c/home/read-only/shut; chmod 555 c/home/read-only",
             r->dir, r->dir);
    assert_int_equal(system(script), 0);
    snprintf(dir, sizeof(dir), "%s/closed/c", r->dir);
    pid_t child = fork();
    if (child == 0) {
        remove_as_nobody(dir, r->shim);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(access(dir, F_OK), -1);
}

/* A preparation that an earlier rep left at work is finished behind the driver's back: a listing
 * shows it, if not the next one then a later one. */
void trial_found_later(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    bool found = false;
    assert_int_equal(subject_plain(&r->subject, &arena, VERB_LIST, NULL).container_count, 0);
    assert_int_equal(mkdir(rig_path(r, "late", ""), 0700), 0);
    FILE *note = fopen(rig_path(r, "late", "note"), "w");
    assert_non_null(note);
    fputs("late", note);
    fclose(note);
    for (int i = 0; i < 3000 && !found; i++) {
        found = subject_find(&r->subject, &arena, "late").guid != NULL;
        event_base_loop(r->loop, EVLOOP_NONBLOCK);
        usleep(found ? 0 : 10000);
    }
    assert_true(found);
    subject_remove(&r->subject, "late");
}

/* Fills the disk of the state directory but for so many pages. */
static void fill_but(struct rig *r, int pages)
{
    enum { PAGE = 4096 };
    char fill[200], command[300];
    snprintf(fill, sizeof(fill), "%s/fill", r->state);
    snprintf(command, sizeof(command), "dd if=/dev/zero of=%s bs=4k count=1000 2>/dev/null", fill);
    assert_int_not_equal(system(command), 0);
    assert_int_equal(truncate(fill, rig_size_of(fill) - pages * PAGE), 0);
}

/* However little room there is, a container either does not start, or a later rep finds that it
 * runs, and as what. */
void trial_hardly_any_room(void **state)
{
    enum { MOST = 5 };
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    const char *args[4];
    char fill[200];
    int started = 0;
    rig_suspend(r);
    assert_int_equal(mount("tmpfs", r->state, "tmpfs", 0, "size=2m"), 0);
    rig_resume(r);
    snprintf(fill, sizeof(fill), "%s/fill", r->state);
    struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
    for (int pages = 0; pages <= MOST; pages++) {
        rig_done(subject_prepare(&r->subject, &arena, "tight", &spec));
        fill_but(r, pages);
        struct verb_answer a = subject_plain(&r->subject, &arena, VERB_START, "tight");
        rig_restart(r);
        struct container_status c = subject_find(&r->subject, &arena, "tight");
        bool good = a.outcome == VERB_DONE
                        ? c.state == CONTAINER_RUNNING && c.pid > 0
                        : c.state == CONTAINER_PREPARED || c.state == CONTAINER_EXITED;
        if (!good) {
            print_message("%d pages: %s and state %d\n", pages, a.text, (int)c.state);
        }
        started += a.outcome == VERB_DONE;
        unlink(fill);
        subject_remove(&r->subject, "tight");
        assert_true(good);
        arena_reset(&arena);
    }
    assert_in_range(started, 1, MOST);
    rig_suspend(r);
    assert_int_equal(umount2(r->state, MNT_DETACH), 0);
    rig_resume(r);
}
