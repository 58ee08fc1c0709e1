/* For how long a record has stood: two clocks, either of which may be hours wrong. */
#include "common/model/sighting.h"
#include "test/tool/cmocka.h"

#define HOUR (3600 * SECOND_NS)
#define LIMIT (30 * SECOND_NS)

static const struct moment now = {.mono_ns = 100 * SECOND_NS, .wall_ns = 50 * HOUR};

/* How long it was seen, how long at most it can have stood (-1 = nobody knows), what the stamp
 * says. */
static int64_t stood_s(int64_t seen_s, int64_t most_s, int64_t said_ns)
{
    struct sighting s = {.since_ns = now.mono_ns - seen_s * SECOND_NS,
                         .after_ns = most_s < 0 ? 0 : now.mono_ns - most_s * SECOND_NS};
    return (LIMIT - stood_left_ns(LIMIT, now.wall_ns - said_ns, s, now)) / SECOND_NS;
}

static void what_was_seen_written_goes_by_the_monotonic_clock(void **state)
{
    assert_int_equal(stood_s(10, 10, 10 * SECOND_NS), 10);
    assert_int_equal(stood_s(10, 10, 3 * HOUR), 10);
    assert_int_equal(stood_s(10, 10, -3 * HOUR), 10);
    assert_int_equal(stood_s(10, 12, 3 * HOUR), 12); /* told late, by 2 s at most */
    assert_int_equal(stood_s(10, 12, 11 * SECOND_NS), 11);
}

static void what_was_found_goes_by_its_stamp_but_is_no_younger_than_seen(void **state)
{
    assert_int_equal(stood_s(10, -1, 25 * SECOND_NS), 25);
    assert_int_equal(stood_s(10, -1, 3 * HOUR), 3 * 3600);
    assert_int_equal(stood_s(10, -1, -3 * HOUR), 10);
}

static void what_cannot_be_taken_back_was_seen_for_the_whole_limit(void **state)
{
    struct sighting s = {.since_ns = now.mono_ns - 10 * SECOND_NS};
    assert_int_equal(surely_left_ns(LIMIT, s, now), 20 * SECOND_NS);
}

static void a_task_is_kept_by_both_clocks(void **state)
{
    struct moment later = {.mono_ns = 10 * HOUR, .wall_ns = 50 * HOUR};
    struct sighting seen = {.since_ns = later.mono_ns - 10 * SECOND_NS};
    struct sighting made = {.since_ns = later.mono_ns - HOUR / 2};
    /* Short: by what was seen of it alone. */
    assert_int_equal(kept_left_ns(60 * SECOND_NS, 0, seen, made, later), 50 * SECOND_NS);
    /* Long: the stamp, and known for an hour. */
    assert_int_equal(kept_left_ns(24 * HOUR, later.wall_ns - 23 * HOUR, seen, made, later), HOUR);
    assert_int_equal(kept_left_ns(24 * HOUR, later.wall_ns - 30 * HOUR, seen, made, later),
                     HOUR / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_seen_written_goes_by_the_monotonic_clock),
        cmocka_unit_test(what_was_found_goes_by_its_stamp_but_is_no_younger_than_seen),
        cmocka_unit_test(what_cannot_be_taken_back_was_seen_for_the_whole_limit),
        cmocka_unit_test(a_task_is_kept_by_both_clocks),
    };
    return cmocka_run_group_tests_name("sighting", tests, NULL, NULL);
}
