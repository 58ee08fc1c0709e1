/* Steps of containers whose shims, or whose rep, are killed, and the log that their shims share. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rep/shim/identity.h"

/* A container whose steps 1, 2, ... are these scripts; it runs, and none has begun. */
void rig_begin_steps(struct rig *r, const char *guid, const char *const *scripts, size_t count)
{
    SCOPED_ARENA(a);
    struct step_process *list = ARENA_ARRAY(&a, count, struct step_process);
    for (size_t i = 0; i < count; i++) {
        const char **args = ARENA_ARRAY(&a, 4, const char *);
        struct container_spec spec = rig_shell(r, scripts[i], args);
        list[i] = (struct step_process){(uint32_t)i + 1, spec.path, spec.args};
    }
    struct container_spec whole = {
        .rootfs = r->subject.rootfs, .steps = list, .step_count = count};
    rig_done(subject_prepare(&r->subject, &a, guid, &whole));
    rig_done(subject_plain(&r->subject, &a, VERB_START, guid));
}

void rig_begin_step(struct rig *r, const char *guid, uint32_t step)
{
    SCOPED_ARENA(a);
    rig_done(subject_verb(&r->subject, &a,
                          (struct verb_call){.verb = VERB_BEGIN, .guid = guid, .step = step}));
}

/* The last fact of the step, and how many of its kind there are. */
static size_t last_of(struct rig *r, const char *guid, uint32_t step, struct step_fact *ret)
{
    SCOPED_ARENA(a);
    struct container_status c = subject_find(&r->subject, &a, guid);
    size_t count = 0;
    assert_int_equal(c.state, CONTAINER_RUNNING);
    for (size_t i = 0; i < c.fact_count; i++) {
        if (c.facts[i].step == step) {
            count = ret->kind == c.facts[i].kind ? count + 1 : 1;
            *ret = c.facts[i];
        }
    }
    ret->text = "";
    return count;
}

static struct step_fact await_last(struct rig *r, const char *guid, uint32_t step,
                                   enum step_fact_kind kind)
{
    enum { TRIES = 300, PAUSE_MS = 50 };
    struct step_fact last = {.kind = FACT_KIND_COUNT};
    for (int i = 0; i < TRIES; i++) {
        if (last_of(r, guid, step, &last) > 0 && last.kind == kind) {
            return last;
        }
        rig_pause_ms(PAUSE_MS);
    }
    fail_msg("step %u of %s: its last fact is of kind %d, not %d", step, guid, last.kind, kind);
    return last;
}

static struct identity who(struct rig *r, const char *guid, uint32_t step, const char *file)
{
    char name[64];
    struct identity id;
    snprintf(name, sizeof(name), "steps/%u/%s", step, file);
    assert_int_equal(identity_read(AT_FDCWD, rig_path(r, guid, name), &id), 0);
    return id;
}

static bool lives(const struct identity *id)
{
    struct identity now;
    char path[48], text[512];
    snprintf(path, sizeof(path), "/proc/%ld/stat", id->pid);
    if (identity_of(id->pid, &now) < 0 || now.start != id->start ||
        identity_slurp(AT_FDCWD, path, text, sizeof(text)) < 0) {
        return false;
    }
    return strncmp(strrchr(text, ')'), ") Z", 3) != 0; /* there are machines that never reap */
}

static void kill_step_shim(struct rig *r, const char *guid, uint32_t step)
{
    struct identity id = who(r, guid, step, "shim.pid");
    int fd = identity_open(&id);
    assert_true(fd >= 0);
    assert_int_equal(identity_signal(fd, SIGKILL), 0);
    close(fd);
}

/* All of it ends, and that its shim was killed is a fact before anything of it ends for that. */
void trial_container_shim_killed(void **state)
{
    static const char *const scripts[] = {"exec sleep 1000", "exec sleep 1001"};
    struct rig *r = *state;
    SCOPED_ARENA(a);
    struct identity shim;
    rig_begin_steps(r, "whole", scripts, 2);
    rig_begin_step(r, "whole", 1);
    rig_begin_step(r, "whole", 2);
    rig_suspend(r); /* its successor finds it so */
    assert_int_equal(identity_read(AT_FDCWD, rig_path(r, "whole", "shim.pid"), &shim), 0);
    int fd = identity_open(&shim);
    assert_int_equal(identity_signal(fd, SIGKILL), 0);
    close(fd);
    rig_resume(r);
    rig_await_state(r, "whole", CONTAINER_EXITED);
    struct container_status c = subject_find(&r->subject, &a, "whole");
    size_t lost = 0, ended = 0;
    int64_t lost_ns = 0;
    for (size_t i = 0; i < c.fact_count; i++) {
        if (c.facts[i].kind == FACT_LOST && c.facts[i].step == 0) {
            lost_ns = c.facts[i].at_ns;
            lost++;
        }
    }
    for (size_t i = 0; i < c.fact_count; i++) {
        bool is_end = c.facts[i].kind == FACT_ENDED || c.facts[i].kind == FACT_LOST;
        ended += is_end && c.facts[i].step > 0 && c.facts[i].at_ns > lost_ns;
    }
    assert_int_equal(lost, 1);
    assert_int_equal(ended, 2);
    subject_remove(&r->subject, "whole");
    assert_int_equal(rig_processes(r), 0);
}

/* Its step is lost, its process gone, and the container and its other steps run on. */
void trial_step_shim_killed(void **state)
{
    enum { TIMES = 6 };
    static const char *const scripts[] = {"exec sleep 1000", "exec sleep 1001"};
    struct rig *r = *state;
    for (int i = 0; i < TIMES; i++) {
        rig_begin_steps(r, "lost", scripts, 2);
        rig_begin_step(r, "lost", 1);
        rig_begin_step(r, "lost", 2);
        struct identity first = who(r, "lost", 1, "pid"), second = who(r, "lost", 2, "pid");
        assert_true(lives(&first) && lives(&second));
        bool watched = i % 2 == 0; /* or it happens while no rep looks */
        if (!watched) {
            rig_suspend(r);
        }
        kill_step_shim(r, "lost", 1);
        if (!watched) {
            rig_resume(r);
        }
        await_last(r, "lost", 1, FACT_LOST);
        rig_restart(r);
        struct step_fact last = {.kind = FACT_LOST};
        assert_int_equal(last_of(r, "lost", 1, &last), 1); /* once, and for ever */
        assert_int_equal(last_of(r, "lost", 2, &last), 1);
        assert_int_equal(last.kind, FACT_BEGUN);
        assert_true(!lives(&first) && lives(&second));
        subject_remove(&r->subject, "lost");
        assert_int_equal(rig_processes(r), 0);
    }
}

/* Whoever holds this holds its removal up. */
static int lock_of(struct rig *r, const char *guid)
{
    int lock = open(rig_path(r, guid, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(lock >= 0 && flock(lock, LOCK_EX) == 0);
    return lock;
}

/* The shim of its step is killed while it is being removed, as the removal does it, and looks see
 * that. */
static void lose_step_amid_removal(struct rig *r, const char *guid)
{
    enum { LOOKS = 25, PAUSE_MS = 20 };
    struct identity shim = who(r, guid, 1, "shim.pid");
    struct step_fact last = {.kind = FACT_KIND_COUNT};
    kill_step_shim(r, guid, 1);
    for (struct patience p = {0}; lives(&shim) && patience(&p);) {
    }
    for (int i = 0; i < LOOKS; i++) {
        assert_int_equal(last_of(r, guid, 1, &last), 1);
        assert_int_equal(last.kind, FACT_BEGUN);
        assert_string_equal(rig_text_of(rig_path(r, guid, "steps/facts")), "");
        rig_pause_ms(PAUSE_MS);
    }
}

/* Nothing is written into what is being deleted; but a step that is lost is told when its container
 * stays after all. */
void trial_step_of_the_removed(void **state)
{
    static const char *const scripts[] = {"exec sleep 1000"};
    struct rig *r = *state;
    struct subject *s = &r->subject;
    SCOPED_ARENA(a);
    struct event ev = {0};
    rig_begin_steps(r, "stays", scripts, 1);
    rig_begin_step(r, "stays", 1);
    int lock = lock_of(r, "stays");
    struct verb_call late = {
        .verb = VERB_REMOVE, .guid = "stays", .deadline_ns = s->now_ns(s) + SECOND_NS / 10};
    assert_int_equal(subject_verb(s, &a, late).outcome, VERB_UNCERTAIN);
    kill_step_shim(r, "stays", 1);
    await_last(r, "stays", 1, FACT_LOST);
    close(lock);
    subject_remove(s, "stays");

    rig_begin_steps(r, "goes", scripts, 1);
    rig_begin_step(r, "goes", 1);
    lock = lock_of(r, "goes");
    struct verb_call remove = {.id = ++s->ids,
                               .verb = VERB_REMOVE,
                               .guid = "goes",
                               .deadline_ns = s->now_ns(s) + PATIENCE_MS * MILLISECOND_NS};
    s->call(s, &remove);
    lose_step_amid_removal(r, "goes");
    close(lock);
    while (ev.verb.id != remove.id) {
        assert_true(s->next(s, PATIENCE_MS * MILLISECOND_NS, &a, &ev));
    }
    rig_done(ev.verb);
    assert_int_equal(rig_processes(r), 0);
}

/* Whether it is shown to take SIGTERM: its shim waits for that before it says that it runs. */
static bool takes_term(const struct identity *id)
{
    char path[48], text[4096];
    snprintf(path, sizeof(path), "/proc/%ld/status", id->pid);
    assert_true(identity_slurp(AT_FDCWD, path, text, sizeof(text)) > 0);
    const char *caught = strstr(text, "\nSigCgt:");
    assert_non_null(caught);
    return strtoull(caught + strlen("\nSigCgt:"), NULL, 16) >> (SIGTERM - 1) & 1;
}

/* A container that waits for its steps is ready as soon as it is there. */
void trial_idle_takes_term(void **state)
{
    static const char *const scripts[] = {"true"};
    struct rig *r = *state;
    for (int i = 0; i < 10; i++) {
        struct identity idle;
        rig_begin_steps(r, "idle", scripts, 1);
        assert_int_equal(identity_read(AT_FDCWD, rig_path(r, "idle", "pid"), &idle), 0);
        assert_true(lives(&idle) && takes_term(&idle));
        subject_remove(&r->subject, "idle");
    }
}

/* Programs have the usual umask, whatever that of the rep is. */
void trial_umask(void **state)
{
    static const char *const scripts[] = {"test \"$(umask)\" = 0022"};
    struct rig *r = *state;
    mode_t before = umask(077);
    rig_begin_steps(r, "step", scripts, 1);
    rig_begin_step(r, "step", 1);
    struct step_fact last = await_last(r, "step", 1, FACT_ENDED);
    assert_int_equal(last.exit_code, 0);
    subject_remove(&r->subject, "step");
    rig_begin_shell(r, "first", scripts[0]);
    struct ended e = subject_await_end(&r->subject, "first");
    assert_int_equal(e.exit_code, 0);
    subject_remove(&r->subject, "first");
    umask(before);
}

/* Two steps write a lot at the same time to a log of small files, and a line of the rep's comes
 * between: no line is torn, none comes twice, and the log keeps its bound. */
void trial_steps_share_a_log(void **state)
{
    enum { FILE_BYTES = 20000, LINES = 4000, SLACK = 64, HEAD = 44 };
    static const char *const scripts[] = {
        "while [ ! -e go ]; do sleep 0.1; done; "
        "i=0; while [ $i -lt 4000 ]; do echo \"first $i.\"; i=$((i+1)); done",
        "while [ ! -e go ]; do sleep 0.1; done; "
        "i=0; while [ $i -lt 4000 ]; do echo \"other $i.\"; i=$((i+1)); done",
        ": >go"};
    struct rig *r = *state;
    SCOPED_ARENA(a);
    r->config.log_bytes = FILE_BYTES;
    rig_restart(r);
    rig_begin_steps(r, "share", scripts, 3);
    for (uint32_t step = 1; step <= 3; step++) {
        rig_begin_step(r, "share", step);
    }
    rig_done(subject_verb(&r->subject, &a,
                          (struct verb_call){.verb = VERB_SAY, .guid = "share", .text = "said"}));
    await_last(r, "share", 1, FACT_ENDED);
    await_last(r, "share", 2, FACT_ENDED);
    assert_true(rig_size_of(rig_path(r, "share", "log/output")) <= FILE_BYTES + SLACK);
    assert_true(rig_size_of(rig_path(r, "share", "log/output.1")) > FILE_BYTES / 2);
    assert_true(rig_size_of(rig_path(r, "share", "log/output.1")) <= FILE_BYTES + SLACK);
    assert_int_equal(rig_size_of(rig_path(r, "share", "log/output.2")), -1);
    int last[2] = {-1, -1};
    static const char *const files[] = {"log/output.1", "log/output"};
    for (int f = 0; f < 2; f++) {
        FILE *in = fopen(rig_path(r, "share", files[f]), "r");
        char all[128], who[8];
        assert_non_null(in);
        while (fgets(all, sizeof(all), in)) {
            int n, end = 0;
            const char *line = all + HEAD;
            assert_true(strlen(all) > HEAD);
            assert_int_equal(strncmp(line - 14, " stdout F LOG ", 14), 0);
            if (strcmp(line, "said\n") == 0) {
                continue;
            }
            assert_int_equal(sscanf(line, "%7s %d.%n", who, &n, &end), 2);
            assert_string_equal(line + end, "\n");
            int which = strcmp(who, "other") == 0;
            assert_true(n > last[which]);
            last[which] = n;
        }
        fclose(in);
    }
    assert_true(last[0] == LINES - 1 || last[1] == LINES - 1); /* whoever ended last */
    subject_remove(&r->subject, "share");
}

/* The one whose program took too much memory says so, and not the one after it. */
void trial_step_out_of_memory(void **state)
{
    static const char *const scripts[] = {"exec tail /dev/zero", "exit 3"};
    struct rig *r = *state;
    SCOPED_ARENA(a);
    const char *args[2][4];
    struct container_spec first = rig_shell(r, scripts[0], args[0]);
    struct container_spec second = rig_shell(r, scripts[1], args[1]);
    const struct step_process list[] = {{1, first.path, first.args},
                                        {2, second.path, second.args}};
    struct container_spec whole = {
        .rootfs = r->subject.rootfs, .steps = list, .step_count = 2, .memory_mb = 32};
    rig_done(subject_prepare(&r->subject, &a, "hungry", &whole));
    rig_done(subject_plain(&r->subject, &a, VERB_START, "hungry"));
    rig_begin_step(r, "hungry", 1);
    struct step_fact end = await_last(r, "hungry", 1, FACT_ENDED);
    assert_int_equal(end.exit_signal, SIGKILL);
    assert_true(end.oom_killed);
    rig_begin_step(r, "hungry", 2);
    end = await_last(r, "hungry", 2, FACT_ENDED);
    assert_int_equal(end.exit_code, 3);
    assert_false(end.oom_killed);
    subject_remove(&r->subject, "hungry");
}

/* Of several on one disk each tells how it was at its own end. */
void trial_step_out_of_disk(void **state)
{
    static const char *const scripts[] = {
        "dd if=/dev/zero of=/big bs=64k 2>/dev/null; exit 3", "rm /big; exit 3"};
    struct rig *r = *state;
    SCOPED_ARENA(a);
    const char *args[2][4];
    struct container_spec first = rig_shell(r, scripts[0], args[0]);
    struct container_spec second = rig_shell(r, scripts[1], args[1]);
    const struct step_process list[] = {{1, first.path, first.args},
                                        {2, second.path, second.args}};
    struct container_spec whole = {
        .rootfs = r->subject.rootfs, .steps = list, .step_count = 2, .disk_mb = 20};
    rig_done(subject_prepare(&r->subject, &a, "writer", &whole));
    rig_done(subject_plain(&r->subject, &a, VERB_START, "writer"));
    for (uint32_t step = 1; step <= 2; step++) {
        rig_begin_step(r, "writer", step);
        struct step_fact end = await_last(r, "writer", step, FACT_ENDED);
        assert_int_equal(end.exit_code, 3);
        assert_int_equal(end.disk_full, step == 1);
    }
    subject_remove(&r->subject, "writer");
}
