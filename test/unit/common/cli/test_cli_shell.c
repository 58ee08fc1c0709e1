/* The shell of a command line: what it does with the descriptors and the terminal it is given. */
#include "common/cli/cli_io.h"
#include "test/tool/cmocka.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWERED = 40 }; /* an exit status that nobody else gives */

/* Opens what any command opens, and writes to both outputs. */
static int opens_and_writes(const struct invocation *call, struct err *err)
{
    (void)call, (void)err;
    int fd = open("/dev/zero", O_RDWR);
    bool kept = write(STDOUT_FILENO, "x", 1) < 0 && write(STDERR_FILENO, "x", 1) < 0 &&
                read(STDIN_FILENO, &(char){0}, 1) < 0;
    return fd > STDERR_FILENO && kept ? ANSWERED : 1;
}

static const struct cli_option *const no_options[] = {NULL};
static const struct cli_command commands[] = {
    {"open", "", "opens", NULL, no_options, 0, 0, opens_and_writes}, {0}};
static const struct cli_program program = {"bbs", "guards the board", commands};

/* The next socket or file would get their numbers, and what is printed or logged would go there. */
static void closed_outputs_are_not_taken_by_others(void **state)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        char *const argv[] = {(char[]){"bbs"}, (char[]){"open"}, NULL};
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        _exit(cli_main(&program, 2, argv));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), ANSWERED);
}

/* What is written to a terminal of so many columns while TEXT is shown. */
static void shown_at(unsigned short columns, const char *text, char *out, size_t size)
{
    struct winsize w = {.ws_row = 24, .ws_col = columns};
    struct cli_progress p = {0};
    int master, slave, before = dup(STDERR_FILENO);
    assert_int_equal(openpty(&master, &slave, NULL, NULL, &w), 0);
    dup2(slave, STDERR_FILENO);
    cli_progress(&p, text);
    dup2(before, STDERR_FILENO);
    ssize_t n = read(master, out, size - 1);
    out[n > 0 ? n : 0] = 0;
    close(before);
    close(slave);
    close(master);
}

/* A line that wraps could not be replaced by the next one. */
static void progress_stays_on_one_line_of_the_terminal(void **state)
{
    char out[400];
    shown_at(80, "web: 0 of 2 running", out, sizeof(out));
    assert_string_equal(out, "\r\033[Kweb: 0 of 2 running");
    shown_at(12, "web: 0 of 2 running", out, sizeof(out));
    assert_string_equal(out, "\r\033[Kweb: 0 of 2");
    shown_at(4, "w\xc3\xa4\xc3\xa4\xc3\xa4", out, sizeof(out));
    assert_string_equal(out, "\r\033[Kw\xc3\xa4\xc3\xa4");
    shown_at(0, "a terminal that does not say", out, sizeof(out));
    assert_string_equal(out, "\r\033[Ka terminal that does not say");
}

/* In a log of a build, say, the last line must not be that nothing runs yet. */
static void progress_ends_with_what_has_become_of_it(void **state)
{
    char out[400];
    struct cli_progress p = {0};
    int ends[2], before = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    cli_progress_end(&p, "nothing was shown");
    cli_progress(&p, "web: 0 of 2 running");
    cli_progress(&p, "web: 1 of 2 running"); /* too soon */
    cli_progress_end(&p, "web: 2 of 2 running");
    cli_progress(&p, "web: 2 of 2 running");
    cli_progress_end(&p, "web: 2 of 2 running");
    dup2(before, STDERR_FILENO);
    ssize_t n = read(ends[0], out, sizeof(out) - 1);
    out[n > 0 ? n : 0] = 0;
    close(before);
    close(ends[0]);
    close(ends[1]);
    assert_string_equal(out, "web: 0 of 2 running\nweb: 2 of 2 running\nweb: 2 of 2 running\n");
}

/* Commands that Ctrl-C reaches, and what they give then. */
static int ends_with(int r, const char *text, struct err *err)
{
    cli_catch_interrupts();
    raise(SIGINT);
    return r < 0 ? err_set(err, (enum err_code)-r, "%s", text) : r;
}
static int says_so(const struct invocation *call, struct err *err)
{
    return ends_with(-ERR_UNKNOWN, "interrupted", err);
}
static int says_more(const struct invocation *call, struct err *err)
{
    return ends_with(-ERR_UNKNOWN, "interrupted; it goes on", err);
}
static int says_else(const struct invocation *call, struct err *err)
{
    return ends_with(-ERR_UNAVAILABLE, "web: no answer", err);
}
static int says_nothing(const struct invocation *call, struct err *err)
{
    return ends_with(CLI_TIMEOUT, NULL, err);
}
static int is_done(const struct invocation *call, struct err *err)
{
    return ends_with(0, NULL, err);
}

/* The exit status of a command; in `said` what it says on standard error. */
static int status_of(const char *command, char *said, size_t size)
{
    static const struct cli_command interrupted[] = {
        {"so", "", "", NULL, no_options, 0, 0, says_so},
        {"more", "", "", NULL, no_options, 0, 0, says_more},
        {"else", "", "", NULL, no_options, 0, 0, says_else},
        {"nothing", "", "", NULL, no_options, 0, 0, says_nothing},
        {"done", "", "", NULL, no_options, 0, 0, is_done},
        {0},
    };
    static const struct cli_program all = {"bbs", "guards the board", interrupted};
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char *const argv[] = {(char[]){"bbs"}, (char *)(uintptr_t)command, NULL};
        dup2(ends[1], STDERR_FILENO);
        _exit(cli_main(&all, 2, argv));
    }
    close(ends[1]);
    ssize_t n = read(ends[0], said, size - 1);
    said[n > 0 ? n : 0] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void an_interrupt_has_one_status_and_one_wording(void **state)
{
    static const struct {
        const char *command, *said;
        int status;
    } rows[] = {
        {"so", "bbs: interrupted\n", CLI_INTERRUPTED},
        {"more", "bbs: interrupted; it goes on\n", CLI_INTERRUPTED},
        {"else", "bbs: interrupted: web: no answer\n", CLI_INTERRUPTED},
        {"nothing", "bbs: interrupted\n", CLI_INTERRUPTED},
        {"done", "", CLI_DONE}, /* it came too late */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char said[200];
        assert_int_equal(status_of(rows[i].command, said, sizeof(said)), rows[i].status);
        assert_string_equal(said, rows[i].said);
    }
}

/* bbs run > /dev/full, or | true: the task runs, and the guid that was drawn for it must be seen.
 */
static int says_where(const struct invocation *call, struct err *err)
{
    return cli_print_or(bytes_of("t-1\n"), "task t-1 was desired; its name could not be written",
                        err);
}

static void what_is_found_nowhere_else_is_not_lost(void **state)
{
    static const struct cli_command only[] = {
        {"run", "", "", NULL, no_options, 0, 0, says_where}, {0}};
    static const struct cli_program all = {"bbs", "guards the board", only};
    static const char *const said[] = {
        "bbs: task t-1 was desired; its name could not be written (No space left on device)\n",
        "bbs: task t-1 was desired; its name could not be written (Broken pipe)\n",
    };
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        char text[200];
        int out[2], ends[2], status = 0;
        assert_int_equal(pipe(out), 0);
        assert_int_equal(pipe(ends), 0);
        close(out[0]); /* nobody reads */
        pid_t pid = fork();
        if (pid == 0) {
            char *const argv[] = {(char[]){"bbs"}, (char[]){"run"}, NULL};
            dup2(i == 0 ? open("/dev/full", O_WRONLY) : out[1], STDOUT_FILENO);
            dup2(ends[1], STDERR_FILENO);
            _exit(cli_main(&all, 2, argv));
        }
        close(out[1]);
        close(ends[1]);
        ssize_t n = read(ends[0], text, sizeof(text) - 1);
        text[n > 0 ? n : 0] = 0;
        close(ends[0]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), CLI_FAILED);
        assert_string_equal(text, said[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_outputs_are_not_taken_by_others),
        cmocka_unit_test(progress_stays_on_one_line_of_the_terminal),
        cmocka_unit_test(progress_ends_with_what_has_become_of_it),
        cmocka_unit_test(an_interrupt_has_one_status_and_one_wording),
        cmocka_unit_test(what_is_found_nowhere_else_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
