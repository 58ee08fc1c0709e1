/* What isolates a container, as the runtime is told: ids, rights, system calls. */
#include "rep/driver/capability.h"
#include "rep/driver/id_range.h"
#include "rep/driver/oci_spec.h"
#include "rep/driver/seccomp.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* ---- Ids ---- */

static void ids_are_mapped(void **state)
{
    uint32_t outside = 7;
    assert_true(id_range_map(id_range_of(0), 4000000000, &outside)); /* itself */
    assert_int_equal(outside, 4000000000);
    assert_true(id_range_map(id_range_of(1000), 0, &outside));
    assert_int_equal(outside, 1000);
    assert_true(id_range_map(id_range_of(1000), 65535, &outside));
    assert_int_equal(outside, 66535);
    assert_false(id_range_map(id_range_of(1000), 65536, &outside));
    assert_int_equal(outside, 66535);
}

static void ids_are_read_as_written(void **state)
{
    static const char *const broken[] = {
        "", "1", "1 ", "1 2", "1  2\n", " 1 2\n", "1 2\n3", "0 65536\n", "1 0\n", "x 2\n",
        "-1 2\n", "4294967295 65536\n", "4294967296 1\n", "99999999999 1\n", "1 2 \n",
    };
    struct id_range r = {3, 4};
    SCOPED_BUF(text);
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        assert_false(id_range_parse(bytes_of(broken[i]), &r));
    }
    assert_int_equal(r.first, 3);
    id_range_print(id_range_of(1000000000), &text);
    assert_string_equal(buf_string(&text), "1000000000 65536\n");
    assert_true(id_range_parse(buf_bytes(&text), &r));
    assert_int_equal(r.first, 1000000000);
    assert_int_equal(r.count, 65536);
}

/* ---- Rights ---- */

static uint64_t bit(const char *name)
{
    return UINT64_C(1) << capability_number(name);
}

static void rights_are_the_usual_ones_that_the_cell_has(void **state)
{
    uint64_t all = UINT64_MAX, usual = capabilities_of(false, all);
    assert_int_equal(capability_number("CAP_CHOWN"), 0);
    assert_int_equal(capability_number("CAP_CHECKPOINT_RESTORE"), 40);
    assert_int_equal(capability_number("CAP_NOBODY"), -1);
    assert_null(capability_name(-1));
    assert_null(capability_name(CAPABILITY_COUNT));
    assert_true(usual & bit("CAP_NET_BIND_SERVICE"));
    assert_false(usual & (bit("CAP_SYS_ADMIN") | bit("CAP_SYS_MODULE") | bit("CAP_SYS_PTRACE") |
                          bit("CAP_NET_ADMIN") | bit("CAP_DAC_READ_SEARCH")));
    assert_int_equal(capabilities_of(true, all), (UINT64_C(1) << CAPABILITY_COUNT) - 1);
    assert_int_equal(capabilities_of(true, bit("CAP_BPF")), bit("CAP_BPF"));
    assert_int_equal(capabilities_of(false, bit("CAP_BPF") | bit("CAP_KILL")), bit("CAP_KILL"));
}

/* ---- System calls ---- */

static const char profile[] =
    "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":38,\"archMap\":["
    "{\"architecture\":\"SCMP_ARCH_X86_64\",\"subArchitectures\":[\"SCMP_ARCH_X86\","
    "\"SCMP_ARCH_X32\"]},"
    "{\"architecture\":\"SCMP_ARCH_AARCH64\",\"subArchitectures\":[\"SCMP_ARCH_ARM\"]}],"
    "\"syscalls\":["
    "{\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[],\"includes\":{}},"
    "{\"names\":[\"socket\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":22,\"args\":"
    "[{\"index\":0,\"value\":16,\"valueTwo\":0,\"op\":\"SCMP_CMP_EQ\"}]},"
    "{\"names\":[\"arch_prctl\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":null,"
    "\"includes\":{\"arches\":[\"amd64\",\"x32\"]}},"
    "{\"names\":[\"bpf\"],\"action\":\"SCMP_ACT_ALLOW\",\"includes\":{\"caps\":[\"CAP_BPF\","
    "\"CAP_KILL\"]}},"
    "{\"names\":[\"bpf\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":1,"
    "\"excludes\":{\"caps\":[\"CAP_BPF\"]}},"
    "{\"names\":[\"old\"],\"action\":\"SCMP_ACT_ALLOW\",\"excludes\":{\"minKernel\":\"4.8\"}},"
    "{\"names\":[\"new\"],\"action\":\"SCMP_ACT_ALLOW\",\"includes\":{\"minKernel\":\"4.8\"}}"
    "]}";

static json_t *made(const char *text, const char *machine, uint64_t capabilities, struct err *err)
{
    const struct seccomp_subject subject = {machine, capabilities, false};
    json_t *from = json_loads(text, 0, NULL);
    json_t *to = seccomp_for(from, &subject, err);
    json_decref(from);
    return to;
}

static void names(const char *machine, uint64_t capabilities, const char *expected)
{
    struct err err;
    SCOPED_BUF(text);
    size_t i;
    json_t *row, *to = made(profile, machine, capabilities, &err);
    assert_non_null(to);
    json_array_foreach(json_object_get(to, "syscalls"), i, row) {
        buf_printf(&text, "%s:%s ",
                   json_string_value(json_array_get(json_object_get(row, "names"), 0)),
                   json_string_value(json_object_get(row, "action")) + strlen("SCMP_ACT_"));
    }
    assert_string_equal(buf_string(&text), expected);
    json_decref(to);
}

static void rows_that_apply_are_chosen(void **state)
{
    names("x86_64", 0, "read:ALLOW socket:ERRNO arch_prctl:ALLOW bpf:ERRNO new:ALLOW ");
    names("aarch64", 0, "read:ALLOW socket:ERRNO bpf:ERRNO new:ALLOW ");
    names("x86_64", bit("CAP_BPF"), "read:ALLOW socket:ERRNO arch_prctl:ALLOW new:ALLOW ");
    names("aarch64", bit("CAP_BPF") | bit("CAP_KILL"),
          "read:ALLOW socket:ERRNO bpf:ALLOW new:ALLOW ");
}

static void a_row_keeps_what_it_says(void **state)
{
    struct err err;
    json_t *to = made(profile, "aarch64", 0, &err);
    char *text = json_dumps(to, JSON_COMPACT | JSON_SORT_KEYS);
    assert_non_null(strstr(text, "\"architectures\":[\"SCMP_ARCH_AARCH64\",\"SCMP_ARCH_ARM\"]"));
    assert_non_null(strstr(text, "\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":38"));
    assert_non_null(strstr(text, "{\"action\":\"SCMP_ACT_ERRNO\",\"args\":[{\"index\":0,"
                                 "\"op\":\"SCMP_CMP_EQ\",\"value\":16,\"valueTwo\":0}],"
                                 "\"errnoRet\":22,\"names\":[\"socket\"]}"));
    free(text);
    json_decref(to);
}

static void x32_has_rules_where_the_kernel_runs_it(void **state)
{
    struct err err;
    json_t *from = json_loads(profile, 0, NULL);
    for (int x32 = 0; x32 < 2; x32++) {
        const struct seccomp_subject subject = {"x86_64", 0, x32};
        json_t *to = seccomp_for(from, &subject, &err);
        char *text = json_dumps(json_object_get(to, "architectures"), JSON_COMPACT);
        assert_non_null(strstr(text, "\"SCMP_ARCH_X86_64\",\"SCMP_ARCH_X86\""));
        assert_int_equal(strstr(text, "SCMP_ARCH_X32") != NULL, x32);
        free(text);
        json_decref(to);
    }
    json_decref(from);
}

static void what_is_not_understood_is_refused(void **state)
{
    static const char *const broken[] = {
        "{}", "[]", "{\"defaultAction\":\"SCMP_ACT_ERRNO\"}",
        "{\"defaultAction\":\"NO\",\"syscalls\":[]}",
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{}]}",
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[],\"action\":"
        "\"SCMP_ACT_ALLOW\"}]}",
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[1],\"action\":"
        "\"SCMP_ACT_ALLOW\"}]}",
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[\"a\"],\"action\":"
        "\"SCMP_ACT_MAYBE\"}]}",
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[\"a\"],\"action\":"
        "\"SCMP_ACT_ALLOW\",\"includes\":{\"moon\":\"full\"}}]}",
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[\"a\"],\"action\":"
        "\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":\"0\"}]}]}",
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[\"a\"],\"action\":"
        "\"SCMP_ACT_ERRNO\",\"errnoRet\":\"EPERM\"}]}",
    };
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        struct err err = {0};
        assert_null(made(broken[i], "x86_64", 0, &err));
        assert_int_equal(err.code, ERR_INVALID);
    }
    struct err err = {0};
    assert_null(made(profile, "pdp11", 0, &err));
    assert_non_null(strstr(err.text, "pdp11"));
}

/* ---- The whole ---- */

static json_t *config_of(bool privileged, uint32_t ids_first)
{
    static const struct container_spec plain = {.path = "/bin/sh"}, rights = {.path = "/bin/sh",
                                                                          .privileged = true};
    json_t *seccomp = json_pack("{s:s}", "defaultAction", "SCMP_ACT_ERRNO");
    const struct oci_params p = {
        .guid = "g",
        .cgroup = "/c",
        .init = "/init",
        .seccomp = seccomp,
        .ids = id_range_of(ids_first),
        .facts = {.nofile_hard = 10, .capabilities = UINT64_MAX},
    };
    json_t *c = oci_config(privileged ? &rights : &plain, &p);
    json_decref(seccomp);
    return c;
}

static bool mentions(const json_t *c, const char *word)
{
    char *text = json_dumps(c, JSON_COMPACT);
    bool found = strstr(text, word) != NULL;
    free(text);
    return found;
}

static void a_container_is_isolated_unless_it_is_privileged(void **state)
{
    json_t *c = config_of(false, 1000000000);
    assert_true(mentions(c, "{\"type\":\"user\"}"));
    assert_true(mentions(c, "\"uidMappings\":[{\"containerID\":0,\"hostID\":1000000000,"
                            "\"size\":65536}]"));
    assert_true(mentions(c, "\"gidMappings\":[{\"containerID\":0,\"hostID\":1000000000,"
                            "\"size\":65536}]"));
    assert_true(mentions(c, "\"seccomp\":{") && mentions(c, "\"noNewPrivileges\":true"));
    assert_true(mentions(c, "/sys/fs") && mentions(c, "rbind") && !mentions(c, "\"sysfs\""));
    assert_true(mentions(c, ROOT_FOR_RUNTIME) && !mentions(c, "CAP_SYS_ADMIN"));
    json_decref(c);
    c = config_of(false, 0);
    assert_false(mentions(c, "\"user\"}") || mentions(c, "Mappings") || mentions(c, "rbind"));
    assert_true(mentions(c, "\"sysfs\"") && mentions(c, "\"path\":\"rootfs\""));
    json_decref(c);
    c = config_of(true, 0);
    assert_false(mentions(c, "seccomp") || mentions(c, "maskedPaths") || mentions(c, "Mappings"));
    assert_true(mentions(c, "CAP_SYS_ADMIN") && mentions(c, "\"noNewPrivileges\":false"));
    json_decref(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_mapped),
        cmocka_unit_test(ids_are_read_as_written),
        cmocka_unit_test(rights_are_the_usual_ones_that_the_cell_has),
        cmocka_unit_test(rows_that_apply_are_chosen),
        cmocka_unit_test(a_row_keeps_what_it_says),
        cmocka_unit_test(x32_has_rules_where_the_kernel_runs_it),
        cmocka_unit_test(what_is_not_understood_is_refused),
        cmocka_unit_test(a_container_is_isolated_unless_it_is_privileged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
