/* What the site says of itself. */
#include "common/model/record.h"
#include "crm/inside.h"

#include <assert.h>
#include <string.h>

static const void *site_record(const struct crm *x, struct arena *a, enum record_type type,
                               const char *key)
{
    const struct followed *r = feed_client_get(&x->life.feed_client, key);
    ProtobufCMessage *m;
    return r && record_decode(a, type, blob_bytes(r->record), &m, NULL) == 0 ? m : NULL;
}

const Board__SiteRecord *crm_identity(const struct crm *x, struct arena *a)
{
    return site_record(x, a, RECORD_SITE, SITE_KEY);
}

bool crm_site_is_lost(const struct crm *x)
{
    return x->lost_ns && x->life.now.mono_ns >= x->lost_ns + SITE_LOST_NS;
}

/* v2 of an upgrade opens its session before v1 has given the lead back, for that is how v1 learns
 * that it is here. A standby of the version that runs says nothing. */
static bool comes_after(const struct crm *x, struct arena *a)
{
    const Board__CloudletRecord *c = centre_cloudlet(&x->centre, a);
    const Board__CloudletInfoRecord *i = centre_info(&x->centre, a);
    return c && c->upgrading && strcmp(c->target_version, x->version) == 0 && i &&
           (strcmp(i->version, x->version) != 0 || i->session == x->centre.call_session);
}

struct upgrade_facts crm_upgrade_facts(const struct crm *x, struct arena *a)
{
    const struct centre *c = &x->centre;
    bool current = c->feed_client.current;
    struct upgrade_facts f = {.version = x->version, .leads = x->life.leader.leads};
    f.cloudlet = current ? centre_cloudlet(c, a) : NULL;
    f.info = current ? centre_info(c, a) : NULL;
    f.own_session = c->session && f.info && f.info->session == c->session;
    f.former_session = c->session && f.info && f.info->former_session == c->session;
    return f;
}

struct centre_site crm_standing(const struct crm *x, struct arena *a)
{
    assert(x->cloudlet && x->version);
    const struct feed_client *f = &x->life.feed_client;
    const Board__SiteRecord *identity = crm_identity(x, a);
    bool own = identity && strcmp(identity->cloudlet, x->cloudlet) == 0;
    struct centre_site site = {.leads = x->life.leader.leads, .lost = "", .ails = ""};
    site.may_speak = x->life.stop_ns == NEVER_NS && (site.leads || comes_after(x, a));
    site.identity = own ? identity->identity : "";
    site.compared = f->current;
    if (f->current) { /* else the site's own bbs does not tell */
        site.totals = arena_message(a, &board__edge_resources__descriptor);
        site.cells = crm_board_totals(&x->follow.board, site.totals);
    }
    const struct upgrade_facts facts = crm_upgrade_facts(x, a);
    site.failed = arena_strdup(a, upgrade_failed(&x->upgrade, &facts));
    site.takes_back = upgrade_takes_back(&x->upgrade, &facts);
    site.holds = x->follow.board.slices.count; /* slices are the centre's, and nobody else's */
    site.told = x->follow.compared;
    site.foreign = x->follow.foreign;
    site.foreign_names = x->follow.foreign_names;
    if (x->follow.records.unreadable) {
        site.ails = arena_printf(a,
                                 "%zu records of the centre are of a later version than its CRM: "
                                 "what no record is of stays",
                                 x->follow.records.unreadable);
    }
    if (crm_site_is_lost(x)) {
        site.lost = "no bbs of the site answers its CRM: what runs there goes on, and nothing can "
                    "be changed until one does";
    }
    return site;
}
