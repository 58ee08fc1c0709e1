/* Units and their agents: what runs where, which hooks are run, and what is left in the end. */
#include "test/sim/stories/story.h"

#include <stdio.h>
#include <string.h>

#include "common/lifecycle/unit_status.h"
#include "rep/unit/hook.h"
#include "rep_note.pb-c.h"
#include "test/sim/model/containers.h"
#include "units.pb-c.h"

#define WEB "web"
#define HOOK_PROGRAM "/.corkboard/tools/rep-hook"
#define COMMAND "/bin/httpd"

enum { HOOKS_TOLD_MAX = 64 };

/* What reps ask their drivers for. */
struct heard {
    struct cluster *cluster;
    unsigned commands; /* begun */
    unsigned hooks;    /* begun */
    unsigned made;     /* containers */
    char order[512];   /* of the hooks that were noted: "install config-changed " */
    uint32_t last_run;
};

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

/* ---- What is heard --------------------------------------------------------------------------- */

/* A hook is noted once, with its number; other notes have the same one, or none. */
static void hear_note(struct heard *h, const struct verb_call *call)
{
    Rep__Note *note = rep__note__unpack(NULL, call->note.size, call->note.data);
    const Rep__UnitNote *j = note && note->unit ? note->unit->journal : NULL;
    if (j && j->hook && j->hook->run > h->last_run && strcmp(j->hook->state, "noted") == 0) {
        size_t used = strlen(h->order);
        h->last_run = j->hook->run;
        snprintf(h->order + used, sizeof(h->order) - used, "%s ",
                 hook_name((enum unit_hook)j->hook->hook));
    }
    if (note) {
        rep__note__free_unpacked(note, NULL);
    }
}

/* Nobody loses the network that it shares. */
static void hear_remove(struct node *n, const struct verb_call *call)
{
    struct model_containers *m = node_containers(n);
    const char *other;
    for (int k = 0; (other = model_containers_made(m, k)); k++) {
        if (strcmp(other, call->guid) != 0 && model_containers_share(m, other, call->guid)) {
            fail_msg("container %s is removed before %s, which shares its network", call->guid,
                     other);
        }
    }
}

static void on_verb(void *context, struct node *n, const struct verb_call *call)
{
    struct heard *h = context;
    if (call->verb == VERB_REMOVE) {
        hear_remove(n, call);
    } else if (call->verb == VERB_NOTE) {
        hear_note(h, call);
    } else if (call->verb == VERB_PREPARE) {
        h->made++;
    } else if (call->verb == VERB_RUN) {
        bool hook = strcmp(call->run->path, HOOK_PROGRAM) == 0;
        h->hooks += hook;
        h->commands += !hook;
    }
}

static void begin(struct heard *h, struct cluster *c)
{
    *h = (struct heard){.cluster = c};
    world_observe(c->world, &(struct world_observer){.verb = on_verb, .context = h});
}

static void end(struct heard *h)
{
    world_observe(h->cluster->world, &(struct world_observer){0});
}

/* ---- Clients --------------------------------------------------------------------------------- */

static struct node *a_bbs(struct cluster *c)
{
    return node_up(c->bbs[0]) ? c->bbs[0] : c->bbs[1];
}

static int client(struct cluster *c, const char *path, const ProtobufCMessage *m)
{
    return world_call(c->world, node_url(a_bbs(c)), path, m, 3 * SETTLE_NS, NULL);
}

/* An end of relations of interface "kv"; NULL = none. */
struct kv_end {
    const char *name;
    Board__Endpoint__Role role;
    bool container;   /* its scope */
    bool subordinate; /* its service, whose units come by this end */
};

/* A charm with a command and all hooks; each is a script. */
struct laid_charm {
    Board__CharmHook hooks[16], *hook_list[16];
    Board__Endpoint end, *ends[1];
    Models__RunAction run;
    Models__Action action;
    Models__DesiredLRP runs;
    Board__Charm charm;
};

static void lay_charm(struct laid_charm *l, const char *service, const struct kv_end *kv)
{
    static const char *const names[] = {"config-changed",
                                        "install",
                                        "kv-relation-broken",
                                        "kv-relation-changed",
                                        "kv-relation-departed",
                                        "kv-relation-joined",
                                        "start",
                                        "stop",
                                        "upgrade"};
    board__endpoint__init(&l->end);
    models__run_action__init(&l->run);
    models__action__init(&l->action);
    models__desired_lrp__init(&l->runs);
    board__charm__init(&l->charm);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (kv || !strstr(names[i], "-relation-")) {
            Board__CharmHook *hook = l->hook_list[l->charm.n_hooks] = &l->hooks[i];
            board__charm_hook__init(hook);
            hook->name = text(names[i]);
            hook->script = text("true");
            l->charm.n_hooks++;
        }
    }
    if (kv) {
        l->end.name = text(kv->name);
        l->end.role = kv->role;
        l->end.interface = text("kv");
        l->end.scope = kv->container ? BOARD__ENDPOINT__SCOPE__CONTAINER : l->end.scope;
        l->charm.subordinate = kv->subordinate;
        l->ends[0] = &l->end;
        l->charm.endpoints = l->ends;
        l->charm.n_endpoints = 1;
    }
    l->run.path = text(COMMAND);
    l->run.user = text("x");
    l->action.run_action = &l->run;
    l->runs.action = &l->action;
    l->runs.root_fs = text("preloaded:busybox");
    l->runs.memory_mb = 64;
    l->runs.disk_mb = 64;
    l->charm.name = text(service);
    l->charm.run = &l->runs;
    l->charm.hooks = l->hook_list;
}

/* So many units of a service. */
static void deploy_as(struct cluster *c, const char *service, uint32_t count,
                      const struct kv_end *kv)
{
    struct laid_charm l;
    Board__DeployUnitsRequest r = BOARD__DEPLOY_UNITS_REQUEST__INIT;
    lay_charm(&l, service, kv);
    r.charm = &l.charm;
    r.count = count;
    assert_int_equal(client(c, "/v1/units/deploy", &r.base), 200);
}

/* Its command is another one; and it has so many ports. */
static void upgrade(struct cluster *c, const char *command, size_t ports)
{
    struct laid_charm l;
    uint32_t list[] = {8080, 9090};
    Board__UpgradeUnitsRequest r = BOARD__UPGRADE_UNITS_REQUEST__INIT;
    lay_charm(&l, WEB, NULL);
    l.run.path = text(command);
    l.runs.ports = list;
    l.runs.n_ports = ports;
    r.service = text(WEB);
    r.charm = &l.charm;
    assert_int_equal(client(c, "/v1/units/upgrade", &r.base), 200);
}

static void deploy(struct cluster *c, uint32_t count)
{
    deploy_as(c, WEB, count, NULL);
}

static void relate(struct cluster *c, const char *one, const char *other)
{
    Board__UnitEnd ends[2] = {BOARD__UNIT_END__INIT, BOARD__UNIT_END__INIT};
    Board__UnitEnd *list[] = {&ends[0], &ends[1]};
    Board__RelateUnitsRequest r = BOARD__RELATE_UNITS_REQUEST__INIT;
    ends[0].service = text(one);
    ends[1].service = text(other);
    ends[0].endpoint = ends[1].endpoint = text("kv");
    r.ends = list;
    r.n_ends = 2;
    assert_int_equal(client(c, "/v1/units/relate", &r.base), 200);
}

static void destroy_service(struct cluster *c, const char *service)
{
    Board__UnitServiceRequest r = BOARD__UNIT_SERVICE_REQUEST__INIT;
    r.service = text(service);
    assert_int_equal(client(c, "/v1/units/service/destroy", &r.base), 200);
}

static void destroy_unit(struct cluster *c, const char *unit)
{
    Board__UnitRequest r = BOARD__UNIT_REQUEST__INIT;
    r.unit = text(unit);
    assert_int_equal(client(c, "/v1/units/unit/destroy", &r.base), 200);
}

/* ---- What there is --------------------------------------------------------------------------- */

struct counted {
    const char *state; /* of statuses; "" = any */
    int count;
};

static void count_status(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct counted *n = context;
    const Board__UnitStatusRecord *s = (const Board__UnitStatusRecord *)m;
    n->count += type == RECORD_UNIT_STATUS && (!*n->state || strcmp(s->state, n->state) == 0);
}

static int units_in(struct cluster *c, const char *state)
{
    struct counted n = {state, 0};
    cluster_each(c, "unit_status/", count_status, &n);
    return n.count;
}

static int containers(struct cluster *c)
{
    int count = 0;
    for (unsigned i = 0; i < c->options.cells; i++) {
        for (int k = 0; model_containers_made(node_containers(c->cells[i]), k); k++) {
            count++;
        }
    }
    return count;
}

/* Each hook that runs ends now, with this; the command goes on. True if there was one. */
static bool end_hooks(struct cluster *c, int exit_code)
{
    bool any = false;
    for (unsigned i = 0; i < c->options.cells; i++) {
        struct model_containers *m = node_containers(c->cells[i]);
        const char *guid;
        for (int k = 0; (guid = model_containers_guid(m, k)); k++) {
            int64_t step;
            for (int s = 0; (step = model_containers_step(m, guid, s)) >= 0; s++) {
                const struct step_process *p = model_containers_run(m, guid, (uint32_t)step);
                if (p && strcmp(p->path, HOOK_PROGRAM) == 0) {
                    any = true;
                    world_end_step(c->world, c->cells[i], guid, (uint32_t)step, exit_code, false);
                    break;
                }
            }
        }
    }
    return any;
}

/* The first container ends, though nobody asked for that. */
static bool end_container(struct cluster *c)
{
    return world_end_container(c->world, c->cells[0], 0, 137);
}

/* The command of the first container that has one ends. */
static bool end_command(struct cluster *c, int exit_code)
{
    for (unsigned i = 0; i < c->options.cells; i++) {
        struct model_containers *m = node_containers(c->cells[i]);
        const char *guid = model_containers_guid(m, 0);
        int64_t step = guid ? model_containers_step(m, guid, 0) : -1;
        if (step >= 0) {
            return world_end_step(c->world, c->cells[i], guid, (uint32_t)step, exit_code, false);
        }
    }
    return false;
}

/* Hooks take a moment each, and end well, until so many units are in this state. */
static void play(struct cluster *c, int64_t limit_ns, const char *state, int count)
{
    int64_t until = world_now(c->world) + limit_ns;
    while (units_in(c, state) != count) {
        if (world_now(c->world) >= until) {
            fail_msg("%d units are %s, not %d", units_in(c, state), state, count);
        }
        end_hooks(c, 0);
        world_run(c->world, 30 * MILLISECOND_NS);
    }
}

static void play_to_the_end(struct cluster *c)
{
    play(c, 3 * SETTLE_NS, "", 0);
    world_run(c->world, SECOND_NS);
    assert_int_equal(cluster_records(c, "unit/"), 0);
    assert_int_equal(cluster_records(c, "machine_unit/"), 0);
    assert_int_equal(containers(c), 0);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(containers(c), 0);
}

static bool a_hook_runs(void *cluster)
{
    struct cluster *c = cluster;
    struct model_containers *m = node_containers(c->cells[0]);
    const char *guid = model_containers_guid(m, 0);
    return guid && model_containers_step(m, guid, 0) >= 0;
}

/* ---- The stories ----------------------------------------------------------------------------- */

void story_a_unit_from_deploy_to_removed(struct cluster *c)
{
    says(c,
         "A service is deployed with one unit. A cell takes it for ever, makes its container, and "
         "runs install, config-changed and start, one after the other; then its command. That "
         "crashes once, and begins again. The unit is destroyed: stop is run, it dies, its "
         "container goes, and its record goes last.");
    struct heard h;
    begin(&h, c);
    deploy(c, 1);
    play(c, 3 * SETTLE_NS, "started", 1);
    world_run(c->world, SECOND_NS);
    assert_string_equal(h.order, "install config-changed start ");
    assert_int_equal(h.hooks, 3);
    assert_int_equal(h.commands, 1);
    assert_true(end_command(c, 1));
    world_run(c->world, SECOND_NS);
    assert_int_equal(h.commands, 2);
    destroy_unit(c, WEB "/0");
    play_to_the_end(c);
    assert_string_equal(h.order, "install config-changed start stop ");
    assert_int_equal(cluster_records(c, "unit_service/"), 1);
    assert_int_equal(cluster_records(c, "machine/"), 1);
    end(&h);
}

static void destroy_machine(struct cluster *c, uint32_t number)
{
    Board__MachineRequest r = BOARD__MACHINE_REQUEST__INIT;
    r.optional_number_case = BOARD__MACHINE_REQUEST__OPTIONAL_NUMBER_NUMBER;
    r.number = number;
    client(c, "/v1/units/machine/destroy", &r.base);
}

void story_a_machine_is_destroyed(struct cluster *c)
{
    says(c, "A cell became a machine when it took its first unit. With the unit on it the machine "
            "is not destroyed. When the unit has gone it is: the cell's rep says that nothing is "
            "left, though it dies meanwhile, and the converger takes the record away.");
    struct heard h;
    begin(&h, c);
    deploy(c, 1);
    play(c, 3 * SETTLE_NS, "started", 1);
    destroy_machine(c, 0);
    world_run(c->world, SETTLE_NS);
    assert_int_equal(units_in(c, "started"), 1);
    assert_int_equal(cluster_records(c, "machine/"), 1);
    destroy_unit(c, WEB "/0");
    play_to_the_end(c);
    assert_int_equal(cluster_records(c, "machine/"), 1);
    bool dies = random_below(world_random(c->world), 2);
    if (dies) {
        world_kill(c->world, c->cells[0]);
    }
    destroy_machine(c, 0);
    if (dies) {
        world_start(c->world, c->cells[0]);
    }
    world_run(c->world, 3 * SETTLE_NS);
    assert_int_equal(cluster_records(c, "machine/"), 0);
    assert_int_equal(cluster_records(c, "machine_cell/"), 0);
    end(&h);
}

void story_a_rep_dies_in_a_hook(struct cluster *c)
{
    says(c, "A unit is installed, and its rep dies. The hook goes on and ends. The rep that comes "
            "after hears of that: install is not run again. When all is done the rep dies again: "
            "config-changed comes once more.");
    struct heard h;
    begin(&h, c);
    deploy(c, 1);
    assert_true(world_run_until(c->world, 3 * SETTLE_NS, a_hook_runs, c));
    world_kill(c->world, c->cells[0]);
    world_run(c->world, (int64_t)random_below(world_random(c->world), SECOND_NS));
    assert_true(end_hooks(c, 0));
    world_run(c->world, (int64_t)random_below(world_random(c->world), SECOND_NS));
    world_start(c->world, c->cells[0]);
    play(c, 3 * SETTLE_NS, "started", 1);
    world_run(c->world, SECOND_NS);
    assert_int_equal(h.hooks, 3);
    world_kill(c->world, c->cells[0]);
    world_start(c->world, c->cells[0]);
    for (int i = 0; i < 100; i++) {
        end_hooks(c, 0);
        world_run(c->world, 30 * MILLISECOND_NS);
    }
    assert_int_equal(h.hooks, 4);
    assert_int_equal(h.commands, 1);
    assert_string_equal(h.order, "install config-changed start config-changed ");
    destroy_unit(c, WEB "/0");
    play_to_the_end(c);
    end(&h);
}

void story_a_unit_is_destroyed_at_any_step(struct cluster *c)
{
    says(c, "A unit is destroyed a moment after it was asked for: it waits for a machine, its "
            "container is being made, a hook runs, or it has started. Its rep may die around that. "
            "Nothing of it is left.");
    struct heard h;
    begin(&h, c);
    deploy(c, 2);
    int64_t until =
        world_now(c->world) + (int64_t)random_below(world_random(c->world), 2 * SECOND_NS);
    while (world_now(c->world) < until) {
        end_hooks(c, 0);
        world_run(c->world, 30 * MILLISECOND_NS);
    }
    bool dies = random_below(world_random(c->world), 2);
    if (dies) {
        world_kill(c->world, c->cells[0]);
    }
    destroy_unit(c, WEB "/0");
    world_run(c->world, (int64_t)random_below(world_random(c->world), SECOND_NS));
    destroy_unit(c, WEB "/1");
    if (dies) {
        world_start(c->world, c->cells[0]);
    }
    play_to_the_end(c);
    end(&h);
}

static bool has_entered(void *cluster)
{
    return cluster_records(cluster, "relation_member/") == 2;
}

static void play_for(struct cluster *c, int64_t ns)
{
    int64_t until = world_now(c->world) + ns;
    while (world_now(c->world) < until) {
        end_hooks(c, 0);
        world_run(c->world, 30 * MILLISECOND_NS);
    }
}

void story_two_units_that_are_related(struct cluster *c)
{
    static const struct kv_end requires = {.name = "kv", .role = BOARD__ENDPOINT__ROLE__REQUIRER};
    static const struct kv_end provides = {.name = "kv", .role = BOARD__ENDPOINT__ROLE__PROVIDER};
    says(c,
         "A web requires what a db provides. Both enter the relation when they have started, and "
         "are told of each other: joined, then changed. The db's service is destroyed: each is "
         "told that the other one departs, and that the relation is broken, before the db stops. "
         "The web stays.");
    struct heard h;
    begin(&h, c);
    deploy_as(c, WEB, 1, &requires);
    deploy_as(c, "db", 1, &provides);
    relate(c, WEB, "db");
    play(c, 3 * SETTLE_NS, "started", 2);
    assert_true(world_run_until(c->world, SETTLE_NS, has_entered, c));
    play_for(c, 3 * SECOND_NS);
    assert_int_equal(h.hooks, 3 + 3 + 2 + 2);
    destroy_service(c, "db");
    play(c, 5 * SETTLE_NS, "", 1);
    play_for(c, 3 * SECOND_NS);
    assert_int_equal(h.hooks, 10 + 2 + 2 + 1);
    assert_int_equal(cluster_records(c, "relation/"), 0);
    assert_int_equal(cluster_records(c, "unit_service/"), 1);
    assert_int_equal(units_in(c, "started"), 1);
    assert_int_equal(containers(c), 1);
    destroy_unit(c, WEB "/0");
    play_to_the_end(c);
    end(&h);
}

void story_a_machine_goes_and_its_services_stay(struct cluster *c)
{
    static const struct kv_end requires = {.name = "kv", .role = BOARD__ENDPOINT__ROLE__REQUIRER};
    static const struct kv_end provides = {.name = "kv", .role = BOARD__ENDPOINT__ROLE__PROVIDER};
    says(c,
         "Two services are related, and their units are destroyed, but not they. Nothing of them "
         "is followed by the cell any more; what it knew of the units goes, so that its machine, "
         "which is destroyed, dies.");
    struct heard h;
    begin(&h, c);
    deploy_as(c, WEB, 1, &requires);
    deploy_as(c, "db", 1, &provides);
    relate(c, WEB, "db");
    play(c, 3 * SETTLE_NS, "started", 2);
    assert_true(world_run_until(c->world, SETTLE_NS, has_entered, c));
    play_for(c, 3 * SECOND_NS);
    destroy_unit(c, WEB "/0");
    play(c, 5 * SETTLE_NS, "", 1);
    destroy_unit(c, "db/0");
    play_to_the_end(c);
    assert_int_equal(cluster_records(c, "unit_service/"), 2);
    assert_int_equal(cluster_records(c, "machine/"), 1);
    destroy_machine(c, 0);
    world_run(c->world, 3 * SETTLE_NS);
    assert_int_equal(cluster_records(c, "machine/"), 0);
    end(&h);
}

static bool a_note_is_kept(void *cluster)
{
    return model_containers_notes(node_containers(((struct cluster *)cluster)->cells[0])) > 0;
}

/* Its files are there. The rep may die at any time after it began again, and when nothing of a unit
 * is there but its note. */
static void reboot(struct cluster *c)
{
    struct node *cell = c->cells[0];
    world_kill(c->world, cell);
    world_reboot(c->world, cell, false);
    world_run(c->world, SECOND_NS);
    world_start(c->world, cell);
    int dies = (int)random_below(world_random(c->world), 3);
    if (dies) {
        int64_t most = 600 * MILLISECOND_NS;
        world_run_until(c->world, dies == 1 ? SETTLE_NS : 0, a_note_is_kept, c);
        world_run(c->world,
                  dies == 1 ? 0 : (int64_t)random_below(world_random(c->world), (uint64_t)most));
        world_kill(c->world, cell);
        world_start(c->world, cell);
    }
}

void story_a_machine_of_units_falls(struct cluster *c)
{
    static const struct kv_end requires = {"kv", BOARD__ENDPOINT__ROLE__REQUIRER};
    static const struct kv_end provides = {"kv", BOARD__ENDPOINT__ROLE__PROVIDER};
    says(c,
         "Two units are related and settled when their machine falls. Their containers are made "
         "anew, with the journals that the ones before left: install, config-changed and start run "
         "again, and each is told of the other's settings once more; nobody joins or departs. The "
         "same when a container alone ends.");
    struct heard h;
    begin(&h, c);
    deploy_as(c, WEB, 1, &requires);
    deploy_as(c, "db", 1, &provides);
    relate(c, WEB, "db");
    play(c, 3 * SETTLE_NS, "started", 2);
    assert_true(world_run_until(c->world, SETTLE_NS, has_entered, c));
    play_for(c, 3 * SECOND_NS);
    assert_int_equal(h.hooks, 10);
    assert_int_equal(h.commands, 2);
    reboot(c);
    play_for(c, 6 * SECOND_NS);
    assert_int_equal(units_in(c, "started"), 2);
    assert_int_equal(cluster_records(c, "relation_member/"), 2);
    assert_in_range(h.hooks, 10 + 2 * 4, 10 + 2 * 4 + 2); /* one that the rep's end made untold */
    unsigned before = h.hooks;
    assert_true(end_container(c));
    play_for(c, 10 * SECOND_NS);
    assert_int_equal(h.hooks, before + 4);
    assert_int_equal(units_in(c, "started"), 2);
    destroy_service(c, "db");
    destroy_service(c, WEB);
    play_to_the_end(c);
    end(&h);
}

static void resolve(struct cluster *c, const char *unit)
{
    Board__UnitRequest r = BOARD__UNIT_REQUEST__INIT;
    r.unit = text(unit);
    r.resolved = BOARD__UNIT_STATUS_RECORD__RESOLVED__RETRY;
    assert_int_equal(client(c, "/v1/units/resolve", &r.base), 200);
}

static bool unit_is_in_error(void *cluster)
{
    return units_in(cluster, "error") == 1;
}

void story_a_container_falls_in_a_hook(struct cluster *c)
{
    says(c, "Whenever a unit is being installed its container ends. Nobody can tell how the hook "
            "would have ended: it runs again in the next one, three times in all. Then it is in "
            "error, and runs when somebody has resolved that.");
    struct heard h;
    begin(&h, c);
    deploy(c, 1);
    for (int i = 0; i < 3; i++) {
        assert_true(world_run_until(c->world, 5 * SETTLE_NS, a_hook_runs, c));
        assert_true(end_container(c));
        world_run(c->world, 100 * MILLISECOND_NS);
    }
    assert_true(world_run_until(c->world, 2 * SETTLE_NS, unit_is_in_error, c));
    world_run(c->world, 10 * SECOND_NS);
    assert_int_equal(h.hooks, 3);
    assert_string_equal(h.order, "install install install ");
    resolve(c, WEB "/0");
    play(c, 3 * SETTLE_NS, "started", 1);
    assert_string_equal(h.order, "install install install install config-changed start ");
    destroy_unit(c, WEB "/0");
    play_to_the_end(c);
    end(&h);
}

static void count_charm(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct counted *n = context;
    const Board__UnitStatusRecord *s = (const Board__UnitStatusRecord *)m;
    n->count += type == RECORD_UNIT_STATUS && strcmp(s->charm, n->state) == 0;
}

static void note_charm(void *context, enum record_type type, const ProtobufCMessage *m)
{
    if (type == RECORD_UNIT_SERVICE) {
        snprintf(context, 64, "%s", ((const Board__UnitServiceRecord *)m)->charm);
    }
}

/* Every unit says that it runs the charm that the service has. */
static bool all_run_it(void *cluster)
{
    char charm[64] = "";
    struct counted n = {charm, 0};
    cluster_each(cluster, "unit_service/", note_charm, charm);
    cluster_each(cluster, "unit_status/", count_charm, &n);
    return n.count == units_in(cluster, "");
}

static void play_upgrade(struct cluster *c)
{
    int64_t until = world_now(c->world) + 3 * SETTLE_NS;
    while (!all_run_it(c) && world_now(c->world) < until) {
        play_for(c, 30 * MILLISECOND_NS);
    }
    assert_true(all_run_it(c));
    play_for(c, 3 * SECOND_NS);
}

void story_a_service_is_upgraded(struct cluster *c)
{
    says(c, "A service gets a charm with another command: its unit runs upgrade and config-changed "
            "where it is, and the command is another one then. The next charm has a port: the "
            "container is made anew, and installed. The rep may die around that. The charms that "
            "nobody runs any more go.");
    struct heard h;
    begin(&h, c);
    deploy(c, 1);
    play(c, 3 * SETTLE_NS, "started", 1);
    play_for(c, SECOND_NS);
    assert_int_equal(h.commands, 1);
    upgrade(c, "/bin/other", 0);
    play_upgrade(c);
    assert_string_equal(h.order, "install config-changed start upgrade config-changed ");
    assert_int_equal(h.commands, 2);
    assert_int_equal(h.made, 1);
    upgrade(c, "/bin/other", 1);
    if (random_below(world_random(c->world), 2)) {
        int64_t most = 400 * MILLISECOND_NS;
        play_for(c, (int64_t)random_below(world_random(c->world), (uint64_t)most));
        world_kill(c->world, c->cells[0]);
        world_start(c->world, c->cells[0]);
    }
    play_upgrade(c);
    assert_int_equal(h.made, 2);
    assert_non_null(strstr(h.order, "upgrade config-changed install config-changed start "));
    assert_int_equal(h.commands, 3);
    assert_int_equal(units_in(c, "started"), 1);
    world_run(c->world, 150 * SECOND_NS);
    assert_int_equal(cluster_records(c, "charm/"), 1);
    destroy_unit(c, WEB "/0");
    play_to_the_end(c);
    end(&h);
}

/* ---- Subordinates ---------------------------------------------------------------------------- */

static void unrelate(struct cluster *c, const char *one, const char *other)
{
    Board__UnitEnd ends[2] = {BOARD__UNIT_END__INIT, BOARD__UNIT_END__INIT};
    Board__UnitEnd *list[] = {&ends[0], &ends[1]};
    Board__UnitRelationRequest r = BOARD__UNIT_RELATION_REQUEST__INIT;
    ends[0].service = text(one);
    ends[1].service = text(other);
    r.ends = list;
    r.n_ends = 2;
    assert_int_equal(client(c, "/v1/units/relation/destroy", &r.base), 200);
}

struct beside {
    struct cluster *cluster;
    int of[2];       /* subordinates of web/0 and web/1, */
    int shared;      /* whose container is in the network of its principal's */
    uint32_t lowest; /* number */
};

static void see_subordinate(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct beside *b = context;
    const Board__UnitRecord *u = (const Board__UnitRecord *)m;
    if (type != RECORD_UNIT || !*u->principal) {
        return;
    }
    b->of[0] += strcmp(u->principal, WEB "/0") == 0;
    b->of[1] += strcmp(u->principal, WEB "/1") == 0;
    b->lowest = u->number < b->lowest ? u->number : b->lowest;
    for (unsigned i = 0; i < b->cluster->options.cells; i++) {
        b->shared += model_containers_share(node_containers(b->cluster->cells[i]), u->guid,
                                            u->principal_guid);
    }
}

/* So many are beside each web, in its network, with numbers that none had before. */
static void are_beside(struct cluster *c, int first, int second, uint32_t lowest)
{
    struct beside b = {.cluster = c, .lowest = UINT32_MAX};
    cluster_each(c, "unit/", see_subordinate, &b);
    assert_int_equal(b.of[0], first);
    assert_int_equal(b.of[1], second);
    assert_int_equal(b.shared, first + second);
    assert_true(b.lowest >= lowest);
}

static const struct kv_end kv_of_web = {"kv", BOARD__ENDPOINT__ROLE__PROVIDER, true, false};
static const struct kv_end kv_of_logger = {"kv", BOARD__ENDPOINT__ROLE__REQUIRER, true, true};

/* Two webs with a logger each. */
static void begin_with_loggers(struct cluster *c)
{
    deploy_as(c, WEB, 2, &kv_of_web);
    deploy_as(c, "logger", 0, &kv_of_logger);
    play(c, 3 * SETTLE_NS, "started", 2);
    relate(c, "logger", WEB);
    play(c, 5 * SETTLE_NS, "started", 4);
    play_for(c, 3 * SECOND_NS);
}

void story_a_logger_beside_each_web(struct cluster *c)
{
    says(c,
         "Two webs are there when a logger is related to them, whose units are subordinate: each "
         "web takes a number for one, and enters the relation with it. The logger's container is "
         "in the network of its web's. The relation is destroyed: each is told that the other "
         "departs, and the loggers stop, die and are removed. It is made anew, and other loggers "
         "come. A web is destroyed, and takes its logger with it; then the logger's service is, "
         "and then the webs'.");
    struct heard h;
    begin(&h, c);
    begin_with_loggers(c);
    are_beside(c, 1, 1, 0);
    assert_int_equal(h.hooks, 2 * (3 + 3 + 2 + 2));
    assert_int_equal(h.commands, 4);
    unrelate(c, "logger", WEB);
    play(c, 5 * SETTLE_NS, "", 2);
    play_for(c, 3 * SECOND_NS);
    assert_int_equal(h.hooks, 2 * (10 + 2 + 2 + 1));
    assert_int_equal(cluster_records(c, "relation/"), 0);
    assert_int_equal(cluster_records(c, "unit_child/"), 0);
    assert_int_equal(containers(c), 2);
    relate(c, WEB, "logger");
    play(c, 5 * SETTLE_NS, "started", 4);
    play_for(c, 3 * SECOND_NS);
    are_beside(c, 1, 1, 2);
    destroy_unit(c, WEB "/0");
    play(c, 5 * SETTLE_NS, "", 2);
    play_for(c, 3 * SECOND_NS);
    are_beside(c, 0, 1, 2);
    destroy_service(c, "logger");
    play(c, 5 * SETTLE_NS, "", 1);
    destroy_service(c, WEB);
    play_to_the_end(c);
    assert_int_equal(cluster_records(c, "unit_service/"), 0);
    end(&h);
}

/* One of the things that may befall them. The rep of the first cell is up when it is over. */
static void befall(struct cluster *c, bool *related, bool *destroyed)
{
    struct random *r = world_random(c->world);
    struct node *rep = c->cells[0];
    switch (random_below(r, 5)) {
    case 0:
    case 1:
        if (*related) {
            unrelate(c, "logger", WEB);
            *related = false;
        } else if (cluster_records(c, "relation/") == 0) {
            relate(c, "logger", WEB);
            *related = true;
        }
        break;
    case 2:
        world_kill(c->world, rep);
        play_for(c, (int64_t)random_below(r, SECOND_NS));
        world_start(c->world, rep);
        break;
    case 3:
        world_end_container(c->world, rep, (int)random_below(r, 4), 1);
        break;
    default:
        if (!*destroyed) {
            destroy_unit(c, WEB "/0");
        }
        *destroyed = true;
    }
}

void story_loggers_in_any_order(struct cluster *c)
{
    says(c,
         "Two webs on a cell have a logger each. The relation goes and comes, a web is destroyed, "
         "containers end, the rep dies. A logger's container is never without its web's: if that "
         "ends, its own goes first, and both are made anew. When the services are destroyed "
         "nothing is left.");
    struct heard h;
    begin(&h, c);
    begin_with_loggers(c);
    bool related = true, destroyed = false;
    for (int i = 0; i < 8; i++) {
        befall(c, &related, &destroyed);
        play_for(c, (int64_t)random_below(world_random(c->world), 2 * SECOND_NS));
    }
    int webs = destroyed ? 1 : 2;
    if (!related) {
        play(c, 20 * SETTLE_NS, "", webs);
        relate(c, "logger", WEB);
    }
    play(c, 20 * SETTLE_NS, "", 2 * webs);
    play(c, 20 * SETTLE_NS, "started", 2 * webs);
    play_for(c, 3 * SECOND_NS);
    assert_int_equal(containers(c), 2 * webs);
    bool first = random_below(world_random(c->world), 2);
    destroy_service(c, first ? WEB : "logger");
    play_for(c, (int64_t)random_below(world_random(c->world), SECOND_NS));
    destroy_service(c, first ? "logger" : WEB);
    play_to_the_end(c);
    assert_int_equal(cluster_records(c, "unit_service/"), 0);
    assert_int_equal(cluster_records(c, "relation/"), 0);
    end(&h);
}

/* ---- A cell that is emptied ------------------------------------------------------------------ */

static bool has_ended(void *node)
{
    return !node_up(node);
}

void story_a_cell_with_units_is_emptied(struct cluster *c)
{
    says(
        c,
        "The cell of two units is to be emptied. Nobody moves them: a container that falls is made "
        "anew, and so are both when the service is upgraded to another container. The service is "
        "destroyed: all their last hooks run, and the cell leaves well before the limit. It is "
        "back, has another unit, and is emptied again: it ends at the limit, and the unit stays "
        "on the board.");
    struct heard h;
    begin(&h, c);
    struct node *cell = c->cells[0];
    deploy(c, 2);
    play(c, 3 * SETTLE_NS, "started", 2);
    world_stop(c->world, cell);
    play_for(c, SECOND_NS);
    assert_true(end_container(c));
    play_for(c, 8 * SECOND_NS);
    assert_int_equal(h.made, 3);
    upgrade(c, COMMAND, 1);
    play_for(c, 40 * SECOND_NS);
    assert_int_equal(h.made, 5);
    assert_true(node_up(cell));
    assert_true(end_container(c));
    destroy_service(c, WEB);
    play(c, 2 * SETTLE_NS, "", 0);
    assert_true(world_run_until(c->world, 15 * SECOND_NS, has_ended, cell));
    assert_int_equal(cluster_records(c, "unit/"), 0);
    assert_int_equal(cluster_records(c, "cell/"), 0);
    world_start(c->world, cell);
    deploy(c, 1);
    play(c, 3 * SETTLE_NS, "started", 1);
    world_stop(c->world, cell);
    play_for(c, 90 * SECOND_NS);
    assert_true(node_up(cell));
    assert_true(world_run_until(c->world, 60 * SECOND_NS, has_ended, cell));
    assert_int_equal(cluster_records(c, "unit/"), 1);
    end(&h);
}
