#include "converger/cli/plan_text.h"

#include "common/cli/table.h"
#include "common/codec/json.h"

#include <string.h>

/* Of a brake, in a table for people. */
enum { CELLS_SHOWN_MAX = 8 };

static const char *cells(struct arena *a, const Converge__Repair *r)
{
    const char *text = r->n_cells > 0 ? "cells" : "no cells";
    for (size_t i = 0; i < r->n_cells; i++) {
        text = arena_printf(a, "%s %s", text, r->cells[i]);
        if (i + 1 == CELLS_SHOWN_MAX && r->n_cells > i + 1) {
            return arena_printf(a, "%s and %zu more", text, r->n_cells - i - 1);
        }
    }
    return text;
}

/* What a move is about. */
static const char *what(struct arena *a, const Converge__Repair *r)
{
    if (strcmp(r->move, "brake") == 0 || strcmp(r->move, "release") == 0) {
        return strcmp(r->move, "brake") == 0 ? cells(a, r) : "the brake";
    }
    if (r->cell_id[0]) {
        return arena_printf(a, "cell %s", r->cell_id);
    }
    return r->domain[0] ? arena_printf(a, "domain %s", r->domain)
                        : arena_printf(a, "%s/%d", r->process_guid, (int)r->index);
}

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
        table_add(&t, (const char *[]){r->pass, r->move, what(a, r)});
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
