/* A running bbs on a real etcd, asked byte by byte: what clients of the original rely on
 * (behaviour.md 2, 3, 4), bad requests of every kind, and two bbs on one board. */
#include "board.pb-c.h"
#include "common/base/arena.h"
#include "common/shell/host_io.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/task_requests.pb-c.h"
#include "test/tool/bbs_process.h"
#include "test/tool/certs.h"
#include "test/tool/tls_client.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { BBS_COUNT = 2 };

static struct certs certs;
static struct etcd_server etcd;
static struct tls_files server_files, client_files, rep_files, auctioneer_files, converger_files, old_files;
static struct bbs_process bbs[BBS_COUNT];

/* One request on a connection of its own; the head too when `head` is not NULL. */
static int ask_as(const struct tls_files *files, int port, const char *method, const char *path,
                  struct bytes body, struct buf *head, struct buf *answer)
{
    struct tls_client c;
    assert_true(client_open(&c, port, files, 0));
    assert_true(client_print(&c, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n"
                             "X-Vcap-Request-Id: vizzini-trace-id\r\n\r\n", method, path,
                             body.size));
    client_write(&c, body.data, body.size);
    if (answer) {
        buf_clear(answer);
    }
    int status = client_answer(&c, head, answer, strcmp(method, "HEAD") == 0);
    client_close(&c);
    return status;
}

static int post(int port, const char *path, const ProtobufCMessage *m, struct buf *answer)
{
    struct buf body;
    buf_init(&body);
    if (m) {
        buf_message(&body, m);
    }
    int status = ask_as(&client_files, port, "POST", path, buf_bytes(&body), NULL, answer);
    buf_done(&body);
    return status;
}

static int group_setup(void **state)
{
    (void)state;
    struct err err;
    signal(SIGPIPE, SIG_IGN);
    certs_init(&certs);
    server_files = certs_make(&certs, "server", "bbs", "bbs", 3600);
    client_files = certs_make(&certs, "client", "client", "somebody", 3600);
    rep_files = certs_make(&certs, "rep", "rep", "cell-1", 3600);
    auctioneer_files = certs_make(&certs, "auctioneer", "auctioneer", "auctioneer-1", 3600);
    converger_files = certs_make(&certs, "converger", "converger", "converger-1", 3600);
    old_files = certs_make(&certs, "old", "client", "somebody", -60);
    if (etcd_server_start(&(struct etcd_server_config){.tls = true}, &etcd, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    bbs_process_start(&bbs[0], certs.dir, "bbs-1", &etcd, &server_files, &client_files);
    bbs_process_start(&bbs[1], certs.dir, "bbs-2", &etcd, &server_files, &client_files);
    for (int i = 0; i < BBS_COUNT; i++) {
        bbs_process_wait_ready(&bbs[i]);
    }
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    int codes[BBS_COUNT];
    for (int i = 0; i < BBS_COUNT; i++) {
        codes[i] = bbs_process_end(&bbs[i]);
    }
    etcd_server_done(&etcd);
    certs_done(&certs);
    return codes[0] == 0 && codes[1] == 0 ? 0 : -1;
}

/* ---- what every answer looks like ------------------------------------------------------------ */

static void recorded_bytes(void **state)
{
    (void)state;
    struct buf head, answer;
    buf_init(&head);
    buf_init(&answer);
    /* behaviour.md 2: golden vectors. */
    assert_int_equal(ask_as(&client_files, bbs[0].port, "POST", "/v1/ping", (struct bytes){0},
                            &head, &answer), 200);
    assert_int_equal(answer.size, 2);
    assert_memory_equal(answer.data, "\x08\x01", 2);
    assert_non_null(strcasestr(buf_string(&head), "Content-Type: application/x-protobuf\r\n"));
    assert_non_null(strcasestr(buf_string(&head), "Content-Length: 2\r\n"));
    assert_non_null(strcasestr(buf_string(&head), "Date: "));
    assert_null(strcasestr(buf_string(&head), "vizzini-trace-id"));
    /* A query is ignored, as is the body of a ping. */
    assert_int_equal(ask_as(&client_files, bbs[0].port, "POST", "/v1/ping?a=b",
                            bytes_of("\xff\xff"), NULL, &answer), 200);
    /* An empty body is a valid message; validation decides. */
    assert_int_equal(post(bbs[0].port, "/v1/actual_lrps/claim", NULL, &answer), 200);
    static const char text[] =
        "Invalid field: process_guid, Invalid field: actual_lrp_instance_key";
    assert_int_equal(answer.data[0], 0x0a);
    assert_memory_equal(answer.data + 2, "\x08\x04\x12", 3);
    assert_int_equal(answer.data[5], sizeof(text) - 1);
    assert_memory_equal(answer.data + 6, text, sizeof(text) - 1);
    /* A success with nothing to say. */
    buf_clear(&head);
    assert_int_equal(ask_as(&client_files, bbs[0].port, "POST", "/v1/actual_lrps/list",
                            bytes_of("\x1a\x06nobody"), &head, &answer), 200);
    assert_int_equal(answer.size, 0);
    assert_non_null(strcasestr(buf_string(&head), "Content-Type: application/x-protobuf\r\n"));
    buf_done(&head);
    buf_done(&answer);
}

static void paths_and_methods(void **state)
{
    (void)state;
    struct buf head, answer;
    buf_init(&head);
    buf_init(&answer);
    assert_int_equal(ask_as(&client_files, bbs[0].port, "POST", "/v1/evacuate", (struct bytes){0},
                            &head, &answer), 404);
    assert_string_equal(buf_string(&answer), "404 page not found\n");
    assert_non_null(strcasestr(buf_string(&head), "Content-Type: text/plain; charset=utf-8\r\n"));
    static const char *const methods[] = {"GET", "PUT", "DELETE"};
    for (size_t i = 0; i < 3; i++) {
        buf_clear(&head);
        assert_int_equal(ask_as(&client_files, bbs[0].port, methods[i], "/v1/domains/list",
                                (struct bytes){0}, &head, &answer), 405);
        assert_string_equal(buf_string(&answer), "Method Not Allowed\n");
        assert_non_null(strcasestr(buf_string(&head), "Allow: POST\r\n"));
    }
    assert_int_equal(ask_as(&client_files, bbs[0].port, "GET", "/v1/board/state",
                            (struct bytes){0}, NULL, &answer), 200);
    buf_done(&head);
    buf_done(&answer);
}

/* ---- bad requests ---------------------------------------------------------------------------- */

static void assert_invalid(const struct buf *answer)
{
    static const char golden[] = "\x0a\x23\x08\x04\x12\x1fthe request received is invalid";
    assert_int_equal(answer->size, sizeof(golden) - 1);
    assert_memory_equal(answer->data, golden, sizeof(golden) - 1);
}

static void malformed_bodies(void **state)
{
    (void)state;
    static const struct bytes bodies[] = {
        {(const uint8_t *)"\xff", 1},                 /* no tag */
        {(const uint8_t *)"\x0a\x05web", 5},          /* truncated */
        {(const uint8_t *)"\x0a\x03w\0b", 5},         /* a zero byte in a string */
        {(const uint8_t *)"\x08\x05", 2},             /* another wire type */
        {(const uint8_t *)"\x0b", 1},                 /* a group */
        {(const uint8_t *)"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
    };
    struct buf answer;
    buf_init(&answer);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        assert_int_equal(ask_as(&client_files, bbs[0].port, "POST", "/v1/actual_lrps/claim",
                                bodies[i], NULL, &answer), 200);
        assert_invalid(&answer);
    }
    buf_done(&answer);
}

/* 34 KB of nested actions would end a process that unpacked them. */
static void too_deep(void **state)
{
    (void)state;
    struct buf body, inner, answer;
    buf_init(&body);
    buf_init(&inner);
    buf_init(&answer);
    for (unsigned i = 0; i < 5000; i++) { /* Action{try_action{action{...}}} from the inside */
        buf_clear(&inner);
        buf_varint(&inner, i % 2 ? 6 << 3 | 2 : 1 << 3 | 2);
        buf_varint(&inner, body.size);
        buf_append(&inner, body.data, body.size);
        buf_clear(&body);
        buf_append(&body, inner.data, inner.size);
    }
    buf_clear(&inner);
    buf_varint(&inner, 7 << 3 | 2); /* DesiredLRP.action */
    buf_varint(&inner, body.size);
    buf_append(&inner, body.data, body.size);
    buf_clear(&body);
    buf_varint(&body, 1 << 3 | 2);
    buf_varint(&body, inner.size);
    buf_append(&body, inner.data, inner.size);
    assert_int_equal(ask_as(&client_files, bbs[0].port, "POST", "/v1/desired_lrp/desire.r2",
                            buf_bytes(&body), NULL, &answer), 200);
    assert_invalid(&answer);
    assert_int_equal(post(bbs[0].port, "/v1/ping", NULL, &answer), 200);
    buf_done(&body);
    buf_done(&inner);
    buf_done(&answer);
}

static void too_large(void **state)
{
    (void)state;
    struct buf answer;
    buf_init(&answer);
    uint8_t *body = calloc(1, 3 * 1024 * 1024);
    assert_non_null(body);
    memset(body, 0x0a, 3 * 1024 * 1024);
    assert_int_equal(ask_as(&client_files, bbs[0].port, "POST", "/v1/desired_lrp/desire.r2",
                            (struct bytes){body, 3 * 1024 * 1024}, NULL, &answer), 200);
    assert_invalid(&answer);
    /* Small on the wire, large when decoded: 2 MB of empty sub-messages. */
    memset(body, 0, 2 * 1024 * 1024);
    static const uint8_t rule[] = {0xa2, 0x01, 0x00}; /* DesiredLRP.egress_rules, empty */
    struct buf inner;
    buf_init(&inner);
    for (unsigned i = 0; i < 600000; i++) {
        buf_append(&inner, rule, sizeof(rule));
    }
    struct buf outer;
    buf_init(&outer);
    buf_varint(&outer, 1 << 3 | 2);
    buf_varint(&outer, inner.size);
    buf_append(&outer, inner.data, inner.size);
    assert_int_equal(ask_as(&client_files, bbs[0].port, "POST", "/v1/desired_lrp/desire.r2",
                            buf_bytes(&outer), NULL, &answer), 200);
    assert_invalid(&answer);
    buf_done(&inner);
    buf_done(&outer);
    buf_done(&answer);
    free(body);
}

/* ---- who may call ---------------------------------------------------------------------------- */

static void certificates(void **state)
{
    (void)state;
    struct tls_client c;
    struct tls_files nobody = {.ca = client_files.ca};
    struct buf answer;
    buf_init(&answer);
    /* With TLS 1.3 a client learns of the refusal at its first read. */
    const struct tls_files *refused[] = {&nobody, &old_files};
    for (size_t i = 0; i < 2; i++) {
        if (client_open(&c, bbs[0].port, refused[i], 0)) {
            assert_int_equal(client_ask(&c, "POST", "/v1/ping", "", 0, &answer), 0);
        }
        client_close(&c);
    }
    if (client_open(&c, bbs[0].port, NULL, 0)) { /* plain text */
        assert_int_not_equal(client_ask(&c, "POST", "/v1/ping", "", 0, &answer), 200);
    }
    client_close(&c);
    buf_done(&answer);
}

static void roles(void **state)
{
    (void)state;
    static const struct {
        const struct tls_files *files;
        const char *path;
        int status;
    } rows[] = {
        {&client_files, "/v1/board/apply", 403},    {&client_files, "/v1/board/cell", 403},
        {&client_files, "/v1/board/beat", 403},     {&client_files, "/v1/board/lead", 403},
        {&rep_files, "/v1/board/brake", 403},       {&converger_files, "/v1/board/brake", 403},
        {&client_files, "/v1/board/brake", 200},    {&client_files, "/v1/board/cells", 200},
        {&rep_files, "/v1/board/lead", 403},        {&auctioneer_files, "/v1/board/cell", 403},
        {&rep_files, "/v1/actual_lrps/claim", 403}, {&rep_files, "/v1/desired_lrp/desire.r2", 403},
        {&auctioneer_files, "/v1/actual_lrps/fail", 403},
        {&rep_files, "/v1/tasks/start", 403},       {&auctioneer_files, "/v1/tasks/reject", 403},
        {&converger_files, "/v1/tasks/fail", 403},  {&rep_files, "/v1/tasks/list.r3", 200},
        {&rep_files, "/v1/actual_lrps/list", 200},  {&auctioneer_files, "/v1/cells/list.r1", 200},
    };
    struct buf head, answer;
    buf_init(&head);
    buf_init(&answer);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        buf_clear(&head);
        assert_int_equal(ask_as(rows[i].files, bbs[0].port, "POST", rows[i].path,
                                (struct bytes){0}, &head, &answer), rows[i].status);
        if (rows[i].status == 403) {
            assert_non_null(strcasestr(buf_string(&head), "Content-Type: text/plain"));
        }
    }
    buf_done(&head);
    buf_done(&answer);
}

/* ---- two bbs --------------------------------------------------------------------------------- */

static int32_t error_of(const struct buf *answer)
{
    Models__ActualLRPLifecycleResponse *r =
        models__actual_lrplifecycle_response__unpack(NULL, answer->size, answer->data);
    assert_non_null(r);
    int32_t type = r->error ? (int32_t)r->error->type : -1;
    models__actual_lrplifecycle_response__free_unpacked(r, NULL);
    return type;
}

static int desire(int port, const char *guid, int32_t instances, struct buf *answer)
{
    struct arena arena, *a = &arena;
    arena_init(a);
    Models__DesireLRPRequest r = MODELS__DESIRE_LRPREQUEST__INIT;
    Models__DesiredLRP d = MODELS__DESIRED_LRP__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    Models__DesiredLRP__MetricTagsEntry tag = MODELS__DESIRED_LRP__METRIC_TAGS_ENTRY__INIT;
    Models__DesiredLRP__MetricTagsEntry *tags[] = {&tag};
    Models__MetricTagValue value = MODELS__METRIC_TAG_VALUE__INIT;
    r.desired_lrp = &d;
    d.process_guid = arena_strdup(a, guid);
    d.domain = arena_strdup(a, "d");
    d.root_fs = arena_strdup(a, "preloaded:busybox");
    d.instances = instances;
    d.action = &action;
    action.run_action = &run;
    run.path = arena_strdup(a, "/bin/true");
    run.user = arena_strdup(a, "root");
    d.metric_tags = tags;
    d.n_metric_tags = 1;
    tag.key = arena_strdup(a, "source_id");
    tag.value = &value;
    value.static_ = arena_strdup(a, "s");
    assert_int_equal(post(port, "/v1/desired_lrp/desire.r2", &r.base, answer), 200);
    arena_done(a);
    return error_of(answer);
}

static size_t count_actual(int port, const char *guid, struct buf *answer)
{
    Models__ActualLRPsRequest r = MODELS__ACTUAL_LRPS_REQUEST__INIT;
    r.process_guid = (char *)(uintptr_t)guid;
    assert_int_equal(post(port, "/v1/actual_lrps/list", &r.base, answer), 200);
    Models__ActualLRPsResponse *list =
        models__actual_lrps_response__unpack(NULL, answer->size, answer->data);
    assert_non_null(list);
    size_t count = list->n_actual_lrps;
    models__actual_lrps_response__free_unpacked(list, NULL);
    return count;
}

/* What one bbs has answered, the other shows at once; a list of 1,000 comes whole. */
static void either_bbs_is_as_good(void **state)
{
    (void)state;
    struct buf answer;
    buf_init(&answer);
    for (int i = 0; i < 20; i++) {
        char guid[32];
        snprintf(guid, sizeof(guid), "web-%d", i);
        int one = bbs[i % 2].port, other = bbs[(i + 1) % 2].port;
        assert_int_equal(desire(one, guid, 3, &answer), -1);
        assert_int_equal(count_actual(other, guid, &answer), 3);
        assert_int_equal(desire(other, guid, 3, &answer), MODELS__ERROR__TYPE__ResourceExists);
    }
    assert_int_equal(desire(bbs[0].port, "many", 1000, &answer), -1);
    assert_int_equal(count_actual(bbs[1].port, "many", &answer), 1000);
    assert_int_equal(count_actual(bbs[1].port, "", &answer), 1060);
    buf_done(&answer);
}

/* ---- our own paths --------------------------------------------------------------------------- */

/* Posts as one of our roles; the answer must be a 200. */
static void post_as(const struct tls_files *files, const char *path, const ProtobufCMessage *m,
                    struct buf *answer)
{
    struct buf body;
    buf_init(&body);
    buf_message(&body, m);
    assert_int_equal(ask_as(files, bbs[0].port, "POST", path, buf_bytes(&body), NULL, answer),
                     200);
    buf_done(&body);
}

static int32_t open_session(struct arena *a, const char *cell_id, uint64_t session,
                            struct buf *answer)
{
    Board__CellRequest r = BOARD__CELL_REQUEST__INIT;
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    Models__CellPresence presence = MODELS__CELL_PRESENCE__INIT;
    r.cell = &cell;
    cell.presence = &presence;
    cell.session = session;
    cell.identity = arena_strdup(a, "state-1");
    presence.cell_id = arena_strdup(a, cell_id);
    presence.rep_url = arena_strdup(a, "https://127.0.0.1:1");
    post_as(&rep_files, "/v1/board/cell", &r.base, answer);
    return error_of(answer);
}

static int32_t beat_cell(struct arena *a, uint64_t session, struct buf *answer)
{
    Board__BeatRequest r = BOARD__BEAT_REQUEST__INIT;
    Board__CellBeat beat = BOARD__CELL_BEAT__INIT;
    r.cell = &beat;
    beat.cell_id = arena_strdup(a, "cell-1");
    beat.session = session;
    post_as(&rep_files, "/v1/board/beat", &r.base, answer);
    return error_of(answer);
}

static void sessions_and_beats(void **state)
{
    (void)state;
    struct arena arena, *a = &arena;
    struct buf answer;
    arena_init(a);
    buf_init(&answer);
    assert_int_equal(beat_cell(a, 3, &answer), MODELS__ERROR__TYPE__ResourceConflict);
    assert_int_equal(open_session(a, "cell-1", 3, &answer), -1);
    assert_int_equal(open_session(a, "cell-1", 3, &answer), -1);
    assert_int_equal(open_session(a, "cell-1", 2, &answer), MODELS__ERROR__TYPE__ResourceConflict);
    assert_int_equal(beat_cell(a, 3, &answer), -1);
    assert_int_equal(beat_cell(a, 2, &answer), MODELS__ERROR__TYPE__ResourceConflict);
    Board__BeatRequest other = BOARD__BEAT_REQUEST__INIT;
    Board__CellBeat beat = BOARD__CELL_BEAT__INIT;
    other.cell = &beat;
    beat.cell_id = arena_strdup(a, "cell-2");
    struct buf body;
    buf_init(&body);
    buf_message(&body, &other.base);
    assert_int_equal(ask_as(&rep_files, bbs[0].port, "POST", "/v1/board/beat", buf_bytes(&body),
                            NULL, &answer), 403);
    buf_done(&body);
    buf_done(&answer);
    arena_done(a);
}

/* The epoch of the DesiredLRP: what a cell claims by. */
static const char *definition_of(struct arena *a, const char *guid)
{
    Models__DesiredLRPByProcessGuidRequest r = MODELS__DESIRED_LRPBY_PROCESS_GUID_REQUEST__INIT;
    struct buf answer;
    buf_init(&answer);
    r.process_guid = arena_strdup(a, guid);
    assert_int_equal(post(bbs[0].port, "/v1/desired_lrps/get_by_process_guid.r3", &r.base,
                          &answer), 200);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Models__DesiredLRPResponse *got =
        models__desired_lrpresponse__unpack(&allocator, answer.size, answer.data);
    assert_non_null(got);
    assert_non_null(got->desired_lrp);
    buf_done(&answer);
    return got->desired_lrp->modification_tag->epoch;
}

static Board__Move *claim_move(struct arena *a, const char *cell_id, uint64_t session,
                               int32_t index)
{
    Board__Move *m = ARENA_NEW(a, Board__Move);
    board__move__init(m);
    m->move = arena_strdup(a, "claim");
    m->session = session;
    m->definition = arena_strdup(a, definition_of(a, "applied"));
    m->actual_lrp_key = ARENA_NEW(a, Models__ActualLRPKey);
    models__actual_lrpkey__init(m->actual_lrp_key);
    m->actual_lrp_key->process_guid = arena_strdup(a, "applied");
    m->actual_lrp_key->index = index;
    m->actual_lrp_instance_key = ARENA_NEW(a, Models__ActualLRPInstanceKey);
    models__actual_lrpinstance_key__init(m->actual_lrp_instance_key);
    m->actual_lrp_instance_key->instance_guid = arena_strdup(a, "i");
    m->actual_lrp_instance_key->cell_id = arena_strdup(a, cell_id);
    return m;
}

static void moves_in_batches(void **state)
{
    (void)state;
    struct arena arena, *a = &arena;
    struct buf answer;
    arena_init(a);
    buf_init(&answer);
    assert_int_equal(desire(bbs[1].port, "applied", 2, &answer), -1);
    Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
    r.moves = ARENA_ARRAY(a, 257, Board__Move *);
    r.moves[0] = claim_move(a, "cell-1", 3, 0);
    r.moves[1] = claim_move(a, "cell-1", 3, 0);
    r.moves[2] = claim_move(a, "cell-2", 3, 1);
    r.moves[3] = claim_move(a, "cell-1", 2, 1);
    r.moves[4] = claim_move(a, "cell-1", 3, 9);
    r.moves[5] = claim_move(a, "cell-1", 3, 1);
    r.moves[5]->move = arena_strdup(a, "create");
    r.moves[6] = claim_move(a, "cell-1", 3, 1);
    r.moves[6]->definition = arena_strdup(a, "");
    /* Another role's moves, in whatever state the record is. */
    r.moves[7] = claim_move(a, "cell-1", 3, 0);
    r.moves[7]->move = arena_strdup(a, "stop");
    r.moves[8] = claim_move(a, "cell-1", 3, 0);
    r.moves[8]->move = arena_strdup(a, "restart");
    r.moves[9] = claim_move(a, "cell-1", 3, 0);
    r.moves[9]->move = arena_strdup(a, "expire");
    r.moves[9]->domain = arena_strdup(a, "nowhere");
    r.n_moves = 10;
    post_as(&rep_files, "/v1/board/apply", &r.base, &answer);
    ProtobufCAllocator allocator = arena_protobuf(a);
    Board__ApplyResponse *got =
        board__apply_response__unpack(&allocator, answer.size, answer.data);
    assert_non_null(got);
    static const struct {
        Board__MoveResult__Outcome outcome;
        int32_t error; /* -1 = none */
    } expected[] = {
        {BOARD__MOVE_RESULT__OUTCOME__DONE, -1},
        {BOARD__MOVE_RESULT__OUTCOME__NOTHING, -1},
        {BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__ERROR__TYPE__InvalidRequest},
        {BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__ERROR__TYPE__ResourceConflict},
        {BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__ERROR__TYPE__ResourceNotFound},
        {BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__ERROR__TYPE__InvalidRequest},
        {BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__ERROR__TYPE__InvalidRequest},
        {BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__ERROR__TYPE__InvalidRequest},
        {BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__ERROR__TYPE__InvalidRequest},
        {BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__ERROR__TYPE__InvalidRequest},
    };
    assert_int_equal(got->n_results, 10);
    for (size_t i = 0; i < 10; i++) {
        const Board__MoveResult *result = got->results[i];
        assert_int_equal(result->outcome, expected[i].outcome);
        assert_int_equal(result->error ? (int32_t)result->error->type : -1, expected[i].error);
    }
    assert_string_equal(got->results[0]->record->state, "CLAIMED");
    /* Another epoch, too many, another cell. */
    r.epoch = arena_strdup(a, "another");
    post_as(&rep_files, "/v1/board/apply", &r.base, &answer);
    assert_int_equal(error_of(&answer), MODELS__ERROR__TYPE__ResourceConflict);
    r.epoch = got->epoch;
    for (r.n_moves = 0; r.n_moves < 257; r.n_moves++) {
        r.moves[r.n_moves] = r.moves[0];
    }
    post_as(&rep_files, "/v1/board/apply", &r.base, &answer);
    assert_int_equal(error_of(&answer), MODELS__ERROR__TYPE__InvalidRequest);
    r.n_moves = 256;
    post_as(&rep_files, "/v1/board/apply", &r.base, &answer);
    got = board__apply_response__unpack(&allocator, answer.size, answer.data);
    assert_int_equal(got->n_results, 256);
    r.n_moves = 1;
    r.cell_id = arena_strdup(a, "cell-2");
    struct buf body;
    buf_init(&body);
    buf_message(&body, &r.base);
    assert_int_equal(ask_as(&rep_files, bbs[0].port, "POST", "/v1/board/apply", buf_bytes(&body),
                            NULL, &answer), 403);
    buf_done(&body);
    buf_done(&answer);
    arena_done(a);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static int32_t desire_task(int port, const char *guid, const char *domain, struct buf *answer)
{
    struct arena arena, *a = &arena;
    arena_init(a);
    Models__DesireTaskRequest r = MODELS__DESIRE_TASK_REQUEST__INIT;
    Models__TaskDefinition d = MODELS__TASK_DEFINITION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    r.task_guid = arena_strdup(a, guid);
    r.domain = arena_strdup(a, domain);
    r.task_definition = &d;
    d.root_fs = arena_strdup(a, "preloaded:busybox");
    d.action = &action;
    action.run_action = &run;
    run.path = arena_strdup(a, "/bin/true");
    run.user = arena_strdup(a, "root");
    assert_int_equal(post(port, "/v1/tasks/desire.r2", &r.base, answer), 200);
    arena_done(a);
    return error_of(answer);
}

/* All the lifecycle's requests begin with the guid, and a cell or a reason. */
static int32_t task_request(int port, const char *name, const char *guid, const char *second,
                            struct buf *answer)
{
    char path[64];
    Models__FailTaskRequest r = MODELS__FAIL_TASK_REQUEST__INIT;
    snprintf(path, sizeof(path), "/v1/tasks/%s", name);
    r.task_guid = (char *)(uintptr_t)guid;
    r.failure_reason = (char *)(uintptr_t)second;
    assert_int_equal(post(port, path, &r.base, answer), 200);
    return error_of(answer);
}

static const Models__Task *task_of(struct arena *a, int port, const char *guid)
{
    Models__TaskByGuidRequest r = MODELS__TASK_BY_GUID_REQUEST__INIT;
    struct buf answer;
    buf_init(&answer);
    r.task_guid = (char *)(uintptr_t)guid;
    assert_int_equal(post(port, "/v1/tasks/get_by_task_guid.r3", &r.base, &answer), 200);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Models__TaskResponse *got =
        models__task_response__unpack(&allocator, answer.size, answer.data);
    assert_non_null(got);
    buf_done(&answer);
    assert_int_equal(got->error ? (int32_t)got->error->type : -1,
                     got->task ? -1 : (int32_t)MODELS__ERROR__TYPE__ResourceNotFound);
    return got->task;
}

static size_t count_tasks(int port, const char *domain, const char *cell_id)
{
    Models__TasksRequest r = MODELS__TASKS_REQUEST__INIT;
    struct buf answer;
    buf_init(&answer);
    r.domain = (char *)(uintptr_t)domain;
    r.cell_id = (char *)(uintptr_t)cell_id;
    assert_int_equal(post(port, "/v1/tasks/list.r3", &r.base, &answer), 200);
    Models__TasksResponse *got = models__tasks_response__unpack(NULL, answer.size, answer.data);
    assert_non_null(got);
    size_t count = got->n_tasks;
    models__tasks_response__free_unpacked(got, NULL);
    buf_done(&answer);
    return count;
}

/* A client's whole way, each step at the other bbs. */
static void tasks_of_clients(void **state)
{
    (void)state;
    struct arena arena, *a = &arena;
    struct buf answer;
    int one = bbs[0].port, other = bbs[1].port;
    arena_init(a);
    buf_init(&answer);
    assert_null(task_of(a, one, "t1"));
    assert_int_equal(desire_task(one, "t/1", "d", &answer), MODELS__ERROR__TYPE__InvalidRequest);
    assert_int_equal(desire_task(one, "t1", "d", &answer), -1);
    assert_int_equal(answer.size, 0);
    assert_int_equal(desire_task(other, "t1", "e", &answer), MODELS__ERROR__TYPE__ResourceExists);
    assert_int_equal(desire_task(other, "t2", "e", &answer), -1);
    const Models__Task *t = task_of(a, other, "t1");
    assert_int_equal(t->state, MODELS__TASK__STATE__Pending);
    assert_true(t->created_at > 0 && t->created_at == t->updated_at);
    assert_string_equal(t->task_definition->action->run_action->path, "/bin/true");

    assert_int_equal(task_request(other, "start", "t1", "c1", &answer), -1);
    assert_int_equal(answer.size, 2);
    assert_memory_equal(answer.data, "\x10\x01", 2); /* should_start */
    assert_int_equal(task_request(one, "start", "t1", "c1", &answer), -1);
    assert_int_equal(answer.size, 0);
    assert_int_equal(task_request(one, "start", "t1", "c2", &answer),
                     MODELS__ERROR__TYPE__InvalidStateTransition);
    assert_non_null(memmem(answer.data, answer.size, "Cannot transition from Running to Running",
                           41));
    assert_int_equal(count_tasks(other, "", ""), 2);
    assert_int_equal(count_tasks(one, "e", ""), 1);
    assert_int_equal(count_tasks(one, "", "c1"), 1);
    assert_int_equal(count_tasks(one, "e", "c1"), 0);

    assert_int_equal(task_request(other, "complete", "t1", "c2", &answer),
                     MODELS__ERROR__TYPE__RunningOnDifferentCell);
    assert_non_null(memmem(answer.data, answer.size, "Running on cell c1 not c2", 25));
    assert_int_equal(task_request(one, "complete", "t1", "c1", &answer), -1);
    assert_int_equal(task_request(one, "cancel", "t1", "", &answer),
                     MODELS__ERROR__TYPE__InvalidStateTransition);
    t = task_of(a, other, "t1");
    assert_int_equal(t->state, MODELS__TASK__STATE__Completed);
    assert_false(t->failed);
    assert_string_equal(t->cell_id, "");
    assert_int_equal(t->first_completed_at, t->updated_at);
    assert_int_equal(task_request(one, "delete", "t1", "", &answer),
                     MODELS__ERROR__TYPE__InvalidStateTransition);
    assert_int_equal(task_request(other, "resolving", "t1", "", &answer), -1);
    assert_int_equal(task_request(one, "delete", "t1", "", &answer), -1);
    assert_null(task_of(a, other, "t1"));
    assert_int_equal(task_request(one, "delete", "t1", "", &answer),
                     MODELS__ERROR__TYPE__ResourceNotFound);

    assert_int_equal(task_request(one, "reject", "t2", "", &answer),
                     MODELS__ERROR__TYPE__InvalidRequest);
    for (int i = 0; i < 4; i++) { /* with three retries the fourth fails it */
        assert_int_equal(task_of(a, one, "t2")->rejection_count, i);
        assert_int_equal(task_request(i % 2 ? one : other, "reject", "t2", "full", &answer), -1);
    }
    t = task_of(a, other, "t2");
    assert_int_equal(t->state, MODELS__TASK__STATE__Completed);
    assert_true(t->failed);
    assert_string_equal(t->failure_reason, "full");
    assert_int_equal(desire_task(one, "t3", "d", &answer), -1);
    assert_int_equal(task_request(one, "fail", "t3", "because", &answer), -1);
    assert_string_equal(task_of(a, other, "t3")->failure_reason, "because");
    assert_int_equal(desire_task(one, "t4", "d", &answer), -1);
    assert_int_equal(task_request(one, "cancel", "t4", "", &answer), -1);
    assert_string_equal(task_of(a, other, "t4")->failure_reason, "task was cancelled");
    buf_done(&answer);
    arena_done(a);
}

/* One move of cell-1 in session 3; the result. */
static const Board__MoveResult *move_task(struct arena *a, const char *move, const char *attempt,
                                          const char *result)
{
    Board__Move m = BOARD__MOVE__INIT, *moves[] = {&m};
    Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
    struct buf answer;
    buf_init(&answer);
    m.move = arena_strdup(a, move);
    m.task_guid = arena_strdup(a, "t5");
    m.cell_id = arena_strdup(a, "cell-1");
    m.session = 3;
    m.attempt = arena_strdup(a, attempt);
    m.result = arena_strdup(a, result);
    m.error_message = arena_strdup(a, strcmp(move, "reject") == 0 ? "no runtime" : "");
    r.moves = moves;
    r.n_moves = 1;
    post_as(&rep_files, "/v1/board/apply", &r.base, &answer);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Board__ApplyResponse *got =
        board__apply_response__unpack(&allocator, answer.size, answer.data);
    assert_non_null(got);
    assert_int_equal(got->n_results, 1);
    buf_done(&answer);
    return got->results[0];
}

/* The same attempt gets the same answer, any other is refused. */
static void tasks_of_a_rep(void **state)
{
    (void)state;
    static const struct {
        const char *move, *attempt, *result;
        Board__MoveResult__Outcome outcome;
        Models__Task__State state; /* as the answer shows it; Invalid = not shown */
    } rows[] = {
        {"start", "", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Invalid},
        {"cancel", "", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Invalid},
        {"kick", "A", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Invalid},
        {"claim", "A", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Invalid},
        {"start", "A", "", BOARD__MOVE_RESULT__OUTCOME__DONE, MODELS__TASK__STATE__Running},
        {"start", "A", "", BOARD__MOVE_RESULT__OUTCOME__NOTHING, MODELS__TASK__STATE__Running},
        {"start", "B", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Running},
        {"reject", "B", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Running},
        {"reject", "A", "", BOARD__MOVE_RESULT__OUTCOME__DONE, MODELS__TASK__STATE__Pending},
        {"reject", "A", "", BOARD__MOVE_RESULT__OUTCOME__NOTHING, MODELS__TASK__STATE__Pending},
        {"start", "A", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Pending},
        {"start", "B", "", BOARD__MOVE_RESULT__OUTCOME__DONE, MODELS__TASK__STATE__Running},
        {"complete", "A", "r", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Running},
        {"complete", "B", "r", BOARD__MOVE_RESULT__OUTCOME__DONE, MODELS__TASK__STATE__Completed},
        {"complete", "B", "r", BOARD__MOVE_RESULT__OUTCOME__NOTHING,
         MODELS__TASK__STATE__Completed},
        {"complete", "B", "s", BOARD__MOVE_RESULT__OUTCOME__REFUSED,
         MODELS__TASK__STATE__Completed},
    };
    struct arena arena, *a = &arena;
    struct buf answer;
    arena_init(a);
    buf_init(&answer);
    assert_int_equal(desire_task(bbs[1].port, "t5", "d", &answer), -1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const Board__MoveResult *got =
            move_task(a, rows[i].move, rows[i].attempt, rows[i].result);
        assert_int_equal(got->outcome, rows[i].outcome);
        assert_int_equal(got->task ? got->task->state : MODELS__TASK__STATE__Invalid,
                         rows[i].state);
        assert_null(got->record);
    }
    const Models__Task *t = task_of(a, bbs[1].port, "t5");
    assert_string_equal(t->result, "r");
    assert_string_equal(t->attempt, "B");
    assert_int_equal(t->rejection_count, 1);
    buf_done(&answer);
    arena_done(a);
}

/* Gives the term after the request, 0 when the lock is free; *ret_error -1 = none. */
static int64_t ask_lead_of(struct arena *a, const char *role, const char *holder, int64_t displace,
                           int64_t release, int32_t *ret_error)
{
    Board__LeadRequest r = BOARD__LEAD_REQUEST__INIT;
    Board__LeadRecord lead = BOARD__LEAD_RECORD__INIT;
    struct buf answer;
    buf_init(&answer);
    r.lead = &lead;
    r.displace = displace;
    r.release = release;
    lead.role = arena_strdup(a, role);
    lead.holder = arena_strdup(a, holder);
    post_as(strcmp(role, "converger") == 0 ? &converger_files : &auctioneer_files,
            "/v1/board/lead", &r.base, &answer);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Board__LeadResponse *got =
        board__lead_response__unpack(&allocator, answer.size, answer.data);
    assert_non_null(got);
    *ret_error = got->error ? (int32_t)got->error->type : -1;
    buf_done(&answer);
    return got->term ? got->term->term : 0;
}

static int64_t ask_lead(struct arena *a, const char *holder, int64_t displace, int64_t release,
                        int32_t *ret_error)
{
    return ask_lead_of(a, "auctioneer", holder, displace, release, ret_error);
}

static void leaders(void **state)
{
    (void)state;
    struct arena arena, *a = &arena;
    int32_t error;
    arena_init(a);
    int64_t term = ask_lead(a, "one", 0, 0, &error);
    assert_true(term > 0);
    assert_int_equal(error, -1);
    assert_int_equal(ask_lead(a, "one", 0, 0, &error), term);
    assert_int_equal(error, -1);
    assert_int_equal(ask_lead(a, "two", 0, 0, &error), term);
    assert_int_equal(error, MODELS__ERROR__TYPE__ResourceConflict);
    assert_int_equal(ask_lead(a, "two", term - 1, 0, &error), term);
    assert_int_equal(error, MODELS__ERROR__TYPE__ResourceConflict);
    int64_t next = ask_lead(a, "two", term, 0, &error);
    assert_int_equal(error, -1);
    assert_true(next > term);
    assert_int_equal(ask_lead(a, "one", 0, term, &error), next); /* not its term any more */
    assert_int_equal(ask_lead(a, "two", 0, next, &error), 0);
    assert_true(ask_lead(a, "one", 0, 0, &error) > next);
    arena_done(a);
}

/* One move of the leading converger, about cell-1 in session 3; the outcome. */
static Board__MoveResult__Outcome converge(struct arena *a, const char *move)
{
    int32_t error;
    struct buf answer;
    buf_init(&answer);
    Board__Term term = BOARD__TERM__INIT;
    term.role = arena_strdup(a, "converger");
    term.term = ask_lead_of(a, "converger", "c", 0, 0, &error);
    Board__CellBeat cell = BOARD__CELL_BEAT__INIT, *cells[] = {&cell};
    cell.cell_id = arena_strdup(a, "cell-1");
    cell.session = 3;
    Board__Move m = BOARD__MOVE__INIT, *moves[] = {&m};
    m.move = arena_strdup(a, move);
    m.term = &term;
    m.cell_id = cell.cell_id;
    m.session = cell.session;
    m.cells = cells;
    m.n_cells = 1;
    Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
    r.moves = moves;
    r.n_moves = 1;
    ProtobufCAllocator allocator = arena_protobuf(a);
    Board__ApplyResponse *got = NULL;
    for (int i = 0; i < 2; i++) { /* the first is refused, and tells the epoch */
        term.epoch = got ? got->epoch : arena_strdup(a, "");
        post_as(&converger_files, "/v1/board/apply", &r.base, &answer);
        got = board__apply_response__unpack(&allocator, answer.size, answer.data);
        assert_non_null(got);
        assert_int_equal(got->n_results, 1);
    }
    buf_done(&answer);
    return got->results[0]->outcome;
}

static int32_t say_brake(bool confirm, bool keep, struct buf *answer)
{
    Board__BrakeRequest r = BOARD__BRAKE_REQUEST__INIT;
    r.confirm = confirm;
    r.keep = keep;
    assert_int_equal(post(bbs[0].port, "/v1/board/brake", &r.base, answer), 200);
    return error_of(answer);
}

static const char *shown_state(struct arena *a, struct buf *answer)
{
    assert_int_equal(post(bbs[1].port, "/v1/board/cells", NULL, answer), 200);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Board__CellsStatus *got =
        board__cells_status__unpack(&allocator, answer->size, answer->data);
    assert_non_null(got);
    assert_int_equal(got->n_cells, 1);
    return got->cells[0]->state;
}

/* What cells/list.r1 shows. */
static size_t count_cells(struct buf *answer)
{
    assert_int_equal(post(bbs[1].port, "/v1/cells/list.r1", NULL, answer), 200);
    Models__CellsResponse *got =
        models__cells_response__unpack(NULL, answer->size, answer->data);
    assert_non_null(got);
    size_t count = got->n_cells;
    models__cells_response__free_unpacked(got, NULL);
    return count;
}

/* A cell is held, kept, confirmed, lost, and comes back with a higher session. */
static void a_cell_is_lost_and_comes_back(void **state)
{
    (void)state;
    struct arena arena, *a = &arena;
    struct buf answer;
    arena_init(a);
    buf_init(&answer);
    assert_int_equal(open_session(a, "cell-1", 3, &answer), -1);
    assert_int_equal(say_brake(true, false, &answer), MODELS__ERROR__TYPE__ResourceNotFound);
    assert_int_equal(say_brake(true, true, &answer), MODELS__ERROR__TYPE__InvalidRequest);
    assert_string_equal(shown_state(a, &answer), "PRESENT");

    assert_int_equal(converge(a, "brake"), BOARD__MOVE_RESULT__OUTCOME__DONE);
    assert_string_equal(shown_state(a, &answer), "LOST (held)");
    assert_int_equal(count_cells(&answer), 1); /* held is not lost */
    assert_int_equal(converge(a, "lose"), BOARD__MOVE_RESULT__OUTCOME__REFUSED);
    assert_int_equal(say_brake(false, true, &answer), -1);
    assert_int_equal(converge(a, "release"), BOARD__MOVE_RESULT__OUTCOME__REFUSED);
    assert_int_equal(say_brake(true, false, &answer), -1);
    assert_int_equal(say_brake(false, true, &answer), MODELS__ERROR__TYPE__ResourceConflict);

    assert_int_equal(converge(a, "lose"), BOARD__MOVE_RESULT__OUTCOME__DONE);
    assert_string_equal(shown_state(a, &answer), "LOST");
    assert_int_equal(count_cells(&answer), 0);
    assert_int_equal(beat_cell(a, 3, &answer), MODELS__ERROR__TYPE__ResourceConflict);
    assert_int_equal(open_session(a, "cell-1", 3, &answer), MODELS__ERROR__TYPE__ResourceConflict);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Board__CellResponse *refused =
        board__cell_response__unpack(&allocator, answer.size, answer.data);
    assert_int_equal(refused->cell->state, BOARD__CELL_RECORD__STATE__LOST);
    assert_int_equal(refused->cell->session, 3);
    assert_int_equal(open_session(a, "cell-1", 4, &answer), -1);
    assert_string_equal(shown_state(a, &answer), "PRESENT");
    assert_int_equal(beat_cell(a, 4, &answer), -1);
    buf_done(&answer);
    arena_done(a);
}

/* The store goes away and comes back: 503 meanwhile, and it recovers by itself. */
static void etcd_away(void **state)
{
    (void)state;
    struct buf head, answer;
    struct err err;
    buf_init(&head);
    buf_init(&answer);
    etcd_server_kill(&etcd);
    int status = 200;
    for (struct patience p = {0}; status != 503 && patience(&p);) {
        buf_clear(&head);
        status = ask_as(&client_files, bbs[0].port, "POST", "/v1/domains/list", (struct bytes){0},
                        &head, &answer);
    }
    assert_int_equal(status, 503);
    assert_int_equal(answer.size, 0);
    assert_non_null(strcasestr(buf_string(&head), "Retry-After: 1\r\n"));
    assert_int_equal(etcd_server_restart(&etcd, &err), 0);
    for (struct patience p = {0}; status != 200 && patience(&p);) {
        status = post(bbs[0].port, "/v1/domains/list", NULL, &answer);
    }
    assert_int_equal(status, 200);
    for (struct patience p = {0};
         post(bbs[1].port, "/v1/domains/list", NULL, &answer) != 200 && patience(&p);) {
    }
    assert_int_equal(count_actual(bbs[1].port, "many", &answer), 1000);
    buf_done(&head);
    buf_done(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_bytes),        cmocka_unit_test(paths_and_methods),
        cmocka_unit_test(malformed_bodies),      cmocka_unit_test(too_deep),
        cmocka_unit_test(too_large),             cmocka_unit_test(certificates),
        cmocka_unit_test(roles),                 cmocka_unit_test(either_bbs_is_as_good),
        cmocka_unit_test(sessions_and_beats),    cmocka_unit_test(moves_in_batches),
        cmocka_unit_test(tasks_of_clients),      cmocka_unit_test(tasks_of_a_rep),
        cmocka_unit_test(leaders),               cmocka_unit_test(a_cell_is_lost_and_comes_back),
        cmocka_unit_test(etcd_away),
    };
    if (!etcd_server_possible()) {
        printf("[  SKIPPED ] bbs api: no etcd on this machine\n");
        return 0;
    }
    return cmocka_run_group_tests_name("bbs api", tests, group_setup, group_teardown);
}
