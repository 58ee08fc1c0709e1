/* What `bbs settings` reads and shows. */
#include "bbs/cli/record_text.h"
#include "bbs/cli/settings.h"
#include "common/contract/moment.h"
#include "common/model/setting_record.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define NOW (1000 * SECOND_NS)

static void values_are_read_and_written(void **state)
{
    static const struct {
        const char *name, *text;
        int64_t value; /* -1: it is none */
        const char *written;
    } rows[] = {
        {"task_keep", "0", 0, "0s"},           {"task_keep", "90", 90, "90s"},
        {"task_keep", "90s", 90, "90s"},       {"task_keep", "5m", 300, "5m"},
        {"task_keep", "60m", 3600, "1h"},      {"task_keep", "7d", 604800, "7d"},
        {"task_keep", "1.5h", -1, ""},         {"task_keep", "-1", -1, ""},
        {"task_keep", "", -1, ""},             {"task_keep", "1 h", -1, ""},
        {"task_keep", "1000000000000d", -1, ""}, {"crash_at_once", "3", 3, "3"},
        {"crash_at_once", "3s", -1, ""},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct setting_row *row = setting_row_named(rows[i].name);
        int64_t value = -1;
        assert_int_equal(setting_read(row, rows[i].text, &value), rows[i].value >= 0);
        if (rows[i].value >= 0) {
            assert_int_equal(value, rows[i].value);
            assert_string_equal(setting_text(&a, row, value), rows[i].written);
        }
    }
    arena_done(&a);
}

static Board__Setting wait_of(int64_t value)
{
    Board__Setting s = BOARD__SETTING__INIT;
    s.name = (char *)(uintptr_t)"crash_first_wait";
    s.value = value;
    s.default_value = 30;
    s.least = 1;
    s.most = 3600;
    s.unit = (char *)(uintptr_t)"s";
    s.read_by = (char *)(uintptr_t)"bbs, converger";
    s.text = (char *)(uintptr_t)"the first wait";
    return s;
}

static void what_is_shown(void **state)
{
    struct arena a;
    struct buf out;
    arena_init(&a);
    buf_init(&out);
    Board__Setting unset = wait_of(30), set = wait_of(5), newer = BOARD__SETTING__INIT;
    set.is_set = newer.is_set = true;
    set.set_at = newer.set_at = NOW - 60 * SECOND_NS;
    set.set_by = (char *)(uintptr_t)"olga";
    newer.name = (char *)(uintptr_t)"newer";
    newer.ignored = (char *)(uintptr_t)"this version does not know it";
    settings_table(&a, (Board__Setting *[]){&unset, &set, &newer}, 3, NOW, &out);
    assert_string_equal(
        buf_string(&out),
        "NAME              VALUE  DEFAULT  RANGE     READ BY         SET\n"
        "crash_first_wait  30s    30s      1s to 1h  bbs, converger  -\n"
        "crash_first_wait  5s     30s      1s to 1h  bbs, converger  60s ago by olga\n"
        "newer             -      -        -         -               60s ago by ?; ignored: this "
        "version does not know it\n");
    buf_clear(&out);
    setting_show(&a, &set, NOW, &out);
    assert_string_equal(buf_string(&out), "crash_first_wait: the first wait\n"
                                          "  in force: 5s\n  default:  30s\n  range:    1s to 1h\n"
                                          "  read by:  bbs, converger\n  set:      60s ago by "
                                          "olga\n");
    buf_clear(&out);
    setting_show(&a, &newer, NOW, &out);
    assert_string_equal(buf_string(&out), "newer\n  set:      60s ago by ?; ignored: this version "
                                          "does not know it\n");
    Board__SettingRecord r = BOARD__SETTING_RECORD__INIT;
    r.name = set.name;
    r.value = 300;
    r.set_by = set.set_by;
    assert_string_equal(record_text_setting(&a, &r.base), "5m by olga");
    r.name = newer.name;
    assert_string_equal(record_text_setting(&a, &r.base), "300 by olga");
    buf_done(&out);
    arena_done(&a);
}

static void wrong_names_and_values(void **state)
{
    struct err err;
    int64_t value;
    const Board__Setting *one;
    Board__Setting s = wait_of(30), *list[] = {&s};
    Board__SettingsResponse all = BOARD__SETTINGS_RESPONSE__INIT;
    all.settings = list;
    all.n_settings = 1;
    assert_int_equal(setting_named(&all, "crash_first_wait", NULL, &one, &err), 0);
    assert_ptr_equal(one, &s);
    assert_int_equal(setting_named(&all, "crash_first_wiat", NULL, &one, &err), -ERR_NOT_FOUND);
    assert_string_equal(err.text, "there is no setting \"crash_first_wiat\"; did you mean "
                                  "\"crash_first_wait\"?");
    assert_int_equal(setting_named(&all, "unsett", "unset", &one, &err), -ERR_NOT_FOUND);
    assert_string_equal(err.text, "there is no setting \"unsett\"; did you mean \"bbs settings "
                                  "unset\"?");
    assert_int_equal(setting_named(&all, "zzzzzzzzz", NULL, &one, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "there are crash_at_once, crash_first_wait, "));
    assert_int_equal(setting_value_read(&s, "2h", &value, &err), 0); /* the bbs refuses it */
    assert_int_equal(value, 7200);
    assert_int_equal(setting_value_read(&s, "soon", &value, &err), -ERR_INVALID);
    assert_string_equal(err.text, "crash_first_wait is 1s to 1h, not soon");
}

/* `bbs why` goes by what a bbs of another version tells. */
static void what_is_in_force(void **state)
{
    struct settings s;
    Board__Setting known = wait_of(5), beyond = wait_of(0), newer = BOARD__SETTING__INIT;
    beyond.name = (char *)(uintptr_t)"task_loss";
    newer.name = (char *)(uintptr_t)"newer";
    Board__Setting *list[] = {&known, &beyond, &newer};
    Board__SettingsResponse all = BOARD__SETTINGS_RESPONSE__INIT;
    all.settings = list;
    all.n_settings = 3;
    settings_of(&all, &s);
    assert_true(s.crash.backoff_base_ns == 5 * SECOND_NS);
    s.crash.backoff_base_ns = SETTINGS_DEFAULT.crash.backoff_base_ns;
    assert_memory_equal(&s, &SETTINGS_DEFAULT, sizeof(s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read_and_written),
        cmocka_unit_test(what_is_shown),
        cmocka_unit_test(wrong_names_and_values),
        cmocka_unit_test(what_is_in_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
