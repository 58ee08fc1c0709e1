/* What the converger keeps of the board for its looks. */
#include "converger/facts.h"

#include "common/lifecycle/actual_lrp.h"
#include "common/model/keys.h"
#include "common/model/record.h"
#include "converger/processes.h"
#include "test/decide/lrp_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct arena arena;
    struct facts facts;
    struct processes processes;
    struct domains domains;
    struct process *web;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    facts_init(&f->facts);
    processes_init(&f->processes);
    domains_init(&f->domains);
    f->web = processes_named(&f->processes, "web");
    *state = f;
    return 0;
}

/* Everything is cleared: facts_done() asserts that nothing is left. */
static int teardown(void **state)
{
    struct fixture *f = *state;
    facts_clear(&f->facts, f->web);
    assert_false(facts_any(f->web));
    facts_done(&f->facts);
    processes_done(&f->processes);
    domains_done(&f->domains);
    arena_done(&f->arena);
    free(f);
    return 0;
}

/* A record of this message, or of a newer version. The blob lives until the fixture ends. */
static struct followed record_of(struct buf *b, const ProtobufCMessage *m)
{
    buf_init(b);
    if (m) {
        record_encode(b, m);
    } else {
        buf_append(b, "\xff?", 2);
    }
    return (struct followed){.record = blob_new(b->data, b->size)};
}

static void actual(struct fixture *f, int32_t index, int presence, const char *record_state,
                   const char *cell, const char *domain)
{
    Models__ActualLRP lrp = MODELS__ACTUAL_LRP__INIT;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    Models__ActualLRPInstanceKey instance = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    key.domain = arena_strdup(&f->arena, domain);
    instance.cell_id = arena_strdup(&f->arena, cell);
    lrp.actual_lrp_key = &key;
    lrp.actual_lrp_instance_key = &instance;
    lrp.state = arena_strdup(&f->arena, record_state);
    struct buf b;
    struct followed r = record_of(&b, &lrp.base);
    facts_actual(&f->facts, f->web, index, presence, &r);
    blob_unref(r.record);
    buf_done(&b);
}

static void unreadable(struct fixture *f, int32_t index)
{
    struct buf b;
    struct followed r = record_of(&b, NULL);
    facts_actual(&f->facts, f->web, index, 0, &r);
    blob_unref(r.record);
    buf_done(&b);
}

static void gone(struct fixture *f, int32_t index, int presence)
{
    facts_actual(&f->facts, f->web, index, presence, NULL);
}

static void desired(struct fixture *f, const Models__DesiredLRP *lrp)
{
    struct buf b;
    struct followed r = record_of(&b, lrp ? &lrp->base : NULL);
    facts_desired(f->web, &r);
    blob_unref(r.record);
    buf_done(&b);
}

/* Whether the change is one to look at. */
static bool cell(struct fixture *f, const char *id, Board__CellRecord__State cell_state,
                 size_t *ret_named)
{
    Board__CellRecord record = BOARD__CELL_RECORD__INIT;
    const struct cell_facts *c;
    record.state = cell_state;
    struct buf b;
    struct followed r = record_of(&b, &record.base);
    bool changed = facts_cell(&f->facts, id, &r, &c);
    blob_unref(r.record);
    buf_done(&b);
    *ret_named = 0;
    const struct instance *i;
    LIST_FOREACH(i, &c->instances, neighbour)
    {
        (*ret_named)++;
    }
    return changed;
}

/* "INDEX.PRESENCE STATE, ..." with "!" after one whose cell is present. */
static const char *seen(struct fixture *f, int32_t first, int32_t last)
{
    struct process_view v = {0};
    struct buf b;
    buf_init(&b);
    facts_begin_round(&f->facts);
    facts_view(&f->facts, &f->domains, (struct moment){0}, &f->arena, f->web, first, last, &v);
    for (size_t i = 0; i < v.count; i++) {
        const struct instance_view *one = &v.instances[i];
        buf_printf(&b, "%s%d.%d %s%s", i ? ", " : "", one->index, one->presence,
                   actual_lrp_lifecycle.states[one->state], one->cell_present ? "!" : "");
    }
    const char *text = arena_strdup(&f->arena, buf_string(&b));
    buf_done(&b);
    return text;
}

static void they_are_in_order_and_a_range_of_them_is_seen(void **state)
{
    struct fixture *f = *state;
    actual(f, 3, 0, "RUNNING", "c1", "d");
    actual(f, 0, 2, "CLAIMED", "c1", "d");
    actual(f, 0, 0, "UNCLAIMED", "", "d");
    actual(f, INT32_MAX, 0, "CRASHED", "", "e");
    assert_string_equal(seen(f, 0, INT32_MAX),
                        "0.0 UNCLAIMED, 0.2 CLAIMED, 3.0 RUNNING, 2147483647.0 CRASHED");
    assert_string_equal(seen(f, 0, 0), "0.0 UNCLAIMED, 0.2 CLAIMED");
    assert_string_equal(seen(f, 1, 2), "");
    assert_string_equal(seen(f, 3, 3), "3.0 RUNNING");
    actual(f, 0, 0, "CLAIMED", "c2", "e"); /* said anew */
    gone(f, 3, 0);
    gone(f, 3, 0);
    assert_string_equal(seen(f, 0, 3), "0.0 CLAIMED, 0.2 CLAIMED");
    assert_int_equal(f->web->facts.count, 3);
}

static void of_what_cannot_be_read_nothing_is_seen(void **state)
{
    struct fixture *f = *state;
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    lrp.instances = 1;
    actual(f, 0, 0, "RUNNING", "c1", "d");
    unreadable(f, 1);
    assert_string_equal(seen(f, 0, INT32_MAX), "");
    unreadable(f, 1);
    actual(f, 1, 0, "RUNNING", "c1", "d");
    desired(f, NULL);
    assert_string_equal(seen(f, 0, INT32_MAX), "");
    desired(f, NULL);
    desired(f, &lrp);
    assert_string_equal(seen(f, 0, INT32_MAX), "0.0 RUNNING, 1.0 RUNNING");
    assert_int_equal(f->web->facts.desired.instances, 1);
    unreadable(f, 7);
    gone(f, 7, 0);
    assert_string_equal(seen(f, 0, INT32_MAX), "0.0 RUNNING, 1.0 RUNNING");
}

static void a_cell_knows_the_records_that_name_it(void **state)
{
    struct fixture *f = *state;
    const Board__CellRecord__State present = BOARD__CELL_RECORD__STATE__PRESENT,
                                   lost = BOARD__CELL_RECORD__STATE__LOST;
    const struct cell_facts *c;
    size_t named;
    actual(f, 0, 0, "RUNNING", "c1", "d");
    actual(f, 1, 0, "RUNNING", "c1", "d");
    actual(f, 2, 0, "RUNNING", "c2", "d");
    assert_string_equal(seen(f, 0, 1), "0.0 RUNNING, 1.0 RUNNING"); /* no record: absent */
    assert_true(cell(f, "c1", present, &named));
    assert_int_equal(named, 2);
    assert_string_equal(seen(f, 0, INT32_MAX), "0.0 RUNNING!, 1.0 RUNNING!, 2.0 RUNNING");
    assert_false(cell(f, "c1", present, &named));
    actual(f, 1, 0, "UNCLAIMED", "", "d");
    assert_true(cell(f, "c1", lost, &named));
    assert_int_equal(named, 1);
    assert_string_equal(seen(f, 0, 0), "0.0 RUNNING");
    assert_true(cell(f, "c1", present, &named));
    assert_true(facts_cell(&f->facts, "c1", NULL, &c)); /* its record goes */
    gone(f, 0, 0);
    assert_null(map_get(&f->facts.cells, "c1"));
    assert_false(facts_cell(&f->facts, "c9", NULL, &c));
    assert_null(map_get(&f->facts.cells, "c9"));
}

/* "+" for each that shows what is desired of it, "-" for the others. */
static const char *shown(struct fixture *f)
{
    struct process_view v = {0};
    struct buf b;
    buf_init(&b);
    facts_begin_round(&f->facts);
    facts_view(&f->facts, &f->domains, (struct moment){0}, &f->arena, f->web, 0, INT32_MAX, &v);
    for (size_t i = 0; i < v.count; i++) {
        buf_append_string(&b, v.instances[i].differs ? "-" : "+");
    }
    const char *text = arena_strdup(&f->arena, buf_string(&b));
    buf_done(&b);
    return text;
}

static void tagged(struct fixture *f, int32_t index, const char *guid, const char *value)
{
    char text[64];
    snprintf(text, sizeof(text), "RUNNING %s@c1%s%s", guid, *value ? " tag=" : "", value);
    struct buf b;
    struct followed r = record_of(&b, &row_actual(&f->arena, text, index, 0)->base);
    facts_actual(&f->facts, f->web, index, 0, &r);
    blob_unref(r.record);
    buf_done(&b);
}

/* Whichever comes first, the record or what is desired. */
static void who_shows_something_else_is_known(void **state)
{
    struct fixture *f = *state;
    tagged(f, 0, "a", "0");
    tagged(f, 1, "b", "0");
    tagged(f, 2, "c", "c");
    tagged(f, 13, "d", "13");
    tagged(f, 14, "e", "");
    desired(f, row_desired(&f->arena, "instances=3 tag=INDEX"));
    assert_string_equal(shown(f), "+--+-");
    tagged(f, 1, "b", "1");
    tagged(f, 13, "d", "3");
    assert_string_equal(shown(f), "++---");
    desired(f, row_desired(&f->arena, "instances=3 tag=GUID"));
    assert_string_equal(shown(f), "--+--");
    desired(f, row_desired(&f->arena, "instances=3 tag=0"));
    assert_string_equal(shown(f), "+----");
    desired(f, row_desired(&f->arena, "instances=3"));
    assert_string_equal(shown(f), "----+");
    desired(f, row_desired(&f->arena, "instances=3 route=h"));
    assert_string_equal(shown(f), "-----");
}

/* A domain that is asked for once a round, and again in the next one. */
static void freshness_is_of_the_round(void **state)
{
    struct fixture *f = *state;
    struct process_view v = {0};
    struct moment now = {.mono_ns = SECOND_NS, .wall_ns = SECOND_NS};
    Board__DomainRecord record = BOARD__DOMAIN_RECORD__INIT;
    record.domain = arena_strdup(&f->arena, "d");
    struct buf b;
    struct followed r = record_of(&b, &record.base);
    r.mod_revision = 5;
    actual(f, 0, 0, "RUNNING", "c1", "d");
    facts_begin_round(&f->facts);
    facts_view(&f->facts, &f->domains, now, &f->arena, f->web, 0, 0, &v);
    assert_false(v.instances[0].fresh);
    domains_epoch(&f->domains, 1);
    domains_put(&f->domains, key_domain(&f->arena, "d"), &r, now);
    facts_begin_round(&f->facts);
    facts_view(&f->facts, &f->domains, now, &f->arena, f->web, 0, 0, &v);
    assert_true(v.instances[0].fresh);
    blob_unref(r.record);
    buf_done(&b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(they_are_in_order_and_a_range_of_them_is_seen),
        TEST(of_what_cannot_be_read_nothing_is_seen),
        TEST(a_cell_knows_the_records_that_name_it),
        TEST(who_shows_something_else_is_known),
        TEST(freshness_is_of_the_round),
    };
    return cmocka_run_group_tests_name("facts of the converger", tests, NULL, NULL);
}
