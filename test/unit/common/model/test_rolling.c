/* How a service is to roll: what Rolling says, and what it comes to. */
#include "common/contract/moment.h"
#include "common/model/rolling.h"
#include "test/tool/cmocka.h"

#include <string.h>

static void what_it_comes_to(void **state)
{
    static const struct {
        const char *surge, *unavailable;
        int32_t wanted, ret_surge, ret_unavailable;
    } rows[] = {
        {"", "", 4, 1, 0},       {"", "", 5, 2, 0},        {"", "", 0, 1, 0},
        {"25%", "", 9, 3, 0},    {"0", "1", 3, 0, 1},      {"0", "25%", 3, 1, 0},
        {"0", "50%", 3, 0, 1},   {"", "34%", 3, 1, 1},     {"100%", "100%", 7, 7, 7},
        {"3", "2", 100, 3, 2},   {"0", "", 3, 1, 0},       {"much", "1", 4, 1, 1},
        {"100000", "", 1, 100000, 0}, {"25%", "0", 100000, 25000, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Board__Rolling r = BOARD__ROLLING__INIT;
        struct rolling_bounds b;
        r.max_surge = (char *)(uintptr_t)rows[i].surge;
        r.max_unavailable = (char *)(uintptr_t)rows[i].unavailable;
        rolling_bounds_of(&r, rows[i].wanted, &b);
        if (b.surge != rows[i].ret_surge || b.unavailable != rows[i].ret_unavailable) {
            fail_msg("row %zu: surge %d, unavailable %d", i, b.surge, b.unavailable);
        }
    }
}

static void times(void **state)
{
    struct rolling_bounds b;
    rolling_bounds_of(NULL, 3, &b);
    assert_int_equal(b.ready_ns, 15 * SECOND_NS);
    assert_int_equal(b.deadline_ns, 600 * SECOND_NS);
    Board__Rolling r = BOARD__ROLLING__INIT;
    rolling_bounds_of(&r, 3, &b);
    assert_int_equal(b.ready_ns, 0); /* a record's is complete */
    assert_int_equal(b.deadline_ns, 600 * SECOND_NS);
    r.ready_s = 7;
    r.deadline_s = 70;
    rolling_bounds_of(&r, 3, &b);
    assert_int_equal(b.ready_ns, 7 * SECOND_NS);
    assert_int_equal(b.deadline_ns, 70 * SECOND_NS);
}

static void what_is_wrong(void **state)
{
    static const struct {
        const char *surge, *unavailable;
        int32_t ready_s, deadline_s;
        const char *fault; /* a part of it; NULL = it is well */
    } rows[] = {
        {"", "", 0, 0, NULL},
        {"25%", "3", 15, 600, NULL},
        {"0", "1", 0, 0, NULL},
        {"100000", "", 86400, 86400, NULL},
        {"101%", "", 0, 0, "max_surge \"101%\""},
        {"100001", "", 0, 0, "max_surge \"100001\""},
        {"99999999999999999999", "", 0, 0, "max_surge"},
        {"-1", "", 0, 0, "max_surge \"-1\""},
        {"", "1.5", 0, 0, "max_unavailable \"1.5\""},
        {"%", "", 0, 0, "max_surge \"%\""},
        {"5%%", "", 0, 0, "max_surge"},
        {"0", "0", 0, 0, "both 0"},
        {"0%", "", 0, 0, "both 0"},
        {"", "", -1, 0, "ready_s is -1"},
        {"", "", 0, 86401, "deadline_s is 86401"},
        {"", "", 30, 20, "longer than deadline_s"},
        {"", "", 601, 0, "longer than deadline_s (600)"},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Board__Rolling r = BOARD__ROLLING__INIT;
        r.max_surge = (char *)(uintptr_t)rows[i].surge;
        r.max_unavailable = (char *)(uintptr_t)rows[i].unavailable;
        r.ready_s = rows[i].ready_s;
        r.deadline_s = rows[i].deadline_s;
        const char *fault = rolling_fault(&a, &r);
        if (rows[i].fault ? !fault || !strstr(fault, rows[i].fault) : fault != NULL) {
            fail_msg("row %zu: %s", i, fault ? fault : "well");
        }
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_comes_to),
        cmocka_unit_test(times),
        cmocka_unit_test(what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
