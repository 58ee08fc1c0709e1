/* What a program may have, and what is said of one that cannot run. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

static const char *output_of(struct rig *r, struct container_spec *spec)
{
    SCOPED_ARENA(arena);
    rig_done(subject_prepare(&r->subject, &arena, "program", spec));
    rig_done(subject_plain(&r->subject, &arena, VERB_START, "program"));
    subject_await_end(&r->subject, "program");
    const char *text = rig_wrote(r, "program");
    subject_remove(&r->subject, "program");
    return text;
}

/* At the bound: the shell and so many more. Its user has nothing else on the machine. */
void trial_nproc(void **state)
{
    enum { MOST = 24 };
    struct rig *r = *state;
    const char *args[4];
    char script[300], expected[64];
    for (int more = MOST - 1; more <= MOST; more++) {
        snprintf(script, sizeof(script),
                 "sed -n 's/^Max processes *\\([0-9]*\\) .*/\\1/p' /proc/self/limits; "
                 "i=0; while [ $i -lt %d ]; do sleep 2 & i=$((i+1)); done; echo all",
                 more);
        struct container_spec spec = rig_shell(r, script, args);
        spec.user = "61234:61234";
        spec.nproc = MOST;
        bool oci = r->config.kind == DRIVER_OCI; /* there the init is one more */
        snprintf(expected, sizeof(expected), "%d\n%s", MOST + oci, more < MOST ? "all\n" : "");
        assert_string_equal(output_of(r, &spec), expected);
    }
}

/* What cannot run, and the text of it: of the oci driver, as first process and as a step, which the
 * runtime itself starts; of the process driver. NULL: it runs. */
static const struct text_row {
    const char *path, *dir, *user;
    const char *first, *step, *process;
} rows[] = {
    {"/bin/sh", "", "no-such-user",
     "no user \"no-such-user\" in the root filesystem's /etc/passwd",
     "no user \"no-such-user\" in the root filesystem's /etc/passwd",
     "no user \"no-such-user\" in the root filesystem's /etc/passwd"},
    {"/bin/true", "/no/such/dir", "", NULL, /* the runtime makes it for a first process */
     "chdir to cwd (\"/no/such/dir\") set in config.json failed: no such file or directory",
     "/bin/true: cannot enter its directory /no/such/dir: No such file or directory"},
    {"/bin/sh", "/etc/passwd", "",
     "its directory /etc/passwd is no directory in the root filesystem",
     "chdir to cwd (\"/etc/passwd\") set in config.json failed: not a directory",
     "/bin/sh: cannot enter its directory /etc/passwd: Not a directory"},
    {"/bin/true", "tmp/none", "", "its directory tmp/none is no absolute path",
     "its directory tmp/none is no absolute path",
     "/bin/true: cannot enter its directory tmp/none: No such file or directory"},
    {"/no/such/program", "/", "",
     "no program /no/such/program in the root filesystem, or not executable",
     "exec: \"/no/such/program\": stat /no/such/program: no such file or directory",
     "/no/such/program: cannot run it: No such file or directory"},
    {"no-such-program", "/", "",
     "no program no-such-program in the root filesystem, or not executable",
     "exec: \"no-such-program\": executable file not found in $PATH",
     "no-such-program: cannot run it: No such file or directory"},
    {"/etc/passwd", "/", "", "no program /etc/passwd in the root filesystem, or not executable",
     "exec: \"/etc/passwd\": permission denied",
     "/etc/passwd: cannot run it: Permission denied"},
};

/* What is told of it, by whichever verb fails. */
static struct verb_answer try_first(struct rig *r, struct arena *a, const struct text_row *row)
{
    struct container_spec spec = {.rootfs = r->subject.rootfs, .path = row->path,
                                  .dir = row->dir, .user = row->user};
    struct verb_answer answer = subject_prepare(&r->subject, a, "program", &spec);
    return answer.outcome == VERB_DONE
               ? subject_plain(&r->subject, a, VERB_START, "program")
               : answer;
}

static struct verb_answer try_step(struct rig *r, struct arena *a, const struct text_row *row)
{
    const struct step_process step = {.step = 1, .path = row->path, .dir = row->dir,
                                      .user = row->user};
    struct container_spec spec = {.rootfs = r->subject.rootfs, .dir = "/", .steps = &step,
                                  .step_count = 1};
    struct verb_answer answer = subject_prepare(&r->subject, a, "program", &spec);
    if (answer.outcome != VERB_DONE) {
        return answer;
    }
    rig_done(subject_plain(&r->subject, a, VERB_START, "program"));
    return subject_verb(&r->subject, a,
                        (struct verb_call){.verb = VERB_BEGIN, .guid = "program", .step = 1});
}

/* A runtime may put words of its own before the reason. */
static void assert_told(const struct verb_answer *answer, const char *expected)
{
    if (!expected) {
        rig_done(*answer);
        return;
    }
    assert_int_equal(answer->outcome, VERB_FAILED);
    size_t told = strlen(answer->text), wanted = strlen(expected);
    if (told < wanted || strcmp(answer->text + told - wanted, expected) != 0) {
        fail_msg("it is told \"%s\", and not \"%s\"", answer->text, expected);
    }
}

void trial_no_program(void **state)
{
    struct rig *r = *state;
    bool oci = r->config.kind == DRIVER_OCI;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct verb_answer answer = try_first(r, &a, &rows[i]);
        assert_told(&answer, oci ? rows[i].first : rows[i].process);
        subject_remove(&r->subject, "program");
        answer = try_step(r, &a, &rows[i]);
        assert_told(&answer, oci ? rows[i].step : rows[i].process);
        subject_remove(&r->subject, "program");
    }
}
