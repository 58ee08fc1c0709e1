/* Ranges of user ids: given once, free again, adopted from earlier settings, and then there are no
 * more. */
#include "common/contract/driver.h"
#include "rep/container/id_ranges.h"
#include "test/tool/cmocka.h"

enum { FIRST = 1000000000 };

static uint32_t range(uint32_t n)
{
    return FIRST + n * CONTAINER_IDS;
}

static void each_is_given_once_until_there_are_none(void **state)
{
    struct id_ranges r;
    id_ranges_init(&r, FIRST, 3 * CONTAINER_IDS + CONTAINER_IDS - 1); /* whole ones only */
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(id_ranges_take(&r), range(i));
    }
    assert_int_equal(id_ranges_take(&r), 0);
    id_ranges_give(&r, range(1));
    assert_int_equal(id_ranges_take(&r), range(1));
    assert_int_equal(id_ranges_take(&r), 0);
}

/* What still leaves a range is not met by the next one at once. */
static void a_range_rests(void **state)
{
    struct id_ranges r;
    id_ranges_init(&r, FIRST, 3 * CONTAINER_IDS);
    assert_int_equal(id_ranges_take(&r), range(0));
    id_ranges_give(&r, range(0));
    assert_int_equal(id_ranges_take(&r), range(1));
    assert_int_equal(id_ranges_take(&r), range(2));
    assert_int_equal(id_ranges_take(&r), range(0));
}

static void what_is_adopted_is_not_given(void **state)
{
    struct id_ranges r;
    id_ranges_init(&r, FIRST, 4 * CONTAINER_IDS);
    id_ranges_adopt(&r, range(0) + 1); /* across two of them */
    id_ranges_adopt(&r, range(1) + 1); /* and one more, of the second of these */
    id_ranges_adopt(&r, 5);            /* elsewhere */
    id_ranges_adopt(&r, UINT32_MAX);
    id_ranges_adopt(&r, 0); /* it has none */
    assert_int_equal(id_ranges_take(&r), range(3));
    assert_int_equal(id_ranges_take(&r), 0);
    id_ranges_give(&r, range(0) + 1);
    assert_int_equal(id_ranges_take(&r), range(0));
    assert_int_equal(id_ranges_take(&r), 0); /* the second has another holder yet */
    id_ranges_give(&r, range(1) + 1);
    id_ranges_give(&r, 5);
    id_ranges_give(&r, 0);
    assert_int_equal(id_ranges_take(&r), range(1));
    assert_int_equal(id_ranges_take(&r), range(2));
}

static void there_may_be_none_and_there_is_a_bound(void **state)
{
    struct id_ranges r;
    id_ranges_init(&r, 0, 0);
    assert_int_equal(id_ranges_take(&r), 0);
    id_ranges_adopt(&r, FIRST);
    id_ranges_give(&r, FIRST);
    id_ranges_init(&r, 1, UINT32_MAX - 1);
    assert_int_equal(r.count, ID_RANGES_MAX);
    for (int i = 0; i < ID_RANGES_MAX; i++) {
        assert_int_equal(id_ranges_take(&r), 1 + i * CONTAINER_IDS);
    }
    assert_int_equal(id_ranges_take(&r), 0);
}

static void the_last_is_given_last(void **state)
{
    enum { SPARE = 100 };
    struct id_ranges r;
    id_ranges_init(&r, FIRST, 3 * CONTAINER_IDS + SPARE);
    uint32_t last = 0;
    for (uint32_t ids; (ids = id_ranges_take(&r)) > 0;) {
        last = ids;
    }
    assert_int_equal(id_ranges_last(FIRST, 3 * CONTAINER_IDS + SPARE), last);
    assert_int_equal(id_ranges_last(FIRST, CONTAINER_IDS), FIRST);
    assert_int_equal(id_ranges_last(0, 0), 0);
    const uint32_t many = (ID_RANGES_MAX + 5) * CONTAINER_IDS;
    assert_int_equal(id_ranges_last(FIRST, many), FIRST + (ID_RANGES_MAX - 1) * CONTAINER_IDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_given_once_until_there_are_none),
        cmocka_unit_test(a_range_rests),
        cmocka_unit_test(the_last_is_given_last),
        cmocka_unit_test(what_is_adopted_is_not_given),
        cmocka_unit_test(there_may_be_none_and_there_is_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
