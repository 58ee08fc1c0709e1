#include "test/unit/bbs/board/board_rig.h"

#include "bbs/board/board_generation.h"
#include "common/base/map.h"
#include "common/base/message.h"
#include "common/base/random.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum happening { TIMER, ARRIVAL, ANSWER, WATCHED };

struct item {
    struct item *next; /* sorted by at_ns, then order of making */
    int64_t at_ns;
    enum happening what;
    unsigned board;
    unsigned life;
    struct arena arena;
    struct store_request request; /* ARRIVAL */
    bool silent;                  /* ARRIVAL: nobody is told */
    unsigned etcd;                /* the number of the etcd that it is to or from */
    struct store_answer answer;   /* ANSWER */
    struct watch_event watch;     /* WATCHED */
};

struct seat {
    struct board *board;
    unsigned life;
    struct arena arena;
    struct effects out;
    int64_t due_ns;
    uint64_t watch_id;
    int64_t watch_next;
    int64_t watch_last_ns; /* deliveries keep their order */
    bool cut, stalled, exited;
};

struct rig {
    struct model_etcd *etcd;
    unsigned etcd_number; /* raised by each restore */
    struct random random;
    struct bbs_config config;
    struct board_hooks hooks;
    struct rig_faults faults;
    int64_t now_ns;
    struct item *items;
    unsigned count;
    struct seat seats[RIG_BOARDS_MAX];
    struct map logged;
    unsigned calls[STORE_CALL_COUNT];
    unsigned standstill; /* happenings at one instant */
};

static struct item *push(struct rig *r, int64_t at_ns, enum happening what, unsigned n)
{
    struct item *i = calloc(1, sizeof(*i)), **place = &r->items;
    assert(i);
    arena_init(&i->arena);
    i->at_ns = at_ns;
    i->what = what;
    i->board = n;
    i->life = r->seats[n].life;
    i->etcd = r->etcd_number;
    while (*place && (*place)->at_ns <= at_ns) {
        place = &(*place)->next;
    }
    i->next = *place;
    *place = i;
    return i;
}

static void free_item(struct item *i)
{
    arena_done(&i->arena);
    free(i);
}

static int64_t draw(struct rig *r, int64_t most_ns)
{
    return 1000 + (int64_t)random_below(&r->random, (uint64_t)most_ns);
}

static bool chance(struct rig *r, unsigned of_1000)
{
    return random_below(&r->random, 1000) < of_1000;
}

/* ---- what a board wants ---- */

static void tell_unknown(struct rig *r, unsigned n, const struct store_request *q)
{
    struct item *i = push(r, q->deadline_ns, ANSWER, n);
    i->answer = (struct store_answer){
        .id = q->id, .call = q->call, .outcome = STORE_UNKNOWN, .text = "no answer in time"};
}

static void send(struct rig *r, unsigned n, const struct store_request *q)
{
    int64_t at_ns = r->now_ns + draw(r, r->faults.delay_ns);
    bool silent = chance(r, r->faults.answer_lost);
    if (r->seats[n].cut || chance(r, r->faults.lost)) {
        tell_unknown(r, n, q);
        return;
    }
    if (chance(r, r->faults.late)) {
        at_ns = q->deadline_ns + draw(r, 4 * SECOND_NS);
        silent = true;
    }
    struct item *i = push(r, at_ns, ARRIVAL, n);
    i->request = *q;
    i->request.message = message_copy(&i->arena, q->message);
    i->silent = silent;
    if (silent) {
        tell_unknown(r, n, q);
    }
}

static void push_watch(struct rig *r, unsigned n, enum watch_event_kind kind,
                       const Etcd__WatchResponse *response)
{
    struct seat *s = &r->seats[n];
    int64_t at_ns = r->now_ns + draw(r, r->faults.watch_lag_ns);
    s->watch_last_ns = at_ns > s->watch_last_ns ? at_ns : s->watch_last_ns;
    struct item *i = push(r, s->watch_last_ns, WATCHED, n);
    i->watch = (struct watch_event){.id = s->watch_id, .kind = kind, .text = "broken"};
    if (response) {
        i->watch.response =
            (const Etcd__WatchResponse *)message_copy(&i->arena, &response->base);
    }
}

static void take_log(struct rig *r, unsigned n, const struct log_line *log)
{
    size_t count = (size_t)map_get(&r->logged, log->message) + 1;
    map_put(&r->logged, log->message, (void *)count);
    if (getenv("RIG_LOG")) {
        fprintf(stderr, "%9.3f bbs-%u %s %s\n", (double)r->now_ns / 1e9, n, log->message,
                log->data);
    }
}

static void take_effects(struct rig *r, unsigned n, bool whole_step)
{
    struct seat *s = &r->seats[n];
    for (size_t i = 0; i < s->out.count; i++) {
        const struct effect *e = &s->out.list[i];
        if (e->kind == EFFECT_STORE) {
            send(r, n, &e->store);
        } else if (e->kind == EFFECT_WATCH) {
            s->watch_id = e->watch.id;
            s->watch_next = e->watch.start_revision;
            push_watch(r, n, WATCH_OPEN, model_etcd_watch_created(r->etcd, s->out.arena));
        } else if (e->kind == EFFECT_UNWATCH) {
            s->watch_id = 0;
        } else if (e->kind == EFFECT_LOG) {
            take_log(r, n, &e->log);
        } else if (e->kind == EFFECT_EXIT) {
            s->exited = true;
        }
    }
    /* A test's call adds to what the last step wanted, as a request's handler does in a bbs. */
    s->due_ns = whole_step ? s->out.due_ns : earlier_ns(s->due_ns, s->out.due_ns);
    if (s->due_ns != NEVER_NS) {
        push(r, s->due_ns > r->now_ns ? s->due_ns : r->now_ns, TIMER, n);
    }
    arena_reset(&s->arena);
    effects_init(&s->out, &s->arena);
}

static void step(struct rig *r, unsigned n, struct event *ev)
{
    struct seat *s = &r->seats[n];
    if (s->exited) {
        return;
    }
    ev->now = (struct moment){.mono_ns = r->now_ns, .wall_ns = r->now_ns + 1000 * SECOND_NS};
    ev->entropy[0] = random_next(&r->random);
    ev->entropy[1] = random_next(&r->random);
    board_step(s->board, ev, &s->out);
    take_effects(r, n, true);
}

struct effects *board_rig_begin(struct rig *r, unsigned n)
{
    struct event ev = {.kind = EVENT_TIMER};
    step(r, n, &ev);
    return &r->seats[n].out;
}

void board_rig_end(struct rig *r, unsigned n)
{
    take_effects(r, n, false);
}

/* ---- what etcd does ---- */

static void arrive(struct rig *r, struct item *i)
{
    struct item *answer = push(r, r->now_ns + draw(r, r->faults.delay_ns), ANSWER, i->board);
    struct arena *a = &answer->arena;
    model_etcd_apply(r->etcd, i->request.call, i->request.message, a, &answer->answer);
    r->calls[i->request.call]++;
    if (r->faults.answer_bytes && answer->answer.message &&
        protobuf_c_message_get_packed_size(answer->answer.message) > r->faults.answer_bytes) {
        answer->answer = (struct store_answer){.outcome = STORE_UNKNOWN, .text = "too large"};
    }
    answer->answer.id = i->request.id;
    answer->answer.call = i->request.call;
    answer->life = i->silent || r->seats[i->board].cut ? 0 : i->life;
    if (r->seats[i->board].cut && !i->silent) {
        tell_unknown(r, i->board, &i->request);
    }
}

/* Tells every open watch what it has not been told yet. */
static void tell_watches(struct rig *r)
{
    for (unsigned n = 0; n < r->count; n++) {
        struct seat *s = &r->seats[n];
        if (!s->watch_id || s->cut || s->stalled || s->watch_next > model_etcd_revision(r->etcd)) {
            continue;
        }
        if (chance(r, r->faults.watch_breaks)) {
            push_watch(r, n, WATCH_CLOSED, NULL);
            s->watch_next = INT64_MAX;
            continue;
        }
        SCOPED_ARENA(a);
        Etcd__WatchResponse **list;
        size_t count = model_etcd_events_since(r->etcd, s->watch_next, 64, &a, &list);
        for (size_t i = 0; i < count; i++) {
            if (list[i]->canceled) {
                push_watch(r, n, WATCH_CLOSED, list[i]);
                s->watch_next = INT64_MAX;
                break;
            }
            push_watch(r, n, WATCH_EVENTS, list[i]);
            s->watch_next = list[i]->events[list[i]->n_events - 1]->kv->mod_revision + 1;
        }
    }
}

static void happen(struct rig *r, struct item *i)
{
    struct seat *s = &r->seats[i->board];
    struct event ev = {0};
    bool present = i->life == s->life;
    if (i->what == ARRIVAL && i->etcd != r->etcd_number) {
        tell_unknown(r, i->board, &i->request);
    } else if (i->what == ARRIVAL) {
        arrive(r, i);
    } else if (i->what == TIMER && present && i->at_ns >= s->due_ns) {
        s->due_ns = NEVER_NS;
        ev.kind = EVENT_TIMER;
        step(r, i->board, &ev);
    } else if (i->what == ANSWER && present) {
        ev.kind = EVENT_STORE;
        ev.store = i->answer;
        if (i->etcd != r->etcd_number) {
            ev.store = (struct store_answer){.id = i->answer.id,
                                             .call = i->answer.call,
                                             .outcome = STORE_UNKNOWN,
                                             .text = "the connection broke"};
        }
        step(r, i->board, &ev);
    } else if (i->what == WATCHED && present && i->watch.id == s->watch_id) {
        ev.kind = EVENT_WATCH;
        ev.watch = i->watch;
        if (i->watch.kind == WATCH_CLOSED) {
            s->watch_id = 0;
        }
        step(r, i->board, &ev);
    }
}

void board_rig_run(struct rig *r, int64_t duration_ns)
{
    int64_t until_ns = r->now_ns + duration_ns;
    while (r->items && r->items->at_ns <= until_ns) {
        struct item *i = r->items;
        r->items = i->next;
        r->standstill = i->at_ns > r->now_ns ? 0 : r->standstill + 1;
        assert(r->standstill < 10000); /* a role that asks for ever to be woken at once */
        r->now_ns = i->at_ns > r->now_ns ? i->at_ns : r->now_ns;
        model_etcd_advance(r->etcd, r->now_ns);
        happen(r, i);
        free_item(i);
        tell_watches(r);
    }
    r->now_ns = until_ns;
}

bool board_rig_run_ready(struct rig *r, int64_t limit_ns)
{
    for (int64_t spent = 0; spent < limit_ns; spent += 10 * MILLISECOND_NS) {
        unsigned ready = 0;
        for (unsigned n = 0; n < r->count; n++) {
            ready += board_ready(r->seats[n].board);
        }
        if (ready == r->count) {
            return true;
        }
        board_rig_run(r, 10 * MILLISECOND_NS);
    }
    return false;
}

/* ---- making and ending ---- */

static void start(struct rig *r, unsigned n)
{
    struct seat *s = &r->seats[n];
    static unsigned lives; /* 0 is nobody's life */
    s->life = ++lives;
    s->board = board_new(&r->config, &r->hooks);
    s->due_ns = NEVER_NS;
    s->watch_id = 0;
    s->exited = false;
    effects_init(&s->out, &s->arena);
    struct event ev = {.kind = EVENT_START};
    step(r, n, &ev);
}

struct rig *board_rig_new(uint64_t seed, unsigned boards, const struct bbs_config *config,
                    const struct board_hooks *hooks)
{
    struct rig *r = calloc(1, sizeof(*r));
    assert(r && boards <= RIG_BOARDS_MAX);
    random_seed(&r->random, (uint64_t[2]){seed, ~seed});
    r->etcd = model_etcd_new(&(struct model_etcd_config){0});
    r->config = *config;
    r->hooks = hooks ? *hooks : (struct board_hooks){0};
    r->count = boards;
    r->faults = (struct rig_faults){
        .delay_ns = MILLISECOND_NS, .watch_lag_ns = MILLISECOND_NS};
    r->now_ns = SECOND_NS;
    map_init(&r->logged);
    for (unsigned n = 0; n < boards; n++) {
        arena_init(&r->seats[n].arena);
        start(r, n);
    }
    return r;
}

void board_rig_restart(struct rig *r, unsigned n)
{
    board_free(r->seats[n].board);
    arena_reset(&r->seats[n].arena);
    start(r, n);
}

void board_rig_restore(struct rig *r, int64_t revision)
{
    model_etcd_restore(r->etcd, revision);
    r->etcd_number++;
    for (unsigned n = 0; n < r->count; n++) {
        if (r->seats[n].watch_id) {
            push_watch(r, n, WATCH_CLOSED, NULL);
            r->seats[n].watch_next = INT64_MAX;
        }
    }
}

void board_rig_new_board_generation(struct rig *r, const char *id)
{
    SCOPED_ARENA(a);
    Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
    board_generation_question(&a, &range);
    const Etcd__RangeResponse *found =
        (const Etcd__RangeResponse *)board_rig_ask(r, &a, STORE_RANGE, &range.base);
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    board_generation_again(&a, found, id, r->now_ns, &txn);
    const Etcd__TxnResponse *done =
        (const Etcd__TxnResponse *)board_rig_ask(r, &a, STORE_TXN, &txn.base);
    assert(done->succeeded);
    (void)done;
}

void board_rig_stop(struct rig *r, unsigned n)
{
    struct event ev = {.kind = EVENT_STOP};
    step(r, n, &ev);
}

void board_rig_free(struct rig *r)
{
    for (unsigned n = 0; n < r->count; n++) {
        board_free(r->seats[n].board);
        arena_done(&r->seats[n].arena);
    }
    while (r->items) {
        struct item *i = r->items;
        r->items = i->next;
        free_item(i);
    }
    model_etcd_free(r->etcd);
    map_done(&r->logged, NULL);
    free(r);
}

/* ---- looking ---- */

struct rig_faults *board_rig_faults(struct rig *r)
{
    return &r->faults;
}

struct model_etcd *board_rig_etcd(struct rig *r)
{
    return r->etcd;
}

struct random *board_rig_random(struct rig *r)
{
    return &r->random;
}

struct board *board_rig_board(struct rig *r, unsigned n)
{
    return r->seats[n].board;
}

int64_t board_rig_now(const struct rig *r)
{
    return r->now_ns;
}

void board_rig_cut(struct rig *r, unsigned n, bool cut)
{
    r->seats[n].cut = cut;
}

void board_rig_stall_watch(struct rig *r, unsigned n, bool stalled)
{
    r->seats[n].stalled = stalled;
}

bool board_rig_exited(const struct rig *r, unsigned n)
{
    return r->seats[n].exited;
}

unsigned board_rig_logged(const struct rig *r, const char *message)
{
    return (unsigned)(size_t)map_get(&r->logged, message);
}

unsigned board_rig_calls(const struct rig *r, enum store_call call)
{
    return r->calls[call];
}

const ProtobufCMessage *board_rig_ask(struct rig *r, struct arena *arena, enum store_call call,
                                const ProtobufCMessage *message)
{
    struct store_answer answer = {0};
    model_etcd_apply(r->etcd, call, message, arena, &answer);
    assert(answer.outcome == STORE_DONE);
    tell_watches(r);
    return answer.message;
}
