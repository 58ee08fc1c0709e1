/* Settings: set and unset (common/lifecycle/setting.def), what a request may say, and that
 * decisions land by the settings that then stand (design.md 2, Compares). */
#include "bbs/lrp/move.h"
#include "bbs/setting/setting.h"
#include "common/model/record.h"
#include "test/decide/laid_board.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#include <string.h>

static Board__SettingRecord *record(struct arena *a, const char *name, int64_t value, int64_t at_s)
{
    Board__SettingRecord *r = ARENA_NEW(a, Board__SettingRecord);
    board__setting_record__init(r);
    r->name = arena_strdup(a, name);
    r->value = value;
    r->set_at = at_s * SECOND_NS;
    r->set_by = arena_strdup(a, "before");
    return r;
}

static void decide(const struct op_row *row, const Board__SettingRecord *before,
                   const ProtobufCMessage *request, struct arena *a, struct plan *p)
{
    struct random random;
    const struct setting_snapshot s = {.record = before};
    struct op_input in = row_input(ACTOR_OPERATOR, &random, request);
    in.peer_name = "olga";
    plan_init(p, a);
    row->decide(&s, &in, p);
}

static void rows_of_set(void **state)
{
    static const struct {
        const char *name;
        int64_t before, at_s; /* 0 = it is not set */
        const char *plan;
        int64_t set_at_s;
    } rows[] = {
        {"1 it has this value", 7, 900, "nothing\n", 0},
        {"2 not set", 0, 0, "put setting/crash_first_wait set by operator\n", ROWS_NOW_S},
        {"2 another value", 8, 900, "put setting/crash_first_wait set by operator\n", ROWS_NOW_S},
        {"2 set by a clock ahead", 8, ROWS_NOW_S + 5,
         "put setting/crash_first_wait set by operator\n", ROWS_NOW_S + 5},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a;
        struct plan p;
        struct buf printed;
        arena_init(&a);
        buf_init(&printed);
        Board__SetSettingRequest q = BOARD__SET_SETTING_REQUEST__INIT;
        q.name = arena_strdup(&a, "crash_first_wait");
        q.value = 7;
        decide(&set_setting_row,
               rows[i].before ? record(&a, q.name, rows[i].before, rows[i].at_s) : NULL, &q.base,
               &a, &p);
        print_plan(&p, &printed);
        assert_string_equal(buf_string(&printed), rows[i].plan);
        if (p.verdict == PLAN_COMMIT) {
            const Board__SettingRecord *r = (const Board__SettingRecord *)p.changes->message;
            assert_int_equal(r->value, 7);
            assert_int_equal(r->set_at / SECOND_NS, rows[i].set_at_s);
            assert_string_equal(r->set_by, "olga");
        }
        buf_done(&printed);
        arena_done(&a);
    }
}

static void rows_of_unset(void **state)
{
    for (int set = 0; set <= 1; set++) {
        struct arena a;
        struct plan p;
        struct buf printed;
        arena_init(&a);
        buf_init(&printed);
        Board__UnsetSettingRequest q = BOARD__UNSET_SETTING_REQUEST__INIT;
        q.name = arena_strdup(&a, "newer");
        decide(&unset_setting_row, set ? record(&a, "newer", 1, 900) : NULL, &q.base, &a, &p);
        print_plan(&p, &printed);
        assert_string_equal(buf_string(&printed),
                            set ? "delete setting/newer unset by operator\n" : "nothing\n");
        buf_done(&printed);
        arena_done(&a);
    }
}

static void what_may_be_set(void **state)
{
    static const struct {
        const char *name;
        int64_t value;
        const char *wrong;
    } rows[] = {
        {"crash_first_wait", 1, ""},
        {"crash_first_wait", 3600, ""},
        {"crash_first_wait", 0, "crash_first_wait is 1s to 1h, not 0s"},
        {"crash_first_wait", 3601, "crash_first_wait is 1s to 1h, not 3601s"},
        {"crash_at_once", 11, "crash_at_once is 1 to 10, not 11"},
        {"crash_frist_wait", 5,
         "there is no setting \"crash_frist_wait\"; did you mean \"crash_first_wait\"?"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct validation v = {0};
        Board__SetSettingRequest q = BOARD__SET_SETTING_REQUEST__INIT;
        q.name = (char *)(uintptr_t)rows[i].name;
        q.value = rows[i].value;
        valid_set_setting(&v, &q);
        assert_int_equal(validation_ok(&v), !*rows[i].wrong);
        assert_string_equal(validation_ok(&v) ? "" : validation_text(&v), rows[i].wrong);
        validation_done(&v);
    }
}

/* ---- By which a decision lands --------------------------------------------------------------- */

enum { WAITED_S = 20 }; /* the crashed instance, and this bbs has seen it all */

static struct laid_board *laid(struct arena *a)
{
    const struct moment now = {.mono_ns = 500 * SECOND_NS, .wall_ns = ROWS_NOW_S * SECOND_NS};
    struct laid_board *l = laid_new(now, ROWS_BOARD_GENERATION);
    int64_t since_ns = now.mono_ns - WAITED_S * SECOND_NS;
    const char *crashed = arena_printf(a, "CRASHED since=%d crash=3", ROWS_NOW_S - WAITED_S);
    Board__LeaderLockRecord lock = BOARD__LEADER_LOCK_RECORD__INIT;
    lock.role = (char *)(uintptr_t)"converger";
    laid_put(l, key_lead(a, "converger"), &lock.base, 5, 5, since_ns);
    laid_put(l, key_actual(a, ROWS_PROCESS, 0, 0), &row_actual(a, crashed, 0, 0)->base, 10, 10,
             since_ns);
    laid_put(l, key_desired(a, ROWS_PROCESS), &row_desired(a, "instances=1")->base, 9, 9,
             since_ns);
    return l;
}

static Board__Move *restart(struct arena *a)
{
    Board__Move *m = row_move(a, "restart index=0");
    m->term = ARENA_NEW(a, Board__Term);
    board__term__init(m->term);
    m->term->role = arena_strdup(a, "converger");
    m->term->board_generation = arena_strdup(a, ROWS_BOARD_GENERATION);
    m->term->term = 5;
    return m;
}

static enum plan_verdict restarts_with(const char *name, int64_t value)
{
    struct arena a;
    struct random random;
    struct laid_plan p;
    arena_init(&a);
    struct laid_board *l = laid(&a);
    if (name) {
        laid_put(l, key_setting(&a, name), &record(&a, name, value, 900)->base, 20, 20, 0);
    }
    const Board__Move *m = restart(&a);
    struct op_input in = row_input(ACTOR_CONVERGER, &random, &m->base);
    laid_decide(l, move_row_named(&lrp_moves, "restart")->op, &in, &a, &p);
    enum plan_verdict verdict = p.plan.verdict;
    laid_free(l);
    arena_done(&a);
    return verdict;
}

static void a_restart_goes_by_what_is_in_force(void **state)
{
    assert_int_equal(restarts_with(NULL, 0), PLAN_REFUSE); /* 30 s */
    assert_int_equal(restarts_with("crash_first_wait", WAITED_S), PLAN_COMMIT);
    assert_int_equal(restarts_with("crash_first_wait", WAITED_S + 1), PLAN_REFUSE);
    assert_int_equal(restarts_with("crash_longest_wait", WAITED_S), PLAN_COMMIT);
    assert_int_equal(restarts_with("crash_reset", WAITED_S), PLAN_REFUSE);
    /* What a newer version set is ignored: the default is in force. */
    assert_int_equal(restarts_with("crash_first_wait", 0), PLAN_REFUSE);
    assert_int_equal(restarts_with("crash_wait", 1), PLAN_REFUSE);
}

/* Each change of a setting, and each new one, refuses the transaction of another plan. */
static void a_restart_compares_the_settings(void **state)
{
    struct arena a;
    struct random random, changes;
    struct buf fault;
    arena_init(&a);
    buf_init(&fault);
    random_seed(&changes, (uint64_t[2]){1, 2});
    struct laid_board *l = laid(&a);
    laid_put(l, key_setting(&a, "crash_first_wait"),
             &record(&a, "crash_first_wait", 5, 900)->base, 20, 20, 0);
    const struct laid_stranger strangers[] = {
        {key_setting(&a, "crash_limit"), &record(&a, "crash_limit", 11, 900)->base},
    };
    const Board__Move *m = restart(&a);
    struct op_input in = row_input(ACTOR_CONVERGER, &random, &m->base);
    assert_int_equal(laid_hold(l, move_row_named(&lrp_moves, "restart")->op, &in, strangers, 1,
                               &changes, 20, NULL, &fault),
                     PLAN_COMMIT);
    assert_string_equal(buf_string(&fault), "");
    laid_free(l);
    buf_done(&fault);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_set),
        cmocka_unit_test(rows_of_unset),
        cmocka_unit_test(what_may_be_set),
        cmocka_unit_test(a_restart_goes_by_what_is_in_force),
        cmocka_unit_test(a_restart_compares_the_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
