/* Schedules of the shipping ops about units: clients, the reps of three cells, jobs and the
 * converger wish at two bbs that hear of commits late, commit later than they decided, or never.
 * After each commit the laws hold (test/tool/unit_laws.h). In the end all are destroyed, everybody
 * does his work, and nothing is left.
 *
 *   test_unit_ops [--schedules N] [--seed S] | --seeds A-B     (test/decide/schedules.h) */
#include "bbs/inside.h"
#include "bbs/units/facts.h"
#include "bbs/units/units.h"
#include "common/lifecycle/machine.h"
#include "common/lifecycle/member.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"
#include "test/decide/schedules.h"
#include "test/decide/unit_rows.h"
#include "test/decide/unit_world.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 400, TURNS_MAX = 6, REST_STEPS_MAX = 20000 };

#ifdef __SANITIZE_ADDRESS__
static struct schedules schedules = {1, 150, false};
#else
static struct schedules schedules = {1, 1500, false};
#endif

/* ---- What is there at first ------------------------------------------------------------------ */

#define SERVICE(name, more)                                                                        \
    "unit_service/" name " name=" name " guid=s-" name " state=alive charm=d" more                 \
    "\nsequence/unit/" name " next=1000000\n"
#define ON(name, number, machine)                                                                  \
    "unit/" name "/000000000" number " service=" name " number=" number " guid=" name number       \
    " service_guid=s-" name " state=alive place=alive assigned=1 machine=" machine                 \
    " cell_id=c" machine " identity=I\nunit_status/" name "/000000000" number " guid=" name number \
    " state=started\nmachine_unit/000000000" machine "/" name "/000000000" number                  \
    " guid=" name number "\n"
#define WAITING(name, number)                                                                      \
    "unit/" name "/000000000" number " service=" name " number=" number " guid=" name number       \
    " service_guid=s-" name " state=alive place=unassigned\nunit_status/" name "/000000000" number \
    " guid=" name number " state=pending\n"
#define MACHINE(n)                                                                                 \
    "machine/000000000" n " number=" n " guid=m" n " state=alive cell_id=c" n                      \
    " identity=I host_units=1\nmachine_cell/c" n " number=" n " cell_id=c" n "\n"

#define DB_ENDS "db:1:kv:0,ring:2:ring:0"
#define WEB_ENDS "db:0:kv:0,site:1:http:0"
#define API_ENDS "db:0:kv:0,site:0:http:0"
#define LOGGER_ENDS "log:0:juju-info:1"

/* Machine 3 has no unit yet, and machine 0 was the cell c1 before that was made anew. */
#define FORMER                                                                                     \
    "machine/0000000000 number=0 guid=m0 state=alive cell_id=c1 identity=J host_units=1\n"

static const char *const at_first[] = {
    FORMER,
    MACHINE("1"),
    MACHINE("2"),
    MACHINE("3"),
    SERVICE("db", ""),
    SERVICE("web", ""),
    SERVICE("api", ""),
    SERVICE("logger", " subordinate=1"),
    "charm/db/d endpoints=" DB_ENDS "\n",
    "charm/web/d endpoints=" WEB_ENDS "\n",
    "charm/api/d endpoints=" API_ENDS "\n",
    "charm/logger/d endpoints=" LOGGER_ENDS "\n",
    "sequence/relation next=1\nsequence/machine next=4\n",
    "relation/0000000000 number=0 guid=ring state=alive ends=db:ring:2:ring:0\n",
    "relation_key/db%3Aring number=0 guid=ring\n",
    "unit_service_relation/db/0000000000 number=0 guid=ring\n",
    ON("db", "0", "1"),
    ON("db", "1", "2"),
    ON("web", "0", "2"),
    ON("web", "1", "1"),
    ON("api", "0", "2"),
    ON("api", "1", "1"),
    WAITING("web", "2"),
    WAITING("web", "3"),
    WAITING("api", "2"),
    WAITING("db", "2"),
};

/* With some of its units: a service of one or none is one whose last reference goes soon. */
static const char *records_at_first(struct arena *a, uint64_t seed)
{
    struct random r;
    const char *text = "";
    random_seed(&r, (uint64_t[2]){seed, 0});
    for (size_t i = 0; i < sizeof(at_first) / sizeof(at_first[0]); i++) {
        bool left_out = strncmp(at_first[i], "unit/", 5) == 0 && random_below(&r, 2);
        text = left_out ? text : arena_printf(a, "%s%s", text, at_first[i]);
    }
    return text;
}

/* ---- What somebody sees ---------------------------------------------------------------------- */

struct eyes {
    struct unit_world *w;
    const struct laid_board *board; /* of the bbs that is asked */
    struct unit_turn *t;
};

static uint64_t draw(struct eyes *e, uint64_t below)
{
    return random_below(&e->w->random, below);
}

/* Any record with that prefix; NULL = there is none. */
static const ProtobufCMessage *any(struct eyes *e, const char *prefix, const char **ret_key)
{
    const char **keys;
    size_t count = laid_keys(e->board, &e->t->arena, prefix, &keys);
    if (!count) {
        return NULL;
    }
    *ret_key = keys[draw(e, count)];
    return laid_message(e->board, &e->t->arena, *ret_key);
}

static const ProtobufCMessage *at(struct eyes *e, const char *key)
{
    return laid_message(e->board, &e->t->arena, key);
}

static const Board__UnitRecord *any_unit(struct eyes *e, int life, const char **ret_key)
{
    const Board__UnitRecord *u = (const Board__UnitRecord *)any(e, "unit/", ret_key);
    return u && life_of(&unit_lifecycle, u->state) == life ? u : NULL;
}

static const char *of_guid(struct eyes *e, const char *move, const char *key, const char *guid)
{
    return arena_printf(&e->t->arena, "%s %s guid=%s", move, key, guid);
}

/* ---- Clients --------------------------------------------------------------------------------- */

static bool relate(struct eyes *e)
{
    static const char *const ends[] = {"web:db db:db",
                                       "db:db api:db",
                                       "web:site api:site",
                                       "logger:log web:juju-info",
                                       "db:juju-info logger:log",
                                       "api:juju-info logger:log"};
    e->t->actor = ACTOR_CLIENT;
    e->t->op = &relate_units_row;
    e->t->request =
        &relate_request(&e->t->arena, ends[draw(e, sizeof(ends) / sizeof(ends[0]))])->base;
    return true;
}

static bool destroy_a_unit(struct eyes *e)
{
    const char *key;
    const Board__UnitRecord *u = any_unit(e, UNIT_ALIVE, &key);
    if (!u || draw(e, 6)) {
        return false;
    }
    unit_turn_move(e->t, &unit_moves, ACTOR_CLIENT, "", of_guid(e, "destroy", key, u->guid));
    return true;
}

static bool destroy_a_relation(struct eyes *e)
{
    const char *key;
    const Board__RelationRecord *r = (const Board__RelationRecord *)any(e, "relation/", &key);
    if (!r || draw(e, 3)) {
        return false;
    }
    unit_turn_move(e->t, &relation_moves, ACTOR_CLIENT, "",
                   arena_printf(&e->t->arena, "destroy %s", key));
    return true;
}

/* ---- The reps, each for the units of its cell ------------------------------------------------ */

static bool ends_itself(struct eyes *e)
{
    const char *key;
    const Board__UnitRecord *u = any_unit(e, UNIT_ALIVE, &key);
    if (!u) {
        return false;
    }
    unit_turn_move(e->t, &unit_moves, ACTOR_REP, u->cell_id, of_guid(e, "destroy", key, u->guid));
    return true;
}

static bool dies(struct eyes *e)
{
    const char *key;
    const Board__UnitRecord *u = any_unit(e, UNIT_DYING, &key);
    if (!u) {
        return false;
    }
    unit_turn_move(e->t, &unit_moves, ACTOR_REP, u->cell_id, of_guid(e, "die", key, u->guid));
    return true;
}

static bool is_removed(struct eyes *e)
{
    const char *key;
    const Board__UnitRecord *u = any_unit(e, UNIT_DEAD, &key);
    if (!u) {
        return false;
    }
    unit_turn_move(e->t, &unit_moves, ACTOR_REP, u->cell_id, of_guid(e, "remove", key, u->guid));
    return true;
}

/* The scope of the unit in the relation. */
static const char *scope_of(struct eyes *e, const Board__UnitRecord *u,
                            const Board__RelationRecord *r)
{
    struct arena *a = &e->t->arena;
    struct unit_name principal = unit_name_of(u);
    if (r->scope != BOARD__ENDPOINT__SCOPE__CONTAINER) {
        return "-";
    }
    if (*u->principal && !unit_name_parse(a, u->principal, &principal)) {
        fail_msg("unit %s/%u has principal %s", u->service, u->number, u->principal);
    }
    return unit_scope_text(a, principal);
}

static bool enters(struct eyes *e)
{
    struct arena *a = &e->t->arena;
    const char *key, *reference;
    const Board__UnitRecord *u = any_unit(e, UNIT_ALIVE, &key);
    const Board__RelationNameRecord *named =
        u ? (const Board__RelationNameRecord *)any(
                e, key_range_of(a, RECORD_UNIT_SERVICE_RELATION, u->service), &reference)
          : NULL;
    const Board__RelationRecord *r =
        named ? (const Board__RelationRecord *)at(e, key_relation(a, named->number)) : NULL;
    for (size_t i = 0; r && i < r->n_ends; i++) {
        if (strcmp(r->ends[i]->service, u->service) != 0) {
            continue;
        }
        struct member_name name = {r->number, scope_of(e, u, r), (int)r->ends[i]->endpoint->role,
                                   unit_name_of(u)};
        unit_turn_move(e->t, &member_moves, ACTOR_REP, u->cell_id,
                       arena_printf(a, "enter %s guid=%s relation_guid=%s brings_child=%d child=%u",
                                    key_relation_member(a, &name), u->guid, r->guid,
                                    draw(e, 2) != 0, ++e->w->numbers));
        return true;
    }
    return false;
}

static const Board__RelationMemberRecord *any_member(struct eyes *e, const char **ret_key,
                                                     struct member_name *ret)
{
    const Board__RelationMemberRecord *m =
        (const Board__RelationMemberRecord *)any(e, "relation_member/", ret_key);
    return m && member_of_key(&e->t->arena, *ret_key, ret) ? m : NULL;
}

/* Its relation goes, or it does: the agent owes no hook any more. */
static bool leaves(struct eyes *e)
{
    struct arena *a = &e->t->arena;
    const char *key;
    struct member_name name;
    const Board__RelationMemberRecord *m = any_member(e, &key, &name);
    const Board__RelationRecord *r =
        m ? (const Board__RelationRecord *)at(e, key_relation(a, name.relation)) : NULL;
    bool goes = r && (life_of(&relation_lifecycle, r->state) != RELATION_ALIVE ||
                      life_of(&member_lifecycle, m->state) != MEMBER_JOINED);
    if (!goes) {
        return false;
    }
    unit_turn_move(e->t, &member_moves, ACTOR_REP, m->cell_id,
                   of_guid(e, "leave", key, m->unit_guid));
    return true;
}

static bool publishes(struct eyes *e)
{
    const char *key;
    struct member_name name;
    const Board__RelationMemberRecord *m = any_member(e, &key, &name);
    if (!m) {
        return false;
    }
    unit_turn_move(e->t, &member_moves, ACTOR_REP, m->cell_id,
                   arena_printf(&e->t->arena, "publish %s guid=%s hook=%u", key, m->unit_guid,
                                (unsigned)draw(e, 1000)));
    return true;
}

/* ---- What is said of units ------------------------------------------------------------------- */

static bool says_of(struct eyes *e, enum actor actor, const char *move, const char *more)
{
    struct arena *a = &e->t->arena;
    const char *key;
    struct unit_name name;
    const Board__UnitStatusRecord *s =
        (const Board__UnitStatusRecord *)any(e, "unit_status/", &key);
    const Board__UnitRecord *u = s && unit_of_key(a, key, &name)
                                     ? (const Board__UnitRecord *)at(e, key_unit(a, name))
                                     : NULL;
    if (u) {
        unit_turn_move(e->t, &unit_status_moves, actor, actor == ACTOR_REP ? u->cell_id : "",
                       arena_printf(a, "%s %s guid=%s%s", move, key, s->guid, more));
    }
    return u;
}

static bool reports(struct eyes *e)
{
    static const char *const states[] = {" status.state=installed", " status.state=started",
                                         " status.state=stopped"};
    return says_of(e, ACTOR_REP, "report", states[draw(e, 3)]);
}

static bool fails(struct eyes *e)
{
    return says_of(e, ACTOR_REP, "fail", " status.state=error status.hook=start");
}

static bool resolves(struct eyes *e)
{
    return says_of(e, ACTOR_CLIENT, "resolve", draw(e, 2) ? " resolved=1" : " resolved=2");
}

/* ---- Machines -------------------------------------------------------------------------------- */

static const char *any_cell(struct eyes *e)
{
    return arena_printf(&e->t->arena, "c%u", 1 + (unsigned)draw(e, 3));
}

static bool is_placed(struct eyes *e)
{
    const char *key;
    const Board__UnitRecord *u = any_unit(e, UNIT_ALIVE, &key);
    if (!u || u->assigned || *u->principal) {
        return false;
    }
    unit_turn_move(e->t, &unit_moves, ACTOR_REP, any_cell(e), of_guid(e, "assign", key, u->guid));
    return true;
}

static bool adds_a_machine(struct eyes *e)
{
    Board__AddMachineRequest *r =
        arena_message(&e->t->arena, &board__add_machine_request__descriptor);
    r->cell_id = arena_strdup(&e->t->arena, any_cell(e));
    e->t->actor = ACTOR_CLIENT;
    e->t->op = &add_machine_row;
    e->t->request = &r->base;
    return true;
}

static bool of_a_machine(struct eyes *e, enum actor actor, const char *move, const char *more,
                         int life)
{
    const char *key;
    const Board__MachineRecord *m = (const Board__MachineRecord *)any(e, "machine/", &key);
    bool such = m && life_of(&machine_lifecycle, m->state) == life;
    if (such) {
        unit_turn_move(e->t, &machine_moves, actor, actor == ACTOR_REP ? m->cell_id : "",
                       arena_printf(&e->t->arena, "%s%s", of_guid(e, move, key, m->guid), more));
    }
    return such;
}

static bool cordons(struct eyes *e)
{
    return of_a_machine(e, ACTOR_CLIENT, draw(e, 3) ? "uncordon" : "cordon", "", MACHINE_ALIVE);
}

static bool destroys_a_machine(struct eyes *e)
{
    return of_a_machine(e, ACTOR_CLIENT, "destroy", draw(e, 6) ? "" : " forced=1 max_wait_ms=1",
                        MACHINE_ALIVE);
}

static bool a_machine_dies(struct eyes *e)
{
    return of_a_machine(e, draw(e, 2) ? ACTOR_REP : ACTOR_CONVERGER, "die", "", MACHINE_DYING);
}

static bool a_machine_is_removed(struct eyes *e)
{
    return of_a_machine(e, ACTOR_CONVERGER, "remove", "", MACHINE_DEAD);
}

/* ---- Services -------------------------------------------------------------------------------- */

static bool destroys_a_service(struct eyes *e)
{
    const char *key;
    const Board__UnitServiceRecord *s =
        (const Board__UnitServiceRecord *)any(e, "unit_service/", &key);
    bool wants = e->w->at_rest || draw(e, 4) == 0;
    if (!s || !wants) {
        return false;
    }
    unit_turn_move(e->t, &unit_service_moves, ACTOR_CLIENT, "",
                   arena_printf(&e->t->arena, "destroy %s guid=%s%s", key, s->guid,
                                draw(e, 6) ? "" : " forced=1 max_wait_ms=1"));
    return true;
}

/* One of these whose name may be free. */
static bool deploys(struct eyes *e)
{
    static const char *const charms[][2] = {
        {"db", DB_ENDS}, {"web", WEB_ENDS}, {"api", API_ENDS}, {"logger", LOGGER_ENDS}};
    struct arena *a = &e->t->arena;
    size_t i = (size_t)draw(e, sizeof(charms) / sizeof(charms[0]));
    const char *name = charms[i][0], *key;
    bool subordinate = i == 3;
    const Board__CharmRecord *charm = (const Board__CharmRecord *)unit_row(
        a, arena_printf(a, "charm/%s/d endpoints=%s", name, charms[i][1]), &key);
    Board__DeployUnitsRequest *r = arena_message(a, &board__deploy_units_request__descriptor);
    if (at(e, key_unit_service(a, name)) && draw(e, 4)) {
        return false;
    }
    r->charm = charm->charm;
    r->charm->name = arena_strdup(a, name);
    r->charm->subordinate = subordinate;
    r->charm->run = arena_message(a, &models__desired_lrp__descriptor);
    r->charm->run->root_fs = arena_strdup(a, "preloaded:busybox");
    r->count = subordinate ? 0 : 1 + (uint32_t)draw(e, 3);
    e->t->actor = ACTOR_CLIENT;
    e->t->op = &deploy_units_row;
    e->t->request = &r->base;
    return true;
}

static bool adds_units(struct eyes *e)
{
    const char *key;
    const Board__UnitServiceRecord *s =
        (const Board__UnitServiceRecord *)any(e, "unit_service/", &key);
    if (!s) {
        return false;
    }
    Board__AddUnitsRequest *r = arena_message(&e->t->arena, &board__add_units_request__descriptor);
    r->service = s->name;
    r->count = 1 + (uint32_t)draw(e, 3);
    e->t->actor = ACTOR_CLIENT;
    e->t->op = &add_units_row;
    e->t->request = &r->base;
    return true;
}

/* A portion, though it be early: that does no harm (bbs/board/job.h). */
static bool works_at_a_job(struct eyes *e)
{
    const char *key;
    const ProtobufCMessage *job = any(e, "job/", &key);
    if (!job) {
        return false;
    }
    e->t->actor = ACTOR_BBS;
    e->t->op = bbs_job_row(NULL, (const Board__JobRecord *)job);
    e->t->request = job;
    assert_non_null(e->t->op);
    return true;
}

/* ---- Schedules ------------------------------------------------------------------------------- */

struct wish {
    const char *name;
    bool (*wish)(struct eyes *e);
    unsigned weight;
    bool work; /* somebody does it without being asked, until nothing is left to do */
};
static const struct wish wishes[] = {
    {"relate", relate, 4, false},
    {"destroy a unit", destroy_a_unit, 3, false},
    {"destroy a relation", destroy_a_relation, 2, false},
    {"end itself", ends_itself, 4, true},
    {"die", dies, 6, true},
    {"remove", is_removed, 4, true},
    {"enter", enters, 12, false},
    {"leave", leaves, 10, true},
    {"publish", publishes, 2, false},
    {"report", reports, 2, false},
    {"fail", fails, 1, false},
    {"resolve", resolves, 2, false},
    {"place a unit", is_placed, 8, false},
    {"add a machine", adds_a_machine, 2, false},
    {"cordon or uncordon a machine", cordons, 1, false},
    {"destroy a machine", destroys_a_machine, 3, false},
    {"a machine dies", a_machine_dies, 3, true},
    {"a machine is removed", a_machine_is_removed, 3, true},
    {"destroy a service", destroys_a_service, 2, true},
    {"deploy", deploys, 3, false},
    {"add units", adds_units, 3, false},
    {"work at a job", works_at_a_job, 10, true},
};
enum { WISHES = sizeof(wishes) / sizeof(wishes[0]) };

static const struct wish *draw_wish(struct unit_world *w, bool work)
{
    unsigned sum = 0;
    for (size_t i = 0; i < WISHES; i++) {
        sum += !work || wishes[i].work ? wishes[i].weight : 0;
    }
    uint64_t drawn = random_below(&w->random, sum);
    for (size_t i = 0; i < WISHES; i++) {
        unsigned weight = !work || wishes[i].work ? wishes[i].weight : 0;
        if (drawn < weight) {
            return &wishes[i];
        }
        drawn -= weight;
    }
    return NULL;
}

/* Totals of all schedules, so that no wish is one that never comes true. */
static struct {
    size_t commits, conflicts, refusals, changes_most;
    size_t committed[WISHES], conflicted[WISHES];
} seen;

struct schedule {
    struct unit_world w;
    struct unit_turn turns[TURNS_MAX];
    const struct wish *wishes[TURNS_MAX];
    size_t count;
};

static void begin_turn(struct schedule *s, bool work)
{
    struct unit_turn *t = &s->turns[s->count];
    unit_turn_init(t, (unsigned)random_below(&s->w.random, UNIT_WORLD_BBS));
    struct eyes e = {&s->w, s->w.bbs[t->bbs], t};
    const struct wish *wish = draw_wish(&s->w, work);
    if (wish->wish(&e)) {
        unit_world_decide(&s->w, t);
        s->wishes[s->count++] = wish;
    } else {
        unit_turn_done(t);
    }
}

/* It commits, or whoever wished it is gone before he does. */
static void end_turn(struct schedule *s, bool vanishes)
{
    size_t i = (size_t)random_below(&s->w.random, s->count);
    if (!vanishes) {
        size_t wish = (size_t)(s->wishes[i] - wishes), before = s->w.commits;
        seen.conflicted[wish] += !unit_world_commit(&s->w, &s->turns[i]);
        seen.committed[wish] += s->w.commits - before;
    }
    unit_turn_done(&s->turns[i]);
    s->count--;
    s->turns[i] = s->turns[s->count];
    s->wishes[i] = s->wishes[s->count];
}

static void step(struct schedule *s, bool work)
{
    uint64_t drawn = random_below(&s->w.random, 100);
    if (drawn < 20) {
        unit_world_hear(&s->w, (unsigned)drawn % UNIT_WORLD_BBS,
                        1 + (size_t)random_below(&s->w.random, 6));
    } else if (s->count == 0 || (s->count < TURNS_MAX && drawn < 60)) {
        begin_turn(s, work);
    } else {
        end_turn(s, drawn >= 95);
    }
}

/* Units, services and relations, and what is about them. */
static bool something_is_left(const struct unit_world *w)
{
    SCOPED_ARENA(a);
    static const char *const kinds[] = {"unit_service/", "unit/", "relation/", "job/"};
    const char **keys;
    size_t count = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        count += laid_keys(w->store, &a, kinds[i], &keys);
    }
    return count > 0;
}

/* Every service is destroyed, and everybody does his work. */
static void come_to_the_end(struct schedule *s)
{
    s->w.at_rest = true;
    for (unsigned i = 0; i < REST_STEPS_MAX && something_is_left(&s->w); i++) {
        step(s, true);
    }
    while (s->count) {
        end_turn(s, true);
    }
    unit_world_is_empty(&s->w);
}

static void live(uint64_t seed)
{
    SCOPED_ARENA(a);
    struct schedule s = {.count = 0};
    unit_world_init(&s.w, seed, records_at_first(&a, seed));
    for (unsigned i = 0; i < STEPS; i++) {
        step(&s, false);
    }
    while (s.count) {
        end_turn(&s, false);
    }
    come_to_the_end(&s);
    seen.commits += s.w.commits;
    seen.conflicts += s.w.conflicts;
    seen.refusals += s.w.refusals;
    seen.changes_most = s.w.changes_most > seen.changes_most ? s.w.changes_most : seen.changes_most;
    unit_world_done(&s.w);
}

static void laws_hold_in_every_schedule(void **state)
{
    (void)state;
    assert_int_equal(0, schedules_run(&schedules, live));
    if (schedules.apart) { /* they counted each for itself */
        return;
    }
    print_message("%u schedules: %zu commits, %zu conflicts, %zu refused, %zu changes at most\n",
                  schedules.count, seen.commits, seen.conflicts, seen.refusals, seen.changes_most);
    for (size_t i = 0; i < WISHES; i++) {
        print_message("%s: %zu times, %zu conflicts\n", wishes[i].name, seen.committed[i],
                      seen.conflicted[i]);
        assert_true(seen.committed[i] > 0 || schedules.count < 1000);
    }
}

int main(int argc, char **argv)
{
    if (!schedules_parse(&schedules, argc, argv)) {
        return 2;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(laws_hold_in_every_schedule)};
    return cmocka_run_group_tests_name("units by schedules", tests, NULL, NULL);
}
