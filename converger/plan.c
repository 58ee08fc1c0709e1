/* From the copy of the board to what the passes look at, and what a full pass would do. */
#include "common/model/record.h"
#include "converger/inside.h"

#include <string.h>

/* A plan that is shown ends here. */
enum { PLAN_SHOWN_MAX = 10000 };

static const ProtobufCMessage *decoded(const struct converger *x, struct arena *a, const char *key)
{
    ProtobufCMessage *m;
    const struct followed *f = follower_get(&x->follower, key);
    return f && record_decode(a, key_type(key), blob_bytes(f->record), &m, NULL) == 0 ? m : NULL;
}

/* Records of a newer version are left alone: they are not even missing. */
static bool read_instances(const struct converger *x, struct arena *a, const char *prefix,
                           struct process_view *v)
{
    size_t size = strlen(prefix), count = 0, max = 0;
    bool readable = true;
    struct map_node *first = map_from(&x->follower.records, prefix);
    for (struct map_node *n = first; n && strncmp(map_key(n), prefix, size) == 0; n = map_next(n)) {
        max++;
    }
    struct instance_view *list = ARENA_ARRAY(a, max, struct instance_view);
    for (struct map_node *n = first; n && max > 0; n = map_next(n), max--) {
        const Models__ActualLRP *r = (const Models__ActualLRP *)decoded(x, a, map_key(n));
        if (!r || !r->actual_lrp_key) {
            readable = false;
        } else if (r->presence == MODELS__ACTUAL_LRP__PRESENCE__ORDINARY) {
            list[count].record = r;
            list[count++].fresh = domains_fresh(&x->domains, a, r->actual_lrp_key->domain, x->now);
        }
    }
    v->instances = list;
    v->count = count;
    return readable;
}

bool converger_knows(const struct converger *x, const char *process_guid)
{
    struct arena a;
    arena_init(&a);
    const char *prefix = key_actual_process(&a, process_guid);
    struct map_node *n = map_from(&x->follower.records, prefix);
    bool known = (n && strncmp(map_key(n), prefix, strlen(prefix)) == 0) ||
                 follower_get(&x->follower, key_desired(&a, process_guid));
    arena_done(&a);
    return known;
}

void converger_view(const struct converger *x, struct arena *a, const char *process_guid,
                    struct process_view *ret)
{
    const char *key = key_desired(a, process_guid);
    *ret = (struct process_view){
        .process_guid = process_guid,
        .desired = (const Models__DesiredLRP *)decoded(x, a, key),
        .job = follower_get(&x->follower, key_job(a, process_guid)) != NULL,
        .wall_ns = x->now.wall_ns,
        .unplaced_after_ns = x->unplaced_after_ns,
        .policy = x->policy,
    };
    bool desired = follower_get(&x->follower, key) != NULL;
    bool readable = read_instances(x, a, key_actual_process(a, process_guid), ret);
    if (!readable || (desired && !ret->desired)) {
        ret->desired = NULL;
        ret->count = 0;
    }
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

static void show_process(const struct converger *x, const char *guid, struct shown *s)
{
    struct arena a;
    struct process_view v;
    struct repairs repairs;
    arena_init(&a);
    repairs_init(&repairs, &a);
    converger_view(x, &a, guid, &v);
    passes_run(&v, true, &repairs);
    s->plan->more = s->plan->more || repairs.more;
    for (size_t i = 0; i < repairs.count; i++) {
        Converge__Repair *r = show(s, repairs.list[i].pass, repairs.list[i].move);
        if (r) {
            r->process_guid = arena_strdup(s->arena, guid);
            r->index = repairs.list[i].index;
        }
    }
    arena_done(&a);
}

void converger_plan(const struct converger *x, struct arena *a, Converge__Plan *ret)
{
    converge__plan__init(ret);
    struct shown s = {.plan = ret, .arena = a};
    ret->leads = x->leader.leads;
    ret->current = x->follower.current;
    ret->repairs = ARENA_ARRAY(a, PLAN_SHOWN_MAX, Converge__Repair *);
    domains_each_expired(&x->domains, x->now, show_expired, &s);
    MAP_EACH(&x->processes.by_guid, n)
    {
        if (!ret->more) {
            show_process(x, map_key(n), &s);
        }
    }
}
