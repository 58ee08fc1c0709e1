/* What a site's board holds, from its feed (crm/site.h). */
#include "common/base/bytes.h"
#include "crm/site.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct arena arena;
    struct crm_board board;
    Board__NodeSize node;
    Board__ClusterSpec spec;
    Board__ClusterInstRecord cluster;
    struct buf text;
};

static char *words(const char *s)
{
    return (char *)(uintptr_t)s;
}

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    buf_init(&x->text);
    crm_board_init(&x->board);
    board__node_size__init(&x->node);
    board__cluster_spec__init(&x->spec);
    board__cluster_inst_record__init(&x->cluster);
    x->node.memory_mb = 512;
    x->node.disk_mb = 1024;
    x->node.containers = 4;
    x->spec.node = &x->node;
    x->spec.dedicated = true;
    x->cluster.spec = &x->spec;
    x->cluster.uid = words("u1");
    x->cluster.name = words("acme/paris/dev/web");
    x->cluster.digest = words("d1");
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    crm_board_done(&x->board);
    buf_done(&x->text);
    arena_done(&x->arena);
    free(x);
    return 0;
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void slice(struct fixture *x, const char *uid, const char *digest)
{
    Board__SliceRecord s = BOARD__SLICE_RECORD__INIT;
    s.uid = words(uid);
    s.owner = words("acme/paris/dev/web");
    s.digest = words(digest);
    crm_board_change(&x->board, key_slice(&x->arena, uid), &s.base);
}

/* In slice u1; `instances` below 0: it is gone. */
static void desired(struct fixture *x, const char *guid, int instances)
{
    Models__DesiredLRP d = MODELS__DESIRED_LRP__INIT;
    d.process_guid = words(guid);
    d.slice = words("u1");
    d.annotation = words("acme/paris/dev/web/dev/shop/1.0");
    d.instances = instances;
    crm_board_change(&x->board, key_desired(&x->arena, guid), instances < 0 ? NULL : &d.base);
}

/* On this cell; "" = on none; state NULL: it is gone. */
static void actual(struct fixture *x, const char *guid, int index, const char *state,
                   const char *cell)
{
    Models__ActualLRP r = MODELS__ACTUAL_LRP__INIT;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    Models__ActualLRPInstanceKey instance = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    Models__ActualLRPNetInfo net = MODELS__ACTUAL_LRPNET_INFO__INIT;
    Models__PortMapping port = MODELS__PORT_MAPPING__INIT, *ports[] = {&port};
    key.process_guid = words(guid);
    key.index = index;
    instance.instance_guid = arena_printf(&x->arena, "%s-%d", guid, index);
    instance.cell_id = words(cell);
    net.address = words("10.0.0.7");
    port.host_port = 60000 + (uint32_t)index;
    net.ports = ports;
    net.n_ports = 1;
    r.actual_lrp_key = &key;
    r.actual_lrp_instance_key = *cell ? &instance : NULL;
    r.actual_lrp_net_info = &net;
    r.state = words(state ? state : "");
    crm_board_change(&x->board, key_actual(&x->arena, guid, index, 0), state ? &r.base : NULL);
}

/* With room for so many nodes. */
static void cell(struct fixture *x, const char *id, int nodes, const char *pool)
{
    Board__CellRecord c = BOARD__CELL_RECORD__INIT;
    Models__CellPresence p = MODELS__CELL_PRESENCE__INIT;
    Models__CellCapacity capacity = MODELS__CELL_CAPACITY__INIT;
    capacity.memory_mb = 512 * nodes;
    capacity.disk_mb = 100000;
    capacity.containers = 250;
    p.cell_id = words(id);
    p.capacity = &capacity;
    c.presence = &p;
    c.pool = words(pool);
    c.state = nodes ? BOARD__CELL_RECORD__STATE__PRESENT : BOARD__CELL_RECORD__STATE__LOST;
    crm_board_change(&x->board, key_cell(&x->arena, id), &c.base);
}

static void task(struct fixture *x, const char *guid, const char *cell_id)
{
    Models__Task t = MODELS__TASK__INIT;
    t.task_guid = words(guid);
    t.cell_id = words(cell_id);
    crm_board_change(&x->board, key_task(&x->arena, guid), &t.base);
}

/* ---- What is told ---------------------------------------------------------------------------- */

/* "c u1 d1 whole, a x d1" */
static const char *held(struct fixture *x)
{
    struct crm_held *list;
    size_t count = crm_board_held(&x->board, &x->arena, &list);
    buf_clear(&x->text);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&x->text, "%s%c %s %s of %s in %s%s", i ? ", " : "",
                   list[i].kind == CRM_CLUSTER ? 'c' : 'a', list[i].uid, list[i].digest,
                   list[i].name, list[i].cluster_uid, list[i].whole ? " whole" : "");
    }
    return buf_string(&x->text);
}

/* "a-x-d1 desired 1/2 2": what has run of what is wanted, and instances on the board. */
static const char *site_of(struct fixture *x, const char *uid)
{
    struct crm_site s;
    crm_board_site(&x->board, &x->arena, uid, &s);
    buf_clear(&x->text);
    buf_printf(&x->text, "%s", s.slice.stands ? s.slice.digest : "-");
    for (size_t i = 0; i < s.lrp_count; i++) {
        buf_printf(&x->text, " %s%s %u/%u %u", s.lrps[i].process_guid,
                   s.lrps[i].desired ? " desired" : "", s.lrps[i].ran, s.lrps[i].wanted,
                   s.lrps[i].instances);
    }
    return buf_string(&x->text);
}

#define SHOP "acme/paris/dev/web/dev/shop/1.0"

static void what_is_desired_in_a_slice_is_held(void **state)
{
    struct fixture *x = *state;
    Models__DesiredLRP other = MODELS__DESIRED_LRP__INIT;
    slice(x, "u1", "d1");
    desired(x, "a-x-d2", 2);
    desired(x, "web", 1);                                                       /* no CRM's guid */
    crm_board_change(&x->board, key_desired(&x->arena, "a-y-d1"), &other.base); /* in no slice */
    assert_string_equal(held(x),
                        "c u1 d1 of acme/paris/dev/web in u1 whole, a x d2 of " SHOP " in u1");
    assert_string_equal(site_of(x, "u1"), "d1");
    assert_string_equal(site_of(x, "x"), "- a-x-d2 desired 0/2 0");
    assert_string_equal(site_of(x, "z"), "-");
    crm_board_change(&x->board, key_slice(&x->arena, "u1"), NULL);
    assert_string_equal(held(x), "a x d2 of " SHOP " in u1");
    crm_board_reset(&x->board);
    assert_string_equal(held(x), "");
}

static void it_is_whole_when_each_has_run_once(void **state)
{
    struct fixture *x = *state;
    desired(x, "a-x-d1", 2);
    actual(x, "a-x-d1", 0, "RUNNING", "cell-1");
    actual(x, "a-x-d1", 1, "CLAIMED", "cell-1");
    assert_string_equal(site_of(x, "x"), "- a-x-d1 desired 1/2 2");
    actual(x, "a-x-d1", 0, "CRASHED", ""); /* it has run */
    actual(x, "a-x-d1", 1, "RUNNING", "cell-1");
    assert_string_equal(site_of(x, "x"), "- a-x-d1 desired 2/2 2");
    assert_string_equal(held(x), "a x d1 of " SHOP " in u1 whole");
    uint32_t running, wanted;
    assert_true(crm_board_running(&x->board, "x", "d1", &running, &wanted));
    assert_int_equal(running, 1);
    assert_int_equal(wanted, 2);
    assert_false(crm_board_running(&x->board, "x", "d2", &running, &wanted));
    desired(x, "a-x-d1", 3); /* one more is awaited */
    assert_string_equal(site_of(x, "x"), "- a-x-d1 desired 2/3 2");
}

/* It is gone when the last of its instances is. */
static void what_is_removed_is_held_until_its_instances_are_gone(void **state)
{
    struct fixture *x = *state;
    desired(x, "a-x-d1", 1);
    actual(x, "a-x-d1", 0, "RUNNING", "cell-1");
    desired(x, "a-x-d1", -1);
    assert_string_equal(site_of(x, "x"), "- a-x-d1 1/1 1");
    assert_string_equal(held(x), "a x d1 of " SHOP " in u1");
    actual(x, "a-x-d1", 0, NULL, "");
    assert_string_equal(held(x), "");
    /* The other way round, as a snapshot may have it. */
    actual(x, "a-x-d1", 0, "RUNNING", "cell-1");
    assert_string_equal(site_of(x, "x"), "- a-x-d1 0/0 1");
    desired(x, "a-x-d1", 1);
    assert_string_equal(site_of(x, "x"), "- a-x-d1 desired 1/1 1");
}

static void reports_name_what_runs(void **state)
{
    struct fixture *x = *state;
    desired(x, "a-x-d1", SITE_TOLD_MAX + 1);
    for (int i = 0; i <= SITE_TOLD_MAX; i++) {
        actual(x, "a-x-d1", i, "RUNNING", "cell-1");
    }
    actual(x, "a-x-d1", 0, "CRASHED", "");
    Board__AppInstReport *r = crm_board_app_report(&x->board, &x->arena, "x", "d1");
    assert_int_equal(r->running, SITE_TOLD_MAX);
    assert_int_equal(r->n_endpoints, SITE_TOLD_MAX);
    assert_string_equal(r->endpoints[0], "10.0.0.7:60001");
    assert_string_equal(r->runtime_ids[0], "a-x-d1-1");
    actual(x, "a-x-d1", 0, "RUNNING", "cell-1"); /* one more than are named */
    r = crm_board_app_report(&x->board, &x->arena, "x", "d1");
    assert_int_equal(r->running, SITE_TOLD_MAX + 1);
    assert_int_equal(r->n_endpoints, SITE_TOLD_MAX);
    assert_int_equal(crm_board_app_report(&x->board, &x->arena, "x", "other")->running, 0);
}

static void totals_are_of_present_cells(void **state)
{
    struct fixture *x = *state;
    Board__EdgeResources total;
    cell(x, "c1", 2, "");
    cell(x, "c2", 4, "slice:u9");
    cell(x, "c3", 0, "");
    assert_int_equal(crm_board_totals(&x->board, &total), 2);
    assert_int_equal(total.memory_mb, 3072);
    assert_int_equal(total.containers, 500);
}

/* ---- Whole cells ----------------------------------------------------------------------------- */

/* "c1 c2", or the fault. */
static const char *chosen(struct fixture *x, uint32_t nodes)
{
    const char *fault;
    x->spec.nodes = nodes;
    Board__SliceMove *m = crm_board_slice_move(&x->board, &x->arena, &x->cluster, &fault);
    buf_clear(&x->text);
    if (!m) {
        return fault;
    }
    assert_string_equal(m->owner, "acme/paris/dev/web");
    assert_string_equal(m->digest, "d1");
    assert_int_equal(m->nodes, nodes);
    for (size_t i = 0; i < m->n_cells; i++) {
        buf_printf(&x->text, "%s%s", i ? " " : "", m->cells[i]);
    }
    return buf_string(&x->text);
}

static void a_dedicated_slice_takes_free_cells(void **state)
{
    struct fixture *x = *state;
    cell(x, "c1", 1, "");
    cell(x, "c2", 3, "");
    cell(x, "c3", 2, "");
    cell(x, "c4", 9, "pool:u//:main#1");
    cell(x, "c5", 9, "");
    task(x, "t", "c5"); /* something is on it */
    cell(x, "c6", 0, "");
    assert_string_equal(chosen(x, 2), "c2"); /* the roomiest */
    assert_string_equal(chosen(x, 4), "c2 c3");
    assert_string_equal(chosen(x, 6), "c1 c2 c3");
    assert_non_null(strstr(chosen(x, 7), "not enough cells that are free"));
    task(x, "t", "");
    assert_string_equal(chosen(x, 7), "c5");
    x->spec.dedicated = false;
    assert_string_equal(chosen(x, 7), "");
}

static void it_keeps_its_cells(void **state)
{
    struct fixture *x = *state;
    cell(x, "c1", 2, "slice:u1");
    cell(x, "c2", 2, "slice:u1");
    cell(x, "c3", 9, "");
    assert_string_equal(chosen(x, 4), "c1 c2");
    assert_string_equal(chosen(x, 5), "c1 c2 c3");
    assert_string_equal(chosen(x, 2), "c1");
    actual(x, "a-x-d1", 0, "RUNNING", "c2"); /* which cannot be given back now */
    assert_string_equal(chosen(x, 2), "c1 c2");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_desired_in_a_slice_is_held),
        TEST(it_is_whole_when_each_has_run_once),
        TEST(what_is_removed_is_held_until_its_instances_are_gone),
        TEST(reports_name_what_runs),
        TEST(totals_are_of_present_cells),
        TEST(a_dedicated_slice_takes_free_cells),
        TEST(it_keeps_its_cells),
    };
    return cmocka_run_group_tests_name("crm: site", tests, NULL, NULL);
}
