/* The plan that is shown. */
#include "converger/keeper.h"

/* It ends here. */
enum { PLAN_SHOWN_MAX = 10000 };

static char *copy(const struct plan_shown *s, const char *text)
{
    return arena_strdup(s->arena, text);
}

static void name_subject(const struct plan_shown *s, Converge__Repair *r, const Board__Move *m)
{
    r->cell_id = copy(s, m->cell_id);
    r->task_guid = copy(s, m->task_guid);
    r->domain = copy(s, m->domain);
    r->lock = copy(s, m->lock ? m->lock->key : "");
    r->process_guid = copy(s, m->actual_lrp_key ? m->actual_lrp_key->process_guid : "");
    r->index = m->actual_lrp_key ? m->actual_lrp_key->index : 0;
    r->cells = ARENA_ARRAY(s->arena, m->n_cells, char *);
    for (size_t i = 0; i < m->n_cells; i++) {
        r->cells[r->n_cells++] = copy(s, m->cells[i]->cell_id);
    }
}

void plan_show(struct plan_shown *s, const char *pass, const Board__Move *move)
{
    Converge__Plan *p = s->plan;
    if (p->n_repairs == PLAN_SHOWN_MAX) {
        p->more = true;
        return;
    }
    if (!p->repairs) {
        p->repairs = ARENA_ARRAY(s->arena, PLAN_SHOWN_MAX, Converge__Repair *);
    }
    Converge__Repair *r = ARENA_NEW(s->arena, Converge__Repair);
    converge__repair__init(r);
    r->pass = copy(s, pass);
    r->move = copy(s, move->move);
    name_subject(s, r, move);
    p->repairs[p->n_repairs++] = r;
}
