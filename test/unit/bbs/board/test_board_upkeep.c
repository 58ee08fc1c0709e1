/* What a bbs does beside requests: jobs, compaction, space, comparing its copy with etcd. */
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/board_asks.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- jobs: each portion raises the cursor, the last one deletes the job ---- */

/* Each portion counts in one record, by reading it and writing it again: one that is done twice, or
 * that another one's write undoes, shows in the sum. */
#define COUNTED "domain/counted"

struct portion_shot {
    const struct seen *job, *counted;
};

static const char *portion_target(struct arena *a, const struct op_input *in)
{
    return arena_strdup(a, ((const Board__JobRecord *)in->request)->target);
}

static void portion_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    const Board__JobRecord *job = in->request;
    struct portion_shot *s = snapshot;
    s->job = view_get(v, key_job(view_arena(v), job->target, job->name));
    s->counted = view_get(v, COUNTED);
}

static void portion_decide(const void *snapshot, const struct op_input *in, struct plan *plan)
{
    const struct portion_shot *s = snapshot;
    if (!s->job) {
        return;
    }
    Board__JobRecord *job = arena_copy(plan->arena, s->job->message, sizeof(*job));
    job->instances = arena_copy(plan->arena, job->instances, sizeof(*job->instances));
    if (++job->instances->cursor == job->instances->end) {
        plan_delete(plan, s->job->key, "finish", ACTOR_BBS);
    } else {
        plan_put(plan, s->job->key, "advance", ACTOR_BBS, &job->base);
    }
    Board__DomainRecord *counted = arena_message(plan->arena, &board__domain_record__descriptor);
    counted->ttl_s = 1;
    if (s->counted) {
        counted->ttl_s += ((const Board__DomainRecord *)s->counted->message)->ttl_s;
    }
    plan_put(plan, COUNTED, "upsert", ACTOR_BBS, &counted->base);
}

static const struct op_row portion_row = {
    .name = "portion",
    .target = portion_target,
    .gather = portion_gather,
    .decide = portion_decide,
    .snapshot_size = sizeof(struct portion_shot),
};

static const struct op_row *job_row(void *context, const Board__JobRecord *job)
{
    return job->kind == BOARD__JOB_RECORD__KIND__CREATE_INSTANCES ? &portion_row : NULL;
}

static void put_named_job(struct rig *r, const char *name, const char *worker, int64_t not_before)
{
    SCOPED_ARENA(a);
    Board__JobRecord job = BOARD__JOB_RECORD__INIT;
    Board__JobRecord__Instances left = BOARD__JOB_RECORD__INSTANCES__INIT;
    left.end = 10;
    job.target = (char *)"j";
    job.name = (char *)(size_t)name;
    job.kind = BOARD__JOB_RECORD__KIND__CREATE_INSTANCES;
    job.instances = &left;
    job.worker = (char *)(size_t)worker;
    job.not_before = not_before;
    put_record(r, key_job(&a, "j", name), &job.base);
}

static void put_job(struct rig *r, const char *worker, int64_t not_before)
{
    put_named_job(r, "", worker, not_before);
}

/* Of one target, at one bbs and at two, one taken over: each portion of each is done once. */
static void jobs_of_one_target_do_not_mix(void **state)
{
    static const char *const names[] = {"", "b", "roll"};
    for (unsigned at = 0; at < 3; at++) { /* the last one's worker */
        struct rig *r = ready_rig(2, &(struct board_hooks){.job_row = job_row});
        const char *workers[] = {board_boot_id(board_rig_board(r, 0)),
                                 board_boot_id(board_rig_board(r, 1)), "nobody"};
        for (size_t i = 0; i < 3; i++) {
            put_named_job(r, names[i], workers[i == 2 ? at : 0], 0);
        }
        board_rig_run(r, 10 * SECOND_NS);
        SCOPED_ARENA(a);
        const struct seen *counted = view_peek(board_view(board_rig_board(r, 0), &a), COUNTED);
        assert_non_null(counted);
        assert_int_equal(((const Board__DomainRecord *)counted->message)->ttl_s, 30);
        assert_int_equal(count_prefix(r, "job/"), 0);
        board_rig_free(r);
    }
}

static void jobs_run_at_their_worker_and_are_taken_over_when_it_is_silent(void **state)
{
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
    /* Written by a clock a year ahead. */
    put_job(r, board_boot_id(board_rig_board(r, 0)), wall_ns + 366 * 86400 * SECOND_NS);
    board_rig_run(r, 3500 * SECOND_NS);
    assert_true(mod_revision(r, "job/j") > 0);
    board_rig_run(r, 200 * SECOND_NS);
    assert_int_equal(mod_revision(r, "job/j"), 0);
    board_rig_free(r);
}

/* By a clock a year ahead, which was right again when it began to wait: it waits as long as it was
 * meant to, and not at all where that is nothing. */
static void a_job_waits_no_longer_than_was_meant(void **state)
{
    static const struct {
        int64_t meant_s, first_ms, then_ms; /* it stands after the first, and not after the other */
    } rows[] = {{3, 2500, 1000}, {0, 0, 500}, {-5, 0, 500}};
    struct rig *r = ready_rig(1, &(struct board_hooks){.job_row = job_row});
    int64_t ahead_ns = board_now(board_rig_board(r, 0)).wall_ns + 366 * 86400 * SECOND_NS;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        Board__JobRecord job = BOARD__JOB_RECORD__INIT;
        Board__JobRecord__Instances left = BOARD__JOB_RECORD__INSTANCES__INIT;
        Board__UnitsJob units = BOARD__UNITS_JOB__INIT;
        left.end = 10;
        units.since = ahead_ns - rows[i].meant_s * SECOND_NS;
        job.target = (char *)"j";
        job.kind = BOARD__JOB_RECORD__KIND__CREATE_INSTANCES;
        job.instances = &left;
        job.units = &units;
        job.worker = arena_strdup(&a, board_boot_id(board_rig_board(r, 0)));
        job.not_before = ahead_ns;
        put_record(r, "job/j", &job.base);
        board_rig_run(r, rows[i].first_ms * MILLISECOND_NS);
        assert_true(mod_revision(r, "job/j") > 0);
        board_rig_run(r, rows[i].then_ms * MILLISECOND_NS);
        assert_int_equal(mod_revision(r, "job/j"), 0);
    }
    board_rig_free(r);
}

/* Nor taken over, or those who know it would wait for who does not. */
static void a_job_of_a_later_version_is_left_alone(void **state)
{
    struct rig *r = ready_rig(1, &(struct board_hooks){.job_row = job_row});
    Board__JobRecord job = BOARD__JOB_RECORD__INIT;
    job.target = (char *)"j";
    job.kind = 99;
    job.worker = (char *)"nobody";
    put_record(r, "job/j", &job.base);
    int64_t before = mod_revision(r, "job/j");
    board_rig_run(r, 200 * SECOND_NS);
    assert_int_equal(mod_revision(r, "job/j"), before);
    board_rig_free(r);
}

/* All bbs died in the middle of it: the next one knows of it by its list alone. */
static void a_job_of_before_is_found_in_the_list(void **state)
{
    struct rig *r = ready_rig(1, &(struct board_hooks){.job_row = job_row});
    put_job(r, "nobody", 0);
    board_rig_restart(r, 0);
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    assert_true(mod_revision(r, "job/j") > 0);
    board_rig_run(r, 7 * SECOND_NS);
    assert_int_equal(mod_revision(r, "job/j"), 0);
    board_rig_free(r);
}

/* ---- health ---- */

static void old_history_is_compacted(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    board_rig_run(r, 290 * SECOND_NS);
    assert_int_equal(model_etcd_compacted(board_rig_etcd(r)), 0);
    board_rig_run(r, 20 * SECOND_NS);
    int64_t compacted = model_etcd_compacted(board_rig_etcd(r));
    assert_true(compacted > 0);
    /* Heartbeats alone make a revision each 2 s: at least 2 minutes are kept. */
    assert_true(model_etcd_revision(board_rig_etcd(r)) - compacted >= 60);
    board_rig_free(r);
}

static void out_of_quota_is_read_only_until_space_is_freed(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    SCOPED_ARENA(arena);
    Etcd__AlarmRequest q = ETCD__ALARM_REQUEST__INIT;
    q.action = ETCD__ALARM_REQUEST__ALARM_ACTION__ACTIVATE;
    q.alarm = ETCD__ALARM_TYPE__NOSPACE;
    q.memberid = 1;
    board_rig_ask(r, &arena, STORE_ALARM, &q.base);
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

/* Defragmenting stops etcd, for seconds where there is much: where it frees nothing it is not done
 * again and again. */
static void what_is_full_stays_read_only(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    struct board *b = board_rig_board(r, 0);
    model_etcd_set_quota(board_rig_etcd(r), 1);
    board_rig_run(r, 10 * SECOND_NS);
    assert_true(board_read_only(b));
    unsigned before = board_rig_calls(r, STORE_DEFRAGMENT);
    enum { SECONDS = 600 };
    int read_only = 0;
    for (int i = 0; i < SECONDS; i++) {
        board_rig_run(r, SECOND_NS);
        read_only += board_read_only(b);
    }
    assert_in_range(board_rig_calls(r, STORE_DEFRAGMENT) - before, 5, 20);
    assert_in_range(read_only, SECONDS * 9 / 10, SECONDS);
    model_etcd_set_quota(board_rig_etcd(r), 0); /* somebody gave it more */
    board_rig_run(r, 65 * SECOND_NS);
    assert_false(board_read_only(b));
    board_rig_free(r);
}

/* Whatever of it fails: the alarm that is asked for, the compaction, the defragmentation. */
static void what_fails_while_space_is_freed_is_tried_again(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    struct board *b = board_rig_board(r, 0);
    model_etcd_set_quota(board_rig_etcd(r), 1);
    board_rig_run(r, 10 * SECOND_NS);
    assert_true(board_read_only(b));
    board_rig_faults(r)->lost = 1000;
    board_rig_run(r, 200 * SECOND_NS); /* a try a minute */
    board_rig_faults(r)->lost = 0;
    model_etcd_set_quota(board_rig_etcd(r), 0);
    board_rig_run(r, 65 * SECOND_NS);
    assert_false(board_read_only(b));
    board_rig_free(r);
}

static void the_slow_list_finds_nothing_wrong_in_a_copy_that_is_right(void **state)
{
    struct bbs_config config = asked_config;
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
    assert_int_equal(board_rig_logged(r, "the copy of the board is loaded again"), 0);
    board_rig_free(r);
    free(asked);
}

/* Nobody waits for its own next try when another bbs has freed it: a write of its own shows it. */
static void one_that_frees_it_frees_it_for_all(void **state)
{
    struct rig *r = ready_rig(2, NULL);
    model_etcd_set_quota(board_rig_etcd(r), 1);
    board_rig_run(r, 400 * SECOND_NS); /* both try once a minute by now */
    model_etcd_set_quota(board_rig_etcd(r), 0);
    int64_t freed_ns[2] = {0};
    for (int i = 0; i < 700 && !(freed_ns[0] && freed_ns[1]); i++) {
        board_rig_run(r, 100 * MILLISECOND_NS);
        for (unsigned n = 0; n < 2; n++) {
            bool free = !freed_ns[n] && !board_read_only(board_rig_board(r, n));
            freed_ns[n] = free ? board_rig_now(r) : freed_ns[n];
        }
    }
    assert_true(freed_ns[0] && freed_ns[1]);
    int64_t apart_ns = llabs(freed_ns[0] - freed_ns[1]);
    assert_true(apart_ns < SECOND_NS);
    board_rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_run_at_their_worker_and_are_taken_over_when_it_is_silent),
        cmocka_unit_test(a_job_waits_no_longer_than_was_meant),
        cmocka_unit_test(jobs_of_one_target_do_not_mix),
        cmocka_unit_test(a_job_of_a_later_version_is_left_alone),
        cmocka_unit_test(a_job_of_before_is_found_in_the_list),
        cmocka_unit_test(old_history_is_compacted),
        cmocka_unit_test(out_of_quota_is_read_only_until_space_is_freed),
        cmocka_unit_test(what_is_full_stays_read_only),
        cmocka_unit_test(one_that_frees_it_frees_it_for_all),
        cmocka_unit_test(what_fails_while_space_is_freed_is_tried_again),
        cmocka_unit_test(the_slow_list_finds_nothing_wrong_in_a_copy_that_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
