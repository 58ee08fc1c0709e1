/* A runtime that hangs, and one that is not there. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_runtime(struct rig *r, char *path, size_t size, const char *script)
{
    snprintf(path, size, "%s/runtime-of-ours", r->dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", script);
    fclose(f);
    chmod(path, 0755);
}

static void hung_runtime(struct rig *r, char *path, size_t size)
{
    write_runtime(r, path, size, "trap '' TERM\nsleep 1001\nsleep 1001");
}

void trial_hung_runtime(void **state)
{
    struct rig *r = *state;
    struct subject *s = &r->subject;
    SCOPED_ARENA(arena);
    char good[sizeof(r->choice.runtime)];
    const char *args[4];
    struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
    rig_begin_shell(r, "healthy", "exec sleep 1000");
    strcpy(good, r->choice.runtime);
    hung_runtime(r, r->choice.runtime, sizeof(r->choice.runtime));
    rig_restart(r);
    for (int i = 0; i < 4; i++) { /* more than there are places */
        char guid[24];
        snprintf(guid, sizeof(guid), "hung-%d", i);
        rig_done(subject_prepare(s, &arena, guid, &spec));
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
        rig_await_state(r, guid, CONTAINER_EXITED);
    }
    struct verb_call c = {.verb = VERB_REMOVE, .guid = "healthy"};
    c.deadline_ns = s->now_ns(s) + 500 * MILLISECOND_NS;
    struct verb_answer a = subject_verb(s, &arena, c);
    if (a.outcome != VERB_UNCERTAIN) {
        fail_msg("outcome %d: %s", a.outcome, a.text);
    }
    strcpy(r->choice.runtime, good);
    rig_pause_ms(50);
    rig_restart(r);
    for (int i = 0; i < 4; i++) {
        char guid[24];
        snprintf(guid, sizeof(guid), "hung-%d", i);
        subject_remove(s, guid);
    }
    subject_remove(s, "healthy");
}

/* Well before a REMOVE of the rep is over. */
static void removed_without_the_runtime(struct rig *r, const char *guid)
{
    enum { LIMIT_S = 14 };
    SCOPED_ARENA(arena);
    struct subject *s = &r->subject;
    int64_t before = s->now_ns(s);
    struct verb_call c = {.verb = VERB_REMOVE, .guid = guid};
    rig_done(subject_verb(s, &arena, c));
    int64_t took_ms = (s->now_ns(s) - before) / MILLISECOND_NS;
    print_message("%s was removed after %d ms\n", guid, (int)took_ms);
    assert_true(took_ms < LIMIT_S * 1000);
    char dir[256];
    snprintf(dir, sizeof(dir), "%s/containers/%s", r->state, guid);
    assert_int_equal(access(dir, F_OK), -1);
}

/* Once the runtime hangs, whatever was begun with it goes all the same: what runs, with what it
 * forked and with a step; what is hung in its start; what has ended. */
void trial_hung_removal(void **state)
{
    struct rig *r = *state;
    struct subject *s = &r->subject;
    SCOPED_ARENA(arena);
    char good[sizeof(r->choice.runtime)];
    const char *args[4];
    struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
    rig_begin_shell(r, "runs", "trap '' TERM; sleep 1001 & setsid sleep 1002 & wait");
    rig_begin_shell(r, "ended", "exec sleep 1000");
    rig_done(subject_prepare(s, &arena, "starting", &spec));
    strcpy(good, r->choice.runtime);
    hung_runtime(r, r->choice.runtime, sizeof(r->choice.runtime));
    rig_restart(r);
    struct verb_call c = {.verb = VERB_SIGNAL, .guid = "ended", .signal = SIGTERM};
    rig_done(subject_verb(s, &arena, c)); /* which needs no runtime */
    rig_await_state(r, "ended", CONTAINER_EXITED);
    c = (struct verb_call){.verb = VERB_START, .guid = "starting"};
    c.deadline_ns = s->now_ns(s) + 200 * MILLISECOND_NS;
    assert_int_equal(subject_verb(s, &arena, c).outcome, VERB_UNCERTAIN);
    removed_without_the_runtime(r, "starting");
    removed_without_the_runtime(r, "ended");
    removed_without_the_runtime(r, "runs");
    strcpy(r->choice.runtime, good);
    rig_restart(r);
}

/* The same of one that fails. */
void trial_failing_removal(void **state)
{
    struct rig *r = *state;
    char good[sizeof(r->choice.runtime)];
    rig_begin_shell(r, "runs", "trap '' TERM; sleep 1001 & setsid sleep 1002 & wait");
    strcpy(good, r->choice.runtime);
    write_runtime(r, r->choice.runtime, sizeof(r->choice.runtime), "echo no such; exit 1");
    rig_restart(r);
    removed_without_the_runtime(r, "runs");
    strcpy(r->choice.runtime, good);
    rig_restart(r);
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
