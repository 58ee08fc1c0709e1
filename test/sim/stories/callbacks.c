/* What becomes of the outcome of a task: callbacks that are heard, or not, and who dies meanwhile.
 * The auctioneer is down in most of them: an ordinary client runs the tasks, on a cell "elsewhere".
 */
#include "test/sim/stories/story.h"

#include <stdio.h>

#include "common/lifecycle/task.h"
#include "models/task_requests.pb-c.h"
#include "test/sim/world/callback_server.h"

/* A kick after 45 s, found by a pass that comes every 30 s; the same again for the next try. */
#define KICKED_NS (2 * (45 + 30) * SECOND_NS)

struct telling {
    struct cluster *cluster;
    struct callback_server server;
    char heard[80]; /* the outcome that was told first; what is told later must be the same */
};

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void on_heard(void *context, const Models__TaskCallbackResponse *m)
{
    struct telling *t = context;
    char outcome[80];
    snprintf(outcome, sizeof(outcome), "%s%s", m->failed ? "failed " : "",
             m->failed ? m->failure_reason : m->result);
    if (*t->heard) {
        assert_string_equal(outcome, t->heard);
    }
    snprintf(t->heard, sizeof(t->heard), "%s", outcome);
}

static void begin(struct telling *t, struct cluster *c, const enum callback_deed *script,
                  size_t count)
{
    *t = (struct telling){.cluster = c};
    callback_server_init(&t->server, c->world);
    t->server.on_heard = on_heard;
    t->server.context = t;
    t->server.script = script;
    t->server.script_left = count;
    world_kill(c->world, c->auctioneer);
}

static void end(struct telling *t)
{
    assert_false(t->server.garbled);
    world_serve_outside(t->cluster->world, NULL, NULL);
    callback_server_done(&t->server);
}

/* ---- The client ------------------------------------------------------------------------------ */

static void note_error(void *context, int status, struct bytes body)
{
    int *error = context;
    *error = -1;
    if (status == 200) {
        Models__TaskLifecycleResponse *r =
            models__task_lifecycle_response__unpack(NULL, body.size, body.data);
        assert_non_null(r);
        *error = r->error ? (int)r->error->type : 0;
        models__task_lifecycle_response__free_unpacked(r, NULL);
    }
}

static void ask_send(struct telling *t, struct node *bbs, const char *what,
                     const ProtobufCMessage *m, int *ret_error)
{
    char path[40];
    snprintf(path, sizeof(path), "/v1/tasks/%s", what);
    *ret_error = PENDING;
    world_send(t->cluster->world, node_url(bbs), path, m, SETTLE_NS, note_error, ret_error);
}

static bool is_answered(void *error)
{
    return *(int *)error != PENDING;
}

static int ask(struct telling *t, struct node *bbs, const char *what, const ProtobufCMessage *m)
{
    int error;
    ask_send(t, bbs, what, m, &error);
    assert_true(world_run_until(t->cluster->world, SETTLE_NS + SECOND_NS, is_answered, &error));
    world_note(t->cluster->world, "client", "%s at %s: %s", what, node_name(bbs),
               error == 0    ? "done"
               : error == -1 ? "unavailable"
                             : "refused");
    return error;
}

static int ask_plain(struct telling *t, struct node *bbs, const char *what)
{
    Models__TaskGuidRequest r = MODELS__TASK_GUID_REQUEST__INIT;
    r.task_guid = text("t");
    return ask(t, bbs, what, &r.base);
}

/* A task with a callback URL, which runs elsewhere. */
static void run_elsewhere(struct telling *t)
{
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__TaskDefinition d = MODELS__TASK_DEFINITION__INIT;
    Models__DesireTaskRequest r = MODELS__DESIRE_TASK_REQUEST__INIT;
    Models__StartTaskRequest start = MODELS__START_TASK_REQUEST__INIT;
    run.path = run.user = text("x");
    action.run_action = &run;
    d.action = &action;
    d.root_fs = text("preloaded:busybox");
    d.completion_callback_url = text(CALLBACK_URL "t");
    r.task_definition = &d;
    r.task_guid = start.task_guid = text("t");
    r.domain = text("default");
    start.cell_id = text("elsewhere");
    assert_int_equal(ask(t, t->cluster->bbs[0], "desire.r2", &r.base), 0);
    assert_int_equal(ask(t, t->cluster->bbs[0], "start", &start.base), 0);
}

static void complete_send(struct telling *t, struct node *bbs, int *ret_error)
{
    Models__CompleteTaskRequest r = MODELS__COMPLETE_TASK_REQUEST__INIT;
    r.task_guid = text("t");
    r.cell_id = text("elsewhere");
    r.result = text("42");
    ask_send(t, bbs, "complete", &r.base, ret_error);
}

static void cancel_send(struct telling *t, struct node *bbs, int *ret_error)
{
    Models__TaskGuidRequest r = MODELS__TASK_GUID_REQUEST__INIT;
    r.task_guid = text("t");
    ask_send(t, bbs, "cancel", &r.base, ret_error);
}

static void complete(struct telling *t)
{
    int error;
    complete_send(t, t->cluster->bbs[0], &error);
    assert_true(world_run_until(t->cluster->world, SETTLE_NS, is_answered, &error));
    assert_int_equal(error, 0);
}

static int state(struct telling *t)
{
    return cluster_task(t->cluster, "t", NULL, 0);
}

static bool is_gone(void *telling)
{
    return state(telling) == TASK_NONE;
}

static bool is_resolving(void *telling)
{
    return state(telling) == TASK_RESOLVING;
}

static bool is_told(void *telling)
{
    struct telling *t = telling;
    return callback_server_heard(&t->server, "t") > 0;
}

static void await_told(struct telling *t, int64_t limit_ns, unsigned times)
{
    if (!world_run_until(t->cluster->world, limit_ns, is_gone, t)) {
        fail_msg("the task is still %s", task_lifecycle.states[state(t)]);
    }
    assert_int_equal(callback_server_heard(&t->server, "t"), times);
}

/* ---- The stories ----------------------------------------------------------------------------- */

void story_callback_delivered(struct cluster *c)
{
    says(c, "A task with a callback URL completes. The bbs that records it makes it Resolving and "
            "calls; the server is overloaded, then too slow, then says that it does not know the "
            "task: that is a delivery too, and the task is deleted.");
    static const enum callback_deed script[] = {DEED_503, DEED_SILENT, DEED_404};
    struct telling t;
    begin(&t, c, script, 3);
    run_elsewhere(&t);
    complete(&t);
    await_told(&t, 11 * SECOND_NS, 3);
    assert_string_equal(t.heard, "42");
    end(&t);
}

void story_callback_heard_at_the_fourth_time(struct cluster *c)
{
    says(c, "Three times the server does not listen: the task stays Resolving. After 45 s the "
            "converger puts it back, and has it called again.");
    static const enum callback_deed script[] = {DEED_503, DEED_CLOSES, DEED_504};
    struct telling t;
    begin(&t, c, script, 3);
    run_elsewhere(&t);
    complete(&t);
    world_run(c->world, 40 * SECOND_NS);
    assert_int_equal(state(&t), TASK_RESOLVING);
    await_told(&t, KICKED_NS, 4);
    assert_string_equal(t.heard, "42");
    end(&t);
}

void story_bbs_killed_before_the_callback(struct cluster *c)
{
    says(c, "The bbs that made the task Resolving dies before it calls. Nobody knows whether it "
            "did, so the task waits 45 s for it; then another one calls.");
    struct telling t;
    int error;
    begin(&t, c, NULL, 0);
    run_elsewhere(&t);
    complete_send(&t, c->bbs[0], &error);
    assert_true(world_run_until(c->world, SETTLE_NS, is_resolving, &t));
    world_kill(c->world, c->bbs[0]);
    assert_int_equal(callback_server_heard(&t.server, "t"), 0);
    await_told(&t, KICKED_NS, 1);
    assert_string_equal(t.heard, "42");
    end(&t);
}

void story_bbs_killed_after_the_callback(struct cluster *c)
{
    says(c, "The bbs that called dies before it deletes the task. It is called once more, and says "
            "the same.");
    static const enum callback_deed script[] = {DEED_SLOW};
    struct telling t;
    begin(&t, c, script, 1);
    run_elsewhere(&t);
    complete(&t);
    assert_true(world_run_until(c->world, SETTLE_NS, is_told, &t));
    world_run(c->world, CALLBACK_SLOW_NS / 2);
    world_kill(c->world, c->bbs[0]);
    await_told(&t, KICKED_NS, 2);
    assert_string_equal(t.heard, "42");
    end(&t);
}

void story_client_resolves_before_the_callback(struct cluster *c)
{
    says(c, "In the moment in which the task completes a client resolves it, at another bbs. "
            "Either the client has it, and nobody is called; or the bbs has it, and the client is "
            "refused.");
    struct telling t;
    int completed;
    char outcome[80];
    begin(&t, c, NULL, 0);
    run_elsewhere(&t);
    complete_send(&t, c->bbs[0], &completed);
    world_run(c->world, (int64_t)random_below(world_random(c->world), MILLISECOND_NS));
    if (ask_plain(&t, c->bbs[1], "resolving") == 0) {
        world_run(c->world, 40 * SECOND_NS);
        assert_int_equal(cluster_task(c, "t", outcome, sizeof(outcome)), TASK_RESOLVING);
        assert_string_equal(outcome, "42");
        assert_int_equal(callback_server_heard(&t.server, "t"), 0);
        assert_int_equal(ask_plain(&t, c->bbs[1], "delete"), 0);
        assert_int_equal(state(&t), TASK_NONE);
    } else {
        await_told(&t, SETTLE_NS, 1);
        assert_string_equal(t.heard, "42");
    }
    end(&t);
}

void story_completion_races_cancel(struct cluster *c)
{
    says(c,
         "A task completes and is cancelled in one moment, at two bbs. One is recorded, the other "
         "refused; who is called hears what was recorded.");
    struct telling t;
    int completed, cancelled;
    begin(&t, c, NULL, 0);
    run_elsewhere(&t);
    if (random_below(world_random(c->world), 2)) {
        complete_send(&t, c->bbs[0], &completed);
        cancel_send(&t, c->bbs[1], &cancelled);
    } else {
        cancel_send(&t, c->bbs[1], &cancelled);
        complete_send(&t, c->bbs[0], &completed);
    }
    assert_true(world_run_until(c->world, SETTLE_NS, is_answered, &completed));
    assert_true(world_run_until(c->world, SETTLE_NS, is_answered, &cancelled));
    assert_true((completed == 0) != (cancelled == 0));
    await_told(&t, SETTLE_NS, 1);
    assert_string_equal(t.heard, completed == 0 ? "42" : "failed task was cancelled");
    end(&t);
}
