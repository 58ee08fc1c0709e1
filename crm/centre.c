#include "crm/centre.h"

#include "common/base/bytes.h"
#include "common/base/message.h"
#include "common/lifecycle/cloudlet_info.h"
#include "common/lifecycle/maintenance.h"
#include "common/model/edge_name.h"
#include "common/model/moves.h"
#include "common/model/record.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Decoded bytes of an answer about one move. */
enum { ANSWER_MAX = 4 * 1024 * 1024 };

static char *centre_text(const char *borrowed)
{
    return (char *)(uintptr_t)borrowed;
}

/* What is there of the cloudlet itself is read where it is wanted. */
static void on_change(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record, struct effects *out)
{
    const struct centre *c = context;
    (void)out;
    c->on_change(c->context, change, key, record);
}

void centre_init(struct centre *c)
{
    assert(c->cloudlet && c->version && c->on_change);
    c->boards.identity = IDENTITY_CENTRE;
    c->feed_client = (struct feed_client){.boards = &c->boards,
                                          .on_change = on_change,
                                          .context = c,
                                          .back_off_max_ns = CENTRE_BACK_OFF_MAX_NS,
                                          .silence_ns = CENTRE_SILENCE_NS,
                                          .spread = true};
    feed_client_init(&c->feed_client);
    heartbeat_sender_init(&c->heartbeat_sender, &c->boards);
    c->heartbeat_sender.interval_ns = CENTRE_HEARTBEAT_NS;
    c->heartbeat_sender.timeout_ns = CENTRE_HEARTBEAT_TIMEOUT_NS;
    board__site_heartbeat__init(&c->heartbeat);
    c->heartbeat.cloudlet = centre_text(c->cloudlet);
    c->heartbeat_sender.request.site = &c->heartbeat;
}

void centre_done(struct centre *c)
{
    feed_client_done(&c->feed_client);
}

/* ---- What the board has ---------------------------------------------------------------------- */

static const void *record_at(const struct centre *c, struct arena *a, enum record_type type)
{
    const struct followed *r = feed_client_get(&c->feed_client, key_edge(a, type, c->cloudlet));
    ProtobufCMessage *m;
    return r && record_decode(a, type, blob_bytes(r->record), &m, NULL) == 0 ? m : NULL;
}

const Board__CloudletRecord *centre_cloudlet(const struct centre *c, struct arena *a)
{
    return record_at(c, a, RECORD_CLOUDLET);
}

static const Board__MaintenanceRecord *maintenance_of(const struct centre *c, struct arena *a)
{
    return record_at(c, a, RECORD_MAINTENANCE);
}

const Board__CloudletInfoRecord *centre_info(const struct centre *c, struct arena *a)
{
    return record_at(c, a, RECORD_CLOUDLETINFO);
}

/* The highest session that the board has had of the cloudlet. */
static uint64_t highest(const Board__CloudletInfoRecord *info)
{
    return !info ? 0 : info->session > info->former_session ? info->session : info->former_session;
}

static int info_state(const Board__CloudletInfoRecord *info)
{
    return info ? lifecycle_state(&cloudlet_info_lifecycle, info->state) : CLOUDLET_INFO_NONE;
}

static bool is_own(const struct centre *c, const Board__CloudletInfoRecord *info)
{
    return c->session && info && info->session == c->session;
}

bool centre_is_ready(const struct centre *c, struct arena *a)
{
    const Board__CloudletInfoRecord *info = centre_info(c, a);
    return c->feed_client.current && is_own(c, info) && info_state(info) == CLOUDLET_INFO_READY;
}

bool centre_has_shown(const struct centre *c, int64_t revision)
{
    return c->feed_client.revision >= revision || c->feed_client.change_revision >= revision;
}

/* ---- The session ----------------------------------------------------------------------------- */

void centre_leave(struct centre *c)
{
    heartbeat_sender_stop(&c->heartbeat_sender);
    c->session = c->reported = 0;
    c->call_id = 0;
    c->why[0] = 0;
}

/* A move that is due, and the kind of the record that it is about. */
struct due_move {
    const char *name; /* NULL = none */
    enum record_type type;
    uint64_t request;
};

static bool is_in(const Board__CloudletRecord *cloudlet, const char *state)
{
    return strcmp(cloudlet->state, state) == 0;
}

/* What a CRM in its session is asked about itself:
 * 1. The cloudlet goes: what the site holds of it goes first.
 * 2. Another version is to run: it is started, or could not be. */
static const char *next_of_cloudlet(const struct centre *c, const struct centre_site *site,
                                    const Board__CloudletRecord *cloudlet)
{
    bool old = strcmp(cloudlet->target_version, c->version) != 0;
    if (is_in(cloudlet, "DELETE_REQUESTED")) { /* 1 */
        return "deleting";
    }
    if (is_in(cloudlet, "DELETING")) {
        return site->leads && site->compared && site->holds == 0 ? "deleted" : NULL;
    }
    if (is_in(cloudlet, "UPDATE_REQUESTED")) { /* 2 */
        return old && site->leads ? "upgrading" : NULL;
    }
    return is_in(cloudlet, "UPDATING") && old && *site->failed ? "fail" : NULL;
}

/* Nothing speaks against maintenance, and nothing against its end. */
static const char *next_of_maintenance(const Board__MaintenanceRecord *m)
{
    int state = m ? lifecycle_state(&maintenance_lifecycle, m->state) : MAINTENANCE_NONE;
    return state == MAINTENANCE_CRM_REQUESTED           ? "under_maintenance"
           : state == MAINTENANCE_NORMAL_OPERATION_INIT ? "normal"
                                                        : NULL;
}

/* What a report says of the site: its cells, and what it holds that no record is of. */
static void add_site(const struct centre_site *site, Board__EdgeMove *e)
{
    e->totals = site->totals;
    e->cells = site->cells;
    e->foreign_objects = (uint32_t)site->foreign;
    e->n_foreign = site->foreign < EDGE_FOREIGN_TOLD_MAX ? site->foreign : EDGE_FOREIGN_TOLD_MAX;
    e->foreign = (char **)(uintptr_t)site->foreign_names;
    const char *const *error = *site->lost ? &site->lost : &site->ails;
    e->n_errors = **error ? 1 : 0;
    e->errors = (char **)(uintptr_t)error;
}

static uint64_t site_hash(const struct centre_site *site, struct arena *a)
{
    Board__EdgeMove e = BOARD__EDGE_MOVE__INIT;
    add_site(site, &e);
    return bytes_hash(message_packed(a, &e.base));
}

/* The board has it otherwise. One that does not know a field of ours never has it: it is told once.
 */
static bool has_news(const struct centre *c, const struct centre_site *site,
                     const Board__CloudletInfoRecord *info, struct arena *a)
{
    struct centre_site board = {.totals = info->totals,
                                .cells = info->cells,
                                .foreign = info->foreign_objects,
                                .foreign_names = info->foreign,
                                .lost = "",
                                .ails = info->n_errors ? info->errors[0] : ""};
    uint64_t says = site_hash(site, a);
    bool whole = board.foreign <= info->n_foreign || info->n_foreign == EDGE_FOREIGN_TOLD_MAX;
    return says != c->reported && (!whole || says != site_hash(&board, a));
}

/* What of the site the centre is to know:
 * 1. Its own bbs does not answer: nothing can be changed there.
 * 2. It answers again.
 * 3. What it says differs from what the board has, once in a while. */
static const char *next_of_site(const struct centre *c, const struct centre_site *site,
                                const Board__CloudletRecord *cloudlet,
                                const Board__CloudletInfoRecord *info, struct arena *a)
{
    int state = info_state(info);
    bool well = site->compared && site->leads;
    if (state == CLOUDLET_INFO_READY && *site->lost) { /* 1 */
        return "fail";
    }
    if (state == CLOUDLET_INFO_ERRORS && !is_in(cloudlet, "UPDATE_ERROR")) { /* 2 */
        return well && is_in(cloudlet, "READY") ? "ready" : NULL;
    }
    bool tells = state == CLOUDLET_INFO_READY && well && site->told && site->totals; /* 3 */
    return tells && has_news(c, site, info, a) ? "report" : NULL;
}

/* Whether `ready` is the cloudlet's own move. Where it stayed as it was while this CRM began again,
 * or was only away, it is the cloudletinfo's. */
static bool takes_ready(const Board__CloudletRecord *cloudlet)
{
    return is_in(cloudlet, "CRM_INITOK") || is_in(cloudlet, "UPDATE_ERROR");
}

/* It failed, and this CRM is what it waits for: the next session leads on from there. */
static bool waits_for_session(const struct centre *c, const Board__CloudletRecord *cloudlet)
{
    bool target = strcmp(cloudlet->target_version, c->version) == 0;
    return is_in(cloudlet, "CREATE_ERROR") || (is_in(cloudlet, "UPDATE_ERROR") && target);
}

/* What of the session itself is due.
 * 1. No session of this process, or one that the board has not: it is opened.
 * 2. INIT: all records are here, for the feed is current.
 * 3. The site was compared, and the cloudlet is led on by another session: that is opened.
 * 4. NEED_SYNC: the site was compared. So too after a failed upgrade, which this CRM survives.
 * 5. What of the site is to be known. */
static struct due_move next_of_session(const struct centre *c, const struct centre_site *site,
                                       const Board__CloudletRecord *cloudlet,
                                       const Board__CloudletInfoRecord *info, struct arena *a)
{
    if (!is_own(c, info)) { /* 1 */
        return (struct due_move){"init", RECORD_CLOUDLET, cloudlet->request};
    }
    int state = info_state(info);
    if (state == CLOUDLET_INFO_INIT) { /* 2 */
        return (struct due_move){"sync", RECORD_CLOUDLETINFO, cloudlet->request};
    }
    bool compared = site->compared && site->leads;
    if (compared && waits_for_session(c, cloudlet)) { /* 3 */
        return (struct due_move){"init", RECORD_CLOUDLET, cloudlet->request};
    }
    bool failed_upgrade = state == CLOUDLET_INFO_ERRORS && is_in(cloudlet, "UPDATE_ERROR");
    bool due = state == CLOUDLET_INFO_NEED_SYNC || failed_upgrade;
    enum record_type type = takes_ready(cloudlet) ? RECORD_CLOUDLET : RECORD_CLOUDLETINFO;
    if (due && compared) { /* 4 */
        return (struct due_move){"ready", type, cloudlet->request};
    }
    const char *name = next_of_site(c, site, cloudlet, info, a); /* 5 */
    return (struct due_move){name, RECORD_CLOUDLETINFO, cloudlet->request};
}

/* The move that the board's state asks for now. Nothing is said of a cloudlet that is not there, or
 * while nobody knows which site this is. Whoever was OFFLINE says first that it is heard again.
 * What it is asked about itself comes next: a cloudlet that goes, or whose v1 began again amid an
 * upgrade, is not READY any more. */
static struct due_move next_move(const struct centre *c, const struct centre_site *site,
                                 const Board__CloudletRecord *cloudlet, struct arena *a)
{
    if (!cloudlet || !site->may_speak || !*site->identity) {
        return (struct due_move){0};
    }
    const Board__CloudletInfoRecord *info = centre_info(c, a);
    const Board__MaintenanceRecord *m = maintenance_of(c, a);
    bool in_session = is_own(c, info);
    if (in_session && info_state(info) == CLOUDLET_INFO_OFFLINE) {
        return (struct due_move){"back", RECORD_CLOUDLETINFO, cloudlet->request};
    }
    if (c->session && site->takes_back) {
        return *site->failed ? (struct due_move){"fail", RECORD_CLOUDLET, cloudlet->request}
                             : (struct due_move){0};
    }
    const char *name = in_session ? next_of_cloudlet(c, site, cloudlet) : NULL;
    if (name) {
        return (struct due_move){name, RECORD_CLOUDLET, cloudlet->request};
    }
    name = in_session ? next_of_maintenance(m) : NULL;
    return name ? (struct due_move){name, RECORD_MAINTENANCE, m->request}
                : next_of_session(c, site, cloudlet, info, a);
}

static Board__Move *move_of(const struct centre *c, const struct due_move *due, uint64_t session,
                            const struct centre_site *site, const Board__CloudletRecord *cloudlet,
                            struct arena *a)
{
    Board__Move *m = move_new(a, due->name, key_edge(a, due->type, c->cloudlet));
    m->body_case = BOARD__MOVE__BODY_EDGE;
    m->edge = arena_message(a, &board__edge_move__descriptor);
    assert(*site->identity && site->may_speak);
    m->edge->uid = cloudlet->uid;
    m->edge->request = due->request;
    m->edge->session = session;
    m->edge->board_generation = centre_text(c->feed_client.board_generation);
    m->edge->version = centre_text(c->version);
    m->edge->identity = centre_text(site->identity);
    m->edge->leads_site = site->leads;
    add_site(site, m->edge);
    bool fails = strcmp(due->name, "fail") == 0, of_site = due->type == RECORD_CLOUDLETINFO;
    m->edge->error = centre_text(fails && !of_site ? site->failed : "");
    return m;
}

static void say(struct centre *c, const struct due_move *due, const struct centre_site *site,
                const Board__CloudletRecord *cloudlet, const struct event *ev, struct effects *out)
{
    Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
    assert(!c->call_id && due->name && cloudlet);
    bool init = strcmp(due->name, "init") == 0;
    c->call_session = init ? highest(centre_info(c, out->arena)) + 1 : c->session;
    Board__Move *move = move_of(c, due, c->call_session, site, cloudlet, out->arena);
    request.board_generation = c->feed_client.board_generation;
    request.n_moves = 1;
    request.moves = &move;
    assert(c->call_session > 0);
    bool reports = strcmp(due->name, "report") == 0;
    c->reporting = reports ? site_hash(site, out->arena) : 0;
    c->report_ns = reports ? ev->now.mono_ns + CENTRE_REPORT_NS : c->report_ns;
    c->call_move = due->name;
    c->call_url = boards_url(&c->boards);
    c->call_id = boards_call(&c->boards, out, "/v1/board/apply", "", &request.base,
                             ev->now.mono_ns + CENTRE_CALL_NS);
}

int64_t centre_pause_ns(unsigned failures, uint64_t chance)
{
    int64_t most = CENTRE_BACK_OFF_MAX_NS * 2 / 3, wait = CENTRE_AGAIN_NS;
    for (unsigned i = 0; i < failures && wait < most; i++) {
        wait *= 2;
    }
    wait = earlier_ns(wait, most);
    return wait + (int64_t)(chance % (uint64_t)(wait / 2));
}

static void pause(struct centre *c, const struct event *ev)
{
    c->again_ns = ev->now.mono_ns + centre_pause_ns(c->failures++, ev->entropy[0]);
}

static void failed(struct centre *c, const char *why, const struct event *ev, struct effects *out)
{
    if (strcmp(c->why, why) != 0) {
        effects_log(out, LOG_WARN_LEVEL, "the centre did not take a move", "move=%s why=\"%s\"",
                    c->call_move, why);
    }
    snprintf(c->why, sizeof(c->why), "%s", why);
    pause(c, ev);
}

/* The board has the session: heartbeats say so from now on. */
static void open_session(struct centre *c, const struct event *ev, struct effects *out)
{
    assert(c->call_session > 0 && c->call_session != c->session);
    c->session = c->call_session;
    strcpy(c->board_generation, c->feed_client.board_generation);
    c->heartbeat.session = c->session;
    heartbeat_sender_start(&c->heartbeat_sender, ev, out);
    effects_log(out, LOG_INFO_LEVEL, "a session with the centre is open",
                "cloudlet=%s session=%llu", c->cloudlet, (unsigned long long)c->session);
}

static void on_answer(struct centre *c, const struct event *ev, struct effects *out)
{
    const char *why = "";
    const Board__ApplyResponse *r = (const Board__ApplyResponse *)boards_answer(
        out->arena, &ev->response, &board__apply_response__descriptor, ANSWER_MAX, &why);
    const Board__MoveResult *result = r && r->n_results == 1 ? r->results[0] : NULL;
    c->call_id = 0;
    if (!r) {
        boards_failed(&c->boards, c->call_url);
        failed(c, why, ev, out);
    } else if (!result || (result->outcome != BOARD__MOVE_RESULT__OUTCOME__DONE &&
                           result->outcome != BOARD__MOVE_RESULT__OUTCOME__NOTHING)) {
        const Models__Error *e = r->error ? r->error : result ? result->error : NULL;
        c->call_session = c->session; /* it opened none */
        failed(c, e ? e->message : "it does not say why", ev, out);
    } else {
        c->failures = 0;
        c->why[0] = 0;
        c->seen_from = result->revision > c->seen_from ? result->revision : c->seen_from;
        c->reported = c->reporting ? c->reporting : c->reported;
        if (strcmp(c->call_move, "init") == 0) {
            open_session(c, ev, out);
        }
    }
}

/* A restored centre has other sessions, or none. */
static void on_other_board(struct centre *c)
{
    if (c->session && *c->feed_client.board_generation &&
        strcmp(c->board_generation, c->feed_client.board_generation) != 0) {
        centre_leave(c);
        c->seen_from = 0;
    }
}

static void decide(struct centre *c, const struct event *ev, const struct centre_site *site,
                   struct effects *out)
{
    if (!c->feed_client.current || c->call_id || !centre_has_shown(c, c->seen_from)) {
        return;
    }
    const Board__CloudletRecord *cloudlet = centre_cloudlet(c, out->arena);
    const struct due_move due = next_move(c, site, cloudlet, out->arena);
    if (!due.name) {
        return;
    }
    int64_t not_before = c->again_ns;
    if (strcmp(due.name, "report") == 0 && c->report_ns > not_before) {
        not_before = c->report_ns;
    }
    if (ev->now.mono_ns < not_before) {
        effects_due(out, not_before);
        return;
    }
    say(c, &due, site, cloudlet, ev, out);
}

void centre_hear(struct centre *c, const struct event *ev, struct effects *out)
{
    if (ev->kind == EVENT_START) {
        c->boards.current = ev->entropy[1] % c->boards.count;
    }
    feed_client_step(&c->feed_client, ev, out);
    on_other_board(c);
}

/* The link is there again: the feed does not wait for the end of what it backed off by while it was
 * cut. Nor do all sites ask in one instant. */
static void hurry(struct centre *c, bool heard, const struct event *ev, struct effects *out)
{
    if (heard && !c->feed_client.current && !c->hurry_ns) {
        c->hurry_ns = ev->now.mono_ns + 1 + (int64_t)(ev->entropy[1] % CENTRE_HURRY_NS);
    }
    if (c->hurry_ns && ev->now.mono_ns >= c->hurry_ns) {
        c->hurry_ns = 0;
        if (!c->feed_client.current) {
            feed_client_hurry(&c->feed_client, out);
        }
    } else if (c->hurry_ns) {
        effects_due(out, c->hurry_ns);
    }
}

/* A bbs may be behind the session, and v1's was that of v2 for a while: as long as the board has
 * this one it is told again. */
static void send_heartbeats(struct centre *c, const struct event *ev, struct effects *out)
{
    struct heartbeat_sender *h = &c->heartbeat_sender;
    enum heartbeat_verdict verdict = heartbeat_sender_step(h, ev, out);
    hurry(c, verdict == HEARTBEAT_TAKEN, ev, out);
    if (verdict == HEARTBEAT_REJECTED) {
        heartbeat_sender_stop(h);
        c->heartbeat_again_ns = ev->now.mono_ns + CENTRE_HEARTBEAT_NS;
    }
    if (!c->session || h->on || !is_own(c, centre_info(c, out->arena))) {
        return;
    }
    if (ev->now.mono_ns >= c->heartbeat_again_ns) {
        heartbeat_sender_start(h, ev, out);
    } else {
        effects_due(out, c->heartbeat_again_ns);
    }
}

enum centre_end centre_step(struct centre *c, const struct event *ev,
                            const struct centre_site *site, struct effects *out)
{
    if (c->call_id && ev->kind == EVENT_RESPONSE && ev->response.id == c->call_id) {
        on_answer(c, ev, out);
    }
    send_heartbeats(c, ev, out);
    if (c->session && c->feed_client.current && centre_has_shown(c, c->seen_from)) {
        const Board__CloudletInfoRecord *info = centre_info(c, out->arena);
        bool other = info && info->session > c->session && info->session != c->call_session;
        if (other && !site->takes_back) {
            return CENTRE_DISPLACED;
        }
        if (!info) { /* the cloudlet is gone */
            centre_leave(c);
        }
    }
    if (!site->may_speak && (c->session || c->call_id)) {
        centre_leave(c);
    }
    decide(c, ev, site, out);
    assert(!c->session || c->heartbeat.session == c->session);
    assert(site->may_speak || (!c->session && !c->call_id));
    return CENTRE_GOES_ON;
}

/* ---- For people ------------------------------------------------------------------------------ */

const char *centre_waits_for(const struct centre *c, const struct centre_site *site,
                             struct arena *a)
{
    const Board__CloudletRecord *cloudlet = centre_cloudlet(c, a);
    if (!c->feed_client.current) {
        return arena_printf(a, "the centre: no feed of %s", boards_url(&c->boards));
    }
    if (!cloudlet) {
        return arena_printf(a,
                            "a record of cloudlet %s at the centre: `bbs cloudlets create %s` "
                            "there makes one",
                            c->cloudlet, c->cloudlet);
    }
    if (!site->may_speak) {
        return "another CRM leads at this site: this one stands by";
    }
    if (*c->why) {
        return arena_printf(a, "the centre did not take a move: %s", c->why);
    }
    if (!*site->identity) {
        return "the site's bbs to say which site this is";
    }
    return centre_is_ready(c, a) ? "" : "the centre's answer";
}

size_t centre_count(const struct centre *c, enum record_type type)
{
    SCOPED_ARENA(a);
    const struct map *records = &c->feed_client.records;
    const char *all = key_edge_all(&a, type, c->cloudlet);
    size_t count = 0;
    for (struct map_node *n = map_from(records, all); n && text_begins(map_key(n), all);
         n = map_next(n)) {
        count++;
    }
    return count;
}
