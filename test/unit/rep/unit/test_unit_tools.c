/* What the tools of a hook see of the board: as it was when the hook began, though the note is
 * written, the process begun and the first tool asked after that; and as a rep that comes later
 * finds it, from then on. */
#include "rep/container/note.h"
#include "rep/inside.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/unit_rig.h"

#include <string.h>

#define MEMBER "relation_member/0000000001/-/1/db/0000000003"
#define JOINED MEMBER " state=joined unit_guid=db3"
#define DEPARTING MEMBER " state=departing unit_guid=db3"

/* Of db/3; its value. */
static void put_settings(struct rep_rig *g, const char *value)
{
    Board__UnitSetting setting = BOARD__UNIT_SETTING__INIT, *list[] = {&setting};
    Board__RelationSettingsRecord r = BOARD__RELATION_SETTINGS_RECORD__INIT;
    setting.key = unit_rig_text("at"), setting.value = unit_rig_text(value);
    r.settings = list, r.n_settings = 1;
    unit_rig_put(g, "relation_settings/0000000001/-/1/db/0000000003", &r.base);
}

static void put_charm(struct rep_rig *g)
{
    Board__CharmHook joined = BOARD__CHARM_HOOK__INIT, *hooks[] = {&joined};
    Models__RunAction command = MODELS__RUN_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__DesiredLRP run = MODELS__DESIRED_LRP__INIT;
    Board__Charm charm = BOARD__CHARM__INIT;
    Board__CharmRecord record = BOARD__CHARM_RECORD__INIT;
    command.path = unit_rig_text("/bin/true"), command.user = unit_rig_text("root");
    action.run_action = &command, run.action = &action;
    joined.name = unit_rig_text("db-relation-joined"), joined.script = unit_rig_text("true");
    charm.run = &run, charm.hooks = hooks, charm.n_hooks = 1, record.charm = &charm;
    unit_rig_put(g, "charm/web/c", &record.base);
}

static void lay_board(struct rep_rig *g)
{
    static const char *const rows[] = {
        "unit_service_relation/web/0000000001 number=1 guid=r1",
        "relation/0000000001 number=1 guid=r1 state=alive ends=web:db:0:kv:0,db:db:1:kv:0",
        "relation_member/0000000001/-/0/web/0000000003 state=joined unit_guid=u-1",
        "unit_scope/web/0000000003/0000000001 relation_guid=r1 "
        "member=relation_member/0000000001/-/0/web/0000000003",
        JOINED,
    };
    unit_rig_put_unit(g);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unit_rig_put_row(g, rows[i]);
    }
    put_charm(g);
    put_settings(g, "1");
    unit_rig_know_all(g);
}

/* It has started; of its joined with db/3 the note says that it runs, or nothing. */
static struct container_status unit_found(struct rep_rig *g, bool hook,
                                          const struct step_fact *begun)
{
    Rep__UnitNoteHook joined = REP__UNIT_NOTE_HOOK__INIT;
    Rep__UnitNoteRelation r = REP__UNIT_NOTE_RELATION__INIT, *relations[] = {&r};
    Rep__UnitNote journal = REP__UNIT_NOTE__INIT;
    Rep__UnitOf of = REP__UNIT_OF__INIT;
    Rep__Note note = REP__NOTE__INIT;
    joined.state = unit_rig_text("noted"), joined.hook = HOOK_JOINED, joined.relation = 1,
    joined.unit = 3;
    joined.token = unit_rig_text("t"), joined.attempt = 1, joined.run = RUN_FIRST + 1;
    r.number = 1, r.guid = unit_rig_text("r1");
    journal.relations = relations, journal.n_relations = 1;
    journal.format = JOURNAL_FORMAT, journal.epoch = unit_rig_text(RIG_BOARD_GENERATION);
    journal.installed = journal.configured = journal.started = true;
    journal.charm = of.charm = joined.charm = unit_rig_text("c");
    journal.hook = hook ? &joined : NULL;
    of.service = unit_rig_text("web"), of.number = 3, of.service_guid = unit_rig_text("s-1");
    of.journal = &journal, of.command_run = RUN_FIRST, of.last_run = RUN_FIRST + hook;
    note.format = NOTE_FORMAT, note.unit = &of, note.instance_guid = unit_rig_text("u-1");
    note.memory_mb = 100, note.disk_mb = 10;
    return (struct container_status){.guid = "u-1",
                                     .state = CONTAINER_RUNNING,
                                     .text = "",
                                     .facts = begun,
                                     .fact_count = hook,
                                     .note = note_pack(&g->arena, &note)};
}

static void open_with(struct rep_rig *g, const struct container_status *s)
{
    rep_rig_start(g);
    rep_rig_answer_incarnation(g);
    rep_rig_feed_open(g);
    lay_board(g);
    rep_rig_answer_list(g, s, 1);
    rep_rig_advance(g, 1);
}

/* "db/3 at=1": who is listed, and what db/3 tells; "" = nothing can be told. */
static const char *read_by(struct rep_rig *g, const char *token)
{
    struct tool_world w;
    const char *guid;
    const struct tools_owner *o = &unit_rig_rep(g)->units.tools;
    if (o->world(o->context, token, &g->arena, &w, &guid) != TOOLS_FOUND) {
        return "";
    }
    const struct tool_relation *r = &w.relations[0];
    assert_string_equal(guid, "u-1");
    assert_string_equal(w.remote_unit, "db/3");
    assert_int_equal(r->member_count, 1);
    return arena_printf(&g->arena, "%s at=%s", r->members[0].present ? r->members[0].unit : "",
                        r->members[0].settings[0]->value);
}

static const char *hook_token(struct rep_rig *g)
{
    const struct container *c = cell_unit_container(cell_unit_find(&unit_rig_rep(g)->units, "u-1"));
    return c->about->unit->journal->hook->token;
}

static void it_is_frozen_when_the_hook_begins(void **state)
{
    SCOPED_REP_RIG(g);
    struct container_status s = unit_found(&g, false, NULL);
    open_with(&g, &s);
    struct verb_call note = rep_rig_take_verb(&g, VERB_NOTE);
    assert_true(note.durable);
    rep_rig_verb(&g, note, VERB_FAILED, "no space"); /* it begins when that is written */
    put_settings(&g, "2");
    rep_rig_advance(&g, 10000);
    note = rep_rig_take_verb(&g, VERB_NOTE);
    unit_rig_put_row(&g, DEPARTING);
    put_settings(&g, "3");
    rep_rig_advance(&g, 1);
    rep_rig_verb(&g, note, VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_RUN), VERB_DONE, "");
    put_settings(&g, "4");
    rep_rig_advance(&g, 1);
    assert_string_equal(read_by(&g, hook_token(&g)), "db/3 at=2");
    (void)state;
}

/* What hooks set is told at once, however often: only a move that comes to nothing waits. */
static void a_hook_that_begins_lets_moves_go_at_once(void **state)
{
    SCOPED_REP_RIG(g);
    struct container_status s = unit_found(&g, false, NULL);
    open_with(&g, &s);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_NOTE), VERB_FAILED, "no space");
    struct cell_unit *u = cell_unit_find(&unit_rig_rep(&g)->units, "u-1");
    u->act_wait = (struct unit_wait){.failures = 9, .retry_ns = NEVER_NS};
    rep_rig_advance(&g, 10000);
    rep_rig_take_verb(&g, VERB_NOTE);
    assert_int_equal(u->act_wait.failures + u->act_wait.retry_ns, 0);
    (void)state;
}

static const struct step_fact begun = {.step = RUN_FIRST + 1, .kind = FACT_BEGUN, .text = ""};

/* What the one before had frozen is lost: whom the hook is about it lists still, and what it reads
 * does not change any more. */
static void a_later_rep_freezes_it_as_it_finds_it(void **state)
{
    SCOPED_REP_RIG(g);
    struct container_status s = unit_found(&g, true, &begun);
    rep_rig_start(&g);
    rep_rig_answer_incarnation(&g);
    rep_rig_feed_open(&g);
    lay_board(&g);
    unit_rig_put_row(&g, DEPARTING);
    rep_rig_answer_list(&g, &s, 1);
    rep_rig_advance(&g, 1);
    put_settings(&g, "2");
    rep_rig_advance(&g, 1);
    assert_string_equal(read_by(&g, "t"), "db/3 at=1");
    assert_string_equal(read_by(&g, "another"), "");
    (void)state;
}

static void before_a_bbs_has_answered_it_waits(void **state)
{
    SCOPED_REP_RIG(g);
    struct container_status s = unit_found(&g, true, &begun);
    rep_rig_start(&g);
    rep_rig_answer_incarnation(&g);
    rep_rig_answer_list(&g, &s, 1);
    rep_rig_advance(&g, 1);
    assert_string_equal(read_by(&g, "t"), "");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_frozen_when_the_hook_begins),
        cmocka_unit_test(a_hook_that_begins_lets_moves_go_at_once),
        cmocka_unit_test(a_later_rep_freezes_it_as_it_finds_it),
        cmocka_unit_test(before_a_bbs_has_answered_it_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
