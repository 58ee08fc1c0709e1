/* Rounds of a monitor: its tree, what is answered to its programs, and what is next. */
#include "rep/container/health.h"
#include "rep/container/monitor.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/steps/steps_text.h"

#include <string.h>

#define MS(n) ((n) * MILLISECOND_NS)

struct played {
    struct arena arena;
    struct action_tree tree;
    struct monitor_round round;
    int64_t now_ns;
    uint64_t id;
};

static void begin(struct played *p, const char *tree)
{
    *p = (struct played){.now_ns = MS(1000), .id = 100};
    arena_init(&p->arena);
    p->tree = steps_text_tree(&p->arena, tree);
    monitor_begin(&p->round, p->tree.count, p->now_ns);
}

static void done(struct played *p)
{
    monitor_end(&p->round);
    monitor_end(&p->round); /* which is fine */
    arena_done(&p->arena);
}

static struct monitor_orders next(struct played *p)
{
    return monitor_next(&p->arena, &p->round, &p->tree, p->now_ns);
}

/* Exactly this one is to begin; the EXEC of it. */
static uint64_t begins(struct played *p, uint32_t step)
{
    struct monitor_orders o = next(p);
    assert_true(o.begin_count > 0 && !o.over);
    assert_int_equal(o.begins[0], step);
    monitor_begun(&p->round, step, ++p->id, p->now_ns);
    return p->id;
}

static bool answers(struct played *p, uint64_t id, enum verb_outcome outcome, int code,
                    const char *text)
{
    struct verb_answer answer = {
        .id = id, .verb = VERB_EXEC, .outcome = outcome, .exit_code = code, .text = text};
    return monitor_answered(&p->round, &answer, p->now_ns);
}

static void is_over(struct played *p, const char *text)
{
    struct monitor_orders o = next(p);
    assert_true(o.over);
    assert_int_equal(o.begin_count + o.end_count, 0);
    assert_string_equal(o.text, text);
}

/* What one program came to, and what the round says of it. */
static void one_program(void **state)
{
    static const struct {
        enum verb_outcome outcome;
        int code;
        const char *said, *text;
    } rows[] = {
        {VERB_DONE, 0, "all is well\n", ""},
        {VERB_DONE, 1, "", "WEB: Exited with status 1"},
        {VERB_DONE, 1, " \n\t", "WEB: Exited with status 1"},
        {VERB_DONE, 137, "", "WEB: Exited with status 137"},
        {VERB_DONE, 4, "\n  no database\nat all\n\n", "no database\nat all"},
        {VERB_DONE, 4, "caf\xc3\xa9 \xff\x1b[0m", "caf\xc3\xa9 ??[0m"},
        {VERB_DONE, 4, "\xa9 half", "? half"},
        {VERB_DONE, 4, "half \xe2\x82", "half ??"},
        {VERB_FAILED, 0, "no program /bin/x\n", "Failed to invoke process: no program /bin/x"},
        {VERB_UNCERTAIN, 0, "no answer", "exceeded 1m0s timeout"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct played p;
        begin(&p, "run:WEB");
        uint64_t id = begins(&p, 1);
        assert_int_equal(next(&p).begin_count, 0);
        assert_false(next(&p).over);
        assert_false(answers(&p, id + 1, VERB_DONE, 0, ""));
        assert_true(answers(&p, id, rows[i].outcome, rows[i].code, rows[i].said));
        assert_false(answers(&p, id, VERB_DONE, 0, "")); /* once */
        is_over(&p, rows[i].text);
        done(&p);
    }
}

static void the_end_of_a_long_text_is_kept(void **state)
{
    enum { MORE = 100 };
    char text[HEALTH_TEXT_MAX + MORE + 1];
    struct played p;
    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 2] = 'z';
    text[sizeof(text) - 1] = '\0';
    begin(&p, "run");
    assert_true(answers(&p, begins(&p, 1), VERB_DONE, 1, text));
    is_over(&p, text + MORE);
    done(&p);
}

static void one_after_the_other(void **state)
{
    struct played p;
    (void)state;
    begin(&p, "serial(run try(run) run)"); /* 2, 4 and 5 */
    assert_true(answers(&p, begins(&p, 2), VERB_DONE, 0, ""));
    assert_true(answers(&p, begins(&p, 4), VERB_DONE, 9, "never mind"));
    assert_true(answers(&p, begins(&p, 5), VERB_DONE, 1, "it is broken"));
    is_over(&p, "it is broken");
    done(&p);
    begin(&p, "serial(run run)");
    assert_true(answers(&p, begins(&p, 2), VERB_DONE, 1, "first"));
    is_over(&p, "first");
    done(&p);
    begin(&p, "say(serial(run run))");
    assert_true(answers(&p, begins(&p, 3), VERB_DONE, 0, ""));
    assert_true(answers(&p, begins(&p, 4), VERB_DONE, 0, ""));
    is_over(&p, "");
    done(&p);
}

static void all_at_once(void **state)
{
    struct played p;
    (void)state;
    begin(&p, "parallel(run run)");
    uint64_t first = begins(&p, 2), second = begins(&p, 3);
    assert_true(answers(&p, second, VERB_DONE, 2, "two"));
    assert_false(next(&p).over);
    assert_true(answers(&p, first, VERB_DONE, 1, "one"));
    is_over(&p, "one; two");
    done(&p);
}

static void a_timeout_ends_what_runs(void **state)
{
    struct played p;
    (void)state;
    begin(&p, "timeout:500(parallel(run run))"); /* 3 and 4 */
    uint64_t first = begins(&p, 3), second = begins(&p, 4);
    assert_int_equal(next(&p).due_ns, MS(1500));
    p.now_ns = MS(1400);
    assert_true(answers(&p, first, VERB_DONE, 0, ""));
    p.now_ns = MS(1500);
    struct monitor_orders o = next(&p);
    assert_int_equal(o.end_count, 1);
    assert_int_equal(o.ends[0], second);
    assert_false(o.over);
    assert_int_equal(next(&p).end_count, 0); /* it was told */
    assert_true(answers(&p, second, VERB_UNCERTAIN, 0, "ended")); /* at the same moment */
    is_over(&p, "exceeded 500ms timeout");
    done(&p);
}

/* A program that its driver cannot end holds up no round for ever. */
static void what_does_not_end_is_left(void **state)
{
    struct played p;
    (void)state;
    begin(&p, "timeout:500(run)");
    uint64_t id = begins(&p, 2);
    p.now_ns = MS(1500);
    assert_int_equal(next(&p).end_count, 1);
    int64_t due_ns = next(&p).due_ns;
    p.now_ns = due_ns;
    due_ns = next(&p).due_ns;
    assert_true(due_ns > p.now_ns && due_ns < MS(20000));
    p.now_ns = due_ns;
    assert_true(next(&p).over);
    assert_non_null(strstr(next(&p).text, "process did not exit"));
    assert_true(answers(&p, id, VERB_DONE, 0, "")); /* late, and nobody is harmed */
    done(&p);
}

static void one_end_of_codependents_is_the_end_of_all(void **state)
{
    struct played p;
    size_t count;
    (void)state;
    begin(&p, "codependent(run run)");
    uint64_t first = begins(&p, 2), second = begins(&p, 3);
    assert_int_equal(monitor_running(&p.arena, &p.round, &count)[0], first);
    assert_int_equal(count, 2);
    assert_true(answers(&p, first, VERB_DONE, 3, "gone"));
    struct monitor_orders o = next(&p);
    assert_int_equal(o.end_count, 1);
    assert_int_equal(o.ends[0], second);
    monitor_running(&p.arena, &p.round, &count);
    assert_int_equal(count, 0); /* what was told needs not be told again */
    assert_true(answers(&p, second, VERB_UNCERTAIN, 0, ""));
    is_over(&p, "gone");
    done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_program),
        cmocka_unit_test(the_end_of_a_long_text_is_kept),
        cmocka_unit_test(one_after_the_other),
        cmocka_unit_test(all_at_once),
        cmocka_unit_test(a_timeout_ends_what_runs),
        cmocka_unit_test(what_does_not_end_is_left),
        cmocka_unit_test(one_end_of_codependents_is_the_end_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
