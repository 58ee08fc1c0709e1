/* A running bbs on a real etcd, asked byte by byte: what clients of the original rely on
 * (behaviour.md 2, 3), bad requests of every kind, who may call, and two bbs on one board. */
#include "models/actual_lrp_requests.pb-c.h"
#include "models/evacuation.pb-c.h"
#include "test/api/bbs_rig.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct bbs_process *const bbs = bbs_rig.bbs;

/* ---- what every answer looks like ------------------------------------------------------------ */

static void recorded_bytes(void **state)
{
    struct buf head, answer;
    buf_init(&head);
    buf_init(&answer);
    /* behaviour.md 2: golden vectors. */
    assert_int_equal(bbs_ask_as(&bbs_rig.client, bbs[0].port, "POST", "/v1/ping", (struct bytes){0},
                                &head, &answer), 200);
    assert_int_equal(answer.size, 2);
    assert_memory_equal(answer.data, "\x08\x01", 2);
    assert_non_null(strcasestr(buf_string(&head), "Content-Type: application/x-protobuf\r\n"));
    assert_non_null(strcasestr(buf_string(&head), "Content-Length: 2\r\n"));
    assert_non_null(strcasestr(buf_string(&head), "Date: "));
    assert_null(strcasestr(buf_string(&head), "vizzini-trace-id"));
    /* A query is ignored, as is the body of a ping. */
    assert_int_equal(bbs_ask_as(&bbs_rig.client, bbs[0].port, "POST", "/v1/ping?a=b",
                                bytes_of("\xff\xff"), NULL, &answer), 200);
    /* An empty body is a valid message; validation decides. */
    assert_int_equal(bbs_post(bbs[0].port, "/v1/actual_lrps/claim", NULL, &answer), 200);
    static const char text[] =
        "Invalid field: process_guid, Invalid field: actual_lrp_instance_key";
    assert_int_equal(answer.data[0], 0x0a);
    assert_memory_equal(answer.data + 2, "\x08\x04\x12", 3);
    assert_int_equal(answer.data[5], sizeof(text) - 1);
    assert_memory_equal(answer.data + 6, text, sizeof(text) - 1);
    /* A success with nothing to say. */
    assert_int_equal(bbs_ask_as(&bbs_rig.client, bbs[0].port, "POST", "/v1/actual_lrps/list",
                                bytes_of("\x1a\x06nobody"), &head, &answer), 200);
    assert_int_equal(answer.size, 0);
    assert_non_null(strcasestr(buf_string(&head), "Content-Type: application/x-protobuf\r\n"));
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
    static const struct bytes bodies[] = {
        {(const uint8_t *)"\xff", 1},                 /* no tag */
        {(const uint8_t *)"\x0a\x05web", 5},          /* truncated */
        {(const uint8_t *)"\x0a\x03w\0b", 5},         /* a zero byte in a string */
        {(const uint8_t *)"\x08\x05", 2},             /* another wire type */
        {(const uint8_t *)"\x0b", 1},                 /* a group */
        {(const uint8_t *)"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
    };
    SCOPED_BUF(answer);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        assert_int_equal(bbs_ask_as(&bbs_rig.client, bbs[0].port, "POST", "/v1/actual_lrps/claim",
                                    bodies[i], NULL, &answer), 200);
        assert_invalid(&answer);
    }
}

/* 34 KB of nested actions would end a process that unpacked them. */
static void too_deep(void **state)
{
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
    assert_int_equal(bbs_ask_as(&bbs_rig.client, bbs[0].port, "POST", "/v1/desired_lrp/desire.r2",
                                buf_bytes(&body), NULL, &answer), 200);
    assert_invalid(&answer);
    assert_int_equal(bbs_post(bbs[0].port, "/v1/ping", NULL, &answer), 200);
    buf_done(&body);
    buf_done(&inner);
    buf_done(&answer);
}

static void too_large(void **state)
{
    SCOPED_BUF(answer);
    uint8_t *body = calloc(1, 3 * 1024 * 1024);
    assert_non_null(body);
    memset(body, 0x0a, 3 * 1024 * 1024);
    assert_int_equal(bbs_ask_as(&bbs_rig.client, bbs[0].port, "POST", "/v1/desired_lrp/desire.r2",
                                (struct bytes){body, 3 * 1024 * 1024}, NULL, &answer), 200);
    assert_invalid(&answer);
    /* Small on the wire, large when decoded: 2 MB of empty sub-messages. */
    memset(body, 0, 2 * 1024 * 1024);
    static const uint8_t rule[] = {0xa2, 0x01, 0x00}; /* DesiredLRP.egress_rules, empty */
    SCOPED_BUF(inner);
    for (unsigned i = 0; i < 600000; i++) {
        buf_append(&inner, rule, sizeof(rule));
    }
    SCOPED_BUF(outer);
    buf_varint(&outer, 1 << 3 | 2);
    buf_varint(&outer, inner.size);
    buf_append(&outer, inner.data, inner.size);
    assert_int_equal(bbs_ask_as(&bbs_rig.client, bbs[0].port, "POST", "/v1/desired_lrp/desire.r2",
                                buf_bytes(&outer), NULL, &answer), 200);
    assert_invalid(&answer);
    free(body);
}

/* ---- who may call ---------------------------------------------------------------------------- */

static void certificates(void **state)
{
    struct tls_client c;
    struct tls_files nobody = {.ca = bbs_rig.client.ca};
    struct tls_files old = certs_make(&bbs_rig.certs, "old", "client", "somebody", -60);
    SCOPED_BUF(answer);
    /* With TLS 1.3 a client learns of the refusal at its first read. */
    const struct tls_files *refused[] = {&nobody, &old};
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
}

static void roles(void **state)
{
    struct tls_files etcd = certs_make(&bbs_rig.certs, "etcd-too", "etcd", "etcd", 3600);
    struct tls_files nothing = certs_make(&bbs_rig.certs, "no-unit", "", "somebody", 3600);
    const struct {
        const struct tls_files *files;
        const char *path;
        int status;
    } rows[] = {
        {&bbs_rig.client, "/v1/board/apply", 403},
        {&bbs_rig.client, "/v1/board/cell", 403},
        {&bbs_rig.client, "/v1/board/heartbeat", 403},
        {&bbs_rig.client, "/v1/board/leader_lock", 403},
        {&bbs_rig.rep, "/v1/board/limiter", 403},
        {&bbs_rig.converger, "/v1/board/limiter", 403},
        {&bbs_rig.client, "/v1/board/limiter", 200},
        {&bbs_rig.client, "/v1/board/cells", 200},
        {&bbs_rig.rep, "/v1/board/leader_lock", 403},
        {&bbs_rig.auctioneer, "/v1/board/cell", 403},
        {&bbs_rig.rep, "/v1/actual_lrps/claim", 403},
        {&bbs_rig.rep, "/v1/desired_lrp/desire.r2", 403},
        {&bbs_rig.auctioneer, "/v1/actual_lrps/fail", 403},
        {&bbs_rig.rep, "/v1/tasks/start", 403},
        {&bbs_rig.auctioneer, "/v1/tasks/reject", 403},
        {&bbs_rig.converger, "/v1/tasks/fail", 403},
        {&bbs_rig.rep, "/v1/tasks/list.r3", 200},
        {&bbs_rig.rep, "/v1/actual_lrps/list", 200},
        {&bbs_rig.auctioneer, "/v1/cells/list.r1", 200},
        {&etcd, "/v1/desired_lrp/desire.r2", 403},
        {&etcd, "/v1/board/limiter", 403},
        {&etcd, "/v1/board/apply", 403},
        {&etcd, "/v1/desired_lrps/list.r3", 200},
        {&nothing, "/v1/tasks/cancel", 403},
        {&nothing, "/v1/tasks/list.r3", 200},
    };
    struct buf head, answer;
    buf_init(&head);
    buf_init(&answer);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(bbs_ask_as(rows[i].files, bbs[0].port, "POST", rows[i].path,
                                    (struct bytes){0}, &head, &answer), rows[i].status);
        if (rows[i].status == 403) { /* a Go client reads the error of what is protobuf */
            bool own = strncmp(rows[i].path, "/v1/board/", strlen("/v1/board/")) == 0;
            assert_non_null(strcasestr(buf_string(&head),
                                       own ? "Content-Type: text/plain"
                                           : "Content-Type: application/x-protobuf"));
            if (!own) {
                assert_int_equal(bbs_error_of(&answer), MODELS__ERROR__TYPE__UnknownError);
            }
        }
    }
    buf_done(&head);
    buf_done(&answer);
}

/* What was refused was not done, and says why; an evacuation's answer keeps the container. */
static void strangers_change_nothing(void **state)
{
    struct tls_files etcd = certs_make(&bbs_rig.certs, "etcd-three", "etcd", "etcd", 3600);
    SCOPED_ARENA(arena);
    struct buf body, answer;
    buf_init(&body);
    buf_init(&answer);
    buf_message(&body, &bbs_desire_of(&arena, "of-a-stranger", 1)->base);
    assert_int_equal(bbs_ask_as(&etcd, bbs[0].port, "POST", "/v1/desired_lrp/desire.r2",
                                buf_bytes(&body), NULL, &answer), 403);
    Models__DesiredLRPLifecycleResponse *r =
        models__desired_lrplifecycle_response__unpack(NULL, answer.size, answer.data);
    assert_non_null(r);
    assert_string_equal(r->error->message,
                        "/v1/desired_lrp/desire.r2 is for OU client; this certificate has OU "
                        "\"etcd\": use one with OU client, or run the bbs with --any-client");
    models__desired_lrplifecycle_response__free_unpacked(r, NULL);
    Models__DesiredLRPByProcessGuidRequest get = MODELS__DESIRED_LRPBY_PROCESS_GUID_REQUEST__INIT;
    get.process_guid = arena_strdup(&arena, "of-a-stranger");
    assert_int_equal(bbs_post(bbs[1].port, "/v1/desired_lrps/get_by_process_guid.r3", &get.base,
                              &answer), 200);
    assert_int_equal(bbs_error_of(&answer), MODELS__ERROR__TYPE__ResourceNotFound);
    static const struct {
        const char *path;
        bool keep;
    } evacuations[] = {{"/v1/actual_lrps/evacuate_claimed", true},
                       {"/v1/actual_lrps/evacuate_running.r1", true},
                       {"/v1/actual_lrps/evacuate_stopped", false}};
    for (size_t i = 0; i < sizeof(evacuations) / sizeof(evacuations[0]); i++) {
        assert_int_equal(bbs_ask_as(&etcd, bbs[0].port, "POST", evacuations[i].path,
                                    (struct bytes){0}, NULL, &answer), 403);
        Models__EvacuationResponse *e =
            models__evacuation_response__unpack(NULL, answer.size, answer.data);
        assert_non_null(e);
        assert_non_null(e->error);
        assert_int_equal(e->keep_container, evacuations[i].keep);
        models__evacuation_response__free_unpacked(e, NULL);
    }
    buf_done(&body);
    buf_done(&answer);
}

/* ---- two bbs --------------------------------------------------------------------------------- */

static size_t count_actual(int port, const char *guid, struct buf *answer)
{
    Models__ActualLRPsRequest r = MODELS__ACTUAL_LRPS_REQUEST__INIT;
    r.process_guid = (char *)(uintptr_t)guid;
    assert_int_equal(bbs_post(port, "/v1/actual_lrps/list", &r.base, answer), 200);
    Models__ActualLRPsResponse *list =
        models__actual_lrps_response__unpack(NULL, answer->size, answer->data);
    assert_non_null(list);
    size_t count = list->n_actual_lrps;
    models__actual_lrps_response__free_unpacked(list, NULL);
    return count;
}

/* What bore a pool's tag could be placed on its cells. */
static void nobody_takes_the_cell_of_a_node_pool(void **state)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(answer);
    char *tags[] = {arena_strdup(&a, "pool:u//:main#1")};
    Models__DesireLRPRequest *lrp = bbs_desire_of(&a, "in-a-pool", 1);
    Models__DesireTaskRequest *task = bbs_desire_task_of(&a, "in-a-pool", "d");
    (void)state;
    lrp->desired_lrp->placementtags = task->task_definition->placement_tags = tags;
    lrp->desired_lrp->n_placementtags = task->task_definition->n_placement_tags = 1;
    assert_int_equal(
        bbs_post(bbs[0].port, "/v1/desired_lrp/desire.r2", &lrp->base, &answer), 200);
    assert_int_equal(bbs_error_of(&answer), MODELS__ERROR__TYPE__InvalidRequest);
    assert_int_equal(bbs_post(bbs[1].port, "/v1/tasks/desire.r2", &task->base, &answer), 200);
    assert_int_equal(bbs_error_of(&answer), MODELS__ERROR__TYPE__InvalidRequest);
}

/* What one bbs has answered, the other shows at once; a list of 1,000 comes whole. */
static void either_bbs_is_as_good(void **state)
{
    SCOPED_BUF(answer);
    for (int i = 0; i < 20; i++) {
        char guid[32];
        snprintf(guid, sizeof(guid), "web-%d", i);
        int one = bbs[i % 2].port, other = bbs[(i + 1) % 2].port;
        assert_int_equal(bbs_desire(one, guid, 3, &answer), -1);
        assert_int_equal(count_actual(other, guid, &answer), 3);
        assert_int_equal(bbs_desire(other, guid, 3, &answer), MODELS__ERROR__TYPE__ResourceExists);
    }
    assert_int_equal(bbs_desire(bbs[0].port, "many", 1000, &answer), -1);
    assert_int_equal(count_actual(bbs[1].port, "many", &answer), 1000);
    assert_int_equal(count_actual(bbs[1].port, "", &answer), 1060);
}

/* The store goes away and comes back: 503 meanwhile, and it recovers by itself. */
static void etcd_away(void **state)
{
    struct buf head, answer;
    struct err err;
    buf_init(&head);
    buf_init(&answer);
    etcd_server_kill(&bbs_rig.etcd);
    int status = 200;
    for (struct patience p = {0}; status != 503 && patience(&p);) {
        status = bbs_ask_as(&bbs_rig.client, bbs[0].port, "POST", "/v1/domains/list",
                            (struct bytes){0}, &head, &answer);
    }
    assert_int_equal(status, 503);
    assert_int_equal(answer.size, 0);
    assert_non_null(strcasestr(buf_string(&head), "Retry-After: 1\r\n"));
    assert_int_equal(etcd_server_restart(&bbs_rig.etcd, &err), 0);
    for (struct patience p = {0}; status != 200 && patience(&p);) {
        status = bbs_post(bbs[0].port, "/v1/domains/list", NULL, &answer);
    }
    assert_int_equal(status, 200);
    for (struct patience p = {0};
         bbs_post(bbs[1].port, "/v1/domains/list", NULL, &answer) != 200 && patience(&p);) {
    }
    assert_int_equal(count_actual(bbs[1].port, "many", &answer), 1000);
    buf_done(&head);
    buf_done(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_bytes),
        cmocka_unit_test(malformed_bodies),
        cmocka_unit_test(too_deep),
        cmocka_unit_test(too_large),
        cmocka_unit_test(certificates),
        cmocka_unit_test(roles),
        cmocka_unit_test(strangers_change_nothing),
        cmocka_unit_test(nobody_takes_the_cell_of_a_node_pool),
        cmocka_unit_test(either_bbs_is_as_good),
        cmocka_unit_test(etcd_away),
    };
    return BBS_RIG_RUN("bbs_api", tests);
}
