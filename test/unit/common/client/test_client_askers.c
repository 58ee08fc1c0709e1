/* Answers find their asker by the id of the call. */
#include "common/client/askers.h"
#include "test/tool/cmocka.h"

struct one {
    struct askers *askers;
    unsigned answers;
    uint64_t again; /* asked from within the answer; 0 = not */
};

static void on_answer(void *context, const struct response *r, struct effects *out)
{
    (void)r, (void)out;
    struct one *one = context;
    one->answers++;
    if (one->again) {
        uint64_t id = one->again;
        one->again = 0;
        askers_add(one->askers, id, on_answer, one);
    }
}

static bool answer(struct askers *s, uint64_t id)
{
    const struct response r = {.id = id};
    return askers_answer(s, &r, NULL);
}

/* More than there are buckets, so that some share one. */
static void each_answer_goes_to_its_asker_once(void **state)
{
    enum { COUNT = 3 * ASKERS_BUCKETS };
    struct askers s;
    struct one all[COUNT + 1] = {{0}};
    askers_init(&s);
    for (uint64_t id = 1; id <= COUNT; id++) {
        askers_add(&s, id, on_answer, &all[id]);
    }
    for (uint64_t id = COUNT; id > 0; id--) {
        assert_true(answer(&s, id));
        assert_int_equal(all[id].answers, 1);
        assert_false(answer(&s, id));
    }
    assert_false(answer(&s, 0));
    askers_done(&s);
}

static void an_asker_may_ask_again_from_within(void **state)
{
    struct askers s;
    askers_init(&s);
    struct one one = {.askers = &s, .again = 7};
    askers_add(&s, 7, on_answer, &one);
    assert_true(answer(&s, 7));
    assert_true(answer(&s, 7));
    assert_int_equal(one.answers, 2);
    assert_false(answer(&s, 7));
    askers_done(&s);
}

static void those_who_wait_at_the_end_are_not_called(void **state)
{
    struct askers s;
    struct one one = {0};
    askers_init(&s);
    askers_add(&s, 1, on_answer, &one);
    askers_done(&s);
    assert_int_equal(one.answers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_answer_goes_to_its_asker_once),
        cmocka_unit_test(an_asker_may_ask_again_from_within),
        cmocka_unit_test(those_who_wait_at_the_end_are_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
