/* What the converger keeps of the board for its looks. */
#include "converger/process_cache.h"

#include "common/lifecycle/actual_lrp.h"
#include "common/model/keys.h"
#include "common/model/record.h"
#include "converger/instances.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>

struct fixture {
    struct arena arena;
    struct cache cache;
    struct process *web;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    cache_init(&f->cache);
    f->web = calloc(1, sizeof(*f->web));
    *state = f;
    return 0;
}

/* Everything is cleared: cache_done() asserts that nothing is left. */
static int teardown(void **state)
{
    struct fixture *f = *state;
    process_cache_clear(&f->cache, f->web);
    assert_false(process_cache_any(f->web));
    cache_done(&f->cache);
    free(f->web);
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
    process_cache_actual(&f->cache, f->web, index, presence, &r);
    blob_unref(r.record);
    buf_done(&b);
}

static void unreadable(struct fixture *f, int32_t index)
{
    struct buf b;
    struct followed r = record_of(&b, NULL);
    process_cache_actual(&f->cache, f->web, index, 0, &r);
    blob_unref(r.record);
    buf_done(&b);
}

static void gone(struct fixture *f, int32_t index, int presence)
{
    process_cache_actual(&f->cache, f->web, index, presence, NULL);
}

static void desired(struct fixture *f, const Models__DesiredLRP *lrp)
{
    struct buf b;
    struct followed r = record_of(&b, lrp ? &lrp->base : NULL);
    process_cache_desired(f->web, &r);
    blob_unref(r.record);
    buf_done(&b);
}

static void change(struct fixture *f, const char *key, const ProtobufCMessage *m, int64_t revision,
                   struct moment now)
{
    struct buf b;
    struct followed r = record_of(&b, m);
    r.mod_revision = r.create_revision = revision;
    cache_change(&f->cache, key, m ? &r : NULL, "e1", now);
    blob_unref(r.record);
    buf_done(&b);
}

/* Whether the change is one to look at, and which records name the cell. */
static bool cell(struct fixture *f, const char *id, Board__CellRecord__State cell_state,
                 size_t *ret_named)
{
    Board__CellRecord record = BOARD__CELL_RECORD__INIT;
    record.state = cell_state;
    const char *key = key_cell(&f->arena, id);
    change(f, key, &record.base, 1, (struct moment){0});
    const struct cached_cell *c = cache_cell_at(&f->cache, key);
    const struct cell_user *u;
    *ret_named = 0;
    LIST_FOREACH(u, &c->users[KEEPER_instances], link)
    {
        assert_ptr_equal(CELL_USER_OF(u, const struct cached_instance, on)->process, f->web);
        (*ret_named)++;
    }
    assert_int_equal(c->user_count, *ret_named);
    return c->turned;
}

static bool cell_gone(struct fixture *f, const char *id)
{
    const char *key = key_cell(&f->arena, id);
    change(f, key, NULL, 1, (struct moment){0});
    const struct cached_cell *c = cache_cell_at(&f->cache, key);
    return c && c->turned;
}

/* "INDEX.PRESENCE STATE, ..." with "!" after one whose cell is present. */
static const char *seen(struct fixture *f, int32_t first, int32_t last)
{
    struct process_view v = {0};
    SCOPED_BUF(b);
    process_cache_view(&f->cache, (struct moment){0}, &f->arena, f->web, first, last, &v);
    for (size_t i = 0; i < v.count; i++) {
        const struct instance_view *one = &v.instances[i];
        buf_printf(&b, "%s%d.%d %s%s", i ? ", " : "", one->index, one->presence,
                   actual_lrp_lifecycle.states[one->state], one->cell_present ? "!" : "");
    }
    return arena_strdup(&f->arena, buf_string(&b));
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
    actual(f, 0, 0, "CLAIMED", "c2", "e"); /* said again */
    gone(f, 3, 0);
    gone(f, 3, 0);
    assert_string_equal(seen(f, 0, 3), "0.0 CLAIMED, 0.2 CLAIMED");
    assert_int_equal(f->web->cache.count, 3);
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
    assert_int_equal(f->web->cache.desired.instances, 1);
    unreadable(f, 7);
    gone(f, 7, 0);
    assert_string_equal(seen(f, 0, INT32_MAX), "0.0 RUNNING, 1.0 RUNNING");
}

static void a_cell_knows_the_records_that_name_it(void **state)
{
    struct fixture *f = *state;
    const Board__CellRecord__State present = BOARD__CELL_RECORD__STATE__PRESENT,
                                   lost = BOARD__CELL_RECORD__STATE__LOST;
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
    assert_true(cell_gone(f, "c1")); /* its record goes */
    gone(f, 0, 0);
    assert_null(map_get(&f->cache.cells, "c1"));
    assert_false(cell_gone(f, "c9"));
    assert_null(map_get(&f->cache.cells, "c9"));
}

/* "+" for each that shows what is desired of it, "-" for the others. */
static const char *shown(struct fixture *f)
{
    struct process_view v = {0};
    SCOPED_BUF(b);
    process_cache_view(&f->cache, (struct moment){0}, &f->arena, f->web, 0, INT32_MAX, &v);
    for (size_t i = 0; i < v.count; i++) {
        buf_append_string(&b, v.instances[i].differs ? "-" : "+");
    }
    return arena_strdup(&f->arena, buf_string(&b));
}

static void shows(struct fixture *f, int32_t index, const char *text)
{
    struct buf b;
    struct followed r = record_of(&b, &row_actual(&f->arena, text, index, 0)->base);
    process_cache_actual(&f->cache, f->web, index, 0, &r);
    blob_unref(r.record);
    buf_done(&b);
}

static void tagged(struct fixture *f, int32_t index, const char *guid, const char *value)
{
    char text[64];
    snprintf(text, sizeof(text), "RUNNING %s@c1%s%s", guid, *value ? " tag=" : "", value);
    shows(f, index, text);
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

/* By what its rep was told of them, where it says so. */
static void whose_rep_knows_its_routes_otherwise_is_known(void **state)
{
    struct fixture *f = *state;
    static const char *const told[] = {"RUNNING a@c1 routed", "RUNNING b@c1 unrouted",
                                       "RUNNING c@c1"};
    for (int32_t i = 0; i < 3; i++) {
        shows(f, i, told[i]);
    }
    desired(f, row_desired(&f->arena, "instances=3 http=h"));
    assert_string_equal(shown(f), "+-+");
    desired(f, row_desired(&f->arena, "instances=3"));
    assert_string_equal(shown(f), "-++");
    shows(f, 0, "RUNNING a@c1 unrouted");
    assert_string_equal(shown(f), "+++");
}

static bool fresh(struct fixture *f, struct moment now)
{
    struct process_view v = {0};
    process_cache_view(&f->cache, now, &f->arena, f->web, 0, 0, &v);
    return v.instances[0].fresh;
}

/* It is so from the change on that says it, in the board generation. */
static void who_bears_a_fresh_domain_is_known(void **state)
{
    struct fixture *f = *state;
    struct moment now = {.mono_ns = SECOND_NS, .wall_ns = SECOND_NS};
    const char *key = key_domain(&f->arena, "a/d");
    Board__DomainRecord record = BOARD__DOMAIN_RECORD__INIT;
    Board__BoardGenerationRecord board_generation = BOARD__BOARD_GENERATION_RECORD__INIT;
    actual(f, 0, 0, "RUNNING", "c1", "a/d");
    assert_false(fresh(f, now));
    change(f, key, &record.base, 5, now);
    assert_false(cache_domain_at(&f->cache, key)->turned); /* in which one is not known yet */
    change(f, key_epoch(&f->arena, "e1"), &board_generation.base, 1, now);
    assert_true(fresh(f, now));
    change(f, key, &record.base, 6, now);
    assert_false(cache_domain_at(&f->cache, key)->turned); /* it was fresh before */
    change(f, key, NULL, 7, now);
    assert_false(fresh(f, now));
    change(f, key, &record.base, 8, now);
    assert_true(cache_domain_at(&f->cache, key)->turned);
    cache_reset(&f->cache, false);
    change(f, key_epoch(&f->arena, "e1"), &board_generation.base, 1, now);
    assert_true(fresh(f, now));
    cache_reset(&f->cache, true); /* no revision of another board generation counts */
    assert_false(fresh(f, now));
    gone(f, 0, 0);
    assert_null(cache_domain_at(&f->cache, key));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(they_are_in_order_and_a_range_of_them_is_seen),
        TEST(of_what_cannot_be_read_nothing_is_seen),
        TEST(a_cell_knows_the_records_that_name_it),
        TEST(who_shows_something_else_is_known),
        TEST(whose_rep_knows_its_routes_otherwise_is_known),
        TEST(who_bears_a_fresh_domain_is_known),
    };
    return cmocka_run_group_tests_name("what the converger keeps of a process", tests, NULL, NULL);
}
