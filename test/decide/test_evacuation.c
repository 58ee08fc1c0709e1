/* The moves of an evacuation: rows of before, when, plan. The numbers are those of the rules in
 * bbs/lrp/evacuate_*.c and remove_evacuating.c; "keep" is their word about the container. */
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#define O "actual/web/0000000001/0"
#define E "actual/web/0000000001/1"
#define S "actual/web/0000000001/2"
#define RUN(cases) run_move_cases(cases, sizeof(cases) / sizeof((cases)[0]))
#define REP(text) text, ACTOR_REP, .cell = "present incarnation=7"
#define TWO .desired = "instances=2 def=D1"
#define FRESH .domain = "ttl=60 left=30"
#define OWN " a@c1 incarnation=7"
#define ASKS "notice start web 1..2\n"
#define NOT_FOUND "refuse ResourceNotFound: the requested resource could not be found\n"
#define OVER "refuse ResourceConflict: incarnation 6 of cell c1 is over: the board's is 7\n"
#define UNCLAIMED(move, rest) "put " O " " move " by rep -> UNCLAIMED" rest " since=1000 E/5\n"

static void claimed(void **state)
{
#define MOVE "evacuate_claimed"
    static const struct move_case cases[] = {
        {REP("1 no record"), TWO, .move = MOVE OWN, .plan = NOT_FOUND},
        {REP("1 another's"), .ordinary = "CLAIMED b@c2", TWO, .move = MOVE OWN, .plan = NOT_FOUND},
        {REP("1 repeated"), .ordinary = "UNCLAIMED", TWO, .move = MOVE OWN, .plan = NOT_FOUND},
        {REP("1 the guid on another cell"), .ordinary = "CLAIMED a@c2", TWO, .move = MOVE OWN,
         .plan = NOT_FOUND},
        {REP("2 of a later version"), .ordinary = "NEWER a@c1", TWO, .move = MOVE OWN,
         .plan = "refuse ActualLRPCannotBeUnclaimed: cannot unclaim actual LRP\nkeep\n"},
        {REP("3 EVACUATING"), .ordinary = "UNCLAIMED", .evacuating = "RUNNING a@c1", TWO,
         .move = MOVE OWN, .plan = "delete " E " " MOVE " by rep\n"},
        {REP("3 SUSPECT"), .ordinary = "UNCLAIMED", .suspect = "CLAIMED a@c1", TWO,
         .move = MOVE OWN, .plan = "delete " S " " MOVE " by rep\n"},
        {REP("4 marked, not desired"), .ordinary = "CLAIMED a@c1 stopping", .move = MOVE OWN,
         .plan = "delete " O " " MOVE " by rep\n"},
        {REP("5 marked, desired again"), .ordinary = "CLAIMED a@c1 stopping", TWO, .move = MOVE OWN,
         .plan = UNCLAIMED(MOVE, "") ASKS},
        {REP("5"), .ordinary = "CLAIMED a@c1 def=D1 crash=2", TWO, .move = MOVE OWN,
         .plan = UNCLAIMED(MOVE, " crash=2") ASKS},
        {REP("5 RUNNING"), .ordinary = "RUNNING a@c1 def=D1", TWO, .move = MOVE OWN,
         .plan = UNCLAIMED(MOVE, " routable") ASKS},
        {REP("5 not desired: nobody is asked"), .ordinary = "CLAIMED a@c1", .move = MOVE OWN,
         .plan = UNCLAIMED(MOVE, "")},
        {REP("5 to stay, but it does not run yet"), .ordinary = "CLAIMED a@c1",
         .desired = "instances=2 stay", .move = MOVE OWN, .plan = UNCLAIMED(MOVE, "") ASKS},
        {"5 by a client", ACTOR_CLIENT, .ordinary = "CLAIMED a@c1", TWO, .move = MOVE " a@c1",
         .plan = "put " O " " MOVE " by client -> UNCLAIMED since=1000 E/5\n" ASKS},
        {REP("an old incarnation"), .ordinary = "CLAIMED a@c1", TWO,
         .move = MOVE " a@c1 incarnation=6", .plan = OVER "keep\n"},
    };
    RUN(cases);
#undef MOVE
}

static void crashed(void **state)
{
#define MOVE "evacuate_crashed"
    static const struct move_case cases[] = {
        {REP("1 no record"), TWO, .move = MOVE OWN " error=E", .plan = NOT_FOUND},
        {REP("1 repeated"), .ordinary = "UNCLAIMED", TWO, .move = MOVE OWN " error=E",
         .plan = NOT_FOUND},
        {REP("2 of a later version"), .ordinary = "NEWER a@c1", TWO, .move = MOVE OWN " error=E",
         .plan = "refuse ActualLRPCannotBeCrashed: cannot crash actual LRP\n"},
        {REP("3 EVACUATING: nothing is counted"), .ordinary = "CLAIMED b@c2 crash=1",
         .evacuating = "RUNNING a@c1", TWO, .move = MOVE OWN " error=E",
         .plan = "delete " E " " MOVE " by rep\n"},
        {REP("3 SUSPECT"), .ordinary = "UNCLAIMED", .suspect = "RUNNING a@c1", TWO,
         .move = MOVE OWN " error=E", .plan = "delete " S " " MOVE " by rep\n"},
        {REP("4 marked, not desired"), .ordinary = "RUNNING a@c1 stopping",
         .move = MOVE OWN " error=E", .plan = "delete " O " " MOVE " by rep\n"},
        {REP("5 the second: nobody is asked, nothing is told"),
         .ordinary = "RUNNING a@c1 crash=1 since=900", TWO, .move = MOVE OWN " error=E",
         .plan = "put " O " " MOVE " by rep -> UNCLAIMED crash=2 reason=E routable since=1000 E/5 "
                 "(E)\n"},
        {REP("5 the third"), .ordinary = "CLAIMED a@c1 crash=2 since=900", TWO,
         .move = MOVE OWN " error=E",
         .plan = "put " O " " MOVE " by rep -> CRASHED crash=3 reason=E since=1000 E/5 (E)\n"},
        {REP("5 after a long run"), .ordinary = "RUNNING a@c1 crash=9 since=100", TWO,
         .move = MOVE OWN " error=E",
         .plan = "put " O " " MOVE " by rep -> UNCLAIMED crash=1 reason=E routable since=1000 E/5 "
                 "(E)\n"},
        {REP("an old incarnation"), .ordinary = "RUNNING a@c1", TWO,
         .move = MOVE " a@c1 incarnation=6 error=E", .plan = OVER},
    };
    RUN(cases);
#undef MOVE
}

static void stopped(void **state)
{
#define MOVE "evacuate_stopped"
    static const struct move_case cases[] = {
        {REP("1 no record"), TWO, .move = MOVE OWN, .plan = NOT_FOUND},
        {REP("1 another's"), .ordinary = "RUNNING b@c2", TWO, .move = MOVE OWN, .plan = NOT_FOUND},
        {REP("1 of a later version"), .ordinary = "NEWER a@c1", TWO, .move = MOVE OWN,
         .plan = NOT_FOUND},
        {REP("2 marked, desired again"), .ordinary = "RUNNING a@c1 stopping", TWO, .move = MOVE OWN,
         .plan = "put " O " " MOVE " by rep -> UNCLAIMED since=1000 new/0\n" ASKS},
        {REP("3"), .ordinary = "RUNNING a@c1", TWO, .move = MOVE OWN,
         .plan = "delete " O " " MOVE " by rep\n"},
        {REP("3 CLAIMED"), .ordinary = "CLAIMED a@c1", TWO, .move = MOVE OWN,
         .plan = "delete " O " " MOVE " by rep\n"},
        {REP("3 marked for good"), .ordinary = "RUNNING a@c1 stopping", .move = MOVE OWN,
         .plan = "delete " O " " MOVE " by rep\n"},
        {REP("3 EVACUATING: the ORDINARY one is untouched"), .ordinary = "RUNNING b@c2",
         .evacuating = "RUNNING a@c1", TWO, .move = MOVE OWN,
         .plan = "delete " E " " MOVE " by rep\n"},
        {REP("3 SUSPECT"), .ordinary = "UNCLAIMED", .suspect = "RUNNING a@c1 stopping", TWO,
         .move = MOVE OWN, .plan = "delete " S " " MOVE " by rep\n"},
    };
    RUN(cases);
#undef MOVE
}

static void removed(void **state)
{
#define MOVE "remove_evacuating"
    static const struct move_case cases[] = {
        {REP("1 no record"), .move = MOVE OWN, .plan = NOT_FOUND},
        {REP("1 another's"), .ordinary = "UNCLAIMED", .evacuating = "RUNNING b@c2",
         .move = MOVE OWN, .plan = NOT_FOUND},
        {REP("1 ORDINARY"), .ordinary = "RUNNING a@c1", .move = MOVE OWN, .plan = NOT_FOUND},
        {REP("1 SUSPECT"), .suspect = "RUNNING a@c1", .move = MOVE OWN, .plan = NOT_FOUND},
        {REP("2"), .ordinary = "UNCLAIMED", .evacuating = "RUNNING a@c1", .move = MOVE OWN,
         .plan = "delete " E " " MOVE " by rep\n"},
        {"2 by a client", ACTOR_CLIENT, .evacuating = "RUNNING a@c1", .move = MOVE " a@c1",
         .plan = "delete " E " " MOVE " by client\n"},
    };
    RUN(cases);
#undef MOVE
}

#define MOVE "evacuate_running"
#define FULL MOVE OWN " def=D1 address=A zone=z tag1=k"
#define FROM_REQUEST " by rep -> RUNNING a@c1 def=D1 zone=z address=A tag=k routable since=1000 "
#define MADE "put " E " " MOVE FROM_REQUEST "new/0\nkeep\n"

static void runs(void **state)
{
    static const struct move_case cases[] = {
        {REP("1 no record, not wanted"), FRESH, .move = FULL, .plan = "nothing\n"},
        {REP("1 no record, another definition is desired"), .desired = "instances=2 def=D2",
         .move = FULL, .plan = "nothing\n"},
        {REP("1 no record, its removal was asked"), .removal = "from=0", .move = FULL,
         .plan = "nothing\n"},
        {"1 no record, by a client", ACTOR_CLIENT, TWO, .move = MOVE " a@c1 address=A",
         .plan = "nothing\n"},
        {"2 no ORDINARY record, by a client", ACTOR_CLIENT, .evacuating = "RUNNING a@c1", TWO,
         .move = MOVE " a@c1 address=A", .plan = "delete " E " " MOVE " by client\n"},
        {REP("2 no ORDINARY record, not wanted"), .evacuating = "RUNNING a@c1", FRESH, .move = FULL,
         .plan = "delete " E " " MOVE " by rep\n"},
        {REP("2 no ORDINARY record, scaled down"), .evacuating = "RUNNING a@c1",
         .desired = "instances=1 def=D1", FRESH, .move = FULL,
         .plan = "delete " E " " MOVE " by rep\n"},
        {REP("2 no ORDINARY record, its stop was asked"), .evacuating = "RUNNING a@c1 stopping",
         .move = FULL, .plan = "delete " E " " MOVE " by rep\n"},
        {REP("2 no ORDINARY record, of an old definition"), .evacuating = "RUNNING a@c1 def=D1",
         .desired = "instances=2 def=D2", .move = FULL, .plan = "delete " E " " MOVE " by rep\n"},
        {REP("2 no ORDINARY record, its removal was asked"), .evacuating = "RUNNING a@c1",
         .removal = "from=0", .move = FULL, .plan = "delete " E " " MOVE " by rep\n"},
        {REP("2 replaced"), .ordinary = "RUNNING b@c2", .evacuating = "RUNNING a@c1", TWO,
         .move = FULL, .plan = "delete " E " " MOVE " by rep\n"},
        {REP("2 replaced, repeated"), .ordinary = "RUNNING b@c2", TWO, .move = FULL,
         .plan = "nothing\n"},
        {REP("2 the replacement has crashed"), .ordinary = "CRASHED crash=3",
         .evacuating = "RUNNING a@c1", TWO, .move = FULL, .plan = "delete " E " " MOVE " by rep\n"},
        {REP("2 another's EVACUATING record is not touched"), .ordinary = "RUNNING b@c2",
         .evacuating = "RUNNING c@c3", TWO, .move = FULL, .plan = "nothing\n"},
        {REP("2 SUSPECT, replaced: left to its own ends"), .ordinary = "RUNNING b@c2",
         .suspect = "RUNNING a@c1", TWO, .move = FULL, .plan = "nothing\n"},
        {REP("2 SUSPECT, its replacement has crashed: it is about to come back"),
         .ordinary = "CRASHED crash=3", .suspect = "RUNNING a@c1", TWO, .move = FULL,
         .plan = "nothing\nkeep\n"},
        {REP("2 SUSPECT and marked, its replacement has crashed"), .ordinary = "CRASHED crash=3",
         .suspect = "RUNNING a@c1 stopping", TWO, .move = FULL, .plan = "nothing\n"},
        {"2 SUSPECT, its replacement has crashed, by a client", ACTOR_CLIENT,
         .ordinary = "CRASHED crash=3", .suspect = "RUNNING a@c1", TWO,
         .move = MOVE " a@c1 address=A", .plan = "nothing\n"},
        {REP("3 marked: its stop goes on"), .ordinary = "RUNNING a@c1 stopping", .move = FULL,
         .plan = "nothing\n"},
        {REP("3 marked, desired again"), .ordinary = "RUNNING a@c1 stopping", TWO, .move = FULL,
         .plan = "nothing\n"},
        {REP("3 CLAIMED and marked"), .ordinary = "CLAIMED a@c1 stopping", .move = FULL,
         .plan = "nothing\n"},
        {REP("3 SUSPECT and marked"), .ordinary = "UNCLAIMED", .suspect = "RUNNING a@c1 stopping",
         TWO, .move = FULL, .plan = "nothing\n"},
        {REP("4 to stay"), .ordinary = "RUNNING a@c1 def=D1", .desired = "instances=2 def=D1 stay",
         .move = FULL, .plan = "nothing\nkeep\n"},
        {REP("6 to stay, but not known to run"), .ordinary = "CLAIMED a@c1 def=D1",
         .desired = "instances=2 def=D1 stay", .move = FULL,
         .plan = "put " E " " MOVE FROM_REQUEST "new/0\n" UNCLAIMED(MOVE, "") ASKS "keep\n"},
    };
    RUN(cases);
}

static void holds_its_place(void **state)
{
    static const struct move_case cases[] = {
        {REP("5 without any record, but desired: it will be made again"), TWO, .move = FULL,
         .plan = MADE},
        {REP("5 without any record, nobody said what is wanted"), .move = FULL, .plan = MADE},
        {REP("5 without any record, the domain is fresh no more"), .domain = "ttl=60 left=-1",
         .move = FULL, .plan = MADE},
        {REP("5 without any record, the domain is of the board generation before"),
         .domain = "ttl=60 left=30 restored", .move = FULL, .plan = MADE},
        {REP("5 without an ORDINARY record, nobody said what is wanted"),
         .evacuating = "RUNNING a@c1 def=D1 address=A zone=z",
         .move = MOVE OWN " def=D1 address=A zone=z", .plan = "nothing\nkeep\n"},
        {REP("5 without any record, fresh and desired"), TWO, FRESH, .move = FULL, .plan = MADE},
        {REP("5 without an ORDINARY record, but desired"),
         .evacuating = "RUNNING a@c1 def=D1 address=A zone=z", TWO,
         .move = MOVE OWN " def=D1 address=A zone=z", .plan = "nothing\nkeep\n"},
        {REP("5 without a record, UNCLAIMED"), .ordinary = "UNCLAIMED", TWO, .move = FULL,
         .plan = MADE},
        {REP("5 without a record, CLAIMED by another"), .ordinary = "CLAIMED b@c2", TWO,
         .move = FULL, .plan = MADE},
        {REP("5 another is EVACUATING"), .ordinary = "UNCLAIMED", .evacuating = "RUNNING c@c3", TWO,
         .move = FULL, .plan = "nothing\n"},
        {REP("5 of an old definition"), .ordinary = "UNCLAIMED", .desired = "instances=2 def=D2",
         .move = FULL, .plan = "nothing\n"},
        {REP("5 repeated"), .ordinary = "UNCLAIMED",
         .evacuating = "RUNNING a@c1 def=D1 address=A zone=z", TWO,
         .move = MOVE OWN " def=D1 address=A zone=z", .plan = "nothing\nkeep\n"},
        {REP("5 the replacement is on its way"), .ordinary = "CLAIMED b@c2",
         .evacuating = "RUNNING a@c1 def=D1 address=A zone=z", TWO,
         .move = MOVE OWN " def=D1 address=A zone=z", .plan = "nothing\nkeep\n"},
        {REP("5 told again"), .ordinary = "UNCLAIMED", .evacuating = "RUNNING a@c1 def=D1", TWO,
         .move = FULL, .plan = "put " E " " MOVE FROM_REQUEST "E/5\nkeep\n"},
        {"5 by a client, which names no definition", ACTOR_CLIENT, .ordinary = "UNCLAIMED",
         .evacuating = "RUNNING a@c1 def=D1 address=A zone=z", TWO,
         .move = MOVE " a@c1 address=A zone=z", .plan = "nothing\nkeep\n"},
        {REP("9 its EVACUATING record is of a later version"), .ordinary = "UNCLAIMED",
         .evacuating = "NEWER a@c1", TWO, .move = FULL, .plan = "nothing\nkeep\n"},
        {REP("5 its ORDINARY record is of a later version"), .ordinary = "NEWER b@c2",
         .evacuating = "RUNNING a@c1 def=D1 address=A", TWO, .move = MOVE OWN " def=D1 address=A",
         .plan = "nothing\nkeep\n"},
    };
    RUN(cases);
}

static void leaves_its_place(void **state)
{
    static const struct move_case cases[] = {
        {REP("6 what is stored is what stays"),
         .ordinary = "RUNNING a@c1 def=D1 address=B zone=y crash=2 route=H tag=V", TWO,
         .move = FULL,
         .plan =
             "put " E " " MOVE " by rep -> RUNNING a@c1 def=D1 zone=y address=B tag=k routable "
             "since=1000 new/0\n" UNCLAIMED(MOVE, " crash=2 zone=y tag=k routable") ASKS "keep\n"},
        {REP("6 what its rep knows of routes stays, and is the next one's to tell"),
         .ordinary = "RUNNING a@c1 def=D1 address=B routed", TWO, .move = FULL,
         .plan = "put " E " " MOVE " by rep -> RUNNING a@c1 def=D1 address=B routed routable "
                 "since=1000 new/0\n" UNCLAIMED(MOVE, " routable") ASKS "keep\n"},
        {REP("6 CLAIMED: nothing is stored, its rep says it"), .ordinary = "CLAIMED a@c1 def=D1",
         TWO, .move = FULL,
         .plan = "put " E " " MOVE FROM_REQUEST "new/0\n" UNCLAIMED(MOVE, "") ASKS "keep\n"},
        {REP("6 CLAIMED, and not ready"), .ordinary = "CLAIMED a@c1 def=D1", TWO,
         .move = MOVE OWN " def=D1 address=A routable=0",
         .plan = "put " E " " MOVE
                 " by rep -> RUNNING a@c1 def=D1 address=A since=1000 new/0\n" UNCLAIMED(MOVE, "")
                     ASKS "keep\n"},
        {"6 CLAIMED, by a client: nothing but what is stored", ACTOR_CLIENT,
         .ordinary = "CLAIMED a@c1 def=D1", TWO, .move = MOVE " a@c1 address=A",
         .plan = "put " E " " MOVE " by client -> RUNNING a@c1 def=D1 since=1000 new/0\n"
                 "put " O " " MOVE " by client -> UNCLAIMED since=1000 E/5\n" ASKS "keep\n"},
        {REP("6 not desired: nobody is asked"), .ordinary = "RUNNING a@c1", .move = FULL,
         .plan = "put " E " " MOVE " by rep -> RUNNING a@c1 routable since=1000 new/0\n" UNCLAIMED(
             MOVE, " routable") "keep\n"},
        {REP("6 in another EVACUATING one's place: who replaced it is moved too"),
         .ordinary = "CLAIMED a@c1 def=D1", .evacuating = "RUNNING b@c2", TWO, .move = FULL,
         .plan = "put " E " " MOVE FROM_REQUEST "new/0\n" UNCLAIMED(MOVE, "") ASKS "keep\n"},
        {"6 by a client", ACTOR_CLIENT, .ordinary = "RUNNING a@c1 def=D1 address=B", TWO,
         .move = MOVE " a@c1 address=A",
         .plan =
             "put " E " " MOVE " by client -> RUNNING a@c1 def=D1 address=B routable "
             "since=1000 new/0\n"
             "put " O " " MOVE " by client -> UNCLAIMED routable since=1000 E/5\n" ASKS "keep\n"},
        {REP("7 SUSPECT"), .ordinary = "UNCLAIMED", .suspect = "RUNNING a@c1 def=D1 address=B", TWO,
         .move = FULL,
         .plan = "put " E " " MOVE " by rep -> RUNNING a@c1 def=D1 address=B routable since=1000 "
                 "new/0\ndelete " S " " MOVE " by rep\nkeep\n"},
        {REP("7 SUSPECT, its replacement is CLAIMED"), .ordinary = "CLAIMED b@c2",
         .suspect = "CLAIMED a@c1 def=D1", TWO, .move = FULL,
         .plan = "put " E " " MOVE FROM_REQUEST "new/0\ndelete " S " " MOVE " by rep\nkeep\n"},
        {REP("7 SUSPECT, and to stay: it was replaced when its cell was lost"),
         .ordinary = "UNCLAIMED", .suspect = "RUNNING a@c1 def=D1",
         .desired = "instances=2 def=D1 stay", .move = FULL,
         .plan = "put " E " " MOVE " by rep -> RUNNING a@c1 def=D1 routable since=1000 new/0\n"
                 "delete " S " " MOVE " by rep\nkeep\n"},
        {REP("9 another EVACUATING one is of a later version"), .ordinary = "RUNNING a@c1 def=D1",
         .evacuating = "NEWER b@c2", TWO, .move = FULL, .plan = "nothing\nkeep\n"},
        {REP("9 SUSPECT, another EVACUATING one is of a later version"), .ordinary = "UNCLAIMED",
         .evacuating = "NEWER b@c2", .suspect = "RUNNING a@c1 def=D1", TWO, .move = FULL,
         .plan = "nothing\nkeep\n"},
        {REP("8 of a later version"), .ordinary = "NEWER a@c1", TWO, .move = FULL,
         .plan = "nothing\n"},
        {REP("an old incarnation"), .ordinary = "RUNNING a@c1", TWO,
         .move = MOVE " a@c1 incarnation=6", .plan = OVER "keep\n"},
        {"another cell's", ACTOR_REP, .cell = "present incarnation=7", .ordinary = "RUNNING a@c2",
         TWO, .move = MOVE " a@c2 incarnation=7",
         .plan = "refuse InvalidRequest: cell c1 may not move instances of cell c2\nkeep\n"},
    };
    RUN(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claimed),
        cmocka_unit_test(crashed),
        cmocka_unit_test(stopped),
        cmocka_unit_test(removed),
        cmocka_unit_test(runs),
        cmocka_unit_test(holds_its_place),
        cmocka_unit_test(leaves_its_place),
    };
    return cmocka_run_group_tests_name("evacuation", tests, NULL, NULL);
}
