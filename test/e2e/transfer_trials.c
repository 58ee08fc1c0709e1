/* Steps that bring files, as a driver alone does them: begun before and after the start of their
 * container, done, failed, begun twice, and seen by the rep after the one that was killed. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BROUGHT = 1, MISSING = 2, BOUND = 3, SENT = 4, STEPS = 4 };

/* The fact of the end of this step; fails when none comes. */
static struct step_fact await_end(struct rig *r, struct arena *a, const char *guid, uint32_t step)
{
    for (struct patience p = {0}; patience(&p);) {
        struct container_status c = subject_find(&r->subject, a, guid);
        for (size_t i = 0; i < c.fact_count; i++) {
            if (c.facts[i].kind == FACT_ENDED && c.facts[i].step == step) {
                return c.facts[i];
            }
        }
    }
    fail_msg("step %u of %s does not end", step, guid);
    return (struct step_fact){0};
}

static struct verb_answer begin(struct rig *r, struct arena *a, uint32_t step)
{
    return subject_verb(&r->subject, a,
                        (struct verb_call){.verb = VERB_BEGIN, .guid = "files", .step = step});
}

static size_t facts_of(struct rig *r, struct arena *a)
{
    return subject_find(&r->subject, a, "files").fact_count;
}

/* A directory with an archive, from which `file:` URLs are taken; and the courier. */
static void serve(struct rig *r, struct arena *a)
{
    const char *served = arena_printf(a, "%s/served", r->dir);
    char *command = arena_printf(a,
                                 "mkdir -p %s %s/tree && echo data >%s/tree/data && "
                                 "tar -C %s/tree -czf %s/tree.tgz .", served, r->dir, r->dir,
                                 r->dir, served);
    assert_int_equal(system(command), 0);
    rig_suspend(r);
    r->config.files = (struct driver_files){
        .courier = arena_printf(a, "%.*s/rep-courier", (int)(strrchr(r->shim, '/') - r->shim),
                                r->shim),
        .file_root = served,
    };
    rig_resume(r);
}

static void prepare(struct rig *r, struct arena *a, const char *into)
{
    const char *here = arena_printf(a, "file://%s/served/tree.tgz", r->dir);
    const char *none = arena_printf(a, "file://%s/served/secret-none.tgz", r->dir);
    const struct file_transfer transfers[STEPS] = {
        {TRANSFER_DOWNLOAD, false, here, into, "", "", ""},
        {TRANSFER_DOWNLOAD, false, none, into, "", "", ""},
        {TRANSFER_DOWNLOAD, true, here, "bound", "key", "", ""},
        {TRANSFER_UPLOAD, false, none, into, "", "", ""},
    };
    struct step_process steps[STEPS];
    for (uint32_t i = 0; i < STEPS; i++) {
        steps[i] = (struct step_process){
            .step = i + 1, .dir = "", .user = "", .transfer = &transfers[i]};
    }
    struct container_spec spec = {
        .rootfs = r->subject.rootfs, .dir = "", .user = "", .steps = steps, .step_count = STEPS};
    rig_done(subject_prepare(&r->subject, a, "files", &spec));
}

void trial_transfers(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(a);
    bool plain = strcmp(r->subject.name, "process") == 0;
    const char *into = arena_printf(&a, "%s/brought", plain ? r->dir : "");
    serve(r, &a);
    prepare(r, &a, into);

    /* What is bound comes before the start, and nothing else does. */
    assert_int_equal(begin(r, &a, BROUGHT).outcome, VERB_FAILED);
    rig_done(begin(r, &a, BOUND));
    struct step_fact end = await_end(r, &a, "files", BOUND);
    assert_string_equal(end.text, "");
    assert_int_equal(end.exit_code, 0);
    assert_int_equal(begin(r, &a, BOUND).outcome, VERB_FAILED);
    rig_done(subject_plain(&r->subject, &a, VERB_START, "files"));

    rig_done(begin(r, &a, BROUGHT));
    rig_restart(r); /* whoever asked for it is gone, and the courier is not */
    assert_int_equal(await_end(r, &a, "files", BROUGHT).exit_code, 0);
    struct verb_call read = {
        .verb = VERB_READ, .guid = "files", .path = arena_printf(&a, "%s/data", into)};
    struct verb_answer file = subject_verb(&r->subject, &a, read);
    assert_string_equal(file.text, "");
    assert_int_equal(file.data.size, 5);
    assert_memory_equal(file.data.data, "data\n", 5);
    assert_int_equal(begin(r, &a, BROUGHT).outcome, VERB_FAILED);

    /* Those that fail begin all the same, and no text names the URL. */
    for (uint32_t step = MISSING; step <= SENT; step += SENT - MISSING) {
        rig_done(begin(r, &a, step));
        end = await_end(r, &a, "files", step);
        assert_int_not_equal(end.exit_code, 0);
        assert_string_not_equal(end.text, "");
        assert_null(strstr(end.text, "secret"));
        assert_int_equal(begin(r, &a, step).outcome, VERB_FAILED);
    }

    size_t count = facts_of(r, &a);
    assert_int_equal(count, 2 * STEPS);
    rig_restart(r);
    assert_int_equal(facts_of(r, &a), count);
    subject_remove(&r->subject, "files");
    assert_int_equal(rig_processes(r), 0);
    assert_int_equal(rig_leftovers(r), 0);
    r->config.files = (struct driver_files){0}; /* its words are this trial's */
}
