/* From the copy of the board to what the passes look at, and what a full pass would do. */
#include "converger/inside.h"

#include <string.h>

/* A plan that is shown ends here. */
enum { PLAN_SHOWN_MAX = 10000 };

void converger_view(struct converger *x, struct arena *a, const struct process *p, int32_t first,
                    int32_t last, struct process_view *ret)
{
    *ret = (struct process_view){
        .now = x->life.now,
        .remake_ns = p->remake_ns,
        .unplaced_after_ns = x->unplaced_after_ns,
        .policy = x->policy,
    };
    facts_view(&x->facts, &x->domains, x->life.now, a, p, first, last, ret);
}

/* ---- The plan that is shown ------------------------------------------------------------------ */

struct shown {
    Converge__Plan *plan;
    struct arena *arena;
};

static Converge__Repair *show(struct shown *s, const char *pass, const char *move)
{
    if (s->plan->n_repairs == PLAN_SHOWN_MAX) {
        s->plan->more = true;
        return NULL;
    }
    Converge__Repair *r = ARENA_NEW(s->arena, Converge__Repair);
    converge__repair__init(r);
    r->pass = arena_strdup(s->arena, pass);
    r->move = arena_strdup(s->arena, move);
    s->plan->repairs[s->plan->n_repairs++] = r;
    return r;
}

static void show_expired(void *context, const char *domain)
{
    struct shown *s = context;
    Converge__Repair *r = show(s, "expired", "expire");
    if (r) {
        r->domain = arena_strdup(s->arena, domain);
    }
}

static void show_over(void *context, const char *lock, int64_t revision)
{
    (void)revision;
    struct shown *s = context;
    Converge__Repair *r = show(s, "over", "expire");
    if (r) {
        r->lock = arena_strdup(s->arena, lock);
    }
}

static void show_judgement(const struct judgement *g, struct shown *s)
{
    Converge__Repair *r = show(s, "judge", g->move);
    if (!r) {
        return;
    }
    r->cell_id = arena_strdup(s->arena, g->cell_id);
    r->cells = ARENA_ARRAY(s->arena, g->cell_count, char *);
    for (size_t i = 0; i < g->cell_count; i++) {
        r->cells[r->n_cells++] = g->cells[i]->cell_id;
    }
}

static void show_process(struct converger *x, const struct process *p, struct shown *s)
{
    struct arena a;
    struct process_view v;
    struct repairs repairs;
    arena_init(&a);
    repairs_init(&repairs, &a);
    converger_view(x, &a, p, 0, INT32_MAX, &v);
    passes_run(&v, true, &repairs);
    s->plan->more = s->plan->more || repairs.more;
    for (size_t i = 0; i < repairs.count; i++) {
        Converge__Repair *r = show(s, repairs.list[i].pass, repairs.list[i].move);
        if (r) {
            r->process_guid = arena_strdup(s->arena, p->guid);
            r->index = repairs.list[i].index;
        }
    }
    arena_done(&a);
}

static void show_task(struct converger *x, const struct task *task, struct shown *s)
{
    struct task_view view = tasks_view(task);
    struct task_repair repair;
    task_passes_run(&view, &x->limits, x->life.now, &repair);
    Converge__Repair *r = repair.pass ? show(s, repair.pass, repair.move) : NULL;
    if (r) {
        r->task_guid = arena_strdup(s->arena, task->guid);
    }
}

void converger_plan(struct converger *x, struct arena *a, Converge__Plan *ret)
{
    converge__plan__init(ret);
    facts_begin_round(&x->facts);
    struct shown s = {.plan = ret, .arena = a};
    ret->leads = x->life.leader.leads;
    ret->current = x->life.follower.current;
    ret->repairs = ARENA_ARRAY(a, PLAN_SHOWN_MAX, Converge__Repair *);
    struct judgements judged;
    judge_decide(&x->judge, x->life.now, &judged, a);
    for (size_t i = 0; i < judged.count; i++) {
        show_judgement(&judged.list[i], &s);
    }
    domains_each_expired(&x->domains, x->life.now, show_expired, &s);
    locks_each_over(&x->locks, x->life.now, show_over, &s);
    MAP_EACH(&x->processes.by_guid, n)
    {
        if (!ret->more) {
            show_process(x, map_value(n), &s);
        }
    }
    MAP_EACH(&x->tasks.by_guid, n)
    {
        if (!ret->more) {
            show_task(x, map_value(n), &s);
        }
    }
}
