/* Two who want what does not go together, about units, relations, services and machines: each pair
 * in both orders, a moment apart, by real reps and hooks. All checkers look on, and in the end of
 * each all services are destroyed and nothing of them is left. */
#include "test/sim/stories/story.h"

#include <stdio.h>
#include <string.h>

#include "bbs/units/facts.h"
#include "common/lifecycle/unit.h"
#include "rep/unit/hook.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"
#include "test/sim/swarm/units_inside.h"

#define PLAY_LIMIT_NS (120 * SECOND_NS)
#define APART_NS (60 * MILLISECOND_NS)

/* A row of words. An act is "VERB WORD...", several are separated by ";":
 *   deploy S N, add S N, unused S, relate R, unrelate R (a number of unit_relations), rmunit U,
 *   rmservice S, rmmachine N, addmachine CELL, force U (within 1 ms), forcemachine N, resolve U,
 *   kill CELL, start CELL, killbbs, startbbs, killconverger; anew: the cell's state directory is
 *   another one, and nothing of it is left,
 *   hooks on|off|fail: how those that run end; await WHAT
 * WHAT, also what it comes to, is "KIND=N ..." (records of a kind; "started", "stopped" and "error"
 * of statuses, "dying" and "dead" of units, "departing" of members, "made" of containers), or
 * several of these by "|": one of them. */
struct race {
    const char *says, *before, *one, *other, *comes_to;
};

static const struct race races[] = {
    {"1. A machine is destroyed, and a unit comes to it.", "addmachine cell-1; deploy db 0",
     "rmmachine 0", "add db 1", "unit=1 started=1 machine_unit=1"},
    {"2, 4. A unit is destroyed while it is placed.", "deploy db 0", "add db 1", "rmunit db/0",
     "unit=0 machine_unit=0|unit=1 started=1 machine_unit=1"},
    {"3. Two units want the one machine that never had a unit.", "deploy db 0", "unused db",
     "unused db", "unit=2 machine_unit=1 started=1"},
    {"5. A unit is added to a service that is destroyed.", "deploy db 0", "add db 1",
     "rmservice db", "unit=0 unit_service=0"},
    {"6. A service is dying, and is deployed, related and given units.",
     "deploy db 1; deploy web 1; await started=2; hooks off; rmservice db; add db 1; relate 0; "
     "await unit=2",
     "deploy db 1", "add db 1", "unit=2 relation=1"},
    {"7. A relation is destroyed while units enter it.",
     "deploy db 1; deploy web 1; await started=2", "relate 0", "unrelate 0",
     "relation=1 relation_member=1|relation=2 relation_member=3"},
    {"8, 9. Two units leave a dying relation at once.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3", "unrelate 0", "unrelate 0",
     "relation=1 relation_member=1 started=2"},
    {"10. A service is destroyed while it is related.",
     "deploy db 0; deploy web 1; await started=1", "rmservice db", "relate 0",
     "unit_service=1 relation=0 unit=1 started=1"},
    {"10. A service is destroyed while its last unit goes.", "deploy db 1; await started=1",
     "rmservice db", "rmunit db/0", "unit_service=0 unit=0"},
    {"21. A service is destroyed, and so is its unit: the relation waits for the other side.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3", "rmservice web",
     "rmunit web/0", "unit_service=1 relation=1 relation_member=1 started=1"},
    {"11. The last who holds a dying service is a unit of the other side.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3; rmunit web/0; await unit=1; "
     "hooks off",
     "rmservice web", "rmunit db/0; hooks on", "unit_service=1 relation=1 unit=0"},
    {"12. The same, and that unit is forced.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3; rmunit web/0; await unit=1; "
     "hooks off",
     "rmservice web", "force db/0", "unit_service=1 relation=1 relation_member=0 unit=0"},
    {"13. A relation is destroyed and made again.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3", "unrelate 0", "relate 0",
     "relation=2 relation_member=3 started=2|relation=1 relation_member=1 started=2"},
    {"19. A unit is destroyed while it says that it has started.",
     "deploy db 0; add db 1; await machine_unit=1", "rmunit db/0", "add db 1",
     "unit=1 started=1 made=1"},
    {"20. A unit in error is destroyed: it stays, until it is resolved.",
     "hooks fail; deploy db 1; await error=1", "rmunit db/0", "resolve db/0", "unit=0|error=1"},
    {"22. A unit goes, and its relation stays.",
     "deploy db 1; deploy web 2; relate 0; await relation_member=4", "rmunit web/0", "rmunit web/1",
     "relation=2 relation_member=2 unit=1"},
    {"25. An agent comes back to what is dying.",
     "deploy db 2; await started=2; kill cell-1; rmunit db/0", "rmunit db/1", "start cell-1",
     "unit=0 made=0"},
    {"26. A machine is forced twice.", "deploy db 2; await started=2; hooks off", "forcemachine 0",
     "forcemachine 0", "unit=0 machine_unit=0 made=0"},
    {"27. A unit comes while its machine is forced.", "deploy db 1; await started=1",
     "forcemachine 0", "add db 1", "unit=1 started=1 machine_unit=1"},
    {"28. A bbs dies in the middle of a job.", "deploy db 3; await started=3", "rmservice db",
     "killbbs", "unit=0 unit_service=0"},
    {"29. What members told goes when nobody reads it.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3", "unrelate 0", "rmunit web/0",
     "relation=1 relation_settings=1 unit=1"},
    {"30. Units are destroyed of which one is dying, and one is unknown.",
     "deploy db 2; await started=2; rmunit db/1", "rmunit db/0", "rmunit db/2", "unit=0"},
    {"An agent is paralysed, and its unit is forced; it comes back to nothing of its own.",
     "deploy db 1; await started=1; kill cell-1", "force db/0", "rmunit db/0",
     "unit=0 machine_unit=0"},
    {"Nobody provides machines while a unit and its machine go.",
     "deploy db 1; await started=1; killconverger", "rmunit db/0", "rmmachine 0",
     "unit=0 machine_unit=0 made=0"},
    {"A cell is made anew: its unit is down until it is forced, others come to a new machine.",
     "deploy db 1; await started=1; kill cell-1; await lost=1; anew; start cell-1; await lost=0",
     "add db 1", "force db/0", "unit=1 started=1 machine=2 made=1"},
    {"A rep dies between a hook and what it notes of it.", "deploy db 1; await made=1",
     "kill cell-1", "start cell-1", "unit=1 started=1|unit=1 made=1"},
    {"A rep dies while its unit does.", "deploy db 1; await started=1", "rmunit db/0",
     "kill cell-1; start cell-1", "unit=0 made=0"},
    {"A rep dies while its unit leaves.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3", "rmunit web/0",
     "kill cell-1; start cell-1", "unit=1 relation_member=2 made=1"},
};

/* ---- Who looks on ---------------------------------------------------------------------------- */

struct racing {
    struct cluster *cluster;
    struct checkers checkers;
    struct arena arena;
    int hooks_exit; /* of those that run; -1 = they go on */
};

static void race_committed(void *context, const struct world_commit *commit)
{
    checkers_committed(&((struct racing *)context)->checkers, commit);
}

static void race_verb(void *context, struct node *n, const struct verb_call *call)
{
    checkers_verb(&((struct racing *)context)->checkers, n, call);
}

static void race_logged(void *context, struct node *n, const struct log_line *line)
{
    checkers_logged(&((struct racing *)context)->checkers, n, line);
}

/* ---- Acts ------------------------------------------------------------------------------------ */

static char *word_of(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void race_answered(void *context, int status, struct bytes body)
{
    (void)context, (void)status, (void)body;
}

/* Nobody waits for the answer. */
static void race_send(struct racing *r, const char *path, const ProtobufCMessage *m)
{
    struct cluster *c = r->cluster;
    struct node *bbs = node_up(c->bbs[0]) ? c->bbs[0] : c->bbs[1];
    world_send(c->world, node_url(bbs), path, m, 10 * SECOND_NS, race_answered, r);
}

static unsigned race_service(const char *name)
{
    unsigned i = 0;
    while (strcmp(unit_services[i], name) != 0) {
        i++;
        assert_true(i < UNIT_SERVICES);
    }
    return i;
}

static void race_deploy(struct racing *r, const char *name, unsigned count)
{
    Board__DeployUnitsRequest m = BOARD__DEPLOY_UNITS_REQUEST__INIT;
    m.charm = unit_charm(&r->arena, race_service(name), 0);
    m.count = count;
    race_send(r, "/v1/units/deploy", &m.base);
}

/* A service of that name without units, which is related to db. */
static void race_deploy_named(struct racing *r, const char *name)
{
    struct cluster *c = r->cluster;
    Board__DeployUnitsRequest m = BOARD__DEPLOY_UNITS_REQUEST__INIT;
    Board__UnitEnd one = BOARD__UNIT_END__INIT, other = BOARD__UNIT_END__INIT;
    Board__UnitEnd *list[] = {&one, &other};
    Board__RelateUnitsRequest relate = BOARD__RELATE_UNITS_REQUEST__INIT;
    m.charm = unit_charm(&r->arena, race_service("web"), 0);
    m.name = word_of(name);
    one = (Board__UnitEnd){one.base, word_of(name), word_of("kv")};
    other = (Board__UnitEnd){other.base, word_of("db"), word_of("kv")};
    relate.ends = list;
    relate.n_ends = 2;
    const char *url = node_url(c->bbs[0]);
    assert_int_equal(world_call(c->world, url, "/v1/units/deploy", &m.base, SETTLE_NS, NULL), 200);
    assert_int_equal(world_call(c->world, url, "/v1/units/relate", &relate.base, SETTLE_NS, NULL),
                     200);
}

static void race_add(struct racing *r, const char *name, unsigned count, bool unused)
{
    Board__AddUnitsRequest m = BOARD__ADD_UNITS_REQUEST__INIT;
    Board__UnitNeeds needs = BOARD__UNIT_NEEDS__INIT;
    needs.unused = true;
    m.service = word_of(name);
    m.count = count;
    m.needs = unused ? &needs : NULL;
    race_send(r, "/v1/units/add", &m.base);
}

static void race_relation(struct racing *r, const char *number, bool ends)
{
    const struct unit_relation_row *row = &unit_relations[atoi(number)];
    Board__UnitEnd one = BOARD__UNIT_END__INIT, other = BOARD__UNIT_END__INIT;
    Board__UnitEnd *list[] = {&one, &other};
    Board__RelateUnitsRequest relate = BOARD__RELATE_UNITS_REQUEST__INIT;
    Board__UnitRelationRequest end = BOARD__UNIT_RELATION_REQUEST__INIT;
    one = (Board__UnitEnd){one.base, word_of(row->one), word_of(row->one_end)};
    other = (Board__UnitEnd){other.base, word_of(row->other), word_of(row->other_end)};
    relate.ends = end.ends = list;
    relate.n_ends = end.n_ends = 2;
    race_send(r, ends ? "/v1/units/relation/destroy" : "/v1/units/relate",
              ends ? &end.base : &relate.base);
}

static void race_unit(struct racing *r, const char *path, const char *unit, bool forced)
{
    Board__UnitRequest m = BOARD__UNIT_REQUEST__INIT;
    m.unit = word_of(unit);
    m.forced = forced;
    m.max_wait_ms = forced;
    m.resolved = strstr(path, "resolve") ? BOARD__UNIT_STATUS_RECORD__RESOLVED__SKIP
                                         : BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT;
    race_send(r, path, &m.base);
}

static void race_machine(struct racing *r, const char *number, bool forced)
{
    Board__MachineRequest m = BOARD__MACHINE_REQUEST__INIT;
    m.optional_number_case = BOARD__MACHINE_REQUEST__OPTIONAL_NUMBER_NUMBER;
    m.number = (uint32_t)atoi(number);
    m.forced = forced;
    m.max_wait_ms = forced;
    race_send(r, "/v1/units/machine/destroy", &m.base);
}

static void race_add_machine(struct racing *r, const char *cell)
{
    Board__AddMachineRequest m = BOARD__ADD_MACHINE_REQUEST__INIT;
    m.cell_id = word_of(cell);
    race_send(r, "/v1/units/machine/add", &m.base);
}

static void race_remove_service(struct racing *r, const char *name)
{
    Board__UnitServiceRequest m = BOARD__UNIT_SERVICE_REQUEST__INIT;
    m.service = word_of(name);
    race_send(r, "/v1/units/service/destroy", &m.base);
}

static void race_process(struct racing *r, struct node *n, bool up)
{
    if (up && !node_up(n)) {
        checkers_restarted(&r->checkers, n);
        world_start(r->cluster->world, n);
    } else if (!up && node_up(n)) {
        world_kill(r->cluster->world, n);
    }
}

/* ---- What there is --------------------------------------------------------------------------- */

struct race_count {
    const char *state;
    int count;
};

/* Of whatever has a state in a text. */
static void count_race_state(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct race_count *n = context;
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, "state");
    (void)type;
    assert_non_null(f);
    n->count += strcmp(*(char *const *)((const char *)m + f->offset), n->state) == 0;
}

static int race_made(struct cluster *c)
{
    int count = 0;
    for (unsigned i = 0; i < c->options.cells; i++) {
        for (int n = 0; model_containers_made(node_containers(c->cells[i]), n); n++) {
            count++;
        }
    }
    return count;
}

static int race_counted(struct racing *r, const char *what)
{
    static const struct {
        const char *state, *prefix;
    } states[] = {{"started", "unit_status/"}, {"stopped", "unit_status/"},
                  {"error", "unit_status/"},   {"dying", "unit/"},
                  {"dead", "unit/"},           {"departing", "relation_member/"}};
    if (strcmp(what, "made") == 0) {
        return race_made(r->cluster);
    }
    if (strcmp(what, "lost") == 0) {
        return cluster_lost_cells(r->cluster);
    }
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct race_count n = {what, 0};
        if (strcmp(what, states[i].state) == 0) {
            cluster_each(r->cluster, states[i].prefix, count_race_state, &n);
            return n.count;
        }
    }
    return cluster_records(r->cluster, arena_printf(&r->arena, "%s/", what));
}

/* All that one alternative says. */
static bool race_is(struct racing *r, char *texts)
{
    bool all = true;
    for (char *rest = texts, *one; (one = strsep(&rest, " "));) {
        char *is = strchr(one, '=');
        assert_non_null(is);
        *is = '\0';
        all = all && race_counted(r, one) == atoi(is + 1);
    }
    return all;
}

static bool race_comes_to(struct racing *r, const char *text)
{
    bool any = false;
    for (char *rest = arena_strdup(&r->arena, text), *one; (one = strsep(&rest, "|"));) {
        any = any || race_is(r, one);
    }
    return any;
}

/* ---- Hooks ----------------------------------------------------------------------------------- */

static void race_end_hooks(struct racing *r)
{
    struct cluster *c = r->cluster;
    for (unsigned i = 0; i < c->options.cells; i++) {
        struct model_containers *m = node_containers(c->cells[i]);
        const char *guid;
        int64_t run;
        for (int n = 0; (guid = model_containers_guid(m, n)); n++) {
            for (int k = 0; (run = model_containers_step(m, guid, k)) >= 0; k++) {
                const struct step_process *p = model_containers_run(m, guid, (uint32_t)run);
                if (p && strcmp(p->path, UNIT_HOOK_PROGRAM) == 0) {
                    world_end_step(c->world, c->cells[i], guid, (uint32_t)run, r->hooks_exit,
                                   false);
                    break;
                }
            }
        }
    }
}

static void race_step(struct racing *r, int64_t ns)
{
    if (r->hooks_exit >= 0) {
        race_end_hooks(r);
    }
    world_run(r->cluster->world, ns);
    if (!checkers_clean(&r->checkers)) {
        fail_msg("%s", buf_string(&r->checkers.violation));
    }
}

static void race_await(struct racing *r, const char *text, int64_t step_ns)
{
    int64_t until = world_now(r->cluster->world) + PLAY_LIMIT_NS;
    while (!race_comes_to(r, text)) {
        if (world_now(r->cluster->world) >= until) {
            fail_msg("it does not come to %s", text);
        }
        race_step(r, step_ns);
    }
}

/* ---- One race -------------------------------------------------------------------------------- */

static void race_act(struct racing *r, char *text)
{
    char *words[3] = {word_of(""), word_of(""), word_of("")};
    struct cluster *c = r->cluster;
    if (strncmp(text, "await ", 6) == 0) {
        race_await(r, text + 6, 30 * MILLISECOND_NS);
        return;
    }
    for (int i = 0; i < 3 && text; i++) {
        words[i] = strsep(&text, " ");
    }
    const char *verb = words[0], *what = words[1];
    unsigned count = (unsigned)atoi(words[2]);
    if (strcmp(verb, "deploy") == 0) {
        race_deploy(r, what, count);
    } else if (strcmp(verb, "add") == 0 || strcmp(verb, "unused") == 0) {
        race_add(r, what, count ? count : 1, strcmp(verb, "unused") == 0);
    } else if (strcmp(verb, "relate") == 0 || strcmp(verb, "unrelate") == 0) {
        race_relation(r, what, *verb == 'u');
    } else if (strcmp(verb, "rmunit") == 0 || strcmp(verb, "force") == 0) {
        race_unit(r, "/v1/units/unit/destroy", what, *verb == 'f');
    } else if (strcmp(verb, "resolve") == 0) {
        race_unit(r, "/v1/units/resolve", what, false);
    } else if (strcmp(verb, "rmmachine") == 0 || strcmp(verb, "forcemachine") == 0) {
        race_machine(r, what, *verb == 'f');
    } else if (strcmp(verb, "addmachine") == 0) {
        race_add_machine(r, what);
    } else if (strcmp(verb, "rmservice") == 0) {
        race_remove_service(r, what);
    } else if (strcmp(verb, "kill") == 0 || strcmp(verb, "start") == 0) {
        race_process(r, c->cells[0], *verb == 's');
    } else if (strcmp(verb, "killbbs") == 0 || strcmp(verb, "startbbs") == 0) {
        race_process(r, c->bbs[0], *verb == 's');
    } else if (strcmp(verb, "killconverger") == 0) {
        race_process(r, c->converger, false);
    } else if (strcmp(verb, "anew") == 0) {
        world_reboot(c->world, c->cells[0], true);
        c->anew[0]++;
    } else {
        assert_string_equal(verb, "hooks");
        r->hooks_exit = strcmp(what, "on") == 0 ? 0 : strcmp(what, "fail") == 0 ? 1 : -1;
    }
}

static void race_acts(struct racing *r, const char *text, int64_t apart_ns)
{
    for (char *rest = arena_strdup(&r->arena, text), *one; rest && (one = strsep(&rest, ";"));) {
        race_act(r, one + strspn(one, " "));
        race_step(r, apart_ns);
    }
}

/* All services go, whatever somebody has to say about hooks that fail. */
static void race_ends(struct racing *r)
{
    SCOPED_BUF(left);
    int64_t until = world_now(r->cluster->world) + PLAY_LIMIT_NS;
    race_process(r, r->cluster->cells[0], true);
    race_process(r, r->cluster->bbs[0], true);
    race_process(r, r->cluster->converger, true);
    r->hooks_exit = 0;
    do {
        for (unsigned i = 0; i < UNIT_SERVICES; i++) {
            race_remove_service(r, unit_services[i]);
        }
        for (unsigned i = 0; i < 2; i++) {
            race_unit(r, "/v1/units/resolve", i ? "db/1" : "db/0", false);
        }
        for (int i = 0; i < 30; i++) {
            race_step(r, 30 * MILLISECOND_NS);
        }
        buf_clear(&left);
        checkers_units_are_gone(&r->checkers, &left);
        if (left.size && world_now(r->cluster->world) > until) {
            fail_msg("all was destroyed: %s", buf_string(&left));
        }
    } while (left.size);
    race_await(r, "made=0 lost=0", 30 * MILLISECOND_NS);
}

static void race_begins(struct racing *r, struct cluster *c)
{
    *r = (struct racing){.cluster = c};
    arena_init(&r->arena);
    checkers_init(&r->checkers, c, 30 * SECOND_NS);
    world_observe(c->world, &(struct world_observer){.committed = race_committed,
                                                     .verb = race_verb,
                                                     .logged = race_logged,
                                                     .context = r});
}

static void race_is_over(struct racing *r)
{
    race_ends(r);
    world_observe(r->cluster->world, &(struct world_observer){0});
    checkers_done(&r->checkers);
    arena_done(&r->arena);
}

/* In its order, or in the other one; a moment apart. */
static void run_race(struct cluster *c, const struct race *race, bool reversed)
{
    struct racing r;
    race_begins(&r, c);
    says(c, race->says);
    race_acts(&r, race->before, 50 * MILLISECOND_NS);
    race_acts(&r, reversed ? race->other : race->one,
              (int64_t)random_below(world_random(c->world), APART_NS));
    race_acts(&r, reversed ? race->one : race->other, 1);
    race_await(&r, race->comes_to, 30 * MILLISECOND_NS);
    race_is_over(&r);
}

/* Which of them, and in which order, the seed says: so many seeds as stories.def has tell each in
 * both. */
void story_a_race_about_units(struct cluster *c)
{
    enum { RACES = sizeof(races) / sizeof(races[0]) };
    _Static_assert(2 * RACES == 56, "stories.def has so many seeds");
    uint64_t drawn = c->options.world.seed % (2 * RACES);
    run_race(c, &races[drawn / 2], drawn % 2);
}

/* ---- The steps of a unit's death ------------------------------------------------------------- */

/* Of web/0, which is related to db/0, and by what each is known; who has subordinates has one more.
 */
static const char *const death_steps[] = {
    "dying=1", "departing=1", "relation_member=2", "stopped=1", "dead=1", "made=1", "unit=1"};

enum death_victim { THE_REP, ITS_CONTAINER, A_BBS, THE_CONVERGER, DEATH_VICTIMS };

static void death_strikes(struct racing *r, enum death_victim victim)
{
    struct cluster *c = r->cluster;
    struct node *n = victim == THE_REP ? c->cells[0]
                     : victim == A_BBS ? c->bbs[random_below(world_random(c->world), 2)]
                                       : c->converger;
    if (victim == ITS_CONTAINER) {
        while (world_end_container(c->world, c->cells[0], 0, 1)) {
        }
        return;
    }
    world_kill(c->world, n);
    race_step(r, 1 + (int64_t)random_below(world_random(c->world), 2 * SECOND_NS));
    race_process(r, n, true);
}

/* A unit goes, and something else dies at one of its steps; which and who, the seed says. */
void story_a_death_at_each_step_of_a_units_end(struct cluster *c)
{
    enum { STEPS = sizeof(death_steps) / sizeof(death_steps[0]) };
    _Static_assert(STEPS * DEATH_VICTIMS == 28, "stories.def has so many seeds");
    struct racing r;
    uint64_t drawn = c->options.world.seed % (STEPS * DEATH_VICTIMS);
    race_begins(&r, c);
    says(c,
         "Two units are related, and one is destroyed. At one of its steps the rep, its container, "
         "a bbs or the converger dies, and is back after a while. It goes all the same, and the "
         "other one stays.");
    race_acts(&r, "deploy db 1; deploy web 1; relate 0; await relation_member=3",
              50 * MILLISECOND_NS);
    race_acts(&r, "rmunit web/0", 1);
    race_await(&r, death_steps[drawn / DEATH_VICTIMS], MILLISECOND_NS / 2);
    death_strikes(&r, (enum death_victim)(drawn % DEATH_VICTIMS));
    race_await(&r,
               "unit=1 unit_status=1 started=1 made=1 relation=2 relation_member=2 machine_unit=1",
               30 * MILLISECOND_NS);
    race_is_over(&r);
}

/* ---- Sixty-four relations -------------------------------------------------------------------- */

void story_a_forced_unit_takes_sixty_four_services_away(struct cluster *c)
{
    enum { SERVICES = HOOK_RELATIONS_MAX - 1 }; /* one is that of its peers */
    struct racing r;
    race_begins(&r, c);
    says(
        c,
        "A unit is related to as many services as it may be, none of which has a unit. They are "
        "destroyed, and its hooks do not end: so all of them wait for it. It is forced, and leaves "
        "one relation after the other; each takes its service away.");
    race_acts(&r, "deploy db 1; await started=1", 50 * MILLISECOND_NS);
    for (unsigned i = 0; i < SERVICES; i++) {
        race_deploy_named(&r, arena_printf(&r.arena, "w-a%u", i));
    }
    race_await(&r, arena_printf(&r.arena, "relation_member=%u", SERVICES + 1), 30 * MILLISECOND_NS);
    race_acts(&r, "hooks off", 1);
    for (unsigned i = 0; i < SERVICES; i++) {
        race_remove_service(&r, arena_printf(&r.arena, "w-a%u", i));
    }
    race_step(&r, SECOND_NS);
    assert_int_equal(race_counted(&r, "unit_service"), SERVICES + 1);
    race_acts(&r, "force db/0", 1);
    race_await(&r, "unit=0 relation=1 relation_member=0 unit_service=1", 30 * MILLISECOND_NS);
    race_is_over(&r);
}
