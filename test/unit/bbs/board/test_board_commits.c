/* What is told of a commit and when, under single, chosen faults; and how an
 * answer without a commit is confirmed. */
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/board_asks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads nothing: nothing but the cause slot tells a second landing from the first. */
static void gather_blindly(struct view *v, const struct op_input *in, void *snapshot)
{
    struct asked_shot *s = snapshot;
    s->key = key_domain(view_arena(v), ((const Board__DomainRecord *)in->request)->domain);
}

static const struct op_row blind_row = {.name = "blind",
                                        .gather = gather_blindly,
                                        .decide = asked_decide,
                                        .snapshot_size = sizeof(struct asked_shot)};

static const struct op_row repeat_row = {
    .name = "repeat",
    .gather = asked_gather,
    .decide = asked_decide,
    .snapshot_size = sizeof(struct asked_shot),
    .nothing_unconfirmed = true,
};

static const char *domain_target(struct arena *a, const struct op_input *in)
{
    return key_domain(a, ((const Board__DomainRecord *)in->request)->domain);
}

static const struct op_row turn_row = {.name = "turn",
                                       .target = domain_target,
                                       .gather = asked_gather,
                                       .decide = asked_decide,
                                       .snapshot_size = sizeof(struct asked_shot)};

static void a_commit_answers_with_its_revision(void **state)
{
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
    for (unsigned i = 0; i < 20; i++) {
        struct rig *r = board_rig_new(100 + i, 1, &asked_config, NULL);
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
    assert_true(board_rig_logged(r, "the copy of the board is loaded again") > 0);
    board_rig_free(r);
}

/* What the next one read would be what the last one has replaced. */
static void the_turn_goes_on_with_the_watch(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    struct asked first = {0}, second = {0};
    board_rig_stall_watch(r, 0, true);
    ask_row(r, 0, &first, "d", &turn_row);
    ask_row(r, 0, &second, "d", &turn_row);
    board_rig_run(r, SECOND_NS);
    assert_int_equal(first.answers, 1);
    assert_int_equal(second.answers, 0);
    board_rig_stall_watch(r, 0, false);
    board_rig_run(r, SECOND_NS);
    assert_int_equal(second.answers, 1);
    assert_int_equal(second.result.end, OP_DECIDED);
    assert_int_equal(board_rig_board(r, 0)->conflicts, 0);
    board_rig_free(r);
}

/* Who was told that it was not done asks again, or leaves it: nothing of it may come later. */
static void what_waited_in_vain_is_not_done_later(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    struct asked first = {0}, second = {0};
    board_rig_cut(r, 0, true);
    ask_row(r, 0, &first, "d", &turn_row);
    ask_row(r, 0, &second, "d", &turn_row);
    board_rig_run(r, 5100 * MILLISECOND_NS);
    assert_int_equal(first.answers, 1);
    assert_int_equal(second.answers, 1);
    assert_int_equal(second.result.end, OP_UNAVAILABLE);
    assert_false(second.result.may_have_done);
    board_rig_cut(r, 0, false);
    board_rig_run(r, 20 * SECOND_NS);
    assert_int_equal(mod_revision(r, "domain/d"), 0);
    board_rig_free(r);
}

static void a_record_too_large_is_an_invalid_request(void **state)
{
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
    assert_int_equal(n->kind, NOTICE_STOP);
    assert_string_equal(trace_id, "t");
    ++*(unsigned *)context;
}

/* A stop that is asked for again finds its mark there: the rep may have missed the first notice. */
static void a_notice_is_given_once_also_when_nothing_is_to_be_committed(void **state)
{
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

static void an_answer_that_commits_nothing_is_confirmed(void **state)
{
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

static void gather_all(struct view *v, const struct op_input *in, void *snapshot)
{
    struct asked_shot *s = snapshot;
    const struct seen *list;
    s->key = key_domain(view_arena(v), ((const Board__DomainRecord *)in->request)->domain);
    assert_true(view_range(v, "domain/", 100, &list) >= 0);
}

static const struct op_row all_row = {.name = "all",
                                      .gather = gather_all,
                                      .decide = asked_decide,
                                      .snapshot_size = sizeof(struct asked_shot)};

/* A copy that never heard of a record: what is decided from it is not told, and the copy is mended.
 */
static void a_wrong_copy_is_found_out(const struct op_row *row, bool nothing)
{
    struct rig *r = ready_rig(1, NULL);
    Board__DomainRecord d = BOARD__DOMAIN_RECORD__INIT;
    put_record(r, "domain/d", &d.base);
    put_record(r, "domain/later", &d.base);
    board_rig_run(r, 7 * SECOND_NS);
    struct board *b = board_rig_board(r, 0);
    assert_int_equal(b->differences, 0);
    version_unref(copy_remove(b->copy, "domain/d"));
    int64_t stood = mod_revision(r, "domain/d");
    struct asked a = {.nothing = nothing};
    ask_row(r, 0, &a, "d", row);
    board_rig_run(r, 20 * MILLISECOND_NS);
    assert_int_equal(mod_revision(r, "domain/d"), stood);
    board_rig_run(r, 2 * SECOND_NS);
    assert_int_equal(b->differences, 1);
    assert_int_equal(a.answers, 1);
    assert_non_null(copy_find(b->copy, "domain/d"));
    board_rig_free(r);
}

static void no_answer_rests_on_a_record_that_the_copy_lacks(void **state)
{
    static const struct op_row row = {.name = "one",
                                      .gather = asked_gather,
                                      .decide = asked_decide,
                                      .snapshot_size = sizeof(struct asked_shot)};
    a_wrong_copy_is_found_out(&row, true);
}

static void no_answer_rests_on_a_range_that_lacks_a_member(void **state)
{
    a_wrong_copy_is_found_out(&all_row, true);
}

static void no_record_is_made_where_the_copy_lacks_one(void **state)
{
    a_wrong_copy_is_found_out(&all_row, false);
}

/* Says how many there are: by the key that it writes, which is none of theirs. */
static void gather_count(struct view *v, const struct op_input *in, void *snapshot)
{
    struct asked_shot *s = snapshot;
    const struct seen *list;
    (void)in;
    int count = view_whole_range(v, "domain/m-", 100, &list);
    s->key = arena_printf(view_arena(v), "domain/%d", count);
}

static void no_write_rests_on_a_whole_range_that_lacks_a_member(void **state)
{
    static const struct op_row count_row = {.name = "count",
                                            .gather = gather_count,
                                            .decide = asked_decide,
                                            .snapshot_size = sizeof(struct asked_shot)};
    static const char *const all[] = {"domain/m-a", "domain/m-c", "domain/m-e"};
    for (size_t missing = 0; missing < 3; missing++) {
        struct rig *r = ready_rig(1, NULL);
        Board__DomainRecord d = BOARD__DOMAIN_RECORD__INIT;
        for (size_t i = 0; i < 3; i++) {
            put_record(r, all[i], &d.base);
        }
        board_rig_run(r, 7 * SECOND_NS);
        struct board *b = board_rig_board(r, 0);
        version_unref(copy_remove(b->copy, all[missing]));
        struct asked a = {0};
        ask_row(r, 0, &a, "d", &count_row);
        board_rig_run(r, 2 * SECOND_NS);
        assert_int_equal(a.answers, 1);
        assert_int_equal(mod_revision(r, "domain/2"), 0);
        ask_row(r, 0, &a, "d", &count_row); /* the copy is mended meanwhile */
        board_rig_run(r, 2 * SECOND_NS);
        assert_int_equal(a.result.end, OP_DECIDED);
        assert_int_not_equal(mod_revision(r, "domain/3"), 0);
        board_rig_free(r);
    }
}

/* More ask than a transaction has compares for, and more than travel at once. */
static void answers_are_confirmed_together(void **state)
{
    enum { ASKED = 1000 };
    static struct asked a[ASKED];
    static char names[ASKED][16];
    struct rig *r = ready_rig(1, NULL);
    memset(a, 0, sizeof(a));
    unsigned before = board_rig_calls(r, STORE_TXN);
    for (int i = 0; i < ASKED; i++) {
        a[i].nothing = true;
        snprintf(names[i], sizeof(names[i]), "d%d", i);
        ask(r, 0, &a[i], names[i]);
    }
    board_rig_run(r, 500 * MILLISECOND_NS);
    for (int i = 0; i < ASKED; i++) {
        assert_int_equal(a[i].answers, 1);
        assert_int_equal(a[i].result.end, OP_DECIDED);
    }
    assert_true(board_rig_calls(r, STORE_TXN) - before < ASKED / 10);
    board_rig_free(r);
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
        cmocka_unit_test(the_turn_goes_on_with_the_watch),
        cmocka_unit_test(what_waited_in_vain_is_not_done_later),
        cmocka_unit_test(a_record_too_large_is_an_invalid_request),
        cmocka_unit_test(a_notice_is_given_once_also_when_nothing_is_to_be_committed),
        cmocka_unit_test(an_answer_that_commits_nothing_is_confirmed),
        cmocka_unit_test(no_answer_rests_on_a_record_that_the_copy_lacks),
        cmocka_unit_test(no_answer_rests_on_a_range_that_lacks_a_member),
        cmocka_unit_test(no_record_is_made_where_the_copy_lacks_one),
        cmocka_unit_test(no_write_rests_on_a_whole_range_that_lacks_a_member),
        cmocka_unit_test(answers_are_confirmed_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
