/* What the commands of bbs share: how one that does several things ends. */
#include "bbs/cli/session_io.h"
#include "common/cli/cli_io.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Ctrl-C between two of several, with nothing failed: what is left was not done, so it is no success. */
static void interrupted_between_two_is_no_success(void **state)
{
    (void)state;
    struct session well = {0}, failed = {.status = CLI_NOT_FOUND};
    cli_catch_interrupts();
    assert_true(session_goes_on(&well));
    assert_true(session_goes_on(&failed));
    assert_int_equal(well.status, CLI_DONE);
    assert_int_equal(raise(SIGINT), 0);
    assert_false(session_goes_on(&well));
    assert_false(session_goes_on(&failed));
    assert_int_equal(well.status, CLI_INTERRUPTED);
    assert_int_equal(failed.status, CLI_NOT_FOUND); /* the first that failed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupted_between_two_is_no_success),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
