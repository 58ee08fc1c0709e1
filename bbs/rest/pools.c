/* Node pools of a system. */
#include "bbs/rest/show.h"
#include "common/model/component_path.h"

void rest_pools(struct rest *q, struct view *v, const Board__SystemRecord *system,
                struct effects *out)
{
    const struct rest_range range = {
        .type = RECORD_POOL, .key = key_range_of(view_arena(v), RECORD_POOL, system->uid)};
    rest_answer_list(v, &range, show_pool, q->ask->request_id, out);
}

void rest_one_pool(struct rest *q, struct view *v, const Board__SystemRecord *system,
                   struct effects *out)
{
    struct arena *a = view_arena(v);
    const char *fault = component_subname_fault(a, q->name, true);
    if (fault) {
        rest_refuse(out, q->ask->request_id, 400, "INVALID_PATH", "%s", fault);
        return;
    }
    q->missing = "INVALID_PATH";
    rest_answer_one(v, key_pool(a, system->uid, q->name), show_pool, q, "node pool", out);
}
