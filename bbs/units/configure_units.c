/* A unit service changes: configure and upgrade. */
#include "bbs/units/facts.h"
#include "bbs/units/unit_charm.h"
#include "bbs/units/unit_jobs.h"
#include "bbs/units/units.h"
#include "common/base/message.h"
#include "common/charmfile/endpoints.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit_service.h"
#include "common/model/unit_settings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What a service is of, as both read it. */
struct service_now {
    const Board__UnitServiceRecord *service; /* NULL = there is none */
    const Board__UnitConfigRecord *config;   /* NULL = nothing is set */
    const Board__Charm *charm;               /* that it has; NULL = it is missing */
};

static void service_now_gather(struct view *v, const char *name, struct service_now *s)
{
    struct arena *a = view_arena(v);
    s->service = view_message(v, key_unit_service(a, name));
    s->config = view_message(v, key_unit_config(a, name));
    if (s->service) {
        const Board__CharmRecord *r = view_message(v, key_charm(a, name, s->service->charm));
        s->charm = r ? r->charm : NULL;
    }
}

/* ---- Configure ------------------------------------------------------------------------------- */

static const Board__ConfigureUnitsRequest *asked_configure(const struct op_input *in)
{
    return (const Board__ConfigureUnitsRequest *)in->request;
}

static const char *configure_units_target(struct arena *a, const struct op_input *in)
{
    return key_unit_service(a, asked_configure(in)->service);
}

void valid_configure_units(struct validation *v, const Board__ConfigureUnitsRequest *request)
{
    SCOPED_ARENA(a);
    if (!unit_service_name_is_valid(request->service)) {
        say(v, "service: " UNIT_SERVICE_NAME_RULE);
    }
    const char *fault = unit_settings_list_fault(&a, request->settings, request->n_settings);
    if (fault) {
        say(v, arena_printf(&a, "settings: %s", fault));
    }
    if (request->n_unset > CHARM_VALUES_MAX) {
        say(v, arena_printf(&a, "unset: %zu keys; there can be %d at most", request->n_unset,
                            CHARM_VALUES_MAX));
        return;
    }
    for (size_t i = 0; i < request->n_unset; i++) {
        if (unit_setting(request->settings, request->n_settings, request->unset[i])) {
            say(v, arena_printf(&a, "unset: %s is set by the same request", request->unset[i]));
        }
    }
}

static void configure_units_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    service_now_gather(v, asked_configure(in)->service, snapshot);
}

static int setting_order(const void *x, const void *y)
{
    return strcmp((*(Board__UnitSetting *const *)x)->key, (*(Board__UnitSetting *const *)y)->key);
}

static bool is_unset(const Board__ConfigureUnitsRequest *r, const char *key)
{
    for (size_t i = 0; i < r->n_unset; i++) {
        if (strcmp(r->unset[i], key) == 0) {
            return true;
        }
    }
    return false;
}

/* What was set, with what the request sets in its place, without what it unsets. */
static Board__UnitConfigRecord *configured(struct arena *a, const Board__UnitConfigRecord *before,
                                           const Board__ConfigureUnitsRequest *r)
{
    Board__UnitConfigRecord *after = arena_message(a, &board__unit_config_record__descriptor);
    size_t count = before ? before->n_settings : 0;
    after->settings = ARENA_ARRAY(a, count + r->n_settings, Board__UnitSetting *);
    for (size_t i = 0; i < count; i++) {
        const char *key = before->settings[i]->key;
        if (!is_unset(r, key) && !unit_setting(r->settings, r->n_settings, key)) {
            after->settings[after->n_settings++] = before->settings[i];
        }
    }
    for (size_t i = 0; i < r->n_settings; i++) {
        after->settings[after->n_settings++] = r->settings[i];
    }
    if (after->n_settings > 0) {
        qsort(after->settings, after->n_settings, sizeof(*after->settings), setting_order);
    }
    return after;
}

/* A key that is unset is one of the charm's too. */
static const char *unset_fault(struct arena *a, const Board__Charm *charm,
                               const Board__ConfigureUnitsRequest *r)
{
    const char *fault = NULL;
    for (size_t i = 0; i < r->n_unset && !fault; i++) {
        Board__UnitSetting *one = arena_message(a, &board__unit_setting__descriptor);
        one->key = r->unset[i];
        fault = unit_setting(charm->config, charm->n_config, one->key)
                    ? NULL
                    : unit_settings_fault(a, charm, &one, 1);
    }
    return fault;
}

/* 1. The service is not there, or not alive: refused.
 * 2. Its charm has no such option, or the whole exceeds the bounds: InvalidRequest.
 * 3. All is set so already: nothing.
 * 4. The configuration is written; its units hear of it. */
static void configure_units_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct service_now *s = snapshot;
    const Board__ConfigureUnitsRequest *r = asked_configure(in);
    if (unit_service_refused(s->service, r->service, "it is not configured any more", p)) { /* 1 */
        return;
    }
    if (!s->charm) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "unit service %s has no charm",
                    r->service);
        return;
    }
    const Board__UnitConfigRecord *after = configured(p->arena, s->config, r);
    const char *fault = unset_fault(p->arena, s->charm, r);
    fault =
        fault ? fault : unit_settings_fault(p->arena, s->charm, after->settings, after->n_settings);
    if (fault) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__InvalidRequest, "%s", fault);
    } else if (s->config ? !message_equal(&s->config->base, &after->base) /* 3 */
                         : after->n_settings > 0) {
        plan_put(p, key_unit_config(p->arena, r->service), /* 4 */
                 unit_service_lifecycle.triggers[UNIT_SERVICE_TRIGGER_CONFIGURE], in->actor,
                 &after->base);
    }
}

const struct op_row configure_units_row = {
    .name = "configure units",
    .target = configure_units_target,
    .gather = configure_units_gather,
    .decide = configure_units_decide,
    .snapshot_size = sizeof(struct service_now),
};

/* ---- Upgrade --------------------------------------------------------------------------------- */

struct upgrade_units_snapshot {
    struct service_now now;
    const char *digest; /* of the charm that comes */
    bool known;         /* the service has that one already, for units that run it */
    size_t charms;      /* that it has */
    const char *misses; /* an end in use that the charm lacks, a sentence; NULL = none */
    struct peers peers;
};

static const Board__UpgradeUnitsRequest *asked_upgrade(const struct op_input *in)
{
    return (const Board__UpgradeUnitsRequest *)in->request;
}

static const char *upgrade_units_target(struct arena *a, const struct op_input *in)
{
    return key_unit_service(a, asked_upgrade(in)->service);
}

void valid_upgrade_units(struct validation *v, const Board__UpgradeUnitsRequest *request)
{
    if (!unit_service_name_is_valid(request->service)) {
        say(v, "service: " UNIT_SERVICE_NAME_RULE);
    }
    valid_unit_charm(v, request->charm);
}

/* Why the charm does not have the service's end of a relation; NULL if it has. */
static const char *lacks(struct arena *a, const struct charm *c, const char *service,
                         const Board__RelationRecord *r)
{
    for (size_t i = 0; i < r->n_ends; i++) {
        const Board__Endpoint *e = r->ends[i]->endpoint;
        const struct charm_endpoint end = {
            .name = e->name, .role = charm_role_of(e->role), .interface = e->interface};
        bool container = r->scope == BOARD__ENDPOINT__SCOPE__CONTAINER;
        const char *why = strcmp(r->ends[i]->service, service) == 0
                              ? charm_lacks_end(a, c, &end, container)
                              : NULL;
        if (why) {
            return arena_printf(a, "relation %u is in the way: %s", r->number, why);
        }
    }
    return NULL;
}

/* That no relation comes meanwhile is compared. What one is between never changes, and one that
 * goes is in nobody's way: they are only looked at. */
static const char *gather_misses(struct view *v, const char *service, const Board__Charm *charm)
{
    struct arena *a = view_arena(v);
    struct charm c = charm_of_message(a, charm);
    const char *range = key_range_of(a, RECORD_UNIT_SERVICE_RELATION, service), *why = NULL;
    view_nothing_newer(v, range);
    for (const char *key = ""; !why && (key = units_key_after(v, range, key));) {
        uint32_t number;
        const Board__RelationRecord *r =
            number_of_key(a, key, &number) ? view_peek_message(v, key_relation(a, number)) : NULL;
        why = r ? lacks(a, &c, service, r) : NULL;
    }
    return why;
}

static void upgrade_units_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct upgrade_units_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__UpgradeUnitsRequest *r = asked_upgrade(in);
    service_now_gather(v, r->service, &s->now);
    if (!s->now.service) {
        return;
    }
    s->digest = unit_charm_digest(a, r->charm);
    s->known = view_get(v, key_charm(a, r->service, s->digest));
    s->charms = view_peek_count(v, key_range_of(a, RECORD_CHARM, r->service));
    s->misses = gather_misses(v, r->service, r->charm);
    peers_gather(v, r->service, r->charm, &s->peers);
}

/* Why this charm cannot follow; refused then. */
static bool upgrade_refused(const struct upgrade_units_snapshot *s,
                            const Board__UpgradeUnitsRequest *r, struct plan *p)
{
    if (unit_service_refused(s->now.service, r->service, "it is not upgraded any more", p)) {
        return true;
    }
    bool subordinate = s->now.service->subordinate;
    if (subordinate != r->charm->subordinate) {
        plan_refuse(p, MODELS__ERROR__TYPE__InvalidRequest,
                    "unit service %s is %s: a charm of the other kind is another service",
                    r->service, subordinate ? "subordinate" : "not subordinate");
    } else if (s->misses) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "unit service %s is not upgraded: %s",
                    r->service, s->misses);
    } else if (!s->known && s->charms >= SERVICE_CHARMS_MAX) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "unit service %s has %d charms, which is the most: its units run older ones "
                    "yet",
                    r->service, SERVICE_CHARMS_MAX);
    }
    return p->verdict == PLAN_REFUSE || !peers_numbered(&s->peers, p);
}

/* What a client set and the new charm does not have goes. */
static void put_config_left(const struct service_now *s, const Board__UpgradeUnitsRequest *r,
                            const struct op_input *in, struct plan *p)
{
    Board__UnitConfigRecord *after =
        arena_message(p->arena, &board__unit_config_record__descriptor);
    size_t count = s->config ? s->config->n_settings : 0;
    after->settings = ARENA_ARRAY(p->arena, count, Board__UnitSetting *);
    for (size_t i = 0; i < count; i++) {
        if (unit_setting(r->charm->config, r->charm->n_config, s->config->settings[i]->key)) {
            after->settings[after->n_settings++] = s->config->settings[i];
        }
    }
    if (after->n_settings < count) {
        plan_put(p, key_unit_config(p->arena, r->service), "upgrade", in->actor, &after->base);
    }
}

/* With the constraints that the service was deployed with. */
static Board__UnitNeeds *needs_after(struct arena *a, const struct service_now *s,
                                     const Board__Charm *charm)
{
    const Board__UnitNeeds *before = s->service->needs;
    char **more = ARENA_ARRAY(a, before ? before->n_placement_tags : 0, char *);
    size_t count = 0;
    for (size_t i = 0; before && i < before->n_placement_tags; i++) {
        bool of_charm = false;
        for (size_t k = 0; s->charm && s->charm->run && k < s->charm->run->n_placementtags; k++) {
            of_charm =
                of_charm || strcmp(s->charm->run->placementtags[k], before->placement_tags[i]) == 0;
        }
        if (!of_charm) {
            more[count++] = before->placement_tags[i];
        }
    }
    return charm_needs(a, charm->run, more, count);
}

/* 1. The service is not there or not alive, is of the other kind, has an end in use that the charm
 *    lacks, or as many charms as may be: refused.
 * 2. It has this charm: nothing.
 * 3. It gets the charm, and relations of its new peers; each unit follows when it is idle. */
static void upgrade_units_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct upgrade_units_snapshot *s = snapshot;
    const Board__UpgradeUnitsRequest *r = asked_upgrade(in);
    struct arena *a = p->arena;
    if (upgrade_refused(s, r, p) || strcmp(s->digest, s->now.service->charm) == 0) { /* 1, 2 */
        return;
    }
    Board__UnitServiceRecord *after = arena_copy(a, s->now.service, sizeof(*after)); /* 3 */
    after->charm = arena_strdup(a, s->digest);
    after->needs = needs_after(a, &s->now, r->charm);
    life_change(p, in, &unit_service_lifecycle, UNIT_SERVICE_ALIVE, UNIT_SERVICE_TRIGGER_UPGRADE, 0,
                key_unit_service(a, r->service), &after->base);
    if (!s->known) {
        plan_put(p, key_charm(a, r->service, s->digest), "upgrade", in->actor,
                 &unit_charm_record(a, r->service, r->charm)->base);
    }
    put_config_left(&s->now, r, in, p);
    peers_put(&s->peers, after->guid, RELATION_TRIGGER_UPGRADE, RELATION_IF_SERVICES_ALIVE, in, p);
    units_plan_check(p);
}

const struct op_row upgrade_units_row = {
    .name = "upgrade units",
    .target = upgrade_units_target,
    .gather = upgrade_units_gather,
    .decide = upgrade_units_decide,
    .snapshot_size = sizeof(struct upgrade_units_snapshot),
};
