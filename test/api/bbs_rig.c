#include "test/api/bbs_rig.h"

#include "board.pb-c.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "test/tool/cmocka.h"

#include <signal.h>
#include <stdio.h>

struct bbs_rig bbs_rig;

bool bbs_rig_possible(const char *name)
{
    if (!etcd_server_possible()) {
        printf("no etcd on this machine\n[  SKIPPED ] %s\n", name);
        return false;
    }
    return true;
}

int bbs_rig_setup(void **state)
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
    for (; r->count < BBS_RIG_COUNT; r->count++) {
        char name[16];
        snprintf(name, sizeof(name), "bbs-%d", r->count + 1);
        bbs_process_start(&r->bbs[r->count], r->certs.dir, name, &r->etcd, &r->server, &r->client);
    }
    for (int i = 0; i < BBS_RIG_COUNT; i++) {
        bbs_process_wait_ready(&r->bbs[i]);
    }
    return 0;
}

int bbs_rig_teardown(void **state)
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
    const struct bbs_process b = {.port = port, .client = *files};
    return bbs_process_ask(&b, method, path, "vizzini-trace-id", body, head, answer);
}

int bbs_post(int port, const char *path, const ProtobufCMessage *m, struct buf *answer)
{
    SCOPED_BUF(body);
    if (m) {
        buf_message(&body, m);
    }
    return bbs_ask_as(&bbs_rig.client, port, "POST", path, buf_bytes(&body), NULL, answer);
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

static Models__Action *run_true(struct arena *a)
{
    Models__Action *action = arena_message(a, &models__action__descriptor);
    Models__RunAction *run = action->run_action = ARENA_NEW(a, Models__RunAction);
    models__run_action__init(run);
    run->path = arena_strdup(a, "/bin/true");
    run->user = arena_strdup(a, "root");
    return action;
}

Models__DesireLRPRequest *bbs_desire_of(struct arena *a, const char *guid, int32_t instances)
{
    Models__DesireLRPRequest *r = arena_message(a, &models__desire_lrprequest__descriptor);
    Models__DesiredLRP *d = r->desired_lrp = ARENA_NEW(a, Models__DesiredLRP);
    models__desired_lrp__init(d);
    d->process_guid = arena_strdup(a, guid);
    d->domain = arena_strdup(a, "d");
    d->root_fs = arena_strdup(a, "preloaded:busybox");
    d->instances = instances;
    d->start_timeout_ms = 7000;
    d->action = run_true(a);
    d->n_metric_tags = 1;
    d->metric_tags = ARENA_NEW(a, Models__DesiredLRP__MetricTagsEntry *);
    Models__DesiredLRP__MetricTagsEntry *tag = ARENA_NEW(a, Models__DesiredLRP__MetricTagsEntry);
    models__desired_lrp__metric_tags_entry__init(tag);
    d->metric_tags[0] = tag;
    tag->key = arena_strdup(a, "source_id");
    tag->value = arena_message(a, &models__metric_tag_value__descriptor);
    tag->value->static_ = arena_strdup(a, "s");
    return r;
}

Models__DesireTaskRequest *bbs_desire_task_of(struct arena *a, const char *guid, const char *domain)
{
    Models__DesireTaskRequest *r = arena_message(a, &models__desire_task_request__descriptor);
    r->task_guid = arena_strdup(a, guid);
    r->domain = arena_strdup(a, domain);
    Models__TaskDefinition *d = r->task_definition = ARENA_NEW(a, Models__TaskDefinition);
    models__task_definition__init(d);
    d->root_fs = arena_strdup(a, "preloaded:busybox");
    d->action = run_true(a);
    return r;
}

int32_t bbs_desire(int port, const char *guid, int32_t instances, struct buf *answer)
{
    SCOPED_ARENA(a);
    assert_int_equal(bbs_post(port, "/v1/desired_lrp/desire.r2",
                              &bbs_desire_of(&a, guid, instances)->base, answer),
                     200);
    return bbs_error_of(answer);
}

void bbs_post_as(const struct tls_files *files, const char *path, const ProtobufCMessage *m,
                 struct buf *answer)
{
    SCOPED_BUF(body);
    buf_message(&body, m);
    assert_int_equal(
        bbs_ask_as(files, bbs_rig.bbs[0].port, "POST", path, buf_bytes(&body), NULL, answer), 200);
}

int32_t bbs_open_incarnation(struct arena *a, const char *cell_id, uint64_t incarnation,
                             struct buf *answer)
{
    Board__CellRequest r = BOARD__CELL_REQUEST__INIT;
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    Models__CellPresence presence = MODELS__CELL_PRESENCE__INIT;
    r.cell = &cell;
    cell.presence = &presence;
    cell.incarnation = incarnation;
    cell.identity = arena_strdup(a, "state-1");
    presence.cell_id = arena_strdup(a, cell_id);
    presence.rep_url = arena_strdup(a, "https://127.0.0.1:1");
    bbs_post_as(&bbs_rig.rep, "/v1/board/cell", &r.base, answer);
    return bbs_error_of(answer);
}
