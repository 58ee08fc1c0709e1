/* What clients ask about plain apps: rows of before, when, plan. The numbers are those of the rules
 * in bbs/service/app.c. What each rests on is compared (laid_hold). */
#include "test/decide/service_rows.h"
#include "test/tool/cmocka.h"

#define RUN(cases) run_service_requests(cases, sizeof(cases) / sizeof((cases)[0]))

static void rows_of_target(void **state)
{
    static const struct service_case rows[] = {
        {"looked at, none", "leads", "look",
         "refuse ResourceNotFound: there is no app \"web\"\n"},
        {"looked at", "app stable target=b instances=1 revs=b:1", "look",
         "nothing\n"
         "\n"},
        {"looked at, nobody leads", "domainless desired=a:2~", "look",
         "nothing\n"
         " (unled)\n"},
        {"1 another's process", "leads desired=b:1!", "target def=b instances=2",
         "refuse ResourceConflict: is the process_guid of a process that another client "
         "made; give the app another name, or remove that one: bbs rm\n"},
        {"3 made", "leads domainless", "target def=br instances=2",
         "put domain/d\n"
         "put desired/web-b x2 routed apps/web\n"
         "put actual/web-b/0000000000/0 UNCLAIMED\n"
         "put actual/web-b/0000000001/0 UNCLAIMED\n"
         "put revision/apps/%2Fweb/b routed\n"
         "put service pending b x2 b:2 gen=0/1\n"
         "changed: created\n"},
        {"3 made, as many as the file says", "leads", "target def=b",
         "put desired/web-b x1 apps/web\n"
         "put actual/web-b/0000000000/0 UNCLAIMED\n"
         "put revision/apps/%2Fweb/b\n"
         "put service pending b x1 b:1 gen=0/1\n"
         "changed: created\n"},
        {"2 as it is", "app stable target=b instances=2 revs=b:2 desired=b:2 kept=b",
         "target def=b instances=2",
         "nothing\n"
         "unchanged\n"},
        {"2 as it is, as many as there are",
         "app stable target=b instances=2 revs=b:2 desired=b:2 kept=b", "target def=b",
         "nothing\n"
         "unchanged\n"},
        {"2 its domain went",
         "app stable domainless target=b instances=2 revs=b:2 desired=b:2 kept=b",
         "target def=b",
         "put domain/d\n"
         "unchanged\n"},
        {"3 routes", "app stable target=b instances=2 revs=b:2 desired=b:2 kept=b",
         "target def=br",
         "put desired/web-b x2 routed apps/web\n"
         "put revision/apps/%2Fweb/b routed\n"
         "put service updating b x2 b:2 gen=1/2\n"
         "changed: updated\n"},
        {"3 routes and more", "app stable target=b instances=1 revs=b:1 desired=b:1 kept=b",
         "target def=br instances=2",
         "put desired/web-b x2 routed apps/web\n"
         "put actual/web-b/0000000001/0 UNCLAIMED\n"
         "put revision/apps/%2Fweb/b routed\n"
         "put service updating b x2 b:2 gen=1/2\n"
         "changed: updated, scaled from 1 to 2\n"},
        {"3 fewer", "app stable target=b instances=2 revs=b:2 desired=b:2 kept=b "
                    "actual=b:0:RUNNING,b:1:RUNNING",
         "target def=b instances=1",
         "put desired/web-b x1 apps/web\n"
         "put actual/web-b/0000000001/0 RUNNING stopping\n"
         "put service updating b x1 b:1 gen=1/2\n"
         "changed: scaled from 2 to 1\n"},
        {"3 another definition: it rolls",
         "app stable target=a instances=2 revs=a:2 desired=a:2 kept=a", "target def=b",
         "put revision/apps/%2Fweb/b\n"
         "put service updating b x2 a:2,b:0 gen=1/2\n"
         "changed: created with a new definition, beside web-a\n"},
        {"3 one that was before",
         "app stable target=b instances=2 revs=a:0,b:2 desired=b:2 kept=a,b", "target def=a",
         "put service updating a x2 b:2,a:0 gen=1/2\n"
         "changed: created with a new definition, beside web-b\n"},
        {"3 while it rolls",
         "app updating target=b instances=2 revs=a:2,b:1 desired=a:2,b:1 kept=b",
         "target def=b instances=3",
         "put service updating b x3 a:2,b:1 gen=1/2\n"
         "changed: scaled from 2 to 3\n"},
        {"3 paused", "app updating paused target=b instances=2 revs=b:1 desired=b:1 kept=b",
         "target def=b instances=3",
         "put service updating b x3 b:1 gen=1/2 paused\n"
         "changed: scaled from 2 to 3\n"},
        {"3 since the board was restored",
         "app stable restored target=b instances=2 revs=b:2 desired=b:2 kept=b", "target def=b",
         "put service updating b x2 b:2 gen=1/2\n"
         "changed: confirmed\n"},
        {"being removed", "app deleting target=b instances=2 revs=b:2 desired=b:2 kept=b",
         "target def=b",
         "refuse ResourceConflict: it is being removed\n"},
        {"being removed when the board was restored",
         "app deleting restored target=b instances=2 revs=b:2 desired=b:2 kept=b", "target def=b",
         "refuse ResourceConflict: it was being removed when the board was restored: bbs rm goes "
         "on with it\n"},
    };
    RUN(rows);
}

static void rows_of_adoption(void **state)
{
    static const struct service_case rows[] = {
        {"as it is", "leads desired=a:2~", "target def=a",
         "put desired/web-a x2 apps/web\n"
         "put revision/apps/%2Fweb/a whole\n"
         "put service pending a x2 a:2 gen=0/1\n"
         "unchanged\n"},
        {"another number", "leads desired=a:2~", "target def=a instances=3",
         "put desired/web-a x2 apps/web\n"
         "put revision/apps/%2Fweb/a\n"
         "put service updating a x3 a:2 gen=0/2\n"
         "changed: scaled from 2 to 3\n"},
        {"another definition", "leads desired=a:2~", "target def=b",
         "put desired/web-a x2 apps/web\n"
         "put revision/apps/%2Fweb/a whole\n"
         "put revision/apps/%2Fweb/b\n"
         "put service updating b x2 a:2,b:0 gen=0/2\n"
         "changed: created with a new definition, beside web-a\n"},
        {"two, of which one was to replace the other", "leads desired=a:2~,b:1~", "target def=b",
         "put desired/web-a x2 apps/web\n"
         "put revision/apps/%2Fweb/a whole\n"
         "put desired/web-b x1 apps/web\n"
         "put revision/apps/%2Fweb/b whole\n"
         "put service pending b x2 a:2,b:1 gen=0/2\n"
         "unchanged\n"},
        {"scaled", "leads desired=a:2~", "scale instances=3",
         "put desired/web-a x2 apps/web\n"
         "put revision/apps/%2Fweb/a whole\n"
         "put service updating a x3 a:2 gen=0/2\n"
         "changed: scaled from 2 to 3\n"},
        {"removed", "leads desired=a:2~", "delete",
         "put desired/web-a x2 apps/web\n"
         "put revision/apps/%2Fweb/a whole\n"
         "put service deleting a x2 a:2 gen=0/2\n"
         "changed: removed\n"},
        {"beside a service", "app stable target=b instances=1 revs=b:1 kept=b desired=b:1,a:2~",
         "target def=b",
         "put desired/web-a x2 apps/web\n"
         "put revision/apps/%2Fweb/a whole\n"
         "put service stable b x1 a:2,b:1 gen=1/2\n"
         "unchanged\n"},
        {"another client's stays", "leads desired=a:2!", "scale instances=3",
         "refuse ResourceNotFound: there is no app \"web\"\n"},
    };
    RUN(rows);
}

static void rows_of_the_rest(void **state)
{
    static const struct service_case rows[] = {
        {"scale: none", "leads", "scale instances=3",
         "refuse ResourceNotFound: there is no app \"web\"\n"},
        {"scale 1", "app stable target=b instances=2 revs=b:2 desired=b:2 kept=b",
         "scale instances=2",
         "nothing\n"
         "unchanged\n"},
        {"scale 2", "app stable target=b instances=1 revs=b:1 desired=b:1 kept=b",
         "scale instances=2",
         "put desired/web-b x2 apps/web\n"
         "put actual/web-b/0000000001/0 UNCLAIMED\n"
         "put service updating b x2 b:2 gen=1/2\n"
         "changed: scaled from 1 to 2\n"},
        {"scale 2 to none", "app stable target=b instances=1 revs=b:1 desired=b:1 kept=b "
                            "actual=b:0:RUNNING",
         "scale instances=0",
         "put desired/web-b x0 apps/web\n"
         "put actual/web-b/0000000000/0 RUNNING stopping\n"
         "put service updating b x0 b:0 gen=1/2\n"
         "changed: scaled from 1 to 0\n"},
        {"scale 2 while it rolls",
         "app updating target=b instances=1 revs=a:1,b:1 desired=a:1,b:1 kept=b",
         "scale instances=2",
         "put service updating b x2 a:1,b:1 gen=1/2\n"
         "changed: scaled from 1 to 2\n"},
        {"scale 2 not confirmed",
         "app stable restored target=b instances=1 revs=b:1 desired=b:1 kept=b",
         "scale instances=2",
         "put service updating b x2 b:1 gen=1/2\n"
         "changed: scaled from 1 to 2\n"},
        {"pause", "app updating target=b instances=1 revs=b:1", "pause",
         "put service updating b x1 b:1 gen=1/1 paused\n"
         "changed: paused\n"},
        {"pause again", "app updating paused target=b instances=1 revs=b:1", "pause",
         "nothing\n"
         "is paused already\n"},
        {"resume", "app updating paused target=b instances=1 revs=b:1", "resume",
         "put service updating b x1 b:1 gen=1/1\n"
         "changed: resumed\n"},
        {"resume again", "app updating target=b instances=1 revs=b:1", "resume",
         "nothing\n"
         "is not paused\n"},
        {"rollback 1", "app stable target=b instances=1 revs=b:1 kept=b", "rollback",
         "refuse ResourceConflict: it has no earlier revision\n"},
        {"rollback 1 no such", "app stable target=b instances=1 revs=a:0,b:1 kept=a,b",
         "rollback revision=c",
         "refuse ResourceConflict: it has no such revision\n"},
        {"rollback 2", "app stable target=b instances=1 revs=a:0,b:1 kept=a,b",
         "rollback revision=b",
         "nothing\n"
         "unchanged\n"},
        {"rollback 3", "app stable target=b instances=1 revs=a:0,b:1 kept=b", "rollback",
         "refuse ResourceConflict: what revision a runs is not on the board: bbs apply "
         "its file\n"},
        {"rollback 4", "app stable target=c instances=2 revs=a:0,b:0,c:2 kept=a,br,c", "rollback",
         "put service updating b x2 a:0,c:2,b:0 gen=1/2\n"
         "changed: rolls back to web-b\n"},
        {"rollback 4 by its process", "app stable target=c instances=2 revs=a:0,b:0,c:2 kept=a,b,c",
         "rollback revision=web-a",
         "put service updating a x2 b:0,c:2,a:0 gen=1/2\n"
         "changed: rolls back to web-a\n"},
        {"abort 1", "app stable target=b instances=1 revs=a:0,b:1 kept=a,b", "abort",
         "refuse ResourceConflict: no change of its definition is under way\n"},
        {"abort 4", "app updating target=b instances=2 revs=a:2,b:1 kept=a,b", "abort",
         "put service updating a x2 b:1,a:2 gen=1/2\n"
         "changed: goes back to web-a\n"},
        {"restart 1", "app stable target=b instances=0 revs=b:0", "restart",
         "nothing\n"
         "has no instances: nothing is restarted\n"},
        {"restart 2", "app stable target=b instances=2 revs=b:2", "restart",
         "put service stable b x2 b:2 gen=1/2 restarting\n"
         "changed: restarts, one instance after the other\n"},
        {"restart 2 in a system", "system stable target=b instances=2 revs=b:2 system=stable",
         "restart",
         "put service stable b x2 b:2 gen=1/2 restarting\n"
         "changed: restarts, one instance after the other\n"},
        {"of a system: none", "system=stable", "restart",
         "refuse ResourceNotFound: there is no service /api in system \"shop\"\n"},
        {"delete: none", "leads", "delete",
         "refuse ResourceNotFound: there is no app \"web\"\n"},
        {"delete 1", "app deleting target=b instances=2 revs=b:2", "delete",
         "nothing\n"
         "removed\n"},
        {"delete 1 since the board was restored",
         "app deleting restored target=b instances=2 revs=b:2", "delete",
         "put service deleting b x2 b:2 gen=1/1\n"
         "changed: removed\n"},
        {"delete 2 without routes: its instances end at once",
         "app stable target=b instances=1 revs=a:0,b:1 desired=b:1 actual=b:0:RUNNING", "delete",
         "delete desired/web-b\n"
         "put actual/web-b/0000000000/0 RUNNING stopping\n"
         "put service deleting b x1 a:0,b:0 gen=1/2 unrouted\n"
         "changed: removed\n"},
        {"delete 2 with routes", "app stable target=b instances=1 revs=b:1 desired=b:1+r "
                                 "actual=b:0:RUNNING",
         "delete",
         "put desired/web-b x1 apps/web\n"
         "put service deleting b x1 b:1 gen=1/2 unrouted\n"
         "changed: removed\n"},
        {"delete 2 while it rolls", "app updating target=b instances=1 revs=a:1,b:1 "
                                    "desired=a:1,b:1+r",
         "delete",
         "put service deleting b x1 a:1,b:1 gen=1/2\n"
         "changed: removed\n"},
        {"delete 2 paused, and restored",
         "app stable paused restored target=b instances=1 revs=b:1 desired=b:1", "delete",
         "delete desired/web-b\n"
         "put service deleting b x1 b:0 gen=1/2 unrouted\n"
         "changed: removed\n"},
        {"pause: being removed", "app deleting target=b instances=1 revs=b:1", "pause",
         "refuse ResourceConflict: it is being removed\n"},
    };
    RUN(rows);
}

/* Diego's clients do not change what is a service's. */
static void outsiders_are_refused(void **state)
{
    static const struct service_case rows[] = {
        {"an app's", "app stable target=b instances=1 revs=b:1 desired=b:1",
         "update revision=b instances=2",
         "refuse ResourceConflict: belongs to the app web: bbs apply, scale and rm change "
         "it\n"},
        {"removed", "app stable target=b instances=1 revs=b:1 desired=b:1", "remove revision=b",
         "refuse ResourceConflict: belongs to the app web: bbs apply, scale and rm change "
         "it\n"},
        {"a system's", "system stable target=b instances=1 revs=b:1 desired=b:1 system=stable",
         "update revision=b instances=2",
         "refuse ResourceConflict: belongs to service shop:/api; deploy a change\n"},
        {"removed in a system",
         "system stable target=b instances=1 revs=b:1 desired=b:1 system=stable",
         "remove revision=b",
         "refuse ResourceConflict: belongs to service shop:/api; deploy a change\n"},
        {"an earlier version's is nobody's yet", "leads desired=b:1~",
         "update revision=b instances=0",
         "put desired/web-b x0 web\n"},
        {"another client's", "leads desired=b:1!", "remove revision=b",
         "delete desired/web-b\n"},
    };
    run_service_outsiders(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Beside those that run ten are kept. */
static void revisions_are_kept_within_a_bound(void **state)
{
    static const struct service_case rows[] = {
        {"eleven do not run", "app stable target=z instances=1 "
                              "revs=a:0,b:0,c:0,d:0,e:0,f:0,g:0,h:0,i:0,j:0,k:0,z:1 kept=a,z "
                              "desired=z:1",
         "target def=l",
         "put revision/apps/%2Fweb/l\n"
         "delete revision/apps/%2Fweb/a\n"
         "put service updating l x1 b:0,c:0,d:0,e:0,f:0,g:0,h:0,i:0,j:0,k:0,z:1,l:0 "
         "gen=1/2\n"
         "changed: created with a new definition, beside web-z\n"},
    };
    RUN(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_target),
        cmocka_unit_test(rows_of_adoption),
        cmocka_unit_test(rows_of_the_rest),
        cmocka_unit_test(outsiders_are_refused),
        cmocka_unit_test(revisions_are_kept_within_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
