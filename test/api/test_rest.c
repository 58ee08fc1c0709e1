/* docs/rest.md at two running bbs: systems in JSON from create to delete, each step asked of one
 * bbs and looked at by the other. The test is the converger: what it moves stays until it moves it
 * again. */
#include "common/model/moves.h"
#include "test/api/bbs_rig.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

static struct arena arena; /* of all that is said */
static struct buf answer;  /* to the last request */
static struct buf head;
static char uid[64]; /* of the system "shop" */

/* ---- Asking ---------------------------------------------------------------------------------- */

/* Each request goes to the other bbs than the one before. */
static void ask(const char *method, const char *path, const char *body, int wanted)
{
    static unsigned turn;
    const struct bbs_process *b = &bbs_rig.bbs[turn++ % BBS_RIG_COUNT];
    int status = bbs_ask_as(&bbs_rig.client, b->port, method, path, bytes_of(body), &head, &answer);
    if (status != wanted) {
        fail_msg("%s %s %s: %d, not %d: %s", method, path, body, status, wanted,
                 buf_string(&answer));
    }
}

static void says(const char *text)
{
    if (!strstr(buf_string(&answer), text)) {
        fail_msg("the answer lacks %s: %s", text, buf_string(&answer));
    }
}

static void lacks(const char *text)
{
    if (strstr(buf_string(&answer), text)) {
        fail_msg("the answer has %s: %s", text, buf_string(&answer));
    }
}

/* ---- The converger --------------------------------------------------------------------------- */

static const Board__Term *term(void)
{
    static Board__Term *held;
    Board__LeaderLockRequest r = BOARD__LEADER_LOCK_REQUEST__INIT;
    Board__LeaderLockRecord lock = BOARD__LEADER_LOCK_RECORD__INIT;
    SCOPED_BUF(got);
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    if (!held) {
        r.leader_lock = &lock;
        lock.role = arena_strdup(&arena, "converger");
        lock.holder = arena_strdup(&arena, "test");
        bbs_post_as(&bbs_rig.converger, "/v1/board/leader_lock", &r.base, &got);
        Board__LeaderLockResponse *response =
            board__leader_lock_response__unpack(&allocator, got.size, got.data);
        assert_true(response && !response->error && response->term);
        held = response->term;
    }
    return held;
}

static void apply(Board__Move *m)
{
    Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
    SCOPED_BUF(got);
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    m->term = (Board__Term *)(uintptr_t)term();
    r.n_moves = 1;
    r.moves = &m;
    bbs_post_as(&bbs_rig.converger, "/v1/board/apply", &r.base, &got);
    Board__ApplyResponse *response =
        board__apply_response__unpack(&allocator, got.size, got.data);
    assert_true(response && response->n_results == 1);
    if (response->results[0]->outcome != BOARD__MOVE_RESULT__OUTCOME__DONE) {
        const Models__Error *error = response->results[0]->error;
        fail_msg("%s of %s: %s", m->move, m->subject->key, error ? error->message : "not done");
    }
}

#define BODY(m, NAME, name)                                                                        \
    ((m)->body_case = BOARD__MOVE__BODY_##NAME,                                                    \
     (m)->name = arena_message(&arena, &board__##name##_move__descriptor),                         \
     (m)->name->system = arena_strdup(&arena, "shop"))

static void open_system(void)
{
    Board__Move *m = move_new(&arena, "open", key_system(&arena, "shop"));
    m->body_case = BOARD__MOVE__BODY_SYSTEM;
    m->system = arena_message(&arena, &board__system_move__descriptor);
    m->system->uid = uid;
    apply(m);
}

static void move_deploy_on(const char *move, const char *id)
{
    Board__Move *m = move_new(&arena, move, key_deploy(&arena, uid, id));
    BODY(m, DEPLOY, deploy);
    apply(m);
}

static void move_run(const char *move, const char *id)
{
    Board__Move *m = move_new(&arena, move, key_jobrun(&arena, uid, id));
    m->body_case = BOARD__MOVE__BODY_JOB_RUN;
    m->job_run = arena_message(&arena, &board__job_run_move__descriptor);
    m->job_run->system = arena_strdup(&arena, "shop");
    apply(m);
}

/* A root and below it the job /migrate, which needs nothing. */
static void components(Board__ComponentRecord *ret[2])
{
    static const char *const paths[] = {"/", "/migrate"}, *const kinds[] = {"system", "job"};
    for (size_t i = 0; i < 2; i++) {
        ret[i] = arena_message(&arena, &board__component_record__descriptor);
        ret[i]->tree = arena_strdup(&arena, "tree-1");
        ret[i]->path = arena_strdup(&arena, paths[i]);
        ret[i]->kind = arena_strdup(&arena, kinds[i]);
        ret[i]->hash = arena_strdup(&arena, "h");
    }
    ret[1]->task = bbs_desire_task_of(&arena, "x", "d")->task_definition;
}

static Board__Move *build_move(const char *name, const char *id)
{
    Board__Move *m = move_new(&arena, name, key_build(&arena, uid, id));
    BODY(m, BUILD, build);
    m->build->tree = arena_strdup(&arena, "tree-1");
    m->build->components = 2;
    return m;
}

static void finish_build(const char *id)
{
    Board__ComponentRecord *written[2];
    components(written);
    apply(build_move("accept", id));
    Board__Move *m = build_move("write", id);
    m->build->n_written = 2;
    m->build->written = written;
    apply(m);
    m = build_move("succeed", id);
    Board__IndexRecord *index = m->build->index =
        arena_message(&arena, &board__index_record__descriptor);
    index->tree = arena_strdup(&arena, "tree-1");
    index->uid = uid;
    index->path = arena_strdup(&arena, "/");
    index->log = arena_strdup(&arena, "/: the text\n/migrate: in it\n");
    index->n_entries = 2;
    index->entries = ARENA_ARRAY(&arena, 2, Board__IndexRecord__Entry *);
    for (size_t i = 0; i < 2; i++) {
        Board__IndexRecord__Entry *e = index->entries[i] =
            arena_message(&arena, &board__index_record__entry__descriptor);
        e->path = written[i]->path;
        e->kind = written[i]->kind;
        e->hash = written[i]->hash;
    }
    apply(m);
}

/* ---- The story ------------------------------------------------------------------------------- */

static void a_system_is_made(void **state)
{
    ask("GET", "/health", "", 200);
    ask("GET", "/v1/systems", "", 200);
    assert_string_equal(buf_string(&answer), "[]\n");
    ask("POST", "/v1/systems", "{\"id\":\"shop\",\"definitionUrl\":\"https://a:b@git/shop\"}", 201);
    says("\"state\":\"pending\"");
    says("https://(hidden)@git/shop"); /* nobody is told a password */
    says("\"creationTimestamp\":\"20");
    const char *at = strstr(buf_string(&answer), "\"uid\":\"");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\"uid\":\"%36[0-9a-f-]\"", uid), 1);
    ask("POST", "/v1/systems", "{\"id\":\"shop\"}", 409);
    says("SYSTEM_ALREADY_EXISTS");
    ask("POST", "/v1/systems", "{\"id\":\"No System\"}", 400);
    says("INVALID_SYSTEM_OPTIONS");
    ask("GET", "/v1/systems/shop/builds", "", 409);
    says("SYSTEM_PENDING");
    ask("POST", "/v1/systems/shop/teardowns", "", 409);
    says("SYSTEM_PENDING");
    open_system();
    ask("GET", "/v1/systems/shop", "", 200);
    says("\"state\":\"stable\"");
    ask("GET", "/v1/systems", "", 200);
    says("[\n{\"id\":\"shop\",");
}

static void what_is_not_there_is_told(void **state)
{
    static const struct {
        const char *method, *path;
        int status;
        const char *code;
    } rows[] = {
        {"GET", "/v1/systems/none", 400, "INVALID_SYSTEM_ID"},
        {"DELETE", "/v1/systems/none", 400, "INVALID_SYSTEM_ID"},
        {"GET", "/v1/systems/none/services", 404, "INVALID_SYSTEM_ID"},
        {"POST", "/v1/systems/none/teardowns", 404, "INVALID_SYSTEM_ID"},
        {"GET", "/v1/systems/shop/builds/x", 404, "INVALID_BUILD_ID"},
        {"GET", "/v1/systems/shop/builds/x/logs?path=/", 404, "INVALID_BUILD_ID"},
        {"GET", "/v1/systems/shop/deploys/x", 404, "INVALID_DEPLOY_ID"},
        {"POST", "/v1/systems/shop/deploys/x/abort", 404, "INVALID_DEPLOY_ID"},
        {"GET", "/v1/systems/shop/teardowns/x", 404, "INVALID_TEARDOWN_ID"},
        {"GET", "/v1/systems/shop/services/x", 404, "INVALID_SERVICE_ID"},
        {"POST", "/v1/systems/shop/services/x/restart", 404, "INVALID_SERVICE_ID"},
        {"GET", "/v1/systems/shop/services?path=a", 400, "INVALID_PATH"},
        {"GET", "/v1/systems/shop/jobs/x", 404, "INVALID_JOB_ID"},
        {"DELETE", "/v1/systems/shop/jobs/x", 404, "INVALID_JOB_ID"},
        {"GET", "/v1/systems/shop/node-pools/%2F:main", 404, "INVALID_PATH"},
        {"GET", "/v1/systems/shop/node-pools/main", 400, "INVALID_PATH"},
        {"GET", "/v1/systems/shop/secrets/%2Fapi:key", 404, "INVALID_SECRET"},
        {"GET", "/v1/systems/shop/secrets/key", 400, "INVALID_PATH"},
        {"GET", "/v1/systems/shop/what", 404, "INVALID_PATH"},
        {"GET", "/v1/systems/", 404, "INVALID_PATH"},
        {"GET", "/v1/nope", 404, "INVALID_PATH"},
        {"GET", "/v1/nope/of/it?x=y", 404, "INVALID_PATH"},
        {"DELETE", "/v1/systemz/shop", 404, "INVALID_PATH"},
        {"GET", "/v1/systems.r1", 404, "INVALID_PATH"},
        {"POST", "/v1/systems.r1", 404, "INVALID_PATH"},
        {"GET", "/v1/", 404, "INVALID_PATH"},
        {"GET", "/v1", 404, "INVALID_PATH"},
        {"POST", "/v1/nope", 404, "404 page not found\n"},
        {"GET", "/v1/tasks/list.r4", 404, "404 page not found\n"},
        {"GET", "/v1x", 404, "404 page not found\n"},
        {"PUT", "/v1/systems/shop", 405, "INVALID_METHOD"},
        {"GET", "/v1/systems/shop/services/x/logs", 404, "INVALID_SERVICE_ID"},
        {"GET", "/v1/systems/shop/services/%2Fapi/logs?follow=1", 404, "INVALID_SERVICE_ID"},
        {"GET", "/v1/systems/shop/jobs/x/logs", 404, "INVALID_JOB_ID"},
        {"DELETE", "/v1/systems/shop/secrets/%2Fapi:key", 200, "{}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ask(rows[i].method, rows[i].path, "", rows[i].status);
        says(rows[i].code);
    }
    static const char *const empty[] = {"builds", "deploys", "teardowns", "services",
                                        "services?path=/api", "jobs", "node-pools", "secrets",
                                        "versions"};
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        ask("GET", arena_printf(&arena, "/v1/systems/shop/%s", empty[i]), "", 200);
        assert_string_equal(buf_string(&answer), "[]\n");
    }
}

static void bad_bodies_are_refused(void **state)
{
    static const struct {
        const char *path, *body, *text;
    } rows[] = {
        {"builds", "{\"version\":\"1.0.0\",\"path\":\"/\"}", "INVALID_REQUEST"},
        {"builds", "{}", "INVALID_REQUEST"},
        {"builds", "{\"path\":\"a\"}", "INVALID_PATH"},
        {"builds", "{\"verison\":\"1.0.0\"}", "verison"},
        {"builds", "[1", "INVALID_REQUEST"},
        {"builds", "{\"version\":7}", "version"},
        {"deploys", "{}", "INVALID_REQUEST"},
        {"deploys", "{\"path\":\"/a/\"}", "INVALID_PATH"},
        {"deploys", "{\"undo\":\"x\",\"buildId\":\"y\"}", "INVALID_REQUEST"},
        {"teardowns", "{\"id\":\"a b\"}", "INVALID_REQUEST"},
        {"jobs", "{\"path\":\"\"}", "INVALID_PATH"},
        {"jobs", "{\"path\":\"/a\",\"environment\":{\"A\":1}}", "environment.A"},
        {"jobs", "{\"path\":\"/a\",\"environment\":{\"A\":{\"$secret_ref\":\"key\"}}}",
         "environment.A"},
        {"jobs", "{\"path\":\"/a\",\"environment\":{\"A=B\":\"c\"}}", "A=B"},
        {"jobs", "{\"path\":\"/a\",\"command\":[\"\"]}", "command"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ask("POST", arena_printf(&arena, "/v1/systems/shop/%s", rows[i].path), rows[i].body, 400);
        says(rows[i].text);
        says("\"code\":");
    }
    ask("PATCH", "/v1/systems/shop/secrets/%2Fapi:key", "{\"value\":\"x\"}", 409);
    says("keys"); /* these bbs have none */
}

static void the_same_request_is_the_same_record(void **state)
{
    ask("POST", "/v1/systems/shop/deploys", "{\"id\":\"d1\",\"definition\":\"type: v1/system\"}",
        201);
    says("\"id\":\"d1\"");
    lacks("v1/system"); /* the text is kept elsewhere */
    ask("POST", "/v1/systems/shop/deploys", "{\"id\":\"d1\",\"definition\":\"type: v1/system\"}",
        201);
    ask("POST", "/v1/systems/shop/deploys", "{\"id\":\"d1\",\"version\":\"1.0.0\"}", 409);
    says("CONFLICT");
    ask("GET", "/v1/systems/shop/deploys/d1", "", 200);
    says("\"state\":\"pending\"");
    move_deploy_on("accept", "d1");
    finish_build("d1");
    ask("GET", "/v1/systems/shop/builds/d1", "", 200);
    says("\"state\":\"succeeded\"");
    says("\"workloads\":{\"/migrate\":\"preloaded:busybox\"}");
    ask("GET", "/v1/systems/shop/builds/d1/logs?path=/migrate", "", 200);
    assert_string_equal(buf_string(&answer), "/migrate: in it\n");
    move_deploy_on("begin", "d1");
    ask("POST", "/v1/systems/shop/deploys/d1/pause", "", 200);
    says("\"paused\":true");
    ask("POST", "/v1/systems/shop/deploys/d1/resume", "", 200);
    lacks("paused");
    ask("POST", "/v1/systems/shop/teardowns", "{\"id\":\"t1\"}", 201);
    ask("GET", "/v1/systems/shop/deploys", "", 200);
    says("\"state\":\"in progress\"");
}

static void a_job_is_run(void **state)
{
    const char *body = "{\"id\":\"r1\",\"path\":\"/migrate\",\"command\":[\"/bin/echo\",\"hi\"],"
                       "\"environment\":{\"LOG\":\"debug\"}}";
    ask("POST", "/v1/systems/shop/jobs", "{\"path\":\"/\"}", 404);
    says("INVALID_PATH");
    ask("POST", "/v1/systems/shop/jobs", body, 201);
    ask("POST", "/v1/systems/shop/jobs", body, 201);
    says("\"state\":\"pending\"");
    says("\"environment\":{\"LOG\":\"(hidden)\"}");
    lacks("debug");
    ask("POST", "/v1/systems/shop/jobs", "{\"id\":\"r1\",\"path\":\"/migrate\"}", 409);
    says("CONFLICT");
    ask("POST", "/v1/systems/shop/jobs",
        "{\"path\":\"/migrate\",\"environment\":{\"K\":{\"$secret_ref\":\"/:key\"}}}", 409);
    says("bbs secrets set shop /:key");
    move_run("queue", "r1");
    ask("GET", "/v1/systems/shop/jobs/r1", "", 200);
    says("\"state\":\"queued\"");
    says("\"task\":\"shop_migrate-r1\"");
    ask("DELETE", "/v1/systems/shop/jobs/r1", "", 200);
    says("\"state\":\"failed\"");
    ask("DELETE", "/v1/systems/shop/jobs/r1", "", 200);
    says("it was cancelled");
    ask("GET", "/v1/systems/shop/jobs", "", 200);
    says("\"completionTimestamp\"");
}

/* A rep may read, and change nothing; nobody but a client is told a secret. */
static void callers_are_told_apart(void **state)
{
    static const struct {
        const char *method, *path;
        int status;
    } rows[] = {
        {"GET", "/v1/systems/shop", 200},
        {"DELETE", "/v1/systems/shop", 403},
        {"POST", "/v1/systems/shop/teardowns", 403},
        {"GET", "/v1/systems/shop/secrets", 200},
        {"GET", "/v1/systems/shop/secrets/%2Fapi:key", 403},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(bbs_ask_as(&bbs_rig.rep, bbs_rig.bbs[0].port, rows[i].method, rows[i].path,
                                    bytes_of(""), &head, &answer),
                         rows[i].status);
    }
}

static void a_system_goes(void **state)
{
    ask("DELETE", "/v1/systems/shop", "", 200);
    says("\"state\":\"deleting\"");
    says("\"deletionTimestamp\"");
    ask("GET", "/v1/systems/shop/services", "", 409);
    says("SYSTEM_DELETING");
    ask("POST", "/v1/systems/shop/jobs", "{\"path\":\"/migrate\"}", 409);
    says("SYSTEM_DELETING");
    move_run("delete", "r1");
    move_run("remove", "r1");
    ask("GET", "/v1/systems/shop", "", 200);
    says("\"state\":\"deleting\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_system_is_made),
        cmocka_unit_test(what_is_not_there_is_told),
        cmocka_unit_test(bad_bodies_are_refused),
        cmocka_unit_test(the_same_request_is_the_same_record),
        cmocka_unit_test(a_job_is_run),
        cmocka_unit_test(callers_are_told_apart),
        cmocka_unit_test(a_system_goes),
    };
    arena_init(&arena);
    int failed = BBS_RIG_RUN("rest", tests);
    buf_done(&answer);
    buf_done(&head);
    arena_done(&arena);
    return failed;
}
