/* A container's life, as the conformance suite has it, many at once, and quick. Race-prone trials
 * are repeated dozens of times. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

void trial_conformance(void **state)
{
    struct rig *r = *state;
    driver_conformance(&r->subject);
}

/* The kernel drops what the first process of a namespace has not asked for yet: started must mean
 * that it has. */
void trial_term_at_once(void **state)
{
    enum { TIMES = 48 };
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    for (int i = 0; i < TIMES; i++) {
        subject_begin(&r->subject, "brief", PROGRAM_SLEEPS);
        rig_done(subject_signal(&r->subject, &arena, "brief", SIGTERM));
        struct ended e = subject_await_end(&r->subject, "brief");
        assert_true(e.exit_signal == SIGTERM || e.exit_code == 128 + SIGTERM);
        subject_remove(&r->subject, "brief");
        arena_reset(&arena);
    }
}

void trial_many(void **state)
{
    enum { MANY = 20 };
    struct rig *r = *state;
    struct subject *s = &r->subject;
    SCOPED_ARENA(arena);
    struct event ev;
    const char *args[4];
    struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
    int answers = 0;
    int64_t begun = s->now_ns(s);
    static const enum verb verbs[] = {VERB_PREPARE, VERB_START, VERB_REMOVE};
    for (size_t v = 0; v < 3; v++) {
        answers = 0;
        for (int i = 0; i < MANY; i++) {
            struct verb_call c = {.id = ++s->ids,
                                  .verb = verbs[v],
                                  .guid = arena_printf(&arena, "many-%d", i),
                                  .spec = &spec,
                                  .deadline_ns = s->now_ns(s) + 60 * SECOND_NS};
            s->call(s, &c);
        }
        while (answers < MANY && s->next(s, 60 * SECOND_NS, &arena, &ev)) {
            assert_int_equal(ev.kind, EVENT_VERB);
            rig_done(ev.verb);
            answers++;
        }
        assert_int_equal(answers, MANY);
    }
    print_message("%d containers in %.0f ms\n", MANY, (double)(s->now_ns(s) - begun) / 1e6);
}

/* Descriptors that are left from now on; gives back the limit before. */
static struct rlimit leave_descriptors(int left)
{
    struct rlimit before, few;
    int next = dup(STDIN_FILENO); /* the lowest that is free */
    assert_true(next >= 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){.rlim_cur = (rlim_t)(next + left), .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    return before;
}

/* The listing of a driver that opens with so few descriptors; it gets more before it acts on it. */
static struct verb_answer list_with_few(struct rig *r, int left, struct arena *a)
{
    struct subject *s = &r->subject;
    struct event ev;
    rig_suspend(r);
    struct rlimit before = leave_descriptors(left);
    rig_resume(r);
    s->call(s, &(struct verb_call){.id = ++s->ids,
                                   .verb = VERB_LIST,
                                   .deadline_ns = s->now_ns(s) + 20 * SECOND_NS});
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(s->next(s, 20 * SECOND_NS, a, &ev));
    assert_int_equal(ev.kind, EVENT_VERB);
    return ev.verb;
}

static struct verb_answer list_until_done(struct rig *r, struct arena *a)
{
    struct verb_answer all = subject_plain(&r->subject, a, VERB_LIST, NULL);
    for (int i = 0; i < 1000 && all.outcome != VERB_DONE; i++) {
        rig_pause_ms(10);
        all = subject_plain(&r->subject, a, VERB_LIST, NULL);
    }
    assert_int_equal(all.outcome, VERB_DONE);
    return all;
}

static size_t count_running(const struct verb_answer *all)
{
    size_t running = 0;
    for (size_t i = 0; i < all->container_count; i++) {
        running += all->containers[i].state == CONTAINER_RUNNING;
    }
    return running;
}

/* A driver that may open too few files ends no container for it, and does not tell a part of what
 * there is for the whole: neither some of the containers, nor one that runs as one that was never
 * started. */
void trial_few_descriptors(void **state)
{
    enum { MANY = 5, FEWEST = 1, MOST = 9 }; /* the driver itself takes one */
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    char guid[24];
    for (int i = 0; i < MANY; i++) {
        snprintf(guid, sizeof(guid), "many-%d", i);
        rig_begin_shell(r, guid, "exec sleep 1000");
    }
    for (int left = FEWEST; left <= MOST; left++) {
        struct verb_answer all = list_with_few(r, left, &arena);
        bool partial = all.outcome == VERB_DONE && count_running(&all) < MANY;
        rig_pause_ms(100); /* for what it may have begun */
        all = list_until_done(r, &arena);
        size_t running = count_running(&all);
        if (partial || running != MANY) {
            print_message("%d descriptors left: partial=%d running=%zu\n", left, partial, running);
        }
        assert_false(partial);
        assert_int_equal(running, MANY);
        arena_reset(&arena);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(guid, sizeof(guid), "many-%d", i);
        subject_remove(&r->subject, guid);
    }
}

void trial_quick_ends(void **state)
{
    enum { TIMES = 48 };
    struct rig *r = *state;
    for (int i = 0; i < TIMES; i++) {
        char script[64], guid[32];
        snprintf(script, sizeof(script), "echo %d; exit %d", i, i);
        snprintf(guid, sizeof(guid), "quick-%d", i);
        rig_begin_shell(r, guid, script);
        assert_int_equal(subject_await_end(&r->subject, guid).exit_code, i);
        assert_int_equal(atoi(rig_wrote(r, guid)), i);
        subject_remove(&r->subject, guid);
    }
}

/* The end of the first process is the end of all, whatever they think of it. */
void trial_whole_family(void **state)
{
    enum { TIMES = 24 };
    struct rig *r = *state;
    for (int i = 0; i < TIMES; i++) {
        rig_begin_shell(r, "family",
                        "trap '' TERM HUP; for i in 1 2 3; do (setsid sleep 1000 &) ; sleep 1000 & "
                        "done; (setsid sh -c 'while true; do sleep 0.01; done' &) ; exit 4");
        struct ended e = subject_await_end(&r->subject, "family");
        assert_int_equal(e.exit_code, 4);
        assert_int_equal(rig_processes(r), 0);
        subject_remove(&r->subject, "family");
    }
}
