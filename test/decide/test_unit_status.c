/* What is said of a unit, rule by rule (bbs/units/status.c). */
#include "bbs/units/units.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define TRY(rows) try_unit_moves(&unit_status_moves, rows, sizeof(rows) / sizeof((rows)[0]))

#define U "web/0000000003"
#define UNIT(life)                                                                                 \
    "unit/" U " service=web number=3 guid=g3 service_guid=s-web cell_id=c1 identity=I assigned=1 " \
    "machine=1 state=" life "\n"
#define STATUS "unit_status/" U
#define IS(state) UNIT("alive") STATUS " guid=g3 cell_id=c1 state=" state
#define REPORT "report " STATUS " guid=g3 status.state="
#define FAIL "fail " STATUS " guid=g3 status.state=error status.hook="
#define BROKEN " hook=start before=installed output=boom"
#define SEEN "revision=15 " /* after cell, unit: the revision of the status on these boards */

static void an_agent_reports(void **state)
{
    static const struct unit_move_row rows[] = {
        {"installed", ACTOR_REP, IS("pending"), REPORT "installed",
         "report " STATUS " state=installed since=1000s"},
        {"pending still, without room", ACTOR_REP, IS("pending"), REPORT "pending status.text=full",
         "report " STATUS " text=full"},
        {"started, with its address", ACTOR_REP, IS("installed"),
         REPORT "started status.address=10.0.0.1",
         "report " STATUS " state=started address=10.0.0.1 since=1000s"},
        {"an upgrade installs it again", ACTOR_REP, IS("started"),
         REPORT "installed status.charm=d",
         "report " STATUS " state=installed charm=d since=1000s"},
        {"a crash changes no state, and not since when", ACTOR_REP, IS("started since=7"),
         REPORT "started status.crash_count=2", "report " STATUS " crash_count=2"},
        {"nothing is new", ACTOR_REP, IS("started address=A"), REPORT "started status.address=A",
         "nothing"},
        {"stopped", ACTOR_REP, UNIT("dying") STATUS " guid=g3 cell_id=c1 state=started",
         REPORT "stopped", "report " STATUS " state=stopped stopped=1 since=1000s"},
        {"stopped already", ACTOR_REP, IS("stopped stopped=1"), REPORT "stopped", "nothing"},
        {"started after it has stopped", ACTOR_REP, IS("stopped stopped=1"), REPORT "started",
         "ResourceConflict: unit web/3 is stopped: another cell's, not what it can be now, or in "
         "error until its agent has done what was resolved"},
        {"pending after it was installed", ACTOR_REP, IS("installed"), REPORT "pending",
         "ResourceConflict: unit web/3 is installed: another cell's, not what it can be now, or in "
         "error until its agent has done what was resolved"},
    };
    TRY(rows);
    (void)state;
}

static void whose_unit_it_is_is_asked(void **state)
{
    static const char gone[] =
        "ResourceNotFound: the unit of that guid is gone: another one has its name";
    static const char others[] =
        "ResourceConflict: unit web/3 is pending: another cell's, not what it can be now, or in "
        "error until its agent has done what was resolved";
    static const struct unit_move_row rows[] = {
        {"another guid", ACTOR_REP, IS("pending"), "report " STATUS " guid=g2 status.state=started",
         gone},
        {"no guid", ACTOR_REP, IS("pending"), "report " STATUS " status.state=started", gone},
        {"another identity", ACTOR_REP, "unit/" U " service=web number=3 guid=g3 cell_id=c1 "
         "identity=J state=alive\n" STATUS " guid=g3 state=pending", REPORT "installed", others},
        {"another cell's", ACTOR_REP, "unit/" U " service=web number=3 guid=g3 cell_id=c2 "
         "identity=I state=alive\n" STATUS " guid=g3 state=pending", REPORT "installed", others},
        {"another cell's fails", ACTOR_REP, "unit/" U " service=web number=3 guid=g3 cell_id=c2 "
         "identity=I state=alive\n" STATUS " guid=g3 state=pending", FAIL "start",
         "ResourceConflict: unit web/3 is pending: it is another cell's"},
        {"unassigned", ACTOR_REP, "unit/" U " service=web number=3 guid=g3 state=alive\n" STATUS
         " guid=g3 state=pending", REPORT "installed", others},
        {"dead", ACTOR_REP, UNIT("dead") STATUS " guid=g3 state=stopped", REPORT "stopped",
         "ResourceConflict: unit web/3 is dead: it has no hook that could run"},
        {"no unit", ACTOR_REP, STATUS " guid=g3 state=stopped", REPORT "stopped",
         "ResourceNotFound: there is no such unit: bbs units lists those that are"},
        {"no status", ACTOR_REP, UNIT("alive"), REPORT "installed",
         "ResourceNotFound: the requested resource could not be found"},
    };
    TRY(rows);
    (void)state;
}

static void a_hook_fails(void **state)
{
    static const struct unit_move_row rows[] = {
        {"what it comes back to is noted", ACTOR_REP, IS("installed"),
         FAIL "start status.output=boom",
         "fail " STATUS " state=error before=installed hook=start output=boom since=1000s"},
        {"of a relation", ACTOR_REP, IS("started"),
         FAIL "db-relation-joined status.relation=r7 status.remote_unit=db/0",
         "fail " STATUS " state=error before=started hook=db-relation-joined relation=r7 "
         "remote_unit=db/0 since=1000s"},
        {"told again", ACTOR_REP, IS("error" BROKEN), FAIL "start status.output=boom", "nothing"},
        {"something else is new of it", ACTOR_REP, IS("error" BROKEN),
         FAIL "start status.output=boom status.crash_count=1", "fail " STATUS " crash_count=1"},
        {"the same after it was resolved: that stands", ACTOR_REP, IS("error resolved=1" BROKEN),
         FAIL "start status.output=boom status.crash_count=1", "fail " STATUS " crash_count=1"},
        {"told again after it was resolved: that stands", ACTOR_REP, IS("error resolved=1" BROKEN),
         FAIL "start status.output=boom", "nothing"},
        {"it ran again, and has failed again", ACTOR_REP, IS("error resolved=1" BROKEN),
         "fail " STATUS " " SEEN "guid=g3 status.state=error status.hook=start status.output=boom "
         "status.resolved=1", "fail " STATUS " resolved=0 since=1000s"},
        {"of an earlier record: what was resolved since stands", ACTOR_REP,
         IS("error resolved=1" BROKEN), "fail " STATUS " revision=14 guid=g3 status.state=error "
         "status.hook=start status.output=boom status.resolved=1", "nothing"},
        {"another resolution than what stands", ACTOR_REP, IS("error resolved=2" BROKEN),
         "fail " STATUS " " SEEN "guid=g3 status.state=error status.hook=start status.output=boom "
         "status.resolved=1", "nothing"},
        {"a hook that was skipped is followed by one that fails", ACTOR_REP,
         IS("error resolved=2" BROKEN), "fail " STATUS " " SEEN
         "guid=g3 status.state=error status.hook=stop status.resolved=2",
         "fail " STATUS " hook=stop output= resolved=0 since=1000s"},
    };
    TRY(rows);
    (void)state;
}

static void an_agent_comes_out_of_an_error(void **state)
{
    static const char not_yet[] =
        "ResourceConflict: unit web/3 is error: another cell's, not what it can be now, or in "
        "error until its agent has done what was resolved";
    static const struct unit_move_row rows[] = {
        {"it did what was resolved", ACTOR_REP, IS("error resolved=1" BROKEN),
         "report " STATUS " " SEEN "guid=g3 status.state=installed status.resolved=1",
         "report " STATUS " state=installed before= hook= output= resolved=0 since=1000s"},
        {"the install hook ran again", ACTOR_REP,
         IS("error resolved=1 hook=install before=pending"),
         "report " STATUS " " SEEN "guid=g3 status.state=pending status.resolved=1",
         "report " STATUS " state=pending before= hook= resolved=0 since=1000s"},
        {"as it never was", ACTOR_REP, IS("error resolved=1" BROKEN),
         "report " STATUS " " SEEN "guid=g3 status.state=started status.resolved=1", not_yet},
        {"nobody has resolved it", ACTOR_REP, IS("error" BROKEN),
         "report " STATUS " " SEEN "guid=g3 status.state=installed", not_yet},
        {"it does not say what was resolved", ACTOR_REP, IS("error resolved=2" BROKEN),
         "report " STATUS " " SEEN "guid=g3 status.state=installed", not_yet},
        {"of an earlier record", ACTOR_REP, IS("error resolved=1" BROKEN), "report " STATUS
         " revision=14 guid=g3 status.state=installed status.resolved=1", not_yet},
    };
    TRY(rows);
    (void)state;
}

#define RESOLVE "resolve " STATUS " resolved="

static void a_client_resolves(void **state)
{
    static const struct unit_move_row rows[] = {
        {"to run again", ACTOR_CLIENT, IS("error" BROKEN), RESOLVE "1",
         "resolve " STATUS " resolved=1"},
        {"to count as done, of a dying unit", ACTOR_CLIENT, UNIT("dying") STATUS
         " guid=g3 state=error" BROKEN, RESOLVE "2", "resolve " STATUS " resolved=2"},
        {"not in error", ACTOR_CLIENT, IS("started"), RESOLVE "1",
         "ResourceConflict: unit web/3 is started, not in error: there is nothing to resolve"},
        {"resolved already, alike", ACTOR_CLIENT, IS("error resolved=1" BROKEN), RESOLVE "1",
         "ResourceConflict: unit web/3 is resolved already: its agent runs its hook again as soon "
         "as it hears of it"},
        {"resolved already, otherwise", ACTOR_CLIENT, IS("error resolved=2" BROKEN), RESOLVE "1",
         "ResourceConflict: unit web/3 is resolved already: its agent takes its hook as done as "
         "soon as it hears of it"},
        {"of a namesake", ACTOR_CLIENT, IS("error" BROKEN), RESOLVE "1 guid=g2",
         "ResourceNotFound: the unit of that guid is gone: another one has its name"},
        {"there is no such unit", ACTOR_CLIENT, "unit_service/web state=alive", RESOLVE "1",
         "ResourceNotFound: there is no such unit: bbs units lists those that are"},
    };
    TRY(rows);
    (void)state;
}

/* ---- What a move may say --------------------------------------------------------------------- */

static void says(const Board__Move *m, const char *want)
{
    struct validation v = {0};
    move_row_named(&unit_status_moves, m->move)->valid(&v, m);
    assert_int_equal(validation_ok(&v), !want);
    if (want) {
        assert_string_equal(validation_text(&v), want);
    }
    validation_done(&v);
}

static void what_nobody_may_say_is_refused(void **state)
{
    static const char neither[] = "resolved says neither that the hook is to run again (--retry) "
                                  "nor that it counts as done (--skip)";
    static const struct {
        const char *move, *want;
    } rows[] = {
        {"resolve " STATUS, neither},
        {"resolve " STATUS " resolved=3", neither},
        {RESOLVE "2", NULL},
        {"report " STATUS " guid=g3", "Invalid field: status"},
        {REPORT "error", "Invalid field: status.state"},
        {REPORT "none", "Invalid field: status.state"},
        {REPORT "asleep", "Invalid field: status.state"},
        {"fail " STATUS " guid=g3 status.state=started status.hook=x",
         "Invalid field: status.state"},
        {"fail " STATUS " guid=g3 status.state=error", "Invalid field: status.hook"},
        {"report unit_status/9web/0000000003 guid=g3 status.state=started", "Invalid field: key"},
    };
    struct laid_system l;
    laid_units_init(&l, "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        says(laid_units_move(&l, rows[i].move), rows[i].want);
    }
    laid_system_done(&l);
    (void)state;
}

static char *long_text(struct arena *a, size_t size)
{
    char *text = arena_alloc(a, size + 1);
    memset(text, 'x', size);
    text[size] = 0;
    return text;
}

static void what_an_agent_says_has_bounds(void **state)
{
    struct laid_system l;
    laid_units_init(&l, "");
    Board__Move *m = laid_units_move(&l, FAIL "start");
    Board__UnitStatusRecord *said = m->units->status;
    said->text = long_text(&l.arena, UNIT_STATUS_TEXT_MAX);
    said->output = long_text(&l.arena, UNIT_STATUS_OUTPUT_MAX);
    said->hook = long_text(&l.arena, NAME_CHARACTERS_MAX);
    said->ports = ARENA_ARRAY(&l.arena, UNIT_STATUS_PORTS_MAX + 1, Models__PortMapping *);
    said->n_ports = UNIT_STATUS_PORTS_MAX;
    says(m, NULL);
    said->n_ports++;
    says(m, "Invalid field: status.ports");
    said->n_ports--;
    said->text = long_text(&l.arena, UNIT_STATUS_TEXT_MAX + 1);
    says(m, "status.text has 513 bytes: it may have 512");
    said->text = long_text(&l.arena, 1);
    said->crash_reason = long_text(&l.arena, UNIT_STATUS_TEXT_MAX + 1);
    says(m, "status.crash_reason has 513 bytes: it may have 512");
    said->crash_reason = long_text(&l.arena, UNIT_STATUS_TEXT_MAX);
    said->upgrade_error = long_text(&l.arena, UNIT_STATUS_TEXT_MAX + 1);
    says(m, "status.upgrade_error has 513 bytes: it may have 512");
    said->upgrade_error = long_text(&l.arena, UNIT_STATUS_TEXT_MAX);
    said->text = long_text(&l.arena, 1);
    said->output = long_text(&l.arena, UNIT_STATUS_OUTPUT_MAX + 1);
    says(m, "status.output has 4097 bytes: it may have 4096");
    said->output = long_text(&l.arena, 1);
    said->hook = long_text(&l.arena, NAME_CHARACTERS_MAX + 1);
    says(m, "the request received is invalid");
    said->hook = long_text(&l.arena, 1);
    Board__UnitHookRun run = BOARD__UNIT_HOOK_RUN__INIT;
    said->running = &run;
    says(m, "Invalid field: status.running.hook");
    run.hook = long_text(&l.arena, NAME_CHARACTERS_MAX);
    says(m, NULL);
    run.remote_unit = long_text(&l.arena, NAME_CHARACTERS_MAX + 1);
    says(m, "the request received is invalid");
    laid_system_done(&l);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_agent_reports),
        cmocka_unit_test(whose_unit_it_is_is_asked),
        cmocka_unit_test(a_hook_fails),
        cmocka_unit_test(an_agent_comes_out_of_an_error),
        cmocka_unit_test(a_client_resolves),
        cmocka_unit_test(what_nobody_may_say_is_refused),
        cmocka_unit_test(what_an_agent_says_has_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
