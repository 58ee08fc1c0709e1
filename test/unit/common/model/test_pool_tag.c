/* The placement tags of node pools, and what the record of one tells. */
#include "common/model/pool_record.h"
#include "common/model/pool_tag.h"
#include "test/tool/cmocka.h"

#include <string.h>

static void a_tag_is_read_as_it_was_made(void **state)
{
    static const struct {
        const char *uid, *name, *tag;
        uint32_t epoch;
    } rows[] = {
        {"u", "/:main", "pool:u//:main#1", 1},
        {"6f0c-2a", "/store/api:", "pool:6f0c-2a//store/api:#2", 2},
        {"u", "/a:b", "pool:u//a:b#4294967295", UINT32_MAX},
    };
    SCOPED_ARENA(a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pool_tag t;
        assert_string_equal(pool_tag(&a, rows[i].uid, rows[i].name, rows[i].epoch), rows[i].tag);
        assert_true(pool_tag_is(rows[i].tag));
        assert_true(pool_tag_parse(&a, rows[i].tag, &t));
        assert_string_equal(t.uid, rows[i].uid);
        assert_string_equal(t.name, rows[i].name);
        assert_int_equal(t.epoch, rows[i].epoch);
    }
    (void)state;
}

static void no_other_tag_is_one(void **state)
{
    static const char *const tags[] = {
        "", "x", "pool", "type:small", "pool:", "pool:u", "pool:u/", "pool:u//:main",
        "pool:u//:main#", "pool:u//:main#0", "pool:u//:main#01", "pool:u//:main#1 ",
        "pool:u//:main#-1", "pool:u//:main#4294967296", "pool://:main#1", "pool:u#1//:main",
        "pool:u/main#1", "pool:u//a/#1", "pool:u//:a:b#1", "Pool:u//:main#1"};
    SCOPED_ARENA(a);
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        struct pool_tag t;
        if (pool_tag_parse(&a, tags[i], &t)) {
            fail_msg("%s is read as a tag", tags[i]);
        }
    }
    (void)state;
}

static void what_bears_the_tag_goes_there_and_nothing_else(void **state)
{
    static const struct {
        const char *pool, *tags[3];
        bool fits;
    } rows[] = {
        {"", {NULL}, true},
        {"", {"gpu"}, true},
        {"", {"pool:u//:main#1"}, false},
        {"pool:u//:main#1", {NULL}, false},
        {"pool:u//:main#1", {"gpu"}, false},
        {"pool:u//:main#1", {"pool:u//:main#1"}, true},
        {"pool:u//:main#1", {"gpu", "pool:u//:main#1"}, true},
        {"pool:u//:main#1", {"pool:u//:main#2"}, false},
        {"pool:u//:main#1", {"pool:v//:main#1"}, false},
        {"pool:u//:main#1", {"pool:u//:main#1", "pool:u//:main#2"}, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t count = 0;
        while (rows[i].tags[count]) {
            count++;
        }
        bool fits = pool_tag_fits(rows[i].pool, (char *const *)rows[i].tags, count);
        if (fits != rows[i].fits) {
            fail_msg("row %zu: %d", i, fits);
        }
    }
    (void)state;
}

static void an_instance_type_is_a_short_word(void **state)
{
    char long_type[POOL_TYPE_BYTES_MAX + 2];
    memset(long_type, 'a', sizeof(long_type));
    long_type[POOL_TYPE_BYTES_MAX + 1] = 0;
    assert_non_null(pool_type_fault(long_type));
    long_type[POOL_TYPE_BYTES_MAX] = 0;
    assert_null(pool_type_fault(long_type));
    assert_null(pool_type_fault("m5-4xlarge"));
    assert_non_null(pool_type_fault(""));
    assert_non_null(pool_type_fault("Small"));
    assert_non_null(pool_type_fault("a b"));
    assert_non_null(pool_type_fault("a:b"));
    SCOPED_ARENA(a);
    assert_string_equal(pool_type_tag(&a, "small"), "type:small");
    (void)state;
}

static void the_newest_epoch_takes_what_is_new(void **state)
{
    Board__PoolEpoch one = BOARD__POOL_EPOCH__INIT, two = BOARD__POOL_EPOCH__INIT;
    Board__PoolEpoch *epochs[] = {&one, &two};
    Board__PoolRecord pool = BOARD__POOL_RECORD__INIT;
    pool.epochs = epochs;
    one.n_cells = 2;
    two.n_cells = 1;
    pool.state = (char *)"stable";
    assert_null(pool_newest(NULL));
    assert_null(pool_newest(&pool));
    assert_int_equal(pool_cells(&pool), 0);
    pool.n_epochs = 2;
    assert_ptr_equal(pool_newest(&pool), &two);
    assert_int_equal(pool_cells(&pool), 3);
    two.released = true;
    assert_null(pool_newest(&pool));
    two.released = false;
    pool.state = (char *)"deleting";
    assert_null(pool_newest(&pool));
    pool.state = (char *)"of a newer version";
    assert_null(pool_newest(&pool));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tag_is_read_as_it_was_made),
        cmocka_unit_test(no_other_tag_is_one),
        cmocka_unit_test(what_bears_the_tag_goes_there_and_nothing_else),
        cmocka_unit_test(an_instance_type_is_a_short_word),
        cmocka_unit_test(the_newest_epoch_takes_what_is_new),
    };
    return cmocka_run_group_tests_name("tags of node pools", tests, NULL, NULL);
}
