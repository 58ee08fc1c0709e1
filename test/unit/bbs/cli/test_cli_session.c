/* What the commands of bbs share: how one that does several things ends. */
#include "bbs/cli/session_io.h"
#include "common/cli/cli_io.h"
#include "test/tool/cmocka.h"

#include <signal.h>
#include <unistd.h>

/* Ctrl-C between two of several, with nothing failed: what is left was not done, so it is no
 * success. */
static void interrupted_between_two_is_no_success(void **state)
{
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

/* What a command says on standard error while it counts, and what its last line is then. */
static int counts(struct session *s, int r, const char *text, char *said, size_t size,
                  struct err *err)
{
    int ends[2], before = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    (void)err_set(err, r < 0 ? (enum err_code) - r : ERR_UNKNOWN, "%s", text);
    session_count(s, "web", r, err);
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[1]);
    ssize_t n = read(ends[0], said, size - 1);
    said[n > 0 ? n : 0] = 0;
    close(ends[0]);
    return session_end(s, err);
}

static void an_error_is_reported_at_once(void **state)
{
    struct session s = {0};
    struct err err;
    char said[200];
    arena_init(&s.arena);
    assert_int_equal(session_end(&s, &err), CLI_DONE);
    assert_int_equal(counts(&s, -ERR_NOT_FOUND, "no process", said, sizeof(said), &err),
                     CLI_NOT_FOUND);
    assert_string_equal(said, "bbs: no process\n");
    arena_done(&s.arena);
}

/* Told by whoever runs the command, as its last line. */
static void an_interrupt_is_reported_once_with_what_is_half_done(void **state)
{
    static const struct {
        const char *text, *undone, *last;
        int r;
    } rows[] = {
        {"interrupted", NULL, "interrupted", -ERR_UNKNOWN},
        {"interrupted; web: 0 of 2 running; it goes on", NULL,
         "interrupted; web: 0 of 2 running; it goes on", -ERR_UNKNOWN},
        {"interrupted; web: it may have been done", "1 of 3 applied",
         "interrupted; web: it may have been done; 1 of 3 applied", -ERR_UNKNOWN},
        {"web: no answer", NULL, "interrupted; web: no answer", -ERR_UNAVAILABLE},
        {"", "1 of 3 applied", "interrupted; 1 of 3 applied", CLI_TIMEOUT},
    };
    cli_catch_interrupts();
    assert_int_equal(raise(SIGINT), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct session s = {.undone = rows[i].undone};
        struct err err;
        char said[200];
        arena_init(&s.arena);
        int r = counts(&s, rows[i].r, rows[i].text, said, sizeof(said), &err);
        assert_string_equal(said, "");
        assert_int_equal(r, -ERR_UNKNOWN);
        assert_string_equal(err.text, rows[i].last);
        arena_done(&s.arena);
    }
    struct session done = {0}; /* it came too late */
    assert_int_equal(session_end(&done, NULL), CLI_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_is_reported_at_once), /* before the interrupts, which stay */
        cmocka_unit_test(interrupted_between_two_is_no_success),
        cmocka_unit_test(an_interrupt_is_reported_once_with_what_is_half_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
