/* The CRM between its site and the centre, driven by hand: which site it is, its session, what it
 * says in which state of the centre's board, and what becomes of a link that is cut, of another
 * CRM, and of a centre that was restored. */
#include "models/actual_lrp_requests.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/unit/crm/crm_rig.h"

#include <stdlib.h>
#include <string.h>

/* ---- The rules ------------------------------------------------------------------------------ */

static void it_follows_two_boards_as_two(void **state)
{
    struct crm_rig *x = *state;
    drive_start(&x->drive);
    const struct call *site = drive_call(&x->drive, "https://site:1/v1/board/feed", 0);
    const struct call *centre = drive_call(&x->drive, "https://centre:", 0);
    assert_non_null(site);
    assert_non_null(centre);
    assert_int_equal(site->identity, IDENTITY_OWN);
    assert_int_equal(centre->identity, IDENTITY_CENTRE);
    assert_int_not_equal(site->id, centre->id);
}

static void it_comes_from_nothing_to_ready(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    Board__CloudletRecord c = crm_rig_cloudlet_in("CREATING");
    drive_start(&x->drive);
    crm_rig_centre_snapshot(x, &c, 0, NULL, NULL);
    crm_rig_expect_none(x, "centre"); /* it does not lead at the site */
    crm_rig_site_snapshot(x, NULL, NULL);
    crm_rig_lead_site(x);
    crm_rig_expect_none(x, "centre"); /* nobody knows which site this is */
    const Board__Move *m = crm_rig_expect_move(x, "site", "name", &call);
    assert_string_equal(m->site->cloudlet, PARIS);
    assert_int_equal(m->term->term, 5);
    assert_string_equal(m->term->role, "site");
    crm_rig_answer_move(x, call->id, NULL, x->site_revision + 1);
    crm_rig_frame_identity(x, BOARD__FEED_FRAME__KIND__PUT, PARIS, "");
    crm_rig_send_to(x, &x->crm->life.feed_client);

    m = crm_rig_expect_move(x, "centre", "init", &call);
    assert_string_equal(m->subject->kind, "cloudlet");
    assert_string_equal(m->subject->key, PARIS);
    assert_string_equal(m->edge->uid, "U");
    assert_int_equal(m->edge->session, 1);
    assert_string_equal(m->edge->identity, IDENTITY);
    assert_string_equal(m->edge->version, "1.0.0");
    assert_string_equal(m->edge->board_generation, "G");
    crm_rig_done(x, "init", 1, "INIT");
    m = crm_rig_expect_move(x, "centre", "sync", &call);
    assert_string_equal(m->subject->kind, "cloudletinfo");
    crm_rig_done(x, "sync", 1, "NEED_SYNC");
    m = crm_rig_expect_move(x, "centre", "ready", &call);
    assert_true(m->edge->leads_site);
    assert_int_equal(m->edge->totals->memory_mb, 1500); /* of the cells that are there */
    assert_int_equal(m->edge->totals->disk_mb, 3000);
    assert_int_equal(m->edge->totals->containers, 20);
    assert_int_equal(m->edge->cells, 2);
    assert_string_not_equal(crm_rig_waits_for(x), "");
    crm_rig_done(x, "ready", 1, "READY");
    crm_rig_expect_none(x, "centre");
    assert_string_equal(crm_rig_waits_for(x), "");
    /* From now on this is the board that the site follows. */
    drive_advance(&x->drive, 1001);
    m = crm_rig_expect_move(x, "site", "follow", &call);
    assert_string_equal(m->site->board_generation, "G");
}

static void heartbeats_begin_with_the_session(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    Board__CloudletRecord c = crm_rig_cloudlet_in("CREATING");
    crm_rig_begin_at_site(x);
    crm_rig_centre_snapshot(x, &c, 0, NULL, NULL);
    assert_null(drive_call(&x->drive, "/v1/board/heartbeat", 0));
    crm_rig_expect_move(x, "centre", "init", &call);
    crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 1);
    call = drive_call(&x->drive, "/v1/board/heartbeat", 0);
    assert_non_null(call);
    assert_int_equal(call->identity, IDENTITY_CENTRE);
    ProtobufCAllocator allocator = arena_protobuf(&x->arena);
    const Board__HeartbeatRequest *r =
        board__heartbeat_request__unpack(&allocator, call->body.size, call->body.data);
    assert_string_equal(r->site->cloudlet, PARIS);
    assert_int_equal(r->site->session, 1);
    assert_int_equal(r->n_leaders, 0);
    assert_null(r->cell);
}

/* A bbs that was behind did not know the session: it is told again, as long as it is the board's.
 */
static void a_heartbeat_that_was_rejected_is_sent_again(void **state)
{
    struct crm_rig *x = *state;
    Board__HeartbeatResponse r = BOARD__HEARTBEAT_RESPONSE__INIT;
    Models__Error error = MODELS__ERROR__INIT;
    error.type = MODELS__ERROR__TYPE__ResourceConflict;
    error.message = crm_rig_text("session 1 of cloudlet acme/paris is over: the board's is 7");
    r.error = &error;
    crm_rig_become_ready(x);
    drive_answer(&x->drive, x->crm->centre.heartbeat_sender.call_id, &r.base);
    assert_null(drive_call(&x->drive, "/v1/board/heartbeat", 0));
    crm_rig_pass(x, 4);
    assert_false(x->crm->centre.heartbeat_sender.on);
    crm_rig_pass(x, 2);
    assert_true(x->crm->centre.heartbeat_sender.on);
}

static void one_that_begins_again_has_a_higher_session(void **state)
{
    struct crm_rig *x = *state;
    Board__CloudletRecord c = crm_rig_cloudlet_in("READY");
    crm_rig_begin_at_site(x);
    crm_rig_centre_snapshot(x, &c, 7, "READY", "1.0.0");
    crm_rig_done(x, "init", 8, "INIT");
}

/* Whose answer was lost asks from where the board stands. */
static void a_lost_answer_leads_to_another_session(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    Board__CloudletRecord c = crm_rig_cloudlet_in("CREATING");
    crm_rig_begin_at_site(x);
    crm_rig_centre_snapshot(x, &c, 0, NULL, NULL);
    crm_rig_expect_move(x, "centre", "init", &call);
    drive_unanswered(&x->drive, call->id, CALL_UNKNOWN);
    crm_rig_centre_shows(x, 1, "INIT"); /* it was done */
    crm_rig_expect_none(x, "centre");
    drive_advance(&x->drive, 2000);
    const Board__Move *m = crm_rig_expect_move(x, "centre", "init", &call);
    assert_int_equal(m->edge->session, 2);
    assert_null(drive_effect(&x->drive, EFFECT_EXIT, 0));
}

static void a_standby_says_nothing(void **state)
{
    struct crm_rig *x = *state;
    Board__CloudletRecord c = crm_rig_cloudlet_in("READY");
    drive_start(&x->drive);
    crm_rig_site_snapshot(x, PARIS, "G");
    crm_rig_centre_snapshot(x, &c, 7, "READY", "1.0.0");
    crm_rig_expect_none(x, "centre");
    crm_rig_expect_none(x, "site");
    assert_non_null(strstr(crm_rig_waits_for(x), "stands by"));
}

static void a_refusal_is_told_and_tried_again(void **state)
{
    static const char why[] = "cloudlet acme/paris is at another site";
    struct crm_rig *x = *state;
    const struct call *call;
    Board__CloudletRecord c = crm_rig_cloudlet_in("READY");
    crm_rig_begin_at_site(x);
    crm_rig_centre_snapshot(x, &c, 7, "OFFLINE", "1.0.0");
    for (int i = 0; i < 8; i++) {
        crm_rig_expect_move(x, "centre", "init", &call);
        crm_rig_answer_move(x, call->id, why, 0);
        assert_non_null(strstr(crm_rig_waits_for(x), why));
        crm_rig_expect_none(x, "centre");
        int64_t wait = x->crm->centre.again_ns - x->drive.now.mono_ns;
        assert_in_range(wait, CENTRE_AGAIN_NS / 2, CENTRE_BACK_OFF_MAX_NS);
        assert_true(i > 0 || wait <= CENTRE_AGAIN_NS * 3 / 2);
        assert_true(i < 7 || wait >= CENTRE_BACK_OFF_MAX_NS / 2);
        x->crm->centre.feed_client.heard_ns = x->drive.now.mono_ns + wait; /* it goes on */
        drive_advance(&x->drive, wait / MILLISECOND_NS + 1);
    }
}

static void another_session_ends_it(void **state)
{
    struct crm_rig *x = *state;
    crm_rig_become_ready(x);
    crm_rig_centre_shows(x, 2, "INIT");
    /* The lead is given back at once. */
    const struct call *call = drive_call(&x->drive, "/v1/board/leader_lock", 0);
    assert_non_null(call);
    ProtobufCAllocator allocator = arena_protobuf(&x->arena);
    const Board__LeaderLockRequest *r =
        board__leader_lock_request__unpack(&allocator, call->body.size, call->body.data);
    assert_int_equal(r->release, 5);
    assert_false(x->crm->life.leader.leads);
    drive_advance(&x->drive, 2000);
    const struct effect *e = drive_effect(&x->drive, EFFECT_EXIT, 0);
    assert_non_null(e);
    assert_int_equal(e->exit.code, 0);
}

static const Board__Move *expect_about(struct crm_rig *x, const char *name, const char *kind,
                                       uint64_t session)
{
    const struct call *call;
    const Board__Move *m = crm_rig_expect_move(x, "centre", name, &call);
    assert_string_equal(m->subject->kind, kind);
    assert_int_equal(m->edge->session, session);
    return m;
}

/* Nobody began anew: what it says of itself leads back to where it was. */
static void offline_is_left_in_the_same_session(void **state)
{
    struct crm_rig *x = *state;
    crm_rig_become_ready(x);
    crm_rig_centre_shows(x, 1, "OFFLINE");
    expect_about(x, "back", "cloudletinfo", 1);
    crm_rig_done(x, "back", 1, "NEED_SYNC");
    assert_true(expect_about(x, "ready", "cloudletinfo", 1)->edge->leads_site);
    crm_rig_done(x, "ready", 1, "READY");
    crm_rig_expect_none(x, "centre");
    assert_string_equal(crm_rig_waits_for(x), "");
    assert_null(drive_effect(&x->drive, EFFECT_EXIT, 0));
}

/* Before it was READY; and what is asked meanwhile waits until it is back. */
static void offline_is_left_before_all_else(void **state)
{
    static const char *const states[] = {"CRM_INITOK", "DELETE_REQUESTED"};
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct crm_rig *x = *state;
        const struct call *call;
        Board__CloudletRecord c = crm_rig_cloudlet_in("CREATING");
        crm_rig_begin_at_site(x);
        crm_rig_centre_snapshot(x, &c, 0, NULL, NULL);
        crm_rig_done(x, "init", 1, "INIT");
        crm_rig_expect_move(x, "centre", "sync", &call);
        crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 1);
        crm_rig_cloudlet_becomes(x, states[i]);
        crm_rig_centre_shows(x, 1, "OFFLINE");
        crm_rig_done(x, "back", 1, "NEED_SYNC");
        expect_about(x, i == 0 ? "ready" : "deleting", "cloudlet", 1);
        crm_rig_teardown(state);
        crm_rig_setup(state);
    }
}

/* Nobody else comes: its next session leads a cloudlet on that failed meanwhile. */
static void one_whose_cloudlet_failed_opens_another_session(void **state)
{
    static const struct {
        const char *state, *target;
    } rows[] = {{"CREATE_ERROR", NULL}, {"UPDATE_ERROR", "1.0.0"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct crm_rig *x = *state;
        Board__CloudletRecord c = crm_rig_cloudlet_in("CREATING");
        crm_rig_begin_at_site(x);
        crm_rig_centre_snapshot(x, &c, 0, NULL, NULL);
        crm_rig_done(x, "init", 1, "INIT");
        const struct call *call;
        crm_rig_expect_move(x, "centre", "sync", &call);
        crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 1);
        x->target_version = rows[i].target;
        crm_rig_cloudlet_becomes(x, rows[i].state);
        crm_rig_centre_shows(x, 1, "NEED_SYNC");
        expect_about(x, "init", "cloudlet", 2);
        crm_rig_teardown(state);
        crm_rig_setup(state);
    }
}

/* It has one, and opens the next: what the feed shows of that before the answer is nobody else's.
 */
static void its_next_session_does_not_end_it(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    crm_rig_become_ready(x);
    x->target_version = "1.0.0";
    crm_rig_cloudlet_becomes(x, "UPDATE_ERROR");
    crm_rig_centre_heartbeat(x);
    expect_about(x, "init", "cloudlet", 2);
    crm_rig_expect_move(x, "centre", "init", &call);
    uint64_t id = call->id;
    crm_rig_cloudlet_becomes(x, "CRM_INITOK");
    crm_rig_centre_shows(x, 2, "INIT");
    assert_true(x->crm->life.leader.leads);
    crm_rig_answer_move(x, id, NULL, x->centre_revision);
    expect_about(x, "sync", "cloudletinfo", 2);
}

/* Its move was refused, for another one has that very session. */
static void a_session_that_was_refused_is_anothers(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    crm_rig_become_ready(x);
    x->target_version = "1.0.0";
    crm_rig_cloudlet_becomes(x, "UPDATE_ERROR");
    crm_rig_centre_heartbeat(x);
    crm_rig_expect_move(x, "centre", "init", &call);
    crm_rig_answer_move(x, call->id, "session 2 of cloudlet acme/paris is over: the board's is 2",
                        0);
    crm_rig_centre_shows(x, 2, "INIT");
    assert_false(x->crm->life.leader.leads);
}

/* The lead is gone: whoever has it speaks for the site from then on. */
static void a_deposed_one_says_nothing_more(void **state)
{
    struct crm_rig *x = *state;
    crm_rig_become_ready(x);
    crm_rig_frame_lead(x, BOARD__FEED_FRAME__KIND__PUT);
    crm_rig_send_to(x, &x->crm->life.feed_client);
    assert_false(x->crm->life.leader.leads);
    assert_int_equal(x->crm->centre.session, 0);
    drive_advance(&x->drive, 3000);
    assert_null(drive_call(&x->drive, "https://centre:1/v1/board/heartbeat", 0));
    assert_null(drive_call(&x->drive, "https://centre:2/v1/board/heartbeat", 0));
    crm_rig_expect_none(x, "centre");
}

/* Cut off, it goes on as the site's leader, and finds the centre again by its next bbs. */
static void a_link_that_is_cut_stops_nothing(void **state)
{
    struct crm_rig *x = *state;
    crm_rig_become_ready(x);
    const char *url = x->crm->centre.feed_client.url;
    drive_advance(&x->drive, 14000);
    assert_true(x->crm->centre.feed_client.current);
    drive_advance(&x->drive, 1001);
    assert_false(x->crm->centre.feed_client.current);
    assert_null(drive_effect(&x->drive, EFFECT_EXIT, 0));
    drive_advance(&x->drive, 1000);
    assert_int_not_equal(x->crm->centre.feed_client.call_id, 0);
    assert_string_not_equal(x->crm->centre.feed_client.url, url);
    assert_int_equal(x->crm->centre.session, 1);
    crm_rig_centre_heartbeat(x); /* it resumes where it was */
    assert_true(x->crm->centre.feed_client.current);
    crm_rig_expect_none(x, "centre");
    assert_string_equal(crm_rig_waits_for(x), "");
}

/* A heartbeat that is taken tells that the link is there: the feed does not wait on. */
static void a_heartbeat_that_is_taken_hurries_the_feed(void **state)
{
    struct crm_rig *x = *state;
    Board__HeartbeatResponse r = BOARD__HEARTBEAT_RESPONSE__INIT;
    crm_rig_become_ready(x);
    struct feed_client *f = &x->crm->centre.feed_client;
    for (int i = 0; i < 6; i++) { /* it backs off */
        drive_advance(&x->drive, 16000);
    }
    while (f->call_id || f->retry_ns < x->drive.now.mono_ns + 10 * SECOND_NS) {
        drive_advance(&x->drive, 1000);
    }
    int64_t retry_ns = f->retry_ns;
    while (!x->crm->centre.heartbeat_sender.call_id) {
        drive_advance(&x->drive, 100);
    }
    drive_answer(&x->drive, x->crm->centre.heartbeat_sender.call_id, &r.base);
    assert_int_equal(f->call_id, 0);
    drive_advance(&x->drive, CENTRE_HURRY_NS / MILLISECOND_NS + 10);
    assert_true(f->call_id || f->retry_ns > retry_ns);
    assert_true(x->drive.now.mono_ns < retry_ns);
}

static void a_restored_centre_is_another_one(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    Board__CloudletRecord c = crm_rig_cloudlet_in("READY");
    crm_rig_become_ready(x);
    x->generation = "H";
    crm_rig_centre_snapshot(x, &c, 1, "READY", "1.0.0");
    const Board__Move *m = crm_rig_expect_move(x, "centre", "init", &call);
    assert_int_equal(m->edge->session, 2);
    assert_string_equal(m->edge->board_generation, "H");
    crm_rig_done(x, "init", 2, "INIT");
    crm_rig_done(x, "sync", 2, "NEED_SYNC");
    crm_rig_done(x, "ready", 2, "READY");
    crm_rig_expect_none(x,
                        "site"); /* the site follows the board of before until somebody confirms */
    c.confirmed_generation = crm_rig_text("H");
    crm_rig_frame_cloudlet(x, BOARD__FEED_FRAME__KIND__PUT, &c);
    crm_rig_centre_heartbeat(x);
    m = crm_rig_expect_move(x, "site", "follow", &call);
    assert_string_equal(m->site->board_generation, "H");
}

/* ---- What of the site the centre is to know ---------------------------------------------------
 */

static void frame_foreign_slice(struct crm_rig *x, const char *uid, const char *owner)
{
    Board__SliceRecord slice = BOARD__SLICE_RECORD__INIT;
    slice.uid = crm_rig_text(uid);
    slice.owner = crm_rig_text(owner);
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__PUT, arena_printf(&x->arena, "slice/%s", uid),
                 &slice.base, ++x->site_revision);
}

static Board__CloudletInfoRecord info_after(const struct crm_rig *x, const Board__Move *m)
{
    Board__CloudletInfoRecord info = BOARD__CLOUDLET_INFO_RECORD__INIT;
    info.name = crm_rig_text(PARIS);
    info.session = m->edge->session;
    info.state = crm_rig_text("READY");
    info.version = crm_rig_text("1.0.0");
    info.totals = m->edge->totals;
    info.cells = m->edge->cells;
    info.foreign_objects = m->edge->foreign_objects;
    info.n_foreign = m->edge->n_foreign;
    info.foreign = m->edge->foreign;
    (void)x;
    return info;
}

/* The move is done, and the board has what it says. */
static void taken(struct crm_rig *x, const Board__Move *m, const struct call *call)
{
    const Board__CloudletInfoRecord info = info_after(x, m);
    crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 1);
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__PUT, "cloudletinfo/" PARIS, &info.base,
                 ++x->centre_revision);
    crm_rig_centre_heartbeat(x);
}

/* After a restore of the centre nothing goes, and the centre hears of what it does not know; once
 * it is confirmed, it goes. */
static void what_the_centre_does_not_know_is_told_and_stays(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    Board__CloudletRecord c = crm_rig_cloudlet_in("READY");
    crm_rig_become_ready(x);
    drive_advance(&x->drive, 100);
    x->generation = "H";
    crm_rig_centre_snapshot(x, &c, 1, "READY", "1.0.0");
    crm_rig_done(x, "init", 2, "INIT");
    crm_rig_done(x, "sync", 2, "NEED_SYNC");
    crm_rig_done(x, "ready", 2, "READY");
    frame_foreign_slice(x, "u1", "acme/paris/dev/web");
    frame_foreign_slice(x, "u2", "");
    crm_rig_send_to(x, &x->crm->life.feed_client);
    assert_null(drive_call(&x->drive, "https://site:1/v1/board/apply", 0));
    const Board__Move *m = crm_rig_await_move(x, "centre", "report", &call);
    assert_string_equal(m->subject->kind, "cloudletinfo");
    assert_int_equal(m->edge->foreign_objects, 2);
    assert_int_equal(m->edge->n_foreign, 2);
    assert_string_equal(m->edge->foreign[0], "cluster acme/paris/dev/web");
    assert_string_equal(m->edge->foreign[1], "cluster u2");
    assert_int_equal(m->edge->totals->memory_mb, 1500);
    taken(x, m, call);
    crm_rig_pass(x, 10);
    crm_rig_expect_none(x, "centre"); /* it is said once */

    for (int i = 3; i <= 11; i++) { /* more than are named, and not sooner than may be */
        frame_foreign_slice(x, arena_printf(&x->arena, "u%02d", i), "");
    }
    crm_rig_send_to(x, &x->crm->life.feed_client);
    m = crm_rig_await_move(x, "centre", "report", &call);
    assert_int_equal(m->edge->foreign_objects, 11);
    assert_int_equal(m->edge->n_foreign, EDGE_FOREIGN_TOLD_MAX);
    taken(x, m, call);
}

static void cell_comes(struct crm_rig *x, const char *key, int32_t memory)
{
    x->site_revision++;
    crm_rig_put_cell(x, BOARD__FEED_FRAME__KIND__PUT, key, memory, true);
    crm_rig_send_to(x, &x->crm->life.feed_client);
}

/* A board that does not keep what it is told is told once, and again when it is otherwise. */
static void what_has_changed_at_the_site_is_told_once_in_a_while(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    crm_rig_become_ready(x);
    drive_advance(&x->drive, 100);
    crm_rig_expect_none(x, "centre"); /* the board has what `ready` said */
    cell_comes(x, "cell/c", 200);
    const Board__Move *m = crm_rig_await_move(x, "centre", "report", &call);
    assert_int_equal(m->edge->totals->memory_mb, 1700);
    taken(x, m, call);
    cell_comes(x, "cell/d", 100);
    crm_rig_expect_none(x, "centre");
    crm_rig_pass(x, 4);
    crm_rig_expect_none(x, "centre");
    crm_rig_pass(x, 2);
    m = crm_rig_await_move(x, "centre", "report", &call);
    assert_int_equal(m->edge->totals->memory_mb, 1800);
    assert_int_equal(m->edge->cells, 4);
    crm_rig_answer_move(x, call->id, NULL, x->centre_revision);
    crm_rig_pass(x, 20);
    crm_rig_expect_none(x, "centre");
}

/* The site's bbs is gone: the centre hears why nothing can be changed there, and when it can. */
static void a_site_whose_bbs_is_gone_is_told(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    crm_rig_become_ready(x);
    drive_closed(&x->drive, x->crm->life.feed_client.call_id);
    crm_rig_pass(x, SITE_LOST_NS / SECOND_NS - 1);
    crm_rig_expect_none(x, "centre");
    crm_rig_pass(x, 2);
    const Board__Move *m = crm_rig_expect_move(x, "centre", "fail", &call);
    assert_string_equal(m->subject->kind, "cloudletinfo");
    assert_int_equal(m->edge->n_errors, 1);
    assert_non_null(strstr(m->edge->errors[0], "no bbs of the site answers"));
    assert_null(m->edge->totals); /* nobody knows them now */
    crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 1);
    crm_rig_centre_shows(x, 1, "ERRORS");
    crm_rig_expect_none(x, "centre");
    assert_true(x->crm->life.leader.leads);
    while (!x->crm->life.feed_client.call_id) {
        drive_advance(&x->drive, 100);
    }
    x->leads_on = true;
    crm_rig_site_snapshot(x, PARIS, "G");
    m = crm_rig_expect_move(x, "centre", "ready", &call);
    assert_string_equal(m->subject->kind, "cloudletinfo");
    assert_int_equal(m->edge->n_errors, 0);
    assert_true(m->edge->leads_site);
}

static void without_a_cloudlet_it_says_how_to_make_one(void **state)
{
    struct crm_rig *x = *state;
    crm_rig_begin_at_site(x);
    crm_rig_centre_snapshot(x, NULL, 0, NULL, NULL);
    crm_rig_expect_none(x, "centre");
    assert_non_null(strstr(crm_rig_waits_for(x), "`bbs cloudlets create acme/paris`"));
}

static void a_cluster_that_is_another_site_says_nothing(void **state)
{
    struct crm_rig *x = *state;
    Board__CloudletRecord c = crm_rig_cloudlet_in("READY");
    drive_start(&x->drive);
    crm_rig_site_snapshot(x, "acme/rome", "G");
    crm_rig_lead_site(x);
    crm_rig_centre_snapshot(x, &c, 0, NULL, NULL);
    crm_rig_expect_none(x, "centre");
    crm_rig_expect_none(x, "site");
    assert_string_equal(x->crm->site_why,
                        "this cluster is the site of cloudlet acme/rome, not of acme/paris");
}

/* v2 of an upgrade opens its session while v1 leads; it is ready when it does. */
static void the_next_version_comes_before_it_leads(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    crm_rig_end(x);
    struct crm_config config = crm_rig_config_of("2.0.0");
    crm_rig_begin(x, &config);
    x->target_version = "2.0.0";
    Board__CloudletRecord c = crm_rig_cloudlet_in_upgrade(x, "UPDATING");
    drive_start(&x->drive);
    x->another_leads = true;
    crm_rig_site_snapshot(x, PARIS, "G");
    crm_rig_centre_snapshot(x, &c, 7, "UPGRADE", "1.0.0");
    crm_rig_done(x, "init", 8, "INIT");
    crm_rig_done(x, "sync", 8, "NEED_SYNC");
    drive_advance(&x->drive, 1000);
    crm_rig_expect_none(x, "centre");
    crm_rig_frame_lead(
        x, BOARD__FEED_FRAME__KIND__DELETE); /* v1 has heard of the session, and ended */
    crm_rig_send_to(x, &x->crm->life.feed_client);
    crm_rig_lead_site(x);
    crm_rig_expect_move(x, "centre", "ready", &call);
}

/* The feed, by another bbs, is faster than the answer; or the answer is lost. v1, which does not
 * end, is stopped all the same. */
static void the_next_version_knows_its_session_before_the_answer(void **state)
{
    for (int lost = 0; lost < 2; lost++) {
        struct crm_rig *x = *state;
        const struct call *call;
        crm_rig_end(x);
        struct crm_config config = crm_rig_config_of("2.0.0");
        crm_rig_begin(x, &config);
        x->target_version = "2.0.0";
        Board__CloudletRecord c = crm_rig_cloudlet_in_upgrade(x, "UPDATING");
        drive_start(&x->drive);
        x->another_leads = true;
        crm_rig_site_snapshot(x, PARIS, "G");
        crm_rig_centre_snapshot(x, &c, 7, "UPGRADE", "1.0.0");
        crm_rig_expect_move(x, "centre", "init", &call);
        uint64_t id = call->id;
        crm_rig_cloudlet_becomes(x, "CRM_INITOK");
        crm_rig_frame_info(x, BOARD__FEED_FRAME__KIND__PUT, 8, "INIT", "2.0.0");
        crm_rig_centre_heartbeat(x);
        if (lost) {
            drive_unanswered(&x->drive, id, CALL_UNKNOWN);
            crm_rig_pass(x, 2);
            assert_int_equal(crm_rig_expect_move(x, "centre", "init", &call)->edge->session, 9);
        } else {
            crm_rig_answer_move(x, id, NULL, x->centre_revision);
            assert_int_equal(crm_rig_expect_move(x, "centre", "sync", &call)->edge->session, 8);
        }
    }
}

/* ---- What it is asked about itself ----------------------------------------------------------- */

static void maintenance_becomes(struct crm_rig *x, const char *state)
{
    Board__MaintenanceRecord m = BOARD__MAINTENANCE_RECORD__INIT;
    m.name = crm_rig_text(PARIS);
    m.state = crm_rig_text(state);
    m.request = 9;
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__PUT, "maintenance/" PARIS, &m.base,
                 ++x->centre_revision);
    crm_rig_centre_heartbeat(x);
}

static void it_agrees_to_maintenance_and_to_its_end(void **state)
{
    static const struct {
        const char *state, *move;
    } rows[] = {{"NORMAL_OPERATION", NULL},
                {"FAILOVER_REQUESTED", NULL},
                {"CRM_REQUESTED", "under_maintenance"},
                {"UNDER_MAINTENANCE", NULL},
                {"NORMAL_OPERATION_INIT", "normal"},
                {"NORMAL_OPERATION", NULL}};
    struct crm_rig *x = *state;
    const struct call *call;
    crm_rig_become_ready(x);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        maintenance_becomes(x, rows[i].state);
        if (!rows[i].move) {
            crm_rig_expect_none(x, "centre");
            continue;
        }
        const Board__Move *m = crm_rig_expect_move(x, "centre", rows[i].move, &call);
        assert_string_equal(m->subject->kind, "maintenance");
        assert_int_equal(m->edge->request, 9);
        assert_int_equal(m->edge->session, 1);
        crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 1);
        crm_rig_expect_none(x, "centre");
    }
}

static void frame_slice(struct crm_rig *x, Board__FeedFrame__Kind kind)
{
    Board__SliceRecord slice = BOARD__SLICE_RECORD__INIT;
    slice.uid = crm_rig_text("u1");
    frame_change(&x->sent, kind, "slice/u1", &slice.base, ++x->site_revision);
    crm_rig_send_to(x, &x->crm->life.feed_client);
}

/* The cloudlet goes on as it is, and the CRM with it, once it has compared. */
static void one_that_begins_again_amid_a_delete_follows_on(void **state)
{
    struct crm_rig *x = *state;
    Board__CloudletRecord c = crm_rig_cloudlet_in("DELETING");
    crm_rig_begin_at_site(x);
    frame_slice(x, BOARD__FEED_FRAME__KIND__PUT);
    const struct call *call;
    crm_rig_centre_snapshot(x, &c, 7, "READY", "1.0.0");
    crm_rig_expect_move(x, "centre", "init", &call);
    crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 1);
    crm_rig_centre_shows(x, 8, "INIT");
    crm_rig_done(x, "sync", 8, "NEED_SYNC");
    expect_about(x, "ready", "cloudletinfo", 8);
}

/* The cloudlet goes when the site holds nothing of it, and the session with it. */
static void a_cloudlet_that_goes_is_let_go(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    crm_rig_become_ready(x);
    frame_slice(x, BOARD__FEED_FRAME__KIND__PUT);
    crm_rig_cloudlet_becomes(x, "DELETE_PREPARE");
    crm_rig_centre_heartbeat(x);
    crm_rig_expect_none(x, "centre");
    crm_rig_cloudlet_becomes(x, "DELETE_REQUESTED");
    crm_rig_centre_heartbeat(x);
    crm_rig_expect_move(x, "centre", "deleting", &call);
    crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 1);
    crm_rig_cloudlet_becomes(x, "DELETING");
    crm_rig_centre_heartbeat(x);
    crm_rig_expect_none(x, "centre"); /* a slice stands */
    frame_slice(x, BOARD__FEED_FRAME__KIND__DELETE);
    crm_rig_expect_move(x, "centre", "deleted", &call);
    crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 2);
    Board__CloudletRecord c = crm_rig_cloudlet_in("DELETING");
    crm_rig_frame_cloudlet(x, BOARD__FEED_FRAME__KIND__DELETE, &c);
    crm_rig_frame_info(x, BOARD__FEED_FRAME__KIND__DELETE, 1, "READY", "1.0.0");
    crm_rig_centre_heartbeat(x);
    crm_rig_expect_none(x, "centre");
    assert_int_equal(x->crm->centre.session, 0);
    assert_non_null(strstr(crm_rig_waits_for(x), "`bbs cloudlets create acme/paris`"));
}

static void cluster_becomes(struct crm_rig *x, const char *state)
{
    Board__ClusterInstRecord c = BOARD__CLUSTER_INST_RECORD__INIT;
    Board__ClusterSpec spec = BOARD__CLUSTER_SPEC__INIT;
    Board__NodeSize node = BOARD__NODE_SIZE__INIT;
    Board__EdgeOperation o = BOARD__EDGE_OPERATION__INIT;
    o.word = crm_rig_text("create");
    o.limit_ns = 60 * SECOND_NS;
    spec.node = &node;
    spec.nodes = 1;
    c.name = crm_rig_text(PARIS "/dev/web");
    c.uid = crm_rig_text("u1");
    c.state = crm_rig_text(state);
    c.request = 1;
    c.operation = &o;
    c.spec = &spec;
    c.digest = crm_rig_text("w1");
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__PUT, "clusterinst/" PARIS "/dev/web", &c.base,
                 ++x->centre_revision);
}

/* It says no more before the feed shows its last answer; that the feed has passed it may be told by
 * a heartbeat alone, and no change after that. */
static void what_waits_for_the_feed_is_said_without_a_change(void **state)
{
    struct crm_rig *x = *state;
    const struct call *make, *creating, *call;
    crm_rig_become_ready(x);
    drive_advance(&x->drive, 160);
    cluster_becomes(x, "CREATE_REQUESTED");
    crm_rig_centre_heartbeat(x);
    crm_rig_expect_move(x, "centre", "creating", &creating);
    crm_rig_expect_move(x, "site", "make", &make);
    const uint64_t said = creating->id;
    crm_rig_answer_move(x, make->id, NULL, x->site_revision + 1);
    Board__SliceRecord slice = BOARD__SLICE_RECORD__INIT;
    slice.uid = crm_rig_text("u1");
    slice.digest = crm_rig_text("w1");
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__PUT, "slice/u1", &slice.base,
                 ++x->site_revision);
    crm_rig_send_to(x, &x->crm->life.feed_client);
    crm_rig_answer_move(x, said, NULL, x->centre_revision + 2);
    cluster_becomes(x, "CREATING");
    crm_rig_send_to(x, &x->crm->centre.feed_client);
    drive_advance(&x->drive, 500);
    crm_rig_expect_none(x, "centre");
    x->centre_revision++;
    crm_rig_centre_heartbeat(x);
    crm_rig_expect_move(x, "centre", "ready", &call);
}

/* The change itself is enough: no heartbeat is waited for. */
static void what_the_feed_shows_is_gone_by_at_once(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    Board__CloudletRecord c = crm_rig_cloudlet_in("CREATING");
    crm_rig_begin_at_site(x);
    crm_rig_centre_snapshot(x, &c, 0, NULL, NULL);
    crm_rig_expect_move(x, "centre", "init", &call);
    crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 1);
    crm_rig_expect_none(x, "centre");
    crm_rig_frame_info(x, BOARD__FEED_FRAME__KIND__PUT, 1, "INIT", "1.0.0");
    crm_rig_send_to(x, &x->crm->centre.feed_client);
    crm_rig_expect_move(x, "centre", "sync", &call);
}

/* ---- Upgrades -------------------------------------------------------------------------------- */

static void begin_upgrade(struct crm_rig *x, const char *launch)
{
    const struct call *call;
    crm_rig_end(x);
    struct crm_config config = crm_rig_config_of("1.0.0");
    config.launch = launch;
    crm_rig_begin(x, &config);
    crm_rig_become_ready(x);
    x->target_version = "2.0.0";
    crm_rig_cloudlet_becomes(x, "UPDATE_REQUESTED");
    crm_rig_centre_heartbeat(x);
    assert_null(drive_effect(&x->drive, EFFECT_LAUNCH, 0)); /* the centre is told first */
    crm_rig_expect_move(x, "centre", "upgrading", &call);
    crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 2);
    crm_rig_cloudlet_becomes(x, "UPDATING");
    crm_rig_centre_shows(x, 1, "UPGRADE");
}

static uint64_t expect_launch(struct crm_rig *x, const char *word, const char *version)
{
    const struct effect *e = drive_effect(&x->drive, EFFECT_LAUNCH, 0);
    assert_non_null(e);
    assert_int_equal(e->launch.count, 3);
    assert_string_equal(e->launch.words[0], "/hook");
    assert_string_equal(e->launch.words[1], word);
    assert_string_equal(e->launch.words[2], version);
    return e->launch.id;
}

static void launched(struct crm_rig *x, uint64_t id, int status, const char *line)
{
    drive_event(&x->drive, (struct event){.kind = EVENT_LAUNCHED,
                                          .launched = {.id = id, .status = status, .text = line}});
}

static void a_program_that_fails_fails_the_upgrade(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    begin_upgrade(x, "/hook");
    launched(x, expect_launch(x, "start", "2.0.0"), 3, "no such image");
    const Board__Move *m = crm_rig_expect_move(x, "centre", "fail", &call);
    assert_string_equal(m->edge->error, "version 2.0.0 was not started: no such image");
    assert_string_equal(m->subject->kind, "cloudlet");
    crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 2);
    crm_rig_cloudlet_becomes(x, "UPDATE_ERROR");
    crm_rig_centre_shows(x, 1, "ERRORS");
    crm_rig_expect_move(x, "centre", "ready", &call); /* it goes on itself */
}

static void a_version_that_does_not_come_is_stopped(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    begin_upgrade(x, "/hook");
    launched(x, expect_launch(x, "start", "2.0.0"), 0, "");
    crm_rig_expect_none(x, "centre");
    crm_rig_pass(x, UPGRADE_COMES_NS / SECOND_NS - 1);
    assert_null(drive_effect(&x->drive, EFFECT_LAUNCH, 0));
    crm_rig_pass(x, 2);
    uint64_t id = expect_launch(x, "stop", "2.0.0");
    crm_rig_expect_none(x, "centre");
    launched(x, id, 1, "it is stuck");
    const Board__Move *m = crm_rig_expect_move(x, "centre", "fail", &call);
    assert_string_equal(m->edge->error, "version 2.0.0 did not come within 120 s, and could not be "
                                        "stopped: it is stuck");
}

/* It came after all, and is stopped: nobody would be left. */
static void a_version_that_comes_while_it_is_stopped_is_taken_back(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    begin_upgrade(x, "/hook");
    launched(x, expect_launch(x, "start", "2.0.0"), 0, "");
    crm_rig_pass(x, UPGRADE_COMES_NS / SECOND_NS + 1);
    uint64_t id = expect_launch(x, "stop", "2.0.0");
    x->former_session = 1;
    crm_rig_cloudlet_becomes(x, "CRM_INITOK");
    crm_rig_centre_shows(x, 2, "INIT");
    crm_rig_pass(x, 3);
    assert_null(drive_effect(&x->drive, EFFECT_EXIT, 0));
    assert_true(x->crm->life.leader.leads);
    crm_rig_expect_none(x, "centre");
    launched(x, id, 0, "");
    const Board__Move *m = crm_rig_expect_move(x, "centre", "fail", &call);
    assert_int_equal(m->edge->session, 1);
    assert_string_equal(m->edge->error, "version 2.0.0 did not come within 120 s and was stopped");
    crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 2);
    x->former_session = 2;
    Board__CloudletRecord c = crm_rig_cloudlet_in_upgrade(x, "UPDATE_ERROR");
    c.upgrading = false;
    crm_rig_frame_cloudlet(x, BOARD__FEED_FRAME__KIND__PUT, &c);
    crm_rig_centre_shows(x, 1, "ERRORS");
    crm_rig_pass(x, 3);
    assert_null(drive_effect(&x->drive, EFFECT_EXIT, 0)); /* it goes on itself */
    assert_int_equal(x->crm->centre.session, 1);
}

/* One that comes before it is stopped is what was waited for: v1 ends. So too when v1 has only
 * failed to start it. */
static void a_version_that_comes_in_time_ends_the_former(void **state)
{
    for (int failed = 0; failed < 2; failed++) {
        struct crm_rig *x = *state;
        const struct call *call;
        begin_upgrade(x, "/hook");
        launched(x, expect_launch(x, "start", "2.0.0"), failed, failed ? "it hung" : "");
        if (failed) {
            crm_rig_expect_move(x, "centre", "fail", &call);
        }
        x->former_session = 1;
        crm_rig_cloudlet_becomes(x, "CRM_INITOK");
        crm_rig_centre_shows(x, 2, "INIT");
        assert_false(x->crm->life.leader.leads);
        drive_advance(&x->drive, 2000);
        assert_non_null(drive_effect(&x->drive, EFFECT_EXIT, 0));
        crm_rig_teardown(state);
        crm_rig_setup(state);
    }
}

static void without_a_program_an_upgrade_fails_at_once(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    begin_upgrade(x, NULL);
    assert_null(drive_effect(&x->drive, EFFECT_LAUNCH, 0));
    const Board__Move *m = crm_rig_expect_move(x, "centre", "fail", &call);
    assert_string_equal(m->edge->error,
                        "this CRM has no program that starts another version (--launch)");
}

/* v2, which v1 has not made room for. */
static void a_former_version_that_does_not_end_is_stopped(void **state)
{
    struct crm_rig *x = *state;
    crm_rig_end(x);
    struct crm_config config = crm_rig_config_of("2.0.0");
    config.launch = "/hook";
    crm_rig_begin(x, &config);
    x->target_version = "2.0.0";
    x->former_version = "1.0.0";
    x->another_leads = true;
    Board__CloudletRecord c = crm_rig_cloudlet_in_upgrade(x, "UPDATING");
    drive_start(&x->drive);
    crm_rig_site_snapshot(x, PARIS, "G");
    crm_rig_centre_snapshot(x, &c, 7, "UPGRADE", "1.0.0");
    crm_rig_done(x, "init", 8, "INIT");
    crm_rig_pass(x, UPGRADE_ENDS_NS / SECOND_NS - 1);
    assert_null(drive_effect(&x->drive, EFFECT_LAUNCH, 0));
    crm_rig_pass(x, 2);
    launched(x, expect_launch(x, "stop", "1.0.0"), 0, "");
    assert_null(drive_effect(&x->drive, EFFECT_LAUNCH, 0)); /* once */
    for (int i = 0; i < 30; i++) {
        crm_rig_pass(x, 1);
        assert_null(drive_effect(&x->drive, EFFECT_LAUNCH, 0));
    }
}

static void it_says_what_it_knows(void **state)
{
    struct crm_rig *x = *state;
    crm_rig_become_ready(x);
    drive_event(&x->drive, (struct event){.kind = EVENT_REQUEST,
                                          .request = {.id = 9,
                                                      .method = "GET",
                                                      .path = "/state",
                                                      .query = "",
                                                      .trace_id = "",
                                                      .accept = "",
                                                      .content_type = "",
                                                      .if_none_match = "",
                                                      .peer = {"client", "me"}}});
    const struct effect *e = drive_effect(&x->drive, EFFECT_REPLY, 0);
    assert_non_null(e);
    assert_int_equal(e->reply.status, 200);
    const char *body =
        arena_strndup(&x->arena, (const char *)e->reply.body.data, e->reply.body.size);
    static const char *const parts[] = {"\"leads\":true", "\"acme/paris\"", IDENTITY,
                                        "\"READY\"",      "\"1.0.0\"",      "1500"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!strstr(body, parts[i])) {
            fail_msg("no %s in %s", parts[i], body);
        }
    }
}

static void a_wrong_configuration_is_told(void **state)
{
    struct crm_rig *x = *state;
    static const struct {
        const char *cloudlet, *boards, *centres, *says;
    } rows[] = {
        {"paris", "https://site:1", "https://centre:1", "--cloudlet: "},
        {"acme/pa ris", "https://site:1", "https://centre:1", "--cloudlet: "},
        {PARIS, "http://site:1", "https://centre:1", "http://site:1"},
        {PARIS, "https://site:1", "", "--centre: "},
        {PARIS, "https://site:1", "http://centre:1", "--centre: "},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        crm_rig_end(x);
        struct crm_config config = crm_rig_config_of("1.0.0");
        config.cloudlet = rows[i].cloudlet;
        config.boards = rows[i].boards;
        config.centres = rows[i].centres;
        crm_rig_begin(x, &config);
        drive_start(&x->drive);
        const struct effect *e = drive_effect(&x->drive, EFFECT_EXIT, 0);
        assert_non_null(e);
        assert_int_equal(e->exit.code, LEADING_EXIT_USAGE);
        assert_non_null(strstr(e->exit.text, rows[i].says));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, crm_rig_setup, crm_rig_teardown)
    const struct CMUnitTest tests[] = {
        TEST(it_follows_two_boards_as_two),
        TEST(it_comes_from_nothing_to_ready),
        TEST(heartbeats_begin_with_the_session),
        TEST(a_heartbeat_that_was_rejected_is_sent_again),
        TEST(one_that_begins_again_has_a_higher_session),
        TEST(a_lost_answer_leads_to_another_session),
        TEST(a_standby_says_nothing),
        TEST(a_refusal_is_told_and_tried_again),
        TEST(another_session_ends_it),
        TEST(offline_is_left_in_the_same_session),
        TEST(offline_is_left_before_all_else),
        TEST(one_that_begins_again_amid_a_delete_follows_on),
        TEST(one_whose_cloudlet_failed_opens_another_session),
        TEST(its_next_session_does_not_end_it),
        TEST(a_session_that_was_refused_is_anothers),
        TEST(a_deposed_one_says_nothing_more),
        TEST(a_link_that_is_cut_stops_nothing),
        TEST(a_heartbeat_that_is_taken_hurries_the_feed),
        TEST(a_restored_centre_is_another_one),
        TEST(what_the_centre_does_not_know_is_told_and_stays),
        TEST(what_has_changed_at_the_site_is_told_once_in_a_while),
        TEST(a_site_whose_bbs_is_gone_is_told),
        TEST(without_a_cloudlet_it_says_how_to_make_one),
        TEST(a_cluster_that_is_another_site_says_nothing),
        TEST(the_next_version_comes_before_it_leads),
        TEST(the_next_version_knows_its_session_before_the_answer),
        TEST(it_agrees_to_maintenance_and_to_its_end),
        TEST(a_cloudlet_that_goes_is_let_go),
        TEST(what_waits_for_the_feed_is_said_without_a_change),
        TEST(what_the_feed_shows_is_gone_by_at_once),
        TEST(a_program_that_fails_fails_the_upgrade),
        TEST(a_version_that_does_not_come_is_stopped),
        TEST(a_version_that_comes_while_it_is_stopped_is_taken_back),
        TEST(a_version_that_comes_in_time_ends_the_former),
        TEST(without_a_program_an_upgrade_fails_at_once),
        TEST(a_former_version_that_does_not_end_is_stopped),
        TEST(it_says_what_it_knows),
        TEST(a_wrong_configuration_is_told),
    };
    return cmocka_run_group_tests_name("crm session", tests, NULL, NULL);
}
