/* Subscriptions that end otherwise than well, beside a bbs on a real etcd: slow senders, readers
 * that take nothing or go away, a bbs that ends. Others are served meanwhile, memory stays bounded,
 * and each of them comes to its end. */
#include "bbs/event/stream.h"
#include "common/shell/http_server_io.h"
#include "models/events.pb-c.h"
#include "test/api/event_rig.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum {
    NOTE = 10000, /* the longest annotation; an event of a change holds two, in base64 */
    MANY = 600, /* instances of one desire, each an event; twice so many are more than a stream may
                   fall behind */
};

static struct bbs_process *const bbs = bbs_rig.bbs;

/* ---- Senders --------------------------------------------------------------------------------- */

static const char *const paths[] = {GROUPS, GROUPS_R0, INSTANCES, INSTANCES_R0, TASKS, TASKS_R0};
enum { PATHS = sizeof(paths) / sizeof(paths[0]) };

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
    SCOPED_BUF(body);
    only.cell_id = (char *)(uintptr_t) "a-cell-with-a-long-name";
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
    s->stage = stage;
    s->sent = sent[stage];
    s->begun_ms = patience_now_ms();
    assert_true(client_open(&s->client, bbs->port, &bbs->client, 0));
    assert_true(client_write(&s->client, s->request, s->sent));
}

/* The rest, byte by byte. Then it is a subscriber, unless its time was over by then: that of its
 * head begins before its first byte arrives, which is after `begun_ms`. */
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
    static struct sender senders[PATHS * STAGES], never;
    struct subscriber quick;
    for (unsigned i = 0; i < PATHS * STAGES; i++) {
        begin_to_send(&senders[i], paths[i % PATHS], (enum stage)(i / PATHS));
    }
    begin_to_send(&never, "/v1/events", HALF_A_HEAD);
    subscriber_open(&quick, bbs, "POST", INSTANCES, NULL, 0);
    desire_lrp(bbs, "beside-slow-senders", 3, "");
    pass_events(&quick, 0, 4);
    for (unsigned i = 0; i < PATHS * STAGES; i++) {
        send_the_rest(&senders[i]);
    }
    remove_lrp(bbs, "beside-slow-senders");
    pass_events(&quick, 4, 4);
    assert_true(client_closed(&never.client, HTTP_HEAD_MS + PATIENCE_MS));
    client_close(&never.client);
    subscriber_close(&quick);
}

/* ---- Readers --------------------------------------------------------------------------------- */

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

/* Readers that take nothing: what they leave untaken is kept once for all of them, and only so much
 * of it; who reads is told everything; in the end each of them is left. A copy for each would be
 * 1.3 GiB; a sanitizer keeps 256 MiB that were freed. */
static void many_readers_that_stop(void **state)
{
    enum { STOPPED = 128, UPDATES = 400, GROWN_MIB_MAX = 600 };
    static struct subscriber stopped[STOPPED];
    static char note[NOTE + 1];
    struct subscriber quick;
    memset(note, 'n', NOTE);
    desire_lrp(bbs, "busy-1", 0, "");
    for (unsigned i = 0; i < STOPPED; i++) {
        subscriber_open(&stopped[i], bbs, "POST", INSTANCES, NULL, 4096);
    }
    subscriber_open(&quick, bbs, "POST", INSTANCES, NULL, 0);
    long before = status_mib("VmRSS");
    for (long i = 0; i < UPDATES; i++) {
        note[0] = (char)('a' + i % 26);
        annotate_lrp(bbs, "busy-1", note);
        pass_events(&quick, i, 1);
    }
    desire_lrp(bbs, "many-1", MANY, "");
    pass_events(&quick, UPDATES, 1 + MANY);
    desire_lrp(bbs, "many-2", MANY, "");
    pass_events(&quick, UPDATES + 1 + MANY, 1 + MANY);
    long grown = status_mib("VmHWM") - before;
    if (grown > GROWN_MIB_MAX) {
        fail_msg("it grew by %ld MiB", grown);
    }
    for (unsigned i = 0; i < STOPPED; i++) {
        assert_true(client_closed(&stopped[i].client, PATIENCE_MS));
        subscriber_close(&stopped[i]);
    }
    remove_lrp(bbs, "busy-1");
    pass_events(&quick, UPDATES + 2 * (1 + MANY), 1);
    subscriber_close(&quick);
}

/* A reader that takes nothing falls behind by more than 1024 events and is cut off: when it reads
 * again it gets what was on its way, then the end. Who reads is told everything meanwhile. */
static void a_slow_reader_is_cut_off(void **state)
{
    enum { UPDATES = 250, TOLD = UPDATES + 2 * (1 + MANY) };
    static char note[NOTE + 1];
    memset(note, 'n', NOTE);
    struct subscriber slow, quick;
    desire_lrp(&bbs[0], "busy-2", 0, "");
    subscriber_open(&slow, &bbs[0], "POST", INSTANCES, NULL, 4096);
    subscriber_open(&quick, &bbs[0], "POST", INSTANCES, NULL, 0);
    for (int i = 0; i < UPDATES; i++) { /* more than sockets hold */
        annotate_lrp(&bbs[0], "busy-2", note);
        pass_events(&quick, i, 1);
    }
    desire_lrp(&bbs[0], "many-3", MANY, "");
    pass_events(&quick, UPDATES, 1 + MANY);
    desire_lrp(&bbs[0], "many-4", MANY, "");
    pass_events(&quick, UPDATES + 1 + MANY, 1 + MANY);
    struct stream_item item = {0};
    long last = -1;
    while (subscriber_next(&slow, PATIENCE_MS, &item)) {
        assert_int_equal(item.id, last + 1);
        last = item.id;
    }
    assert_true(last >= 0 && last < TOLD - STREAM_BEHIND_MAX);
    assert_true(slow.ended);                               /* the terminating chunk ... */
    assert_true(client_closed(&slow.client, PATIENCE_MS)); /* ... and the connection closed */
    assert_false(slow.client.reset);
    buf_done(&item.payload);
    subscriber_close(&slow);
    subscriber_close(&quick);
    remove_lrp(&bbs[0], "busy-2");
    remove_lrp(&bbs[0], "many-3");
    remove_lrp(&bbs[0], "many-4");
}

/* Bytes from the reader, a closed connection, a half-closed one: the stream ends, others go on. */
static void readers_that_go(void **state)
{
    struct subscriber talks, hangs_up, half, stays;
    subscriber_open(&stays, &bbs[0], "POST", TASKS, NULL, 0);
    subscriber_open(&talks, &bbs[0], "POST", TASKS, NULL, 0);
    subscriber_open(&half, &bbs[0], "POST", TASKS, NULL, 0);
    subscriber_open(&hangs_up, &bbs[0], "POST", TASKS, NULL, 0);
    client_write(&talks.client, "x", 1);
    assert_true(client_closed(&talks.client, PATIENCE_MS));
    SSL_shutdown(half.client.ssl);
    shutdown(half.client.fd, SHUT_WR);
    assert_true(client_closed(&half.client, PATIENCE_MS));
    subscriber_close(&hangs_up);
    desire_task(&bbs[1], "goes-on");
    pass_event(&stays, "task_created");
    ask_task(&bbs[0], "cancel", "goes-on");
    ask_task(&bbs[0], "resolving", "goes-on");
    ask_task(&bbs[0], "delete", "goes-on");
    subscriber_close(&stays);
    subscriber_close(&talks);
    subscriber_close(&half);
}

/* ---- The end of a bbs ------------------------------------------------------------------------ */

/* SIGTERM ends the streams well, so that their readers know and list again. */
static void a_bbs_that_ends(void **state)
{
    struct bbs_process third;
    struct subscriber s;
    bbs_process_start(&third, bbs_rig.certs.dir, "bbs-3", &bbs_rig.etcd, &bbs_rig.server,
                      &bbs_rig.client);
    bbs_process_wait_ready(&third);
    subscriber_open(&s, &third, "GET", GROUPS, NULL, 0);
    assert_int_equal(s.status, 200);
    assert_int_equal(bbs_process_end(&third), 0);
    while (subscriber_read(&s, 10)) {
    }
    assert_true(s.ended);
    subscriber_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_senders),
        cmocka_unit_test(many_readers_that_stop),
        cmocka_unit_test(a_slow_reader_is_cut_off),
        cmocka_unit_test(readers_that_go),
        cmocka_unit_test(a_bbs_that_ends),
    };
    return BBS_RIG_RUN("events_readers", tests);
}
