/* Long lists of DesiredLRPs: who has a place, who waits, who is told to come again, each bound at the
 * bound; and the lists themselves, asked of a bbs on a model etcd: whole, each once, at any number. */
#include "bbs/lists.h"

#include "bbs/bbs.h"
#include "bbs/board/compare.h"
#include "bbs/route/records.h"
#include "common/model/record.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/ping.pb-c.h"
#include "test/sim/model_etcd.h"
#include "test/sim/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- places ---------------------------------------------------------------------------------- */

struct bench {
    struct lists lists;
    struct arena arena;
    struct effects out;
    struct moment now;
    struct list_place *places[256]; /* of the requests of these numbers */
    uint64_t begun[256];            /* requests that waited, in the order in which they began */
    size_t begun_count;
};

static void begin(void *context, const struct list_wait *wait, struct list_place *place,
                  struct effects *out)
{
    struct bench *b = context;
    (void)out;
    char text[16];
    snprintf(text, sizeof(text), "request %d", (int)wait->request_id);
    assert_true(bytes_equal(wait->request, bytes_of(text)));
    assert_int_equal(wait->r2, wait->request_id % 2);
    b->places[wait->request_id] = place;
    b->begun[b->begun_count++] = wait->request_id;
}

static struct bench *bench_new(void)
{
    struct bench *b = calloc(1, sizeof(*b));
    b->now.mono_ns = 100 * SECOND_NS;
    arena_init(&b->arena);
    lists_init(&b->lists, b, begin);
    return b;
}

static void bench_free(struct bench *b)
{
    lists_done(&b->lists);
    for (size_t i = 0; i < sizeof(b->places) / sizeof(b->places[0]); i++) {
        list_place_free(b->places[i]);
    }
    arena_done(&b->arena);
    free(b);
}

static bool take(struct bench *b, uint64_t id)
{
    b->places[id] = lists_take(&b->lists, id, b->now);
    return b->places[id] != NULL;
}

static bool wait_for_place(struct bench *b, uint64_t id)
{
    char text[16];
    snprintf(text, sizeof(text), "request %d", (int)id);
    const struct list_wait wait = {.request_id = id, .r2 = id % 2, .request = bytes_of(text)};
    return lists_wait(&b->lists, &wait, b->now);
}

static void give_back(struct bench *b, uint64_t id)
{
    list_place_free(b->places[id]);
    b->places[id] = NULL;
}

/* The end of a step, `later_ns` from now; gives how many were answered 503. */
static size_t step(struct bench *b, int64_t later_ns)
{
    b->now.mono_ns += later_ns;
    arena_reset(&b->arena);
    effects_init(&b->out, &b->arena);
    lists_timer(&b->lists, b->now, &b->out);
    for (size_t i = 0; i < b->out.count; i++) {
        assert_int_equal(b->out.list[i].kind, EFFECT_REPLY);
        assert_int_equal(b->out.list[i].reply.status, 503);
    }
    return b->out.count;
}

static struct bench *bench_full(void)
{
    struct bench *b = bench_new();
    for (uint64_t i = 0; i < LISTS_AT_ONCE; i++) {
        assert_true(take(b, i));
    }
    return b;
}

static void so_many_at_once_and_so_many_wait(void **state)
{
    (void)state;
    struct bench *b = bench_full();
    assert_false(take(b, 100));
    for (uint64_t i = 0; i < LISTS_WAITING_MAX; i++) {
        assert_true(wait_for_place(b, 100 + i));
    }
    assert_false(wait_for_place(b, 99));
    step(b, SECOND_NS);
    assert_int_equal(b->begun_count, 0);
    assert_int_equal(b->out.due_ns, b->now.mono_ns + LISTS_LOOK_NS);
    for (uint64_t i = 0; i < LISTS_AT_ONCE; i++) { /* freed outside of a step */
        give_back(b, i);
    }
    assert_false(take(b, 99)); /* nobody overtakes */
    step(b, 0);
    for (size_t i = 0; i < LISTS_WAITING_MAX; i++) {
        assert_int_equal(b->begun_count, i + LISTS_AT_ONCE < LISTS_WAITING_MAX
                                             ? i + LISTS_AT_ONCE : LISTS_WAITING_MAX);
        assert_int_equal(b->begun[i], 100 + i);
        give_back(b, 100 + i);
        step(b, 0);
    }
    assert_int_equal(b->out.due_ns, NEVER_NS);
    assert_true(take(b, 99));
    bench_free(b);
}

static void a_wait_has_an_end(void **state)
{
    (void)state;
    struct bench *b = bench_full();
    wait_for_place(b, 100);
    assert_int_equal(step(b, SECOND_NS), 0);
    wait_for_place(b, 101);
    assert_int_equal(step(b, LIST_WAIT_MAX_NS - SECOND_NS - 1), 0);
    assert_int_equal(step(b, 1), 1);
    assert_int_equal(b->out.list[0].reply.id, 100);
    assert_int_equal(step(b, SECOND_NS), 1);
    assert_int_equal(b->out.list[0].reply.id, 101);
    assert_int_equal(b->out.due_ns, NEVER_NS);
    bench_free(b);
}

static void a_list_may_take_its_time_until_others_wait(void **state)
{
    (void)state;
    struct bench *b = bench_full();
    step(b, 10 * LIST_HOLD_MAX_NS);
    assert_false(list_place_void(b->places[0]));
    give_back(b, 1);
    assert_true(take(b, 5));
    wait_for_place(b, 100);
    assert_true(list_place_void(b->places[0]));
    step(b, LIST_HOLD_MAX_NS);
    assert_false(list_place_void(b->places[5])); /* at the bound; the wait of 100 is over */
    wait_for_place(b, 101);
    assert_false(list_place_void(b->places[5]));
    step(b, 1);
    assert_true(list_place_void(b->places[5]));
    bench_free(b);
}

static void those_who_go_away_are_forgotten(void **state)
{
    (void)state;
    struct bench *b = bench_full();
    wait_for_place(b, 100);
    wait_for_place(b, 101);
    lists_hangup(&b->lists, 100);
    lists_hangup(&b->lists, 2);
    lists_hangup(&b->lists, 77);
    assert_true(list_place_void(b->places[2]));
    assert_false(list_place_void(b->places[3]));
    give_back(b, 2);
    step(b, 0);
    assert_int_equal(b->begun_count, 1);
    assert_int_equal(b->begun[0], 101);
    bench_free(b);
}

/* The answer's cursor holds the place: given back when it is freed; cut off when it is void. */
static void the_reader_holds_the_place(void **state)
{
    (void)state;
    struct bench *b = bench_full();
    struct buf got;
    static const char record[] = {RECORD_VERSION, 'x'};
    struct blob *blob = blob_new(record, sizeof(record));
    buf_init(&got);
    step(b, 0);
    for (int gone = 0; gone < 2; gone++) {
        struct records *r = records_new(1);
        records_add(r, (struct blob *const[RECORD_PARTS]){blob});
        records_hold(r, b->places[gone]);
        records_answer(r, (uint64_t)gone, &b->out);
        if (gone) {
            lists_hangup(&b->lists, 1);
        }
        struct cursor *c = b->out.list[b->out.count - 1].reply.cursor;
        assert_int_equal(cursor_fill(c, &got, 100), gone ? CURSOR_CUT : CURSOR_END);
        assert_int_equal(b->lists.taken, LISTS_AT_ONCE - (size_t)gone);
        cursor_free(c);
        b->places[gone] = NULL;
        assert_int_equal(b->lists.taken, LISTS_AT_ONCE - (size_t)gone - 1);
    }
    buf_done(&got);
    blob_unref(blob);
    bench_free(b);
}

/* A cursor is the shell's and may be freed after the bbs. */
static void a_place_may_outlive_the_lists(void **state)
{
    (void)state;
    struct bench *b = bench_full();
    wait_for_place(b, 100);
    lists_done(&b->lists);
    assert_true(list_place_void(b->places[0]));
    give_back(b, 0);
    bench_free(b);
}

/* ---- lists ----------------------------------------------------------------------------------- */

enum { ANSWERS_MAX = LISTS_AT_ONCE + LISTS_WAITING_MAX + 8 };

struct answer {
    int status;
    size_t messages, of_domain, whole;
};

struct trial {
    struct world *world;
    struct node *bbs;
    struct arena arena;
    size_t run_bytes; /* of each run part, about */
    size_t sent, answered;
    struct answer answers[ANSWERS_MAX];
};

static const char url[] = "https://bbs-1:8889";

static struct role *make_bbs(void *context, unsigned session)
{
    (void)context;
    (void)session;
    return bbs_new(&(struct bbs_config){.url = url, .name = "bbs-1"});
}

static bool is_answered(void *context)
{
    const struct trial *t = context;
    return t->answered == t->sent;
}

static void put_record(struct trial *t, const char *key, const ProtobufCMessage *m)
{
    struct buf value;
    struct store_answer answer = {0};
    buf_init(&value);
    record_encode(&value, m);
    Etcd__RequestOp *op = etcd_op_put(&t->arena, key, buf_bytes(&value));
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    txn.n_success = 1;
    txn.success = &op;
    model_etcd_apply(world_etcd(t->world), STORE_TXN, &txn.base, &t->arena, &answer);
    buf_done(&value);
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
    run.trusted_system_certificates_path = arena_alloc(&t->arena, t->run_bytes + 1);
    memset(run.trusted_system_certificates_path, 'x', t->run_bytes);
    put_record(t, key_desired(&t->arena, d.process_guid), &d.base);
    put_record(t, key_run(&t->arena, d.process_guid, "now"), &run.base);
    run.log_source = text("of before");
    put_record(t, key_run(&t->arena, d.process_guid, "before"), &run.base); /* nobody's */
}

static struct trial *trial_new_of(int count, size_t run_bytes)
{
    struct trial *t = calloc(1, sizeof(*t));
    t->run_bytes = run_bytes;
    arena_init(&t->arena);
    t->world = world_new(&(struct world_options){.seed = 7});
    t->bbs = world_add(t->world, &(struct node_config){.name = "bbs-1",
                                                       .unit = "bbs",
                                                       .certificate_name = "bbs-1",
                                                       .url = url,
                                                       .has_store = true,
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

static struct trial *trial_new(int count)
{
    return trial_new_of(count, 0);
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
    struct answer *a = &t->answers[t->answered++];
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

static void ask(struct trial *t, const char *path, const Models__DesiredLRPsRequest *r)
{
    t->sent++;
    world_send(t->world, url, path, &r->base, 60 * SECOND_NS, answered, t);
}

static struct answer ask_one(struct trial *t, const char *path, const Models__DesiredLRPsRequest *r)
{
    t->sent = t->answered = 0;
    memset(t->answers, 0, sizeof(t->answers));
    ask(t, path, r);
    assert_true(world_run_until(t->world, 100 * SECOND_NS, is_answered, t));
    return t->answers[0];
}

/* Short of the bound, at it, and above, where other pages are read. */
static void whole_at_any_number(void **state)
{
    (void)state;
    static const int counts[] = {0, 1, LIST_LONG, LIST_LONG + 1, 3000};
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
    (void)state;
    enum { NAMES = 2 * LIST_LONG + 6 };
    struct trial *t = trial_new(LIST_LONG + 1);
    char *names[NAMES];
    for (int i = 0; i < NAMES; i++) {
        int n = i / 2;
        names[i] = text(arena_printf(&t->arena, "web%s%d", n % 2 ? "-" : "", n));
    }
    Models__DesiredLRPsRequest r = MODELS__DESIRED_LRPS_REQUEST__INIT;
    r.process_guids = names;
    r.n_process_guids = NAMES;
    struct answer a = ask_one(t, "/v1/desired_lrps/list.r3", &r);
    assert_int_equal(a.messages, LIST_LONG + 1);
    assert_int_equal(a.whole, LIST_LONG + 1);
    r.n_process_guids = 3;
    a = ask_one(t, "/v1/desired_lrps/list.r3", &r);
    assert_int_equal(a.messages, 2);
    trial_free(t);
}

/* Lists everything, by one more than have a place or may wait; gives how many are told to come again.
 * All others get all. */
static size_t refused_of_one_too_many(struct trial *t, size_t count)
{
    Models__DesiredLRPsRequest r = MODELS__DESIRED_LRPS_REQUEST__INIT;
    size_t refused = 0;
    for (int i = 0; i < LISTS_AT_ONCE + LISTS_WAITING_MAX + 1; i++) {
        ask(t, "/v1/desired_lrps/list.r3", &r);
    }
    assert_true(world_run_until(t->world, 100 * SECOND_NS, is_answered, t));
    for (size_t i = 0; i < t->answered; i++) {
        refused += t->answers[i].status == 503;
        assert_int_equal(t->answers[i].whole, t->answers[i].status == 200 ? count : 0);
    }
    return refused;
}

static void many_at_once(void **state)
{
    (void)state;
    struct trial *t = trial_new(LIST_LONG + 1);
    assert_int_equal(refused_of_one_too_many(t, LIST_LONG + 1), 1);
    trial_free(t);
}

/* What is few by number, but heavy, needs a place too. */
static void many_heavy_ones_at_once(void **state)
{
    (void)state;
    enum { EACH_BYTES = 32 * 1024, HEAVY = LIST_HEAVY_BYTES / EACH_BYTES };
    struct trial *t = trial_new_of(HEAVY - 1, EACH_BYTES);
    assert_int_equal(refused_of_one_too_many(t, HEAVY - 1), 0);
    trial_free(t);
    t = trial_new_of(3 * HEAVY / 2, EACH_BYTES);
    assert_int_equal(refused_of_one_too_many(t, 3 * HEAVY / 2), 1);
    trial_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_at_once_and_so_many_wait),
        cmocka_unit_test(a_wait_has_an_end),
        cmocka_unit_test(a_list_may_take_its_time_until_others_wait),
        cmocka_unit_test(those_who_go_away_are_forgotten),
        cmocka_unit_test(the_reader_holds_the_place),
        cmocka_unit_test(a_place_may_outlive_the_lists),
        cmocka_unit_test(whole_at_any_number),
        cmocka_unit_test(named_ones),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(many_heavy_ones_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
