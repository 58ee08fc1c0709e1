/* The decisions about tasks: rows of before, when, plan. The numbers are those of the rules in
 * bbs/task/. A task is written as
 *   "Running c1/A created=900 updated=950 completed=0 rejected=2 retries=3 keep=60 url revision=7"
 * (cell c1, attempt A), a move as "complete c1/A reason=R result=r failed incarnation=7 revision=7
 * after=10 of=900 offered=2" (of: created_at of the task that granted it, or was offered; offered:
 * how often it had been rejected by then). */
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

struct task_case {
    const char *name; /* the rule */
    enum actor actor; /* a rep is of cell c1 */
    const char *task; /* before; NULL = none */
    const char *cell; /* of the rep, or the one that runs the task; NULL = none */
    const char *leader_lock; /* the leader's lock */
    const char *move;
    const char *plan;
};

#define RUN(cases) run_cases(cases, sizeof(cases) / sizeof((cases)[0]))
#define CELL "present incarnation=7"
#define LEADER_LOCK "holder=h term=5"
#define TERM " term=5 role=converger board_generation=E"
#define BID " term=5 role=auctioneer board_generation=E"
#define INCARNATION " incarnation=7"
#define CLIENT(text) text, ACTOR_CLIENT
#define BBS(text) text, ACTOR_BBS
#define REP(text) text, ACTOR_REP, .cell = CELL
#define CONVERGER(text) text, ACTOR_CONVERGER, .leader_lock = LEADER_LOCK
#define AUCTIONEER(text) text, ACTOR_AUCTIONEER, .leader_lock = LEADER_LOCK
#define NOT_FOUND "refuse ResourceNotFound: the requested resource could not be found\n"
#define INVALID "refuse InvalidRequest: the request received is invalid\n"
#define CANNOT(from, to)                                                                           \
    "refuse InvalidStateTransition: Cannot transition from " from " to " to "\n"
#define MOVED_ON(role, state)                                                                      \
    "refuse ResourceConflict: task t is not what the " role " rejects: it is " state               \
    ", and has moved on\n"

static int state_named(const char *name)
{
    int state = lifecycle_state(&task_lifecycle, name);
    return state < 0 ? 9 : state; /* one of a newer version */
}

/* From the word "cell/attempt". */
static void place(struct arena *a, const char *text, char **ret_cell, char **ret_attempt)
{
    const char *slash = strchr(text, '/'), *from = slash;
    while (from && from > text && from[-1] != ' ') {
        from--;
    }
    *ret_cell = slash ? arena_strndup(a, from, (size_t)(slash - from)) : arena_strdup(a, "");
    *ret_attempt = slash ? arena_strndup(a, slash + 1, strcspn(slash + 1, " "))
                         : arena_strdup(a, "");
}

static Models__Task *row_task(struct arena *a, const char *text)
{
    Models__Task *t = arena_message(a, &models__task__descriptor);
    t->task_guid = arena_strdup(a, "t");
    t->domain = arena_strdup(a, "d");
    t->state = (Models__Task__State)state_named(row_first_word(a, text));
    place(a, text, &t->cell_id, &t->attempt);
    t->ran_on_cell_id = row_text(a, text, "ran_on");
    t->created_at = row_number(a, text, "created", 900) * SECOND_NS;
    t->updated_at = row_number(a, text, "updated", 950) * SECOND_NS;
    t->first_completed_at = row_number(a, text, "completed", 0) * SECOND_NS;
    t->rejection_count = (int32_t)row_number(a, text, "rejected", 0);
    t->failed = strstr(text, " failed") != NULL;
    t->failure_reason = row_text(a, text, "reason");
    t->result = row_text(a, text, "result");
    if (row_value(a, text, "retries")) {
        t->optional_max_retries_case = MODELS__TASK__OPTIONAL_MAX_RETRIES_MAX_RETRIES;
        t->max_retries = (int32_t)row_number(a, text, "retries", 0);
    }
    if (row_value(a, text, "keep")) {
        t->optional_keep_s_case = MODELS__TASK__OPTIONAL_KEEP_S_KEEP_S;
        t->keep_s = (uint32_t)row_number(a, text, "keep", 0);
    }
    t->task_definition = arena_message(a, &models__task_definition__descriptor);
    if (strstr(text, " url")) {
        t->task_definition->completion_callback_url = arena_strdup(a, "https://cc");
    }
    return t;
}

static Board__Move *task_row_move(struct arena *a, const char *text)
{
    Board__Move *m = move_new_task(a, row_first_word(a, text), "t");
    Board__TaskMove *task = m->task;
    row_speaker(a, text, m);
    place(a, text, &task->cell_id, &task->attempt);
    task->error_message = row_text(a, text, "reason");
    task->result = row_text(a, text, "result");
    task->failed = strstr(text, " failed") != NULL;
    m->subject->revision = row_number(a, text, "revision", 0);
    task->after_ns = row_number(a, text, "after", 0) * SECOND_NS;
    task->created_at = row_number(a, text, "of", 0) * SECOND_NS;
    if (row_value(a, text, "offered")) {
        task->optional_rejections_case = BOARD__TASK_MOVE__OPTIONAL_REJECTIONS_REJECTIONS;
        task->rejections = (int32_t)row_number(a, text, "offered", 0);
    }
    return m;
}

static void print_task(const Models__Task *t, struct buf *out)
{
    buf_printf(out, " -> %s", task_lifecycle.states[t->state]);
    if (t->cell_id[0] || t->attempt[0]) {
        buf_printf(out, " %s/%s", t->cell_id, t->attempt);
    }
    if (t->ran_on_cell_id[0]) {
        buf_printf(out, " ran_on=%s", t->ran_on_cell_id);
    }
    buf_printf(out, " updated=%lld", (long long)(t->updated_at / SECOND_NS));
    if (t->first_completed_at) {
        buf_printf(out, " completed=%lld", (long long)(t->first_completed_at / SECOND_NS));
    }
    if (t->failed) {
        buf_printf(out, " failed");
    }
    if (t->failure_reason[0]) {
        buf_printf(out, " (%s)", t->failure_reason);
    }
    if (t->result[0]) {
        buf_printf(out, " result=%s", t->result);
    }
    if (t->rejection_count) {
        buf_printf(out, " rejected=%d (%s)", t->rejection_count, t->rejection_reason);
    }
    buf_append_string(out, "\n");
}

static void print_task_plan(const struct plan *p, struct buf *out)
{
    struct plan rest = *p;
    for (const struct change *c = p->changes; c; c = c->next) {
        buf_printf(out, "%s %s %s by %s", c->message ? "put" : "delete", c->key, c->move,
                   actor_name(c->actor));
        if (c->message) {
            print_task((const Models__Task *)c->message, out);
        } else {
            buf_append_string(out, "\n");
        }
    }
    rest.changes = NULL;
    plan_print(&rest, out);
}

static void run_case(const struct task_case *c)
{
    SCOPED_ARENA(a);
    struct random random;
    struct plan plan;
    SCOPED_BUF(printed);
    plan_init(&plan, &a);
    const Board__Move *m = task_row_move(&a, c->move);
    const Board__CellRecord *cell = c->cell ? row_cell(&a, c->cell) : NULL;
    struct task_snapshot s = {
        .task = c->task ? row_task(&a, c->task) : NULL,
        .revision = c->task ? row_number(&a, c->task, "revision", 3) : 0,
        .cell = c->actor == ACTOR_CONVERGER ? cell : NULL,
        .by = {.cell = c->actor == ACTOR_REP ? cell : NULL,
               .leader_lock_term = c->leader_lock ? row_number(&a, c->leader_lock, "term", 0) : 0,
               .board_generation = ROWS_BOARD_GENERATION},
        .times = &SETTINGS_DEFAULT.tasks,
    };
    struct op_input in = row_input(c->actor, &random, &m->base);
    if (s.task) { /* this process has seen it all, and no clock is wrong */
        int64_t over = s.task->first_completed_at;
        int64_t made = over && over < s.task->created_at ? over : s.task->created_at;
        s.made.since_ns = in.now.mono_ns - (in.now.wall_ns - made);
        bool completed = s.task->state == MODELS__TASK__STATE__Completed;
        s.seen.since_ns =
            in.now.mono_ns - (in.now.wall_ns - (completed ? over : s.task->updated_at));
        if (row_value(&a, c->task, "known")) { /* but its creation for so long only */
            s.made.since_ns = in.now.mono_ns - row_number(&a, c->task, "known", 0) * SECOND_NS;
        }
        s.cell_seen.since_ns = in.now.mono_ns - (in.now.wall_ns - (cell ? cell->since : 0));
    }
    const struct move_row *row = move_row_named(&task_moves, m->move);
    assert_non_null(row);
    row->op->decide(&s, &in, &plan);
    print_task_plan(&plan, &printed);
    if (strcmp(buf_string(&printed), c->plan) != 0) {
        fail_msg("%s\nexpected:\n%sgot:\n%s", c->name, c->plan, buf_string(&printed));
    }
    /* What refused a move is shown, unless its caller may not speak. */
    if (plan.verdict == PLAN_NOTHING) {
        assert_ptr_equal(plan.record, &s.task->base);
    }
}

static void run_cases(const struct task_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        run_case(&cases[i]);
    }
}

/* ---- who may speak --------------------------------------------------------------------------- */

static void speakers(void **state)
{
    static const struct task_case cases[] = {
        {REP("another cell's task"), .task = "Pending", .move = "start c2/A" INCARNATION,
         .plan = "refuse InvalidRequest: cell c1 may not move tasks of cell c2\n"},
        {REP("no cell named"), .task = "Pending", .move = "start" INCARNATION,
         .plan = "refuse InvalidRequest: cell c1 may not move tasks of cell (none)\n"},
        {REP("an old incarnation"), .task = "Pending", .move = "start c1/An incarnation=6",
         .plan = "refuse ResourceConflict: incarnation 6 of cell c1 is over: the board's is 7\n"},
        {"a lost cell", ACTOR_REP, .task = "Running c1/A", .cell = "lost incarnation=7",
         .move = "complete c1/A" INCARNATION,
         .plan = "refuse ResourceConflict: cell c1 is lost: register the cell first\n"},
        {"an unknown cell", ACTOR_REP, .task = "Running c1/A", .move = "reject c1/A" INCARNATION,
         .plan = "refuse ResourceConflict: cell c1 is unknown: register the cell first\n"},
        {"a deposed converger", ACTOR_CONVERGER, .leader_lock = "holder=h term=6",
         .task = "Resolving updated=0", .move = "kick" TERM,
         .plan = "refuse ResourceConflict: term 5 of the converger is over: the board's is 6\n"},
        {"a deposed auctioneer", ACTOR_AUCTIONEER, .task = "Pending",
         .move = "reject revision=3 reason=R" BID,
         .plan = "refuse ResourceConflict: term 5 of the auctioneer is over: the board's is 0\n"},
    };
    RUN(cases);
}

/* ---- a task of the same guid, desired again ---------------------------------------------------
 * */

#define AGAIN                                                                                      \
    "refuse ResourceConflict: task t is not the one that this cell was granted: it was desired "   \
    "again\n"

static void incarnations(void **state)
{
    static const struct task_case cases[] = {
        {REP("start, pending again"), .task = "Pending created=901",
         .move = "start c1/A of=900" INCARNATION, .plan = AGAIN},
        {REP("start, pending again, an older clock"), .task = "Pending created=899",
         .move = "start c1/A of=900" INCARNATION, .plan = AGAIN},
        {REP("start, running again by the same attempt"), .task = "Running c1/A created=901",
         .move = "start c1/A of=900" INCARNATION, .plan = AGAIN},
        {REP("complete, running again"), .task = "Running c1/A created=901",
         .move = "complete c1/A of=900" INCARNATION, .plan = AGAIN},
        {REP("reject, running again"), .task = "Running c1/A created=901",
         .move = "reject c1/A reason=R of=900" INCARNATION, .plan = AGAIN},
        {REP("who may not speak is told that first"), .task = "Pending created=901",
         .move = "start c1/A of=900 incarnation=6",
         .plan = "refuse ResourceConflict: incarnation 6 of cell c1 is over: the board's is 7\n"},
        {REP("no task"), .move = "start c1/A of=900" INCARNATION, .plan = NOT_FOUND},
        {REP("its own, again"), .task = "Running c1/A created=900",
         .move = "start c1/A of=900" INCARNATION, .plan = "nothing\n"},
        {REP("its own, pending"), .task = "Pending created=900",
         .move = "start c1/A of=900" INCARNATION,
         .plan = "put task/t start by rep -> Running c1/A updated=1000\n"},
        {REP("never granted"), .task = "Pending created=901", .move = "start c1/A" INCARNATION,
         .plan = "put task/t start by rep -> Running c1/A updated=1000\n"},
    };
    RUN(cases);
}

/* ---- start ----------------------------------------------------------------------------------- */

static void starts(void **state)
{
    static const struct task_case cases[] = {
        {CLIENT("1 no such task"), .move = "start c1/", .plan = NOT_FOUND},
        {REP("1 no such task"), .move = "start c1/A" INCARNATION, .plan = NOT_FOUND},
        {CLIENT("2 on another cell"), .task = "Running c2/", .move = "start c1/",
         .plan = CANNOT("Running", "Running")},
        {CLIENT("2 over"), .task = "Completed", .move = "start c1/",
         .plan = CANNOT("Completed", "Running")},
        {CLIENT("2 being resolved"), .task = "Resolving", .move = "start c1/",
         .plan = CANNOT("Resolving", "Running")},
        {CLIENT("2 of a newer version"), .task = "Paused", .move = "start c1/",
         .plan = CANNOT("Invalid", "Running")},
        {REP("2 another attempt of the cell"), .task = "Running c1/B",
         .move = "start c1/A" INCARNATION, .plan = CANNOT("Running", "Running")},
        {REP("2 the attempt of another cell"), .task = "Running c2/A",
         .move = "start c1/A" INCARNATION, .plan = CANNOT("Running", "Running")},
        {REP("2 over"), .task = "Completed /A", .move = "start c1/A" INCARNATION,
         .plan = CANNOT("Completed", "Running")},
        {REP("2 late, its attempt was rejected"), .task = "Pending c1/A rejected=1",
         .move = "start c1/A" INCARNATION, .plan = CANNOT("Pending", "Running")},
        {REP("2 late, rejected by another attempt since it was offered"),
         .task = "Pending c2/B rejected=1", .move = "start c1/A of=900 offered=0" INCARNATION,
         .plan = CANNOT("Pending", "Running")},
        {REP("2 late, rejected by the auctioneer since"), .task = "Pending rejected=3",
         .move = "start c1/A of=900 offered=2" INCARNATION, .plan = CANNOT("Pending", "Running")},
        {REP("2 offered again, but its attempt was rejected"), .task = "Pending c1/A rejected=1",
         .move = "start c1/A of=900 offered=1" INCARNATION, .plan = CANNOT("Pending", "Running")},
        {CLIENT("3 again"), .task = "Running c1/A", .move = "start c1/", .plan = "nothing\n"},
        {REP("3 again"), .task = "Running c1/A", .move = "start c1/A" INCARNATION,
         .plan = "nothing\n"},
        {REP("3 again, as it was offered"), .task = "Running c1/A rejected=1",
         .move = "start c1/A of=900 offered=1" INCARNATION, .plan = "nothing\n"},
        {CLIENT("4"), .task = "Pending", .move = "start c1/",
         .plan = "put task/t start by client -> Running c1/ updated=1000\n"},
        {CLIENT("4 an ordinary client carries no attempt"), .task = "Pending c1/A",
         .move = "start c1/", .plan = "put task/t start by client -> Running c1/ updated=1000\n"},
        {REP("4"), .task = "Pending", .move = "start c1/A" INCARNATION,
         .plan = "put task/t start by rep -> Running c1/A updated=1000\n"},
        {REP("4 a new attempt of the cell that rejected it"), .task = "Pending c1/A",
         .move = "start c1/B" INCARNATION,
         .plan = "put task/t start by rep -> Running c1/B updated=1000\n"},
        {REP("4 as it was offered"), .task = "Pending c2/B rejected=1",
         .move = "start c1/A of=900 offered=1" INCARNATION,
         .plan = "put task/t start by rep -> Running c1/A updated=1000 rejected=1 ()\n"},
        {REP("4 no offer is told"), .task = "Pending c2/B rejected=1",
         .move = "start c1/A" INCARNATION,
         .plan = "put task/t start by rep -> Running c1/A updated=1000 rejected=1 ()\n"},
        {REP("4 a restored board has forgotten the rejection"), .task = "Pending",
         .move = "start c1/A of=900 offered=1" INCARNATION,
         .plan = "put task/t start by rep -> Running c1/A updated=1000\n"},
        {REP("4 updated_at never falls"), .task = "Pending updated=2000",
         .move = "start c1/A" INCARNATION,
         .plan = "put task/t start by rep -> Running c1/A updated=2000\n"},
    };
    RUN(cases);
}

/* ---- cancel, fail ---------------------------------------------------------------------------- */

static void cancels(void **state)
{
    static const struct task_case cases[] = {
        {CLIENT("1"), .move = "cancel", .plan = NOT_FOUND},
        {CLIENT("2"), .task = "Completed", .move = "cancel",
         .plan = CANNOT("Completed", "Completed")},
        {CLIENT("2 resolving"), .task = "Resolving", .move = "cancel",
         .plan = CANNOT("Resolving", "Completed")},
        {CLIENT("3 pending"), .task = "Pending", .move = "cancel",
         .plan = "put task/t cancel by client -> Completed updated=1000 completed=1000 failed "
                 "(task was cancelled)\n"},
        {CLIENT("3 running"), .task = "Running c1/A", .move = "cancel",
         .plan = "put task/t cancel by client -> Completed /A ran_on=c1 updated=1000 "
                 "completed=1000 failed (task was cancelled)\nnotice cancel t/A at c1\n"},
        {CLIENT("3 pending, rejected by a cell before"), .task = "Pending c1/A", .move = "cancel",
         .plan = "put task/t cancel by client -> Completed /A updated=1000 completed=1000 failed "
                 "(task was cancelled)\n"},
        {CLIENT("3 awaited"), .task = "Running c1/A url", .move = "cancel",
         .plan = "put task/t cancel by client -> Completed /A ran_on=c1 updated=1000 "
                 "completed=1000 failed (task was cancelled)\nnotice callback t\n"
                 "notice cancel t/A at c1\n"},
        {CLIENT("fail 1"), .move = "fail reason=R", .plan = NOT_FOUND},
        {CLIENT("fail 2"), .task = "Completed", .move = "fail reason=R",
         .plan = CANNOT("Completed", "Completed")},
        {CLIENT("fail 3 pending"), .task = "Pending", .move = "fail reason=R",
         .plan = "put task/t fail by client -> Completed updated=1000 completed=1000 failed (R)\n"},
        {CLIENT("fail 3 running"), .task = "Running c1/A", .move = "fail reason=R",
         .plan = "put task/t fail by client -> Completed /A ran_on=c1 updated=1000 completed=1000 "
                 "failed (R)\n"},
        {CLIENT("fail 3 awaited"), .task = "Pending url", .move = "fail reason=R",
         .plan = "put task/t fail by client -> Completed updated=1000 completed=1000 failed (R)\n"
                 "notice callback t\n"},
    };
    RUN(cases);
}

/* ---- reject ---------------------------------------------------------------------------------- */

static void rejects(void **state)
{
    static const struct task_case cases[] = {
        {CLIENT("1"), .move = "reject reason=R", .plan = NOT_FOUND},
        {CLIENT("2 over"), .task = "Completed", .move = "reject reason=R", .plan = INVALID},
        {CLIENT("2 over, rejections spent"), .task = "Completed rejected=3",
         .move = "reject reason=R", .plan = CANNOT("Completed", "Completed")},
        {CLIENT("2 resolving"), .task = "Resolving", .move = "reject reason=R", .plan = INVALID},
        {AUCTIONEER("2 it changed since"), .task = "Pending revision=4",
         .move = "reject reason=R revision=3" BID, .plan = MOVED_ON("auctioneer", "Pending")},
        {AUCTIONEER("2 a cell has it"), .task = "Running c1/A revision=3",
         .move = "reject reason=R revision=3" BID, .plan = MOVED_ON("auctioneer", "Running")},
        {REP("2 another attempt"), .task = "Running c1/B",
         .move = "reject c1/A reason=R" INCARNATION, .plan = MOVED_ON("rep", "Running")},
        {REP("2 not started by it"), .task = "Pending", .move = "reject c1/A reason=R" INCARNATION,
         .plan = MOVED_ON("rep", "Pending")},
        {REP("2 over"), .task = "Completed /A", .move = "reject c1/A reason=R" INCARNATION,
         .plan = MOVED_ON("rep", "Completed")},
        {REP("2 of a newer version"), .task = "Paused c1/A",
         .move = "reject c1/A reason=R" INCARNATION,
         .plan = MOVED_ON("rep", "of an unknown state")},
        {REP("3 again"), .task = "Pending c1/A rejected=1",
         .move = "reject c1/A reason=R" INCARNATION, .plan = "nothing\n"},
        {REP("3 again, and they are spent"), .task = "Pending c1/A rejected=3",
         .move = "reject c1/A reason=R" INCARNATION, .plan = "nothing\n"},
        {CLIENT("4 the fourth"), .task = "Pending rejected=3", .move = "reject reason=R",
         .plan = "put task/t reject by client -> Completed updated=1000 completed=1000 failed (R) "
                 "rejected=4 (R)\n"},
        {CLIENT("4 awaited"), .task = "Pending rejected=3 url", .move = "reject reason=R",
         .plan = "put task/t reject by client -> Completed updated=1000 completed=1000 failed (R) "
                 "rejected=4 (R)\nnotice callback t\n"},
        {CLIENT("4 its own number"), .task = "Running c1/ rejected=1 retries=1",
         .move = "reject reason=R",
         .plan = "put task/t reject by client -> Completed ran_on=c1 updated=1000 completed=1000 "
                 "failed (R) "
                 "rejected=2 (R)\n"},
        {CLIENT("4 none at all"), .task = "Pending retries=0", .move = "reject reason=R",
         .plan = "put task/t reject by client -> Completed updated=1000 completed=1000 failed (R) "
                 "rejected=1 (R)\n"},
        {AUCTIONEER("4"), .task = "Pending rejected=3", .move = "reject reason=R revision=3" BID,
         .plan = "put task/t reject by auctioneer -> Completed updated=1000 completed=1000 failed "
                 "(R) rejected=4 (R)\n"},
        {REP("4"), .task = "Running c1/A rejected=3", .move = "reject c1/A reason=R" INCARNATION,
         .plan = "put task/t reject by rep -> Completed /A ran_on=c1 updated=1000 completed=1000 "
                 "failed (R) "
                 "rejected=4 (R)\n"},
        {CLIENT("5 the third"), .task = "Pending rejected=2", .move = "reject reason=R",
         .plan = "put task/t reject by client -> Pending updated=1000 rejected=3 (R)\n"},
        {CLIENT("5 awaited"), .task = "Pending url", .move = "reject reason=R",
         .plan = "put task/t reject by client -> Pending updated=1000 rejected=1 (R)\n"},
        {CLIENT("5 its own number"), .task = "Pending rejected=3 retries=4",
         .move = "reject reason=R",
         .plan = "put task/t reject by client -> Pending updated=1000 rejected=4 (R)\n"},
        {CLIENT("5 running, as Diego"), .task = "Running c1/A", .move = "reject reason=R",
         .plan = "put task/t reject by client -> Pending c1/A updated=1000 rejected=1 (R)\n"},
        {AUCTIONEER("5"), .task = "Pending", .move = "reject reason=R revision=3" BID,
         .plan = "put task/t reject by auctioneer -> Pending updated=1000 rejected=1 (R)\n"},
        {REP("5"), .task = "Running c1/A", .move = "reject c1/A reason=R" INCARNATION,
         .plan = "put task/t reject by rep -> Pending c1/A updated=1000 rejected=1 (R)\n"},
    };
    RUN(cases);
}

/* ---- complete -------------------------------------------------------------------------------- */

static void completes(void **state)
{
    static const struct task_case cases[] = {
        {CLIENT("1"), .move = "complete c1/", .plan = NOT_FOUND},
        {CLIENT("2 pending"), .task = "Pending", .move = "complete c1/",
         .plan = CANNOT("Pending", "Completed")},
        {CLIENT("2 over"), .task = "Completed result=r", .move = "complete c1/ result=r",
         .plan = CANNOT("Completed", "Completed")},
        {CLIENT("2 on another cell"), .task = "Running c2/", .move = "complete c1/",
         .plan = "refuse RunningOnDifferentCell: Running on cell c2 not c1\n"},
        {REP("2 on another cell"), .task = "Running c2/A", .move = "complete c1/A" INCARNATION,
         .plan = "refuse RunningOnDifferentCell: Running on cell c2 not c1\n"},
        {REP("2 another attempt"), .task = "Running c1/B", .move = "complete c1/A" INCARNATION,
         .plan = "refuse ResourceConflict: task t runs on cell c1 by another attempt\n"},
        {REP("2 another result"), .task = "Completed /A result=r",
         .move = "complete c1/A result=s" INCARNATION, .plan = CANNOT("Completed", "Completed")},
        {REP("2 another reason"), .task = "Completed /A failed reason=R",
         .move = "complete c1/A failed reason=S" INCARNATION,
         .plan = CANNOT("Completed", "Completed")},
        {REP("2 cancelled meanwhile"), .task = "Completed /A failed reason=cancelled",
         .move = "complete c1/A" INCARNATION, .plan = CANNOT("Completed", "Completed")},
        {REP("2 by another attempt"), .task = "Completed /B result=r",
         .move = "complete c1/A result=r" INCARNATION, .plan = CANNOT("Completed", "Completed")},
        {REP("2 no attempt is no proof"), .task = "Completed result=r",
         .move = "complete c1/ result=r" INCARNATION, .plan = CANNOT("Completed", "Completed")},
        {REP("2 resolving, another outcome"), .task = "Resolving /A",
         .move = "complete c1/A failed" INCARNATION, .plan = CANNOT("Resolving", "Completed")},
        {REP("3 again"), .task = "Completed /A result=r",
         .move = "complete c1/A result=r" INCARNATION, .plan = "nothing\n"},
        {REP("3 again, resolving"), .task = "Resolving /A failed reason=R",
         .move = "complete c1/A failed reason=R" INCARNATION, .plan = "nothing\n"},
        {CLIENT("4 well"), .task = "Running c1/A", .move = "complete c1/ result=r",
         .plan =
             "put task/t complete by client -> Completed /A ran_on=c1 updated=1000 completed=1000 "
             "result=r\n"},
        {REP("4 well"), .task = "Running c1/A", .move = "complete c1/A result=r" INCARNATION,
         .plan = "put task/t complete by rep -> Completed /A ran_on=c1 updated=1000 completed=1000 "
                 "result=r\n"},
        {REP("4 failed"), .task = "Running c1/A",
         .move = "complete c1/A failed reason=R" INCARNATION,
         .plan = "put task/t complete by rep -> Completed /A ran_on=c1 updated=1000 completed=1000 "
                 "failed "
                 "(R)\n"},
        {REP("4 awaited"), .task = "Running c1/A url", .move = "complete c1/A" INCARNATION,
         .plan =
             "put task/t complete by rep -> Completed /A ran_on=c1 updated=1000 completed=1000\n"
             "notice callback t\n"},
        {REP("3 awaited, again"), .task = "Completed /A url", .move = "complete c1/A" INCARNATION,
         .plan = "nothing\n"},
        {REP("4 what a client started on its cell"), .task = "Running c1/",
         .move = "complete c1/ failed reason=R" INCARNATION,
         .plan =
             "put task/t complete by rep -> Completed ran_on=c1 updated=1000 completed=1000 failed "
             "(R)\n"},
    };
    RUN(cases);
}

/* ---- resolving, delete ----------------------------------------------------------------------- */

static void resolves(void **state)
{
    static const struct task_case cases[] = {
        {CLIENT("1"), .move = "resolving", .plan = NOT_FOUND},
        {CLIENT("2 pending"), .task = "Pending", .move = "resolving",
         .plan = CANNOT("Pending", "Resolving")},
        {CLIENT("2 running"), .task = "Running c1/", .move = "resolving",
         .plan = CANNOT("Running", "Resolving")},
        {CLIENT("2 again"), .task = "Resolving", .move = "resolving",
         .plan = CANNOT("Resolving", "Resolving")},
        {CLIENT("3"), .task = "Completed /A completed=900 result=r", .move = "resolving",
         .plan = "put task/t resolving by client -> Resolving /A updated=1000 completed=900 "
                 "result=r\n"},
        {BBS("1"), .move = "resolving", .plan = NOT_FOUND},
        {BBS("2 a client was faster"), .task = "Resolving url", .move = "resolving",
         .plan = CANNOT("Resolving", "Resolving")},
        {BBS("2 not awaited"), .task = "Completed completed=900", .move = "resolving",
         .plan = CANNOT("Completed", "Resolving")},
        {BBS("2 not awaited any more"), .task = "Completed completed=-603800 url",
         .move = "resolving", .plan = CANNOT("Completed", "Resolving")},
        {BBS("3"), .task = "Completed /A completed=-603799 result=r url", .move = "resolving",
         .plan = "put task/t resolving by bbs -> Resolving /A updated=1000 completed=-603799 "
                 "result=r\n"},
        {BBS("3 known for a moment only: a clock is years wrong"),
         .task = "Completed /A completed=-99999999 known=3599 result=r url", .move = "resolving",
         .plan = "put task/t resolving by bbs -> Resolving /A updated=1000 completed=-99999999 "
                 "result=r\n"},
        {BBS("2 by a clock that is years wrong, and known for an hour"),
         .task = "Completed /A completed=-99999999 known=3600 result=r url", .move = "resolving",
         .plan = CANNOT("Completed", "Resolving")},
        {BBS("delete 2 another's"), .task = "Resolving revision=8 url",
         .move = "delete revision=7", .plan = CANNOT("Resolving", "Resolving")},
        {BBS("delete 2 kicked"), .task = "Completed revision=8 url", .move = "delete revision=8",
         .plan = CANNOT("Completed", "Resolving")},
        {BBS("delete 3"), .task = "Resolving revision=8 url", .move = "delete revision=8",
         .plan = "delete task/t delete by bbs\n"},
        {CLIENT("delete 1"), .move = "delete", .plan = NOT_FOUND},
        {CLIENT("delete 2"), .task = "Completed", .move = "delete",
         .plan = CANNOT("Completed", "Resolving")},
        {CLIENT("delete 2 pending"), .task = "Pending", .move = "delete",
         .plan = CANNOT("Pending", "Resolving")},
        {CLIENT("delete 3"), .task = "Resolving", .move = "delete",
         .plan = "delete task/t delete by client\n"},
    };
    RUN(cases);
}

/* ---- the converger's ------------------------------------------------------------------------- */

static void converges(void **state)
{
#define NOT_EXPIRED "refuse ResourceConflict: task t has not expired\n"
#define NOT_GONE "refuse ResourceConflict: task t does not run on a cell that is absent for 60 s\n"
#define NO_PLACEMENT "refuse ResourceConflict: task t awaits no placement\n"
#define NOT_AWAITED                                                                                \
    "refuse ResourceConflict: task t is not Completed, or nobody awaits its callback\n"
#define NOT_STUCK "refuse ResourceConflict: task t is not Resolving for 45 s\n"
#define KEPT "refuse ResourceConflict: task t is not Completed, or is still to be kept\n"
#define GONE(place)                                                                                \
    "put task/t disappear by converger -> Completed " place " ran_on=c1"                           \
    " updated=1000 completed=1000 failed (cell disappeared before completion)\n"
    static const struct task_case cases[] = {
        {CONVERGER("expire 1"), .move = "expire" TERM, .plan = NOT_FOUND},
        {CONVERGER("expire 2 not yet"), .task = "Pending created=-800", .move = "expire" TERM,
         .plan = NOT_EXPIRED},
        {CONVERGER("expire 2 started"), .task = "Running c1/A created=-9000", .move = "expire" TERM,
         .plan = NOT_EXPIRED},
        {CONVERGER("expire 3"), .task = "Pending created=-801", .move = "expire" TERM,
         .plan = "put task/t expire by converger -> Completed updated=1000 completed=1000 failed "
                 "(not started within time limit)\n"},
        {CONVERGER("ask 1"), .move = "ask" TERM, .plan = NOT_FOUND},
        {CONVERGER("ask 2 started"), .task = "Running c1/A", .move = "ask" TERM,
         .plan = NO_PLACEMENT},
        {CONVERGER("ask 2 over"), .task = "Completed", .move = "ask" TERM, .plan = NO_PLACEMENT},
        {CONVERGER("ask 2 of a newer version"), .task = "Paused", .move = "ask" TERM,
         .plan = NO_PLACEMENT},
        {CONVERGER("ask 3"), .task = "Pending", .move = "ask" TERM,
         .plan = "nothing\nnotice task t\n"},
        {CONVERGER("disappear 1"), .move = "disappear" TERM, .plan = NOT_FOUND},
        {CONVERGER("disappear 2 present"), .task = "Running c1/A updated=0", .cell = CELL,
         .move = "disappear" TERM, .plan = NOT_GONE},
        {CONVERGER("disappear 2 lost, not for long enough"), .task = "Running c1/A updated=0",
         .cell = "lost since=941", .move = "disappear" TERM, .plan = NOT_GONE},
        {CONVERGER("disappear 2 unknown, not for long enough"), .task = "Running c1/A updated=941",
         .move = "disappear" TERM, .plan = NOT_GONE},
        {CONVERGER("disappear 2 pending"), .task = "Pending c1/A updated=0",
         .move = "disappear" TERM, .plan = NOT_GONE},
        {CONVERGER("disappear 2 over"), .task = "Completed c1/A updated=0",
         .move = "disappear" TERM, .plan = NOT_GONE},
        {CONVERGER("disappear 3 lost"), .task = "Running c1/A updated=0", .cell = "lost since=940",
         .move = "disappear" TERM, .plan = GONE("c1/A")},
        {CONVERGER("disappear 3 unknown"), .task = "Running c1/A updated=940",
         .move = "disappear" TERM, .plan = GONE("c1/A")},
        {CONVERGER("kick 1"), .move = "kick" TERM, .plan = NOT_FOUND},
        {CONVERGER("kick 2 not yet"), .task = "Resolving updated=956", .move = "kick" TERM,
         .plan = NOT_STUCK},
        {CONVERGER("kick 2 completed"), .task = "Completed updated=0", .move = "kick" TERM,
         .plan = NOT_STUCK},
        {CONVERGER("kick 3"), .task = "Resolving /A updated=955 completed=900 result=r",
         .move = "kick" TERM,
         .plan = "put task/t kick by converger -> Completed /A updated=955 completed=900 "
                 "result=r\n"},
        {CONVERGER("deliver 1"), .move = "deliver" TERM, .plan = NOT_FOUND},
        {CONVERGER("deliver 2 being resolved"), .task = "Resolving completed=900 url",
         .move = "deliver" TERM, .plan = NOT_AWAITED},
        {CONVERGER("deliver 2 no URL"), .task = "Completed completed=900", .move = "deliver" TERM,
         .plan = NOT_AWAITED},
        {CONVERGER("deliver 2 for too long"), .task = "Completed completed=-603800 url",
         .move = "deliver" TERM, .plan = NOT_AWAITED},
        {CONVERGER("deliver 3"), .task = "Completed completed=-603799 url", .move = "deliver" TERM,
         .plan = "nothing\nnotice callback t\n"},
        {CONVERGER("forget 1"), .move = "forget" TERM, .plan = NOT_FOUND},
        {CONVERGER("forget 2 not yet"), .task = "Completed completed=-85399", .move = "forget" TERM,
         .plan = KEPT},
        {CONVERGER("forget 2 its own time"), .task = "Completed completed=941 keep=60",
         .move = "forget" TERM, .plan = KEPT},
        {CONVERGER("forget 2 not delivered"), .task = "Completed completed=-603799 keep=60 url",
         .move = "forget" TERM, .plan = KEPT},
        {CONVERGER("forget 2 resolving"), .task = "Resolving completed=-700000",
         .move = "forget" TERM, .plan = KEPT},
        {CONVERGER("forget 3"), .task = "Completed completed=-85400", .move = "forget" TERM,
         .plan = "delete task/t forget by converger\n"},
        {CONVERGER("forget 3 its own time"), .task = "Completed completed=940 keep=60",
         .move = "forget" TERM, .plan = "delete task/t forget by converger\n"},
        /* Each limit is the converger's setting, if the move says one. */
        {CONVERGER("expire 2 by its limit"), .task = "Pending created=990",
         .move = "expire after=10" TERM, .plan = NOT_EXPIRED},
        {CONVERGER("expire 3 by its limit"), .task = "Pending created=989",
         .move = "expire after=10" TERM,
         .plan = "put task/t expire by converger -> Completed updated=1000 completed=1000 failed "
                 "(not started within time limit)\n"},
        {CONVERGER("disappear 3 by its limit"), .task = "Running c1/A updated=0",
         .cell = "lost since=990", .move = "disappear after=10" TERM, .plan = GONE("c1/A")},
        {CONVERGER("kick 2 by its limit"), .task = "Resolving updated=991",
         .move = "kick after=10" TERM,
         .plan = "refuse ResourceConflict: task t is not Resolving for 10 s\n"},
        {CONVERGER("kick 3 by its limit"), .task = "Resolving updated=990 completed=900",
         .move = "kick after=10" TERM,
         .plan = "put task/t kick by converger -> Completed updated=990 completed=900\n"},
        {CONVERGER("forget 2 by its limit"), .task = "Completed completed=991",
         .move = "forget after=10" TERM, .plan = KEPT},
        {CONVERGER("forget 3 by its limit"), .task = "Completed completed=990",
         .move = "forget after=10" TERM, .plan = "delete task/t forget by converger\n"},
        {CONVERGER("forget 2 not delivered, whatever the limit"),
         .task = "Completed completed=0 url", .move = "forget after=10" TERM, .plan = KEPT},
        {CONVERGER("forget 3 never delivered"), .task = "Completed completed=-603800 url",
         .move = "forget" TERM, .plan = "delete task/t forget by converger\n"},
    };
    RUN(cases);
}

/* ---- desire, and what does not fit ----------------------------------------------------------- */

static char *repeat(struct arena *a, size_t size)
{
    char *text = arena_alloc(a, size + 1);
    memset(text, 'x', size);
    text[size] = '\0';
    return text;
}

static void desire_case(const char *task, size_t result_file_size, const char *expected)
{
    SCOPED_ARENA(a);
    struct random random;
    struct plan plan;
    SCOPED_BUF(printed);
    plan_init(&plan, &a);
    Models__TaskDefinition definition = MODELS__TASK_DEFINITION__INIT;
    definition.result_file = repeat(&a, result_file_size);
    Models__DesireTaskRequest r = MODELS__DESIRE_TASK_REQUEST__INIT;
    r.task_guid = arena_strdup(&a, "t");
    r.domain = arena_strdup(&a, "d");
    r.task_definition = &definition;
    r.optional_max_retries_case = MODELS__DESIRE_TASK_REQUEST__OPTIONAL_MAX_RETRIES_MAX_RETRIES;
    r.max_retries = 2;
    r.optional_keep_s_case = MODELS__DESIRE_TASK_REQUEST__OPTIONAL_KEEP_S_KEEP_S;
    r.keep_s = 60;
    struct task_snapshot s = {.task = task ? row_task(&a, task) : NULL};
    struct op_input in = row_input(ACTOR_CLIENT, &random, &r.base);
    task_desire_decide(&s, &in, &plan);
    print_task_plan(&plan, &printed);
    assert_string_equal(buf_string(&printed), expected);
    if (plan.verdict == PLAN_COMMIT) {
        const Models__Task *made = (const Models__Task *)plan.changes->message;
        assert_int_equal(made->created_at, ROWS_NOW_S * SECOND_NS);
        assert_int_equal(made->optional_max_retries_case,
                         MODELS__TASK__OPTIONAL_MAX_RETRIES_MAX_RETRIES);
        assert_int_equal(made->max_retries, 2);
        assert_int_equal(made->optional_keep_s_case, MODELS__TASK__OPTIONAL_KEEP_S_KEEP_S);
        assert_int_equal(made->keep_s, 60);
        assert_string_equal(made->domain, "d");
    }
}

static void desires(void **state)
{
    static const char exists[] =
        "refuse ResourceExists: the requested resource already exists\n";
    static const char made[] = "put task/t desire by client -> Pending updated=1000\n"
                               "notice task t\n";
    enum { LARGEST = TASK_BYTES_MAX - TASK_OUTCOME_BYTES_MAX };
    desire_case("Pending", 1, exists);   /* 1 */
    desire_case("Completed", 1, exists); /* 1 */
    desire_case(NULL, LARGEST, INVALID); /* 2 */
    desire_case(NULL, LARGEST - 100, made);
    desire_case(NULL, 1, made); /* 3 */
}

/* A record never grows beyond what a transaction takes, and reasons are cut. */
static void large_outcomes(void **state)
{
    static const struct {
        size_t result;
        enum plan_verdict verdict;
    } cases[] = {{51200, PLAN_COMMIT}, {TASK_BYTES_MAX - 2000, PLAN_COMMIT},
                 {TASK_BYTES_MAX, PLAN_REFUSE}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        SCOPED_ARENA(a);
        struct random random;
        struct plan plan;
        plan_init(&plan, &a);
        Board__Move *m = task_row_move(&a, "complete c1/A failed" INCARNATION);
        m->task->result = repeat(&a, cases[i].result);
        m->task->error_message = repeat(&a, 1024);
        struct task_snapshot s = {
            .task = row_task(&a, "Running c1/A"),
            .by = {.cell = row_cell(&a, CELL), .board_generation = ROWS_BOARD_GENERATION},
            .times = &SETTINGS_DEFAULT.tasks};
        struct op_input in = row_input(ACTOR_REP, &random, &m->base);
        move_decide(&task_moves, &s, &in, &plan);
        assert_int_equal(plan.verdict, cases[i].verdict);
        if (plan.verdict == PLAN_COMMIT) {
            const Models__Task *after = (const Models__Task *)plan.record;
            assert_int_equal(strlen(after->failure_reason), 1024);
            assert_non_null(strstr(after->failure_reason, "(truncated)"));
            assert_string_equal(after->result, m->task->result);
            s.task = after; /* and so it is known again */
            plan_init(&plan, &a);
            move_decide(&task_moves, &s, &in, &plan);
            assert_int_equal(plan.verdict, PLAN_NOTHING);
        }
    }
}

/* Nobody may bring a move that the table gives to another. */
static void named_moves(void **state)
{
    assert_null(move_row_named(&task_moves, "claim"));
    assert_null(move_row_named(&task_moves, "desire")); /* a request of its own */
    assert_null(move_row_named(&task_moves, "remove")); /* what a job run's move does */
    for (int trigger = TASK_TRIGGER_START; trigger < TASK_TRIGGER_REMOVE; trigger++) {
        assert_non_null(move_row_named(&task_moves, task_lifecycle.triggers[trigger]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incarnations),   cmocka_unit_test(speakers),
        cmocka_unit_test(starts),         cmocka_unit_test(cancels),
        cmocka_unit_test(rejects),        cmocka_unit_test(completes),
        cmocka_unit_test(resolves),       cmocka_unit_test(converges),
        cmocka_unit_test(desires),        cmocka_unit_test(named_moves),
        cmocka_unit_test(large_outcomes),
    };
    return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}
