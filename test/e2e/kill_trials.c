/* Shims, reps and runtimes that are killed, and what they leave. Race-prone trials are repeated
 * dozens of times. */
#include "test/e2e/driver_trials.h"

#include "test/tool/patience.h"

#include <dirent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rep/shim/identity.h"
#include "test/tool/cmocka.h"

static void kill_shim(struct rig *r, const char *guid)
{
    struct identity id;
    assert_int_equal(identity_read(AT_FDCWD, rig_path(r, guid, "shim.pid"), &id), 0);
    int fd = identity_open(&id);
    assert_true(fd >= 0);
    assert_int_equal(identity_signal(fd, SIGKILL), 0);
    close(fd);
}

void trial_shim_killed(void **state)
{
    enum { TIMES = 24 };
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    for (int i = 0; i < TIMES; i++) {
        rig_begin_shell(r, "orphan", "sleep 1000 & (setsid sleep 1000 &) ; exec sleep 1000");
        bool watched = i % 2 == 0; /* or it happens while no rep looks */
        if (!watched) {
            rig_suspend(r);
        }
        kill_shim(r, "orphan");
        if (!watched) {
            rig_resume(r);
            rig_await_state(r, "orphan", CONTAINER_EXITED);
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
    SCOPED_ARENA(arena);
    for (int i = 0; i < 3; i++) {
        char guid[24];
        snprintf(guid, sizeof(guid), "c%d", i);
        for (int tries = 0; tries < 500; tries++) {
            struct container_status c = subject_find(&r->subject, &arena, guid);
            if (!c.guid || c.state != CONTAINER_STARTING) {
                break;
            }
            rig_pause_ms(10);
        }
        struct container_status c = subject_find(&r->subject, &arena, guid);
        if (c.guid && c.state == CONTAINER_EXITED) {
            fail_msg("%s ended with the rep: %s", guid, c.text);
        }
        if (c.guid && c.state == CONTAINER_PREPARED) { /* what was begun can be gone on with */
            struct verb_answer a = subject_plain(&r->subject, &arena, VERB_START, guid);
            if (a.outcome == VERB_UNCERTAIN) { /* its shim was on its way */
                rig_await_state(r, guid, CONTAINER_RUNNING);
            } else {
                rig_done(a);
            }
        }
        subject_remove(&r->subject, guid);
        arena_reset(&arena);
    }
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
        rig_pause_ms(i * STEP_MS);
        kill(rep, SIGKILL);
        waitpid(rep, NULL, 0);
        rig_resume(r);
        settle(r);
        assert_int_equal(rig_processes(r), 0);
    }
    rig_restart(r); /* which sweeps, should one have died between an address and its plan */
}

/* A rep of its own process that has a note written, and is killed before the child has done it. */
static void play_noting_rep(struct rig *r)
{
    struct subject *s = &r->subject;
    struct arena arena;
    arena_init(&arena);
    event_reinit(r->loop);
    rig_resume(r);
    subject_verb(s, &arena, (struct verb_call){.verb = VERB_NOTE,
                                               .guid = "noted",
                                               .note = bytes_of("of the killed one"),
                                               .durable = true});
    _exit(1);
}

static void is_noted(struct rig *r, const char *words)
{
    SCOPED_ARENA(arena);
    struct container_status c = subject_find(&r->subject, &arena, "noted");
    if (!bytes_equal(c.note, bytes_of(words))) {
        fail_msg("noted is %.*s, not %s", (int)c.note.size, (const char *)c.note.data, words);
    }
}

static void note(struct rig *r, const char *words, bool durable)
{
    SCOPED_ARENA(arena);
    rig_done(subject_verb(&r->subject, &arena, (struct verb_call){.verb = VERB_NOTE,
                                                                  .guid = "noted",
                                                                  .note = bytes_of(words),
                                                                  .durable = durable}));
}

/* Where a child waits is where whoever locks the directory holds it up. */
static int lock_of(struct rig *r)
{
    int lock = open(rig_path(r, "noted", ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(lock >= 0 && flock(lock, LOCK_EX) == 0);
    return lock;
}

static int files_on_their_way(struct rig *r)
{
    int count = 0;
    DIR *all = opendir(rig_path(r, "noted", ""));
    assert_non_null(all);
    for (struct dirent *e; (e = readdir(all));) {
        count += strncmp(e->d_name, "note.", strlen("note.")) == 0;
    }
    closedir(all);
    return count;
}

/* What a killed rep was writing comes before all that its successor has seen, or never. */
void trial_note_of_the_killed(void **state)
{
    struct rig *r = *state;
    rig_begin_shell(r, "noted", "exec sleep 1000");
    int lock = lock_of(r);
    rig_suspend(r);
    pid_t rep = fork();
    if (rep == 0) {
        play_noting_rep(r);
    }
    for (struct patience p = {0}; !rig_processes_saying(r, "--note=") && patience(&p);) {
        rig_pause_ms(5);
    }
    kill(rep, SIGKILL);
    waitpid(rep, NULL, 0);
    rig_resume(r);
    is_noted(r, "noted");
    note(r, "of the next one", false);
    close(lock); /* and the child goes on */
    rig_await_none_saying(r, "--note=");
    is_noted(r, "of the next one");
    rig_restart(r); /* which reads what is there */
    is_noted(r, "of the next one");
    note(r, "of the last one", true);
    is_noted(r, "of the last one");
    assert_int_equal(files_on_their_way(r), 0);
    subject_remove(&r->subject, "noted");
}

/* A rep was killed between the beginning of a shim and that one's first word: its successor saw a
 * container that was never started, and begins a second shim. That one fails, but the container is
 * in force: LIST tells. */
void trial_started_by_another(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    struct identity id;
    char text[128];
    const char *args[4];
    struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
    rig_done(subject_prepare(&r->subject, &arena, "twice", &spec));
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
}

/* A container that a successor removes while it is being started, at 48 points of that. */
void trial_removed_amid_start(void **state)
{
    enum { TIMES = 48, STEP_US = 1200 };
    struct rig *r = *state;
    struct subject *s = &r->subject;
    SCOPED_ARENA(arena);
    struct event ev;
    const char *args[4];
    struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
    for (int i = 0; i < TIMES; i++) {
        rig_done(subject_prepare(s, &arena, "amid", &spec));
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
    rig_done(subject_prepare(s, &arena, "mounted", &spec));
    rig_mount_copy(r, "mounted");
    assert_int_not_equal(rig_leftovers(r), 0);
    subject_remove(s, "mounted");
    arena_done(&arena); /* and nothing is left, as rig_close demands of each trial */
}

/* What a rep that was killed amid PREPARE or REMOVE left is cleared away by the next. */
void trial_leftovers(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    char path[512];
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
    rig_done(a);
    subject_remove(&r->subject, "half");
}
