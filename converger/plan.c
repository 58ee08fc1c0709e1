/* The plan that is shown. */
#include "common/model/moves.h"
#include "converger/keeper.h"

/* It ends here. */
enum { PLAN_SHOWN_MAX = 10000 };

static char *copy(const struct plan_shown *s, const char *text)
{
    return arena_strdup(s->arena, text);
}

static void name_subject(const struct plan_shown *s, Converge__Repair *r, const Board__Move *m)
{
    struct move_place place;
    enum record_type kind = move_kind(m);
    const char *name = move_name(s->arena, m);
    r->cell_id = copy(s, kind == RECORD_CELL ? name : "");
    r->task_guid = copy(s, kind == RECORD_TASK ? name : "");
    r->domain = copy(s, kind == RECORD_DOMAIN ? name : "");
    r->lock = copy(s, kind == RECORD_LOCK ? name : "");
    r->service = kind == RECORD_SERVICE
                     ? arena_printf(s->arena, "%s%s", name, move_part(s->arena, m))
                     : copy(s, "");
    bool placed = move_place(s->arena, m, &place);
    r->process_guid = copy(s, placed ? place.key.process_guid : "");
    r->index = placed ? place.key.index : 0;
    bool other = !placed && !*r->cell_id && !*r->task_guid && !*r->domain && !*r->lock &&
                 !*r->service && kind != RECORD_UNKNOWN && kind != RECORD_LIMITER;
    const char *part = other ? move_part(s->arena, m) : "";
    bool of_site = m->body_case == BOARD__MOVE__BODY_EDGE; /* its name has any number of parts */
    r->subject = of_site ? arena_printf(s->arena, "%s %s", record_type_name(kind),
                                        key_edge_name(s->arena, move_key(s->arena, m)))
                 : other ? arena_printf(s->arena, "%s %s%s%s", record_type_name(kind), name,
                                        *part && *part != '/' ? "/" : "", part)
                         : copy(s, "");
    const Board__LimiterMove *limiter = move_limiter(m);
    r->cells = ARENA_ARRAY(s->arena, limiter->n_cells, char *);
    for (size_t i = 0; i < limiter->n_cells; i++) {
        r->cells[r->n_cells++] = copy(s, limiter->cells[i]->cell_id);
    }
}

/* NULL = there is no room for it. */
static Converge__Repair *next_repair(struct plan_shown *s, const char *pass, const char *move)
{
    Converge__Plan *p = s->plan;
    if (p->n_repairs == PLAN_SHOWN_MAX) {
        p->more = true;
        return NULL;
    }
    if (!p->repairs) {
        p->repairs = ARENA_ARRAY(s->arena, PLAN_SHOWN_MAX, Converge__Repair *);
    }
    Converge__Repair *r = arena_message(s->arena, &converge__repair__descriptor);
    r->pass = copy(s, pass);
    r->move = copy(s, move);
    p->repairs[p->n_repairs++] = r;
    return r;
}

void plan_show(struct plan_shown *s, const char *pass, const Board__Move *move)
{
    Converge__Repair *r = next_repair(s, pass, move->move);
    if (r) {
        name_subject(s, r, move);
    }
}

void plan_tell(struct plan_shown *s, const char *pass, const char *subject)
{
    Converge__Repair *r = next_repair(s, pass, "none");
    if (r) {
        r->subject = copy(s, subject);
    }
}
