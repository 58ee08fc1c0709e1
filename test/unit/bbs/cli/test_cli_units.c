/* What `bbs units` reads and shows. */
#include "bbs/cli/units/unit_tree.h"
#include "bbs/cli/units/unit_words.h"
#include "common/contract/moment.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define NOW (1000 * SECOND_NS)

static struct arena arena;

static char *text(const char *s)
{
    return arena_strdup(&arena, s);
}

/* ---- What is shown --------------------------------------------------------------------------- */

/* A unit of `service`, on machine 2 unless it waits. */
static Board__UnitEntry *unit(const char *service, uint32_t number, const char *life,
                              const char *status)
{
    Board__UnitEntry *e = arena_message(&arena, &board__unit_entry__descriptor);
    e->unit = arena_message(&arena, &board__unit_record__descriptor);
    e->unit->service = text(service);
    e->unit->number = number;
    e->unit->state = text(life);
    e->unit->assigned = true;
    e->unit->machine = 2;
    e->status = arena_message(&arena, &board__unit_status_record__descriptor);
    e->status->state = text(status);
    return e;
}

static Board__UnitHold *held(const char *by)
{
    Board__UnitHold *h = arena_message(&arena, &board__unit_hold__descriptor);
    h->text = text(by);
    h->ends = text("the end");
    h->since = NOW - 90 * SECOND_NS;
    return h;
}

static Board__UnitServiceEntry *service(const char *name, const char *life, size_t count,
                                        Board__UnitEntry **list)
{
    Board__UnitServiceEntry *e = arena_message(&arena, &board__unit_service_entry__descriptor);
    e->service = arena_message(&arena, &board__unit_service_record__descriptor);
    e->service->name = text(name);
    e->service->state = text(life);
    e->n_units = count;
    e->units = list;
    return e;
}

static Board__RelationEnd *end_of(const char *name, const char *endpoint)
{
    Board__RelationEnd *end = arena_message(&arena, &board__relation_end__descriptor);
    end->service = text(name);
    end->endpoint = arena_message(&arena, &board__endpoint__descriptor);
    end->endpoint->name = text(endpoint);
    return end;
}

static Board__UnitRelationEntry *relation(uint32_t number, const char *life, size_t count,
                                          Board__RelationEnd **ends)
{
    Board__UnitRelationEntry *e = arena_message(&arena, &board__unit_relation_entry__descriptor);
    e->relation = arena_message(&arena, &board__relation_record__descriptor);
    e->relation->number = number;
    e->relation->state = text(life);
    e->relation->since = NOW - 90 * SECOND_NS;
    e->relation->n_ends = count;
    e->relation->ends = ends;
    e->members = 3;
    return e;
}

static void states_of_units(void **state)
{
    static const struct {
        const char *life, *status, *principal, *shown;
        bool waits, down;
    } rows[] = {
        {"alive", "started", "", "started"},
        {"alive", "pending", "", "unassigned", .waits = true},
        {"alive", "pending", "web/0", "pending", .waits = true},
        {"alive", "started", "", "down (started)", .down = true},
        {"dying", "started", "", "dying, started"},
        {"dying", "error", "", "dying, down (error)", .down = true},
        {"dead", "stopped", "", "dead, stopped"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Board__UnitEntry *e = unit("web", 0, rows[i].life, rows[i].status);
        e->unit->assigned = !rows[i].waits;
        e->unit->principal = text(rows[i].principal);
        e->down = rows[i].down;
        assert_string_equal(unit_state_text(&arena, e), rows[i].shown);
    }
    Board__UnitEntry *untold = unit("web", 0, "alive", "");
    untold->status = NULL;
    assert_string_equal(unit_state_text(&arena, untold), "unknown");
}

static void shown_as_tree(const Board__UnitsStatus *status, const char *expected)
{
    SCOPED_BUF(out);
    units_tree(&arena, status, false, 0, &out);
    assert_string_equal(buf_string(&out), expected);
}

static void a_tree_of_units(void **state)
{
    Board__UnitEntry *logs[] = {unit("logger", 0, "alive", "started"),
                                unit("logger", 1, "dying", "started")};
    Board__UnitEntry *webs[] = {unit("web", 1, "alive", "started"),
                                unit("web", 12, "alive", "pending")};
    Models__PortMapping port = MODELS__PORT_MAPPING__INIT, *ports[] = {&port};
    logs[0]->unit->principal = text("web/1");
    logs[1]->unit->principal = text("gone/3");
    webs[0]->status->address = text("10.0.0.1");
    webs[0]->status->n_ports = 1;
    webs[0]->status->ports = ports;
    webs[0]->status->text = text("serves \033 all");
    port.host_port = 61000;
    Board__UnitHookRun run = BOARD__UNIT_HOOK_RUN__INIT;
    run.hook = text("upgrade");
    logs[0]->status->running = &run;
    logs[0]->status->text = text("slowly");
    logs[0]->status->crash_count = 2;
    logs[0]->status->crash_reason = text("APP: Exited with status 3");
    webs[1]->unit->assigned = false;
    webs[1]->held = held("it waits for a machine");
    Board__RelationEnd *both[] = {end_of("logger", "host"), end_of("web", "juju-info")};
    Board__RelationEnd *peers[] = {end_of("web", "ring")};
    Board__UnitRelationEntry *relations[] = {relation(0, "alive", 1, peers),
                                             relation(7, "dying", 2, both)};
    relations[1]->held = held("unit web/1 is in it");
    Board__UnitServiceEntry *services[] = {service("logger", "alive", 2, logs),
                                           service("web", "dying", 2, webs)};
    Board__UnitsStatus status = BOARD__UNITS_STATUS__INIT;
    status.n_services = status.n_relations = 2;
    status.services = services;
    status.relations = relations;
    shown_as_tree(
        &status,
        "NAME                        STATE           MACHINE  ADDRESS:PORT    WHY\n"
        "logger                      -               -        -               -\n"
        "  logger/1                  dying, started  2        -               -\n"
        "  host -> web:juju-info     dying           -        -             "
        "  unit web/1 is in it\n"
        "web                         dying           -        -               -\n"
        "  web/1                     started         2        10.0.0.1:61000  serves ? all\n"
        "    logger/0                started         2        -             "
        "  its hook upgrade runs: slowly; its command has ended 2 times: APP: Exited with status "
        "3\n"
        "  web/12                    unassigned      -        -             "
        "  it waits for a machine\n"
        "  ring (peers)              -               -        -               -\n"
        "  juju-info -> logger:host  dying           -        -             "
        "  unit web/1 is in it\n");
}

/* Of one service alone: the subordinates of its units stand below them all the same. */
static void subordinates_of_one_service(void **state)
{
    Board__UnitEntry *webs[] = {unit("web", 1, "alive", "started")};
    Board__UnitEntry *beside[] = {unit("logger", 0, "alive", "error")};
    Board__UnitServiceEntry *services[] = {service("web", "alive", 1, webs)};
    Board__UnitsStatus status = BOARD__UNITS_STATUS__INIT;
    beside[0]->unit->principal = text("web/1");
    beside[0]->held = held("its hook start has failed");
    status.n_services = status.n_beside = 1;
    status.services = services;
    status.beside = beside;
    shown_as_tree(&status, "NAME          STATE    MACHINE  ADDRESS:PORT  WHY\n"
                           "web           -        -        -             -\n"
                           "  web/1       started  2        -             -\n"
                           "    logger/0  error    2        -             "
                           "its hook start has failed\n");
}

/* What does not fit beside the first columns stands below: with one column less than all need, all
 * but the last stay in the row; the first one does, however narrow it is. */
static void a_narrow_terminal_has_lines_below_the_rows(void **state)
{
    static const struct {
        unsigned width;
        const char *expected;
    } rows[] = {
        {64, "NAME     STATE  MACHINE  ADDRESS:PORT  WHY\n"
             "web      -      -        -             -\n"
             "  web/1  error  2        -             its hook start has failed\n"},
        {63, "NAME     STATE  MACHINE  ADDRESS:PORT\n"
             "web      -      -        -\n"
             "  web/1  error  2        -\n"
             "      WHY: its hook start has failed\n"},
        {30, "NAME     STATE  MACHINE\n"
             "web      -      -\n"
             "  web/1  error  2\n"
             "      WHY: its hook start has failed\n"},
        {3, "NAME\n"
            "web\n"
            "  web/1\n"
            "      STATE: error\n"
            "      MACHINE: 2\n"
            "      WHY: its hook start has failed\n"},
    };
    Board__UnitEntry *webs[] = {unit("web", 1, "alive", "error")};
    Board__UnitServiceEntry *services[] = {service("web", "alive", 1, webs)};
    Board__UnitsStatus status = BOARD__UNITS_STATUS__INIT;
    webs[0]->held = held("its hook start has failed");
    status.n_services = 1;
    status.services = services;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_BUF(out);
        units_tree(&arena, &status, true, rows[i].width, &out);
        assert_string_equal(buf_string(&out), rows[i].expected);
    }
}

/* ---- What is read ---------------------------------------------------------------------------- */

static void settings_are_read(void **state)
{
    static const struct {
        const char *words[3];
        const char *fault, *first;
    } rows[] = {
        {{"a=1"}, NULL, "a"},
        {{"b=1", "a="}, NULL, "a"},
        {{"a=b=c"}, NULL, "a"},
        {{"a"}, "\"a\" is no setting: KEY=VALUE", NULL},
        {{"=1"}, "\"=1\" is no setting: KEY=VALUE", NULL},
        {{"a=1", "a=2"}, "a is set twice", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Board__UnitSetting **list;
        struct err err = {0};
        size_t count = rows[i].words[1] ? 2 : 1;
        int r = unit_settings_read(&arena, rows[i].words, count, &list, &err);
        assert_int_equal(r, rows[i].fault ? -ERR_INVALID : 0);
        if (rows[i].fault) {
            assert_string_equal(err.text, rows[i].fault);
        } else {
            assert_string_equal(list[0]->key, rows[i].first);
        }
    }
}

static void numbers_of_machines_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t number; /* -1 = none */
    } rows[] = {{"0", 0},           {"12", 12}, {"4294967295", UINT32_MAX},
                {"4294967296", -1}, {"-1", -1}, {"cell-1", -1},
                {"1x", -1},         {"", -1},   {"00000000001", -1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t number = 0;
        struct err err;
        int r = machine_number_read(rows[i].text, &number, &err);
        assert_int_equal(r, rows[i].number < 0 ? -ERR_INVALID : 0);
        assert_int_equal(r < 0 ? -1 : (int64_t)number, rows[i].number);
    }
}

static void ends_are_read(void **state)
{
    const Board__UnitEnd *end = unit_end_read(&arena, "web:db");
    assert_string_equal(end->service, "web");
    assert_string_equal(end->endpoint, "db");
    end = unit_end_read(&arena, "web");
    assert_string_equal(end->service, "web");
    assert_string_equal(end->endpoint, "");
}

static void some_and_none(void **state)
{
    assert_string_equal(units_destroyed_text(&arena, 3, 3), "none were destroyed");
    assert_string_equal(units_destroyed_text(&arena, 3, 1), "some were destroyed, 1 of 3 was not");
    assert_string_equal(units_destroyed_text(&arena, 3, 2), "some were destroyed, 2 of 3 were not");
}

static void a_text_names_a_service(void **state)
{
    assert_true(unit_text_names("there is no unit service web: bbs units lists", "web"));
    assert_true(unit_text_names("web", "web"));
    assert_true(unit_text_names("webs and web", "web"));
    assert_true(unit_text_names("unit web/3 is dying", "web"));
    assert_false(unit_text_names("the webs, web-2 and my.web", "web"));
    assert_false(unit_text_names("count: 3 units", "web"));
    assert_false(unit_text_names("count", ""));
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void machines_are_shown(void **state)
{
    static const struct {
        const char *life, *shown;
        bool down, manage, cordoned;
    } rows[] = {
        {"alive", "open"},
        {"alive", "cordoned", .cordoned = true},
        {"alive", "manager", .manage = true},
        {"alive", "down", .down = true, .cordoned = true},
        {"dying", "dying"},
        {"dying", "dying, down", .down = true},
        {"dying", "dying, cordoned", .cordoned = true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Board__MachineEntry e = BOARD__MACHINE_ENTRY__INIT, *list[] = {&e};
        Board__MachineRecord m = BOARD__MACHINE_RECORD__INIT;
        SCOPED_BUF(out);
        e.machine = &m;
        e.units = 4;
        e.down = rows[i].down;
        m.state = text(rows[i].life);
        m.cell_id = text("cell-1");
        m.manage = rows[i].manage;
        m.cordoned = rows[i].cordoned;
        m.since = NOW - 90 * SECOND_NS;
        unit_machines_table(&arena, list, 1, NOW, 0, &out);
        const char *row = strchr(buf_string(&out), '\n');
        assert_string_equal(
            row, arena_printf(&arena, "\n0        cell-1  %-5s  90s  4      -\n", rows[i].shown));
    }
}

static void relations_are_shown(void **state)
{
    Board__RelationEnd *both[] = {end_of("logger", "host"), end_of("web", "juju-info")};
    Board__UnitRelationEntry *list[] = {relation(7, "dying", 2, both)};
    SCOPED_BUF(out);
    list[0]->relation->scope = BOARD__ENDPOINT__SCOPE__CONTAINER;
    list[0]->held = held("unit web/1 is in it");
    unit_relations_table(&arena, list, 1, NOW, 0, &out);
    assert_string_equal(buf_string(&out),
                        "RELATION  ENDS                       SCOPE      STATE  FOR  MEMBERS  WHY\n"
                        "7         logger:host web:juju-info  container  dying  90s  3        unit "
                        "web/1 is in it\n");
}

static void options_are_shown(void **state)
{
    Board__UnitSetting kept = BOARD__UNIT_SETTING__INIT, other = BOARD__UNIT_SETTING__INIT;
    Board__UnitSetting set = BOARD__UNIT_SETTING__INIT, *config[] = {&kept, &other};
    Board__UnitSetting *settings[] = {&set};
    Board__Charm charm = BOARD__CHARM__INIT;
    Board__UnitServiceWhole whole = BOARD__UNIT_SERVICE_WHOLE__INIT;
    SCOPED_BUF(out);
    kept.key = text("color");
    kept.value = text("red");
    other.key = set.key = text("size");
    other.value = text("1");
    set.value = text("2");
    charm.n_config = 2;
    charm.config = config;
    whole.charm = &charm;
    whole.n_settings = 1;
    whole.settings = settings;
    unit_config_table(&arena, &whole, &out);
    assert_string_equal(buf_string(&out), "KEY    VALUE  FROM\n"
                                          "color  red    default\n"
                                          "size   2      set\n");
}

static void all_that_holds_is_shown(void **state)
{
    Board__UnitsWhy why = BOARD__UNITS_WHY__INIT;
    Board__UnitHold *holds[] = {held("its hook stop has failed"), held("its \033 child")};
    SCOPED_BUF(out);
    why.subject = text("unit web/1");
    why.n_holds = 2;
    why.holds = holds;
    why.more = 3;
    holds[1]->since = 0;
    unit_why_show(&arena, &why, NOW, &out);
    assert_string_equal(buf_string(&out), "unit web/1\n"
                                          "  its hook stop has failed, for 90s\n"
                                          "    ends with: the end\n"
                                          "  its ? child\n"
                                          "    ends with: the end\n"
                                          "  and 3 more\n");
    out.size = 0;
    why.n_holds = 0;
    why.more = 0;
    unit_why_show(&arena, &why, NOW, &out);
    assert_string_equal(buf_string(&out), "unit web/1: held by nothing, and not done: this is a "
                                          "fault of the cluster, please report it\n");
    out.size = 0;
    why.done = true;
    unit_why_show(&arena, &why, NOW, &out);
    assert_string_equal(buf_string(&out), "unit web/1: nothing holds it\n");
}

static int begin(void **state)
{
    arena_init(&arena);
    return 0;
}

static int end(void **state)
{
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(states_of_units, begin, end),
        cmocka_unit_test_setup_teardown(a_tree_of_units, begin, end),
        cmocka_unit_test_setup_teardown(subordinates_of_one_service, begin, end),
        cmocka_unit_test_setup_teardown(a_narrow_terminal_has_lines_below_the_rows, begin, end),
        cmocka_unit_test_setup_teardown(settings_are_read, begin, end),
        cmocka_unit_test_setup_teardown(numbers_of_machines_are_read, begin, end),
        cmocka_unit_test_setup_teardown(ends_are_read, begin, end),
        cmocka_unit_test_setup_teardown(some_and_none, begin, end),
        cmocka_unit_test_setup_teardown(a_text_names_a_service, begin, end),
        cmocka_unit_test_setup_teardown(machines_are_shown, begin, end),
        cmocka_unit_test_setup_teardown(relations_are_shown, begin, end),
        cmocka_unit_test_setup_teardown(options_are_shown, begin, end),
        cmocka_unit_test_setup_teardown(all_that_holds_is_shown, begin, end),
    };
    return cmocka_run_group_tests_name("cli units", tests, NULL, NULL);
}
