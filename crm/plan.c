#include "crm/plan.h"

#include <assert.h>
#include <string.h>

/* Objects that have no record are bounded by nobody. */
enum { PLAN_TOLD_MAX = 10000 };

static char *told(struct arena *a, const char *text)
{
    return arena_strdup(a, text ? text : "");
}

static void tell_work(const struct crm *x, struct arena *a, const char *uid, Crm__Item *ret)
{
    struct crm_underway u;
    if (!crm_works_show(&x->follow.works, uid, &u)) {
        return;
    }
    bool lasts = u.work->gives_up_ns == INT64_MAX;
    int64_t left_ns = u.work->gives_up_ns - x->life.now.mono_ns;
    ret->under_way = !u.failed;
    ret->failed = u.failed != NULL;
    ret->gives_up_s = lasts ? -1 : left_ns > 0 ? (double)left_ns / SECOND_NS : 0;
    ret->attempts = u.work->attempts;
    ret->error = told(a, u.failed ? u.failed : u.work->error);
}

static Crm__Item *item_of(const struct crm *x, struct arena *a, const struct crm_planned *p)
{
    Crm__Item *item = arena_message(a, &crm__item__descriptor);
    item->kind = told(a, crm_kind_name(p->kind));
    item->name = told(a, p->name);
    item->uid = told(a, p->uid);
    item->state = told(a, p->record ? p->record->state_name : "");
    item->says = told(a, crm_say_name(p->action.say));
    item->work = told(a, crm_task_name(p->action.work));
    item->waits_for = told(a, p->waits_for);
    tell_work(x, a, p->uid, item);
    item->says = item->failed ? told(a, p->record ? crm_say_name(SAY_FAIL) : "") : item->says;
    return item;
}

/* Why nothing is done now. */
static const char *idle_for(const struct crm *x, struct arena *a)
{
    if (!x->life.leader.leads) {
        return "another CRM leads at this site: this one stands by";
    }
    if (!x->life.feed_client.current) {
        return "the site's bbs: its feed has not caught up";
    }
    if (!x->follow.follows) {
        const struct centre_site site = crm_standing(x, a);
        const char *why = *x->site_why ? x->site_why : centre_waits_for(&x->centre, &site, a);
        return *why ? why : "the centre's answer";
    }
    return "";
}

void crm_tell_plan(const struct crm *x, struct arena *a, Crm__Plan *ret)
{
    struct crm_plan plan;
    follow_plan(&x->follow, a, &plan);
    crm__plan__init(ret);
    ret->leads = x->life.leader.leads;
    ret->waits_for = told(a, idle_for(x, a));
    ret->items = ARENA_ARRAY(a, plan.count, Crm__Item *);
    for (size_t i = 0; i < plan.count; i++) {
        const struct crm_planned *p = &plan.list[i];
        bool rests = p->action.work == WORK_NONE && p->action.say == SAY_REPORT;
        ret->rest += rests;
        ret->more = ret->more || (!rests && ret->n_items == PLAN_TOLD_MAX);
        if (!rests && ret->n_items < PLAN_TOLD_MAX) {
            ret->items[ret->n_items++] = item_of(x, a, p);
        }
    }
    ret->unread = x->follow.records.unreadable;
    ret->foreign_objects = plan.foreign;
    ret->foreign = ARENA_ARRAY(a, EDGE_FOREIGN_TOLD_MAX, char *);
    for (; ret->n_foreign < EDGE_FOREIGN_TOLD_MAX && ret->n_foreign < plan.foreign;
         ret->n_foreign++) {
        ret->foreign[ret->n_foreign] = told(a, plan.foreign_names[ret->n_foreign]);
    }
}

size_t crm_tell_works(const struct crm *x, struct arena *a, Crm__Item ***ret_list)
{
    const struct map *works = &x->follow.works.by_uid;
    Crm__Item **list = ARENA_ARRAY(a, works->count, Crm__Item *);
    size_t count = 0;
    MAP_EACH(works, n)
    {
        struct crm_underway u;
        bool is = crm_works_show(&x->follow.works, map_key(n), &u);
        assert(is);
        Crm__Item *item = arena_message(a, &crm__item__descriptor);
        item->kind = told(a, crm_kind_name(u.work->kind));
        item->name = told(a, u.work->name);
        item->uid = told(a, map_key(n));
        item->work = told(a, crm_task_name(u.work->task));
        tell_work(x, a, map_key(n), item);
        list[count++] = item;
    }
    *ret_list = list;
    return count;
}
