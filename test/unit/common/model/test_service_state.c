/* The state of a service: the rows of common/model/service_state.h, each alone, and which goes
 * before which. */
#include "common/lifecycle/service.h"
#include "common/model/service_state.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* Wanted 3, all well, and what differs. */
#define WELL                                                                                       \
    .generation = 2, .observed = 2, .instances = 3, .stands = true, .fits = true, .held = "",      \
    .deadline_s = 600, .total = 3, .updated = 3, .available = 3

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct {
    const char *name;
    struct service_facts facts;
    int state;
    const char *text;
} rows[] = {
    {"11: well", {WELL}, SERVICE_STABLE, ""},
    {"0: over, whatever else", {WELL, .deleting = true, .spent = true}, SERVICE_DELETING, ""},
    {"1: never", {WELL, .observed = 0}, SERVICE_PENDING, "nobody has looked at it yet"},
    {"2: hides a failure",
     {WELL, .observed = 1, .spent = true},
     SERVICE_UPDATING,
     "the new definition is not taken up yet"},
    {"3: overdue",
     {WELL, .available = 1, .overdue = true},
     SERVICE_FAILED,
     "no progress for 600 s; 1 of 3 available"},
    {"3: overdue, but well", {WELL, .overdue = true}, SERVICE_STABLE, ""},
    {"3: overdue, but held",
     {WELL, .available = 1, .overdue = true, .held = "paused"},
     SERVICE_SCALING,
     "1 of 3 available; paused"},
    {"3: crashed for good, also held",
     {WELL, .available = 2, .spent = true, .held = "paused"},
     SERVICE_FAILED,
     "an instance crashed for good; 2 of 3 available; paused"},
    {"3: its pool has failed",
     {WELL, .available = 1, .pool = SERVICE_POOL_FAILED, .pool_text = "needs 3 cells"},
     SERVICE_FAILED,
     "its node pool has failed: needs 3 cells; 1 of 3 available"},
    {"3: its pool has failed, but held",
     {WELL, .available = 1, .pool = SERVICE_POOL_FAILED, .held = "paused"},
     SERVICE_UPDATING,
     "its node pool has failed; paused"},
    {"4", {WELL, .pool = SERVICE_POOL_ABSENT}, SERVICE_UPDATING, "its node pool is not there yet"},
    {"5: before routes",
     {WELL, .fits = false, .pool = SERVICE_POOL_SHORT, .pool_text = "needs 3 cells"},
     SERVICE_UPDATING,
     "its node pool has too few cells: needs 3 cells"},
    {"3: its pool has failed, though all run",
     {WELL, .pool = SERVICE_POOL_FAILED, .pool_text = "needs 3 cells"},
     SERVICE_FAILED,
     "its node pool has failed: needs 3 cells; 3 of 3 available"},
    {"6: routes", {WELL, .fits = false}, SERVICE_UPDATING,
     "its routes, tags and policies are changed"},
    {"6: of what does not stand",
     {WELL, .fits = false, .stands = false, .updated = 0, .total = 0, .available = 0},
     SERVICE_UPDATING,
     "no instance of the new definition yet"},
    {"7", {WELL, .pool = SERVICE_POOL_OLD, .pool_text = "2 cells"}, SERVICE_UPDATING,
     "its node pool gives cells of before back: 2 cells"},
    {"7: after 9", {WELL, .pool = SERVICE_POOL_OLD, .updated = 2}, SERVICE_UPDATING,
     "2 of 3 replaced"},
    {"7: after 10", {WELL, .pool = SERVICE_POOL_OLD, .available = 2}, SERVICE_SCALING,
     "2 of 3 available"},
    {"8: none wanted, none stands",
     {WELL, .instances = 0, .stands = false, .updated = 0, .total = 0, .available = 0},
     SERVICE_STABLE,
     ""},
    {"9: two replaced",
     {WELL, .instances = 4, .total = 5, .updated = 2, .available = 4},
     SERVICE_UPDATING,
     "2 of 4 replaced"},
    {"9: old ones to end",
     {WELL, .total = 4, .available = 4},
     SERVICE_UPDATING,
     "1 of an earlier definition to end"},
    {"9: held", {WELL, .total = 4, .updated = 1, .held = "paused"}, SERVICE_UPDATING,
     "1 of 3 replaced; paused"},
    {"10: too few", {WELL, .total = 2, .updated = 2, .available = 2}, SERVICE_SCALING,
     "2 of 3 available"},
    {"10: not ready", {WELL, .available = 0}, SERVICE_SCALING, "0 of 3 available"},
    {"10: too many", {WELL, .total = 5, .updated = 5, .available = 5}, SERVICE_SCALING,
     "2 more than the 3 wanted"},
    {"10: some end", {WELL, .terminating = 2}, SERVICE_SCALING, "2 to end"},
};
#pragma GCC diagnostic pop

static void each_row(void **state)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int is = service_state_of(&rows[i].facts);
        const char *text = service_state_text(&a, &rows[i].facts);
        if (is != rows[i].state || strcmp(text, rows[i].text) != 0) {
            fail_msg("%s: %d, \"%s\"", rows[i].name, is, text);
        }
    }
    arena_done(&a);
}

/* Stable says that nothing is left to do and its pool is well, and all that is not stable says what
 * is. */
static void stable_is_complete(void **state)
{
    struct arena a;
    arena_init(&a);
    for (int bits = 0; bits < 5 << 12; bits++) {
        struct service_facts f = {WELL};
        f.stands = bits & 1;
        f.fits = bits >> 1 & 1;
        f.overdue = bits >> 2 & 1;
        f.instances = bits >> 3 & 3;
        f.total = bits >> 5 & 3;
        f.updated = bits >> 7 & 3;
        f.available = bits >> 9 & 3;
        f.terminating = bits >> 11 & 1;
        f.pool = (enum service_pool)(bits >> 12);
        if (f.updated <= f.total && f.available <= f.total) {
            int is = service_state_of(&f);
            bool well = f.pool == SERVICE_POOL_READY;
            assert_int_equal(is == SERVICE_STABLE, service_complete(&f) && well);
            assert_int_equal(is == SERVICE_STABLE, service_state_text(&a, &f)[0] == '\0');
        }
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row),
        cmocka_unit_test(stable_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
