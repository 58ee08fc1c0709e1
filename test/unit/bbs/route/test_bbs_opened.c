/* Who is told the value of a secret (docs/systems.md, Secrets): a rep of what its cell runs; a
 * client and the converger, who ask for that one; everybody else gets it sealed. Asked of a bbs on
 * a model etcd. */
#include "bbs/bbs.h"
#include "common/model/record.h"
#include "common/model/sealed_values.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/task_requests.pb-c.h"
#include "secret_api.pb-c.h"
#include "test/sim/model/sealer.h"
#include "test/sim/world/world.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

#define UID "u-shop"
#define NAME "/api:key"
#define VALUE "geheim"

static const char url[] = "https://bbs-1:8889";

struct trial {
    struct world *world;
    struct arena arena;
    const struct seal *seal; /* that sealed what stands */
    struct bbs_config config;
    bool came;
    int status;
    struct bytes body;
};

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static struct role *make_bbs(void *context, unsigned incarnation)
{
    const struct trial *t = context;
    return bbs_new(&t->config);
}

static void put(struct trial *t, const char *key, const ProtobufCMessage *m)
{
    store_put(world_store(t->world, "etcd"), key, record_encoded(&t->arena, m));
}

/* ---- What stands ----------------------------------------------------------------------------- */

static Models__Sealed *sealed(struct trial *t)
{
    Models__Sealed *s = arena_message(&t->arena, &models__sealed__descriptor);
    Board__WrappedKey key = BOARD__WRAPPED_KEY__INIT;
    s->name = text(NAME);
    s->version = text("v1");
    s->uid = text(UID);
    s->system = text("shop");
    seal_draw(t->seal, &t->arena, UID, "n", &key);
    assert_true(seal_close(t->seal, &t->arena, &key, bytes_of(VALUE), s));
    return s;
}

static void put_system(struct trial *t, const char *uid)
{
    Board__SystemRecord s = BOARD__SYSTEM_RECORD__INIT;
    Board__WrappedKey key = BOARD__WRAPPED_KEY__INIT;
    Board__SecretRecord secret = BOARD__SECRET_RECORD__INIT;
    s.id = text("shop");
    s.uid = text(uid);
    s.state = text("stable");
    seal_draw(t->seal, &t->arena, UID, "n", &key);
    s.data_key = &key;
    put(t, key_system(&t->arena, "shop"), &s.base);
    secret.sealed = sealed(t);
    put(t, key_secret(&t->arena, UID, NAME), &secret.base);
}

/* Two halves, of which the second has the environment; c1 was given an instance. */
static void put_lrp(struct trial *t)
{
    Models__DesiredLRP d = MODELS__DESIRED_LRP__INIT, run = MODELS__DESIRED_LRP__INIT;
    Models__ModificationTag tag = MODELS__MODIFICATION_TAG__INIT;
    Models__EnvironmentVariable key = MODELS__ENVIRONMENT_VARIABLE__INIT, *all[] = {&key};
    Models__ActualLRP actual = MODELS__ACTUAL_LRP__INIT;
    Models__ActualLRPKey of = MODELS__ACTUAL_LRPKEY__INIT;
    Models__ActualLRPInstanceKey at = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    tag.epoch = text("now");
    d.process_guid = text("web");
    d.domain = text("d");
    d.modification_tag = &tag;
    key.name = text("KEY");
    key.sealed = sealed(t);
    run.n_environment_variables = 1;
    run.environment_variables = all;
    run.sealed_image_password = sealed(t);
    put(t, key_desired(&t->arena, "web"), &d.base);
    put(t, key_run(&t->arena, "web", "now"), &run.base);
    of.process_guid = text("web");
    of.domain = text("d");
    at.instance_guid = text("i");
    at.cell_id = text("c1");
    actual.actual_lrp_key = &of;
    actual.actual_lrp_instance_key = &at;
    actual.state = text("CLAIMED");
    put(t, key_actual(&t->arena, "web", 0, 0), &actual.base);
}

static void put_task(struct trial *t, Models__Task__State state)
{
    Models__Task task = MODELS__TASK__INIT;
    Models__TaskDefinition d = MODELS__TASK_DEFINITION__INIT;
    d.sealed_image_password = sealed(t);
    task.task_guid = text("job");
    task.domain = text("d");
    task.task_definition = &d;
    task.state = state;
    task.cell_id = text(state == MODELS__TASK__STATE__Running ? "c1" : "");
    put(t, key_task(&t->arena, "job"), &task.base);
}

/* The bbs has these keys; what stands is sealed by key 1. */
static struct trial *trial_new(const uint32_t *keys, size_t count, const char *uid)
{
    struct trial *t = calloc(1, sizeof(*t));
    arena_init(&t->arena);
    static const uint32_t one = 1;
    t->seal = model_sealer(&t->arena, &one, 1);
    t->config = (struct bbs_config){
        .url = url, .name = "bbs-1", .seal = count ? model_sealer(&t->arena, keys, count) : NULL};
    t->world = world_new(&(struct world_options){.seed = 7});
    struct node *bbs = world_add(t->world, &(struct node_config){.name = "bbs-1",
                                                                 .unit = "bbs",
                                                                 .certificate_name = "bbs-1",
                                                                 .url = url,
                                                                 .store =
                                                                     world_store(t->world, "etcd"),
                                                                 .make = make_bbs,
                                                                 .context = t});
    put_system(t, uid);
    put_lrp(t);
    put_task(t, MODELS__TASK__STATE__Running);
    world_start(t->world, bbs);
    world_run(t->world, 5 * SECOND_NS);
    return t;
}

static void trial_free(struct trial *t)
{
    world_free(t->world);
    arena_done(&t->arena);
    free(t);
}

/* ---- Asked ----------------------------------------------------------------------------------- */

static void answered(void *context, int status, struct bytes body)
{
    struct trial *t = context;
    t->came = true;
    t->status = status;
    t->body = (struct bytes){arena_copy(&t->arena, body.data, body.size), body.size};
}

static bool has_come(void *context)
{
    return ((const struct trial *)context)->came;
}

static void ask(struct trial *t, const char *unit, const char *name, const char *path,
                const ProtobufCMessage *m)
{
    SCOPED_BUF(body);
    buf_message(&body, m);
    t->came = false;
    world_send_request(t->world, url,
                       &(struct world_request){.method = "POST",
                                               .path = path,
                                               .peer = {.unit = unit, .name = name},
                                               .content_type = "application/x-protobuf",
                                               .accept = "application/x-protobuf",
                                               .trace_id = "",
                                               .body = buf_bytes(&body)},
                       10 * SECOND_NS, answered, t);
    assert_true(world_run_until(t->world, 20 * SECOND_NS, has_come, t));
}

static bool shows_value(const struct trial *t)
{
    return t->body.size > 0 && memmem(t->body.data, t->body.size, VALUE, strlen(VALUE)) != NULL;
}

static Models__DesiredLRPResponse *ask_lrp(struct trial *t, const char *unit, const char *name,
                                           const char *path)
{
    Models__DesiredLRPByProcessGuidRequest q = MODELS__DESIRED_LRPBY_PROCESS_GUID_REQUEST__INIT;
    ProtobufCAllocator allocator = arena_protobuf(&t->arena);
    q.process_guid = text("web");
    ask(t, unit, name, path, &q.base);
    assert_int_equal(t->status, 200);
    Models__DesiredLRPResponse *r =
        models__desired_lrpresponse__unpack(&allocator, t->body.size, t->body.data);
    assert_non_null(r);
    return r;
}

static Models__TaskResponse *ask_task(struct trial *t, const char *unit, const char *name)
{
    Models__TaskByGuidRequest q = MODELS__TASK_BY_GUID_REQUEST__INIT;
    ProtobufCAllocator allocator = arena_protobuf(&t->arena);
    q.task_guid = text("job");
    ask(t, unit, name, "/v1/tasks/get_by_task_guid.r3", &q.base);
    assert_int_equal(t->status, 200);
    Models__TaskResponse *r = models__task_response__unpack(&allocator, t->body.size, t->body.data);
    assert_non_null(r);
    return r;
}

static const uint32_t KEYS[] = {1, 2};
#define LRP_R3 "/v1/desired_lrps/get_by_process_guid.r3"

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_rep_gets_what_its_cell_runs_opened(void **state)
{
    struct trial *t = trial_new(KEYS, 2, UID);
    const Models__DesiredLRP *d = ask_lrp(t, "rep", "c1", LRP_R3)->desired_lrp;
    assert_string_equal(d->process_guid, "web");
    assert_string_equal(d->modification_tag->epoch, "now");
    assert_string_equal(d->environment_variables[0]->value, VALUE);
    assert_string_equal(d->image_password, VALUE);
    assert_false(sealed_values_any(&d->base));
    const Models__Task *task = ask_task(t, "rep", "c1")->task;
    assert_string_equal(task->task_definition->image_password, VALUE);
    assert_string_equal(task->task_guid, "job");
    trial_free(t);
}

static void everybody_else_gets_it_sealed(void **state)
{
    static const struct {
        const char *unit, *name;
    } others[] = {{"rep", "c2"}, {"client", "c1"}, {"operator", "c1"},  {"auctioneer", "c1"},
                  {"bbs", "c1"}, {"", "c1"},       {"converger", "c1"}, {"rep", ""}};
    struct trial *t = trial_new(KEYS, 2, UID);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const Models__DesiredLRP *d =
            ask_lrp(t, others[i].unit, others[i].name, LRP_R3)->desired_lrp;
        assert_non_null(d->environment_variables[0]->sealed);
        assert_string_equal(d->environment_variables[0]->value, "");
        assert_false(shows_value(t));
        assert_non_null(ask_task(t, others[i].unit, others[i].name)->task);
        assert_false(shows_value(t));
    }
    ask_lrp(t, "rep", "c1", "/v1/desired_lrps/get_by_process_guid.r2"); /* no rep of ours asks */
    assert_false(shows_value(t));
    Models__DesiredLRPsRequest lrps = MODELS__DESIRED_LRPS_REQUEST__INIT;
    Models__TasksRequest tasks = MODELS__TASKS_REQUEST__INIT;
    ask(t, "rep", "c1", "/v1/desired_lrps/list.r3", &lrps.base);
    assert_int_equal(t->status, 200);
    assert_false(shows_value(t));
    ask(t, "rep", "c1", "/v1/tasks/list.r3", &tasks.base);
    assert_int_equal(t->status, 200);
    assert_false(shows_value(t));
    trial_free(t);
}

static void a_task_that_does_not_run_here_stays_sealed(void **state)
{
    struct trial *t = trial_new(KEYS, 2, UID);
    put_task(t, MODELS__TASK__STATE__Pending);
    world_run(t->world, SECOND_NS);
    assert_true(sealed_values_any(&ask_task(t, "rep", "c1")->task->base));
    assert_false(shows_value(t));
    trial_free(t);
}

static void who_cannot_open_says_why(void **state)
{
    static const uint32_t two = 2;
    static const struct {
        const uint32_t *keys;
        size_t count;
        const char *uid, *why;
    } rows[] = {
        {NULL, 0, UID,
         "secret /api:key cannot be opened: this bbs has no keys: start it with --keys FILE"},
        {&two, 1, UID,
         "secret /api:key cannot be opened: this bbs does not have key 1, by which the secrets of "
         "system shop are sealed: put it into its key file"},
        {KEYS, 2, "u-later", "secret /api:key cannot be opened: its system shop is gone"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct trial *t = trial_new(rows[i].keys, rows[i].count, rows[i].uid);
        const Models__DesiredLRPResponse *r = ask_lrp(t, "rep", "c1", LRP_R3);
        assert_string_equal(r->error->message, rows[i].why);
        assert_null(r->desired_lrp);
        const Models__TaskResponse *task = ask_task(t, "rep", "c1");
        assert_string_equal(task->error->message, rows[i].why);
        assert_null(task->task);
        trial_free(t);
    }
}

/* Who asks for one secret by its name. */
static void one_value_is_told_to_clients_and_the_converger(void **state)
{
    static const struct {
        const char *path, *unit;
        int status;
    } rows[] = {
        {"/v1/board/secrets/get", "client", 200},
        {"/v1/board/secrets/get", "operator", 200},
        {"/v1/board/secrets/get", "rep", 403},
        {"/v1/board/secrets/get", "converger", 403},
        {"/v1/board/secrets/get", "auctioneer", 403},
        {"/v1/board/secrets/get", "", 403},
        {"/v1/board/secret", "converger", 200},
        {"/v1/board/secret", "auctioneer", 403},
        {"/v1/board/secret", "client", 403},
        {"/v1/board/secret", "operator", 403},
        {"/v1/board/secret", "rep", 403},
        {"/v1/board/secret", "bbs", 403},
    };
    struct trial *t = trial_new(KEYS, 2, UID);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Board__SecretRequest q = BOARD__SECRET_REQUEST__INIT;
        q.system = text("shop");
        q.name = text(NAME);
        ask(t, rows[i].unit, "x", rows[i].path, &q.base);
        assert_int_equal(t->status, rows[i].status);
        assert_int_equal(shows_value(t), rows[i].status == 200);
    }
    Board__SecretsRequest all = BOARD__SECRETS_REQUEST__INIT;
    all.system = text("shop");
    ask(t, "", "x", "/v1/board/secrets/list", &all.base);
    assert_int_equal(t->status, 200);
    assert_non_null(memmem(t->body.data, t->body.size, NAME, strlen(NAME)));
    assert_false(shows_value(t));
    trial_free(t);
}

static void what_a_client_seals_is_refused(void **state)
{
    struct trial *t = trial_new(KEYS, 2, UID);
    Models__DesireLRPRequest lrp = MODELS__DESIRE_LRPREQUEST__INIT;
    Models__DesiredLRP d = MODELS__DESIRED_LRP__INIT;
    Models__DesireTaskRequest task = MODELS__DESIRE_TASK_REQUEST__INIT;
    Models__TaskDefinition definition = MODELS__TASK_DEFINITION__INIT;
    d.sealed_image_password = definition.sealed_image_password = sealed(t);
    lrp.desired_lrp = &d;
    task.task_definition = &definition;
    static const char refusal[] = "secrets are of systems";
    ask(t, "client", "x", "/v1/desired_lrp/desire.r2", &lrp.base);
    assert_non_null(memmem(t->body.data, t->body.size, refusal, strlen(refusal)));
    ask(t, "client", "x", "/v1/tasks/desire.r2", &task.base);
    assert_non_null(memmem(t->body.data, t->body.size, refusal, strlen(refusal)));
    trial_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rep_gets_what_its_cell_runs_opened),
        cmocka_unit_test(everybody_else_gets_it_sealed),
        cmocka_unit_test(a_task_that_does_not_run_here_stays_sealed),
        cmocka_unit_test(who_cannot_open_says_why),
        cmocka_unit_test(one_value_is_told_to_clients_and_the_converger),
        cmocka_unit_test(what_a_client_seals_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
