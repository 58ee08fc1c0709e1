#include "auctioneer/report.h"

#include "common/codec/scan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MAX = 16 * 1024 * 1024 };

void report_init(struct report *r)
{
    assert(r->boards && r->leader && r->pool);
    r->queue = NULL;
    r->next = r->count = r->capacity = 0;
    memset(r->calls, 0, sizeof(r->calls));
    r->pause_ns = 0;
}

/* The entry of a key that left the queue; NULL if it left the pool. */
static struct entry *told_entry(struct report *r, const char *key)
{
    struct entry *e = map_get(&r->pool->entries, key);
    if (e) {
        e->queued = false;
    }
    return e;
}

/* It may not have been told: it is told again when it is refused again. */
static void doubt(struct report *r, const char *key)
{
    struct entry *e = map_get(&r->pool->entries, key);
    if (e && e->task) {
        e->requested = e->requested || e->revision == e->told_revision;
    } else if (e) {
        blob_unref(e->told);
        e->told = NULL;
    }
}

static void forget_call(struct report_call *c)
{
    for (size_t i = 0; i < c->key_count; i++) {
        free(c->keys[i]);
    }
    *c = (struct report_call){0};
}

void report_stop(struct report *r)
{
    while (r->next < r->count) {
        told_entry(r, r->queue[r->next]);
        free(r->queue[r->next++]);
    }
    r->next = r->count = 0;
    for (size_t i = 0; i < REPORT_CALLS_MAX; i++) {
        for (size_t k = 0; k < r->calls[i].key_count; k++) {
            doubt(r, r->calls[i].keys[k]); /* the term is over: most likely it was refused */
        }
        forget_call(&r->calls[i]);
    }
}

void report_done(struct report *r)
{
    if (r) {
        report_stop(r);
        free(r->queue);
    }
}

/* Room for one more key: what has left the queue makes way before it grows. */
static void make_room(struct report *r)
{
    if (r->next > r->count / 2) {
        r->count -= r->next;
        memmove(r->queue, r->queue + r->next, r->count * sizeof(char *));
        r->next = 0;
        return;
    }
    r->capacity = r->capacity ? 2 * r->capacity : 64;
    char **queue = realloc(r->queue, r->capacity * sizeof(char *));
    if (!queue) {
        abort();
    }
    r->queue = queue;
}

static void enqueue(struct report *r, char *key)
{
    if (r->count == r->capacity) {
        make_room(r);
    }
    r->queue[r->count++] = key;
}

void report_refusal(struct report *r, struct entry *e)
{
    if (e->queued || !pool_untold(e)) {
        return;
    }
    e->queued = true;
    char *key = strdup(e->key);
    if (!key) {
        abort();
    }
    enqueue(r, key);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static Board__Move *fail_move(struct arena *a, const struct entry *e, const struct wanted *w)
{
    Board__Move *m = ARENA_NEW(a, Board__Move);
    board__move__init(m);
    m->move = arena_strdup(a, "fail");
    m->actual_lrp_key = ARENA_NEW(a, Models__ActualLRPKey);
    models__actual_lrpkey__init(m->actual_lrp_key);
    m->actual_lrp_key->process_guid = arena_strdup(a, e->guid);
    m->actual_lrp_key->index = e->index;
    m->actual_lrp_key->domain = arena_strdup(a, w->domain);
    return m;
}

/* Of the very record that was decided on: whoever moved it since is not rejected. */
static Board__Move *reject_move(struct arena *a, const struct entry *e)
{
    Board__Move *m = ARENA_NEW(a, Board__Move);
    board__move__init(m);
    m->move = arena_strdup(a, "reject");
    m->task_guid = arena_strdup(a, e->guid);
    m->task_revision = e->revision;
    return m;
}

/* It is told now: not again unless that is doubted, or asked for. */
static void note_told(struct entry *e)
{
    if (e->task) {
        e->requested = false;
        e->told_revision = e->revision;
    } else {
        blob_unref(e->told);
        e->told = blob_ref(e->reason);
    }
}

/* Takes keys from the queue until the call is full; those that are no news any more go. */
static void fill(struct report *r, struct report_call *c, Board__ApplyRequest *request,
                 Board__Term *term, struct arena *a)
{
    request->moves = ARENA_ARRAY(a, REPORT_MOVES_MAX, Board__Move *);
    while (r->next < r->count && c->key_count < REPORT_MOVES_MAX) {
        char *key = r->queue[r->next++];
        struct entry *e = told_entry(r, key);
        const struct wanted *w = e ? pool_wanted(r->pool, e) : NULL;
        if (!w || !pool_untold(e)) {
            free(key);
            continue;
        }
        Board__Move *m = e->task ? reject_move(a, e) : fail_move(a, e, w);
        m->error_message = arena_strdup(a, reason_text(e->reason));
        m->term = term;
        request->moves[request->n_moves++] = m;
        note_told(e);
        c->keys[c->key_count++] = key;
    }
}

static void send(struct report *r, struct report_call *c, const struct event *ev,
                 struct effects *out)
{
    Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
    Board__Term term;
    leader_term(r->leader, &term);
    request.epoch = term.epoch;
    fill(r, c, &request, &term, out->arena);
    if (request.n_moves > 0) {
        c->url = boards_url(r->boards);
        c->id = boards_call(r->boards, out, "/v1/board/apply", "", &request.base,
                            ev->now.mono_ns + REPORT_CALL_NS);
    }
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void on_answer(struct report *r, struct report_call *c, const struct event *ev,
                      struct effects *out)
{
    const struct response *a = &ev->response;
    ProtobufCMessage *m = NULL;
    bool answered = a->outcome == CALL_ANSWERED && a->status == 200 &&
                    scan_and_unpack(out->arena, &board__apply_response__descriptor, a->body,
                                    ANSWER_MAX, &m, NULL) == 0;
    const Board__ApplyResponse *response = (const Board__ApplyResponse *)m;
    for (size_t i = 0; i < c->key_count; i++) {
        /* What was refused because the record has changed the feed tells; but the term may be over. */
        bool told = answered && !response->error && i < response->n_results &&
                    (response->results[i]->outcome == BOARD__MOVE_RESULT__OUTCOME__DONE ||
                     response->results[i]->outcome == BOARD__MOVE_RESULT__OUTCOME__NOTHING);
        if (!told) {
            doubt(r, c->keys[i]);
        }
    }
    if (!answered || response->error) {
        r->pause_ns = ev->now.mono_ns + REPORT_PAUSE_NS;
        boards_failed(r->boards, c->url);
        effects_log(out, LOG_WARN_LEVEL, "placement errors not told", "moves=%zu", c->key_count);
    }
    forget_call(c);
}

bool report_step(struct report *r, const struct event *ev, struct effects *out)
{
    bool own = false;
    for (size_t i = 0; i < REPORT_CALLS_MAX && ev->kind == EVENT_RESPONSE; i++) {
        if (r->calls[i].id && r->calls[i].id == ev->response.id) {
            on_answer(r, &r->calls[i], ev, out);
            own = true;
        }
    }
    for (size_t i = 0; i < REPORT_CALLS_MAX && r->next < r->count; i++) {
        if (!r->calls[i].id && ev->now.mono_ns >= r->pause_ns) {
            send(r, &r->calls[i], ev, out);
        }
    }
    if (r->next < r->count && ev->now.mono_ns < r->pause_ns) {
        effects_due(out, r->pause_ns);
    }
    return own;
}
