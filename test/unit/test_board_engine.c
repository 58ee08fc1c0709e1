/* The engine under single, chosen faults: what is told when, and that it recovers by itself. */
#include "bbs/board/engine.h"
#include "test/unit/board_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct bbs_config one = {.url = "https://bbs", .name = "bbs"};

/* ---- one op: puts domain/<name>, whatever stands there ---- */

struct asked {
    Board__DomainRecord request;
    struct op_input in;
    bool nothing; /* decide to do nothing */
    bool notice;  /* and to tell a rep */
    unsigned answers;
    struct op_result result;
    enum plan_verdict verdict;
    char text[200];
};

struct shot {
    const char *key;
};

static struct asked *asked_of(const struct op_input *in)
{
    return (struct asked *)(size_t)in->peer_name;
}

static void gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct shot *s = snapshot;
    s->key = key_domain(view_arena(v), ((const Board__DomainRecord *)in->request)->domain);
    view_get(v, s->key);
}

static void decide(const void *snapshot, const struct op_input *in, struct plan *plan)
{
    if (asked_of(in)->notice) {
        plan_notice_stop(plan, "web", "a", "c1");
    }
    if (!asked_of(in)->nothing) {
        plan_put(plan, ((const struct shot *)snapshot)->key, "upsert", ACTOR_CLIENT, in->request);
    }
}

/* Reads nothing: nothing but the cause slot tells a second landing from the first. */
static void gather_blindly(struct view *v, const struct op_input *in, void *snapshot)
{
    struct shot *s = snapshot;
    s->key = key_domain(view_arena(v), ((const Board__DomainRecord *)in->request)->domain);
}

static const struct op_row blind_row = {.name = "blind",
                                        .gather = gather_blindly,
                                        .decide = decide,
                                        .snapshot_size = sizeof(struct shot)};
static const struct op_row row = {
    .name = "put", .gather = gather, .decide = decide, .snapshot_size = sizeof(struct shot)};
static const struct op_row repeat_row = {
    .name = "repeat",
    .gather = gather,
    .decide = decide,
    .snapshot_size = sizeof(struct shot),
    .nothing_without_barrier = true,
};

static void done(void *context, const struct op_result *result, struct effects *out)
{
    struct asked *a = context;
    (void)out;
    a->answers++;
    a->result = *result;
    a->verdict = result->plan ? result->plan->verdict : PLAN_NOTHING;
    const char *text = result->text                                ? result->text
                       : a->verdict == PLAN_REFUSE ? result->plan->error_message
                                                                   : "";
    snprintf(a->text, sizeof(a->text), "%s", text);
}

static void ask_row(struct rig *r, unsigned n, struct asked *a, const char *domain,
                    const struct op_row *by)
{
    a->answers = 0;
    board__domain_record__init(&a->request);
    a->request.domain = (char *)(size_t)domain;
    a->in = (struct op_input){.actor = ACTOR_CLIENT,
                              .peer_name = (const char *)a,
                              .trace_id = "t",
                              .request = &a->request.base};
    struct effects *out = board_rig_begin(r, n);
    board_op(board_rig_board(r, n), by, &a->in, board_arena(), done, a, out);
    board_rig_end(r, n);
}

static void ask(struct rig *r, unsigned n, struct asked *a, const char *domain)
{
    ask_row(r, n, a, domain, &row);
}

static int64_t mod_revision(struct rig *r, const char *key)
{
    struct arena a;
    arena_init(&a);
    Etcd__RangeRequest q = ETCD__RANGE_REQUEST__INIT;
    q.key = (ProtobufCBinaryData){.len = strlen(key), .data = (uint8_t *)(size_t)key};
    const Etcd__RangeResponse *f =
        (const Etcd__RangeResponse *)board_rig_ask(r, &a, STORE_RANGE, &q.base);
    int64_t revision = f->n_kvs ? f->kvs[0]->mod_revision : 0;
    arena_done(&a);
    return revision;
}

static int64_t count_prefix(struct rig *r, const char *prefix)
{
    struct arena a;
    arena_init(&a);
    Etcd__RangeRequest q = ETCD__RANGE_REQUEST__INIT;
    const char *end = key_range_end(&a, prefix);
    q.key = (ProtobufCBinaryData){.len = strlen(prefix), .data = (uint8_t *)(size_t)prefix};
    q.range_end = (ProtobufCBinaryData){.len = strlen(end), .data = (uint8_t *)(size_t)end};
    q.count_only = true;
    int64_t count =
        ((const Etcd__RangeResponse *)board_rig_ask(r, &a, STORE_RANGE, &q.base))->count;
    arena_done(&a);
    return count;
}

static void put_raw(struct rig *r, const char *key, struct bytes value)
{
    struct arena a;
    arena_init(&a);
    Etcd__PutRequest put = ETCD__PUT_REQUEST__INIT;
    Etcd__RequestOp op = ETCD__REQUEST_OP__INIT, *list = &op;
    Etcd__TxnRequest t = ETCD__TXN_REQUEST__INIT;
    put.key = (ProtobufCBinaryData){.len = strlen(key), .data = (uint8_t *)(size_t)key};
    put.value = (ProtobufCBinaryData){.len = value.size, .data = (uint8_t *)(size_t)value.data};
    op.request_case = ETCD__REQUEST_OP__REQUEST_REQUEST_PUT;
    op.request_put = &put;
    t.n_success = 1;
    t.success = &list;
    board_rig_ask(r, &a, STORE_TXN, &t.base);
    arena_done(&a);
}

static void put_record(struct rig *r, const char *key, const ProtobufCMessage *m)
{
    struct buf b;
    buf_init(&b);
    record_encode(&b, m);
    put_raw(r, key, buf_bytes(&b));
    buf_done(&b);
}

static struct rig *ready_rig(unsigned boards, const struct board_hooks *hooks)
{
    struct rig *r = board_rig_new(1, boards, &one, hooks);
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    return r;
}

/* ---- commits ---- */

static void a_commit_answers_with_its_revision(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    struct asked a = {0};
    ask(r, 0, &a, "d");
    board_rig_run(r, 100 * MILLISECOND_NS);
    assert_int_equal(a.answers, 1);
    assert_int_equal(a.result.end, OP_DECIDED);
    assert_int_equal(a.verdict, PLAN_COMMIT);
    assert_int_equal(a.result.revision, mod_revision(r, "domain/d"));
    board_rig_free(r);
}

static void a_lost_answer_is_settled_as_landed(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    struct asked a = {0};
    board_rig_faults(r)->answer_lost = 1000;
    ask(r, 0, &a, "d");
    board_rig_run(r, SECOND_NS);
    board_rig_faults(r)->answer_lost = 0;
    assert_int_equal(a.answers, 0); /* never guessed at */
    board_rig_run(r, 3 * SECOND_NS);
    assert_int_equal(a.answers, 1);
    assert_int_equal(a.result.end, OP_DECIDED);
    assert_int_equal(a.result.revision, mod_revision(r, "domain/d"));
    board_rig_free(r);
}

static void a_lost_request_is_voided_and_tried_again(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    struct asked a = {0};
    board_rig_faults(r)->lost = 1000;
    ask(r, 0, &a, "d");
    board_rig_run(r, SECOND_NS);
    board_rig_faults(r)->lost = 0;
    assert_int_equal(mod_revision(r, "domain/d"), 0);
    board_rig_run(r, 3 * SECOND_NS);
    assert_int_equal(a.result.end, OP_DECIDED);
    assert_int_equal(a.result.revision, mod_revision(r, "domain/d"));
    board_rig_free(r);
}

static void a_late_request_never_lands_once_it_is_voided(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        struct rig *r = board_rig_new(100 + i, 1, &one, NULL);
        assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
        struct asked a = {0};
        board_rig_faults(r)->late = 1000; /* arrives within 4 s after it was given up */
        ask_row(r, 0, &a, "d", &blind_row);
        board_rig_run(r, 50 * MILLISECOND_NS);
        board_rig_faults(r)->late = 0;
        board_rig_run(r, 20 * SECOND_NS);
        assert_int_equal(a.answers, 1);
        assert_int_equal(a.result.end, OP_DECIDED);
        /* Landed once: the record is still the first version of itself. */
        assert_int_equal(a.result.revision, mod_revision(r, "domain/d"));
        board_rig_free(r);
    }
}

static void an_op_is_answered_after_5_s_whatever_happens(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    struct asked a = {0}, b = {0};
    board_rig_cut(r, 0, true);
    ask(r, 0, &a, "d");
    board_rig_run(r, 4900 * MILLISECOND_NS);
    assert_int_equal(a.answers, 0);
    board_rig_run(r, 200 * MILLISECOND_NS);
    assert_int_equal(a.answers, 1);
    assert_int_equal(a.result.end, OP_UNAVAILABLE);
    board_rig_cut(r, 0, false);
    board_rig_run(r, 20 * SECOND_NS);
    assert_int_equal(a.answers, 1);
    ask(r, 0, &b, "d"); /* all is well again */
    board_rig_run(r, SECOND_NS);
    assert_int_equal(b.result.end, OP_DECIDED);
    assert_int_equal(board_rig_logged(r, "waiting for etcd"), 1);
    assert_int_equal(board_rig_logged(r, "etcd answers again"), 1);
    board_rig_free(r);
}

static void a_commit_does_not_wait_for_a_lagging_watch(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    struct asked a = {0};
    board_rig_stall_watch(r, 0, true);
    ask(r, 0, &a, "d");
    board_rig_run(r, 150 * MILLISECOND_NS);
    assert_int_equal(a.answers, 0);
    board_rig_run(r, 100 * MILLISECOND_NS);
    assert_int_equal(a.answers, 1);
    assert_int_equal(a.result.end, OP_DECIDED);
    /* A copy more than 5 s behind is rebuilt. */
    board_rig_run(r, 6 * SECOND_NS);
    assert_true(board_rig_logged(r, "the copy of the board is loaded anew") > 0);
    board_rig_free(r);
}

static void a_record_too_large_is_an_invalid_request(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    struct asked a = {0};
    char *huge = malloc(RECORD_MAX_BYTES + 1);
    memset(huge, 'x', RECORD_MAX_BYTES);
    huge[RECORD_MAX_BYTES] = 0;
    ask(r, 0, &a, huge);
    board_rig_run(r, SECOND_NS);
    assert_int_equal(a.result.end, OP_DECIDED);
    assert_int_equal(a.verdict, PLAN_REFUSE);
    assert_string_equal(a.text, "a record is larger than 1 MiB");
    board_rig_free(r);
    free(huge);
}

static void count_notice(void *context, const struct notice *n, const char *trace_id,
                         struct effects *out)
{
    (void)out;
    assert_int_equal(n->kind, NOTICE_STOP);
    assert_string_equal(trace_id, "t");
    ++*(unsigned *)context;
}

/* A stop that is asked for again finds its mark there: the rep may have missed the first notice. */
static void a_notice_is_given_once_also_when_nothing_is_to_be_committed(void **state)
{
    (void)state;
    unsigned notices = 0;
    struct rig *r =
        ready_rig(1, &(struct board_hooks){.context = &notices, .on_notice = count_notice});
    struct asked first = {.notice = true}, again = {.notice = true, .nothing = true};
    ask(r, 0, &first, "d");
    board_rig_run(r, 100 * MILLISECOND_NS);
    assert_int_equal(notices, 1);
    ask(r, 0, &again, "d");
    board_rig_run(r, 100 * MILLISECOND_NS);
    assert_int_equal(again.verdict, PLAN_NOTHING);
    assert_int_equal(notices, 2);
    board_rig_stall_watch(r, 0, true); /* answered after 200 ms, finished much later */
    ask(r, 0, &first, "d");
    board_rig_run(r, 300 * MILLISECOND_NS);
    assert_int_equal(notices, 3);
    board_rig_stall_watch(r, 0, false);
    board_rig_run(r, 20 * SECOND_NS);
    assert_int_equal(notices, 3);
    board_rig_free(r);
}

/* ---- the barrier ---- */

static void an_answer_that_commits_nothing_passes_the_barrier(void **state)
{
    (void)state;
    struct rig *r = ready_rig(2, NULL);
    struct asked a = {.nothing = true}, repeat = {.nothing = true};
    board_rig_stall_watch(r, 0, true);
    Board__DomainRecord x = BOARD__DOMAIN_RECORD__INIT;
    put_record(r, "domain/x", &x.base);
    ask(r, 0, &a, "d");
    ask_row(r, 0, &repeat, "d", &repeat_row);
    assert_int_equal(repeat.answers, 1); /* a rep that repeats itself need not wait */
    board_rig_run(r, 900 * MILLISECOND_NS);
    assert_int_equal(a.answers, 0);
    board_rig_run(r, 200 * MILLISECOND_NS);
    assert_int_equal(a.result.end, OP_UNAVAILABLE); /* not there within 1 s */
    board_rig_stall_watch(r, 0, false);
    board_rig_run(r, 10 * MILLISECOND_NS);
    ask(r, 0, &a, "d");
    board_rig_run(r, 100 * MILLISECOND_NS);
    assert_int_equal(a.answers, 1);
    assert_int_equal(a.result.end, OP_DECIDED);
    assert_true(a.result.revision >= mod_revision(r, "domain/x"));
    board_rig_free(r);
}

/* ---- loading ---- */

static void without_etcd_a_bbs_waits_and_says_so_once(void **state)
{
    (void)state;
    struct rig *r = board_rig_new(1, 1, &one, NULL);
    board_rig_cut(r, 0, true);
    board_rig_run(r, 60 * SECOND_NS);
    assert_false(board_ready(board_rig_board(r, 0)));
    assert_int_equal(board_rig_logged(r, "waiting for etcd"), 1);
    struct asked a = {0};
    ask(r, 0, &a, "d");
    assert_int_equal(a.result.end, OP_UNAVAILABLE);
    board_rig_cut(r, 0, false);
    assert_true(board_rig_run_ready(r, 11 * SECOND_NS));
    board_rig_free(r);
}

static void two_first_starts_make_one_epoch(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 30; seed++) {
        struct rig *r = board_rig_new(seed, 3, &one, NULL);
        assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
        assert_int_equal(count_prefix(r, "epoch/"), 1);
        assert_string_equal(board_epoch(board_rig_board(r, 0)), board_epoch(board_rig_board(r, 1)));
        assert_string_equal(board_epoch(board_rig_board(r, 0)), board_epoch(board_rig_board(r, 2)));
        board_rig_free(r);
    }
}

static void strangers_in_etcd_are_told_loudly(void **state)
{
    (void)state;
    struct rig *r = board_rig_new(1, 1, &one, NULL);
    put_raw(r, "registry/pods/x", bytes_of("y"));
    put_raw(r, "registry/pods/z", bytes_of("y"));
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    /* One prefix, told at each load: before and after the epoch is made. */
    assert_int_equal(
        board_rig_logged(r, "etcd holds keys that are not ours: give Corkboard an etcd of its own"),
        2);
    board_rig_free(r);
}

/* ---- beats ---- */

static bool beat(struct rig *r, const char *cell)
{
    Board__BeatRequest q = BOARD__BEAT_REQUEST__INIT;
    Board__CellBeat c = BOARD__CELL_BEAT__INIT;
    c.cell_id = (char *)(size_t)cell;
    c.session = 7;
    q.cell = &c;
    return board_beat(board_rig_board(r, 0), &q);
}

/* The bbs's beat record on the board. */
static const Board__BeatRecord *told(struct rig *r, struct arena *a)
{
    struct view *v = board_view(board_rig_board(r, 0), a);
    const struct seen *s = view_peek(v, key_beat(a, board_boot_id(board_rig_board(r, 0))));
    assert_non_null(s);
    return (const Board__BeatRecord *)s->message;
}

static size_t told_cells(struct rig *r)
{
    struct arena a;
    arena_init(&a);
    size_t count = told(r, &a)->n_cells;
    arena_done(&a);
    return count;
}

static void a_beat_tells_the_raft_term_of_etcds_last_answer(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct rig *r = ready_rig(1, NULL);
    board_rig_run(r, 3 * SECOND_NS);
    uint64_t before = told(r, &a)->raft_term;
    assert_true(before > 0);
    model_etcd_elect(board_rig_etcd(r));
    board_rig_run(r, 4 * SECOND_NS); /* the next put sees it, the one after that tells it */
    assert_int_equal(told(r, &a)->raft_term, before + 1);
    board_rig_free(r);
    arena_done(&a);
}

static void beats_are_put_every_2_s_and_refused_when_unconfirmed(void **state)
{
    (void)state;
    struct rig *r = board_rig_new(1, 1, &one, NULL);
    assert_false(beat(r, "c1")); /* nothing was ever confirmed */
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    board_rig_run(r, 100 * MILLISECOND_NS);
    assert_true(beat(r, "c1"));
    assert_true(beat(r, "c2"));
    board_rig_run(r, 2 * SECOND_NS);
    assert_int_equal(told_cells(r), 2);
    board_rig_run(r, 2 * SECOND_NS);
    assert_int_equal(told_cells(r), 0); /* not heard since */
    assert_true(beat(r, "c3"));
    board_rig_cut(r, 0, true);
    board_rig_run(r, 1900 * MILLISECOND_NS);
    assert_true(beat(r, "c3"));
    board_rig_run(r, 2500 * MILLISECOND_NS);
    assert_false(beat(r, "c3"));
    board_rig_cut(r, 0, false);
    board_rig_run(r, 5 * SECOND_NS);
    assert_true(beat(r, "c4"));
    board_rig_free(r);
}

static void a_leaders_beat_is_put_soon(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    board_rig_run(r, 2100 * MILLISECOND_NS); /* one was just put: the next is due in 1.9 s or so */
    Board__LeadBeat lead = BOARD__LEAD_BEAT__INIT, *leaders[] = {&lead};
    Board__BeatRequest q = BOARD__BEAT_REQUEST__INIT;
    lead.role = (char *)(size_t)"auctioneer";
    lead.term = 7;
    q.n_leaders = 1;
    q.leaders = leaders;
    assert_true(board_beat(board_rig_board(r, 0), &q));
    struct asked step = {0};
    ask(r, 0, &step, "d"); /* a beat comes within a step, which says when the next is due */
    board_rig_run(r, 300 * MILLISECOND_NS);
    struct arena a;
    arena_init(&a);
    assert_int_equal(told(r, &a)->n_leaders, 1);
    arena_done(&a);
    board_rig_free(r);
}

static void a_silent_bbs_is_swept_and_a_stopped_one_takes_its_keys_back(void **state)
{
    (void)state;
    struct rig *r = ready_rig(2, NULL);
    struct asked a = {0};
    ask(r, 1, &a, "d");
    board_rig_run(r, 100 * MILLISECOND_NS);
    board_rig_restart(r, 1); /* as kill -9: its first life's keys stay */
    board_rig_run(r, 5 * SECOND_NS);
    assert_int_equal(count_prefix(r, "beat/"), 3);
    assert_int_equal(count_prefix(r, "cause/"), 1);
    board_rig_run(r, 640 * SECOND_NS);
    assert_int_equal(count_prefix(r, "beat/"), 2);
    assert_int_equal(count_prefix(r, "cause/"), 0);
    ask(r, 1, &a, "d");
    board_rig_run(r, 100 * MILLISECOND_NS);
    board_rig_stop(r, 1);
    board_rig_run(r, 500 * MILLISECOND_NS);
    assert_true(board_rig_exited(r, 1));
    assert_int_equal(count_prefix(r, "beat/"), 1);
    assert_int_equal(count_prefix(r, "cause/"), 0);
    board_rig_cut(r, 0, true);
    board_rig_stop(r, 0); /* and without etcd within 2 s */
    board_rig_run(r, 2100 * MILLISECOND_NS);
    assert_true(board_rig_exited(r, 0));
    board_rig_free(r);
}

/* It died between its first transaction and its first beat. */
static void causes_without_a_beat_are_swept(void **state)
{
    (void)state;
    struct rig *r = ready_rig(2, NULL);
    Board__CauseRecord cause = BOARD__CAUSE_RECORD__INIT;
    struct asked asked[2] = {0};
    ask(r, 0, &asked[0], "d");
    ask(r, 1, &asked[1], "e");
    put_record(r, "cause/0-first/0", &cause.base);
    put_record(r, "cause/0-first/1", &cause.base);
    put_record(r, "cause/9~last/0", &cause.base);
    board_rig_run(r, 590 * SECOND_NS);
    assert_int_equal(count_prefix(r, "cause/0-first/"), 2);
    board_rig_run(r, 100 * SECOND_NS);
    assert_int_equal(count_prefix(r, "cause/0-first/"), 0);
    board_rig_run(r, 800 * SECOND_NS);
    assert_int_equal(count_prefix(r, "cause/9~last/"), 0);
    assert_int_equal(count_prefix(r, "cause/"), 2); /* those of the living stay */
    board_rig_free(r);
}

/* ---- jobs: each slice raises the cursor, the last one deletes the job ---- */

static void slice_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    const char *key = key_job(view_arena(v), ((const Board__JobRecord *)in->request)->id);
    *(const struct seen **)snapshot = view_get(v, key);
}

static void slice_decide(const void *snapshot, const struct op_input *in, struct plan *plan)
{
    const struct seen *s = *(const struct seen *const *)snapshot;
    (void)in;
    if (!s) {
        return;
    }
    Board__JobRecord *job = arena_copy(plan->arena, s->message, sizeof(*job));
    if (++job->cursor == job->end) {
        plan_delete(plan, s->key, "finish", ACTOR_BBS);
    } else {
        plan_put(plan, s->key, "advance", ACTOR_BBS, &job->base);
    }
}

static const struct op_row slice_row = {
    .name = "slice",
    .gather = slice_gather,
    .decide = slice_decide,
    .snapshot_size = sizeof(struct seen *),
};

static const struct op_row *job_row(void *context, const Board__JobRecord *job)
{
    (void)context;
    return job->kind == BOARD__JOB_RECORD__KIND__CREATE_INSTANCES ? &slice_row : NULL;
}

static void put_job(struct rig *r, const char *worker, int64_t not_before)
{
    Board__JobRecord job = BOARD__JOB_RECORD__INIT;
    job.id = (char *)"j";
    job.kind = BOARD__JOB_RECORD__KIND__CREATE_INSTANCES;
    job.end = 10;
    job.worker = (char *)(size_t)worker;
    job.not_before = not_before;
    put_record(r, "job/j", &job.base);
}

static void jobs_run_at_their_worker_and_are_taken_over_when_it_is_silent(void **state)
{
    (void)state;
    struct rig *r = ready_rig(2, &(struct board_hooks){.job_row = job_row});
    put_job(r, board_boot_id(board_rig_board(r, 0)), 0);
    board_rig_run(r, 200 * MILLISECOND_NS);
    assert_int_equal(mod_revision(r, "job/j"), 0);

    put_job(r, "nobody", 0);
    board_rig_run(r, 5900 * MILLISECOND_NS);
    assert_true(mod_revision(r, "job/j") > 0);
    board_rig_run(r, 500 * MILLISECOND_NS);
    assert_int_equal(mod_revision(r, "job/j"), 0);

    int64_t wall_ns = board_now(board_rig_board(r, 0)).wall_ns;
    put_job(r, board_boot_id(board_rig_board(r, 0)), wall_ns + 3 * SECOND_NS);
    board_rig_run(r, 2500 * MILLISECOND_NS);
    assert_true(mod_revision(r, "job/j") > 0);
    board_rig_run(r, SECOND_NS);
    assert_int_equal(mod_revision(r, "job/j"), 0);
    board_rig_free(r);
}

/* ---- health ---- */

static void old_history_is_compacted(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    board_rig_run(r, 290 * SECOND_NS);
    assert_int_equal(model_etcd_compacted(board_rig_etcd(r)), 0);
    board_rig_run(r, 20 * SECOND_NS);
    int64_t compacted = model_etcd_compacted(board_rig_etcd(r));
    assert_true(compacted > 0);
    /* Beats alone make a revision each 2 s: at least 2 minutes are kept. */
    assert_true(model_etcd_revision(board_rig_etcd(r)) - compacted >= 60);
    board_rig_free(r);
}

static void out_of_quota_is_read_only_until_space_is_freed(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    struct arena arena;
    arena_init(&arena);
    Etcd__AlarmRequest q = ETCD__ALARM_REQUEST__INIT;
    q.action = ETCD__ALARM_REQUEST__ALARM_ACTION__ACTIVATE;
    q.alarm = ETCD__ALARM_TYPE__NOSPACE;
    q.memberid = 1;
    board_rig_ask(r, &arena, STORE_ALARM, &q.base);
    arena_done(&arena);
    struct asked a = {0}, b = {.nothing = true};
    ask(r, 0, &a, "d");
    board_rig_run(r, 20 * MILLISECOND_NS);
    assert_int_equal(a.result.end, OP_UNAVAILABLE);
    assert_true(board_read_only(board_rig_board(r, 0)));
    ask(r, 0, &b, "d"); /* reads go on */
    board_rig_run(r, 10 * MILLISECOND_NS);
    assert_int_equal(b.answers, 1);
    assert_int_equal(b.result.end, OP_DECIDED);
    board_rig_run(r, 5 * SECOND_NS);
    assert_false(board_read_only(board_rig_board(r, 0)));
    assert_int_equal(board_rig_calls(r, STORE_DEFRAGMENT), 1);
    ask(r, 0, &a, "d");
    board_rig_run(r, SECOND_NS);
    assert_int_equal(a.result.end, OP_DECIDED);
    board_rig_free(r);
}

static void the_slow_list_finds_nothing_wrong_in_a_copy_that_is_right(void **state)
{
    (void)state;
    struct bbs_config config = one;
    config.verify_interval_ns = 5 * SECOND_NS;
    struct rig *r = board_rig_new(3, 1, &config, NULL);
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    char name[16];
    struct asked *asked = calloc(1500, sizeof(*asked));
    for (unsigned i = 0; i < 1500; i++) {
        snprintf(name, sizeof(name), "d%u", i % 700);
        ask(r, 0, &asked[i], name);
        board_rig_run(r, 20 * MILLISECOND_NS);
    }
    assert_int_equal(board_rig_logged(r, "the copy of the board differs from etcd"), 0);
    assert_int_equal(board_rig_logged(r, "the copy of the board is loaded anew"), 0);
    board_rig_free(r);
    free(asked);
}

static void another_epoch_means_everything_anew(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    Board__EpochRecord e = BOARD__EPOCH_RECORD__INIT;
    e.id = (char *)"restored";
    put_record(r, "epoch/restored", &e.base);
    board_rig_run(r, SECOND_NS);
    assert_true(board_rig_run_ready(r, 5 * SECOND_NS));
    assert_string_equal(board_epoch(board_rig_board(r, 0)), "restored");
    struct asked a = {0};
    ask(r, 0, &a, "d");
    board_rig_run(r, SECOND_NS);
    assert_int_equal(a.result.end, OP_DECIDED);
    board_rig_free(r);
}

/* ---- pages of a long list ---- */

/* The pages' size after one of so many records in so many bytes. */
static int64_t after_page(struct page_size *p, size_t records, size_t bytes)
{
    Etcd__KeyValue kv = ETCD__KEY_VALUE__INIT, **list = calloc(records, sizeof(*list));
    Etcd__RangeResponse page = ETCD__RANGE_RESPONSE__INIT;
    kv.value.len = bytes / records;
    for (size_t i = 0; i < records; i++) {
        list[i] = &kv;
    }
    page.n_kvs = records;
    page.kvs = list;
    page_size_answered(p, &page);
    free(list);
    return p->records;
}

static void pages_grow_and_shrink(void **state)
{
    (void)state;
    struct page_size p;
    page_size_init(&p, LOAD_PAGE_BYTES);
    assert_int_equal(p.records, PAGE_RECORDS_FIRST);
    assert_int_equal(after_page(&p, 512, 512 * 100), PAGE_RECORDS_MAX);
    assert_int_equal(after_page(&p, 512, 512 * 16383), 512);
    assert_int_equal(after_page(&p, 4, 4 << 20), PAGE_RECORDS_MIN);
    const Etcd__RangeResponse empty = ETCD__RANGE_RESPONSE__INIT;
    page_size_answered(&p, &empty);
    assert_int_equal(p.records, PAGE_RECORDS_MIN);
    page_size_init(&p, READ_PAGE_BYTES);
    assert_true(page_size_shrink(&p));
    assert_int_equal(p.records, 128);
    assert_int_equal(after_page(&p, 128, 128), 128);
    assert_true(page_size_shrink(&p));
    assert_int_equal(p.records, PAGE_RECORDS_MIN);
    assert_false(page_size_shrink(&p));
    page_size_first(&p);
    assert_int_equal(p.records, PAGE_RECORDS_MIN);
}

enum { LARGE_RECORDS = 600, LARGE_BYTES = 10005 };

/* Records of nothing but one field that nobody knows. */
static void put_large(struct rig *r, const char *prefix)
{
    static const uint8_t head[] = {1, 0x82, 0x7d, 0x90, 0x4e}; /* version; field 2000, 10,000 bytes */
    uint8_t *value = calloc(1, LARGE_BYTES);
    memcpy(value, head, sizeof(head));
    for (unsigned i = 0; i < LARGE_RECORDS; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%s%04u", prefix, i);
        put_raw(r, key, (struct bytes){.data = value, .size = LARGE_BYTES});
        board_rig_run(r, 10 * MILLISECOND_NS);
    }
    free(value);
}

static const size_t large_answer = (PAGE_RECORDS_MIN + 1) * (LARGE_BYTES + 100);

/* The first pages are too large for an answer, the last are not. */
static void a_board_of_large_records_is_loaded(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    put_large(r, "domain/");
    board_rig_faults(r)->answer_bytes = large_answer;
    board_rig_restart(r, 0);
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    Board__BoardState shown = BOARD__BOARD_STATE__INIT;
    board_state(board_rig_board(r, 0), &shown);
    assert_true(shown.records >= LARGE_RECORDS);
    board_rig_free(r);
}

/* The same of the slow list: a change that the watch never told is found behind them. */
static void a_board_of_large_records_is_verified(void **state)
{
    (void)state;
    struct bbs_config config = one;
    config.verify_interval_ns = 20 * SECOND_NS;
    struct rig *r = board_rig_new(7, 1, &config, NULL);
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    put_large(r, "domain/");
    board_rig_faults(r)->answer_bytes = large_answer;
    struct board *b = board_rig_board(r, 0);
    board_rig_run(r, 30 * SECOND_NS);
    assert_int_equal(board_rig_logged(r, "the copy of the board differs from etcd"), 0);
    struct version *untold = copy_remove(b->copy, "domain/0599");
    assert_non_null(untold);
    version_unref(untold);
    board_rig_run(r, 30 * SECOND_NS);
    assert_int_equal(board_rig_logged(r, "the copy of the board differs from etcd"), 1);
    board_rig_free(r);
}

struct read_outside {
    unsigned answers;
    size_t records;
    bool failed;
};

static void on_read(void *context, const struct outside *list, size_t count, const char *text,
                    struct effects *out)
{
    struct read_outside *got = context;
    (void)list, (void)out;
    got->answers++;
    got->records = count;
    got->failed = text != NULL;
}

static void read_runs(struct rig *r, struct read_outside *got)
{
    static const char *const keys[] = {"run/web/"};
    struct arena *a = malloc(sizeof(*a));
    *got = (struct read_outside){0};
    arena_init(a);
    struct board *b = board_rig_board(r, 0);
    board_fetch(b, a, keys, 1, 0, on_read, got, board_rig_begin(r, 0));
    board_rig_end(r, 0);
    board_rig_run(r, 5 * SECOND_NS);
}

/* What the copy does not keep is read the same way; what is too large at any size is told. */
static void large_records_outside_the_copy_are_read(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    struct read_outside got;
    put_large(r, "run/web/");
    board_rig_faults(r)->answer_bytes = large_answer;
    read_runs(r, &got);
    assert_int_equal(got.answers, 1);
    assert_false(got.failed);
    assert_int_equal(got.records, LARGE_RECORDS);
    board_rig_faults(r)->answer_bytes = LARGE_BYTES;
    read_runs(r, &got);
    assert_int_equal(got.answers, 1);
    assert_true(got.failed);
    board_rig_free(r);
}

/* A bbs that was not told of the restore: what it holds is of a history that never was. It says so
 * and serves nothing until the epoch is made anew. */
static void an_etcd_that_went_back_is_waited_out(void **state)
{
    (void)state;
    struct rig *r = ready_rig(2, NULL);
    struct asked early = {0}, late = {0};
    ask(r, 0, &early, "early");
    board_rig_run(r, 100 * MILLISECOND_NS);
    int64_t snapshot = model_etcd_revision(board_rig_etcd(r));
    ask(r, 1, &late, "late");
    board_rig_run(r, 10 * SECOND_NS);
    board_rig_restore(r, snapshot);
    board_rig_run(r, 5 * SECOND_NS);
    assert_false(board_ready(board_rig_board(r, 0)));
    assert_false(board_ready(board_rig_board(r, 1)));
    assert_int_equal(board_rig_logged(
                         r, "etcd was restored to an older revision: run `bbs restore`"), 2);
    struct asked refused = {0};
    ask(r, 0, &refused, "refused");
    assert_int_equal(refused.result.end, OP_UNAVAILABLE);
    assert_int_equal(model_etcd_revision(board_rig_etcd(r)), snapshot); /* and nothing is written */

    board_rig_new_epoch(r, "anew");
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    assert_string_equal(board_epoch(board_rig_board(r, 0)), "anew");
    assert_string_equal(board_epoch(board_rig_board(r, 1)), "anew");
    assert_int_equal(count_prefix(r, "epoch/"), 1);
    assert_int_equal(count_prefix(r, "domain/"), 1);
    ask(r, 0, &late, "late");
    board_rig_run(r, SECOND_NS);
    assert_int_equal(late.result.end, OP_DECIDED);
    assert_int_equal(count_prefix(r, "domain/"), 2);
    board_rig_free(r);
}

/* A domain that came back with a restore counts only once it is upserted again. */
static void a_restored_domain_is_of_another_epoch(void **state)
{
    (void)state;
    struct rig *r = ready_rig(1, NULL);
    struct asked a = {0};
    ask(r, 0, &a, "d");
    board_rig_run(r, SECOND_NS);
    struct arena arena;
    arena_init(&arena);
    struct board *b = board_rig_board(r, 0);
    assert_true(view_domain_seen(board_view(b, &arena), "domain/d").in_this_epoch);
    assert_false(view_domain_seen(board_view(b, &arena), "domain/none").in_this_epoch);
    int64_t snapshot = model_etcd_revision(board_rig_etcd(r));
    board_rig_run(r, 3 * SECOND_NS);
    board_rig_restore(r, snapshot);
    board_rig_new_epoch(r, "anew");
    board_rig_run(r, SECOND_NS);
    assert_true(board_rig_run_ready(r, 5 * SECOND_NS));
    assert_false(view_domain_seen(board_view(b, &arena), "domain/d").in_this_epoch);
    ask(r, 0, &a, "d");
    board_rig_run(r, SECOND_NS);
    assert_true(view_domain_seen(board_view(b, &arena), "domain/d").in_this_epoch);
    /* Nor does a bbs that was started after the restore believe it. */
    board_rig_new_epoch(r, "again");
    board_rig_restart(r, 0);
    assert_true(board_rig_run_ready(r, 5 * SECOND_NS));
    assert_false(view_domain_seen(board_view(board_rig_board(r, 0), &arena), "domain/d")
                     .in_this_epoch);
    arena_done(&arena);
    board_rig_free(r);
}

/* Counts how often the record was put: so its ttl_s is etcd's own count of versions, unless a
 * decision was made from what the record is not. */
struct count_shot {
    const char *key;
    uint32_t puts;
};

static void gather_count(struct view *v, const struct op_input *in, void *snapshot)
{
    struct count_shot *s = snapshot;
    s->key = key_domain(view_arena(v), ((const Board__DomainRecord *)in->request)->domain);
    const struct seen *seen = view_get(v, s->key);
    s->puts = seen ? ((const Board__DomainRecord *)seen->message)->ttl_s : 0;
}

static void decide_count(const void *snapshot, const struct op_input *in, struct plan *plan)
{
    const struct count_shot *s = snapshot;
    Board__DomainRecord *d = arena_copy(plan->arena, in->request, sizeof(*d));
    d->ttl_s = s->puts + 1;
    plan_put(plan, s->key, "upsert", ACTOR_CLIENT, &d->base);
}

static const struct op_row count_row = {.name = "count",
                                        .gather = gather_count,
                                        .decide = decide_count,
                                        .snapshot_size = sizeof(struct count_shot)};

/* Adds up what was counted. */
static int64_t counts_right(struct rig *r)
{
    struct arena a;
    arena_init(&a);
    int64_t sum = 0;
    Etcd__RangeRequest q = ETCD__RANGE_REQUEST__INIT;
    q.key = (ProtobufCBinaryData){.len = 7, .data = (uint8_t *)(size_t)"domain/"};
    q.range_end = (ProtobufCBinaryData){.len = 7, .data = (uint8_t *)(size_t)"domain0"};
    const Etcd__RangeResponse *f =
        (const Etcd__RangeResponse *)board_rig_ask(r, &a, STORE_RANGE, &q.base);
    for (size_t i = 0; i < f->n_kvs; i++) {
        ProtobufCMessage *m;
        struct bytes value = {.data = f->kvs[i]->value.data, .size = f->kvs[i]->value.len};
        assert_int_equal(record_decode(&a, RECORD_DOMAIN, value, &m, NULL), 0);
        assert_int_equal(((Board__DomainRecord *)m)->ttl_s, f->kvs[i]->version);
        sum += f->kvs[i]->version;
    }
    arena_done(&a);
    return sum;
}

/* Whatever an op waits for when the board is restored, it is decided on the restored board or not
 * done: revisions that repeat are never taken for those that were read. */
static void ops_that_a_restore_interrupts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct rig *r = board_rig_new(seed, 2, &one, NULL);
        assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
        board_rig_faults(r)->delay_ns = 20 * MILLISECOND_NS;
        board_rig_faults(r)->watch_lag_ns = 20 * MILLISECOND_NS;
        struct asked asked[40] = {0};
        char names[40][8];
        int64_t snapshot = model_etcd_revision(board_rig_etcd(r));
        for (unsigned i = 0; i < 40; i++) {
            snprintf(names[i], sizeof(names[i]), "d%u", (unsigned)i % 3);
            ask_row(r, i % 2, &asked[i], names[i], &count_row);
            board_rig_run(r, (int64_t)random_below(board_rig_random(r), 8 * MILLISECOND_NS));
            if (i == 20) {
                snapshot = model_etcd_revision(board_rig_etcd(r));
            }
        }
        int64_t counted = counts_right(r);
        board_rig_restore(r, snapshot);
        assert_true(counts_right(r) < counted);
        board_rig_run(r, (int64_t)random_below(board_rig_random(r), 100 * MILLISECOND_NS));
        board_rig_new_epoch(r, "anew");
        board_rig_run(r, 8 * SECOND_NS);
        assert_true(board_rig_run_ready(r, 5 * SECOND_NS));
        for (unsigned i = 0; i < 40; i++) {
            assert_int_equal(asked[i].answers, 1);
        }
        counts_right(r);
        for (unsigned n = 0; n < 2; n++) {
            assert_string_equal(board_epoch(board_rig_board(r, n)), "anew");
            ask(r, n, &asked[n], "after");
            board_rig_run(r, SECOND_NS);
            assert_int_equal(asked[n].result.end, OP_DECIDED);
        }
        board_rig_free(r);
    }
}

/* Answers overtake one another, and the watch overtakes answers: none of it is a restore. */
static void answers_out_of_order_are_no_restore(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rig *r = board_rig_new(seed, 2, &one, NULL);
        assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
        board_rig_faults(r)->delay_ns = 100 * MILLISECOND_NS;
        board_rig_faults(r)->late = 50;
        struct asked asked[200] = {0};
        for (unsigned i = 0; i < 200; i++) {
            asked[i].nothing = i % 4 == 0; /* passes the barrier */
            ask(r, i % 2, &asked[i], "d");
            board_rig_run(r, (int64_t)random_below(board_rig_random(r), 50 * MILLISECOND_NS));
        }
        board_rig_run(r, 6 * SECOND_NS);
        assert_int_equal(board_rig_logged(r, "the copy of the board is loaded anew"), 0);
        board_rig_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_answers_with_its_revision),
        cmocka_unit_test(a_lost_answer_is_settled_as_landed),
        cmocka_unit_test(a_lost_request_is_voided_and_tried_again),
        cmocka_unit_test(a_late_request_never_lands_once_it_is_voided),
        cmocka_unit_test(an_op_is_answered_after_5_s_whatever_happens),
        cmocka_unit_test(a_commit_does_not_wait_for_a_lagging_watch),
        cmocka_unit_test(a_record_too_large_is_an_invalid_request),
        cmocka_unit_test(a_notice_is_given_once_also_when_nothing_is_to_be_committed),
        cmocka_unit_test(an_answer_that_commits_nothing_passes_the_barrier),
        cmocka_unit_test(without_etcd_a_bbs_waits_and_says_so_once),
        cmocka_unit_test(two_first_starts_make_one_epoch),
        cmocka_unit_test(strangers_in_etcd_are_told_loudly),
        cmocka_unit_test(a_beat_tells_the_raft_term_of_etcds_last_answer),
        cmocka_unit_test(beats_are_put_every_2_s_and_refused_when_unconfirmed),
        cmocka_unit_test(a_leaders_beat_is_put_soon),
        cmocka_unit_test(a_silent_bbs_is_swept_and_a_stopped_one_takes_its_keys_back),
        cmocka_unit_test(causes_without_a_beat_are_swept),
        cmocka_unit_test(jobs_run_at_their_worker_and_are_taken_over_when_it_is_silent),
        cmocka_unit_test(old_history_is_compacted),
        cmocka_unit_test(out_of_quota_is_read_only_until_space_is_freed),
        cmocka_unit_test(the_slow_list_finds_nothing_wrong_in_a_copy_that_is_right),
        cmocka_unit_test(another_epoch_means_everything_anew),
        cmocka_unit_test(pages_grow_and_shrink),
        cmocka_unit_test(a_board_of_large_records_is_loaded),
        cmocka_unit_test(a_board_of_large_records_is_verified),
        cmocka_unit_test(large_records_outside_the_copy_are_read),
        cmocka_unit_test(an_etcd_that_went_back_is_waited_out),
        cmocka_unit_test(a_restored_domain_is_of_another_epoch),
        cmocka_unit_test(ops_that_a_restore_interrupts),
        cmocka_unit_test(answers_out_of_order_are_no_restore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
