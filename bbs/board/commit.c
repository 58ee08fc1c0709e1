/* Transactions: ready ops in groups, the compares and the cause that each one has, and what becomes
 * of the ops when its outcome is known (design.md 2). */
#include "bbs/board/inside.h"
#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Failure reads before those of the batch. */
enum { READ_BOARD_GENERATION, READ_SLOT, READ_FIRST };

static const struct slot *idle_slot(const struct board *b)
{
    unsigned max = b->config.transactions_max;
    for (unsigned i = 0; i < max; i++) {
        if (b->slots[i].state == SLOT_IDLE) {
            return &b->slots[i];
        }
    }
    return NULL;
}

/* While one travels it is worth waiting for company: what becomes ready meanwhile shares the next,
 * and so its round trip, its cause and its place in etcd's log. A full batch does not wait, and
 * none waits long, however slow etcd's disk is. */
static bool worth_sending(const struct board *b)
{
    const struct op *oldest = TAILQ_FIRST(&b->ready);
    return b->flying == 0 || b->ready_records >= BATCH_WORTH ||
           b->now.mono_ns >= oldest->ready_ns + GROUP_WAIT_NS;
}

int64_t commits_due_ns(const struct board *b)
{
    const struct op *oldest = TAILQ_FIRST(&b->ready);
    if (!oldest || !b->loaded || !idle_slot(b)) {
        return NEVER_NS; /* the end of a transaction comes first */
    }
    return oldest->ready_ns + GROUP_WAIT_NS;
}

static void gather_batch(struct board *b, struct slot *s)
{
    unsigned looked = 0;
    batch_init(s->batch);
    struct op *op, *next;
    for (op = TAILQ_FIRST(&b->ready); op && looked++ < BATCH_LOOK_AHEAD; op = next) {
        next = TAILQ_NEXT(op, link);
        assert(op->state == OP_READY);
        if (batch_join(s->batch, &op->commit)) {
            TAILQ_REMOVE(&b->ready, op, link);
            assert(b->ready_records >= op->commit.write_count);
            b->ready_records -= op->commit.write_count;
            TAILQ_INSERT_TAIL(&s->ops, op, link);
            op->state = OP_FLYING;
        }
        if (s->batch->record_count >= BATCH_RECORDS_MAX) {
            break;
        }
    }
    assert(!TAILQ_EMPTY(&s->ops) && s->batch->record_count <= BATCH_RECORDS_MAX);
}

static Board__CauseRecord__Change *cause_entry(const struct op *op, const struct change *c,
                                               struct arena *a)
{
    Board__CauseRecord__Change *e = arena_message(a, &board__cause_record__change__descriptor);
    e->key = (char *)(size_t)c->key;
    e->move = (char *)(size_t)c->move;
    e->actor = (char *)(size_t)actor_name(c->actor);
    e->trace_id = (char *)(size_t)(op->in.trace_id ? op->in.trace_id : "");
    e->op = op->id;
    e->text = (char *)(size_t)c->text;
    return e;
}

static struct bytes cause_of(const struct slot *s, struct arena *a)
{
    Board__CauseRecord record = BOARD__CAUSE_RECORD__INIT;
    record.sequence = s->sequence;
    record.changes = ARENA_ARRAY(a, s->batch->record_count, Board__CauseRecord__Change *);
    const struct op *op;
    TAILQ_FOREACH(op, &s->ops, link)
    {
        for (const struct change *c = op->plan->changes; c; c = c->next) {
            record.changes[record.n_changes++] = cause_entry(op, c, a);
        }
    }
    assert(record.n_changes == s->batch->record_count);
    return record_encoded(a, &record.base);
}

static void add_compares(struct slot *s, Etcd__TxnRequest *t, struct arena *a)
{
    const struct batch *batch = s->batch;
    t->compare = ARENA_ARRAY(a, batch->compare_count + 2, Etcd__Compare *);
    t->compare[t->n_compare++] = board_generation_compare(s->board, a);
    t->compare[t->n_compare++] = slot_compare(s, a);
    for (size_t i = 0; i < batch->compare_count; i++) {
        t->compare[t->n_compare++] = compare_compile(a, batch->compares[i]);
    }
}

static void add_writes(struct slot *s, Etcd__TxnRequest *t, struct arena *a)
{
    t->success = ARENA_ARRAY(a, s->batch->record_count + 1, Etcd__RequestOp *);
    const struct op *op;
    TAILQ_FOREACH(op, &s->ops, link)
    {
        for (size_t i = 0; i < op->commit.write_count; i++) {
            const struct commit_write *w = &op->commit.writes[i];
            t->success[t->n_success++] =
                w->record.data ? etcd_op_put(a, w->key, w->record) : etcd_op_delete(a, w->key);
        }
    }
    const char *key = key_cause(a, s->board->boot_id, s->number);
    t->success[t->n_success++] = etcd_op_put(a, key, cause_of(s, a));
    assert(t->n_success == s->batch->record_count + 1);
}

static void add_failure_reads(struct slot *s, Etcd__TxnRequest *t, struct arena *a)
{
    const struct batch *batch = s->batch;
    t->failure = ARENA_ARRAY(a, batch->read_count + READ_FIRST, Etcd__RequestOp *);
    t->failure[READ_BOARD_GENERATION] = etcd_op_range(a, key_epoch(a, s->board->board_generation));
    t->failure[READ_SLOT] = etcd_op_range(a, key_cause(a, s->board->boot_id, s->number));
    t->n_failure = READ_FIRST;
    t->failure[READ_BOARD_GENERATION]->request_range->keys_only = true;
    t->failure[READ_SLOT]->request_range->keys_only = true;
    for (size_t i = 0; i < batch->read_count; i++) {
        t->failure[t->n_failure++] = compare_read(a, batch->reads[i]);
    }
}

static void on_txn(struct board *b, void *context, const struct store_answer *answer,
                   struct effects *out);

static void send(struct slot *s, struct effects *out)
{
    struct board *b = s->board;
    assert(s->state == SLOT_IDLE);
    s->sequence++;
    Etcd__TxnRequest *t = arena_message(out->arena, &etcd__txn_request__descriptor);
    add_compares(s, t, out->arena);
    add_writes(s, t, out->arena);
    add_failure_reads(s, t, out->arena);
    s->state = SLOT_FLYING;
    b->flying++;
    assert(b->flying <= b->config.transactions_max);
    b->transactions++;
    store_send(b, STORE_TXN, &t->base, TXN_TIMEOUT_NS, on_txn, s, out);
}

static void make_slot(struct board *b, struct slot *s)
{
    if (s->batch) {
        return;
    }
    s->board = b;
    s->number = (unsigned)(s - b->slots);
    TAILQ_INIT(&s->ops);
    s->batch = mem_zeroed(sizeof(*s->batch));
}

void commits_send(struct board *b, struct effects *out)
{
    while (b->loaded && !TAILQ_EMPTY(&b->ready) && out->count < EFFECTS_ENOUGH) {
        const struct slot *idle = idle_slot(b);
        if (!idle || !worth_sending(b)) {
            return;
        }
        struct slot *s = &b->slots[idle - b->slots];
        make_slot(b, s);
        gather_batch(b, s);
        send(s, out);
    }
}

static void all_failed(struct slot *s, const char *text, struct effects *out)
{
    for (struct op *op; (op = op_list_take(&s->ops));) {
        op_failed(op, text, out);
    }
}

static void all_committed(struct slot *s, int64_t revision, struct effects *out)
{
    assert(revision > 0);
    for (struct op *op; (op = op_list_take(&s->ops));) {
        op_committed(op, revision, out);
    }
}

/* All travel again, before those that came later and in their old order. */
static void all_left(struct slot *s)
{
    struct op *op;
    while ((op = TAILQ_LAST(&s->ops, op_list))) {
        TAILQ_REMOVE(&s->ops, op, link);
        op_left(op);
    }
}

const Etcd__RangeResponse *txn_range(const Etcd__TxnResponse *r, size_t i)
{
    if (i >= r->n_responses ||
        r->responses[i]->response_case != ETCD__RESPONSE_OP__RESPONSE_RESPONSE_RANGE) {
        return NULL;
    }
    return r->responses[i]->response_range;
}

/* What the failure branch read for this compare. */
static const Etcd__RangeResponse *read_for(const struct batch *batch, const Etcd__TxnResponse *r,
                                           const struct compare *c, size_t first)
{
    for (size_t i = 0; i < batch->read_count; i++) {
        if (compare_same_read(batch->reads[i], c)) {
            return txn_range(r, first + i);
        }
    }
    return NULL;
}

bool batch_moved(const struct batch *batch, const struct commit *c, const Etcd__TxnResponse *r,
                 size_t first)
{
    for (size_t i = 0; i < c->compare_count; i++) {
        const Etcd__RangeResponse *found = read_for(batch, r, &c->compares[i], first);
        if (!found || compare_moved(&c->compares[i], found)) {
            return true;
        }
    }
    return false;
}

/* The ops whose reads moved decide again, the rest travels again together. */
static void split(struct slot *s, const Etcd__TxnResponse *r, bool other_reason,
                  struct effects *out)
{
    struct op_list lost = TAILQ_HEAD_INITIALIZER(lost);
    struct op *op, *next;
    for (op = TAILQ_FIRST(&s->ops); op; op = next) {
        next = TAILQ_NEXT(op, link);
        if (batch_moved(s->batch, &op->commit, r, READ_FIRST)) {
            TAILQ_REMOVE(&s->ops, op, link);
            TAILQ_INSERT_TAIL(&lost, op, link);
        }
    }
    if (TAILQ_EMPTY(&lost) && !other_reason) {
        /* It failed and nothing shows why: nobody may try the same for ever. */
        TAILQ_CONCAT(&lost, &s->ops, link);
    }
    all_left(s);
    while ((op = TAILQ_FIRST(&lost))) {
        TAILQ_REMOVE(&lost, op, link);
        op_lost(op, r->header->revision, out);
    }
}

static void on_failure_branch(struct slot *s, const Etcd__TxnResponse *r, struct effects *out)
{
    struct board *b = s->board;
    const Etcd__RangeResponse *board_generation = txn_range(r, READ_BOARD_GENERATION),
                              *slot = txn_range(r, READ_SLOT);
    if (!board_generation || !slot || board_generation->n_kvs == 0) {
        all_failed(s, "the board was restored meanwhile", out);
        board_want_reload(b, BOARD_GENERATION_GONE);
        return;
    }
    int64_t slot_revision = slot->n_kvs ? slot->kvs[0]->mod_revision : 0;
    /* Somebody removed our slots: this bbs was silent for long. */
    bool slot_moved = slot_revision != s->mod_revision;
    s->mod_revision = slot_revision;
    split(s, r, slot_moved, out);
}

static void on_refused(struct slot *s, const struct store_answer *answer, struct effects *out)
{
    struct board *b = s->board;
    if (answer->grpc_status == GRPC_RESOURCE_EXHAUSTED && strstr(store_text(answer), "space")) {
        health_out_of_space(b, out);
    } else {
        effects_log(out, LOG_ERROR_LEVEL, "etcd refused a transaction", "status=%d reason=\"%s\"",
                    answer->grpc_status, store_text(answer));
    }
    all_failed(s, arena_printf(out->arena, "etcd refused the change: %s", store_text(answer)), out);
}

static void on_settled(struct slot *s, int64_t landed_revision, struct effects *out)
{
    s->state = SLOT_IDLE;
    effects_log(out, LOG_INFO_LEVEL, "an unknown outcome was settled", "landed=%s",
                landed_revision > 0 ? "yes" : landed_revision == 0 ? "no" : "unknown");
    if (landed_revision > 0) {
        all_committed(s, landed_revision, out);
    } else if (landed_revision == 0) {
        all_left(s);
    } else {
        all_failed(s, "nobody can know any more whether it was done", out);
    }
}

static void on_txn(struct board *b, void *context, const struct store_answer *answer,
                   struct effects *out)
{
    struct slot *s = context;
    const Etcd__TxnResponse *r = (const Etcd__TxnResponse *)answer->message;
    assert(s->state == SLOT_FLYING && b->flying > 0);
    b->flying--;
    s->state = SLOT_IDLE;
    if (store_certainly_refused(answer)) {
        on_refused(s, answer, out);
    } else if (answer->outcome != STORE_DONE || !r || !r->header) {
        board_trouble(b, store_text(answer), out);
        s->board->settled++;
        slot_settle(s, on_settled, out);
    } else if (r->succeeded) {
        s->mod_revision = r->header->revision;
        all_committed(s, r->header->revision, out);
    } else {
        on_failure_branch(s, r, out);
    }
}

bool commits_idle(const struct board *b)
{
    for (unsigned i = 0; i < b->config.transactions_max; i++) {
        if (b->slots[i].state != SLOT_IDLE) {
            return false;
        }
    }
    return true;
}

void commits_free(struct board *b)
{
    for (unsigned i = 0; i < TRANSACTIONS_MAX; i++) {
        free(b->slots[i].batch);
    }
}
