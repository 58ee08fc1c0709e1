/* The state of a system: each rule of common/model/system_state.h, and that what is kept up with
 * each change is what the services say anew. */
#include "common/model/system_state.h"

#include "common/base/random.h"
#include "common/lifecycle/system.h"
#include "test/tool/cmocka.h"

#include <string.h>

enum { SERVICES = 10000, TURNS = 20000 };

struct row {
    size_t pending, updating, scaling, stable, failed, deleting;
    int pools[3]; /* their states, POOL_NONE = no more */
    bool spread;
    int state;
    const char *text;
};

static const struct row rows[] = {
    {.spread = true, .state = SYSTEM_STABLE, .text = ""}, /* 4: without any */
    {.spread = false,
     .state = SYSTEM_UPDATING,
     .text = "not every service was told of the "
             "definition yet"},
    {.stable = 2, .spread = true, .state = SYSTEM_STABLE, .text = ""},
    {.stable = 2,
     .scaling = 1,
     .spread = true,
     .state = SYSTEM_SCALING,
     .text = "2 of 3 services are stable"}, /* 3 */
    {.stable = 2, .scaling = 1, .state = SYSTEM_UPDATING, .text = "2 of 3 services are stable"},
    {.scaling = 1,
     .updating = 1,
     .spread = true,
     .state = SYSTEM_UPDATING,
     .text = "0 of 2 services are stable"}, /* 2 */
    {.pending = 1, .spread = true, .state = SYSTEM_UPDATING, .text = "0 of 1 service is stable"},
    {.deleting = 1, .spread = true, .state = SYSTEM_UPDATING, .text = "1 service to go"},
    {.deleting = 1,
     .stable = 1,
     .spread = true,
     .state = SYSTEM_UPDATING,
     .text = "1 of 2 services are stable"},
    {.failed = 1,
     .updating = 1,
     .stable = 3,
     .state = SYSTEM_DEGRADED,
     .text = "1 of 5 services failed"}, /* 1 */
    {.stable = 1, .pools = {POOL_STABLE}, .spread = true, .state = SYSTEM_STABLE, .text = ""},
    {.scaling = 1,
     .pools = {POOL_STABLE, POOL_FAILED},
     .spread = true,
     .state = SYSTEM_DEGRADED,
     .text = "0 of 1 service is stable; 1 of 2 node pools failed"}, /* 1 */
    {.stable = 1,
     .pools = {POOL_UPDATING, POOL_SCALING},
     .spread = true,
     .state = SYSTEM_UPDATING,
     .text = "0 of 2 node pools are stable"}, /* 2 */
    {.pools = {POOL_PENDING}, .spread = true, .state = SYSTEM_UPDATING,
     .text = "0 of 1 node pool is stable"},
    {.pools = {POOL_DELETING}, .spread = true, .state = SYSTEM_UPDATING,
     .text = "1 node pool to go"},
    {.stable = 1,
     .pools = {POOL_SCALING, POOL_STABLE},
     .spread = true,
     .state = SYSTEM_SCALING,
     .text = "1 of 2 node pools are stable"}, /* 3 */
};

static void add(struct system_tally *t, int state, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        system_tally_add(t, state);
    }
}

static void each_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        const struct row *r = &rows[i];
        struct system_tally t = {.total = 0};
        add(&t, SERVICE_PENDING, r->pending);
        add(&t, SERVICE_UPDATING, r->updating);
        add(&t, SERVICE_SCALING, r->scaling);
        add(&t, SERVICE_STABLE, r->stable);
        add(&t, SERVICE_FAILED, r->failed);
        add(&t, SERVICE_DELETING, r->deleting);
        for (int p = 0; p < 3 && r->pools[p] != POOL_NONE; p++) {
            system_tally_add_pool(&t, r->pools[p]);
        }
        assert_int_equal(system_state_of(&t, r->spread), r->state);
        assert_string_equal(system_state_text(&a, &t, r->spread), r->text);
    }
}

/* What a newer version wrote is between two states for all that this one knows. */
static void an_unknown_state_is_updating(void **state)
{
    (void)state;
    struct system_tally t = {.total = 0};
    system_tally_add(&t, -1);
    assert_int_equal(system_state_of(&t, true), SYSTEM_UPDATING);
    system_tally_take(&t, -1);
    assert_int_equal(system_state_of(&t, true), SYSTEM_STABLE);
    assert_int_equal(t.total, 0);
    system_tally_add_pool(&t, -1);
    assert_int_equal(system_state_of(&t, true), SYSTEM_UPDATING);
    system_tally_take_pool(&t, -1);
    assert_int_equal(system_state_of(&t, true), SYSTEM_STABLE);
    assert_int_equal(t.pools, 0);
}

static void kept_up_it_is_as_counted_anew(void **state)
{
    static int services[SERVICES]; /* their states, SERVICE_NONE = there is none */
    struct system_tally kept = {.total = 0}, anew = {.total = 0};
    struct random r;
    (void)state;
    random_seed(&r, (uint64_t[2]){1, 2});
    for (int i = 0; i < TURNS; i++) {
        size_t which = random_below(&r, SERVICES);
        int to = (int)random_below(&r, SERVICE_STATE_COUNT);
        if (services[which] != SERVICE_NONE) {
            system_tally_take(&kept, services[which]);
        }
        services[which] = to;
        if (to != SERVICE_NONE) {
            system_tally_add(&kept, to);
        }
    }
    for (size_t i = 0; i < SERVICES; i++) {
        if (services[i] != SERVICE_NONE) {
            system_tally_add(&anew, services[i]);
        }
    }
    assert_memory_equal(&kept, &anew, sizeof(kept));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule),
        cmocka_unit_test(an_unknown_state_is_updating),
        cmocka_unit_test(kept_up_it_is_as_counted_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
