/* A unit whose next charm asks for another container: its image comes to the cell before the one
 * that is there ends; if it cannot be had, the unit stays as it is, and goes on with its other
 * hooks. */
#include "rep/container/note.h"
#include "rep/inside.h"
#include "rep/unit/unit_shape.h"
#include "rep_image.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/unit_rig.h"

#include <string.h>

/* Of a charm; one that has another root filesystem has another shape. */
static void put_charm(struct rep_rig *g, const char *digest, const char *rootfs)
{
    Models__RunAction command = MODELS__RUN_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__DesiredLRP run = MODELS__DESIRED_LRP__INIT;
    Board__Charm charm = BOARD__CHARM__INIT;
    Board__CharmRecord record = BOARD__CHARM_RECORD__INIT;
    command.path = unit_rig_text("/bin/true"), command.user = unit_rig_text("root");
    action.run_action = &command, run.action = &action, run.root_fs = unit_rig_text(rootfs);
    charm.run = &run, record.charm = &charm;
    unit_rig_put(g, arena_printf(&g->arena, "charm/web/%s", digest), &record.base);
}

static void upgrade(struct rep_rig *g, const char *rootfs)
{
    put_charm(g, "d", rootfs);
    unit_rig_put_row(g, "unit_service/web name=web guid=s-1 state=alive charm=d");
    rep_rig_advance(g, 1);
}

/* A rep that comes new runs config-changed, which this charm does not have. Nothing of a hook comes
 * before its note is on the disk. */
static void settle_config(struct rep_rig *g)
{
    struct verb_call begins = rep_rig_take_verb(g, VERB_NOTE);
    assert_true(begins.durable);
    rep_rig_advance(g, 1);
    assert_int_equal(rep_rig_verbs(g, VERB_NOTE) + rep_rig_verbs(g, VERB_RUN), 0);
    rep_rig_verb(g, begins, VERB_DONE, "");
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_NOTE), VERB_DONE, "");
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_FORGET), VERB_DONE, "");
    rep_rig_advance(g, 1);
}

/* It runs by the charm c, of preloaded:busybox, and its command does. */
static void open_unit(struct rep_rig *g)
{
    const struct step_fact begun = {.step = RUN_FIRST, .kind = FACT_BEGUN, .text = ""};
    Models__RunAction command = MODELS__RUN_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__DesiredLRP run = MODELS__DESIRED_LRP__INIT;
    Rep__UnitNote journal = REP__UNIT_NOTE__INIT;
    Rep__UnitOf of = REP__UNIT_OF__INIT;
    Rep__Note note = REP__NOTE__INIT;
    command.path = unit_rig_text("/bin/true"), command.user = unit_rig_text("root");
    action.run_action = &command, run.action = &action;
    run.root_fs = unit_rig_text("preloaded:busybox");
    journal.format = JOURNAL_FORMAT, journal.epoch = unit_rig_text(RIG_BOARD_GENERATION);
    journal.installed = journal.configured = journal.started = true;
    journal.charm = of.charm = unit_rig_text("c");
    of.service = unit_rig_text("web"), of.number = 3, of.service_guid = unit_rig_text("s-1");
    of.journal = &journal, of.command_run = of.last_run = RUN_FIRST;
    of.shape = unit_rig_text(unit_shape(&g->arena, &run));
    note.format = NOTE_FORMAT, note.unit = &of, note.instance_guid = unit_rig_text("u-1");
    note.memory_mb = 100, note.disk_mb = 10;
    const struct container_status s = {.guid = "u-1",
                                       .state = CONTAINER_RUNNING,
                                       .text = "",
                                       .facts = &begun,
                                       .fact_count = 1,
                                       .note = note_pack(&g->arena, &note)};
    rep_rig_start(g);
    rep_rig_answer_incarnation(g);
    rep_rig_feed_open(g);
    unit_rig_put_unit(g);
    put_charm(g, "c", "preloaded:busybox");
    unit_rig_know_all(g);
    rep_rig_answer_list(g, &s, 1);
    rep_rig_advance(g, 1);
    settle_config(g);
}

/* What it would report; "" = nothing keeps it. */
static const char *upgrade_error(struct rep_rig *g)
{
    struct rep *r = unit_rig_rep(g);
    struct agent_facts f = cell_unit_facts(r, &g->arena, cell_unit_find(&r->units, "u-1"));
    assert_true(f.confirmed);
    return f.upgrade_error;
}

static size_t ends(struct rep_rig *g)
{
    return rep_rig_verbs(g, VERB_SIGNAL) + rep_rig_verbs(g, VERB_REMOVE);
}

static void without_such_a_root_filesystem_it_stays(void **state)
{
    SCOPED_REP_RIG(g);
    open_unit(&g);
    upgrade(&g, "preloaded:another");
    assert_string_equal(upgrade_error(&g), "its cell has no root filesystem preloaded:another");
    rep_rig_advance(&g, 60000);
    assert_int_equal(ends(&g) + rep_rig_verbs(&g, VERB_PULL), 0);
    unit_rig_put_row(&g, "unit_config/web"); /* it goes on by the charm that it has */
    rep_rig_advance(&g, 1);
    assert_int_equal(rep_rig_verbs(&g, VERB_NOTE), 1);
    (void)state;
}

static void with_a_directory_of_the_cell_it_is_made_anew(void **state)
{
    SCOPED_REP_RIG(g);
    static const char *const rootfs[] = {"busybox", "another", NULL};
    g.config.rootfs_names = rootfs;
    open_unit(&g);
    upgrade(&g, "preloaded:another");
    assert_string_equal(upgrade_error(&g), "");
    rep_rig_advance(&g, 1);
    rep_rig_take_verb(&g, VERB_SIGNAL);
    assert_int_equal(rep_rig_verbs(&g, VERB_PULL), 0);
    (void)state;
}

static void pulled(struct rep_rig *g, struct verb_call call, enum verb_outcome outcome,
                   const char *text)
{
    assert_string_not_equal(call.guid, "u-1"); /* whose image stays */
    rep_rig_verb(g, call, outcome, text);
    rep_rig_advance(g, 1);
}

static void it_ends_when_its_image_is_here(void **state)
{
    SCOPED_REP_RIG(g);
    g.config.pulls_images = true;
    open_unit(&g);
    upgrade(&g, "docker://registry.test/web:2");
    struct verb_call pull = rep_rig_take_verb(&g, VERB_PULL);
    assert_string_equal(pull.image->name, "docker://registry.test/web:2");
    rep_rig_advance(&g, 60000);
    assert_int_equal(ends(&g) + rep_rig_verbs(&g, VERB_PULL), 0); /* it goes on meanwhile */
    pulled(&g, pull, VERB_FAILED, "no such manifest");
    assert_string_equal(upgrade_error(&g), "no such manifest");
    rep_rig_advance(&g, UNIT_FETCH_AGAIN_NS / MILLISECOND_NS - 1000);
    assert_int_equal(ends(&g) + rep_rig_verbs(&g, VERB_PULL), 0);
    rep_rig_advance(&g, 1000);
    pulled(&g, rep_rig_take_verb(&g, VERB_PULL), VERB_DONE, "");
    assert_string_equal(upgrade_error(&g), "");
    rep_rig_take_verb(&g, VERB_SIGNAL);
    (void)state;
}

/* The service comes back to a charm that the container suits, or to another image. */
static void what_is_not_wanted_any_more_is_nothing(void **state)
{
    SCOPED_REP_RIG(g);
    g.config.pulls_images = true;
    open_unit(&g);
    upgrade(&g, "docker://registry.test/web:2");
    struct verb_call pull = rep_rig_take_verb(&g, VERB_PULL);
    upgrade(&g, "docker://registry.test/web:3");
    struct verb_call next = rep_rig_take_verb(&g, VERB_PULL);
    pulled(&g, pull, VERB_DONE, "");
    assert_int_equal(ends(&g), 0);
    pulled(&g, next, VERB_UNCERTAIN, "");
    assert_string_equal(upgrade_error(&g), "nobody can tell whether its image was pulled");
    upgrade(&g, "preloaded:busybox");
    assert_string_equal(upgrade_error(&g), "");
    rep_rig_advance(&g, 60000);
    assert_int_equal(ends(&g) + rep_rig_verbs(&g, VERB_PULL), 0);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_such_a_root_filesystem_it_stays),
        cmocka_unit_test(with_a_directory_of_the_cell_it_is_made_anew),
        cmocka_unit_test(it_ends_when_its_image_is_here),
        cmocka_unit_test(what_is_not_wanted_any_more_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
