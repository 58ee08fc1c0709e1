/* Completion callbacks of one bbs, told to a server that fails in every way there is. */
#include "bbs/bbs.h"
#include "bbs/callbacks.h"
#include "common/model/keys.h"
#include "common/model/record.h"
#include "models/task.pb-c.h"
#include "test/sim/world/callback_server.h"
#include "test/sim/model/etcd.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

/* ---- A bbs, its board, and who is called ----------------------------------------------------- */

struct scene {
    struct world *world;
    struct arena arena;
    struct callback_server server;
    struct node *bbs;
    Models__TaskCallbackResponse told; /* the last time */
    char words[512];                   /* of it */
    struct callback_limits limits;
};

static void on_heard(void *context, const Models__TaskCallbackResponse *m)
{
    struct scene *s = context;
    s->told = *m;
    snprintf(s->words, sizeof(s->words), "%s|%d|%s|%s|%s|%lld", m->task_guid, m->failed,
             m->failure_reason, m->result, m->annotation, (long long)m->created_at);
}

static struct role *make_bbs(void *context, unsigned incarnation)
{
    const struct scene *s = context;
    return bbs_new(&(struct bbs_config){
        .url = "https://bbs-1:8889", .name = "bbs-1", .callbacks = s->limits});
}

static void begin_with(struct scene *s, const struct callback_limits *limits)
{
    *s = (struct scene){.world = world_new(&(struct world_options){.seed = 3}), .limits = *limits};
    arena_init(&s->arena);
    callback_server_init(&s->server, s->world);
    s->server.on_heard = on_heard;
    s->server.context = s;
    s->bbs = world_add(s->world, &(struct node_config){.name = "bbs-1",
                                                      .unit = "bbs",
                                                      .certificate_name = "bbs-1",
                                                      .url = "https://bbs-1:8889",
                                                      .store = world_store(s->world, "etcd"),
                                                      .make = make_bbs,
                                                      .context = s});
    world_start(s->world, s->bbs);
    world_run(s->world, SECOND_NS);
}

static void begin(struct scene *s)
{
    begin_with(s, &(struct callback_limits){0});
}

static void end(struct scene *s)
{
    assert_false(s->server.garbled);
    callback_server_done(&s->server);
    world_free(s->world);
    arena_done(&s->arena);
}

/* A stranger's hand on the store. */
static void put(struct scene *s, const Models__Task *task)
{
    store_put(world_store(s->world, "etcd"), key_task(&s->arena, task->task_guid),
              record_encoded(&s->arena, &task->base));
}

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void put_running(struct scene *s, const char *guid, const char *url, const char *annotation)
{
    Models__Task task = MODELS__TASK__INIT;
    Models__TaskDefinition definition = MODELS__TASK_DEFINITION__INIT;
    definition.completion_callback_url = text(url);
    definition.annotation = text(annotation);
    task.task_definition = &definition;
    task.task_guid = text(guid);
    task.domain = text("d");
    task.state = MODELS__TASK__STATE__Running;
    task.cell_id = text("c1");
    task.created_at = task.updated_at = 12345;
    put(s, &task);
}

/* As the store has it; NULL = not there. */
static const Models__Task *stored(struct scene *s, const char *guid)
{
    struct store_answer answer = {0};
    Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
    const char *key = key_task(&s->arena, guid);
    range.key = (ProtobufCBinaryData){.data = (uint8_t *)(uintptr_t)key, .len = strlen(key)};
    model_etcd_apply(store_etcd(world_store(s->world, "etcd")), STORE_RANGE, &range.base,
                     &s->arena, &answer);
    const Etcd__RangeResponse *r = (const Etcd__RangeResponse *)answer.message;
    if (r->n_kvs == 0) {
        return NULL;
    }
    struct bytes value = {.data = r->kvs[0]->value.data, .size = r->kvs[0]->value.len};
    struct err err;
    ProtobufCMessage *m = NULL;
    assert_int_equal(record_decode(&s->arena, RECORD_TASK, value, &m, &err), 0);
    return (const Models__Task *)m;
}

static void complete(struct scene *s, const char *guid, const char *result)
{
    Models__CompleteTaskRequest r = MODELS__COMPLETE_TASK_REQUEST__INIT;
    r.task_guid = text(guid);
    r.cell_id = text("c1");
    r.result = text(result);
    world_run(s->world, 100 * MILLISECOND_NS);
    assert_int_equal(world_call(s->world, "https://bbs-1:8889", "/v1/tasks/complete", &r.base,
                                10 * SECOND_NS, NULL),
                     200);
}

/* ---- Every way to fail ----------------------------------------------------------------------- */

struct deed_case {
    enum callback_deed script[4];
    unsigned heard, asked; /* asked: DEED_REFUSES is asked and hears nothing */
    bool deleted;          /* else it stays Resolving */
    int64_t least_ns, most_ns; /* until then */
};

#define SOON 0, SECOND_NS
#define TIMEOUTS(n) (n) * CALLBACK_TIMEOUT_NS, (n) * CALLBACK_TIMEOUT_NS + SECOND_NS

static const struct deed_case cases[] = {
    {{DEED_OK}, 1, 1, true, SOON},
    {{DEED_404}, 1, 1, true, SOON},
    {{DEED_500}, 1, 1, true, SOON},
    {{DEED_MOVED}, 1, 1, true, SOON},
    {{DEED_SEE}, 1, 1, true, SOON},
    {{DEED_SLOW}, 1, 1, true, CALLBACK_SLOW_NS, CALLBACK_SLOW_NS + SECOND_NS},
    {{DEED_503, DEED_OK}, 2, 2, true, SOON},
    {{DEED_504, DEED_504, DEED_OK}, 3, 3, true, SOON},
    {{DEED_CLOSES, DEED_500}, 2, 2, true, SOON},
    {{DEED_SILENT, DEED_OK}, 2, 2, true, TIMEOUTS(1)},
    {{DEED_LATE, DEED_LATE, DEED_404}, 3, 3, true, TIMEOUTS(2)},
    {{DEED_MOVED_503, DEED_OK}, 2, 2, true, SOON},
    {{DEED_503, DEED_504, DEED_CLOSES, DEED_OK}, 3, 3, false, SOON},
    {{DEED_503, DEED_503, DEED_503, DEED_OK}, 3, 3, false, SOON},
    {{DEED_SILENT, DEED_SILENT, DEED_SILENT, DEED_OK}, 3, 3, false, TIMEOUTS(3)},
    {{DEED_REFUSES, DEED_OK}, 0, 1, false, SOON},
    {{DEED_503, DEED_REFUSES, DEED_OK}, 1, 2, false, SOON},
    {{DEED_CIRCLE, DEED_OK}, 1, 1, false, SOON},
};

static bool is_over(void *context)
{
    struct scene *s = context;
    return s->server.script_left == 0 || !stored(s, "t");
}

static void run_case(const struct deed_case *c, size_t number)
{
    struct scene s;
    begin(&s);
    s.server.script = c->script;
    s.server.script_left = 4;
    put_running(&s, "t", CALLBACK_URL "t", "note");
    int64_t from = world_now(s.world);
    complete(&s, "t", "<r>");
    world_run_until(s.world, 60 * SECOND_NS, is_over, &s);
    int64_t took = world_now(s.world) - from;
    const Models__Task *left = stored(&s, "t");
    unsigned asked = 0;
    for (int i = 0; i < DEED_COUNT; i++) {
        asked += s.server.deeds[i];
    }
    if (asked != c->asked || callback_server_heard(&s.server, "t") != c->heard ||
        !left != c->deleted ||
        (c->deleted && (took < c->least_ns || took > c->most_ns + 200 * MILLISECOND_NS))) {
        fail_msg("case %zu: asked %u, heard %u, %s after %lld ms", number, asked,
                 callback_server_heard(&s.server, "t"), left ? "stays" : "deleted",
                 (long long)(took / MILLISECOND_NS));
    }
    if (left) {
        assert_int_equal(left->state, MODELS__TASK__STATE__Resolving);
        assert_string_equal(left->result, "<r>");
    }
    if (c->heard) {
        assert_string_equal(s.words, "t|0||<r>|note|12345");
    }
    end(&s);
}

static void every_way_to_fail(void **state)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run_case(&cases[i], i);
    }
}

/* ---- What is told, and whom ------------------------------------------------------------------ */

static void nobody_is_notified_without_a_good_url(void **state)
{
    static const struct {
        const char *url;
        Models__Task__State left;
    } rows[] = {
        {"", MODELS__TASK__STATE__Completed},
        {"ftp://cc.example/t", MODELS__TASK__STATE__Resolving},
        {"cc.example/t", MODELS__TASK__STATE__Resolving},
        {"file:///etc/passwd", MODELS__TASK__STATE__Resolving},
        {"https://other.example/t", MODELS__TASK__STATE__Resolving}, /* refuses */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct scene s;
        begin(&s);
        put_running(&s, "t", rows[i].url, "");
        complete(&s, "t", "r");
        world_run(s.world, 40 * SECOND_NS);
        const Models__Task *left = stored(&s, "t");
        assert_non_null(left);
        assert_int_equal(left->state, rows[i].left);
        end(&s);
    }
}

static void an_empty_annotation_is_left_out(void **state)
{
    struct scene s;
    begin(&s);
    put_running(&s, "t", CALLBACK_URL "t", "");
    complete(&s, "t", "");
    world_run(s.world, SECOND_NS);
    assert_string_equal(s.words, "t|0||||12345");
    assert_null(stored(&s, "t"));
    end(&s);
}

static void cancel(struct scene *s, int number)
{
    char guid[32];
    snprintf(guid, sizeof(guid), "t%d", number);
    Models__TaskGuidRequest r = MODELS__TASK_GUID_REQUEST__INIT;
    r.task_guid = guid;
    world_send(s->world, "https://bbs-1:8889", "/v1/tasks/cancel", &r.base, 10 * SECOND_NS, NULL,
               NULL);
}

/* All are cancelled at once while the server is silent. So many of them are called, the next ones
 * wait and are called when the first have been heard, and the last stay Completed. */
static void crowd(int all, size_t annotation_size, unsigned at_once, int left)
{
    struct scene s;
    char guid[32], url[64];
    begin(&s);
    enum callback_deed *silent = ARENA_ARRAY(&s.arena, at_once + 1, enum callback_deed);
    char *annotation = ARENA_ARRAY(&s.arena, annotation_size + 1, char);
    memset(annotation, 'x', annotation_size);
    annotation[annotation_size] = '\0';
    for (unsigned i = 0; i <= at_once; i++) {
        silent[i] = DEED_SILENT;
    }
    s.server.script = silent;
    s.server.script_left = at_once + 1;
    for (int i = 0; i < all; i++) {
        snprintf(guid, sizeof(guid), "t%d", i);
        snprintf(url, sizeof(url), CALLBACK_URL "%s", guid);
        put_running(&s, guid, url, annotation);
    }
    world_run(s.world, SECOND_NS);
    for (int i = 0; i < all; i++) {
        cancel(&s, i);
        world_run(s.world, i % 64 == 63 ? 4 * MILLISECOND_NS : 0);
    }
    world_run(s.world, 4 * SECOND_NS);
    assert_int_equal(s.server.deeds[DEED_SILENT], at_once);
    s.server.script_left = 0;
    world_run(s.world, 16 * SECOND_NS);
    assert_int_equal(s.server.deeds[DEED_OK], all - left);
    int found = 0;
    for (int i = 0; i < all; i++) {
        snprintf(guid, sizeof(guid), "t%d", i);
        const Models__Task *task = stored(&s, guid);
        assert_true(!task || task->state == MODELS__TASK__STATE__Completed);
        found += task != NULL;
    }
    assert_int_equal(found, left);
    end(&s);
}

static void so_many_at_once(void **state)
{
    crowd(CALLBACKS_MAX + 1, 0, CALLBACKS_MAX, 0);
    crowd(CALLBACKS_MAX + CALLBACKS_WAITING_MAX + 3, 0, CALLBACKS_MAX, 3);
}

static void so_much_at_once(void **state)
{
    enum { LARGE = 800 * 1024, FIT = CALLBACK_BYTES_MAX / (LARGE + 200) };
    crowd(FIT + 2, LARGE, FIT, 0);
}

/* Each limit is a setting. */
static void other_limits(void **state)
{
    static const enum callback_deed script[] = {DEED_SILENT, DEED_SILENT, DEED_503, DEED_OK};
    struct scene s;
    char guid[32], url[64];
    begin_with(&s, &(struct callback_limits){
                       .at_once = 2, .waiting = 1, .attempts = 1, .timeout_ns = SECOND_NS});
    s.server.script = script;
    s.server.script_left = 4;
    for (int i = 0; i < 4; i++) {
        snprintf(guid, sizeof(guid), "t%d", i);
        snprintf(url, sizeof(url), CALLBACK_URL "%s", guid);
        put_running(&s, guid, url, "");
        complete(&s, guid, "r");
    }
    world_run(s.world, 5 * SECOND_NS);
    assert_int_equal(s.server.deeds[DEED_SILENT], 2); /* t0 and t1; t2 waits, t3 is left alone */
    assert_int_equal(s.server.deeds[DEED_503], 1);
    assert_int_equal(s.server.deeds[DEED_OK], 0);
    assert_int_equal(stored(&s, "t2")->state, MODELS__TASK__STATE__Resolving);
    assert_int_equal(stored(&s, "t3")->state, MODELS__TASK__STATE__Completed);
    end(&s);
}

/* The task is desired again and over again while the first outcome is being told: the second is
 * told when that has come to its end, not beside it. */
static void one_delivery_of_a_task_at_a_time(void **state)
{
    static const enum callback_deed script[] = {DEED_SLOW, DEED_OK};
    struct scene s;
    begin(&s);
    s.server.script = script;
    s.server.script_left = 2;
    for (int i = 0; i < 2; i++) {
        put_running(&s, "t", CALLBACK_URL "t", "");
        complete(&s, "t", i ? "second" : "first");
        world_run(s.world, SECOND_NS);
        assert_int_equal(s.server.script_left, 1);
    }
    assert_int_equal(stored(&s, "t")->state, MODELS__TASK__STATE__Completed);
    world_run(s.world, CALLBACK_SLOW_NS);
    assert_int_equal(s.server.script_left, 0);
    assert_string_equal(s.words, "t|0||second||12345");
    assert_null(stored(&s, "t"));
    end(&s);
}

/* A client is faster, at any moment: its word is not deleted with the task, and what it reads is
 * what was told. */
static void a_client_resolves_it_meanwhile(void **state)
{
    static const enum callback_deed script[] = {DEED_SLOW};
    struct scene s;
    begin(&s);
    s.server.script = script;
    s.server.script_left = 1;
    put_running(&s, "t", CALLBACK_URL "t", "");
    complete(&s, "t", "r");
    world_run(s.world, SECOND_NS);
    Models__Task again = *stored(&s, "t");
    assert_int_equal(again.state, MODELS__TASK__STATE__Resolving);
    put(&s, &again); /* kicked and resolved again by somebody */
    world_run(s.world, CALLBACK_SLOW_NS + 2 * SECOND_NS);
    const Models__Task *left = stored(&s, "t");
    assert_non_null(left);
    assert_int_equal(left->state, MODELS__TASK__STATE__Resolving);
    assert_string_equal(left->result, "r");
    end(&s);
}

/* The board does not answer when it is to be deleted: it is tried again. */
static void a_delete_is_tried_again(void **state)
{
    static const enum callback_deed script[] = {DEED_SLOW};
    struct scene s;
    begin(&s);
    s.server.script = script;
    s.server.script_left = 1;
    put_running(&s, "t", CALLBACK_URL "t", "");
    complete(&s, "t", "r");
    world_run(s.world, CALLBACK_SLOW_NS - SECOND_NS);
    world_cut(s.world, s.bbs, NULL, true);
    world_run(s.world, 8 * SECOND_NS);
    assert_non_null(stored(&s, "t"));
    world_cut(s.world, s.bbs, NULL, false);
    world_run(s.world, 20 * SECOND_NS);
    assert_null(stored(&s, "t"));
    assert_int_equal(callback_server_heard(&s.server, "t"), 1);
    end(&s);
}

/* Dies with some of every kind under way: nothing is left behind (the sanitizer looks). */
static void a_bbs_ends_with_callbacks_under_way(void **state)
{
    static const enum callback_deed script[] = {DEED_SILENT, DEED_SILENT};
    struct scene s;
    begin(&s);
    s.server.script = script;
    s.server.script_left = 2;
    put_running(&s, "t", CALLBACK_URL "t", "");
    put_running(&s, "u", CALLBACK_URL "u", "");
    complete(&s, "t", "r");
    complete(&s, "u", "r");
    world_run(s.world, SECOND_NS);
    world_kill(s.world, s.bbs);
    world_run(s.world, 60 * SECOND_NS);
    assert_int_equal(stored(&s, "t")->state, MODELS__TASK__STATE__Resolving);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_fail),
        cmocka_unit_test(nobody_is_notified_without_a_good_url),
        cmocka_unit_test(an_empty_annotation_is_left_out),
        cmocka_unit_test(so_many_at_once),
        cmocka_unit_test(so_much_at_once),
        cmocka_unit_test(other_limits),
        cmocka_unit_test(one_delivery_of_a_task_at_a_time),
        cmocka_unit_test(a_client_resolves_it_meanwhile),
        cmocka_unit_test(a_delete_is_tried_again),
        cmocka_unit_test(a_bbs_ends_with_callbacks_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
