/* Ops inside an op: a leader's op of a kind of its own, whose plan desires, updates and removes
 * DesiredLRPs. All of it is committed in one transaction, or nothing. */
#include "bbs/board/nested.h"
#include "bbs/board/speaker.h"
#include "bbs/lrp/desired.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/board_asks.h"

#include <string.h>

struct trial {
    struct rig *rig;
    struct arena arena;
    struct nested_op ops[NESTED_OPS_MAX];
    size_t count;
    Board__Move *move; /* the leader's */
    unsigned answers;
    enum plan_verdict verdict;
    Models__Error__Type error;
};

/* ---- The op, which keeps its own account in domain/rolled ------------------------------------ */

struct roll_snapshot {
    struct speaker by;
    struct nested_op ops[NESTED_OPS_MAX];
    size_t count;
};

static struct trial *now_tried;

static void roll_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct roll_snapshot *s = snapshot;
    speaker_gather(v, in, &s->by);
    view_get(v, key_domain(view_arena(v), "rolled"));
    memcpy(s->ops, now_tried->ops, sizeof(s->ops));
    s->count = now_tried->count;
    nested_gather(v, in, s->ops, s->count);
}

static void roll_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct roll_snapshot *s = snapshot;
    if (!speaker_authorised(&s->by, in, p)) {
        return;
    }
    Board__DomainRecord *own = arena_message(p->arena, &board__domain_record__descriptor);
    plan_put(p, key_domain(p->arena, "rolled"), "upsert", in->actor, &own->base);
    nested_decide(s->ops, s->count, in, p);
}

static const struct op_row roll = {.name = "roll",
                                   .gather = roll_gather,
                                   .decide = roll_decide,
                                   .snapshot_size = sizeof(struct roll_snapshot)};

/* ---- What it is asked ------------------------------------------------------------------------ */

static void add(struct trial *t, const struct op_row *row, const ProtobufCMessage *request)
{
    t->ops[t->count++] = (struct nested_op){.row = row, .request = request};
}

static Models__DesiredLRP *definition(struct trial *t, const char *guid, const char *text)
{
    Models__DesiredLRP *d = row_desired(&t->arena, text);
    d->process_guid = arena_strdup(&t->arena, guid);
    return d;
}

static void desire(struct trial *t, const char *guid, const char *text)
{
    Models__DesireLRPRequest *r = arena_message(&t->arena, &models__desire_lrprequest__descriptor);
    r->desired_lrp = definition(t, guid, text);
    add(t, &desire_row, &r->base);
}

static void scale(struct trial *t, const char *guid, int32_t instances)
{
    Models__UpdateDesiredLRPRequest *r = ARENA_NEW(&t->arena, Models__UpdateDesiredLRPRequest);
    models__update_desired_lrprequest__init(r);
    r->process_guid = arena_strdup(&t->arena, guid);
    r->update = arena_message(&t->arena, &models__desired_lrpupdate__descriptor);
    r->update->optional_instances_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
    r->update->instances = instances;
    add(t, &update_row, &r->base);
}

static void remove_desired(struct trial *t, const char *guid, const char *replaced_by)
{
    Models__RemoveDesiredLRPRequest *r = ARENA_NEW(&t->arena, Models__RemoveDesiredLRPRequest);
    models__remove_desired_lrprequest__init(r);
    r->process_guid = arena_strdup(&t->arena, guid);
    r->replaced_by = arena_strdup(&t->arena, replaced_by);
    add(t, &remove_row, &r->base);
}

static const struct op_row *job_row(void *context, const Board__JobRecord *job)
{
    (void)context, (void)job;
    return &instances_job_row;
}

static const struct board_hooks hooks = {.job_row = job_row};

/* `old` stands with two instances, of which one runs; the converger leads. */
static struct trial *trial_new(void)
{
    struct trial *t = test_calloc(1, sizeof(*t));
    arena_init(&t->arena);
    t->rig = ready_rig(1, &hooks);
    put_record(t->rig, "desired/old", &definition(t, "old", "instances=2 def=D1")->base);
    for (int32_t index = 0; index < 2; index++) {
        Models__ActualLRP *record =
            row_actual(&t->arena, index ? "UNCLAIMED" : "RUNNING a@c1 def=D1", index, 0);
        record->actual_lrp_key->process_guid = arena_strdup(&t->arena, "old");
        put_record(t->rig, key_actual(&t->arena, "old", index, 0), &record->base);
    }
    Board__LeaderLockRecord leader_lock = BOARD__LEADER_LOCK_RECORD__INIT;
    put_record(t->rig, "lead/converger", &leader_lock.base);
    board_rig_run(t->rig, 100 * MILLISECOND_NS);
    t->move = move_new(&t->arena, "roll", "domain/rolled");
    row_speaker(&t->arena,
                arena_printf(&t->arena, "role=converger term=%lld",
                             (long long)mod_revision(t->rig, "lead/converger")),
                t->move);
    t->move->term->board_generation =
        arena_strdup(&t->arena, board_generation(board_rig_board(t->rig, 0)));
    now_tried = t;
    return t;
}

static void trial_free(struct trial *t)
{
    board_rig_free(t->rig);
    arena_done(&t->arena);
    test_free(t);
}

static void done(void *context, const struct op_result *result, struct effects *out)
{
    struct trial *t = context;
    assert_int_equal(result->end, OP_DECIDED);
    t->answers++;
    t->verdict = result->plan->verdict;
    t->error = result->plan->error_type;
}

static void start(struct trial *t)
{
    const struct op_input in = {
        .actor = ACTOR_CONVERGER, .peer_name = "", .trace_id = "", .request = &t->move->base};
    struct effects *out = board_rig_begin(t->rig, 0);
    board_op(board_rig_board(t->rig, 0), &roll, &in, board_arena(), done, t, out);
    board_rig_end(t->rig, 0);
}

static void run(struct trial *t)
{
    start(t);
    board_rig_run(t->rig, 3 * SECOND_NS);
    assert_int_equal(t->answers, 1);
}

static void expect_nothing_done(struct trial *t, Models__Error__Type error)
{
    assert_int_equal(t->verdict, PLAN_REFUSE);
    assert_int_equal(t->error, error);
    assert_int_equal(mod_revision(t->rig, "domain/rolled"), 0);
    assert_int_equal(mod_revision(t->rig, "desired/new"), 0);
    assert_int_equal(count_prefix(t->rig, "actual/"), 2);
    assert_int_equal(count_prefix(t->rig, "removal/"), 0);
    assert_int_equal(count_prefix(t->rig, "desired/"), 1);
}

/* ---- Trials ---------------------------------------------------------------------------------- */

static void all_of_it_is_committed_at_once(void **state)
{
    struct trial *t = trial_new();
    desire(t, "new", "instances=3");
    scale(t, "old", 1);
    run(t);
    assert_int_equal(t->verdict, PLAN_COMMIT);
    int64_t revision = mod_revision(t->rig, "domain/rolled");
    assert_true(revision > 0);
    assert_int_equal(mod_revision(t->rig, "desired/new"), revision);
    assert_int_equal(mod_revision(t->rig, "desired/old"), revision);
    for (int32_t index = 0; index < 3; index++) {
        const char *key = key_actual(&t->arena, "new", index, 0);
        assert_int_equal(mod_revision(t->rig, key), revision);
    }
    assert_int_equal(mod_revision(t->rig, key_actual(&t->arena, "old", 1, 0)), 0);
    assert_int_equal(count_prefix(t->rig, "removal/old/"), 1);
    trial_free(t);
}

static void one_that_refuses_leaves_nothing(void **state)
{
    for (int unknown_first = 0; unknown_first < 2; unknown_first++) {
        struct trial *t = trial_new();
        if (unknown_first) {
            remove_desired(t, "unknown", "");
        }
        desire(t, "new", "instances=1");
        remove_desired(t, "old", "");
        if (!unknown_first) {
            remove_desired(t, "unknown", "");
        }
        run(t);
        expect_nothing_done(t, MODELS__ERROR__TYPE__ResourceNotFound);
        trial_free(t);
    }
}

/* Each is decided from the board as it stands: none sees what another one does. */
static void none_sees_what_another_one_does(void **state)
{
    struct trial *t = trial_new();
    desire(t, "new", "instances=1");
    remove_desired(t, "old", "new");
    run(t);
    expect_nothing_done(t, MODELS__ERROR__TYPE__ResourceConflict);
    trial_free(t);
}

static void two_that_change_one_record_are_refused(void **state)
{
    struct trial *t = trial_new();
    desire(t, "new", "instances=1");
    scale(t, "old", 1);
    remove_desired(t, "old", "");
    run(t);
    expect_nothing_done(t, MODELS__ERROR__TYPE__ResourceConflict);
    trial_free(t);
}

static void the_term_is_over(void **state)
{
    struct trial *t = trial_new();
    t->move->term->term--;
    desire(t, "new", "instances=1");
    run(t);
    expect_nothing_done(t, MODELS__ERROR__TYPE__ResourceConflict);
    trial_free(t);
}

/* Decided while it led; the lock is another's when the transaction comes. */
static void the_term_ends_on_the_way(void **state)
{
    struct trial *t = trial_new();
    desire(t, "new", "instances=1");
    remove_desired(t, "old", "");
    board_rig_stall_watch(t->rig, 0, true);
    Board__LeaderLockRecord other = BOARD__LEADER_LOCK_RECORD__INIT;
    other.since = 1;
    Etcd__RequestOp *gone = etcd_op_delete(&t->arena, "lead/converger");
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    txn.n_success = 1;
    txn.success = &gone;
    board_rig_ask(t->rig, &t->arena, STORE_TXN, &txn.base);
    put_record(t->rig, "lead/converger", &other.base);
    start(t);
    board_rig_run(t->rig, 50 * MILLISECOND_NS);
    board_rig_stall_watch(t->rig, 0, false);
    board_rig_run(t->rig, 3 * SECOND_NS);
    assert_int_equal(t->answers, 1);
    expect_nothing_done(t, MODELS__ERROR__TYPE__ResourceConflict);
    trial_free(t);
}

/* Each has its share of the transaction, whatever it asks; jobs do the rest. */
static void as_many_as_there_may_be(void **state)
{
    for (size_t count = 1; count <= NESTED_OPS_MAX; count++) {
        struct trial *t = trial_new();
        for (size_t i = 0; i < count; i++) {
            desire(t, arena_printf(&t->arena, "p%zu", i), "instances=100");
        }
        start(t);
        board_rig_run(t->rig, 10 * SECOND_NS);
        assert_int_equal(t->answers, 1);
        assert_int_equal(t->verdict, PLAN_COMMIT);
        assert_int_equal(count_prefix(t->rig, "actual/p"), 100 * (int64_t)count);
        assert_int_equal(count_prefix(t->rig, "job/"), 0);
        trial_free(t);
    }
}

/* The most that one can change: it removes what runs, suspect and evacuating ones too. */
static void removals_fill_their_share(void **state)
{
    for (size_t count = 1; count <= NESTED_OPS_MAX; count++) {
        struct trial *t = trial_new();
        for (size_t i = 0; i < count; i++) {
            const char *guid = arena_printf(&t->arena, "p%zu", i);
            put_record(t->rig, key_desired(&t->arena, guid),
                       &definition(t, guid, "instances=60 def=D1")->base);
            for (int n = 0; n < 60 * 3; n++) {
                Models__ActualLRP *record =
                    row_actual(&t->arena, "RUNNING a@c1 def=D1", n / 3, n % 3);
                record->actual_lrp_key->process_guid = arena_strdup(&t->arena, guid);
                put_record(t->rig, key_actual(&t->arena, guid, n / 3, n % 3), &record->base);
            }
            remove_desired(t, guid, "");
        }
        board_rig_run(t->rig, 1 * SECOND_NS);
        run(t);
        assert_int_equal(t->verdict, PLAN_COMMIT);
        assert_int_equal(count_prefix(t->rig, "desired/p"), 0);
        trial_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_is_committed_at_once),
        cmocka_unit_test(one_that_refuses_leaves_nothing),
        cmocka_unit_test(none_sees_what_another_one_does),
        cmocka_unit_test(two_that_change_one_record_are_refused),
        cmocka_unit_test(the_term_is_over),
        cmocka_unit_test(the_term_ends_on_the_way),
        cmocka_unit_test(as_many_as_there_may_be),
        cmocka_unit_test(removals_fill_their_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
