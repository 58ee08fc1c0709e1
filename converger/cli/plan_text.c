#include "converger/cli/plan_text.h"

#include "common/cli/table.h"
#include "common/codec/json.h"

#include <string.h>

/* Of a limiter, in a table for people. */
enum { CELLS_SHOWN_MAX = 8 };
/* Of the repairs of a row: single ones, or runs of indices. */
enum { PIECES_SHOWN_MAX = 8 };

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
    if (!r->subject[0] && (strcmp(r->move, "hold") == 0 || strcmp(r->move, "release") == 0)) {
        return strcmp(r->move, "hold") == 0 ? cells(a, r) : "the limiter";
    }
    if (r->task_guid[0]) {
        return arena_printf(a, "task %s", r->task_guid);
    }
    if (r->cell_id[0]) {
        return arena_printf(a, "cell %s", r->cell_id);
    }
    if (r->lock[0]) {
        return arena_printf(a, "lock %s", r->lock);
    }
    if (r->service[0] || r->subject[0]) {
        return r->service[0] ? arena_printf(a, "service %s", r->service) : r->subject;
    }
    return r->domain[0] ? arena_printf(a, "domain %s", r->domain)
                        : arena_printf(a, "%s/%d", r->process_guid, (int)r->index);
}

/* "web/3", "web/3-9". */
static const char *piece(struct arena *a, const Converge__Repair *first,
                         const Converge__Repair *last)
{
    return first == last ? what(a, first)
                         : arena_printf(a, "%s-%d", what(a, first), (int)last->index);
}

/* The index before the other one, of the same process and repair. */
static bool follows(const Converge__Repair *one, const Converge__Repair *next)
{
    return one->process_guid[0] && !one->cell_id[0] && !one->domain[0] &&
           strcmp(one->process_guid, next->process_guid) == 0 && next->index == one->index + 1;
}

/* The repairs of a pass and move that were not reported yet, in one row. */
static void add_group(struct arena *a, const Converge__Plan *p, bool *printed, size_t first,
                      struct table *t)
{
    const Converge__Repair *head = p->repairs[first], *start = NULL, *last = NULL;
    const char *text = "";
    size_t count = 0, pieces = 0, shown = 0;
    for (size_t i = first; i < p->n_repairs; i++) {
        const Converge__Repair *r = p->repairs[i];
        if (printed[i] || strcmp(r->pass, head->pass) != 0 || strcmp(r->move, head->move) != 0) {
            continue;
        }
        printed[i] = true;
        count++;
        bool same = last && shown + 1 == count && follows(last, r);
        if (!same && pieces == PIECES_SHOWN_MAX) {
            continue;
        }
        if (!same) {
            text = last ? arena_printf(a, "%s%s, ", text, piece(a, start, last)) : text;
            start = r;
            pieces++;
        }
        last = r;
        shown++;
    }
    text = arena_printf(a, "%s%s", text, piece(a, start, last));
    if (shown < count) {
        text = arena_printf(a, "%s and %zu more", text, count - shown);
    }
    table_add(t, (const char *[]){head->pass, head->move, arena_printf(a, "%zu", count), text});
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
    table_init(&t, a, 4, (const char *[]){"PASS", "MOVE", "COUNT", "WHAT"});
    bool *printed = ARENA_ARRAY(a, p->n_repairs, bool);
    for (size_t i = 0; i < p->n_repairs; i++) {
        if (!printed[i]) {
            add_group(a, p, printed, i, &t);
        }
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
