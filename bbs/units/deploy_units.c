/* A unit service comes: deploy. */
#include "bbs/lrp/validate.h"
#include "bbs/units/add_units.h"
#include "bbs/units/facts.h"
#include "bbs/units/unit_charm.h"
#include "bbs/units/unit_jobs.h"
#include "bbs/units/units.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit_service.h"

#include <assert.h>
#include <string.h>

struct deploy_units_snapshot {
    const char *name;
    const Board__UnitServiceRecord *stands; /* that has the name; NULL = it is free */
    struct peers peers;
    struct wanted_machine machine;
};

static const Board__DeployUnitsRequest *asked_deploy(const struct op_input *in)
{
    return (const Board__DeployUnitsRequest *)in->request;
}

static const char *deployed_name(const Board__DeployUnitsRequest *r)
{
    return *r->name ? r->name : r->charm->name;
}

static const char *deploy_units_target(struct arena *a, const struct op_input *in)
{
    return key_unit_service(a, deployed_name(asked_deploy(in)));
}

static bool asks_for_needs(const Board__UnitNeeds *n)
{
    return n && protobuf_c_message_get_packed_size(&n->base) > 0;
}

void valid_deploy_units(struct validation *v, const Board__DeployUnitsRequest *request)
{
    SCOPED_ARENA(a);
    valid_unit_charm(v, request->charm);
    if (!validation_ok(v)) {
        return;
    }
    if (!unit_service_name_is_valid(deployed_name(request))) {
        say(v, "name: " UNIT_SERVICE_NAME_RULE);
    }
    const char *fault = unit_settings_list_fault(&a, request->settings, request->n_settings);
    fault = fault ? fault
                  : unit_settings_fault(&a, request->charm, request->settings, request->n_settings);
    if (fault) {
        say(v, arena_printf(&a, "settings: %s", fault));
    }
    if (request->charm->subordinate && (request->count > 0 || asks_for_needs(request->needs))) {
        say(v, arena_printf(&a,
                            "%s is subordinate: its units come with those of the services that "
                            "it is related to; leave number, machine and constraints out",
                            deployed_name(request)));
    } else {
        valid_units_asked(v, request->count, request->needs);
    }
    if (request->needs) {
        valid_placement_tags(v, request->needs->placement_tags, request->needs->n_placement_tags);
    }
}

static void deploy_units_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct deploy_units_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__DeployUnitsRequest *r = asked_deploy(in);
    s->name = deployed_name(r);
    s->stands = view_message(v, key_unit_service(a, s->name));
    if (!s->stands) {
        peers_gather(v, s->name, r->charm, &s->peers);
        wanted_machine_gather(v, r->needs, &s->machine);
        view_get(v, key_unit_config(a, s->name)); /* of one before it: it is written anew */
        view_get(v, key_charm(a, s->name, unit_charm_digest(a, r->charm)));
    }
}

static void put_service(const struct deploy_units_snapshot *s, const struct op_input *in,
                        struct plan *p)
{
    struct arena *a = p->arena;
    const Board__DeployUnitsRequest *r = asked_deploy(in);
    const Board__CharmRecord *charm = unit_charm_record(a, s->name, r->charm);
    Board__UnitServiceRecord *service = arena_message(a, &board__unit_service_record__descriptor);
    char *guid = arena_alloc(a, GUID_BYTES);
    random_guid(in->random, guid);
    service->name = arena_strdup(a, s->name);
    service->guid = guid;
    service->state = arena_strdup(a, unit_service_lifecycle.states[UNIT_SERVICE_ALIVE]);
    service->subordinate = r->charm->subordinate;
    service->charm = charm->digest;
    service->needs = charm_needs(a, r->charm->run, r->needs ? r->needs->placement_tags : NULL,
                                      r->needs ? r->needs->n_placement_tags : 0);
    service->since = in->now.wall_ns;
    life_change(p, in, &unit_service_lifecycle, UNIT_SERVICE_NONE, UNIT_SERVICE_TRIGGER_DEPLOY,
                UNIT_SERVICE_IF_NAME_FREE, key_unit_service(a, s->name), &service->base);
    plan_put(p, key_charm(a, s->name, charm->digest), "deploy", in->actor, &charm->base);
    Board__UnitConfigRecord *config = arena_message(a, &board__unit_config_record__descriptor);
    config->settings = r->settings;
    config->n_settings = r->n_settings;
    plan_put(p, key_unit_config(a, s->name), "deploy", in->actor, &config->base);
    peers_put(&s->peers, guid, RELATION_TRIGGER_DEPLOY, 0, in, p);
    if (r->count > 0) {
        p->record = &add_units_open(p, in, s->name, guid, r->count, r->needs)->base;
    }
}

/* 1. A service has the name, be it dying: ResourceExists.
 * 2. The machine that its units are to be on is not there, or takes none: refused.
 * 3. A relation of peers of that name stands yet, or no number is left: refused.
 * 4. The service is made, alive, with its charm, configuration and relations of peers, and the job
 *    that makes its units. */
static void deploy_units_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct deploy_units_snapshot *s = snapshot;
    if (s->stands) { /* 1 */
        bool alive = life_of(&unit_service_lifecycle, s->stands->state) == UNIT_SERVICE_ALIVE;
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceExists, "unit service %s %s", s->name,
                    alive ? "is there already: choose another name, or upgrade it"
                          : "is dying, and has its name until it is gone: bbs units why says what "
                            "it waits for");
    } else if (s->peers.stands) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the relation %s:%s of an earlier service is there yet", s->name,
                    s->peers.stands);
    } else if (!wanted_machine_refused(&s->machine, p) && peers_numbered(&s->peers, p)) { /* 2 */
        put_service(s, in, p);                                                            /* 4 */
        units_plan_check(p);
    }
}

const struct op_row deploy_units_row = {
    .name = "deploy units",
    .target = deploy_units_target,
    .gather = deploy_units_gather,
    .decide = deploy_units_decide,
    .snapshot_size = sizeof(struct deploy_units_snapshot),
};
