/* Teardowns: what clients ask, and each move of the converger, rule by rule (bbs/system/
 * teardown.c). */
#include "bbs/system/system.h"
#include "test/decide/laid_system.h"
#include "test/tool/cmocka.h"

#define OPEN "system state=stable version=1.0\n"
#define ROWS(rows) (rows), sizeof(rows) / sizeof((rows)[0])

static void it_is_asked_for(void **state)
{
    static const struct system_op_row rows[] = {
        {"1 no such system", "", "system=shop id=T1",
         "ResourceNotFound: there is no system shop: bbs systems lists those that are"},
        {"1 deleting", "system state=deleting\n", "system=shop id=T1",
         "ResourceConflict: system shop is being deleted"},
        {"2 asked for before", OPEN "teardown T1 state=failed\n", "system=shop id=T1", "nothing"},
        {"4", OPEN, "system=shop id=T1",
         "teardown teardown/u/T1 id=T1 uid=u system=shop state=pending message=waits for a "
         "converger to take it up created_at=1000s"},
    };
    try_system_ops(&teardown_row, &board__teardown_request__descriptor, ROWS(rows));
}

#define PENDING "teardown T1 state=pending\n"

static void it_begins(void **state)
{
    static const struct system_move_row rows[] = {
        {"nothing is held", OPEN "head generation=3 /=T7 /a=T8\nhold\n" PENDING,
         "begin teardown/u/T1",
         "begin head/u roots= generation=4\n"
         "begin hold/u holds=T1:/\n"
         "observe system/shop state=updating since=1000s\n"
         "begin teardown/u/T1 state=in progress message=waits for its services to go "
         "started_at=1000s generation=4"},
        {"a deploy holds a part", OPEN "head\nhold D1=/a\n" PENDING, "begin teardown/u/T1",
         "ResourceConflict: teardown T1: deploy D1 of /a is in progress"},
        {"another teardown", OPEN "head\nhold T0=/\n" PENDING, "begin teardown/u/T1",
         "ResourceConflict: teardown T1: teardown T0 is in progress"},
        {"begun already", OPEN "head\nhold T1=/\nteardown T1 state=in_progress\n",
         "begin teardown/u/T1", "nothing"},
        {"deleting", "system state=deleting\nhead\nhold\n" PENDING, "begin teardown/u/T1",
         "ResourceConflict: teardown T1: system shop is being deleted"},
        {"over", OPEN "head\nhold\nteardown T1 state=succeeded\n", "begin teardown/u/T1",
         "ResourceConflict: teardown T1: it is succeeded"},
    };
    try_system_moves(&teardown_moves, ROWS(rows));
}

#define FAILED(why)                                                                                \
    "refuse teardown/u/T1 state=failed message=" why " started_at=1000s completed_at=1000s"
#define HELD(why) FAILED(why) " conflict=1" /* others hold it */

static void it_is_refused(void **state)
{
    static const struct system_move_row rows[] = {
        {"1 nothing is held", OPEN "head\nhold\n" PENDING, "refuse teardown/u/T1",
         "ResourceConflict: teardown T1 can begin"},
        {"2 deploys", OPEN "head\nhold D1=/a D2=/b\n" PENDING, "refuse teardown/u/T1",
         HELD("deploys D1 of /a and D2 of /b are in progress")},
        {"2 a teardown", OPEN "head\nhold T0=/\n" PENDING, "refuse teardown/u/T1",
         HELD("teardown T0 is in progress")},
        {"2 deleting", "system state=deleting\nhead\nhold\n" PENDING, "refuse teardown/u/T1",
         FAILED("system shop is being deleted")},
        {"refused already", OPEN "head\nhold\nteardown T1 state=failed\n", "refuse teardown/u/T1",
         "nothing"},
        {"begun", OPEN "head\nhold T1=/\nteardown T1 state=in_progress\n", "refuse teardown/u/T1",
         "ResourceConflict: teardown T1: it is in progress"},
    };
    try_system_moves(&teardown_moves, ROWS(rows));
}

#define GOING "head\nhold T1=/\nteardown T1 state=in_progress started_at=7\n"

static void it_ends(void **state)
{
    static const struct system_move_row rows[] = {
        {"no service is left", OPEN GOING, "succeed teardown/u/T1",
         "succeed hold/u holds=\n"
         "succeed teardown/u/T1 state=succeeded completed_at=1000s\n"
         "observe system/shop version="},
        {"no version stood", "system state=updating\n" GOING, "succeed teardown/u/T1",
         "succeed hold/u holds=\n"
         "succeed teardown/u/T1 state=succeeded completed_at=1000s"},
        {"one is left", OPEN GOING "service /a state=deleting\n", "succeed teardown/u/T1",
         "ResourceConflict: teardown T1: a service is there yet"},
        {"not held", OPEN "head\nhold\nteardown T1 state=in_progress\n", "succeed teardown/u/T1",
         "ResourceConflict: teardown T1: it holds nothing"},
        {"so already", OPEN "head\nhold\nteardown T1 state=succeeded\n", "succeed teardown/u/T1",
         "nothing"},
        {"it failed", OPEN "head\nhold\nteardown T1 state=failed\n", "succeed teardown/u/T1",
         "ResourceConflict: teardown T1: it is failed"},
        {"the system goes", "system state=deleting\n" GOING, "fail teardown/u/T1",
         "fail hold/u holds=\n"
         "fail teardown/u/T1 state=failed message=its system is being deleted completed_at=1000s"},
        {"the system stands", OPEN GOING, "fail teardown/u/T1",
         "ResourceConflict: teardown T1: its system stands"},
        {"the first last state stays", OPEN "head\nhold\nteardown T1 state=succeeded\n",
         "fail teardown/u/T1", "ResourceConflict: teardown T1: it is succeeded"},
        {"forgotten with its system", "system state=deleting\nteardown T1 state=failed\n",
         "forget teardown/u/T1", "forget -teardown/u/T1"},
        {"one of the last", OPEN "teardown T1 state=failed completed_at=7\n",
         "forget teardown/u/T1",
         "ResourceConflict: teardown T1: it is one of the last that are over"},
        {"not over", "system state=deleting\n" PENDING, "forget teardown/u/T1",
         "ResourceConflict: teardown T1: it is not over"},
    };
    try_system_moves(&teardown_moves, ROWS(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_asked_for),
        cmocka_unit_test(it_begins),
        cmocka_unit_test(it_is_refused),
        cmocka_unit_test(it_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
