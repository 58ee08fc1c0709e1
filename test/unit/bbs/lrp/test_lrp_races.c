/* The decisions about LRPs on a copy that is behind: each race is won by the other writer, whose
 * change this bbs has not seen. What was decided without it must not land (design.md 2). */
#include "bbs/board/compare.h"
#include "bbs/lrp/desired.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/board_asks.h"
#include "test/unit/bbs/board/board_rig.h"

static const struct bbs_config config = {.url = "https://bbs", .name = "bbs"};

struct race {
    struct rig *rig;
    struct arena arena;
    unsigned answers;
    enum op_end end;
    enum plan_verdict verdict;
};

static struct race *race_new(void)
{
    struct race *t = test_calloc(1, sizeof(*t));
    arena_init(&t->arena);
    t->rig = board_rig_new(5, 1, &config, NULL);
    assert_true(board_rig_run_ready(t->rig, 10 * SECOND_NS));
    return t;
}

static void race_free(struct race *t)
{
    board_rig_free(t->rig);
    arena_done(&t->arena);
    test_free(t);
}

static void write_instance(struct race *t, int32_t index, const char *text)
{
    Models__ActualLRP *record = text ? row_actual(&t->arena, text, index, 0) : NULL;
    put_record(t->rig, key_actual(&t->arena, ROWS_PROCESS, index, 0),
               record ? &record->base : NULL);
}

static void write_desired(struct race *t, const char *text)
{
    put_record(t->rig, key_desired(&t->arena, ROWS_PROCESS), &row_desired(&t->arena, text)->base);
}

/* The bbs has seen all that was written up to now, and nothing that comes later. */
static void freeze(struct race *t)
{
    board_rig_run(t->rig, 100 * MILLISECOND_NS);
    board_rig_stall_watch(t->rig, 0, true);
}

static void done(void *context, const struct op_result *result, struct effects *out)
{
    struct race *t = context;
    t->answers++;
    t->end = result->end;
    t->verdict = result->plan ? result->plan->verdict : PLAN_NOTHING;
}

/* Decided on the frozen copy, then the watch comes back. */
static void ask_for(struct race *t, const struct op_row *row, const ProtobufCMessage *request)
{
    const struct op_input in = {.actor = ACTOR_CLIENT, .trace_id = "", .request = request};
    struct effects *out = board_rig_begin(t->rig, 0);
    board_op(board_rig_board(t->rig, 0), row, &in, board_arena(), done, t, out);
    board_rig_end(t->rig, 0);
    board_rig_run(t->rig, 50 * MILLISECOND_NS);
    board_rig_stall_watch(t->rig, 0, false);
    board_rig_run(t->rig, 3 * SECOND_NS);
    assert_int_equal(t->answers, 1);
    assert_int_equal(t->end, OP_DECIDED);
}

static void scale(struct race *t, int32_t instances)
{
    Models__UpdateDesiredLRPRequest *r = ARENA_NEW(&t->arena, Models__UpdateDesiredLRPRequest);
    models__update_desired_lrprequest__init(r);
    r->process_guid = arena_strdup(&t->arena, ROWS_PROCESS);
    r->update = arena_message(&t->arena, &models__desired_lrpupdate__descriptor);
    r->update->optional_instances_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
    r->update->instances = instances;
    ask_for(t, &update_row, &r->base);
}

static const Models__ActualLRP *instance(struct race *t, int32_t index)
{
    struct view *v = board_view(board_rig_board(t->rig, 0), &t->arena);
    const struct seen *seen = view_peek(v, key_actual(&t->arena, ROWS_PROCESS, index, 0));
    return seen ? (const Models__ActualLRP *)seen->message : NULL;
}

/* Scaled down and up again, while the rep removes the instance that was being stopped. */
static void an_index_is_filled_though_its_rep_removes_it(void **state)
{
    struct race *t = race_new();
    write_desired(t, "instances=1 def=D1");
    write_instance(t, 0, "RUNNING a@c1 def=D1");
    write_instance(t, 1, "RUNNING b@c1 def=D1 stopping");
    freeze(t);
    write_instance(t, 1, NULL); /* by the rep: not desired, so it goes */
    scale(t, 2);
    assert_non_null(instance(t, 1));
    assert_string_equal(instance(t, 1)->state, "UNCLAIMED");
    race_free(t);
}

/* Scaled up and down again, while the rep's remove makes room for the next instance. */
static void an_index_is_emptied_though_its_rep_renews_it(void **state)
{
    struct race *t = race_new();
    write_desired(t, "instances=2 def=D1");
    write_instance(t, 0, "RUNNING a@c1 def=D1");
    write_instance(t, 1, "RUNNING b@c1 def=D1 stopping");
    freeze(t);
    write_instance(t, 1, "UNCLAIMED"); /* by the rep: desired again */
    scale(t, 1);
    assert_null(instance(t, 1));
    race_free(t);
}

/* Scaled down, while an instance that the board had forgotten is told to run. */
static void an_index_is_emptied_though_it_was_just_found(void **state)
{
    struct race *t = race_new();
    write_desired(t, "instances=2 def=D1");
    write_instance(t, 0, "RUNNING a@c1 def=D1");
    freeze(t);
    write_instance(t, 1, "RUNNING b@c1 def=D1");
    scale(t, 1);
    assert_true(instance(t, 1)->stopping);
    race_free(t);
}

/* Desired again, while a cell claims by the definition of before. */
static void what_ran_an_old_definition_is_stopped(void **state)
{
    struct race *t = race_new();
    write_instance(t, 0, "UNCLAIMED");
    freeze(t);
    write_instance(t, 0, "CLAIMED a@c1 def=D1");
    Models__DesireLRPRequest *r = arena_message(&t->arena, &models__desire_lrprequest__descriptor);
    r->desired_lrp = row_desired(&t->arena, "instances=1");
    ask_for(t, &desire_row, &r->base);
    assert_true(instance(t, 0)->stopping);
    race_free(t);
}

/* A newer version's record is neither changed nor waited for. */
static void a_record_of_a_newer_version_is_left_alone(void **state)
{
    struct race *t = race_new();
    write_desired(t, "instances=2 def=D1");
    const char *key = key_actual(&t->arena, ROWS_PROCESS, 1, 0);
    Etcd__RequestOp *op = etcd_op_put(&t->arena, key, bytes_of("\x07new"));
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    txn.n_success = 1;
    txn.success = &op;
    board_rig_ask(t->rig, &t->arena, STORE_TXN, &txn.base);
    freeze(t);
    scale(t, 1);
    Etcd__RangeRequest *q = etcd_op_range(&t->arena, key)->request_range;
    const Etcd__RangeResponse *found =
        (const Etcd__RangeResponse *)board_rig_ask(t->rig, &t->arena, STORE_RANGE, &q->base);
    assert_int_equal(found->n_kvs, 1);
    assert_int_equal(found->kvs[0]->version, 1);
    race_free(t);
}

/* More records at one index than a move reads: nothing is written on top of what was not read. */
static void a_crowded_index_is_left_alone(void **state)
{
    struct race *t = race_new();
    for (int presence = 0; presence < 9; presence++) {
        put_record(t->rig, key_actual(&t->arena, ROWS_PROCESS, 0, presence),
                     &row_actual(&t->arena, "UNCLAIMED", 0, presence)->base);
    }
    board_rig_run(t->rig, 100 * MILLISECOND_NS);
    ask_for(t, move_row_named(&lrp_moves, "claim")->op,
        &row_move(&t->arena, "claim a@c1 index=0")->base);
    assert_int_equal(t->verdict, PLAN_REFUSE);
    assert_string_equal(instance(t, 0)->state, "UNCLAIMED");
    race_free(t);
}

static bool desired(struct race *t, const char *process_guid)
{
    struct view *v = board_view(board_rig_board(t->rig, 0), &t->arena);
    return view_peek(v, key_desired(&t->arena, process_guid)) != NULL;
}

/* Two definitions, each to be removed because the other replaces it: this bbs has not seen yet that
 * the other removal was made. Without that it lands, so that it is the race that stops it. */
static void of_two_that_replace_each_other_one_stays(void **state)
{
    for (int raced = 0; raced < 2; raced++) {
        struct race *t = race_new();
        const char *other = key_desired(&t->arena, "other");
        write_desired(t, "instances=0 def=D1");
        put_record(t->rig, other, &row_desired(&t->arena, "instances=0 def=D2")->base);
        freeze(t);
        if (raced) {
            put_record(t->rig, other, NULL);
        }
        Models__RemoveDesiredLRPRequest r = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
        r.process_guid = arena_strdup(&t->arena, ROWS_PROCESS);
        r.replaced_by = arena_strdup(&t->arena, "other");
        ask_for(t, &remove_row, &r.base);
        assert_int_equal(t->verdict, raced ? PLAN_REFUSE : PLAN_COMMIT);
        assert_int_equal(desired(t, ROWS_PROCESS), raced);
        assert_int_equal(desired(t, "other"), !raced);
        race_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_filled_though_its_rep_removes_it),
        cmocka_unit_test(an_index_is_emptied_though_its_rep_renews_it),
        cmocka_unit_test(an_index_is_emptied_though_it_was_just_found),
        cmocka_unit_test(what_ran_an_old_definition_is_stopped),
        cmocka_unit_test(a_record_of_a_newer_version_is_left_alone),
        cmocka_unit_test(a_crowded_index_is_left_alone),
        cmocka_unit_test(of_two_that_replace_each_other_one_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
