/* Units, memberships and relations: each move and request, rule by rule (bbs/units). */
#include "bbs/units/units.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define TRY(family, rows) try_unit_moves(&family, rows, sizeof(rows) / sizeof((rows)[0]))

#define U "web/0000000003"
#define UNIT "unit/" U
#define IS " service=web number=3 guid=g3 service_guid=s-web cell_id=c1 identity=I assigned=1"
#define ALIVE UNIT IS " state=alive place=alive machine=1\n"
#define DYING UNIT IS " state=dying place=dying machine=1\n"
#define DEAD UNIT IS " state=dead place=dead machine=1\n"
#define ON "machine_unit/0000000001/" U " guid=g3 cell_id=c1\n"
#define STARTED "unit_status/" U " guid=g3 state=started\n"
#define PENDING "unit_status/" U " guid=g3 state=pending\n"
#define WEB(life) "unit_service/web name=web guid=s-web state=" life "\n"
#define DB(life) "unit_service/db name=db guid=s-db state=" life "\n"
#define OTHER "unit/web/0000000004 service=web number=4 guid=g4 state=alive\n"
#define NAMED "number=7 guid=r7\n"
#define REL(life) "relation/0000000007 number=7 guid=r7 ends=web:db:0,db:kv:1 state=" life "\n"
#define REL_OF "unit_service_relation/web/0000000007 " NAMED
#define REFERENCES                                                                                 \
    REL_OF "unit_service_relation/db/0000000007 " NAMED "relation_key/web%3Adb%20db%3Akv " NAMED
#define MEMBER "relation_member/0000000007/-/0/" U
#define JOINED MEMBER " unit_guid=g3 relation_guid=r7 state=joined cell_id=c1\n"
#define PEER "relation_member/0000000007/-/1/db/0000000000 unit_guid=d0 state=joined\n"
#define SCOPE "unit_scope/" U "/0000000007 member=" MEMBER " relation_guid=r7 cell_id=c1\n"
#define CHILD "unit_child/" U "/logger unit=logger/0 guid=l0 cell_id=c1\n"
#define SETTLED                                                                                    \
    "settle -relation/0000000007\nsettle -relation_key/web%3Adb%20db%3Akv\n"                       \
    "settle -unit_service_relation/web/0000000007\nsettle -unit_service_relation/db/0000000007"

#define NOT_DYING                                                                                  \
    "ResourceConflict: unit web/3: it is not dying, is in a relation, has a subordinate, or is "   \
    "another cell's"
#define NOT_DESTROYED                                                                              \
    "ResourceConflict: unit web/3: it is a subordinate, and goes with its principal or with the "  \
    "relation that brought it; or the caller has no reason to end it"
#define NOT_REMOVED                                                                                \
    "ResourceConflict: unit web/3: it is not dead, or its agent is there and has to remove it"
#define NO_NAMESAKE                                                                                \
    "ResourceNotFound: the unit of that guid is gone: another one has its name"
#define TO_DYING "destroy " UNIT " state=dying place=dying since=1000s"

static void a_unit_is_destroyed(void **state)
{
    static const struct unit_move_row rows[] = {
        {"by a client", ACTOR_CLIENT, ALIVE ON STARTED WEB("alive"), "destroy " UNIT, TO_DYING},
        {"its memberships depart", ACTOR_CLIENT, ALIVE ON STARTED WEB("alive") REL("alive") JOINED
         SCOPE, "destroy " UNIT, TO_DYING "\ndepart " MEMBER " state=departing"},
        {"its agent has never reported: it is gone", ACTOR_CLIENT, ALIVE ON PENDING WEB("alive"),
         "destroy " UNIT, "destroy -" UNIT "\nend -unit_status/" U "\ndestroy -machine_unit/"
         "0000000001/" U},
        {"pending, and the last of a dying service", ACTOR_BBS, ALIVE ON PENDING WEB("dying"),
         "destroy " UNIT, "destroy -" UNIT "\nend -unit_status/" U "\ndestroy -machine_unit/"
         "0000000001/" U "\nrelease -unit_service/web"},
        {"pending, but it has a subordinate", ACTOR_CLIENT, ALIVE ON PENDING WEB("alive") CHILD,
         "destroy " UNIT, TO_DYING},
        {"pending, but it is in a relation", ACTOR_CLIENT, ALIVE ON PENDING WEB("alive")
         REL("alive") JOINED SCOPE, "destroy " UNIT, TO_DYING "\ndepart " MEMBER
         " state=departing"},
        {"dying already", ACTOR_CLIENT, DYING ON STARTED WEB("alive"), "destroy " UNIT, "nothing"},
        {"dead already", ACTOR_CLIENT, DEAD ON STARTED WEB("alive"), "destroy " UNIT, "nothing"},
        {"there is none", ACTOR_CLIENT, WEB("alive"), "destroy " UNIT,
         "ResourceNotFound: the requested resource could not be found"},
        {"its rep, as its service is dying", ACTOR_REP, ALIVE ON STARTED WEB("dying"),
         "destroy " UNIT " guid=g3", TO_DYING},
        {"its rep, without a reason", ACTOR_REP, ALIVE ON STARTED WEB("alive"),
         "destroy " UNIT " guid=g3", NOT_DESTROYED},
        {"a rep that has another guid", ACTOR_REP, ALIVE ON STARTED WEB("dying"),
         "destroy " UNIT " guid=g2", NO_NAMESAKE},
        {"a rep that says no guid", ACTOR_REP, ALIVE ON STARTED WEB("dying"), "destroy " UNIT,
         NO_NAMESAKE},
        {"the rep of another identity", ACTOR_REP,
         UNIT " service=web number=3 guid=g3 service_guid=s-web cell_id=c1 identity=J state=alive\n"
         WEB("dying"), "destroy " UNIT " guid=g3", NOT_DESTROYED},
        {"the converger, while its agent is there", ACTOR_CONVERGER, ALIVE ON STARTED WEB("dying"),
         "destroy " UNIT, NOT_DESTROYED},
        {"the converger, whose agent has another identity", ACTOR_CONVERGER,
         UNIT " service=web number=3 guid=g3 service_guid=s-web cell_id=c1 identity=J state=alive\n"
         STARTED WEB("dying"), "destroy " UNIT, TO_DYING},
        {"a job, of a living service", ACTOR_BBS, ALIVE ON STARTED WEB("alive"), "destroy " UNIT,
         NOT_DESTROYED},
        {"a job, forced", ACTOR_BBS, ALIVE ON STARTED WEB("alive"), "destroy " UNIT " forced=1",
         TO_DYING},
        {"a namesake of its service is dying", ACTOR_REP, ALIVE ON STARTED
         "unit_service/web name=web guid=other state=dying\n", "destroy " UNIT " guid=g3",
         NOT_DESTROYED},
    };
    TRY(unit_moves, rows);
    (void)state;
}

#define SUB                                                                                        \
    "unit/logger/0000000000 service=logger number=0 guid=l0 service_guid=s-logger cell_id=c1 "     \
    "identity=I principal=web/3 principal_guid=g3 state=alive\n"                                   \
    "unit_status/logger/0000000000 guid=l0 state=started\n"                                        \
    "unit_service/logger name=logger guid=s-logger subordinate=1 state=alive\n"
#define JOINS(life)                                                                                \
    "relation/0000000009 number=9 guid=r9 scope=1 ends=logger:info:0,web:juju-info:1 state=" life  \
    "\nunit_service_relation/logger/0000000009 number=9 guid=r9\n"
#define END_SUB "destroy unit/logger/0000000000"
#define SUB_DYING END_SUB " state=dying place=dying since=1000s"
#define SUB_STAYS                                                                                  \
    "ResourceConflict: unit logger/0: it is a subordinate, and goes with its principal or with "   \
    "the relation that brought it; or the caller has no reason to end it"

static void a_subordinate_is_destroyed_by_its_agent_alone(void **state)
{
    static const struct unit_move_row rows[] = {
        {"by a client", ACTOR_CLIENT, SUB ALIVE JOINS("alive"), END_SUB, SUB_STAYS},
        {"its principal is alive, and joined", ACTOR_REP, SUB ALIVE JOINS("alive"),
         END_SUB " guid=l0", SUB_STAYS},
        {"its principal is dying", ACTOR_REP, SUB DYING JOINS("alive"), END_SUB " guid=l0",
         SUB_DYING},
        {"its principal is gone", ACTOR_REP, SUB JOINS("alive"), END_SUB " guid=l0", SUB_DYING},
        {"no relation joins them any more", ACTOR_REP, SUB ALIVE, END_SUB " guid=l0", SUB_DYING},
        {"the relation is dying", ACTOR_REP, SUB ALIVE JOINS("dying"), END_SUB " guid=l0",
         SUB_DYING},
    };
    TRY(unit_moves, rows);
    (void)state;
}

static void a_dying_unit_dies_and_is_removed(void **state)
{
#define REMOVED "remove -" UNIT "\nend -unit_status/" U "\nremove -machine_unit/0000000001/" U
    static const struct unit_move_row rows[] = {
        {"it dies", ACTOR_REP, DYING ON STARTED WEB("alive"), "die " UNIT " guid=g3",
         "die " UNIT " state=dead place=dead since=1000s"},
        {"it is alive", ACTOR_REP, ALIVE ON STARTED WEB("alive"), "die " UNIT " guid=g3",
         NOT_DYING},
        {"it is in a relation", ACTOR_REP, DYING ON STARTED WEB("alive") REL("alive") JOINED SCOPE,
         "die " UNIT " guid=g3", NOT_DYING},
        {"it has a subordinate", ACTOR_REP, DYING ON STARTED WEB("alive") CHILD,
         "die " UNIT " guid=g3", NOT_DYING},
        {"forced", ACTOR_BBS, DYING ON STARTED WEB("alive"), "die " UNIT " forced=1",
         "die " UNIT " state=dead place=dead since=1000s"},
        {"a job that is not forced", ACTOR_BBS, DYING ON STARTED WEB("alive"), "die " UNIT,
         NOT_DYING},
        {"dead already", ACTOR_REP, DEAD ON STARTED WEB("alive"), "die " UNIT " guid=g3",
         "nothing"},
        {"gone already", ACTOR_REP, WEB("alive"), "die " UNIT " guid=g3", "nothing"},
        {"it is removed", ACTOR_REP, DEAD ON STARTED WEB("alive"), "remove " UNIT " guid=g3",
         REMOVED},
        {"removed already", ACTOR_REP, WEB("alive"), "remove " UNIT " guid=g3", "nothing"},
        {"it is not dead", ACTOR_REP, DYING ON STARTED WEB("alive"), "remove " UNIT " guid=g3",
         NOT_REMOVED},
        {"the converger, while its agent is there", ACTOR_CONVERGER, DEAD ON STARTED WEB("alive"),
         "remove " UNIT, NOT_REMOVED},
        {"the last unit of a dying service", ACTOR_REP, DEAD ON STARTED WEB("dying")
         "unit_config/web\n", "remove " UNIT " guid=g3", REMOVED
         "\nrelease -unit_service/web\nrelease -unit_config/web"},
        {"of a living service", ACTOR_REP, DEAD ON STARTED WEB("alive") "unit_config/web\n",
         "remove " UNIT " guid=g3", REMOVED},
        {"another unit of the dying service is there", ACTOR_REP, DEAD ON STARTED WEB("dying")
         OTHER, "remove " UNIT " guid=g3", REMOVED},
        {"a relation of the dying service is there", ACTOR_REP, DEAD ON STARTED WEB("dying")
         REL_OF, "remove " UNIT " guid=g3", REMOVED},
        {"the dying service is a namesake", ACTOR_REP, DEAD ON STARTED
         "unit_service/web name=web guid=other state=dying\n", "remove " UNIT " guid=g3", REMOVED},
    };
    TRY(unit_moves, rows);
    (void)state;
}

#define ENTER "enter " MEMBER " guid=g3 relation_guid=r7"
#define NOT_ENTERED                                                                                \
    "ResourceConflict: unit web/3 in relation 7: its unit or the relation is not alive, it has "   \
    "no such end there, or is another cell's"
#define ENTERED(member)                                                                            \
    "enter " member " unit_guid=g3 relation_guid=r7 state=joined cell_id=c1\n"                     \
    "enter unit_scope/" U "/0000000007 member=" member " relation_guid=r7 cell_id=c1\n"

static void a_unit_enters_a_relation(void **state)
{
    static const struct unit_move_row rows[] = {
        {"entered", ACTOR_REP, ALIVE REL("alive"), ENTER, ENTERED(MEMBER)
         "enter relation_settings/0000000007/-/0/" U " unit_guid=g3 cell_id=c1"},
        {"entered already", ACTOR_REP, ALIVE REL("alive") JOINED SCOPE, ENTER, "nothing"},
        {"the unit is dying", ACTOR_REP, DYING REL("alive"), ENTER, NOT_ENTERED},
        {"the relation is dying", ACTOR_REP, ALIVE REL("dying") PEER, ENTER, NOT_ENTERED},
        {"the relation was another one", ACTOR_REP, ALIVE REL("alive"),
         "enter " MEMBER " guid=g3 relation_guid=r6", NOT_ENTERED},
        {"the relation is gone", ACTOR_REP, ALIVE, ENTER,
         "ResourceNotFound: relation 7 is gone"},
        {"the unit is gone", ACTOR_REP, REL("alive"), ENTER,
         "ResourceNotFound: the unit of that guid is gone"},
        {"another unit has its name", ACTOR_REP, ALIVE REL("alive"),
         "enter " MEMBER " guid=g2 relation_guid=r7",
         "ResourceNotFound: the unit of that guid is gone"},
        {"by the end of the other service", ACTOR_REP, ALIVE REL("alive"),
         "enter relation_member/0000000007/-/1/" U " guid=g3 relation_guid=r7", NOT_ENTERED},
        {"in the scope of a principal", ACTOR_REP, ALIVE REL("alive"),
         "enter relation_member/0000000007/web.3/0/" U " guid=g3 relation_guid=r7", NOT_ENTERED},
        {"another identity", ACTOR_REP, UNIT " service=web number=3 guid=g3 service_guid=s-web "
         "cell_id=c1 identity=J state=alive\n" REL("alive"), ENTER, NOT_ENTERED},
        {"another cell's", ACTOR_REP, UNIT " service=web number=3 guid=g3 service_guid=s-web "
         "cell_id=c2 identity=I state=alive\n" REL("alive"), ENTER, NOT_ENTERED},
    };
    TRY(member_moves, rows);
    (void)state;
}

#define WITH_LOGGER                                                                                \
    "relation/0000000007 number=7 guid=r7 scope=1 ends=logger:info:0,web:juju-info:1 "             \
    "state=alive\n"
#define LOGGER(life)                                                                               \
    "unit_service/logger name=logger guid=s-logger subordinate=1 state=" life "\n"                 \
    "sequence/unit/logger next=5\n"
#define IN_SCOPE "relation_member/0000000007/web.3/1/" U
#define BRING "enter " IN_SCOPE " guid=g3 relation_guid=r7 brings_child=1 child="
#define ENTERS                                                                                     \
    ENTERED(IN_SCOPE) "enter relation_settings/0000000007/web.3/1/" U " unit_guid=g3 cell_id=c1"
#define OLD_CHILD(life)                                                                            \
    CHILD "unit/logger/0000000000 service=logger number=0 guid=l0 principal=web/3 state=" life "\n"

static void a_principal_brings_its_subordinate(void **state)
{
    static const char cannot[] =
        "ResourceConflict: unit web/3 in relation 7: its unit or the relation is not alive, it "
        "has no such end there, or is another cell's";
    static const struct unit_move_row rows[] = {
        {"it has one that is alive", ACTOR_REP, ALIVE WITH_LOGGER LOGGER("alive")
         OLD_CHILD("alive"), BRING "4", ENTERS},
        {"the old one has to go first", ACTOR_REP, ALIVE WITH_LOGGER LOGGER("alive")
         OLD_CHILD("dying"), BRING "4",
         "ResourceConflict: unit web/3 cannot enter relation 7 yet: its subordinate logger/0 has "
         "to go first"},
        {"it says no number", ACTOR_REP, ALIVE WITH_LOGGER LOGGER("alive"),
         "enter " IN_SCOPE " guid=g3 relation_guid=r7", cannot},
        {"the number is not out of the sequence", ACTOR_REP, ALIVE WITH_LOGGER LOGGER("alive"),
         BRING "5", cannot},
        {"a unit has the number", ACTOR_REP, ALIVE WITH_LOGGER LOGGER("alive")
         "unit/logger/0000000004 service=logger number=4\n", BRING "4", cannot},
        {"the other service is dying", ACTOR_REP, ALIVE WITH_LOGGER LOGGER("dying"), BRING "4",
         cannot},
        {"the scope of another principal", ACTOR_REP, ALIVE WITH_LOGGER LOGGER("alive"),
         "enter relation_member/0000000007/web.4/1/" U
         " guid=g3 relation_guid=r7 brings_child=1 child=4", cannot},
    };
    TRY(member_moves, rows);
    (void)state;
}

static void a_subordinate_is_made_beside_its_principal(void **state)
{
    struct laid_system l;
    struct laid_plan p;
    laid_units_init(&l, ALIVE WITH_LOGGER LOGGER("alive"));
    const Board__Move *m = laid_units_move(&l, BRING "4");
    struct op_input in = {.actor = ACTOR_REP, .peer_name = "c1", .trace_id = "",
                          .boot_id = "boot", .request = &m->base};
    laid_decide(l.board, move_row_named(&member_moves, "enter")->op, &in, &l.arena, &p);
    assert_int_equal(p.plan.verdict, PLAN_COMMIT);
    assert_int_equal(p.plan.change_count, 6);
    const struct change *c = p.plan.changes->next->next->next;
    const Board__UnitRecord *u = (const Board__UnitRecord *)c->message;
    assert_string_equal(c->key, "unit/logger/0000000004");
    assert_string_equal(c->move, "enlist");
    assert_string_equal(u->principal, "web/3");
    assert_string_equal(u->principal_guid, "g3");
    assert_string_equal(u->cell_id, "c1");
    assert_string_equal(u->identity, "I");
    assert_string_equal(u->state, "alive");
    assert_string_not_equal(u->guid, "g3");
    assert_int_equal(u->number, 4);
    assert_string_equal(c->next->key, "unit_status/logger/0000000004");
    assert_string_equal(c->next->next->key, "unit_child/" U "/logger");
    laid_system_done(&l);
    (void)state;
}

/* A copy may be older than the number that was taken: who is refused compares the sequence. */
static void a_number_is_refused_by_the_sequence_as_it_is(void **state)
{
    static const struct {
        const char *move;
        enum plan_verdict verdict;
        enum compare_kind kind;
    } rows[] = {{BRING "4", PLAN_COMMIT, COMPARE_EXISTS},
                {BRING "5", PLAN_REFUSE, COMPARE_UNCHANGED}};
    for (size_t i = 0; i < 2; i++) {
        struct laid_system l;
        struct laid_plan p;
        bool compared = false;
        laid_units_init(&l, ALIVE WITH_LOGGER LOGGER("alive"));
        const Board__Move *m = laid_units_move(&l, rows[i].move);
        struct op_input in = {.actor = ACTOR_REP, .peer_name = "c1", .trace_id = "",
                              .boot_id = "boot", .request = &m->base};
        laid_decide(l.board, move_row_named(&member_moves, "enter")->op, &in, &l.arena, &p);
        assert_int_equal(p.plan.verdict, rows[i].verdict);
        for (size_t k = 0; k < p.reads.count; k++) {
            compared = compared || (strcmp(p.reads.list[k].key, "sequence/unit/logger") == 0 &&
                                    p.reads.list[k].kind == rows[i].kind);
        }
        assert_true(compared);
        laid_system_done(&l);
    }
    (void)state;
}

#define LEAVE "leave " MEMBER " guid=g3"
#define LEFT "leave -" MEMBER "\nleave -unit_scope/" U "/0000000007"

static void a_unit_leaves_and_the_last_one_takes_the_relation_with_it(void **state)
{
    static const struct unit_move_row rows[] = {
        {"the relation is alive", ACTOR_REP, DYING REL("alive") REFERENCES JOINED SCOPE, LEAVE,
         LEFT},
        {"it is dying, with others", ACTOR_REP, DYING REL("dying") REFERENCES JOINED SCOPE PEER,
         LEAVE, LEFT},
        {"it is dying, and this was the last", ACTOR_REP, DYING REL("dying") REFERENCES JOINED SCOPE
         WEB("alive") DB("alive"), LEAVE, LEFT "\n" SETTLED},
        {"the other service is dying, and has nothing else", ACTOR_REP, DYING REL("dying")
         REFERENCES JOINED SCOPE WEB("dying") DB("dying"), LEAVE,
         LEFT "\n" SETTLED "\nrelease -unit_service/db"},
        {"the other service is dying, and has a unit", ACTOR_REP, DYING REL("dying") REFERENCES
         JOINED SCOPE WEB("dying") DB("dying") "unit/db/0000000000 service=db\n", LEAVE,
         LEFT "\n" SETTLED},
        {"the other service is dying, and has a relation", ACTOR_REP, DYING REL("dying") REFERENCES
         JOINED SCOPE DB("dying") "unit_service_relation/db/0000000008 number=8\n", LEAVE,
         LEFT "\n" SETTLED},
        {"no member", ACTOR_REP, DYING REL("alive") REFERENCES, LEAVE, "nothing"},
        {"the unit is gone", ACTOR_REP, REL("alive"), LEAVE, "nothing"},
        {"the membership is another unit's", ACTOR_REP, DYING REL("alive") MEMBER
         " unit_guid=g9 state=joined\n", LEAVE, "ResourceNotFound: the unit of that guid is gone"},
        {"forced", ACTOR_BBS, DYING REL("alive") REFERENCES JOINED SCOPE, LEAVE " forced=1", LEFT},
        {"a job that is not forced", ACTOR_BBS, DYING REL("alive") REFERENCES JOINED SCOPE, LEAVE,
         "ResourceConflict: unit web/3 in relation 7: its unit is another cell's"},
    };
    TRY(member_moves, rows);
    (void)state;
}

#define TOLD "relation_settings/0000000007/-/0/" U
#define PUBLISH "publish " MEMBER " guid=g3 hook="

static void a_hook_publishes_once(void **state)
{
    static const struct unit_move_row rows[] = {
        {"published", ACTOR_REP, ALIVE REL("alive") JOINED SCOPE TOLD " unit_guid=g3 hook=4\n",
         PUBLISH "5", "publish " TOLD " hook=5 cell_id=c1"},
        {"by this hook already", ACTOR_REP, ALIVE REL("alive") JOINED SCOPE TOLD
         " unit_guid=g3 hook=5\n", PUBLISH "5", "nothing"},
        {"by a later one", ACTOR_REP, ALIVE REL("alive") JOINED SCOPE TOLD
         " unit_guid=g3 hook=6\n", PUBLISH "5", "nothing"},
        {"while it departs", ACTOR_REP, DYING REL("dying") MEMBER
         " unit_guid=g3 relation_guid=r7 state=departing\n" TOLD " unit_guid=g3 hook=4\n",
         PUBLISH "5", "publish " TOLD " hook=5 cell_id=c1"},
        {"after it has left", ACTOR_REP, ALIVE REL("alive") TOLD " unit_guid=g3 hook=4\n",
         PUBLISH "5", "ResourceNotFound: the requested resource could not be found"},
    };
    TRY(member_moves, rows);
    (void)state;
}

/* A rep that another one has taken the cell over from moves nothing any more. */
static void an_old_session_moves_nothing(void **state)
{
#define LATER "cell/c1 incarnation=2 identity=I\n"
    static const char over[] =
        "ResourceConflict: incarnation 1 of cell c1 is over: the board's is 2";
    static const struct unit_move_row units[] = {
        {"destroy", ACTOR_REP, LATER ALIVE ON STARTED WEB("dying"), "destroy " UNIT " guid=g3",
         over},
        {"die", ACTOR_REP, LATER DYING ON STARTED WEB("alive"), "die " UNIT " guid=g3", over},
        {"remove", ACTOR_REP, LATER DEAD ON STARTED WEB("alive"), "remove " UNIT " guid=g3", over},
    };
    static const struct unit_move_row members[] = {
        {"enter", ACTOR_REP, LATER ALIVE REL("alive"), ENTER, over},
        {"publish", ACTOR_REP, LATER ALIVE REL("alive") JOINED SCOPE TOLD " unit_guid=g3 hook=4\n",
         PUBLISH "5", over},
        {"leave", ACTOR_REP, LATER DYING REL("alive") REFERENCES JOINED SCOPE, LEAVE, over},
    };
    TRY(unit_moves, units);
    TRY(member_moves, members);
    (void)state;
}

#define END_RELATION "destroy relation/0000000007"
#define ENDED                                                                                      \
    "destroy -relation/0000000007\ndestroy -relation_key/web%3Adb%20db%3Akv\n"                     \
    "destroy -unit_service_relation/web/0000000007\ndestroy -unit_service_relation/db/0000000007"

static void a_relation_is_destroyed(void **state)
{
    static const struct unit_move_row rows[] = {
        {"somebody is in it", ACTOR_CLIENT, REL("alive") REFERENCES PEER, END_RELATION,
         END_RELATION " state=dying since=1000s"},
        {"nobody is in it", ACTOR_CLIENT, REL("alive") REFERENCES WEB("alive") DB("alive"),
         END_RELATION, ENDED},
        {"dying already", ACTOR_CLIENT, REL("dying") REFERENCES PEER, END_RELATION, "nothing"},
        {"gone", ACTOR_CLIENT, WEB("alive"), END_RELATION, "nothing"},
        {"of peers", ACTOR_CLIENT, "relation/0000000007 number=7 guid=r7 ends=web:ring:2 "
         "state=alive\n", END_RELATION, "InvalidRequest: relation 7: it is among the units of one "
         "service: destroy the service to end it"},
    };
    TRY(relation_moves, rows);
    (void)state;
}

#define CHARM(service, ends) "charm/" service "/d endpoints=" ends " charm.name=w\n"
#define SERVICE(name, life)                                                                        \
    "unit_service/" name " name=" name " guid=s-" name " charm=d state=" life "\n"
#define BOTH                                                                                       \
    SERVICE("web", "alive") SERVICE("db", "alive") CHARM("web", "db:0:kv,ring:2:ring")             \
    CHARM("db", "kv:1:kv,other:1:sql,up:0:kv,near:1:kv:1")
#define CANNOT(a, b) "InvalidRequest: " a " and " b " "

static void what_cannot_be_related_is_refused(void **state)
{
    static const struct relate_row rows[] = {
        {"no such service", BOTH, "web:db mail:kv",
         "ResourceNotFound: there is no unit service mail: bbs units lists those that are"},
        {"it is dying", SERVICE("web", "dying") SERVICE("db", "alive") CHARM("db", "kv:1:kv"),
         "web:db db:kv",
         "ResourceConflict: unit service web is dying: nothing is related to it any more"},
        {"no such end", BOTH, "web:x db:kv",
         "InvalidRequest: web has no endpoint \"x\"; it has db, ring and juju-info"},
        {"interfaces", BOTH, "web:db db:other", CANNOT("web:db", "db:other")
         "have different interfaces: kv and sql"},
        {"both require", BOTH, "web:db db:up", CANNOT("web:db", "db:up")
         "both require something: one end provides what the other requires"},
        {"both provide", BOTH, "web:juju-info db:kv", CANNOT("web:juju-info", "db:kv")
         "both provide something: one end provides what the other requires"},
        {"scopes", BOTH, "web:db db:near", CANNOT("web:db", "db:near")
         "differ in scope: db:near is for units of one container, the other for all"},
        {"peers", BOTH, "web:ring db:kv", "InvalidRequest: web:ring is for the units of web "
         "alone: a relation of peers is made and ends with its service"},
        {"one service", BOTH, "db:up db:kv", "InvalidRequest: db cannot be related to itself; its "
         "units speak by an endpoint in peers, whose relation is made with the service"},
        {"none is subordinate", BOTH CHARM("mail", "kv:0:kv:1") SERVICE("mail", "alive"),
         "mail:kv db:near", CANNOT("mail:kv", "db:near")
         "have container scope: one of the services must be subordinate, and none is"},
        {"its charm is missing", SERVICE("mail", "alive") BOTH, "mail:kv db:kv",
         "ResourceNotFound: the charm d of unit service mail is missing: upgrade the service"},
        {"twice", BOTH "relation_key/web%3Adb%20db%3Akv number=1\n", "web:db db:kv",
         "ResourceExists: web:db and db:kv are related already"},
        {"twice, the other way round", BOTH "relation_key/web%3Adb%20db%3Akv number=1\n",
         "db:kv web:db", "ResourceExists: db:kv and web:db are related already"},
        {"twice, while the first one ends", BOTH "relation_key/web%3Adb%20db%3Akv number=7\n"
         REL("dying"), "web:db db:kv", "ResourceExists: web:db and db:kv are related by "
         "relation 7, which ends: bbs units why 7 says what it waits for, and then they can be "
         "related anew"},
        {"no number is left", BOTH "sequence/relation next=-1\n", "web:db db:kv",
         "ResourceConflict: the numbers of relations are used up"},
    };
    try_relates(rows, sizeof(rows) / sizeof(rows[0]));
    (void)state;
}

static void two_services_are_related(void **state)
{
    static const char *const asked[] = {"web:db db:kv", "db:kv web:db"};
    for (size_t i = 0; i < 2; i++) {
        struct laid_system l;
        struct laid_plan p;
        laid_units_init(&l, BOTH "sequence/relation next=7\n");
        const Board__RelateUnitsRequest *r = relate_request(&l.arena, asked[i]);
        struct op_input in = {.actor = ACTOR_CLIENT, .peer_name = "x", .trace_id = "",
                              .boot_id = "boot", .request = &r->base};
        laid_decide(l.board, &relate_units_row, &in, &l.arena, &p);
        assert_int_equal(p.plan.verdict, PLAN_COMMIT);
        static const char *const keys[] = {
            "relation/0000000007", "relation_key/web%3Adb%20db%3Akv",
            "unit_service_relation/web/0000000007", "unit_service_relation/db/0000000007",
            "sequence/relation"};
        const struct change *c = p.plan.changes;
        for (size_t k = 0; k < 5; k++, c = c->next) {
            assert_string_equal(c->key, keys[k]);
        }
        assert_null(c);
        const Board__RelationRecord *made = (const Board__RelationRecord *)p.plan.record;
        assert_string_equal(made->ends[0]->service, "web");
        assert_string_equal(made->ends[1]->service_guid, "s-db");
        assert_string_equal(made->state, "alive");
        laid_system_done(&l);
    }
    (void)state;
}

/* A membership of each of these relations departs with it; with one more a job says so of them. */
static void a_unit_is_destroyed_with_as_many_memberships_as_depart_at_once(void **state)
{
    for (unsigned count = UNIT_SCOPES_AT_ONCE; count <= UNIT_SCOPES_AT_ONCE + 1; count++) {
        struct laid_system l;
        struct laid_plan p;
        laid_units_init(&l, ALIVE ON STARTED WEB("alive"));
        for (unsigned i = 0; i < count; i++) {
            const char *key, *member = arena_printf(&l.arena, "relation_member/%010u/-/0/" U, i);
            ProtobufCMessage *m = unit_row(
                &l.arena, arena_printf(&l.arena, "%s unit_guid=g3 state=joined", member), &key);
            laid_system_put(&l, key, m);
            m = unit_row(&l.arena, arena_printf(&l.arena, "unit_scope/" U "/%010u member=%s", i,
                                                member), &key);
            laid_system_put(&l, key, m);
        }
        const Board__Move *m = laid_units_move(&l, "destroy " UNIT " guid=g3");
        struct op_input in = {.actor = ACTOR_CLIENT, .peer_name = "x", .trace_id = "",
                              .boot_id = "boot", .request = &m->base};
        laid_decide(l.board, move_row_named(&unit_moves, "destroy")->op, &in, &l.arena, &p);
        bool fits = count == UNIT_SCOPES_AT_ONCE;
        assert_int_equal(p.plan.verdict, PLAN_COMMIT);
        assert_int_equal(p.plan.change_count, fits ? 1 + count : 2);
        if (!fits) {
            assert_string_equal(p.plan.changes->next->key, "job/g3/depart");
        }
        laid_system_done(&l);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_is_destroyed),
        cmocka_unit_test(a_subordinate_is_destroyed_by_its_agent_alone),
        cmocka_unit_test(a_dying_unit_dies_and_is_removed),
        cmocka_unit_test(a_unit_enters_a_relation),
        cmocka_unit_test(a_principal_brings_its_subordinate),
        cmocka_unit_test(a_subordinate_is_made_beside_its_principal),
        cmocka_unit_test(a_number_is_refused_by_the_sequence_as_it_is),
        cmocka_unit_test(a_unit_leaves_and_the_last_one_takes_the_relation_with_it),
        cmocka_unit_test(a_hook_publishes_once),
        cmocka_unit_test(an_old_session_moves_nothing),
        cmocka_unit_test(a_relation_is_destroyed),
        cmocka_unit_test(what_cannot_be_related_is_refused),
        cmocka_unit_test(two_services_are_related),
        cmocka_unit_test(a_unit_is_destroyed_with_as_many_memberships_as_depart_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
