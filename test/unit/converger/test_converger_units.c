/* What the converger does with units whose cell is lost, with charms that nobody runs, and with
 * what was leaked; and when it asks again. */
#include "converger/units.h"
#include "test/tool/cmocka.h"
#include "test/unit/converger/converger_rig.h"

#include <string.h>

#define PRESENT BOARD__CELL_RECORD__STATE__PRESENT
#define LOST BOARD__CELL_RECORD__STATE__LOST

static char *text(struct converger_rig *f, const char *s)
{
    return arena_strdup(&f->arena, s);
}

/* Frames of the feed. */
static void show_unit(struct converger_rig *f, Board__FeedFrame__Kind kind, uint32_t number,
                      const char *life, const char *cell)
{
    Board__UnitRecord u = BOARD__UNIT_RECORD__INIT;
    u.service = text(f, "web");
    u.service_guid = text(f, "s-web");
    u.number = number;
    u.guid = arena_printf(&f->arena, "g%u", number);
    u.state = u.place = text(f, life);
    u.cell_id = text(f, cell);
    rig_change(f, kind, key_unit(&f->arena, (struct unit_name){"web", number}), &u.base);
}

static void show_service(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *life)
{
    Board__UnitServiceRecord s = BOARD__UNIT_SERVICE_RECORD__INIT;
    s.name = text(f, "web");
    s.guid = text(f, "s-web");
    s.state = text(f, life);
    s.charm = text(f, "new");
    rig_change(f, kind, key_unit_service(&f->arena, "web"), &s.base);
}

static void show_machine(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *life)
{
    Board__MachineRecord m = BOARD__MACHINE_RECORD__INIT;
    m.number = 1;
    m.guid = text(f, "m1");
    m.state = text(f, life);
    m.cell_id = text(f, "c");
    rig_change(f, kind, key_machine(&f->arena, 1), &m.base);
}

static void show_charm(struct converger_rig *f, const char *digest)
{
    Board__CharmRecord c = BOARD__CHARM_RECORD__INIT;
    c.service = text(f, "web");
    c.digest = text(f, digest);
    rig_change(f, RECORD, key_charm(&f->arena, "web", digest), &c.base);
}

static void show_status(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *charm)
{
    Board__UnitStatusRecord s = BOARD__UNIT_STATUS_RECORD__INIT;
    s.guid = text(f, "g3");
    s.state = text(f, "started");
    s.charm = text(f, charm);
    rig_change(f, kind, key_unit_status(&f->arena, (struct unit_name){"web", 3}), &s.base);
}

/* As soon as the cell is lost, and only then; one that waits for a machine is a bbs's. */
static void the_loss_of_a_cell_is_noticed_at_once(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_cell(f, RECORD, "c", PRESENT);
    show_machine(f, RECORD, "dying");
    show_service(f, RECORD, "dying");
    show_unit(f, RECORD, 3, "alive", "c");
    show_unit(f, RECORD, 4, "dead", "c");
    show_unit(f, RECORD, 5, "alive", "");
    rig_leader_lock(f);
    assert_moves(f, "", &call);
    rig_cell(f, PUT, "c", LOST);
    rig_send(f);
    const char *moves = rig_moves(f, 0, &call);
    assert_non_null(strstr(moves, "die machine/0000000001"));
    assert_non_null(strstr(moves, "destroy unit/web/0000000003"));
    assert_non_null(strstr(moves, "remove unit/web/0000000004"));
    assert_null(strstr(moves, "0000000005"));
    rig_answer(f, call, 3, DONE);
    show_machine(f, PUT, "dead");
    rig_send(f);
    assert_moves(f, "remove machine/0000000001 ", &call);
}

/* Its service becomes dying while its cell is lost. */
static void a_service_that_ends_takes_what_is_down(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_cell(f, RECORD, "c", LOST);
    show_service(f, RECORD, "alive");
    show_unit(f, RECORD, 3, "alive", "c");
    rig_leader_lock(f);
    assert_moves(f, "", &call);
    show_service(f, PUT, "dying");
    rig_send(f);
    assert_moves(f, "destroy unit/web/0000000003 ", &call);
}

/* In the second full pass; when units run it no more, in the second after that. */
static void old_charms_go_in_full_passes(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    show_service(f, RECORD, "alive");
    show_unit(f, RECORD, 3, "alive", "");
    show_charm(f, "new");
    show_charm(f, "old");
    show_status(f, RECORD, "old");
    rig_leader_lock(f);
    assert_false(rig_moved_within(f, 95));
    show_status(f, PUT, "new");
    rig_send(f);
    assert_false(rig_moved_within(f, 24));
    assert_true(rig_moved_within(f, 40));
    assert_moves(f, "trim unit_service/web ", &call);
}

/* It is told as a fault, and counted. */
static void a_leak_is_ended(void **state)
{
    struct converger_rig *f = *state;
    Board__UnitServiceRecord nothing = BOARD__UNIT_SERVICE_RECORD__INIT;
    const struct units_keeper *k = (const struct units_keeper *)f->x->keepers[KEEPER_units];
    uint64_t call;
    show_service(f, RECORD, "dying");
    rig_leader_lock(f);
    assert_moves(f, "", &call); /* the first full pass */
    assert_int_equal(k->leaks, 0);
    assert_true(rig_moved_within(f, 31));
    assert_moves(f, "release unit_service/web ", &call);
    assert_int_equal(k->leaks, 1);
    rig_answer(f, call, 1, DONE);
    rig_change(f, DELETE, key_unit_service(&f->arena, "web"), &nothing.base);
    rig_send(f);
    assert_int_equal(k->by_key.count, 0);
    assert_false(rig_moved_within(f, 65));
}

/* A unit, or a relation, holds the service; a member holds a relation. */
static void what_is_held_is_no_leak(void **state)
{
    struct converger_rig *f = *state;
    Board__RelationRecord r = BOARD__RELATION_RECORD__INIT;
    Board__RelationMemberRecord m = BOARD__RELATION_MEMBER_RECORD__INIT;
    Board__RelationNameRecord n = BOARD__RELATION_NAME_RECORD__INIT;
    uint64_t call;
    r.number = n.number = 7;
    r.guid = n.guid = text(f, "r7");
    r.state = text(f, "dying");
    m.state = text(f, "joined");
    show_service(f, RECORD, "dying");
    rig_change(f, RECORD, key_relation(&f->arena, 7), &r.base);
    rig_change(f, RECORD, key_unit_service_relation(&f->arena, "web", 7), &n.base);
    rig_change(f, RECORD, "relation_member/0000000007/-/0/web/0000000003", &m.base);
    rig_leader_lock(f);
    assert_false(rig_moved_within(f, 65));
    rig_change(f, DELETE, "relation_member/0000000007/-/0/web/0000000003", &m.base);
    rig_send(f);
    assert_false(rig_moved_within(f, 20));
    assert_true(rig_moved_within(f, 45));
    assert_moves(f, "settle relation/0000000007 ", &call);
}

/* A node pool may have the cell of a machine without units. */
static void a_machine_alone_takes_no_cell(void **state)
{
    struct converger_rig *f = *state;
    rig_cell(f, RECORD, "c", PRESENT);
    show_machine(f, RECORD, "alive");
    rig_leader_lock(f);
    const struct cached_cell *cell = map_get(&f->x->cache.cells, "c");
    assert_int_equal(cell->user_count, 1);
    assert_int_equal(cell->on_count, 0);
    show_service(f, PUT, "alive");
    show_unit(f, PUT, 3, "alive", "c");
    rig_send(f);
    assert_int_equal(cell->on_count, 1);
    show_unit(f, DELETE, 3, "alive", "c");
    show_machine(f, DELETE, "alive");
    rig_send(f);
    assert_int_equal(cell->user_count, 0);
    assert_int_equal(cell->on_count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_loss_of_a_cell_is_noticed_at_once),
        TEST(a_service_that_ends_takes_what_is_down),
        TEST(old_charms_go_in_full_passes),
        TEST(a_leak_is_ended),
        TEST(what_is_held_is_no_leak),
        TEST(a_machine_alone_takes_no_cell),
    };
    return cmocka_run_group_tests_name("converger: units", tests, NULL, NULL);
}
