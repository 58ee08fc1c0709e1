/* The conformance program of the drivers, about runs: once and for all, watched by nobody but
 * their own shims, told as facts, forgotten when that is asked. */
#include "test/conformance/driver_conformance.h"
#include "test/tool/cmocka.h"

#include <signal.h>
#include <string.h>

enum { AWAIT_TRIES = 200, FIRST = RUN_FIRST, OTHER = RUN_FIRST + 5 };

/* Its first process only waits. */
static void begin_idle(struct subject *s, const char *guid)
{
    SCOPED_ARENA(a);
    struct container_spec spec = {.rootfs = s->rootfs, .idle = true};
    struct verb_answer answer = subject_prepare(s, &a, guid, &spec);
    assert_string_equal(answer.text, "");
    assert_int_equal(answer.outcome, VERB_DONE);
    answer = subject_plain(s, &a, VERB_START, guid);
    assert_string_equal(answer.text, "");
    assert_int_equal(answer.outcome, VERB_DONE);
}

static enum verb_outcome run(struct subject *s, const char *guid, uint32_t number,
                             enum program program)
{
    SCOPED_ARENA(a);
    struct container_spec words = {0};
    s->program(s, arena_printf(&a, "%s/%u", guid, number), program, &words);
    const struct name_value env[] = {{"PATH", "/bin:/usr/bin"}};
    const struct step_process process = {
        .step = number, .path = words.path, .args = words.args, .env = env, .env_count = 1};
    struct verb_answer answer =
        subject_verb(s, &a, (struct verb_call){.verb = VERB_RUN, .guid = guid, .run = &process});
    assert_int_equal(answer.outcome == VERB_DONE, answer.text[0] == '\0');
    return answer.outcome;
}

static enum verb_outcome run_verb(struct subject *s, enum verb verb, const char *guid,
                                  uint32_t number, int signal)
{
    SCOPED_ARENA(a);
    struct verb_call call = {.verb = verb, .guid = guid, .step = number, .signal = signal};
    struct verb_answer answer = subject_verb(s, &a, call);
    assert_int_equal(answer.outcome == VERB_DONE, answer.text[0] == '\0');
    return answer.outcome;
}

static enum verb_outcome forget(struct subject *s, const char *guid, uint32_t number)
{
    return run_verb(s, VERB_FORGET, guid, number, 0);
}

static size_t facts_of(const struct container_status *c, enum step_fact_kind kind, uint32_t number,
                       struct step_fact *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < c->fact_count; i++) {
        if (c->facts[i].kind == kind && c->facts[i].step == number) {
            *ret = c->facts[i];
            count++;
        }
    }
    return count;
}

static size_t listed(struct subject *s, const char *guid, enum step_fact_kind kind, uint32_t number)
{
    SCOPED_ARENA(a);
    struct step_fact unused;
    struct container_status c = subject_find(s, &a, guid);
    assert_non_null(c.guid);
    return facts_of(&c, kind, number, &unused);
}

static struct step_fact await_end(struct subject *s, const char *guid, uint32_t number)
{
    for (int i = 0; i < AWAIT_TRIES; i++) {
        SCOPED_ARENA(a);
        struct event ev;
        struct step_fact end;
        struct container_status c = subject_find(s, &a, guid);
        if (facts_of(&c, FACT_ENDED, number, &end) == 1) {
            end.text = "";
            return end;
        }
        s->next(s, 100 * MILLISECOND_NS, &a, &ev);
    }
    fail_msg("%s: run %u of %s does not end", s->name, number, guid);
    return (struct step_fact){0};
}

static bool ended_by(const struct step_fact *end, int number)
{
    return end->exit_signal == number || end->exit_code == 128 + number;
}

static void a_run_begins_once(struct subject *s)
{
    SCOPED_ARENA(a);
    struct container_spec idle = {.rootfs = s->rootfs, .idle = true};
    assert_int_equal(run(s, "nobody", FIRST, PROGRAM_SLEEPS), VERB_FAILED);
    assert_int_equal(subject_prepare(s, &a, "once", &idle).outcome, VERB_DONE);
    assert_int_equal(run(s, "once", FIRST, PROGRAM_SLEEPS), VERB_FAILED); /* nothing runs yet */
    assert_int_equal(subject_plain(s, &a, VERB_START, "once").outcome, VERB_DONE);
    assert_int_equal(run(s, "once", RUN_FIRST - 1, PROGRAM_SLEEPS), VERB_FAILED);
    assert_int_equal(run(s, "once", RUN_LAST + 1U, PROGRAM_SLEEPS), VERB_FAILED);
    assert_int_equal(subject_find(s, &a, "once").fact_count, 0);
    size_t told = s->facts_told;
    assert_int_equal(run(s, "once", FIRST, PROGRAM_SLEEPS), VERB_DONE);
    assert_true(s->facts_told > told); /* before the answer */
    assert_int_equal(run(s, "once", FIRST, PROGRAM_SLEEPS), VERB_FAILED);
    assert_int_equal(run(s, "once", RUN_LAST, PROGRAM_SLEEPS), VERB_DONE);
    s->restart(s);
    assert_int_equal(run(s, "once", FIRST, PROGRAM_SLEEPS), VERB_FAILED);
    assert_int_equal(listed(s, "once", FACT_BEGUN, FIRST), 1);
    assert_int_equal(subject_find(s, &a, "once").fact_count, 2);
    assert_int_equal(subject_find(s, &a, "once").state, CONTAINER_RUNNING);
    subject_remove(s, "once");
}

/* Its rep is killed in the middle, and the next one hears how it ended. */
static void its_end_outlives_the_rep(struct subject *s)
{
    begin_idle(s, "ends");
    assert_int_equal(run(s, "ends", FIRST, PROGRAM_EXITS), VERB_DONE);
    s->restart(s);
    struct step_fact end = await_end(s, "ends", FIRST);
    assert_int_equal(end.exit_code, 3);
    assert_int_equal(end.exit_signal, 0);
    s->restart(s);
    assert_int_equal(listed(s, "ends", FACT_ENDED, FIRST), 1);
    assert_int_equal(run(s, "ends", FIRST, PROGRAM_EXITS), VERB_FAILED);
    assert_int_equal(run_verb(s, VERB_SIGNAL, "ends", FIRST, SIGTERM), VERB_FAILED);
    subject_remove(s, "ends");
}

static void one_that_cannot_start_has_ended(struct subject *s)
{
    SCOPED_ARENA(a);
    struct step_fact end;
    begin_idle(s, "absent");
    assert_int_equal(run(s, "absent", FIRST, PROGRAM_IS_MISSING), VERB_FAILED);
    struct container_status c = subject_find(s, &a, "absent");
    assert_int_equal(facts_of(&c, FACT_BEGUN, FIRST, &end), 1);
    assert_int_equal(facts_of(&c, FACT_ENDED, FIRST, &end), 1);
    assert_int_equal(end.exit_code, -1);
    assert_true(strlen(end.text) > 0);
    subject_remove(s, "absent");
}

static void it_is_told_to_end(struct subject *s)
{
    SCOPED_ARENA(a);
    struct event ev;
    begin_idle(s, "told");
    assert_int_equal(run_verb(s, VERB_SIGNAL, "told", FIRST, SIGTERM), VERB_FAILED);
    assert_int_equal(run(s, "told", FIRST, PROGRAM_SLEEPS), VERB_DONE);
    assert_int_equal(run(s, "told", OTHER, PROGRAM_IS_STUBBORN), VERB_DONE);
    while (s->next(s, 500 * MILLISECOND_NS, &a, &ev)) { /* the stubborn one sets its trap */
    }
    assert_int_equal(run_verb(s, VERB_SIGNAL, "told", FIRST, SIGTERM), VERB_DONE);
    struct step_fact end = await_end(s, "told", FIRST);
    assert_true(ended_by(&end, SIGTERM));
    assert_int_equal(run_verb(s, VERB_SIGNAL, "told", OTHER, SIGTERM), VERB_DONE);
    while (s->next(s, 500 * MILLISECOND_NS, &a, &ev)) {
    }
    assert_int_equal(listed(s, "told", FACT_ENDED, OTHER), 0);
    assert_int_equal(run_verb(s, VERB_SIGNAL, "told", OTHER, SIGKILL), VERB_DONE);
    end = await_end(s, "told", OTHER);
    assert_true(ended_by(&end, SIGKILL));
    subject_remove(s, "told");
}

static void what_ended_is_forgotten(struct subject *s)
{
    begin_idle(s, "gone");
    assert_int_equal(forget(s, "nobody", FIRST), VERB_DONE);
    assert_int_equal(forget(s, "gone", FIRST), VERB_DONE);
    assert_int_equal(run(s, "gone", FIRST, PROGRAM_EXITS), VERB_DONE);
    assert_int_equal(run(s, "gone", OTHER, PROGRAM_SLEEPS), VERB_DONE);
    assert_int_equal(forget(s, "gone", OTHER), VERB_FAILED);
    await_end(s, "gone", FIRST);
    assert_int_equal(forget(s, "gone", FIRST), VERB_DONE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(listed(s, "gone", FACT_BEGUN, FIRST), 0);
        assert_int_equal(listed(s, "gone", FACT_ENDED, FIRST), 0);
        assert_int_equal(listed(s, "gone", FACT_BEGUN, OTHER), 1);
        s->restart(s);
    }
    assert_int_equal(forget(s, "gone", FIRST), VERB_DONE);
    assert_int_equal(run(s, "gone", FIRST, PROGRAM_EXITS), VERB_DONE); /* its number is free */
    assert_int_equal(await_end(s, "gone", FIRST).exit_code, 3);
    assert_int_equal(listed(s, "gone", FACT_BEGUN, FIRST), 1);
    subject_remove(s, "gone");
}

static enum verb_outcome read_output(struct subject *s, const char *guid, uint32_t number,
                                     size_t *ret_size, bool *ret_ends_well)
{
    SCOPED_ARENA(a);
    struct verb_answer answer =
        subject_verb(s, &a, (struct verb_call){.verb = VERB_READ, .guid = guid, .step = number});
    *ret_size = answer.data.size;
    *ret_ends_well =
        answer.data.size >= 3 && memcmp(answer.data.data + answer.data.size - 3, "end", 3) == 0;
    return answer.outcome;
}

static void the_last_it_wrote_is_read(struct subject *s)
{
    size_t size;
    bool well;
    begin_idle(s, "wrote");
    assert_int_equal(read_output(s, "wrote", FIRST, &size, &well), VERB_FAILED);
    assert_int_equal(run(s, "wrote", FIRST, PROGRAM_SAYS), VERB_DONE);
    assert_int_equal(await_end(s, "wrote", FIRST).exit_code, 3);
    s->restart(s);
    assert_int_equal(read_output(s, "wrote", FIRST, &size, &well), VERB_DONE);
    assert_int_equal(size, RUN_OUTPUT_MAX);
    assert_true(well);
    assert_int_equal(forget(s, "wrote", FIRST), VERB_DONE);
    assert_int_equal(read_output(s, "wrote", FIRST, &size, &well), VERB_FAILED);
    subject_remove(s, "wrote");
}

static void so_many_are_kept(struct subject *s)
{
    begin_idle(s, "many");
    for (uint32_t i = 0; i < RUNS_MAX; i++) {
        assert_int_equal(run(s, "many", FIRST + i, PROGRAM_EXITS), VERB_DONE);
    }
    assert_int_equal(run(s, "many", FIRST + RUNS_MAX, PROGRAM_EXITS), VERB_FAILED);
    await_end(s, "many", FIRST + 7);
    assert_int_equal(forget(s, "many", FIRST + 7), VERB_DONE);
    assert_int_equal(run(s, "many", FIRST + RUNS_MAX, PROGRAM_EXITS), VERB_DONE);
    for (uint32_t i = 0; i <= RUNS_MAX; i++) {
        if (i != 7) {
            assert_int_equal(await_end(s, "many", FIRST + i).exit_code, 3);
        }
    }
    subject_remove(s, "many");
}

/* Beside a program that is not an init alone, and with it. */
static void it_ends_with_its_container(struct subject *s)
{
    SCOPED_ARENA(a);
    subject_begin(s, "whole", PROGRAM_SLEEPS);
    assert_int_equal(run(s, "whole", FIRST, PROGRAM_SLEEPS), VERB_DONE);
    assert_int_equal(subject_signal(s, &a, "whole", SIGKILL).outcome, VERB_DONE);
    subject_await_end(s, "whole");
    await_end(s, "whole", FIRST);
    assert_int_equal(run(s, "whole", OTHER, PROGRAM_SLEEPS), VERB_FAILED);
    assert_int_equal(forget(s, "whole", FIRST), VERB_DONE);
    assert_int_equal(subject_find(s, &a, "whole").state, CONTAINER_EXITED);
    subject_remove(s, "whole");
}

static void who_does_not_idle_has_a_program(struct subject *s)
{
    SCOPED_ARENA(a);
    struct container_spec spec = {.rootfs = s->rootfs};
    assert_int_equal(subject_prepare(s, &a, "none", &spec).outcome, VERB_FAILED);
    assert_null(subject_find(s, &a, "none").guid);
}

void runs_conformance(struct subject *s)
{
    a_run_begins_once(s);
    its_end_outlives_the_rep(s);
    one_that_cannot_start_has_ended(s);
    it_is_told_to_end(s);
    what_ended_is_forgotten(s);
    the_last_it_wrote_is_read(s);
    so_many_are_kept(s);
    it_ends_with_its_container(s);
    who_does_not_idle_has_a_program(s);
    s->ended_count = 0;
}
