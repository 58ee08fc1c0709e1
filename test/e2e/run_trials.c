/* Runs (driver.h, VERB_RUN): the conformance program, what is begun, what is killed; and what a
 * container is given of its cell. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rep/shim/identity.h"

enum { AWAIT_TRIES = 200, RUN = RUN_FIRST + 2 };

void trial_runs(void **state)
{
    struct rig *r = *state;
    runs_conformance(&r->subject);
}

static void begin_given(struct rig *r, const char *guid, const struct cell_bind *binds,
                        size_t bind_count, const struct given_file *files, size_t file_count)
{
    SCOPED_ARENA(a);
    struct container_spec spec = {.rootfs = r->subject.rootfs,
                                  .idle = true,
                                  .binds = binds,
                                  .bind_count = bind_count,
                                  .files = files,
                                  .file_count = file_count};
    rig_done(subject_prepare(&r->subject, &a, guid, &spec));
    rig_done(subject_plain(&r->subject, &a, VERB_START, guid));
}

static void begin_run(struct rig *r, const char *guid, uint32_t number,
                      const struct step_process *words)
{
    SCOPED_ARENA(a);
    struct step_process run = *words;
    run.step = number;
    rig_done(subject_verb(&r->subject, &a,
                          (struct verb_call){.verb = VERB_RUN, .guid = guid, .run = &run}));
}

static void begin_script(struct rig *r, const char *guid, uint32_t number, const char *script)
{
    const char *const args[] = {"-c", script, NULL};
    begin_run(r, guid, number, &(struct step_process){.path = "/bin/sh", .args = args});
}

/* Its last fact, once that is of this kind. */
static struct step_fact await_fact(struct rig *r, const char *guid, uint32_t number,
                                   enum step_fact_kind kind)
{
    for (int i = 0; i < AWAIT_TRIES; i++) {
        SCOPED_ARENA(a);
        struct event ev;
        struct container_status c = subject_find(&r->subject, &a, guid);
        for (size_t k = 0; k < c.fact_count; k++) {
            if (c.facts[k].step == number && c.facts[k].kind == kind) {
                struct step_fact found = c.facts[k];
                found.text = "";
                return found;
            }
        }
        r->subject.next(&r->subject, 100 * MILLISECOND_NS, &a, &ev);
    }
    fail_msg("run %u of %s: no such fact", number, guid);
    return (struct step_fact){0};
}

/* What it wrote last (static), and how it ended. */
static const char *output_of(struct rig *r, const char *guid, uint32_t number, int *ret_code)
{
    static char text[RUN_OUTPUT_MAX + 1];
    SCOPED_ARENA(a);
    *ret_code = await_fact(r, guid, number, FACT_ENDED).exit_code;
    struct verb_answer answer = subject_verb(
        &r->subject, &a, (struct verb_call){.verb = VERB_READ, .guid = guid, .step = number});
    rig_done(answer);
    snprintf(text, sizeof(text), "%.*s", (int)answer.data.size, (const char *)answer.data.data);
    return text;
}

static void kill_shim(struct rig *r, const char *guid, uint32_t number)
{
    char name[64];
    struct identity id;
    snprintf(name, sizeof(name), "steps/%u/shim.pid", number);
    assert_int_equal(identity_read(AT_FDCWD, rig_path(r, guid, name), &id), 0);
    int fd = identity_open(&id);
    assert_true(fd >= 0);
    assert_int_equal(identity_signal(fd, SIGKILL), 0);
    close(fd);
}

/* Its end is told by nobody; it is lost once and for ever, until it is forgotten. */
void trial_run_shim_killed(void **state)
{
    struct rig *r = *state;
    begin_given(r, "lost", NULL, 0, NULL, 0);
    for (uint32_t i = 0; i < 4; i++) {
        bool watched = i % 2 == 0; /* or it happens while no rep looks */
        begin_script(r, "lost", RUN + i, "exec sleep 1000");
        begin_script(r, "lost", RUN + 100 + i, "exec sleep 1001");
        if (!watched) {
            rig_suspend(r);
        }
        kill_shim(r, "lost", RUN + i);
        if (!watched) {
            rig_resume(r);
        }
        await_fact(r, "lost", RUN + i, FACT_LOST);
        rig_await_none_saying(r, "sleep 1000");
        rig_restart(r);
        await_fact(r, "lost", RUN + i, FACT_LOST);
        SCOPED_ARENA(a);
        size_t count = subject_find(&r->subject, &a, "lost").fact_count;
        assert_int_equal(count, 2 + 1 + i);
        rig_done(
            subject_verb(&r->subject, &a,
                         (struct verb_call){.verb = VERB_FORGET, .guid = "lost", .step = RUN + i}));
        rig_restart(r);
        assert_int_equal(subject_find(&r->subject, &a, "lost").fact_count, 1 + i);
    }
    assert_true(rig_processes_saying(r, "sleep 1001") >= 4); /* shims say it, too */
    subject_remove(&r->subject, "lost");
    assert_int_equal(rig_processes(r), 0);
}

void trial_run_words(void **state)
{
    struct rig *r = *state;
    int code;
    const struct name_value env[] = {{"PATH", "/bin:/usr/bin"}, {"HEARD", "a b=c"}};
    const char *const args[] = {"-c", "echo \"$HEARD $PWD $0 $1\"; echo more >&2; exit 7", "name",
                                "one two", NULL};
    begin_given(r, "words", NULL, 0, NULL, 0);
    begin_run(r, "words", RUN,
              &(struct step_process){.path = "/bin/sh",
                                     .args = args,
                                     .env = env,
                                     .env_count = 2,
                                     .dir = "/tmp",
                                     .source = "HOOK"});
    const char *text = output_of(r, "words", RUN, &code);
    assert_int_equal(code, 7);
    assert_non_null(strstr(text, "a b=c /tmp name one two\n"));
    assert_non_null(strstr(text, "more\n"));
    assert_non_null(strstr(rig_text_of(rig_path(r, "words", "log/output")), "HOOK"));
    subject_remove(&r->subject, "words");
}

/* A directory and a file of the cell, by the paths of the container, or where those are that
 * CORKBOARD_DIR tells. */
void trial_binds(void **state)
{
    struct rig *r = *state;
    int code;
    char read_only[128], shared[128], path[160];
    snprintf(read_only, sizeof(read_only), "%s/tools", r->dir);
    snprintf(shared, sizeof(shared), "%s/shared", r->dir);
    assert_int_equal(mkdir(read_only, 0755), 0);
    assert_int_equal(mkdir(shared, 0777), 0);
    assert_int_equal(chmod(shared, 0777), 0);
    snprintf(path, sizeof(path), "%s/speak", read_only);
    FILE *f = fopen(path, "we");
    fputs("#!/bin/sh\n"
          "d=${CORKBOARD_DIR:-/.corkboard}\n"
          "cat $d/token; echo; ls -ln $d/token; echo said >$d/shared/file\n"
          "echo no 2>/dev/null >$d/tools/file && [ -z \"$CORKBOARD_DIR\" ] && exit 9\n"
          "exit 0\n",
          f);
    fclose(f);
    assert_int_equal(chmod(path, 0755), 0);
    const struct cell_bind binds[] = {{read_only, "/.corkboard/tools", false},
                                      {shared, "/.corkboard/shared", true}};
    const struct given_file files[] = {{"/.corkboard/token", bytes_of("secret")}};
    begin_given(r, "bound", binds, 2, files, 1);
    begin_run(r, "bound", RUN, &(struct step_process){.path = "/.corkboard/tools/speak"});
    const char *text = output_of(r, "bound", RUN, &code);
    assert_non_null(strstr(text, "secret\n-r--------"));
    assert_non_null(strstr(text, r->choice.user_namespaces ? " 0        0 " : " 0 "));
    assert_int_equal(code, 0);
    snprintf(path, sizeof(path), "%s/file", shared);
    assert_string_equal(rig_text_of(path), "said\n");
    subject_remove(&r->subject, "bound");
    assert_string_equal(rig_text_of(path), "said\n"); /* it is the cell's */
}

static enum verb_outcome prepare(struct rig *r, const struct container_spec *spec)
{
    SCOPED_ARENA(a);
    struct container_spec own = *spec;
    own.rootfs = r->subject.rootfs;
    own.idle = true;
    enum verb_outcome outcome = subject_prepare(&r->subject, &a, "asked", &own).outcome;
    subject_remove(&r->subject, "asked");
    return outcome;
}

void trial_binds_bounded(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(a);
    struct cell_bind binds[CELL_BINDS_MAX + 1];
    for (size_t i = 0; i <= CELL_BINDS_MAX; i++) {
        binds[i] = (struct cell_bind){r->dir, arena_printf(&a, "/.corkboard/%zu", i), false};
    }
    struct container_spec spec = {.binds = binds, .bind_count = CELL_BINDS_MAX};
    assert_int_equal(prepare(r, &spec), VERB_DONE);
    spec.bind_count++;
    assert_int_equal(prepare(r, &spec), VERB_FAILED);
    spec.bind_count = 2;
    binds[1].path = "/elsewhere/0";
    assert_int_equal(prepare(r, &spec), VERB_FAILED);
    binds[1].path = "relative";
    assert_int_equal(prepare(r, &spec), VERB_FAILED);
    binds[1] = (struct cell_bind){"/no/such/directory", "/.corkboard/b", false};
    assert_int_equal(prepare(r, &spec), VERB_FAILED);
    static const uint8_t great[GIVEN_FILE_BYTES_MAX + 1];
    struct given_file file = {"/.corkboard/file", {great, GIVEN_FILE_BYTES_MAX}};
    spec = (struct container_spec){.files = &file, .file_count = 1};
    assert_int_equal(prepare(r, &spec), VERB_DONE);
    file.data.size++;
    assert_int_equal(prepare(r, &spec), VERB_FAILED);
}
