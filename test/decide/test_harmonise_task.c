/* The table of tasks, row by row, with the numbers of rep/container/harmonise_task.c and
 * docs/tasks.md: container, record, action. */
#include "rep/container/harmonise_task.h"
#include "test/tool/cmocka.h"

#define WITH(side) TASK_##side
#define RECORD(state) TASK_RECORD_IS_##state
#define DO(action) HARMONY_##action

struct row {
    int number;
    enum harmony_task container;
    enum harmony_task_record record;
    enum harmony_action action;
};

static const struct row rows[] = {
    {1, WITH(NOT_EXECUTING), RECORD(NONE), DO(DELETE)},
    {2, WITH(NOT_EXECUTING), RECORD(PENDING), DO(START)},
    {3, WITH(NOT_EXECUTING), RECORD(RUNNING_ON_A), DO(GO_ON)},
    {4, WITH(NOT_EXECUTING), RECORD(RUNNING_ON_O), DO(DELETE)},
    {5, WITH(NOT_EXECUTING), RECORD(COMPLETED), DO(DELETE)},
    {6, WITH(NOT_EXECUTING), RECORD(RESOLVING), DO(DELETE)},
    {7, WITH(EXECUTING), RECORD(NONE), DO(DELETE)},
    {8, WITH(EXECUTING), RECORD(PENDING), DO(START)},
    {9, WITH(EXECUTING), RECORD(RUNNING_ON_A), DO(GO_ON)},
    {10, WITH(EXECUTING), RECORD(RUNNING_ON_O), DO(DELETE)},
    {11, WITH(EXECUTING), RECORD(COMPLETED), DO(DELETE)},
    {12, WITH(EXECUTING), RECORD(RESOLVING), DO(DELETE)},
    {13, WITH(FINISHED), RECORD(NONE), DO(DELETE)},
    {14, WITH(FINISHED), RECORD(PENDING), DO(DELETE)},
    {15, WITH(REJECTABLE), RECORD(NONE), DO(DELETE)},
    {16, WITH(REJECTABLE), RECORD(PENDING), DO(DELETE)},
    {17, WITH(REJECTABLE), RECORD(RUNNING_ON_A), DO(REJECT)},
    {18, WITH(FINISHED), RECORD(RUNNING_ON_A), DO(COMPLETE)},
    {19, WITH(FINISHED), RECORD(RUNNING_ON_O), DO(DELETE)},
    {20, WITH(FINISHED), RECORD(COMPLETED), DO(DELETE)},
    {21, WITH(FINISHED), RECORD(RESOLVING), DO(DELETE)},
    {22, WITH(REJECTABLE), RECORD(RUNNING_ON_O), DO(DELETE)},
    {23, WITH(REJECTABLE), RECORD(COMPLETED), DO(DELETE)},
    {24, WITH(REJECTABLE), RECORD(RESOLVING), DO(DELETE)},
    {25, WITH(WITHOUT), RECORD(NONE), DO(NOTHING)},
    {26, WITH(WITHOUT), RECORD(PENDING), DO(NOTHING)},
    {27, WITH(WITHOUT), RECORD(RUNNING_ON_A), DO(COMPLETE)},
    {28, WITH(WITHOUT), RECORD(RUNNING_ON_O), DO(NOTHING)},
    {29, WITH(WITHOUT), RECORD(COMPLETED), DO(NOTHING)},
    {30, WITH(WITHOUT), RECORD(RESOLVING), DO(NOTHING)},
    {31, WITH(NOT_EXECUTING), RECORD(UNSEEN), DO(START)},
    {32, WITH(EXECUTING), RECORD(UNSEEN), DO(START)},
    {33, WITH(REJECTABLE), RECORD(UNSEEN), DO(REJECT)},
    {34, WITH(FINISHED), RECORD(UNSEEN), DO(COMPLETE)},
    {35, WITH(WITHOUT), RECORD(UNSEEN), DO(NOTHING)},
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

static void every_row_says_what_it_says(void **state)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct harmony h = harmonise_task(rows[i].container, rows[i].record);
        if (h.row != rows[i].number || h.action != rows[i].action) {
            fail_msg("row %d: got row %d, %s", rows[i].number, h.row,
                     harmony_action_name(h.action));
        }
        assert_true(h.why[0] != '\0');
    }
}

/* Every pair has one row, and its own; a record of a later version is row 100. */
static void every_pair_is_covered(void **state)
{
    int seen[ROW_COUNT + 1] = {0};
    for (int c = 0; c < HARMONY_TASK_COUNT; c++) {
        for (int r = 0; r < HARMONY_TASK_RECORD_COUNT; r++) {
            struct harmony h = harmonise_task((enum harmony_task)c, (enum harmony_task_record)r);
            if (r == TASK_RECORD_IS_FOREIGN) {
                assert_int_equal(h.row, 100);
                assert_int_equal(h.action, HARMONY_NOTHING);
            } else {
                assert_in_range(h.row, 1, ROW_COUNT);
                seen[h.row]++;
            }
        }
    }
    for (int row = 1; row <= ROW_COUNT; row++) {
        assert_int_equal(seen[row], 1);
    }
}

/* What is never executed twice: nothing asks for anything but a start's grant once it executes, and
 * nothing that was executed is rejected. */
static void the_table_executes_once(void **state)
{
    for (int r = 0; r < HARMONY_TASK_RECORD_COUNT; r++) {
        enum harmony_task_record record = (enum harmony_task_record)r;
        assert_int_not_equal(harmonise_task(TASK_EXECUTING, record).action, HARMONY_REJECT);
        assert_int_not_equal(harmonise_task(TASK_FINISHED, record).action, HARMONY_REJECT);
        assert_int_not_equal(harmonise_task(TASK_FINISHED, record).action, HARMONY_START);
        assert_int_not_equal(harmonise_task(TASK_WITHOUT, record).action, HARMONY_START);
    }
}

/* ---- After a refusal ------------------------------------------------------------------------- */

#define TYPE(name) MODELS__ERROR__TYPE__##name

static void refusals(void **state)
{
    static const struct {
        enum harmony_task container;
        enum harmony_task_record record;
        enum harmony_action refused;
        Models__Error__Type type;
        enum harmony_action then;
    } cases[] = {
        {WITH(NOT_EXECUTING), RECORD(NONE), DO(START), TYPE(ResourceNotFound), DO(DELETE)},
        {WITH(NOT_EXECUTING), RECORD(RUNNING_ON_O), DO(START), TYPE(InvalidStateTransition),
         DO(DELETE)},
        {WITH(NOT_EXECUTING), RECORD(COMPLETED), DO(START), TYPE(InvalidStateTransition),
         DO(DELETE)},
        /* Its own attempt was rejected: never again. */
        {WITH(NOT_EXECUTING), RECORD(PENDING), DO(START), TYPE(InvalidStateTransition), DO(DELETE)},
        {WITH(EXECUTING), RECORD(COMPLETED), DO(START), TYPE(InvalidStateTransition), DO(DELETE)},
        {WITH(EXECUTING), RECORD(UNSEEN), DO(START), TYPE(InvalidStateTransition), DO(DELETE)},
        {WITH(FINISHED), RECORD(COMPLETED), DO(COMPLETE), TYPE(InvalidStateTransition), DO(DELETE)},
        {WITH(FINISHED), RECORD(RUNNING_ON_O), DO(COMPLETE), TYPE(RunningOnDifferentCell),
         DO(DELETE)},
        {WITH(FINISHED), RECORD(RUNNING_ON_O), DO(COMPLETE), TYPE(ResourceConflict), DO(DELETE)},
        {WITH(REJECTABLE), RECORD(PENDING), DO(REJECT), TYPE(ResourceConflict), DO(DELETE)},
        {WITH(REJECTABLE), RECORD(NONE), DO(REJECT), TYPE(ResourceNotFound), DO(DELETE)},
        /* These say nothing of the task. */
        {WITH(NOT_EXECUTING), RECORD(PENDING), DO(START), TYPE(UnknownError), DO(NOTHING)},
        {WITH(EXECUTING), RECORD(COMPLETED), DO(START), TYPE(Deadlock), DO(NOTHING)},
        {WITH(FINISHED), RECORD(RUNNING_ON_A), DO(COMPLETE), TYPE(InvalidRequest), DO(NOTHING)},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct harmony h = harmonise_task_refused(cases[i].container, cases[i].record,
                                                  cases[i].refused, cases[i].type);
        if (h.action != cases[i].then) {
            fail_msg("case %zu: row %d, %s", i, h.row, harmony_action_name(h.action));
        }
    }
}

/* What is asked instead of a deletion is what an unseen record would make it ask. */
static void questions(void **state)
{
    assert_int_equal(harmony_task_question(TASK_NOT_EXECUTING), HARMONY_START);
    assert_int_equal(harmony_task_question(TASK_EXECUTING), HARMONY_START);
    assert_int_equal(harmony_task_question(TASK_REJECTABLE), HARMONY_REJECT);
    assert_int_equal(harmony_task_question(TASK_FINISHED), HARMONY_COMPLETE);
}

/* ---- How a record looks ---------------------------------------------------------------------- */

static void records(void **state)
{
    static const struct {
        Models__Task__State state;
        const char *cell_id, *attempt;
        const char *asking; /* attempt; NULL: no container */
        enum harmony_task_record seen;
    } cases[] = {
        {MODELS__TASK__STATE__Pending, "", "", "a-1", RECORD(PENDING)},
        {MODELS__TASK__STATE__Pending, "cell-1", "a-1", "a-1", RECORD(PENDING)},
        {MODELS__TASK__STATE__Running, "cell-1", "a-1", "a-1", RECORD(RUNNING_ON_A)},
        {MODELS__TASK__STATE__Running, "cell-1", "a-2", "a-1", RECORD(RUNNING_ON_O)},
        {MODELS__TASK__STATE__Running, "cell-2", "a-1", "a-1", RECORD(RUNNING_ON_O)},
        {MODELS__TASK__STATE__Running, "cell-1", "", "a-1", RECORD(RUNNING_ON_O)},
        {MODELS__TASK__STATE__Running, "cell-1", "a-2", NULL, RECORD(RUNNING_ON_A)},
        {MODELS__TASK__STATE__Running, "cell-2", "a-2", NULL, RECORD(RUNNING_ON_O)},
        {MODELS__TASK__STATE__Completed, "", "a-1", "a-1", RECORD(COMPLETED)},
        {MODELS__TASK__STATE__Resolving, "", "a-1", "a-1", RECORD(RESOLVING)},
        {MODELS__TASK__STATE__Invalid, "cell-1", "a-1", "a-1", RECORD(FOREIGN)},
        {(Models__Task__State)9, "cell-1", "a-1", "a-1", RECORD(FOREIGN)},
    };
    assert_int_equal(harmony_task_record_of(NULL, "a-1", 0, "cell-1"), RECORD(NONE));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        Models__Task task = MODELS__TASK__INIT;
        task.state = cases[i].state;
        task.cell_id = (char *)cases[i].cell_id;
        task.attempt = (char *)cases[i].attempt;
        assert_int_equal(harmony_task_record_of(&task, cases[i].asking, 0, "cell-1"),
                         cases[i].seen);
    }
}

/* A task of the same guid that was desired again is none of this container's, whatever its state.
 * */
static void records_of_another_incarnation(void **state)
{
    for (int s = MODELS__TASK__STATE__Invalid; s <= MODELS__TASK__STATE__Resolving; s++) {
        Models__Task task = MODELS__TASK__INIT;
        task.state = (Models__Task__State)s;
        task.cell_id = (char *)"cell-1";
        task.attempt = (char *)"a-1";
        task.created_at = 901;
        enum harmony_task_record own = harmony_task_record_of(&task, "a-1", 0, "cell-1");
        assert_int_not_equal(own, RECORD(NONE));
        assert_int_equal(harmony_task_record_of(&task, "a-1", 901, "cell-1"), own);
        assert_int_equal(harmony_task_record_of(&task, "a-1", 900, "cell-1"), RECORD(NONE));
        assert_int_equal(harmony_task_record_of(&task, "a-1", 902, "cell-1"), RECORD(NONE));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_says_what_it_says),
        cmocka_unit_test(every_pair_is_covered),
        cmocka_unit_test(the_table_executes_once),
        cmocka_unit_test(refusals),
        cmocka_unit_test(questions),
        cmocka_unit_test(records),
        cmocka_unit_test(records_of_another_incarnation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
