/* Task files, and what bbs tasks, task and run show. */
#include "bbs/cli/tasks.h"
#include "common/appfile/task_app.h"
#include "common/codec/json.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdio.h>
#include <string.h>

static struct task_app parsed(struct fixture *f, const char *file, const char *text)
{
    struct task_app app = {0};
    if (task_app_parse(&f->arena, file, bytes_of(text), &app, &f->err) < 0) {
        fail_msg("%s\n%s", text, f->err.text);
    }
    return app;
}

static void the_least_task_gets_defaults(void **state)
{
    struct fixture *f = *state;
    struct task_app app = parsed(f, "a.yaml", "name: once\nrootfs: preloaded:b\ncommand: echo x\n");
    assert_string_equal(app.name, "once");
    assert_false(app.guid_given);
    assert_string_equal(app.request->task_guid, "");
    assert_string_equal(app.request->domain, "default");
    assert_string_equal(app.request->owner->uid, "once");
    assert_int_equal(app.request->optional_max_retries_case, 0);
    assert_int_equal(app.request->optional_keep_s_case, 0);
    assert_int_equal(json_encode(&app.request->task_definition->base, 0, &f->out, &f->err), 0);
    assert_string_equal(
        buf_string(&f->out),
        "{\"rootfs\":\"preloaded:b\",\"action\":{\"run\":{\"path\":\"/bin/sh\",\"args\":[\"-c\","
        "\"echo x\"],\"user\":\"root\",\"suppress_log_output\":false}},\"disk_mb\":256,"
        "\"memory_mb\":128,\"cpu_weight\":0,\"privileged\":false,\"log_source\":\"\","
        "\"log_guid\":\"once\",\"metrics_guid\":\"\",\"result_file\":\"\","
        "\"egress_rules\":[{\"protocol\":\"all\",\"destinations\":[\"0.0.0.0/0\"],"
        "\"log\":false}],\"max_pids\":0,\"image_username\":\"\",\"image_password\":\"\","
        "\"metric_tags\":{\"source_id\":{\"static\":\"once\"}}}");
}

static void everything_can_be_said(void **state)
{
    struct fixture *f = *state;
    struct task_app app =
        parsed(f, "a.json",
               "{\"name\":\"n\",\"task_guid\":\"n-1\",\"domain\":\"d\","
               "\"rootfs\":\"preloaded:b\",\"command\":[\"a\",\"b\"],\"dir\":\"/x\","
               "\"env\":{\"K\":\"v\"},\"memory\":\"1G\",\"result_file\":\"/r\","
               "\"completion_callback_url\":\"http://x\",\"max_retries\":0,"
               "\"keep\":\"2h\",\"placement_tags\":[\"t\"]}");
    const Models__TaskDefinition *d = app.request->task_definition;
    assert_true(app.guid_given);
    assert_string_equal(app.request->task_guid, "n-1");
    assert_string_equal(app.request->domain, "d");
    assert_string_equal(d->root_fs, "preloaded:b");
    assert_int_equal(d->memory_mb, 1024);
    assert_string_equal(d->environment_variables[0]->name, "K");
    assert_string_equal(d->result_file, "/r");
    assert_string_equal(d->completion_callback_url, "http://x");
    assert_string_equal(d->placement_tags[0], "t");
    assert_int_equal(app.request->optional_max_retries_case,
                     MODELS__DESIRE_TASK_REQUEST__OPTIONAL_MAX_RETRIES_MAX_RETRIES);
    assert_int_equal(app.request->max_retries, 0);
    assert_int_equal(app.request->keep_s, 7200);
}

static void mistakes_name_file_line_and_key(void **state)
{
    struct fixture *f = *state;
#define GOOD "name: a\nrootfs: preloaded:b\ncommand: x\n"
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "t.yaml: holds no task"},
        {"[]", "t.yaml:1: task: must be a map with the keys of a task"},
        {"rootfs: preloaded:b\ncommand: x\n",
         "t.yaml:1: name: is missing: what is the task called?"},
        {GOOD "egress:\n- {protocol: tcp, destinations: [10.0.0.1]}\n",
         "t.yaml:5: egress[0]: ports are missing: ports: [443], or port_range"},
        {GOOD "volume_mounts:\n- {driver: tmpfs, container_dir: /x, mode: w}\n",
         "t.yaml:5: volume_mounts[0].mode: must be r or rw"},
        {GOOD "cached_dependencies:\n- {from: http://h, to: /sys}\n",
         "t.yaml:5: cached_dependencies[0].to: nothing can be mounted at \"/sys\""},
        {GOOD "image_layers:\n- {url: http://h}\n",
         "t.yaml:5: image_layers[0]: destination_path is missing"},
        {GOOD "log_rate_limit: {bytes_per_second: -3}\n",
         "t.yaml:4: log_rate_limit.bytes_per_second: must not be negative"},
        {GOOD "image_password: p\n", "t.yaml:4: image_password: needs its image_username"},
        {GOOD "egress:\n- log: 1\n", "t.yaml:5: egress[0].log: must be true or false"},
        {"domain: x\napps: [{name: a}]\n",
         "t.yaml:2: apps: these are apps, and no task: bbs apply takes the file"},
        {"name: a b\n", "t.yaml:1: name: must be letters, digits, - and _, not - first, at most 200"},
        {"task_guid: -a\n",
         "t.yaml:1: task_guid: must be letters, digits, - and _, not - first, at most 200"},
        {"name: a\ntask_guid: [1]\n", "t.yaml:2: task_guid: must be a text"},
        {"name: a\ncommand: x\n", "t.yaml:1: rootfs: is missing, for example preloaded:busybox"},
        {"name: a\nrootfs: preloaded:b\n", "t.yaml:1: command: is missing: what should run?"},
        {GOOD "resultfile: /x\n", "t.yaml:4: resultfile: unknown key; did you mean \"result_file\"?"},
        {GOOD "retries: 2\n", "t.yaml:4: retries: unknown key; did you mean \"max_retries\"?"},
        {GOOD "env: {A=: b}\n", "t.yaml:4: env: \"A=\": a name can have no ="},
        {GOOD "metric_tags: {a: ''}\n", "t.yaml:4: metric_tags.a: must be a text that is not empty"},
        {GOOD "keep: 1e1s\n", "t.yaml:4: keep: must be a time of at most 7d, like 90s or 2h"},
        {GOOD "keep: 1\n", "t.yaml:4: keep: needs a unit: s, m, h or d, as in 90s"},
        {GOOD "keep: 0\n", "t.yaml:4: keep: needs a unit: s, m, h or d, as in 90s"},
        {"name: a\ntask_guid: ''\n", "t.yaml:2: task_guid: must be a text that is not empty"},
        {GOOD "metric_tags:\n  a: {dynamic: FOO}\n",
         "t.yaml:5: metric_tags.a.dynamic: must be INDEX or INSTANCE_GUID"},
        {GOOD "metric_tags:\n  a: {dynamic: DynamicValueInvalit}\n",
         "t.yaml:5: metric_tags.a.dynamic: must be INDEX or INSTANCE_GUID"},
        {GOOD "metric_tags:\n  a: {dynamic: instance_guit}\n",
         "t.yaml:5: metric_tags.a.dynamic: knows no value \"instance_guit\"; did you mean "
         "\"INSTANCE_GUID\"?"},
        {GOOD "keep: +1s\n", "t.yaml:4: keep: must be a time of at most 7d, like 90s or 2h"},
        {GOOD "domain: ''\n", "t.yaml:4: domain: must be a text"},
        {GOOD "instances: 2\n", "t.yaml:4: instances: stands in an app, which bbs apply takes; this is a task"},
        {GOOD "ports: [80]\n", "t.yaml:4: ports: stands in an app"},
        {GOOD "state: Running\n", "t.yaml:4: state: unknown key"},
        {GOOD "max_retries: -1\n", "t.yaml:4: max_retries: must be a number from 0 to 1000"},
        {GOOD "max_retries: 1001\n", "t.yaml:4: max_retries: must be a number from 0 to 1000"},
        {GOOD "keep: 8d\n", "t.yaml:4: keep: must be a time of at most 7d, like 90s or 2h"},
        {GOOD "keep: x\n", "t.yaml:4: keep: must be a time of at most 7d, like 90s or 2h"},
        {GOOD "keep: 999999999999999999d\n", "t.yaml:4: keep: must be a time of at most 7d"},
        {GOOD "trusted_system_certificates_path: /etc/ssl\n",
         "t.yaml:4: trusted_system_certificates_path: no cell can do it yet: an instance is given"},
        {GOOD "memory: 3M\n", "t.yaml:4: memory: must be 4 MB at least"},
        {GOOD "disk: 64\n", "t.yaml:4: disk: needs a unit: K, M, G or T, as in 64M"},
        {GOOD "setup: {}\n", "t.yaml:4: setup: stands in an app"},
        {GOOD "memory_mb: -1\n", "t.yaml:4: memory_mb: must not be negative"},
#define CALLBACK "t.yaml:4: completion_callback_url: must be http://HOST or https://HOST, with a path"
        {GOOD "completion_callback_url: ftp://h/x\n", CALLBACK},
        {GOOD "completion_callback_url: h:8080/x\n", CALLBACK},
        {GOOD "completion_callback_url: http://\n", CALLBACK},
        {GOOD "completion_callback_url: https:///x\n", CALLBACK},
        {GOOD "completion_callback_url: 'http://h/a b'\n", CALLBACK},
        {GOOD "completion_callback_url: \"http://h/a\\tb\"\n", CALLBACK},
        {GOOD "---\n" GOOD, "t.yaml:5: task: a file holds one; this is a second"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct task_app app;
        f->err.text[0] = 0;
        assert_int_equal(
            task_app_parse(&f->arena, "t.yaml", bytes_of(rows[i].text), &app, &f->err),
            -ERR_INVALID);
        if (strncmp(f->err.text, rows[i].error, strlen(rows[i].error)) != 0) {
            fail_msg("row %zu: \"%s\", not \"%s\"", i, f->err.text, rows[i].error);
        }
    }
}

/* ---- What is shown ---- */

/* keep: 0s is deleted as it ends, and not by somebody else. */
static void one_that_is_gone_has_a_reason(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *more;
        int64_t unseen_s;
        const char *text;
    } rows[] = {
        {"", 3, "a was deleted by somebody else"},
        {"", 24 * 3600, "a is over, and was not kept: 24 h after its end it is deleted. How it ended "
                        "is not known"},
        {"keep: 0s\n", 0, "a is over, and was not kept: its file says keep: 0s. How it ended is not "
                          "known"},
        {"keep: 2s\n", 1, "a was deleted by somebody else"},
        {"keep: 2s\n", 2, "a is over, and was not kept: its file says keep: 2s. How it ended is not "
                          "known"},
        {"keep: 0s\ncompletion_callback_url: http://h\n", 0,
         "a is over, and its callback was sent the outcome; it has been deleted"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct task_app app;
        const char *text = arena_printf(&f->arena, GOOD "%s", rows[i].more);
        if (task_app_parse(&f->arena, "t.yaml", bytes_of(text), &app, &f->err) < 0) {
            fail_msg("row %zu: %s", i, f->err.text);
        }
        assert_string_equal(task_gone_text(&f->arena, "a", app.request, rows[i].unseen_s),
                            rows[i].text);
    }
}

static Models__Task *task_of(struct fixture *f, const char *guid, const char *name,
                             Models__Task__State state)
{
    Models__Task *t = arena_message(&f->arena, &models__task__descriptor);
    t->task_guid = arena_strdup(&f->arena, guid);
    t->domain = arena_strdup(&f->arena, "d");
    t->state = state;
    if (name) {
        t->owner = arena_message(&f->arena, &models__owner__descriptor);
        t->owner->kind = arena_strdup(&f->arena, "cli");
        t->owner->uid = arena_strdup(&f->arena, name);
    }
    return t;
}

static void tables_say_why(void **state)
{
    struct fixture *f = *state;
    Models__Task *list[] = {
        task_of(f, "b-2", "b", MODELS__TASK__STATE__Completed),
        task_of(f, "b-1", "b", MODELS__TASK__STATE__Resolving),
        task_of(f, "raw", NULL, MODELS__TASK__STATE__Pending),
        task_of(f, "c-1", "c", MODELS__TASK__STATE__Running),
    }, **found;
    list[0]->failed = true;
    list[0]->failure_reason = arena_strdup(&f->arena, "Exited with status 1");
    list[0]->created_at = 2000000000;
    list[1]->created_at = 1000000000;
    list[2]->created_at = 3000000000;
    list[2]->rejection_count = 2;
    list[2]->rejection_reason = arena_strdup(&f->arena, "insufficient resources");
    list[3]->created_at = 4000000000;
    list[3]->cell_id = arena_strdup(&f->arena, "cell-1");
    list[2]->cell_id = arena_strdup(&f->arena, "cell-9"); /* which rejected it */
    list[0]->ran_on_cell_id = arena_strdup(&f->arena, "cell-2");
    list[0]->first_completed_at = 2500000000;
    list[1]->first_completed_at = 4500000000;
    static const struct {
        struct task_selection selection;
        const char *guids;
    } rows[] = {
        {{0}, "b-1 b-2 raw c-1 "},
        {{.name = "b"}, "b-1 b-2 "},
        {{.name = "b-2"}, "b-2 "},
        {{.name = "raw"}, "raw "},
        {{.state = "failed"}, "b-2 "},
        {{.state = "succeeded"}, "b-1 "},
        {{.state = "completed"}, "b-2 "},
        {{.state = "pending"}, "raw "},
        {{.name = "b", .state = "pending"}, ""},
        {{.cell = "cell-2"}, "b-2 "},
        {{.cell = "cell-9"}, ""},
        {{.over_before_ns = 4000000000}, "b-2 "},
        {{.over_before_ns = 4500000000}, "b-1 b-2 "},
        {{.over_before_ns = 4500000000, .state = "succeeded"}, "b-1 "},
        {{.over_before_ns = 4500000000, .state = "running"}, ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *guids = "";
        size_t n = tasks_selected(&f->arena, list, 4, &rows[i].selection, &found);
        for (size_t k = 0; k < n; k++) {
            guids = arena_printf(&f->arena, "%s%s ", guids, found[k]->task_guid);
        }
        assert_string_equal(guids, rows[i].guids);
    }
    size_t n = tasks_selected(&f->arena, list, 4, &rows[0].selection, &found);
    tasks_table(&f->arena, found, n, 5000000000, false, &f->out);
    assert_string_equal(buf_string(&f->out),
                        "TASK  GUID  STATE                  CELL    AGE  DOMAIN\n"
                        "b     b-1   SUCCEEDED (resolving)  -       4s   d\n"
                        "b     b-2   FAILED                 cell-2  3s   d\n"
                        "    failed: Exited with status 1\n"
                        "raw   raw   PENDING                -       2s   d\n"
                        "    rejected twice, the last time: insufficient resources\n"
                        "c     c-1   RUNNING                cell-1  1s   d\n");
    assert_string_equal(task_progress_text(&f->arena, "c", list[3]), "c: RUNNING on cell-1");
    assert_string_equal(task_progress_text(&f->arena, "raw", list[2]),
                        "raw: PENDING (rejected twice, the last time: insufficient resources)");
}

static void a_name_means_what_goes_on_or_else_the_newest(void **state)
{
    struct fixture *f = *state;
    enum {
        NONE = -1,
        PENDING = MODELS__TASK__STATE__Pending,
        RUNNING = MODELS__TASK__STATE__Running,
        OVER = MODELS__TASK__STATE__Completed,
        RESOLVING = MODELS__TASK__STATE__Resolving
    };
    static const struct {
        int states[4]; /* the newest last; 0 ends them */
        int meant;
    } rows[] = {
        {{0}, NONE},
        {{OVER}, 0},
        {{PENDING}, 0},
        {{OVER, OVER, RESOLVING}, 2},
        {{OVER, RUNNING, OVER}, 1},
        {{PENDING, OVER, OVER}, 0},
        {{PENDING, RUNNING}, NONE},
        {{OVER, PENDING, RUNNING}, NONE},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Models__Task *list[4];
        size_t n = 0;
        for (; rows[i].states[n]; n++) {
            list[n] = task_of(f, "b", "b", (Models__Task__State)rows[i].states[n]);
        }
        const Models__Task *meant = task_meant(list, n);
        assert_ptr_equal(meant, rows[i].meant == NONE ? NULL : list[rows[i].meant]);
    }
}

static void only_what_nobody_waits_for_is_removed(void **state)
{
    struct fixture *f = *state;
    Models__Task *list[] = {
        task_of(f, "runs", "b", MODELS__TASK__STATE__Running),
        task_of(f, "over-1", "b", MODELS__TASK__STATE__Completed),
        task_of(f, "awaited", "b", MODELS__TASK__STATE__Completed),
        task_of(f, "resolved", "b", MODELS__TASK__STATE__Resolving),
        task_of(f, "over-2", "b", MODELS__TASK__STATE__Completed),
        task_of(f, "waits", "b", MODELS__TASK__STATE__Pending),
    };
    Models__TaskDefinition d = MODELS__TASK_DEFINITION__INIT;
    d.completion_callback_url = arena_strdup(&f->arena, "http://x");
    list[2]->task_definition = &d;
    assert_int_equal(tasks_to_remove(list, 6), 2);
    static const char *const order[] = {"over-1", "over-2", "runs", "awaited", "resolved", "waits"};
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(list[i]->task_guid, order[i]);
    }
    assert_int_equal(tasks_to_remove(list, 0), 0);
}

/* The reason that a bbs keeps is Diego's, word for word. */
static void a_missing_result_names_its_file(void **state)
{
    struct fixture *f = *state;
    Models__Task *t = task_of(f, "b-1", "b", MODELS__TASK__STATE__Completed);
    Models__TaskDefinition d = MODELS__TASK_DEFINITION__INIT;
    d.result_file = arena_strdup(&f->arena, "/tmp/\nresult");
    t->failed = true;
    t->failure_reason = arena_strdup(&f->arena, "failed to fetch result");
    assert_string_equal(task_failure_text(&f->arena, t), "failed to fetch result");
    t->task_definition = &d;
    task_outcome_text(&f->arena, "b", t, &f->out);
    assert_string_equal(buf_string(&f->out),
                        "b failed: failed to fetch result from /tmp/?result (b-1)\n");
    assert_string_equal(task_progress_text(&f->arena, "b", t),
                        "b: FAILED (failed: failed to fetch result from /tmp/?result)");
    buf_clear(&f->out);
    task_text(&f->arena, t, 0, &f->out);
    assert_non_null(
        strstr(buf_string(&f->out), "failed   failed to fetch result from /tmp/?result\n"));
    t->failure_reason = arena_strdup(&f->arena, "LOG: Exited with status 1");
    assert_string_equal(task_failure_text(&f->arena, t), "LOG: Exited with status 1");
    t->failure_reason = arena_strdup(&f->arena, "");
    assert_string_equal(task_failure_text(&f->arena, t), "-");
}

static void an_outcome_ends_with_the_result(void **state)
{
    struct fixture *f = *state;
    Models__Task *t = task_of(f, "b-1", "b", MODELS__TASK__STATE__Completed);
    task_outcome_text(&f->arena, "b", t, &f->out);
    t->result = arena_strdup(&f->arena, "42");
    task_outcome_text(&f->arena, "b", t, &f->out);
    t->result = arena_strdup(&f->arena, "43\n");
    t->failed = true;
    t->failure_reason = arena_strdup(&f->arena, "no\033[2J\n");
    task_outcome_text(&f->arena, "b", t, &f->out);
    assert_string_equal(buf_string(&f->out), "b succeeded (b-1)\nb succeeded (b-1)\n42\n"
                                             "b failed: no?[2J? (b-1)\n43\n");
    assert_string_equal(task_progress_text(&f->arena, "b", t), "b: FAILED (failed: no?[2J?)");
    buf_clear(&f->out);
    task_text(&f->arena, t, 0, &f->out);
    assert_non_null(strstr(buf_string(&f->out), "failed   no?[2J?\n"));
    assert_non_null(strstr(buf_string(&f->out), "result   43\n"));
    buf_clear(&f->out);
    t->result = arena_strdup(&f->arena, "one\n\n\033two"); /* a row for each line */
    task_text(&f->arena, t, 0, &f->out);
    assert_non_null(strstr(buf_string(&f->out), "result   one\n          \n         ?two\n"));
    t->rejection_count = 1;
    t->rejection_reason = arena_strdup(&f->arena, "no room");
    buf_clear(&f->out);
    task_text(&f->arena, t, 0, &f->out);
    assert_non_null(strstr(buf_string(&f->out), "rejected  once: no room\n"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_least_task_gets_defaults),    TEST(everything_can_be_said),
        TEST(mistakes_name_file_line_and_key), TEST(tables_say_why),
        TEST(a_missing_result_names_its_file), TEST(one_that_is_gone_has_a_reason),
        TEST(an_outcome_ends_with_the_result), TEST(a_name_means_what_goes_on_or_else_the_newest),
        TEST(only_what_nobody_waits_for_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
