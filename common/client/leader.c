#include "common/client/leader.h"

#include "common/codec/scan.h"
#include "common/model/record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Decoded bytes of an answer; it holds an error, a record and a term. */
enum { ANSWER_MAX = 64 * 1024 };

void leader_init(struct leader *l)
{
    assert(l->boards && l->feed_client && l->role && l->url);
    l->id[0] = l->board_generation[0] = 0;
    l->leads = l->reported_leads = l->stopping = l->releasing = false;
    l->held = l->held_by_us = false;
    l->term = l->held_term = 0;
    l->call_id = 0;
    l->ask_ns = 0;
    liveness_report_init(&l->liveness_report);
    heartbeat_sender_init(&l->heartbeat_sender, l->boards);
    board__leader_heartbeat__init(&l->heartbeat);
    l->heartbeat.role = (char *)(uintptr_t)l->role;
    l->heartbeats[0] = &l->heartbeat;
    l->heartbeat_sender.request.n_leaders = 1;
    l->heartbeat_sender.request.leaders = l->heartbeats;
}

void leader_done(struct leader *l)
{
    if (l) {
        liveness_report_done(&l->liveness_report);
    }
}

static void depose(struct leader *l, int64_t now_ns)
{
    assert(l->leads);
    l->leads = false;
    l->term = 0;
    l->ask_ns = now_ns + LEADER_RETRY_NS;
    heartbeat_sender_stop(&l->heartbeat_sender);
}

/* ---- What the feed tells --------------------------------------------------------------------- */

static void on_heartbeat(struct leader *l, enum feed_client_change change, const char *key,
                         const struct followed *record)
{
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    if (change == FEED_CLIENT_DELETE) {
        liveness_report_gone(&l->liveness_report, key);
    } else if (record_decode(&a, RECORD_HEARTBEAT, blob_bytes(record->record), &m, NULL) == 0) {
        const Board__HeartbeatRecord *heartbeat = (const Board__HeartbeatRecord *)m;
        (l->feed_client->snapshot ? liveness_report_read
                                  : liveness_report_heartbeat)(&l->liveness_report, key, heartbeat);
    }
}

static void on_leader_lock(struct leader *l, const struct followed *record, struct moment now)
{
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    bool ours = record_decode(&a, RECORD_LEADER_LOCK, blob_bytes(record->record), &m, NULL) == 0 &&
                strcmp(((const Board__LeaderLockRecord *)m)->holder, l->id) == 0;
    liveness_report_expect(&l->liveness_report, LIVENESS_REPORT_LEADER, l->role,
                           (uint64_t)record->create_revision);
    l->held = true;
    l->held_by_us = ours;
    l->held_term = record->create_revision;
    /* An older record changes nothing: the feed lags behind the answer that made us leader. */
    if (l->leads && record->create_revision > l->term) {
        depose(l, now.mono_ns);
    }
}

static void on_leader_lock_gone(struct leader *l, const struct followed *record, struct moment now)
{
    l->held = false;
    liveness_report_forget(&l->liveness_report, LIVENESS_REPORT_LEADER, l->role);
    if (l->leads && record->create_revision == l->term) {
        depose(l, now.mono_ns);
    } else if (!l->leads) {
        l->ask_ns = now.mono_ns;
    }
}

static void on_current(struct leader *l, struct moment now)
{
    liveness_report_restart(&l->liveness_report);
    if (l->leads && !l->held && l->feed_client->revision >= l->term) {
        depose(l, now.mono_ns);
    }
}

void leader_change(struct leader *l, enum feed_client_change change, const char *key,
                   const struct followed *record, struct moment now)
{
    if (change == FEED_CLIENT_RESET) {
        liveness_report_reset(&l->liveness_report);
        liveness_report_forget(&l->liveness_report, LIVENESS_REPORT_LEADER, l->role);
        l->held = false;
        if (l->leads && strcmp(l->board_generation, l->feed_client->board_generation) != 0) {
            depose(l, now.mono_ns);
        }
    } else if (change == FEED_CLIENT_CURRENT) {
        on_current(l, now);
    } else if (key_type(key) == RECORD_HEARTBEAT) {
        liveness_report_tick(&l->liveness_report, now.mono_ns, l->feed_client->current);
        on_heartbeat(l, change, key, record);
    } else if (key_type(key) == RECORD_LEADER_LOCK && strcmp(key + strlen("lead/"), l->role) == 0) {
        if (change == FEED_CLIENT_PUT) {
            on_leader_lock(l, record, now);
        } else {
            on_leader_lock_gone(l, record, now);
        }
    }
}

/* ---- The lock -------------------------------------------------------------------------------- */

static void send(struct leader *l, const Board__LeaderLockRequest *request, const struct event *ev,
                 struct effects *out)
{
    assert(!l->call_id || l->releasing);
    l->asked_url = boards_url(l->boards);
    l->ask_ns = ev->now.mono_ns + LEADER_RETRY_NS;
    l->call_id = boards_call(l->boards, out, "/v1/board/leader_lock", "", &request->base,
                             ev->now.mono_ns + LEADER_CALL_NS);
}

static void request_init(const struct leader *l, Board__LeaderLockRequest *request,
                         Board__LeaderLockRecord *leader_lock)
{
    board__leader_lock_request__init(request);
    board__leader_lock_record__init(leader_lock);
    leader_lock->role = (char *)(uintptr_t)l->role;
    leader_lock->holder = (char *)(uintptr_t)l->id;
    leader_lock->url = (char *)(uintptr_t)l->url;
    request->leader_lock = leader_lock;
}

/* Asks when the lock is free, ours by an answer that was lost, or held by somebody unheard of. */
static void maybe_ask(struct leader *l, const struct event *ev, struct effects *out)
{
    bool unheard = l->held && !l->held_by_us && l->liveness_report.counting &&
                   liveness_report_silent_ns(&l->liveness_report, LIVENESS_REPORT_LEADER,
                                             l->role) >= LEADER_SILENCE_NS;
    if (l->leads || l->stopping || l->call_id || !l->feed_client->current ||
        ev->now.mono_ns < l->ask_ns || (l->held && !l->held_by_us && !unheard)) {
        return;
    }
    Board__LeaderLockRequest request;
    Board__LeaderLockRecord leader_lock;
    request_init(l, &request, &leader_lock);
    leader_lock.since = ev->now.wall_ns;
    request.displace = unheard ? l->held_term : 0;
    send(l, &request, ev, out);
}

static void elected(struct leader *l, const Board__Term *term, const struct event *ev,
                    struct effects *out)
{
    assert(!l->leads && l->term == 0);
    l->leads = true;
    l->term = term->term;
    assert(l->term > 0);
    strcpy(l->board_generation, term->board_generation);
    l->heartbeat.term = term->term;
    heartbeat_sender_start(&l->heartbeat_sender, ev, out);
}

static void on_answer(struct leader *l, const struct event *ev, struct effects *out)
{
    const struct response *r = &ev->response;
    ProtobufCMessage *m = NULL;
    l->call_id = 0;
    if (l->releasing) {
        return; /* given back, or the others wait for our silence */
    }
    if (r->outcome != CALL_ANSWERED || r->status != 200 ||
        scan_and_unpack(out->arena, &board__leader_lock_response__descriptor, r->body, ANSWER_MAX,
                        &m, NULL) != 0) {
        boards_failed(l->boards, l->asked_url);
        return;
    }
    const Board__LeaderLockResponse *answer = (const Board__LeaderLockResponse *)m;
    /* A term of another board generation than the feed's is over, or is asked for again when the
     * feed is there: the reset that would depose it may have come before the answer. */
    bool ours = answer->leader_lock && strcmp(answer->leader_lock->holder, l->id) == 0 &&
                answer->term && answer->term->term > 0 &&
                strcmp(answer->term->board_generation, l->feed_client->board_generation) == 0;
    if (!ours || l->leads) {
        return; /* somebody else holds it: the feed tells the rest */
    }
    elected(l, answer->term, ev, out);
    if (l->stopping) {
        leader_stop(l, ev, out);
    }
}

/* The next look: with the next tick, or when the holder's silence is long enough, if that is
 * sooner. Half a second is much of the bound of design.md 6. */
static int64_t next_look_ns(const struct leader *l)
{
    int64_t left = LEADER_SILENCE_NS -
                   liveness_report_silent_ns(&l->liveness_report, LIVENESS_REPORT_LEADER, l->role);
    bool nearly = l->held && !l->held_by_us && left > 0 && left < LIVENESS_REPORT_TICK_NS;
    return nearly ? left : LIVENESS_REPORT_TICK_NS;
}

enum leader_change leader_step(struct leader *l, const struct event *ev, struct effects *out)
{
    if (ev->kind == EVENT_START) {
        struct random r;
        random_seed(&r, ev->entropy);
        random_guid(&r, l->id);
    }
    liveness_report_tick(&l->liveness_report, ev->now.mono_ns, l->feed_client->current);
    if (l->call_id && ev->kind == EVENT_RESPONSE && ev->response.id == l->call_id) {
        on_answer(l, ev, out);
    }
    if (heartbeat_sender_step(&l->heartbeat_sender, ev, out) == HEARTBEAT_REJECTED) {
        depose(l, ev->now.mono_ns);
    }
    if (!l->leads) {
        maybe_ask(l, ev, out);
        effects_due(out, ev->now.mono_ns + next_look_ns(l));
    }
    assert(l->leads == (l->term > 0) && l->leads == l->heartbeat_sender.on);
    if (l->leads == l->reported_leads) {
        return LEADER_SAME;
    }
    l->reported_leads = l->leads;
    return l->leads ? LEADER_ELECTED : LEADER_DEPOSED;
}

void leader_term(const struct leader *l, Board__Term *ret_term)
{
    assert(l->leads);
    board__term__init(ret_term);
    ret_term->role = (char *)(uintptr_t)l->role;
    ret_term->board_generation = (char *)(uintptr_t)l->board_generation;
    ret_term->term = l->term;
}

void leader_stop(struct leader *l, const struct event *ev, struct effects *out)
{
    l->stopping = true;
    if (!l->leads) {
        return;
    }
    Board__LeaderLockRequest request;
    Board__LeaderLockRecord leader_lock;
    request_init(l, &request, &leader_lock);
    request.release = l->term;
    l->releasing = true;
    send(l, &request, ev, out);
    depose(l, ev->now.mono_ns);
}

bool leader_stopped(const struct leader *l)
{
    return l->stopping && !l->leads && !l->call_id;
}

const Board__LeaderLockRecord *leader_holder(const struct leader *l, struct arena *a)
{
    const struct followed *r = feed_client_get(l->feed_client, key_lead(a, l->role));
    ProtobufCMessage *m;
    if (!r || record_decode(a, RECORD_LEADER_LOCK, blob_bytes(r->record), &m, NULL) != 0) {
        return NULL;
    }
    return (const Board__LeaderLockRecord *)m;
}
