/* Runs of jobs: what clients ask, and each move of the converger, rule by rule (bbs/job_run). What
 * each row decides by is held to its compares. */
#include "bbs/job_run/job_run.h"
#include "test/decide/laid_system.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

#define OPEN "system state=stable board_generation=E\n"
#define HEAD "head /=T1\n"
#define RUN "jobrun R1 path=/m created_at=3 state="
#define WITH_TASK " task_guid=t1\n"
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* ---- A board --------------------------------------------------------------------------------- */

static char *said(struct laid_system *l, const char *text)
{
    return arena_strdup(&l->arena, text);
}

static Models__TaskDefinition *definition(struct laid_system *l)
{
    Models__TaskDefinition *d = arena_message(&l->arena, &models__task_definition__descriptor);
    Models__EnvironmentVariable *one =
        arena_message(&l->arena, &models__environment_variable__descriptor);
    d->root_fs = said(l, "preloaded:x");
    d->action = arena_message(&l->arena, &models__action__descriptor);
    d->action->run_action = arena_message(&l->arena, &models__run_action__descriptor);
    d->action->run_action->path = said(l, "/bin/old");
    d->action->run_action->user = said(l, "root");
    one->name = said(l, "LOG");
    one->value = said(l, "info");
    d->n_environment_variables = 1;
    d->environment_variables = arena_copy(&l->arena, &one, sizeof(one));
    return d;
}

/* "job" or "service" at /m in tree T1; NULL = nothing. */
static void put_component(struct laid_system *l, const char *kind)
{
    Board__ComponentRecord *c = arena_message(&l->arena, &board__component_record__descriptor);
    if (kind) {
        c->tree = said(l, "T1");
        c->path = said(l, "/m");
        c->kind = said(l, kind);
        c->task = strcmp(kind, "job") == 0 ? definition(l) : NULL;
        laid_system_put(l, key_tree(&l->arena, "T1", "/m"), &c->base);
    }
}

/* "Running", "Completed", "failed" (Completed): the run's Task; "other": another's of its guid. */
static void put_task(struct laid_system *l, const char *state)
{
    Models__Task *t = arena_message(&l->arena, &models__task__descriptor);
    if (!state) {
        return;
    }
    bool failed = strcmp(state, "failed") == 0;
    t->task_guid = said(l, "t1");
    t->domain = said(l, "system.u");
    t->task_definition = definition(l);
    t->state = strcmp(state, "Running") == 0     ? MODELS__TASK__STATE__Running
               : strcmp(state, "Completed") == 0 ? MODELS__TASK__STATE__Completed
               : failed                          ? MODELS__TASK__STATE__Completed
                                                 : MODELS__TASK__STATE__Pending;
    t->failed = failed;
    t->failure_reason = said(l, failed ? "exit status 7" : "");
    t->result = said(l, strcmp(state, "Completed") == 0 ? "it is done" : "");
    t->cell_id = said(l, t->state == MODELS__TASK__STATE__Running ? "c1" : "");
    laid_system_put(l, key_task(&l->arena, t->task_guid), &t->base);
}

/* ---- Trying ---------------------------------------------------------------------------------- */

/* How many runs there are need not be exact. */
static bool is_counted(const struct op_row *row, const char *key, bool added)
{
    (void)row;
    return key_type(key) == RECORD_JOB_RUN && added;
}

static void try_row(struct laid_system *l, const struct op_row *op, enum actor actor,
                    const ProtobufCMessage *request, const char *rule, const char *want)
{
    struct laid_plan p;
    struct random random;
    SCOPED_BUF(fault);
    struct op_input in = {.actor = actor, .peer_name = "x", .trace_id = "", .boot_id = "boot",
                          .request = request,
                          .now = {.mono_ns = 500 * SECOND_NS,
                                  .wall_ns = LAID_SYSTEM_NOW_S * SECOND_NS}};
    laid_decide(l->board, op, &in, &l->arena, &p);
    const char *is = laid_system_print(l, &p.plan);
    if (strcmp(is, want) != 0) {
        fail_msg("%s:\n%s\nnot\n%s", rule, is, want);
    }
    random_seed(&random, (uint64_t[2]){1, 2});
    laid_hold(l->board, op, &in, NULL, 0, &random, 3, is_counted, &fault);
    if (fault.size) {
        fail_msg("%s: %s", rule, buf_string(&fault));
    }
}

struct run_row {
    const char *rule, *board, *task, *move, *plan;
};

static Board__Move *move_of_the_leader(struct laid_system *l, const char *name)
{
    Board__Move *m = move_new(&l->arena, name, "jobrun/u/R1");
    m->term = arena_message(&l->arena, &board__term__descriptor);
    m->term->role = said(l, "converger");
    m->term->board_generation = said(l, LAID_SYSTEM_GENERATION);
    m->term->term = LAID_SYSTEM_TERM;
    return m;
}

static void try_moves(const struct run_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct laid_system l;
        laid_system_init(&l, rows[i].board);
        put_task(&l, rows[i].task);
        Board__Move *m = move_of_the_leader(&l, rows[i].move);
        try_row(&l, move_row_named(&jobrun_moves, m->move)->op, ACTOR_CONVERGER, &m->base,
                rows[i].rule, rows[i].plan);
        laid_system_done(&l);
    }
}

/* ---- run and cancel -------------------------------------------------------------------------- */

struct ask_row {
    const char *rule, *board, *kind; /* of the component at /m */
    const char *command, *variable, *secret; /* "" = none */
    const char *plan;
};

static Board__JobRunRequest *request_of(struct laid_system *l, const struct ask_row *row)
{
    Board__JobRunRequest *r = arena_message(&l->arena, &board__job_run_request__descriptor);
    Models__EnvironmentVariable *one =
        arena_message(&l->arena, &models__environment_variable__descriptor);
    char *command = said(l, row->command);
    r->system = said(l, "shop");
    r->id = said(l, "R1");
    r->path = said(l, "/m");
    r->n_command = *command ? 1 : 0;
    r->command = arena_copy(&l->arena, &command, sizeof(command));
    r->n_environment = *row->variable ? 1 : 0;
    r->environment = arena_copy(&l->arena, &one, sizeof(one));
    one->name = said(l, row->variable);
    one->value = said(l, *row->secret ? "" : "debug");
    if (*row->secret) {
        one->sealed = arena_message(&l->arena, &models__sealed__descriptor);
        one->sealed->name = said(l, row->secret);
    }
    return r;
}

static void a_run_is_asked_for(void **state)
{
    static const struct ask_row rows[] = {
        {"1 no system", "", NULL, "", "", "",
         "ResourceNotFound: there is no system shop: bbs systems lists those that are"},
        {"1 pending", "system state=pending\n", "job", "", "", "",
         "ResourceConflict: system shop is pending"},
        {"1 deleting", "system state=deleting\n" HEAD, "job", "", "", "",
         "ResourceConflict: system shop is deleting"},
        {"2 the same", OPEN RUN "failed\n", NULL, "", "", "", "nothing"},
        {"2 another", OPEN RUN "failed\n", NULL, "/bin/new", "", "",
         "ResourceExists: job run R1 is of another request: leave the id out"},
        {"3 nothing stands there", OPEN HEAD, NULL, "", "", "",
         "ResourceNotFound: system shop has no job at /m: nothing stands there"},
        {"3 no head", OPEN, "job", "", "", "",
         "ResourceNotFound: system shop has no job at /m: nothing stands there"},
        {"3 a service", OPEN HEAD, "service", "", "", "",
         "ResourceNotFound: system shop has no job at /m: what stands there is no job"},
        {"5 a secret that is not set", OPEN HEAD, "job", "", "KEY", "/m:key",
         "ResourceConflict: /m needs secret /m:key: bbs secrets set shop /m:key"},
        {"7", OPEN HEAD, "job", "", "", "",
         "run jobrun/u/R1 id=R1 uid=u system=shop path=/m tree=T1 state=pending "
         "message=waits for a converger to queue it created_at=1000s"},
        {"7 with a command", OPEN HEAD, "job", "/bin/new", "", "",
         "run jobrun/u/R1 id=R1 uid=u system=shop path=/m tree=T1 command=/bin/new state=pending "
         "message=waits for a converger to queue it created_at=1000s"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct laid_system l;
        laid_system_init(&l, rows[i].board);
        put_component(&l, rows[i].kind);
        Board__JobRunRequest *r = request_of(&l, &rows[i]);
        try_row(&l, &run_job_row, ACTOR_CLIENT, &r->base, rows[i].rule, rows[i].plan);
        laid_system_done(&l);
    }
}

/* The command replaces the job's; a variable of the same name too, and others stay. */
static void the_request_is_merged(void **state)
{
    struct laid_system l;
    laid_system_init(&l, "");
    const struct ask_row rows[] = {{.command = "/bin/new", .variable = "LOG", .secret = ""},
                                   {.command = "", .variable = "MORE", .secret = ""}};
    Models__TaskDefinition *was = definition(&l);
    Models__TaskDefinition *is = job_run_merged(&l.arena, was, request_of(&l, &rows[0]));
    assert_string_equal(is->action->run_action->path, "/bin/new");
    assert_int_equal(is->n_environment_variables, 1);
    assert_string_equal(is->environment_variables[0]->value, "debug");
    is = job_run_merged(&l.arena, was, request_of(&l, &rows[1]));
    assert_string_equal(is->action->run_action->path, "/bin/old");
    assert_int_equal(is->n_environment_variables, 2);
    assert_string_equal(is->environment_variables[0]->value, "info");
    assert_string_equal(was->environment_variables[0]->value, "info"); /* as it was */
    assert_int_equal(was->n_environment_variables, 1);
    laid_system_done(&l);
}

static void a_run_is_cancelled(void **state)
{
    static const struct run_row rows[] = {
        {"1 no system", "", NULL, "", "ResourceNotFound: there is no system shop"},
        {"1 no run", OPEN, NULL, "", "ResourceNotFound: system shop has no job run R1"},
        {"2 over", OPEN RUN "succeeded\n", NULL, "", "nothing"},
        {"3 pending", OPEN RUN "pending\n", NULL, "",
         "cancel jobrun/u/R1 state=failed message=it was cancelled completed_at=1000s"},
        {"3 running", OPEN RUN "running" WITH_TASK, "Running", "",
         "cancel jobrun/u/R1 state=failed message=it was cancelled completed_at=1000s\n"
         "remove -task/t1"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct laid_system l;
        laid_system_init(&l, rows[i].board);
        put_task(&l, rows[i].task);
        ProtobufCMessage *r = laid_system_request(&l, &board__cancel_job_run_request__descriptor,
                                                  "system=shop id=R1");
        try_row(&l, &cancel_job_row, ACTOR_CLIENT, r, rows[i].rule, rows[i].plan);
        laid_system_done(&l);
    }
}

/* ---- The converger --------------------------------------------------------------------------- */

#define QUEUED(guid)                                                                               \
    "desire task/" guid " task_guid=" guid                                                         \
    " domain=system.u created_at=1000s updated_at=1000s state=1\n"                                 \
    "queue jobrun/u/R1 task_guid=" guid " state=queued message=waits for a cell"

static void a_run_goes_on(void **state)
{
    static const struct run_row rows[] = {
        {"queue again", OPEN RUN "queued" WITH_TASK, NULL, "queue",
         "ResourceConflict: job run R1: it is queued already, or its node pool is not there"},
        {"no such run", OPEN, NULL, "queue", "ResourceNotFound: the requested resource could not "
                                             "be found"},
        {"observe", OPEN RUN "queued" WITH_TASK, "Running", "observe",
         "observe jobrun/u/R1 state=running started_at=1000s"},
        {"observe, pending", OPEN RUN "queued" WITH_TASK, "Pending", "observe",
         "ResourceConflict: job run R1: no cell has its task, or it is known already"},
        {"finish, running", OPEN RUN "running" WITH_TASK, "Running", "finish",
         "ResourceConflict: job run R1: its task is not over"},
        {"finish, over", OPEN RUN "succeeded" WITH_TASK, NULL, "finish",
         "ResourceConflict: job run R1: its task is not over"},
        {"finish, well", OPEN RUN "running started_at=7" WITH_TASK, "Completed", "finish",
         "finish jobrun/u/R1 state=succeeded result=it is done completed_at=7\n"
         "remove -task/t1"},
        {"finish, failed", OPEN RUN "queued" WITH_TASK, "failed", "finish",
         "finish jobrun/u/R1 state=failed message=exit status 7 completed_at=3\n"
         "remove -task/t1"},
        {"finish, gone", OPEN RUN "running" WITH_TASK, NULL, "finish",
         "finish jobrun/u/R1 state=failed message=its task is gone: somebody deleted it "
         "completed_at=1000s"},
    };
    try_moves(rows, COUNT(rows));
}

static void a_run_ends(void **state)
{
    static const struct run_row rows[] = {
        {"delete, open", OPEN RUN "running" WITH_TASK, "Running", "delete",
         "ResourceConflict: job run R1: its system is not being deleted"},
        {"delete", "system state=deleting\n" RUN "running" WITH_TASK, "Running", "delete",
         "delete jobrun/u/R1 state=deleting message=its system is being deleted\n"
         "remove -task/t1"},
        {"delete, its system is gone", RUN "failed\n", NULL, "delete",
         "delete jobrun/u/R1 state=deleting message=its system is being deleted"},
        {"delete, gone", "system state=deleting\n", NULL, "delete", "nothing"},
        {"remove, a task yet", RUN "deleting" WITH_TASK, "Running", "remove",
         "ResourceConflict: job run R1: it is not being removed, or has a task yet"},
        {"remove", RUN "deleting" WITH_TASK, NULL, "remove", "remove -jobrun/u/R1"},
        {"forget, kept", OPEN RUN "failed completed_at=999000000000\n", NULL, "forget",
         "ResourceConflict: job run R1: it is not over, or is to be kept yet"},
        {"forget, not over", OPEN RUN "running completed_at=1\n", NULL, "forget",
         "ResourceConflict: job run R1: it is not over, or is to be kept yet"},
        {"forget", OPEN RUN "failed completed_at=-9999999999999999\n", NULL, "forget",
         "forget -jobrun/u/R1"},
    };
    try_moves(rows, COUNT(rows));
}

/* The board of OPEN, HEAD and the job, with so many runs that were over after those of `more`. */
static void try_among(int runs, const char *more, const struct op_row *op, enum actor actor,
                      const ProtobufCMessage *request, const char *want)
{
    struct laid_system l;
    struct laid_plan p;
    SCOPED_BUF(texts);
    buf_printf(&texts, OPEN HEAD "%s\n", more);
    for (int i = 0; i < runs; i++) {
        buf_printf(&texts, "jobrun K%d path=/m created_at=3 state=failed completed_at=%d\n", i,
                   i + 10);
    }
    laid_system_init(&l, buf_string(&texts));
    put_component(&l, "job");
    struct op_input in = {.actor = actor, .peer_name = "x", .trace_id = "", .boot_id = "boot",
                          .request = request, .now.wall_ns = 1000};
    laid_decide(l.board, op, &in, &l.arena, &p);
    const char *is = laid_system_print(&l, &p.plan);
    if (strncmp(is, want, strlen(want)) != 0) {
        fail_msg("with %d:\n%s\nnot\n%s", runs, is, want);
    }
    laid_system_done(&l);
}

static void there_are_so_many_runs(void **state)
{
    static const struct ask_row row = {"", "", "job", "", "", "", ""};
    struct laid_system l;
    (void)state;
    laid_system_init(&l, "");
    const ProtobufCMessage *ask = &request_of(&l, &row)->base;
    try_among(JOB_RUNS_MAX - 1, "", &run_job_row, ACTOR_CLIENT, ask, "run jobrun/u/R1");
    try_among(JOB_RUNS_MAX, "", &run_job_row, ACTOR_CLIENT, ask,
              "ResourceConflict: system shop has 1000 job runs: wait until older ones are over");
    const ProtobufCMessage *forget = &move_of_the_leader(&l, "forget")->base;
    const struct op_row *op = move_row_named(&jobrun_moves, "forget")->op;
    const char *oldest = RUN "failed completed_at=5";
    try_among(JOB_RUNS_KEPT - 1, oldest, op, ACTOR_CONVERGER, forget,
              "ResourceConflict: job run R1: it is not over, or is to be kept yet");
    try_among(JOB_RUNS_KEPT, oldest, op, ACTOR_CONVERGER, forget, "forget -jobrun/u/R1");
    try_among(JOB_RUNS_KEPT, RUN "running", op, ACTOR_CONVERGER, forget, "ResourceConflict: ");
    laid_system_done(&l);
}

/* ---- queue ----------------------------------------------------------------------------------- */

/* `pool`: path:name; "" = shared cells. */
static void try_queue(const char *rule, const char *board, const char *pool, const char *plan)
{
    struct laid_system l;
    laid_system_init(&l, board);
    Board__JobRunRecord *run = arena_message(&l.arena, &board__job_run_record__descriptor);
    run->id = said(&l, "R1");
    run->uid = said(&l, "u");
    run->system = said(&l, "shop");
    run->path = said(&l, "/m");
    run->state = said(&l, "pending");
    run->task = definition(&l);
    run->pool = said(&l, pool);
    laid_system_put(&l, "jobrun/u/R1", &run->base);
    Board__Move *m = move_of_the_leader(&l, "queue");
    try_row(&l, move_row_named(&jobrun_moves, "queue")->op, ACTOR_CONVERGER, &m->base, rule, plan);
    laid_system_done(&l);
}

static void a_run_is_queued_once(void **state)
{
    static const char refused[] =
        "ResourceConflict: job run R1: it is queued already, or its node pool is not there";
#define STANDS "pool /:p instance_type=small wanted=1 state="
    try_queue("shared cells", OPEN, "", QUEUED("shop_m-R1"));
    try_queue("restored, and not confirmed", "system state=stable board_generation=D\n", "",
              refused);
    try_queue("its system goes", "system state=deleting board_generation=E\n", "", refused);
    try_queue("its pool is not there yet", OPEN, "/:p", refused);
    try_queue("its pool was not looked at yet", OPEN STANDS "pending 1=small:\n", "/:p", refused);
    try_queue("its pool lacks cells", OPEN STANDS "scaling 1=small:\n", "/:p", refused);
    try_queue("its pool is being deleted", OPEN STANDS "deleting 1=small:c1\n", "/:p", refused);
    try_queue("its pool is there: the Task is of the newest epoch", OPEN STANDS
              "stable 3=small:c1\n", "/:p", QUEUED("shop_m-R1") " pool_epoch=3");
}

/* What the Task of a run bears. */
static void a_run_is_in_the_newest_epoch_of_its_pool(void **state)
{
    struct laid_system l;
    struct laid_plan p;
    laid_system_init(&l, OPEN STANDS "stable 1=!x:c2 2=small:c1\njobrun R1 path=/m pool=/:p "
                                     "state=pending\n");
    Board__Move *m = move_of_the_leader(&l, "queue");
    struct op_input in = {.actor = ACTOR_CONVERGER, .peer_name = "x", .trace_id = "",
                          .boot_id = "boot", .request = &m->base};
    laid_decide(l.board, move_row_named(&jobrun_moves, "queue")->op, &in, &l.arena, &p);
    assert_int_equal(p.plan.verdict, PLAN_COMMIT);
    const Models__Task *task = (const Models__Task *)p.plan.changes->message;
    assert_int_equal(task->task_definition->n_placement_tags, 1);
    assert_string_equal(task->task_definition->placement_tags[0], "pool:u//:p#2");
    laid_system_done(&l);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_asked_for),    cmocka_unit_test(the_request_is_merged),
        cmocka_unit_test(a_run_is_cancelled),    cmocka_unit_test(a_run_goes_on),
        cmocka_unit_test(there_are_so_many_runs),
        cmocka_unit_test(a_run_ends),            cmocka_unit_test(a_run_is_queued_once),
        cmocka_unit_test(a_run_is_in_the_newest_epoch_of_its_pool),
    };
    return cmocka_run_group_tests_name("job runs", tests, NULL, NULL);
}
