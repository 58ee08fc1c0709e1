/* Units in the auctioneer: what it offers to which cell, what it makes of the answers, that it is
 * placed again when no machine has it in time, and what it tells who asks (docs/units.md,
 * Placement). */
#include "common/model/keys.h"
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

#include <string.h>

/* Frames of the feed: a unit without a place, or which has one. Gives its key. */
static const char *show_unit(struct auction_rig *f, Board__FeedFrame__Kind kind, uint32_t number,
                             const Board__UnitNeeds *needs)
{
    Board__UnitRecord u = BOARD__UNIT_RECORD__INIT;
    Board__UnitNeeds same = *needs;
    u.service = arena_strdup(&f->arena, "web");
    u.service_guid = arena_strdup(&f->arena, "service-guid");
    u.number = number;
    u.guid = arena_printf(&f->arena, "guid-%u", number);
    u.state = arena_strdup(&f->arena, "alive");
    u.place = arena_strdup(&f->arena, "unassigned");
    u.created_at = PLAY_CREATED_AT;
    u.needs = &same;
    const char *key = key_unit(&f->arena, (struct unit_name){"web", number});
    int64_t revision = kind == RECORD ? f->revision : ++f->revision;
    frame_change(&f->sent, kind, key, &u.base, revision);
    return key;
}

static Board__UnitNeeds needs_of(struct auction_rig *f)
{
    Board__UnitNeeds n = BOARD__UNIT_NEEDS__INIT;
    n.memory_mb = 100;
    n.disk_mb = 50;
    n.max_pids = 7;
    n.rootfs = arena_strdup(&f->arena, "preloaded:busybox");
    return n;
}

static void show_machine(struct auction_rig *f, Board__FeedFrame__Kind kind, uint32_t number,
                         const char *cell_id, const char *identity, bool cordoned)
{
    Board__MachineRecord m = BOARD__MACHINE_RECORD__INIT;
    Board__MachineCellRecord at = BOARD__MACHINE_CELL_RECORD__INIT;
    m.number = at.number = number;
    m.cell_id = at.cell_id = arena_strdup(&f->arena, cell_id);
    m.identity = arena_strdup(&f->arena, identity);
    m.state = arena_strdup(&f->arena, "alive");
    m.host_units = true;
    m.cordoned = cordoned;
    frame_change(&f->sent, kind, key_machine(&f->arena, number), &m.base, ++f->revision);
    frame_change(&f->sent, kind, key_machine_cell(&f->arena, cell_id), &at.base, ++f->revision);
}

/* The cell answers for its work: it took all but the first `back` units, and knows of such. */
static void answer_units(struct auction_rig *f, const Cell__Work *w, uint64_t call, bool knows,
                         size_t back)
{
    Cell__Work answer = CELL__WORK__INIT;
    answer.answers_units = knows;
    answer.n_units = back;
    answer.units = w->units;
    drive_answer(&f->drive, call, &answer.base);
}

static void places_what_the_feed_shows(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Board__UnitNeeds n = needs_of(f);
    play_leader_lock(f, "a");
    n.unused = true;
    show_unit(f, PUT, 3, &n);
    play_send(f);
    Cell__Work *w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_lrps + w->n_tasks, 0);
    assert_int_equal(w->n_units, 1);
    const Cell__UnitOffer *u = w->units[0];
    assert_string_equal(u->unit, "web/3");
    assert_string_equal(u->guid, "guid-3");
    assert_string_equal(u->service_guid, "service-guid");
    assert_string_equal(u->rootfs, "preloaded:busybox");
    assert_int_equal(u->memory_mb, 100);
    assert_int_equal(u->disk_mb, 50);
    assert_int_equal(u->max_pids, 7);
    assert_true(u->unused);
    assert_false(u->on_machine);
    assert_int_equal(u->created_at, PLAY_CREATED_AT);
    assert_int_equal(u->revision, f->revision);
    answer_units(f, w, call, true, 0);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    assert_int_equal(f->x->backlog.of_kind[JOB_UNIT], 1);
    show_unit(f, DELETE, 3, &n); /* assigned: it has left the selection */
    play_send(f);
    assert_int_equal(f->x->backlog.of_kind[JOB_UNIT], 0);
    assert_false(play_asked_within(f, 8));
}

/* Of one that is there in time nobody asks again; at 5 s exactly it is placed again. */
static void what_no_machine_has_in_time_is_placed_again(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Board__UnitNeeds n = needs_of(f);
    play_leader_lock(f, "a");
    show_unit(f, PUT, 3, &n);
    play_send(f);
    Cell__Work *w = play_hand_out(f, "a", &call);
    answer_units(f, w, call, true, 0);
    assert_false(play_asked_within(f, 4));
    assert_true(play_asked_within(f, 2));
    assert_int_equal(f->x->backlog.overdue, 1);
}

/* Machine 0 of cell a, by this revision. */
static void change_machine(struct auction_rig *f, bool clean, bool cordoned)
{
    Board__MachineRecord m = BOARD__MACHINE_RECORD__INIT;
    m.cell_id = arena_strdup(&f->arena, "a");
    m.state = arena_strdup(&f->arena, "alive");
    m.host_units = true;
    m.clean = clean;
    m.cordoned = cordoned;
    frame_change(&f->sent, PUT, key_machine(&f->arena, 0), &m.base, ++f->revision);
}

/* Of a change more may follow: all of it has come when a heartbeat says so. */
static void tell_all(struct auction_rig *f)
{
    frame_heartbeat(&f->sent, "e1", f->revision);
    play_send(f);
}

/* A unit that asks for an unused machine if `unused` is offered to machine 0, which is, and the
 * cell takes it. Gives the work; the call to be answered. */
static Cell__Work *offer_to_machine(struct auction_rig *f, bool unused, uint64_t *ret_call)
{
    Board__UnitNeeds n = needs_of(f);
    n.unused = unused;
    play_leader_lock(f, "a");
    show_machine(f, PUT, 0, "a", "", false);
    change_machine(f, true, false);
    show_unit(f, PUT, 3, &n);
    tell_all(f);
    return play_hand_out(f, "a", ret_call);
}

/* The assignment will be refused, and the cell drops it: it is placed again at once, which is not
 * late of the cell. So it is when the machine changed while the cell was asked. */
static void what_cannot_be_assigned_is_placed_again(void **state)
{
    struct auction_rig *f = *state;
    static const struct {
        bool unused, clean, cordoned, barred;
    } rows[] = {
        {true, false, false, true},   /* another unit came there */
        {false, false, false, false}, /* it does not mind */
        {false, true, true, true},
        {true, true, false, false},
    };
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        bool while_asked = i % 2;
        uint64_t call;
        Cell__Work *w = offer_to_machine(f, rows[i / 2].unused, &call);
        if (!while_asked) {
            answer_units(f, w, call, true, 0);
            assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
        }
        change_machine(f, rows[i / 2].clean, rows[i / 2].cordoned);
        tell_all(f);
        if (while_asked) {
            answer_units(f, w, call, true, 0);
            tell_all(f); /* the next event */
        }
        assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], rows[i / 2].barred ? 0 : 1);
        assert_int_equal(f->x->backlog.of_kind[JOB_UNIT], 1);
        assert_int_equal(f->x->backlog.overdue, 0);
        play_end(f);
        buf_clear(&f->sent);
        f->revision = 10;
        play_begin(f);
    }
}

/* Its own assignment changes the machine, and comes with it: nobody is asked anything. */
static void what_is_assigned_is_not_placed_again(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Board__UnitNeeds n = needs_of(f);
    Cell__Work *w = offer_to_machine(f, true, &call);
    answer_units(f, w, call, true, 0);
    change_machine(f, false, false);
    play_send(f);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1); /* more may follow */
    f->revision--;
    show_unit(f, DELETE, 3, &n);
    tell_all(f);
    assert_int_equal(f->x->backlog.of_kind[JOB_UNIT], 0);
    assert_false(play_asked_within(f, 8));
}

/* It gives it back, or says nothing of units, for it knows none: nothing is placed there. */
static void what_comes_back_is_not_placed(void **state)
{
    struct auction_rig *f = *state;
    for (int knows = 0; knows <= 1; knows++) {
        uint64_t call;
        Board__UnitNeeds n = needs_of(f);
        play_leader_lock(f, "a");
        show_unit(f, PUT, 3, &n);
        show_unit(f, PUT, 4, &n);
        play_send(f);
        Cell__Work *w = play_hand_out(f, "a", &call);
        assert_int_equal(w->n_units, 2);
        answer_units(f, w, call, knows, knows ? 1 : 0);
        assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], knows ? 1 : 0);
        play_end(f);
        buf_clear(&f->sent);
        f->revision = 10;
        play_begin(f);
    }
}

/* The text of GET /why of the unit. */
static const char *why_of(struct auction_rig *f, const char *query, int status)
{
    const struct reply *r =
        play_ask(f, "somebody", "GET", arena_printf(&f->arena, "/why?%s", query), "", bytes_of(""));
    const char *text = arena_strndup(&f->arena, (const char *)r->body.data, r->body.size);
    if (r->status != status) {
        fail_msg("%s: %d %s", query, r->status, text);
    }
    return text;
}

/* A cordoned machine takes none, and says so; when it is open again, or its cell is another
 * machine, the unit is placed at once. */
static void machines_count(void **state)
{
    struct auction_rig *f = *state;
    for (int opened = 0; opened <= 1; opened++) {
        uint64_t call;
        Board__UnitNeeds n = needs_of(f);
        play_leader_lock(f, "a");
        show_machine(f, PUT, 0, "a", "", true);
        show_unit(f, PUT, 3, &n);
        play_send(f);
        play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
        assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], 1);
        const char *why = why_of(f, "unit=web/3", 200);
        assert_non_null(strstr(why, "\"unit\":\"web/3\""));
        assert_non_null(strstr(why, "\"filter\":\"machine\",\"cells\":1"));
        assert_non_null(strstr(why, "found no compatible cell that is open to units"));
        show_machine(f, opened ? PUT : DELETE, 0, "a", "", false);
        play_send(f);
        assert_int_equal(play_hand_out(f, "a", &call)->n_units, 1);
        play_end(f);
        buf_clear(&f->sent);
        f->revision = 10;
        play_begin(f);
    }
}

/* The machine of another state directory is not the cell's: it will be a new one. */
static void another_identity_is_no_machine(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Board__UnitNeeds n = needs_of(f);
    play_leader_lock(f, "a");
    show_machine(f, PUT, 0, "a", "another", true);
    show_unit(f, PUT, 3, &n);
    play_send(f);
    assert_int_equal(play_hand_out(f, "a", &call)->n_units, 1);
}

static void questions_about_units(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    why_of(f, "unit=web/3", 404);
    why_of(f, "unit=web", 400);
    why_of(f, "unit=", 400);
    why_of(f, "unit=web/3&index=0", 400);
    why_of(f, "unit=web/3&task_guid=t", 400);
    why_of(f, "unit=web/3&process_guid=web&index=0", 400);
    Board__UnitNeeds n = needs_of(f);
    show_unit(f, PUT, 3, &n);
    play_send(f);
    const struct reply *r = play_ask(f, "somebody", "GET", "/state", "", bytes_of(""));
    const char *text = arena_strndup(&f->arena, (const char *)r->body.data, r->body.size);
    assert_non_null(strstr(text, "\"units\":1"));
    assert_non_null(strstr(text, "\"unit\":\"web/3\""));
    /* An instance and a task of its name are others. */
    why_of(f, "task_guid=web/3", 404);
    why_of(f, "process_guid=service-guid&index=3", 404);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(places_what_the_feed_shows),
        TEST(what_no_machine_has_in_time_is_placed_again),
        TEST(what_cannot_be_assigned_is_placed_again),
        TEST(what_is_assigned_is_not_placed_again),
        TEST(what_comes_back_is_not_placed),
        TEST(machines_count),
        TEST(another_identity_is_no_machine),
        TEST(questions_about_units),
    };
    return cmocka_run_group_tests_name("auctioneer: units", tests, NULL, NULL);
}
