/* The conformance program of the drivers, about steps: each verb done, failed, twice; what a rep
 * that is killed finds again; and that nothing of them outlives its container. */
#include "test/conformance/driver_conformance.h"
#include "test/tool/cmocka.h"

#include <signal.h>
#include <string.h>

enum { AWAIT_TRIES = 200 };

/* What the steps of the container do, by number. */
static const struct {
    uint32_t step;
    enum program program;
} steps[] = {
    {2, PROGRAM_SLEEPS},     {3, PROGRAM_EXITS},       {5, PROGRAM_IS_MISSING},
    {7, PROGRAM_IS_STUBBORN}, {8, PROGRAM_SLEEPS},     {999, PROGRAM_LEAVES},
};

enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

static struct verb_answer prepare(struct subject *s, struct arena *a, const char *guid)
{
    struct step_process *list = ARENA_ARRAY(a, STEPS, struct step_process);
    for (size_t i = 0; i < STEPS; i++) {
        struct container_spec spec = {0};
        s->program(s, arena_printf(a, "%s/%u", guid, steps[i].step), steps[i].program, &spec);
        list[i] = (struct step_process){steps[i].step, spec.path, spec.args};
    }
    struct container_spec whole = {.rootfs = s->rootfs, .steps = list, .step_count = STEPS};
    return subject_prepare(s, a, guid, &whole);
}

static void begin_container(struct subject *s, const char *guid)
{
    SCOPED_ARENA(a);
    assert_int_equal(prepare(s, &a, guid).outcome, VERB_DONE);
    struct verb_answer answer = subject_plain(s, &a, VERB_START, guid);
    assert_string_equal(answer.text, "");
    assert_int_equal(answer.outcome, VERB_DONE);
}

static enum verb_outcome step_verb(struct subject *s, enum verb verb, const char *guid,
                                   uint32_t step, int number)
{
    SCOPED_ARENA(a);
    struct verb_call call = {.verb = verb, .guid = guid, .step = step, .signal = number};
    struct verb_answer answer = subject_verb(s, &a, call);
    assert_int_equal(answer.outcome == VERB_DONE, answer.text[0] == '\0');
    return answer.outcome;
}

static enum verb_outcome begin(struct subject *s, const char *guid, uint32_t step)
{
    return step_verb(s, VERB_BEGIN, guid, step, 0);
}

static enum verb_outcome cut(struct subject *s, const char *guid, uint32_t step, enum cut_why why)
{
    SCOPED_ARENA(a);
    return subject_verb(s, &a, (struct verb_call){
                                   .verb = VERB_CUT, .guid = guid, .step = step, .why = why})
        .outcome;
}

/* How many facts of the kind the step has; the last of them. */
static size_t facts_of(const struct container_status *c, enum step_fact_kind kind, uint32_t step,
                       struct step_fact *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < c->fact_count; i++) {
        assert_true(i == 0 || c->facts[i - 1].at_ns <= c->facts[i].at_ns);
        assert_non_null(c->facts[i].text);
        if (c->facts[i].kind == kind && c->facts[i].step == step) {
            *ret = c->facts[i];
            count++;
        }
    }
    return count;
}

/* As LIST tells. */
static size_t listed(struct subject *s, const char *guid, enum step_fact_kind kind, uint32_t step)
{
    SCOPED_ARENA(a);
    struct step_fact unused;
    struct container_status c = subject_find(s, &a, guid);
    assert_non_null(c.guid);
    return facts_of(&c, kind, step, &unused);
}

/* The end of the step, whenever it comes; its text is not kept. */
static struct step_fact await_end(struct subject *s, const char *guid, uint32_t step)
{
    for (int i = 0; i < AWAIT_TRIES; i++) {
        SCOPED_ARENA(a);
        struct event ev;
        struct step_fact end;
        struct container_status c = subject_find(s, &a, guid);
        if (facts_of(&c, FACT_ENDED, step, &end) == 1) {
            end.text = "";
            return end;
        }
        s->next(s, 100 * MILLISECOND_NS, &a, &ev);
    }
    fail_msg("%s: step %u of %s does not end", s->name, step, guid);
    return (struct step_fact){0};
}

static bool ended_by(const struct step_fact *end, int number)
{
    return end->exit_signal == number || end->exit_code == 128 + number;
}

static void a_step_begins_once(struct subject *s)
{
    SCOPED_ARENA(a);
    assert_int_equal(begin(s, "nobody", 2), VERB_FAILED);
    assert_int_equal(prepare(s, &a, "once").outcome, VERB_DONE);
    assert_int_equal(begin(s, "once", 2), VERB_FAILED); /* nothing runs yet */
    assert_int_equal(cut(s, "once", 2, CUT_STOPPED), VERB_FAILED);
    assert_int_equal(subject_plain(s, &a, VERB_START, "once").outcome, VERB_DONE);
    assert_int_equal(subject_find(s, &a, "once").fact_count, 0);
    assert_int_equal(begin(s, "once", 4), VERB_FAILED); /* there is none */
    assert_int_equal(subject_find(s, &a, "once").fact_count, 0);
    size_t told = s->facts_told;
    assert_int_equal(begin(s, "once", 2), VERB_DONE);
    assert_true(s->facts_told > told); /* before the answer */
    assert_int_equal(listed(s, "once", FACT_BEGUN, 2), 1);
    assert_int_equal(begin(s, "once", 2), VERB_FAILED);
    assert_int_equal(subject_find(s, &a, "once").fact_count, 1);
    s->restart(s);
    assert_int_equal(begin(s, "once", 2), VERB_FAILED);
    assert_int_equal(subject_find(s, &a, "once").fact_count, 1);
    assert_int_equal(subject_find(s, &a, "once").state, CONTAINER_RUNNING);
    subject_remove(s, "once");
}

static void its_end_is_a_fact(struct subject *s)
{
    begin_container(s, "ends");
    assert_int_equal(begin(s, "ends", 3), VERB_DONE);
    struct step_fact end = await_end(s, "ends", 3);
    assert_int_equal(end.exit_code, 3);
    assert_int_equal(end.exit_signal, 0);
    assert_false(end.oom_killed);
    assert_int_equal(step_verb(s, VERB_SIGNAL, "ends", 3, SIGTERM), VERB_FAILED);
    assert_int_equal(begin(s, "ends", 3), VERB_FAILED);
    assert_int_equal(begin(s, "ends", 5), VERB_FAILED); /* it cannot be started */
    SCOPED_ARENA(a);
    struct container_status c = subject_find(s, &a, "ends");
    assert_int_equal(facts_of(&c, FACT_BEGUN, 5, &end), 1);
    assert_int_equal(facts_of(&c, FACT_ENDED, 5, &end), 1);
    assert_int_equal(end.exit_code, -1);
    assert_true(strlen(end.text) > 0);
    assert_int_equal(c.state, CONTAINER_RUNNING);
    subject_remove(s, "ends");
}

static void it_is_told_to_end(struct subject *s)
{
    SCOPED_ARENA(a);
    struct event ev;
    begin_container(s, "told");
    assert_int_equal(step_verb(s, VERB_SIGNAL, "told", 2, SIGTERM), VERB_FAILED);
    assert_int_equal(begin(s, "told", 2), VERB_DONE);
    assert_int_equal(begin(s, "told", 7), VERB_DONE);
    assert_int_equal(begin(s, "told", 8), VERB_DONE);
    while (s->next(s, 500 * MILLISECOND_NS, &a, &ev)) { /* the stubborn one sets its trap */
    }
    assert_int_equal(step_verb(s, VERB_SIGNAL, "told", 2, SIGTERM), VERB_DONE);
    struct step_fact end = await_end(s, "told", 2);
    assert_true(ended_by(&end, SIGTERM));
    assert_int_equal(step_verb(s, VERB_SIGNAL, "told", 7, SIGTERM), VERB_DONE);
    while (s->next(s, 500 * MILLISECOND_NS, &a, &ev)) {
    }
    assert_int_equal(listed(s, "told", FACT_ENDED, 7), 0);
    assert_int_equal(step_verb(s, VERB_SIGNAL, "told", 7, SIGKILL), VERB_DONE);
    end = await_end(s, "told", 7);
    assert_true(ended_by(&end, SIGKILL));
    assert_int_equal(listed(s, "told", FACT_ENDED, 8), 0); /* nobody has told it */
    subject_remove(s, "told");
}

static void a_cut_is_a_fact_once(struct subject *s)
{
    SCOPED_ARENA(a);
    assert_int_equal(cut(s, "nobody", 0, CUT_STOPPED), VERB_FAILED);
    begin_container(s, "cut");
    assert_int_equal(begin(s, "cut", 2), VERB_DONE);
    size_t told = s->facts_told;
    assert_int_equal(cut(s, "cut", 1, CUT_TIMEOUT), VERB_DONE);
    assert_true(s->facts_told > told);
    assert_int_equal(cut(s, "cut", 1, CUT_BESIDE), VERB_DONE);
    assert_int_equal(cut(s, "cut", 2, CUT_STUCK), VERB_DONE);
    assert_int_equal(cut(s, "cut", 2, CUT_STUCK), VERB_DONE);
    s->restart(s);
    assert_int_equal(cut(s, "cut", 1, CUT_STOPPED), VERB_DONE);
    struct container_status c = subject_find(s, &a, "cut");
    struct step_fact fact;
    assert_int_equal(facts_of(&c, FACT_CUT, 1, &fact), 1);
    assert_int_equal(fact.why, CUT_TIMEOUT);
    assert_int_equal(facts_of(&c, FACT_CUT, 2, &fact), 1);
    assert_int_equal(fact.why, CUT_STUCK);
    assert_int_equal(facts_of(&c, FACT_ENDED, 2, &fact), 0); /* it runs on */
    subject_remove(s, "cut");
}

/* The rep is killed before, while and after a step ends. */
static void a_restart_loses_nothing(struct subject *s)
{
    SCOPED_ARENA(a);
    begin_container(s, "kept");
    assert_int_equal(begin(s, "kept", 2), VERB_DONE);
    assert_int_equal(begin(s, "kept", 3), VERB_DONE);
    s->restart(s);
    assert_int_equal(await_end(s, "kept", 3).exit_code, 3);
    for (int i = 0; i < 2; i++) {
        s->restart(s);
        struct step_fact fact;
        struct container_status c = subject_find(s, &a, "kept");
        assert_int_equal(c.state, CONTAINER_RUNNING);
        assert_int_equal(c.fact_count, 3);
        assert_int_equal(facts_of(&c, FACT_ENDED, 3, &fact), 1);
        assert_int_equal(fact.exit_code, 3);
    }
    assert_int_equal(step_verb(s, VERB_SIGNAL, "kept", 2, SIGTERM), VERB_DONE);
    struct step_fact end = await_end(s, "kept", 2);
    assert_true(ended_by(&end, SIGTERM));
    assert_int_equal(begin(s, "kept", 8), VERB_DONE);
    subject_remove(s, "kept");
}

static void a_file_of_a_step_is_read(struct subject *s)
{
    SCOPED_ARENA(a);
    begin_container(s, "leaving");
    assert_int_equal(begin(s, "leaving", 999), VERB_DONE);
    assert_int_equal(await_end(s, "leaving", 999).exit_code, 0);
    struct verb_answer answer = subject_verb(
        s, &a, (struct verb_call){.verb = VERB_READ, .guid = "leaving", .path = s->file});
    assert_int_equal(answer.outcome, VERB_DONE);
    assert_true(bytes_equal(answer.data, bytes_of("left behind")));
    subject_remove(s, "leaving");
}

/* The container's first process goes, and its steps with it. */
static void steps_end_with_their_container(struct subject *s)
{
    begin_container(s, "whole");
    assert_int_equal(begin(s, "whole", 2), VERB_DONE);
    assert_int_equal(begin(s, "whole", 7), VERB_DONE);
    SCOPED_ARENA(a);
    assert_int_equal(subject_signal(s, &a, "whole", SIGKILL).outcome, VERB_DONE);
    subject_await_end(s, "whole");
    await_end(s, "whole", 2);
    await_end(s, "whole", 7);
    assert_int_equal(subject_find(s, &a, "whole").state, CONTAINER_EXITED);
    assert_int_equal(begin(s, "whole", 8), VERB_FAILED);
    assert_int_equal(cut(s, "whole", 0, CUT_STOPPED), VERB_FAILED);
    subject_remove(s, "whole");
}

static enum verb_outcome say(struct subject *s, const char *guid)
{
    SCOPED_ARENA(a);
    return subject_verb(s, &a, (struct verb_call){.verb = VERB_SAY, .guid = guid, .text = "well"})
        .outcome;
}

static void who_has_no_steps_has_none(struct subject *s)
{
    subject_begin(s, "plain", PROGRAM_SLEEPS);
    assert_int_equal(begin(s, "plain", 2), VERB_FAILED);
    assert_int_equal(cut(s, "plain", 2, CUT_STOPPED), VERB_FAILED);
    assert_int_equal(step_verb(s, VERB_SIGNAL, "plain", 2, SIGTERM), VERB_FAILED);
    assert_int_equal(say(s, "plain"), VERB_DONE);
    assert_int_equal(say(s, "nobody"), VERB_FAILED);
    subject_remove(s, "plain");
}

void steps_conformance(struct subject *s)
{
    a_step_begins_once(s);
    its_end_is_a_fact(s);
    it_is_told_to_end(s);
    a_cut_is_a_fact_once(s);
    a_restart_loses_nothing(s);
    a_file_of_a_step_is_read(s);
    steps_end_with_their_container(s);
    who_has_no_steps_has_none(s);
    s->ended_count = 0;
}
