/* target.json and the options of `chaos nemesis`: what is taken, and what each refusal says. */
#include "test/chaos/nemesis/options.h"
#include "test/chaos/nemesis/target.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define KILL "\"kill\":{\"make\":\"k\",\"cells\":false}"
#define COMMANDS "\"commands\":{\"healthy\":\"true\",\"faults\":{" KILL "}}"

static void it_names_processes_and_commands(void **state)
{
    const char *text = "{\"bbs\":[{\"name\":\"b\"}],\"cells\":[{\"name\":\"c\",\"process\":\"r\","
                       "\"zone\":\"z\"}]," COMMANDS "}";
    struct nemesis_target t;
    struct err err;
    assert_int_equal(nemesis_target_parse(text, strlen(text), &t, &err), 0);
    assert_int_equal(t.shape.count, 2);
    assert_string_equal(t.shape.processes[0].name, "b");
    assert_int_equal(t.shape.processes[1].role, ROLE_REP);
    assert_string_equal(t.shape.processes[1].name, "r");
    assert_string_equal(t.shape.processes[1].zone, "z");
    assert_string_equal(t.shape.processes[1].cell, "c");
    assert_string_equal(t.shape.processes[0].cell, "");
    assert_string_equal(nemesis_target_command(&t, "healthy"), "true");
    assert_null(nemesis_target_command(&t, "leader"));
    assert_string_equal(nemesis_target_fault_command(&t, fault_kind_named("kill"), "make"), "k");
    assert_null(nemesis_target_fault_command(&t, fault_kind_named("kill"), "heal"));
    assert_null(nemesis_target_fault_command(&t, fault_kind_named("pause"), "make"));
    assert_true(nemesis_target_fault_spares_cells(&t, fault_kind_named("kill")));
    assert_false(nemesis_target_fault_spares_cells(&t, fault_kind_named("pause")));
    nemesis_target_done(&t);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "line 1"},
        {"[]", "must be an object"},
        {"{" COMMANDS "}", "names no process"},
        {"{\"bbs\":1," COMMANDS "}", "bbs: must be a list"},
        {"{\"bbs\":[{\"url\":\"x\"}]," COMMANDS "}", "bbs: each member needs a name"},
        {"{\"cells\":[{\"name\":\"x\"}]," COMMANDS "}", "cells: each member needs a process"},
        {"{\"bbs\":[{\"name\":\"b\"}]}", "commands.healthy: is missing"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct nemesis_target t;
        struct err err;
        assert_int_equal(nemesis_target_parse(rows[i].text, strlen(rows[i].text), &t, &err),
                         -ERR_INVALID);
        assert_non_null(strstr(err.text, rows[i].says));
    }
}

static void more_processes_than_the_bound_are_refused(void **state)
{
    struct nemesis_target t;
    struct err err;
    json_t *list = json_array();
    for (int i = 0; i <= CLUSTER_PROCESSES_MAX; i++) {
        json_array_append_new(list, json_pack("{s:s}", "name", "b"));
    }
    json_t *root = json_pack("{s:o, s:{s:s}}", "bbs", list, "commands", "healthy", "true");
    char *text = json_dumps(root, 0);
    assert_int_equal(nemesis_target_parse(text, strlen(text), &t, &err), -ERR_TOO_LARGE);
    free(text);
    json_decref(root);
}

static int parse(struct nemesis_options *o, struct err *err, const char *a, const char *b)
{
    const char *argv[] = {"nemesis", "--target", "t", "--history", "h", a, b, NULL};
    return nemesis_options_parse(a ? (b ? 7 : 6) : 5, (char **)(uintptr_t)argv, o, err);
}

static void options_are_read(void **state)
{
    struct nemesis_options o;
    struct err err;
    assert_int_equal(parse(&o, &err, "--seed", "12"), 0);
    assert_int_equal(o.seed, 12);
    assert_string_equal(o.target, "t");
    assert_string_equal(o.history, "h");
    assert_null(o.faults);
    assert_int_equal(parse(&o, &err, "--faults", "kill,cut"), 0);
    assert_string_equal(o.faults, "kill,cut");
    assert_int_equal(parse(&o, &err, "--seed", "x"), -ERR_INVALID);
    assert_int_equal(parse(&o, &err, "--seconds", "-1"), -ERR_INVALID);
    assert_int_equal(parse(&o, &err, "--seconds", NULL), -ERR_INVALID);
    assert_int_equal(parse(&o, &err, "--sed", "1"), -ERR_INVALID);
    assert_non_null(strstr(err.text, "unknown option: --sed"));
    const char *none[] = {"nemesis", NULL};
    assert_int_equal(nemesis_options_parse(1, (char **)(uintptr_t)none, &o, &err), -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_names_processes_and_commands),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(more_processes_than_the_bound_are_refused),
        cmocka_unit_test(options_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
