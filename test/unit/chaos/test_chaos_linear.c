/* The search for an order of calls, against histories of which it is known whether there is one. */
#include "test/chaos/judge/linear.h"
#include "test/chaos/judge/models.h"

#include "common/base/random.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 8192 };

struct trial {
    struct call calls[CALLS_MAX];
    struct model_call about[CALLS_MAX];
    struct linear_call linear[CALLS_MAX];
    size_t count;
};

/* A call from `begin` to `end` (0 = unknown). `saw`: number of what was read, or of a refusal its
 * word. */
static void add(struct trial *t, enum call_op op, int64_t begin, int64_t end, int value, int saw,
                const char *refusal)
{
    assert_true(t->count < CALLS_MAX);
    struct call *c = &t->calls[t->count];
    *c = (struct call){.op = op,
                       .result = end == 0  ? CALL_UNKNOWN
                                 : refusal ? CALL_FAILED
                                           : CALL_OK,
                       .saw = refusal ? refusal : "",
                       .begin = begin,
                       .end = end ? end : INT64_MAX};
    t->about[t->count] = (struct model_call){c, op, "", value, saw};
    t->linear[t->count] = (struct linear_call){begin, c->end, &t->about[t->count]};
    t->count++;
}

static enum linear_verdict judge(struct trial *t)
{
    size_t at = SIZE_MAX;
    enum linear_verdict v =
        linear_check(t->linear, t->count, (struct linear_state){0, 0}, model_register, &at);
    assert_true(v != LINEAR_BAD || at < t->count);
    return v;
}

#define TRIAL(name)                                                                                \
    struct trial *name __attribute__((cleanup(drop))) = calloc(1, sizeof(*name));                  \
    assert_non_null(name)
static void drop(struct trial **t)
{
    free(*t);
}
#define CREATE(b, e, v) add(t, CALL_CREATE, b, e, v, 0, NULL)
#define UPDATE(b, e, v) add(t, CALL_UPDATE, b, e, v, 0, NULL)
#define REMOVE(b, e) add(t, CALL_REMOVE, b, e, 0, 0, NULL)
#define GET(b, e, v) add(t, CALL_GET, b, e, 0, v, NULL)
#define GOOD assert_int_equal(judge(t), LINEAR_GOOD)
#define BAD assert_int_equal(judge(t), LINEAR_BAD)

static void one_after_the_other(void **state)
{
    TRIAL(t);
    GET(1, 2, 0), CREATE(3, 4, 7), GET(5, 6, 7), UPDATE(7, 8, 9), GET(9, 10, 9), REMOVE(11, 12);
    GOOD;
    GET(13, 14, 0);
    GOOD;
    GET(15, 16, 9); /* from the past */
    BAD;
}

static void an_acknowledged_write_is_lost(void **state)
{
    TRIAL(t);
    CREATE(1, 2, 7), UPDATE(3, 4, 8), GET(5, 6, 7);
    BAD;
}

static void what_overlaps_may_be_in_any_order(void **state)
{
    TRIAL(t);
    CREATE(1, 2, 7), UPDATE(3, 20, 8), UPDATE(4, 21, 9), GET(5, 6, 9), GET(7, 8, 8);
    GOOD;
    GET(9, 10, 9); /* it was overwritten, and is written once */
    BAD;
}

static void two_readers_see_it_appear_once(void **state)
{
    TRIAL(t);
    CREATE(1, 2, 7), UPDATE(3, 30, 8), GET(4, 10, 8), GET(11, 12, 7);
    BAD;
}

static void readers_at_the_same_time_may_differ(void **state)
{
    TRIAL(t);
    CREATE(1, 2, 7), UPDATE(3, 30, 8), GET(4, 10, 8), GET(9, 12, 7);
    GOOD;
}

static void unknown_may_happen_late_or_never(void **state)
{
    TRIAL(t);
    CREATE(1, 2, 7), UPDATE(3, 0, 8), GET(5, 6, 7), GET(7, 8, 7);
    GOOD;
    GET(1000, 1001, 8);
    GOOD;
    GET(1002, 1003, 7); /* it happened, and cannot be undone */
    BAD;
}

static void unknown_happens_once(void **state)
{
    TRIAL(t);
    CREATE(1, 2, 7), UPDATE(3, 0, 8), GET(5, 6, 8), UPDATE(7, 8, 9), GET(9, 10, 8);
    BAD;
}

static void unknown_removal_explains_a_second_creation(void **state)
{
    TRIAL(t);
    CREATE(1, 2, 7), CREATE(5, 6, 8);
    BAD;
    t->count = 0;
    CREATE(1, 2, 7), REMOVE(3, 0), CREATE(5, 6, 8);
    GOOD;
}

static void unknown_does_not_happen_before_it_begins(void **state)
{
    TRIAL(t);
    CREATE(1, 2, 7), GET(3, 4, 8), UPDATE(5, 0, 8);
    BAD;
}

static void a_refusal_is_a_read(void **state)
{
    TRIAL(t);
    CREATE(1, 2, 7);
    add(t, CALL_CREATE, 3, 4, 8, 0, "exists");
    GOOD;
    add(t, CALL_UPDATE, 5, 6, 8, 0, "not_found");
    BAD;
}

static void another_refusal_says_nothing(void **state)
{
    TRIAL(t);
    CREATE(1, 2, 7);
    add(t, CALL_UPDATE, 3, 4, 8, 0, "error");
    GET(5, 6, 7);
    GOOD;
    GET(7, 8, 8);
    BAD;
}

/* Ten calls at once, of whose orders one explains what is read. */
static void many_at_once(void **state)
{
    TRIAL(t);
    CREATE(1, 2, 1);
    for (int i = 0; i < 10; i++) {
        UPDATE(3 + i, 1000 + i, 2 + i);
    }
    for (int i = 0; i < 10; i++) {
        GET(100 + 2 * i, 101 + 2 * i, 11 - i);
    }
    GOOD;
    GET(200, 201, 5);
    BAD;
}

static void many_unknown_are_searched_in_bounds(void **state)
{
    TRIAL(t);
    CREATE(1, 2, 1);
    for (int i = 0; i < 500; i++) {
        UPDATE(3 + i, 0, 2 + i);
    }
    for (int i = 0; i < 200; i++) {
        GET(1000 + 2 * i, 1001 + 2 * i, 2 + 2 * i);
    }
    GOOD;
    GET(3000, 3001, 2);
    BAD;
}

static void more_than_the_bound_is_undecided(void **state)
{
    TRIAL(t);
    for (int i = 0; i <= LINEAR_UNKNOWN_MAX; i++) {
        UPDATE(1 + i, 0, 2 + i);
    }
    assert_int_equal(judge(t), LINEAR_UNDECIDED);
    t->count = 0;
    for (int i = 0; i <= LINEAR_OPEN_MAX; i++) {
        UPDATE(1 + i, 1000 + i, 2 + i);
    }
    assert_int_equal(judge(t), LINEAR_UNDECIDED);
}

/* Histories that a real register made, with a moment for each call in its interval: good; and the
 * same where one read shows a value that was overwritten before it began: bad. */
static int64_t drawn(struct random *r, int64_t n)
{
    return (int64_t)random_below(r, (uint64_t)n);
}

static int by_begin(const void *a, const void *b)
{
    const struct linear_call *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void drawn_histories(void **state)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TRIAL(t);
        struct random r;
        int now = 0, calls = 60;
        random_seed(&r, (uint64_t[2]){1, seed});
        for (int i = 0; i < calls; i++) {
            int64_t moment = 1000 + 100 * i, begin = moment - drawn(&r, 300),
                    end = moment + 1 + drawn(&r, 300);
            if (drawn(&r, 2)) {
                GET(begin, end, now);
            } else if (!now) {
                CREATE(begin, end, i + 1), now = i + 1;
            } else if (drawn(&r, 5)) {
                UPDATE(begin, drawn(&r, 8) ? end : 0, i + 1), now = i + 1;
            } else {
                REMOVE(begin, end), now = 0;
            }
        }
        qsort(t->linear, t->count, sizeof(t->linear[0]), by_begin);
        GOOD;
        add(t, now ? CALL_UPDATE : CALL_CREATE, 20000, 20001, 900, 0, NULL);
        UPDATE(20002, 20003, 901), GET(20004, 20005, 901);
        GOOD;
        GET(20006, 20007, 900);
        BAD;
    }
}

/* ---- Tasks ---- */

static void task(struct trial *t, enum call_op op, int64_t begin, int64_t end, const char *saw,
                 int how)
{
    add(t, op, begin, end, 0, how, NULL);
    t->about[t->count - 1].saw = saw;
}

static enum linear_verdict judge_task(struct trial *t)
{
    size_t at;
    return linear_check(t->linear, t->count, (struct linear_state){0, 0}, model_task, &at);
}

static void a_task_goes_its_way(void **state)
{
    TRIAL(t);
    task(t, CALL_TASK_CREATE, 1, 2, "", 0);
    task(t, CALL_TASK_GET, 3, 4, "Pending", 0);
    task(t, CALL_TASK_GET, 5, 6, "Running", 0);
    task(t, CALL_TASK_GET, 7, 8, "Completed:a", 1);
    task(t, CALL_TASK_RESOLVE, 9, 10, "", 0);
    task(t, CALL_TASK_DELETE, 11, 12, "", 0);
    task(t, CALL_TASK_GET, 13, 14, "", 0);
    assert_int_equal(judge_task(t), LINEAR_GOOD);
    task(t, CALL_TASK_GET, 15, 16, "Running", 0);
    assert_int_equal(judge_task(t), LINEAR_BAD);
}

static void a_task_ends_one_way(void **state)
{
    TRIAL(t);
    task(t, CALL_TASK_CREATE, 1, 2, "", 0);
    task(t, CALL_TASK_GET, 3, 4, "Completed:a", 1);
    task(t, CALL_TASK_GET, 5, 6, "Completed:a", 1);
    assert_int_equal(judge_task(t), LINEAR_GOOD);
    task(t, CALL_TASK_GET, 7, 8, "Completed:b", 2);
    assert_int_equal(judge_task(t), LINEAR_BAD);
}

static void an_acknowledged_task_is_lost(void **state)
{
    TRIAL(t);
    task(t, CALL_TASK_CREATE, 1, 2, "", 0);
    task(t, CALL_TASK_GET, 3, 4, "", 0);
    assert_int_equal(judge_task(t), LINEAR_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_after_the_other),
        cmocka_unit_test(an_acknowledged_write_is_lost),
        cmocka_unit_test(what_overlaps_may_be_in_any_order),
        cmocka_unit_test(two_readers_see_it_appear_once),
        cmocka_unit_test(readers_at_the_same_time_may_differ),
        cmocka_unit_test(unknown_may_happen_late_or_never),
        cmocka_unit_test(unknown_happens_once),
        cmocka_unit_test(unknown_removal_explains_a_second_creation),
        cmocka_unit_test(unknown_does_not_happen_before_it_begins),
        cmocka_unit_test(a_refusal_is_a_read),
        cmocka_unit_test(another_refusal_says_nothing),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(many_unknown_are_searched_in_bounds),
        cmocka_unit_test(more_than_the_bound_is_undecided),
        cmocka_unit_test(drawn_histories),
        cmocka_unit_test(a_task_goes_its_way),
        cmocka_unit_test(a_task_ends_one_way),
        cmocka_unit_test(an_acknowledged_task_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
