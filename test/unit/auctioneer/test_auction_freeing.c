/* What was refused for want of room that is being freed: how often who is asked again (freeing.h).
 */
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

/* The cell has no disk left; so much is being freed. */
static Cell__CellState *freeing_row(struct auction_rig *f, const char *id, int32_t disk_mb)
{
    Cell__CellState *s = play_row(f, id);
    s->availableresources->diskmb = 0;
    s->beingfreed = arena_message(&f->arena, &cell__resources__descriptor);
    s->beingfreed->diskmb = disk_mb;
    s->beingfreed->containers = 1;
    return s;
}

/* An instance that asks for 50 MB of disk is refused; the cell frees this much. */
static void refuse_beside(struct auction_rig *f, int32_t disk_mb)
{
    uint64_t call;
    play_unclaimed(f, "a", 1);
    play_tell_state(f, play_state_call(f, "a"), freeing_row(f, "a", disk_mb));
    assert_string_equal(play_failed(f, &call), "web/0=insufficient resources: disk ");
    play_applied(f, call, 1);
}

/* In how many ms, at most `max_ms`, a cell is asked; -1 = it is not. */
static int asked_after_ms(struct auction_rig *f, const char *id, int max_ms)
{
    for (int ms = 1; ms <= max_ms; ms++) {
        if (f->drive.now.mono_ns / MILLISECOND_NS % 500 == 0) {
            play_heartbeat(f);
        }
        drive_advance(&f->drive, 1);
        if (play_asked_state(f, id)) {
            return ms;
        }
    }
    return -1;
}

static void unchanged(struct auction_rig *f, const char *id)
{
    drive_response(&f->drive, play_state_call(f, id), 304, "\"tag\"", (struct bytes){0});
}

static void room_is_found_soon_after_it_is_free(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    refuse_beside(f, 50);
    assert_int_equal(asked_after_ms(f, "a", 100), 20);
    unchanged(f, "a");
    assert_int_equal(asked_after_ms(f, "a", 100), 40);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    unchanged(f, "a"); /* of the round, for which all are asked */
    assert_int_equal(play_work(f, "a", &call)->n_lrps, 1);
}

/* So many times, ever later; then each 2 s as ever. */
static void what_hangs_is_left_to_the_usual_look(void **state)
{
    struct auction_rig *f = *state;
    refuse_beside(f, 50);
    int looks = 0, usual = 0, last = 0;
    for (int ms = 0; ms < 10000;) {
        int after = asked_after_ms(f, "a", 3000);
        assert_in_range(after, 1, 2000);
        ms += after;
        bool is_usual = !f->x->auction.asks_few;
        looks += !is_usual;
        usual += is_usual;
        last = is_usual ? last : ms;
        unchanged(f, "a");
    }
    assert_int_equal(looks, FREEING_LOOKS_MAX);
    assert_int_equal(last, 2540);
    assert_in_range(usual, 4, 6);
}

/* One that would not be enough, and one that frees nothing, are not asked sooner. */
static void only_those_that_may_have_room_are_asked(void **state)
{
    struct auction_rig *f = *state;
    play_unclaimed(f, "a b c", 1);
    uint64_t a = play_state_call(f, "a"), b = play_state_call(f, "b"), c = play_state_call(f, "c");
    Cell__CellState *full = play_row(f, "c");
    full->availableresources->diskmb = 0;
    play_tell_state(f, a, freeing_row(f, "a", 49));
    play_tell_state(f, b, freeing_row(f, "b", 50));
    play_tell_state(f, c, full);
    assert_int_equal(asked_after_ms(f, "b", 100), 20);
    assert_null(play_asked_state(f, "a"));
    assert_null(play_asked_state(f, "c"));
    /* It has room: all are asked, for much may have changed there. */
    play_tell_state(f, play_state_call(f, "b"), play_row(f, "b"));
    assert_non_null(play_asked_state(f, "a"));
    assert_non_null(play_asked_state(f, "b"));
    assert_non_null(play_asked_state(f, "c"));
}

static void too_little_is_not_awaited(void **state)
{
    struct auction_rig *f = *state;
    refuse_beside(f, 49);
    assert_int_equal(asked_after_ms(f, "a", 1900), -1);
}

/* What more is being freed begins again. */
static void another_removal_is_awaited_again(void **state)
{
    struct auction_rig *f = *state;
    refuse_beside(f, 50);
    for (int looks = 0, asked = 0; looks < FREEING_LOOKS_MAX; asked++) {
        assert_true(asked < 2 * FREEING_LOOKS_MAX);
        assert_true(asked_after_ms(f, "a", 3000) > 0);
        looks += f->x->auction.asks_few;
        if (looks < FREEING_LOOKS_MAX) {
            unchanged(f, "a");
        }
    }
    play_tell_state(f, play_state_call(f, "a"), freeing_row(f, "a", 100));
    assert_int_equal(asked_after_ms(f, "a", 100), 20);
}

/* Nobody is asked for what has gone. */
static void nothing_refused_nothing_awaited(void **state)
{
    struct auction_rig *f = *state;
    refuse_beside(f, 50);
    play_actual(f, DELETE, "web", 0);
    play_heartbeat(f);
    assert_int_equal(asked_after_ms(f, "a", 3000), -1);
}

/* No room would help it. */
static void what_is_refused_for_another_reason_awaits_nothing(void **state)
{
    struct auction_rig *f = *state;
    play_unclaimed(f, "a", 1);
    Cell__CellState *s = freeing_row(f, "a", 1000);
    s->n_volumedrivers = 0;
    play_tell_state(f, play_state_call(f, "a"), s);
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], 1);
    assert_int_equal(asked_after_ms(f, "a", 1900), -1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(room_is_found_soon_after_it_is_free),
        TEST(what_hangs_is_left_to_the_usual_look),
        TEST(only_those_that_may_have_room_are_asked),
        TEST(too_little_is_not_awaited),
        TEST(another_removal_is_awaited_again),
        TEST(nothing_refused_nothing_awaited),
        TEST(what_is_refused_for_another_reason_awaits_nothing),
    };
    return cmocka_run_group_tests_name("auction: room that is being freed", tests, NULL, NULL);
}
