/* What a bbs tells reps and the auctioneer once a plan is committed, seen by one who writes down
 * what he is told. */
#include "bbs/bbs.h"
#include "bbs/notices.h"
#include "cell.pb-c.h"
#include "common/model/keys.h"
#include "common/model/record.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/task_requests.pb-c.h"
#include "test/decide/lrp_rows.h"
#include "test/sim/world/world.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDINARY = 0 };

/* ---- The cell -------------------------------------------------------------------------------- */

/* One line a call: "PUT PATH: web/INDEX GUID HOSTNAME... KEY=VALUE..."; answers 202. */
struct told {
    struct buf lines;
    unsigned count;
    unsigned tasks;
    bool silent; /* answers nobody */
    int64_t revision; /* that the last start told of */
    int highest; /* index that an update was about */
};

struct cell {
    struct role role;
    struct told *told;
};

static void write_update(struct told *t, const struct request *q)
{
    Cell__LRPUpdate *m = cell__lrpupdate__unpack(NULL, q->body.size, q->body.data);
    assert_non_null(m);
    assert_true(m->replaces);
    buf_printf(&t->lines, " %s/%d %s%s", m->process_guid, m->index, m->instance_guid,
               m->routed ? " routed" : "");
    for (size_t i = 0; i < m->n_internal_routes; i++) {
        buf_printf(&t->lines, " %s", m->internal_routes[i]->hostname);
    }
    for (size_t i = 0; i < m->n_metric_tags; i++) {
        buf_printf(&t->lines, " %s=%s", m->metric_tags[i]->key, m->metric_tags[i]->value);
    }
    t->highest = m->index > t->highest ? m->index : t->highest;
    cell__lrpupdate__free_unpacked(m, NULL);
}

static void write_tasks(struct told *t, const struct request *q)
{
    Cell__TaskStarts *m = cell__task_starts__unpack(NULL, q->body.size, q->body.data);
    assert_non_null(m);
    t->tasks += (unsigned)m->n_starts;
    for (size_t i = 0; i < m->n_starts && i < 3; i++) {
        const Cell__Task *task = m->starts[i];
        buf_printf(&t->lines, " %s/%s %s %d/%d/%d", task->taskguid, task->domain, task->rootfs,
                   task->memorymb, task->diskmb, task->maxpids);
        for (size_t n = 0; n < task->n_placementtags; n++) {
            buf_printf(&t->lines, " tag=%s", task->placementtags[n]);
        }
        for (size_t n = 0; n < task->n_volumedrivers; n++) {
            buf_printf(&t->lines, " driver=%s", task->volumedrivers[n]);
        }
        assert_string_equal(task->attempt, ""); /* the rep draws it */
        assert_true(task->created_at > 0); /* the offer */
        assert_int_equal(task->rejections, 0);
        assert_true(task->revision > 0);
    }
    cell__task_starts__free_unpacked(m, NULL);
}

static void write_starts(struct told *t, const struct request *q)
{
    Cell__LRPStarts *m = cell__lrpstarts__unpack(NULL, q->body.size, q->body.data);
    assert_non_null(m);
    for (size_t i = 0; i < m->n_starts; i++) {
        const Cell__LRPStart *start = m->starts[i];
        assert_int_equal(start->n_revisions, start->n_indices);
        for (size_t k = 0; k < start->n_indices; k++) {
            buf_printf(&t->lines, " %s/%d", start->process_guid, start->indices[k]);
            t->revision = start->revisions[k];
        }
    }
    cell__lrpstarts__free_unpacked(m, NULL);
}

static void cell_step(struct role *r, const struct event *ev, struct effects *out)
{
    struct told *t = ((struct cell *)r)->told;
    if (ev->kind != EVENT_REQUEST) {
        return;
    }
    t->count++;
    buf_printf(&t->lines, "%s %s%s%s:", ev->request.method, ev->request.path,
               ev->request.query[0] ? "?" : "", ev->request.query);
    if (strcmp(ev->request.method, "PUT") == 0) {
        write_update(t, &ev->request);
    } else if (strcmp(ev->request.path, "/v1/tasks") == 0) {
        write_tasks(t, &ev->request);
    } else if (strcmp(ev->request.path, "/v1/lrps") == 0) {
        write_starts(t, &ev->request);
    }
    buf_append_string(&t->lines, "\n");
    if (!t->silent) {
        effects_reply(out, ev->request.id, 202, "", (struct bytes){0});
    }
}

static size_t cell_body_limit(const struct role *r, const char *path)
{
    return 1024 * 1024;
}

static void cell_free(struct role *r)
{
    free(r);
}

static struct role *make_cell(void *told, unsigned incarnation)
{
    static const struct role_ops ops = {
        .name = "rep", .step = cell_step, .body_limit = cell_body_limit, .free = cell_free};
    struct cell *c = calloc(1, sizeof(*c));
    assert_non_null(c);
    c->role.ops = &ops;
    c->told = told;
    return &c->role;
}

static struct role *make_bbs(void *context, unsigned incarnation)
{
    return bbs_new(&(struct bbs_config){.url = "https://bbs-1:8889", .name = "bbs-1"});
}

/* ---- The board ------------------------------------------------------------------------------- */

struct scene {
    struct world *world;
    struct arena arena;
    struct told told;
};

/* A stranger's put: the bbs hears of it by its watch. */
static void put(struct scene *s, const char *key, const ProtobufCMessage *m)
{
    store_put(world_store(s->world, "etcd"), key, record_encoded(&s->arena, m));
}

static void put_running(struct scene *s, int index)
{
    const char *text = arena_printf(&s->arena, "RUNNING i%d@c1 def=D1 route=old tag=1", index);
    put(s, key_actual(&s->arena, ROWS_PROCESS, index, ORDINARY),
        &row_actual(&s->arena, text, index, ORDINARY)->base);
}

static void begin(struct scene *s, int instances)
{
    *s = (struct scene){.world = world_new(&(struct world_options){.seed = 3})};
    arena_init(&s->arena);
    buf_init(&s->told.lines);
    s->told.highest = -1;
    struct store *store = world_store(s->world, "etcd");
    world_start(s->world, world_add(s->world, &(struct node_config){.name = "bbs-1",
                                                                    .unit = "bbs",
                                                                    .certificate_name = "bbs-1",
                                                                    .url = "https://bbs-1:8889",
                                                                    .store = store,
                                                                    .make = make_bbs}));
    world_start(s->world, world_add(s->world, &(struct node_config){.name = "c1",
                                                                    .unit = "rep",
                                                                    .certificate_name = "c1",
                                                                    .url = "https://c1:1801",
                                                                    .make = make_cell,
                                                                    .context = &s->told}));
    world_run(s->world, SECOND_NS);
    put(s, key_cell(&s->arena, "c1"), &row_cell(&s->arena, "present incarnation=1")->base);
    put(s, key_desired(&s->arena, ROWS_PROCESS),
        &row_desired(&s->arena, arena_printf(&s->arena, "instances=%d def=D1 route=old tag=1",
                                             instances))
             ->base);
}

static void end(struct scene *s)
{
    world_free(s->world);
    buf_done(&s->told.lines);
    arena_done(&s->arena);
}

/* An ordinary client asks, after the bbs has seen what is on the board. */
static void ask(struct scene *s, const char *path, const ProtobufCMessage *request)
{
    SCOPED_BUF(body);
    world_run(s->world, SECOND_NS);
    assert_int_equal(
        world_call(s->world, "https://bbs-1:8889", path, request, 10 * SECOND_NS, &body), 200);
    assert_int_equal(body.size, 0); /* a success has nothing to say */
    world_run(s->world, SECOND_NS);
}

static void change_tag(struct scene *s, const char *value)
{
    Models__MetricTagValue tag = MODELS__METRIC_TAG_VALUE__INIT;
    tag.static_ = (char *)(uintptr_t)value;
    Models__DesiredLRPUpdate__MetricTagsEntry entry =
        MODELS__DESIRED_LRPUPDATE__METRIC_TAGS_ENTRY__INIT;
    entry.key = (char *)(uintptr_t) "k";
    entry.value = &tag;
    Models__DesiredLRPUpdate__MetricTagsEntry *tags[] = {&entry};
    Models__DesiredLRPUpdate update = MODELS__DESIRED_LRPUPDATE__INIT;
    update.n_metric_tags = 1;
    update.metric_tags = tags;
    Models__UpdateDesiredLRPRequest request = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = (char *)(uintptr_t)ROWS_PROCESS;
    request.update = &update;
    ask(s, "/v1/desired_lrp/update", &request.base);
}

static void end_routes(struct scene *s)
{
    Models__ProtoRoutes none = MODELS__PROTO_ROUTES__INIT;
    Models__DesiredLRPUpdate update = MODELS__DESIRED_LRPUPDATE__INIT;
    update.routes = &none;
    Models__UpdateDesiredLRPRequest request = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = (char *)(uintptr_t)ROWS_PROCESS;
    request.update = &update;
    ask(s, "/v1/desired_lrp/update", &request.base);
}

/* ---- What is told ---------------------------------------------------------------------------- */

static void a_changed_tag_is_put_to_each_rep_once(void **state)
{
    struct scene s;
    begin(&s, 2);
    put_running(&s, 0);
    put(&s, key_actual(&s.arena, ROWS_PROCESS, 1, ORDINARY),
        &row_actual(&s.arena, "UNCLAIMED def=D1", 1, ORDINARY)->base); /* nobody to be told */
    change_tag(&s, "2");
    assert_string_equal(buf_string(&s.told.lines),
                        "PUT /v1/lrps/" ROWS_PROCESS "/instances/i0: " ROWS_PROCESS
                        "/0 i0 routed old k=2\n");
    buf_clear(&s.told.lines);
    change_tag(&s, "2"); /* nothing changes */
    assert_string_equal(buf_string(&s.told.lines), "");
    end(&s);
}

/* Of a kind that its record does not show. */
static void routes_that_went_are_put_to_the_rep(void **state)
{
    struct scene s;
    begin(&s, 1);
    put(&s, key_desired(&s.arena, ROWS_PROCESS),
        &row_desired(&s.arena, "instances=1 def=D1 http=h tag=1")->base);
    put(&s, key_actual(&s.arena, ROWS_PROCESS, 0, ORDINARY),
        &row_actual(&s.arena, "RUNNING i0@c1 def=D1 tag=1", 0, ORDINARY)->base);
    end_routes(&s);
    assert_string_equal(buf_string(&s.told.lines), "PUT /v1/lrps/" ROWS_PROCESS
                                                   "/instances/i0: " ROWS_PROCESS "/0 i0 k=1\n");
    end(&s);
}

/* The second one finds the mark there, commits nothing, and says it again: once. */
static void a_stop_is_reported_once_for_each_request(void **state)
{
    struct scene s;
    begin(&s, 1);
    put_running(&s, 0);
    Models__RetireActualLRPRequest request = MODELS__RETIRE_ACTUAL_LRPREQUEST__INIT;
    request.actual_lrp_key =
        row_actual(&s.arena, "RUNNING i0@c1", 0, ORDINARY)->actual_lrp_key;
    for (unsigned asked = 1; asked <= 2; asked++) {
        ask(&s, "/v1/actual_lrps/retire", &request.base);
        assert_int_equal(s.told.count, asked);
        assert_string_equal(buf_string(&s.told.lines),
                            "POST /v1/lrps/" ROWS_PROCESS "/instances/i0/stop:\n");
        buf_clear(&s.told.lines);
    }
    end(&s);
}

/* All that is told at once; the answers make room again. */
static void so_many_are_reported_at_once(void **state)
{
    static const int rows[][2] = {{REFRESH_CALLS_MAX, REFRESH_CALLS_MAX},
                                  {REFRESH_CALLS_MAX + 1, REFRESH_CALLS_MAX}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct scene s;
        begin(&s, rows[i][0]);
        for (int index = 0; index < rows[i][0]; index++) {
            put_running(&s, index);
        }
        change_tag(&s, "2");
        assert_int_equal(s.told.count, rows[i][1]);
        assert_int_equal(s.told.highest, rows[i][1] - 1);
        change_tag(&s, "3");
        assert_int_equal(s.told.count, 2 * rows[i][1]);
        end(&s);
    }
}

static void so_many_indices_are_looked_at(void **state)
{
    struct scene s;
    begin(&s, REFRESH_INDICES_MAX + 1);
    put_running(&s, REFRESH_INDICES_MAX - 1);
    put_running(&s, REFRESH_INDICES_MAX);
    change_tag(&s, "2");
    assert_int_equal(s.told.count, 1);
    assert_int_equal(s.told.highest, REFRESH_INDICES_MAX - 1);
    end(&s);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* The cell plays the auctioneer too. */
static void leader_lock(struct scene *s)
{
    Board__LeaderLockRecord record = BOARD__LEADER_LOCK_RECORD__INIT;
    record.role = (char *)(uintptr_t) "auctioneer";
    record.holder = (char *)(uintptr_t) "h";
    record.url = (char *)(uintptr_t) "https://c1:1801";
    put(s, key_lead(&s->arena, "auctioneer"), &record.base);
}

/* The revision of what is UNCLAIMED goes with it: the auctioneer tells by that whether it is late.
 */
static void the_auctioneer_is_notified_of_an_instance(void **state)
{
    struct scene s;
    int64_t before = 0;
    begin(&s, 2);
    leader_lock(&s);
    for (int crashes = 0; crashes < 2; crashes++) {
        put_running(&s, 1);
        Models__CrashActualLRPRequest request = MODELS__CRASH_ACTUAL_LRPREQUEST__INIT;
        Models__ActualLRP *record = row_actual(&s.arena, "RUNNING i1@c1", 1, ORDINARY);
        request.actual_lrp_key = record->actual_lrp_key;
        request.actual_lrp_instance_key = record->actual_lrp_instance_key;
        ask(&s, "/v1/actual_lrps/crash", &request.base);
        assert_string_equal(buf_string(&s.told.lines), "POST /v1/lrps: " ROWS_PROCESS "/1\n");
        assert_true(s.told.revision > before);
        before = s.told.revision;
        buf_clear(&s.told.lines);
    }
    end(&s);
}

static void send_desire(struct scene *s, const char *guid, const char *trace_id)
{
    char *tags[] = {(char *)(uintptr_t) "gpu"};
    Models__VolumeMount mount = MODELS__VOLUME_MOUNT__INIT;
    Models__VolumeMount *mounts[] = {&mount};
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__TaskDefinition d = MODELS__TASK_DEFINITION__INIT;
    Models__DesireTaskRequest r = MODELS__DESIRE_TASK_REQUEST__INIT;
    mount.driver = (char *)(uintptr_t) "nfs";
    run.path = run.user = (char *)(uintptr_t) "x";
    action.run_action = &run;
    d.action = &action;
    d.root_fs = (char *)(uintptr_t) "preloaded:x";
    d.memory_mb = 1;
    d.disk_mb = 2;
    d.max_pids = 3;
    d.n_placement_tags = 1;
    d.placement_tags = tags;
    d.n_volume_mounts = 1;
    d.volume_mounts = mounts;
    r.task_guid = (char *)(uintptr_t)guid;
    r.domain = (char *)(uintptr_t) "d";
    r.task_definition = &d;
    world_send_traced(s->world, "https://bbs-1:8889", "/v1/tasks/desire.r2", trace_id, &r.base,
                      10 * SECOND_NS, NULL, NULL);
}

static void the_auctioneer_is_notified_of_a_task(void **state)
{
    struct scene s;
    begin(&s, 1);
    world_run(s.world, SECOND_NS);
    send_desire(&s, "t0", "trace"); /* nobody leads */
    world_run(s.world, SECOND_NS);
    assert_string_equal(buf_string(&s.told.lines), "");
    leader_lock(&s);
    world_run(s.world, SECOND_NS);
    send_desire(&s, "t1", "trace");
    world_run(s.world, SECOND_NS);
    assert_string_equal(buf_string(&s.told.lines),
                        "POST /v1/tasks: t1/d preloaded:x 1/2/3 tag=gpu driver=nfs\n");
    end(&s);
}

static void put_task(struct scene *s, const char *guid, Models__Task__State state,
                     const char *attempt)
{
    Models__Task task = MODELS__TASK__INIT;
    Models__TaskDefinition definition = MODELS__TASK_DEFINITION__INIT;
    task.task_guid = (char *)(uintptr_t)guid;
    task.domain = (char *)(uintptr_t) "d";
    task.state = state;
    task.cell_id = (char *)(uintptr_t) "c1";
    task.attempt = (char *)(uintptr_t)attempt;
    task.task_definition = &definition;
    put(s, key_task(&s->arena, guid), &task.base);
}

static void cancel_task(struct scene *s, const char *guid)
{
    Models__TaskGuidRequest r = MODELS__TASK_GUID_REQUEST__INIT;
    r.task_guid = (char *)(uintptr_t)guid;
    ask(s, "/v1/tasks/cancel", &r.base);
}

static void the_rep_is_notified_that_its_task_was_cancelled(void **state)
{
    struct scene s;
    begin(&s, 1);
    put_task(&s, "t0", MODELS__TASK__STATE__Running, "5-a");
    put_task(&s, "a/b", MODELS__TASK__STATE__Running, "1&b=%"); /* neither by a request of ours */
    put_task(&s, "t1", MODELS__TASK__STATE__Pending, "5-a"); /* rejected by c1 before */
    put_task(&s, "t2", MODELS__TASK__STATE__Running, "");    /* by an ordinary client */
    cancel_task(&s, "t0");
    cancel_task(&s, "a/b");
    cancel_task(&s, "t1");
    cancel_task(&s, "t2");
    assert_string_equal(buf_string(&s.told.lines),
                        "POST /v1/tasks/t0/cancel?attempt=5-a:\n"
                        "POST /v1/tasks/a%2Fb/cancel?attempt=1%26b%3D%25:\n"
                        "POST /v1/tasks/t2/cancel:\n");
    end(&s);
}

/* Each of its own client; an auctioneer that does not answer keeps START_CALLS_MAX calls busy, and
 * what then waits is bounded. */
static void so_many_tasks_wait_to_be_told(void **state)
{
    struct scene s;
    char guid[32];
    begin(&s, 1);
    leader_lock(&s);
    enum { ALL = START_CALLS_MAX + STARTS_WAITING_MAX + 5 };
    world_run(s.world, SECOND_NS);
    s.told.silent = true;
    for (int i = 0; i < ALL; i++) {
        snprintf(guid, sizeof(guid), "t%d", i);
        send_desire(&s, guid, i < START_CALLS_MAX ? guid : "the same");
        world_run(s.world, i < START_CALLS_MAX ? 100 * MILLISECOND_NS : MILLISECOND_NS / 2);
    }
    world_run(s.world, 20 * SECOND_NS); /* the first calls time out */
    assert_int_equal(s.told.tasks, START_CALLS_MAX + STARTS_WAITING_MAX);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_auctioneer_is_notified_of_an_instance),
        cmocka_unit_test(the_auctioneer_is_notified_of_a_task),
        cmocka_unit_test(the_rep_is_notified_that_its_task_was_cancelled),
        cmocka_unit_test(so_many_tasks_wait_to_be_told),
        cmocka_unit_test(a_changed_tag_is_put_to_each_rep_once),
        cmocka_unit_test(routes_that_went_are_put_to_the_rep),
        cmocka_unit_test(a_stop_is_reported_once_for_each_request),
        cmocka_unit_test(so_many_are_reported_at_once),
        cmocka_unit_test(so_many_indices_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
