/* The bounds of the engine: each one reached, what is told there, and that all is well again after
 * (design.md 3.8). The bounds of batches, the ring and selectors stand in test_board_batch.c and
 * test_board_feed.c. */
#include "bbs/board/inside.h"
#include "bbs/route/records.h"
#include "common/contract/cursor.h"
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/board_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bbs_config one = {.url = "https://bbs", .name = "bbs"};

static struct rig *ready_rig(const struct bbs_config *config)
{
    struct rig *r = board_rig_new(1, 1, config, NULL);
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    board_rig_run(r, 100 * MILLISECOND_NS);
    return r;
}

/* ---- ops: each does what its own gather wants, then puts its record ---- */

struct trial {
    struct rig *rig;
    const char *key;
    const ProtobufCMessage *record;
    void (*read)(struct trial *t, struct view *v);
    unsigned gathers;
    unsigned decided, unavailable;
    enum plan_verdict verdict;
    char text[100];
};

static struct trial *trial_of(const struct op_input *in)
{
    return (struct trial *)(size_t)in->peer_name;
}

static void gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct trial *t = trial_of(in);
    t->gathers++;
    if (t->read) {
        t->read(t, v);
    }
}

static void decide(const void *snapshot, const struct op_input *in, struct plan *plan)
{
    const struct trial *t = trial_of(in);
    plan_put(plan, t->key, "upsert", ACTOR_CLIENT, t->record);
}

static const struct op_row row = {
    .name = "trial", .gather = gather, .decide = decide, .snapshot_size = 1};

static void done(void *context, const struct op_result *result, struct effects *out)
{
    struct trial *t = context;
    t->decided += result->end == OP_DECIDED;
    t->unavailable += result->end == OP_UNAVAILABLE;
    t->verdict = result->plan ? result->plan->verdict : PLAN_NOTHING;
    snprintf(t->text, sizeof(t->text), "%s", result->text ? result->text : "");
}

static void ask(struct trial *t, struct effects *out)
{
    const struct op_input in = {.actor = ACTOR_CLIENT, .peer_name = (const char *)t};
    board_op(board_rig_board(t->rig, 0), &row, &in, board_arena(), done, t, out);
}

static void try(struct trial *t, int64_t run_ns)
{
    ask(t, board_rig_begin(t->rig, 0));
    board_rig_end(t->rig, 0);
    board_rig_run(t->rig, run_ns);
}

static const Board__DomainRecord small = BOARD__DOMAIN_RECORD__INIT;

static void ops_open_at_once(void **state)
{
    struct rig *r = ready_rig(&one);
    struct trial many = {.rig = r, .key = "domain/d", .record = &small.base}, last = many;
    board_rig_cut(r, 0, true);
    struct effects *out = board_rig_begin(r, 0);
    for (unsigned i = 0; i < OPS_MAX; i++) {
        ask(&many, out);
    }
    assert_int_equal(many.unavailable, 0);
    ask(&last, out);
    board_rig_end(r, 0);
    assert_int_equal(last.unavailable, 1);
    assert_string_equal(last.text, "too many requests at once");
    board_rig_run(r, 20 * SECOND_NS);
    assert_int_equal(many.unavailable, OPS_MAX);
    board_rig_cut(r, 0, false);
    board_rig_run(r, 20 * SECOND_NS);
    try(&last, SECOND_NS);
    assert_int_equal(last.decided, 1);
    board_rig_free(r);
}

/* As a route does, each of them answers its client. */
static void done_told(void *context, const struct op_result *result, struct effects *out)
{
    done(context, result, out);
    effects_reply(out, 1, 503, "text/plain", bytes_of(result->text ? result->text : "done"));
}

static void ask_told(struct trial *t, struct effects *out)
{
    const struct op_input in = {.actor = ACTOR_CLIENT, .peer_name = (const char *)t};
    board_op(board_rig_board(t->rig, 0), &row, &in, board_arena(), done_told, t, out);
}

/* Each with a record of its own. */
static struct trial *ask_many(struct rig *r, struct arena *a)
{
    struct trial *many = ARENA_ARRAY(a, OPS_MAX, struct trial);
    struct effects *out = board_rig_begin(r, 0);
    for (unsigned i = 0; i < OPS_MAX; i++) {
        many[i] = (struct trial){
            .rig = r, .key = arena_printf(a, "domain/d%u", i), .record = &small.base};
        ask_told(&many[i], out);
    }
    board_rig_end(r, 0);
    return many;
}

static unsigned count_unavailable(const struct trial *many, const char *text)
{
    unsigned count = 0;
    for (unsigned i = 0; i < OPS_MAX; i++) {
        assert_in_range(many[i].decided + many[i].unavailable, 0, 1);
        count += many[i].unavailable && (!text || strcmp(many[i].text, text) == 0);
    }
    return count;
}

/* More than one step may answer. */
static void the_deadline_of_all_ops_at_once(void **state)
{
    struct rig *r = ready_rig(&one);
    SCOPED_ARENA(a);
    board_rig_cut(r, 0, true);
    const struct trial *many = ask_many(r, &a);
    board_rig_run(r, 20 * SECOND_NS);
    assert_int_equal(count_unavailable(many, NULL), OPS_MAX);
    board_rig_free(r);
}

static void a_board_ends_with_all_ops_open(void **state)
{
    struct rig *r = ready_rig(&one);
    SCOPED_ARENA(a);
    board_rig_cut(r, 0, true);
    const struct trial *many = ask_many(r, &a);
    board_rig_free(r);
    assert_int_equal(count_unavailable(many, "this bbs is ending"), OPS_MAX);
}

/* Committed, and not answered yet: the watch has not told. */
static unsigned count_landed(struct rig *r)
{
    unsigned count = 0;
    const struct op *op;
    LIST_FOREACH(op, &board_rig_board(r, 0)->all_ops, all)
    {
        count += op->state == OP_LANDED && !op->answered;
    }
    return count;
}

static void the_board_is_restored_under_all_ops(void **state)
{
    struct rig *r = ready_rig(&(struct bbs_config){.url = "https://bbs", .name = "bbs",
                                                   .transactions_max = TRANSACTIONS_MAX});
    SCOPED_ARENA(a);
    int64_t snapshot = model_etcd_revision(board_rig_etcd(r));
    board_rig_stall_watch(r, 0, true);
    const struct trial *many = ask_many(r, &a);
    while (count_landed(r) < OPS_MAX) {
        board_rig_run(r, MILLISECOND_NS);
        assert_int_equal(count_unavailable(many, NULL), 0);
    }
    board_rig_restore(r, snapshot);
    board_rig_new_board_generation(r, "again");
    board_rig_stall_watch(r, 0, false);
    struct trial last = {.rig = r, .key = "domain/last", .record = &small.base};
    try(&last, SECOND_NS);
    assert_int_equal(count_unavailable(many, "the board was restored meanwhile"), OPS_MAX);
    try(&last, SECOND_NS);
    assert_int_equal(last.decided, 1);
    board_rig_free(r);
}

static void answer_each(void *context, struct view *v, const char *text, struct effects *out)
{
    assert_null(v);
    effects_reply(out, 1, 503, "text/plain", bytes_of(text));
    ++*(unsigned *)context;
}

/* Each of them answers, and all of them are more than one step may answer. */
static void a_board_ends_while_many_wait(void **state)
{
    struct rig *r = ready_rig(&one);
    unsigned ended = 0;
    board_rig_cut(r, 0, true);
    struct effects *out = board_rig_begin(r, 0);
    for (unsigned i = 0; i < BARRIER_WAITERS_MAX; i++) {
        board_barrier(board_rig_board(r, 0), board_arena(), answer_each, &ended, out);
    }
    board_rig_end(r, 0);
    assert_int_equal(ended, 0);
    board_rig_free(r);
    assert_int_equal(ended, BARRIER_WAITERS_MAX);
}

struct readings {
    unsigned passed, failed;
};

static void count_read(void *context, struct view *v, const char *text, struct effects *out)
{
    struct readings *n = context;
    assert_int_equal(v == NULL, text != NULL);
    n->passed += v != NULL;
    n->failed += v == NULL;
}

static void waiters_at_the_barrier(void **state)
{
    struct rig *r = ready_rig(&one);
    struct readings n = {0};
    board_rig_cut(r, 0, true);
    struct effects *out = board_rig_begin(r, 0);
    for (unsigned i = 0; i < BARRIER_WAITERS_MAX; i++) {
        board_barrier(board_rig_board(r, 0), board_arena(), count_read, &n, out);
    }
    assert_int_equal(n.failed, 0);
    board_barrier(board_rig_board(r, 0), board_arena(), count_read, &n, out);
    assert_int_equal(n.failed, 1);
    board_rig_end(r, 0);
    board_rig_cut(r, 0, false);
    board_rig_run(r, 900 * MILLISECOND_NS);
    board_rig_run(r, 10 * SECOND_NS);
    assert_int_equal(n.passed + n.failed, BARRIER_WAITERS_MAX + 1);
    unsigned failed = n.failed;
    board_barrier(board_rig_board(r, 0), board_arena(), count_read, &n, board_rig_begin(r, 0));
    board_rig_end(r, 0);
    board_rig_run(r, SECOND_NS);
    assert_int_equal(n.failed, failed);
    board_rig_free(r);
}

/* A rival that is always faster: it writes what was just read. */
static void read_what_a_rival_writes(struct trial *t, struct view *v)
{
    view_get(v, t->key);
    SCOPED_ARENA(a);
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    Etcd__RequestOp *op = etcd_op_put(&a, t->key, bytes_of("\x01"));
    txn.n_success = 1;
    txn.success = &op;
    board_rig_ask(t->rig, &a, STORE_TXN, &txn.base);
}

static void conflicts_of_one_op(void **state)
{
    struct trial t = {.rig = ready_rig(&one),
                      .key = "domain/d",
                      .record = &small.base,
                      .read = read_what_a_rival_writes};
    try(&t, 3 * SECOND_NS);
    assert_int_equal(t.unavailable, 1);
    assert_string_equal(t.text, "too many conflicts with other changes");
    assert_int_equal(t.gathers, CONFLICTS_MAX + 1);
    board_rig_free(t.rig);
}

static void transactions_under_way(void **state)
{
    struct bbs_config config = one;
    config.transactions_max = 3;
    struct rig *r = ready_rig(&config);
    struct board *b = board_rig_board(r, 0);
    struct trial trials[200];
    char keys[200][16];
    board_rig_faults(r)->delay_ns = 20 * MILLISECOND_NS;
    unsigned most = 0, decided = 0;
    for (unsigned i = 0; i < 200; i++) {
        snprintf(keys[i], sizeof(keys[i]), "domain/%u", i);
        trials[i] = (struct trial){.rig = r, .key = keys[i], .record = &small.base};
        try(&trials[i], 200 * MICROSECOND_NS);
        most = b->flying > most ? b->flying : most;
    }
    board_rig_run(r, 3 * SECOND_NS);
    for (unsigned i = 0; i < 200; i++) {
        decided += trials[i].decided;
    }
    assert_int_equal(most, 3);
    assert_int_equal(decided, 200);
    board_rig_free(r);
    struct board *greedy = board_new(
        &(struct bbs_config){.url = "", .name = "", .transactions_max = TRANSACTIONS_MAX + 1},
        NULL);
    assert_int_equal(greedy->config.transactions_max, TRANSACTIONS_MAX);
    board_free(greedy);
}

/* `count` ops that have nothing to do with each other, asked within one step. */
static void try_together(struct rig *r, struct trial *trials, char (*keys)[16], unsigned first,
                         unsigned count)
{
    struct effects *out = board_rig_begin(r, 0);
    for (unsigned i = first; i < first + count; i++) {
        snprintf(keys[i], sizeof(keys[i]), "domain/%u", i);
        trials[i] = (struct trial){.rig = r, .key = keys[i], .record = &small.base};
        ask(&trials[i], out);
    }
    board_rig_end(r, 0);
}

static void what_waits_for_company(void **state)
{
    struct trial trials[6 + BATCH_WORTH];
    char keys[6 + BATCH_WORTH][16];
    struct rig *r = ready_rig(&one);
    struct board *b = board_rig_board(r, 0);
    /* Nobody answers: the first flies at once, the next wait for as long as they are let. */
    board_rig_cut(r, 0, true);
    try_together(r, trials, keys, 0, 1);
    assert_int_equal(b->flying, 1);
    try_together(r, trials, keys, 1, 5);
    board_rig_run(r, GROUP_WAIT_NS - 1);
    assert_int_equal(b->flying, 1);
    assert_int_equal(b->ready_records, 5);
    board_rig_run(r, 1);
    assert_int_equal(b->flying, 2);
    assert_int_equal(b->ready_records, 0);
    /* A full batch waits for nobody. */
    try_together(r, trials, keys, 6, BATCH_WORTH - 1);
    assert_int_equal(b->flying, 2);
    try_together(r, trials, keys, 6 + BATCH_WORTH - 1, 1);
    assert_int_equal(b->flying, 3);
    assert_int_equal(b->ready_records, 0);
    board_rig_free(r);
}

static void company_shares_the_next_transaction(void **state)
{
    struct trial trials[6];
    char keys[6][16];
    struct rig *r = ready_rig(&one);
    struct board *b = board_rig_board(r, 0);
    board_rig_faults(r)->delay_ns = GROUP_WAIT_NS / 2 - 1; /* the way there, and the way back */
    board_rig_run(r, SECOND_NS);
    uint64_t before = b->transactions;
    try_together(r, trials, keys, 0, 1);
    try_together(r, trials, keys, 1, 5);
    assert_int_equal(b->transactions, before + 1);
    board_rig_run(r, GROUP_WAIT_NS - 1);
    assert_int_equal(b->transactions, before + 2);
    board_rig_run(r, SECOND_NS);
    assert_int_equal(b->transactions, before + 2);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(trials[i].decided, 1);
    }
    board_rig_free(r);
}

/* A domain record of exactly `size` bytes with its version byte. */
static char *domain_of_size(size_t size)
{
    Board__DomainRecord record = BOARD__DOMAIN_RECORD__INIT;
    record.domain = calloc(1, size);
    memset(record.domain, 'x', size - 64);
    size_t more = size - 1 - board__domain_record__get_packed_size(&record);
    memset(record.domain, 'x', size - 64 + more);
    return record.domain;
}

static void the_largest_record(void **state)
{
    Board__DomainRecord record = BOARD__DOMAIN_RECORD__INIT;
    struct trial t = {.rig = ready_rig(&one), .key = "domain/d", .record = &record.base};
    record.domain = domain_of_size(RECORD_MAX_BYTES);
    try(&t, SECOND_NS);
    assert_int_equal(t.decided, 1);
    assert_int_equal(t.verdict, PLAN_COMMIT);
    free(record.domain);
    record.domain = domain_of_size(RECORD_MAX_BYTES + 1);
    try(&t, SECOND_NS);
    assert_int_equal(t.decided, 2);
    assert_int_equal(t.verdict, PLAN_REFUSE);
    free(record.domain);
    board_rig_free(t.rig);
}

/* ---- heartbeats ---- */

static bool heartbeat_cell(struct rig *r, const char *cell)
{
    Board__HeartbeatRequest q = BOARD__HEARTBEAT_REQUEST__INIT;
    Board__CellHeartbeat c = BOARD__CELL_HEARTBEAT__INIT;
    c.cell_id = (char *)(size_t)cell;
    c.incarnation = UINT64_MAX;
    q.cell = &c;
    return board_heartbeat(board_rig_board(r, 0), &q);
}

static bool heartbeat_leader(struct rig *r, const char *role)
{
    Board__HeartbeatRequest q = BOARD__HEARTBEAT_REQUEST__INIT;
    Board__LeaderHeartbeat l = BOARD__LEADER_HEARTBEAT__INIT, *list = &l;
    l.role = (char *)(size_t)role;
    l.term = 1;
    q.n_leaders = 1;
    q.leaders = &list;
    return board_heartbeat(board_rig_board(r, 0), &q);
}

static bool heartbeat_site(struct rig *r, const char *cloudlet)
{
    Board__HeartbeatRequest q = BOARD__HEARTBEAT_REQUEST__INIT;
    Board__SiteHeartbeat site = BOARD__SITE_HEARTBEAT__INIT;
    site.cloudlet = (char *)(size_t)cloudlet;
    site.session = UINT64_MAX;
    q.site = &site;
    return board_heartbeat(board_rig_board(r, 0), &q);
}

/* Heartbeats of as many cells as this bbs hears, with names of this length. */
static unsigned fill_cells(struct rig *r, int length)
{
    char name[300];
    unsigned count = 0;
    do {
        snprintf(name, sizeof(name), "%0*u", length, count);
    } while (heartbeat_cell(r, name) && count++ < 2 * HEARTBEAT_CELLS_MAX);
    snprintf(name, sizeof(name), "%0*u", length, 0);
    assert_true(heartbeat_cell(r, name)); /* who was heard already still is */
    return count;
}

static void sites_in_one_put(void **state)
{
    struct rig *r = ready_rig(&one);
    char name[96];
    for (unsigned i = 0; i < HEARTBEAT_SITES_MAX; i++) {
        snprintf(name, sizeof(name), "organization-of-thirty-one-chars/%031u", i);
        assert_true(heartbeat_site(r, name));
    }
    assert_false(heartbeat_site(r, "another/one"));
    assert_true(heartbeat_site(r, name)); /* who was heard already still is */
    board_rig_run(r, 5 * SECOND_NS);      /* they were put, and there is room again */
    assert_true(heartbeat_site(r, "another/one"));
    board_rig_free(r);
}

static void cells_and_leaders_in_one_put(void **state)
{
    struct rig *r = ready_rig(&one);
    char role[16];
    for (unsigned i = 0; i < HEARTBEAT_LEADERS_MAX; i++) {
        snprintf(role, sizeof(role), "role-%u", i);
        assert_true(heartbeat_leader(r, role));
    }
    assert_false(heartbeat_leader(r, "another"));
    assert_int_equal(fill_cells(r, 8), HEARTBEAT_CELLS_MAX);
    board_rig_run(r, 5 * SECOND_NS);
    assert_true(heartbeat_leader(r, "another")); /* they were put, and there is room again */
    assert_true(heartbeat_cell(r, "another"));
    board_rig_run(r, 5 * SECOND_NS);
    /* With the longest names bytes are the bound; the put is none that etcd refuses. */
    assert_in_range(fill_cells(r, 255), 3000, HEARTBEAT_CELLS_MAX / 2);
    board_rig_run(r, 5 * SECOND_NS);
    assert_true(heartbeat_cell(r, "another"));
    board_rig_free(r);
}

/* ---- the slow list ---- */

static void keys_touched_during_a_pass(void **state)
{
    struct rig *r = ready_rig(&one);
    struct board *b = board_rig_board(r, 0);
    char key[32];
    b->verify.active = true;
    for (unsigned i = 0; i <= TOUCHED_MAX; i++) {
        assert_true(b->verify.active);
        snprintf(key, sizeof(key), "domain/%u", i);
        verify_touched(b, key);
    }
    assert_false(b->verify.active);
    assert_int_equal(b->verify.touched.count, 0);
    assert_true(b->verify.next_ns > b->now.mono_ns);
    board_rig_free(r);
}

/* What a fault of etcd's watch or of ours could leave in the copy. */
static void lose(struct board *b)
{
    version_unref(copy_remove(b->copy, "domain/300"));
}

static void invent(struct board *b)
{
    SCOPED_ARENA(a);
    version_unref(
        copy_put(b->copy, version_new(&a, "domain/300x", bytes_of("\x01"), 2, 2),
                 (struct sighting){0}));
}

static void falsify(struct board *b)
{
    SCOPED_ARENA(a);
    const struct version *right = copied_version(copy_find(b->copy, "domain/300"));
    version_unref(copy_put(b->copy,
                           version_new(&a, "domain/300", bytes_of("\x01\x0a\x01z"),
                                       right->create_revision, right->mod_revision),
                           (struct sighting){0}));
}

static void a_copy_that_differs_is_reported_and_rebuilt(void **state)
{
    static void (*const faults[])(struct board *b) = {lose, invent, falsify};
    struct bbs_config config = one;
    config.verify_interval_ns = 5 * SECOND_NS;
    struct rig *r = ready_rig(&config);
    struct trial t = {.rig = r, .record = &small.base};
    char key[32];
    for (unsigned i = 0; i < 2 * PAGE_RECORDS_FIRST; i++) { /* several pages */
        snprintf(key, sizeof(key), "domain/%u", i);
        t.key = key;
        try(&t, 3 * MILLISECOND_NS);
    }
    board_rig_run(r, 20 * SECOND_NS);
    assert_int_equal(board_rig_logged(r, "the copy of the board differs from etcd"), 0);
    struct board *b = board_rig_board(r, 0);
    size_t count = copy_count(b->copy);
    for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        faults[i](b);
        board_rig_run(r, 10 * SECOND_NS);
        assert_int_equal(board_rig_logged(r, "the copy of the board differs from etcd"), i + 1);
        assert_int_equal(board_rig_logged(r, "the copy of the board is loaded again"), i + 1);
        assert_true(board_ready(b));
        assert_int_equal(copy_count(b->copy), count);
        const struct version *v = copied_version(copy_find(b->copy, "domain/300"));
        assert_int_equal(v->blob->size, 1); /* the empty message behind its version byte */
    }
    board_rig_free(r);
}

/* ---- readers of the feed, and of lists ---- */

static void readers_of_the_feed(void **state)
{
    struct feed *f = feed_new(4, SIZE_MAX);
    struct copy *copy = copy_new();
    feed_reset(f, copy, "e", 1);
    Board__FeedRequest q = BOARD__FEED_REQUEST__INIT;
    Board__Selector s = BOARD__SELECTOR__INIT, *selectors[FEED_SELECTORS_MAX + 1];
    SCOPED_ARENA(arena);
    struct cursor **list = calloc(FEED_READERS_MAX, sizeof(*list));
    for (size_t i = 0; i <= FEED_SELECTORS_MAX; i++) {
        selectors[i] = &s;
    }
    q.selectors = selectors;
    q.n_selectors = FEED_SELECTORS_MAX + 1;
    assert_null(feed_reader(f, &q));
    q.n_selectors = FEED_SELECTORS_MAX;
    assert_non_null(list[0] = feed_reader(f, &q));
    q.n_selectors = 0;
    char *topics[FEED_TOPICS_MAX + 1];
    for (size_t i = 0; i <= FEED_TOPICS_MAX; i++) {
        topics[i] = arena_printf(&arena, "actual/p%zu/", i);
    }
    q.topics = topics;
    q.new_topics = topics + FEED_TOPICS_MAX;
    q.n_topics = FEED_TOPICS_MAX;
    q.n_new_topics = 1;
    assert_null(feed_reader(f, &q));
    q.n_new_topics = 0;
    assert_non_null(list[1] = feed_reader(f, &q));
    q.n_topics = 0;
    for (size_t i = 2; i < FEED_READERS_MAX; i++) {
        assert_non_null(list[i] = feed_reader(f, &q));
    }
    assert_null(feed_reader(f, &q));
    cursor_free(list[0]);
    assert_non_null(list[0] = feed_reader(f, &q));
    for (size_t i = 0; i < FEED_READERS_MAX; i++) {
        cursor_free(list[i]);
    }
    free(list);
    feed_free(f);
    copy_free(copy);
}

/* A list holds references and gives chunks: never the whole answer. */
static void a_list_of_100000_records(void **state)
{
    enum { RECORDS = 100000, BLOBS = 500, BODY = 400 };
    struct blob *blobs[BLOBS];
    char body[1 + BODY];
    memset(body, 1, sizeof(body));
    for (size_t i = 0; i < BLOBS; i++) {
        blobs[i] = blob_new(body, sizeof(body));
    }
    SCOPED_ARENA(arena);
    struct effects out;
    effects_init(&out, &arena);
    struct records *records = records_new(RECORDS);
    for (size_t i = 0; i < RECORDS; i++) {
        records_add(records, (struct blob *const[RECORD_PARTS]){blobs[i % BLOBS]});
    }
    records_answer(records, 1, &out);
    const struct reply *reply = &out.list[0].reply;
    assert_int_equal(reply->size, (int64_t)RECORDS * (1 + 2 + BODY));
    SCOPED_BUF(chunk);
    int64_t size = 0;
    enum cursor_state state_now;
    do {
        buf_clear(&chunk);
        state_now = cursor_fill(reply->cursor, &chunk, CURSOR_CHUNK_BYTES);
        assert_true(chunk.size < CURSOR_CHUNK_BYTES + 1 + 2 + BODY);
        size += (int64_t)chunk.size;
    } while (state_now == CURSOR_MORE);
    assert_int_equal(state_now, CURSOR_END);
    assert_int_equal(size, reply->size);
    cursor_free(reply->cursor);
    for (size_t i = 0; i < BLOBS; i++) {
        assert_int_equal(blobs[i]->references, 1);
        blob_unref(blobs[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_open_at_once),
        cmocka_unit_test(the_deadline_of_all_ops_at_once),
        cmocka_unit_test(a_board_ends_with_all_ops_open),
        cmocka_unit_test(the_board_is_restored_under_all_ops),
        cmocka_unit_test(a_board_ends_while_many_wait),
        cmocka_unit_test(waiters_at_the_barrier),
        cmocka_unit_test(conflicts_of_one_op),
        cmocka_unit_test(transactions_under_way),
        cmocka_unit_test(what_waits_for_company),
        cmocka_unit_test(company_shares_the_next_transaction),
        cmocka_unit_test(the_largest_record),
        cmocka_unit_test(cells_and_leaders_in_one_put),
        cmocka_unit_test(sites_in_one_put),
        cmocka_unit_test(keys_touched_during_a_pass),
        cmocka_unit_test(a_copy_that_differs_is_reported_and_rebuilt),
        cmocka_unit_test(readers_of_the_feed),
        cmocka_unit_test(a_list_of_100000_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
