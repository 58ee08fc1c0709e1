/* Volumes: what each driver makes of a mount, and what cannot be. */
#include "rep/driver/oci_spec.h"
#include "rep/driver/volumes.h"
#include "test/tool/cmocka.h"

#include <string.h>

static const struct volume_source sources[] = {{"data", "/srv/data"}, {"dat", "/srv/other"}};

static int plan(const char *driver, const char *name, const char *config, const char *path,
                struct volume_plan *ret, struct err *err)
{
    const struct volume v = {driver, name, config, path, true};
    return volume_plan(&v, sources, 2, ret, err);
}

static void a_directory_is_one_that_is_named_or_below_it(void **state)
{
    static const struct {
        const char *name, *source, *below;
    } rows[] = {
        {"data", "/srv/data", ""},
        {"dat", "/srv/other", ""},
        {"data/a", "/srv/data", "a"},
        {"data/a/..b/...", "/srv/data", "a/..b/..."},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct volume_plan p;
        assert_int_equal(plan("bind", rows[i].name, "", "/mnt", &p, NULL), 0);
        assert_string_equal(p.source, rows[i].source);
        assert_string_equal(p.below, rows[i].below);
        assert_string_equal(p.path, "/mnt");
        assert_true(p.writable);
    }
}

static void memory_has_a_size_or_none(void **state)
{
    static const struct {
        const char *config;
        uint64_t bytes;
    } rows[] = {
        {"", 0}, {"size=1", 1}, {"size=3K", 3072}, {"size=64M", 64 << 20},
        {"size=2G", UINT64_C(2) << 30},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct volume_plan p;
        assert_int_equal(plan("tmpfs", "", rows[i].config, "/mnt", &p, NULL), 0);
        assert_null(p.source);
        assert_int_equal(p.bytes, rows[i].bytes);
    }
}

#define FAILED "failed to mount volume: "
#define SIZE "its configuration must be size=N, with K, M or G, not "

static void what_cannot_be_is_told(void **state)
{
    static const struct {
        const char *driver, *name, *config, *path, *text;
    } rows[] = {
        {"nfs", "data", "", "/mnt", "failed to mount volume"},
        {"", "data", "", "/mnt", "failed to mount volume"},
        {"bind", "nosuch", "", "/mnt", FAILED "this cell has no volume \"nosuch\""},
        {"bind", "da", "", "/mnt", FAILED "this cell has no volume \"da\""},
        {"bind", "", "", "/mnt", FAILED "\"\" names no directory"},
        {"bind", "data/../x", "", "/mnt", FAILED "\"data/../x\" names no directory"},
        {"bind", "data/", "", "/mnt", FAILED "\"data/\" names no directory"},
        {"bind", "/data", "", "/mnt", FAILED "\"/data\" names no directory"},
        {"bind", "data//a", "", "/mnt", FAILED "\"data//a\" names no directory"},
        {"bind", "data/.", "", "/mnt", FAILED "\"data/.\" names no directory"},
        {"bind", "data", "", "mnt", FAILED "\"mnt\" is no absolute path: it must begin with /"},
        {"bind", "data", "", "", FAILED "\"\" is no absolute path: it must begin with /"},
        {"bind", "data", "", "/a/../b",
         FAILED "\"/a/../b\" must not end with a / nor have an empty step, . or .."},
        {"bind", "data", "", "/a/",
         FAILED "\"/a/\" must not end with a / nor have an empty step, . or .."},
        {"bind", "data", "", "/",
         FAILED "nothing can be mounted at \"/\": the root filesystem is there"},
        {"tmpfs", "", "", "/proc",
         FAILED "nothing can be mounted at \"/proc\": the container has its own /proc"},
        {"tmpfs", "", "", "/sys/fs/cgroup",
         FAILED "nothing can be mounted at \"/sys/fs/cgroup\": the container has its own /sys"},
        {"tmpfs", "", "", "/dev",
         FAILED "nothing can be mounted at \"/dev\": the container has its own /dev"},
        {"tmpfs", "", "size=", "/mnt", FAILED SIZE "\"size=\""},
        {"tmpfs", "", "64M", "/mnt", FAILED SIZE "\"64M\""},
        {"tmpfs", "", "size=1T", "/mnt", FAILED SIZE "\"size=1T\""},
        {"tmpfs", "", "size=1MM", "/mnt", FAILED SIZE "\"size=1MM\""},
        {"tmpfs", "", "size=-1", "/mnt", FAILED SIZE "\"size=-1\""},
        {"tmpfs", "", "size=99999999999999999999G", "/mnt",
         FAILED SIZE "\"size=99999999999999999999G\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct volume_plan p;
        struct err err;
        assert_true(plan(rows[i].driver, rows[i].name, rows[i].config, rows[i].path, &p, &err) < 0);
        assert_string_equal(err.text, rows[i].text);
    }
}

/* Directories are numbered among themselves, as the shim mounts them. */
static void they_are_mounts_of_the_runtime(void **state)
{
    static const struct volume_plan plans[] = {
        {"/srv/data", "", "/one", true, 0},
        {NULL, "", "/two", false, 4096},
        {"/srv/data", "x", "/three", false, 0},
    };
    const struct container_spec spec = {.path = "/bin/sh"};
    const struct oci_params p = {.guid = "g",
                                 .cgroup = "/c",
                                 .init = "/init",
                                 .dir = "/d",
                                 .volumes = plans,
                                 .volume_count = 3};
    json_t *c = oci_config(&spec, &p);
    char *text = json_dumps(c, JSON_COMPACT);
    assert_non_null(strstr(text, "{\"destination\":\"/one\",\"type\":\"bind\",\"source\":"
                                 "\"/d/volumes/0\",\"options\":[\"bind\",\"rw\",\"nosuid\","
                                 "\"nodev\"]}"));
    assert_non_null(strstr(text, "{\"destination\":\"/two\",\"type\":\"tmpfs\",\"source\":"
                                 "\"tmpfs\",\"options\":[\"nosuid\",\"nodev\",\"mode=1777\",\"ro\","
                                 "\"size=4096\"]}"));
    assert_non_null(strstr(text, "{\"destination\":\"/three\",\"type\":\"bind\",\"source\":"
                                 "\"/d/volumes/1\",\"options\":[\"bind\",\"ro\",\"nosuid\","
                                 "\"nodev\"]}"));
    free(text);
    json_decref(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_is_one_that_is_named_or_below_it),
        cmocka_unit_test(memory_has_a_size_or_none),
        cmocka_unit_test(what_cannot_be_is_told),
        cmocka_unit_test(they_are_mounts_of_the_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
