/* Logs of services and jobs: who wants them asks the cells, as bbs logs does. */
#include "bbs/rest/answer.h"

static void refuse_logs(struct rest *q, struct effects *out)
{
    rest_refuse(out, q->ask->request_id, 501, "NOT_IMPLEMENTED",
                "a bbs does not pass logs on, the cells have them: bbs logs %s", q->system);
}

void rest_service_logs(struct rest *q, struct view *v, const Board__SystemRecord *system,
                       struct effects *out)
{
    (void)v;
    (void)system;
    refuse_logs(q, out);
}

void rest_job_logs(struct rest *q, struct view *v, const Board__SystemRecord *system,
                   struct effects *out)
{
    (void)v;
    (void)system;
    refuse_logs(q, out);
}
