/* Node pools: each move of the converger, rule by rule (bbs/pool), and what it asks of services,
 * runs and cells. What each row decides by is held to its compares. */
#include "bbs/pool/pool.h"
#include "bbs/service/service.h"
#include "common/model/pool_tag.h"
#include "test/decide/laid_system.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define OPEN "system state=stable board_generation=E\n"
#define DEFINED(type, count) "head /=T1\ntree T1/%2F kind=system pool.main=" type ":" count "\n"
#define POOL "pool /:main wanted=2 short_since=0 since=3 instance_type=small state="
#define SHORT "pool /:main wanted=2 short_since=4 since=3 instance_type=small state="
#define KEY "pool/u/%2F%3Amain"
#define FREE "cell c1 type=small incarnation=1\n"
#define TAG "pool:u//:main#"
#define SERVE(cell) "cell " cell " type=small incarnation=1 pool=" TAG "1\n"
#define LEAVES(cell) "cell " cell " type=small incarnation=1 pool_leaves pool=" TAG "1\n"
#define MOVES(rows) try_system_moves(&pool_moves, rows, sizeof(rows) / sizeof((rows)[0]))
#define REFUSED "ResourceConflict: node pool /:main: "
#define OTHERWISE "no definition that stands wants it so"
#define UNWANTED OTHERWISE ", or it is being deleted"
#define NOT_ASSIGNED                                                                               \
    REFUSED "it lacks no cell in that epoch, the cell is not free for it, or nobody confirmed "    \
            "its system since a restore"
#define NOT_RETIRED                                                                                \
    REFUSED "the epoch is its newest, a service or a run names it, or nobody confirmed its "       \
            "system since a restore"
#define NOT_RELEASED                                                                               \
    REFUSED "it cannot do without the cell, something is on it, or nobody confirmed its system "   \
            "since a restore"

#define NOT_MARKED                                                                                 \
    REFUSED "no more of its cells stay than it is to have, it has not this one, or nobody "        \
            "confirmed its system since a restore"
#define NOT_KEPT                                                                                   \
    REFUSED "as many of its cells stay as it is to have, this one was not to go, or nobody "       \
            "confirmed its system since a restore"

/* ---- What a definition wants ----------------------------------------------------------------- */

static void a_pool_is_opened_as_the_definition_has_it(void **state)
{
    static const char open[] = "open " KEY " instance_type=small wanted=2";
    static const struct system_move_row rows[] = {
        {"opened", OPEN DEFINED("small", "2"), open,
         "open " KEY " uid=u name=/:main instance_type=small wanted=2 epochs=1:small: "
         "state=pending message=waits for a converger to look at it since=1000s "
         "short_since=1000s system=shop"},
        {"of no cells: it is not short of one", OPEN DEFINED("small", "0"),
         "open " KEY " instance_type=small wanted=0",
         "open " KEY " uid=u name=/:main instance_type=small epochs=1:small: "
         "state=pending message=waits for a converger to look at it since=1000s system=shop"},
        {"there already", OPEN DEFINED("small", "2") POOL "stable 1=small:c1+c2\n", open,
         "nothing"},
        {"being deleted, without a cell", OPEN DEFINED("small", "2") POOL "deleting\n", open,
         "open " KEY " epochs=1:small: state=pending message=waits for a converger to look at it "
         "since=1000s short_since=1000s"},
        {"being deleted: it keeps its cells", OPEN DEFINED("small", "1") POOL
         "deleting 1=small:c1\n", "open " KEY " instance_type=small wanted=1",
         "open " KEY " wanted=1 state=pending message=waits for a converger to look at it "
         "since=1000s"},
        {"another type", OPEN DEFINED("large", "2"), open, REFUSED OTHERWISE},
        {"another number", OPEN DEFINED("small", "3"), open, REFUSED OTHERWISE},
        {"shared", OPEN DEFINED("shared", "2"), open, REFUSED OTHERWISE},
        {"another name", OPEN "head /=T1\ntree T1/%2F kind=system pool.other=small:2\n", open,
         REFUSED OTHERWISE},
        {"nothing stands", OPEN "head\n", open, REFUSED OTHERWISE},
        {"another tree stands", OPEN "head /=T2\ntree T1/%2F pool.main=small:2\n", open,
         REFUSED OTHERWISE},
        {"its system goes", "system state=deleting board_generation=E\n" DEFINED("small", "2"),
         open, REFUSED OTHERWISE},
        {"its system is pending", "system state=pending board_generation=E\n" DEFINED("small", "2"),
         open, REFUSED OTHERWISE},
        {"a service's own", OPEN "head /=T1\ntree T1/%2Fapi kind=service own=small:1\n",
         "open pool/u/%2Fapi%3A instance_type=small wanted=1",
         "open pool/u/%2Fapi%3A uid=u name=/api: instance_type=small wanted=1 epochs=1:small: "
         "state=pending message=waits for a converger to look at it since=1000s "
         "short_since=1000s system=shop"},
        {"of a service that has none", OPEN "head /=T1\ntree T1/%2Fapi kind=service pool=/:main\n",
         "open pool/u/%2Fapi%3A instance_type=small wanted=1",
         "ResourceConflict: node pool /api:: " OTHERWISE},
    };
    MOVES(rows);
    (void)state;
}

static void a_pool_follows_the_definition(void **state)
{
    static const struct system_move_row rows[] = {
        {"more cells", OPEN DEFINED("small", "3") POOL "stable 1=small:c1+c2\n",
         "adjust " KEY " wanted=3", "adjust " KEY " wanted=3 state=updating since=1000s "
         "short_since=1000s"},
        {"fewer cells", OPEN DEFINED("small", "1") POOL "stable 1=small:c1+c2\n",
         "adjust " KEY " wanted=1", "adjust " KEY " wanted=1 state=updating since=1000s"},
        {"so few that it is not short any more", OPEN DEFINED("small", "1") SHORT
         "failed 1=small:c1\n", "adjust " KEY " wanted=1",
         "adjust " KEY " wanted=1 state=updating since=1000s short_since=0"},
        {"as many", OPEN DEFINED("small", "2") POOL "stable 1=small:c1+c2\n",
         "adjust " KEY " wanted=2", "nothing"},
        {"another type is no adjustment", OPEN DEFINED("large", "3") POOL "stable 1=small:c1+c2\n",
         "adjust " KEY " wanted=3", REFUSED UNWANTED},
        {"none is there", OPEN DEFINED("small", "3"), "adjust " KEY " wanted=3",
         "ResourceNotFound: the requested resource could not be found"},
        {"another type: an epoch more", OPEN DEFINED("large", "3") POOL "stable 1=small:c1+c2\n",
         "renew " KEY " instance_type=large wanted=3",
         "renew " KEY " instance_type=large wanted=3 epochs=1:small:c1+c2,2:large:"
         " state=updating since=1000s short_since=1000s"},
        {"of that type already", OPEN DEFINED("small", "2") POOL "stable 1=small:c1+c2\n",
         "renew " KEY " instance_type=small wanted=2", "nothing"},
        {"back to a type that an older epoch has: that one again", OPEN DEFINED("small", "2")
         "pool /:main wanted=2 since=3 instance_type=large state=updating 1=small:c1 2=large:\n",
         "renew " KEY " instance_type=small wanted=2",
         "renew " KEY " instance_type=small epochs=2:large:,1:small:c1 short_since=1000s"},
        {"three epochs: the fourth", OPEN DEFINED("x", "2") POOL "updating 4=a: 5=b: 6=small:\n",
         "renew " KEY " instance_type=x wanted=2",
         "renew " KEY " instance_type=x epochs=4:a:,5:b:,6:small:,7:x: short_since=1000s"},
        {"four epochs are the most", OPEN DEFINED("x", "2")
         POOL "updating 4=a: 5=b: 6=c: 7=small:\n",
         "renew " KEY " instance_type=x wanted=2",
         REFUSED "it has 4 epochs, which is the most: it is renewed again when no service is on "
                 "one of the older ones"},
        {"being deleted", OPEN DEFINED("large", "3") POOL "deleting 1=small:c1\n",
         "renew " KEY " instance_type=large wanted=3", REFUSED UNWANTED},
    };
    MOVES(rows);
    (void)state;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void a_vacant_cell_is_assigned(void **state)
{
    static const char assign[] = "assign " KEY " cell_id=c1 epoch=1";
    static const char taken[] = "assign cell/c1 pool=" TAG "1\n"
                                "assign " KEY " epochs=1:small:c1+c2 short_since=0";
    static const struct system_move_row rows[] = {
        {"taken", OPEN SHORT "scaling 1=small:c2\n" FREE, assign, taken},
        {"it is short of another one yet", OPEN SHORT "scaling 1=small:\n" FREE, assign,
         "assign cell/c1 pool=" TAG "1\nassign " KEY " epochs=1:small:c1"},
        {"it has it", OPEN POOL "stable 1=small:c1+c2\n" FREE, assign, "nothing"},
        {"it has its cells", OPEN POOL "stable 1=small:c2+c3\n" SERVE("c2") SERVE("c3") FREE,
         assign, NOT_ASSIGNED},
        {"one of its cells is lost", OPEN POOL "stable 1=small:c2+c3\n" SERVE("c2") FREE, assign,
         "assign cell/c1 pool=" TAG "1\nassign " KEY " epochs=1:small:c1+c2+c3"},
        {"of an older epoch", OPEN SHORT "updating 1=small:c2 2=small:\n" FREE, assign,
         NOT_ASSIGNED},
        {"of no epoch of it", OPEN SHORT "scaling 2=small:\n" FREE, assign, NOT_ASSIGNED},
        {"of another type", OPEN SHORT "scaling 1=small:c2\ncell c1 type=large\n", assign,
         NOT_ASSIGNED},
        {"of no type", OPEN SHORT "scaling 1=small:c2\ncell c1\n", assign, NOT_ASSIGNED},
        {"with a tag of its own", OPEN SHORT "scaling 1=small:c2\ncell c1 type=small required=x\n",
         assign, NOT_ASSIGNED},
        {"lost", OPEN SHORT "scaling 1=small:c2\ncell c1 type=small lost=1\n", assign,
         NOT_ASSIGNED},
        {"being emptied", OPEN SHORT "scaling 1=small:c2\ncell c1 type=small evacuating\n", assign,
         NOT_ASSIGNED},
        {"in another pool", OPEN SHORT "scaling 1=small:c2\ncell c1 type=small pool=pool:u//:x#1\n",
         assign, NOT_ASSIGNED},
        {"gone", OPEN SHORT "scaling 1=small:c2\n", assign, NOT_ASSIGNED},
        {"an instance is on it", OPEN SHORT "scaling 1=small:c2\n" FREE "actual web cell=c1\n",
         assign, NOT_ASSIGNED},
        {"a task is on it", OPEN SHORT "scaling 1=small:c2\n" FREE "task t cell_id=c1\n", assign,
         NOT_ASSIGNED},
        {"a unit is on it", OPEN SHORT "scaling 1=small:c2\n" FREE
         "unit db/1 cell_id=c1\n", assign, NOT_ASSIGNED},
        {"those are on another one", OPEN SHORT "scaling 1=small:c2\n" FREE
         "actual web cell=c9\ntask t cell_id=c9\n", assign, taken},
        {"restored, and not confirmed", "system state=stable board_generation=D\n" SHORT
         "scaling 1=small:c2\n" FREE, assign, NOT_ASSIGNED},
        {"being deleted", OPEN SHORT "deleting 1=small:c2\n" FREE, assign, NOT_ASSIGNED},
        {"there is no such pool", OPEN FREE, assign,
         "ResourceNotFound: the requested resource could not be found"},
    };
    MOVES(rows);
    (void)state;
}

static void a_cell_that_is_spare_is_released(void **state)
{
    static const char release[] = "release " KEY " cell_id=c1 epoch=1";
    static const struct system_move_row rows[] = {
        {"one too many", OPEN POOL "scaling 1=small:c1+c2+c3\ncell c1 pool=" TAG "1\n", release,
         "release cell/c1 pool=\nrelease " KEY " epochs=1:small:c2+c3"},
        {"it needs it", OPEN POOL "stable 1=small:c1+c2\ncell c1 pool=" TAG "1\n", release,
         NOT_RELEASED},
        {"one too many, with an instance on it", OPEN POOL
         "scaling 1=small:c1+c2+c3\ncell c1 pool=" TAG "1\nactual web cell=c1\n", release,
         NOT_RELEASED},
        {"one too many, with a task on it", OPEN POOL
         "scaling 1=small:c1+c2+c3\ncell c1 pool=" TAG "1\ntask t cell_id=c1\n", release,
         NOT_RELEASED},
        {"lost, with nothing on it", OPEN POOL "stable 1=small:c1+c2\ncell c1 lost=1 pool=" TAG
         "1\n", release,
         "release cell/c1 pool=\nrelease " KEY " epochs=1:small:c2 short_since=1000s"},
        {"lost, with an instance that may run", OPEN POOL "stable 1=small:c1+c2\ncell c1 lost=1 "
         "pool=" TAG "1\nactual web cell=c1\n", release, NOT_RELEASED},
        {"emptied", OPEN POOL "stable 1=small:c1+c2\ncell c1 evacuating pool=" TAG "1\n", release,
         "release cell/c1 pool=\nrelease " KEY " epochs=1:small:c2 short_since=1000s"},
        {"gone", OPEN POOL "stable 1=small:c1+c2\n", release,
         "release " KEY " epochs=1:small:c2 short_since=1000s"},
        {"gone, and come back to another pool, with its work", OPEN POOL
         "stable 1=small:c1+c2\ncell c1 pool=pool:u//:x#1\nactual web cell=c1\n", release,
         "release " KEY " epochs=1:small:c2 short_since=1000s"},
        {"it has not", OPEN POOL "stable 1=small:c2\n", release, "nothing"},
        {"of an older epoch that is named yet", OPEN POOL
         "updating 1=small:c1 2=small:c2+c3\ncell c1 pool=" TAG "1\n", release, NOT_RELEASED},
        {"of an epoch that is over", OPEN POOL
         "updating 1=!small:c1+c4 2=small:c2+c3\ncell c1 pool=" TAG "1\n", release,
         "release cell/c1 pool=\nrelease " KEY " epochs=1:small:c4:released,2:small:c2+c3"},
        {"the last one", OPEN POOL
         "updating 1=!small:c1 2=small:c2+c3\ncell c1 pool=" TAG "1\n", release,
         "release cell/c1 pool=\nrelease " KEY " epochs=2:small:c2+c3"},
        {"of a pool that is deleted, over", OPEN POOL "deleting 1=!small:c1\ncell c1 pool=" TAG
         "1\n", release, "release cell/c1 pool=\nrelease " KEY " epochs="},
        {"of a pool that is deleted, named yet", OPEN POOL "deleting 1=small:c1\ncell c1 pool=" TAG
         "1\n", release, NOT_RELEASED},
        {"restored, and not confirmed", "system state=stable board_generation=D\n" POOL
         "scaling 1=small:c1+c2+c3\ncell c1 pool=" TAG "1\n", release, NOT_RELEASED},
        {"restored, and its system goes", "system state=deleting board_generation=D\n" POOL
         "scaling 1=small:c1+c2+c3\ncell c1 pool=" TAG "1\n", release,
         "release cell/c1 pool=\nrelease " KEY " epochs=1:small:c2+c3"},
        {"there is no such pool", OPEN, release, "nothing"},
    };
    MOVES(rows);
    (void)state;
}

/* What is too many with work on it takes nothing new, unless it is missed. */
static void a_cell_too_many_is_marked_and_kept(void **state)
{
    static const char mark[] = "mark " KEY " cell_id=c1 epoch=1";
    static const char keep[] = "keep " KEY " cell_id=c1 epoch=1";
    static const struct system_move_row rows[] = {
        {"one too many", OPEN POOL "scaling 1=small:c1+c2+c3\n" SERVE("c1") SERVE("c2")
         SERVE("c3") "actual web cell=c1\n", mark, "mark cell/c1 pool_leaves=1"},
        {"lost ones count", OPEN POOL "scaling 1=small:c1+c2+c3\n" SERVE("c1") SERVE("c2")
         "cell c3 lost=1 pool=" TAG "1\n", mark, "mark cell/c1 pool_leaves=1"},
        {"another one goes", OPEN POOL "scaling 1=small:c1+c2+c3\n" SERVE("c1") SERVE("c2")
         LEAVES("c3"), mark, NOT_MARKED},
        {"none too many", OPEN POOL "stable 1=small:c1+c2\n" SERVE("c1") SERVE("c2"), mark,
         NOT_MARKED},
        {"it goes already", OPEN POOL "scaling 1=small:c1+c2+c3\n" LEAVES("c1"), mark, "nothing"},
        {"of an older epoch", OPEN POOL "updating 1=small:c1+c2+c3 2=small:\n" SERVE("c1")
         SERVE("c2") SERVE("c3"), mark, NOT_MARKED},
        {"not the pool's", OPEN POOL "scaling 1=small:c1+c2+c3\n" FREE SERVE("c2") SERVE("c3")
         SERVE("c4"), mark, NOT_MARKED},
        {"not confirmed", "system state=stable board_generation=D\n" POOL
         "scaling 1=small:c1+c2+c3\n" SERVE("c1") SERVE("c2") SERVE("c3"), mark, NOT_MARKED},
        {"the pool goes", OPEN POOL "deleting 1=small:c1+c2+c3\n" SERVE("c1") SERVE("c2")
         SERVE("c3"), mark, NOT_MARKED},
        {"there is no such pool", OPEN, mark,
         "ResourceNotFound: the requested resource could not be found"},
        {"missed", OPEN POOL "stable 1=small:c1+c2\n" LEAVES("c1") SERVE("c2"), keep,
         "keep cell/c1 pool_leaves=0"},
        {"another one is lost", OPEN POOL "scaling 1=small:c1+c2+c3\n" LEAVES("c1") SERVE("c2")
         "cell c3 lost=1 pool=" TAG "1\n", keep, "keep cell/c1 pool_leaves=0"},
        {"it is lost itself", OPEN POOL "scaling 1=small:c1+c2\ncell c1 lost=1 pool_leaves pool="
         TAG "1\n" SERVE("c2"), keep, NOT_KEPT},
        {"enough stay", OPEN POOL "scaling 1=small:c1+c2+c3\n" LEAVES("c1") SERVE("c2")
         SERVE("c3"), keep, NOT_KEPT},
        {"it stays already", OPEN POOL "scaling 1=small:c1+c2\n" SERVE("c1"), keep, "nothing"},
        {"given back, it bears no mark", OPEN POOL "scaling 1=small:c1+c2+c3\n" LEAVES("c1"),
         "release " KEY " cell_id=c1 epoch=1",
         "release cell/c1 pool= pool_leaves=0\nrelease " KEY " epochs=1:small:c2+c3"},
    };
    MOVES(rows);
    (void)state;
}

/* ---- Epochs ---------------------------------------------------------------------------------- */

static void an_epoch_is_retired_when_nothing_names_it(void **state)
{
    static const char retire[] = "retire " KEY " epoch=1";
    static const char over[] = "retire " KEY " epochs=1:small:c1:released,2:small:c2+c3";
    static const struct system_move_row rows[] = {
        {"over", OPEN POOL "updating 1=small:c1 2=small:c2+c3\n", retire, over},
        {"over, without a cell", OPEN POOL "updating 1=small: 2=small:c2+c3\n", retire,
         "retire " KEY " epochs=2:small:c2+c3"},
        {"the newest", OPEN POOL "stable 1=small:c1\n", retire, NOT_RETIRED},
        {"over already", OPEN POOL "updating 1=!small:c1 2=small:c2+c3\n", retire, "nothing"},
        {"gone", OPEN POOL "updating 2=small:c2+c3\n", retire, "nothing"},
        {"a service is on it", OPEN POOL "updating 1=small:c1 2=small:c2+c3\n"
         "service /a state=updating target=h2 h1=1:/:main#1 h2=0:/:main#2\n", retire, NOT_RETIRED},
        {"a service is to be on it", OPEN POOL "updating 1=small:c1 2=small:c2+c3\n"
         "service /a state=updating target=h1 h1=0:/:main#1\n", retire, NOT_RETIRED},
        {"a service has left it", OPEN POOL "updating 1=small:c1 2=small:c2+c3\n"
         "service /a state=stable target=h2 h1=0:/:main#1 h2=3:/:main#2\n", retire, over},
        {"a service is on the same epoch of another pool", OPEN
         POOL "updating 1=small:c1 2=small:c2+c3\n"
         "service /a state=stable target=h1 h1=3:/:other#1\n", retire, over},
        {"a service that goes was to be on it", OPEN POOL "updating 1=small:c1 2=small:c2+c3\n"
         "service /a state=deleting target=h1 h1=0:/:main#1\n", retire, over},
        {"a service that goes is on it", OPEN POOL "updating 1=small:c1 2=small:c2+c3\n"
         "service /a state=deleting target=h1 h1=1:/:main#1\n", retire, NOT_RETIRED},
        {"a run is on it", OPEN POOL "updating 1=small:c1 2=small:c2+c3\n"
         "jobrun R state=running pool=/:main pool_epoch=1\n", retire, NOT_RETIRED},
        {"a run was on it", OPEN POOL "updating 1=small:c1 2=small:c2+c3\n"
         "jobrun R state=succeeded pool=/:main pool_epoch=1\n", retire, over},
        {"a run waits for the pool", OPEN POOL "updating 1=small:c1 2=small:c2+c3\n"
         "jobrun R state=pending pool=/:main\n", retire, over},
        {"the newest of a pool that is deleted", OPEN POOL "deleting 1=small:c1\n", retire,
         "retire " KEY " epochs=1:small:c1:released"},
        {"the same, without a cell", OPEN POOL "deleting 1=small:\n", retire,
         "retire " KEY " epochs="},
        {"restored, and not confirmed", "system state=stable board_generation=D\n" POOL
         "updating 1=small:c1 2=small:c2+c3\n", retire, NOT_RETIRED},
    };
    MOVES(rows);
    (void)state;
}

/* ---- How it is, and its end ------------------------------------------------------------------ */

static void a_pool_is_observed(void **state)
{
    static const struct system_move_row rows[] = {
        {"another state", POOL "pending 1=small:c1+c2\n" OPEN,
         "observe " KEY " state=stable revision=13",
         "observe " KEY " state=stable since=1000s"},
        {"the same, with another message", SHORT "scaling 1=small:c1\n" OPEN,
         "observe " KEY " state=scaling message=1_of_2_cells revision=13",
         "observe " KEY " message=1 of 2 cells"},
        {"the same", POOL "stable 1=small:c1+c2\n" OPEN,
         "observe " KEY " state=stable revision=13", "nothing"},
        {"another by now", POOL "stable 1=small:c1+c2\n" OPEN,
         "observe " KEY " state=failed revision=12", REFUSED "it is another by now: look again"},
        {"no state that is seen", POOL "stable 1=small:c1+c2\n" OPEN,
         "observe " KEY " state=pending revision=13",
         REFUSED "no state of a node pool, or it is being deleted"},
        {"being deleted", POOL "deleting 1=small:c1+c2\n" OPEN,
         "observe " KEY " state=stable revision=13",
         REFUSED "no state of a node pool, or it is being deleted"},
    };
    MOVES(rows);
    (void)state;
}

static void a_pool_that_nobody_wants_goes(void **state)
{
    static const char gone[] =
        "delete " KEY " state=deleting message=its cells are given back when nothing is on them "
        "since=1000s";
    static const struct system_move_row rows[] = {
        {"the definition has none", OPEN "head /=T1\ntree T1/%2F kind=system\n" POOL
         "stable 1=small:c1+c2\n", "delete " KEY, gone},
        {"nothing stands", OPEN "head\n" POOL "stable 1=small:c1+c2\n", "delete " KEY, gone},
        {"it is shared by now", OPEN DEFINED("shared", "2") POOL "stable 1=small:c1+c2\n",
         "delete " KEY, gone},
        {"its system goes", "system state=deleting\n" DEFINED("small", "2") POOL
         "stable 1=small:c1+c2\n", "delete " KEY, gone},
        {"the definition has it", OPEN DEFINED("small", "9") POOL "stable 1=small:c1+c2\n",
         "delete " KEY, REFUSED "the definition that stands wants it"},
        {"the definition has it with another type", OPEN DEFINED("large", "9") POOL
         "stable 1=small:c1+c2\n", "delete " KEY, REFUSED "the definition that stands wants it"},
        {"going already", OPEN "head\n" POOL "deleting 1=small:c1+c2\n", "delete " KEY, "nothing"},
        {"gone", OPEN "head\n", "delete " KEY, "nothing"},
        {"removed", OPEN POOL "deleting\n", "remove " KEY, "remove -" KEY},
        {"it has an epoch", OPEN POOL "deleting 1=!small:c1\n", "remove " KEY,
         REFUSED "it is not being deleted, or has an epoch yet"},
        {"it is not being deleted", OPEN POOL "stable\n", "remove " KEY,
         REFUSED "it is not being deleted, or has an epoch yet"},
    };
    MOVES(rows);
    (void)state;
}

/* ---- What names a pool ----------------------------------------------------------------------- */

/* A service at /a that a deploy targets: the tag that what it runs bears, "" = none; or why it is
 * refused. */
static void a_service_bears_the_tag_of_the_newest_epoch(void **state)
{
#define API "hold D1=/\ntree T1/%2Fa kind=service path=/a run=x:y hash=h pool=/:main\n"
#define OWN "hold D1=/\nhead /=T1\ntree T1/%2Fa kind=service path=/a run=x:y hash=h own="
    static const struct {
        const char *rule, *board, *name, *tag, *refusal;
        unsigned epoch;
    } rows[] = {
        {"the only one", OPEN DEFINED("small", "2") API POOL "stable 1=small:c1+c2\n", "/:main",
         TAG "1", NULL, 1},
        {"before it has its cells", OPEN DEFINED("small", "2") API POOL "pending 1=small:\n",
         "/:main", TAG "1", NULL, 1},
        {"the newest", OPEN DEFINED("small", "2") API POOL "updating 1=large:c1 2=small:\n",
         "/:main", TAG "2", NULL, 2},
        {"shared cells", OPEN DEFINED("shared", "0") API, "", "", NULL, 0},
        {"shared cells, and the pool that was goes yet", OPEN DEFINED("shared", "0") API
         POOL "stable 1=small:c1\n", "", "", NULL, 0},
        {"its own", OPEN OWN "small:1\npool /a: instance_type=small state=stable 3=small:c1\n",
         "/a:", "pool:u//a:#3", NULL, 3},
        {"its own are shared cells", OPEN OWN "shared:0\n", "", "", NULL, 0},
        {"not there yet", OPEN DEFINED("small", "2") API, NULL, NULL,
         "/a: node pool /:main is not there yet", 0},
        {"being deleted", OPEN DEFINED("small", "2") API POOL "deleting 1=small:c1\n", NULL, NULL,
         "/a: node pool /:main is being deleted: it is made again after that", 0},
        {"to be renewed first", OPEN DEFINED("large", "2") API POOL "stable 1=small:c1\n", NULL,
         NULL, "/a: node pool /:main gets cells of type large first", 0},
        {"in no definition", OPEN "head /=T1\ntree T1/%2F kind=system\n" API
         POOL "stable 1=small:c1\n", NULL, NULL,
         "/a: no definition that stands has node pool /:main", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct laid_system l;
        struct laid_plan p;
        struct random random;
        laid_system_init(&l, rows[i].board);
        random_seed(&random, (uint64_t[2]){1, 2});
        const Board__Move *m =
            laid_system_move(&l, &service_moves, "target service/u/%2Fa holder=D1 tree=T1");
        struct op_input in = {.actor = ACTOR_CONVERGER, .peer_name = "x", .trace_id = "",
                              .boot_id = "boot", .request = &m->base};
        laid_decide(l.board, move_row_named(&service_moves, "target")->op, &in, &l.arena, &p);
        if (p.plan.verdict != (rows[i].refusal ? PLAN_REFUSE : PLAN_COMMIT)) {
            fail_msg("%s: %s", rows[i].rule, laid_system_print(&l, &p.plan));
        }
        for (const struct change *c = p.plan.changes; c && !rows[i].refusal; c = c->next) {
            const Models__DesiredLRP *lrp = (const Models__DesiredLRP *)c->message;
            const Board__ServiceRecord *s = (const Board__ServiceRecord *)c->message;
            if (key_type(c->key) == RECORD_REVISION) {
                assert_string_equal(lrp->n_placementtags ? lrp->placementtags[0] : "",
                                    rows[i].tag);
            } else {
                assert_string_equal(s->pool, rows[i].name);
                assert_string_equal(s->revisions[0]->pool, rows[i].name);
                assert_int_equal(s->revisions[0]->pool_epoch, rows[i].epoch);
            }
        }
        assert_true(!rows[i].refusal || strcmp(p.plan.error_message, rows[i].refusal) == 0);
        laid_system_done(&l);
    }
    (void)state;
#undef API
#undef OWN
}

/* ---- The bound of cells ---------------------------------------------------------------------- */

/* With as many cells in an older epoch as leave one, or none. */
static void a_pool_has_256_cells_at_most(void **state)
{
    for (int rest = 1; rest >= 0; rest--) {
        SCOPED_BUF(board);
        buf_append_string(&board, OPEN FREE "pool /:main wanted=256 short_since=4 since=3 "
                                  "instance_type=small state=updating 1=small:");
        for (int i = 0; i < POOL_CELLS_MAX - rest; i++) {
            buf_printf(&board, "%sx%03d", i ? "+" : "", i);
        }
        buf_append_string(&board, " 2=small:\n");
        struct laid_system l;
        laid_system_init(&l, buf_string(&board));
        const Board__Move *m =
            laid_system_move(&l, &pool_moves, "assign " KEY " cell_id=c1 epoch=2");
        struct laid_plan p;
        struct op_input in = {.actor = ACTOR_CONVERGER, .peer_name = "x", .trace_id = "",
                              .boot_id = "boot", .request = &m->base};
        laid_decide(l.board, move_row_named(&pool_moves, "assign")->op, &in, &l.arena, &p);
        assert_int_equal(p.plan.verdict == PLAN_COMMIT, rest == 1);
        assert_true(rest == 1 || strstr(p.plan.error_message, "256 cells, which is the most"));
        laid_system_done(&l);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_is_opened_as_the_definition_has_it),
        cmocka_unit_test(a_pool_follows_the_definition),
        cmocka_unit_test(a_vacant_cell_is_assigned),
        cmocka_unit_test(a_cell_that_is_spare_is_released),
        cmocka_unit_test(a_cell_too_many_is_marked_and_kept),
        cmocka_unit_test(an_epoch_is_retired_when_nothing_names_it),
        cmocka_unit_test(a_pool_is_observed),
        cmocka_unit_test(a_pool_that_nobody_wants_goes),
        cmocka_unit_test(a_service_bears_the_tag_of_the_newest_epoch),
        cmocka_unit_test(a_pool_has_256_cells_at_most),
    };
    return cmocka_run_group_tests_name("node pools", tests, NULL, NULL);
}
