/* Units that a rep finds at its driver, and the board does not know: told of this board they are
 * recalled, as their containers stand; told of one that was restored since they are kept, and
 * shown, until an operator ends them. */
#include "rep/container/note.h"
#include "rep/http/cell_state.h"
#include "rep/inside.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

#include <string.h>

#define OTHER_EPOCH "another-board"

/* In its journal install, config-changed and start have run; or install is noted. */
static struct container_status unit_found(struct rep_rig *g, const char *epoch, bool hook,
                                          enum container_state state)
{
    Rep__UnitNoteHook install = REP__UNIT_NOTE_HOOK__INIT;
    Rep__UnitNote journal = REP__UNIT_NOTE__INIT;
    Rep__UnitOf of = REP__UNIT_OF__INIT;
    Rep__Note note = REP__NOTE__INIT;
    install.state = (char *)"noted";
    install.hook = HOOK_INSTALL;
    install.token = (char *)"t";
    install.attempt = 1;
    install.run = RUN_FIRST;
    journal.format = JOURNAL_FORMAT;
    journal.epoch = (char *)(uintptr_t)epoch;
    journal.installed = journal.configured = journal.started = !hook;
    journal.hook = hook ? &install : NULL;
    of.service = (char *)"web";
    of.number = 3;
    of.service_guid = (char *)"s-1";
    of.charm = (char *)"c";
    journal.charm = hook ? (char *)"" : of.charm;
    install.charm = of.charm;
    of.journal = &journal;
    note.format = NOTE_FORMAT;
    note.unit = &of;
    note.instance_guid = (char *)"u-1";
    note.memory_mb = 100;
    note.disk_mb = 10;
    return (struct container_status){
        .guid = "u-1", .state = state, .text = "", .note = note_pack(&g->arena, &note)};
}

static void open_with(struct rep_rig *g, struct container_status *s)
{
    rep_rig_start(g);
    rep_rig_answer_incarnation(g);
    rep_rig_feed_open(g);
    rep_rig_answer_list(g, s, 1);
    rep_rig_advance(g, 1);
}

static const Cell__UnitHere *told(struct rep_rig *g)
{
    const Cell__CellState *s = cell_state_make((const struct rep *)g->role, &g->arena);
    assert_true(s->n_units <= 1 && s->n_lrps + s->n_tasks == 0);
    return s->n_units ? s->units[0] : NULL;
}

static int ask(struct rep_rig *g, const char *path, bool admin)
{
    drive_event(&g->d, (struct event){.kind = EVENT_REQUEST,
                                      .request = {.id = 77,
                                                  .method = "POST",
                                                  .path = path,
                                                  .query = "",
                                                  .trace_id = "",
                                                  .accept = "",
                                                  .content_type = "",
                                                  .if_none_match = "",
                                                  .admin = admin,
                                                  .peer = {.unit = "client", .name = "admin"}}});
    return rep_rig_take_reply(g).status;
}

/* It is stopped first, if it runs, and deleted; its note, if that is all there is. */
static void is_deleted(struct rep_rig *g, enum container_state state)
{
    rep_rig_advance(g, 1);
    if (state == CONTAINER_RUNNING) {
        struct verb_call term = rep_rig_take_verb(g, VERB_SIGNAL);
        struct container_status ended = unit_found(g, OTHER_EPOCH, false, CONTAINER_EXITED);
        rep_rig_verb(g, term, VERB_DONE, "");
        drive_event(&g->d, (struct event){.kind = EVENT_CONTAINER, .container = ended});
    }
    struct verb_call removal = rep_rig_take_verb(g, VERB_REMOVE);
    assert_string_equal(removal.guid, "u-1");
    assert_false(removal.keep_note);
    rep_rig_verb(g, removal, VERB_DONE, "");
    assert_null(told(g));
    assert_int_equal(rep_rig_verbs(g, VERB_PREPARE) + rep_rig_verbs(g, VERB_START), 0);
}

static const enum container_state found[] = {CONTAINER_RUNNING, CONTAINER_EXITED, CONTAINER_KEPT};

static void of_this_board_it_is_recalled(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        SCOPED_REP_RIG(g);
        struct container_status s = unit_found(&g, RIG_BOARD_GENERATION, i == 1, found[i]);
        open_with(&g, &s);
        is_deleted(&g, found[i]);
    }
}

static void of_another_board_it_is_kept_until_somebody_ends_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        SCOPED_REP_RIG(g);
        struct container_status s = unit_found(&g, OTHER_EPOCH, false, found[i]);
        open_with(&g, &s);
        rep_rig_advance(&g, 5000);
        assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL) + rep_rig_verbs(&g, VERB_REMOVE), 0);
        const Cell__UnitHere *u = told(&g);
        assert_non_null(u);
        assert_string_equal(u->unit, "web/3");
        assert_string_equal(u->guid, "u-1");
        assert_string_equal(u->state, "unknown");
        assert_int_equal(u->memory_mb, 100);
        assert_int_equal(ask(&g, "/v1/units/u-1/recall", false), 404); /* from elsewhere */
        assert_int_equal(ask(&g, "/v1/units/u-2/recall", true), 404);
        assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL) + rep_rig_verbs(&g, VERB_REMOVE), 0);
        assert_int_equal(ask(&g, "/v1/units/u-1/recall", true), 200);
        is_deleted(&g, found[i]);
        assert_int_equal(ask(&g, "/v1/units/u-1/recall", true), 404);
    }
}

/* Before a bbs has answered nobody knows whether it is unknown. */
static void what_may_be_known_is_not_recalled(void **state)
{
    (void)state;
    SCOPED_REP_RIG(g);
    struct container_status s = unit_found(&g, OTHER_EPOCH, false, CONTAINER_RUNNING);
    rep_rig_start(&g);
    rep_rig_answer_incarnation(&g);
    rep_rig_answer_list(&g, &s, 1);
    rep_rig_advance(&g, 1);
    assert_string_equal(told(&g)->state, "RUNNING");
    assert_int_equal(ask(&g, "/v1/units/u-1/recall", true), 409);
    assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL) + rep_rig_verbs(&g, VERB_REMOVE), 0);
}

/* Its container has ended, and will be made again: nobody else gets its memory meanwhile. */
static void memory_is_free_when_it_is_deleted(void **state)
{
    (void)state;
    SCOPED_REP_RIG(g);
    struct container_status s = unit_found(&g, OTHER_EPOCH, false, CONTAINER_RUNNING);
    struct container_status ended = unit_found(&g, OTHER_EPOCH, false, CONTAINER_EXITED);
    open_with(&g, &s);
    const struct rep *r = (const struct rep *)g.role;
    assert_int_equal(r->capacity.reserved.memory_mb, 100);
    drive_event(&g.d, (struct event){.kind = EVENT_CONTAINER, .container = ended});
    rep_rig_advance(&g, 5000);
    assert_int_equal(r->capacity.reserved.memory_mb, 100);
    assert_int_equal(ask(&g, "/v1/units/u-1/recall", true), 200);
    is_deleted(&g, CONTAINER_EXITED);
    assert_int_equal(r->capacity.reserved.memory_mb, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_this_board_it_is_recalled),
        cmocka_unit_test(of_another_board_it_is_kept_until_somebody_ends_it),
        cmocka_unit_test(memory_is_free_when_it_is_deleted),
        cmocka_unit_test(what_may_be_known_is_not_recalled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
