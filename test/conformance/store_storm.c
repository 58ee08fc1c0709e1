#include "test/conformance/store_storm.h"

#include "common/contract/moment.h"
#include "test/conformance/store_random.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN_FLIGHT = 48, RANGES_PERCENT = 25, TRIES = 50 };

static const int64_t call_timeout_ns = 1200 * MILLISECOND_NS;
static const int64_t fault_ns = 1500 * MILLISECOND_NS;

struct storm {
    struct tester *tester;
    struct judge *judge;
    struct store_random random;
    unsigned markers;
    struct watch_log *watch;
    int64_t watched; /* revision up to which the watches before this one told */
    bool broken;
    struct storm_result *result;
};

static struct judged_call *note(struct storm *s, enum store_call call,
                                const ProtobufCMessage *message)
{
    assert_true(s->judge->count < JUDGED_CALLS);
    struct judged_call *c = &s->judge->calls[s->judge->count++];
    *c = (struct judged_call){.call = call, .message = message, .floor = s->tester->seen_revision};
    c->id = tester_send(s->tester, call, message, call_timeout_ns);
    return c;
}

/* Puts the marker first, so that every other answer within is of the new revision. */
static void put_marker_first(struct txn *t, Etcd__RequestOp *put)
{
    txn_then(t, put);
    Etcd__RequestOp **list = t->request.success;
    memmove(&list[1], &list[0], (t->request.n_success - 1) * sizeof(*list));
    list[0] = put;
}

static void send_txn(struct storm *s)
{
    struct arena *a = &s->tester->arena;
    const char *marker = arena_printf(a, JUDGE_MARKER_PREFIX "%u", ++s->markers);
    s->random.revision = s->tester->seen_revision;
    struct txn *txn = store_random_txn(&s->random, a);
    txn_if(txn, compare_absent(a, marker));
    put_marker_first(txn, op_put(a, marker, JUDGE_DONE, 0));
    note(s, STORE_TXN, &txn->request.base)->marker = marker;
}

static void send_one(struct storm *s)
{
    if (random_below(&s->random.random, 100) < RANGES_PERCENT) {
        note(s, STORE_RANGE, &store_random_range(&s->random, &s->tester->arena)->base);
    } else {
        send_txn(s);
    }
}

/* Sends this many, never more than IN_FLIGHT at once. */
static void send_many(struct storm *s, unsigned calls)
{
    for (unsigned i = 0; i < calls;) {
        while (i < calls && s->tester->open_count < IN_FLIGHT) {
            send_one(s);
            i++;
        }
        s->tester->backend->ops->wait(s->tester->backend, SECOND_NS);
    }
}

/* As a role does: a watch that closed is opened again after the last revision that it told. */
static void keep_watching(struct storm *s)
{
    for (int i = 0; i < TRIES && (!s->watch || s->watch->closed); i++) {
        if (s->watch && s->watch->last_revision > s->watched) {
            s->watched = s->watch->last_revision;
        }
        s->watch = tester_watch(s->tester, s->watched + 1);
        s->result->watches++;
        if (s->watch->closed) {
            tester_pass(s->tester, 100 * MILLISECOND_NS);
        }
    }
    assert_false(s->watch->closed);
}

/* Calls made while the store is broken come back quickly when they are refused. */
static void while_broken(struct storm *s)
{
    const struct store_backend_ops *ops = s->tester->backend->ops;
    int64_t end_ns = ops->now_ns(s->tester->backend) + fault_ns;
    while (ops->now_ns(s->tester->backend) < end_ns) {
        if (s->tester->open_count < IN_FLIGHT) {
            send_one(s);
        }
        tester_pass(s->tester, 20 * MILLISECOND_NS);
    }
}

static void one_fault(struct storm *s, enum store_fault fault)
{
    struct store_backend *b = s->tester->backend;
    while (s->tester->open_count < IN_FLIGHT) {
        send_one(s);
    }
    b->ops->wait(b, SECOND_NS); /* some are answered, some are on their way */
    if (!b->ops->break_it(b, fault)) {
        printf("storm: %s cannot be made here\n", store_fault_name(fault));
        return;
    }
    while_broken(s);
    b->ops->heal(b);
    keep_watching(s);
}

/* design.md 2: an unknown outcome is settled by a write that keeps it from landing from now on. */
static void settle(struct storm *s, const struct judged_call *unknown)
{
    struct arena *a = &s->tester->arena;
    struct txn *txn = txn_new(a);
    txn_if(txn, compare_absent(a, unknown->marker));
    txn_then(txn, op_put(a, unknown->marker, JUDGE_VOID, 0));
    txn_else(txn, op_range(a, unknown->marker, NULL));
    for (int i = 0; i < TRIES; i++) {
        struct judged_call *c = note(s, STORE_TXN, &txn->request.base);
        c->marker = unknown->marker;
        c->voids = true;
        tester_settle(s->tester);
        const struct store_answer *answer = s->tester->answers[c->id];
        if (answer->outcome == STORE_DONE) {
            const Etcd__TxnResponse *r = (const Etcd__TxnResponse *)answer->message;
            bool landed =
                !r->succeeded && r->responses[0]->response_range->kvs[0]->value.len == 4 &&
                memcmp(r->responses[0]->response_range->kvs[0]->value.data, JUDGE_DONE, 4) == 0;
            s->result->landed += landed;
            return;
        }
        tester_pass(s->tester, 100 * MILLISECOND_NS);
    }
    fail_msg("the store does not answer after its faults");
}

static void count_outcomes(struct storm *s)
{
    size_t made = s->judge->count;
    for (size_t i = 0; i < made; i++) {
        const struct judged_call *c = &s->judge->calls[i];
        const struct store_answer *answer = s->tester->answers[c->id];
        if (!c->marker || c->voids) {
            continue;
        }
        const Etcd__TxnResponse *r = (const Etcd__TxnResponse *)answer->message;
        s->result->done += answer->outcome == STORE_DONE && r->succeeded;
        s->result->lost += answer->outcome == STORE_DONE && !r->succeeded;
        s->result->refused += answer->outcome == STORE_REFUSED;
        if (answer->outcome == STORE_UNKNOWN) {
            s->result->unknown++;
            settle(s, c);
        }
    }
}

/* All events that the watches told, each revision once. */
static void gather_events(struct storm *s)
{
    struct tester *t = s->tester;
    size_t count = 0;
    for (size_t i = 0; i < t->watch_count; i++) {
        for (size_t k = 0; k < t->watches[i]->count; k++) {
            count += t->watches[i]->list[k]->n_events;
        }
        assert_int_equal(t->watches[i]->wrong, 0);
    }
    s->judge->events = ARENA_ARRAY(&t->arena, count, const Etcd__Event *);
    for (size_t i = 0; i < t->watch_count; i++) {
        for (size_t k = 0; k < t->watches[i]->count; k++) {
            const Etcd__WatchResponse *r = t->watches[i]->list[k];
            for (size_t n = 0; n < r->n_events; n++) {
                s->judge->events[s->judge->event_count++] = r->events[n];
            }
        }
    }
}

void store_storm(struct tester *t, uint64_t seed, unsigned calls, struct storm_result *ret)
{
    *ret = (struct storm_result){0};
    struct storm s = {.tester = t, .judge = calloc(1, sizeof(*s.judge)), .result = ret};
    assert_non_null(s.judge);
    s.judge->tester = t;
    random_seed(&s.random.random, (uint64_t[2]){seed, seed ^ 0x73746f726d});
    t->seen_revision = 1;
    keep_watching(&s);
    for (enum store_fault fault = 0; fault < STORE_FAULT_COUNT; fault++) {
        send_many(&s, calls / STORE_FAULT_COUNT);
        one_fault(&s, fault);
    }
    tester_settle(t);
    count_outcomes(&s);
    int64_t last = tester_range(t, range_new(&t->arena, "k/", "k0"))->header->revision;
    keep_watching(&s);
    if (!tester_watch_until(t, s.watch, last)) {
        keep_watching(&s);
        assert_true(tester_watch_until(t, s.watch, last));
    }
    gather_events(&s);
    if (!judge_history(s.judge)) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, s.judge->problem);
        fail();
    }
    assert_int_equal(t->wrong, 0);
    free(s.judge);
}
