/* Services: what clients ask about plain apps. */
#include "bbs/board/errors.h"
#include "bbs/route/route.h"
#include "bbs/service/service.h"

/* The answer has the service as it stands, also when nothing had to be done. */
static void service_answer(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    Models__Error error;
    if (result->end == OP_DECIDED && !plan_error(result->plan, &error) && result->plan->record) {
        effects_reply_message(out, ask->request_id, result->plan->record);
    } else {
        ask_answer(context, result, out);
    }
}

void route_service(struct ask *ask, struct effects *out)
{
    valid_service(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        board_op(ask->router->board, &service_row, &ask->in, ask->arena, service_answer, ask, out);
    }
}
