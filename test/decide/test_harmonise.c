/* The harmonising table, row by row, with the numbers of rep/container/harmonise.c: container,
 * record, action. */
#include "rep/container/harmonise.h"
#include "test/tool/cmocka.h"

#include "test/tool/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    int number;
    enum harmony_container container;
    enum harmony_record record;
    enum harmony_action action;
};

static const struct row rows[] = {
    {1, WITH_RESERVED, RECORD_IS_UNSEEN, HARMONY_NOTHING},
    {1, WITH_RESERVED, RECORD_IS_RUNNING_ON_O, HARMONY_NOTHING},
    {2, WITH_STARTING, RECORD_IS_NONE, HARMONY_DELETE},
    {3, WITH_STARTING, RECORD_IS_UNCLAIMED, HARMONY_CLAIM},
    {4, WITH_STARTING, RECORD_IS_CLAIMED_BY_A, HARMONY_GO_ON},
    {5, WITH_STARTING, RECORD_IS_CLAIMED_BY_O, HARMONY_DELETE},
    {6, WITH_STARTING, RECORD_IS_RUNNING_ON_A, HARMONY_GO_ON},
    {7, WITH_STARTING, RECORD_IS_RUNNING_ON_O, HARMONY_DELETE},
    {8, WITH_STARTING, RECORD_IS_CRASHED, HARMONY_DELETE},
    {9, WITH_RUNNING, RECORD_IS_NONE, HARMONY_START},
    {10, WITH_RUNNING, RECORD_IS_UNCLAIMED, HARMONY_START},
    {11, WITH_RUNNING, RECORD_IS_CLAIMED_BY_A, HARMONY_START},
    {12, WITH_RUNNING, RECORD_IS_CLAIMED_BY_O, HARMONY_START},
    {13, WITH_RUNNING, RECORD_IS_RUNNING_ON_A, HARMONY_KEEP},
    {14, WITH_RUNNING, RECORD_IS_RUNNING_ON_O, HARMONY_DELETE},
    {15, WITH_RUNNING, RECORD_IS_CRASHED, HARMONY_START},
    {16, WITH_CRASHED, RECORD_IS_NONE, HARMONY_CRASH},
    {17, WITH_CRASHED, RECORD_IS_UNCLAIMED, HARMONY_DELETE},
    {18, WITH_CRASHED, RECORD_IS_CLAIMED_BY_A, HARMONY_CRASH},
    {19, WITH_CRASHED, RECORD_IS_CLAIMED_BY_O, HARMONY_DELETE},
    {20, WITH_CRASHED, RECORD_IS_RUNNING_ON_A, HARMONY_CRASH},
    {21, WITH_CRASHED, RECORD_IS_RUNNING_ON_O, HARMONY_DELETE},
    {22, WITH_CRASHED, RECORD_IS_CRASHED, HARMONY_DELETE},
    {23, WITH_SHUTDOWN, RECORD_IS_NONE, HARMONY_DELETE},
    {24, WITH_SHUTDOWN, RECORD_IS_UNCLAIMED, HARMONY_DELETE},
    {25, WITH_SHUTDOWN, RECORD_IS_CLAIMED_BY_A, HARMONY_REMOVE},
    {26, WITH_SHUTDOWN, RECORD_IS_CLAIMED_BY_O, HARMONY_DELETE},
    {27, WITH_SHUTDOWN, RECORD_IS_RUNNING_ON_A, HARMONY_REMOVE},
    {28, WITH_SHUTDOWN, RECORD_IS_RUNNING_ON_O, HARMONY_DELETE},
    {29, WITH_SHUTDOWN, RECORD_IS_CRASHED, HARMONY_DELETE},
    {30, WITHOUT, RECORD_IS_CLAIMED_BY_A, HARMONY_UNCLAIM},
    {31, WITHOUT, RECORD_IS_RUNNING_ON_A, HARMONY_UNCLAIM},
    {32, WITHOUT, RECORD_IS_STOPPING_BY_A, HARMONY_REMOVE},
    {33, WITH_STARTING, RECORD_IS_STOPPING_BY_A, HARMONY_STOP},
    {34, WITH_RUNNING, RECORD_IS_STOPPING_BY_A, HARMONY_STOP},
    {35, WITH_CRASHED, RECORD_IS_STOPPING_BY_A, HARMONY_REMOVE},
    {36, WITH_SHUTDOWN, RECORD_IS_STOPPING_BY_A, HARMONY_REMOVE},
    {37, WITH_STARTING, RECORD_IS_SUSPECT_BY_A, HARMONY_GO_ON},
    {38, WITH_RUNNING, RECORD_IS_SUSPECT_BY_A, HARMONY_NOTHING},
    {39, WITH_CRASHED, RECORD_IS_SUSPECT_BY_A, HARMONY_REMOVE},
    {40, WITH_SHUTDOWN, RECORD_IS_SUSPECT_BY_A, HARMONY_REMOVE},
    {41, WITHOUT, RECORD_IS_SUSPECT_BY_A, HARMONY_REMOVE},
    {42, WITH_STARTING, RECORD_IS_EVACUATING_BY_A, HARMONY_GO_ON},
    {43, WITH_RUNNING, RECORD_IS_EVACUATING_BY_A, HARMONY_START},
    {44, WITH_CRASHED, RECORD_IS_EVACUATING_BY_A, HARMONY_REMOVE},
    {45, WITH_SHUTDOWN, RECORD_IS_EVACUATING_BY_A, HARMONY_REMOVE},
    {46, WITHOUT, RECORD_IS_EVACUATING_BY_A, HARMONY_REMOVE_EVACUATING},
    {47, WITH_STARTING, RECORD_IS_UNSEEN, HARMONY_CLAIM},
    {48, WITH_RUNNING, RECORD_IS_UNSEEN, HARMONY_START},
    {49, WITH_CRASHED, RECORD_IS_UNSEEN, HARMONY_CRASH},
    {50, WITH_SHUTDOWN, RECORD_IS_UNSEEN, HARMONY_REMOVE},
    {100, WITH_RUNNING, RECORD_IS_FOREIGN, HARMONY_NOTHING},
    {100, WITHOUT, RECORD_IS_FOREIGN, HARMONY_NOTHING},
    {101, WITHOUT, RECORD_IS_RUNNING_ON_O, HARMONY_NOTHING},
    {101, WITHOUT, RECORD_IS_NONE, HARMONY_NOTHING},
};

/* While the cell is being emptied. */
static const struct row evacuating_rows[] = {
    {51, WITH_STARTING, RECORD_IS_UNSEEN, HARMONY_EVACUATE_CLAIMED},
    {52, WITH_STARTING, RECORD_IS_UNCLAIMED, HARMONY_DELETE},
    {53, WITH_STARTING, RECORD_IS_CLAIMED_BY_A, HARMONY_EVACUATE_CLAIMED},
    {54, WITH_STARTING, RECORD_IS_RUNNING_ON_A, HARMONY_EVACUATE_CLAIMED},
    {55, WITH_STARTING, RECORD_IS_SUSPECT_BY_A, HARMONY_EVACUATE_CLAIMED},
    {56, WITH_STARTING, RECORD_IS_EVACUATING_BY_A, HARMONY_EVACUATE_CLAIMED},
    {57, WITH_RUNNING, RECORD_IS_UNSEEN, HARMONY_EVACUATE_RUNNING},
    {58, WITH_RUNNING, RECORD_IS_NONE, HARMONY_EVACUATE_RUNNING},
    {59, WITH_RUNNING, RECORD_IS_UNCLAIMED, HARMONY_EVACUATE_RUNNING},
    {60, WITH_RUNNING, RECORD_IS_CLAIMED_BY_O, HARMONY_EVACUATE_RUNNING},
    {61, WITH_RUNNING, RECORD_IS_RUNNING_ON_A, HARMONY_EVACUATE_RUNNING},
    {62, WITH_RUNNING, RECORD_IS_CRASHED, HARMONY_DELETE},
    {63, WITH_RUNNING, RECORD_IS_SUSPECT_BY_A, HARMONY_EVACUATE_RUNNING},
    {64, WITH_RUNNING, RECORD_IS_EVACUATING_BY_A, HARMONY_EVACUATE_RUNNING},
    {65, WITH_CRASHED, RECORD_IS_UNSEEN, HARMONY_EVACUATE_CRASHED},
    {66, WITH_CRASHED, RECORD_IS_CLAIMED_BY_A, HARMONY_EVACUATE_CRASHED},
    {67, WITH_CRASHED, RECORD_IS_RUNNING_ON_A, HARMONY_EVACUATE_CRASHED},
    {68, WITH_CRASHED, RECORD_IS_STOPPING_BY_A, HARMONY_EVACUATE_STOPPED},
    {69, WITH_CRASHED, RECORD_IS_SUSPECT_BY_A, HARMONY_EVACUATE_CRASHED},
    {70, WITH_CRASHED, RECORD_IS_EVACUATING_BY_A, HARMONY_EVACUATE_CRASHED},
    {71, WITH_SHUTDOWN, RECORD_IS_UNSEEN, HARMONY_EVACUATE_STOPPED},
    {72, WITH_SHUTDOWN, RECORD_IS_CLAIMED_BY_A, HARMONY_EVACUATE_STOPPED},
    {73, WITH_SHUTDOWN, RECORD_IS_RUNNING_ON_A, HARMONY_EVACUATE_STOPPED},
    {74, WITH_SHUTDOWN, RECORD_IS_STOPPING_BY_A, HARMONY_EVACUATE_STOPPED},
    {75, WITH_SHUTDOWN, RECORD_IS_SUSPECT_BY_A, HARMONY_EVACUATE_STOPPED},
    {76, WITH_SHUTDOWN, RECORD_IS_EVACUATING_BY_A, HARMONY_EVACUATE_STOPPED},
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]), ROWS_OF_THE_PAGE = 50 };

static void every_row_says_what_it_says(void **state)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct harmony h = harmonise(rows[i].container, rows[i].record);
        if (h.row != rows[i].number || h.action != rows[i].action) {
            fail_msg("row %d: got row %d, %s", rows[i].number, h.row,
                     harmony_action_name(h.action));
        }
        assert_true(h.why[0] != '\0');
    }
}

/* Every pair has an answer; no numbered row is missing above; rows 1, 100 and 101 are the rest. */
static void every_pair_is_covered(void **state)
{
    int seen[ROWS_OF_THE_PAGE + 1] = {0};
    for (int c = 0; c < HARMONY_CONTAINER_COUNT; c++) {
        for (int r = 0; r < HARMONY_RECORD_COUNT; r++) {
            int row = harmonise((enum harmony_container)c, (enum harmony_record)r).row;
            if (row <= ROWS_OF_THE_PAGE) {
                seen[row]++;
            } else if (row == 100) {
                assert_int_equal(r, RECORD_IS_FOREIGN);
            } else {
                assert_int_equal(row, 101);
                assert_int_equal(c, WITHOUT);
            }
        }
    }
    assert_int_equal(seen[1], HARMONY_RECORD_COUNT);
    for (int row = 2; row <= ROWS_OF_THE_PAGE; row++) {
        assert_int_equal(seen[row], 1);
    }
}

static const struct row *evacuating_row(enum harmony_container c, enum harmony_record r)
{
    for (size_t i = 0; i < sizeof(evacuating_rows) / sizeof(evacuating_rows[0]); i++) {
        if (evacuating_rows[i].container == c && evacuating_rows[i].record == r) {
            return &evacuating_rows[i];
        }
    }
    return NULL;
}

/* Every pair: as the rows above, or as without an evacuation. What those leave alone is none of the
 * cell's, is being stopped, or was written by a later version; so nothing that runs here is left.
 */
static void every_pair_is_covered_while_evacuating(void **state)
{
    for (int c = 0; c < HARMONY_CONTAINER_COUNT; c++) {
        for (int r = 0; r < HARMONY_RECORD_COUNT; r++) {
            enum harmony_container container = (enum harmony_container)c;
            enum harmony_record record = (enum harmony_record)r;
            const struct row *row = evacuating_row(container, record);
            struct harmony h = harmonise_evacuating(container, record);
            struct harmony otherwise = harmonise(container, record);
            assert_int_equal(h.row, row ? row->number : otherwise.row);
            assert_int_equal(h.action, row ? row->action : otherwise.action);
            assert_true(h.why[0] != '\0');
            if (harmony_is_rest(h.action)) {
                assert_true(c == WITH_RESERVED || c == WITHOUT || r == RECORD_IS_FOREIGN);
            }
            assert_true(h.action != HARMONY_CLAIM);
            assert_true(h.action != HARMONY_START || h.row == 11);
        }
    }
}

/* ---- The page ------------------------------------------------------------------------------- */

static const char *const container_words[] = {
    [WITH_STARTING] = "starting",   [WITH_RUNNING] = "running", [WITH_CRASHED] = "crashed",
    [WITH_SHUTDOWN] = "shut down",  [WITHOUT] = "none",
};

static const char *const record_words[] = {
    [RECORD_IS_UNSEEN] = "not seen",
    [RECORD_IS_NONE] = "none",
    [RECORD_IS_UNCLAIMED] = "UNCLAIMED",
    [RECORD_IS_CLAIMED_BY_A] = "CLAIMED by A",
    [RECORD_IS_CLAIMED_BY_O] = "CLAIMED by O",
    [RECORD_IS_RUNNING_ON_A] = "RUNNING on A",
    [RECORD_IS_RUNNING_ON_O] = "RUNNING on O",
    [RECORD_IS_CRASHED] = "CRASHED",
    [RECORD_IS_STOPPING_BY_A] = "A, marked `stopping`",
    [RECORD_IS_SUSPECT_BY_A] = "SUSPECT by A",
    [RECORD_IS_EVACUATING_BY_A] = "EVACUATING by A",
};

/* Those after which what there is of a container goes. */
static const bool deletes[HARMONY_ACTION_COUNT] = {
    [HARMONY_CRASH] = true,
    [HARMONY_REMOVE] = true,
    [HARMONY_EVACUATE_CLAIMED] = true,
    [HARMONY_EVACUATE_CRASHED] = true,
    [HARMONY_EVACUATE_STOPPED] = true,
};

static const char *action_words(const struct row *row)
{
    switch (row->action) {
    case HARMONY_GO_ON:
        return "go on";
    case HARMONY_STOP:
        return "stop container";
    case HARMONY_DELETE:
        return "delete container";
    default:
        return harmony_action_name(row->action);
    }
}

static void page_has(const char *page, const struct row *row, struct harmony h)
{
    char line[256];
    bool container_goes = row->container != WITHOUT && deletes[row->action];
    snprintf(line, sizeof(line), "\n| %d | %s | %s | %s%s | %s |\n", row->number,
             container_words[row->container], record_words[row->record], action_words(row),
             container_goes ? ", delete container" : "", h.why);
    if (!strstr(page, line)) {
        fail_msg("docs/instances.md has not:%s", line);
    }
}

/* docs/instances.md has each row, and no other. */
static void the_page_has_the_table(void **state)
{
    char *page = page_read("docs/instances.md");
    assert_non_null(page);
    size_t wanted = 0, found = 0;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].container != WITH_RESERVED && rows[i].number <= ROWS_OF_THE_PAGE) {
            page_has(page, &rows[i], harmonise(rows[i].container, rows[i].record));
            wanted++;
        }
    }
    for (size_t i = 0; i < sizeof(evacuating_rows) / sizeof(evacuating_rows[0]); i++) {
        const struct row *row = &evacuating_rows[i];
        page_has(page, row, harmonise_evacuating(row->container, row->record));
        wanted++;
    }
    for (const char *at = page; (at = strstr(at, "\n| ")); at += 3) {
        found += at[3] >= '0' && at[3] <= '9';
    }
    assert_int_equal(found, wanted);
    free(page);
}

/* ---- After a refusal ------------------------------------------------------------------------ */

#define TYPE(name) MODELS__ERROR__TYPE__##name

static const struct {
    int row;
    enum harmony_container container;
    enum harmony_record record;
    enum harmony_action refused;
    Models__Error__Type type;
    enum harmony_action action;
} refusals[] = {
    /* A claim lost to somebody else: the table decides, for a reservation as for what starts. */
    {5, WITH_RESERVED, RECORD_IS_CLAIMED_BY_O, HARMONY_CLAIM, TYPE(ActualLRPCannotBeClaimed),
     HARMONY_DELETE},
    {7, WITH_STARTING, RECORD_IS_RUNNING_ON_O, HARMONY_CLAIM, TYPE(ActualLRPCannotBeClaimed),
     HARMONY_DELETE},
    {2, WITH_RESERVED, RECORD_IS_NONE, HARMONY_CLAIM, TYPE(ResourceNotFound), HARMONY_DELETE},
    {4, WITH_RESERVED, RECORD_IS_CLAIMED_BY_A, HARMONY_CLAIM, TYPE(ActualLRPCannotBeClaimed),
     HARMONY_GO_ON},
    /* UNCLAIMED and yet refused: another definition is desired by now. */
    {111, WITH_RESERVED, RECORD_IS_UNCLAIMED, HARMONY_CLAIM, TYPE(ActualLRPCannotBeClaimed),
     HARMONY_DELETE},
    {14, WITH_RUNNING, RECORD_IS_RUNNING_ON_O, HARMONY_START, TYPE(ActualLRPCannotBeStarted),
     HARMONY_DELETE},
    {111, WITH_RUNNING, RECORD_IS_NONE, HARMONY_START, TYPE(ActualLRPCannotBeStarted),
     HARMONY_DELETE},
    /* Nothing is stopped for being absent. */
    {110, WITH_RUNNING, RECORD_IS_NONE, HARMONY_START, TYPE(ResourceNotFound), HARMONY_NOTHING},
    {111, WITH_CRASHED, RECORD_IS_NONE, HARMONY_CRASH, TYPE(ResourceNotFound), HARMONY_DELETE},
    {17, WITH_CRASHED, RECORD_IS_UNCLAIMED, HARMONY_CRASH, TYPE(ActualLRPCannotBeCrashed),
     HARMONY_DELETE},
    {23, WITH_SHUTDOWN, RECORD_IS_NONE, HARMONY_REMOVE, TYPE(ResourceNotFound), HARMONY_DELETE},
    {111, WITH_SHUTDOWN, RECORD_IS_RUNNING_ON_A, HARMONY_REMOVE, TYPE(ActualLRPCannotBeRemoved),
     HARMONY_DELETE},
    /* What says nothing about the instance destroys nothing. */
    {110, WITH_RUNNING, RECORD_IS_RUNNING_ON_O, HARMONY_START, TYPE(ResourceConflict),
     HARMONY_NOTHING},
    {110, WITH_STARTING, RECORD_IS_NONE, HARMONY_CLAIM, TYPE(UnknownError), HARMONY_NOTHING},
    {110, WITH_CRASHED, RECORD_IS_NONE, HARMONY_CRASH, TYPE(InvalidRequest), HARMONY_NOTHING},
};

static void a_refusal_is_judged_by_the_same_table(void **state)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct harmony h = harmonise_refused(refusals[i].container, refusals[i].record,
                                             refusals[i].refused, refusals[i].type);
        if (h.row != refusals[i].row || h.action != refusals[i].action) {
            fail_msg("refusal %zu: got row %d, %s", i, h.row, harmony_action_name(h.action));
        }
    }
}

/* ---- How a record looks --------------------------------------------------------------------- */

static enum harmony_record look(const char *record_state, const char *guid, const char *cell,
                                Models__ActualLRP__Presence presence, bool stopping)
{
    Models__ActualLRPInstanceKey key = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    key.instance_guid = (char *)guid;
    key.cell_id = (char *)cell;
    Models__ActualLRP record = MODELS__ACTUAL_LRP__INIT;
    record.actual_lrp_instance_key = guid ? &key : NULL;
    record.state = (char *)record_state;
    record.presence = presence;
    record.stopping = stopping;
    return harmony_record_of(&record, "mine", "cell-1");
}

#define ORDINARY MODELS__ACTUAL_LRP__PRESENCE__ORDINARY
#define SUSPECT MODELS__ACTUAL_LRP__PRESENCE__SUSPECT
#define EVACUATING MODELS__ACTUAL_LRP__PRESENCE__EVACUATING

static void a_means_cell_and_guid(void **state)
{
    assert_int_equal(harmony_record_of(NULL, "mine", "cell-1"), RECORD_IS_NONE);
    assert_int_equal(look("UNCLAIMED", NULL, NULL, ORDINARY, false), RECORD_IS_UNCLAIMED);
    assert_int_equal(look("CRASHED", NULL, NULL, ORDINARY, false), RECORD_IS_CRASHED);
    assert_int_equal(look("CLAIMED", "mine", "cell-1", ORDINARY, false), RECORD_IS_CLAIMED_BY_A);
    assert_int_equal(look("CLAIMED", "other", "cell-1", ORDINARY, false), RECORD_IS_CLAIMED_BY_O);
    assert_int_equal(look("CLAIMED", "mine", "cell-2", ORDINARY, false), RECORD_IS_CLAIMED_BY_O);
    assert_int_equal(look("RUNNING", "mine", "cell-1", ORDINARY, false), RECORD_IS_RUNNING_ON_A);
    assert_int_equal(look("RUNNING", "other", "cell-1", ORDINARY, true), RECORD_IS_RUNNING_ON_O);
    assert_int_equal(look("RUNNING", "mine", "cell-1", ORDINARY, true), RECORD_IS_STOPPING_BY_A);
    assert_int_equal(look("RUNNING", "mine", "cell-1", SUSPECT, false), RECORD_IS_SUSPECT_BY_A);
    assert_int_equal(look("RUNNING", "mine", "cell-1", EVACUATING, false),
                     RECORD_IS_EVACUATING_BY_A);
    assert_int_equal(look("RUNNING", "mine", "cell-1", EVACUATING, true), RECORD_IS_STOPPING_BY_A);
    assert_int_equal(look("DREAMING", "mine", "cell-1", ORDINARY, false), RECORD_IS_FOREIGN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_says_what_it_says),
        cmocka_unit_test(every_pair_is_covered),
        cmocka_unit_test(every_pair_is_covered_while_evacuating),
        cmocka_unit_test(the_page_has_the_table),
        cmocka_unit_test(a_refusal_is_judged_by_the_same_table),
        cmocka_unit_test(a_means_cell_and_guid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
