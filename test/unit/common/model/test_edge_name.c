/* Names of a centre and its sites, rule by rule (common/model/edge_name.h), and their keys. */
#include "common/model/edge_name.h"
#include "common/model/moves.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define X31 "abcdefghijklmnopqrstuvwxyz01234"
#define X40 X31 "567890123"
#define SIGNS " must begin with a letter or digit, and have letters, digits, -, _ and . alone"

static void each_part_has_its_rule(void **state)
{
    static const struct {
        enum record_type type;
        const char *name, *fault; /* NULL = it is one */
    } rows[] = {
        {RECORD_FLAVOR, "small", NULL},
        {RECORD_FLAVOR, "0_a-b.C", NULL},
        {RECORD_FLAVOR, X40, NULL},
        {RECORD_FLAVOR, X40 "x", "flavor name: " X40 "... has 41 characters: at most 40"},
        {RECORD_FLAVOR, "", "flavor name: \"\"" SIGNS},
        {RECORD_FLAVOR, "-a", "flavor name: \"-a\"" SIGNS},
        {RECORD_FLAVOR, "a b", "flavor name: \"a b\"" SIGNS},
        {RECORD_FLAVOR, "a%b", "flavor name: \"a%b\"" SIGNS},
        {RECORD_FLAVOR, "a/b", "name: it must be <flavor name>"},
        {RECORD_CLOUDLET, "acme/paris", NULL},
        {RECORD_CLOUDLET, X31 "/" X31, NULL},
        {RECORD_CLOUDLET, X31 "x/paris",
         "cloudlet organization: " X31 "... has 32 characters: at most 31"},
        {RECORD_CLOUDLET, "acme/" X31 "x",
         "cloudlet name: " X31 "... has 32 characters: at most 31"},
        {RECORD_CLOUDLET, "acme", "name: it must be <cloudlet organization>/<cloudlet name>"},
        {RECORD_CLOUDLET, "acme/", "cloudlet name: \"\"" SIGNS},
        {RECORD_CLOUDLET, "/paris", "cloudlet organization: \"\"" SIGNS},
        {RECORD_CLOUDLETINFO, "acme/paris", NULL},
        {RECORD_MAINTENANCE, "acme/paris", NULL},
        {RECORD_APP, "dev/shop/1.0", NULL},
        {RECORD_APP, "dev/shop/1 0", "app version: \"1 0\"" SIGNS},
        {RECORD_CLUSTERINST, "acme/paris/" X40 "/" X40, NULL},
        {RECORD_CLUSTERINST, "acme/paris/dev/" X40 "x",
         "cluster name: " X40 "... has 41 characters: at most 40"},
        {RECORD_APPINST, "acme/paris/dev/web/dev/shop/1.0", NULL},
        {RECORD_APPINST, "acme/paris/dev/web/dev/shop/1.0/x",
         "name: it must be <cloudlet organization>/<cloudlet name>/<cluster organization>/<cluster "
         "name>/<app organization>/<app name>/<app version>"},
        {RECORD_CELL, "c1", "a record of this kind has no such name"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        const char *fault = edge_name_fault(&a, rows[i].type, rows[i].name);
        if (rows[i].fault ? !fault || strcmp(fault, rows[i].fault) != 0 : fault != NULL) {
            fail_msg("%s: %s\nnot %s", rows[i].name, fault, rows[i].fault);
        }
    }
    (void)state;
}

static void some_clusters_are_no_clients(void **state)
{
    static const struct {
        const char *name;
        bool may;
    } rows[] = {
        {"acme/paris/dev/web", true},
        {"acme/paris/dev/reservable", true},
        {"acme/paris/dev/reservable1x", true},
        {"acme/paris/dev/reservable0", false},
        {"acme/paris/dev/reservable64", false},
        {"acme/paris/dev/autocluster", false},
        {"acme/paris/dev/autoclusterx", false},
        {"acme/paris/dev/defaultclust", false},
        {"acme/paris/dev/defaultcluster", true},
        {"acme/paris/corkboard/web", true},
        {"acme/paris/dev", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        if (!edge_cluster_fault(&a, rows[i].name) != rows[i].may) {
            fail_msg("%s", rows[i].name);
        }
    }
    (void)state;
}

static void names_have_parts(void **state)
{
    SCOPED_ARENA(a);
    const char *name = "acme/paris/dev/autocluster1/own/shop/1.0";
    assert_string_equal(edge_cloudlet_of(&a, name), "acme/paris");
    assert_string_equal(edge_cluster_of(&a, name), "acme/paris/dev/autocluster1");
    assert_string_equal(edge_app_of(&a, name), "own/shop/1.0");
    assert_string_equal(edge_name_parts(&a, name, 6, 7), "1.0");
    assert_string_equal(edge_name_parts(&a, name, 7, 8), "");
    assert_string_equal(edge_name_parts(&a, "a", 0, 1), "a");
    assert_true(edge_cluster_is_automatic(edge_cluster_of(&a, name)));
    assert_false(edge_cluster_is_automatic("acme/paris/autocluster/web"));
    assert_string_equal(edge_reservable_name(&a, "acme/paris", 7),
                        "acme/paris/corkboard/reservable7");
    (void)state;
}

static void an_instance_has_a_dns_name(void **state)
{
    SCOPED_ARENA(a);
    assert_string_equal(edge_dns_name(&a, "Acme/paris/dev/Web_1/dev/shop/1.0"),
                        "1-0.shop.dev.web-1.dev.paris.acme");
    assert_string_equal(edge_dns_name(&a, "acme/paris/dev/web-/dev/shop/1._"),
                        "1.shop.dev.web.dev.paris.acme");
    assert_null(edge_dns_name(&a, X31 "/" X31 "/" X40 "/" X40 "/" X40 "/" X40
                                      "/" X40)); /* 268 characters */
    assert_non_null(edge_dns_name(&a, X31 "/" X31 "/" X40 "/" X40 "/" X40 "/" X40
                                          "/0123456789012345678901234"));
    assert_null(edge_dns_name(&a, X31 "/" X31 "/" X40 "/" X40 "/" X40 "/" X40
                                      "/01234567890123456789012345"));
    (void)state;
}

static void versions_have_an_order(void **state)
{
    static const struct {
        const char *left, *right;
        int order;
    } rows[] = {
        {"1.2", "1.10", -1},   {"1.10", "1.2", 1}, {"1.2", "1.2", 0},  {"1.2", "1.2.0", -1},
        {"2", "1.9.9", 1},     {"", "0", -1},      {"1.02", "1.2", 0}, {"1.a", "1.b", -1},
        {"1.2-rc1", "1.2", 1}, {"a", "b.1", -1},   {"", "", 0},        {"10a", "9", -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int order = edge_version_order(rows[i].left, rows[i].right);
        if ((order > 0) - (order < 0) != rows[i].order) {
            fail_msg("%s and %s: %d", rows[i].left, rows[i].right, order);
        }
    }
    (void)state;
}

static void keys_are_kind_and_name(void **state)
{
    SCOPED_ARENA(a);
    const char *key = key_edge(&a, RECORD_CLUSTERINST, "acme/paris/dev/web");
    assert_string_equal(key, "clusterinst/acme/paris/dev/web");
    assert_int_equal(key_type(key), RECORD_CLUSTERINST);
    assert_string_equal(key_edge_name(&a, key), "acme/paris/dev/web");
    assert_string_equal(key_edge_name(&a, "clusterinst"), "");
    assert_string_equal(key_edge(&a, RECORD_APP, "a b/c"), "app/a%20b/c");
    assert_string_equal(key_edge_name(&a, "app/a%20b/c"), "a b/c");
    assert_string_equal(key_edge_all(&a, RECORD_APPINST, "acme/paris"), "appinst/acme/paris/");
    assert_string_equal(key_appdef(&a, "dev/shop/1.0", 7), "appdef/dev/shop/1.0/0000000007");
    assert_string_equal(key_dns_name(&a, "a.b"), "name/a.b");
    const char *use = key_use(&a, "flavor/small", key);
    assert_string_equal(use, "use/flavor%2Fsmall/clusterinst%2Facme%2Fparis%2Fdev%2Fweb");
    assert_string_equal(key_component(&a, use, 2), key);
    assert_memory_equal(use, key_uses(&a, "flavor/small"), strlen(key_uses(&a, "flavor/small")));
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_has_its_rule), cmocka_unit_test(some_clusters_are_no_clients),
        cmocka_unit_test(names_have_parts),       cmocka_unit_test(an_instance_has_a_dns_name),
        cmocka_unit_test(versions_have_an_order), cmocka_unit_test(keys_are_kind_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
