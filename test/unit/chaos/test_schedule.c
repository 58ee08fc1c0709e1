/* What the nemesis draws: the same from the same seed, each kind and each process, and never what a
 * cluster has not. */
#include "test/chaos/nemesis/schedule.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

static void add(struct cluster_shape *shape, enum cluster_role role, const char *name,
                const char *zone)
{
    struct cluster_process *p = &shape->processes[shape->count++];
    p->role = role;
    snprintf(p->name, sizeof(p->name), "%s", name);
    snprintf(p->zone, sizeof(p->zone), "%s", zone);
}

static const struct cluster_shape *whole(void)
{
    static struct cluster_shape shape;
    shape.count = 0;
    add(&shape, ROLE_ETCD, "etcd-1", "");
    add(&shape, ROLE_ETCD, "etcd-2", "");
    add(&shape, ROLE_BBS, "bbs-1", "");
    add(&shape, ROLE_BBS, "bbs-2", "");
    add(&shape, ROLE_AUCTIONEER, "auctioneer-1", "");
    add(&shape, ROLE_CONVERGER, "converger-1", "");
    add(&shape, ROLE_REP, "rep-1", "z1");
    add(&shape, ROLE_REP, "rep-2", "z2");
    add(&shape, ROLE_REP, "rep-3", "z1");
    shape.processes[shape.count - 1].small_disk = true;
    return &shape;
}

static void allow_all(struct schedule *s, uint64_t seed, const struct cluster_shape *shape)
{
    schedule_init(s, seed, shape);
    for (int i = 0; i < fault_kind_count; i++) {
        schedule_allow(s, &fault_kinds[i]);
    }
}

static void the_same_seed_draws_the_same(void **state)
{
    struct schedule a, b;
    struct fault x[FAULTS_AT_ONCE_MAX], y[FAULTS_AT_ONCE_MAX];
    allow_all(&a, 7, whole());
    allow_all(&b, 7, whole());
    for (int i = 0; i < 500; i++) {
        int count = schedule_next(&a, x);
        assert_int_equal(schedule_next(&b, y), count);
        for (int k = 0; k < count; k++) {
            assert_ptr_equal(x[k].kind, y[k].kind);
            assert_int_equal(x[k].hold_ms, y[k].hold_ms);
            assert_int_equal(x[k].number, y[k].number);
            assert_memory_equal(x[k].targets, y[k].targets, sizeof(x[k].targets));
        }
    }
}

static void another_seed_draws_others(void **state)
{
    struct schedule a, b;
    struct fault x[FAULTS_AT_ONCE_MAX], y[FAULTS_AT_ONCE_MAX];
    int same = 0;
    allow_all(&a, 7, whole());
    allow_all(&b, 8, whole());
    for (int i = 0; i < 500; i++) {
        schedule_next(&a, x);
        schedule_next(&b, y);
        same += x[0].kind == y[0].kind && x[0].hold_ms == y[0].hold_ms;
    }
    assert_in_range(same, 0, 50);
}

static void each_kind_comes_and_each_process_is_hit(void **state)
{
    struct schedule s;
    struct fault f[FAULTS_AT_ONCE_MAX];
    const struct cluster_shape *shape = whole();
    bool hit[CLUSTER_PROCESSES_MAX] = {false}, come[64] = {false};
    allow_all(&s, 1, shape);
    assert_int_equal(s.allowed_count, fault_kind_count);
    for (int i = 0; i < 3000; i++) {
        for (int k = schedule_next(&s, f); k-- > 0;) {
            come[f[k].kind - fault_kinds] = true;
            for (int t = 0; t < f[k].target_count; t++) {
                for (int p = 0; p < shape->count; p++) {
                    hit[p] |= strcmp(f[k].targets[t], shape->processes[p].name) == 0;
                }
            }
        }
    }
    for (int i = 0; i < fault_kind_count; i++) {
        assert_true(come[i]);
    }
    for (int i = 0; i < shape->count; i++) {
        assert_true(hit[i]);
    }
}

/* A short run meets most kinds, the rare ones too. */
static void kinds_come_in_turn(void **state)
{
    struct schedule s;
    struct fault f[FAULTS_AT_ONCE_MAX];
    int come[64] = {0}, kinds = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        allow_all(&s, seed, whole());
        memset(come, 0, sizeof(come));
        for (int i = 0; i < 2 * fault_kind_count; i++) {
            for (int k = schedule_next(&s, f); k-- > 0;) {
                come[f[k].kind - fault_kinds]++;
            }
        }
        for (int i = 0; i < fault_kind_count; i++) {
            kinds += come[i] > 0;
        }
    }
    assert_in_range(kinds, 20 * fault_kind_count * 95 / 100, 20 * fault_kind_count);
}

/* What runs where changes whom faults befall, and neither which they are nor how long they stay. */
static void faults_of_cells_aim_at_those_with_containers(void **state)
{
    const struct cluster_shape *shape = whole();
    struct schedule a, b;
    struct fault x[FAULTS_AT_ONCE_MAX], y[FAULTS_AT_ONCE_MAX];
    bool occupied[CLUSTER_PROCESSES_MAX] = {[7] = true}; /* rep-2 */
    int aimed = 0;
    schedule_init(&a, 1, shape);
    schedule_init(&b, 1, shape);
    schedule_allow(&a, fault_kind_named("kill_cell"));
    schedule_allow(&b, fault_kind_named("kill_cell"));
    schedule_occupied(&b, occupied, shape->count);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(schedule_next(&a, x) > 0, schedule_next(&b, y) > 0);
        assert_false(schedule_is_occupied(&a, &x[0]));
        bool hit = strcmp(y[0].targets[0], "rep-2") == 0;
        assert_int_equal(schedule_is_occupied(&b, &y[0]), hit);
        aimed += hit;
    }
    assert_in_range(aimed, 780, 880); /* 75 % and a third of the others */
    schedule_occupied(&b, occupied, 0);
    schedule_next(&b, y);
    assert_false(schedule_is_occupied(&b, &y[0]));
    allow_all(&a, 9, shape);
    allow_all(&b, 9, shape);
    schedule_occupied(&b, occupied, shape->count);
    for (int i = 0; i < 200; i++) {
        schedule_next(&a, x);
        schedule_next(&b, y);
        assert_ptr_equal(x[0].kind, y[0].kind);
        assert_int_equal(x[0].hold_ms, y[0].hold_ms);
    }
}

static void a_kind_that_spares_cells_befalls_the_others(void **state)
{
    struct schedule s;
    struct fault f[FAULTS_AT_ONCE_MAX];
    int killed = 0, paused = 0, cells = 0;
    schedule_init(&s, 3, whole());
    schedule_spare_cells(&s, fault_kind_named("kill"));
    schedule_allow(&s, fault_kind_named("kill"));
    schedule_allow(&s, fault_kind_named("pause"));
    schedule_spare_cells(&s, fault_kind_named("kill_cell"));
    schedule_allow(&s, fault_kind_named("kill_cell")); /* which is there for cells */
    for (int i = 0; i < 500; i++) {
        for (int k = schedule_next(&s, f); k-- > 0;) {
            bool cell = strncmp(f[k].targets[0], "rep-", 4) == 0;
            killed += strcmp(f[k].kind->name, "kill") == 0;
            paused += strcmp(f[k].kind->name, "pause") == 0 && cell;
            cells += strcmp(f[k].kind->name, "kill_cell") == 0 && cell;
            assert_false(cell && strcmp(f[k].kind->name, "kill") == 0);
        }
    }
    assert_true(killed > 0 && paused > 0 && cells > 0);
}

static void holds_and_numbers_are_within_their_rows(void **state)
{
    struct schedule s;
    struct fault f[FAULTS_AT_ONCE_MAX];
    allow_all(&s, 2, whole());
    for (int i = 0; i < 3000; i++) {
        for (int k = schedule_next(&s, f); k-- > 0;) {
            assert_in_range(f[k].hold_ms, f[k].kind->hold_min_ms, f[k].kind->hold_max_ms);
            assert_int_equal(f[k].has_number,
                             f[k].kind->parameter != NO_PARAMETER && f[k].kind->parameter != PAUSE);
            if (f[k].kind->parameter == PERCENT) {
                assert_in_range(f[k].number, 20, 80);
            }
            if (f[k].kind->parameter == DELAY) {
                assert_in_range(f[k].number, 50, 500);
            }
            if (f[k].kind->parameter == CLOCK) {
                assert_int_not_equal(f[k].number, 0);
            }
        }
    }
}

static bool shared(const struct fault *a, const struct fault *b)
{
    for (int i = 0; i < a->target_count; i++) {
        for (int k = 0; k < b->target_count; k++) {
            if (strcmp(a->targets[i], b->targets[k]) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void two_at_once_befall_others(void **state)
{
    struct schedule s;
    struct fault f[FAULTS_AT_ONCE_MAX];
    int twos = 0;
    allow_all(&s, 3, whole());
    for (int i = 0; i < 2000; i++) {
        if (schedule_next(&s, f) == 2) {
            twos++;
            assert_false(shared(&f[0], &f[1]));
            assert_int_not_equal(f[0].kind->who, EVERYBODY);
            assert_int_not_equal(f[1].kind->who, EVERYBODY);
        }
    }
    assert_in_range(twos, 100, 400);
}

static void what_a_cluster_has_not_is_not_drawn(void **state)
{
    struct cluster_shape shape = {.count = 0};
    struct schedule s;
    struct fault f[FAULTS_AT_ONCE_MAX];
    add(&shape, ROLE_BBS, "bbs-1", "");
    schedule_init(&s, 1, &shape);
    assert_int_equal(schedule_next(&s, f), 0);
    assert_true(schedule_allow(&s, fault_kind_named("kill")));
    assert_false(schedule_allow(&s, fault_kind_named("kill_cell")));
    assert_false(schedule_allow(&s, fault_kind_named("disk_cell")));
    assert_false(schedule_allow(&s, fault_kind_named("cut")));
    assert_false(schedule_allow(&s, fault_kind_named("cut-zone")));
    assert_false(schedule_allow(&s, fault_kind_named("kill_etcd_leader")));
    assert_false(schedule_allow(&s, fault_kind_named("kill_leader")));
    assert_int_equal(schedule_next(&s, f), 1);
    assert_string_equal(f[0].targets[0], "bbs-1");
}

static void names_of_kinds_are_taken_with_dashes(void **state)
{
    assert_string_equal(fault_kind_named("cut-one-way")->name, "cut_one_way");
    assert_null(fault_kind_named("cu"));
    assert_null(fault_kind_named("cutter"));
    assert_null(fault_kind_named(""));
}

static void leaders_are_known(void **state)
{
    struct fault f = {.kind = fault_kind_named("kill"), .target_count = 1};
    snprintf(f.targets[0], sizeof(f.targets[0]), "rep-1");
    assert_false(fault_befalls_leaders(&f));
    snprintf(f.targets[0], sizeof(f.targets[0]), "converger-2");
    assert_true(fault_befalls_leaders(&f));
    f = (struct fault){.kind = fault_kind_named("kill_all")};
    assert_true(fault_befalls_leaders(&f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_draws_the_same),
        cmocka_unit_test(another_seed_draws_others),
        cmocka_unit_test(each_kind_comes_and_each_process_is_hit),
        cmocka_unit_test(kinds_come_in_turn),
        cmocka_unit_test(faults_of_cells_aim_at_those_with_containers),
        cmocka_unit_test(a_kind_that_spares_cells_befalls_the_others),
        cmocka_unit_test(holds_and_numbers_are_within_their_rows),
        cmocka_unit_test(two_at_once_befall_others),
        cmocka_unit_test(what_a_cluster_has_not_is_not_drawn),
        cmocka_unit_test(names_of_kinds_are_taken_with_dashes),
        cmocka_unit_test(leaders_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
