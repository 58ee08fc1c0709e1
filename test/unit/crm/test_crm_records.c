/* The centre's records as the CRM goes by them (crm/records.h). */
#include "common/model/record.h"
#include "crm/records.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct arena arena;
    struct crm_records records;
};

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    x->records.cloudlet = "acme/paris";
    crm_records_init(&x->records);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    crm_records_done(&x->records);
    arena_done(&x->arena);
    free(x);
    return 0;
}

static void put(struct fixture *x, const char *key, struct bytes record)
{
    crm_records_change(&x->records, key, record);
}

static void put_cluster(struct fixture *x, const char *key, const char *name, const char *uid,
                        const char *state, const char *digest)
{
    Board__ClusterInstRecord c = BOARD__CLUSTER_INST_RECORD__INIT;
    c.name = text(name);
    c.uid = text(uid);
    c.state = text(state);
    c.digest = text(digest);
    c.request = 7;
    put(x, key, record_encoded(&x->arena, &c.base));
}

static void put_app(struct fixture *x, const char *key, const char *name, const char *digest,
                    const char *cluster_uid)
{
    Board__AppInstRecord i = BOARD__APP_INST_RECORD__INIT;
    i.name = text(name);
    i.uid = text("u2");
    i.state = text("READY");
    i.digest = text(digest);
    i.cluster_uid = text(cluster_uid);
    put(x, key, record_encoded(&x->arena, &i.base));
}

#define WEB "acme/paris/dev/web"
#define SHOP WEB "/dev/shop/1.0"

struct records_read {
    struct crm_record *list;
    size_t count, unreadable;
};

static struct records_read read(struct fixture *x)
{
    struct records_read r = {.unreadable = x->records.unreadable};
    r.count = crm_records_list(&x->records, &x->arena, &r.list);
    return r;
}

static void those_of_the_cloudlet_are_read(void **state)
{
    struct fixture *x = *state;
    put_cluster(x, "clusterinst/" WEB, WEB, "u1", "READY", "d1");
    put_cluster(x, "clusterinst/acme/paris2/dev/web", "acme/paris2/dev/web", "u3", "READY", "d1");
    put_app(x, "appinst/" SHOP, SHOP, "d2", "u1");
    struct records_read r = read(x);
    assert_false(r.unreadable);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.list[0].kind, CRM_APP);
    assert_string_equal(r.list[0].cluster_uid, "u1");
    assert_int_equal(r.list[1].kind, CRM_CLUSTER);
    assert_string_equal(r.list[1].uid, "u1");
    assert_int_equal(r.list[1].state, TRACKED_READY);
    assert_int_equal(r.list[1].request, 7);
}

/* Whose such a one is at the site, nobody can tell: nothing may be pruned beside it. */
static void one_that_cannot_be_read_is_told(void **state)
{
    struct fixture *x = *state;
    struct bytes newer = bytes_of("\x02 of a newer format"), none = bytes_of("\x01\xff\xff");
    put_cluster(x, "clusterinst/" WEB, WEB, "u1", "READY", "d1");
    put(x, "appinst/" SHOP, newer);
    struct records_read r = read(x);
    assert_true(r.unreadable);
    assert_int_equal(r.count, 1);
    put(x, "appinst/" SHOP, bytes_of(""));
    assert_false(read(x).unreadable);
    put(x, "clusterinst/acme/paris/dev/other", none);
    assert_true(read(x).unreadable);
    assert_int_equal(read(x).count, 1);
}

static void one_of_another_name_or_without_a_life_is_none(void **state)
{
    static const char *const uids[] = {"", "u/1", "u 1", "../u1"};
    struct fixture *x = *state;
    put_cluster(x, "clusterinst/" WEB, "acme/paris/dev/other", "u1", "READY", "d1");
    assert_true(read(x).unreadable);
    for (size_t i = 0; i < sizeof(uids) / sizeof(uids[0]); i++) {
        put(x, "clusterinst/" WEB, bytes_of(""));
        put_cluster(x, "clusterinst/" WEB, WEB, uids[i], "READY", "d1");
        assert_true(read(x).unreadable);
        assert_int_equal(read(x).count, 0);
    }
    /* 64 characters are the most. */
    static const char longest[] =
        "0123456789012345678901234567890123456789012345678901234567890123x";
    put(x, "clusterinst/" WEB, bytes_of(""));
    put_cluster(x, "clusterinst/" WEB, WEB, longest, "READY", "d1");
    assert_true(read(x).unreadable);
    put(x, "clusterinst/" WEB, bytes_of(""));
    put_cluster(x, "clusterinst/" WEB, WEB, longest + 1, "READY", "d1");
    assert_false(read(x).unreadable);
}

static void expect_left_alone(struct fixture *x)
{
    struct records_read r = read(x);
    assert_false(r.unreadable);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.list[0].state, CRM_STATE_FOREIGN);
}

static void one_by_which_nothing_can_be_done_is_left_alone(void **state)
{
    static const char *const digests[] = {"", "d-1", "d/1"};
    struct fixture *x = *state;
    put_cluster(x, "clusterinst/" WEB, WEB, "u1", "DREAMING", "d1");
    expect_left_alone(x);
    for (size_t i = 0; i < sizeof(digests) / sizeof(digests[0]); i++) {
        put(x, "clusterinst/" WEB, bytes_of(""));
        put_cluster(x, "clusterinst/" WEB, WEB, "u1", "DELETING", digests[i]);
        expect_left_alone(x);
    }
    put(x, "clusterinst/" WEB, bytes_of(""));
    put_app(x, "appinst/" SHOP, SHOP, "d1", "");
    expect_left_alone(x);
    put(x, "appinst/" SHOP, bytes_of(""));
    put_app(x, "appinst/" SHOP, SHOP, "d-1", "u1");
    expect_left_alone(x);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(those_of_the_cloudlet_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_cannot_be_read_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(one_of_another_name_or_without_a_life_is_none, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(one_by_which_nothing_can_be_done_is_left_alone, setup,
                                        teardown),
    };
    return cmocka_run_group_tests_name("crm records", tests, NULL, NULL);
}
