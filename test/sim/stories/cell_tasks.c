/* Tasks on their cells: started once, whatever dies meanwhile. Each story counts what the reps ask
 * their drivers to start. */
#include "test/sim/stories/story.h"

#include <stdio.h>
#include <string.h>

#include "models/task_requests.pb-c.h"
#include "test/sim/model/containers.h"

#define TASK "job"
#define RESULT_FILE "/tmp/result"

enum { BYTES = 64, GONE = 0 /* no record: models.Task.State Invalid */ };

struct told {
    struct cluster *cluster;
    unsigned starts; /* of the task's process, asked of all drivers */
    int state;       /* of the record, when it was last looked at */
    int rejections;
    bool failed;
    char text[BYTES]; /* its result, or why it failed */
};

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void on_verb(void *context, struct node *n, const struct verb_call *call)
{
    struct told *t = context;
    if (call->verb == VERB_START && strcmp(call->guid, TASK) == 0) {
        t->starts++;
    }
}

static void begin(struct told *t, struct cluster *c)
{
    *t = (struct told){.cluster = c};
    world_observe(c->world, &(struct world_observer){.verb = on_verb, .context = t});
}

static void end(struct told *t)
{
    world_observe(t->cluster->world, &(struct world_observer){0});
    assert_true(t->starts <= 1);
}

/* ---- A client -------------------------------------------------------------------------------- */

static struct node *a_bbs(struct cluster *c)
{
    return node_up(c->bbs[0]) ? c->bbs[0] : c->bbs[1];
}

static void desire_sized(struct told *t, int32_t memory_mb)
{
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__TaskDefinition d = MODELS__TASK_DEFINITION__INIT;
    Models__DesireTaskRequest r = MODELS__DESIRE_TASK_REQUEST__INIT;
    run.path = run.user = text("x");
    action.run_action = &run;
    d.action = &action;
    d.root_fs = text("preloaded:busybox");
    d.memory_mb = memory_mb;
    d.disk_mb = 16;
    d.result_file = text(RESULT_FILE);
    r.task_definition = &d;
    r.task_guid = text(TASK);
    r.domain = text("default");
    assert_int_equal(world_call(t->cluster->world, node_url(a_bbs(t->cluster)),
                                "/v1/tasks/desire.r2", &r.base, SETTLE_NS, NULL),
                     200);
}

static void desire(struct told *t)
{
    desire_sized(t, 16);
}

static void cancel(struct told *t)
{
    Models__TaskGuidRequest r = MODELS__TASK_GUID_REQUEST__INIT;
    r.task_guid = text(TASK);
    assert_int_equal(world_call(t->cluster->world, node_url(a_bbs(t->cluster)), "/v1/tasks/cancel",
                                &r.base, SETTLE_NS, NULL),
                     200);
}

/* Asks the board once; what it says stays in *t. */
static void look(struct told *t)
{
    SCOPED_BUF(body);
    Models__TaskByGuidRequest r = MODELS__TASK_BY_GUID_REQUEST__INIT;
    r.task_guid = text(TASK);
    int status = world_call(t->cluster->world, node_url(a_bbs(t->cluster)),
                            "/v1/tasks/get_by_task_guid.r3", &r.base, SETTLE_NS, &body);
    Models__TaskResponse *answer =
        status == 200 ? models__task_response__unpack(NULL, body.size, body.data) : NULL;
    if (answer) {
        t->state = answer->task ? (int)answer->task->state : GONE;
        t->failed = answer->task && answer->task->failed;
        t->rejections = answer->task ? answer->task->rejection_count : 0;
        snprintf(t->text, sizeof(t->text), "%s",
                 !answer->task ? ""
                 : t->failed   ? answer->task->failure_reason
                               : answer->task->result);
        models__task_response__free_unpacked(answer, NULL);
    }
}

static void await_state(struct told *t, int64_t limit_ns, int state)
{
    int64_t until = world_now(t->cluster->world) + limit_ns;
    for (look(t); t->state != state; look(t)) {
        if (world_now(t->cluster->world) >= until) {
            fail_msg("the task is in state %d, not %d: %s", t->state, state, t->text);
        }
        world_run(t->cluster->world, 50 * MILLISECOND_NS);
    }
}

/* ---- Its container --------------------------------------------------------------------------- */

static struct node *cell_of(struct cluster *c)
{
    for (unsigned i = 0; i < c->options.cells; i++) {
        if (model_containers_state(node_containers(c->cells[i]), TASK) >= 0) {
            return c->cells[i];
        }
    }
    return NULL;
}

static bool runs(void *cluster)
{
    struct node *cell = cell_of(cluster);
    return cell && model_containers_state(node_containers(cell), TASK) == CONTAINER_RUNNING;
}

static bool is_left(void *cluster)
{
    return cell_of(cluster) == NULL;
}

static struct node *await_process(struct told *t)
{
    assert_true(world_run_until(t->cluster->world, SETTLE_NS, runs, t->cluster));
    return cell_of(t->cluster);
}

/* Nothing of it is left on any cell. */
static void await_left(struct told *t, int64_t limit_ns)
{
    if (!world_run_until(t->cluster->world, limit_ns, is_left, t->cluster)) {
        fail_msg("its container is still there");
    }
}

/* Its process leaves this and ends well. */
static void finish(struct told *t, const char *result)
{
    struct node *cell = cell_of(t->cluster);
    assert_true(model_containers_write(node_containers(cell), TASK, RESULT_FILE, bytes_of(result)));
    assert_true(world_end_container(t->cluster->world, cell, 0, 0));
}

static void await_result(struct told *t, const char *result)
{
    await_state(t, SETTLE_NS, MODELS__TASK__STATE__Completed);
    assert_string_equal(t->text, result);
    assert_false(t->failed);
    await_left(t, SETTLE_NS);
    assert_int_equal(t->starts, 1);
}

static int64_t a_moment(struct cluster *c, int64_t most_ns)
{
    return (int64_t)random_below(world_random(c->world), (uint64_t)most_ns);
}

/* ---- The stories ----------------------------------------------------------------------------- */

void story_task_to_result(struct cluster *c)
{
    says(c,
         "A task is desired. A cell takes it, notes that it executes it, and starts it. It leaves "
         "a result and ends; the result is recorded, and nothing of it is left on the cell.");
    struct told t;
    begin(&t, c);
    desire(&t);
    await_process(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Running);
    finish(&t, "forty-two");
    await_result(&t, "forty-two");
    end(&t);
}

void story_task_fails(struct cluster *c)
{
    says(c, "A task's process ends with status 3, and leaves nothing.");
    struct told t;
    begin(&t, c);
    desire(&t);
    struct node *cell = await_process(&t);
    assert_true(world_end_container(c->world, cell, 0, 3));
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Completed);
    assert_true(t.failed);
    assert_string_equal(t.text, "LOG: Exited with status 3");
    await_left(&t, SETTLE_NS);
    end(&t);
}

void story_task_rejected_by_its_cell(struct cluster *c)
{
    says(c, "A cell can make no container. It rejects the task before it has executed it; the task "
            "is offered again, and runs elsewhere, once.");
    struct told t;
    begin(&t, c);
    model_containers_fail_prepares(node_containers(c->cells[0]), 3, "no space");
    desire(&t);
    assert_true(world_run_until(c->world, 200 * SECOND_NS, runs, c));
    finish(&t, "at last");
    await_result(&t, "at last");
    end(&t);
}

void story_task_cancelled_at_any_moment(struct cluster *c)
{
    says(c, "A task is cancelled a moment after it was desired: it waits, is being made, or runs. "
            "Nothing of it goes on.");
    struct told t;
    begin(&t, c);
    desire(&t);
    world_run(c->world, a_moment(c, 200 * MILLISECOND_NS));
    cancel(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Completed);
    assert_string_equal(t.text, "task was cancelled");
    world_run(c->world, SECOND_NS);
    await_left(&t, SETTLE_NS);
    world_run(c->world, 5 * SECOND_NS);
    assert_true(is_left(c));
    end(&t);
}

void story_cancel_lost_on_its_way(struct cluster *c)
{
    says(c, "A running task is cancelled while no bbs reaches its cell. The cell finds out by "
            "itself, once it hears the board again.");
    struct told t;
    begin(&t, c);
    desire(&t);
    struct node *cell = await_process(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Running);
    cut_cell(c, cell, true);
    cancel(&t);
    world_run(c->world, 4 * SECOND_NS);
    assert_true(runs(c));
    cut_cell(c, cell, false);
    await_left(&t, 20 * SECOND_NS);
    end(&t);
}

void story_rep_killed_around_a_task(struct cluster *c)
{
    says(c, "The only cell's rep is killed at some moment after a task was desired: before it took "
            "it, between the grant of its start and its process, or later. It is back after 2 s. "
            "The task is executed once or never, and ends.");
    struct told t;
    begin(&t, c);
    desire(&t);
    switch (random_below(world_random(c->world), 3)) {
    case 0:
        world_run(c->world, a_moment(c, 16 * MILLISECOND_NS));
        world_kill_within(c->world, c->cells[0], (unsigned)a_moment(c, 3));
        break;
    case 1:
        world_kill_asking(c->world, c->cells[0], a_moment(c, 300 * MILLISECOND_NS));
        break;
    default:
        world_run(c->world, a_moment(c, 16 * MILLISECOND_NS));
        world_kill(c->world, c->cells[0]);
    }
    world_run(c->world, 2 * SECOND_NS);
    if (node_up(c->cells[0])) {
        world_kill(c->world, c->cells[0]);
        world_run(c->world, 2 * SECOND_NS);
    }
    world_start(c->world, c->cells[0]);
    world_run(c->world, 60 * SECOND_NS);
    look(&t);
    if (t.state != MODELS__TASK__STATE__Completed) {
        assert_true(runs(c));
        finish(&t, "done");
        await_result(&t, "done");
    }
    await_left(&t, SETTLE_NS);
    end(&t);
}

void story_task_outlives_its_rep(struct cluster *c)
{
    says(c,
         "A rep is killed while its task runs. The task ends meanwhile; the next rep finds it, and "
         "its result.");
    struct told t;
    begin(&t, c);
    desire(&t);
    struct node *cell = await_process(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Running);
    world_kill(c->world, cell);
    world_run(c->world, SECOND_NS);
    finish(&t, "unseen");
    world_run(c->world, SECOND_NS);
    world_start(c->world, cell);
    await_result(&t, "unseen");
    end(&t);
}

void story_task_gone_with_its_machine(struct cluster *c)
{
    says(c,
         "The machine falls while a task runs on it, and is back with nothing. The rep says that "
         "nobody can tell any more how it ended.");
    struct told t;
    begin(&t, c);
    desire(&t);
    struct node *cell = await_process(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Running);
    world_kill(c->world, cell);
    world_reboot(c->world, cell, true);
    world_run(c->world, 2 * SECOND_NS);
    world_start(c->world, cell);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Completed);
    assert_true(t.failed);
    assert_string_equal(t.text, "task container does not exist");
    end(&t);
}

void story_ended_with_their_machine(struct cluster *c)
{
    says(c, "The machine falls while two instances and a task run on it, and is back with their "
            "files alone. The rep tells all three by these: the instances have crashed and run "
            "again, the task has failed, and is not executed twice. Nothing of that boot is left.");
    struct told t;
    begin(&t, c);
    assert_int_equal(cluster_desire(c, NULL, "web", 2), 0);
    await_running(c, "web", 2);
    desire(&t);
    struct node *cell = await_process(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Running);
    world_kill(c->world, cell);
    world_reboot(c->world, cell, false);
    world_run(c->world, SECOND_NS);
    world_start(c->world, cell);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Completed);
    assert_true(t.failed);
    assert_string_equal(t.text, "its machine was restarted");
    await_left(&t, SETTLE_NS);
    await_running(c, "web", 2);
    assert_int_equal(cluster_crashed(c, "web"), 2);
    assert_int_equal(t.starts, 1);
    end(&t);
}

void story_completion_told_twice(struct cluster *c)
{
    says(c, "A task ends, but no answer reaches its cell: the rep says again how it ended, at the "
            "other bbs too. The first word stands, and the container goes in the end.");
    struct told t;
    begin(&t, c);
    desire(&t);
    struct node *cell = await_process(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Running);
    cut_way(c, NULL, cell, true);
    finish(&t, "once");
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Completed);
    world_run(c->world, a_moment(c, 3 * SECOND_NS));
    assert_false(is_left(c));
    cut_way(c, NULL, cell, false);
    await_left(&t, 20 * SECOND_NS);
    look(&t);
    assert_string_equal(t.text, "once");
    end(&t);
}

static bool both_run(void *cluster)
{
    return cluster_count(cluster, "web", "RUNNING") == 2;
}

/* ---- Where no cell takes it, or its cell is lost --------------------------------------------- */

/* More than any cell has. */
enum { TOO_MUCH_MB = 1000000 };

static void look_pending(struct told *t, int rejections)
{
    look(t);
    assert_int_equal(t->state, MODELS__TASK__STATE__Pending);
    assert_int_equal(t->rejections, rejections);
}

static void await_failure(struct told *t, int64_t limit_ns, const char *why)
{
    await_state(t, limit_ns, MODELS__TASK__STATE__Completed);
    assert_true(t->failed);
    assert_string_equal(t->text, why);
}

void story_task_nobody_can_place(struct cluster *c)
{
    says(c, "A task asks for more than any cell has. It is rejected at once, and again each 30 s "
            "when the converger asks; the fourth rejection fails it.");
    struct told t;
    begin(&t, c);
    desire_sized(&t, TOO_MUCH_MB);
    world_run(c->world, 5 * SECOND_NS);
    look_pending(&t, 1);
    world_run(c->world, 80 * SECOND_NS);
    look_pending(&t, 3);
    await_failure(&t, SETTLE_NS, "insufficient resources: memory");
    assert_int_equal(t.starts, 0);
    end(&t);
}

void story_a_fast_clock_fails_no_task(struct cluster *c)
{
    says(c,
         "Nobody leads the auction when a task comes, and every bbs and the converger are hours "
         "ahead from then on. The task waits for minutes: its half hour is none of a wall clock.");
    struct told t;
    begin(&t, c);
    world_kill(c->world, c->auctioneer);
    desire_sized(&t, TOO_MUCH_MB);
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_jump_clock(c->world, c->bbs[i], 3 * 3600 * SECOND_NS);
    }
    world_jump_clock(c->world, c->converger, 3 * 3600 * SECOND_NS);
    world_run(c->world, 150 * SECOND_NS);
    look_pending(&t, 0);
    end(&t);
}

void story_auctioneer_dies_with_a_task(struct cluster *c)
{
    says(c, "The leading auctioneer dies with a task that no cell takes, rejected once. The next "
            "one finds it on the board, and that its request was answered.");
    struct told t;
    begin(&t, c);
    desire_sized(&t, TOO_MUCH_MB);
    world_run(c->world, 5 * SECOND_NS);
    look_pending(&t, 1);
    int leader = cluster_leader(c, "auctioneer");
    world_kill(c->world, c->auctioneers[leader]);
    world_run(c->world, 20 * SECOND_NS);
    assert_int_equal(cluster_leader(c, "auctioneer"), 1 - leader);
    look_pending(&t, 1);
    world_run(c->world, 60 * SECOND_NS);
    look_pending(&t, 3);
    await_failure(&t, 15 * SECOND_NS, "insufficient resources: memory");
    end(&t);
}

void story_auctioneer_gone_when_a_task_comes(struct cluster *c)
{
    says(c, "A task comes while nobody leads the auction: the standby places it.");
    struct told t;
    begin(&t, c);
    world_kill(c->world, c->auctioneers[cluster_leader(c, "auctioneer")]);
    desire(&t);
    await_state(&t, 12 * SECOND_NS, MODELS__TASK__STATE__Running);
    await_process(&t);
    finish(&t, "in the end");
    await_result(&t, "in the end");
    end(&t);
}

static struct node *run_on_a_cell(struct told *t)
{
    desire(t);
    struct node *cell = await_process(t);
    await_state(t, SETTLE_NS, MODELS__TASK__STATE__Running);
    return cell;
}

void story_task_cell_back_in_time(struct cluster *c)
{
    says(c, "The cell of a task is away for 40 s, and lost. Its container runs on, and so does the "
            "task: what it leaves in the end counts.");
    struct told t;
    begin(&t, c);
    struct node *cell = run_on_a_cell(&t);
    world_kill(c->world, cell);
    world_run(c->world, 40 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 1);
    look(&t);
    assert_int_equal(t.state, MODELS__TASK__STATE__Running);
    world_start(c->world, cell);
    world_run(c->world, 45 * SECOND_NS);
    finish(&t, "late");
    await_result(&t, "late");
    end(&t);
}

void story_task_cell_back_too_late(struct cluster *c)
{
    says(c, "The cell of a task is lost for longer than a minute: the task fails. When the cell is "
            "back, what still runs there goes, whatever it would have said.");
    struct told t;
    begin(&t, c);
    struct node *cell = run_on_a_cell(&t);
    world_kill(c->world, cell);
    world_run(c->world, 60 * SECOND_NS);
    look(&t);
    assert_int_equal(t.state, MODELS__TASK__STATE__Running);
    await_failure(&t, 20 * SECOND_NS, "cell disappeared before completion");
    assert_false(is_left(c));
    world_start(c->world, cell);
    await_left(&t, 2 * SETTLE_NS);
    look(&t);
    assert_string_equal(t.text, "cell disappeared before completion");
    end(&t);
}

/* Its owner takes note of its outcome: the guid is free again. */
static void acknowledge(struct told *t)
{
    static const char *const paths[] = {"/v1/tasks/resolving", "/v1/tasks/delete"};
    Models__TaskGuidRequest r = MODELS__TASK_GUID_REQUEST__INIT;
    r.task_guid = text(TASK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(world_call(t->cluster->world, node_url(a_bbs(t->cluster)), paths[i],
                                    &r.base, SETTLE_NS, NULL),
                         200);
    }
    await_state(t, SETTLE_NS, GONE);
}

void story_tasks_take_turns(struct cluster *c)
{
    says(c, "Twelve tasks come one after another, each when the one before is over and gone. The "
            "three cells are alike and idle each time: chance decides, so no cell draws them all.");
    unsigned ran[CLUSTER_CELLS_MAX] = {0}, cells = 0;
    for (int i = 0; i < 12; i++) {
        struct told t;
        begin(&t, c);
        desire(&t);
        struct node *cell = await_process(&t);
        await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Running);
        finish(&t, "done");
        await_result(&t, "done");
        acknowledge(&t);
        end(&t);
        for (unsigned n = 0; n < c->options.cells; n++) {
            ran[n] += c->cells[n] == cell;
        }
    }
    for (unsigned n = 0; n < c->options.cells; n++) {
        cells += ran[n] > 0;
    }
    assert_true(cells > 1);
}

void story_failing_cell_draws_no_work(struct cluster *c)
{
    says(c, "One of three cells that are alike can make no container: it fails at once and is idle "
            "again. It gets one task of twelve that come one after another, and counts as worse "
            "then; the others run.");
    unsigned cell = (unsigned)random_below(world_random(c->world), c->options.cells);
    int rejections = 0;
    model_containers_fail_prepares(node_containers(c->cells[cell]), 1000, "no space");
    for (int i = 0; i < 12; i++) {
        struct told t;
        begin(&t, c);
        desire(&t);
        await_process(&t);
        await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Running);
        rejections += t.rejections;
        finish(&t, "done");
        await_result(&t, "done");
        acknowledge(&t);
        end(&t);
    }
    assert_true(rejections <= 1);
}

void story_task_desired_again_waits(struct cluster *c)
{
    says(c, "While the only cell is cut off, and nobody leads the auction, its task is cancelled, "
            "acknowledged, and desired again under the same guid: that is another task. What runs "
            "on the cell is not taken for it and goes; the new one waits, and is executed then.");
    struct told t;
    begin(&t, c);
    desire(&t);
    struct node *cell = await_process(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Running);
    cut_cell(c, cell, true);
    cancel(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Completed);
    acknowledge(&t);
    world_kill(c->world, c->auctioneer);
    desire(&t);
    world_run(c->world, 4 * SECOND_NS);
    look(&t);
    assert_int_equal(t.state, MODELS__TASK__STATE__Pending);
    assert_true(runs(c));
    assert_int_equal(t.starts, 1);
    t.starts = 0;
    cut_cell(c, cell, false);
    await_left(&t, 20 * SECOND_NS);
    look(&t);
    assert_int_equal(t.state, MODELS__TASK__STATE__Pending);
    world_start(c->world, c->auctioneer);
    await_state(&t, 60 * SECOND_NS, MODELS__TASK__STATE__Running);
    await_process(&t);
    finish(&t, "second");
    await_result(&t, "second");
    end(&t);
}

/* Until it is told otherwise, all that is said between processes comes a second time, late. */
static void say_twice(struct cluster *c, int64_t late_ns)
{
    world_faults(c->world, &(struct world_faults){
                               .doubled = 1000,
                               .doubled_by = {late_ns, late_ns + SECOND_NS},
                           });
}

static void say_once(struct cluster *c)
{
    world_faults(c->world, &(struct world_faults){0});
}

void story_late_cancel_spares_the_next(struct cluster *c)
{
    says(c, "A running task is cancelled, and the word of it to its only cell comes a second time, "
            "20 s late. By then the task is acknowledged, desired again under the same guid, and "
            "runs there again: the late word means the attempt that is over.");
    struct told t;
    begin(&t, c);
    desire(&t);
    await_process(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Running);
    say_twice(c, 20 * SECOND_NS);
    cancel(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Completed);
    await_left(&t, SETTLE_NS);
    say_once(c);
    acknowledge(&t);
    assert_int_equal(t.starts, 1);
    t.starts = 0;
    desire(&t);
    await_process(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Running);
    world_run(c->world, 30 * SECOND_NS);
    assert_true(runs(c));
    finish(&t, "second");
    await_result(&t, "second");
    end(&t);
}

/* By its cell; in the trace, which tells of it at once. */
static bool is_rejected(void *cluster)
{
    struct cluster *c = cluster;
    return strstr(world_trace(c->world), "reject by rep") != NULL;
}

static bool is_rejected_twice(void *cluster)
{
    struct cluster *c = cluster;
    const char *first = strstr(world_trace(c->world), "reject by rep");
    return first && strstr(first + 1, "reject by rep");
}

void story_late_words_of_a_rejected_offer(struct cluster *c)
{
    says(c, "The only cell can make no container, and rejects a task twice. What was said of the "
            "first offer, the work and the start, comes a second time two minutes late, while the "
            "task waits and nobody leads the auction: nothing brings back what is over.");
    struct told t;
    begin(&t, c);
    model_containers_fail_prepares(node_containers(c->cells[0]), 2, "no space");
    say_twice(c, 120 * SECOND_NS);
    desire(&t);
    assert_true(world_run_until(c->world, SETTLE_NS, is_rejected, c));
    say_once(c); /* before the next offer, which is not over yet when this one's words come late */
    assert_true(world_run_until(c->world, 90 * SECOND_NS, is_rejected_twice, c));
    world_kill(c->world, c->auctioneer);
    world_run(c->world, SECOND_NS);
    look(&t);
    int rejections = t.rejections; /* a hint that came late may have let the auctioneer add one */
    assert_true(rejections >= 2);
    world_run(c->world, 139 * SECOND_NS);
    look_pending(&t, rejections);
    assert_int_equal(t.starts, 0);
    assert_true(is_left(c));
    says(c, "Somebody leads again: it is offered, and runs.");
    world_start(c->world, c->auctioneer);
    assert_true(world_run_until(c->world, 90 * SECOND_NS, runs, c));
    finish(&t, "at last");
    await_result(&t, "at last");
    end(&t);
}

void story_bouncing_task_starves_no_cell(struct cluster *c)
{
    says(c,
         "The only cell has room for two. A task is cancelled there, its removal hangs, and it is "
         "desired again: the cell gives it back as long as the old container is there. Two "
         "instances come, and the second is placed after tasks: it has its place at once.");
    struct told t;
    begin(&t, c);
    desire_sized(&t, CLUSTER_INSTANCE_MEMORY_MB);
    await_process(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Running);
    model_containers_pace(node_containers(c->cells[0]))->remove_ns = 25 * SECOND_NS;
    cancel(&t);
    await_state(&t, SETTLE_NS, MODELS__TASK__STATE__Completed);
    acknowledge(&t);
    t.starts = 0;
    desire_sized(&t, CLUSTER_INSTANCE_MEMORY_MB);
    world_run(c->world, 3 * SECOND_NS);
    look(&t);
    assert_int_equal(t.state, MODELS__TASK__STATE__Pending);
    assert_false(is_left(c));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(cluster_desire(c, NULL, "web", 2), 0);
        if (!world_run_until(c->world, SECOND_NS, both_run, c)) {
            fail_msg("%d of 2 instances run", cluster_count(c, "web", "RUNNING"));
        }
        assert_false(is_left(c));
        assert_int_equal(cluster_remove(c, "web"), 0);
        world_run(c->world, SECOND_NS + a_moment(c, SECOND_NS));
    }
    says(c, "When nothing is left of the old one the new one runs.");
    await_state(&t, 30 * SECOND_NS, MODELS__TASK__STATE__Running);
    await_process(&t);
    model_containers_pace(node_containers(c->cells[0]))->remove_ns = 10 * MILLISECOND_NS;
    finish(&t, "second");
    await_result(&t, "second");
    end(&t);
}

void story_task_expires(struct cluster *c)
{
    says(c, "Nobody leads the auction for half an hour: a task that waits for it fails.");
    struct told t;
    begin(&t, c);
    world_kill(c->world, c->auctioneer);
    desire(&t);
    world_run(c->world, 1795 * SECOND_NS);
    look_pending(&t, 0);
    await_failure(&t, SETTLE_NS, "not started within time limit");
    assert_int_equal(t.starts, 0);
    end(&t);
}
