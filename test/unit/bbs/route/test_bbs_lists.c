/* Lists of DesiredLRPs, asked of a bbs on a model etcd: whole, each once, at any number. */
#include "bbs/bbs.h"
#include "common/model/record.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/ping.pb-c.h"
#include "test/sim/world/world.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 257 };

struct answer {
    int status;
    size_t messages, of_domain, whole;
};

struct trial {
    struct world *world;
    struct node *bbs;
    struct arena arena;
    size_t sent, answered;
    struct answer answer;
};

static const char url[] = "https://bbs-1:8889";

static struct role *make_bbs(void *context, unsigned incarnation)
{
    return bbs_new(&(struct bbs_config){.url = url, .name = "bbs-1"});
}

static bool is_answered(void *context)
{
    const struct trial *t = context;
    return t->answered == t->sent;
}

static void put_bytes(struct trial *t, const char *key, struct bytes value)
{
    store_put(world_store(t->world, "etcd"), key, value);
}

static void put_record(struct trial *t, const char *key, const ProtobufCMessage *m)
{
    put_bytes(t, key, record_encoded(&t->arena, m));
}

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

/* Its two halves; every third is of domain "third". */
static void put_desired(struct trial *t, int n)
{
    Models__DesiredLRP d = MODELS__DESIRED_LRP__INIT, run = MODELS__DESIRED_LRP__INIT;
    Models__ModificationTag tag = MODELS__MODIFICATION_TAG__INIT;
    tag.epoch = text("now");
    d.process_guid = text(arena_printf(&t->arena, "web%s%d", n % 2 ? "-" : "", n));
    d.domain = text(n % 3 ? "d" : "third");
    d.modification_tag = &tag;
    d.metrics_guid = text("m");
    run.log_source = d.process_guid;
    put_record(t, key_desired(&t->arena, d.process_guid), &d.base);
    put_record(t, key_run(&t->arena, d.process_guid, "now"), &run.base);
    run.log_source = text("of before");
    put_record(t, key_run(&t->arena, d.process_guid, "before"), &run.base); /* nobody's */
}

static struct trial *trial_new(int count)
{
    struct trial *t = calloc(1, sizeof(*t));
    arena_init(&t->arena);
    t->world = world_new(&(struct world_options){.seed = 7});
    t->bbs = world_add(t->world, &(struct node_config){.name = "bbs-1",
                                                       .unit = "bbs",
                                                       .certificate_name = "bbs-1",
                                                       .url = url,
                                                       .store = world_store(t->world, "etcd"),
                                                       .make = make_bbs});
    for (int i = 0; i < count; i++) {
        put_desired(t, i);
    }
    Models__DesiredLRP run = MODELS__DESIRED_LRP__INIT;
    put_record(t, key_run(&t->arena, "nobody", "now"), &run.base);
    world_start(t->world, t->bbs);
    world_run(t->world, 5 * SECOND_NS);
    return t;
}

static void trial_free(struct trial *t)
{
    world_free(t->world);
    arena_done(&t->arena);
    free(t);
}

static void answered(void *context, int status, struct bytes body)
{
    struct trial *t = context;
    struct answer *a = &t->answer;
    t->answered++;
    Models__DesiredLRPsResponse *r =
        models__desired_lrps_response__unpack(NULL, body.size, body.data);
    assert_non_null(r);
    a->status = status;
    a->messages = r->n_desired_lrps;
    for (size_t i = 0; i < r->n_desired_lrps; i++) {
        const Models__DesiredLRP *d = r->desired_lrps[i];
        a->of_domain += strcmp(d->domain, "third") == 0;
        a->whole += strcmp(d->log_source, d->process_guid) == 0 && d->n_metric_tags == 1 &&
                    (i == 0 || strcmp(r->desired_lrps[i - 1]->process_guid, d->process_guid) != 0);
    }
    models__desired_lrps_response__free_unpacked(r, NULL);
}

static void answered_one(void *context, int status, struct bytes body)
{
    struct trial *t = context;
    t->answered++;
    t->answer.status = status;
}

static void ask(struct trial *t, const char *path, const Models__DesiredLRPsRequest *r)
{
    t->sent++;
    world_send(t->world, url, path, &r->base, 60 * SECOND_NS, answered, t);
}

static struct answer ask_one(struct trial *t, const char *path, const Models__DesiredLRPsRequest *r)
{
    t->sent = t->answered = 0;
    t->answer = (struct answer){0};
    ask(t, path, r);
    assert_true(world_run_until(t->world, 100 * SECOND_NS, is_answered, t));
    return t->answer;
}

static void whole_at_any_number(void **state)
{
    static const int counts[] = {0, 1, MANY, 3000};
    static const char *const paths[] = {"/v1/desired_lrps/list.r2", "/v1/desired_lrps/list.r3"};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        size_t count = (size_t)counts[i];
        struct trial *t = trial_new(counts[i]);
        for (size_t k = 0; k < 2; k++) {
            Models__DesiredLRPsRequest r = MODELS__DESIRED_LRPS_REQUEST__INIT;
            struct answer a = ask_one(t, paths[k], &r);
            assert_int_equal(a.status, 200);
            assert_int_equal(a.messages, count);
            assert_int_equal(a.whole, count);
            r.domain = text("third");
            a = ask_one(t, paths[k], &r);
            assert_int_equal(a.messages, (count + 2) / 3);
            assert_int_equal(a.of_domain, a.messages);
            assert_int_equal(a.whole, a.messages);
        }
        trial_free(t);
    }
}

/* Named, some of them twice, and some that are not there. */
static void named_ones(void **state)
{
    enum { NAMES = 2 * MANY + 4 };
    struct trial *t = trial_new(MANY);
    char *names[NAMES];
    for (int i = 0; i < NAMES; i++) {
        int n = i / 2;
        names[i] = text(arena_printf(&t->arena, "web%s%d", n % 2 ? "-" : "", n));
    }
    Models__DesiredLRPsRequest r = MODELS__DESIRED_LRPS_REQUEST__INIT;
    r.process_guids = names;
    r.n_process_guids = NAMES;
    struct answer a = ask_one(t, "/v1/desired_lrps/list.r3", &r);
    assert_int_equal(a.messages, MANY);
    assert_int_equal(a.whole, MANY);
    r.n_process_guids = 3;
    a = ask_one(t, "/v1/desired_lrps/list.r3", &r);
    assert_int_equal(a.messages, 2);
    trial_free(t);
}

/* One of which the run part is missing, of a newer version or malformed is left out of lists; asked
 * for alone it is there, and cannot be told. */
static void without_a_run_part(void **state)
{
    struct trial *t = trial_new(3);
    Models__DesiredLRP half = MODELS__DESIRED_LRP__INIT;
    half.process_guid = text("half");
    put_record(t, key_desired(&t->arena, "half"), &half.base);
    half.process_guid = text("newer");
    put_record(t, key_desired(&t->arena, "newer"), &half.base);
    put_bytes(t, key_run(&t->arena, "newer", ""), (struct bytes){(const uint8_t *)"\x02", 1});
    half.process_guid = text("broken");
    put_record(t, key_desired(&t->arena, "broken"), &half.base);
    put_bytes(t, key_run(&t->arena, "broken", ""), (struct bytes){(const uint8_t *)"\x01\x0a", 2});
    world_run(t->world, SECOND_NS);
    Models__DesiredLRPsRequest r = MODELS__DESIRED_LRPS_REQUEST__INIT;
    struct answer a = ask_one(t, "/v1/desired_lrps/list.r3", &r);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.messages, 3);
    static const struct {
        const char *guid;
        int status;
    } cases[] = {{"web0", 200}, {"half", 503}, {"newer", 503}, {"broken", 503},
                 {"none", 200}}; /* an error of Diego's is a 200 */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        Models__DesiredLRPByProcessGuidRequest one =
            MODELS__DESIRED_LRPBY_PROCESS_GUID_REQUEST__INIT;
        one.process_guid = text(cases[i].guid);
        t->sent = t->answered = 0;
        t->sent++;
        world_send(t->world, url, "/v1/desired_lrps/get_by_process_guid.r3", &one.base,
                   60 * SECOND_NS, answered_one, t);
        assert_true(world_run_until(t->world, 100 * SECOND_NS, is_answered, t));
        assert_int_equal(t->answer.status, cases[i].status);
    }
    trial_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_at_any_number),
        cmocka_unit_test(named_ones),
        cmocka_unit_test(without_a_run_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
