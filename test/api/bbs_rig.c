#include "test/api/bbs_rig.h"

#include "board.pb-c.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct bbs_rig bbs_rig;

int bbs_rig_start(int count)
{
    struct bbs_rig *r = &bbs_rig;
    struct err err;
    signal(SIGPIPE, SIG_IGN);
    certs_init(&r->certs);
    r->server = certs_make(&r->certs, "server", "bbs", "bbs", 3600);
    r->client = certs_make(&r->certs, "client", "client", "somebody", 3600);
    r->rep = certs_make(&r->certs, "rep", "rep", "cell-1", 3600);
    r->auctioneer = certs_make(&r->certs, "auctioneer", "auctioneer", "auctioneer-1", 3600);
    r->converger = certs_make(&r->certs, "converger", "converger", "converger-1", 3600);
    if (etcd_server_start(&(struct etcd_server_config){.tls = true}, &r->etcd, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    assert_in_range(count, 1, BBS_RIG_MAX);
    for (; r->count < count; r->count++) {
        char name[16];
        snprintf(name, sizeof(name), "bbs-%d", r->count + 1);
        bbs_process_start(&r->bbs[r->count], r->certs.dir, name, &r->etcd, &r->server, &r->client);
    }
    for (int i = 0; i < count; i++) {
        bbs_process_wait_ready(&r->bbs[i]);
    }
    return 0;
}

int bbs_rig_end(void)
{
    int result = 0;
    for (int i = 0; i < bbs_rig.count; i++) {
        result = bbs_process_end(&bbs_rig.bbs[i]) == 0 ? result : -1;
    }
    etcd_server_done(&bbs_rig.etcd);
    certs_done(&bbs_rig.certs);
    return result;
}

/* ---- what tests ask -------------------------------------------------------------------------- */

int bbs_ask_as(const struct tls_files *files, int port, const char *method, const char *path,
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

int bbs_post(int port, const char *path, const ProtobufCMessage *m, struct buf *answer)
{
    struct buf body;
    buf_init(&body);
    if (m) {
        buf_message(&body, m);
    }
    int status = bbs_ask_as(&bbs_rig.client, port, "POST", path, buf_bytes(&body), NULL, answer);
    buf_done(&body);
    return status;
}

int32_t bbs_error_of(const struct buf *answer)
{
    Models__ActualLRPLifecycleResponse *r =
        models__actual_lrplifecycle_response__unpack(NULL, answer->size, answer->data);
    assert_non_null(r);
    int32_t type = r->error ? (int32_t)r->error->type : -1;
    models__actual_lrplifecycle_response__free_unpacked(r, NULL);
    return type;
}

int32_t bbs_desire(int port, const char *guid, int32_t instances, struct buf *answer)
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
    assert_int_equal(bbs_post(port, "/v1/desired_lrp/desire.r2", &r.base, answer), 200);
    arena_done(a);
    return bbs_error_of(answer);
}

void bbs_post_as(const struct tls_files *files, const char *path, const ProtobufCMessage *m,
                 struct buf *answer)
{
    struct buf body;
    buf_init(&body);
    buf_message(&body, m);
    assert_int_equal(bbs_ask_as(files, bbs_rig.bbs[0].port, "POST", path, buf_bytes(&body), NULL,
                                answer), 200);
    buf_done(&body);
}

int32_t bbs_open_session(struct arena *a, const char *cell_id, uint64_t session,
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
    bbs_post_as(&bbs_rig.rep, "/v1/board/cell", &r.base, answer);
    return bbs_error_of(answer);
}
