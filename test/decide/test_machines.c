/* Where units are placed, and the machines that take them, rule by rule (bbs/units/assign.c,
 * machine.c). */
#include "bbs/units/units.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

#define TRY(family, rows) try_unit_moves(&family, rows, sizeof(rows) / sizeof((rows)[0]))

#define GENERATION "epoch/E id=E\n" /* before all that stands below it */
#define U "web/0000000003"
#define WAITS "unit/" U " service=web number=3 guid=g3 service_guid=s-web place=unassigned state="
#define UNIT GENERATION WAITS "alive\n"
#define NEEDS(needs) GENERATION WAITS "alive needs." needs "\n"
#define CELL "machine_cell/c1 number=1 cell_id=c1\n"
#define M "machine/0000000001"
#define OWN M " number=1 guid=m1 cell_id=c1 identity=I"
#define IS(rest) OWN " host_units=1 state=" rest "\n" CELL
#define EMPTIED "cell/c1 incarnation=1 identity=I evacuating=1\n"
#define ASSIGN "assign unit/" U " guid=g3"
#define ON(n) "assign machine_unit/000000000" n "/" U
#define ENTRY(n) ON(n) " guid=g3 cell_id=c1\n"
#define PLACED(n)                                                                                  \
    ENTRY(n) "assign unit/" U " place=alive machine=" n " assigned=1 cell_id=c1 identity=I"
#define REFUSED "ResourceConflict: unit web/3 is not placed: "

static void a_unit_is_placed_on_a_machine(void **state)
{
    static const struct unit_move_row rows[] = {
        {"that had units", ACTOR_REP, UNIT IS("alive"), ASSIGN, PLACED("1")},
        {"that is clean, and is so no more", ACTOR_REP, UNIT IS("alive clean=1"), ASSIGN,
         "assign " M " clean=0\n" PLACED("1")},
        {"that is the one", ACTOR_REP, NEEDS("machine=1 needs.on_machine=1") IS("alive"), ASSIGN,
         PLACED("1")},
        {"that is being emptied, and has the unit's container", ACTOR_REP, UNIT
         IS("alive") EMPTIED, ASSIGN " adopts=1", PLACED("1")},
        {"that is unused", ACTOR_REP, NEEDS("unused=1") IS("alive clean=1"), ASSIGN,
         "assign " M " clean=0\n" PLACED("1")},
        {"it is there already", ACTOR_REP, GENERATION "unit/" U " service=web number=3 guid=g3 "
         "state=alive machine=1 assigned=1 cell_id=c1 identity=I\n" IS("alive"), ASSIGN,
         "nothing"},
    };
    TRY(unit_moves, rows);
    (void)state;
}

static void a_unit_is_not_placed(void **state)
{
    static const struct unit_move_row rows[] = {
        {"cordoned", ACTOR_REP, UNIT IS("alive cordoned=1"), ASSIGN,
         REFUSED "machine 1 is cordoned"},
        {"being emptied", ACTOR_REP, UNIT IS("alive") EMPTIED,
         ASSIGN, REFUSED "cell c1 is being emptied"},
        {"being emptied, and not a machine yet", ACTOR_REP,
         UNIT EMPTIED, ASSIGN,
         REFUSED "cell c1 is being emptied"},
        {"dying", ACTOR_REP, UNIT IS("dying"), ASSIGN, REFUSED "machine 1 is not alive"},
        {"dead", ACTOR_REP, UNIT IS("dead"), ASSIGN, REFUSED "machine 1 is not alive"},
        {"of a manager", ACTOR_REP, UNIT OWN " manage=1 state=alive\n" CELL, ASSIGN,
         REFUSED "machine 1 is not for units"},
        {"used", ACTOR_REP, NEEDS("unused=1") IS("alive"), ASSIGN,
         REFUSED "machine 1 is not unused, as it asks for"},
        {"another machine", ACTOR_REP, NEEDS("machine=7 needs.on_machine=1") IS("alive"), ASSIGN,
         REFUSED "it is for machine 7, and cell c1 is machine 1"},
        {"another machine, and the cell is none", ACTOR_REP,
         NEEDS("machine=0 needs.on_machine=1"), ASSIGN,
         REFUSED "it is for machine 0, and cell c1 is none yet"},
        {"no number is left", ACTOR_REP, UNIT "sequence/machine next=-1\n", ASSIGN,
         REFUSED "the numbers of machines are used up"},
        {"the next number is taken", ACTOR_REP, UNIT "sequence/machine next=1\n" M " number=1\n",
         ASSIGN, REFUSED "the numbers of machines are used up"},
        {"it is not alive", ACTOR_REP, GENERATION WAITS "dying\n" IS("alive"), ASSIGN,
         REFUSED "it is not alive"},
        {"a subordinate", ACTOR_REP, GENERATION WAITS "alive principal=db/0\n" IS("alive"), ASSIGN,
         REFUSED "it is a subordinate, and is where unit db/0 is"},
        {"it is elsewhere", ACTOR_REP, GENERATION WAITS "alive machine=9 assigned=1 cell_id=c2\n"
         IS("alive"), ASSIGN, REFUSED "it is on machine 9 for ever"},
        {"it is on the cell as it was before", ACTOR_REP, GENERATION WAITS
         "alive machine=9 assigned=1 cell_id=c1 identity=J\n" IS("alive"), ASSIGN,
         REFUSED "it is on machine 9 for ever"},
        {"another has its name", ACTOR_REP, UNIT IS("alive"), "assign unit/" U " guid=g2",
         "ResourceNotFound: the unit of that guid is gone: another one has its name"},
        {"there is none", ACTOR_REP, IS("alive"), ASSIGN,
         "ResourceNotFound: there is no such unit: bbs units lists those that are"},
    };
    TRY(unit_moves, rows);
    (void)state;
}

/* Now is second 1,000 of the wall clock and 500 of the other. The board generation began at that
 * second of the wall clock; this bbs has seen it since that second of its own. */
static void a_restored_unit_waits(void **state)
{
    static const char waits[] =
        REFUSED "the board was restored a moment ago, and another cell may have its container";
    static const struct {
        int64_t stamp_ns, seen_ns;
        const char *more;
        bool restored; /* the unit was there before the generation */
        const char *plan;
    } rows[] = {
        {990 * SECOND_NS, 490 * SECOND_NS, "", true, waits},
        {990 * SECOND_NS, 440 * SECOND_NS + 1, "", true, waits},
        {990 * SECOND_NS, 440 * SECOND_NS, "", true, PLACED("1")},
        {940 * SECOND_NS + 1, 490 * SECOND_NS, "", true, waits},
        {940 * SECOND_NS, 490 * SECOND_NS, "", true, PLACED("1")},
        {990 * SECOND_NS, 490 * SECOND_NS, " adopts=1", true, PLACED("1")},
        {990 * SECOND_NS, 490 * SECOND_NS, "", false, PLACED("1")},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct laid_system l;
        struct laid_plan p;
        laid_units_init(&l, WAITS "alive\n" IS("alive"));
        Board__BoardGenerationRecord g = BOARD__BOARD_GENERATION_RECORD__INIT;
        g.created_at = rows[i].stamp_ns;
        laid_put(l.board, "epoch/E", &g.base, rows[i].restored ? LAID_NOW : LAID_FIRST, LAID_NOW,
                 rows[i].seen_ns);
        const char *text = arena_printf(&l.arena, ASSIGN "%s", rows[i].more);
        struct op_input in = {.actor = ACTOR_REP, .peer_name = "c1", .trace_id = "",
                              .boot_id = "b", .request = &laid_units_move(&l, text)->base,
                              .now = {.mono_ns = 500 * SECOND_NS, .wall_ns = 1000 * SECOND_NS}};
        laid_decide(l.board, &unit_assign_row, &in, &l.arena, &p);
        assert_string_equal(laid_system_print(&l, &p.plan), rows[i].plan);
        laid_system_done(&l);
    }
    (void)state;
}

/* Guids are drawn, so that these are looked at one by one. */
static const struct change *find_change(const struct plan *p, const char *key)
{
    const struct change *c = p->changes;
    while (c && strcmp(c->key, key) != 0) {
        c = c->next;
    }
    assert_non_null(c);
    return c;
}

static void decide_assign(struct laid_system *l, const char *board, struct laid_plan *p)
{
    laid_units_init(l, board);
    struct op_input in = {.actor = ACTOR_REP, .peer_name = "c1", .trace_id = "", .boot_id = "b",
                          .request = &laid_units_move(l, ASSIGN)->base};
    laid_decide(l->board, move_row_named(&unit_moves, "assign")->op, &in, &l->arena, p);
    assert_int_equal(p->plan.verdict, PLAN_COMMIT);
    assert_true(laid_passes(l->board, &p->reads));
}

static void the_first_unit_makes_the_machine(void **state)
{
    static const struct {
        const char *board;
        uint32_t number;
    } rows[] = {
        {UNIT, 0},
        {UNIT "sequence/machine next=4\n", 4},
        /* The cell was made anew: it is another machine. */
        {UNIT M " number=1 guid=m1 cell_id=c1 identity=J host_units=1 state=alive\n" CELL
         "sequence/machine next=2\n", 2},
        /* Which machine it was is gone already. */
        {UNIT CELL "sequence/machine next=2\n", 2},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct laid_system l;
        struct laid_plan p;
        uint32_t n = rows[i].number;
        decide_assign(&l, rows[i].board, &p);
        assert_int_equal(p.plan.change_count, 5);
        const Board__MachineRecord *m = (const Board__MachineRecord *)find_change(
            &p.plan, key_machine(&l.arena, n))->message;
        assert_int_equal(m->number, n);
        assert_string_equal(m->cell_id, "c1");
        assert_string_equal(m->identity, "I");
        assert_string_equal(m->state, "alive");
        assert_true(m->host_units && !m->clean && !m->manage && !m->cordoned);
        const Board__MachineCellRecord *cell =
            (const Board__MachineCellRecord *)find_change(&p.plan, "machine_cell/c1")->message;
        assert_int_equal(cell->number, n);
        const Board__SequenceRecord *next =
            (const Board__SequenceRecord *)find_change(&p.plan, "sequence/machine")->message;
        assert_int_equal(next->next, n + 1);
        const Board__UnitRecord *u =
            (const Board__UnitRecord *)find_change(&p.plan, "unit/" U)->message;
        assert_true(u->assigned && u->machine == n);
        laid_system_done(&l);
    }
    (void)state;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

#define LOGGER(rest) "unit_service/logger name=logger guid=s-logger subordinate=1 state=" rest "\n"
#define TAKEN(n) "numbers sequence/unit/logger next=" n

static Board__Move *numbers_move(struct laid_system *l, const char *guid, uint32_t count)
{
    Board__Move *m = move_new(&l->arena, "numbers", "unit_service/logger");
    m->incarnation = 1;
    m->body_case = BOARD__MOVE__BODY_UNITS;
    m->units = arena_message(&l->arena, &board__units_move__descriptor);
    m->units->guid = arena_strdup(&l->arena, guid);
    m->units->count = count;
    return m;
}

static void a_cell_takes_numbers(void **state)
{
    static const struct {
        const char *board;
        uint32_t count;
        const char *guid, *plan;
        uint32_t first, told; /* so many from there on */
    } rows[] = {
        {LOGGER("alive"), 3, "s-logger", TAKEN("3"), 0, 3},
        {LOGGER("alive") "sequence/unit/logger next=3\n", 64, "s-logger", TAKEN("67"), 3, 64},
        {LOGGER("alive") "sequence/unit/logger next=-3\n", 2, "s-logger", TAKEN("-1"),
         UINT32_MAX - 2, 2},
        {LOGGER("alive") "sequence/unit/logger next=-3\n", 3, "s-logger",
         "ResourceConflict: the numbers of unit service logger are used up"},
        {LOGGER("dying"), 3, "s-logger",
         "ResourceConflict: unit service logger is not alive: it takes no units any more"},
        {"unit_service/logger name=logger guid=s-logger state=alive", 3, "s-logger",
         "ResourceConflict: unit service logger is no subordinate one: clients add its units"},
        {LOGGER("alive"), 3, "old",
         "ResourceNotFound: the unit service of that guid is gone: another one has its name"},
        {CELL, 3, "s-logger", "ResourceNotFound: the requested resource could not be found"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct laid_system l;
        struct laid_plan p;
        laid_units_init(&l, rows[i].board);
        const Board__Move *m = numbers_move(&l, rows[i].guid, rows[i].count);
        struct op_input in = {.actor = ACTOR_REP, .peer_name = "c1", .trace_id = "",
                              .boot_id = "b", .request = &m->base};
        laid_decide(l.board, &unit_numbers_row, &in, &l.arena, &p);
        assert_string_equal(laid_system_print(&l, &p.plan), rows[i].plan);
        assert_int_equal(p.plan.first_number, rows[i].first);
        assert_int_equal(p.plan.number_count, rows[i].told);
        laid_system_done(&l);
    }
    (void)state;
}

static unsigned compares(const struct laid_plan *p, const char *key, enum compare_kind kind)
{
    unsigned count = 0;
    for (size_t i = 0; i < p->reads.count; i++) {
        count += strcmp(p->reads.list[i].key, key) == 0 && p->reads.list[i].kind == kind;
    }
    return count;
}

static void numbers_compare_what_they_rest_on(void **state)
{
    struct laid_system l;
    struct laid_plan p;
    laid_units_init(&l, LOGGER("alive") "sequence/unit/logger next=3\n");
    struct op_input in = {.actor = ACTOR_REP, .peer_name = "c1", .trace_id = "", .boot_id = "b",
                          .request = &numbers_move(&l, "s-logger", 1)->base};
    laid_decide(l.board, &unit_numbers_row, &in, &l.arena, &p);
    assert_int_equal(p.reads.count, 3);
    assert_int_equal(compares(&p, "cell/c1", COMPARE_UNCHANGED), 1);
    assert_int_equal(compares(&p, "unit_service/logger", COMPARE_UNCHANGED), 1);
    assert_int_equal(compares(&p, "sequence/unit/logger", COMPARE_UNCHANGED), 1);
    laid_system_done(&l);
    (void)state;
}

static void a_cell_takes_so_many_numbers_at_once(void **state)
{
    static const struct {
        uint32_t count;
        const char *want;
    } rows[] = {{0, "count is 0: it may be 1 to 64"},
                {1, ""},
                {UNIT_NUMBERS_MAX, ""},
                {UNIT_NUMBERS_MAX + 1, "count is 65: it may be 1 to 64"}};
    struct laid_system l;
    laid_units_init(&l, "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct validation v = {0};
        valid_unit_numbers(&v, numbers_move(&l, "s-logger", rows[i].count));
        assert_string_equal(validation_ok(&v) ? "" : validation_text(&v), rows[i].want);
        validation_done(&v);
    }
    laid_system_done(&l);
    (void)state;
}

/* ---- Machines -------------------------------------------------------------------------------- */

static const char *add_machine(const char *board, const char *cell, bool manage,
                               Board__MachineRecord *ret)
{
    static char text[200];
    struct laid_system l;
    struct laid_plan p;
    struct validation v = {0};
    laid_units_init(&l, board);
    Board__AddMachineRequest r = BOARD__ADD_MACHINE_REQUEST__INIT;
    r.cell_id = arena_strdup(&l.arena, cell);
    r.manage = manage;
    valid_add_machine(&v, &r);
    assert_true(validation_ok(&v));
    validation_done(&v);
    struct op_input in = {.actor = ACTOR_CLIENT, .peer_name = "x", .trace_id = "", .boot_id = "b",
                          .request = &r.base};
    laid_decide(l.board, &add_machine_row, &in, &l.arena, &p);
    assert_true(p.plan.verdict != PLAN_NOTHING);
    snprintf(text, sizeof(text), "%s", p.plan.verdict == PLAN_COMMIT ? "" : p.plan.error_message);
    if (p.plan.verdict == PLAN_COMMIT) {
        assert_int_equal(p.plan.change_count, 3);
        assert_true(laid_passes(l.board, &p.reads));
        ret->number = ((const Board__MachineRecord *)p.plan.record)->number;
        ret->manage = ((const Board__MachineRecord *)p.plan.record)->manage;
        ret->host_units = ((const Board__MachineRecord *)p.plan.record)->host_units;
        ret->clean = ((const Board__MachineRecord *)p.plan.record)->clean;
    }
    laid_system_done(&l);
    return text;
}

static void a_client_makes_a_machine(void **state)
{
    Board__MachineRecord m;
    assert_string_equal(add_machine("", "c1", false, &m), "");
    assert_true(m.number == 0 && m.host_units && m.clean && !m.manage);
    assert_string_equal(add_machine("sequence/machine next=2\n", "c1", true, &m), "");
    assert_true(m.number == 2 && !m.host_units && m.manage);
    assert_string_equal(add_machine("machine/0000000001 number=1 cell_id=c1 identity=J state=alive"
                                    "\nsequence/machine next=2\n" CELL, "c1", false, &m), "");
    assert_int_equal(m.number, 2);
    assert_string_equal(add_machine("sequence/machine next=-2\n", "c1", false, &m), "");
    assert_string_equal(add_machine("sequence/machine next=-1\n", "c1", false, &m),
                        "the numbers of machines are used up");
    assert_string_equal(add_machine(IS("alive"), "c1", false, &m), "cell c1 is machine 1 already");
    assert_string_equal(add_machine(IS("dying"), "c1", false, &m), "cell c1 is machine 1 already");
    assert_string_equal(add_machine("", "c9", false, &m),
                        "there is no cell c9: bbs cells lists those that are");
    assert_string_equal(add_machine("cell/c2 identity=K state=1\n", "c2", false, &m),
                        "cell c2 is lost: it becomes a machine when it is back");
    (void)state;
}

static void the_cell_of_a_machine_has_a_name(void **state)
{
    char name[NAME_CHARACTERS_MAX + 2];
    Board__AddMachineRequest r = BOARD__ADD_MACHINE_REQUEST__INIT;
    for (size_t size = 0; size <= NAME_CHARACTERS_MAX + 1; size++) {
        struct validation v = {0};
        memset(name, 'c', size);
        name[size] = 0;
        r.cell_id = name;
        valid_add_machine(&v, &r);
        assert_int_equal(validation_ok(&v), size > 0 && size <= NAME_CHARACTERS_MAX);
        validation_done(&v);
    }
    (void)state;
}

static void machines_are_cordoned(void **state)
{
    static const char late[] = "ResourceConflict: machine 1 is dying: it takes no units any more";
    static const struct unit_move_row rows[] = {
        {"it is", ACTOR_CLIENT, IS("alive"), "cordon " M, "cordon " M " cordoned=1"},
        {"it is already", ACTOR_CLIENT, IS("alive cordoned=1"), "cordon " M, "nothing"},
        {"it is no more", ACTOR_CLIENT, IS("alive cordoned=1"), "uncordon " M,
         "uncordon " M " cordoned=0"},
        {"it was not", ACTOR_CLIENT, IS("alive"), "uncordon " M, "nothing"},
        {"dying", ACTOR_CLIENT, IS("dying"), "cordon " M, late},
        {"dying, the other way", ACTOR_CLIENT, IS("dying"), "uncordon " M, late},
        {"a job, forced", ACTOR_BBS, IS("alive"), "cordon " M " forced=1",
         "cordon " M " cordoned=1"},
        {"a job, not forced", ACTOR_BBS, IS("alive"), "cordon " M,
         "ResourceConflict: machine 1 is alive: it takes no units any more"},
        {"no machine", ACTOR_CLIENT, CELL, "cordon " M,
         "ResourceNotFound: there is no such machine: bbs units machines lists those that are"},
        {"another of that number", ACTOR_CLIENT, IS("alive"), "cordon " M " guid=m0",
         "ResourceNotFound: the machine of that guid is gone: another one has its number"},
    };
    TRY(machine_moves, rows);
    (void)state;
}

#define DESTROY "destroy " M
#define DESTROYED DESTROY " state=dying since=1000s"
#define FORCED "open job/m1/force target=m1 kind=9 worker=boot name=force"
#define HAS_UNITS "machine_unit/0000000001/" U " guid=g3\nmachine_unit/0000000001/web/0000000004\n"

static void machines_are_destroyed(void **state)
{
    static const char unit[] =
        "ResourceConflict: machine 1 has unit web/3: bbs units destroy-unit web/3 ends that";
    static const struct unit_move_row rows[] = {
        {"empty", ACTOR_CLIENT, IS("alive"), DESTROY, DESTROYED},
        {"its cell is to leave", ACTOR_CLIENT, IS("alive"), DESTROY " leave=1",
         DESTROY " state=dying leave=1 since=1000s"},
        {"with units", ACTOR_CLIENT, IS("alive") HAS_UNITS, DESTROY, unit},
        {"with units, forced", ACTOR_BBS, IS("alive") HAS_UNITS, DESTROY " forced=1", unit},
        {"a manager", ACTOR_CLIENT, OWN " manage=1 state=alive\n" CELL, DESTROY,
         "ResourceConflict: machine 1 runs the cluster: it is never destroyed"},
        {"a manager, forced", ACTOR_BBS, OWN " manage=1 state=alive\n" CELL, DESTROY " forced=1",
         "ResourceConflict: machine 1 runs the cluster: it is never destroyed"},
        {"empty, forced", ACTOR_CLIENT, IS("alive"), DESTROY " forced=1", DESTROYED},
        {"with units, forced by a client", ACTOR_CLIENT, IS("alive") HAS_UNITS,
         DESTROY " forced=1 max_wait_ms=2000", "cordon " M " cordoned=1\n" FORCED},
        {"and its cell is to leave", ACTOR_CLIENT, IS("alive cordoned=1") HAS_UNITS,
         DESTROY " forced=1 leave=1", "cordon " M " leave=1\n" FORCED},
        {"forced twice", ACTOR_CLIENT, IS("alive cordoned=1") HAS_UNITS "job/m1/force kind=9\n",
         DESTROY " forced=1", "nothing"},
        {"a manager, forced by a client", ACTOR_CLIENT,
         OWN " manage=1 state=alive\n" CELL HAS_UNITS, DESTROY " forced=1",
         "ResourceConflict: machine 1 runs the cluster: it is never destroyed"},
        {"dying already, forced", ACTOR_CLIENT, IS("dying"), DESTROY " forced=1", "nothing"},
        {"dying already", ACTOR_CLIENT, IS("dying"), DESTROY, "nothing"},
        {"dead already", ACTOR_CLIENT, IS("dead"), DESTROY, "nothing"},
        {"a job, forced", ACTOR_BBS, IS("alive"), DESTROY " forced=1", DESTROYED},
        {"a job, not forced", ACTOR_BBS, IS("alive"), DESTROY,
         "ResourceConflict: machine 1 is alive: only a client, or one who is forced, destroys it"},
        {"no machine", ACTOR_CLIENT, CELL, DESTROY,
         "ResourceNotFound: there is no such machine: bbs units machines lists those that are"},
    };
    TRY(machine_moves, rows);
    (void)state;
}

#define DIE "die " M
#define DIES DIE " state=dead since=1000s"
#define STRANGER(life) M " number=1 guid=m1 cell_id=c1 identity=J state=" life "\n"
#define ELSEWHERE(life) M " number=1 guid=m1 cell_id=c2 identity=I state=" life "\n"

static void machines_die(void **state)
{
    static const char refused[] = "ResourceConflict: machine 1 is dying: it is not dying, is "
                                  "another cell's, or has an agent that is there";
    static const struct unit_move_row rows[] = {
        {"by its rep", ACTOR_REP, IS("dying"), DIE " guid=m1", DIES},
        {"by the rep of another identity", ACTOR_REP, STRANGER("dying"), DIE " guid=m1", refused},
        {"by another cell's", ACTOR_REP, ELSEWHERE("dying"), DIE " guid=m1", refused},
        {"by a rep that says no guid", ACTOR_REP, IS("dying"), DIE,
         "ResourceNotFound: the machine of that guid is gone: another one has its number"},
        {"by the converger, while its agent is there", ACTOR_CONVERGER, IS("dying"), DIE, refused},
        {"by the converger, of a cell that was made anew", ACTOR_CONVERGER, STRANGER("dying"), DIE,
         DIES},
        {"by the converger, of a cell that is gone", ACTOR_CONVERGER, ELSEWHERE("dying"), DIE,
         DIES},
        {"by the converger, of a cell that is lost", ACTOR_CONVERGER,
         ELSEWHERE("dying") "cell/c2 identity=I state=1\n", DIE, DIES},
        {"with a unit", ACTOR_REP, IS("dying") HAS_UNITS, DIE " guid=m1",
         "ResourceConflict: machine 1 has unit web/3: bbs units destroy-unit web/3 ends that"},
        {"alive", ACTOR_REP, IS("alive"), DIE " guid=m1", "ResourceConflict: machine 1 is alive: "
         "it is not dying, is another cell's, or has an agent that is there"},
        {"dead already", ACTOR_REP, IS("dead"), DIE " guid=m1", "nothing"},
        {"gone", ACTOR_REP, CELL, DIE " guid=m1", "nothing"},
    };
    TRY(machine_moves, rows);
    (void)state;
}

#define REMOVE "remove " M
#define REMOVED "remove -" M

static void machines_are_removed(void **state)
{
    static const char refused[] = "ResourceConflict: machine 1 is dead: it is not dead, or its "
                                  "cell has not left yet";
    static const struct unit_move_row rows[] = {
        {"dead", ACTOR_CONVERGER, IS("dead"), REMOVE, REMOVED "\nremove -machine_cell/c1"},
        {"the cell is another machine by now", ACTOR_CONVERGER, STRANGER("dead")
         "machine_cell/c1 number=2 cell_id=c1\n", REMOVE, REMOVED},
        {"its cell has to leave first", ACTOR_CONVERGER, IS("dead leave=1"), REMOVE, refused},
        {"its cell is lost, and has not left", ACTOR_CONVERGER, M " number=1 guid=m1 cell_id=c2 "
         "identity=I leave=1 state=dead\ncell/c2 identity=I state=1\n", REMOVE, refused},
        {"its cell has left", ACTOR_CONVERGER, M " number=1 guid=m1 cell_id=c2 identity=I leave=1 "
         "state=dead\n", REMOVE, REMOVED},
        {"its cell was made anew", ACTOR_CONVERGER, M " number=1 guid=m1 cell_id=c1 identity=J "
         "leave=1 state=dead\n", REMOVE, REMOVED},
        {"dying", ACTOR_CONVERGER, IS("dying"), REMOVE, "ResourceConflict: machine 1 is dying: it "
         "is not dead, or its cell has not left yet"},
        {"gone", ACTOR_CONVERGER, CELL, REMOVE, "nothing"},
    };
    TRY(machine_moves, rows);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_is_placed_on_a_machine),
        cmocka_unit_test(a_unit_is_not_placed),
        cmocka_unit_test(a_restored_unit_waits),
        cmocka_unit_test(the_first_unit_makes_the_machine),
        cmocka_unit_test(a_cell_takes_numbers),
        cmocka_unit_test(numbers_compare_what_they_rest_on),
        cmocka_unit_test(a_cell_takes_so_many_numbers_at_once),
        cmocka_unit_test(a_client_makes_a_machine),
        cmocka_unit_test(the_cell_of_a_machine_has_a_name),
        cmocka_unit_test(machines_are_cordoned),
        cmocka_unit_test(machines_are_destroyed),
        cmocka_unit_test(machines_die),
        cmocka_unit_test(machines_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
