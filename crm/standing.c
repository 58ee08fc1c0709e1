/* What the site says of itself. */
#include "common/model/keys.h"
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

/* The sums over the cells that are PRESENT. */
static Board__EdgeResources *totals(const struct crm *x, struct arena *a, uint32_t *ret_cells)
{
    const struct map *records = &x->life.feed_client.records;
    Board__EdgeResources *sum = arena_message(a, &board__edge_resources__descriptor);
    *ret_cells = 0;
    for (struct map_node *n = map_from(records, "cell/"); n && text_begins(map_key(n), "cell/");
         n = map_next(n)) {
        const Board__CellRecord *c = site_record(x, a, RECORD_CELL, map_key(n));
        if (c && c->state == BOARD__CELL_RECORD__STATE__PRESENT && c->presence &&
            c->presence->capacity) {
            sum->memory_mb += c->presence->capacity->memory_mb;
            sum->disk_mb += c->presence->capacity->disk_mb;
            sum->containers += c->presence->capacity->containers;
            (*ret_cells)++;
        }
    }
    return sum;
}

/* v2 of an upgrade opens its session before v1 has given the lead back, for that is how v1 learns
 * that it is here. A standby of the version that runs says nothing. */
static bool comes_after(const struct crm *x, struct arena *a)
{
    const Board__CloudletRecord *c = centre_cloudlet(&x->centre, a);
    const Board__CloudletInfoRecord *i = centre_info(&x->centre, a);
    return c && c->upgrading && strcmp(c->target_version, x->version) == 0 && i &&
           (strcmp(i->version, x->version) != 0 || i->session == x->centre.session);
}

struct upgrade_facts crm_upgrade_facts(const struct crm *x, struct arena *a)
{
    const struct centre *c = &x->centre;
    bool current = c->feed_client.current;
    struct upgrade_facts f = {.version = x->version, .leads = x->life.leader.leads};
    f.cloudlet = current ? centre_cloudlet(c, a) : NULL;
    f.info = current ? centre_info(c, a) : NULL;
    f.own_session = c->session && f.info && f.info->session == c->session;
    return f;
}

/* Slices are the centre's, and nobody else's. */
static size_t held(const struct crm *x)
{
    const struct map *records = &x->life.feed_client.records;
    size_t count = 0;
    for (struct map_node *n = map_from(records, "slice/"); n && text_begins(map_key(n), "slice/");
         n = map_next(n)) {
        count++;
    }
    return count;
}

struct centre_site crm_site(const struct crm *x, struct arena *a)
{
    assert(x->cloudlet && x->version);
    const struct feed_client *f = &x->life.feed_client;
    const Board__SiteRecord *identity = crm_identity(x, a);
    bool own = identity && strcmp(identity->cloudlet, x->cloudlet) == 0;
    struct centre_site site = {.leads = x->life.leader.leads};
    site.may_speak = x->life.stop_ns == NEVER_NS && (site.leads || comes_after(x, a));
    site.identity = own ? identity->identity : "";
    site.compared = f->current;
    site.totals = totals(x, a, &site.cells);
    const struct upgrade_facts facts = crm_upgrade_facts(x, a);
    site.failed = arena_strdup(a, upgrade_failed(&x->upgrade, &facts));
    site.holds = held(x);
    return site;
}
