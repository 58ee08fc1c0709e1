/* The command of a unit: when it begins, what counts, and how long it is left alone. */
#include "common/model/settings.h"
#include "rep/unit/workload.h"
#include "test/tool/cmocka.h"

#define AT (100 * SECOND_NS)

static const struct workload_row {
    const char *name;
    struct workload_facts facts;
    enum workload_act act;
    int32_t crash_count;
    int64_t wait_ns, look_again_ns;
} rows[] = {
    {"nobody wants it", {.now_ns = AT}, WORKLOAD_WAIT, 0, 0, NEVER_NS},
    {"it has no number yet", {.wanted = true, .now_ns = AT}, WORKLOAD_GIVE, 0, 0, NEVER_NS},
    {"its number is noted", {.wanted = true, .given = true}, WORKLOAD_BEGIN, 0, 0, NEVER_NS},
    {"it runs", {.wanted = true, .given = true, .begun = true}, WORKLOAD_WAIT, 0, 0, NEVER_NS},
    {"it runs, and its last end still counts",
     {.wanted = true,
      .given = true,
      .begun = true,
      .ran_ns = 300 * SECOND_NS,
      .crash_count = 2,
      .now_ns = AT},
     WORKLOAD_WAIT,
     2,
     0,
     AT + 1},
    {"it runs for so long that its next end is the first",
     {.wanted = true,
      .given = true,
      .begun = true,
      .ran_ns = 300 * SECOND_NS + 1,
      .crash_count = 2,
      .now_ns = AT},
     WORKLOAD_LASTS,
     0,
     0,
     NEVER_NS},
    {"it runs for long, and never ended",
     {.wanted = true, .given = true, .begun = true, .ran_ns = 400 * SECOND_NS, .now_ns = AT},
     WORKLOAD_WAIT,
     0,
     0,
     NEVER_NS},
    {"it runs for long, and is to begin again: no end is forgotten meanwhile",
     {.wanted = true,
      .given = true,
      .begun = true,
      .restart = true,
      .ran_ns = 400 * SECOND_NS,
      .crash_count = 2},
     WORKLOAD_STOP,
     2,
     0,
     NEVER_NS},
    {"it runs, and is to begin again",
     {.wanted = true, .given = true, .begun = true, .restart = true},
     WORKLOAD_STOP,
     0,
     0,
     NEVER_NS},
    {"it is not wanted any more, and is not told to begin again",
     {.given = true, .begun = true, .restart = true},
     WORKLOAD_WAIT,
     0,
     0,
     NEVER_NS},
    {"its charm has none any more",
     {.gone = true, .given = true, .begun = true},
     WORKLOAD_STOP,
     0,
     0,
     NEVER_NS},
    {"nor had it one", {.gone = true, .now_ns = AT}, WORKLOAD_WAIT, 0, 0, NEVER_NS},
    {"it ended as it was told: no crash",
     {.wanted = true,
      .given = true,
      .begun = true,
      .over = true,
      .restart = true,
      .crash_count = 2},
     WORKLOAD_COUNT,
     2,
     0,
     NEVER_NS},
    {"the first end",
     {.wanted = true, .given = true, .begun = true, .over = true},
     WORKLOAD_COUNT,
     1,
     0,
     NEVER_NS},
    {"the third end waits",
     {.wanted = true, .given = true, .begun = true, .over = true, .crash_count = 2},
     WORKLOAD_COUNT,
     3,
     30 * SECOND_NS,
     NEVER_NS},
    {"it ran for long, and counts from 1 again",
     {.given = true, .begun = true, .over = true, .ran_ns = 301 * SECOND_NS, .crash_count = 9},
     WORKLOAD_COUNT,
     1,
     0,
     NEVER_NS},
    {"not quite for long enough",
     {.given = true, .begun = true, .over = true, .ran_ns = 300 * SECOND_NS},
     WORKLOAD_COUNT,
     1,
     0,
     NEVER_NS},
    {"so often that an instance would stay crashed",
     {.given = true, .begun = true, .over = true, .crash_count = 5000},
     WORKLOAD_COUNT,
     5001,
     960 * SECOND_NS,
     NEVER_NS},
    {"the count has a bound",
     {.given = true, .begun = true, .over = true, .crash_count = INT32_MAX},
     WORKLOAD_COUNT,
     INT32_MAX,
     960 * SECOND_NS,
     NEVER_NS},
    {"its time has not come",
     {.wanted = true, .now_ns = AT, .again_ns = AT + 1},
     WORKLOAD_WAIT,
     0,
     0,
     AT + 1},
    {"its time has come",
     {.wanted = true, .now_ns = AT, .again_ns = AT},
     WORKLOAD_GIVE,
     0,
     0,
     NEVER_NS},
};

static void each_row_holds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct workload_row *row = &rows[i];
        struct workload_step s = workload_next(&row->facts, &SETTINGS_DEFAULT.crash);
        if (s.act != row->act || s.look_again_ns != row->look_again_ns) {
            fail_msg("%s: act %d", row->name, (int)s.act);
        }
        if (s.act == WORKLOAD_COUNT &&
            (s.crash_count != row->crash_count || s.wait_ns != row->wait_ns)) {
            fail_msg("%s: count %d, wait %lld ns", row->name, (int)s.crash_count,
                     (long long)s.wait_ns);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_row_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
