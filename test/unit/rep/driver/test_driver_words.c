/* What the drivers read and write, without a container: reports and statuses of shims, users of
 * root filesystems, config.json, command lines. */
#include "rep/driver/command.h"
#include "rep/driver/oci_spec.h"
#include "rep/driver/passwd.h"
#include "rep/driver/process_limits.h"
#include "rep/driver/status.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

/* ---- Statuses and reports ---- */

static void a_status_is_read_as_written(void **state)
{
    struct ending e;
    assert_int_equal(status_parse(bytes_of("code 3\nsignal 0\noom 0\ntext \n"), &e, NULL), 0);
    assert_int_equal(e.code, 3);
    assert_string_equal(e.text, "");
    assert_int_equal(
        status_parse(bytes_of("code 0\nsignal 9\noom 1\ntext two words\n"), &e, NULL), 0);
    assert_int_equal(e.signal, 9);
    assert_true(e.oom_killed);
    assert_string_equal(e.text, "two words");
    assert_false(e.disk_full);
    assert_int_equal(
        status_parse(bytes_of("code 1\nsignal 0\noom 0\ndisk 1\ntext \n"), &e, NULL), 0);
    assert_true(e.disk_full);
    assert_string_equal(e.text, "");
    assert_int_equal(status_parse(bytes_of("code -1\nsignal 0\noom 0\ntext why\n"), &e, NULL), 0);
    assert_false(e.disk_full);
    assert_int_equal(e.code, -1);
}

static void a_broken_status_is_an_error_and_changes_nothing(void **state)
{
    static const char *const broken[] = {
        "", "\n", "code", "code x\nsignal 0\noom 0\ntext \n", "code 3\nsignal 0\noom 0\n",
        "signal 0\ncode 3\noom 0\ntext \n", "code 3\nsignal 0\noom 0\ntext",
        "code 3\nsignal 0\noom 0\ndisk 2\ntext \n", "code 3\nsignal 0\noom 0\ndisk 1\n",
    };
    struct ending e = {.code = 77};
    struct err err;
    char long_one[4096];
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        assert_int_equal(status_parse(bytes_of(broken[i]), &e, &err), -ERR_INVALID);
    }
    memset(long_one, 'x', sizeof(long_one));
    memcpy(long_one, "code 3\nsignal 0\noom 0\ntext ", 27);
    struct bytes all = {(const uint8_t *)long_one, sizeof(long_one)};
    assert_int_equal(status_parse(all, &e, &err), -ERR_INVALID);
    assert_int_equal(e.code, 77);
}

static void reports_are_read_piece_by_piece(void **state)
{
    assert_int_equal(report_parse(bytes_of(""), false).kind, REPORT_NONE);
    assert_int_equal(report_parse(bytes_of(""), true).kind, REPORT_NONE);
    assert_int_equal(report_parse(bytes_of("S 12"), false).kind, REPORT_NONE); /* 123 perhaps */
    struct shim_report r = report_parse(bytes_of("S 123\n"), false);
    assert_int_equal(r.kind, REPORT_STARTED);
    assert_int_equal(r.number, 123);
    r = report_parse(bytes_of("F no such program"), true);
    assert_int_equal(r.kind, REPORT_FAILED);
    assert_true(bytes_equal(r.text, bytes_of("no such program")));
    assert_int_equal(report_parse(bytes_of("S\nX 7\n"), false).kind, REPORT_STARTED);
    r = report_parse(bytes_of("S\nX 7\nits output\nin lines\n"), true);
    assert_int_equal(r.kind, REPORT_EXITED);
    assert_int_equal(r.number, 7);
    assert_true(bytes_equal(r.text, bytes_of("its output\nin lines\n")));
    r = report_parse(bytes_of("S\n"), true); /* killed amid its work */
    assert_int_equal(r.kind, REPORT_STARTED);
    assert_int_equal(report_parse(bytes_of("mkfs: bad\n"), true).kind, REPORT_NONE);
}

/* ---- Users ---- */

#define PASSWD                                                                                     \
    "root:x:0:0:root:/root:/bin/sh\n"                                                              \
    "vcap:x:2000:2001:apps:/home/vcap:/bin/sh\n"                                                   \
    "broken:x::\n"                                                                                 \
    "last:x:5:6::/:/bin/sh"
#define GROUP "root:x:0:\nvcap:x:2001:\nlogs:x:40:other,vcap\nvc:x:41:vca,vcapx\nmore:x:42:vcap\n"

static int resolve(const char *words, struct user *u, struct err *err)
{
    return user_resolve(words, bytes_of(PASSWD), bytes_of(GROUP), u, err);
}

static void users_are_resolved(void **state)
{
    static const struct {
        const char *words;
        uint32_t uid, gid;
        size_t groups;
        const char *name, *home;
    } rows[] = {
        {"", 0, 0, 0, "root", "/root"},
        {"root", 0, 0, 0, "root", "/root"},
        {"vcap", 2000, 2001, 2, "vcap", "/home/vcap"},
        {"2000", 2000, 2001, 2, "vcap", "/home/vcap"},
        {"1234", 1234, 0, 0, "", ""},
        {"1234:99", 1234, 99, 0, "", ""},
        {"vcap:logs", 2000, 40, 1, "vcap", "/home/vcap"},
        {"vcap:7", 2000, 7, 2, "vcap", "/home/vcap"},
        {"last", 5, 6, 0, "last", "/"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct user u;
        struct err err = {0};
        if (resolve(rows[i].words, &u, &err) != 0) {
            fail_msg("%s: %s", rows[i].words, err.text);
        }
        assert_int_equal(u.uid, rows[i].uid);
        assert_int_equal(u.gid, rows[i].gid);
        assert_int_equal(u.group_count, rows[i].groups);
        assert_string_equal(u.name, rows[i].name);
        assert_string_equal(u.home, rows[i].home);
    }
}

/* Such a directory is none that a program could start in. */
static void an_endless_home_is_none(void **state)
{
    SCOPED_BUF(passwd);
    struct user u;
    struct err err;
    buf_append_string(&passwd, "far:x:1:1::/");
    for (int i = 0; i < USER_HOME_BYTES; i++) {
        buf_append_string(&passwd, "h");
    }
    buf_append_string(&passwd, ":/bin/sh\n");
    assert_int_equal(user_resolve("far", buf_bytes(&passwd), (struct bytes){0}, &u, &err), 0);
    assert_string_equal(u.name, "far");
    assert_string_equal(u.home, "");
}

static void unknown_users_are_named(void **state)
{
    static const char *const wrong[] = {"nobody", "vcap:nogroup", "vca", "-1", "4294967295",
                                        "99999999999", "root x"};
    struct user u = {.uid = 77};
    struct err err;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(resolve(wrong[i], &u, &err), -ERR_NOT_FOUND);
    }
    assert_int_equal(resolve("nobody", &u, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "nobody"));
    assert_int_equal(resolve("broken", &u, &err), -ERR_INVALID);
    assert_int_equal(u.uid, 77);
}

static void root_needs_no_entry(void **state)
{
    static const char *const rows[] = {"root", "", "root:0", "0"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct user u = {.uid = 77, .gid = 77};
        assert_int_equal(user_resolve(rows[i], (struct bytes){0}, (struct bytes){0}, &u, NULL), 0);
        assert_int_equal(u.uid, 0);
        assert_int_equal(u.gid, 0);
        assert_string_equal(u.home, "");
    }
}

static void too_many_groups_are_refused(void **state)
{
    SCOPED_BUF(groups);
    struct user u;
    struct err err;
    for (int i = 0; i < USER_GROUPS_MAX; i++) {
        buf_printf(&groups, "g%d:x:%d:vcap\n", i, 100 + i);
    }
    assert_int_equal(user_resolve("vcap", bytes_of(PASSWD), buf_bytes(&groups), &u, &err), 0);
    assert_int_equal(u.group_count, USER_GROUPS_MAX);
    buf_printf(&groups, "one-more:x:9:vcap\n");
    assert_int_equal(user_resolve("vcap", bytes_of(PASSWD), buf_bytes(&groups), &u, &err),
                     -ERR_TOO_LARGE);
}

/* ---- config.json ---- */

static const struct oci_params params = {
    .guid = "g",
    .cgroup = "/corkboard-1-g",
    .init = "/usr/bin/catatonit",
    .user = {.uid = 5, .gid = 6, .groups = {7, 8}, .group_count = 2, .name = "five"},
    .facts = {.capabilities = 1U << 0 | 1U << 21, .nofile_hard = 1000, .limits = true,
              .swap_limit = true, .hosts = true},
};

static json_t *at(json_t *value, const char *path)
{
    char key[64];
    while (*path && value) {
        size_t n = strcspn(path, ".");
        snprintf(key, sizeof(key), "%.*s", (int)n, path);
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(key))
                                     : json_object_get(value, key);
        path += n + (path[n] == '.');
    }
    return value;
}

static const char *text_at(json_t *value, const char *path)
{
    const char *text = json_string_value(at(value, path));
    return text ? text : "(none)";
}

static void a_spec_becomes_a_config(void **state)
{
    static const char *const args[] = {"-c", "exit 1", NULL};
    static const struct name_value env[] = {{"A", "1=2"}, {"PATH", "/x"}};
    const struct container_spec spec = {
        .rootfs = "preloaded:r", .path = "/bin/sh", .args = args, .env = env, .env_count = 2,
        .dir = "/home", .memory_mb = 3, .max_pids = 10, .cpu_weight = 50, .nofile = 5000,
    };
    json_t *c = oci_config(&spec, &params);
    assert_non_null(c);
    assert_string_equal(text_at(c, "process.args.0"), "/dev/init");
    assert_string_equal(text_at(c, "process.args.2"), "/bin/sh");
    assert_string_equal(text_at(c, "process.args.4"), "exit 1");
    assert_int_equal(json_array_size(at(c, "process.args")), 5);
    assert_string_equal(text_at(c, "process.env.0"), "A=1=2");
    assert_string_equal(text_at(c, "process.env.1"), "PATH=/x");
    assert_string_equal(text_at(c, "process.env.2"), "USER=five");
    assert_int_equal(json_array_size(at(c, "process.env")), 3); /* its own PATH is enough */
    assert_string_equal(text_at(c, "process.cwd"), "/home");
    assert_int_equal(json_integer_value(at(c, "process.user.uid")), 5);
    /* Its own group is among the others, as after a login. */
    assert_int_equal(json_integer_value(at(c, "process.user.additionalGids.0")), 6);
    assert_int_equal(json_integer_value(at(c, "process.user.additionalGids.2")), 8);
    assert_int_equal(json_array_size(at(c, "process.user.additionalGids")), 3);
    /* No more files than this process may have, no more rights than it has and are usual. */
    assert_int_equal(json_integer_value(at(c, "process.rlimits.0.hard")), 1000);
    assert_int_equal(json_array_size(at(c, "process.capabilities.bounding")), 1);
    assert_string_equal(text_at(c, "process.capabilities.effective.0"), "CAP_CHOWN");
    assert_true(json_is_true(at(c, "process.noNewPrivileges")));
    assert_int_equal(json_integer_value(at(c, "linux.resources.memory.limit")), 3 << 20);
    assert_int_equal(json_integer_value(at(c, "linux.resources.memory.swap")), 3 << 20);
    assert_int_equal(json_integer_value(at(c, "linux.resources.pids.limit")), 11);
    assert_int_equal(json_integer_value(at(c, "linux.resources.cpu.shares")), 500);
    assert_string_equal(text_at(c, "linux.cgroupsPath"), "/corkboard-1-g");
    for (size_t i = 0; i < json_array_size(at(c, "linux.namespaces")); i++) {
        assert_string_not_equal(text_at(json_array_get(at(c, "linux.namespaces"), i), "type"),
                                "network");
    }
    json_decref(c);
}

/* Of one that is wanted (0: nothing is said), what the process gets; the hard limits are 1,000
 * files and 500 processes. */
static void limits_are_cut_to_the_hard_ones(void **state)
{
    static const struct {
        uint64_t nofile, nproc;
        bool with_init;
        long long files, processes;
        const char *why;
    } rows[] = {
        {0, 0, true, 1000, 0, ""},
        {1, 1, false, 1, 1, ""},
        {1, 1, true, 1, 2, ""}, /* the init is one, too */
        {1000, 500, false, 1000, 500, ""},
        {1000, 500, true, 1000, 500, ""},
        {1000, 501, false, 1000, 500,
         "a container wants 501 processes (nproc), but the hard limit here is 500: no process gets "
         "more"},
        {1001, 500, false, 1000, 500,
         "a container wants 1001 open files (nofile), but the hard limit here is 1000: no process "
         "gets more"},
        {UINT64_MAX, UINT64_MAX, true, 1000, 500,
         "a container wants 18446744073709551615 open files (nofile), but the hard limit here is "
         "1000: no process gets more"},
    };
    struct oci_facts facts = {.nofile_hard = 1000, .nproc_hard = 500};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct container_spec spec = {.nofile = rows[i].nofile, .nproc = rows[i].nproc};
        const struct step_process step = {.nofile = rows[i].nofile, .nproc = rows[i].nproc};
        const struct container_spec steps = {.steps = &step, .step_count = 1};
        json_t *process = json_pack("{s:o}", "rlimits",
                                    process_limits(&spec, &facts, rows[i].with_init));
        assert_int_equal(process_limit_of(process, LIMIT_NOFILE), rows[i].files);
        assert_int_equal(process_limit_of(process, LIMIT_NPROC), rows[i].processes);
        json_decref(process);
        for (int k = 0; k < 2; k++) {
            SCOPED_BUF(why);
            bool cut = process_limits_cut(k ? &steps : &spec, &facts, &why);
            assert_int_equal(cut, rows[i].why[0] != '\0');
            assert_string_equal(buf_string(&why), rows[i].why);
        }
    }
    /* No hard limit at all, and more than JSON's numbers hold. */
    facts.nproc_hard = UINT64_MAX;
    const struct container_spec most = {.nproc = UINT64_MAX};
    json_t *process = json_pack("{s:o}", "rlimits", process_limits(&most, &facts, true));
    assert_int_equal(process_limit_of(process, LIMIT_NPROC), INT64_MAX);
    json_decref(process);
}

static json_t *cpu_of(uint32_t weight, bool unified)
{
    struct oci_params p = params;
    struct container_spec spec = {.path = "/bin/sh", .cpu_weight = weight};
    p.facts.unified = unified;
    return oci_config(&spec, &p);
}

/* Tenfold shares, or the weight itself where control groups are of version 2; nothing is said of a
 * container that says nothing. More than a kernel takes is cut, for the runtime would refuse it. */
static void weights_keep_their_proportions(void **state)
{
    static const struct {
        uint32_t weight;
        json_int_t shares;
        const char *unified;
    } rows[] = {
        {1, 10, "1"},     {2, 20, "2"},           {50, 500, "50"},
        {100, 1000, "100"}, {10000, 100000, "10000"}, {UINT32_MAX, 100000, "10000"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *c = cpu_of(rows[i].weight, false);
        assert_int_equal(json_integer_value(at(c, "linux.resources.cpu.shares")), rows[i].shares);
        assert_null(at(c, "linux.resources.unified"));
        json_decref(c);
        c = cpu_of(rows[i].weight, true);
        const json_t *unified = at(c, "linux.resources.unified");
        assert_string_equal(json_string_value(json_object_get(unified, "cpu.weight")),
                            rows[i].unified);
        assert_null(at(c, "linux.resources.cpu"));
        json_decref(c);
    }
    for (int unified = 0; unified < 2; unified++) {
        json_t *c = cpu_of(0, unified);
        assert_null(at(c, "linux.resources.cpu"));
        assert_null(at(c, "linux.resources.unified"));
        json_decref(c);
    }
}

/* A quota is a limit of its own beside the weight, in the same words for both versions. */
static void the_most_of_processors_is_a_quota(void **state)
{
    for (int unified = 0; unified < 2; unified++) {
        struct oci_params p = params;
        struct container_spec spec = {.path = "/bin/sh", .cpu_max_percent = 250};
        p.facts.unified = unified;
        json_t *c = oci_config(&spec, &p);
        assert_int_equal(json_integer_value(at(c, "linux.resources.cpu.period")), 100000);
        assert_int_equal(json_integer_value(at(c, "linux.resources.cpu.quota")), 250000);
        assert_null(at(c, "linux.resources.cpu.shares"));
        json_decref(c);
        spec.cpu_weight = 7;
        spec.cpu_max_percent = 1;
        c = oci_config(&spec, &p);
        assert_int_equal(json_integer_value(at(c, "linux.resources.cpu.quota")), 1000);
        assert_int_equal(json_integer_value(at(c, "linux.resources.cpu.shares")), unified ? 0 : 70);
        json_decref(c);
    }
}

/* Where the machine has it, and for privileged containers alone. */
static void the_privileged_have_fuse(void **state)
{
    for (int i = 0; i < 4; i++) {
        struct oci_params p = params;
        struct container_spec spec = {.path = "/bin/sh", .privileged = i & 1};
        p.facts.fuse = i & 2;
        json_t *c = oci_config(&spec, &p);
        assert_string_equal(text_at(c, "linux.devices.0.path"), i == 3 ? "/dev/fuse" : "(none)");
        if (i == 3) {
            assert_string_equal(text_at(c, "linux.devices.0.type"), "c");
            assert_int_equal(json_integer_value(at(c, "linux.devices.0.major")), 10);
            assert_int_equal(json_integer_value(at(c, "linux.devices.0.minor")), 229);
        }
        json_decref(c);
    }
}

static void limits_are_left_out_where_there_are_none(void **state)
{
    static const struct name_value env[] = {{"USER", "mine"}};
    struct oci_params p = params;
    struct container_spec spec = {
        .path = "/bin/sh", .privileged = true, .env = env, .env_count = 1};
    json_t *c = oci_config(&spec, &p);
    assert_null(at(c, "linux.resources.memory"));
    assert_null(at(c, "linux.resources.pids"));
    assert_null(at(c, "linux.maskedPaths"));
    assert_string_equal(text_at(c, "process.capabilities.bounding.1"), "CAP_SYS_ADMIN");
    assert_string_equal(text_at(c, "process.cwd"), "/");
    assert_string_equal(text_at(c, "process.env.0"), "USER=mine");
    assert_string_equal(text_at(c, "process.env.1"), "PATH=" PATH_DEFAULT);
    assert_int_equal(json_array_size(at(c, "process.env")), 2);
    json_decref(c);
    p.facts.limits = false;
    spec.memory_mb = 5;
    c = oci_config(&spec, &p);
    assert_null(at(c, "linux.resources.memory"));
    json_decref(c);
    p.mark = "/there";
    c = oci_process(&spec, &p, false);
    assert_string_equal(text_at(c, "args.0"), "/bin/sh");
    assert_string_equal(text_at(c, "env.0"), MARK_VARIABLE "=/there");
    json_decref(c);
}

/* A word that is not UTF-8 must not get lost: then there is no text at all. */
static void bad_words_make_no_config(void **state)
{
    static const struct name_value env[] = {{"A", "\xff\xfe"}};
    struct container_spec spec = {.path = "/bin/sh", .env = env, .env_count = 1};
    json_t *c = oci_config(&spec, &params);
    assert_null(c ? json_dumps(c, 0) : NULL);
    json_decref(c);
    spec = (struct container_spec){.path = "/bin/sh", .dir = "/\xff"};
    c = oci_config(&spec, &params);
    assert_null(c ? json_dumps(c, 0) : NULL);
    json_decref(c);
}

static void command_lines_grow(void **state)
{
    struct command c;
    command_init(&c);
    assert_null(c.env.list);
    for (int i = 0; i < 1000; i++) {
        command_add(&c, "--n=%d", i);
        assert_null(c.argv.list[i + 1]);
    }
    words_add(&c, &c.env, "A=1");
    assert_string_equal(c.argv.list[999], "--n=999");
    assert_string_equal(c.env.list[0], "A=1");
    assert_null(c.env.list[1]);
    command_done(&c);
    command_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_status_is_read_as_written),
        cmocka_unit_test(a_broken_status_is_an_error_and_changes_nothing),
        cmocka_unit_test(reports_are_read_piece_by_piece),
        cmocka_unit_test(users_are_resolved),
        cmocka_unit_test(an_endless_home_is_none),
        cmocka_unit_test(unknown_users_are_named),
        cmocka_unit_test(root_needs_no_entry),
        cmocka_unit_test(too_many_groups_are_refused),
        cmocka_unit_test(a_spec_becomes_a_config),
        cmocka_unit_test(limits_are_cut_to_the_hard_ones),
        cmocka_unit_test(weights_keep_their_proportions),
        cmocka_unit_test(the_most_of_processors_is_a_quota),
        cmocka_unit_test(the_privileged_have_fuse),
        cmocka_unit_test(limits_are_left_out_where_there_are_none),
        cmocka_unit_test(bad_words_make_no_config),
        cmocka_unit_test(command_lines_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
