/* The converger's moves as a bbs decides them: rows of before, when, plan. The numbers are those of
 * the rules in bbs/lrp/create.c, restart.c, stop.c, expire.c. */
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#define KEY "actual/web/0000000001/0"
#define LEADER_LOCK "holder=h term=5"
#define TERM " term=5 role=converger board_generation=E"
#define FRESH "ttl=60 left=30 seen=5"
#define PRESENT "present incarnation=7"
#define LOST "lost incarnation=7"
#define RUN(cases) run_move_cases(cases, sizeof(cases) / sizeof((cases)[0]))
#define ROW(text) text, ACTOR_CONVERGER, .leader_lock = LEADER_LOCK

static void creates(void **state)
{
    static const struct move_case cases[] = {
        {ROW("1 there already"), .ordinary = "RUNNING a@c1", .desired = "instances=3",
         .move = "create" TERM, .plan = "nothing\n"},
        {ROW("2 not desired"), .move = "create" TERM,
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {ROW("2 the index is not"), .desired = "instances=1", .move = "create" TERM,
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {ROW("3"), .desired = "instances=2", .move = "create" TERM,
         .plan = "put " KEY " create by converger -> UNCLAIMED since=1000 new/0\n"
                 "notice start web 1..2\n"},
        {ROW("3 beside a SUSPECT one"), .desired = "instances=2", .suspect = "RUNNING a@c1",
         .move = "create" TERM,
         .plan = "put " KEY " create by converger -> UNCLAIMED since=1000 new/0\n"
                 "notice start web 1..2\n"},
        {"a client may not name it", ACTOR_CLIENT, .desired = "instances=0", .move = "create",
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"nor a rep", ACTOR_REP, .desired = "instances=2", .cell = "present incarnation=7",
         .move = "create a@c1 incarnation=7",
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"a deposed leader", ACTOR_CONVERGER, .leader_lock = "holder=h term=6",
         .desired = "instances=2", .move = "create" TERM,
         .plan = "refuse ResourceConflict: term 5 of the converger is over: the board's is 6\n"},
    };
    RUN(cases);
}

static void asks(void **state)
{
    static const char refusal[] = "refuse ResourceConflict: web/1 awaits no placement\n";
    static const struct move_case cases[] = {
        {ROW("1"), .ordinary = "UNCLAIMED since=100", .desired = "instances=2", .move = "ask" TERM,
         .plan = "nothing\nnotice start web 1..2\n"},
        {ROW("2 claimed meanwhile"), .ordinary = "CLAIMED a@c1", .desired = "instances=2",
         .move = "ask" TERM, .plan = refusal},
        {ROW("2 gone"), .desired = "instances=2", .move = "ask" TERM, .plan = refusal},
        {ROW("2 not desired"), .ordinary = "UNCLAIMED", .desired = "instances=1",
         .move = "ask" TERM, .plan = refusal},
        {"another leader", ACTOR_AUCTIONEER, .leader_lock = LEADER_LOCK, .ordinary = "UNCLAIMED",
         .desired = "instances=2", .move = "ask term=5 role=auctioneer board_generation=E",
         .plan = refusal},
    };
    RUN(cases);
}

static void refreshes(void **state)
{
#define REFRESH .move = "refresh" TERM
#define TOLD .plan = "nothing\nnotice refresh web 1..2\n"
#define CANNOT .plan = "refuse ResourceConflict: web/1 does not run, or is not desired\n"
    static const struct move_case cases[] = {
        {ROW("1 gone"), .desired = "instances=2 tag=v", REFRESH, CANNOT},
        {ROW("1 only claimed"), .ordinary = "CLAIMED a@c1", .desired = "instances=2 tag=v", REFRESH,
         CANNOT},
        {ROW("1 not desired"), .ordinary = "RUNNING a@c1", REFRESH, CANNOT},
        {ROW("1 the index is not"), .ordinary = "RUNNING a@c1", .desired = "instances=1 tag=v",
         REFRESH, CANNOT},
        {"1 another leader", ACTOR_AUCTIONEER, .leader_lock = LEADER_LOCK,
         .ordinary = "RUNNING a@c1", .desired = "instances=2 tag=v",
         .move = "refresh term=5 role=auctioneer board_generation=E", CANNOT},
        {ROW("2 nothing is desired, nothing shown"), .ordinary = "RUNNING a@c1",
         .desired = "instances=2", REFRESH, .plan = "nothing\n"},
        {ROW("2"), .ordinary = "RUNNING a@c1 route=h tag=v", .desired = "instances=2 route=h tag=v",
         REFRESH, .plan = "nothing\n"},
        {ROW("2 its index"), .ordinary = "RUNNING a@c1 tag=1", .desired = "instances=2 tag=INDEX",
         REFRESH, .plan = "nothing\n"},
        {ROW("2 its guid"), .ordinary = "RUNNING a@c1 tag=a", .desired = "instances=2 tag=GUID",
         REFRESH, .plan = "nothing\n"},
        {ROW("3 another route"), .ordinary = "RUNNING a@c1 route=h",
         .desired = "instances=2 route=i", REFRESH, TOLD},
        {ROW("3 no route any more"), .ordinary = "RUNNING a@c1 route=h", .desired = "instances=2",
         REFRESH, TOLD},
        {ROW("2 its rep does not tell of routes"), .ordinary = "RUNNING a@c1 route=h",
         .desired = "instances=2 route=h", REFRESH, .plan = "nothing\n"},
        {ROW("2 its rep knows of the routes"), .ordinary = "RUNNING a@c1 route=h routed",
         .desired = "instances=2 route=h", REFRESH, .plan = "nothing\n"},
        {ROW("3 its rep knows of no route"), .ordinary = "RUNNING a@c1 route=h unrouted",
         .desired = "instances=2 route=h", REFRESH, TOLD},
        {ROW("3 its rep knows of a route that went"), .ordinary = "RUNNING a@c1 routed",
         .desired = "instances=2", REFRESH, TOLD},
        {ROW("3 another tag"), .ordinary = "RUNNING a@c1 tag=v", .desired = "instances=2 tag=w",
         REFRESH, TOLD},
        {ROW("3 no tag yet"), .ordinary = "RUNNING a@c1", .desired = "instances=2 tag=GUID",
         REFRESH, TOLD},
        {ROW("3 the tag of another index"), .ordinary = "RUNNING a@c1 tag=0",
         .desired = "instances=2 tag=INDEX", REFRESH, TOLD},
    };
#undef REFRESH
#undef TOLD
#undef CANNOT
    RUN(cases);
}

static void restarts(void **state)
{
#define CANNOT "refuse ActualLRPCannotBeUnclaimed: cannot unclaim actual LRP\n"
    static const struct move_case cases[] = {
        {ROW("1 gone"), .desired = "instances=2", .move = "restart" TERM,
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {ROW("2 a second too early"), .ordinary = "CRASHED crash=3 since=971",
         .desired = "instances=2", .move = "restart" TERM, .plan = CANNOT},
        {ROW("2 since lies ahead"), .ordinary = "CRASHED crash=3 since=1500",
         .desired = "instances=2", .move = "restart" TERM, .plan = CANNOT},
        {ROW("2 crashed too often"), .ordinary = "CRASHED crash=200", .desired = "instances=2",
         .move = "restart" TERM, .plan = CANNOT},
        {ROW("2 not desired"), .ordinary = "CRASHED crash=3", .desired = "instances=1",
         .move = "restart" TERM, .plan = CANNOT},
        {ROW("2 runs"), .ordinary = "RUNNING a@c1 crash=3", .desired = "instances=2",
         .move = "restart" TERM, .plan = CANNOT},
        {"2 not for a client", ACTOR_CLIENT, .ordinary = "CRASHED crash=3",
         .desired = "instances=2", .move = "restart", .plan = CANNOT},
        {ROW("3 just due"), .ordinary = "CRASHED crash=3 since=970 reason=R",
         .move = "restart" TERM, .desired = "instances=2",
         .plan = "put " KEY " restart by converger -> UNCLAIMED crash=3 reason=R since=1000 E/5\n"
                 "notice start web 1..2\n"},
        {ROW("3 the longest back-off"), .ordinary = "CRASHED crash=199 since=40",
         .desired = "instances=2", .move = "restart" TERM,
         .plan = "put " KEY " restart by converger -> UNCLAIMED crash=199 since=1000 E/5\n"
                 "notice start web 1..2\n"},
    };
    RUN(cases);
}

static void stops(void **state)
{
    static const char refusal[] =
        "refuse ResourceConflict: web/1 is desired, or its domain d is not fresh\n";
    static const char marked[] = "put " KEY " stop by converger -> RUNNING a@c1 routable since=0 "
                                 "E/4 stopping\nnotice stop web a at c1\n";
    static const struct move_case cases[] = {
        {ROW("1 gone"), .domain = FRESH, .move = "stop" TERM, .plan = "nothing\n"},
        {ROW("2 desired"), .ordinary = "RUNNING a@c1", .desired = "instances=2", .domain = FRESH,
         .move = "stop" TERM, .plan = refusal},
        {ROW("2 nobody upserted the domain"), .ordinary = "RUNNING a@c1", .move = "stop" TERM,
         .plan = refusal},
        {ROW("2 expired"), .ordinary = "RUNNING a@c1", .domain = "ttl=60 left=0 seen=5",
         .move = "stop" TERM, .plan = refusal},
        {ROW("2 seen for as long as its ttl, the wall clock fell"), .ordinary = "RUNNING a@c1",
         .domain = "ttl=60 left=30 seen=60", .move = "stop" TERM, .plan = refusal},
        {ROW("2 upserted before a restore"), .ordinary = "RUNNING a@c1",
         .domain = "ttl=60 left=30 restored", .move = "stop" TERM, .plan = refusal},
        {ROW("2 without end, and upserted before a restore"), .ordinary = "RUNNING a@c1",
         .domain = "ttl=0 restored", .move = "stop" TERM, .plan = refusal},
        {ROW("2 upserted before this bbs was started: its clock may be behind"),
         .ordinary = "RUNNING a@c1", .domain = "ttl=60 left=30 seen=1 found", .move = "stop" TERM,
         .plan = refusal},
        {ROW("2 in a stale domain even what is UNCLAIMED"), .ordinary = "UNCLAIMED",
         .move = "stop" TERM, .plan = refusal},
        {ROW("3 UNCLAIMED"), .ordinary = "UNCLAIMED", .domain = FRESH, .move = "stop" TERM,
         .plan = "delete " KEY " stop by converger\n"},
        {ROW("3 CRASHED"), .ordinary = "CRASHED crash=3", .desired = "instances=1", .domain = FRESH,
         .move = "stop" TERM, .plan = "delete " KEY " stop by converger\n"},
        {ROW("4 RUNNING, no DesiredLRP"), .ordinary = "RUNNING a@c1", .cell = PRESENT,
         .domain = FRESH, .move = "stop" TERM, .plan = marked},
        {ROW("4 a domain without end"), .ordinary = "RUNNING a@c1", .desired = "instances=1",
         .cell = PRESENT, .domain = "ttl=0 seen=100000", .move = "stop" TERM, .plan = marked},
        {ROW("4 a last second of freshness"), .ordinary = "RUNNING a@c1", .cell = PRESENT,
         .domain = "ttl=60 left=1 seen=59", .move = "stop" TERM, .plan = marked},
        {ROW("4 CLAIMED"), .ordinary = "CLAIMED a@c1", .cell = PRESENT, .domain = FRESH,
         .move = "stop" TERM,
         .plan = "put " KEY " stop by converger -> CLAIMED a@c1 since=0 E/4 stopping\n"
                 "notice stop web a at c1\n"},
        {ROW("5 marked before, no domain"), .ordinary = "RUNNING a@c1 stopping", .cell = PRESENT,
         .move = "stop" TERM, .plan = "nothing\nnotice stop web a at c1\n"},
        {ROW("5 marked before, desired again"), .ordinary = "CLAIMED a@c1 stopping",
         .desired = "instances=2", .cell = PRESENT, .move = "stop" TERM,
         .plan = "nothing\nnotice stop web a at c1\n"},
        {ROW("3 on a lost cell, absent from a fresh domain"), .ordinary = "RUNNING a@c1",
         .domain = FRESH, .cell = LOST, .move = "stop" TERM,
         .plan = "delete " KEY " stop by converger\n"},
        {ROW("3 marked, its cell has no record"), .ordinary = "CLAIMED a@c1 stopping",
         .move = "stop" TERM, .plan = "delete " KEY " stop by converger\n"},
        {ROW("3 marked, its cell is lost, desired again"), .ordinary = "RUNNING a@c1 stopping",
         .desired = "instances=2", .cell = LOST, .move = "stop" TERM,
         .plan = "put " KEY " stop by converger -> UNCLAIMED since=1000 new/0\n"
                 "notice start web 1..2\n"},
        {ROW("2 on a lost cell, in a stale domain"), .ordinary = "RUNNING a@c1", .cell = LOST,
         .move = "stop" TERM, .plan = refusal},
        {ROW("2 on a lost cell, desired"), .ordinary = "RUNNING a@c1", .cell = LOST,
         .desired = "instances=2", .domain = FRESH, .move = "stop" TERM, .plan = refusal},
    };
    RUN(cases);
}

static void expiries(void **state)
{
    static const char refusal[] = "refuse ResourceConflict: domain d has not expired\n";
    static const struct move_case cases[] = {
        {ROW("1 gone"), .move = "expire" TERM, .plan = "nothing\n"},
        {ROW("2 upserted again"), .domain = "ttl=60 left=1", .move = "expire" TERM,
         .plan = refusal},
        {ROW("2 without end"), .domain = "ttl=0", .move = "expire" TERM, .plan = refusal},
        {"2 not for a client", ACTOR_CLIENT, .domain = "ttl=60 left=-10", .move = "expire",
         .plan = refusal},
        {ROW("2 by a clock that is hours ahead"), .domain = "ttl=60 left=-9000 seen=59",
         .move = "expire" TERM, .plan = refusal},
        {ROW("2 long, and not known for an hour"), .domain = "ttl=7200 left=-9000 seen=3599",
         .move = "expire" TERM, .plan = refusal},
        {ROW("2 long, and not over"), .domain = "ttl=7200 left=1 seen=4000",
         .move = "expire" TERM, .plan = refusal},
        {ROW("3"), .domain = "ttl=60 left=0 seen=60", .move = "expire" TERM,
         .plan = "delete domain/d expire by converger\n"},
        {ROW("3 by a clock that is hours behind"), .domain = "ttl=60 left=9000 seen=60",
         .move = "expire" TERM, .plan = "delete domain/d expire by converger\n"},
        {ROW("3 long"), .domain = "ttl=7200 left=0 seen=3600", .move = "expire" TERM,
         .plan = "delete domain/d expire by converger\n"},
        {"a deposed leader", ACTOR_CONVERGER, .leader_lock = "holder=h term=6",
         .domain = "ttl=60 left=0 seen=60", .move = "expire" TERM,
         .plan = "refuse ResourceConflict: term 5 of the converger is over: the board's is 6\n"},
    };
    RUN(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creates),  cmocka_unit_test(asks),  cmocka_unit_test(refreshes),
        cmocka_unit_test(restarts), cmocka_unit_test(stops), cmocka_unit_test(expiries),
    };
    return cmocka_run_group_tests_name("moves of the converger", tests, NULL, NULL);
}
