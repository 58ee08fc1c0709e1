/* Bad readers and slow senders of event subscriptions, beside a bbs on a real etcd: others are served
 * meanwhile, memory stays bounded, and each of them comes to its end. */
#include "common/shell/http_server_io.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/events.pb-c.h"
#include "test/api/bbs_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    STOPPED = 128,
    UPDATES = 400,
    NOTE = 10000, /* the longest annotation; an event of a change holds two, in base64 */
    MANY = 600,   /* instances of one desire, each an event; twice so many are more than a stream may
                     fall behind */
};

#define INSTANCES "/v1/events/lrp_instances.r1"

static const char *const paths[] = {"/v1/events.r1", "/v1/events", INSTANCES,
                                    "/v1/events/lrp_instances", "/v1/events/tasks.r1",
                                    "/v1/events/tasks"};
enum { PATHS = sizeof(paths) / sizeof(paths[0]) };

static struct bbs_process *const bbs = bbs_rig.bbs;

static int group_setup(void **state)
{
    (void)state;
    return bbs_rig_start(1);
}

static int group_teardown(void **state)
{
    (void)state;
    return bbs_rig_end();
}

/* ---- what clients ask ------------------------------------------------------------------------ */

static char *text(const char *s)
{
    return (char *)(size_t)s;
}

/* On a connection that is kept; what is answered holds no error. */
static void ask(struct tls_client *c, const char *path, const ProtobufCMessage *m)
{
    struct buf body, answer;
    buf_init(&body);
    buf_init(&answer);
    buf_message(&body, m);
    assert_int_equal(client_ask(c, "POST", path, body.data, body.size, &answer), 200);
    Models__DesiredLRPLifecycleResponse *r =
        models__desired_lrplifecycle_response__unpack(NULL, answer.size, answer.data);
    assert_non_null(r);
    assert_null(r->error);
    models__desired_lrplifecycle_response__free_unpacked(r, NULL);
    buf_done(&body);
    buf_done(&answer);
}

static void desire(struct tls_client *c, const char *guid, int32_t instances)
{
    Models__DesireLRPRequest r = MODELS__DESIRE_LRPREQUEST__INIT;
    Models__DesiredLRP d = MODELS__DESIRED_LRP__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    Models__DesiredLRP__MetricTagsEntry tag = MODELS__DESIRED_LRP__METRIC_TAGS_ENTRY__INIT;
    Models__DesiredLRP__MetricTagsEntry *tags[] = {&tag};
    Models__MetricTagValue value = MODELS__METRIC_TAG_VALUE__INIT;
    r.desired_lrp = &d;
    d.process_guid = text(guid);
    d.domain = text("d");
    d.root_fs = text("preloaded:busybox");
    d.instances = instances;
    d.action = &action;
    action.run_action = &run;
    run.path = text("/bin/true");
    run.user = text("root");
    d.metric_tags = tags;
    d.n_metric_tags = 1;
    tag.key = text("source_id");
    tag.value = &value;
    value.static_ = text("s");
    ask(c, "/v1/desired_lrp/desire.r2", &r.base);
}

static void annotate(struct tls_client *c, const char *guid, const char *annotation)
{
    Models__UpdateDesiredLRPRequest r = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    Models__DesiredLRPUpdate u = MODELS__DESIRED_LRPUPDATE__INIT;
    r.process_guid = text(guid);
    r.update = &u;
    u.optional_annotation_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_ANNOTATION_ANNOTATION;
    u.annotation = text(annotation);
    ask(c, "/v1/desired_lrp/update", &r.base);
}

static void remove_desired(struct tls_client *c, const char *guid)
{
    Models__RemoveDesiredLRPRequest r = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    r.process_guid = text(guid);
    ask(c, "/v1/desired_lrp/remove", &r.base);
}

/* Reads `count` events; their ids rise by one. */
static void read_all(struct subscriber *s, long first, long count)
{
    struct stream_item item = {0};
    for (long i = first; i < first + count; i++) {
        assert_true(subscriber_next(s, PATIENCE_MS, &item));
        assert_int_equal(item.id, i);
    }
    buf_done(&item.payload);
}

/* ---- senders --------------------------------------------------------------------------------- */

enum stage { HALF_A_LINE, HALF_A_HEAD, NO_BODY, HALF_A_BODY, STAGES };

struct sender {
    struct tls_client client;
    int64_t begun_ms;
    enum stage stage;
    size_t sent;
    char request[512];
    size_t size;
};

/* A subscription with a body, sent as far as the stage goes. */
static void begin_to_send(struct sender *s, const char *path, enum stage stage)
{
    Models__EventsByCellId only = MODELS__EVENTS_BY_CELL_ID__INIT;
    struct buf body;
    buf_init(&body);
    only.cell_id = text("a-cell-with-a-long-name");
    buf_message(&body, &only.base);
    int head = snprintf(s->request, sizeof(s->request),
                        "%s %s HTTP/1.1\r\nHost: x\r\nX-Vcap-Request-Id: slow\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        strstr(path, "/events/") ? "POST" : "GET", path, body.size);
    memcpy(s->request + head, body.data, body.size);
    s->size = (size_t)head + body.size;
    const size_t sent[STAGES] = {[HALF_A_LINE] = 9,
                                 [HALF_A_HEAD] = (size_t)head - 20,
                                 [NO_BODY] = (size_t)head,
                                 [HALF_A_BODY] = (size_t)head + body.size / 2};
    buf_done(&body);
    s->stage = stage;
    s->sent = sent[stage];
    s->begun_ms = patience_now_ms();
    assert_true(client_open(&s->client, bbs->port, &bbs->client, 0));
    assert_true(client_write(&s->client, s->request, s->sent));
}

/* The rest, byte by byte. Then it is a subscriber, unless its time was over by then: that of its head
 * begins before its first byte arrives, which is after `begun_ms`. */
static void send_the_rest(struct sender *s)
{
    int64_t limit_ms = s->stage < NO_BODY ? HTTP_HEAD_MS : HTTP_BODY_MS;
    bool open = true;
    for (; open && s->sent < s->size; s->sent++) {
        open = client_write(&s->client, &s->request[s->sent], 1);
    }
    char answer[16] = "";
    while (open && s->client.input.size < 12) {
        open = client_read(&s->client, PATIENCE_MS);
    }
    if (s->client.input.size >= 12) {
        memcpy(answer, s->client.input.data, 12);
    }
    if (strcmp(answer, "HTTP/1.1 200") != 0) {
        assert_true(patience_now_ms() - s->begun_ms >= limit_ms);
    }
    client_close(&s->client);
}

/* Subscriptions that come in pieces hold nobody up; when they are whole they are served. One that
 * never becomes whole is left. */
static void slow_senders(void **state)
{
    (void)state;
    static struct sender senders[PATHS * STAGES], never;
    struct subscriber quick;
    struct tls_client c;
    for (unsigned i = 0; i < PATHS * STAGES; i++) {
        begin_to_send(&senders[i], paths[i % PATHS], (enum stage)(i / PATHS));
    }
    begin_to_send(&never, "/v1/events", HALF_A_HEAD);
    subscriber_open(&quick, bbs, "POST", INSTANCES, NULL, 0);
    assert_true(client_open(&c, bbs->port, &bbs->client, 0));
    desire(&c, "beside-slow-senders", 3);
    read_all(&quick, 0, 4);
    for (unsigned i = 0; i < PATHS * STAGES; i++) {
        send_the_rest(&senders[i]);
    }
    remove_desired(&c, "beside-slow-senders");
    read_all(&quick, 4, 4);
    assert_true(client_closed(&never.client, HTTP_HEAD_MS + PATIENCE_MS));
    client_close(&never.client);
    client_close(&c);
    subscriber_close(&quick);
}

/* ---- readers --------------------------------------------------------------------------------- */

/* A value of /proc/PID/status in MiB. */
static long status_mib(const char *name)
{
    char path[64], line[256];
    long kib = -1;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)bbs->pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            sscanf(line + strlen(name), ": %ld", &kib);
        }
    }
    fclose(f);
    assert_true(kib > 0);
    return kib / 1024;
}

/* Readers that take nothing: what they leave untaken is kept once for all of them, and only so much of
 * it; who reads is told everything; in the end each of them is left. A copy for each would be
 * 1.3 GiB; a sanitizer keeps 256 MiB that were freed. */
static void many_readers_that_stop(void **state)
{
    (void)state;
    enum { GROWN_MIB_MAX = 600 };
    static struct subscriber stopped[STOPPED];
    static char note[NOTE + 1];
    struct subscriber quick;
    struct tls_client c;
    memset(note, 'n', NOTE);
    assert_true(client_open(&c, bbs->port, &bbs->client, 0));
    desire(&c, "busy", 0);
    for (unsigned i = 0; i < STOPPED; i++) {
        subscriber_open(&stopped[i], bbs, "POST", INSTANCES, NULL, 4096);
    }
    subscriber_open(&quick, bbs, "POST", INSTANCES, NULL, 0);
    long before = status_mib("VmRSS");
    for (long i = 0; i < UPDATES; i++) {
        note[0] = (char)('a' + i % 26);
        annotate(&c, "busy", note);
        read_all(&quick, i, 1);
    }
    desire(&c, "many-1", MANY);
    read_all(&quick, UPDATES, 1 + MANY);
    desire(&c, "many-2", MANY);
    read_all(&quick, UPDATES + 1 + MANY, 1 + MANY);
    long grown = status_mib("VmHWM") - before;
    if (grown > GROWN_MIB_MAX) {
        fail_msg("it grew by %ld MiB", grown);
    }
    for (unsigned i = 0; i < STOPPED; i++) {
        assert_true(client_closed(&stopped[i].client, PATIENCE_MS));
        subscriber_close(&stopped[i]);
    }
    remove_desired(&c, "busy");
    read_all(&quick, UPDATES + 2 * (1 + MANY), 1);
    client_close(&c);
    subscriber_close(&quick);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_senders),
        cmocka_unit_test(many_readers_that_stop),
    };
    return cmocka_run_group_tests_name("events_readers", tests, group_setup, group_teardown);
}
