/* What a rep makes of a definition that joins another instance's network. */
#include "common/contract/driver.h"
#include "rep/container/join.h"
#include "rep/container/note.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

#include <string.h>

enum { FIRST = 1000000000 };

struct joining {
    Models__Network network;
    Models__Network__PropertiesEntry entry, *list[1];
};

static void joining_init(struct joining *j, const char *value)
{
    models__network__init(&j->network);
    models__network__properties_entry__init(&j->entry);
    j->entry.key = (char *)"join";
    j->entry.value = (char *)(uintptr_t)value;
    j->list[0] = &j->entry;
    j->network.properties = j->list;
    j->network.n_properties = 1;
}

static void open_rig(struct rep_rig *g, bool own_network, unsigned ranges)
{
    g->config.own_network = own_network;
    g->config.privileged = true;
    g->config.containers = 8;
    g->config.ids_first = FIRST;
    g->config.ids_count = ranges * CONTAINER_IDS;
    rep_rig_open(g, NULL, 0);
}

/* Up to the answer about its definition, which joins the network of `guid`. */
static const char *begin(struct rep_rig *g, const char *process_guid, const char *guid,
                         bool privileged)
{
    struct joining j;
    assert_int_equal(rep_rig_work(g, process_guid, 10), 0);
    struct rep_rig_move claim = rep_rig_take_move(g, "claim");
    const char *own = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(g, claim, rep_rig_record(g, process_guid, "CLAIMED", own, RIG_CELL));
    Models__DesiredLRP *lrp = rep_rig_desired(g, process_guid, NULL, 0);
    joining_init(&j, arena_printf(&g->arena, "instance:%s", guid));
    lrp->privileged = privileged;
    lrp->network = &j.network;
    rep_rig_answer_desired(g, lrp);
    return own;
}

/* Then nothing is left of it. */
static const char *refusal(struct rep_rig *g)
{
    assert_int_equal(rep_rig_verbs(g, VERB_PREPARE), 0);
    struct rep_rig_move crash = rep_rig_take_move(g, "crash");
    const char *key = crash.move->subject->key;
    Models__ActualLRP *unclaimed = rep_rig_record(
        g, arena_strndup(&g->arena, key, strcspn(key, "/")), "UNCLAIMED", "", "");
    rep_rig_move_done(g, crash, unclaimed);
    rep_rig_feed_put(g, unclaimed);
    return crash.move->instance->error_message;
}

/* Stopped by the board, until nothing is left of it. */
static void removed(struct rep_rig *g, const char *process_guid, const char *guid)
{
    rep_rig_exited(g, guid, 3);
    Models__ActualLRP *unclaimed = rep_rig_record(g, process_guid, "UNCLAIMED", "", "");
    rep_rig_move_done(g, rep_rig_take_move(g, "crash"), unclaimed);
    rep_rig_feed_put(g, unclaimed);
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_REMOVE), VERB_DONE, "");
}

static const char *value_of(const struct container_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->env_count; i++) {
        if (strcmp(spec->env[i].name, name) == 0) {
            return spec->env[i].value;
        }
    }
    return NULL;
}

/* Started, and RUNNING on the board, with what its net info says. */
static const Models__ActualLRPNetInfo *runs(struct rep_rig *g, const char *process_guid,
                                            const char *guid, struct verb_call prepare)
{
    rep_rig_verb(g, prepare, VERB_DONE, "");
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_START), VERB_DONE, "");
    struct rep_rig_move start = rep_rig_take_move(g, "start");
    rep_rig_move_done(g, start, rep_rig_record(g, process_guid, "RUNNING", guid, RIG_CELL));
    rep_rig_feed_put(g, rep_rig_record(g, process_guid, "RUNNING", guid, RIG_CELL));
    return start.move->instance->actual_lrp_net_info;
}

static void it_has_what_the_other_has(void **state)
{
    SCOPED_REP_RIG(g);
    open_rig(&g, true, 2);
    const char *web = rep_rig_run(&g, "web");
    const char *guid = begin(&g, "side", web, false);
    struct verb_call call = rep_rig_take_verb(&g, VERB_PREPARE);
    assert_string_equal(call.spec->join, web);
    assert_int_equal(call.spec->ids_first, FIRST);
    assert_int_equal(call.spec->port_count, 0); /* they are mapped already */
    assert_null(value_of(call.spec, "PORT"));
    assert_string_equal(value_of(call.spec, "CF_INSTANCE_PORT"), "61000");
    const Models__ActualLRPNetInfo *net = runs(&g, "side", guid, call);
    assert_int_equal(net->n_ports, 1);
    assert_int_equal(net->ports[0]->host_port, 61000);

    /* Who joins it joins the first one. */
    begin(&g, "third", guid, false);
    assert_string_equal(rep_rig_take_verb(&g, VERB_PREPARE).spec->join, web);
}

/* Ports and ids stay taken until the last one has gone, whoever was first. */
static void nothing_is_free_before_the_last_has_gone(void **state)
{
    for (int joined_first = 0; joined_first < 2; joined_first++) {
        SCOPED_REP_RIG(g);
        g.config.port_high = 61000; /* the only one */
        open_rig(&g, true, 1);
        const char *web = rep_rig_run(&g, "web");
        const char *side = begin(&g, "side", web, false);
        runs(&g, "side", side, rep_rig_take_verb(&g, VERB_PREPARE));
        removed(&g, joined_first ? "side" : "web", joined_first ? side : web);
        assert_int_equal(rep_rig_work(&g, "late", 10), 0);
        struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
        const char *late = claim.move->instance->actual_lrp_instance_key->instance_guid;
        rep_rig_move_done(&g, claim, rep_rig_record(&g, "late", "CLAIMED", late, RIG_CELL));
        rep_rig_answer_desired(&g, rep_rig_desired(&g, "late", NULL, 0));
        assert_string_equal(refusal(&g), "failed to create container: no range of ids is free");
        removed(&g, joined_first ? "web" : "side", joined_first ? web : side);
        assert_non_null(rep_rig_run(&g, "again")); /* with the port and the ids */
    }
}

/* The same of the port alone. */
static void the_port_is_not_given_to_another(void **state)
{
    static const uint32_t ports[] = {8080};
    SCOPED_REP_RIG(g);
    g.config.port_high = 61000; /* the only one */
    open_rig(&g, true, 3);
    const char *web = rep_rig_run(&g, "web");
    const char *side = begin(&g, "side", web, false);
    runs(&g, "side", side, rep_rig_take_verb(&g, VERB_PREPARE));
    removed(&g, "web", web);
    assert_int_equal(rep_rig_work(&g, "late", 10), 0);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    const char *late = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(&g, claim, rep_rig_record(&g, "late", "CLAIMED", late, RIG_CELL));
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "late", ports, 1));
    assert_non_null(strstr(refusal(&g), "port"));
}

/* With the machine's network there is nothing to be joined, but the other has to be there. */
static void with_the_machines_network_each_has_its_own_ids(void **state)
{
    SCOPED_REP_RIG(g);
    open_rig(&g, false, 2);
    const char *web = rep_rig_run(&g, "web");
    begin(&g, "side", web, false);
    struct verb_call call = rep_rig_take_verb(&g, VERB_PREPARE);
    assert_null(call.spec->join);
    assert_int_equal(call.spec->ids_first, FIRST + CONTAINER_IDS);
    assert_string_equal(value_of(call.spec, "CF_INSTANCE_PORT"), "61000");
    assert_null(value_of(call.spec, "PORT"));
    begin(&g, "lost", "nobody", false);
    assert_non_null(strstr(refusal(&g), "instance nobody, whose network it is to join, "
                                        "does not run on this cell"));
}

static void who_cannot_be_joined(void **state)
{
    SCOPED_REP_RIG(g);
    open_rig(&g, true, 4);
    const char *web = rep_rig_run(&g, "web");
    begin(&g, "lost", "nobody", false);
    assert_string_equal(refusal(&g),
                        "failed to create container: instance nobody, whose network it is to join, "
                        "does not run on this cell");
    begin(&g, "mighty", web, true);
    assert_non_null(strstr(refusal(&g), "is not privileged as it is"));
    const char *starting = begin(&g, "side", web, false);
    rep_rig_take_verb(&g, VERB_PREPARE);
    begin(&g, "early", starting, false);
    assert_non_null(strstr(refusal(&g), "does not run on this cell"));
}

/* "guid-old" runs as an earlier rep left it, with the note that `change` makes of it; this rep has
 * networks of their own. */
static void open_adopting(struct rep_rig *g, void (*change)(Rep__Note *note, bool own), bool own)
{
    struct container_status s = rep_rig_status(g, "guid-old", "old", CONTAINER_RUNNING);
    Rep__Note *note;
    assert_int_equal(note_read(s.note, "guid-old", &note, NULL), 0);
    change(note, own);
    s.note = note_pack(&g->arena, note);
    rep__note__free_unpacked(note, NULL);
    g->config.own_network = true;
    g->config.ids_first = FIRST;
    g->config.ids_count = 2 * CONTAINER_IDS;
    rep_rig_open(g, &s, 1);
    rep_rig_move_done(g, rep_rig_take_move(g, "start"),
                      rep_rig_record(g, "old", "RUNNING", "guid-old", RIG_CELL));
}

static void has_no_ids(Rep__Note *note, bool own) { note->own_network = own; }

static void joined_one_that_is_gone(Rep__Note *note, bool own)
{
    note->own_network = own;
    note->ids_first = FIRST;
    note->joined = strdup("guid-gone");
}

/* What a rep with another network, or none with ids, left. */
static void who_has_another_network_cannot_be_joined(void **state)
{
    for (int own = 0; own < 2; own++) {
        SCOPED_REP_RIG(g);
        open_adopting(&g, has_no_ids, own);
        begin(&g, "side", "guid-old", false);
        assert_non_null(strstr(refusal(&g), own ? "has no range of user ids to share"
                                                : "has the network of the machine"));
    }
}

/* A restarted rep knows whose network it is: nothing of that is given to others. */
static void what_is_adopted_still_shares(void **state)
{
    SCOPED_REP_RIG(g);
    open_adopting(&g, joined_one_that_is_gone, true);
    begin(&g, "side", "guid-old", false);
    struct verb_call call = rep_rig_take_verb(&g, VERB_PREPARE);
    assert_string_equal(call.spec->join, "guid-gone");
    assert_int_equal(call.spec->ids_first, FIRST);
}

static void the_definition_says_it_in_one_form(void **state)
{
    static const struct {
        const char *value;
        size_t ports, rules;
        const char *why; /* NULL: it may */
    } rows[] = {
        {"instance:g-1", 0, 0, NULL},
        {"instance:", 0, 0, "is not instance:GUID but \"instance:\""},
        {"task:g-1", 0, 0, "is not instance:GUID but \"task:g-1\""},
        {"", 0, 0, "is not instance:GUID but \"\""},
        {"instance:g-1", 1, 0, "joins the network of another instance, and has ports of its own"},
        {"instance:g-1", 0, 1, "and has egress rules of its own"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct joining j;
        struct err err;
        joining_init(&j, rows[i].value);
        int result = join_check(&j.network, rows[i].ports, rows[i].rules, &err);
        assert_int_equal(result < 0, rows[i].why != NULL);
        assert_true(!rows[i].why || strstr(err.text, rows[i].why));
    }
    struct joining other;
    joining_init(&other, "anything");
    other.entry.key = (char *)"ports";
    assert_int_equal(join_check(&other.network, 1, 1, NULL), 0);
    assert_null(join_wanted(&other.network));
    assert_null(join_wanted(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_what_the_other_has),
        cmocka_unit_test(nothing_is_free_before_the_last_has_gone),
        cmocka_unit_test(the_port_is_not_given_to_another),
        cmocka_unit_test(with_the_machines_network_each_has_its_own_ids),
        cmocka_unit_test(who_cannot_be_joined),
        cmocka_unit_test(who_has_another_network_cannot_be_joined),
        cmocka_unit_test(what_is_adopted_still_shares),
        cmocka_unit_test(the_definition_says_it_in_one_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
