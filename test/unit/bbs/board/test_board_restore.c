/* An etcd that was restored to an older revision, and the board generation that is made again. */
#include "test/unit/bbs/board/board_asks.h"
#include "models/desired_lrp.pb-c.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void another_board_generation_means_everything_again(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    Board__BoardGenerationRecord e = BOARD__BOARD_GENERATION_RECORD__INIT;
    e.id = (char *)"restored";
    put_record(r, "epoch/restored", &e.base);
    board_rig_run(r, SECOND_NS);
    assert_true(board_rig_run_ready(r, 5 * SECOND_NS));
    assert_string_equal(board_generation(board_rig_board(r, 0)), "restored");
    struct asked a = {0};
    ask(r, 0, &a, "d");
    board_rig_run(r, SECOND_NS);
    assert_int_equal(a.result.end, OP_DECIDED);
    board_rig_free(r);
}

/* A bbs that was not told of the restore: what it holds is of a history that never was. It says so
 * and serves nothing until the board generation is made again. */
static void an_etcd_that_went_back_is_waited_out(void **state)
{
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
                         r, "etcd lost acknowledged writes or was restored: run `bbs restore`"), 2);
    struct asked refused = {0};
    ask(r, 0, &refused, "refused");
    assert_int_equal(refused.result.end, OP_UNAVAILABLE);
    /* And nothing is written but the mark on the board generation, once. */
    assert_int_equal(model_etcd_revision(board_rig_etcd(r)), snapshot + 1);

    board_rig_new_board_generation(r, "renewed");
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    assert_string_equal(board_generation(board_rig_board(r, 0)), "renewed");
    assert_string_equal(board_generation(board_rig_board(r, 1)), "renewed");
    assert_int_equal(count_prefix(r, "epoch/"), 1);
    assert_int_equal(count_prefix(r, "domain/"), 1);
    ask(r, 0, &late, "late");
    board_rig_run(r, SECOND_NS);
    assert_int_equal(late.result.end, OP_DECIDED);
    assert_int_equal(count_prefix(r, "domain/"), 2);
    board_rig_free(r);
}

/* A domain that came back with a restore counts only once it is upserted again. */
static void a_restored_domain_is_of_another_board_generation(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    struct asked a = {0};
    ask(r, 0, &a, "d");
    board_rig_run(r, SECOND_NS);
    SCOPED_ARENA(arena);
    struct board *b = board_rig_board(r, 0);
    assert_true(view_domain_seen(board_view(b, &arena), "domain/d").in_this_board_generation);
    assert_false(view_domain_seen(board_view(b, &arena), "domain/none").in_this_board_generation);
    int64_t snapshot = model_etcd_revision(board_rig_etcd(r));
    board_rig_run(r, 3 * SECOND_NS);
    board_rig_restore(r, snapshot);
    board_rig_new_board_generation(r, "renewed");
    board_rig_run(r, SECOND_NS);
    assert_true(board_rig_run_ready(r, 5 * SECOND_NS));
    assert_false(view_domain_seen(board_view(b, &arena), "domain/d").in_this_board_generation);
    ask(r, 0, &a, "d");
    board_rig_run(r, SECOND_NS);
    assert_true(view_domain_seen(board_view(b, &arena), "domain/d").in_this_board_generation);
    /* Nor does a bbs that was started after the restore believe it. */
    board_rig_new_board_generation(r, "again");
    board_rig_restart(r, 0);
    assert_true(board_rig_run_ready(r, 5 * SECOND_NS));
    assert_false(view_domain_seen(board_view(board_rig_board(r, 0), &arena), "domain/d")
                     .in_this_board_generation);
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
    SCOPED_ARENA(a);
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
    return sum;
}

/* Whatever an op waits for when the board is restored, it is decided on the restored board or not
 * done: revisions that repeat are never taken for those that were read. */
static void ops_that_a_restore_interrupts(void **state)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct rig *r = board_rig_new(seed, 2, &asked_config, NULL);
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
        board_rig_new_board_generation(r, "renewed");
        board_rig_run(r, 8 * SECOND_NS);
        assert_true(board_rig_run_ready(r, 5 * SECOND_NS));
        for (unsigned i = 0; i < 40; i++) {
            assert_int_equal(asked[i].answers, 1);
        }
        counts_right(r);
        for (unsigned n = 0; n < 2; n++) {
            assert_string_equal(board_generation(board_rig_board(r, n)), "renewed");
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
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rig *r = board_rig_new(seed, 2, &asked_config, NULL);
        assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
        board_rig_faults(r)->delay_ns = 100 * MILLISECOND_NS;
        board_rig_faults(r)->late = 50;
        struct asked asked[200] = {0};
        for (unsigned i = 0; i < 200; i++) {
            asked[i].nothing = i % 4 == 0; /* is confirmed */
            ask(r, i % 2, &asked[i], "d");
            board_rig_run(r, (int64_t)random_below(board_rig_random(r), 50 * MILLISECOND_NS));
        }
        board_rig_run(r, 6 * SECOND_NS);
        assert_int_equal(board_rig_logged(r, "the copy of the board is loaded again"), 0);
        board_rig_free(r);
    }
}

static const char told[] = "etcd lost acknowledged writes or was restored: run `bbs restore`";

/* Asks board 0 for its feed from a position; true if it says that etcd went back. */
static bool witness(struct rig *r, enum actor actor, const char *name,
                    const Board__FeedRequest *request)
{
    struct effects *out = board_rig_begin(r, 0);
    bool went_back = board_witness(board_rig_board(r, 0), request, actor, name, out);
    board_rig_end(r, 0);
    return went_back;
}

static Board__FeedRequest position(struct rig *r, int64_t revision)
{
    Board__FeedRequest request = BOARD__FEED_REQUEST__INIT;
    request.board_generation = (char *)(size_t)board_generation(board_rig_board(r, 0));
    request.revision = revision;
    return request;
}

static void put_cells(struct rig *r, unsigned count)
{
    static const char *const keys[] = {"cell/a", "cell/b", "cell/c"};
    Board__CellRecord record = BOARD__CELL_RECORD__INIT;
    for (unsigned i = 0; i < count; i++) {
        put_record(r, keys[i], &record.base);
    }
    board_rig_run(r, SECOND_NS);
}

/* A position that is not above the store's, one of another board generation, and one of anybody who
 * is none of our roles prove nothing. */
static void not_every_position_is_a_proof(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    int64_t now = model_etcd_revision(board_rig_etcd(r));
    Board__FeedRequest known = position(r, now), above = position(r, now + 1);
    Board__FeedRequest elsewhere = above;
    elsewhere.board_generation = (char *)"another";
    assert_false(witness(r, ACTOR_CONVERGER, "converger", &known));
    assert_false(witness(r, ACTOR_CONVERGER, "converger", &elsewhere));
    assert_false(witness(r, ACTOR_CLIENT, "somebody", &above));
    assert_true(board_ready(board_rig_board(r, 0)));
    assert_int_equal(board_rig_logged(r, told), 0);
    assert_true(witness(r, ACTOR_CONVERGER, "converger", &above));
    assert_false(board_ready(board_rig_board(r, 0)));
    assert_non_null(strstr(board_went_back(board_rig_board(r, 0)), "bbs restore"));
    assert_int_equal(board_rig_logged(r, told), 1);
    board_rig_run(r, 100 * SECOND_NS); /* it is said again once a minute */
    assert_int_equal(board_rig_logged(r, told), 2);
    board_rig_free(r);
}

/* One rep that is wrong, or lies, stops nobody; two different ones within a minute are believed. */
static void one_rep_of_many_is_not_enough(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    put_cells(r, 3);
    Board__FeedRequest above = position(r, INT64_MAX);
    for (int i = 0; i < 200; i++) {
        assert_false(witness(r, ACTOR_REP, "a", &above));
        board_rig_run(r, SECOND_NS);
    }
    assert_in_range(
        board_rig_logged(
            r, "a cell says that etcd lost acknowledged writes: believed when another one does"),
        3, 4);
    board_rig_run(r, 61 * SECOND_NS);
    assert_false(witness(r, ACTOR_REP, "b", &above));
    assert_true(witness(r, ACTOR_REP, "a", &above));
    board_rig_free(r);
}

static void of_two_cells_one_is_enough(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    put_cells(r, 2);
    Board__FeedRequest above = position(r, INT64_MAX);
    assert_true(witness(r, ACTOR_REP, "a", &above));
    board_rig_free(r);
}

/* What was lost has been overtaken: new writes stand under higher revisions. The heartbeat of a bbs
 * that is gone is older than one that somebody has seen. */
static void a_heartbeat_that_went_back_is_a_proof(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    char key[64], boot_id[GUID_BYTES];
    strcpy(boot_id, board_boot_id(board_rig_board(r, 0)));
    snprintf(key, sizeof(key), "beat/%s", boot_id);
    board_rig_run(r, 5 * SECOND_NS);
    int64_t image = model_etcd_revision(board_rig_etcd(r));
    board_rig_run(r, 5 * SECOND_NS);
    Board__FeedRequest seen = position(r, model_etcd_revision(board_rig_etcd(r)));
    seen.board_generation = strdup(seen.board_generation);
    seen.boot_id = boot_id;
    seen.heartbeat_revision = mod_revision(r, key);
    assert_false(witness(r, ACTOR_AUCTIONEER, "auctioneer", &seen));
    board_rig_restore(r, image);
    board_rig_restart(r, 0);
    assert_true(board_rig_run_ready(r, 5 * SECOND_NS));
    board_rig_run(r, 30 * SECOND_NS);
    assert_true(model_etcd_revision(board_rig_etcd(r)) > seen.revision);
    assert_true(witness(r, ACTOR_AUCTIONEER, "auctioneer", &seen));
    free(seen.board_generation);
    board_rig_free(r);
}

/* The mark on the board generation: other bbs hear of it, and one that is started later knows it at
 * once. */
static void every_bbs_learns_that_etcd_went_back(void **state)
{
    struct rig *r = ready_rig(2, NULL);
    Board__FeedRequest above = position(r, INT64_MAX);
    assert_true(witness(r, ACTOR_CONVERGER, "converger", &above));
    board_rig_run(r, SECOND_NS);
    assert_non_null(board_went_back(board_rig_board(r, 1)));
    board_rig_restart(r, 0);
    board_rig_restart(r, 1);
    board_rig_run(r, SECOND_NS);
    for (unsigned n = 0; n < 2; n++) {
        assert_non_null(strstr(board_went_back(board_rig_board(r, n)), "converger"));
        assert_false(board_ready(board_rig_board(r, n)));
    }
    board_rig_new_board_generation(r, "renewed");
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    assert_null(board_went_back(board_rig_board(r, 0)));
    board_rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_board_generation_means_everything_again),
        cmocka_unit_test(an_etcd_that_went_back_is_waited_out),
        cmocka_unit_test(a_restored_domain_is_of_another_board_generation),
        cmocka_unit_test(ops_that_a_restore_interrupts),
        cmocka_unit_test(answers_out_of_order_are_no_restore),
        cmocka_unit_test(not_every_position_is_a_proof),
        cmocka_unit_test(one_rep_of_many_is_not_enough),
        cmocka_unit_test(of_two_cells_one_is_enough),
        cmocka_unit_test(a_heartbeat_that_went_back_is_a_proof),
        cmocka_unit_test(every_bbs_learns_that_etcd_went_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
