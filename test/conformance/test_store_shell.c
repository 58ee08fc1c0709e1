/* What the store shell adds to etcd: dead connections are noticed, endpoints are changed, bounds
 * hold, and wrong settings are told. */
#include "common/contract/moment.h"
#include "common/shell/exchange_io.h"
#include "test/conformance/store_tester.h"
#include "test/tool/cmocka.h"
#include "test/tool/etcd_server.h"
#include "test/tool/netns.h"
#include "test/tool/slow_name.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

/* What dies is noticed, however slow the machine is, and long before the calls' own time-out, which
 * would tell of it too. The printed times should be at most ETCD_SILENCE_MS + 2 * ETCD_PROBE_MS. */
static const int64_t notice_ns = 60 * SECOND_NS;
static const int64_t long_timeout_ns = 600 * SECOND_NS;

static int64_t now(const struct tester *t)
{
    return t->backend->ops->now_ns(t->backend);
}

static uint64_t send_put(struct tester *t)
{
    struct txn *txn = txn_new(&t->arena);
    txn_then(txn, op_put(&t->arena, "shell/a", "1", 0));
    return tester_send(t, STORE_TXN, &txn->request.base, long_timeout_ns);
}

/* A call and a watch on a connection that dies: both are told, and both work again after. */
static void dies(struct tester *t, enum store_fault fault)
{
    tester_put(t, "shell/a", "0");
    struct watch_log *w = tester_watch(t, 0);
    assert_true(w->open);
    tester_pass(t, 300 * MILLISECOND_NS);
    if (!t->backend->ops->break_it(t->backend, fault)) {
        fail_msg("%s cannot be made here", store_fault_name(fault));
    }
    int64_t start_ns = now(t);
    uint64_t id = send_put(t);
    assert_true(tester_watch_closes(t, w, notice_ns));
    int64_t watch_ns = now(t) - start_ns;
    while (!t->answers[id] && now(t) - start_ns < notice_ns) {
        tester_pass(t, 10 * MILLISECOND_NS);
    }
    printf("%s: watch after %lld ms, call after %lld ms\n", store_fault_name(fault),
           (long long)(watch_ns / MILLISECOND_NS),
           (long long)((now(t) - start_ns) / MILLISECOND_NS));
    assert_non_null(t->answers[id]);
    /* Where connections can be made, what was not sent yet goes to a new one. */
    assert_true(fault == STORE_CUT || t->answers[id]->outcome != STORE_DONE);
    assert_int_equal(w->compact_revision, 0);
    t->backend->ops->heal(t->backend);
    int64_t revision = tester_put(t, "shell/a", "2");
    w = tester_watch(t, revision);
    assert_true(tester_watch_until(t, w, revision));
    tester_unwatch(t, w);
}

static void dead_connections_are_noticed(void **state)
{
    struct backend_options options = {0};
    struct tester *t = tester_new(backend_etcd_new(&options));
    dies(t, STORE_CRASH);
    dies(t, STORE_CUT);
    dies(t, STORE_SILENCE);
    assert_int_equal(t->wrong, 0);
    tester_free(t);
}

static void dead_tls_connections_are_noticed(void **state)
{
    struct backend_options options = {.tls = true};
    struct tester *t = tester_new(backend_etcd_new(&options));
    dies(t, STORE_CRASH);
    dies(t, STORE_CUT);
    dies(t, STORE_FREEZE);
    dies(t, STORE_DROP);
    assert_int_equal(t->wrong, 0);
    tester_free(t);
}

static void another_endpoint_is_taken(void **state)
{
    struct backend_options options = {.endpoints = BACKEND_DEAD_FIRST};
    struct tester *t = tester_new(backend_etcd_new(&options));
    int64_t revision = tester_put(t, "shell/b", "1");
    struct watch_log *w = tester_watch(t, revision);
    assert_true(tester_watch_until(t, w, revision));
    tester_free(t);
    options.endpoints = BACKEND_DIRECT_SECOND;
    t = tester_new(backend_etcd_new(&options));
    tester_put(t, "shell/b", "1");
    w = tester_watch(t, 0);
    assert_true(t->backend->ops->break_it(t->backend, STORE_SILENCE));
    uint64_t id = send_put(t);
    assert_true(tester_watch_closes(t, w, notice_ns));
    while (!t->answers[id]) {
        tester_pass(t, 10 * MILLISECOND_NS);
    }
    assert_int_equal(t->answers[id]->outcome, STORE_UNKNOWN);
    revision = tester_put(t, "shell/b", "2"); /* not healed: the other endpoint answers */
    w = tester_watch(t, revision);
    assert_true(tester_watch_until(t, w, revision));
    tester_free(t);
}

static void nobody_there_is_a_refusal(void **state)
{
    struct backend_options options = {0};
    struct tester *t = tester_new(backend_etcd_new(&options));
    assert_true(t->backend->ops->break_it(t->backend, STORE_CRASH));
    tester_pass(t, 100 * MILLISECOND_NS);
    uint64_t id = send_put(t);
    tester_settle(t);
    assert_int_equal(t->answers[id]->outcome, STORE_REFUSED);
    assert_int_equal(t->answers[id]->grpc_status, GRPC_UNAVAILABLE);
    assert_non_null(strstr(t->answers[id]->text, "nothing was sent"));
    struct watch_log *w = tester_watch(t, 1);
    assert_true(w->closed && !w->open);
    struct txn *txn = txn_new(&t->arena);
    id = tester_send(t, STORE_TXN, &txn->request.base, -1);
    tester_settle(t);
    assert_int_equal(t->answers[id]->outcome, STORE_REFUSED);
    assert_int_equal(t->answers[id]->grpc_status, 4);
    tester_free(t);
}

static void calls_are_bounded(void **state)
{
    enum { BEYOND = 5 };
    struct backend_options options = {0};
    struct tester *t = tester_new(backend_etcd_new(&options));
    assert_true(t->backend->ops->break_it(t->backend, STORE_FREEZE));
    uint64_t first = t->last_id + 1;
    for (int i = 0; i < ETCD_CALLS + BEYOND; i++) {
        send_put(t);
    }
    t->backend->ops->heal(t->backend);
    tester_settle(t);
    for (uint64_t id = first; id <= t->last_id; id++) {
        bool beyond = id - first >= ETCD_CALLS;
        assert_int_equal(t->answers[id]->outcome, beyond ? STORE_REFUSED : STORE_DONE);
        assert_int_equal(t->answers[id]->grpc_status, beyond ? GRPC_RESOURCE_EXHAUSTED : 0);
    }
    tester_free(t);
}

static void answers_are_bounded(void **state)
{
    enum { VALUE_BYTES = 1400 * 1024, VALUES = ETCD_ANSWER_BYTES / VALUE_BYTES + 1 };
    struct backend_options options = {0};
    struct tester *t = tester_new(backend_etcd_new(&options));
    for (int i = 0; i < VALUES; i++) {
        struct txn *txn = txn_new(&t->arena);
        txn_then(txn, op_put_bytes(&t->arena, arena_printf(&t->arena, "big/%03d", i), VALUE_BYTES));
        tester_txn(t, txn);
    }
    Etcd__RangeRequest *all = range_new(&t->arena, "big/", "big0");
    const struct store_answer *answer = tester_ask(t, STORE_RANGE, &all->base);
    assert_int_equal(answer->outcome, STORE_UNKNOWN);
    assert_non_null(strstr(answer->text, "exceeds"));
    all->limit = VALUES - 2;
    assert_int_equal(tester_range(t, all)->n_kvs, VALUES - 2);
    tester_free(t);
}

/* etcd tells who comes late up to 1,000 revisions in one response, whatever they weigh. */
static void a_long_backlog_is_reported(void **state)
{
    enum { VALUE_BYTES = 1400 * 1024, PUTS = ETCD_ANSWER_BYTES / (2 * VALUE_BYTES) + 2 };
    struct backend_options options = {0};
    struct tester *t = tester_new(backend_etcd_new(&options));
    int64_t first = 0, last = 0;
    for (int i = 0; i < PUTS; i++) { /* each is told with what it replaced */
        struct txn *txn = txn_new(&t->arena);
        txn_then(txn, op_put_bytes(&t->arena, "big", VALUE_BYTES));
        last = tester_txn(t, txn)->header->revision;
        first = first ? first : last;
    }
    struct watch_log *w = tester_watch(t, first);
    assert_true(tester_watch_until(t, w, last));
    int64_t events = 0;
    for (size_t i = 0; i < w->count; i++) {
        events += (int64_t)w->list[i]->n_events;
    }
    assert_int_equal(events, last - first + 1);
    assert_int_equal(w->wrong, 0);
    tester_free(t);
}

static void wrong_settings_are_reported(void **state)
{
    static const struct {
        struct etcd_config config;
        const char *text;
    } rows[] = {
        {{.endpoints = ""}, "no etcd endpoint"},
        {{.endpoints = NULL}, "no etcd endpoint"},
        {{.endpoints = "127.0.0.1:2379"}, "does not begin with https://"},
        {{.endpoints = "http://a:1,ftp://b:2"}, "\"ftp://b:2\" does not begin"},
        {{.endpoints = "https://a:1"}, "needs a CA file"},
        {{.endpoints = "https://a:1", .ca = "/none/ca.pem"}, "/none/ca.pem: No such file"},
        {{.endpoints = "http://a:1", .cert = "/etc/hostname"}, "a certificate and its key"},
        {{.endpoints = "http://a,http://a,http://a,http://a,http://a,http://a,http://a,http://a,"
                       "http://a,http://a,http://a,http://a,http://a,http://a,http://a,http://a,"
                       "http://a"},
         "more than 16"},
    };
    struct event_base *base = event_base_new();
    struct etcd_handlers handlers = {0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct etcd *e = NULL;
        struct err err = {0};
        assert_true(etcd_new(&rows[i].config, base, &handlers, &e, &err) < 0);
        assert_non_null(strstr(err.text, rows[i].text));
        assert_null(e);
    }
    event_base_free(base);
}

static void old_libcurl_is_refused(void **state)
{
    struct err err;
    int fit = CURL_VERSION_HTTP2 | CURL_VERSION_SSL;
    assert_int_equal(exchange_check_libcurl(0x080e00, "8.14.0", fit, &err), 0);
    assert_int_equal(exchange_check_libcurl(0x075801, "7.88.1", fit, &err), -ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "7.88.1"));
    assert_int_equal(exchange_check_libcurl(0x080e01, "8.14.1", CURL_VERSION_SSL, &err),
                     -ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "HTTP/2"));
    assert_int_equal(exchange_check_libcurl(0x080e01, "8.14.1", CURL_VERSION_HTTP2, &err),
                     -ERR_UNAVAILABLE);
}

struct told {
    struct event_base *base;
    enum store_outcome outcome;
    char text[300];
};

static void keep_answer(void *context, const struct store_answer *answer)
{
    struct told *told = context;
    told->outcome = answer->outcome;
    snprintf(told->text, sizeof(told->text), "%s", answer->text);
    event_base_loopbreak(told->base);
}

/* Neither an impostor nor a client without certificate gets anywhere. */
static void certificates_are_checked(void **state)
{
    struct etcd_server server, other;
    struct etcd_server_config config = {.tls = true};
    struct err err = {0};
    assert_int_equal(etcd_server_start(&config, &server, &err), 0);
    assert_int_equal(etcd_server_start(&config, &other, &err), 0);
    struct etcd_config wrong[2] = {etcd_server_client(&server), etcd_server_client(&server)};
    wrong[0].ca = other.ca;
    wrong[1].cert = wrong[1].key = NULL;
    for (int i = 0; i < 2; i++) {
        struct told told = {.base = event_base_new(), .outcome = STORE_DONE};
        struct etcd_handlers handlers = {.on_answer = keep_answer, .context = &told};
        struct etcd *e = NULL;
        assert_int_equal(etcd_new(&wrong[i], told.base, &handlers, &e, &err), 0);
        Etcd__StatusRequest status = ETCD__STATUS_REQUEST__INIT;
        struct store_request request = {
            .id = 1, .call = STORE_STATUS, .message = &status.base, .deadline_ns = NEVER_NS};
        etcd_call(e, &request);
        event_base_dispatch(told.base);
        assert_int_equal(told.outcome, STORE_REFUSED);
        assert_non_null(strcasestr(told.text, "certificate"));
        etcd_free(e);
        event_base_free(told.base);
    }
    etcd_server_done(&server);
    etcd_server_done(&other);
}

/* The loop does not wait for libcurl's thread, which a name server that is away keeps for long. */
static void a_name_that_is_looked_up_holds_nobody_up(void **state)
{
    struct err err = {0};
    struct told told = {.base = event_base_new(), .outcome = STORE_DONE};
    struct etcd_config config = {.endpoints = "http://" SLOW_NAME ":2379"};
    struct etcd_handlers handlers = {.on_answer = keep_answer, .context = &told};
    struct etcd *e = NULL;
    assert_int_equal(etcd_new(&config, told.base, &handlers, &e, &err), 0);
    Etcd__StatusRequest status = ETCD__STATUS_REQUEST__INIT;
    struct store_request request = {
        .id = 1, .call = STORE_STATUS, .message = &status.base, .deadline_ns = NEVER_NS};
    slow_name_begin();
    etcd_call(e, &request);
    event_base_dispatch(told.base);
    assert_int_equal(told.outcome, STORE_REFUSED);
    etcd_free(e);
    assert_in_range(slow_name_sought(), 1, 100);
    assert_int_equal(slow_name_ended(), 0);
    slow_name_end();
    event_base_free(told.base);
}

int main(void)
{
    if (!netns_enter()) {
        printf("no network namespace here: packets cannot be dropped\n");
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_libcurl_is_refused),
        cmocka_unit_test(wrong_settings_are_reported),
        cmocka_unit_test(certificates_are_checked),
        cmocka_unit_test(a_name_that_is_looked_up_holds_nobody_up),
        cmocka_unit_test(nobody_there_is_a_refusal),
        cmocka_unit_test(another_endpoint_is_taken),
        cmocka_unit_test(calls_are_bounded),
        cmocka_unit_test(answers_are_bounded),
        cmocka_unit_test(a_long_backlog_is_reported),
        cmocka_unit_test(dead_connections_are_noticed),
        cmocka_unit_test(dead_tls_connections_are_noticed),
    };
    return cmocka_run_group_tests_name("store shell", tests, NULL, NULL);
}
