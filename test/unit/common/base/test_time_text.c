/* Times and durations as people write them. */
#include "common/base/time_text.h"
#include "test/tool/cmocka.h"

static void times_are_written_as_they_are_read(void **state)
{
    static const int64_t walls[] = {0, INT64_C(1767323045678000000), INT64_C(9214646399000000000)};
    char text[WALL_TEXT_BYTES];
    (void)state;
    assert_string_equal(wall_text(walls[1], text), "2026-01-02T03:04:05.678Z");
    for (size_t i = 0; i < sizeof(walls) / sizeof(walls[0]); i++) {
        int64_t ns = -1;
        assert_true(wall_parse(wall_text(walls[i], text), &ns));
        assert_int_equal(ns, walls[i]);
    }
}

static void times(void **state)
{
    static const struct {
        const char *text;
        int64_t ns; /* -1: none */
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-01-02T03:04:05Z", INT64_C(1767323045000000000)},
        {"2026-01-02T03:04:05.000000006Z", INT64_C(1767323045000000006)},
        {"2026-01-02T03:04:05.5Z", INT64_C(1767323045500000000)},
        {"2000-02-29T23:59:59Z", INT64_C(951868799000000000)},
        {"2100-03-01T00:00:00Z", INT64_C(4107542400000000000)},
        {"2261-12-31T23:59:59Z", INT64_C(9214646399000000000)},
        {"2262-01-01T00:00:00Z", -1},
        {"1969-12-31T23:59:59Z", -1},
        {"2026-02-29T00:00:00Z", -1},
        {"2100-02-29T00:00:00Z", -1},
        {"2026-13-01T00:00:00Z", -1},
        {"2026-00-01T00:00:00Z", -1},
        {"2026-04-31T00:00:00Z", -1},
        {"2026-04-00T00:00:00Z", -1},
        {"2026-01-02T24:04:05Z", -1},
        {"2026-01-02T03:60:05Z", -1},
        {"2026-01-02T03:04:60Z", -1},
        {"2026-01-02T03:04:05", -1},
        {"2026-01-02T03:04:05.Z", -1},
        {"2026-01-02T03:04:05.1234567890Z", -1},
        {"2026-01-02T03:04:05.5", -1},
        {"2026-01-02T03:04:05+01:00", -1},
        {"2026-01-02 03:04:05Z", -1},
        {"2026-01-02T0x:04:05Z", -1},
        {"2026", -1},
        {"", -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t ns = -7;
        assert_int_equal(wall_parse(rows[i].text, &ns), rows[i].ns >= 0);
        assert_int_equal(ns, rows[i].ns >= 0 ? rows[i].ns : -7);
    }
}

static void durations(void **state)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: none */
    } rows[] = {
        {"0", 0},        {"90", 90000},      {"90s", 90000},   {"10m", 600000},
        {"250ms", 250},  {"1h30m", 5400000}, {"2d", 172800000}, {"1d2h3m4s5ms", 93784005},
        {"3650d", INT64_C(315360000000)},    {"3651d", -1},    {"3650d1s", -1},
        {"", -1},        {"m", -1},          {"1", 1000},      {"1m1", -1},
        {"1m1h", -1},    {"1m1m", -1},       {"-1m", -1},      {"1.5s", -1},
        {"1 m", -1},     {"1w", -1},         {"1min", -1},     {"1000000000000", -1},
        {"999999999999d", -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t ns = -7;
        assert_int_equal(duration_parse(rows[i].text, &ns), rows[i].ms >= 0);
        assert_int_equal(ns, rows[i].ms >= 0 ? rows[i].ms * 1000000 : -7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),
        cmocka_unit_test(times_are_written_as_they_are_read),
        cmocka_unit_test(durations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
