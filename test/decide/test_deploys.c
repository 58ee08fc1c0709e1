/* Deploys: what clients ask of them, and each move of the converger, rule by rule (bbs/system/
 * deploy.c, deploy_moves.c, deploy_facts.c). */
#include "bbs/system/system.h"
#include "common/model/head.h"
#include "common/model/hold.h"
#include "test/decide/laid_system.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define OPEN "system state=stable version=1.0 definition_url=git://x\n"
#define UPDATING "system state=updating version=1.0 definition_url=git://x\n"
#define EMPTY "head\nhold\n"

#define ROWS(rows) (rows), sizeof(rows) / sizeof((rows)[0])

static void it_is_asked_for(void **state)
{
    static const struct system_op_row rows[] = {
        {"1 no such system", "", "system=shop id=D1 version=2",
         "ResourceNotFound: there is no system shop: bbs systems lists those that are"},
        {"1 pending", "system state=pending\n", "system=shop id=D1 version=2",
         "ResourceConflict: system shop is pending: ask again when a converger has opened it"},
        {"1 failed", "system state=failed message=M\n", "system=shop id=D1 version=2",
         "ResourceConflict: system shop has failed (M): delete it, and create it again"},
        {"1 deleting", "system state=deleting\n", "system=shop id=D1 version=2",
         "ResourceConflict: system shop is being deleted"},
        {"2 asked for before", OPEN "deploy D1 state=failed version=2 build=D1\n",
         "system=shop id=D1 version=2", "nothing"},
        {"2 another one's id", OPEN "deploy D1 state=failed version=1 build=D1\n",
         "system=shop id=D1 version=2",
         "ResourceExists: deploy D1 is another one: give another id"},
        {"2 another target", OPEN "deploy D1 state=failed target=path path=/a build=D1\n",
         "system=shop id=D1 path=/b",
         "ResourceExists: deploy D1 is another one: give another id"},
        {"2 another build's id", OPEN "build D1 state=failed\n", "system=shop id=D1 definition=X",
         "ResourceExists: build D1 is another one: give another id"},
        {"4 version", OPEN, "system=shop id=D1 version=2",
         "deploy deploy/u/D1 id=D1 uid=u system=shop target=version version=2 path=/ build=D1 "
         "state=pending message=waits for a converger to take it up created_at=1000s"},
        {"4 path", OPEN, "system=shop id=D1 path=/a rollback_on_failure",
         "deploy deploy/u/D1 id=D1 uid=u system=shop target=path path=/a build=D1 state=pending "
         "message=waits for a converger to take it up rollback_on_failure=1 created_at=1000s"},
        {"4 build", OPEN, "system=shop id=D1 build=B1",
         "deploy deploy/u/D1 id=D1 uid=u system=shop target=build path=/ build=B1 state=pending "
         "message=waits for a converger to take it up created_at=1000s"},
        {"4 undo", OPEN "deploy D0 state=succeeded path=/a\n", "system=shop id=D1 undo=D0",
         "deploy deploy/u/D1 id=D1 uid=u system=shop target=undo path=/a undo=D0 state=pending "
         "message=waits for a converger to take it up created_at=1000s"},
        {"4 undo of one that is not known", OPEN, "system=shop id=D1 undo=D0",
         "deploy deploy/u/D1 id=D1 uid=u system=shop target=undo path=/ undo=D0 state=pending "
         "message=waits for a converger to take it up created_at=1000s"},
        {"4 definition", OPEN, "system=shop id=D1 definition=TEXT",
         "deploy deploy/u/D1 id=D1 uid=u system=shop target=definition path=/ build=D1 "
         "state=pending message=waits for a converger to take it up created_at=1000s\n"
         "build build/u/D1 id=D1 uid=u system=shop definition=1 state=pending "
         "message=waits to be resolved created_at=1000s root=/\n"
         "build source/D1 uid=u build=D1 text=4 bytes"},
    };
    try_system_ops(&deploy_row, &board__deploy_request__descriptor, ROWS(rows));
}

static void it_is_paused_and_goes_on(void **state)
{
    static const struct system_op_row pauses[] = {
        {"1 no deploy", OPEN EMPTY, "system=shop id=D1",
         "ResourceNotFound: system shop has no deploy D1: bbs deploys shop lists those that it "
         "has"},
        {"1 not begun", OPEN "hold D1=/a\ndeploy D1 state=accepted path=/a\n", "system=shop id=D1",
         "ResourceConflict: deploy D1 is accepted: it can be paused when it is in progress"},
        {"1 over", OPEN "hold\ndeploy D1 state=succeeded path=/a\n", "system=shop id=D1",
         "ResourceConflict: deploy D1 is over: it is succeeded"},
        {"2 paused already", OPEN "hold D1=/a\ndeploy D1 state=in_progress path=/a paused\n",
         "system=shop id=D1", "nothing"},
        {"3", OPEN "hold D0=/b D1=/a\ndeploy D1 state=in_progress path=/a\n", "system=shop id=D1",
         "pause deploy/u/D1 paused=1\npause hold/u holds=D0:/b,D1:/a:paused"},
    };
    static const struct system_op_row resumes[] = {
        {"2 goes on already", OPEN "hold D1=/a\ndeploy D1 state=in_progress path=/a\n",
         "system=shop id=D1", "nothing"},
        {"3", OPEN "hold D1=/a\ndeploy D1 state=in_progress path=/a paused\n", "system=shop id=D1",
         "resume deploy/u/D1 paused=0\nresume hold/u"},
    };
    try_system_ops(&pause_deploy_row, &board__deploy_change_request__descriptor, ROWS(pauses));
    try_system_ops(&resume_deploy_row, &board__deploy_change_request__descriptor, ROWS(resumes));
}

static void it_is_aborted(void **state)
{
    static const struct system_op_row rows[] = {
        {"1 over", OPEN "hold\ndeploy D1 state=succeeded\n", "system=shop id=D1",
         "ResourceConflict: deploy D1 is over: it is succeeded"},
        {"1 failed for another reason", OPEN "hold\ndeploy D1 state=failed\n", "system=shop id=D1",
         "ResourceConflict: deploy D1 is over: it is failed"},
        {"1 aborted already", OPEN "hold\ndeploy D1 state=failed aborted\n", "system=shop id=D1",
         "nothing"},
        {"2 pending", OPEN "hold D0=/b\ndeploy D1 state=pending\n", "system=shop id=D1",
         "abort deploy/u/D1 state=failed message=it was aborted aborted=1 started_at=1000s "
         "completed_at=1000s"},
        {"2 accepted", OPEN "hold D0=/b D1=/a\ndeploy D1 state=accepted path=/a started_at=7\n",
         "system=shop id=D1",
         "abort deploy/u/D1 state=failed message=it was aborted aborted=1 completed_at=1000s\n"
         "abort hold/u holds=D0:/b"},
        {"3 aborted", OPEN "hold D1=/a\ndeploy D1 state=in_progress path=/a aborted\n",
         "system=shop id=D1", "nothing"},
        {"3 reverting", OPEN "hold D1=/a\ndeploy D1 state=in_progress path=/a reverting\n",
         "system=shop id=D1", "nothing"},
        {"4", OPEN "hold D1=/a\ndeploy D1 state=in_progress path=/a\n", "system=shop id=D1",
         "abort deploy/u/D1 message=it was aborted: what stood before is put back aborted=1"},
        {"4 paused", OPEN "hold D1=/a\ndeploy D1 state=in_progress path=/a paused\n",
         "system=shop id=D1",
         "abort deploy/u/D1 message=it was aborted: what stood before is put back aborted=1 "
         "paused=0\nabort hold/u"},
    };
    try_system_ops(&abort_deploy_row, &board__deploy_change_request__descriptor, ROWS(rows));
}

#define PENDING "deploy D1 state=pending version=2 build=D1\n"
#define ACCEPT "accept deploy/u/D1"

static void it_is_accepted(void **state)
{
    static const struct system_move_row rows[] = {
        {"no deploy", OPEN EMPTY, ACCEPT, "ResourceNotFound: the requested resource could not be "
                                          "found"},
        {"version", OPEN EMPTY PENDING, ACCEPT,
         "build build/u/D1 id=D1 uid=u system=shop version=2 state=pending message=waits to be "
         "resolved created_at=1000s root=/\n"
         "accept hold/u holds=D1:/\n"
         "accept deploy/u/D1 state=accepted message=waits for build D1 started_at=1000s"},
        {"path", OPEN "head /=T1\nhold D0=/ab\ndeploy D1 state=pending target=path path=/a "
                      "build=D1\n", ACCEPT,
         "build build/u/D1 id=D1 uid=u system=shop path=/a state=pending message=waits to be "
         "resolved created_at=1000s root=/a\n"
         "accept hold/u holds=D0:/ab,D1:/a\n"
         "accept deploy/u/D1 state=accepted message=waits for build D1 started_at=1000s"},
        {"build", OPEN EMPTY "build B1 state=running\ndeploy D1 state=pending target=build "
                             "build=B1\n", ACCEPT,
         "accept hold/u holds=D1:/\n"
         "accept deploy/u/D1 state=accepted message=waits for build B1 started_at=1000s"},
        {"undo", OPEN EMPTY "deploy D0 state=succeeded generation=3\n"
                            "deploy D1 state=pending target=undo undo=D0\n", ACCEPT,
         "accept hold/u holds=D1:/\n"
         "accept deploy/u/D1 state=accepted message=waits to begin started_at=1000s"},
        {"accepted already", OPEN "head\nhold D1=/\ndeploy D1 state=accepted\n", ACCEPT, "nothing"},
        {"over", OPEN EMPTY "deploy D1 state=failed\n", ACCEPT,
         "ResourceConflict: deploy D1: it is failed"},
        {"held", OPEN "head\nhold D0=/a\n" PENDING, ACCEPT,
         "ResourceConflict: deploy D1: deploy D0 of /a is in progress"},
        {"held by a teardown", OPEN "head\nhold T0=/\n" PENDING, ACCEPT,
         "ResourceConflict: deploy D1: teardown T0 is in progress"},
        {"target", "system state=stable\n" EMPTY PENDING, ACCEPT,
         "ResourceConflict: deploy D1: system shop has no repository of versions: deploy a file, "
         "or create it with --definition URL"},
        {"gone", "system state=deleting definition_url=g\n" EMPTY PENDING, ACCEPT,
         "ResourceConflict: deploy D1: system shop is being deleted"},
        {"another system bears its name", "system uid=v state=stable definition_url=g\n" EMPTY
         PENDING, ACCEPT,
         "ResourceConflict: deploy D1: there is no system shop: bbs systems lists those that are"},
    };
    try_system_moves(&deploy_moves, ROWS(rows));
}

#define REFUSE "refuse deploy/u/D1"
#define FAILED(why)                                                                                \
    "refuse deploy/u/D1 state=failed message=" why " started_at=1000s completed_at=1000s"
#define HELD(why) FAILED(why) " conflict=1" /* others hold it */

static void it_is_refused(void **state)
{
    static const struct system_move_row rows[] = {
        {"1 nothing stands against it", OPEN EMPTY PENDING, REFUSE,
         "ResourceConflict: deploy D1 can be accepted"},
        {"2 held", OPEN "head\nhold D0=/a\n" PENDING, REFUSE,
         HELD("deploy D0 of /a is in progress")},
        {"2 held by many", OPEN "head\nhold D2=/a D3=/b/c D4=/d D5=/e\n" PENDING, REFUSE,
         HELD("deploys D2 of /a, D3 of /b/c, D4 of /d and 1 more are in progress")},
        {"2 above", OPEN "head /=T1\nhold D0=/a\ndeploy D1 state=pending target=path path=/a/b "
                         "build=D1\n", REFUSE, HELD("deploy D0 of /a is in progress")},
        {"2 teardown", OPEN "head\nhold T0=/\n" PENDING, REFUSE,
         HELD("teardown T0 is in progress")},
        {"2 no build", OPEN EMPTY "deploy D1 state=pending target=build build=B1\n", REFUSE,
         FAILED("there is no build B1: bbs builds shop lists them")},
        {"2 a path build", OPEN EMPTY "build B1 state=succeeded path=/a tree=T1\n"
                                      "deploy D1 state=pending target=build build=B1\n", REFUSE,
         FAILED("build B1 is of the path /a: only one of a whole definition can be deployed by "
                "its id; deploy the path")},
        {"2 a build that failed", OPEN EMPTY "build B1 state=failed message=M\n"
                                             "deploy D1 state=pending target=build build=B1\n",
         REFUSE, FAILED("build B1 failed: M")},
        {"2 collected", OPEN EMPTY "build B1 state=succeeded\n"
                                   "deploy D1 state=pending target=build build=B1\n", REFUSE,
         FAILED("what build B1 resolved is not kept any more: deploy its version again")},
        {"2 nothing at the path", OPEN EMPTY "deploy D1 state=pending target=path path=/a "
                                             "build=D1\n", REFUSE,
         FAILED("nothing is deployed at /a: bbs systems tree shop shows what is")},
        {"2 nothing to undo", OPEN EMPTY "deploy D1 state=pending target=undo undo=D0\n", REFUSE,
         FAILED("there is no deploy D0 to undo: bbs deploys shop lists them")},
        {"2 what never began", OPEN EMPTY "deploy D0 state=failed\n"
                                          "deploy D1 state=pending target=undo undo=D0\n", REFUSE,
         FAILED("deploy D0 changed nothing: there is nothing to undo")},
        {"2 its build's id", OPEN EMPTY "build D1 state=pending\n" PENDING, REFUSE,
         FAILED("build D1 is another one: deploy again with another id")},
        {"2 gone", "system state=deleting\n" EMPTY PENDING, REFUSE,
         FAILED("system shop is being deleted")},
        {"refused already", OPEN EMPTY "deploy D1 state=failed\n", REFUSE, "nothing"},
        {"accepted", OPEN "head\nhold D1=/\ndeploy D1 state=accepted\n", REFUSE,
         "ResourceConflict: deploy D1: it is accepted"},
    };
    try_system_moves(&deploy_moves, ROWS(rows));
}

#define ACCEPTED "deploy D1 state=accepted build=D1\n"
#define BUILT "build D1 state=succeeded tree=T1 version=2 root=/\n"

/* Of /a, to what stood there before D0. */
#define UNDOES                                                                                     \
    "deploy D0 state=succeeded path=/a generation=3 before=/a:T1\n"                                \
    "deploy D1 state=pending target=undo undo=D0 path=/a\n"

static void it_begins(void **state)
{
    static const struct system_move_row rows[] = {
        {"the whole", OPEN "head generation=3 /a=T7 /b=T8\nhold D1=/\n" ACCEPTED BUILT
                           "index T1 /a=service:h\n", "begin deploy/u/D1",
         "begin head/u roots=/:T1:D1 generation=4\n"
         "observe system/shop state=updating version=2 since=1000s\n"
         "begin deploy/u/D1 version=2 state=in progress message=waits for its services "
         "before=/a:T7:T7,/b:T8:T8 before_version=1.0 generation=4"},
        {"a path", UPDATING "head generation=3 /=T7 /a/x=T8 /ab=T9\nhold D1=/a\n"
                            "deploy D1 state=accepted target=path path=/a build=D1\n"
                            "build D1 state=succeeded tree=T1 root=/a path=/a\n"
                            "index T1 /a=service:h\n", "begin deploy/u/D1",
         "begin head/u roots=/:T7:T7,/a:T1:D1,/ab:T9:T9 generation=4\n"
         "begin deploy/u/D1 state=in progress message=waits for its services before=/a/x:T8:T8 "
         "before_version=1.0 generation=4"},
        {"undo", OPEN "head generation=3 /=T7\nhold D1=/\n"
                      "deploy D0 state=succeeded generation=3 before=/:T6 before_version=0.9\n"
                      "deploy D1 state=accepted target=undo undo=D0\nindex T6 /a=service:h\n",
         "begin deploy/u/D1",
         "begin head/u roots=/:T6:T6 generation=4\n"
         "observe system/shop state=updating version=0.9 since=1000s\n"
         "begin deploy/u/D1 version=0.9 state=in progress message=waits for its services "
         "before=/:T7:T7 before_version=1.0 generation=4"},
        {"a degraded system stays so", "system state=degraded\nhead\nhold D1=/\n" ACCEPTED
         "build D1 state=succeeded tree=T1 root=/\nindex T1 /a=service:h\n", "begin deploy/u/D1",
         "begin head/u roots=/:T1:D1 generation=1\n"
         "begin deploy/u/D1 state=in progress message=waits for its services generation=1"},
        {"begun already", OPEN "head\nhold D1=/\ndeploy D1 state=in_progress\n",
         "begin deploy/u/D1", "nothing"},
        {"the build runs", OPEN "head\nhold D1=/\n" ACCEPTED "build D1 state=running tree=T1 root=/"
                                "\n", "begin deploy/u/D1",
         "ResourceConflict: deploy D1: what it is to put is not there yet"},
        {"collected", OPEN "head\nhold D1=/\n" ACCEPTED BUILT, "begin deploy/u/D1",
         "ResourceConflict: deploy D1: what it is to put is not there yet"},
        {"a secret", OPEN "head\nhold D1=/\n" ACCEPTED BUILT
                          "index T1 /a=service:h:/a:k /b=job:h:/b:key\nsecret /a:k\n",
         "begin deploy/u/D1",
         "ResourceConflict: deploy D1: /b needs secret /b:key: bbs secrets set shop /b:key"},
        {"not held", OPEN "head\nhold D0=/\n" ACCEPTED BUILT "index T1 /a=service:h\n",
         "begin deploy/u/D1", "ResourceConflict: deploy D1: it holds nothing"},
        {"gone", "system state=deleting\nhead\nhold D1=/\n" ACCEPTED BUILT
                 "index T1 /a=service:h\n", "begin deploy/u/D1",
         "ResourceConflict: deploy D1: system shop is being deleted"},
        {"failed", OPEN "head\nhold\ndeploy D1 state=failed\n", "begin deploy/u/D1",
         "ResourceConflict: deploy D1: it is failed"},
        {"pending, of what is built", OPEN "head generation=3 /=T7\nhold D0=/ab\n"
         "index T1 /a=service:h\n" UNDOES, "begin deploy/u/D1",
         "begin hold/u holds=D0:/ab,D1:/a\n"
         "begin head/u roots=/:T7:T7,/a:T1:T1 generation=4\n"
         "observe system/shop state=updating since=1000s\n"
         "begin deploy/u/D1 state=in progress message=waits for its services "
         "before_version=1.0 started_at=1000s generation=4"},
        {"pending, and its path is held", OPEN "head generation=3 /=T7\nhold D0=/a/b\n"
         "index T1 /a=service:h\n" UNDOES, "begin deploy/u/D1",
         "ResourceConflict: deploy D1: deploy D0 of /a/b is in progress"},
        {"pending, of no good target", OPEN EMPTY "deploy D1 state=pending target=undo undo=D9\n",
         "begin deploy/u/D1",
         "ResourceConflict: deploy D1: there is no deploy D9 to undo: bbs deploys shop lists "
         "them"},
        {"pending, and the build runs", OPEN EMPTY
         "deploy D1 state=pending target=definition build=D1\nbuild D1 state=running\n",
         "begin deploy/u/D1",
         "ResourceConflict: deploy D1: what it is to put is not there yet"},
        {"pending, and a secret lacks", OPEN EMPTY "deploy D1 state=pending target=build build=B1\n"
         "build B1 state=succeeded tree=T1 root=/\nindex T1 /a=service:h:/a:k\n",
         "begin deploy/u/D1",
         "ResourceConflict: deploy D1: /a needs secret /a:k: bbs secrets set shop /a:k"},
        {"pending, and its system goes", "system state=deleting\n" EMPTY
         "deploy D1 state=pending target=build build=B1\nbuild B1 state=succeeded tree=T1\n",
         "begin deploy/u/D1", "ResourceConflict: deploy D1: system shop is being deleted"},
    };
    try_system_moves(&deploy_moves, ROWS(rows));
}

static void its_build_is_noted(void **state)
{
    static const struct system_move_row rows[] = {
        {"version and text", OPEN "head\nhold D1=/\n" ACCEPTED BUILT,
         "note deploy/u/D1 message=M",
         "note deploy/u/D1 version=2 message=M"},
        {"so already", OPEN "head\nhold D1=/\ndeploy D1 state=accepted build=D1 version=2\n" BUILT,
         "note deploy/u/D1", "nothing"},
        {"pending", OPEN EMPTY PENDING, "note deploy/u/D1",
         "ResourceConflict: deploy D1: it is pending"},
    };
    try_system_moves(&deploy_moves, ROWS(rows));
}

#define GOING(more) "deploy D1 state=in_progress path=/a build=D1 generation=3 " more "\n"
#define HELD_A "head generation=3 /=T7 /a=T1\nhold D1=/a D2=/b\n"
#define TREES "index T1 /a=system:h0 /a/x=service:h1 /a/y=job:h2\nindex T7 /a/z=service:h9 "       \
              "/b=service:h3\n"
#define SETTLED "service /a/x state=stable deploy=D1 component=h1\n"
#define OTHERS "service /b state=failed deploy=D2 component=h0\n"                                  \
               "service /ab state=updating deploy=D0 component=h0\n"

static void it_succeeds(void **state)
{
    static const char over[] = "succeed hold/u holds=D2:/b\n"
                               "succeed deploy/u/D1 state=succeeded started_at=1000s "
                               "completed_at=1000s";
    static const struct system_move_row rows[] = {
        {"its own are settled", OPEN HELD_A GOING() TREES SETTLED OTHERS, "succeed deploy/u/D1",
         over},
        {"nobody else holds: all were told", "system state=updating message=M\nhead generation=3 "
         "spread=2 /=T7 /a=T1\nhold D1=/a\n" GOING() TREES SETTLED, "succeed deploy/u/D1",
         "succeed hold/u holds=\nsucceed deploy/u/D1 state=succeeded started_at=1000s "
         "completed_at=1000s\nspread head/u spread=3"},
        {"nobody else holds, another's head", "system state=updating message=M\nhead generation=4 "
         "spread=2 /=T7 /a=T1\nhold D1=/a\n" GOING() TREES SETTLED, "succeed deploy/u/D1",
         "succeed hold/u holds=\nsucceed deploy/u/D1 state=succeeded started_at=1000s "
         "completed_at=1000s"},
        {"the whole", "system state=updating message=M\nhead generation=3 spread=2 /=T1\n"
         "hold D1=/\ndeploy D1 state=in_progress path=/ build=D1 generation=3\n"
         "index T1 /a/x=service:h1\n" SETTLED, "succeed deploy/u/D1",
         "succeed hold/u holds=\nsucceed deploy/u/D1 state=succeeded started_at=1000s "
         "completed_at=1000s\nspread head/u spread=3\n"
         "observe system/shop state=stable message= since=1000s"},
        {"the whole, so already", "system\nhead generation=3 spread=3 /=T1\n"
         "hold D1=/\ndeploy D1 state=in_progress path=/ build=D1 generation=3\n"
         "index T1 /a/x=service:h1\n" SETTLED, "succeed deploy/u/D1",
         "succeed hold/u holds=\nsucceed deploy/u/D1 state=succeeded started_at=1000s "
         "completed_at=1000s"},
        {"none is to be there", OPEN HELD_A GOING() "index T1 /a=system:h0\nindex T7 /b=job:h\n",
         "succeed deploy/u/D1", over},
        {"not stable", OPEN HELD_A GOING() TREES "service /a/x state=scaling deploy=D1 "
                                                 "component=h1\n", "succeed deploy/u/D1",
         "ResourceConflict: deploy D1: its services are not as it wants them"},
        {"not told", OPEN HELD_A GOING() TREES "service /a/x state=stable deploy=D0 "
                                               "component=h1\n", "succeed deploy/u/D1",
         "ResourceConflict: deploy D1: its services are not as it wants them"},
        {"of another component", OPEN HELD_A GOING() TREES "service /a/x state=stable deploy=D1 "
                                                           "component=h9\n", "succeed deploy/u/D1",
         "ResourceConflict: deploy D1: its services are not as it wants them"},
        {"lacking", OPEN HELD_A GOING() TREES, "succeed deploy/u/D1",
         "ResourceConflict: deploy D1: its services are not as it wants them"},
        {"one too many", OPEN HELD_A GOING() TREES SETTLED
                         "service /a/old state=deleting deploy=D0\n", "succeed deploy/u/D1",
         "ResourceConflict: deploy D1: its services are not as it wants them"},
        {"one of the tree above", OPEN HELD_A GOING() TREES SETTLED
                         "service /a/z state=stable deploy=D1 component=h9\n",
         "succeed deploy/u/D1",
         "ResourceConflict: deploy D1: its services are not as it wants them"},
        {"reverting", OPEN HELD_A GOING("reverting") TREES SETTLED, "succeed deploy/u/D1",
         "ResourceConflict: deploy D1: it puts back what stood before"},
        {"aborted", OPEN HELD_A GOING("aborted") TREES SETTLED, "succeed deploy/u/D1",
         "ResourceConflict: deploy D1: it puts back what stood before"},
        {"not held", OPEN "head /=T7 /a=T1\nhold D2=/b\n" GOING() TREES SETTLED,
         "succeed deploy/u/D1", "ResourceConflict: deploy D1: it holds nothing"},
        {"so already", OPEN "head\nhold\ndeploy D1 state=succeeded\n", "succeed deploy/u/D1",
         "nothing"},
        {"failed before", OPEN "head\nhold\ndeploy D1 state=failed\n", "succeed deploy/u/D1",
         "ResourceConflict: deploy D1: it is failed"},
    };
    try_system_moves(&deploy_moves, ROWS(rows));
}

/* The service stands behind system, head and hold: its mod-revision is told by its place. */
#define CRASHED "service /a/x state=failed deploy=D1 component=h1\n"
#define BY_SERVICE " witness=service/u/%2Fa%2Fx witness_revision=17 message=M"

/* What is to stand below /a, and needs a secret. */
#define NEEDING "index T1 /a/x=service:h1:/a:k\n"
#define BY_SECRET " witness=secret/u/%2Fa%3Ak message=M"

static void it_reverts(void **state)
{
    static const struct system_move_row rows[] = {
        {"asked before", OPEN HELD_A GOING("rollback_on_failure before=/a/w:T5 before_version=0.9")
         CRASHED, "revert deploy/u/D1" BY_SERVICE,
         "revert head/u roots=/:T7:T7,/a/w:T5:T5 generation=4\n"
         "observe system/shop state=updating since=1000s\n"
         "revert deploy/u/D1 message=M reverting=1 generation=4"},
        {"the whole", OPEN "head generation=3 /=T7\nhold D1=/\ndeploy D1 state=in_progress "
                           "generation=3 before=/:T6 before_version=0.9 aborted\n",
         "revert deploy/u/D1",
         "revert head/u roots=/:T6:T6 generation=4\n"
         "observe system/shop state=updating version=0.9 since=1000s\n"
         "revert deploy/u/D1 reverting=1 generation=4"},
        {"a secret is not set any more", OPEN HELD_A GOING("rollback_on_failure before=/a/w:T5")
         NEEDING, "revert deploy/u/D1" BY_SECRET,
         "revert head/u roots=/:T7:T7,/a/w:T5:T5 generation=4\n"
         "observe system/shop state=updating since=1000s\n"
         "revert deploy/u/D1 message=M reverting=1 generation=4"},
        {"nobody asked", OPEN HELD_A GOING() CRASHED, "revert deploy/u/D1" BY_SERVICE,
         "ResourceConflict: deploy D1: nobody asked for what stood before"},
        {"no reason", OPEN HELD_A GOING("rollback_on_failure"), "revert deploy/u/D1",
         "ResourceConflict: deploy D1: nothing shows why it should revert"},
        {"a sibling's failure is none", OPEN HELD_A GOING("rollback_on_failure")
         "service /b state=failed deploy=D1\n",
         "revert deploy/u/D1 witness=service/u/%2Fb witness_revision=17",
         "ResourceConflict: deploy D1: nothing shows why it should revert"},
        {"reverts already", OPEN HELD_A GOING("reverting aborted"), "revert deploy/u/D1",
         "nothing"},
        {"gone", "system state=deleting\n" HELD_A GOING("aborted"), "revert deploy/u/D1",
         "ResourceConflict: deploy D1: nothing shows why it should revert"},
        {"accepted", OPEN "head\nhold D1=/\n" ACCEPTED, "revert deploy/u/D1",
         "ResourceConflict: deploy D1: it is accepted"},
    };
    try_system_moves(&deploy_moves, ROWS(rows));
}

#define NOTHING_SHOWS "ResourceConflict: deploy D1: nothing shows why it should fail"
#define OVER(why)                                                                                  \
    "fail hold/u holds=D2:/b\n"                                                                    \
    "fail deploy/u/D1 state=failed message=" why " started_at=1000s completed_at=1000s"

static void it_fails_in_progress(void **state)
{
    static const struct system_move_row rows[] = {
        {"a service failed", OPEN HELD_A GOING() CRASHED, "fail deploy/u/D1" BY_SERVICE, OVER("M")},
        {"it changed since", OPEN HELD_A GOING() CRASHED,
         "fail deploy/u/D1 witness=service/u/%2Fa%2Fx witness_revision=16", NOTHING_SHOWS},
        {"it recovered", OPEN HELD_A GOING() "service /a/x state=stable deploy=D1\n",
         "fail deploy/u/D1" BY_SERVICE, NOTHING_SHOWS},
        {"it was not told", OPEN HELD_A GOING() "service /a/x state=failed deploy=D0\n",
         "fail deploy/u/D1" BY_SERVICE, NOTHING_SHOWS},
        {"it is a sibling", OPEN HELD_A GOING() "service /ab state=failed deploy=D1\n",
         "fail deploy/u/D1 witness=service/u/%2Fab witness_revision=17", NOTHING_SHOWS},
        {"what stood before is to be put back first", OPEN HELD_A GOING("rollback_on_failure")
         CRASHED, "fail deploy/u/D1" BY_SERVICE, NOTHING_SHOWS},
        {"aborted: the same", OPEN HELD_A GOING("aborted") CRASHED,
         "fail deploy/u/D1" BY_SERVICE, NOTHING_SHOWS},
        {"it failed while reverting", OPEN HELD_A GOING("rollback_on_failure reverting") CRASHED,
         "fail deploy/u/D1" BY_SERVICE, OVER("M")},
        {"one lacks a secret", OPEN HELD_A GOING() NEEDING "service /a/x deploy=D0 component=h1\n",
         "fail deploy/u/D1" BY_SECRET, OVER("M")},
        {"it is not there yet, and does", OPEN HELD_A GOING() NEEDING,
         "fail deploy/u/D1" BY_SECRET, OVER("M")},
        {"what is to be put back does", OPEN HELD_A GOING("rollback_on_failure reverting") NEEDING,
         "fail deploy/u/D1" BY_SECRET, OVER("M")},
        {"it has it already", OPEN HELD_A GOING() NEEDING "service /a/x deploy=D1 component=h1\n",
         "fail deploy/u/D1" BY_SECRET, NOTHING_SHOWS},
        {"the secret is set", OPEN HELD_A GOING() NEEDING "secret /a:k\n",
         "fail deploy/u/D1" BY_SECRET, NOTHING_SHOWS},
        {"nobody needs it", OPEN HELD_A GOING() "index T1 /a/x=service:h1\n",
         "fail deploy/u/D1" BY_SECRET, NOTHING_SHOWS},
        {"a job needs it", OPEN HELD_A GOING() "index T1 /a/x=job:h1:/a:k\n",
         "fail deploy/u/D1" BY_SECRET, NOTHING_SHOWS},
        {"a sibling needs it", OPEN HELD_A GOING() "index T7 /ab=service:h1:/a:k\n",
         "fail deploy/u/D1" BY_SECRET, NOTHING_SHOWS},
        {"it has reverted", OPEN HELD_A GOING("aborted reverting message=W") TREES SETTLED,
         "fail deploy/u/D1",
         "fail hold/u holds=D2:/b\n"
         "fail deploy/u/D1 state=failed started_at=1000s completed_at=1000s"},
        {"it reverts yet", OPEN HELD_A GOING("aborted reverting") TREES, "fail deploy/u/D1",
         NOTHING_SHOWS},
        {"settled, but it goes forward", OPEN HELD_A GOING() TREES SETTLED, "fail deploy/u/D1",
         NOTHING_SHOWS},
        {"gone", "system state=deleting\n" HELD_A GOING(), "fail deploy/u/D1",
         OVER("the system is being deleted")},
        {"its build is no reason any more", OPEN HELD_A GOING() "build D1 state=failed\n",
         "fail deploy/u/D1 witness=build/u/D1 witness_revision=17", NOTHING_SHOWS},
        {"failed already", OPEN HELD_A "deploy D1 state=failed\n", "fail deploy/u/D1", "nothing"},
        {"succeeded", OPEN HELD_A "deploy D1 state=succeeded\n", "fail deploy/u/D1",
         "ResourceConflict: deploy D1: it is succeeded"},
        {"pending", OPEN HELD_A PENDING, "fail deploy/u/D1",
         "ResourceConflict: deploy D1: it is pending"},
    };
    try_system_moves(&deploy_moves, ROWS(rows));
}

#define WAITING OPEN "head\nhold D1=/ \n" ACCEPTED
#define STARTED_OVER(why)                                                                          \
    "fail hold/u holds=\nfail deploy/u/D1 state=failed message=" why                               \
    " started_at=1000s completed_at=1000s"

static void it_fails_before_it_begins(void **state)
{
    static const struct system_move_row rows[] = {
        {"its build failed", WAITING "build D1 state=failed\n",
         "fail deploy/u/D1 witness=build/u/D1 witness_revision=17 message=M", STARTED_OVER("M")},
        {"its build is gone", WAITING, "fail deploy/u/D1 witness=build/u/D1 message=M",
         STARTED_OVER("M")},
        {"its build runs", WAITING "build D1 state=running\n",
         "fail deploy/u/D1 witness=build/u/D1 witness_revision=17", NOTHING_SHOWS},
        {"another build", WAITING "build B9 state=failed\n",
         "fail deploy/u/D1 witness=build/u/B9 witness_revision=17", NOTHING_SHOWS},
        {"another system's", WAITING, "fail deploy/u/D1 witness=build/v/D1", NOTHING_SHOWS},
        {"a secret is not set", WAITING BUILT "index T1 /a=service:h:/a:k\n",
         "fail deploy/u/D1 witness=secret/u/%2Fa%3Ak message=M", STARTED_OVER("M")},
        {"it is set", WAITING BUILT "index T1 /a=service:h:/a:k\nsecret /a:k\n",
         "fail deploy/u/D1 witness=secret/u/%2Fa%3Ak witness_revision=19", NOTHING_SHOWS},
        {"it is not needed", WAITING BUILT "index T1 /a=service:h\n",
         "fail deploy/u/D1 witness=secret/u/%2Fa%3Ak", NOTHING_SHOWS},
        {"what it undoes is gone", OPEN "head\nhold D1=/\ndeploy D1 state=accepted target=undo "
                                        "undo=D0\n",
         "fail deploy/u/D1 witness=deploy/u/D0 message=M", STARTED_OVER("M")},
        {"a service is no reason yet", WAITING "service /a/x state=failed deploy=D1\n",
         "fail deploy/u/D1" BY_SERVICE, NOTHING_SHOWS},
        {"gone", "system state=deleting\nhead\nhold D1=/\n" ACCEPTED, "fail deploy/u/D1",
         STARTED_OVER("the system is being deleted")},
    };
    try_system_moves(&deploy_moves, ROWS(rows));
}

static void it_is_forgotten(void **state)
{
    static const struct system_move_row rows[] = {
        {"gone", "system state=deleting\ndeploy D1 state=failed\n", "forget deploy/u/D1",
         "forget -deploy/u/D1"},
        {"no system", "deploy D1 state=succeeded\n", "forget deploy/u/D1", "forget -deploy/u/D1"},
        {"absent", OPEN, "forget deploy/u/D1", "nothing"},
        {"one of the last", OPEN "deploy D1 state=failed completed_at=5\n", "forget deploy/u/D1",
         "ResourceConflict: deploy D1: it is one of the last that are over"},
        {"not over", "system state=deleting\n" PENDING, "forget deploy/u/D1",
         "ResourceConflict: deploy D1: it is not over"},
    };
    try_system_moves(&deploy_moves, ROWS(rows));
}

/* The same with as many as are kept: `more` is what stands beside them. */
static const char *among(struct laid_system *l, int kept, const char *more, const char *move)
{
    struct laid_plan p;
    const char *texts = arena_printf(&l->arena, OPEN EMPTY "%s\n", more);
    struct arena keep = l->arena;
    for (int i = 0; i < kept; i++) {
        texts = arena_printf(&keep, "%sdeploy K%d state=failed completed_at=%d\n", texts, i,
                             i + 10);
    }
    l->arena = keep;
    struct laid_system board;
    laid_system_init(&board, texts);
    const Board__Move *m = laid_system_move(&board, &deploy_moves, move);
    struct op_input in = {.actor = ACTOR_CONVERGER, .request = &m->base};
    laid_decide(board.board, move_row_named(&deploy_moves, m->move)->op, &in, &board.arena, &p);
    const char *text = arena_strdup(&l->arena, laid_system_print(&board, &p.plan));
    laid_system_done(&board);
    return text;
}

static void so_many_are_kept(void **state)
{
    struct laid_system l = {0};
    arena_init(&l.arena);
    assert_string_equal(among(&l, ACTIONS_KEPT_MAX - 1, "deploy D1 state=failed completed_at=5",
                              "forget deploy/u/D1"),
                        "ResourceConflict: deploy D1: it is one of the last that are over");
    assert_string_equal(among(&l, ACTIONS_KEPT_MAX, "deploy D1 state=failed completed_at=5",
                              "forget deploy/u/D1"),
                        "forget -deploy/u/D1");
    assert_string_equal(among(&l, ACTIONS_KEPT_MAX, "deploy D1 state=failed completed_at=9000",
                              "forget deploy/u/D1"),
                        "ResourceConflict: deploy D1: it is one of the last that are over");
    assert_string_equal(among(&l, ACTIONS_KEPT_MAX,
                              "deploy D1 state=failed completed_at=5\n"
                              "deploy D2 state=accepted target=undo undo=D1",
                              "forget deploy/u/D1"),
                        "ResourceConflict: deploy D1: it is one of the last that are over");
    arena_done(&l.arena);
}

static void so_many_hold_at_once(void **state)
{
    for (int held = HOLD_ENTRIES_MAX - 1; held <= HOLD_ENTRIES_MAX; held++) {
        struct laid_system l;
        struct laid_plan p;
        SCOPED_ARENA(a);
        const char *board = OPEN "head /=T1\ndeploy D1 state=pending target=path path=/n build=D1\n"
                                 "hold";
        for (int i = 0; i < held; i++) {
            board = arena_printf(&a, "%s X%d=/x%d", board, i, i);
        }
        laid_system_init(&l, board);
        const Board__Move *m = laid_system_move(&l, &deploy_moves, ACCEPT);
        struct op_input in = {.actor = ACTOR_CONVERGER, .request = &m->base};
        laid_decide(l.board, move_row_named(&deploy_moves, "accept")->op, &in, &l.arena, &p);
        bool full = held == HOLD_ENTRIES_MAX;
        assert_int_equal(p.plan.verdict, full ? PLAN_REFUSE : PLAN_COMMIT);
        assert_true(!full || strcmp(p.plan.error_message,
                                    "deploy D1: 256 deploys hold a part of system shop, which is "
                                    "the most: ask again when one is over") == 0);
        laid_system_done(&l);
    }
}

/* Those that stand elsewhere count, and of the tree its services alone; a build that has too many
 * shows why its deploy fails. */
static void a_system_has_room_for_so_many_services(void **state)
{
    static const char board[] = OPEN "head /=T0\nhold D1=/a\n"
                                     "deploy D1 state=accepted target=path path=/a build=D1\n"
                                     "build D1 state=succeeded tree=T1 root=/a path=/a\n"
                                     "service /b state=stable\nservice /a/1 state=stable\n";
    (void)state;
    for (size_t count = SYSTEM_SERVICES_MAX - 1; count <= SYSTEM_SERVICES_MAX; count++) {
        bool good = count < SYSTEM_SERVICES_MAX;
        struct laid_system l;
        laid_system_init(&l, board);
        Board__IndexRecord *index = arena_message(&l.arena, &board__index_record__descriptor);
        index->entries = ARENA_ARRAY(&l.arena, count + 1, Board__IndexRecord__Entry *);
        for (size_t i = 0; i <= count; i++) {
            Board__IndexRecord__Entry *e = index->entries[index->n_entries++] =
                arena_message(&l.arena, &board__index_record__entry__descriptor);
            e->path = arena_printf(&l.arena, "/a/%05zu", i);
            e->kind = arena_strdup(&l.arena, i < count ? "service" : "job");
        }
        laid_system_put(&l, key_index(&l.arena, "T1"), &index->base);
        const Board__Move *begin = laid_system_move(&l, &deploy_moves, "begin deploy/u/D1");
        const Board__Move *fail_move = laid_system_move(
            &l, &deploy_moves,
            arena_printf(&l.arena, "fail deploy/u/D1 witness=build/u/D1 witness_revision=%d",
                         LAID_FIRST + 10 + 4));
        const Board__Move *moves[] = {begin, fail_move};
        for (int i = 0; i < 2; i++) {
            struct laid_plan p;
            struct op_input in = {.actor = ACTOR_CONVERGER, .request = &moves[i]->base};
            laid_decide(l.board, move_row_named(&deploy_moves, moves[i]->move)->op, &in, &l.arena,
                        &p);
            assert_int_equal(p.plan.verdict, good == (i == 0) ? PLAN_COMMIT : PLAN_REFUSE);
            assert_true(good || i > 0 ||
                        strcmp(p.plan.error_message,
                               "deploy D1: system shop would have 10001 services, and may have "
                               "10000") == 0);
        }
        laid_system_done(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_asked_for),
        cmocka_unit_test(it_is_paused_and_goes_on),
        cmocka_unit_test(it_is_aborted),
        cmocka_unit_test(it_is_accepted),
        cmocka_unit_test(it_is_refused),
        cmocka_unit_test(it_begins),
        cmocka_unit_test(its_build_is_noted),
        cmocka_unit_test(it_succeeds),
        cmocka_unit_test(it_reverts),
        cmocka_unit_test(it_fails_in_progress),
        cmocka_unit_test(it_fails_before_it_begins),
        cmocka_unit_test(it_is_forgotten),
        cmocka_unit_test(so_many_are_kept),
        cmocka_unit_test(so_many_hold_at_once),
        cmocka_unit_test(a_system_has_room_for_so_many_services),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
