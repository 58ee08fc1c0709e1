#include "test/unit/crm/crm_rig.h"

#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

struct crm_config crm_rig_config_of(const char *version)
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

void crm_rig_begin(struct crm_rig *x, const struct crm_config *config)
{
    *x = (struct crm_rig){.site_revision = 10, .centre_revision = 20, .generation = "G"};
    arena_init(&x->arena);
    buf_init(&x->sent);
    x->crm = (struct crm *)crm_new(config);
    drive_init(&x->drive, step, x->crm);
}

void crm_rig_end(struct crm_rig *x)
{
    role_free(&x->crm->life.role);
    drive_done(&x->drive);
    buf_done(&x->sent);
    arena_done(&x->arena);
}

int crm_rig_setup(void **state)
{
    struct crm_rig *x = calloc(1, sizeof(*x));
    struct crm_config config = crm_rig_config_of("1.0.0");
    crm_rig_begin(x, &config);
    *state = x;
    return 0;
}

int crm_rig_teardown(void **state)
{
    crm_rig_end(*state);
    free(*state);
    return 0;
}

char *crm_rig_text(const char *t)
{
    return (char *)(uintptr_t)t;
}

/* ---- What the two boards say ---------------------------------------------------------------- */

void crm_rig_send_to(struct crm_rig *x, const struct feed_client *f)
{
    struct buf once = x->sent;
    buf_init(&x->sent);
    assert_int_not_equal(f->call_id, 0);
    drive_stream(&x->drive, f->call_id, buf_bytes(&once));
    buf_done(&once);
}

void crm_rig_put_cell(struct crm_rig *x, Board__FeedFrame__Kind kind, const char *key,
                      int32_t memory, bool present)
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
    frame_change(&x->sent, kind, key, &cell.base, x->site_revision);
}

void crm_rig_frame_identity(struct crm_rig *x, Board__FeedFrame__Kind kind, const char *cloudlet,
                            const char *follows)
{
    Board__SiteRecord site = BOARD__SITE_RECORD__INIT;
    site.identity = crm_rig_text(IDENTITY);
    site.cloudlet = crm_rig_text(cloudlet);
    site.board_generation = crm_rig_text(follows);
    frame_change(&x->sent, kind, "site/identity", &site.base, ++x->site_revision);
}

void crm_rig_frame_lead(struct crm_rig *x, Board__FeedFrame__Kind kind)
{
    Board__LeaderLockRecord other = BOARD__LEADER_LOCK_RECORD__INIT;
    other.role = crm_rig_text("site");
    other.holder = crm_rig_text("another");
    frame_change(&x->sent, kind, "lead/site", &other.base, ++x->site_revision);
}

void crm_rig_site_snapshot(struct crm_rig *x, const char *cloudlet, const char *follows)
{
    frame_reset(&x->sent, "S");
    crm_rig_put_cell(x, BOARD__FEED_FRAME__KIND__RECORD, "cell/a", 1000, true);
    crm_rig_put_cell(x, BOARD__FEED_FRAME__KIND__RECORD, "cell/b", 500, true);
    crm_rig_put_cell(x, BOARD__FEED_FRAME__KIND__RECORD, "cell/c", 4000, false);
    if (x->leads_on) {
        Board__LeaderLockRecord own = BOARD__LEADER_LOCK_RECORD__INIT;
        own.role = crm_rig_text("site");
        own.holder = x->crm->life.leader.id;
        frame_change(&x->sent, BOARD__FEED_FRAME__KIND__RECORD, "lead/site", &own.base, 5);
    }
    if (x->another_leads) {
        crm_rig_frame_lead(x, BOARD__FEED_FRAME__KIND__RECORD);
    }
    if (cloudlet) {
        crm_rig_frame_identity(x, BOARD__FEED_FRAME__KIND__RECORD, cloudlet, follows);
    }
    frame_current(&x->sent, "S", ++x->site_revision);
    crm_rig_send_to(x, &x->crm->life.feed_client);
}

void crm_rig_frame_cloudlet(struct crm_rig *x, Board__FeedFrame__Kind kind,
                            const Board__CloudletRecord *c)
{
    frame_change(&x->sent, kind, "cloudlet/" PARIS, &c->base, ++x->centre_revision);
}

void crm_rig_frame_info(struct crm_rig *x, Board__FeedFrame__Kind kind, uint64_t session,
                        const char *state, const char *version)
{
    Board__CloudletInfoRecord info = BOARD__CLOUDLET_INFO_RECORD__INIT;
    info.name = crm_rig_text(PARIS);
    info.session = session;
    info.state = crm_rig_text(state);
    info.version = crm_rig_text(version);
    info.former_version = crm_rig_text(x->former_version ? x->former_version : "");
    info.former_session = x->former_session;
    Board__EdgeResources totals = BOARD__EDGE_RESOURCES__INIT; /* of crm_rig_site_snapshot() */
    totals.memory_mb = 1500;
    totals.disk_mb = 3000;
    totals.containers = 20;
    info.totals = &totals;
    info.cells = 2;
    frame_change(&x->sent, kind, "cloudletinfo/" PARIS, &info.base, ++x->centre_revision);
}

Board__CloudletRecord crm_rig_cloudlet_in(const char *state)
{
    Board__CloudletRecord c = BOARD__CLOUDLET_RECORD__INIT;
    c.name = crm_rig_text(PARIS);
    c.uid = crm_rig_text("U");
    c.state = crm_rig_text(state);
    c.request = 3;
    return c;
}

void crm_rig_centre_snapshot(struct crm_rig *x, const Board__CloudletRecord *c, uint64_t session,
                             const char *state, const char *version)
{
    frame_reset(&x->sent, x->generation);
    if (c) {
        crm_rig_frame_cloudlet(x, BOARD__FEED_FRAME__KIND__RECORD, c);
    }
    if (session) {
        crm_rig_frame_info(x, BOARD__FEED_FRAME__KIND__RECORD, session, state, version);
    }
    frame_current(&x->sent, x->generation, ++x->centre_revision);
    crm_rig_send_to(x, &x->crm->centre.feed_client);
}

void crm_rig_centre_heartbeat(struct crm_rig *x)
{
    frame_heartbeat(&x->sent, x->generation, x->centre_revision);
    crm_rig_send_to(x, &x->crm->centre.feed_client);
}

void crm_rig_centre_shows(struct crm_rig *x, uint64_t session, const char *state)
{
    crm_rig_frame_info(x, BOARD__FEED_FRAME__KIND__PUT, session, state, "1.0.0");
    crm_rig_centre_heartbeat(x);
}

Board__CloudletRecord crm_rig_cloudlet_in_upgrade(const struct crm_rig *x, const char *state)
{
    Board__CloudletRecord c = crm_rig_cloudlet_in(state);
    c.upgrading = x->target_version != NULL;
    c.target_version = crm_rig_text(x->target_version ? x->target_version : "");
    c.request += c.upgrading;
    return c;
}

void crm_rig_cloudlet_becomes(struct crm_rig *x, const char *state)
{
    Board__CloudletRecord c = crm_rig_cloudlet_in_upgrade(x, state);
    crm_rig_frame_cloudlet(x, BOARD__FEED_FRAME__KIND__PUT, &c);
}

const char *crm_rig_waits_for(struct crm_rig *x)
{
    struct centre_site site = crm_standing(x->crm, &x->arena);
    return centre_waits_for(&x->crm->centre, &site, &x->arena);
}

/* ---- What the CRM asks ---------------------------------------------------------------------- */

const Board__Move *crm_rig_move_at(struct crm_rig *x, const char *place, const struct call **ret)
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

const Board__Move *crm_rig_expect_move(struct crm_rig *x, const char *place, const char *name,
                                       const struct call **ret)
{
    const Board__Move *m = crm_rig_move_at(x, place, ret);
    if (!m || strcmp(m->move, name) != 0) {
        fail_msg("%s at the %s is asked, not %s; %s", m ? m->move : "nothing", place, name,
                 crm_rig_waits_for(x));
    }
    return m;
}

const Board__Move *crm_rig_await_move(struct crm_rig *x, const char *place, const char *name,
                                      const struct call **ret)
{
    for (int i = 0; i < 100 && !crm_rig_move_at(x, place, ret); i++) {
        drive_advance(&x->drive, 50);
    }
    return crm_rig_expect_move(x, place, name, ret);
}

void crm_rig_expect_none(struct crm_rig *x, const char *place)
{
    const struct call *call;
    assert_null(crm_rig_move_at(x, place, &call));
}

void crm_rig_answer_move(struct crm_rig *x, uint64_t id, const char *refusal, int64_t revision)
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
        error.message = crm_rig_text(refusal);
        result.outcome = BOARD__MOVE_RESULT__OUTCOME__REFUSED;
        result.error = &error;
    }
    drive_answer(&x->drive, id, &r.base);
}

void crm_rig_lead_site(struct crm_rig *x)
{
    const struct call *call = drive_call(&x->drive, "https://site:1/v1/board/leader_lock", 0);
    assert_non_null(call);
    assert_int_equal(call->identity, IDENTITY_OWN);
    Board__LeaderLockResponse r = BOARD__LEADER_LOCK_RESPONSE__INIT;
    Board__LeaderLockRecord lock = BOARD__LEADER_LOCK_RECORD__INIT;
    Board__Term term = BOARD__TERM__INIT;
    lock.role = term.role = crm_rig_text("site");
    lock.holder = x->crm->life.leader.id;
    term.board_generation = crm_rig_text("S");
    term.term = 5;
    r.leader_lock = &lock;
    r.term = &term;
    drive_answer(&x->drive, call->id, &r.base);
    assert_true(x->crm->life.leader.leads);
}

void crm_rig_begin_at_site(struct crm_rig *x)
{
    drive_start(&x->drive);
    crm_rig_site_snapshot(x, PARIS, "G");
    crm_rig_lead_site(x);
}

void crm_rig_done(struct crm_rig *x, const char *name, uint64_t session, const char *shows)
{
    const struct call *call;
    const Board__Move *m = crm_rig_expect_move(x, "centre", name, &call);
    assert_int_equal(m->edge->session, session);
    crm_rig_answer_move(x, call->id, NULL, x->centre_revision + 1);
    crm_rig_expect_none(x, "centre"); /* not before the feed shows it */
    if (strcmp(name, "init") == 0 || strcmp(name, "ready") == 0) {
        crm_rig_cloudlet_becomes(x, strcmp(name, "init") == 0 ? "CRM_INITOK" : "READY");
    }
    crm_rig_centre_shows(x, session, shows);
}

void crm_rig_become_ready(struct crm_rig *x)
{
    Board__CloudletRecord c = crm_rig_cloudlet_in("CREATING");
    crm_rig_begin_at_site(x);
    crm_rig_centre_snapshot(x, &c, 0, NULL, NULL);
    crm_rig_done(x, "init", 1, "INIT");
    crm_rig_done(x, "sync", 1, "NEED_SYNC");
    crm_rig_done(x, "ready", 1, "READY");
    assert_true(centre_is_ready(&x->crm->centre, &x->arena));
}

void crm_rig_pass(struct crm_rig *x, int64_t seconds)
{
    crm_rig_pass_ms(x, seconds * 1000);
}

void crm_rig_pass_ms(struct crm_rig *x, int64_t ms)
{
    int64_t until_ns = x->drive.now.mono_ns + ms * MILLISECOND_NS;
    struct feed_client *site = &x->crm->life.feed_client;
    x->crm->centre.feed_client.heard_ns = until_ns;
    site->heard_ns = site->current ? until_ns : site->heard_ns;
    drive_advance(&x->drive, ms);
}
