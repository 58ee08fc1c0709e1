/* Deploys of a system, and teardowns. */
#include "bbs/rest/show.h"
#include "bbs/system/system.h"
#include "common/model/component_path.h"

#include <string.h>

void rest_deploys(struct rest *q, struct view *v, const Board__SystemRecord *system,
                  struct effects *out)
{
    rest_answer_newest(q, v, RECORD_DEPLOY, system->uid, show_deploy, out);
}

void rest_one_deploy(struct rest *q, struct view *v, const Board__SystemRecord *system,
                     struct effects *out)
{
    q->missing = "INVALID_DEPLOY_ID";
    rest_answer_one(v, key_deploy(view_arena(v), system->uid, q->name), show_deploy, q, "deploy",
                    out);
}

void rest_deploy(struct rest *q, struct effects *out)
{
    const Board__RestDeployRequest *body = q->body;
    struct arena *a = q->ask->arena;
    Board__DeployRequest *r = arena_message(a, &board__deploy_request__descriptor);
    const char *fault = *body->path ? component_path_fault(a, body->path) : NULL;
    if (fault) {
        rest_refuse_now(q, out, 400, "INVALID_PATH", fault);
        return;
    }
    r->system = arena_strdup(a, q->system);
    r->id = *body->id ? body->id : rest_new_id(q);
    r->version = body->version;
    r->path = body->path;
    r->build = body->build_id;
    r->definition = (ProtobufCBinaryData){strlen(body->definition), (uint8_t *)body->definition};
    r->undo = body->undo;
    r->rollback_on_failure = body->rollback_on_failure;
    q->status = 201;
    q->show = show_deploy;
    q->missing = "INVALID_DEPLOY_ID";
    valid_deploy(&q->ask->faults, r);
    rest_op(q, &deploy_row, &r->base, out);
}

static void change_deploy(struct rest *q, const struct op_row *row, struct effects *out)
{
    struct arena *a = q->ask->arena;
    Board__DeployChangeRequest *r = arena_message(a, &board__deploy_change_request__descriptor);
    r->system = arena_strdup(a, q->system);
    r->id = arena_strdup(a, q->name);
    q->show = show_deploy;
    q->missing = "INVALID_DEPLOY_ID";
    valid_deploy_change(&q->ask->faults, r);
    rest_op(q, row, &r->base, out);
}

void rest_pause_deploy(struct rest *q, struct effects *out)
{
    change_deploy(q, &pause_deploy_row, out);
}

void rest_resume_deploy(struct rest *q, struct effects *out)
{
    change_deploy(q, &resume_deploy_row, out);
}

void rest_abort_deploy(struct rest *q, struct effects *out)
{
    change_deploy(q, &abort_deploy_row, out);
}

/* ---- Teardowns ------------------------------------------------------------------------------- */

void rest_teardowns(struct rest *q, struct view *v, const Board__SystemRecord *system,
                    struct effects *out)
{
    rest_answer_newest(q, v, RECORD_TEARDOWN, system->uid, show_teardown, out);
}

void rest_one_teardown(struct rest *q, struct view *v, const Board__SystemRecord *system,
                       struct effects *out)
{
    q->missing = "INVALID_TEARDOWN_ID";
    rest_answer_one(v, key_teardown(view_arena(v), system->uid, q->name), show_teardown, q,
                    "teardown", out);
}

void rest_teardown(struct rest *q, struct effects *out)
{
    const Board__RestTeardownRequest *body = q->body;
    struct arena *a = q->ask->arena;
    Board__TeardownRequest *r = arena_message(a, &board__teardown_request__descriptor);
    r->system = arena_strdup(a, q->system);
    r->id = *body->id ? body->id : rest_new_id(q);
    q->status = 201;
    q->show = show_teardown;
    q->missing = "INVALID_TEARDOWN_ID";
    valid_teardown(&q->ask->faults, r);
    rest_op(q, &teardown_row, &r->base, out);
}
