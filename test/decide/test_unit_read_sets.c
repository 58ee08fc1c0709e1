/* The law of read sets for units and relations: a write compares all that its decision rests on.
 * Boards are drawn, each move is tried on them, and each record is taken away, changed or added
 * (laid_hold()). What each compares is test/decide/expected/unit_read_sets.txt. */
#include "bbs/inside.h"
#include "bbs/units/units.h"
#include "common/base/map.h"
#include "common/model/record.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"
#include "test/tool/page.h"

#include <stdio.h>
#include <string.h>

enum { BOARDS = 1000, CHANGES = 3, SLOTS = 37, TEXTS = 4 };

#define EXPECTED "test/decide/expected/unit_read_sets.txt"
#define U "web/0000000003"
#define MEMBER "relation_member/0000000007/-/0/" U
#define CONTAINED "relation_member/0000000009/web.3/1/" U
#define UNIT                                                                                       \
    "unit/" U " service=web number=3 guid=g3 service_guid=s-web cell_id=c1 identity=I "            \
    "assigned=1 machine=1 state="
#define SUB                                                                                        \
    "unit/logger/0000000000 service=logger number=0 guid=l0 service_guid=s-logger cell_id=c1 "     \
    "identity=I principal=web/3 principal_guid=g3 state="
#define WEB "unit_service/web name=web guid=s-web charm=d state="
#define DB "unit_service/db name=db guid=s-db charm=d state="
#define LOGGER "unit_service/logger name=logger guid=s-logger subordinate=1 charm=d state="
#define REL "relation/0000000007 number=7 guid=r7 ends=web:db:0,db:kv:1 state="
#define MAIL "unit/mail/0000000000 service=mail number=0 guid=m0 place=unassigned state="
#define MACHINE "machine/0000000001 number=1 guid=m1 cell_id=c1 identity=I host_units=1 state="
#define JOINS                                                                                      \
    "relation/0000000009 number=9 guid=r9 scope=1 ends=logger:info:0,web:juju-info:1 state="

#define ADD_JOB                                                                                    \
    "job/s-web/add target=s-web name=add kind=3 units.service=web units.guid=s-web units.left=3"
#define END_JOB "job/s-web/force target=s-web name=force kind=4 units.service=web units.guid=s-web"
#define RELATIONS_JOB                                                                              \
    "job/s-web/relations target=s-web name=relations kind=5 units.service=web units.guid=s-web"
#define DEPART_JOB                                                                                 \
    "job/g3/depart target=g3 name=depart kind=6 units.service=web units.number=3 units.guid=g3"
#define SWEEP_JOB                                                                                  \
    "job/r6/sweep target=r6 name=sweep kind=7 units.keys=relation_settings/0000000007/,charm/db/"
#define FORCE_JOB                                                                                  \
    "job/g3/force target=g3 name=force kind=8 units.service=web units.number=3 units.guid=g3 "     \
    "units.forced=1"

/* A record that may stand, in one of these ways; the share of boards on which it does, in percent.
 * Where it does not it is a stranger, which might come. */
static const struct {
    unsigned percent;
    const char *texts[TEXTS];
} slots[SLOTS] = {
    {100, {"epoch/E id=E"}},
    {95, {UNIT "alive", UNIT "alive", UNIT "dying", UNIT "dead"}},
    {60, {SUB "alive", SUB "alive", SUB "dying", SUB "dead"}},
    {80,
     {"unit_status/" U " state=started", "unit_status/" U " state=pending",
      "unit_status/" U " state=pending", "unit_status/" U " state=error"}},
    {80, {"machine_unit/0000000001/" U " guid=g3"}},
    {90, {WEB "alive", WEB "dying", WEB "dying", WEB "alive"}},
    {90, {DB "alive", DB "dying", DB "dying", DB "alive"}},
    {80, {LOGGER "alive", LOGGER "dying", LOGGER "alive", LOGGER "alive"}},
    {30, {"unit_config/web"}},
    {30, {"unit_config/db"}},
    {15, {"unit/web/0000000004 service=web number=4 guid=g4 state=alive"}},
    {15, {"unit/db/0000000001 service=db number=1 guid=d1 state=alive"}},
    {70, {REL "alive", REL "dying", REL "alive", REL "dying"}},
    {70, {"relation_key/web%3Adb%20db%3Akv number=7"}},
    {60, {"unit_service_relation/web/0000000007 number=7"}},
    {60, {"unit_service_relation/db/0000000007 number=7"}},
    {50,
     {MEMBER " unit_guid=g3 relation_guid=r7 state=joined",
      MEMBER " unit_guid=g3 relation_guid=r7 state=departing"}},
    {40, {"unit_scope/" U "/0000000007 member=" MEMBER}},
    {30, {"relation_member/0000000007/-/1/db/0000000001 unit_guid=d1 state=joined"}},
    {40, {"relation_settings/0000000007/-/0/" U " unit_guid=g3 hook=4"}},
    {50, {JOINS "alive", JOINS "dying"}},
    {50, {"unit_service_relation/logger/0000000009 number=9"}},
    {30, {"unit_child/" U "/logger unit=logger/0 guid=l0"}},
    {90, {"sequence/unit/logger next=9"}},
    {80, {MAIL "alive", MAIL "alive", MAIL "alive needs.unused=1", MAIL "dying"}},
    {80, {MACHINE "alive clean=1", MACHINE "alive", MACHINE "dying", MACHINE "dead"}},
    {70, {"machine_cell/c1 number=1 cell_id=c1"}},
    {80, {"sequence/machine next=4"}},
    {90, {"charm/web/d endpoints=db:0:kv", "charm/web/d endpoints=db:0:kv,x:0:y"}},
    {90, {ADD_JOB}},
    {90, {END_JOB}},
    {50, {RELATIONS_JOB}},
    {90, {DEPART_JOB}},
    {90, {FORCE_JOB}},
    {90, {SWEEP_JOB}},
    {80, {"sequence/unit/web next=9"}},
    {60, {"charm/web/e service=web digest=e"}},
};
static const char *const more[] = {"charm/db/d endpoints=kv:1:kv",
                                   "sequence/relation next=3",
                                   "unit_child/" U "/logger unit=logger/0 guid=l0",
                                   "unit_scope/" U "/0000000001 member=m",
                                   "unit/logger/0000000005 service=logger number=5",
                                   "unit_service_relation/web/0000000001 number=1",
                                   "machine/0000000004 number=4",
                                   "machine/0000000000 number=0"};

struct tried {
    struct map reads; /* "move by actor: key kind" */
    struct buf fault;
    unsigned commits;
};

struct drawn {
    struct laid_system l;
    struct random random;
    struct laid_stranger list[SLOTS + sizeof(more) / sizeof(more[0])];
    size_t count;
};

static void add(struct drawn *d, unsigned percent, const char *text)
{
    struct arena *a = &d->l.arena;
    const char *key;
    ProtobufCMessage *m = unit_row(a, arena_strdup(a, text), &key);
    d->list[d->count++] = (struct laid_stranger){key, m};
    if (random_below(&d->random, 100) < percent) {
        laid_system_put(&d->l, key, m);
    }
}

/* Its boards are its own, whichever rows stand before it. */
static uint64_t seed_of(const char *text, enum actor actor)
{
    uint64_t seed = actor;
    for (; *text; text++) {
        seed = seed * 31 + (unsigned char)*text;
    }
    return seed;
}

static void draw(struct drawn *d, uint64_t row, unsigned number)
{
    *d = (struct drawn){.count = 0};
    laid_units_init(&d->l, "");
    random_seed(&d->random, (uint64_t[2]){row, row + number});
    for (size_t i = 0; i < SLOTS; i++) {
        const char *text = slots[i].texts[random_below(&d->random, TEXTS)];
        add(d, slots[i].percent, text ? text : slots[i].texts[0]);
    }
    add(d, 90, more[0]);
    add(d, 80, more[1]);
    for (size_t i = 3; i < sizeof(more) / sizeof(more[0]); i++) {
        add(d, 0, more[i]);
    }
}

/* Every transaction compares that the board generation is there. A sequence only grows, so that a
 * number below it stays one: that it exists is compared. How many relations a service has is looked
 * at, and may be one more in the same moment. When a service ends, its relations that are not alive
 * are left alone: none of them becomes alive, a new one comes with a reference, which is compared,
 * and a reference goes with its relation alone. A dying unit enters no relation,
 * and a scope goes with its membership. What is swept is of a relation or service that is gone,
 * which is compared: nothing of it comes. A portion that forces a unit does one of the things that
 * are due, each of which is right whether another one is due or not. */
static bool excused(const struct op_row *row, const char *key, bool added)
{
    enum record_type type = key_type(key);
    bool ends = strcmp(row->name, "move of a unit service") == 0 || row == &end_relations_job_row;
    return strcmp(key, "sequence/unit/logger") == 0 ||
           (type == RECORD_UNIT_SCOPE && row == &depart_unit_job_row) ||
           (added && row == &sweep_units_job_row) ||
           (row == &force_unit_job_row &&
            (type == RECORD_UNIT_CHILD || type == RECORD_UNIT_SCOPE)) ||
           type == RECORD_BOARD_GENERATION ||
           (type == RECORD_UNIT_SERVICE_RELATION && row == &relate_units_row) ||
           (ends && (type == RECORD_RELATION || (type == RECORD_UNIT_SERVICE_RELATION && !added)));
}

static void note_reads(struct tried *t, struct drawn *d, const struct op_row *row,
                       const struct op_input *in, const char *name)
{
    struct laid_plan p;
    laid_decide(d->l.board, row, in, &d->l.arena, &p);
    assert_true(p.plan.change_count <= 64);
    for (size_t i = 0; p.plan.verdict == PLAN_COMMIT && i < p.reads.count; i++) {
        const struct compare *c = &p.reads.list[i];
        map_put(&t->reads,
                arena_printf(&d->l.arena, "%s by %s: %s %s", name, actor_name(in->actor), c->key,
                             compare_kind_name(c->kind)),
                t);
    }
}

/* What is asked, by its text. */
struct asking {
    const struct op_row *row;
    const char *name;
    const ProtobufCMessage *request;
};

static struct asking asking_move(struct arena *a, const struct move_family *family,
                                 const char *text)
{
    const Board__Move *m = units_move(a, text);
    return (struct asking){move_row_named(family, m->move)->op,
                           arena_printf(a, "%s %s", m->move, m->subject->kind), &m->base};
}

static struct asking asking_relate(struct arena *a, const struct move_family *none,
                                   const char *text)
{
    (void)none;
    return (struct asking){&relate_units_row, relate_units_row.name,
                           &relate_request(a, text)->base};
}

/* A portion of the job. */
static struct asking asking_job(struct arena *a, const struct move_family *none, const char *text)
{
    const char *key;
    const ProtobufCMessage *job = unit_row(a, arena_strdup(a, text), &key);
    const struct op_row *row = bbs_job_row(NULL, (const Board__JobRecord *)job);
    (void)none;
    return (struct asking){row, row->name, job};
}

static struct asking asking_add(struct arena *a, const struct move_family *none,
                                const char *service)
{
    Board__AddUnitsRequest *r = arena_message(a, &board__add_units_request__descriptor);
    (void)none;
    r->service = arena_strdup(a, service);
    r->count = 2;
    return (struct asking){&add_units_row, add_units_row.name, &r->base};
}

/* Of a service with an end of peers. */
static struct asking asking_deploy(struct arena *a, const struct move_family *none,
                                   const char *name)
{
    const char *key;
    Board__DeployUnitsRequest *r = arena_message(a, &board__deploy_units_request__descriptor);
    ProtobufCMessage *charm =
        unit_row(a, arena_printf(a, "charm/%s/d endpoints=kv:1:kv,ring:2:ring", name), &key);
    (void)none;
    r->charm = ((Board__CharmRecord *)charm)->charm;
    r->charm->name = arena_strdup(a, name);
    r->charm->run = arena_message(a, &models__desired_lrp__descriptor);
    r->count = 2;
    return (struct asking){&deploy_units_row, deploy_units_row.name, &r->base};
}

/* It is tried upon boards that are drawn. */
static void
try_asked(struct tried *t, const struct move_family *family, enum actor actor, const char *text,
          struct asking (*ask)(struct arena *a, const struct move_family *family, const char *text))
{
    t->commits = 0;
    for (unsigned i = 0; i < BOARDS; i++) {
        struct drawn d;
        draw(&d, seed_of(text, actor), i);
        const struct asking asked = ask(&d.l.arena, family, text);
        struct op_input in = {.actor = actor,
                              .peer_name = "c1",
                              .trace_id = "",
                              .boot_id = "b",
                              .request = asked.request};
        t->commits += laid_hold(d.l.board, asked.row, &in, d.list, d.count, &d.random, CHANGES,
                                excused, &t->fault) == PLAN_COMMIT;
        note_reads(t, &d, asked.row, &in, asked.name);
        laid_system_done(&d.l);
        if (t->fault.size) {
            fail_msg("%s", buf_string(&t->fault));
        }
    }
    if (!t->commits) {
        fail_msg("%s never writes anything on %d boards: nothing was tried", text, BOARDS);
    }
}

static void try_row(struct tried *t, const struct move_family *family, enum actor actor,
                    const char *text)
{
    try_asked(t, family, actor, text, asking_move);
}

static void try_all(struct tried *t)
{
    try_row(t, &unit_moves, ACTOR_CLIENT, "destroy unit/" U);
    try_row(t, &unit_moves, ACTOR_REP, "destroy unit/" U " guid=g3");
    try_row(t, &unit_moves, ACTOR_REP, "destroy unit/logger/0000000000 guid=l0");
    try_row(t, &unit_moves, ACTOR_BBS, "destroy unit/" U " forced=1");
    try_row(t, &unit_moves, ACTOR_REP, "die unit/" U " guid=g3");
    try_row(t, &unit_moves, ACTOR_REP, "remove unit/" U " guid=g3");
    try_row(t, &unit_moves, ACTOR_REP, "remove unit/logger/0000000000 guid=l0");
    try_row(t, &unit_status_moves, ACTOR_REP,
            "report unit_status/" U " guid=g3 status.state=started status.address=10.0.0.1");
    try_row(t, &unit_status_moves, ACTOR_REP,
            "fail unit_status/" U " guid=g3 status.state=error status.hook=start");
    try_row(t, &unit_status_moves, ACTOR_CLIENT, "resolve unit_status/" U " resolved=1");
    try_row(t, &unit_moves, ACTOR_REP, "assign unit/mail/0000000000 guid=m0");
    try_row(t, &machine_moves, ACTOR_CLIENT, "cordon machine/0000000001");
    try_row(t, &machine_moves, ACTOR_CLIENT, "destroy machine/0000000001");
    try_row(t, &machine_moves, ACTOR_REP, "die machine/0000000001 guid=m1");
    try_row(t, &machine_moves, ACTOR_CONVERGER, "remove machine/0000000001");
    try_row(t, &member_moves, ACTOR_REP, "enter " MEMBER " guid=g3 relation_guid=r7");
    try_row(t, &member_moves, ACTOR_REP,
            "enter " CONTAINED " guid=g3 relation_guid=r9 brings_child=1 child=5");
    try_row(t, &member_moves, ACTOR_REP, "publish " MEMBER " guid=g3 hook=5");
    try_row(t, &member_moves, ACTOR_REP, "leave " MEMBER " guid=g3");
    try_row(t, &member_moves, ACTOR_BBS, "leave " MEMBER " guid=g3 forced=1");
    try_row(t, &relation_moves, ACTOR_CLIENT, "destroy relation/0000000007");
    try_row(t, &relation_moves, ACTOR_CONVERGER, "settle relation/0000000007 guid=r7");
    try_row(t, &unit_service_moves, ACTOR_CONVERGER, "release unit_service/web guid=s-web");
    try_row(t, &unit_service_moves, ACTOR_CONVERGER, "trim unit_service/web guid=s-web charm=e");
    try_row(t, &unit_service_moves, ACTOR_CLIENT, "destroy unit_service/web");
    try_row(t, &unit_service_moves, ACTOR_CLIENT, "destroy unit_service/web forced=1");
    try_asked(t, NULL, ACTOR_CLIENT, "web:db db:kv", asking_relate);
    try_asked(t, NULL, ACTOR_CLIENT, "web", asking_add);
    try_asked(t, NULL, ACTOR_CLIENT, "db", asking_deploy);
    try_asked(t, NULL, ACTOR_BBS, ADD_JOB, asking_job);
    try_asked(t, NULL, ACTOR_BBS, END_JOB, asking_job);
    try_asked(t, NULL, ACTOR_BBS, RELATIONS_JOB, asking_job);
    try_asked(t, NULL, ACTOR_BBS, DEPART_JOB, asking_job);
    try_asked(t, NULL, ACTOR_BBS, SWEEP_JOB, asking_job);
    try_asked(t, NULL, ACTOR_BBS, FORCE_JOB, asking_job);
}

static void try_and_print(struct buf *out)
{
    struct tried t = {.commits = 0};
    map_init(&t.reads);
    buf_init(&t.fault);
    try_all(&t);
    MAP_EACH(&t.reads, n)
    {
        buf_printf(out, "%s\n", map_key(n));
    }
    map_done(&t.reads, NULL);
    buf_done(&t.fault);
}

static void every_write_about_units_compares_what_it_rests_on(void **state)
{
    SCOPED_BUF(out);
    try_and_print(&out);
    page_equals(EXPECTED, buf_string(&out), "test_unit_read_sets print > " EXPECTED);
    (void)state;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "print") == 0) {
        SCOPED_BUF(out);
        try_and_print(&out);
        fputs(buf_string(&out), stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_write_about_units_compares_what_it_rests_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
