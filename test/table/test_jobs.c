/* Each kind of job has its row, and no other number has one (bbs/jobs.def). */
#include "bbs/inside.h"
#include "test/tool/cmocka.h"

static const struct op_row *row_of(int kind)
{
    Board__JobRecord job = BOARD__JOB_RECORD__INIT;
    job.kind = (Board__JobRecord__Kind)kind;
    return bbs_job_row(NULL, &job);
}

static void each_kind_has_a_row(void **state)
{
    const ProtobufCEnumDescriptor *kinds = &board__job_record__kind__descriptor;
    int last = 0;
    for (unsigned i = 0; i < kinds->n_values; i++) {
        int kind = kinds->values[i].value;
        bool none = kind == BOARD__JOB_RECORD__KIND__NONE;
        assert_int_equal(row_of(kind) != NULL, !none);
        assert_true(none || (row_of(kind)->target && row_of(kind)->decide));
        last = kind > last ? kind : last;
    }
    assert_null(row_of(last + 1));
    assert_null(row_of(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_kind_has_a_row)};
    return cmocka_run_group_tests_name("kinds of jobs", tests, NULL, NULL);
}
