/* The op: gather, decide, commit, answer; on conflict gather again (design.md 3.3). Ops with one
 * target take turns, in order of arrival. */
#include "bbs/board/inside.h"
#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Ops with one target: the first holds the turn, the others wait. */
struct turn {
    struct op *holder;
    struct op_list waiting;
    char target[];
};

static void queue(struct op *op)
{
    assert(!op->turn || op->turn->holder == op);
    op->state = OP_QUEUED;
    TAILQ_INSERT_TAIL(&op->board->queued, op, link);
}

static void take_turn(struct op *op, const char *target)
{
    struct board *b = op->board;
    struct turn *t = map_get(&b->turns, target);
    if (t) {
        op->turn = t;
        op->state = OP_TURN;
        TAILQ_INSERT_TAIL(&t->waiting, op, link);
        return;
    }
    t = mem_zeroed(sizeof(*t) + strlen(target) + 1);
    strcpy(t->target, target);
    TAILQ_INIT(&t->waiting);
    t->holder = op;
    op->turn = t;
    map_put(&b->turns, target, t);
    queue(op);
}

static void give_turn(struct op *op)
{
    struct turn *t = op->turn;
    op->turn = NULL;
    if (!t || t->holder != op) {
        return;
    }
    t->holder = TAILQ_FIRST(&t->waiting);
    if (t->holder) {
        TAILQ_REMOVE(&t->waiting, t->holder, link);
        queue(t->holder);
    } else {
        const struct turn *removed = map_remove(&op->board->turns, t->target);
        assert(removed == t);
        free(t);
    }
}

/* Takes it out of whatever list its state has it in. */
static void unlist(struct op *op)
{
    struct board *b = op->board;
    if (op->state == OP_TURN) {
        TAILQ_REMOVE(&op->turn->waiting, op, link);
    } else if (op->state == OP_QUEUED) {
        TAILQ_REMOVE(&b->queued, op, link);
    } else if (op->state == OP_CONFIRM) {
        TAILQ_REMOVE(&b->unconfirmed, op, link);
    } else if (op->state == OP_READY) {
        TAILQ_REMOVE(&b->ready, op, link);
        assert(b->ready_records >= op->commit.write_count);
        b->ready_records -= op->commit.write_count;
    }
}

/* The end: it is answered, and nothing of it is under way. */
static void finish(struct op *op)
{
    struct board *b = op->board;
    assert(op->answered);
    unlist(op);
    op->state = OP_OVER;
    await_stop(&b->awaits, &op->life);
    await_stop(&b->awaits, &op->wait);
    give_turn(op);
    LIST_REMOVE(op, all);
    assert(b->op_count > 0);
    b->op_count--;
    struct arena *arena = op->arena; /* the op itself lives there */
    arena_done(arena);
    free(arena);
}

static void answer(struct op *op, enum op_end end, int64_t revision, const char *text,
                   struct effects *out)
{
    if (op->answered) {
        return;
    }
    op->answered = true;
    await_stop(&op->board->awaits, &op->life);
    struct op_result result = {
        .end = end,
        .plan = end == OP_DECIDED ? op->plan : NULL,
        .revision = revision,
        .text = text,
        .may_have_done =
            end == OP_UNAVAILABLE && (op->state == OP_FLYING || op->state == OP_LANDED),
    };
    op->done(op->context, &result, out);
}

void op_failed(struct op *op, const char *text, struct effects *out)
{
    answer(op, OP_UNAVAILABLE, op->board->revision, text, out);
    finish(op);
}

/* Once an op: whom its plan wants to know of it. */
static void tell(struct op *op, struct effects *out)
{
    struct board *b = op->board;
    for (const struct notice *n = op->plan->notices; n && !op->notified; n = n->next) {
        if (b->hooks.on_notice) {
            b->hooks.on_notice(b->hooks.context, n, op->in.trace_id, out);
        }
    }
    op->notified = true;
}

/* Nothing was to be committed; a stop that is asked for again is reported again. */
static void decided(struct op *op, struct effects *out)
{
    answer(op, OP_DECIDED, op->board->revision, NULL, out);
    tell(op, out);
    finish(op);
}

/* The op's 5 s are over. What is under way goes on without it: a transaction's slot stays busy
 * until its outcome is known. */
static void on_deadline(struct await *a, bool reached, struct effects *out)
{
    (void)reached;
    struct op *op = a->owner;
    answer(op, OP_UNAVAILABLE, op->board->revision, "not done within 5 s", out);
    bool under_way = op->state == OP_FLYING || op->state == OP_CONFIRMING || op->state == OP_LANDED;
    if (!under_way) {
        finish(op);
    }
}

/* ---- what an op waits for ---- */

/* Its answer was not confirmed, or the copy not there, within 1 s. */
static void on_unconfirmed(struct op *op, struct effects *out)
{
    static const char text[] = "the board is not as fresh as its store";
    if (op->state == OP_CONFIRMING) {
        answer(op, OP_UNAVAILABLE, op->board->revision, text, out);
    } else {
        op_failed(op, text, out);
    }
}

static const char restored[] = "the board was restored meanwhile";

static bool of_another_board_generation(const struct op *op)
{
    return op->board_generation_number != op->board->board_generation_number;
}

/* After a commit: answered when the watch has passed its revision, or after 200 ms from the
 * transaction's own result; the turn goes on only with the watch (design.md 2). */
static void on_landed(struct op *op, bool reached, struct effects *out)
{
    struct board *b = op->board;
    if (of_another_board_generation(op)) {
        op_failed(op, restored, out);
        return;
    }
    assert(op->revision > 0);
    bool first = op->wait.deadline_ns - op->landed_ns == WATCH_PATIENCE_NS;
    answer(op, OP_DECIDED, op->revision, NULL, out);
    tell(op, out);
    if (reached || !first) {
        finish(op);
    } else {
        await_start(&b->awaits, &op->wait, op->revision, op->landed_ns + 2 * BEHIND_MAX_NS);
    }
}

static void on_wait(struct await *a, bool reached, struct effects *out)
{
    struct op *op = a->owner;
    if (op->state == OP_LANDED) {
        on_landed(op, reached, out);
        return;
    }
    if (!reached) {
        on_unconfirmed(op, out);
        return;
    }
    assert(op->state == OP_CATCH_UP);
    queue(op);
}

/* ---- gather and decide ---- */

/* A record that a range did not show is made only where none stands: the range's own compare says
 * that nothing is newer than what it showed, and the copy may have missed something older. */
static void note_creations(const struct plan *plan, struct read_set *reads)
{
    for (const struct change *p = plan->changes; p; p = p->next) {
        bool in_range = false, read = !p->message;
        for (size_t i = 0; i < reads->count && !read; i++) {
            const struct compare *c = &reads->list[i];
            read = !compare_is_range(c->kind) && strcmp(c->key, p->key) == 0;
            in_range |= c->kind == COMPARE_NOTHING_NEWER &&
                        strncmp(p->key, c->key, strlen(c->key)) == 0;
        }
        if (in_range && !read) {
            read_set_add(reads, COMPARE_ABSENT, p->key, 0);
        }
    }
}

/* Encodes the plan's records. Gives why it cannot travel, or NULL. */
static const char *make_commit(struct op *op, const struct read_set *reads)
{
    struct commit *c = &op->commit;
    *c = (struct commit){.compares = reads->list, .compare_count = reads->count};
    struct commit_write *writes =
        ARENA_ARRAY(op->arena, op->plan->change_count, struct commit_write);
    const char *fault = NULL;
    for (const struct change *p = op->plan->changes; p; p = p->next) {
        struct commit_write *w = &writes[c->write_count++];
        w->key = p->key;
        if (p->message) {
            w->record = record_encoded(op->arena, p->message);
        }
        if (w->record.size > RECORD_MAX_BYTES) {
            fault = "a record is larger than 1 MiB";
        }
        /* The cause has the key once more, with the move, the trace and the text. */
        c->bytes += 2 * strlen(p->key) + w->record.size + strlen(p->move) + strlen(p->text) +
                    strlen(op->in.trace_id ? op->in.trace_id : "") + 64;
    }
    assert(c->write_count == op->plan->change_count);
    c->writes = writes;
    return fault ? fault : commit_too_large(c);
}

static void commit(struct op *op, struct read_set *reads, struct effects *out)
{
    struct board *b = op->board;
    note_creations(op->plan, reads);
    const char *fault = make_commit(op, reads);
    if (fault) {
        plan_refuse(op->plan, MODELS__ERROR__TYPE__InvalidRequest, "%s", fault);
        decided(op, out);
        return;
    }
    if (b->health.read_only) {
        op_failed(op, "etcd is out of quota: only reads until space is freed", out);
        return;
    }
    assert(op->state == OP_CATCH_UP && op->commit.write_count > 0);
    op->state = OP_READY;
    op->ready_ns = b->now.mono_ns;
    b->ready_records += op->commit.write_count;
    TAILQ_INSERT_TAIL(&b->ready, op, link);
}

static bool same_reads(const struct reads_seen *seen, const struct compare *list, size_t count)
{
    if (!seen->list || seen->count != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!compare_equal(&seen->list[i], &list[i])) {
            return false;
        }
    }
    return true;
}

void op_unconfirmed(struct op *op)
{
    struct board *b = op->board;
    assert(op->state == OP_CATCH_UP || op->state == OP_CONFIRMING);
    op->state = OP_CONFIRM;
    TAILQ_INSERT_TAIL(&b->unconfirmed, op, link);
    if (!op->wait.waiting) { /* another try of the same answer has no second more */
        await_start(&b->awaits, &op->wait, NEVER_NS, b->now.mono_ns + BARRIER_TIMEOUT_NS);
    }
}

/* The plan commits nothing: that is said once etcd has confirmed what it was decided from. */
static void confirm(struct op *op, const struct read_set *reads, struct effects *out)
{
    op->commit = (struct commit){.compares = reads->list, .compare_count = reads->count};
    if (commit_too_large(&op->commit)) {
        op->commit.compare_count = 0; /* only that the copy is fresh: no decision reads so much */
    }
    if (same_reads(&op->confirmed, op->commit.compares, op->commit.compare_count)) {
        decided(op, out);
    } else if (op->confirmed.list && ++op->conflicts > CONFLICTS_MAX) {
        op_failed(op, "too many conflicts with other changes", out);
    } else {
        op_unconfirmed(op);
    }
}

static void run(struct op *op, struct effects *out)
{
    struct board *b = op->board;
    struct read_set reads;
    read_set_init(&reads, op->arena);
    struct view view = {.board = b, .arena = op->arena, .reads = &reads};
    op->board_generation_number = b->board_generation_number;
    op->in.now = b->now;
    op->in.boot_id = b->boot_id;
    op->in.random = &op->random;
    random_seed(&op->random, (uint64_t[2]){random_next(&b->random), random_next(&b->random)});
    void *snapshot = arena_alloc(op->arena, op->row->snapshot_size);
    op->row->gather(&view, &op->in, snapshot);
    op->plan = ARENA_NEW(op->arena, struct plan);
    plan_init(op->plan, op->arena);
    op->row->decide(snapshot, &op->in, op->plan);
    assert((op->plan->verdict == PLAN_COMMIT) == (op->plan->change_count > 0));
    if (op->plan->verdict == PLAN_COMMIT) {
        commit(op, &reads, out);
    } else if (op->plan->verdict == PLAN_NOTHING && op->row->nothing_unconfirmed) {
        decided(op, out);
    } else {
        confirm(op, &reads, out);
    }
}

void ops_run(struct board *b, struct effects *out)
{
    struct op *op;
    while (b->loaded && (op = TAILQ_FIRST(&b->queued))) {
        if (out->count >= EFFECTS_ENOUGH) {
            effects_due(out, b->now.mono_ns);
            return;
        }
        assert(op->state == OP_QUEUED);
        TAILQ_REMOVE(&b->queued, op, link);
        op->state = OP_CATCH_UP; /* in no list */
        run(op, out);
    }
}

static void gather_again(struct op *op)
{
    await_stop(&op->board->awaits, &op->wait);
    unlist(op);
    op->confirmed.list = op->refused.list = NULL;
    queue(op);
}

/* All may have landed and none be answered, which is more than a step may answer: they are woken as
 * late ones are, some in each step. */
void ops_new_board_generation(struct board *b)
{
    struct op *op;
    LIST_FOREACH(op, &b->all_ops, all)
    {
        if (op->state == OP_QUEUED || op->state == OP_READY || op->state == OP_CONFIRM ||
            (op->state == OP_CATCH_UP && op->wait.waiting)) {
            gather_again(op);
        } else if (op->state == OP_LANDED) {
            await_start(&b->awaits, &op->wait, NEVER_NS, b->now.mono_ns);
        }
    }
}

/* ---- how its transaction ended ---- */

void op_committed(struct op *op, int64_t revision, struct effects *out)
{
    struct board *b = op->board;
    assert(op->state == OP_FLYING && revision > 0);
    op->state = OP_LANDED;
    if (of_another_board_generation(op)) {
        op_failed(op, restored, out);
        return;
    }
    op->revision = revision;
    op->landed_ns = b->now.mono_ns;
    await_start(&b->awaits, &op->wait, revision, b->now.mono_ns + WATCH_PATIENCE_NS);
}

static struct reads_seen reads_of(const struct op *op)
{
    static const struct compare none;
    const struct commit *c = &op->commit;
    return (struct reads_seen){.list = c->compare_count ? c->compares : &none,
                               .count = c->compare_count};
}

void op_confirmed(struct op *op, int64_t revision)
{
    assert(op->state == OP_CONFIRMING);
    op->state = OP_CATCH_UP;
    if (op->answered) {
        finish(op);
    } else if (of_another_board_generation(op)) {
        gather_again(op);
    } else {
        op->confirmed = reads_of(op);
        await_start(&op->board->awaits, &op->wait, revision, op->wait.deadline_ns);
    }
}

void op_lost(struct op *op, int64_t revision, struct effects *out)
{
    struct board *b = op->board;
    assert(op->state == OP_FLYING || op->state == OP_CONFIRMING);
    op->state = OP_CATCH_UP;
    b->conflicts++;
    /* The copy had the revision of the first refusal when the same was read again: it may be wrong.
     */
    if (same_reads(&op->refused, op->commit.compares, op->commit.compare_count)) {
        verify_soon(b);
    }
    op->refused = reads_of(op);
    if (op->answered || ++op->conflicts > CONFLICTS_MAX) {
        op_failed(op, "too many conflicts with other changes", out);
        return;
    }
    if (of_another_board_generation(op)) {
        gather_again(op);
        return;
    }
    await_start(&b->awaits, &op->wait, revision, NEVER_NS);
}

void op_left(struct op *op)
{
    struct board *b = op->board;
    assert(op->state == OP_FLYING);
    op->state = OP_CATCH_UP;
    if (op->answered) {
        finish(op);
        return;
    }
    if (of_another_board_generation(op)) {
        gather_again(op);
        return;
    }
    op->state = OP_READY;
    b->ready_records += op->commit.write_count;
    TAILQ_INSERT_HEAD(&b->ready, op, link);
}

/* ---- from outside ---- */

static void refuse_op(struct board *b, struct arena *arena, op_done *done, void *context,
                      const char *text, struct effects *out)
{
    struct op_result result = {.end = OP_UNAVAILABLE, .revision = b->revision, .text = text};
    done(context, &result, out);
    arena_done(arena);
    free(arena);
}

void op_start(struct board *b, const struct op_row *row, const struct op_input *in,
              struct arena *arena, op_done *done, void *context, struct effects *out)
{
    b->ops++;
    if (!b->loaded || b->ending || b->stop_ns || b->op_count >= OPS_MAX) {
        const char *text = b->op_count >= OPS_MAX ? "too many requests at once"
                           : b->loaded            ? "this bbs is ending"
                                                  : "the board is not loaded yet";
        refuse_op(b, arena, done, context, text, out);
        return;
    }
    struct op *op = ARENA_NEW(arena, struct op);
    op->board = b;
    op->arena = arena;
    op->row = row;
    op->in = *in;
    op->done = done;
    op->context = context;
    op->id = ++b->last_id;
    op->life.wake = on_deadline;
    op->wait.wake = on_wait;
    op->life.owner = op->wait.owner = op;
    LIST_INSERT_HEAD(&b->all_ops, op, all);
    b->op_count++;
    assert(b->op_count <= OPS_MAX);
    await_start(&b->awaits, &op->life, NEVER_NS, b->now.mono_ns + OP_DEADLINE_NS);
    const char *target = row->target ? row->target(arena, &op->in) : NULL;
    if (target) {
        take_turn(op, target);
    } else {
        queue(op);
    }
}

void ops_free(struct board *b, struct effects *nowhere)
{
    struct op *op;
    while ((op = LIST_FIRST(&b->all_ops))) {
        op_failed(op, "this bbs is ending", nowhere);
        effects_forget(nowhere);
    }
}
