/* What bbs restart makes of the records it sees while it waits, and what it says of them. */
#include "bbs/cli/restart.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

static Models__ActualLRP *record(struct fixture *f, int32_t index, const char *state,
                                 const char *guid, int32_t crashes)
{
    Models__ActualLRP *r = arena_message(&f->arena, &models__actual_lrp__descriptor);
    r->actual_lrp_key = arena_message(&f->arena, &models__actual_lrpkey__descriptor);
    r->actual_lrp_key->index = index;
    r->actual_lrp_instance_key = ARENA_NEW(&f->arena, Models__ActualLRPInstanceKey);
    models__actual_lrpinstance_key__init(r->actual_lrp_instance_key);
    r->actual_lrp_instance_key->instance_guid = arena_strdup(&f->arena, guid);
    r->actual_lrp_instance_key->cell_id = arena_strdup(&f->arena, *guid ? "c1" : "");
    r->state = arena_strdup(&f->arena, state);
    r->crash_count = crashes;
    return r;
}

static void only_a_new_one_counts(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *state, *guid;
        int32_t crashes;
        bool stopping;
        enum restart_state expected;
    } rows[] = {
        {"RUNNING", "old", 0, false,
         RESTART_STOPS}, /* a bbs told it, and the mark is not seen yet */
        {"RUNNING", "old", 2, true, RESTART_STOPS},
        {"CLAIMED", "old", 0, true, RESTART_STOPS},
        {"UNCLAIMED", "", 0, true, RESTART_STOPS},
        {"UNCLAIMED", "", 0, false, RESTART_STARTS},
        {"CLAIMED", "new", 0, false, RESTART_STARTS},
        {"RUNNING", "new", 0, false, RESTART_RUNS},
        {"RUNNING", "new", 0, true, RESTART_STOPS}, /* somebody else restarts it, too */
        {"UNCLAIMED", "", 1, false, RESTART_CRASHED},
        {"RUNNING", "new", 1, false, RESTART_CRASHED}, /* it crashed, and was started again */
        {"CRASHED", "", 3, false, RESTART_CRASHED},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Models__ActualLRP *r = record(f, 0, rows[i].state, rows[i].guid, rows[i].crashes);
        r->stopping = rows[i].stopping;
        assert_int_equal(restart_judge(r, "old"), rows[i].expected);
    }
    assert_int_equal(restart_judge(NULL, "old"), RESTART_STARTS);
    assert_int_equal(restart_judge(record(f, 0, "RUNNING", "new", 0), ""), RESTART_RUNS);
}

static void the_record_is_the_ordinary_one(void **state)
{
    struct fixture *f = *state;
    Models__ActualLRP *all[] = {record(f, 0, "RUNNING", "a", 0), record(f, 1, "RUNNING", "b", 0),
                                record(f, 1, "RUNNING", "c", 0)};
    all[1]->presence = MODELS__ACTUAL_LRP__PRESENCE__EVACUATING;
    assert_ptr_equal(restart_record(all, 3, 1), all[2]);
    assert_null(restart_record(all, 2, 1));
    assert_null(restart_record(all, 3, 2));
    assert_string_equal(restart_text(&f->arena, all[2]), "RUNNING on c1");
    /* What it crashed of once says nothing about why it stops now. */
    all[2]->crash_reason = arena_strdup(&f->arena, "LOG: Exited with status 137");
    all[2]->stopping = true;
    assert_string_equal(restart_text(&f->arena, all[2]), "STOPPING on c1");
    Models__ActualLRP *waits = record(f, 1, "UNCLAIMED", "", 0);
    waits->placement_error = arena_strdup(&f->arena, "no\033 room");
    assert_string_equal(restart_text(&f->arena, waits), "UNCLAIMED (no? room)");
    assert_string_equal(restart_text(&f->arena, NULL), "is made again");
}

static void what_was_waited_for_is_reported(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    assert_string_equal(restart_late_text(a, true, 5000, "STOPPING on c1", ""),
                        "does not run again within 5 s; it was STOPPING on c1");
    assert_string_equal(restart_late_text(a, true, 60999, "CLAIMED on c1", "no answer in time"),
                        "does not run again within 60 s; it was CLAIMED on c1; no answer in time");
    assert_string_equal(restart_late_text(a, false, 2000, "", "no answer in time"),
                        "no bbs confirmed its stop within 2 s; no answer in time");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_a_new_one_counts),
        TEST(the_record_is_the_ordinary_one),
        TEST(what_was_waited_for_is_reported),
    };
    return cmocka_run_group_tests_name("bbs restart", tests, NULL, NULL);
}
