/* Leases of addresses: nobody gets what another has, nobody gives back what is another's. */
#include "rep/driver/lease_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/tool/cmocka.h"

struct place {
    char dir[64];
    struct subnet s;
    uint32_t cursor;
};

static int set_up(void **state)
{
    static struct place p;
    struct err err;
    p = (struct place){.dir = "/tmp/corkboard-leases-XXXXXX"};
    assert_int_equal(subnet_parse("10.9.9.0/29", &p.s, &err), 0); /* .2 to .6 */
    assert_non_null(mkdtemp(p.dir));
    *state = &p;
    return 0;
}

static int tear_down(void **state)
{
    char command[96];
    struct place *p = *state;
    snprintf(command, sizeof(command), "rm -r %s", p->dir);
    return system(command);
}

static const char *take(struct place *p, const char *id)
{
    static char address[ADDRESS_TEXT_BYTES];
    static struct err err;
    int rc = lease_take(p->dir, &p->s, &p->cursor, id, address, &err);
    assert_true(rc == 0 || rc == -ERR_TOO_LARGE);
    return rc == 0 ? address : err.text;
}

static bool give(struct place *p, const char *address, const char *id)
{
    char file[128];
    snprintf(file, sizeof(file), "%s/%s", p->dir, address);
    return lease_give(file, id);
}

static void each_has_its_own_until_none_is_left(void **state)
{
    struct place *p = *state;
    static const char *const all[] = {"10.9.9.2", "10.9.9.3", "10.9.9.4", "10.9.9.5", "10.9.9.6"};
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(take(p, "cell-a"), all[i]);
    }
    assert_string_equal(take(p, "cell-a"), "all 5 addresses of its network are in use");
    assert_true(give(p, "10.9.9.4", "cell-a"));
    p->cursor = 0; /* as after a restart */
    assert_string_equal(take(p, "cell-b"), "10.9.9.4");
}

/* What was given back is the last to be given again: others may still have it in their tables. */
static void addresses_go_round(void **state)
{
    struct place *p = *state;
    assert_string_equal(take(p, "x"), "10.9.9.2");
    assert_true(give(p, "10.9.9.2", "x"));
    assert_string_equal(take(p, "x"), "10.9.9.3");
}

static void what_is_anothers_stays(void **state)
{
    struct place *p = *state;
    assert_string_equal(take(p, "cell-old"), "10.9.9.2");
    assert_true(give(p, "10.9.9.2", "cell-new")); /* nothing of its own is there */
    p->cursor = 0;
    assert_string_equal(take(p, "cell-new"), "10.9.9.3");
    assert_true(give(p, "10.9.9.2", "cell-old"));
    assert_true(give(p, "10.9.9.2", "cell-old")); /* again: nothing to do */
}

static bool only_one(void *context, const char *guid)
{
    (void)context;
    return strcmp(guid, "one") == 0;
}

static void a_sweep_takes_those_of_nobody(void **state)
{
    struct place *p = *state;
    take(p, "cell-1-one");
    take(p, "cell-1-two");
    take(p, "cell-2-three"); /* of another cell */
    assert_int_equal(lease_sweep(p->dir, "cell-1-", only_one, NULL), 1);
    p->cursor = 0;
    assert_string_equal(take(p, "x"), "10.9.9.3");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_has_its_own_until_none_is_left),
        TEST(addresses_go_round),
        TEST(what_is_anothers_stays),
        TEST(a_sweep_takes_those_of_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
