/* The moves of the converger about a service: rows of before, when, plan. The numbers are those of
 * the rules in bbs/service. What each rests on is compared (laid_hold). */
#include "test/decide/service_rows.h"
#include "test/tool/cmocka.h"

#define RUN(cases) run_service_moves(cases, sizeof(cases) / sizeof((cases)[0]))

static void rows_of_surge(void **state)
{
    static const struct service_case rows[] = {
        {"who speaks", "app updating target=b instances=3 revs=a:3,b:0 kept=a,b",
         "surge revision=b instances=2 term=4",
         "refuse ResourceConflict: term 4 of the converger is over: the board's is 5\n"},
        {"another record was judged", "app updating target=b instances=3 revs=a:3,b:0 kept=b",
         "surge revision=b instances=2 judged=49",
         "refuse ResourceConflict: the service is another by now: look again\n"},
        {"none", "leads", "surge revision=b instances=2",
         "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"1 paused", "app updating paused target=b instances=3 revs=a:3,b:0 kept=b",
         "surge revision=b instances=2",
         "refuse ResourceConflict: it is paused\n"},
        {"1 nobody confirmed it", "app updating restored target=b instances=3 revs=a:3,b:0 kept=b",
         "surge revision=b instances=2",
         "refuse ResourceConflict: nobody has confirmed it since the board was restored: "
         "bbs apply it, or bbs rm it\n"},
        {"1 no such revision", "app updating target=b instances=3 revs=a:3,b:0 kept=b",
         "surge revision=c instances=2",
         "refuse ResourceConflict: the service has no revision c\n"},
        {"1 another's", "app updating target=b instances=3 revs=a:3,b:0 kept=b desired=b:1!",
         "surge revision=b instances=2",
         "refuse ResourceConflict: web-b is the process_guid of a process that somebody "
         "else made\n"},
        {"2 not the target's", "app updating target=b instances=3 revs=a:2,b:0 kept=b desired=a:2",
         "surge revision=a instances=3",
         "refuse ResourceConflict: instances are added to the target alone, and no more "
         "than are wanted\n"},
        {"2 more than are wanted", "app updating target=b instances=3 revs=a:2,b:0 kept=b",
         "surge revision=b instances=4",
         "refuse ResourceConflict: instances are added to the target alone, and no more "
         "than are wanted\n"},
        {"3 as many already", "app updating target=b instances=3 revs=a:2,b:2 kept=b desired=b:2",
         "surge revision=b instances=2",
         "nothing\n"},
        {"4 what it runs is not there", "app updating target=b instances=3 revs=a:2,b:0",
         "surge revision=b instances=2",
         "refuse ResourceConflict: what revision b runs is not on the board\n"},
        {"5 made", "app updating target=b instances=3 revs=a:2,b:0 kept=br desired=a:2",
         "surge revision=b instances=2",
         "put desired/web-b x2 routed apps/web\n"
         "put actual/web-b/0000000000/0 UNCLAIMED\n"
         "put actual/web-b/0000000001/0 UNCLAIMED\n"
         "put service updating b x3 a:2,b:2 gen=1/1\n"},
        {"5 none are wanted", "app updating target=b instances=0 revs=b:0 kept=b",
         "surge revision=b instances=0",
         "put desired/web-b x0 apps/web\n"
         "put service updating b x0 b:0 gen=1/1\n"},
        {"5 more", "app updating target=b instances=3 revs=a:2,b:1 kept=b desired=b:1 "
                   "actual=b:0:RUNNING",
         "surge revision=b instances=2",
         "put desired/web-b x2 apps/web\n"
         "put actual/web-b/0000000001/0 UNCLAIMED\n"
         "put service updating b x3 a:2,b:2 gen=1/1\n"},
        {"deleting", "app deleting target=b instances=3 revs=b:1 kept=b desired=b:1",
         "surge revision=b instances=2",
         "refuse ResourceConflict: it is being removed\n"},
        {"in a system", "system updating target=b instances=3 revs=b:1 kept=b desired=b:1 "
                        "system=stable held=deploy:D1:/api",
         "surge revision=b instances=2",
         "put desired/web-b x2 u/api\n"
         "put actual/web-b/0000000001/0 UNCLAIMED\n"
         "put service updating b x3 b:2 gen=1/1\n"},
        {"1 its deploy is paused",
         "system updating target=b instances=3 revs=b:1 kept=b desired=b:1 system=stable "
         "held=deploy:D1:/ hold_paused",
         "surge revision=b instances=2",
         "refuse ResourceConflict: it is paused\n"},
        {"1 its system is not confirmed",
         "system updating target=b instances=3 revs=b:1 kept=b desired=b:1 system=stable restored",
         "surge revision=b instances=2",
         "refuse ResourceConflict: nobody has confirmed its system since the board was "
         "restored: bbs systems confirm\n"},
        {"1 another system has the id",
         "system updating target=b instances=3 revs=b:1 kept=b desired=b:1 system=stable another",
         "surge revision=b instances=2",
         "refuse ResourceConflict: nobody has confirmed its system since the board was "
         "restored: bbs systems confirm\n"},
    };
    RUN(rows);
}

static void rows_of_shrink(void **state)
{
    static const struct service_case rows[] = {
        {"1 paused", "app updating paused target=b instances=3 revs=a:3,b:3 desired=a:3",
         "shrink revision=a instances=2",
         "refuse ResourceConflict: it is paused\n"},
        {"2 its routes stand", "app deleting target=b instances=3 revs=b:3 desired=b:3",
         "shrink revision=b instances=0",
         "refuse ResourceConflict: its routes go before its instances\n"},
        {"3 of the target below what is wanted",
         "app scaling target=b instances=3 revs=b:4 desired=b:4",
         "shrink revision=b instances=2",
         "refuse ResourceConflict: 3 instances of the target are wanted\n"},
        {"4 as few already", "app updating target=b instances=3 revs=a:1,b:3 desired=a:1",
         "shrink revision=a instances=1",
         "nothing\n"},
        {"5 fewer", "app updating target=b instances=3 revs=a:2,b:3 desired=a:2 "
                    "actual=a:0:RUNNING,a:1:RUNNING",
         "shrink revision=a instances=1",
         "put desired/web-a x1 apps/web\n"
         "put actual/web-a/0000000001/0 RUNNING stopping\n"
         "put service updating b x3 a:1,b:3 gen=1/1\n"},
        {"5 none: it goes", "app updating target=b instances=3 revs=a:1,b:3 desired=a:1 "
                            "actual=a:0:RUNNING",
         "shrink revision=a instances=0",
         "delete desired/web-a\n"
         "put actual/web-a/0000000000/0 RUNNING stopping\n"
         "put service updating b x3 a:0,b:3 gen=1/1\n"},
        {"5 of the target none are wanted: it stays",
         "app scaling target=b instances=0 revs=b:1 desired=b:1 actual=b:0:UNCLAIMED",
         "shrink revision=b instances=0",
         "put desired/web-b x0 apps/web\n"
         "delete actual/web-b/0000000000/0\n"
         "put service scaling b x0 b:0 gen=1/1\n"},
        {"5 its DesiredLRP went otherwise", "app updating target=b instances=3 revs=a:2,b:3",
         "shrink revision=a instances=1",
         "put service updating b x3 a:1,b:3 gen=1/1\n"},
        {"5 deleting, a pause does not hold it",
         "app deleting unrouted paused target=b instances=3 revs=b:1 desired=b:1",
         "shrink revision=b instances=0",
         "delete desired/web-b\n"
         "put service deleting b x3 b:0 gen=1/1 paused unrouted\n"},
        {"1 deleting, nobody confirmed it",
         "app deleting unrouted restored target=b instances=3 revs=b:1 desired=b:1",
         "shrink revision=b instances=0",
         "refuse ResourceConflict: nobody has confirmed it since the board was restored: "
         "bbs apply it, or bbs rm it\n"},
    };
    RUN(rows);
}

static void rows_of_adjust_and_retire(void **state)
{
    static const struct service_case rows[] = {
        {"adjust 1 paused", "app updating paused target=b instances=1 revs=b:1 desired=b:1 kept=br",
         "adjust",
         "refuse ResourceConflict: it is paused\n"},
        {"adjust 2 as it is to be", "app updating target=b instances=1 revs=b:1 desired=b:1 kept=b",
         "adjust",
         "nothing\n"},
        {"adjust 2 none stands", "app updating target=b instances=1 revs=b:0 kept=br", "adjust",
         "nothing\n"},
        {"adjust 3 routes", "app updating target=b instances=1 revs=b:1 desired=b:1 kept=br",
         "adjust",
         "put desired/web-b x1 routed apps/web\n"
         "put service updating b x1 b:1 gen=1/1\n"},
        {"retire 2 no restart", "app stable target=b instances=1 revs=b:1 desired=b:1 "
                                "actual=b:0:RUNNING",
         "retire index=0",
         "refuse ResourceConflict: no restart of index 0 is under way, or nothing runs "
         "there\n"},
        {"retire 2 not desired", "app stable restarting target=b instances=1 revs=b:1 desired=b:1",
         "retire index=1",
         "refuse ResourceConflict: no restart of index 1 is under way, or nothing runs "
         "there\n"},
        {"retire 2 waits for a cell",
         "app stable restarting target=b instances=1 revs=b:1 desired=b:1 actual=b:0:UNCLAIMED",
         "retire index=0",
         "refuse ResourceConflict: no restart of index 0 is under way, or nothing runs "
         "there\n"},
        {"retire 3", "app stable restarting target=b instances=1 revs=b:1 desired=b:1 "
                     "actual=b:0:RUNNING",
         "retire index=0",
         "put actual/web-b/0000000000/0 RUNNING stopping\n"
         "put service stable b x1 b:1 gen=1/1 restarting\n"},
    };
    RUN(rows);
}

static void rows_of_observe(void **state)
{
    static const struct service_case rows[] = {
        {"no state", "app pending target=b instances=1 revs=b:1", "observe state=happy",
         "refuse ResourceConflict: no state of a service\n"},
        {"1 as it stands", "app stable target=b instances=1 revs=b:1 message=m",
         "observe state=stable gen=1 message=m",
         "nothing\n"},
        {"2 another state", "app pending target=b instances=1 revs=b:1 gen=3 seen=1",
         "observe state=scaling gen=3 message=m available=1 progress=1",
         "put service scaling b x1 b:1 gen=3/3 (m/) available=1\n"},
        {"2 a generation that is not yet", "app pending target=b instances=1 revs=b:1 gen=3",
         "observe state=updating gen=4",
         "put service updating b x1 b:1 gen=1/3\n"},
        {"2 a generation never falls",
         "app updating target=b instances=1 revs=b:1 gen=3 seen=3 message=n",
         "observe state=updating gen=2 message=m",
         "put service updating b x1 b:1 gen=3/3 (m/)\n"},
        {"2 a fault is kept", "app failed target=b instances=1 revs=b:1 fault=F",
         "observe state=stable gen=1",
         "put service stable b x1 b:1 gen=1/1 (/F)\n"},
        {"2 a new fault", "app stable target=b instances=1 revs=b:1 fault=F",
         "observe state=failed gen=1 fault=G",
         "put service failed b x1 b:1 gen=1/1 (/G)\n"},
        {"2 a restart is over",
         "app scaling restarting target=b instances=1 revs=b:1 gen=3 seen=3",
         "observe state=stable gen=3",
         "put service stable b x1 b:1 gen=3/3\n"},
        {"2 a restart is not over before it was taken up",
         "app scaling restarting target=b instances=1 revs=b:1 gen=3 seen=2",
         "observe state=stable gen=2",
         "put service stable b x1 b:1 gen=2/3 restarting\n"},
        {"deleting stays", "app deleting target=b instances=1 revs=b:1",
         "observe state=deleting message=m available=1",
         "put service deleting b x1 b:1 gen=1/1 (m/) available=1\n"},
        {"another record was judged", "app stable target=b instances=1 revs=b:1",
         "observe state=failed judged=49",
         "refuse ResourceConflict: the service is another by now: look again\n"},
    };
    RUN(rows);
}

static void rows_of_the_end(void **state)
{
    static const struct service_case rows[] = {
        {"delete: none", "system=stable held=teardown:T1:/", "delete holder=T1",
         "nothing\n"},
        {"delete: a plain app", "app stable target=b instances=1 revs=b:1", "delete holder=T1",
         "refuse ResourceConflict: nobody holds its path who speaks, or it is to stand\n"},
        {"delete: not held", "system stable target=b instances=1 revs=b:1 system=stable",
         "delete holder=T1",
         "refuse ResourceConflict: nobody holds its path who speaks, or it is to stand\n"},
        {"delete: held by another",
         "system stable target=b instances=1 revs=b:1 system=stable held=deploy:D1:/",
         "delete holder=D2",
         "refuse ResourceConflict: nobody holds its path who speaks, or it is to stand\n"},
        {"delete: held beside it",
         "system stable target=b instances=1 revs=b:1 system=stable held=deploy:D1:/apiary",
         "delete holder=D1",
         "refuse ResourceConflict: nobody holds its path who speaks, or it is to stand\n"},
        {"delete: it is to stand",
         "system stable target=b instances=1 revs=b:1 system=stable held=deploy:D1:/ head=T:/ "
         "tree=T:api",
         "delete holder=D1",
         "refuse ResourceConflict: nobody holds its path who speaks, or it is to stand\n"},
        {"delete: its deploy has it no more",
         "system stable target=b instances=1 revs=b:1 system=stable held=deploy:D1:/ head=T:/",
         "delete holder=D1",
         "put service deleting b x1 b:1 gen=1/2 deploy=D1 (its routes go first/)\n"},
        {"delete: a teardown",
         "system failed target=b instances=1 revs=b:1 system=stable held=teardown:T1:/",
         "delete holder=T1",
         "put service deleting b x1 b:1 gen=1/2 deploy=T1 (its routes go first/)\n"},
        {"delete: its system goes",
         "system stable target=b instances=1 revs=b:1 system=deleting", "delete",
         "put service deleting b x1 b:1 gen=1/2 (its routes go first/)\n"},
        {"unroute 1 nobody confirmed it",
         "app deleting restored target=b instances=1 revs=b:1 desired=b:1+r", "unroute",
         "refuse ResourceConflict: nobody has confirmed it since the board was restored: "
         "bbs apply it, or bbs rm it\n"},
        {"unroute 2 already", "app deleting unrouted target=b instances=1 revs=b:1 desired=b:1",
         "unroute",
         "nothing\n"},
        {"unroute 3", "app deleting target=b instances=1 revs=a:1,b:1 desired=a:2+r,b:1+r",
         "unroute",
         "put desired/web-a x2 apps/web\n"
         "put desired/web-b x1 apps/web\n"
         "put service deleting b x1 a:1,b:1 gen=1/1 unrouted\n"},
        {"unroute 3 it has none", "app deleting target=b instances=1 revs=b:1 desired=b:1",
         "unroute",
         "put service deleting b x1 b:1 gen=1/1 unrouted\n"},
        {"unroute: it lives", "app stable target=b instances=1 revs=b:1 desired=b:1+r", "unroute",
         "refuse ResourceConflict: it is not being removed\n"},
        {"remove: none", "leads", "remove",
         "nothing\n"},
        {"remove: it lives", "app stable target=b instances=1 revs=b:0", "remove",
         "refuse ResourceConflict: it is not being removed, or something of it is left\n"},
        {"remove: it is desired", "app deleting target=b instances=1 revs=b:1 desired=b:1",
         "remove",
         "refuse ResourceConflict: it is not being removed, or something of it is left\n"},
        {"remove: an instance is left",
         "app deleting target=b instances=1 revs=a:0,b:0 actual=a:0:RUNNING", "remove",
         "refuse ResourceConflict: it is not being removed, or something of it is left\n"},
        {"remove 1 nobody confirmed it",
         "app deleting restored target=b instances=1 revs=b:0 kept=b", "remove",
         "refuse ResourceConflict: nobody has confirmed it since the board was restored: "
         "bbs apply it, or bbs rm it\n"},
        {"remove 2, what is another's stays",
         "app deleting target=b instances=1 revs=a:0,b:0 kept=b desired=a:1! actual=a:0:RUNNING",
         "remove",
         "delete service/apps/%2Fweb\n"
         "delete revision/apps/%2Fweb/b\n"},
    };
    RUN(rows);
}

#define SAME "system as_told target=f039b250e5 revs=f039b250e5:2 deploy=D0 "
#define HELD " system=stable head=T:/ tree=T:api held=deploy:D1:/"

static void rows_of_target(void **state)
{
    static const struct service_case rows[] = {
        {"a plain app", "app stable target=b instances=1 revs=b:1", "target tree=T holder=D1",
         "refuse ResourceConflict: it is being removed, or nobody holds its path who "
         "speaks\n"},
        {"not held", "system=stable head=T:/ tree=T:api", "target tree=T holder=D1",
         "refuse ResourceConflict: it is being removed, or nobody holds its path who "
         "speaks\n"},
        {"held by another", "system=stable head=T:/ tree=T:api held=deploy:D2:/",
         "target tree=T holder=D1",
         "refuse ResourceConflict: it is being removed, or nobody holds its path who "
         "speaks\n"},
        {"held beside it", "system=stable head=T:/ tree=T:api held=deploy:D1:/ap",
         "target tree=T holder=D1",
         "refuse ResourceConflict: it is being removed, or nobody holds its path who "
         "speaks\n"},
        {"held by a teardown", "system=stable head=T:/ tree=T:api held=teardown:D1:/",
         "target tree=T holder=D1",
         "refuse ResourceConflict: it is being removed, or nobody holds its path who "
         "speaks\n"},
        {"another tree stands", "system=stable head=U:/ tree=T:api held=deploy:D1:/",
         "target tree=T holder=D1",
         "refuse ResourceConflict: it is being removed, or nobody holds its path who "
         "speaks\n"},
        {"its system goes", "system=deleting head=T:/ tree=T:api held=deploy:D1:/",
         "target tree=T holder=D1",
         "refuse ResourceConflict: it is being removed, or nobody holds its path who "
         "speaks\n"},
        {"it is being removed",
         "system deleting target=b instances=1 revs=b:1 system=stable head=T:/ tree=T:api "
         "held=deploy:D1:/",
         "target tree=T holder=D1",
         "refuse ResourceConflict: it is being removed, or nobody holds its path who "
         "speaks\n"},
        {"1 not in the tree", "system=stable head=T:/ held=deploy:D1:/",
         "target tree=T holder=D1",
         "refuse ResourceConflict: /api is no service of tree T\n"},
        {"1 a job", "system=stable head=T:/ tree=T:job held=deploy:D1:/",
         "target tree=T holder=D1",
         "refuse ResourceConflict: /api is no service of tree T\n"},
        {"2 a secret is not set", "system=stable head=T:/ tree=T:api secretive held=deploy:D1:/",
         "target tree=T holder=D1",
         "refuse ResourceConflict: /api needs secret /api:key: bbs secrets set shop "
         "/api:key\n"},
        {"5 made", "system=stable head=T:/ tree=T:api held=deploy:D1:/api",
         "target tree=T holder=D1",
         "put revision/u/%2Fapi/f039b250e5\n"
         "put service pending f039b250e5 x2 f039b250e5:0 gen=0/1 deploy=D1\n"},
        {"5 made, with a secret",
         "system=stable head=T:/ tree=T:api secretive secret held=deploy:D1:/api",
         "target tree=T holder=D1",
         "put revision/u/%2Fapi/992a45c761\n"
         "put service pending 992a45c761 x2 992a45c761:0 gen=0/1 deploy=D1\n"},
        {"5 another revision",
         "system failed target=b instances=1 revs=b:1 deploy=D0 system=stable head=T:/ tree=T:api "
         "held=deploy:D1:/",
         "target tree=T holder=D1",
         "put revision/u/%2Fapi/f039b250e5\n"
         "put service updating f039b250e5 x2 b:1,f039b250e5:0 gen=1/2 deploy=D1\n"},
        {"6 it runs so", SAME "stable instances=2 seen=1" HELD, "target tree=T holder=D1",
         "put revision/u/%2Fapi/f039b250e5\n"
         "put service stable f039b250e5 x2 f039b250e5:2 gen=1/1 deploy=D1\n"},
        {"6 so, and is not stable", SAME "scaling instances=2 seen=1" HELD,
         "target tree=T holder=D1",
         "put revision/u/%2Fapi/f039b250e5\n"
         "put service updating f039b250e5 x2 f039b250e5:2 gen=1/2 deploy=D1\n"},
        {"6 so, and was not seen since", SAME "stable instances=2 seen=0" HELD,
         "target tree=T holder=D1",
         "put revision/u/%2Fapi/f039b250e5\n"
         "put service updating f039b250e5 x2 f039b250e5:2 gen=0/2 deploy=D1\n"},
        {"6 so, and starts again", SAME "stable restarting instances=2 seen=1" HELD,
         "target tree=T holder=D1",
         "put revision/u/%2Fapi/f039b250e5\n"
         "put service updating f039b250e5 x2 f039b250e5:2 gen=1/2 restarting deploy=D1\n"},
        {"6 so, of another number", SAME "stable instances=3 seen=1" HELD,
         "target tree=T holder=D1",
         "put revision/u/%2Fapi/f039b250e5\n"
         "put service updating f039b250e5 x2 f039b250e5:2 gen=1/2 deploy=D1\n"},
    };
    RUN(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_surge),
        cmocka_unit_test(rows_of_shrink),
        cmocka_unit_test(rows_of_adjust_and_retire),
        cmocka_unit_test(rows_of_observe),
        cmocka_unit_test(rows_of_the_end),
        cmocka_unit_test(rows_of_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
