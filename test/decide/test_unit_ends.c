/* The ends of unit services, and the jobs that bring them about, rule by rule (bbs/units). */
#include "bbs/units/end_units.h"
#include "bbs/units/force_unit.h"
#include "bbs/units/unit_jobs.h"
#include "bbs/units/units.h"
#include "test/decide/system_rows.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

#define WEB(life) "unit_service/web name=web guid=s-web charm=d state=" life "\n"
#define DB(life) "unit_service/db name=db guid=s-db charm=d state=" life "\n"
#define REFS "unit_service_relation/web/0000000007 number=7\n"                                     \
             "unit_service_relation/db/0000000007 number=7\n"                                      \
             "relation_key/web%3Adb%20db%3Akv number=7\n"
#define REL(life) "relation/0000000007 number=7 guid=r7 ends=web:db:0,db:kv:1 state=" life "\n" REFS
#define SECOND(life)                                                                               \
    "relation/0000000008 number=8 guid=r8 ends=web:log:0,db:out:1 state=" life "\n"                \
    "unit_service_relation/web/0000000008 number=8\n"                                              \
    "unit_service_relation/db/0000000008 number=8\n"                                               \
    "relation_key/web%3Alog%20db%3Aout number=8\n"
#define MEMBER "relation_member/0000000007/-/1/db/0000000000 unit_guid=d0 state=joined\n"
#define TOLD "relation_settings/0000000007/-/1/db/0000000000 unit_guid=d0\n"
#define U "web/0000000003"
#define WAITS(number)                                                                              \
    "unit/web/000000000" number " service=web number=" number " guid=g" number                     \
    " service_guid=s-web state=alive place=unassigned\n"                                           \
    "unit_status/web/000000000" number " guid=g" number " state=pending\n"
#define PLACED(number, life)                                                                       \
    "unit/web/000000000" number " service=web number=" number " guid=g" number                     \
    " service_guid=s-web cell_id=c1 identity=I assigned=1 machine=1 state=" life " place=" life    \
    "\nunit_status/web/000000000" number " guid=g" number " state=started\n"
#define END "destroy unit_service/web"

#define REL_GOES                                                                                   \
    "destroy -relation/0000000007\ndestroy -relation_key/web%3Adb%20db%3Akv\n"                     \
    "destroy -unit_service_relation/web/0000000007\n"                                              \
    "destroy -unit_service_relation/db/0000000007\n"
#define SECOND_GOES                                                                                \
    "destroy -relation/0000000008\ndestroy -relation_key/web%3Alog%20db%3Aout\n"                   \
    "destroy -unit_service_relation/web/0000000008\n"                                              \
    "destroy -unit_service_relation/db/0000000008\n"
#define DYING END " state=dying since=1000s"
#define JOB(kind, name) "open job/s-web/" name " target=s-web kind=" kind " worker=boot"
#define UNITS_JOB "\n" JOB("4", "units") " name=units"

static void a_service_is_destroyed(void **state)
{
    static const struct unit_move_row rows[] = {
        {"it has nothing", ACTOR_CLIENT, WEB("alive") "unit_config/web\n", END,
         "destroy -unit_service/web\ndestroy -unit_config/web"},
        {"its charms go by a job", ACTOR_CLIENT, WEB("alive") "charm/web/d service=web\n", END,
         "destroy -unit_service/web\n" JOB("7", "sweep") " name=sweep"},
        {"it has a unit", ACTOR_CLIENT, WEB("alive") WAITS("3"), END, DYING UNITS_JOB},
        {"nobody is in its relation", ACTOR_CLIENT, WEB("alive") DB("alive") REL("alive"), END,
         REL_GOES "destroy -unit_service/web"},
        {"what was told in it goes by a job", ACTOR_CLIENT,
         WEB("alive") DB("alive") REL("alive") TOLD, END,
         REL_GOES "destroy -unit_service/web\nopen job/r7/sweep target=r7 kind=7 worker=boot "
         "name=sweep"},
        {"somebody is in its relation", ACTOR_CLIENT, WEB("alive") DB("alive") REL("alive") MEMBER,
         END, "destroy relation/0000000007 state=dying since=1000s\n" DYING},
        {"a dying relation is there", ACTOR_CLIENT, WEB("alive") DB("alive") REL("dying") MEMBER,
         END, DYING},
        {"two relations of one dying service go together", ACTOR_CLIENT,
         WEB("alive") DB("dying") REL("alive") SECOND("alive"), END,
         REL_GOES "release -unit_service/db\n" SECOND_GOES "destroy -unit_service/web"},
        {"one of them stays", ACTOR_CLIENT,
         WEB("alive") DB("dying") REL("alive") SECOND("alive") MEMBER, END,
         SECOND_GOES "destroy relation/0000000007 state=dying since=1000s\n" DYING},
        {"dying already", ACTOR_CLIENT, WEB("dying") WAITS("3"), END, "nothing"},
        {"there is none", ACTOR_CLIENT, DB("alive"), END,
         "ResourceNotFound: the requested resource could not be found"},
        {"another one has its name", ACTOR_CLIENT, WEB("alive"), END " guid=older",
         "ResourceNotFound: the unit service of that guid is gone: another one has its name"},
        {"forced", ACTOR_CLIENT, WEB("alive") WAITS("3"), END " forced=1",
         DYING UNITS_JOB "\n" JOB("4", "force") " not_before=1060s name=force"},
        {"forced when it is dying", ACTOR_CLIENT, WEB("dying") WAITS("3"),
         END " forced=1 max_wait_ms=2000",
         JOB("4", "force") " not_before=1002s name=force"},
        {"forced twice", ACTOR_CLIENT, WEB("dying") WAITS("3") "job/s-web/force kind=4\n",
         END " forced=1", "nothing"},
    };
    try_unit_moves(&unit_service_moves, rows, sizeof(rows) / sizeof(rows[0]));
    (void)state;
}

/* A copy whose watch left out records of relations, and has their names: the first is enough. */
static void a_relation_that_the_copy_lacks_is_compared_as_absent(void **state)
{
    struct laid_system l;
    struct laid_plan p;
    size_t absent = 0;
    laid_units_init(&l, WEB("alive") "unit_service_relation/web/0000000007 number=7\n"
                                     "unit_service_relation/web/0000000008 number=8\n");
    const Board__Move *m = laid_units_move(&l, END);
    const struct op_input in = {.actor = ACTOR_CLIENT, .peer_name = "x", .trace_id = "",
                                .boot_id = "boot", .request = &m->base};
    laid_decide(l.board, move_row_named(&unit_service_moves, "destroy")->op, &in, &l.arena, &p);
    for (size_t i = 0; i < p.reads.count; i++) {
        const struct compare *c = &p.reads.list[i];
        bool relation = strncmp(c->key, "relation/", strlen("relation/")) == 0;
        absent += relation && c->kind == COMPARE_ABSENT;
        assert_false(relation && strcmp(c->key, "relation/0000000007") != 0);
    }
    assert_int_equal(absent, 1);
    laid_system_done(&l);
    (void)state;
}

static void a_unit_is_forced(void **state)
{
#define FORCE "open job/g3/force target=g3 kind=8 worker=boot not_before=1060s name=force"
    static const struct unit_move_row rows[] = {
        {"alive", ACTOR_CLIENT, WEB("alive") PLACED("3", "alive"), "destroy unit/" U " forced=1",
         "destroy unit/" U " state=dying place=dying since=1000s\n" FORCE},
        {"dying", ACTOR_CLIENT, WEB("alive") PLACED("3", "dying"), "destroy unit/" U " forced=1",
         FORCE},
        {"dead", ACTOR_CLIENT, WEB("alive") PLACED("3", "dead"), "destroy unit/" U " forced=1",
         FORCE},
        {"twice", ACTOR_CLIENT, WEB("alive") PLACED("3", "dying") "job/g3/force kind=8\n",
         "destroy unit/" U " forced=1", "nothing"},
        {"it is gone at once", ACTOR_CLIENT, WEB("alive") WAITS("3"),
         "destroy unit/" U " forced=1", "destroy -unit/" U "\nend -unit_status/" U},
    };
    try_unit_moves(&unit_moves, rows, sizeof(rows) / sizeof(rows[0]));
    (void)state;
}

/* ---- Portions -------------------------------------------------------------------------------- */

struct portion_row {
    const char *rule, *board;
    int kind;
    const char *job; /* "web g3 3": service, guid, number; fields of its body behind */
    const char *plan;
};

static Board__JobRecord *laid_job(struct laid_system *l, int kind, const char *text)
{
    struct arena *a = &l->arena;
    Board__JobRecord *job = arena_message(a, &board__job_record__descriptor);
    char *rest, *words = arena_strdup(a, text);
    job->kind = (Board__JobRecord__Kind)kind;
    job->name = arena_strdup(a, "j");
    job->units = arena_message(a, &board__units_job__descriptor);
    job->units->service = strtok_r(words, " ", &rest);
    job->units->guid = job->target = strtok_r(NULL, " ", &rest);
    job->units->number = (uint32_t)atoi(strtok_r(NULL, " ", &rest));
    job->units->since = 990 * SECOND_NS;
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        char *value = strchr(word, '=');
        *value++ = 0;
        if (strcmp(word, "keys") == 0) {
            char **list = job->units->n_keys ? job->units->keys : ARENA_ARRAY(a, 2, char *);
            job->units->keys = list;
            list[job->units->n_keys++] = value;
        } else {
            system_row_set(a, &job->units->base, word, value);
        }
    }
    return job;
}

static const struct op_row *row_of(int kind)
{
    static const struct op_row *const rows[] = {
        [BOARD__JOB_RECORD__KIND__END_UNITS] = &end_units_job_row,
        [BOARD__JOB_RECORD__KIND__END_RELATIONS] = &end_relations_job_row,
        [BOARD__JOB_RECORD__KIND__DEPART_UNIT] = &depart_unit_job_row,
        [BOARD__JOB_RECORD__KIND__SWEEP_UNITS] = &sweep_units_job_row,
        [BOARD__JOB_RECORD__KIND__FORCE_UNIT] = &force_unit_job_row,
        [BOARD__JOB_RECORD__KIND__FORCE_MACHINE] = &force_machine_job_row,
    };
    return rows[kind];
}

/* A bbs whose clock is another one waits as long as was meant only if it is told both by one. */
static void waits_as_meant(const struct plan *p)
{
    for (const struct change *c = p->changes; c; c = c->next) {
        const Board__JobRecord *job = (const Board__JobRecord *)c->message;
        if (job && key_type(c->key) == RECORD_JOB && strcmp(job->name, FORCE_UNIT_JOB) == 0) {
            assert_int_equal(job->not_before - job->units->since,
                             force_wait_ns(job->units->max_wait_ms));
        }
    }
}

static void portion(struct laid_system *l, const Board__JobRecord *job, struct laid_plan *p)
{
    const struct op_input in = {.actor = ACTOR_BBS, .peer_name = "boot", .trace_id = "",
                                .boot_id = "boot", .request = &job->base,
                                .now = {.wall_ns = 1000 * SECOND_NS}};
    laid_decide(l->board, row_of((int)job->kind), &in, &l->arena, p);
    assert_true(p->plan.change_count <= 64 && p->reads.count <= 118);
    waits_as_meant(&p->plan);
    assert_true(p->plan.verdict != PLAN_COMMIT || laid_passes(l->board, &p->reads));
}

static void try_portions(const struct portion_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct laid_system l;
        struct laid_plan p;
        laid_units_init(&l, rows[i].board);
        Board__JobRecord *job = laid_job(&l, rows[i].kind, rows[i].job);
        laid_system_put(&l, key_job(&l.arena, job->target, job->name), &job->base);
        portion(&l, job, &p);
        const char *is = laid_system_print(&l, &p.plan);
        if (strcmp(is, rows[i].plan) != 0) {
            fail_msg("%s:\n%s\nnot\n%s", rows[i].rule, is, rows[i].plan);
        }
        laid_system_done(&l);
        laid_units_init(&l, rows[i].board); /* the job is over */
        portion(&l, laid_job(&l, rows[i].kind, rows[i].job), &p);
        assert_int_equal(p.plan.verdict, PLAN_NOTHING);
        laid_system_done(&l);
    }
}

#define FINISH(guid) "finish -job/" guid "/j"

static void the_units_of_a_dying_service_end(void **state)
{
#define GONE(number)                                                                               \
    "destroy -unit/web/000000000" number "\nend -unit_status/web/000000000" number "\n"
#define ENDS(number) "destroy unit/web/000000000" number " state=dying place=dying since=1000s\n"
    static const struct portion_row rows[] = {
        {"those that wait go at once", WEB("dying") WAITS("1") WAITS("2") PLACED("3", "alive"), 4,
         "web s-web 0", GONE("1") GONE("2") "advance job/s-web/j not_before=995s"},
        {"they are the last", WEB("dying") WAITS("1") WAITS("2"), 4, "web s-web 0",
         GONE("1") GONE("2") "release -unit_service/web\nadvance job/s-web/j not_before=995s"},
        {"those on machines are destroyed", WEB("dying") PLACED("3", "alive") PLACED("4", "alive"),
         4, "web s-web 0 left=1", ENDS("3") ENDS("4") FINISH("s-web")},
        {"those that are dying are left to their agents", WEB("dying") PLACED("3", "dying"), 4,
         "web s-web 0 left=1", FINISH("s-web")},
        {"it goes on after its cursor", WEB("dying") PLACED("3", "alive") PLACED("4", "alive"), 4,
         "web s-web 0 left=1 cursor=unit/web/0000000003", ENDS("4") FINISH("s-web")},
        {"the service is alive", WEB("alive") WAITS("1"), 4, "web s-web 0", FINISH("s-web")},
        {"it is gone", DB("alive"), 4, "web s-web 0", FINISH("s-web")},
        {"a namesake", WEB("dying") WAITS("1"), 4, "web older 0", FINISH("older")},
        {"forced: whatever they are", WEB("dying") PLACED("3", "alive") PLACED("4", "dead"), 4,
         "web s-web 0 forced=1",
         "open job/g3/force target=g3 kind=8 worker=boot not_before=1000s name=force\n"
         "open job/g4/force target=g4 kind=8 worker=boot not_before=1000s name=force\n"
         FINISH("s-web")},
    };
    try_portions(rows, sizeof(rows) / sizeof(rows[0]));
    (void)state;
}

static void the_relations_of_a_service_end_and_then_it(void **state)
{
    static const struct portion_row rows[] = {
        {"the last", WEB("alive") DB("alive") REL("alive"), 5, "web s-web 0",
         REL_GOES "destroy -unit_service/web\n" FINISH("s-web")},
        {"a unit is there", WEB("alive") WAITS("3"), 5, "web s-web 0",
         DYING UNITS_JOB "\n" FINISH("s-web")},
        {"it is dying", WEB("dying") DB("alive") REL("alive"), 5, "web s-web 0", FINISH("s-web")},
        {"a namesake", WEB("alive"), 5, "web older 0", FINISH("older")},
    };
    try_portions(rows, sizeof(rows) / sizeof(rows[0]));
    (void)state;
}

static void what_nobody_reads_is_swept(void **state)
{
#define KEYS "web r7 0 keys=relation_settings/0000000007/ keys=charm/web/"
    static const struct portion_row rows[] = {
        {"all of it", TOLD "charm/web/d service=web\n", 7, KEYS,
         "sweep -relation_settings/0000000007/-/1/db/0000000000\nsweep -charm/web/d\n"
         FINISH("r7")},
        {"the service is there again", WEB("alive") TOLD "charm/web/d service=web\n", 7, KEYS,
         "sweep -relation_settings/0000000007/-/1/db/0000000000\n" FINISH("r7")},
        {"the relation is there", REL("dying") TOLD, 7, KEYS, FINISH("r7")},
    };
    try_portions(rows, sizeof(rows) / sizeof(rows[0]));
    (void)state;
}

#define SCOPE(n) "unit_scope/" U "/000000000" n " member=relation_member/000000000" n "/-/0/" U "\n"
#define IN(n, life)                                                                                \
    "relation_member/000000000" n "/-/0/" U " unit_guid=g3 state=" life "\n" SCOPE(n)

static void memberships_of_a_dying_unit_depart(void **state)
{
    static const struct portion_row rows[] = {
        {"they say so", PLACED("3", "dying") IN("1", "joined") IN("2", "departing") SCOPE("3"), 6,
         "web g3 3", "depart relation_member/0000000001/-/0/" U " state=departing\n" FINISH("g3")},
        {"it is alive", PLACED("3", "alive") IN("1", "joined"), 6, "web g3 3", FINISH("g3")},
        {"it is dead", PLACED("3", "dead"), 6, "web g3 3", FINISH("g3")},
        {"it is gone", WEB("alive"), 6, "web g3 3", FINISH("g3")},
        {"a namesake", PLACED("3", "dying") IN("1", "joined"), 6, "web g2 3", FINISH("g2")},
    };
    try_portions(rows, sizeof(rows) / sizeof(rows[0]));
    (void)state;
}

static void a_forced_end_takes_the_ordinary_steps(void **state)
{
#define SUB(life)                                                                                  \
    "unit_child/" U "/logger unit=logger/0 guid=l0\n"                                              \
    "unit/logger/0000000000 service=logger number=0 guid=l0 principal=web/3 state=" life "\n"
    static const struct portion_row rows[] = {
        {"it is destroyed", WEB("alive") PLACED("3", "alive"), 8, "web g3 3",
         "destroy unit/" U " state=dying place=dying since=1000s"},
        {"its subordinate first", PLACED("3", "dying") SUB("alive") IN("7", "joined"), 8,
         "web g3 3", "open job/l0/force target=l0 kind=8 worker=boot not_before=1000s name=force"},
        {"which a job ends", PLACED("3", "dying") SUB("dying") "job/l0/force kind=8\n", 8,
         "web g3 3", "nothing"},
        {"it leaves one relation", REL("alive") PLACED("3", "dying") IN("7", "departing")
         IN("8", "departing"), 8, "web g3 3",
         "leave -relation_member/0000000007/-/0/" U "\nleave -unit_scope/" U "/0000000007"},
        {"it dies", PLACED("3", "dying"), 8, "web g3 3",
         "die unit/" U " state=dead place=dead since=1000s"},
        {"it is removed", WEB("alive") PLACED("3", "dead"), 8, "web g3 3",
         "remove -unit/" U "\nend -unit_status/" U},
        {"the last of a dying service", WEB("dying") PLACED("3", "dead"), 8, "web g3 3",
         "remove -unit/" U "\nend -unit_status/" U "\nrelease -unit_service/web"},
        {"it is gone", WEB("alive"), 8, "web g3 3", FINISH("g3")},
        {"a namesake", WEB("alive") PLACED("3", "dead"), 8, "web g2 3", FINISH("g2")},
    };
    try_portions(rows, sizeof(rows) / sizeof(rows[0]));
    (void)state;
}

static void the_units_of_a_forced_machine_end_first(void **state)
{
#define ON_IT(number, life)                                                                        \
    "machine_unit/0000000001/web/000000000" number " guid=g" number "\n" PLACED(number, life)
#define MACHINE(rest) "machine/0000000001 number=1 guid=m1 cell_id=c1 identity=I state=" rest "\n"
    static const struct portion_row rows[] = {
        {"it takes none", MACHINE("alive") ON_IT("3", "alive"), 9, "- m1 1 forced=1 cursor=x",
         "cordon machine/0000000001 cordoned=1\nadvance job/m1/j"},
        {"one is destroyed, and forced", MACHINE("alive cordoned=1") ON_IT("3", "alive"), 9,
         "- m1 1 forced=1",
         "destroy unit/" U " state=dying place=dying since=1000s\n"
         "open job/g3/force target=g3 kind=8 worker=boot not_before=1050s name=force\n"
         "advance job/m1/j"},
        {"what is dying is forced", MACHINE("alive cordoned=1") ON_IT("3", "dying"), 9,
         "- m1 1 forced=1 max_wait_ms=2000",
         "open job/g3/force target=g3 kind=8 worker=boot not_before=992s name=force\n"
         "advance job/m1/j"},
        {"the next one", MACHINE("alive cordoned=1") ON_IT("3", "dying") "job/g3/force kind=8\n"
         ON_IT("4", "dying"), 9, "- m1 1 forced=1",
         "open job/g4/force target=g4 kind=8 worker=boot not_before=1050s name=force\n"
         "advance job/m1/j"},
        {"it waits for them", MACHINE("alive cordoned=1") ON_IT("3", "dying")
         "job/g3/force kind=8\n", 9, "- m1 1 forced=1", "nothing"},
        {"it is empty", MACHINE("alive cordoned=1"), 9, "- m1 1 forced=1",
         "destroy machine/0000000001 state=dying since=1000s"},
        {"and its cell is to leave", MACHINE("alive cordoned=1 leave=1"), 9, "- m1 1 forced=1",
         "destroy machine/0000000001 state=dying since=1000s"},
        {"it is dying", MACHINE("dying cordoned=1"), 9, "- m1 1 forced=1", FINISH("m1")},
        {"it is gone", "", 9, "- m1 1 forced=1", FINISH("m1")},
        {"a namesake", MACHINE("alive") ON_IT("3", "alive"), 9, "- m2 1 forced=1", FINISH("m2")},
    };
    try_portions(rows, sizeof(rows) / sizeof(rows[0]));
    (void)state;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static void put_text(struct laid_system *l, char *text)
{
    const char *key;
    ProtobufCMessage *m = unit_row(&l->arena, text, &key);
    laid_system_put(l, key, m);
}

/* A relation of web with a service of its own, which is dying and has nothing else. */
static void put_last_relation(struct laid_system *l, unsigned n)
{
    struct arena *a = &l->arena;
    put_text(l, arena_printf(a, "unit_service/s%u name=s%u guid=s-s%u state=dying", n, n, n));
    put_text(l, arena_printf(a, "unit_config/s%u", n));
    put_text(l, arena_printf(a, "charm/s%u/d service=s%u", n, n));
    put_text(l, arena_printf(a, "relation/%010u number=%u guid=r%u ends=web:e%u:0,s%u:kv:1 "
                                "state=alive", n, n, n, n, n));
    put_text(l, arena_printf(a, "relation_key/web%%3Ae%u%%20s%u%%3Akv number=%u", n, n, n));
    put_text(l, arena_printf(a, "unit_service_relation/web/%010u number=%u", n, n));
    put_text(l, arena_printf(a, "unit_service_relation/s%u/%010u number=%u", n, n, n));
    put_text(l, arena_printf(a, "relation_settings/%010u/-/0/web/0000000003 unit_guid=x", n));
}

static void destroy(struct laid_system *l, struct laid_plan *p)
{
    const Board__Move *m = laid_units_move(l, END);
    const struct op_input in = {.actor = ACTOR_CLIENT, .peer_name = "x", .trace_id = "",
                                .boot_id = "boot", .request = &m->base};
    laid_decide(l->board, move_row_named(&unit_service_moves, "destroy")->op, &in, &l->arena, p);
    assert_true(p->plan.change_count <= 64 && p->reads.count <= 118);
    assert_true(laid_passes(l->board, &p->reads));
}

/* 8 relations go with the service, each with the service at its other end; of 9 a job ends the
 * first 10, and then the last one with the service. */
static void as_many_relations_end_as_a_transaction_holds(void **state)
{
    for (unsigned count = SERVICE_RELATIONS_AT_ONCE; count <= SERVICE_RELATIONS_AT_ONCE + 1;
         count++) {
        struct laid_system l;
        struct laid_plan p;
        laid_units_init(&l, WEB("alive") "unit_config/web\ncharm/web/d service=web\n");
        for (unsigned i = 0; i < count; i++) {
            put_last_relation(&l, i);
        }
        destroy(&l, &p);
        assert_int_equal(p.plan.verdict, PLAN_COMMIT);
        if (count == SERVICE_RELATIONS_AT_ONCE) {
            assert_int_equal(p.plan.change_count, SERVICE_RELATIONS_AT_ONCE * 6 + 3);
        } else {
            assert_int_equal(p.plan.change_count, 1);
            assert_string_equal(p.plan.changes->key, "job/s-web/relations");
            const Board__JobRecord *job = laid_job(&l, 5, "web s-web 0");
            laid_system_put(&l, "job/s-web/j", &job->base);
            portion(&l, job, &p);
            assert_int_equal(p.plan.change_count, SERVICE_RELATIONS_AT_ONCE * 6 + 1);
        }
        laid_system_done(&l);
    }
    (void)state;
}

static void as_many_units_end_as_a_transaction_holds(void **state)
{
    for (unsigned count = END_UNITS_AT_ONCE; count <= END_UNITS_AT_ONCE + 1; count++) {
        struct laid_system l;
        struct laid_plan p;
        laid_units_init(&l, WEB("dying") "unit_config/web\ncharm/web/d service=web\n");
        for (unsigned i = 0; i < count; i++) {
            put_text(&l, arena_printf(&l.arena, "unit/web/%010u service=web number=%u guid=g%u "
                                                "service_guid=s-web state=alive place=unassigned",
                                      i, i, i));
            put_text(&l, arena_printf(&l.arena, "unit_status/web/%010u state=pending", i));
        }
        const Board__JobRecord *job = laid_job(&l, 4, "web s-web 0");
        laid_system_put(&l, "job/s-web/j", &job->base);
        portion(&l, job, &p);
        bool last = count == END_UNITS_AT_ONCE; /* the service, its configuration, a sweep */
        assert_int_equal(p.plan.change_count, 2 * END_UNITS_AT_ONCE + (last ? 3 : 0) + 1);
        laid_system_done(&l);
    }
    (void)state;
}

static void as_many_memberships_depart_as_a_portion_holds(void **state)
{
    for (unsigned count = DEPARTED_AT_ONCE - 1; count <= DEPARTED_AT_ONCE; count++) {
        struct laid_system l;
        struct laid_plan p;
        laid_units_init(&l, PLACED("3", "dying"));
        for (unsigned i = 0; i < count; i++) {
            const char *member = arena_printf(&l.arena, "relation_member/%010u/-/0/" U, i);
            put_text(&l, arena_printf(&l.arena, "%s unit_guid=g3 state=joined", member));
            put_text(&l, arena_printf(&l.arena, "unit_scope/" U "/%010u member=%s", i, member));
        }
        const Board__JobRecord *job = laid_job(&l, 6, "web g3 3");
        laid_system_put(&l, "job/g3/j", &job->base);
        portion(&l, job, &p);
        assert_int_equal(p.plan.change_count, count + 1);
        const struct change *last = p.plan.changes;
        while (last->next) {
            last = last->next;
        }
        assert_string_equal(last->move, count == DEPARTED_AT_ONCE ? "advance" : "finish");
        laid_system_done(&l);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_is_destroyed),
        cmocka_unit_test(a_relation_that_the_copy_lacks_is_compared_as_absent),
        cmocka_unit_test(a_unit_is_forced),
        cmocka_unit_test(the_units_of_a_dying_service_end),
        cmocka_unit_test(the_relations_of_a_service_end_and_then_it),
        cmocka_unit_test(what_nobody_reads_is_swept),
        cmocka_unit_test(memberships_of_a_dying_unit_depart),
        cmocka_unit_test(a_forced_end_takes_the_ordinary_steps),
        cmocka_unit_test(the_units_of_a_forced_machine_end_first),
        cmocka_unit_test(as_many_relations_end_as_a_transaction_holds),
        cmocka_unit_test(as_many_units_end_as_a_transaction_holds),
        cmocka_unit_test(as_many_memberships_depart_as_a_portion_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
