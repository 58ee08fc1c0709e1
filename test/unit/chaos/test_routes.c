/* What a router would know, of the feeds of two bbs at once. */
#include "test/chaos/workload/routes_io.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>

static void put(struct routes *r, const char *key, int64_t revision, uint64_t mark)
{
    struct route route = {.revision = revision, .address = "10.0.0.1:80"};
    snprintf(route.process, sizeof(route.process), "web");
    routes_put(r, key, &route, mark);
}

static void what_a_snapshot_lacks_is_gone(void **state)
{
    struct routes *r = routes_new();
    put(r, "a", 1, 0);
    put(r, "b", 2, 0);
    put(r, "c", 9, 0);
    uint64_t mark = routes_mark(r);
    put(r, "a", 1, mark);
    routes_sweep(r, mark, 5);
    assert_int_equal(routes_of(r, "web"), 2); /* a; and c, which is later than the snapshot */
    free(r);
}

/* Both bbs come back at the same moment: their snapshots are of the same revision. */
static void two_snapshots_at_once_drop_nothing(void **state)
{
    struct routes *r = routes_new();
    put(r, "a", 1, 0);
    uint64_t first = routes_mark(r), second = routes_mark(r);
    put(r, "a", 1, first);
    put(r, "a", 1, second);
    routes_sweep(r, first, 5);
    assert_int_equal(routes_of(r, "web"), 1);
    routes_sweep(r, second, 5);
    assert_int_equal(routes_of(r, "web"), 1);
    first = routes_mark(r), second = routes_mark(r);
    put(r, "a", 1, second);
    put(r, "a", 1, first);
    routes_sweep(r, second, 5);
    routes_sweep(r, first, 5);
    assert_int_equal(routes_of(r, "web"), 1);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_snapshot_lacks_is_gone),
        cmocka_unit_test(two_snapshots_at_once_drop_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
