/* The settings of the board that a rep goes by: each comes and goes with its record. */
#include "common/model/settings.h"
#include "rep/inside.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

#include <string.h>

static const struct rep *rep_of(const struct rep_rig *g)
{
    return (const struct rep *)g->role;
}

/* When a unit's command begins again after it has ended (rep/unit/workload.h). */
static void crashes_of_commands_go_by_the_board(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    (void)state;
    const struct rep *r = rep_of(&g);
    assert_memory_equal(&r->crash, &SETTINGS_DEFAULT.crash, sizeof(r->crash));
    rep_rig_set(&g, "crash_first_wait", 7);
    rep_rig_set(&g, "crash_longest_wait", 70);
    rep_rig_set(&g, "crash_at_once", 5);
    assert_int_equal(r->crash.backoff_base_ns, 7 * SECOND_NS);
    assert_int_equal(r->crash.backoff_max_ns, 70 * SECOND_NS);
    assert_int_equal(r->crash.immediate_below, 5);
    assert_int_equal(r->drain_ns, SETTINGS_DEFAULT.drain_ns);
    rep_rig_set(&g, "drain", 1);
    rep_rig_set(&g, "crash_first_wait", -1);
    assert_int_equal(r->crash.backoff_base_ns, SETTINGS_DEFAULT.crash.backoff_base_ns);
    assert_int_equal(r->crash.immediate_below, 5);
    assert_int_equal(r->drain_ns, 1 * SECOND_NS);
    rep_rig_set(&g, "crash_first_wait", 3601); /* a newer version's */
    assert_int_equal(r->crash.backoff_base_ns, SETTINGS_DEFAULT.crash.backoff_base_ns);
}

/* It follows those, and no others. */
static void it_asks_for_its_settings_alone(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    (void)state;
    size_t drain = 0, crash = 0;
    for (size_t i = 0; i < REP_SELECTORS; i++) {
        const Board__Selector *s = &rep_of(&g)->selector[i];
        assert_true(*s->cell_id || *s->key_prefix);
        drain += strcmp(s->key_prefix, "setting/drain") == 0 && s->whole_key;
        crash += strcmp(s->key_prefix, "setting/crash_") == 0 && !s->whole_key;
    }
    assert_int_equal(drain, 1);
    assert_int_equal(crash, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crashes_of_commands_go_by_the_board),
        cmocka_unit_test(it_asks_for_its_settings_alone),
    };
    return cmocka_run_group_tests_name("rep settings", tests, NULL, NULL);
}
