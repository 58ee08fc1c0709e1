/* What the tools of a hook answer, and what they note (rep/unit/tools.h). */
#include "rep/unit/tools.h"

#include "common/charmfile/charm.h"
#include "common/model/unit_settings.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <string.h>

/* ---- The world of a hook --------------------------------------------------------------------- */

/* "a=1 b=2" as settings. */
static Board__UnitSetting **settings(struct arena *a, const char *text, size_t *ret_count)
{
    Board__UnitSetting **list = NULL;
    char *rest = arena_strdup(a, text);
    *ret_count = 0;
    for (char *word; (word = strsep(&rest, " ")) && *word;) {
        char *value = strchr(word, '=');
        *value++ = 0;
        *ret_count = unit_setting_put(a, list, *ret_count, word, value, &list);
    }
    return list;
}

static Rep__UnitNote *note_of_hook(struct arena *a, enum unit_hook hook, uint32_t relation)
{
    Rep__UnitNote *j = journal_new(a, "e");
    const struct hook_step step = {HOOK_RUN, {hook, relation, 0}, 1};
    j->relations = ARENA_ARRAY(a, 2, Rep__UnitNoteRelation *);
    for (uint32_t i = 0; i < 2; i++) {
        Rep__UnitNoteRelation *r = arena_message(a, &rep__unit_note_relation__descriptor);
        r->number = i ? 9 : 7;
        j->relations[j->n_relations++] = r;
    }
    return journal_begin(a, j, &step, "d", "token");
}

/* web/3 runs db-relation-changed about db/0 in relation 7; it is in log:9 as well. db/1 has left.
 */
static struct tool_world world_of_changed(struct arena *a)
{
    static const char *const names[] = {"db", "log", "other"};
    Board__Charm *charm = arena_message(a, &board__charm__descriptor);
    charm->endpoints = ARENA_ARRAY(a, 3, Board__Endpoint *);
    for (charm->n_endpoints = 0; charm->n_endpoints < 3; charm->n_endpoints++) {
        Board__Endpoint *e = arena_message(a, &board__endpoint__descriptor);
        e->name = arena_strdup(a, names[charm->n_endpoints]);
        charm->endpoints[charm->n_endpoints] = e;
    }
    struct tool_member *members = ARENA_ARRAY(a, 2, struct tool_member);
    struct tool_relation *relations = ARENA_ARRAY(a, 2, struct tool_relation);
    struct tool_world w = {.journal = note_of_hook(a, HOOK_CHANGED, 7),
                           .unit = "web/3",
                           .remote_unit = "db/0",
                           .charm = charm,
                           .relations = relations,
                           .relation_count = 2,
                           .address = "10.0.0.3",
                           .ports = "8080:61001",
                           .machine = "2",
                           .principal = ""};
    members[0] = (struct tool_member){.unit = "db/0", .present = true};
    members[0].settings = settings(a, "host=h port=5432", &members[0].setting_count);
    members[1] = (struct tool_member){.unit = "db/1"};
    members[1].settings = settings(a, "port=1", &members[1].setting_count);
    relations[0] = (struct tool_relation){7, "db", NULL, 0, members, 2};
    relations[0].own = settings(a, "private-address=10.0.0.3 a=1", &relations[0].own_count);
    relations[1] = (struct tool_relation){.number = 9, .endpoint = "log"};
    w.config = settings(a, "greeting=hello name=x", &w.config_count);
    return w;
}

/* Words of a call, parted by blanks; "_" within a word is a blank. */
static struct tool_answer call_of(struct arena *a, const struct tool_world *w, const char *text)
{
    const char *words[TOOL_ARGUMENTS_MAX + 4];
    size_t count = 0;
    char *rest = arena_strdup(a, text);
    for (char *word; (word = strsep(&rest, " "));) {
        for (char *at = word; *at; at++) {
            *at = *at == '_' ? ' ' : *at;
        }
        words[count++] = word;
    }
    return tool_call(a, w, count, words);
}

static void expect_exit(const struct tool_answer *answer, enum tool_exit exit, const char *out,
                        const char *call)
{
    if (answer->exit != exit || strcmp(answer->out, out) != 0) {
        fail_msg("%s: %d \"%s\", not %d \"%s\"", call, (int)answer->exit, answer->out, (int)exit,
                 out);
    }
}

/* ---- What they print ------------------------------------------------------------------------- */

static const struct {
    const char *call;
    enum tool_exit exit;
    const char *out;
} rows[] = {
    {"relation-ids", TOOL_DONE, "db:7\nlog:9\n"},
    {"relation-ids log", TOOL_DONE, "log:9\n"},
    {"relation-ids other", TOOL_DONE, ""}, /* it is in no relation by that */
    {"relation-ids juju-info", TOOL_DONE, ""},
    {"relation-ids nosuch", TOOL_REFUSED,
     "relation-ids: the charm has no endpoint \"nosuch\": it has db, log, other and juju-info\n"},
    {"relation-ids a b", TOOL_USAGE, "relation-ids: usage: relation-ids [ENDPOINT]\n"},
    {"relation-list", TOOL_DONE, "db/0\n"},
    {"relation-list -r log:9", TOOL_DONE, ""},
    {"relation-list -r db:8", TOOL_REFUSED,
     "relation-list: the unit is not in relation db:8: relation-ids lists those it is in\n"},
    {"relation-list -r", TOOL_USAGE, "relation-list: usage: relation-list [-r ID]\n"},
    {"relation-get port", TOOL_DONE, "5432\n"},
    {"relation-get nothing", TOOL_DONE, ""},
    {"relation-get -", TOOL_DONE, "host=h\nport=5432\n"},
    {"relation-get port db/1", TOOL_DONE, "1\n"},
    {"relation-get port db/2", TOOL_REFUSED,
     "relation-get: db/2 is not in db:7: relation-list lists who is\n"},
    {"relation-get a web/3", TOOL_DONE, "1\n"},
    {"relation-get -r log:9 port", TOOL_REFUSED,
     "relation-get: db/0 is not in log:9: relation-list lists who is\n"},
    {"relation-get", TOOL_USAGE, "relation-get: usage: relation-get [-r ID] KEY|- [UNIT]\n"},
    {"config-get", TOOL_DONE, "greeting=hello\nname=x\n"},
    {"config-get greeting", TOOL_DONE, "hello\n"},
    {"config-get other", TOOL_DONE, ""},
    {"unit-get address", TOOL_DONE, "10.0.0.3\n"},
    {"unit-get ports", TOOL_DONE, "8080:61001\n"},
    {"unit-get machine", TOOL_DONE, "2\n"},
    {"unit-get principal", TOOL_DONE, ""},
    {"unit-get colour", TOOL_USAGE,
     "unit-get: a unit has address, ports, machine and principal, and no colour\n"},
    {"relation-set port", TOOL_USAGE, "relation-set: \"port\" is no KEY=VALUE\n"},
    {"relation-set a/b=1", TOOL_USAGE, "relation-set: key \"a/b\" " CHARM_VALUE_KEY_RULE "\n"},
    {"relation-set =1", TOOL_USAGE, "relation-set: key \"\" " CHARM_VALUE_KEY_RULE "\n"},
    {"relation-set x=\xff", TOOL_REFUSED, "relation-set: the value of x is not UTF-8\n"},
    {"relation-set", TOOL_USAGE, "relation-set: usage: relation-set [-r ID] KEY=VALUE...\n"},
    {"status-set a_b", TOOL_DONE, ""},
    {"status-set a b", TOOL_USAGE, "status-set: usage: status-set TEXT\n"},
    {"status-set \xc3", TOOL_REFUSED, "status-set: the text is not UTF-8\n"},
    {"hook-log word", TOOL_DONE, ""},
    {"workload-restart", TOOL_DONE, ""},
    {"workload-restart now", TOOL_USAGE, "workload-restart: usage: workload-restart\n"},
    {"relation-burn", TOOL_USAGE, "relation-burn is no tool of a hook\n"},
};

static void each_call_has_its_answer(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct tool_world w = world_of_changed(&a);
        struct tool_answer answer = call_of(&a, &w, rows[i].call);
        expect_exit(&answer, rows[i].exit, rows[i].out, rows[i].call);
    }
    (void)state;
}

static void a_value_of_several_lines_is_one_line_among_all(void **state)
{
    SCOPED_ARENA(a);
    struct tool_world w = world_of_changed(&a);
    w.config_count = unit_setting_put(&a, NULL, 0, "k", "a\nb\\c", (void *)&w.config);
    struct tool_answer all = call_of(&a, &w, "config-get"), one = call_of(&a, &w, "config-get k");
    expect_exit(&all, TOOL_DONE, "k=a\\nb\\\\c\n", "all");
    expect_exit(&one, TOOL_DONE, "a\nb\\c\n", "one");
    (void)state;
}

/* ---- Outside relation hooks ------------------------------------------------------------------ */

static void a_hook_of_no_relation_has_to_say_which(void **state)
{
    SCOPED_ARENA(a);
    struct tool_world w = world_of_changed(&a);
    w.journal = note_of_hook(&a, HOOK_CONFIG_CHANGED, 0);
    w.remote_unit = "";
    struct tool_answer none = call_of(&a, &w, "relation-list");
    struct tool_answer said = call_of(&a, &w, "relation-list -r db:7");
    struct tool_answer whom = call_of(&a, &w, "relation-get -r db:7 port");
    struct tool_answer both = call_of(&a, &w, "relation-get -r db:7 port db/0");
    expect_exit(&none, TOOL_USAGE,
                "relation-list: this hook is about no relation: say which with -r ID; "
                "relation-ids lists them\n",
                "none");
    expect_exit(&said, TOOL_DONE, "db/0\n", "said");
    expect_exit(&whom, TOOL_USAGE, "relation-get: this hook is about no other unit: say which\n",
                "whom");
    expect_exit(&both, TOOL_DONE, "5432\n", "both");
    (void)state;
}

static void broken_is_about_its_relation(void **state)
{
    SCOPED_ARENA(a);
    struct tool_world w = world_of_changed(&a);
    w.journal = note_of_hook(&a, HOOK_BROKEN, 7);
    w.remote_unit = "";
    struct tool_answer own = call_of(&a, &w, "relation-get a web/3");
    expect_exit(&own, TOOL_DONE, "1\n", "own");
    (void)state;
}

/* ---- What they note -------------------------------------------------------------------------- */

static void what_is_set_is_seen_by_the_hook_itself(void **state)
{
    SCOPED_ARENA(a);
    struct tool_world w = world_of_changed(&a);
    struct tool_answer set = call_of(&a, &w, "relation-set a= b=2 c=x=y");
    assert_int_equal(set.exit, TOOL_DONE);
    assert_non_null(set.journal);
    assert_int_equal(set.journal->hook->n_writes, 3);
    assert_int_equal(w.journal->hook->n_writes, 0); /* the one before stays as it was */
    w.journal = set.journal;
    struct tool_answer own = call_of(&a, &w, "relation-get - web/3");
    expect_exit(&own, TOOL_DONE, "b=2\nc=x=y\nprivate-address=10.0.0.3\n", "own");
    (void)state;
}

static void what_stands_is_not_set_again(void **state)
{
    SCOPED_ARENA(a);
    struct tool_world w = world_of_changed(&a);
    assert_null(call_of(&a, &w, "relation-set a=1 gone=").journal);
    struct tool_answer twice = call_of(&a, &w, "relation-set b=1 b=2");
    assert_int_equal(twice.journal->hook->n_writes, 1);
    assert_string_equal(twice.journal->hook->writes[0]->value, "2");
    (void)state;
}

static void earlier_hooks_count_until_they_are_published(void **state)
{
    SCOPED_ARENA(a);
    struct tool_world w = world_of_changed(&a);
    Rep__UnitNote *j =
        journal_end(&a, call_of(&a, &w, "relation-set b=2").journal, JOURNAL_GOOD, "");
    const struct hook_step next = {HOOK_RUN, {HOOK_CHANGED, 7, 0}, 2};
    w.journal = journal_begin(&a, j, &next, "d", "token-2");
    struct tool_answer own = call_of(&a, &w, "relation-get b web/3");
    expect_exit(&own, TOOL_DONE, "2\n", "own");
    assert_null(call_of(&a, &w, "relation-set b=2").journal);
    assert_non_null(call_of(&a, &w, "relation-set b=").journal);
    (void)state;
}

static void one_bad_word_sets_nothing(void **state)
{
    SCOPED_ARENA(a);
    struct tool_world w = world_of_changed(&a);
    struct tool_answer bad = call_of(&a, &w, "relation-set b=2 c");
    assert_int_equal(bad.exit, TOOL_USAGE);
    assert_null(bad.journal);
    (void)state;
}

static void other_effects(void **state)
{
    SCOPED_ARENA(a);
    struct tool_world w = world_of_changed(&a);
    assert_string_equal(call_of(&a, &w, "status-set waits_for_db").status, "waits for db");
    assert_string_equal(call_of(&a, &w, "hook-log a_line").log, "a line");
    assert_true(call_of(&a, &w, "workload-restart").restart);
    assert_false(call_of(&a, &w, "unit-get address").restart);
    (void)state;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* A call of relation-set with keys k0000, ... of the unit, which has `own` keys already. */
static struct tool_answer sets(struct arena *a, size_t own, size_t keys, const char *value)
{
    struct tool_world w = world_of_changed(a);
    struct tool_relation *r = (struct tool_relation *)(uintptr_t)&w.relations[0];
    Board__UnitSetting **list = NULL;
    const char *words[1 + CHARM_VALUES_MAX + 2] = {"relation-set"};
    r->own_count = 0;
    for (size_t i = 0; i < own; i++) {
        const char *key = arena_printf(a, "own%03zu", i);
        r->own_count = unit_setting_put(a, list, r->own_count, key, "v", &list);
    }
    r->own = list;
    for (size_t i = 0; i < keys; i++) {
        words[1 + i] = arena_printf(a, "k%03zu=%s", i, value);
    }
    return tool_call(a, &w, 1 + keys, words);
}

static void keys_have_a_bound(void **state)
{
    SCOPED_ARENA(a);
    struct tool_answer most = sets(&a, 0, CHARM_VALUES_MAX, "v");
    struct tool_answer more = sets(&a, 1, CHARM_VALUES_MAX, "v");
    assert_int_equal(most.exit, TOOL_DONE);
    assert_int_equal(most.journal->hook->n_writes, CHARM_VALUES_MAX);
    expect_exit(&more, TOOL_REFUSED, "relation-set: a unit has 64 keys in a relation at most\n",
                "65");
    assert_null(more.journal);
    (void)state;
}

static const char *text_of_size(struct arena *a, size_t size)
{
    char *text = arena_alloc(a, size + 1);
    memset(text, 'x', size);
    text[size] = 0;
    return text;
}

static void bytes_have_a_bound(void **state)
{
    SCOPED_ARENA(a);
    size_t rest = CHARM_VALUES_BYTES_MAX - strlen("k000");
    struct tool_answer most = sets(&a, 0, 1, text_of_size(&a, rest));
    struct tool_answer more = sets(&a, 0, 1, text_of_size(&a, rest + 1));
    assert_int_equal(most.exit, TOOL_DONE);
    expect_exit(&more, TOOL_REFUSED, "relation-set: a unit tells 64 KiB in a relation at most\n",
                "64 KiB and one byte");
    (void)state;
}

static void texts_have_bounds(void **state)
{
    SCOPED_ARENA(a);
    struct tool_world w = world_of_changed(&a);
    const struct {
        const char *tool;
        size_t most;
    } texts[] = {{"status-set", TOOL_STATUS_TEXT_MAX}, {"hook-log", TOOL_LOG_TEXT_MAX}};
    for (size_t i = 0; i < 2; i++) {
        const char *fits[] = {texts[i].tool, text_of_size(&a, texts[i].most)};
        const char *over[] = {texts[i].tool, text_of_size(&a, texts[i].most + 1)};
        assert_int_equal(tool_call(&a, &w, 2, fits).exit, TOOL_DONE);
        assert_int_equal(tool_call(&a, &w, 2, over).exit, TOOL_REFUSED);
    }
    (void)state;
}

static void keys_have_a_length(void **state)
{
    SCOPED_ARENA(a);
    struct tool_world w = world_of_changed(&a);
    const char *fits[] = {"relation-set",
                          arena_printf(&a, "%s=1", text_of_size(&a, CHARM_VALUE_KEY_MAX))};
    const char *over[] = {"relation-set",
                          arena_printf(&a, "%s=1", text_of_size(&a, CHARM_VALUE_KEY_MAX + 1))};
    assert_int_equal(tool_call(&a, &w, 2, fits).exit, TOOL_DONE);
    assert_int_equal(tool_call(&a, &w, 2, over).exit, TOOL_USAGE);
    (void)state;
}

/* Whoever makes links by these names finds them in order. */
static void names_are_in_order(void **state)
{
    size_t n = 1;
    for (; tool_name(n); n++) {
        assert_true(strcmp(tool_name(n - 1), tool_name(n)) < 0);
    }
    assert_int_equal(n, 9);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_has_its_answer),
        cmocka_unit_test(a_value_of_several_lines_is_one_line_among_all),
        cmocka_unit_test(a_hook_of_no_relation_has_to_say_which),
        cmocka_unit_test(broken_is_about_its_relation),
        cmocka_unit_test(what_is_set_is_seen_by_the_hook_itself),
        cmocka_unit_test(what_stands_is_not_set_again),
        cmocka_unit_test(earlier_hooks_count_until_they_are_published),
        cmocka_unit_test(one_bad_word_sets_nothing),
        cmocka_unit_test(other_effects),
        cmocka_unit_test(keys_have_a_bound),
        cmocka_unit_test(bytes_have_a_bound),
        cmocka_unit_test(texts_have_bounds),
        cmocka_unit_test(keys_have_a_length),
        cmocka_unit_test(names_are_in_order),
    };
    return cmocka_run_group_tests_name("tools of hooks", tests, NULL, NULL);
}
