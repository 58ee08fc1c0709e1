/* The CRM between its site and the centre, driven by hand: which site it is, its session, what it
 * says in which state of the centre's board, and what becomes of a link that is cut, of another
 * CRM, and of a centre that was restored. */
#include "crm/inside.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/feed_frames.h"
#include "test/unit/drive.h"

#include <stdlib.h>
#include <string.h>

#define PARIS "acme/paris"
#define IDENTITY "11111111-2222-3333-4444-555555555555"

struct fixture {
    struct drive drive;
    struct arena arena;
    struct crm *crm;
    struct buf sent;
    int64_t site_revision, centre_revision;
    const char *generation;     /* of the centre's board */
    const char *former_version; /* that the centre shows with a session */
    const char *target_version; /* of an upgrade that is under way; NULL = none is */
    bool another_leads;         /* at the site, when its snapshot is told */
};

static struct crm_config config_of(const char *version)
{
    return (struct crm_config){.name = "crm-1",
                               .cloudlet = PARIS,
                               .version = version,
                               .boards = "https://site:1",
                               .centres = "https://centre:1,https://centre:2",
                               .url = "https://crm:1"};
}

static void step(void *target, const struct event *ev, struct effects *out)
{
    role_step(target, ev, out);
}

static void begin(struct fixture *x, const struct crm_config *config)
{
    *x = (struct fixture){.site_revision = 10, .centre_revision = 20, .generation = "G"};
    arena_init(&x->arena);
    buf_init(&x->sent);
    x->crm = (struct crm *)crm_new(config);
    drive_init(&x->drive, step, x->crm);
}

static void end(struct fixture *x)
{
    role_free(&x->crm->life.role);
    drive_done(&x->drive);
    buf_done(&x->sent);
    arena_done(&x->arena);
}

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    struct crm_config config = config_of("1.0.0");
    begin(x, &config);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    end(*state);
    free(*state);
    return 0;
}

static char *text(const char *t)
{
    return (char *)(uintptr_t)t;
}

/* ---- What the two boards say ---------------------------------------------------------------- */

static void send_to(struct fixture *x, const struct feed_client *f)
{
    struct buf once = x->sent;
    buf_init(&x->sent);
    assert_int_not_equal(f->call_id, 0);
    drive_stream(&x->drive, f->call_id, buf_bytes(&once));
    buf_done(&once);
}

static void put_cell(struct fixture *x, const char *key, int32_t memory, bool present)
{
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    Models__CellPresence presence = MODELS__CELL_PRESENCE__INIT;
    Models__CellCapacity capacity = MODELS__CELL_CAPACITY__INIT;
    capacity.memory_mb = memory;
    capacity.disk_mb = 2 * memory;
    capacity.containers = 10;
    presence.capacity = &capacity;
    cell.presence = &presence;
    cell.state = present ? BOARD__CELL_RECORD__STATE__PRESENT : BOARD__CELL_RECORD__STATE__LOST;
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__RECORD, key, &cell.base, x->site_revision);
}

static void frame_identity(struct fixture *x, Board__FeedFrame__Kind kind, const char *cloudlet,
                           const char *follows)
{
    Board__SiteRecord site = BOARD__SITE_RECORD__INIT;
    site.identity = text(IDENTITY);
    site.cloudlet = text(cloudlet);
    site.board_generation = text(follows);
    frame_change(&x->sent, kind, "site/identity", &site.base, ++x->site_revision);
}

static void frame_lead(struct fixture *x, Board__FeedFrame__Kind kind)
{
    Board__LeaderLockRecord other = BOARD__LEADER_LOCK_RECORD__INIT;
    other.role = text("site");
    other.holder = text("another");
    frame_change(&x->sent, kind, "lead/site", &other.base, ++x->site_revision);
}

/* The site's snapshot: two cells of three are there. `cloudlet` NULL: it has never been a site. */
static void site_snapshot(struct fixture *x, const char *cloudlet, const char *follows)
{
    frame_reset(&x->sent, "S");
    put_cell(x, "cell/a", 1000, true);
    put_cell(x, "cell/b", 500, true);
    put_cell(x, "cell/c", 4000, false);
    if (x->another_leads) {
        frame_lead(x, BOARD__FEED_FRAME__KIND__RECORD);
    }
    if (cloudlet) {
        frame_identity(x, BOARD__FEED_FRAME__KIND__RECORD, cloudlet, follows);
    }
    frame_current(&x->sent, "S", ++x->site_revision);
    send_to(x, &x->crm->life.feed_client);
}

static void frame_cloudlet(struct fixture *x, Board__FeedFrame__Kind kind,
                           const Board__CloudletRecord *c)
{
    frame_change(&x->sent, kind, "cloudlet/" PARIS, &c->base, ++x->centre_revision);
}

static void frame_info(struct fixture *x, Board__FeedFrame__Kind kind, uint64_t session,
                       const char *state, const char *version)
{
    Board__CloudletInfoRecord info = BOARD__CLOUDLET_INFO_RECORD__INIT;
    info.name = text(PARIS);
    info.session = session;
    info.state = text(state);
    info.version = text(version);
    info.former_version = text(x->former_version ? x->former_version : "");
    frame_change(&x->sent, kind, "cloudletinfo/" PARIS, &info.base, ++x->centre_revision);
}

static Board__CloudletRecord cloudlet_in(const char *state)
{
    Board__CloudletRecord c = BOARD__CLOUDLET_RECORD__INIT;
    c.name = text(PARIS);
    c.uid = text("U");
    c.state = text(state);
    c.request = 3;
    return c;
}

/* The centre's snapshot; session 0: no CRM has ever come. */
static void centre_snapshot(struct fixture *x, const Board__CloudletRecord *c, uint64_t session,
                            const char *state, const char *version)
{
    frame_reset(&x->sent, x->generation);
    if (c) {
        frame_cloudlet(x, BOARD__FEED_FRAME__KIND__RECORD, c);
    }
    if (session) {
        frame_info(x, BOARD__FEED_FRAME__KIND__RECORD, session, state, version);
    }
    frame_current(&x->sent, x->generation, ++x->centre_revision);
    send_to(x, &x->crm->centre.feed_client);
}

/* What was written is all told. */
static void centre_heartbeat(struct fixture *x)
{
    frame_heartbeat(&x->sent, x->generation, x->centre_revision);
    send_to(x, &x->crm->centre.feed_client);
}

static void centre_shows(struct fixture *x, uint64_t session, const char *state)
{
    frame_info(x, BOARD__FEED_FRAME__KIND__PUT, session, state, "1.0.0");
    centre_heartbeat(x);
}

static Board__CloudletRecord cloudlet_in_upgrade(const struct fixture *x, const char *state)
{
    Board__CloudletRecord c = cloudlet_in(state);
    c.upgrading = x->target_version != NULL;
    c.target_version = text(x->target_version ? x->target_version : "");
    c.request += c.upgrading;
    return c;
}

static void cloudlet_becomes(struct fixture *x, const char *state)
{
    Board__CloudletRecord c = cloudlet_in_upgrade(x, state);
    frame_cloudlet(x, BOARD__FEED_FRAME__KIND__PUT, &c);
}

static const char *waits_for(struct fixture *x)
{
    struct centre_site site = crm_site(x->crm, &x->arena);
    return centre_waits_for(&x->crm->centre, &site, &x->arena);
}

/* ---- What the CRM asks ---------------------------------------------------------------------- */

/* The move of the last step at this place, "centre" or "site"; NULL = none. */
static const Board__Move *move_at(struct fixture *x, const char *place, const struct call **ret)
{
    for (size_t i = 0; (*ret = drive_call(&x->drive, "/v1/board/apply", i)); i++) {
        bool centre = (*ret)->identity == IDENTITY_CENTRE;
        assert_int_equal(centre, strstr((*ret)->url, "https://centre:") != NULL);
        if (centre == (strcmp(place, "centre") == 0)) {
            ProtobufCAllocator allocator = arena_protobuf(&x->arena);
            const Board__ApplyRequest *r =
                board__apply_request__unpack(&allocator, (*ret)->body.size, (*ret)->body.data);
            assert_non_null(r);
            assert_int_not_equal(r->n_moves, 0); /* reports may stand behind it */
            return r->moves[0];
        }
    }
    return NULL;
}

static const Board__Move *expect_move(struct fixture *x, const char *place, const char *name,
                                      const struct call **ret)
{
    const Board__Move *m = move_at(x, place, ret);
    if (!m || strcmp(m->move, name) != 0) {
        fail_msg("%s at the %s is asked, not %s; %s", m ? m->move : "nothing", place, name,
                 waits_for(x));
    }
    return m;
}

static void expect_none(struct fixture *x, const char *place)
{
    const struct call *call;
    assert_null(move_at(x, place, &call));
}

static void answer_move(struct fixture *x, uint64_t id, const char *refusal, int64_t revision)
{
    Board__ApplyResponse r = BOARD__APPLY_RESPONSE__INIT;
    Board__MoveResult result = BOARD__MOVE_RESULT__INIT, *results[] = {&result};
    Models__Error error = MODELS__ERROR__INIT;
    r.results = results;
    r.n_results = 1;
    result.revision = revision;
    result.outcome = BOARD__MOVE_RESULT__OUTCOME__DONE;
    if (refusal) {
        error.type = MODELS__ERROR__TYPE__ResourceConflict;
        error.message = text(refusal);
        result.outcome = BOARD__MOVE_RESULT__OUTCOME__REFUSED;
        result.error = &error;
    }
    drive_answer(&x->drive, id, &r.base);
}

/* It asks for lead/site and is given it. */
static void lead_site(struct fixture *x)
{
    const struct call *call = drive_call(&x->drive, "https://site:1/v1/board/leader_lock", 0);
    assert_non_null(call);
    assert_int_equal(call->identity, IDENTITY_OWN);
    Board__LeaderLockResponse r = BOARD__LEADER_LOCK_RESPONSE__INIT;
    Board__LeaderLockRecord lock = BOARD__LEADER_LOCK_RECORD__INIT;
    Board__Term term = BOARD__TERM__INIT;
    lock.role = term.role = text("site");
    lock.holder = x->crm->life.leader.id;
    term.board_generation = text("S");
    term.term = 5;
    r.leader_lock = &lock;
    r.term = &term;
    drive_answer(&x->drive, call->id, &r.base);
    assert_true(x->crm->life.leader.leads);
}

/* Started, leading at a site that has its name. */
static void begin_at_site(struct fixture *x)
{
    drive_start(&x->drive);
    site_snapshot(x, PARIS, "G");
    lead_site(x);
}

/* The move is done, and the centre shows what came of it. */
static void done(struct fixture *x, const char *name, uint64_t session, const char *shows)
{
    const struct call *call;
    const Board__Move *m = expect_move(x, "centre", name, &call);
    assert_int_equal(m->edge->session, session);
    answer_move(x, call->id, NULL, x->centre_revision + 1);
    expect_none(x, "centre"); /* not before the feed shows it */
    if (strcmp(name, "init") == 0 || strcmp(name, "ready") == 0) {
        cloudlet_becomes(x, strcmp(name, "init") == 0 ? "CRM_INITOK" : "READY");
    }
    centre_shows(x, session, shows);
}

static void become_ready(struct fixture *x)
{
    Board__CloudletRecord c = cloudlet_in("CREATING");
    begin_at_site(x);
    centre_snapshot(x, &c, 0, NULL, NULL);
    done(x, "init", 1, "INIT");
    done(x, "sync", 1, "NEED_SYNC");
    done(x, "ready", 1, "READY");
    assert_true(centre_is_ready(&x->crm->centre, &x->arena));
}

/* ---- The rules ------------------------------------------------------------------------------ */

static void it_follows_two_boards_as_two(void **state)
{
    struct fixture *x = *state;
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
    struct fixture *x = *state;
    const struct call *call;
    Board__CloudletRecord c = cloudlet_in("CREATING");
    drive_start(&x->drive);
    centre_snapshot(x, &c, 0, NULL, NULL);
    expect_none(x, "centre"); /* it does not lead at the site */
    site_snapshot(x, NULL, NULL);
    lead_site(x);
    expect_none(x, "centre"); /* nobody knows which site this is */
    const Board__Move *m = expect_move(x, "site", "name", &call);
    assert_string_equal(m->site->cloudlet, PARIS);
    assert_int_equal(m->term->term, 5);
    assert_string_equal(m->term->role, "site");
    answer_move(x, call->id, NULL, x->site_revision + 1);
    frame_identity(x, BOARD__FEED_FRAME__KIND__PUT, PARIS, "");
    send_to(x, &x->crm->life.feed_client);

    m = expect_move(x, "centre", "init", &call);
    assert_string_equal(m->subject->kind, "cloudlet");
    assert_string_equal(m->subject->key, PARIS);
    assert_string_equal(m->edge->uid, "U");
    assert_int_equal(m->edge->session, 1);
    assert_string_equal(m->edge->identity, IDENTITY);
    assert_string_equal(m->edge->version, "1.0.0");
    assert_string_equal(m->edge->board_generation, "G");
    done(x, "init", 1, "INIT");
    m = expect_move(x, "centre", "sync", &call);
    assert_string_equal(m->subject->kind, "cloudletinfo");
    done(x, "sync", 1, "NEED_SYNC");
    m = expect_move(x, "centre", "ready", &call);
    assert_true(m->edge->leads_site);
    assert_int_equal(m->edge->totals->memory_mb, 1500); /* of the cells that are there */
    assert_int_equal(m->edge->totals->disk_mb, 3000);
    assert_int_equal(m->edge->totals->containers, 20);
    assert_int_equal(m->edge->cells, 2);
    assert_string_not_equal(waits_for(x), "");
    done(x, "ready", 1, "READY");
    expect_none(x, "centre");
    assert_string_equal(waits_for(x), "");
    /* From now on this is the board that the site follows. */
    drive_advance(&x->drive, 1001);
    m = expect_move(x, "site", "follow", &call);
    assert_string_equal(m->site->board_generation, "G");
}

static void heartbeats_begin_with_the_session(void **state)
{
    struct fixture *x = *state;
    const struct call *call;
    Board__CloudletRecord c = cloudlet_in("CREATING");
    begin_at_site(x);
    centre_snapshot(x, &c, 0, NULL, NULL);
    assert_null(drive_call(&x->drive, "/v1/board/heartbeat", 0));
    expect_move(x, "centre", "init", &call);
    answer_move(x, call->id, NULL, x->centre_revision + 1);
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

static void one_that_begins_again_has_a_higher_session(void **state)
{
    struct fixture *x = *state;
    Board__CloudletRecord c = cloudlet_in("READY");
    begin_at_site(x);
    centre_snapshot(x, &c, 7, "READY", "1.0.0");
    done(x, "init", 8, "INIT");
}

/* Whose answer was lost asks from where the board stands. */
static void a_lost_answer_leads_to_another_session(void **state)
{
    struct fixture *x = *state;
    const struct call *call;
    Board__CloudletRecord c = cloudlet_in("CREATING");
    begin_at_site(x);
    centre_snapshot(x, &c, 0, NULL, NULL);
    expect_move(x, "centre", "init", &call);
    drive_unanswered(&x->drive, call->id, CALL_UNKNOWN);
    centre_shows(x, 1, "INIT"); /* it was done */
    expect_none(x, "centre");
    drive_advance(&x->drive, 2000);
    const Board__Move *m = expect_move(x, "centre", "init", &call);
    assert_int_equal(m->edge->session, 2);
    assert_null(drive_effect(&x->drive, EFFECT_EXIT, 0));
}

static void a_standby_says_nothing(void **state)
{
    struct fixture *x = *state;
    Board__CloudletRecord c = cloudlet_in("READY");
    drive_start(&x->drive);
    site_snapshot(x, PARIS, "G");
    centre_snapshot(x, &c, 7, "READY", "1.0.0");
    expect_none(x, "centre");
    expect_none(x, "site");
    assert_non_null(strstr(waits_for(x), "stands by"));
}

static void a_refusal_is_told_and_tried_again(void **state)
{
    static const char why[] = "cloudlet acme/paris is at another site";
    struct fixture *x = *state;
    const struct call *call;
    Board__CloudletRecord c = cloudlet_in("READY");
    begin_at_site(x);
    centre_snapshot(x, &c, 7, "OFFLINE", "1.0.0");
    for (int i = 0; i < 8; i++) {
        expect_move(x, "centre", "init", &call);
        answer_move(x, call->id, why, 0);
        assert_non_null(strstr(waits_for(x), why));
        expect_none(x, "centre");
        int64_t wait = x->crm->centre.again_ns - x->drive.now.mono_ns;
        assert_in_range(wait, CENTRE_AGAIN_NS / 2, CENTRE_BACK_OFF_MAX_NS);
        assert_true(i > 0 || wait <= CENTRE_AGAIN_NS);
        assert_true(i < 7 || wait >= CENTRE_BACK_OFF_MAX_NS / 2);
        x->crm->centre.feed_client.heard_ns = x->drive.now.mono_ns + wait; /* it goes on */
        drive_advance(&x->drive, wait / MILLISECOND_NS + 1);
    }
}

static void another_session_ends_it(void **state)
{
    struct fixture *x = *state;
    become_ready(x);
    centre_shows(x, 2, "INIT");
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

static void offline_is_left_by_another_session(void **state)
{
    struct fixture *x = *state;
    const struct call *call;
    become_ready(x);
    centre_shows(x, 1, "OFFLINE");
    const Board__Move *m = expect_move(x, "centre", "init", &call);
    assert_int_equal(m->edge->session, 2);
    done(x, "init", 2, "INIT");
    assert_null(drive_effect(&x->drive, EFFECT_EXIT, 0));
}

/* The lead is gone: whoever has it speaks for the site from then on. */
static void a_deposed_one_says_nothing_more(void **state)
{
    struct fixture *x = *state;
    become_ready(x);
    frame_lead(x, BOARD__FEED_FRAME__KIND__PUT);
    send_to(x, &x->crm->life.feed_client);
    assert_false(x->crm->life.leader.leads);
    assert_int_equal(x->crm->centre.session, 0);
    drive_advance(&x->drive, 3000);
    assert_null(drive_call(&x->drive, "https://centre:1/v1/board/heartbeat", 0));
    assert_null(drive_call(&x->drive, "https://centre:2/v1/board/heartbeat", 0));
    expect_none(x, "centre");
}

/* Cut off, it goes on as the site's leader, and finds the centre again by its next bbs. */
static void a_link_that_is_cut_stops_nothing(void **state)
{
    struct fixture *x = *state;
    become_ready(x);
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
    centre_heartbeat(x); /* it resumes where it was */
    assert_true(x->crm->centre.feed_client.current);
    expect_none(x, "centre");
    assert_string_equal(waits_for(x), "");
}

static void a_restored_centre_is_another_one(void **state)
{
    struct fixture *x = *state;
    const struct call *call;
    Board__CloudletRecord c = cloudlet_in("READY");
    become_ready(x);
    x->generation = "H";
    centre_snapshot(x, &c, 1, "READY", "1.0.0");
    const Board__Move *m = expect_move(x, "centre", "init", &call);
    assert_int_equal(m->edge->session, 2);
    assert_string_equal(m->edge->board_generation, "H");
    done(x, "init", 2, "INIT");
    done(x, "sync", 2, "NEED_SYNC");
    done(x, "ready", 2, "READY");
    expect_none(x, "site"); /* the site follows the board of before until somebody confirms */
    c.confirmed_generation = text("H");
    frame_cloudlet(x, BOARD__FEED_FRAME__KIND__PUT, &c);
    centre_heartbeat(x);
    m = expect_move(x, "site", "follow", &call);
    assert_string_equal(m->site->board_generation, "H");
}

static void without_a_cloudlet_it_says_how_to_make_one(void **state)
{
    struct fixture *x = *state;
    begin_at_site(x);
    centre_snapshot(x, NULL, 0, NULL, NULL);
    expect_none(x, "centre");
    assert_non_null(strstr(waits_for(x), "`bbs cloudlets create acme/paris`"));
}

static void a_cluster_that_is_another_site_says_nothing(void **state)
{
    struct fixture *x = *state;
    Board__CloudletRecord c = cloudlet_in("READY");
    drive_start(&x->drive);
    site_snapshot(x, "acme/rome", "G");
    lead_site(x);
    centre_snapshot(x, &c, 0, NULL, NULL);
    expect_none(x, "centre");
    expect_none(x, "site");
    assert_string_equal(x->crm->site_why,
                        "this cluster is the site of cloudlet acme/rome, not of acme/paris");
}

/* v2 of an upgrade opens its session while v1 leads; it is ready when it does. */
static void the_next_version_comes_before_it_leads(void **state)
{
    struct fixture *x = *state;
    const struct call *call;
    end(x);
    struct crm_config config = config_of("2.0.0");
    begin(x, &config);
    x->target_version = "2.0.0";
    Board__CloudletRecord c = cloudlet_in_upgrade(x, "UPDATING");
    drive_start(&x->drive);
    x->another_leads = true;
    site_snapshot(x, PARIS, "G");
    centre_snapshot(x, &c, 7, "UPGRADE", "1.0.0");
    done(x, "init", 8, "INIT");
    done(x, "sync", 8, "NEED_SYNC");
    drive_advance(&x->drive, 1000);
    expect_none(x, "centre");
    frame_lead(x, BOARD__FEED_FRAME__KIND__DELETE); /* v1 has heard of the session, and ended */
    send_to(x, &x->crm->life.feed_client);
    lead_site(x);
    expect_move(x, "centre", "ready", &call);
}

/* ---- What it is asked about itself ----------------------------------------------------------- */

static void maintenance_becomes(struct fixture *x, const char *state)
{
    Board__MaintenanceRecord m = BOARD__MAINTENANCE_RECORD__INIT;
    m.name = text(PARIS);
    m.state = text(state);
    m.request = 9;
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__PUT, "maintenance/" PARIS, &m.base,
                 ++x->centre_revision);
    centre_heartbeat(x);
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
    struct fixture *x = *state;
    const struct call *call;
    become_ready(x);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        maintenance_becomes(x, rows[i].state);
        if (!rows[i].move) {
            expect_none(x, "centre");
            continue;
        }
        const Board__Move *m = expect_move(x, "centre", rows[i].move, &call);
        assert_string_equal(m->subject->kind, "maintenance");
        assert_int_equal(m->edge->request, 9);
        assert_int_equal(m->edge->session, 1);
        answer_move(x, call->id, NULL, x->centre_revision + 1);
        expect_none(x, "centre");
    }
}

static void frame_slice(struct fixture *x, Board__FeedFrame__Kind kind)
{
    Board__SliceRecord slice = BOARD__SLICE_RECORD__INIT;
    slice.uid = text("u1");
    frame_change(&x->sent, kind, "slice/u1", &slice.base, ++x->site_revision);
    send_to(x, &x->crm->life.feed_client);
}

/* The cloudlet goes when the site holds nothing of it, and the session with it. */
static void a_cloudlet_that_goes_is_let_go(void **state)
{
    struct fixture *x = *state;
    const struct call *call;
    become_ready(x);
    frame_slice(x, BOARD__FEED_FRAME__KIND__PUT);
    cloudlet_becomes(x, "DELETE_PREPARE");
    centre_heartbeat(x);
    expect_none(x, "centre");
    cloudlet_becomes(x, "DELETE_REQUESTED");
    centre_heartbeat(x);
    expect_move(x, "centre", "deleting", &call);
    answer_move(x, call->id, NULL, x->centre_revision + 1);
    cloudlet_becomes(x, "DELETING");
    centre_heartbeat(x);
    expect_none(x, "centre"); /* a slice stands */
    frame_slice(x, BOARD__FEED_FRAME__KIND__DELETE);
    expect_move(x, "centre", "deleted", &call);
    answer_move(x, call->id, NULL, x->centre_revision + 2);
    Board__CloudletRecord c = cloudlet_in("DELETING");
    frame_cloudlet(x, BOARD__FEED_FRAME__KIND__DELETE, &c);
    frame_info(x, BOARD__FEED_FRAME__KIND__DELETE, 1, "READY", "1.0.0");
    centre_heartbeat(x);
    expect_none(x, "centre");
    assert_int_equal(x->crm->centre.session, 0);
    assert_non_null(strstr(waits_for(x), "`bbs cloudlets create acme/paris`"));
}

static void cluster_becomes(struct fixture *x, const char *state)
{
    Board__ClusterInstRecord c = BOARD__CLUSTER_INST_RECORD__INIT;
    Board__ClusterSpec spec = BOARD__CLUSTER_SPEC__INIT;
    Board__NodeSize node = BOARD__NODE_SIZE__INIT;
    Board__EdgeOperation o = BOARD__EDGE_OPERATION__INIT;
    o.word = text("create");
    o.limit_ns = 60 * SECOND_NS;
    spec.node = &node;
    spec.nodes = 1;
    c.name = text(PARIS "/dev/web");
    c.uid = text("u1");
    c.state = text(state);
    c.request = 1;
    c.operation = &o;
    c.spec = &spec;
    c.digest = text("w1");
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__PUT, "clusterinst/" PARIS "/dev/web", &c.base,
                 ++x->centre_revision);
}

/* It says no more before the feed shows its last answer; that the feed has passed it may be told by
 * a heartbeat alone, and no change after that. */
static void what_waits_for_the_feed_is_said_without_a_change(void **state)
{
    struct fixture *x = *state;
    const struct call *make, *creating, *call;
    become_ready(x);
    drive_advance(&x->drive, 60);
    cluster_becomes(x, "CREATE_REQUESTED");
    centre_heartbeat(x);
    expect_move(x, "centre", "creating", &creating);
    expect_move(x, "site", "make", &make);
    answer_move(x, make->id, NULL, x->site_revision + 1);
    Board__SliceRecord slice = BOARD__SLICE_RECORD__INIT;
    slice.uid = text("u1");
    slice.digest = text("w1");
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__PUT, "slice/u1", &slice.base,
                 ++x->site_revision);
    send_to(x, &x->crm->life.feed_client);
    answer_move(x, creating->id, NULL, x->centre_revision + 2);
    cluster_becomes(x, "CREATING");
    send_to(x, &x->crm->centre.feed_client);
    drive_advance(&x->drive, 500);
    expect_none(x, "centre");
    x->centre_revision++;
    centre_heartbeat(x);
    expect_move(x, "centre", "ready", &call);
}

/* The change itself is enough: no heartbeat is waited for. */
static void what_the_feed_shows_is_gone_by_at_once(void **state)
{
    struct fixture *x = *state;
    const struct call *call;
    Board__CloudletRecord c = cloudlet_in("CREATING");
    begin_at_site(x);
    centre_snapshot(x, &c, 0, NULL, NULL);
    expect_move(x, "centre", "init", &call);
    answer_move(x, call->id, NULL, x->centre_revision + 1);
    expect_none(x, "centre");
    frame_info(x, BOARD__FEED_FRAME__KIND__PUT, 1, "INIT", "1.0.0");
    send_to(x, &x->crm->centre.feed_client);
    expect_move(x, "centre", "sync", &call);
}

/* ---- Upgrades -------------------------------------------------------------------------------- */

static void begin_upgrade(struct fixture *x, const char *launch)
{
    const struct call *call;
    end(x);
    struct crm_config config = config_of("1.0.0");
    config.launch = launch;
    begin(x, &config);
    become_ready(x);
    x->target_version = "2.0.0";
    cloudlet_becomes(x, "UPDATE_REQUESTED");
    centre_heartbeat(x);
    assert_null(drive_effect(&x->drive, EFFECT_LAUNCH, 0)); /* the centre is told first */
    expect_move(x, "centre", "upgrading", &call);
    answer_move(x, call->id, NULL, x->centre_revision + 2);
    cloudlet_becomes(x, "UPDATING");
    centre_shows(x, 1, "UPGRADE");
}

static uint64_t expect_launch(struct fixture *x, const char *word, const char *version)
{
    const struct effect *e = drive_effect(&x->drive, EFFECT_LAUNCH, 0);
    assert_non_null(e);
    assert_int_equal(e->launch.count, 3);
    assert_string_equal(e->launch.words[0], "/hook");
    assert_string_equal(e->launch.words[1], word);
    assert_string_equal(e->launch.words[2], version);
    return e->launch.id;
}

static void launched(struct fixture *x, uint64_t id, int status, const char *line)
{
    drive_event(&x->drive, (struct event){.kind = EVENT_LAUNCHED,
                                          .launched = {.id = id, .status = status, .text = line}});
}

/* The centre goes on to be heard. */
static void pass(struct fixture *x, int64_t seconds)
{
    x->crm->centre.feed_client.heard_ns = x->drive.now.mono_ns + seconds * SECOND_NS;
    drive_advance(&x->drive, seconds * 1000);
}

static void a_program_that_fails_fails_the_upgrade(void **state)
{
    struct fixture *x = *state;
    const struct call *call;
    begin_upgrade(x, "/hook");
    launched(x, expect_launch(x, "start", "2.0.0"), 3, "no such image");
    const Board__Move *m = expect_move(x, "centre", "fail", &call);
    assert_string_equal(m->edge->error, "version 2.0.0 was not started: no such image");
    assert_string_equal(m->subject->kind, "cloudlet");
    answer_move(x, call->id, NULL, x->centre_revision + 2);
    cloudlet_becomes(x, "UPDATE_ERROR");
    centre_shows(x, 1, "ERRORS");
    expect_move(x, "centre", "ready", &call); /* it goes on itself */
}

static void a_version_that_does_not_come_is_stopped(void **state)
{
    struct fixture *x = *state;
    const struct call *call;
    begin_upgrade(x, "/hook");
    launched(x, expect_launch(x, "start", "2.0.0"), 0, "");
    expect_none(x, "centre");
    pass(x, UPGRADE_COMES_NS / SECOND_NS - 1);
    assert_null(drive_effect(&x->drive, EFFECT_LAUNCH, 0));
    pass(x, 2);
    uint64_t id = expect_launch(x, "stop", "2.0.0");
    expect_none(x, "centre");
    launched(x, id, 1, "it is stuck");
    const Board__Move *m = expect_move(x, "centre", "fail", &call);
    assert_string_equal(m->edge->error, "version 2.0.0 did not come within 120 s, and could not be "
                                        "stopped: it is stuck");
}

static void without_a_program_an_upgrade_fails_at_once(void **state)
{
    struct fixture *x = *state;
    const struct call *call;
    begin_upgrade(x, NULL);
    assert_null(drive_effect(&x->drive, EFFECT_LAUNCH, 0));
    const Board__Move *m = expect_move(x, "centre", "fail", &call);
    assert_string_equal(m->edge->error,
                        "this CRM has no program that starts another version (--launch)");
}

/* v2, which v1 has not made room for. */
static void a_former_version_that_does_not_end_is_stopped(void **state)
{
    struct fixture *x = *state;
    end(x);
    struct crm_config config = config_of("2.0.0");
    config.launch = "/hook";
    begin(x, &config);
    x->target_version = "2.0.0";
    x->former_version = "1.0.0";
    x->another_leads = true;
    Board__CloudletRecord c = cloudlet_in_upgrade(x, "UPDATING");
    drive_start(&x->drive);
    site_snapshot(x, PARIS, "G");
    centre_snapshot(x, &c, 7, "UPGRADE", "1.0.0");
    done(x, "init", 8, "INIT");
    pass(x, UPGRADE_ENDS_NS / SECOND_NS - 1);
    assert_null(drive_effect(&x->drive, EFFECT_LAUNCH, 0));
    pass(x, 2);
    launched(x, expect_launch(x, "stop", "1.0.0"), 0, "");
    assert_null(drive_effect(&x->drive, EFFECT_LAUNCH, 0)); /* once */
    for (int i = 0; i < 30; i++) {
        pass(x, 1);
        assert_null(drive_effect(&x->drive, EFFECT_LAUNCH, 0));
    }
}

static void it_says_what_it_knows(void **state)
{
    struct fixture *x = *state;
    become_ready(x);
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
    struct fixture *x = *state;
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
        end(x);
        struct crm_config config = config_of("1.0.0");
        config.cloudlet = rows[i].cloudlet;
        config.boards = rows[i].boards;
        config.centres = rows[i].centres;
        begin(x, &config);
        drive_start(&x->drive);
        const struct effect *e = drive_effect(&x->drive, EFFECT_EXIT, 0);
        assert_non_null(e);
        assert_int_equal(e->exit.code, LEADING_EXIT_USAGE);
        assert_non_null(strstr(e->exit.text, rows[i].says));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(it_follows_two_boards_as_two),
        TEST(it_comes_from_nothing_to_ready),
        TEST(heartbeats_begin_with_the_session),
        TEST(one_that_begins_again_has_a_higher_session),
        TEST(a_lost_answer_leads_to_another_session),
        TEST(a_standby_says_nothing),
        TEST(a_refusal_is_told_and_tried_again),
        TEST(another_session_ends_it),
        TEST(offline_is_left_by_another_session),
        TEST(a_deposed_one_says_nothing_more),
        TEST(a_link_that_is_cut_stops_nothing),
        TEST(a_restored_centre_is_another_one),
        TEST(without_a_cloudlet_it_says_how_to_make_one),
        TEST(a_cluster_that_is_another_site_says_nothing),
        TEST(the_next_version_comes_before_it_leads),
        TEST(it_agrees_to_maintenance_and_to_its_end),
        TEST(a_cloudlet_that_goes_is_let_go),
        TEST(what_waits_for_the_feed_is_said_without_a_change),
        TEST(what_the_feed_shows_is_gone_by_at_once),
        TEST(a_program_that_fails_fails_the_upgrade),
        TEST(a_version_that_does_not_come_is_stopped),
        TEST(without_a_program_an_upgrade_fails_at_once),
        TEST(a_former_version_that_does_not_end_is_stopped),
        TEST(it_says_what_it_knows),
        TEST(a_wrong_configuration_is_told),
    };
    return cmocka_run_group_tests_name("crm session", tests, NULL, NULL);
}
