#include "crm/cli/plan_text.h"

#include "common/cli/table.h"
#include "common/codec/json.h"
#include "common/contract/moment.h"
#include "crm.pb-c.h"

static const char *now_text(struct arena *a, const Crm__Item *i)
{
    if (i->failed) {
        return "failed";
    }
    if (i->under_way && i->gives_up_s < 0) {
        return "under way";
    }
    if (i->under_way) {
        return arena_printf(a, "under way, gives up in %s",
                            age_text(a, (int64_t)(i->gives_up_s * SECOND_NS)));
    }
    return *i->waits_for ? arena_printf(a, "waits for %s", i->waits_for)
           : *i->work    ? "begins"
                         : "is said";
}

static void add_item(struct arena *a, const Crm__Item *i, struct table *t)
{
    table_add(t, (const char *[]){i->kind, *i->name ? i->name : i->uid, *i->state ? i->state : NULL,
                                  *i->says ? i->says : NULL, *i->work ? i->work : NULL,
                                  now_text(a, i)});
    if (i->failed) {
        table_note(t, i->error);
    } else if (*i->error) {
        table_note(t, arena_printf(a, "tried %s: %s", times_text(a, i->attempts), i->error));
    }
}

static void add_foreign(struct arena *a, const Crm__Plan *p, struct buf *out)
{
    if (p->foreign_objects == 0) {
        return;
    }
    buf_printf(out, "foreign objects: %llu; they stay until the centre's cloudlet is confirmed\n",
               (unsigned long long)p->foreign_objects);
    for (size_t i = 0; i < p->n_foreign; i++) {
        buf_append_string(out, "  ");
        printable_append(out, p->foreign[i]);
        buf_append_string(out, "\n");
    }
    if (p->foreign_objects > p->n_foreign) {
        buf_append_string(out,
                          arena_printf(a, "  and %llu more\n",
                                       (unsigned long long)(p->foreign_objects - p->n_foreign)));
    }
}

static void add_plan(struct arena *a, const Crm__Plan *p, struct buf *out)
{
    struct table t;
    table_init(&t, a, 6, (const char *[]){"KIND", "NAME", "STATE", "SAYS", "WORK", "NOW"});
    for (size_t i = 0; i < p->n_items; i++) {
        add_item(a, p->items[i], &t);
    }
    if (p->n_items > 0) {
        table_print(&t, out);
    } else {
        buf_printf(out, "nothing is to be done: %llu objects are as the centre says\n",
                   (unsigned long long)p->rest);
    }
    if (p->more) {
        buf_append_string(out, "there is more than is shown\n");
    }
    if (p->unread) {
        buf_printf(out,
                   "records of the centre that this version cannot read: %llu; nothing is removed "
                   "for absence\n",
                   (unsigned long long)p->unread);
    }
    add_foreign(a, p, out);
    if (*p->waits_for) {
        buf_append_string(out, "nothing is done now; it waits for: ");
        printable_append(out, p->waits_for);
        buf_append_string(out, "\n");
    }
}

int crm_plan_text(struct arena *a, struct bytes body, bool json, struct buf *out, struct err *err)
{
    ProtobufCMessage *m;
    int r = json_decode(a, &crm__plan__descriptor, body, 0, &m, err);
    if (r == 0 && json) {
        r = json_encode(m, 0, out, err);
        buf_append_string(out, "\n");
    } else if (r == 0) {
        add_plan(a, (const Crm__Plan *)m, out);
    }
    return r;
}
