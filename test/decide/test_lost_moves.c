/* What happens when a cell is lost: lose, the mass-loss limiter, suspect, resolve, vacate, and what
 * the other moves do beside a SUSPECT record: rows of before, when, plan. The numbers are those of
 * the rules in bbs/cell/lose.c, limiter.c, bbs/lrp/suspect.c, resolve.c, vacate.c. */
#include "bbs/limiter/limiter.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define O "actual/web/0000000001/0"
#define E "actual/web/0000000001/1"
#define S "actual/web/0000000001/2"
#define LEADER_LOCK "holder=h term=5"
#define TERM " term=5 role=converger board_generation=E"
#define FRESH "ttl=60 left=30 seen=5"
#define PRESENT "present incarnation=7"
#define LOST "lost incarnation=7"
#define RUN(cases) run_move_cases(cases, sizeof(cases) / sizeof((cases)[0]))
#define ROW(text) text, ACTOR_CONVERGER, .leader_lock = LEADER_LOCK
#define DEPOSED                                                                                    \
    "refuse ResourceConflict: term 5 of the converger is over: the board's is 6\n"

static void loses(void **state)
{
#define HELD_TEXT "refuse ResourceConflict: cell c1 is held by the mass-loss limiter\n"
#define LOSES "put cell/c1 lose by converger -> LOST incarnation=7 since=1000\n"
    static const char lose[] = "lose cell=c1 incarnation=7" TERM;
    static const struct move_case cases[] = {
        {ROW("1 no such cell"), .move = lose, .plan = "nothing\n"},
        {ROW("1 lost already"), .cell = LOST, .move = lose, .plan = "nothing\n"},
        {ROW("2 it came back with another incarnation"), .cell = "present incarnation=8",
         .move = lose,
         .plan = "refuse ResourceConflict: incarnation 7 of cell c1 is over: the board's is 8\n"},
        {ROW("2 an older one"), .cell = "present incarnation=6", .move = lose,
         .plan = "refuse ResourceConflict: incarnation 7 of cell c1 is over: the board's is 6\n"},
        {ROW("2 held"), .cell = PRESENT, .limiter = "HELD cells=c0:1,c1:7", .move = lose,
         .plan = HELD_TEXT},
        {ROW("2 held with an older incarnation"), .cell = PRESENT, .limiter = "HELD cells=c1:6",
         .move = lose, .plan = HELD_TEXT},
        {ROW("2 kept"), .cell = PRESENT, .limiter = "KEPT cells=c1:7", .move = lose,
         .plan = HELD_TEXT},
        {ROW("2 held although its time is over: release comes first"), .cell = PRESENT,
         .limiter = "HELD cells=c1:7 until=10", .move = lose, .plan = HELD_TEXT},
        {ROW("3"), .cell = PRESENT, .move = lose, .plan = LOSES},
        {ROW("3 others are held"), .cell = PRESENT, .limiter = "HELD cells=c2:7", .move = lose,
         .plan = LOSES},
        {ROW("3 released"), .cell = PRESENT, .limiter = "RELEASED cells=c1:7", .move = lose,
         .plan = LOSES},
        {ROW("3 since does not fall"), .cell = "present incarnation=7 since=1200", .move = lose,
         .plan = "put cell/c1 lose by converger -> LOST incarnation=7 since=1200\n"},
        {"a deposed leader", ACTOR_CONVERGER, .leader_lock = "holder=h term=6", .cell = PRESENT,
         .move = lose, .plan = DEPOSED},
    };
    RUN(cases);
}

static void limiters(void **state)
{
#define LIMITERS "put brake/cells hold by converger"
    static const struct move_case cases[] = {
        {ROW("1 none, no cells"), .move = "hold" TERM, .plan = "nothing\n"},
        {ROW("1 held, no cells left"), .limiter = "HELD cells=c1:7 until=1050", .move = "hold" TERM,
         .plan = "delete brake/cells hold by converger\n"},
        {ROW("1 kept, no cells left"), .limiter = "KEPT cells=c1:7", .move = "hold" TERM,
         .plan = "delete brake/cells hold by converger\n"},
        {ROW("1 released, no cells left"), .limiter = "RELEASED cells=c1:7", .move = "hold" TERM,
         .plan = "delete brake/cells hold by converger\n"},
        {ROW("2"), .limiter = "HELD cells=c1:7,c2:8 until=1050",
         .move = "hold cells=c1:7,c2:8" TERM, .plan = "nothing\n"},
        {ROW("2 released"), .limiter = "RELEASED cells=c1:7", .move = "hold cells=c1:7" TERM,
         .plan = "nothing\n"},
        {ROW("3 none stood"), .move = "hold cells=c1:7,c2:8" TERM,
         .plan = LIMITERS " -> HELD c1:7 c2:8 since=1000 until=1060\n"},
        {ROW("3 others fell silent after it was released"),
         .limiter = "RELEASED cells=c1:7 since=900", .move = "hold cells=c1:7,c2:8" TERM,
         .plan = LIMITERS " -> HELD c1:7 c2:8 since=1000 until=1060\n"},
        {ROW("3 since does not fall"), .limiter = "RELEASED cells=c1:7 since=1200",
         .move = "hold cells=c2:8" TERM, .plan = LIMITERS " -> HELD c2:8 since=1200 until=1060\n"},
        {ROW("4 one more is held"), .limiter = "HELD cells=c1:7 since=990 until=1050",
         .move = "hold cells=c1:7,c2:8" TERM,
         .plan = LIMITERS " -> HELD c1:7 c2:8 since=990 until=1050\n"},
        {ROW("4 one came back"), .limiter = "HELD cells=c1:7,c2:8 since=990 until=1050",
         .move = "hold cells=c2:8" TERM, .plan = LIMITERS " -> HELD c2:8 since=990 until=1050\n"},
        {ROW("4 the same cell with another incarnation"),
         .limiter = "HELD cells=c1:7 since=990 until=1050", .move = "hold cells=c1:8" TERM,
         .plan = LIMITERS " -> HELD c1:8 since=990 until=1050\n"},
        {ROW("4 kept, one more"), .limiter = "KEPT cells=c1:7 since=990",
         .move = "hold cells=c1:7,c2:8" TERM,
         .plan = LIMITERS " -> KEPT c1:7 c2:8 since=990 until=0\n"},
        {ROW("4 released, the first of three is lost"),
         .limiter = "RELEASED cells=c1:7,c2:8,c3:9 since=990", .move = "hold cells=c2:8,c3:9" TERM,
         .plan = LIMITERS " -> RELEASED c2:8 c3:9 since=990 until=0\n"},
        {"a deposed leader", ACTOR_CONVERGER, .leader_lock = "holder=h term=6",
         .move = "hold cells=c1:7" TERM, .plan = DEPOSED},
    };
    RUN(cases);
}

static void releases(void **state)
{
    static const struct move_case cases[] = {
        {ROW("1 none"), .move = "release" TERM, .plan = "nothing\n"},
        {ROW("1 released"), .limiter = "RELEASED cells=c1:7", .move = "release" TERM,
         .plan = "nothing\n"},
        {ROW("2 a second too early"), .limiter = "HELD cells=c1:7 until=1001",
         .move = "release" TERM,
         .plan = "refuse ResourceConflict: the mass-loss limiter holds for some time yet\n"},
        {ROW("2 kept"), .limiter = "KEPT cells=c1:7", .move = "release" TERM,
         .plan = "refuse ResourceConflict: the mass-loss limiter is kept until confirmed\n"},
        {ROW("3 just due"), .limiter = "HELD cells=c1:7 since=940 until=1000",
         .move = "release" TERM,
         .plan = "put brake/cells release by converger -> RELEASED c1:7 since=1000 until=0\n"},
        {"a deposed leader", ACTOR_CONVERGER, .leader_lock = "holder=h term=6",
         .limiter = "HELD cells=c1:7 until=1000", .move = "release" TERM, .plan = DEPOSED},
    };
    RUN(cases);
}

static void words(void **state)
{
    static const struct {
        const char *name;
        const char *stands;
        bool confirm, keep;
        const char *plan;
    } rows[] = {
        {"1 looked at", "HELD cells=c1:7", false, false, "nothing\n"},
        {"1 none, looked at", NULL, false, false, "nothing\n"},
        {"2 confirm", NULL, true, false, "refuse ResourceNotFound: no cell is held\n"},
        {"2 keep", NULL, false, true, "refuse ResourceNotFound: no cell is held\n"},
        {"3", "RELEASED cells=c1:7", false, true,
         "refuse ResourceConflict: the mass-loss limiter is released: its cells are being lost\n"},
        {"4 kept", "KEPT cells=c1:7", false, true, "nothing\n"},
        {"4 released", "RELEASED cells=c1:7", true, false, "nothing\n"},
        {"5 keep", "HELD cells=c1:7 since=990 until=1050", false, true,
         "put brake/cells keep by client -> KEPT c1:7 since=1000 until=0\n"},
        {"5 confirm", "HELD cells=c1:7 since=990 until=1050", true, false,
         "put brake/cells confirm by client -> RELEASED c1:7 since=1000 until=0\n"},
        {"5 confirm what was kept", "KEPT cells=c1:7 since=990", true, false,
         "put brake/cells confirm by client -> RELEASED c1:7 since=1000 until=0\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct plan plan;
        SCOPED_BUF(printed);
        struct random random;
        plan_init(&plan, &a);
        Board__LimiterRequest r = BOARD__LIMITER_REQUEST__INIT;
        r.confirm = rows[i].confirm;
        r.keep = rows[i].keep;
        struct limiter_word_snapshot s = {
            .limiter = rows[i].stands ? row_limiter(&a, rows[i].stands) : NULL};
        struct op_input in = row_input(ACTOR_CLIENT, &random, &r.base);
        limiter_word_decide(&s, &in, &plan);
        print_plan(&plan, &printed);
        if (strcmp(buf_string(&printed), rows[i].plan) != 0) {
            fail_msg("%s\nexpected:\n%sgot:\n%s", rows[i].name, rows[i].plan,
                     buf_string(&printed));
        }
        assert_true((plan.record != NULL) == (rows[i].stands != NULL)); /* what the answer shows */
    }
}

static void limiters_are_validated(void **state)
{
    static const struct {
        const char *cells;
        bool good;
    } rows[] = {
        {"", true},           {"c1:1", true},       {"c1:1,c2:1", true},  {"c2:1,c1:1", false},
        {"c1:1,c1:1", false}, {"c1:0", false},      {"c1:1,c2:0", false}, {":1", false},
    };
    SCOPED_ARENA(a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct validation v = {0};
        move_row_named(&limiter_moves, "hold")
            ->valid(&v, row_move(&a, arena_printf(&a, "hold cells=%s", rows[i].cells)));
        assert_int_equal(validation_ok(&v), rows[i].good);
        validation_done(&v);
    }
    Board__LimiterMove many = BOARD__LIMITER_MOVE__INIT;
    Board__Move *whole = move_new(&a, "hold", key_brake(&a));
    whole->body_case = BOARD__MOVE__BODY_LIMITER;
    whole->limiter = &many;
    many.cells = ARENA_ARRAY(&a, LIMITER_CELLS_MAX + 1, Board__CellHeartbeat *);
    for (many.n_cells = 0; many.n_cells <= LIMITER_CELLS_MAX; many.n_cells++) {
        many.cells[many.n_cells] = arena_message(&a, &board__cell_heartbeat__descriptor);
        many.cells[many.n_cells]->cell_id = arena_printf(&a, "c%05zu", many.n_cells);
        many.cells[many.n_cells]->incarnation = 1;
    }
    for (size_t over = 0; over < 2; over++) {
        struct validation v = {0};
        many.n_cells = LIMITER_CELLS_MAX + over;
        move_row_named(&limiter_moves, "hold")->valid(&v, whole);
        assert_int_equal(validation_ok(&v), !over);
        validation_done(&v);
    }
    struct validation v = {0};
    move_row_named(&cell_moves, "lose")->valid(&v, row_move(&a, "lose"));
    assert_string_equal(validation_text(&v), "Invalid field: cell_id, Invalid field: incarnation");
    validation_done(&v);
}

static void suspects(void **state)
{
#define NEW "put " O " suspect by converger -> UNCLAIMED since=1000 new/0\nnotice start web 1..2\n"
#define CANNOT                                                                                     \
    "refuse ResourceConflict: web/1 has no instance on an absent cell, is not desired, or waits "  \
    "for its cell\n"
    static const char suspect[] = "suspect" TERM;
    static const struct move_case cases[] = {
        {ROW("1"), .desired = "instances=2", .move = suspect, .plan = "nothing\n"},
        {ROW("2 UNCLAIMED"), .ordinary = "UNCLAIMED", .desired = "instances=2", .move = suspect,
         .plan = CANNOT},
        {ROW("2 CRASHED"), .ordinary = "CRASHED crash=3", .desired = "instances=2", .move = suspect,
         .plan = CANNOT},
        {ROW("2 its cell is back"), .ordinary = "RUNNING a@c1", .cell = "present incarnation=8",
         .desired = "instances=2", .move = suspect, .plan = CANNOT},
        {ROW("2 its cell is back, marked"), .ordinary = "RUNNING a@c1 stopping",
         .cell = "present incarnation=8", .desired = "instances=2", .move = suspect,
         .plan = CANNOT},
        {ROW("2 not desired"), .ordinary = "RUNNING a@c1", .cell = LOST, .move = suspect,
         .plan = CANNOT},
        {ROW("2 the index is not"), .ordinary = "RUNNING a@c1", .cell = LOST,
         .desired = "instances=1", .move = suspect, .plan = CANNOT},
        {ROW("2 it is to wait"), .ordinary = "RUNNING a@c1", .cell = LOST,
         .desired = "instances=2 hold", .move = suspect, .plan = CANNOT},
        {ROW("2 a replacement that is to wait"), .ordinary = "CLAIMED a@c1",
         .suspect = "RUNNING b@c2", .cell = LOST, .desired = "instances=2 hold", .move = suspect,
         .plan = CANNOT},
        {ROW("3 not desired any more"), .ordinary = "RUNNING a@c1 stopping", .cell = LOST,
         .move = suspect, .plan = "delete " O " suspect by converger\n"},
        {ROW("3 desired again"), .ordinary = "CLAIMED a@c1 stopping", .cell = LOST,
         .desired = "instances=2", .move = suspect, .plan = NEW},
        {ROW("3 though it was to wait"), .ordinary = "RUNNING a@c1 stopping", .cell = LOST,
         .desired = "instances=2 hold", .move = suspect, .plan = NEW},
        {ROW("3 the replacement of a SUSPECT one"), .ordinary = "RUNNING a@c1 stopping",
         .suspect = "RUNNING b@c2", .cell = LOST, .desired = "instances=2", .move = suspect,
         .plan = NEW},
        {ROW("4 RUNNING"), .ordinary = "RUNNING a@c1 zone=z crash=2", .suspect = "RUNNING b@c2",
         .cell = LOST, .desired = "instances=2", .move = suspect,
         .plan = "put " O " suspect by converger -> UNCLAIMED crash=2 zone=z routable since=1000 "
                 "E/5\nnotice start web 1..2\n"},
        {ROW("4 CLAIMED, the cell has no record"), .ordinary = "CLAIMED a@c1",
         .suspect = "CLAIMED b@c2", .desired = "instances=2", .move = suspect,
         .plan = "put " O " suspect by converger -> UNCLAIMED since=1000 E/5\n"
                 "notice start web 1..2\n"},
        {ROW("5 RUNNING"), .ordinary = "RUNNING a@c1 since=100 crash=2 def=D1 zone=z address=1",
         .cell = LOST, .desired = "instances=2 def=D1", .move = suspect,
         .plan = "put " S " suspect by converger -> RUNNING a@c1 crash=2 def=D1 zone=z address=1 "
                 "routable since=100 E/4\n" NEW},
        {ROW("5 CLAIMED, the cell has no record"), .ordinary = "CLAIMED a@c1 since=100",
         .desired = "instances=2", .move = suspect,
         .plan = "put " S " suspect by converger -> CLAIMED a@c1 since=100 E/4\n" NEW},
        {ROW("5 beside an EVACUATING one"), .ordinary = "CLAIMED a@c1 since=100",
         .evacuating = "RUNNING b@c2", .cell = LOST, .desired = "instances=2", .move = suspect,
         .plan = "put " S " suspect by converger -> CLAIMED a@c1 since=100 E/4\n" NEW},
        {"a deposed leader", ACTOR_CONVERGER, .leader_lock = "holder=h term=6",
         .ordinary = "RUNNING a@c1", .cell = LOST, .desired = "instances=2", .move = suspect,
         .plan = DEPOSED},
    };
    RUN(cases);
}

static void resolves(void **state)
{
#define WAITS                                                                                      \
    "refuse ResourceConflict: the SUSPECT instance of web/1 waits for its replacement or its "     \
    "cell\n"
#define GOES "delete " S " resolve by converger\n"
#define TOLD "notice stop web a at c1\n"
#define BACK(text) "put " O " resolve by converger -> " text "\n" GOES
    static const char resolve[] = "resolve" TERM;
    static const struct move_case cases[] = {
        {ROW("1"), .ordinary = "RUNNING b@c2", .desired = "instances=2", .move = resolve,
         .plan = "nothing\n"},
        {ROW("2 its cell is lost"), .ordinary = "RUNNING b@c2", .suspect = "RUNNING a@c1",
         .cell = LOST, .desired = "instances=2", .move = resolve, .plan = GOES TOLD},
        {ROW("2 its cell is back"), .ordinary = "RUNNING b@c2", .suspect = "RUNNING a@c1",
         .cell = PRESENT, .desired = "instances=2", .move = resolve, .plan = GOES TOLD},
        {ROW("2 of the same instance, which runs on"), .ordinary = "RUNNING a@c1",
         .suspect = "RUNNING a@c1", .cell = PRESENT, .desired = "instances=2", .move = resolve,
         .plan = GOES},
        {ROW("2 CLAIMED, not desired, stale"), .ordinary = "RUNNING b@c2",
         .suspect = "CLAIMED a@c1", .cell = LOST, .move = resolve, .plan = GOES TOLD},
        {ROW("3 no ORDINARY one"), .suspect = "RUNNING a@c1 since=100 def=D1", .cell = PRESENT,
         .desired = "instances=2", .move = resolve,
         .plan = BACK("RUNNING a@c1 def=D1 routable since=100 E/4")},
        {ROW("3 UNCLAIMED"), .ordinary = "UNCLAIMED since=900", .suspect = "RUNNING a@c1 since=100",
         .cell = PRESENT, .desired = "instances=2", .move = resolve,
         .plan = BACK("RUNNING a@c1 routable since=100 E/4")},
        {ROW("3 CLAIMED by another, which hears"), .ordinary = "CLAIMED b@c2",
         .suspect = "CLAIMED a@c1 since=100", .cell = PRESENT, .desired = "instances=2",
         .move = resolve, .plan = BACK("CLAIMED a@c1 since=100 E/4") "notice stop web b at c2\n"},
        {ROW("3 CLAIMED by another, it runs"), .ordinary = "CLAIMED b@c2",
         .suspect = "RUNNING a@c1 since=100", .cell = PRESENT, .desired = "instances=2",
         .move = resolve,
         .plan = BACK("RUNNING a@c1 routable since=100 E/4") "notice stop web b at c2\n"},
        {ROW("3 CRASHED"), .ordinary = "CRASHED crash=3", .suspect = "CLAIMED a@c1 since=100",
         .cell = PRESENT, .desired = "instances=2", .move = resolve,
         .plan = BACK("CLAIMED a@c1 since=100 E/4")},
        {ROW("3 marked: its rep is to see the mark"), .suspect = "RUNNING a@c1 since=100 stopping",
         .cell = PRESENT, .move = resolve,
         .plan = BACK("RUNNING a@c1 routable since=100 E/4 stopping")},
        {ROW("3 not desired, fresh: the next stop is about it"),
         .suspect = "RUNNING a@c1 since=100", .cell = PRESENT, .domain = FRESH, .move = resolve,
         .plan = BACK("RUNNING a@c1 routable since=100 E/4")},
        {ROW("4 marked, not desired, stale"), .suspect = "RUNNING a@c1 stopping", .cell = LOST,
         .move = resolve, .plan = GOES TOLD},
        {ROW("4 marked, desired again"), .ordinary = "UNCLAIMED",
         .suspect = "RUNNING a@c1 stopping", .cell = LOST, .desired = "instances=2",
         .move = resolve, .plan = GOES TOLD},
        {ROW("4 not desired, fresh"), .suspect = "CLAIMED a@c1", .domain = FRESH, .move = resolve,
         .plan = GOES TOLD},
        {ROW("5 not desired, stale"), .suspect = "RUNNING a@c1", .cell = LOST, .move = resolve,
         .plan = WAITS},
        {ROW("5 not desired, the domain has just expired"), .suspect = "RUNNING a@c1", .cell = LOST,
         .domain = "ttl=60 left=0 seen=5", .move = resolve, .plan = WAITS},
        {ROW("5 the replacement is CLAIMED"), .ordinary = "CLAIMED b@c2", .suspect = "RUNNING a@c1",
         .cell = LOST, .desired = "instances=2", .domain = FRESH, .move = resolve, .plan = WAITS},
        {ROW("5 its state is of a newer version"), .ordinary = "NEWER b@c2",
         .suspect = "RUNNING a@c1", .cell = PRESENT, .desired = "instances=2", .move = resolve,
         .plan = WAITS},
        {"a deposed leader", ACTOR_CONVERGER, .leader_lock = "holder=h term=6",
         .suspect = "RUNNING a@c1", .cell = PRESENT, .move = resolve, .plan = DEPOSED},
    };
    RUN(cases);
}

static void vacates(void **state)
{
    static const struct move_case cases[] = {
        {ROW("1"), .ordinary = "RUNNING b@c2", .cell = LOST, .move = "vacate" TERM,
         .plan = "nothing\n"},
        {ROW("2"), .evacuating = "RUNNING a@c1", .cell = PRESENT, .move = "vacate" TERM,
         .plan = "refuse ResourceConflict: the cell of the EVACUATING instance of web/1 is "
                 "present\n"},
        {ROW("3 lost"), .ordinary = "UNCLAIMED", .evacuating = "RUNNING a@c1", .cell = LOST,
         .move = "vacate" TERM, .plan = "delete " E " vacate by converger\n"},
        {ROW("3 the cell has no record"), .evacuating = "RUNNING a@c1", .move = "vacate" TERM,
         .plan = "delete " E " vacate by converger\n"},
        {"a deposed leader", ACTOR_CONVERGER, .leader_lock = "holder=h term=6",
         .evacuating = "RUNNING a@c1", .move = "vacate" TERM, .plan = DEPOSED},
    };
    RUN(cases);
}

/* behaviour.md 12: what its rep says of a SUSPECT instance, and what others do beside it. */
static void beside_a_suspect_one(void **state)
{
#define REP(text) text, ACTOR_REP, .cell = PRESENT
#define OWN " a@c1 incarnation=7 def=D1"
    static const struct move_case cases[] = {
        {REP("its rep claims: ignored"), .ordinary = "UNCLAIMED", .suspect = "CLAIMED a@c1 def=D1",
         .desired = "instances=2 def=D1", .move = "claim" OWN, .plan = "nothing\n"},
        {REP("its rep starts: ignored"), .ordinary = "CLAIMED b@c2 def=D1",
         .suspect = "RUNNING a@c1 def=D1", .desired = "instances=2 def=D1", .move = "start" OWN,
         .plan = "nothing\n"},
        {REP("its process ends: it goes, nothing is counted"), .ordinary = "UNCLAIMED",
         .suspect = "RUNNING a@c1 def=D1 crash=2", .desired = "instances=2 def=D1",
         .move = "crash error=E" OWN, .plan = "delete " S " crash by rep\n"},
        {REP("its rep has stopped it"), .ordinary = "UNCLAIMED", .suspect = "RUNNING a@c1 def=D1",
         .desired = "instances=2 def=D1", .move = "remove presence=2" OWN,
         .plan = "delete " S " remove by rep\n"},
        {REP("its rep has stopped what was marked: the ORDINARY one is untouched"),
         .ordinary = "RUNNING b@c2 def=D1", .suspect = "RUNNING a@c1 def=D1 stopping",
         .desired = "instances=2 def=D1", .move = "remove presence=2" OWN,
         .plan = "delete " S " remove by rep\n"},
        {REP("the replacement is claimed"), .ordinary = "UNCLAIMED",
         .suspect = "RUNNING b@c2 def=D1", .desired = "instances=2 def=D1", .move = "claim" OWN,
         .plan = "put " O " claim by rep -> CLAIMED a@c1 def=D1 since=1000 E/5\n"},
        {REP("the replacement runs: the SUSPECT one goes"), .ordinary = "CLAIMED a@c1 def=D1",
         .suspect = "RUNNING b@c2 def=D1", .desired = "instances=2 def=D1", .move = "start" OWN,
         .plan = "put " O " start by rep -> RUNNING a@c1 def=D1 routable since=1000 E/5\n"
                 "delete " S " replace by rep\n"},
        {REP("the replacement crashes: the SUSPECT one stays"), .ordinary = "RUNNING a@c1 def=D1",
         .suspect = "RUNNING b@c2 def=D1", .desired = "instances=2 def=D1",
         .move = "crash error=E" OWN,
         .plan =
             "put " O " crash by rep -> UNCLAIMED crash=1 reason=E routable since=1000 E/5 (E)\n"
             "notice start web 1..2\n"},
    };
    RUN(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loses),    cmocka_unit_test(limiters),
        cmocka_unit_test(releases), cmocka_unit_test(words),
        cmocka_unit_test(suspects), cmocka_unit_test(resolves),
        cmocka_unit_test(vacates),  cmocka_unit_test(beside_a_suspect_one),
        cmocka_unit_test(limiters_are_validated),
    };
    return cmocka_run_group_tests_name("cells lost", tests, NULL, NULL);
}
