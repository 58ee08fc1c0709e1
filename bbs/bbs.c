#include "bbs/bbs.h"

#include "bbs/inside.h"
#include "bbs/lrp/instances.h"
#include "bbs/rest/rest.h"
#include "bbs/route/locket.h"
#include "bbs/units/units.h"
#include "common/base/memory.h"

#include <stdlib.h>

static void bbs_step(struct role *r, const struct event *ev, struct effects *out)
{
    struct bbs *b = (struct bbs *)r;
    board_step(b->board, ev, out);
    if (ev->kind == EVENT_REQUEST) {
        (ev->request.grpc ? locket_request
         : rest_owns(ev->request.method, ev->request.path)
             ? rest_request
             : route_request)(&b->router, &ev->request, out);
    } else if (ev->kind == EVENT_RESPONSE) {
        askers_answer(&b->askers, &ev->response, out);
    } else if (ev->kind == EVENT_STOP) {
        hub_close(b->hub);
    }
    waiters_timer(&b->router.waiters, ev->now, out);
    notices_send(b, out);
    callbacks_run(b, out);
    hub_timer(b->hub, ev->now, out);
}

static size_t bbs_body_limit(const struct role *r, const char *path)
{
    (void)r;
    return path_body_max(&rest_paths, path, path_body_max(&bbs_routes, path, BODY_SMALL));
}

static void bbs_free(struct role *r)
{
    struct bbs *b = (struct bbs *)r;
    board_free(b->board);
    hub_free(b->hub);
    notices_done(&b->notices);
    callbacks_done(&b->callbacks);
    router_done(&b->router);
    log_requests_done(&b->logs);
    askers_done(&b->askers);
    free(b);
}

static const struct role_ops bbs_ops = {
    .name = "bbs",
    .step = bbs_step,
    .body_limit = bbs_body_limit,
    .free = bbs_free,
};

const struct op_row *bbs_job_row(void *context, const Board__JobRecord *job)
{
    (void)context;
    switch ((int)job->kind) {
#define JOB(kind, row)                                                                             \
    case BOARD__JOB_RECORD__KIND__##kind:                                                          \
        return &row;
#include "bbs/jobs.def"
#undef JOB
    default:
        return NULL;
    }
}

static void on_change(void *context, const struct board_change *change, struct effects *out)
{
    struct bbs *b = context;
    if (change->type == RECORD_JOB && !change->after) {
        waiters_job_ended(&b->router.waiters, change->key, out);
    }
    hub_change(b->hub, change);
}

static void on_revision(void *context, int64_t revision, struct effects *out)
{
    (void)revision;
    (void)out;
    struct bbs *b = context;
    hub_revision(b->hub);
}

static void on_reset(void *context, struct effects *out)
{
    (void)out;
    struct bbs *b = context;
    hub_close(b->hub);
}

static void on_notice(void *context, const struct notice *n, const char *trace_id,
                      struct effects *out)
{
    notices_add(context, n, trace_id, out);
}

struct role *bbs_new(const struct bbs_config *config)
{
    struct bbs *b = mem_zeroed(sizeof(*b));
    b->role.ops = &bbs_ops;
    askers_init(&b->askers);
    notices_init(&b->notices);
    callbacks_init(&b->callbacks, &config->callbacks);
    b->board = board_new(config, &(struct board_hooks){
                                     .context = b,
                                     .job_row = bbs_job_row,
                                     .on_change = on_change,
                                     .on_revision = on_revision,
                                     .on_reset = on_reset,
                                     .on_notice = on_notice,
                                 });
    b->hub = hub_new(b->board);
    router_init(&b->router, b->board, b->hub, config->any_client);
    b->router.seal = config->seal;
    log_requests_init(&b->logs, b->board, &b->askers);
    b->router.logs = &b->logs;
    return &b->role;
}
