/* Programs of the operator's that are launched: how each way to end is told, what they have of us,
 * and the bounds. */
#include "common/shell/launch_io.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOLD_MAX = 16 };

struct fixture {
    struct event_base *base;
    struct launcher *launcher;
    struct {
        uint64_t id;
        int status;
        char text[2 * LAUNCH_LINE_BYTES];
    } told[TOLD_MAX];
    size_t count;
};

static void on_told(void *context, const struct launched *l)
{
    struct fixture *x = context;
    assert_true(x->count < TOLD_MAX);
    x->told[x->count].id = l->id;
    x->told[x->count].status = l->status;
    snprintf(x->told[x->count++].text, sizeof(x->told[0].text), "%s", l->text);
}

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    x->base = event_base_new();
    x->launcher = launcher_new(x->base, on_told, x);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    launcher_free(x->launcher);
    event_base_free(x->base);
    free(x);
    return 0;
}

static void launch(struct fixture *x, uint64_t id, const char *script)
{
    const char *const words[] = {"/bin/sh", "-c", script, "hook", "start", "1.2.3"};
    launcher_launch(x->launcher, &(struct launch){.id = id, .words = words, .count = 6});
}

/* Until so many were told. */
static void wait_for(struct fixture *x, size_t count)
{
    for (struct patience p = {0}; x->count < count;) {
        event_base_loop(x->base, EVLOOP_NONBLOCK);
        assert_true(x->count >= count || patience(&p));
    }
    assert_int_equal(x->count, count);
}

/* An end, as it is told. */
static void each_end(void **state)
{
    static const struct {
        const char *script;
        int status;
        const char *text;
    } rows[] = {
        {"exit 0", 0, ""},
        {"echo all is well", 0, ""},
        {"echo one; echo two >&2; exit 3", 3, "two"},
        {"echo one; echo; echo '  '; exit 1", 1, "one"},
        {"exit 7", 7, "it ended with status 7, and said nothing"},
        {"kill -9 $$", 137, "it was ended by signal 9"},
        {"echo so far; kill -9 $$", 137, "it was ended by signal 9, it said last: so far"},
        {"printf 'a\\033[31mb\\n'; exit 1", 1, "a?[31mb"},
        {"echo \"$1 $2\"; exit 1", 1, "start 1.2.3"},
        {"cat; exit 1", 1, "it ended with status 1, and said nothing"}, /* no input */
    };
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    struct fixture *x = *state;
    for (size_t i = 0; i < ROWS; i++) {
        launch(x, i + 1, rows[i].script);
        assert_int_equal(x->count, i); /* never from inside */
        wait_for(x, i + 1);
        assert_int_equal(x->told[i].id, i + 1);
        assert_int_equal(x->told[i].status, rows[i].status);
        assert_string_equal(x->told[i].text, rows[i].text);
    }
}

static void the_last_line_has_a_bound(void **state)
{
    struct fixture *x = *state;
    launch(x, 1, "head -c 100000 /dev/zero | tr '\\0' x; printf '\\n%0600d' 5; exit 1");
    wait_for(x, 1);
    assert_int_equal(strlen(x->told[0].text), LAUNCH_LINE_BYTES);
}

static void what_is_not_there_is_told(void **state)
{
    struct fixture *x = *state;
    const char *const words[] = {"/no/such/hook", "start"};
    launcher_launch(x->launcher, &(struct launch){.id = 5, .words = words, .count = 2});
    assert_int_equal(x->count, 0);
    wait_for(x, 1);
    assert_int_equal(x->told[0].status, -1);
    assert_string_equal(x->told[0].text,
                        "/no/such/hook cannot be run: No such file or directory");
}

/* Neither a variable that may hold a secret nor a descriptor of ours comes to it. */
static void it_inherits_nothing(void **state)
{
    struct fixture *x = *state;
    int open_one = open("/dev/null", O_RDONLY);
    assert_true(open_one > 2);
    setenv("CORKBOARD_SECRET", "hunter2", 1);
    launch(x, 1,
           "test -z \"$CORKBOARD_SECRET\" && test -n \"$PATH\" || "
           "{ echo has a variable; exit 1; }; "
           "for f in /proc/$$/fd/*; do case ${f##*/} in 0|1|2) ;; *) test -e $f && "
           "case $(readlink $f) in /dev/null) echo has $f; exit 1;; esac ;; esac; done; "
           "echo none; exit 1");
    wait_for(x, 1);
    assert_string_equal(x->told[0].text, "none");
    close(open_one);
    unsetenv("CORKBOARD_SECRET");
}

/* What it left behind holds its output, and is not waited for. */
static void it_ends_when_it_ends_itself(void **state)
{
    struct fixture *x = *state;
    launch(x, 1, "sleep 300 & echo $!; exit 1");
    wait_for(x, 1);
    pid_t left = atoi(x->told[0].text);
    assert_true(left > 1);
    assert_int_equal(kill(left, SIGKILL), 0); /* it was still there */
}

static void one_that_hangs_is_killed_with_its_children(void **state)
{
    struct fixture *x = *state;
    launcher_set_time(x->launcher, 1000);
    launch(x, 1, "sleep 300 & echo $!; wait");
    wait_for(x, 1);
    assert_int_equal(x->told[0].status, 137);
    assert_memory_equal(x->told[0].text, "it did not end within 1 s and was killed, it said last: ",
                        56);
    pid_t child = atoi(x->told[0].text + 56);
    assert_true(child > 1);
    char path[64], line[256] = "";
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)child);
    for (struct patience p = {0};; patience(&p)) { /* gone, or a zombie that init has yet to take */
        FILE *f = fopen(path, "r");
        bool there = f && fgets(line, sizeof(line), f) && !strstr(line, ") Z ");
        if (f) {
            fclose(f);
        }
        if (!there) {
            break;
        }
        assert_true(p.end_ms == 0 || patience_now_ms() < p.end_ms);
    }
}

static void so_many_run_at_once_and_no_more(void **state)
{
    struct fixture *x = *state;
    for (uint64_t id = 1; id <= LAUNCHES_MAX; id++) {
        launch(x, id, "sleep 300");
    }
    launch(x, 77, "exit 0");
    wait_for(x, 1);
    assert_int_equal(x->told[0].id, 77);
    assert_int_equal(x->told[0].status, -1);
    assert_string_equal(x->told[0].text, "too many programs run already");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_end),
        TEST(the_last_line_has_a_bound),
        TEST(what_is_not_there_is_told),
        TEST(it_inherits_nothing),
        TEST(it_ends_when_it_ends_itself),
        TEST(one_that_hangs_is_killed_with_its_children),
        TEST(so_many_run_at_once_and_no_more),
    };
    return cmocka_run_group_tests_name("launches", tests, NULL, NULL);
}
