/* What the CRM is asked: GET /state and GET /plan by anybody. */
#include "crm/inside.h"

#include "common/model/record.h"
#include "crm/plan.h"

static char *shown(const char *borrowed)
{
    return (char *)(uintptr_t)(borrowed ? borrowed : "");
}

static void show_site(const struct crm *x, const struct centre_site *site, struct arena *a,
                      Crm__CrmState__Site *ret)
{
    const struct feed_client *f = &x->life.feed_client;
    const Board__SiteRecord *identity = crm_identity(x, a);
    ret->board_generation = shown(f->board_generation);
    ret->current = f->current;
    ret->revision = f->revision;
    ret->identity = shown(identity ? identity->identity : NULL);
    ret->follows = shown(identity ? identity->board_generation : NULL);
    ret->totals = (Board__EdgeResources *)(uintptr_t)site->totals;
    ret->cells = site->cells;
    ret->lost = shown(site->lost);
    ret->foreign_objects = site->foreign;
    ret->foreign = (char **)(uintptr_t)site->foreign_names;
    ret->n_foreign = site->foreign < EDGE_FOREIGN_TOLD_MAX ? site->foreign : EDGE_FOREIGN_TOLD_MAX;
}

static void show_centre(const struct crm *x, const struct centre_site *site, struct arena *a,
                        Crm__CrmState__Centre *ret)
{
    const struct centre *c = &x->centre;
    const Board__CloudletRecord *cloudlet = centre_cloudlet(c, a);
    const Board__CloudletInfoRecord *info = centre_info(c, a);
    bool ours = info && c->session && info->session == c->session;
    ret->url = shown(boards_url(&c->boards));
    ret->board_generation = shown(c->feed_client.board_generation);
    ret->current = c->feed_client.current;
    ret->revision = c->feed_client.revision;
    ret->session = c->session;
    ret->session_state = shown(ours ? info->state : NULL);
    ret->cloudlet_state = shown(cloudlet ? cloudlet->state : NULL);
    ret->clusters = centre_count(c, RECORD_CLUSTERINST);
    ret->instances = centre_count(c, RECORD_APPINST);
    ret->waits_for = shown(*x->site_why ? x->site_why : centre_waits_for(c, site, a));
    ret->heard_s = c->feed_client.was_current
                       ? (double)(x->life.now.mono_ns - c->feed_client.heard_ns) / SECOND_NS
                       : -1;
    int64_t silent_ns = x->follow.say_ns - x->life.now.mono_ns;
    ret->unread = x->follow.records.unreadable;
    ret->reports = reports_pending(&x->follow.reports);
    ret->silent_s = silent_ns > 0 ? (double)silent_ns / SECOND_NS : 0;
}

static void state(struct role *role, const struct request *q, struct effects *out)
{
    struct crm *x = (struct crm *)role;
    struct arena *a = out->arena;
    Crm__CrmState s = CRM__CRM_STATE__INIT;
    Crm__CrmState__Site site = CRM__CRM_STATE__SITE__INIT;
    Crm__CrmState__Centre centre = CRM__CRM_STATE__CENTRE__INIT;
    const struct centre_site says = crm_standing(x, a);
    const Board__LeaderLockRecord *holder = leader_holder(&x->life.leader, a);
    s.name = shown(x->life.name);
    s.cloudlet = shown(x->cloudlet);
    s.version = shown(x->version);
    s.leads = x->life.leader.leads;
    s.leader_url = shown(holder ? holder->url : NULL);
    s.term = x->life.leader.term;
    show_site(x, &says, a, &site);
    show_centre(x, &says, a, &centre);
    s.site = &site;
    s.centre = &centre;
    s.n_works = crm_tell_works(x, a, &s.works);
    question_reply_json(q, &s.base, out);
}

static void plan(struct role *role, const struct request *q, struct effects *out)
{
    Crm__Plan p;
    crm_tell_plan((const struct crm *)role, out->arena, &p);
    question_reply_json(q, &p.base, out);
}

/* ---- The routes ------------------------------------------------------------------------------ */

static const struct question_route routes[] = {
    {{"GET", "/state", 0}, ACTORS_ANYBODY, state},
    {{"GET", "/plan", 0}, ACTORS_ANYBODY, plan},
};

const struct path_table crm_questions = PATH_TABLE(routes);
