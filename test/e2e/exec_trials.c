/* EXEC of what a step runs, as a monitor is run: however often, and ended with all of its group by
 * its deadline, by whoever asked, with its container and with its rep. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <signal.h>
#include <string.h>

enum { STEP = 7 };

/* A container of a step that sleeps, and of this one; both are prepared, and none has begun. */
static void begin_container(struct rig *r, const char *script)
{
    SCOPED_ARENA(a);
    static const char *const none[] = {NULL};
    const char *args[4], *other[4];
    struct container_spec one = rig_shell(r, script, args);
    struct container_spec idle = rig_shell(r, "exec sleep 1000", other);
    const struct name_value env[] = {{"WHO", "a monitor"}, {"PATH", "/usr/bin:/bin"}};
    const struct step_process steps[] = {
        {.step = 1, .path = idle.path, .args = idle.args},
        {.step = STEP, .path = one.path, .args = one.args, .env = env, .env_count = 2},
        {.step = STEP + 1, .path = "/bin/no-such-program", .args = none},
    };
    struct container_spec whole = {
        .rootfs = r->subject.rootfs, .steps = steps, .step_count = 3};
    rig_done(subject_prepare(&r->subject, &a, "watched", &whole));
    rig_done(subject_plain(&r->subject, &a, VERB_START, "watched"));
}

static struct verb_answer run_step(struct rig *r, struct arena *a, uint32_t step, int wait_ms)
{
    int64_t now = r->subject.now_ns(&r->subject);
    return subject_verb(&r->subject, a,
                        (struct verb_call){.verb = VERB_EXEC,
                                           .guid = "watched",
                                           .step = step,
                                           .deadline_ns = now + wait_ms * MILLISECOND_NS});
}

void trial_exec_of_a_step(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(a);
    begin_container(r, "echo \"I am $WHO\"; echo hurt >&2; [ -e well ] || exit 4; exit 0");
    for (int i = 0; i < 3; i++) {
        struct verb_answer said = run_step(r, &a, STEP, PATIENCE_MS);
        rig_done(said);
        assert_int_equal(said.exit_code, 4);
        assert_non_null(strstr(said.text, "I am a monitor\n"));
        assert_non_null(strstr(said.text, "hurt\n"));
    }
    struct verb_answer never = run_step(r, &a, STEP + 1, PATIENCE_MS);
    assert_int_equal(never.outcome, VERB_FAILED);
    assert_non_null(strstr(never.text, "no-such-program"));
    never = run_step(r, &a, STEP + 2, PATIENCE_MS);
    assert_int_equal(never.outcome, VERB_FAILED);
    assert_string_equal(never.text, "the container has no such step");
    struct container_status c = subject_find(&r->subject, &a, "watched");
    assert_int_equal(c.fact_count, 0); /* it is no step that has begun */
    assert_string_equal(rig_wrote(r, "watched"), "");
    subject_remove(&r->subject, "watched");
}

/* A program that is over leaves none of its group behind, and one that is not goes whole. */
void trial_exec_ends_whole(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(a);
    begin_container(r, "trap '' TERM; sleep 900 & sleep 901 & [ -e quick ] || wait");
    struct verb_answer late = run_step(r, &a, STEP, 400);
    assert_int_equal(late.outcome, VERB_UNCERTAIN);
    rig_await_none_saying(r, "sleep 900");
    rig_await_none_saying(r, "sleep 901");
    assert_int_equal(subject_find(&r->subject, &a, "watched").state, CONTAINER_RUNNING);
    subject_remove(&r->subject, "watched");
    begin_container(r, "sleep 902 >/dev/null 2>&1 & exit 3");
    struct verb_answer quick = run_step(r, &a, STEP, PATIENCE_MS);
    assert_int_equal(quick.exit_code, 3);
    rig_await_none_saying(r, "sleep 902");
    subject_remove(&r->subject, "watched");
}

static uint64_t ask(struct rig *r, uint32_t step)
{
    struct subject *s = &r->subject;
    struct verb_call c = {.id = ++s->ids,
                          .verb = VERB_EXEC,
                          .guid = "watched",
                          .step = step,
                          .deadline_ns = s->now_ns(s) + PATIENCE_MS * MILLISECOND_NS};
    s->call(s, &c);
    return c.id;
}

static struct verb_answer await_answer(struct rig *r, struct arena *a, uint64_t id)
{
    struct event ev;
    struct subject *s = &r->subject;
    while (s->next(s, PATIENCE_MS * MILLISECOND_NS, a, &ev)) {
        if (ev.kind == EVENT_VERB && ev.verb.id == id) {
            return ev.verb;
        }
    }
    fail_msg("verb %llu has no answer", (unsigned long long)id);
    return (struct verb_answer){0};
}

/* So many of what was asked for run. */
static void await_saying(struct rig *r, const char *words, int count)
{
    enum { PAUSE_MS = 25 };
    SCOPED_ARENA(a);
    struct event ev;
    for (int i = 0; i < PATIENCE_MS / PAUSE_MS && rig_processes_saying(r, words) < count; i++) {
        assert_false(r->subject.next(&r->subject, PAUSE_MS * MILLISECOND_NS, &a, &ev));
    }
    assert_true(rig_processes_saying(r, words) >= count);
}

/* By whoever asked; of two that run at once it is the one that is meant. */
void trial_exec_ended_early(void **state)
{
    struct rig *r = *state;
    struct subject *s = &r->subject;
    SCOPED_ARENA(a);
    begin_container(r, "sleep 903 & wait; exit 5");
    uint64_t first = ask(r, STEP), second = ask(r, STEP);
    await_saying(r, "sleep 903", 4);
    struct verb_call end = {.id = ++s->ids,
                            .verb = VERB_SIGNAL,
                            .guid = "watched",
                            .exec = first,
                            .deadline_ns = s->now_ns(s) + PATIENCE_MS * MILLISECOND_NS};
    s->call(s, &end);
    assert_int_equal(await_answer(r, &a, first).outcome, VERB_UNCERTAIN);
    end.id = ++s->ids;
    s->call(s, &end);
    assert_int_equal(await_answer(r, &a, end.id).outcome, VERB_FAILED); /* it is ended already */
    end.id = ++s->ids;
    end.exec = second;
    s->call(s, &end);
    assert_int_equal(await_answer(r, &a, second).outcome, VERB_UNCERTAIN);
    rig_await_none_saying(r, "sleep 903");
    subject_remove(s, "watched");
}

/* Nobody would hear of it any more. */
void trial_exec_ends_with_others(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(a);
    begin_container(r, "sleep 904 & wait; exit 5");
    ask(r, STEP);
    await_saying(r, "sleep 904", 2);
    rig_restart(r);
    rig_await_none_saying(r, "sleep 904");
    assert_int_equal(subject_find(&r->subject, &a, "watched").state, CONTAINER_RUNNING);
    uint64_t id = ask(r, STEP);
    await_saying(r, "sleep 904", 2);
    rig_done(subject_signal(&r->subject, &a, "watched", SIGKILL));
    await_answer(r, &a, id);
    assert_int_equal(rig_processes(r), 0);
    subject_remove(&r->subject, "watched");
}
