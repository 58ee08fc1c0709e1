/* Base: arena, map, bytes, random. */
#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/map.h"
#include "common/base/random.h"
#include "test/tool/cmocka.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void arena_gives_zeroed_aligned_memory(void **state)
{
    SCOPED_ARENA(a);
    for (size_t size = 0; size < 40000; size = size * 2 + 1) {
        unsigned char *p = arena_alloc(&a, size);
        assert_int_equal((size_t)p % 16, 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(p[i], 0);
        }
        memset(p, 0xff, size);
    }
    arena_reset(&a);
    assert_int_equal(a.used, 0);
    assert_int_equal(*(unsigned char *)arena_alloc(&a, 1), 0);
    assert_string_equal(arena_printf(&a, "%s-%d", "x", 7), "x-7");
}

static void map_walks_in_byte_order(void **state)
{
    struct map m;
    map_init(&m);
    struct random r;
    random_seed(&r, (uint64_t[2]){1, 2});
    char key[16];
    static int value;
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof(key), "%llu", (unsigned long long)random_below(&r, 1000));
        map_put(&m, key, &value);
    }
    const char *last = "";
    size_t count = 0;
    for (struct map_node *n = map_first(&m); n; n = map_next(n), count++) {
        assert_true(strcmp(last, map_key(n)) < 0);
        last = map_key(n);
    }
    assert_int_equal(count, m.count);
    assert_string_equal(map_key(map_from(&m, "5")),
                        map_get(&m, "5") ? "5" : map_key(map_from(&m, "5")));
    MAP_EACH(&m, n)
    {
        if (map_key(n)[0] != '7') {
            map_remove(&m, map_key(n));
        }
    }
    MAP_EACH(&m, n)
    {
        assert_int_equal(map_key(n)[0], '7');
    }
    map_done(&m, NULL);
}

struct named {
    int count;
    char name[];
};

static void map_makes_what_it_does_not_have(void **state)
{
    struct map m;
    map_init(&m);
    struct named *one = map_named(&m, "a", offsetof(struct named, name));
    assert_string_equal(one->name, "a");
    assert_int_equal(one->count, 0);
    one->count = 7;
    assert_ptr_equal(map_named(&m, "a", offsetof(struct named, name)), one);
    assert_int_equal(((struct named *)map_named(&m, "", offsetof(struct named, name)))->count, 0);
    assert_int_equal(m.count, 2);
    assert_ptr_equal(map_get(&m, "a"), one);
    assert_int_equal(one->count, 7);
    map_done(&m, free);
}

static void varints_round_trip_and_malformed_ones_are_reported(void **state)
{
    SCOPED_BUF(b);
    uint64_t values[] = {0, 1, 127, 128, 300, UINT64_MAX}, got;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        buf_clear(&b);
        buf_varint(&b, values[i]);
        assert_int_equal(bytes_varint(buf_bytes(&b), &got), b.size);
        assert_int_equal(got, values[i]);
        assert_int_equal(bytes_varint((struct bytes){b.data, b.size - 1}, &got), 0);
    }
    assert_int_equal(bytes_varint((struct bytes){(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10}, &got), -1);
}

static void blobs_are_counted(void **state)
{
    struct blob *b = blob_new("abc", 3);
    assert_ptr_equal(blob_ref(b), b);
    blob_unref(b);
    assert_memory_equal(blob_bytes(b).data, "abc", 3);
    blob_unref(b);
    assert_int_equal(blob_bytes(NULL).size, 0);
}

static void same_seed_same_numbers(void **state)
{
    struct random a, b;
    random_seed(&a, (uint64_t[2]){7, 8});
    random_seed(&b, (uint64_t[2]){7, 8});
    char x[GUID_BYTES], y[GUID_BYTES];
    random_guid(&a, x);
    random_guid(&b, y);
    assert_string_equal(x, y);
    assert_int_equal(x[14], '4');
    assert_int_equal(strlen(x), 36);
    random_guid(&a, x);
    assert_string_not_equal(x, y);
}

static void errors_say_what_and_where(void **state)
{
    struct err e = {0};
    assert_int_equal(err_set(&e, ERR_NOT_FOUND, "no cell %s", "c1"), -ERR_NOT_FOUND);
    assert_int_equal(err_prefix(&e, "web/%d", 2), -ERR_NOT_FOUND);
    assert_string_equal(e.text, "web/2: no cell c1");
    assert_int_equal(err_set(NULL, ERR_IO, "x"), -ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(map_walks_in_byte_order),
        cmocka_unit_test(map_makes_what_it_does_not_have),
        cmocka_unit_test(varints_round_trip_and_malformed_ones_are_reported),
        cmocka_unit_test(blobs_are_counted),
        cmocka_unit_test(same_seed_same_numbers),
        cmocka_unit_test(errors_say_what_and_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
