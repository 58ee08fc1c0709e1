/* Requests that wait for a job's end: all are answered, each once, and never more in one step than
 * its effects may be. */
#include "bbs/route/waiters.h"

#include "common/base/arena.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>

struct bench {
    struct waiters waiters;
    struct arena arena;
    struct effects out;
    unsigned answers[WAITERS_MAX + 1]; /* of each request */
};

static const struct moment start = {.mono_ns = 100 * SECOND_NS};

static void begin_step(struct bench *b)
{
    arena_reset(&b->arena);
    effects_init(&b->out, &b->arena);
}

static void count_answers(struct bench *b)
{
    for (size_t i = 0; i < b->out.count; i++) {
        assert_int_equal(b->out.list[i].kind, EFFECT_REPLY);
        assert_int_equal(b->out.list[i].reply.status, 200);
        assert_in_range(b->out.list[i].reply.id, 0, WAITERS_MAX);
        b->answers[b->out.list[i].reply.id]++;
    }
}

/* Every second one waits for the other job. */
static struct bench *full(void)
{
    struct bench *b = calloc(1, sizeof(*b));
    arena_init(&b->arena);
    waiters_init(&b->waiters);
    for (unsigned i = 0; i < WAITERS_MAX; i++) {
        assert_true(waiters_reserve(&b->waiters));
        waiters_add(&b->waiters, i, i % 2 ? "job/odd" : "job/even", false, start);
    }
    return b;
}

static void end(struct bench *b)
{
    waiters_done(&b->waiters);
    arena_done(&b->arena);
    free(b);
}

/* Steps at `now` as long as the waiters ask for another at once; gives how many. */
static unsigned drain(struct bench *b, struct moment now)
{
    unsigned steps = 0;
    do {
        assert_in_range(++steps, 1, 1 + WAITERS_MAX / WAITERS_ENOUGH);
        begin_step(b);
        waiters_timer(&b->waiters, now, &b->out);
        assert_in_range(b->out.count, 0, WAITERS_ENOUGH);
        count_answers(b);
    } while (b->out.due_ns <= now.mono_ns);
    return steps;
}

static void no_more_than_the_bound_wait(void **state)
{
    struct bench *b = full();
    assert_false(waiters_reserve(&b->waiters));
    begin_step(b);
    waiters_job_ended(&b->waiters, "job/odd", &b->out);
    /* Places that are not taken yet count. */
    for (size_t i = b->waiters.count; i < WAITERS_MAX; i++) {
        assert_true(waiters_reserve(&b->waiters));
    }
    assert_false(waiters_reserve(&b->waiters));
    waiters_add(&b->waiters, WAITERS_MAX, "job/odd", false, start);
    assert_false(waiters_reserve(&b->waiters));
    waiters_release(&b->waiters);
    assert_true(waiters_reserve(&b->waiters));
    end(b);
}

static void all_are_due_at_once(void **state)
{
    struct bench *b = full();
    struct moment now = {.mono_ns = start.mono_ns + WAITER_MAX_NS - 1};
    assert_int_equal(drain(b, now), 1);
    assert_int_equal(b->out.count, 0);
    assert_int_equal(b->out.due_ns, start.mono_ns + WAITER_MAX_NS);
    now.mono_ns++;
    assert_int_equal(drain(b, now), WAITERS_MAX / WAITERS_ENOUGH);
    assert_int_equal(b->out.due_ns, NEVER_NS);
    for (unsigned i = 0; i < WAITERS_MAX; i++) {
        assert_int_equal(b->answers[i], 1);
    }
    end(b);
}

static void a_job_that_many_wait_for_ends(void **state)
{
    struct bench *b = full();
    begin_step(b);
    waiters_job_ended(&b->waiters, "job/odd", &b->out);
    waiters_timer(&b->waiters, start, &b->out);
    assert_int_equal(b->out.count, WAITERS_ENOUGH);
    assert_int_equal(b->out.due_ns, start.mono_ns);
    count_answers(b);
    drain(b, start);
    assert_int_equal(b->out.due_ns, start.mono_ns + WAITER_MAX_NS);
    for (unsigned i = 0; i < WAITERS_MAX; i++) {
        assert_int_equal(b->answers[i], i % 2);
    }
    end(b);
}

/* The board's part of a step may have made as many effects as its own loops allow. */
static void a_busy_board_starves_nobody(void **state)
{
    struct bench *b = full();
    const struct moment now = {.mono_ns = start.mono_ns + WAITER_MAX_NS};
    begin_step(b);
    for (unsigned i = 0; i < EFFECTS_ENOUGH; i++) {
        effects_add(&b->out, EFFECT_WAKE)->wake = "feed";
    }
    waiters_timer(&b->waiters, now, &b->out);
    assert_int_equal(b->out.count, WAITERS_ENOUGH);
    assert_int_equal(b->out.due_ns, now.mono_ns);
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_than_the_bound_wait),
        cmocka_unit_test(all_are_due_at_once),
        cmocka_unit_test(a_job_that_many_wait_for_ends),
        cmocka_unit_test(a_busy_board_starves_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
