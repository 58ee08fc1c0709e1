/* Slices in an auction: what they have reserved and not used is kept free, as the board says it at
 * the moment (docs/edge.md, Slices). */
#include "auctioneer/filter.h"
#include "common/model/pool_tag.h"
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

#include <string.h>

/* u1 has so many nodes of 100 MB; "in" is in it. */
static void play_slice(struct auction_rig *f, Board__FeedFrame__Kind kind, uint32_t nodes)
{
    Board__SliceRecord *s = slice_row_new(&f->arena, "u1", nodes, 100, "");
    s->owner = arena_strdup(&f->arena, "dev/web");
    s->node->disk_mb = 50;
    slice_row_use(&f->arena, s, "in");
    frame_change(&f->sent, kind, key_slice(&f->arena, "u1"), &s->base, ++f->revision);
    play_send(f);
}

static void want(struct auction_rig *f, const char *guid)
{
    play_desired(f, PUT, guid, 1);
    play_actual(f, PUT, guid, 0);
    play_send(f);
}

static void tell(struct auction_rig *f, int32_t free_mb)
{
    Cell__CellState *s = play_row(f, "a");
    s->availableresources->memorymb = free_mb;
    play_tell_state(f, play_state_call(f, "a"), s);
}

static const char *refusal(struct auction_rig *f, const char *key)
{
    const struct entry *e = map_get(&f->x->backlog.entries, key);
    return e && e->state == ENTRY_REFUSED ? reason_text(e->reason) : "";
}

static void what_is_reserved_is_kept_free(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_slice(f, PUT, 2);
    want(f, "out");
    tell(f, 299);
    assert_string_equal(refusal(f, "actual/out/0000000000/0"), FILTER_TEXT_KEPT);
    const struct reply *r =
        play_ask(f, "somebody", "GET", "/why?process_guid=out&index=0", "", bytes_of(""));
    const char *text = arena_strndup(&f->arena, (const char *)r->body.data, r->body.size);
    assert_int_equal(r->status, 200);
    assert_non_null(strstr(text, "\"kept_memory_mb\":200"));
    assert_non_null(strstr(text, "\"free_memory_mb\":299"));
    assert_non_null(strstr(text, "\"owner\":\"dev/web\""));
}

static void the_work_of_the_slice_goes_there(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_slice(f, PUT, 2);
    want(f, "in");
    tell(f, 200);
    assert_int_equal(f->x->backlog.counts[ENTRY_TAKEN], 1);
}

/* At once: it does not wait for its next turn. */
static void what_is_reserved_no_more_is_given_out(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_slice(f, PUT, 2);
    want(f, "out");
    tell(f, 299);
    play_slice(f, PUT, 1);
    tell(f, 299);
    assert_int_equal(f->x->backlog.counts[ENTRY_TAKEN], 1);
}

static void a_slice_that_goes_keeps_nothing(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_slice(f, PUT, 2);
    want(f, "out");
    tell(f, 299);
    play_slice(f, DELETE, 2);
    tell(f, 299);
    assert_int_equal(f->x->backlog.counts[ENTRY_TAKEN], 1);
}

/* More is reserved, or what is in it changes: nothing more has room for that. */
static void a_slice_that_grows_makes_no_room(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_slice(f, PUT, 2);
    want(f, "out");
    tell(f, 299);
    play_slice(f, PUT, 2);
    assert_null(play_asked_state(f, "a"));
    play_slice(f, PUT, 3);
    assert_null(play_asked_state(f, "a"));
}

static void a_board_that_is_another_one_has_other_slices(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_slice(f, PUT, 2);
    frame_reset(&f->sent, "e1");
    play_cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_current(f);
    assert_int_equal(f->x->slices.by_uid.count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_reserved_is_kept_free),
        TEST(the_work_of_the_slice_goes_there),
        TEST(what_is_reserved_no_more_is_given_out),
        TEST(a_slice_that_goes_keeps_nothing),
        TEST(a_slice_that_grows_makes_no_room),
        TEST(a_board_that_is_another_one_has_other_slices),
    };
    return cmocka_run_group_tests_name("auction: slices", tests, NULL, NULL);
}
