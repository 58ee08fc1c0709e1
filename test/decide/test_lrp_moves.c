/* The moves of one ActualLRP: rows of before, when, plan. The numbers are those of the rules in
 * bbs/lrp/claim.c, start.c, ...; behaviour.md 10 and design.md 5 say them. */
#include "bbs/lrp/actual.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define KEY "actual/web/0000000001/0"
#define SUSPECT_KEY "actual/web/0000000001/2"
#define EVACUATING_KEY "actual/web/0000000001/1"
#define CELL "present incarnation=7"
#define RUN(cases) run_move_cases(cases, sizeof(cases) / sizeof((cases)[0]))

static void claims(void **state)
{
    static const struct move_case cases[] = {
        {"1 the instance is SUSPECT", ACTOR_CLIENT, .ordinary = "UNCLAIMED",
         .suspect = "RUNNING a@c1", .move = "claim a@c1", .plan = "nothing\n"},
        {"2 no record", ACTOR_CLIENT, .move = "claim a@c1",
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"3 another's", ACTOR_CLIENT, .ordinary = "CLAIMED b@c2", .move = "claim a@c1",
         .plan = "refuse ActualLRPCannotBeClaimed: cannot claim actual LRP\n"},
        {"3 the same cell with another guid", ACTOR_CLIENT, .ordinary = "CLAIMED b@c1",
         .move = "claim a@c1",
         .plan = "refuse ActualLRPCannotBeClaimed: cannot claim actual LRP\n"},
        {"3 CRASHED", ACTOR_CLIENT, .ordinary = "CRASHED crash=3", .move = "claim a@c1",
         .plan = "refuse ActualLRPCannotBeClaimed: cannot claim actual LRP\n"},
        {"3 an old definition", ACTOR_REP, .ordinary = "UNCLAIMED",
         .desired = "instances=3 def=D2", .cell = CELL, .move = "claim a@c1 incarnation=7 def=D1",
         .plan = "refuse ActualLRPCannotBeClaimed: cannot claim actual LRP\n"},
        {"4 its own already", ACTOR_CLIENT, .ordinary = "CLAIMED a@c1", .move = "claim a@c1",
         .plan = "nothing\n"},
        {"4 a rep's late repetition", ACTOR_REP, .ordinary = "RUNNING a@c1", .cell = CELL,
         .move = "claim a@c1 incarnation=7", .plan = "nothing\n"},
        {"5 a client falls back to CLAIMED", ACTOR_CLIENT, .ordinary = "RUNNING a@c1 address=A",
         .move = "claim a@c1",
         .plan = "put " KEY " claim by client -> CLAIMED a@c1 routable since=1000 E/5\n"},
        {"5 UNCLAIMED", ACTOR_REP,
         .ordinary = "UNCLAIMED since=10 error=full crash=2 reason=R zone=z",
         .desired = "instances=3 def=D1", .cell = CELL, .move = "claim a@c1 incarnation=7 def=D1",
         .plan = "put " KEY " claim by rep -> CLAIMED a@c1 crash=2 reason=R def=D1 zone=z "
                 "since=1000 E/5\n"},
        {"5 since never falls", ACTOR_CLIENT, .ordinary = "UNCLAIMED since=5000",
         .move = "claim a@c1",
         .plan = "put " KEY " claim by client -> CLAIMED a@c1 since=5000 E/5\n"},
        {"5 nothing desired contradicts no definition", ACTOR_REP, .ordinary = "UNCLAIMED",
         .cell = CELL, .move = "claim a@c1 incarnation=7 def=D1",
         .plan = "put " KEY " claim by rep -> CLAIMED a@c1 def=D1 since=1000 E/5\n"},
    };
    RUN(cases);
}

/* A cell of a node pool takes what bears its tag, and that alone; what it has it keeps. */
static void node_pools(void **state)
{
#define POOL " pool=pool:u//:main#1"
#define BEARS " place=pool:u//:main#1"
#define NO(what)                                                                                   \
    "refuse ActualLRPCannotBe" what ": web/1 does not go with the node pool of cell c1\n"
    static const struct move_case cases[] = {
        {"claim: it bears no tag", ACTOR_REP, .ordinary = "UNCLAIMED",
         .desired = "instances=3 def=D1", .cell = CELL POOL,
         .move = "claim a@c1 incarnation=7 def=D1", .plan = NO("Claimed")},
        {"claim: of another epoch", ACTOR_REP, .ordinary = "UNCLAIMED",
         .desired = "instances=3 def=D1 place=pool:u//:main#2", .cell = CELL POOL,
         .move = "claim a@c1 incarnation=7 def=D1", .plan = NO("Claimed")},
        {"claim: the cell is in no pool", ACTOR_REP, .ordinary = "UNCLAIMED",
         .desired = "instances=3 def=D1" BEARS, .cell = CELL,
         .move = "claim a@c1 incarnation=7 def=D1", .plan = NO("Claimed")},
        {"claim: it goes with it", ACTOR_REP, .ordinary = "UNCLAIMED",
         .desired = "instances=3 def=D1" BEARS, .cell = CELL POOL,
         .move = "claim a@c1 incarnation=7 def=D1",
         .plan = "put " KEY " claim by rep -> CLAIMED a@c1 def=D1 since=1000 E/5\n"},
        {"claim: it has it", ACTOR_REP, .ordinary = "CLAIMED a@c1 def=D1",
         .desired = "instances=3 def=D1", .cell = CELL POOL,
         .move = "claim a@c1 incarnation=7 def=D1", .plan = "nothing\n"},
        {"start: it bears no tag", ACTOR_REP, .ordinary = "UNCLAIMED",
         .desired = "instances=3 def=D1", .cell = CELL POOL,
         .move = "start a@c1 incarnation=7 def=D1 address=A", .plan = NO("Started")},
        {"nothing is desired: an emptied board takes nothing away", ACTOR_REP,
         .ordinary = "UNCLAIMED", .cell = CELL POOL, .move = "claim a@c1 incarnation=7 def=D1",
         .plan = "put " KEY " claim by rep -> CLAIMED a@c1 def=D1 since=1000 E/5\n"},
    };
    RUN(cases);
#undef POOL
#undef BEARS
#undef NO
}

static void authority(void **state)
{
    static const struct move_case cases[] = {
        {"a rep moves for its own cell", ACTOR_REP, .ordinary = "UNCLAIMED", .cell = CELL,
         .move = "claim a@c2 incarnation=7",
         .plan = "refuse InvalidRequest: cell c1 may not move instances of cell c2\n"},
        {"a rep names its instance", ACTOR_REP, .ordinary = "UNCLAIMED", .cell = CELL,
         .move = "remove incarnation=7",
         .plan = "refuse InvalidRequest: cell c1 may not move instances of cell (none)\n"},
        {"without an incarnation", ACTOR_REP, .ordinary = "UNCLAIMED",
         .move = "claim a@c1 incarnation=7",
         .plan = "refuse ResourceConflict: cell c1 is unknown: register the cell first\n"},
        {"a lost cell", ACTOR_REP, .ordinary = "UNCLAIMED", .cell = "lost incarnation=7",
         .move = "claim a@c1 incarnation=7",
         .plan = "refuse ResourceConflict: cell c1 is lost: register the cell first\n"},
        {"an old incarnation", ACTOR_REP, .ordinary = "UNCLAIMED", .cell = CELL,
         .move = "claim a@c1 incarnation=6",
         .plan = "refuse ResourceConflict: incarnation 6 of cell c1 is over: the board's is 7\n"},
        {"no incarnation told", ACTOR_REP, .ordinary = "UNCLAIMED", .cell = CELL,
         .move = "claim a@c1",
         .plan = "refuse ResourceConflict: incarnation 0 of cell c1 is over: the board's is 7\n"},
        {"a leader without its term", ACTOR_AUCTIONEER, .ordinary = "UNCLAIMED",
         .leader_lock = "holder=h term=5", .move = "fail error=full",
         .plan = "refuse ResourceConflict: a move of the auctioneer needs its term in board "
                 "generation E\n"},
        {"a leader of another role", ACTOR_AUCTIONEER, .ordinary = "UNCLAIMED",
         .leader_lock = "holder=h term=5",
         .move = "fail error=full term=5 role=converger board_generation=E",
         .plan = "refuse ResourceConflict: a move of the auctioneer needs its term in board "
                 "generation E\n"},
        {"another board generation", ACTOR_AUCTIONEER, .ordinary = "UNCLAIMED",
         .leader_lock = "holder=h term=5",
         .move = "fail error=full term=5 role=auctioneer board_generation=F",
         .plan = "refuse ResourceConflict: a move of the auctioneer needs its term in board "
                 "generation E\n"},
        {"a deposed leader", ACTOR_AUCTIONEER, .ordinary = "UNCLAIMED",
         .leader_lock = "holder=h term=6",
         .move = "fail error=full term=5 role=auctioneer board_generation=E",
         .plan = "refuse ResourceConflict: term 5 of the auctioneer is over: the board's is 6\n"},
        {"no leader", ACTOR_AUCTIONEER, .ordinary = "UNCLAIMED",
         .move = "fail error=full term=5 role=auctioneer board_generation=E",
         .plan = "refuse ResourceConflict: term 5 of the auctioneer is over: the board's is 0\n"},
        {"a move of another actor", ACTOR_REP, .ordinary = "UNCLAIMED", .cell = CELL,
         .move = "fail a@c1 incarnation=7 error=full",
         .plan = "refuse ActualLRPCannotBeFailed: cannot fail actual LRP\n"},
    };
    RUN(cases);
}

static void starts(void **state)
{
#define FULL "start a@c1 incarnation=7 def=D1 address=A zone=z tag1=k"
#define MADE                                                                                       \
    " -> RUNNING a@c1 def=D1 zone=z address=A tag=k routable since=1000 new/0\n"
#define AFTER " -> RUNNING a@c1 def=D1 zone=z address=A tag=k routable since=1000 E/5\n"
    static const struct move_case cases[] = {
        {"1 the instance is SUSPECT", ACTOR_CLIENT, .ordinary = "CLAIMED b@c2",
         .suspect = "RUNNING a@c1", .move = "start a@c1 address=A", .plan = "nothing\n"},
        {"2 RUNNING elsewhere", ACTOR_REP, .ordinary = "RUNNING b@c2", .cell = CELL, .move = FULL,
         .plan = "refuse ActualLRPCannotBeStarted: cannot start actual LRP\n"},
        {"2 CRASHED, by a client", ACTOR_CLIENT, .ordinary = "CRASHED crash=3",
         .move = "start a@c1 address=A",
         .plan = "refuse ActualLRPCannotBeStarted: cannot start actual LRP\n"},
        {"2 another domain", ACTOR_CLIENT, .ordinary = "CLAIMED a@c1",
         .move = "start a@c1 address=A domain=other",
         .plan = "refuse ActualLRPCannotBeStarted: cannot start actual LRP\n"},
        {"2 an old definition", ACTOR_REP, .ordinary = "CLAIMED a@c1",
         .desired = "instances=3 def=D2", .cell = CELL, .move = FULL,
         .plan = "refuse ActualLRPCannotBeStarted: cannot start actual LRP\n"},
        {"2 an old definition without a record", ACTOR_REP, .desired = "instances=3 def=D2",
         .cell = CELL, .move = FULL,
         .plan = "refuse ActualLRPCannotBeStarted: cannot start actual LRP\n"},
        {"2 removed, while its cell was away", ACTOR_REP, .removal = "from=0", .cell = CELL,
         .move = FULL, .plan = "refuse ActualLRPCannotBeStarted: cannot start actual LRP\n"},
        {"2 scaled down, from its index on", ACTOR_REP, .removal = "from=1",
         .desired = "instances=1 def=D1", .cell = CELL, .move = FULL,
         .plan = "refuse ActualLRPCannotBeStarted: cannot start actual LRP\n"},
        {"4 scaled down, but not so far", ACTOR_REP, .removal = "from=2", .cell = CELL,
         .move = FULL, .plan = "put " KEY " start by rep" MADE},
        {"4 scaled down, and up again", ACTOR_REP, .removal = "from=1",
         .desired = "instances=2 def=D1", .cell = CELL, .move = FULL,
         .plan = "put " KEY " start by rep" MADE},
        {"4 removed before the board was restored", ACTOR_REP,
         .removal = "from=0 board_generation=F", .cell = CELL, .move = FULL,
         .plan = "put " KEY " start by rep" MADE},
        {"4 removed, but who starts it tells no definition", ACTOR_CLIENT, .removal = "from=0",
         .move = "start a@c1 address=A",
         .plan = "put " KEY " start by client -> RUNNING a@c1 address=A routable since=1000 "
                 "new/0\n"},
        {"3 repeated", ACTOR_CLIENT, .ordinary = "RUNNING a@c1 address=A zone=z",
         .move = "start a@c1 address=A zone=z", .plan = "nothing\n"},
        {"4 repeated with another address", ACTOR_CLIENT,
         .ordinary = "RUNNING a@c1 address=A crash=2 reason=R", .move = "start a@c1 address=B",
         .plan = "put " KEY " start by client -> RUNNING a@c1 crash=2 reason=R address=B "
                 "routable since=1000 E/5\n"},
        {"4 not routable", ACTOR_CLIENT, .ordinary = "RUNNING a@c1 address=A",
         .move = "start a@c1 address=A routable=false",
         .plan = "put " KEY " start by client -> RUNNING a@c1 address=A since=1000 E/5\n"},
        {"4 its rep hears that the routes went: no client sees it", ACTOR_REP, .cell = CELL,
         .ordinary = "RUNNING a@c1 def=D1 address=A zone=z since=7 routed",
         .move = "start a@c1 incarnation=7 def=D1 address=A zone=z unrouted",
         .plan = "put " KEY " start by rep -> RUNNING a@c1 def=D1 zone=z address=A unrouted "
                 "routable since=7 E/4\n"},
        {"4 its rep hears more than that", ACTOR_REP, .cell = CELL,
         .ordinary = "RUNNING a@c1 def=D1 address=A zone=z since=7 routed",
         .move = "start a@c1 incarnation=7 def=D1 address=B zone=z unrouted",
         .plan = "put " KEY " start by rep -> RUNNING a@c1 def=D1 zone=z address=B unrouted "
                 "routable since=1000 E/5\n"},
        {"4 CLAIMED by it", ACTOR_REP, .ordinary = "CLAIMED a@c1 error=full", .cell = CELL,
         .desired = "instances=3 def=D1", .move = FULL, .plan = "put " KEY " start by rep" AFTER},
        {"4 UNCLAIMED", ACTOR_REP, .ordinary = "UNCLAIMED", .cell = CELL, .move = FULL,
         .plan = "put " KEY " start by rep" AFTER},
        {"4 CLAIMED by another: who runs wins", ACTOR_REP, .ordinary = "CLAIMED b@c2", .cell = CELL,
         .move = FULL, .plan = "put " KEY " start by rep" AFTER},
        {"4 CRASHED, by our rep: it runs", ACTOR_REP, .ordinary = "CRASHED", .cell = CELL,
         .move = FULL, .plan = "put " KEY " start by rep" AFTER},
        {"4 no record, nothing desired", ACTOR_REP, .cell = CELL, .move = FULL,
         .plan = "put " KEY " start by rep" MADE},
        {"4 tags are kept sorted", ACTOR_CLIENT, .ordinary = "UNCLAIMED",
         .move = "start a@c1 address=A tag1=q tag2=b",
         .plan = "put " KEY " start by client -> RUNNING a@c1 address=A tag=b tag=q routable "
                 "since=1000 E/5\n"},
        {"4 the mark stays", ACTOR_REP, .ordinary = "CLAIMED a@c1 stopping", .cell = CELL,
         .move = "start a@c1 incarnation=7 address=A",
         .plan = "put " KEY " start by rep -> RUNNING a@c1 address=A routable since=1000 E/5 "
                 "stopping\n"},
        {"4 the mark was for the instance taken over", ACTOR_REP,
         .ordinary = "CLAIMED b@c2 stopping", .cell = CELL, .desired = "instances=3 def=D1",
         .move = FULL, .plan = "put " KEY " start by rep" AFTER},
        {"4 nobody is to run at an index that is not desired", ACTOR_REP,
         .ordinary = "CLAIMED b@c2 stopping", .cell = CELL, .desired = "instances=1 def=D1",
         .move = "start a@c1 incarnation=7 def=D1 address=A",
         .plan = "put " KEY " start by rep -> RUNNING a@c1 def=D1 address=A routable since=1000 "
                 "E/5 stopping\n"},
        {"5 the others of the index go", ACTOR_REP, .ordinary = "CLAIMED a@c1",
         .suspect = "RUNNING s@c2", .evacuating = "RUNNING e@c3", .cell = CELL, .move = FULL,
         .plan = "put " KEY " start by rep" AFTER "delete " EVACUATING_KEY " replace by rep\n"
                 "delete " SUSPECT_KEY " replace by rep\n"},
        {"5 but not those of a newer version", ACTOR_CLIENT, .ordinary = "CLAIMED a@c1",
         .suspect = "NEWER s@c2", .evacuating = "NEWER e@c3", .move = "start a@c1 address=A",
         .plan = "put " KEY " start by client -> RUNNING a@c1 address=A routable since=1000 E/5\n"},
        {"5 nor when nothing else changes", ACTOR_CLIENT, .ordinary = "RUNNING a@c1 address=A",
         .evacuating = "NEWER e@c3", .move = "start a@c1 address=A", .plan = "nothing\n"},
    };
    RUN(cases);
}

static void crashes(void **state)
{
    static const struct move_case cases[] = {
        {"1 the instance is SUSPECT", ACTOR_CLIENT, .ordinary = "UNCLAIMED",
         .suspect = "RUNNING a@c1", .desired = "instances=3", .move = "crash a@c1 error=boom",
         .plan = "delete " SUSPECT_KEY " crash by client\n"},
        {"2 no record, by a client", ACTOR_CLIENT, .desired = "instances=3",
         .move = "crash a@c1 error=boom",
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"2 no record, still desired", ACTOR_REP, .desired = "instances=3 def=D1", .cell = CELL,
         .move = "crash a@c1 incarnation=7 def=D1 error=boom",
         .plan = "put " KEY " crash by rep -> UNCLAIMED crash=1 reason=boom since=1000 new/0 "
                 "(boom)\nnotice start web 1..2\n"},
        {"2 no record, index not desired", ACTOR_REP, .desired = "instances=1 def=D1",
         .cell = CELL, .move = "crash a@c1 incarnation=7 error=boom",
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"2 no record, another definition", ACTOR_REP, .desired = "instances=3 def=D2",
         .cell = CELL, .move = "crash a@c1 incarnation=7 def=D1 error=boom",
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"3 another's", ACTOR_CLIENT, .ordinary = "RUNNING b@c2", .desired = "instances=3",
         .move = "crash a@c1 error=boom",
         .plan = "refuse ActualLRPCannotBeCrashed: cannot crash actual LRP\n"},
        {"3 UNCLAIMED", ACTOR_CLIENT, .ordinary = "UNCLAIMED", .desired = "instances=3",
         .move = "crash a@c1 error=boom",
         .plan = "refuse ActualLRPCannotBeCrashed: cannot crash actual LRP\n"},
        {"4 stopping for good", ACTOR_REP, .ordinary = "RUNNING a@c1 stopping", .cell = CELL,
         .desired = "instances=1", .move = "crash a@c1 incarnation=7 error=boom",
         .plan = "delete " KEY " crash by rep\n"},
        {"5 the first", ACTOR_REP, .ordinary = "RUNNING a@c1 def=D1 since=900 zone=z address=A",
         .cell = CELL, .desired = "instances=3", .move = "crash a@c1 incarnation=7 error=boom",
         .plan = "put " KEY " crash by rep -> UNCLAIMED crash=1 reason=boom zone=z routable "
                 "since=1000 E/5 (boom)\nnotice start web 1..2\n"},
        {"5 the second, while CLAIMED", ACTOR_REP, .ordinary = "CLAIMED a@c1 since=100 crash=1",
         .cell = CELL, .desired = "instances=3", .move = "crash a@c1 incarnation=7 error=boom",
         .plan = "put " KEY " crash by rep -> UNCLAIMED crash=2 reason=boom since=1000 E/5 "
                 "(boom)\nnotice start web 1..2\n"},
        {"5 the third", ACTOR_REP, .ordinary = "RUNNING a@c1 since=900 crash=2", .cell = CELL,
         .desired = "instances=3", .move = "crash a@c1 incarnation=7 error=boom",
         .plan = "put " KEY " crash by rep -> CRASHED crash=3 reason=boom routable since=1000 "
                 "E/5 (boom)\n"},
        {"5 after exactly five minutes RUNNING", ACTOR_REP,
         .ordinary = "RUNNING a@c1 since=700 crash=7", .cell = CELL, .desired = "instances=3",
         .move = "crash a@c1 incarnation=7 error=boom",
         .plan = "put " KEY " crash by rep -> CRASHED crash=8 reason=boom routable since=1000 "
                 "E/5 (boom)\n"},
        {"5 after more the count begins again", ACTOR_REP,
         .ordinary = "RUNNING a@c1 since=699 crash=7", .cell = CELL, .desired = "instances=3",
         .move = "crash a@c1 incarnation=7 error=boom",
         .plan = "put " KEY " crash by rep -> UNCLAIMED crash=1 reason=boom routable since=1000 "
                 "E/5 (boom)\nnotice start web 1..2\n"},
        {"5 a long CLAIMED does not count", ACTOR_REP, .ordinary = "CLAIMED a@c1 since=1 crash=7",
         .cell = CELL, .desired = "instances=3", .move = "crash a@c1 incarnation=7 error=boom",
         .plan = "put " KEY " crash by rep -> CRASHED crash=8 reason=boom since=1000 E/5 "
                 "(boom)\n"},
        {"5 a negative age counts as 0", ACTOR_REP, .ordinary = "RUNNING a@c1 since=9000 crash=2",
         .cell = CELL, .desired = "instances=3", .move = "crash a@c1 incarnation=7 error=boom",
         .plan = "put " KEY " crash by rep -> CRASHED crash=3 reason=boom routable since=9000 "
                 "E/5 (boom)\n"},
        {"5 retiring, desired: an ordinary crash, the mark goes", ACTOR_CLIENT,
         .ordinary = "RUNNING a@c1 stopping since=900", .desired = "instances=3",
         .move = "crash a@c1",
         .plan = "put " KEY " crash by client -> UNCLAIMED crash=1 routable since=1000 E/5\n"
                 "notice start web 1..2\n"},
        {"6 nobody desires it", ACTOR_CLIENT, .ordinary = "RUNNING a@c1 since=900",
         .move = "crash a@c1 error=boom",
         .plan = "put " KEY " crash by client -> UNCLAIMED crash=1 reason=boom routable "
                 "since=1000 E/5 (boom)\n"
                 "answer: the requested resource could not be found\n"},
        {"6 not with a CRASHED end", ACTOR_CLIENT, .ordinary = "RUNNING a@c1 since=900 crash=2",
         .move = "crash a@c1 error=boom",
         .plan = "put " KEY " crash by client -> CRASHED crash=3 reason=boom routable "
                 "since=1000 E/5 (boom)\n"},
    };
    RUN(cases);
}

static void fails(void **state)
{
#define LEADER " term=5 role=auctioneer board_generation=E"
    static const struct move_case cases[] = {
        {"1 no record", ACTOR_CLIENT, .move = "fail error=full", .plan = "nothing\n"},
        {"2 CLAIMED", ACTOR_CLIENT, .ordinary = "CLAIMED a@c1", .move = "fail error=full",
         .plan = "refuse ActualLRPCannotBeFailed: cannot fail actual LRP\n"},
        {"2 CRASHED", ACTOR_CLIENT, .ordinary = "CRASHED", .move = "fail error=full",
         .plan = "refuse ActualLRPCannotBeFailed: cannot fail actual LRP\n"},
        {"3 the same reason, by our auctioneer", ACTOR_AUCTIONEER,
         .ordinary = "UNCLAIMED error=full", .leader_lock = "holder=h term=5",
         .move = "fail error=full" LEADER, .plan = "nothing\n"},
        {"4 another reason", ACTOR_AUCTIONEER, .ordinary = "UNCLAIMED error=old",
         .leader_lock = "holder=h term=5", .move = "fail error=full" LEADER,
         .plan = "put " KEY " fail by auctioneer -> UNCLAIMED error=full since=1000 E/5 "
                 "(full)\n"},
        {"4 the same reason, by a client", ACTOR_CLIENT, .ordinary = "UNCLAIMED error=full",
         .move = "fail error=full",
         .plan = "put " KEY " fail by client -> UNCLAIMED error=full since=1000 E/5 (full)\n"},
    };
    RUN(cases);
}

static void removes(void **state)
{
    static const struct move_case cases[] = {
        {"1 no record", ACTOR_CLIENT, .move = "remove",
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"1 another instance", ACTOR_CLIENT, .ordinary = "RUNNING a@c1", .move = "remove b@c1",
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"1 UNCLAIMED with a key", ACTOR_CLIENT, .ordinary = "UNCLAIMED", .move = "remove a@c1",
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"2 stopping, desired again", ACTOR_REP,
         .ordinary = "RUNNING a@c1 stopping crash=2 since=9", .desired = "instances=3",
         .cell = CELL, .move = "remove a@c1 incarnation=7",
         .plan = "put " KEY " remove by rep -> UNCLAIMED since=1000 new/0\n"
                 "notice start web 1..2\n"},
        {"3 stopping, not desired", ACTOR_REP, .ordinary = "RUNNING a@c1 stopping",
         .desired = "instances=1", .cell = CELL, .move = "remove a@c1 incarnation=7",
         .plan = "delete " KEY " remove by rep\n"},
        {"3 stopping, the LRP is gone", ACTOR_REP, .ordinary = "CLAIMED a@c1 stopping",
         .cell = CELL, .move = "remove a@c1 incarnation=7",
         .plan = "delete " KEY " remove by rep\n"},
        {"3 not marked", ACTOR_CLIENT, .ordinary = "RUNNING a@c1", .desired = "instances=3",
         .move = "remove a@c1", .plan = "delete " KEY " remove by client\n"},
        {"3 whatever the state, without a key", ACTOR_CLIENT, .ordinary = "CRASHED",
         .desired = "instances=3", .move = "remove", .plan = "delete " KEY " remove by client\n"},
        {"3 UNCLAIMED with an empty key", ACTOR_CLIENT, .ordinary = "UNCLAIMED @",
         .move = "remove @", .plan = "delete " KEY " remove by client\n"},
        {"3 a SUSPECT one without a container", ACTOR_REP, .ordinary = "UNCLAIMED",
         .suspect = "RUNNING a@c1", .cell = CELL, .move = "remove a@c1 incarnation=7 presence=2",
         .plan = "delete " SUSPECT_KEY " remove by rep\n"},
        {"1 not by the ORDINARY one's name", ACTOR_REP, .ordinary = "RUNNING a@c1", .cell = CELL,
         .move = "remove a@c1 incarnation=7 presence=1",
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
    };
    RUN(cases);
}

static void unclaims(void **state)
{
    static const struct move_case cases[] = {
        {"1 no record", ACTOR_REP, .cell = CELL, .move = "unclaim a@c1 incarnation=7",
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"2 another's", ACTOR_REP, .ordinary = "RUNNING b@c2", .cell = CELL,
         .move = "unclaim a@c1 incarnation=7",
         .plan = "refuse ActualLRPCannotBeUnclaimed: cannot unclaim actual LRP\n"},
        {"2 UNCLAIMED already", ACTOR_REP, .ordinary = "UNCLAIMED", .cell = CELL,
         .move = "unclaim a@c1 incarnation=7",
         .plan = "refuse ActualLRPCannotBeUnclaimed: cannot unclaim actual LRP\n"},
        {"3 stopping for good", ACTOR_REP, .ordinary = "CLAIMED a@c1 stopping", .cell = CELL,
         .move = "unclaim a@c1 incarnation=7", .plan = "delete " KEY " unclaim by rep\n"},
        {"4 RUNNING", ACTOR_REP,
         .ordinary = "RUNNING a@c1 def=D1 crash=2 reason=R error=E zone=z address=A",
         .desired = "instances=3", .cell = CELL, .move = "unclaim a@c1 incarnation=7",
         .plan = "put " KEY " unclaim by rep -> UNCLAIMED crash=2 reason=R error=E zone=z "
                 "routable since=1000 E/5\nnotice start web 1..2\n"},
        {"4 not desired: no start", ACTOR_REP, .ordinary = "CLAIMED a@c1", .cell = CELL,
         .move = "unclaim a@c1 incarnation=7",
         .plan = "put " KEY " unclaim by rep -> UNCLAIMED since=1000 E/5\n"},
    };
    RUN(cases);
}

static void retires(void **state)
{
    static const struct move_case cases[] = {
        {"1 no record", ACTOR_CLIENT, .move = "retire",
         .plan = "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"2 UNCLAIMED", ACTOR_CLIENT, .ordinary = "UNCLAIMED", .move = "retire",
         .plan = "delete " KEY " retire by client\n"},
        {"2 CRASHED", ACTOR_CLIENT, .ordinary = "CRASHED crash=9", .move = "retire",
         .plan = "delete " KEY " retire by client\n"},
        {"2 the cell is not there", ACTOR_CLIENT, .ordinary = "RUNNING a@c1", .move = "retire",
         .plan = "delete " KEY " retire by client\n"},
        {"2 the cell is lost", ACTOR_CLIENT, .ordinary = "RUNNING a@c1", .cell = "lost",
         .move = "retire", .plan = "delete " KEY " retire by client\n"},
        {"3 marked, since and tag kept", ACTOR_CLIENT, .ordinary = "RUNNING a@c1 since=10",
         .cell = CELL, .move = "retire",
         .plan = "put " KEY " retire by client -> RUNNING a@c1 routable since=10 E/4 stopping\n"
                 "notice stop web a at c1\n"},
        {"3 CLAIMED", ACTOR_CLIENT, .ordinary = "CLAIMED a@c1 since=10", .cell = CELL,
         .move = "retire",
         .plan = "put " KEY " retire by client -> CLAIMED a@c1 since=10 E/4 stopping\n"
                 "notice stop web a at c1\n"},
        {"3 marked already: told again", ACTOR_CLIENT, .ordinary = "RUNNING a@c1 since=10 stopping",
         .cell = CELL, .move = "retire",
         .plan = "put " KEY " retire by client -> RUNNING a@c1 routable since=10 E/4 stopping\n"
                 "notice stop web a at c1\n"},
    };
    RUN(cases);
}

static void texts_are_cut_at_1024_bytes(void **state)
{
    SCOPED_ARENA(a);
    char text[2048];
    memset(text, 'x', sizeof(text));
    text[1023] = '\0';
    assert_string_equal(actual_cut_text(&a, text), text);
    text[1023] = 'x';
    text[1024] = '\0';
    const char *cut = actual_cut_text(&a, text);
    assert_int_equal(strlen(cut), 1024);
    assert_string_equal(cut + 1013, "(truncated)");
    assert_memory_equal(cut, text, 1013);
}

/* behaviour.md 2, a golden vector of the original. */
static void a_new_record_has_the_original_bytes(void **state)
{
    static const uint8_t golden[] = {
        0x0a, 0x07, 0x0a, 0x02, 0x70, 0x67, 0x1a, 0x01, 0x64, 0x12, 0x00, 0x1a, 0x00, 0x32, 0x09,
        0x55, 0x4e, 0x43, 0x4c, 0x41, 0x49, 0x4d, 0x45, 0x44, 0x40, 0x05, 0x4a, 0x00, 0x68, 0x00};
    SCOPED_ARENA(a);
    struct random random;
    struct op_input in = row_input(ACTOR_CLIENT, &random, NULL);
    in.now.wall_ns = 5;
    Models__ActualLRP *r = actual_new(&a, "pg", 0, "d", NULL, in.now, in.random);
    assert_int_equal(strlen(r->modification_tag->epoch), 36);
    r->modification_tag->epoch = arena_strdup(&a, "");
    uint8_t packed[64];
    assert_int_equal(models__actual_lrp__get_packed_size(r), sizeof(golden));
    models__actual_lrp__pack(r, packed);
    assert_memory_equal(packed, golden, sizeof(golden));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims),
        cmocka_unit_test(node_pools),
        cmocka_unit_test(authority),
        cmocka_unit_test(starts),
        cmocka_unit_test(crashes),
        cmocka_unit_test(fails),
        cmocka_unit_test(removes),
        cmocka_unit_test(unclaims),
        cmocka_unit_test(retires),
        cmocka_unit_test(texts_are_cut_at_1024_bytes),
        cmocka_unit_test(a_new_record_has_the_original_bytes),
    };
    return cmocka_run_group_tests_name("lrp moves", tests, NULL, NULL);
}
