/* The converger's passes over tasks: rows of a task before, and the repair. Each row has its
 * boundary: a nanosecond before it is due, and when it is. */
#include "common/lifecycle/task.h"
#include "common/model/settings.h"
#include "converger/task_passes.h"
#include "common/base/bytes.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define S SECOND_NS
#define MINUTE (60 * SECOND_NS)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define NOW (100 * DAY)

struct row {
    const char *name;
    int state;
    /* How long ago, ns. */
    int64_t created, updated, completed;
    int64_t absent; /* since when its cell is; -1 = it is there */
    bool url;
    int64_t keep_s;     /* -1 = not said */
    const char *repair; /* "pass:move" */
    int64_t due;        /* in so many ns; -1 = not by time */
};

#define PENDING(c, u) TASK_PENDING, c, u, 0, -1, false, -1
#define RUNNING(absent) TASK_RUNNING, DAY, DAY, 0, absent, false, -1
#define RESOLVING(u) TASK_RESOLVING, 9 * DAY, u, 9 * DAY, -1, true, -1
#define COMPLETED(u, c, url, keep) TASK_COMPLETED, 90 * DAY, u, c, -1, url, keep

static const struct row rows[] = {
    {"new", PENDING(0, 0), "", 30 * S},
    {"a negative age is 0", PENDING(-S, -S), "", 31 * S},
    {"unplaced, a moment early", PENDING(30 * S - 1, 30 * S - 1), "", 1},
    {"unplaced: 30 s", PENDING(30 * S, 30 * S), "unplaced:ask", 30 * MINUTE - 30 * S + 1},
    {"rejected 5 s ago", PENDING(95 * S, 5 * S), "", 25 * S},
    {"rejected 30 s ago", PENDING(95 * S, 30 * S), "unplaced:ask", 30 * MINUTE - 95 * S + 1},
    {"30 min are not too long", PENDING(30 * MINUTE, MINUTE), "unplaced:ask", 1},
    {"longer: it expires, and is not asked for", PENDING(30 * MINUTE + 1, MINUTE), "expired:expire",
     -1},
    {"expired, rejected lately", PENDING(31 * MINUTE, S), "expired:expire", 29 * S},

    {"its cell is there", RUNNING(-1), "", -1},
    {"absent, a moment early", RUNNING(60 * S - 1), "", 1},
    {"absent: 60 s", RUNNING(60 * S), "lost:disappear", -1},

    {"resolving", RESOLVING(0), "", 45 * S},
    {"resolving, a moment early", RESOLVING(45 * S - 1), "", 1},
    {"resolving: 45 s", RESOLVING(45 * S), "kick:kick", -1},

    {"over, without a URL", COMPLETED(0, 0, false, -1), "", 24 * HOUR},
    {"24 h, a moment early", COMPLETED(DAY - 1, DAY - 1, false, -1), "", 1},
    {"24 h", COMPLETED(DAY, DAY, false, -1), "old:forget", -1},
    {"since it was over, not since its last change", COMPLETED(S, DAY, false, -1), "old:forget",
     -1},
    {"kept for 10 s, a moment early", COMPLETED(10 * S - 1, 10 * S - 1, false, 10), "", 1},
    {"kept for 10 s", COMPLETED(10 * S, 10 * S, false, 10), "old:forget", -1},
    {"kept for no time", COMPLETED(0, 0, false, 0), "old:forget", -1},
    {"kept for 3 days", COMPLETED(DAY, DAY, false, 3 * 86400), "", 2 * DAY},

    {"over, with a URL", COMPLETED(0, 0, true, -1), "", 45 * S},
    {"undelivered, a moment early", COMPLETED(45 * S - 1, 45 * S - 1, true, -1), "", 1},
    {"undelivered: 45 s", COMPLETED(45 * S, 45 * S, true, -1), "undelivered:deliver",
     7 * DAY - 45 * S},
    {"kicked lately: its last change was long ago", COMPLETED(90 * S, HOUR, true, -1),
     "undelivered:deliver", 7 * DAY - HOUR},
    {"keep_s does not shorten it", COMPLETED(10 * S, 10 * S, true, 5), "", 35 * S},
    {"7 days, a moment early", COMPLETED(HOUR, 7 * DAY - 1, true, -1), "undelivered:deliver", 1},
    {"7 days: it is not delivered any more", COMPLETED(HOUR, 7 * DAY, true, -1), "old:forget", -1},
    {"7 days, changed lately", COMPLETED(S, 7 * DAY, true, -1), "old:forget", 44 * S},

    {"a state of a newer version", -1, DAY, DAY, DAY, DAY, true, 1, "", -1},
};

static struct task_facts facts_of(const struct row *row)
{
    return (struct task_facts){
        .state = (int8_t)row->state,
        .has_url = row->url,
        .updated_ns = NOW - row->updated,
        .completed_ns = NOW - row->completed,
        .keep_ns = row->keep_s < 0 ? NEVER_NS : row->keep_s * S,
        .seen = {.since_ns = NOW - row->updated},
        .made = {.since_ns = NOW - row->created},
        .absent = row->absent >= 0,
        .cell_seen = {.since_ns = NOW - row->absent},
    };
}

static void every_row(void **state)
{
    static const struct task_times none = {0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct task_facts facts = facts_of(&rows[i]);
        struct task_repair repair;
        SCOPED_BUF(text);
        task_passes_run(&facts, &none, &SETTINGS_DEFAULT.tasks,
                        (struct moment){.mono_ns = NOW, .wall_ns = NOW}, &repair);
        assert_true(repair.after_ns == 0); /* the bbs knows the settings */
        if (repair.pass) {
            buf_printf(&text, "%s:%s", repair.pass, repair.move);
        }
        int64_t due = repair.due_ns == NEVER_NS ? -1 : repair.due_ns - NOW;
        if (strcmp(buf_string(&text), rows[i].repair) != 0 || due != rows[i].due) {
            fail_msg("%s\nexpected: %s; due %lld\ngot:      %s; due %lld", rows[i].name,
                     rows[i].repair, (long long)rows[i].due, buf_string(&text), (long long)due);
        }
    }
}

/* Each limit may be given, and a repair says by which it goes; or is a setting. */
static void other_limits(void **state)
{
    static const struct task_times limits = {.expire_pending_ns = 10 * S,
                                              .unplaced_after_ns = 2 * S,
                                              .loss_ns = 3 * S,
                                              .kick_ns = 4 * S,
                                              .expire_completed_ns = 5 * S,
                                              .undelivered_ns = 6 * S};
    static const struct {
        struct row row;
        int64_t after;
    } others[] = {
        {{"expired", PENDING(10 * S + 1, S), "expired", 0}, 10 * S},
        {{"unplaced", PENDING(2 * S, 2 * S), "unplaced", 0}, 2 * S},
        {{"lost", RUNNING(3 * S), "lost", 0}, 3 * S},
        {{"kick", RESOLVING(4 * S), "kick", 0}, 4 * S},
        {{"old", COMPLETED(5 * S, 5 * S, false, -1), "old", 0}, 5 * S},
        /* A bbs knows keep_s, and a late move may meet a task of the guid that said none. */
        {{"kept", COMPLETED(1 * S, 1 * S, false, 1), "old", 0}, 5 * S},
        {{"undelivered", COMPLETED(4 * S, 4 * S, true, -1), "undelivered", 0}, 4 * S},
        {{"old with a URL", COMPLETED(6 * S, 6 * S, true, -1), "old", 0}, 6 * S},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct task_facts facts = facts_of(&others[i].row);
        struct task_repair repair;
        const struct moment now = {.mono_ns = NOW, .wall_ns = NOW};
        const struct moment early = {.mono_ns = NOW - 2, .wall_ns = NOW - 2};
        task_passes_run(&facts, &(struct task_times){0}, &limits, now, &repair);
        assert_string_equal(repair.pass ? repair.pass : "", others[i].row.repair);
        task_passes_run(&facts, &limits, &SETTINGS_DEFAULT.tasks, now, &repair);
        assert_string_equal(repair.pass ? repair.pass : "", others[i].row.repair);
        assert_true(repair.after_ns == others[i].after);
        task_passes_run(&facts, &limits, &SETTINGS_DEFAULT.tasks, early, &repair);
        assert_true(!repair.pass || strcmp(repair.pass, others[i].row.repair) != 0);
    }
}

/* What is read of a record. */
static void facts_of_records(void **state)
{
    Models__Task task = MODELS__TASK__INIT;
    Models__TaskDefinition definition = MODELS__TASK_DEFINITION__INIT;
    char url[] = "https://callback";
    struct task_facts facts;
    task.state = MODELS__TASK__STATE__Completed;
    task.created_at = 1;
    task.updated_at = 2;
    task.first_completed_at = 3;
    task_facts_of(&task, &facts);
    assert_int_equal(facts.state, TASK_COMPLETED);
    assert_true(facts.updated_ns == 2 && facts.completed_ns == 3);
    assert_true(!facts.has_url && facts.keep_ns == NEVER_NS && !facts.absent);
    task.task_definition = &definition;
    task_facts_of(&task, &facts);
    assert_false(facts.has_url);
    definition.completion_callback_url = url;
    task.optional_keep_s_case = MODELS__TASK__OPTIONAL_KEEP_S_KEEP_S;
    task.keep_s = 0;
    task_facts_of(&task, &facts);
    assert_true(facts.has_url && facts.keep_ns == 0);
    task.state = (Models__Task__State)(MODELS__TASK__STATE__Resolving + 1);
    task_facts_of(&task, &facts);
    assert_int_equal(facts.state, -1);
    task.state = MODELS__TASK__STATE__Invalid;
    task_facts_of(&task, &facts);
    assert_int_equal(facts.state, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row),
        cmocka_unit_test(other_limits),
        cmocka_unit_test(facts_of_records),
    };
    return cmocka_run_group_tests_name("passes over tasks", tests, NULL, NULL);
}
