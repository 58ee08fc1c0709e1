/* The converger's passes over units and what belongs to them: rows of a record before, and the
 * repair; and that the board does each move in the state in which a pass plans it. */
#include "common/lifecycle/machine.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"
#include "converger/unit_passes.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

#define THERE .cell_known = true, .cell_present = true, .cell_same = true
#define LOST .cell_known = true, .cell_present = false, .cell_same = true
#define ANEW .cell_known = true, .cell_present = true, .cell_same = false
#define LEFT .cell_known = false
#define A_MACHINE(life) .kind = RECORD_MACHINE, .state = MACHINE_##life
#define A_UNIT(life) .kind = RECORD_UNIT, .state = UNIT_##life
#define A_RELATION(life) .kind = RECORD_RELATION, .state = RELATION_##life
#define A_SERVICE(life) .kind = RECORD_UNIT_SERVICE, .state = UNIT_SERVICE_##life
#define A_CHARM .kind = RECORD_CHARM, .state = CHARM_STATE

static const struct {
    const char *name;
    struct unit_end_sight sight;
    const char *repair; /* "pass:move", with a "!" for a leak; "" = none */
} rows[] = {
    {"a machine", {A_MACHINE(ALIVE), THERE}, ""},
    {"a machine whose cell is lost", {A_MACHINE(ALIVE), LOST}, ""},
    {"a machine whose cell has left", {A_MACHINE(ALIVE), LEFT}, ""},
    {"dying, and its agent is there", {A_MACHINE(DYING), THERE}, ""},
    {"dying, its cell lost", {A_MACHINE(DYING), LOST}, "machine_absent:die"},
    {"dying, its cell made anew", {A_MACHINE(DYING), ANEW}, "machine_absent:die"},
    {"dying, its cell gone", {A_MACHINE(DYING), LEFT}, "machine_absent:die"},
    {"dead", {A_MACHINE(DEAD), THERE}, "dead_machine:remove"},
    {"dead, its cell lost", {A_MACHINE(DEAD), LOST}, "dead_machine:remove"},
    {"dead, its cell is to leave", {A_MACHINE(DEAD), THERE, .leave = true}, ""},
    {"dead, a lost cell has not left", {A_MACHINE(DEAD), LOST, .leave = true}, ""},
    {"dead, it has left", {A_MACHINE(DEAD), LEFT, .leave = true}, "dead_machine:remove"},
    {"dead, another one has its id", {A_MACHINE(DEAD), ANEW, .leave = true}, "dead_machine:remove"},

    {"a unit", {A_UNIT(ALIVE), THERE}, ""},
    {"a unit that is down", {A_UNIT(ALIVE), LOST}, ""},
    {"its service is dying, and its agent is there",
     {A_UNIT(ALIVE), THERE, .service_dying = true},
     ""},
    {"its service is dying, its cell lost",
     {A_UNIT(ALIVE), LOST, .service_dying = true},
     "service_dying:destroy"},
    {"its service is dying, its cell made anew",
     {A_UNIT(ALIVE), ANEW, .service_dying = true},
     "service_dying:destroy"},
    {"its service is dying, its cell gone",
     {A_UNIT(ALIVE), LEFT, .service_dying = true},
     "service_dying:destroy"},
    {"it waits for a machine: a bbs ends it",
     {A_UNIT(ALIVE), LEFT, .service_dying = true, .waits = true},
     ""},
    {"a dying one nobody ends but its agent", {A_UNIT(DYING), LOST, .service_dying = true}, ""},
    {"dead, and its agent is there", {A_UNIT(DEAD), THERE}, ""},
    {"dead, its cell lost", {A_UNIT(DEAD), LOST}, "dead_unit:remove"},
    {"dead, its cell made anew", {A_UNIT(DEAD), ANEW}, "dead_unit:remove"},
    {"dead, its cell gone", {A_UNIT(DEAD), LEFT}, "dead_unit:remove"},

    {"a charm that is read", {A_CHARM, .read = true, .stood = true}, ""},
    {"one that is not, since lately", {A_CHARM}, ""},
    {"one that was not either", {A_CHARM, .stood = true}, "old_charm:trim"},

    {"a relation in which nobody is yet", {A_RELATION(ALIVE), .stood = true}, ""},
    {"dying, and somebody is in it", {A_RELATION(DYING), .held = true, .stood = true}, ""},
    {"dying, and nobody is in it, since lately", {A_RELATION(DYING)}, ""},
    {"dying, and nobody was in it", {A_RELATION(DYING), .stood = true}, "leak:settle!"},
    {"a service without units", {A_SERVICE(ALIVE), .stood = true}, ""},
    {"a dying one with some", {A_SERVICE(DYING), .held = true, .stood = true}, ""},
    {"a dying one without, since lately", {A_SERVICE(DYING)}, ""},
    {"a dying one that had none", {A_SERVICE(DYING), .stood = true}, "leak:release!"},

    {"a machine of a newer version", {.kind = RECORD_MACHINE, .state = -1, LEFT}, ""},
    {"a unit of a newer version", {.kind = RECORD_UNIT, .state = -1, LEFT}, ""},
    {"a charm of a newer version", {.kind = RECORD_CHARM, .state = -1, .stood = true}, ""},
};

static void every_row(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct unit_repair r = unit_passes_run(&rows[i].sight);
        char text[64] = "";
        if (r.pass) {
            snprintf(text, sizeof(text), "%s:%s%s", r.pass, r.move, r.leak ? "!" : "");
        }
        if (strcmp(text, rows[i].repair) != 0) {
            fail_msg("%s\nexpected: %s\ngot:      %s", rows[i].name, rows[i].repair, text);
        }
    }
    (void)state;
}

/* What a pass plans its lifecycle lets the converger do, under the guards that hold then. */
static void the_lifecycles_have_each_move(void **state)
{
    static const struct {
        const struct lifecycle *lifecycle;
        int from, trigger;
        uint32_t guards;
        const char *move;
    } moves[] = {
        {&machine_lifecycle, MACHINE_DEAD, MACHINE_TRIGGER_REMOVE, MACHINE_IF_CELL_LEFT_IF_ASKED,
         "remove"},
        {&machine_lifecycle, MACHINE_DYING, MACHINE_TRIGGER_DIE,
         MACHINE_IF_AGENT_ABSENT | MACHINE_IF_NO_PRINCIPALS, "die"},
        {&unit_lifecycle, UNIT_DEAD, UNIT_TRIGGER_REMOVE, UNIT_IF_AGENT_ABSENT, "remove"},
        {&unit_lifecycle, UNIT_ALIVE, UNIT_TRIGGER_DESTROY,
         UNIT_IF_SERVICE_DYING | UNIT_IF_AGENT_ABSENT, "destroy"},
        {&relation_lifecycle, RELATION_DYING, RELATION_TRIGGER_SETTLE, RELATION_IF_NO_MEMBERS,
         "settle"},
        {&unit_service_lifecycle, UNIT_SERVICE_DYING, UNIT_SERVICE_TRIGGER_RELEASE,
         UNIT_SERVICE_IF_LAST_REFERENCE, "release"},
        {&unit_service_lifecycle, UNIT_SERVICE_ALIVE, UNIT_SERVICE_TRIGGER_TRIM, 0, "trim"},
    };
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        assert_string_equal(moves[i].lifecycle->triggers[moves[i].trigger], moves[i].move);
        assert_true(lifecycle_transition(moves[i].lifecycle, moves[i].from, ACTOR_CONVERGER,
                                         moves[i].trigger, moves[i].guards) >= 0);
    }
    (void)state;
}

static void kinds_that_rest(void **state)
{
    assert_false(unit_kind_rests(RECORD_MACHINE));
    assert_false(unit_kind_rests(RECORD_UNIT));
    assert_true(unit_kind_rests(RECORD_CHARM));
    assert_true(unit_kind_rests(RECORD_RELATION));
    assert_true(unit_kind_rests(RECORD_UNIT_SERVICE));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row),
        cmocka_unit_test(the_lifecycles_have_each_move),
        cmocka_unit_test(kinds_that_rest),
    };
    return cmocka_run_group_tests_name("converger: passes over units", tests, NULL, NULL);
}
