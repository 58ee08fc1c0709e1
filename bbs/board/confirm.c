/* An answer that commits nothing is confirmed before it is given: etcd compares all that the
 * decision read, in a transaction without writes, and the copy reaches the revision of that
 * (design.md 2). The read barrier alone says that the copy is fresh, not that it is right: of a
 * copy whose watch silently left something out, a refusal would end what is needed still. Ops share
 * a transaction as those do that commit; it writes nothing, so an answer that is lost is asked for
 * again. */
#include "bbs/board/inside.h"

#include <assert.h>
#include <stdlib.h>

/* Failure reads before those of the batch. */
enum { READ_BOARD_GENERATION, READ_FIRST };

void confirms_init(struct board *b)
{
    for (size_t i = 0; i < CONFIRM_CALLS; i++) {
        TAILQ_INIT(&b->confirms.calls[i].ops);
    }
}

static void gather_batch(struct board *b, struct confirm_call *c)
{
    unsigned looked = 0;
    struct op *op, *next;
    assert(TAILQ_EMPTY(&c->ops));
    batch_init(c->batch);
    for (op = TAILQ_FIRST(&b->unconfirmed); op && looked++ < BATCH_LOOK_AHEAD; op = next) {
        next = TAILQ_NEXT(op, link);
        assert(op->state == OP_CONFIRM);
        if (batch_join(c->batch, &op->commit)) {
            TAILQ_REMOVE(&b->unconfirmed, op, link);
            TAILQ_INSERT_TAIL(&c->ops, op, link);
            op->state = OP_CONFIRMING;
        }
    }
    assert(!TAILQ_EMPTY(&c->ops));
}

static Etcd__TxnRequest *transaction(struct board *b, const struct batch *batch, struct arena *a)
{
    Etcd__TxnRequest *t = arena_message(a, &etcd__txn_request__descriptor);
    t->compare = ARENA_ARRAY(a, batch->compare_count + 1, Etcd__Compare *);
    t->compare[t->n_compare++] = board_generation_compare(b, a);
    for (size_t i = 0; i < batch->compare_count; i++) {
        t->compare[t->n_compare++] = compare_compile(a, batch->compares[i]);
    }
    t->success = ARENA_ARRAY(a, batch->range_count, Etcd__RequestOp *);
    for (size_t i = 0; i < batch->range_count; i++) {
        if (batch->ranges[i]->kind == COMPARE_NOTHING_NEWER) {
            Etcd__RequestOp *count = compare_read(a, batch->ranges[i]);
            count->request_range->keys_only = false;
            count->request_range->count_only = true;
            count->request_range->limit = count->request_range->min_mod_revision = 0;
            t->success[t->n_success++] = count;
        }
    }
    t->failure = ARENA_ARRAY(a, batch->read_count + READ_FIRST, Etcd__RequestOp *);
    t->failure[READ_BOARD_GENERATION] = etcd_op_range(a, key_epoch(a, b->board_generation));
    t->failure[READ_BOARD_GENERATION]->request_range->keys_only = true;
    t->n_failure = READ_FIRST;
    for (size_t i = 0; i < batch->read_count; i++) {
        t->failure[t->n_failure++] = compare_read(a, batch->reads[i]);
    }
    return t;
}

static void on_answer(struct board *b, void *context, const struct store_answer *answer,
                      struct effects *out);

void confirms_send(struct board *b, struct effects *out)
{
    struct confirms *s = &b->confirms;
    for (size_t i = 0; i < CONFIRM_CALLS && b->loaded && !TAILQ_EMPTY(&b->unconfirmed); i++) {
        struct confirm_call *c = &s->calls[i];
        if (c->flying) {
            continue;
        }
        if (s->retry_ns > b->now.mono_ns) {
            effects_due(out, s->retry_ns);
            return;
        }
        if (!c->batch && !(c->batch = malloc(sizeof(*c->batch)))) {
            abort();
        }
        c->flying = true;
        c->board_generation_number = b->board_generation_number;
        gather_batch(b, c);
        store_send(b, STORE_TXN, &transaction(b, c->batch, out->arena)->base, BARRIER_TIMEOUT_NS,
                   on_answer, c, out);
    }
}

/* Who waits still is asked for again: a transaction that writes nothing may be sent twice. */
static void again(struct confirm_call *c, struct effects *out)
{
    for (struct op *op; (op = op_list_take(&c->ops));) {
        if (op->answered) {
            op_failed(op, "", out);
        } else {
            op_unconfirmed(op);
        }
    }
}

/* The compares hold, yet a range has more keys than the copy knows: it never heard of one of them.
 */
static bool counts_differ(const struct batch *batch, const struct commit *c,
                          const Etcd__TxnResponse *r)
{
    size_t at = 0;
    for (size_t i = 0; i < batch->range_count; i++) {
        const struct compare *range = batch->ranges[i];
        if (range->kind != COMPARE_NOTHING_NEWER) {
            continue;
        }
        const Etcd__RangeResponse *found = txn_range(r, at++);
        for (size_t j = 0; j < c->compare_count; j++) {
            if (compare_equal(&c->compares[j], range) &&
                (!found || found->count != range->members)) {
                return true;
            }
        }
    }
    return false;
}

static void on_success_branch(struct confirm_call *c, const Etcd__TxnResponse *r,
                              struct effects *out)
{
    struct op_list lost = TAILQ_HEAD_INITIALIZER(lost);
    struct op *op, *next;
    for (op = TAILQ_FIRST(&c->ops); op; op = next) {
        next = TAILQ_NEXT(op, link);
        if (counts_differ(c->batch, &op->commit, r)) {
            TAILQ_REMOVE(&c->ops, op, link);
            TAILQ_INSERT_TAIL(&lost, op, link);
        }
    }
    while ((op = op_list_take(&c->ops))) {
        op_confirmed(op, r->header->revision);
    }
    while ((op = TAILQ_FIRST(&lost))) {
        TAILQ_REMOVE(&lost, op, link);
        op_lost(op, r->header->revision, out);
    }
}

static void on_failure_branch(struct board *b, struct confirm_call *c, const Etcd__TxnResponse *r,
                              struct effects *out)
{
    const Etcd__RangeResponse *board_generation = txn_range(r, READ_BOARD_GENERATION);
    bool of_this_board_generation = c->board_generation_number == b->board_generation_number;
    if (of_this_board_generation && (!board_generation || board_generation->n_kvs == 0)) {
        for (struct op *op; (op = op_list_take(&c->ops));) {
            op_failed(op, "the board was restored meanwhile", out);
        }
        board_want_reload(b, BOARD_GENERATION_GONE);
        return;
    }
    /* All are judged before one ends: the batch has compares of each. */
    struct op_list lost = TAILQ_HEAD_INITIALIZER(lost);
    struct op *op, *next;
    for (op = TAILQ_FIRST(&c->ops); op; op = next) {
        next = TAILQ_NEXT(op, link);
        if (batch_moved(c->batch, &op->commit, r, READ_FIRST)) {
            TAILQ_REMOVE(&c->ops, op, link);
            TAILQ_INSERT_TAIL(&lost, op, link);
        }
    }
    /* It failed and nothing shows why: nobody may try the same for ever. */
    if (TAILQ_EMPTY(&lost)) {
        TAILQ_CONCAT(&lost, &c->ops, link);
    }
    again(c, out);
    while ((op = TAILQ_FIRST(&lost))) {
        TAILQ_REMOVE(&lost, op, link);
        op_lost(op, r->header->revision, out);
    }
}

static void on_answer(struct board *b, void *context, const struct store_answer *answer,
                      struct effects *out)
{
    struct confirm_call *c = context;
    const Etcd__TxnResponse *r = (const Etcd__TxnResponse *)answer->message;
    assert(c->flying);
    c->flying = false;
    if (answer->outcome != STORE_DONE || !r || !r->header) {
        board_trouble(b, store_text(answer), out);
        b->confirms.retry_ns = b->now.mono_ns + BACKOFF_MIN_NS;
        again(c, out);
    } else if (r->succeeded) {
        on_success_branch(c, r, out);
    } else {
        on_failure_branch(b, c, r, out);
    }
    assert(TAILQ_EMPTY(&c->ops));
}

void confirms_free(struct board *b)
{
    for (size_t i = 0; i < CONFIRM_CALLS; i++) {
        free(b->confirms.calls[i].batch);
    }
}
