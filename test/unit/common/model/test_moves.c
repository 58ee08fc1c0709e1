/* Moves as they travel: what is made is read again, and what is not as keys.h makes it is refused.
 */
#include "common/model/moves.h"
#include "test/tool/cmocka.h"

static void a_place_is_read_as_it_was_made(void **state)
{
    static const char *const guids[] = {"web", "a/b", "100%", "", "caf\xc3\xa9"};
    SCOPED_ARENA(a);
    struct move_place place;
    for (size_t i = 0; i < sizeof(guids) / sizeof(guids[0]); i++) {
        for (int presence = 0; presence < 3; presence++) {
            Board__Move *m = move_new_instance(&a, "stop", guids[i], 7, presence, "d");
            assert_string_equal(move_key(&a, m), key_actual(&a, guids[i], 7, presence));
            assert_true(move_well_formed(&a, m) && move_place(&a, m, &place));
            assert_string_equal(place.key.process_guid, guids[i]);
            assert_string_equal(place.key.domain, "d");
            assert_int_equal(place.key.index, 7);
            assert_int_equal(place.presence, presence);
        }
        Board__Move *task = move_new_task(&a, "ask", guids[i]);
        assert_true(move_well_formed(&a, task));
        assert_string_equal(move_name(&a, task), guids[i]);
    }
    /* Whoever reads it says that no index is negative. */
    assert_true(move_place(&a, move_new_instance(&a, "stop", "web", -1, 0, ""), &place));
    assert_int_equal(place.key.index, -1);
    assert_true(move_place(&a, move_new_instance(&a, "stop", "web", INT32_MAX, 0, ""), &place));
    assert_int_equal(place.key.index, INT32_MAX);
}

static void a_subject_is_a_key_as_we_make_them(void **state)
{
    static const struct {
        const char *kind, *key;
        bool good;
    } rows[] = {
        {"actual", "web/0000000001/0", true},
        {"actual", "web/1/0", false},
        {"actual", "web/0000000001", false},
        {"actual", "web/0000000001/", false},
        {"actual", "web/0000000001/00", false},
        {"actual", "web/0000000001/x", false},
        {"actual", "web/0000000001/0/x", false},
        {"actual", "web/9999999999/0", false},
        {"actual", "a b/0000000001/0", false},
        {"actual", "web%2/0000000001/0", false},
        {"actual", "%77eb/0000000001/0", false},
        {"actual", "we%00b/0000000001/0", false},
        {"actual", "", false},
        {"task", "t", true},
        {"task", "t/u", false},
        {"task", "t%2Fu", true},
        {"task", "t%2fu", false},
        {"cell", "cell-1", true},
        {"cell", "cell-1/x", false},
        {"brake", "cells", true},
        {"brake", "other", false},
        {"domain", "d", true},
        {"lock", "l", true},
        {"desired", "web", false}, /* moved by requests of its own */
        {"lead", "converger", false},
        {"nothing", "x", false},
        {"", "", false},
        {"task/t", "", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        Board__Move m = BOARD__MOVE__INIT;
        Board__Subject subject = BOARD__SUBJECT__INIT;
        m.subject = &subject;
        subject.kind = arena_strdup(&a, rows[i].kind);
        subject.key = arena_strdup(&a, rows[i].key);
        if (move_well_formed(&a, &m) != rows[i].good) {
            fail_msg("%s/%s", rows[i].kind, rows[i].key);
        }
    }
    SCOPED_ARENA(a);
    Board__Move none = BOARD__MOVE__INIT;
    assert_false(move_well_formed(&a, &none));
    assert_string_equal(move_key(&a, &none), "");
    assert_string_equal(move_name(&a, &none), "");
}

/* A body of another kind would be read as an empty one. */
static void a_body_is_of_the_subjects_kind(void **state)
{
    SCOPED_ARENA(a);
    const char *const keys[] = {key_actual(&a, "web", 0, 0), key_task(&a, "t"), key_cell(&a, "c"),
                                key_brake(&a), key_domain(&a, "d"), key_lock(&a, "l")};
    const int bodies[] = {BOARD__MOVE__BODY_INSTANCE, BOARD__MOVE__BODY_TASK,
                          BOARD__MOVE__BODY_CELL, BOARD__MOVE__BODY_LIMITER};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        Board__Move *m = move_new(&a, "expire", keys[i]);
        assert_true(move_well_formed(&a, m));
        for (size_t k = 0; k < sizeof(bodies) / sizeof(bodies[0]); k++) {
            Board__InstanceMove body = BOARD__INSTANCE_MOVE__INIT;
            m->body_case = (Board__Move__BodyCase)bodies[k];
            m->instance = &body; /* whatever it is, it is not looked into */
            assert_int_equal(move_well_formed(&a, m), i == k);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_read_as_it_was_made),
        cmocka_unit_test(a_subject_is_a_key_as_we_make_them),
        cmocka_unit_test(a_body_is_of_the_subjects_kind),
    };
    return cmocka_run_group_tests_name("moves as they travel", tests, NULL, NULL);
}
