#include "converger/cli/plan_text.h"

#include "common/cli/table.h"
#include "common/codec/json.h"

int converger_plan_text(struct arena *a, const Converge__Plan *plan, bool json, struct buf *out,
                        struct err *err)
{
    static const Converge__Plan empty = CONVERGE__PLAN__INIT;
    const Converge__Plan *p = plan ? plan : &empty;
    if (json) {
        int r = json_encode(&p->base, 0, out, err);
        buf_append_string(out, "\n");
        return r;
    }
    struct table t;
    table_init(&t, a, 3, (const char *[]){"PASS", "MOVE", "WHAT"});
    for (size_t i = 0; i < p->n_repairs; i++) {
        const Converge__Repair *r = p->repairs[i];
        const char *what = r->domain[0] ? arena_printf(a, "domain %s", r->domain)
                                        : arena_printf(a, "%s/%d", r->process_guid, (int)r->index);
        table_add(&t, (const char *[]){r->pass, r->move, what});
    }
    if (p->n_repairs > 0) {
        table_print(&t, out);
    } else {
        buf_append_string(out, "nothing to repair\n");
    }
    if (p->more) {
        buf_append_string(out, "there is more than is shown\n");
    }
    if (!p->current) {
        buf_append_string(out, "the board is not known yet: the feed has not caught up\n");
    } else if (!p->leads) {
        buf_append_string(out, "this converger stands by: the leader repairs\n");
    }
    return 0;
}

int converger_plan_json_text(struct arena *a, struct bytes body, bool json, struct buf *out,
                             struct err *err)
{
    ProtobufCMessage *m;
    int r = json_decode(a, &converge__plan__descriptor, body, 0, &m, err);
    return r < 0 ? r : converger_plan_text(a, (const Converge__Plan *)m, json, out, err);
}
