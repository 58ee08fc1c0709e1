/* What a site gives out, at each bound: the last one is given, the next is refused by name, and
 * what is given back makes room. */
#include "bbs/edge/refs.h"
#include "common/model/edge_name.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define PARIS "acme/paris"

struct fixture {
    struct arena arena;
    Board__RefsRecord *refs;
};

static int begin(void **state)
{
    static struct fixture f;
    arena_init(&f.arena);
    f.refs = arena_message(&f.arena, &board__refs_record__descriptor);
    f.refs->used = arena_message(&f.arena, &board__edge_resources__descriptor);
    *state = &f;
    return 0;
}

static int end(void **state)
{
    arena_done(&((struct fixture *)*state)->arena);
    return 0;
}

static const char *fault(struct fixture *f, const Board__RefsRecord *after)
{
    const char *text = refs_fault(&f->arena, PARIS, f->refs, after, NULL, NULL);
    return text ? text : "";
}

static const struct footprint nothing, one_cluster = {.clusters = 1},
                                       one_instance = {.instances = 1};

static Board__RefsRecord *with(struct fixture *f, const struct footprint *before,
                               const struct footprint *after)
{
    return refs_after(&f->arena, f->refs, "new", before, after);
}

static void clusters_have_a_bound(void **state)
{
    struct fixture *f = *state;
    f->refs->clusters = SITE_CLUSTERS_MAX - 1;
    assert_string_equal(fault(f, with(f, &nothing, &one_cluster)), "");
    f->refs->clusters = SITE_CLUSTERS_MAX;
    assert_string_equal(fault(f, with(f, &nothing, &one_cluster)),
                        "cloudlet acme/paris has 256 clusters, which is the most");
    assert_string_equal(fault(f, with(f, &one_cluster, &one_cluster)), "");
    f->refs = with(f, &one_cluster, &nothing);
    assert_string_equal(fault(f, with(f, &nothing, &one_cluster)), "");
}

static void instances_have_a_bound(void **state)
{
    struct fixture *f = *state;
    f->refs->instances = SITE_INSTANCES_MAX - 1;
    assert_string_equal(fault(f, with(f, &nothing, &one_instance)), "");
    f->refs->instances = SITE_INSTANCES_MAX;
    assert_string_equal(fault(f, with(f, &nothing, &one_instance)),
                        "cloudlet acme/paris has 4096 app instances, which is the most");
    f->refs = with(f, &one_instance, &nothing);
    assert_string_equal(fault(f, with(f, &nothing, &one_instance)), "");
}

static void reservable_clusters_have_a_bound(void **state)
{
    struct fixture *f = *state;
    for (unsigned id = 0; id < EDGE_RESERVABLE_MAX; id++) {
        const struct footprint made = {.clusters = 1, .reservable_ids = (uint64_t)1 << id};
        assert_int_equal(refs_free_id(f->refs), id);
        f->refs = with(f, &nothing, &made);
    }
    assert_int_equal(refs_free_id(f->refs), EDGE_RESERVABLE_MAX);
    const struct footprint fifth = {.clusters = 1, .reservable_ids = 1 << 5};
    f->refs = with(f, &fifth, &nothing);
    assert_int_equal(refs_free_id(f->refs), 5);
}

/* So many public ports from this one on are somebody's. */
static void take(struct fixture *f, uint32_t first, size_t count)
{
    f->refs->ports = ARENA_ARRAY(&f->arena, count + 1, Board__RefsPort *);
    f->refs->n_ports = count;
    for (size_t i = 0; i < count; i++) {
        f->refs->ports[i] = arena_message(&f->arena, &board__refs_port__descriptor);
        f->refs->ports[i]->port = first + (uint32_t)i;
        f->refs->ports[i]->taken_by = arena_strdup(&f->arena, i ? "others" : "first");
    }
}

static Board__EdgePort *port(struct fixture *f, uint32_t internal, uint32_t public)
{
    Board__EdgePort *p = arena_message(&f->arena, &board__edge_port__descriptor);
    p->internal = internal;
    p->public_ = public;
    return p;
}

/* "10000", or why none is given. */
static const char *given(struct fixture *f, uint32_t internal)
{
    Board__EdgePort *wanted[] = {port(f, internal, 0)};
    const char *why;
    Board__EdgePort **list = ports_shared(&f->arena, f->refs, "new", wanted, 1, NULL, 0, &why);
    return list ? arena_printf(&f->arena, "%u", list[0]->public_) : why;
}

static void the_last_free_port_is_given(void **state)
{
    struct fixture *f = *state;
    take(f, PORT_FIRST, PORT_END - PORT_FIRST - 1);
    assert_string_equal(given(f, PORT_FIRST), "64999");
    assert_string_equal(given(f, 9999), "9999");
    take(f, PORT_FIRST, PORT_END - PORT_FIRST);
    assert_string_equal(given(f, PORT_FIRST), "no public port of 10000 to 64999 is free");
    const struct footprint gone = {.instances = 1};
    f->refs->instances = 1;
    f->refs = refs_after(&f->arena, f->refs, "first", &gone, &nothing);
    assert_string_equal(given(f, 12345), "10000");
}

static void public_ports_have_a_bound(void **state)
{
    struct fixture *f = *state;
    Board__EdgePort *ports[] = {port(f, 9000, 9000)};
    const struct footprint opens = {.instances = 1, .ports = ports, .port_count = 1};
    take(f, PORT_FIRST, SITE_PORTS_MAX - 1);
    assert_string_equal(fault(f, with(f, &nothing, &opens)), "");
    take(f, PORT_FIRST, SITE_PORTS_MAX);
    assert_string_equal(fault(f, with(f, &nothing, &opens)),
                        "cloudlet acme/paris has given out 16384 public ports, which is the most");
    f->refs->instances = 1;
    f->refs = refs_after(&f->arena, f->refs, "first", &one_instance, &nothing);
    assert_string_equal(fault(f, with(f, &nothing, &opens)), "");
}

/* What crosses it is told, once; of 0 in a quota the site's own is the bound. */
static void the_alert_is_told(void **state)
{
    struct fixture *f = *state;
    Board__CloudletSpec spec = BOARD__CLOUDLET_SPEC__INIT;
    Board__EdgeResources quota = BOARD__EDGE_RESOURCES__INIT, totals = quota;
    spec.quota = &quota;
    quota.memory_mb = 1000;
    totals.memory_mb = 4000;
    totals.disk_mb = 100;
    totals.containers = 64;
    struct footprint more = {.memory_mb = 800};
    Board__RefsRecord *at = with(f, &nothing, &more);
    assert_null(refs_alert(&f->arena, PARIS, f->refs, at, &spec, &totals));
    more.memory_mb = 801;
    Board__RefsRecord *beyond = with(f, &nothing, &more);
    assert_string_equal(refs_alert(&f->arena, PARIS, at, beyond, &spec, &totals),
                        "acme/paris has given out 801 of 1000 MiB memory, more than 80 %");
    assert_non_null(refs_alert(&f->arena, PARIS, NULL, beyond, &spec, &totals));
    assert_null(refs_alert(&f->arena, PARIS, beyond, beyond, &spec, &totals));
    spec.alert_percent = 90;
    assert_null(refs_alert(&f->arena, PARIS, at, beyond, &spec, &totals));
    more = (struct footprint){.disk_mb = 91};
    assert_string_equal(refs_alert(&f->arena, PARIS, at, with(f, &nothing, &more), &spec, &totals),
                        "acme/paris has given out 91 of 100 MiB disk, more than 90 %");
    /* nobody says how much there is */
    assert_null(refs_alert(&f->arena, PARIS, NULL, with(f, &nothing, &more), NULL, NULL));
}

static void what_is_not_known_is_said(void **state)
{
    struct fixture *f = *state;
    Board__EdgeResources quota = BOARD__EDGE_RESOURCES__INIT;
    const struct footprint node = {.memory_mb = 512, .disk_mb = 1024};
    quota.memory_mb = 4096;
    assert_string_equal(
        refs_fault(&f->arena, PARIS, f->refs, with(f, &nothing, &node), &quota, NULL),
        "disk of acme/paris: how much it has is not known, for its CRM has not come");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(clusters_have_a_bound),
        TEST(instances_have_a_bound),
        TEST(reservable_clusters_have_a_bound),
        TEST(the_last_free_port_is_given),
        TEST(public_ports_have_a_bound),
        TEST(the_alert_is_told),
        TEST(what_is_not_known_is_said),
    };
    return cmocka_run_group_tests_name("what a site gives out", tests, NULL, NULL);
}
