/* What runs of a service, by index (converger/service_view.h): the classes of a seat, by which
 * clock, and that the counts kept up are those counted anew. */
#include "common/base/random.h"
#include "converger/service_view.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDINARY = MODELS__ACTUAL_LRP__PRESENCE__ORDINARY };

#define S SECOND_NS

static const struct crash_policy policy = {.reset_ns = 300 * S, .immediate_below = 3,
                                           .backoff_base_ns = 30 * S, .backoff_max_ns = 960 * S,
                                           .restarts_max = 5};

/* This process began at 100 s; the wall clock is 1000 s ahead of the monotonic one. */
static struct moment at(int64_t s)
{
    return (struct moment){.mono_ns = s * S, .wall_ns = (s + 1000) * S};
}

static Models__ActualLRP record(const char *state, int64_t since_s)
{
    Models__ActualLRP m = MODELS__ACTUAL_LRP__INIT;
    m.state = (char *)(uintptr_t)state;
    m.since = (since_s + 1000) * S;
    return m;
}

/* Seen written by this process; what it found there when it began has no `after`. */
static struct sighting seen(int64_t s)
{
    return (struct sighting){.since_ns = s * S, .after_ns = s * S};
}

static struct seats seats_with(int32_t desired)
{
    struct seats s;
    seats_init(&s);
    seats_rule(&s, (struct seat_rules){desired, 10 * S, &policy}, at(100));
    return s;
}

static void one_is_available_when_it_stood_for_long_enough(void **state)
{
    struct seats s = seats_with(1);
    Models__ActualLRP m = record("RUNNING", 100);
    (void)state;
    seats_change(&s, 0, ORDINARY, &m, seen(100), at(100));
    assert_int_equal(s.counts.live, 1);
    assert_int_equal(s.counts.available, 0);
    assert_int_equal(s.next_ns, 110 * S);
    seats_wake(&s, at(109), false);
    assert_int_equal(s.counts.available, 0);
    seats_wake(&s, at(110), false);
    assert_int_equal(s.counts.available, 1);
    assert_int_equal(s.counts.sure, 1);
    assert_int_equal(s.counts.waiting, 0);
    /* It turned routable later: since then. */
    m.optional_routable_case = MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE_ROUTABLE;
    m.routable = 1;
    m.routable_since = (115 + 1000) * S;
    seats_change(&s, 0, ORDINARY, &m, seen(115), at(115));
    assert_int_equal(s.counts.available, 0);
    seats_wake(&s, at(125), false);
    assert_int_equal(s.counts.available, 1);
    seats_done(&s);
}

/* Its stamp says that it is ready for a day: people are told so, and nothing is taken away for it
 * before this process has seen it for long enough. */
static void what_was_there_before_is_available_but_not_sure(void **state)
{
    struct seats s = seats_with(1);
    Models__ActualLRP m = record("RUNNING", -86400);
    (void)state;
    seats_change(&s, 0, ORDINARY, &m, (struct sighting){.since_ns = 100 * S}, at(100));
    assert_int_equal(s.counts.available, 1);
    assert_int_equal(s.counts.sure, 0);
    seats_wake(&s, at(100), false);
    assert_true(seats_costly(&s, 0));
    seats_wake(&s, at(110), false);
    assert_int_equal(s.counts.sure, 1);
    seats_done(&s);
}

/* A clock that is a day ahead makes nothing ready that this process saw written. */
static void no_clock_makes_one_ready_early(void **state)
{
    struct seats s = seats_with(1);
    Models__ActualLRP m = record("RUNNING", -86400);
    (void)state;
    seats_change(&s, 0, ORDINARY, &m, seen(100), at(100));
    assert_int_equal(s.counts.available, 0);
    seats_wake(&s, at(105), true);
    assert_false(seats_costly(&s, 0));
    assert_int_equal(s.counts.available, 0);
    seats_wake(&s, at(110), true);
    assert_true(seats_costly(&s, 0));
    seats_done(&s);
}

struct class_row {
    const char *name, *state;
    int presence;
    bool stopping, unroutable;
    int32_t index, crashes;
    struct seat_counts counts;
};

static const struct class_row rows[] = {
    {"unclaimed", "UNCLAIMED", ORDINARY, .counts = {.live = 1, .records = 1}},
    {"claimed", "CLAIMED", ORDINARY, .counts = {.live = 1, .records = 1}},
    {"running", "RUNNING", ORDINARY,
     .counts = {.live = 1, .available = 1, .sure = 1, .records = 1}},
    {"not routable", "RUNNING", ORDINARY, .unroutable = true,
     .counts = {.live = 1, .records = 1}},
    {"stopping", "RUNNING", ORDINARY, .stopping = true,
     .counts = {.terminating = 1, .records = 1}},
    {"on an absent cell", "RUNNING", MODELS__ACTUAL_LRP__PRESENCE__SUSPECT,
     .counts = {.live = 1, .records = 1}},
    {"evacuating", "RUNNING", MODELS__ACTUAL_LRP__PRESENCE__EVACUATING,
     .counts = {.live = 1, .available = 1, .sure = 1, .records = 1}},
    {"beyond what is desired", "RUNNING", ORDINARY, .index = 2,
     .counts = {.terminating = 1, .records = 1}},
    {"crashed", "CRASHED", ORDINARY, .crashes = 4, .counts = {.live = 1, .records = 1}},
    {"crashed for good", "CRASHED", ORDINARY, .crashes = 5,
     .counts = {.live = 1, .spent = 1, .records = 1}},
};

static void require_counts(const char *what, const struct seat_counts *is,
                           const struct seat_counts *wanted)
{
    if (memcmp(is, wanted, sizeof(*is)) != 0) {
        fail_msg("%s: live %d terminating %d available %d sure %d spent %d waiting %d records %d",
                 what, is->live, is->terminating, is->available, is->sure, is->spent, is->waiting,
                 is->records);
    }
}

static void each_record_has_its_class(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct class_row *r = &rows[i];
        struct seats s = seats_with(2);
        Models__ActualLRP m = record(r->state, 100);
        m.stopping = r->stopping;
        m.crash_count = r->crashes;
        if (r->unroutable) {
            m.optional_routable_case = MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE_ROUTABLE;
        }
        seats_change(&s, r->index, r->presence, &m, seen(100), at(100));
        seats_wake(&s, at(200), false);
        require_counts(r->name, &s.counts, &r->counts);
        seats_change(&s, r->index, r->presence, NULL, seen(200), at(200));
        require_counts(r->name, &s.counts, &(struct seat_counts){0});
        seats_done(&s);
    }
}

/* Two records of an index are one instance: it is available while one of them is, and it ends when
 * all of them are stopping. */
static void records_of_an_index_are_one_instance(void **state)
{
    struct seats s = seats_with(1);
    Models__ActualLRP m = record("RUNNING", 100), next = record("CLAIMED", 150);
    (void)state;
    seats_change(&s, 0, MODELS__ACTUAL_LRP__PRESENCE__EVACUATING, &m, seen(100), at(100));
    seats_change(&s, 0, ORDINARY, &next, seen(150), at(150));
    assert_int_equal(s.counts.live, 1);
    assert_int_equal(s.counts.available, 1);
    assert_int_equal(s.counts.records, 2);
    m.stopping = 1;
    seats_change(&s, 0, MODELS__ACTUAL_LRP__PRESENCE__EVACUATING, &m, seen(151), at(151));
    assert_int_equal(s.counts.live, 1);
    assert_int_equal(s.counts.available, 0);
    next.stopping = 1;
    seats_change(&s, 0, ORDINARY, &next, seen(152), at(152));
    assert_int_equal(s.counts.live, 0);
    assert_int_equal(s.counts.terminating, 1);
    seats_done(&s);
}

static void the_last_crash_is_told(void **state)
{
    struct seats s = seats_with(1);
    Models__ActualLRP m = record("CRASHED", 100);
    (void)state;
    m.crash_count = 1;
    m.crash_reason = (char *)(uintptr_t)"exit status 127";
    seats_change(&s, 0, ORDINARY, &m, seen(100), at(100));
    assert_string_equal(s.crash, "/0 crashed 1 time: exit status 127");
    m.crash_count = 3;
    seats_change(&s, 0, ORDINARY, &m, seen(101), at(101));
    seats_change(&s, 0, ORDINARY, NULL, seen(102), at(102));
    assert_string_equal(s.crash, "/0 crashed 3 times: exit status 127");
    seats_done(&s);
}

static void indices_have_bounds(void **state)
{
    struct seats s = seats_with(1);
    Models__ActualLRP m = record("RUNNING", 100);
    (void)state;
    seats_change(&s, -1, ORDINARY, &m, seen(100), at(100));
    seats_change(&s, SEAT_INDEX_MAX + 1, ORDINARY, &m, seen(100), at(100));
    seats_change(&s, 0, SEAT_PRESENCES, &m, seen(100), at(100));
    seats_change(&s, 0, -1, &m, seen(100), at(100));
    assert_int_equal(s.counts.records, 0);
    assert_null(seats_at(&s, 0));
    seats_change(&s, SEAT_INDEX_MAX, ORDINARY, &m, seen(100), at(100));
    assert_int_equal(s.counts.terminating, 1);
    assert_non_null(seats_at(&s, SEAT_INDEX_MAX));
    assert_null(seats_at(&s, -1));
    seats_done(&s);
}

static void a_restart_replaces_what_is_older_once(void **state)
{
    struct seats s = seats_with(3);
    Models__ActualLRP older = record("RUNNING", 100), newer = record("RUNNING", 200);
    struct seat_restart restart = {.at_ns = 1150 * S, .known_ns = 150 * S};
    (void)state;
    seats_change(&s, 0, ORDINARY, &newer, seen(200), at(200));
    seats_change(&s, 1, ORDINARY, &older, seen(100), at(200));
    seats_change(&s, 2, ORDINARY, &older, seen(100), at(200));
    assert_int_equal(seats_to_retire(&s, restart), 1);
    seats_retired(&s, 1, restart);
    assert_int_equal(seats_to_retire(&s, restart), 2);
    seats_retired(&s, 2, restart);
    assert_int_equal(seats_to_retire(&s, restart), -1);
    /* Another restart finds them again; what stops is on its way already. */
    restart.at_ns += 1;
    older.stopping = 1;
    seats_change(&s, 1, ORDINARY, &older, seen(201), at(201));
    assert_int_equal(seats_to_retire(&s, restart), 2);
    seats_done(&s);
}

/* Whatever comes in whatever order: the counts are those of the same records counted anew. */
static void counts_are_kept_up(void **state)
{
    enum { INDICES = 6, CHANGES = 3000 };
    static const char *const states[] = {"UNCLAIMED", "CLAIMED", "RUNNING", "CRASHED"};
    static const uint64_t seed[2] = {1, 2};
    struct random random;
    struct seats s = seats_with(3);
    int64_t now = 100;
    (void)state;
    random_seed(&random, seed);
    for (unsigned i = 0; i < CHANGES; i++) {
        Models__ActualLRP m = record(states[random_below(&random, 4)], now - 5);
        m.stopping = random_below(&random, 4) == 0;
        m.crash_count = (int32_t)random_below(&random, 7);
        now += (int64_t)random_below(&random, 6);
        seats_change(&s, (int32_t)random_below(&random, INDICES),
                     (int)random_below(&random, SEAT_PRESENCES),
                     random_below(&random, 3) == 0 ? NULL : &m, seen(now), at(now));
        if (random_below(&random, 8) == 0) {
            seats_rule(&s, (struct seat_rules){(int32_t)random_below(&random, INDICES), 10 * S,
                                               &policy}, at(now));
        }
        seats_wake(&s, at(now), true);
        struct seat_counts anew = {.records = s.counts.records};
        int32_t records = 0;
        for (int32_t index = 0; seats_at(&s, index); index++) {
            const struct seat *seat = seats_at(&s, index);
            anew.live += seat->live;
            anew.terminating += seat->terminating;
            anew.available += seat->available;
            anew.sure += seat->sure;
            anew.spent += seat->spent;
            anew.waiting += seat->waiting;
            for (size_t p = 0; p < SEAT_PRESENCES; p++) {
                records += seat->of[p].is;
            }
        }
        require_counts("kept up", &s.counts, &anew);
        assert_int_equal(records, s.counts.records);
    }
    seats_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_available_when_it_stood_for_long_enough),
        cmocka_unit_test(what_was_there_before_is_available_but_not_sure),
        cmocka_unit_test(no_clock_makes_one_ready_early),
        cmocka_unit_test(each_record_has_its_class),
        cmocka_unit_test(records_of_an_index_are_one_instance),
        cmocka_unit_test(the_last_crash_is_told),
        cmocka_unit_test(indices_have_bounds),
        cmocka_unit_test(a_restart_replaces_what_is_older_once),
        cmocka_unit_test(counts_are_kept_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
