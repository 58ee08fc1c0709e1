/* plan: what a running CRM is asked, beside its state. */
#include "common/cli/question_io.h"
#include "crm/cli/commands_io.h"
#include "crm/cli/plan_text.h"

int crm_plan_run(const struct invocation *call, struct err *err)
{
    struct question q;
    struct bytes body;
    int r = question_open(call, &q, err);
    r = r < 0 ? r : cli_client_get(q.client, call->arena, "/plan", &body, err);
    r = r < 0 ? r : crm_plan_text(call->arena, body, q.json, &q.out, err);
    return question_close(&q, r, err);
}
