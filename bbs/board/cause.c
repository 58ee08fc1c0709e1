/* Cause slots and the settling of unknown outcomes: the slot is voided under the compare that it is
 * unchanged. Done means that the old write can never land any more, refused that it landed, and the
 * slot tells what. A slot is reused only when its outcome is known (design.md 2). */
#include "bbs/board/inside.h"

#include <assert.h>

static struct compare slot_unchanged(const struct slot *s, struct arena *a)
{
    struct compare c = {.kind = COMPARE_UNCHANGED, .revision = s->mod_revision};
    if (s->mod_revision == 0) {
        c.kind = COMPARE_ABSENT;
    }
    c.key = key_cause(a, s->board->boot_id, s->number);
    return c;
}

Etcd__Compare *slot_compare(const struct slot *s, struct arena *a)
{
    struct compare c = slot_unchanged(s, a);
    return compare_compile(a, &c);
}

Etcd__Compare *board_generation_compare(struct board *b, struct arena *arena)
{
    const struct compare c = {.kind = COMPARE_EXISTS, .key = key_epoch(arena, b->board_generation)};
    return compare_compile(arena, &c);
}

static void on_void(struct board *b, void *context, const struct store_answer *answer,
                    struct effects *out);

void slot_settle(struct slot *s, slot_settled *settled, struct effects *out)
{
    s->settled = settled;
    struct arena *a = out->arena;
    const char *key = key_cause(a, s->board->boot_id, s->number);
    Board__CauseRecord record = BOARD__CAUSE_RECORD__INIT;
    record.voided = true;
    record.sequence = s->sequence;
    Etcd__TxnRequest *t = arena_message(a, &etcd__txn_request__descriptor);
    t->n_compare = t->n_success = t->n_failure = 1;
    t->compare = ARENA_ARRAY(a, 1, Etcd__Compare *);
    t->compare[0] = slot_compare(s, a);
    t->success = ARENA_ARRAY(a, 1, Etcd__RequestOp *);
    t->success[0] = etcd_op_put(a, key, record_encoded(a, &record.base));
    t->failure = ARENA_ARRAY(a, 1, Etcd__RequestOp *);
    t->failure[0] = etcd_op_range(a, key);
    s->state = SLOT_VOIDING;
    store_send(s->board, STORE_TXN, &t->base, TXN_TIMEOUT_NS, on_void, s, out);
}

static void on_retry(struct await *a, bool reached, struct effects *out)
{
    (void)reached;
    struct slot *s = a->owner;
    assert(s->state == SLOT_WAITING);
    slot_settle(s, s->settled, out);
}

static void try_later(struct slot *s)
{
    struct board *b = s->board;
    s->state = SLOT_WAITING;
    s->retry.owner = s;
    s->retry.wake = on_retry;
    await_start(&b->awaits, &s->retry, NEVER_NS, b->now.mono_ns + backoff_ns(s->failures++));
}

static const Etcd__KeyValue *only_record(const Etcd__TxnResponse *r)
{
    if (r->n_responses != 1 ||
        r->responses[0]->response_case != ETCD__RESPONSE_OP__RESPONSE_RESPONSE_RANGE) {
        return NULL;
    }
    const Etcd__RangeResponse *found = r->responses[0]->response_range;
    return found && found->n_kvs == 1 ? found->kvs[0] : NULL;
}

/* The void was refused, so the slot has changed since the transaction was sent. What it says. */
static int64_t landed_at(struct slot *s, const Etcd__KeyValue *kv, struct arena *a)
{
    ProtobufCMessage *m;
    struct bytes value = {.data = kv->value.data, .size = kv->value.len};
    if (record_decode(a, RECORD_CAUSE, value, &m, NULL) < 0) {
        return -1;
    }
    const Board__CauseRecord *record = (const Board__CauseRecord *)m;
    if (record->sequence != s->sequence) {
        return -1;
    }
    /* An earlier void of ours, whose answer was lost as well, came first. */
    return record->voided ? 0 : kv->mod_revision;
}

static void on_void(struct board *b, void *context, const struct store_answer *answer,
                    struct effects *out)
{
    (void)b;
    struct slot *s = context;
    const Etcd__TxnResponse *r = (const Etcd__TxnResponse *)answer->message;
    if (answer->outcome != STORE_DONE || !r || !r->header) {
        try_later(s);
        return;
    }
    s->failures = 0;
    if (r->succeeded) {
        s->mod_revision = r->header->revision;
        s->settled(s, 0, out);
        return;
    }
    const Etcd__KeyValue *kv = only_record(r);
    s->mod_revision = kv ? kv->mod_revision : 0;
    s->settled(s, kv ? landed_at(s, kv, out->arena) : -1, out);
}
