/* The decisions about lost cells on a copy that is behind: each race is won by another writer,
 * whose change this bbs has not seen. What was decided without it must not land (design.md 2, 6).
 * Each story is told twice: without the other writer the move lands, so that it is the race that
 * stops it. */
#include "bbs/lrp/desired.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/board_asks.h"
#include "test/unit/bbs/board/board_rig.h"

static const struct bbs_config config = {.url = "https://bbs", .name = "bbs"};

enum { ORDINARY, EVACUATING, SUSPECT };

struct race {
    struct rig *rig;
    struct arena arena;
    unsigned answers;
    enum plan_verdict verdict;
};

static void race_init(struct race *t)
{
    *t = (struct race){.rig = board_rig_new(5, 1, &config, NULL)};
    arena_init(&t->arena);
    assert_true(board_rig_run_ready(t->rig, 10 * SECOND_NS));
}

static void race_done(struct race *t)
{
    board_rig_free(t->rig);
    arena_done(&t->arena);
}

static void write_instance(struct race *t, int presence, const char *text)
{
    Models__ActualLRP *r = text ? row_actual(&t->arena, text, 1, presence) : NULL;
    put_record(t->rig, key_actual(&t->arena, ROWS_PROCESS, 1, presence), r ? &r->base : NULL);
}

static void write_desired(struct race *t, const char *text)
{
    put_record(t->rig, key_desired(&t->arena, ROWS_PROCESS),
                 text ? &row_desired(&t->arena, text)->base : NULL);
}

static void write_cell(struct race *t, const char *text)
{
    put_record(t->rig, key_cell(&t->arena, "c1"), &row_cell(&t->arena, text)->base);
}

static void write_limiter(struct race *t, const char *text)
{
    put_record(t->rig, key_brake(&t->arena), text ? &row_limiter(&t->arena, text)->base : NULL);
}

static void write_leader_lock(struct race *t)
{
    Board__LeaderLockRecord leader_lock = BOARD__LEADER_LOCK_RECORD__INIT;
    leader_lock.role = leader_lock.holder = arena_strdup(&t->arena, "converger");
    put_record(t->rig, key_lead(&t->arena, "converger"), &leader_lock.base);
}

static const struct seen *seen_at(struct race *t, const char *key)
{
    return view_peek(board_view(board_rig_board(t->rig, 0), &t->arena), key);
}

static const Models__ActualLRP *instance(struct race *t, int presence)
{
    const struct seen *seen = seen_at(t, key_actual(&t->arena, ROWS_PROCESS, 1, presence));
    return seen ? (const Models__ActualLRP *)seen->message : NULL;
}

static void done(void *context, const struct op_result *result, struct effects *out)
{
    struct race *t = context;
    t->answers++;
    assert_int_equal(result->end, OP_DECIDED);
    t->verdict = result->plan->verdict;
}

static void start_op(struct race *t, const struct op_row *row, enum actor actor,
                     const ProtobufCMessage *request)
{
    const struct op_input in = {.actor = actor,
                                .peer_name = actor == ACTOR_REP ? "c1" : "",
                                .trace_id = "",
                                .boot_id = "boot",
                                .request = request};
    struct effects *out = board_rig_begin(t->rig, 0);
    board_op(board_rig_board(t->rig, 0), row, &in, board_arena(), done, t, out);
    board_rig_end(t->rig, 0);
}

/* The leading converger's move, in the term that the copy shows. */
static void start_move(struct race *t, const char *text)
{
    Board__Move *m = row_move(&t->arena, text);
    m->term = arena_message(&t->arena, &board__term__descriptor);
    struct view *v = board_view(board_rig_board(t->rig, 0), &t->arena);
    m->term->role = arena_strdup(&t->arena, "converger");
    m->term->board_generation = arena_strdup(&t->arena, view_board_generation(v));
    m->term->term = seen_at(t, key_lead(&t->arena, "converger"))->create_revision;
    start_op(t, move_row_named(row_family(m->move), m->move)->op, ACTOR_CONVERGER, &m->base);
}

/* What stood before anybody raced. */
struct scene {
    const char *ordinary, *evacuating, *suspect;
    const char *desired, *cell, *limiter;
    int64_t age_ns; /* for so long it has stood, whatever its times say; 0 = a moment */
};

static void set(struct race *t, const struct scene *s)
{
    const char *const records[] = {s->ordinary, s->evacuating, s->suspect};
    race_init(t);
    write_leader_lock(t);
    for (int i = ORDINARY; i <= SUSPECT; i++) {
        if (records[i]) {
            write_instance(t, i, records[i]);
        }
    }
    if (s->desired) {
        write_desired(t, s->desired);
    }
    if (s->cell) {
        write_cell(t, s->cell);
    }
    if (s->limiter) {
        write_limiter(t, s->limiter);
    }
    board_rig_run(t->rig, s->age_ns ? s->age_ns : 100 * MILLISECOND_NS);
}

/* Decides the move on a copy of the scene while `other` (may be NULL) has happened; gives the
 * verdict of the decision that held in the end. The race stays open, for a look at its board. */
static enum plan_verdict race(struct race *t, const struct scene *s, const char *move,
                              void (*other)(struct race *))
{
    set(t, s);
    board_rig_stall_watch(t->rig, 0, true);
    if (other) {
        other(t);
    }
    start_move(t, move);
    board_rig_run(t->rig, 50 * MILLISECOND_NS);
    board_rig_stall_watch(t->rig, 0, false);
    board_rig_run(t->rig, 3 * SECOND_NS);
    assert_int_equal(t->answers, 1);
    return t->verdict;
}

/* Alone the move is committed; after the other writer it is not. */
static void stopped(const struct scene *s, const char *move, void (*other)(struct race *),
                    enum plan_verdict instead)
{
    struct race t;
    assert_int_equal(race(&t, s, move, NULL), PLAN_COMMIT);
    race_done(&t);
    assert_int_equal(race(&t, s, move, other), instead);
    race_done(&t);
}

/* ---- lose ------------------------------------------------------------------------------------ */

static void cell_opens(struct race *t)
{
    write_cell(t, "present incarnation=8");
}

static void limiter_holds_it(struct race *t)
{
    write_limiter(t, "HELD cells=c1:7 until=2000000000");
}

static void operator_keeps(struct race *t)
{
    write_limiter(t, "KEPT cells=c1:7");
}

static void another_leads(struct race *t)
{
    put_record(t->rig, key_lead(&t->arena, "converger"), NULL);
    write_leader_lock(t);
}

static void nobody_is_lost_who_came_back_or_is_held(void **state)
{
    static const struct scene scene = {.cell = "present incarnation=7"};
    static const struct scene released = {.cell = "present incarnation=7",
                                          .limiter = "RELEASED cells=c1:7"};
    stopped(&scene, "lose cell=c1 incarnation=7", cell_opens, PLAN_REFUSE);
    stopped(&scene, "lose cell=c1 incarnation=7", limiter_holds_it, PLAN_REFUSE);
    stopped(&released, "lose cell=c1 incarnation=7", limiter_holds_it, PLAN_REFUSE);
    stopped(&scene, "lose cell=c1 incarnation=7", another_leads, PLAN_REFUSE);
}

static void nothing_is_released_that_an_operator_keeps(void **state)
{
    static const struct scene scene = {.limiter = "HELD cells=c1:7 until=1",
                                       .age_ns = 61 * SECOND_NS};
    stopped(&scene, "release", operator_keeps, PLAN_REFUSE);
    stopped(&scene, "release", another_leads, PLAN_REFUSE);
}

/* ---- suspect --------------------------------------------------------------------------------- */

static void cell_returns(struct race *t)
{
    write_cell(t, "present incarnation=8");
}

static void cell_appears(struct race *t)
{
    write_cell(t, "present incarnation=1");
}

static void removed(struct race *t)
{
    write_desired(t, NULL);
}

static void scaled_down(struct race *t)
{
    write_desired(t, "instances=1");
}

static void told_to_hold(struct race *t)
{
    write_desired(t, "instances=2 hold");
}

static void rep_removes(struct race *t)
{
    write_instance(t, ORDINARY, NULL);
}

static void nothing_becomes_suspect_under_a_change(void **state)
{
    static const struct scene lost = {.ordinary = "RUNNING a@c1", .desired = "instances=2",
                                      .cell = "lost incarnation=7"};
    static const struct scene unknown = {.ordinary = "RUNNING a@c1", .desired = "instances=2"};
    stopped(&lost, "suspect", cell_returns, PLAN_REFUSE);
    stopped(&unknown, "suspect", cell_appears, PLAN_REFUSE);
    stopped(&lost, "suspect", removed, PLAN_REFUSE);
    stopped(&lost, "suspect", scaled_down, PLAN_REFUSE);
    stopped(&lost, "suspect", told_to_hold, PLAN_REFUSE);
    stopped(&lost, "suspect", rep_removes, PLAN_NOTHING);
    stopped(&lost, "suspect", another_leads, PLAN_REFUSE);
}

static void suspect_by_another(struct race *t)
{
    write_instance(t, SUSPECT, "RUNNING a@c1");
    write_instance(t, ORDINARY, "UNCLAIMED");
}

/* Two that plan the same make one SUSPECT record, not two replacements. */
static void suspect_twice_is_once(void **state)
{
    static const struct scene lost = {.ordinary = "RUNNING a@c1 since=100",
                                      .desired = "instances=2", .cell = "lost incarnation=7"};
    stopped(&lost, "suspect", suspect_by_another, PLAN_REFUSE);
    struct race t;
    assert_int_equal(race(&t, &lost, "suspect", NULL), PLAN_COMMIT);
    assert_string_equal(instance(&t, SUSPECT)->state, "RUNNING");
    assert_int_equal(instance(&t, SUSPECT)->since, 100 * SECOND_NS);
    assert_string_equal(instance(&t, ORDINARY)->state, "UNCLAIMED");
    race_done(&t);
}

/* ---- resolve --------------------------------------------------------------------------------- */

static void replacement_starts(struct race *t)
{
    write_instance(t, ORDINARY, "RUNNING b@c2");
    write_instance(t, SUSPECT, NULL);
}

static void replacement_crashes(struct race *t)
{
    write_instance(t, ORDINARY, "CRASHED crash=3");
}

static void cell_is_lost_again(struct race *t)
{
    write_cell(t, "lost incarnation=8");
}

static void its_rep_removes(struct race *t)
{
    write_instance(t, SUSPECT, NULL);
}

static void no_instance_is_taken_back_beside_one_that_runs(void **state)
{
    static const struct scene back = {.ordinary = "CLAIMED b@c2", .suspect = "RUNNING a@c1",
                                      .desired = "instances=2", .cell = "present incarnation=8"};
    struct race t;
    stopped(&back, "resolve", replacement_starts, PLAN_NOTHING);
    stopped(&back, "resolve", cell_is_lost_again, PLAN_REFUSE);
    stopped(&back, "resolve", its_rep_removes, PLAN_NOTHING);
    stopped(&back, "resolve", another_leads, PLAN_REFUSE);
    assert_int_equal(race(&t, &back, "resolve", replacement_starts), PLAN_NOTHING);
    assert_string_equal(instance(&t, ORDINARY)->actual_lrp_instance_key->instance_guid, "b");
    race_done(&t);
}

static void the_last_one_that_runs_does_not_go(void **state)
{
    static const struct scene both = {.ordinary = "RUNNING b@c2", .suspect = "RUNNING a@c1",
                                      .desired = "instances=2", .cell = "lost incarnation=7"};
    struct race t;
    stopped(&both, "resolve", replacement_crashes, PLAN_REFUSE);
    assert_int_equal(race(&t, &both, "resolve", replacement_crashes), PLAN_REFUSE);
    assert_non_null(instance(&t, SUSPECT));
    race_done(&t);
}

static void desired_again(struct race *t)
{
    write_desired(t, "instances=2");
}

static void the_domain_goes(struct race *t)
{
    put_record(t->rig, key_domain(&t->arena, ROWS_DOMAIN), NULL);
}

static void write_domain(struct race *t)
{
    Board__DomainRecord domain = BOARD__DOMAIN_RECORD__INIT;
    domain.domain = arena_strdup(&t->arena, ROWS_DOMAIN);
    put_record(t->rig, key_domain(&t->arena, ROWS_DOMAIN), &domain.base);
}

/* `resolve` and `stop` for absence, in a domain that never expires. */
static enum plan_verdict absent(struct race *t, const struct scene *s, const char *move,
                                void (*other)(struct race *))
{
    set(t, s);
    write_domain(t);
    board_rig_run(t->rig, 100 * MILLISECOND_NS);
    board_rig_stall_watch(t->rig, 0, true);
    if (other) {
        other(t);
    }
    start_move(t, move);
    board_rig_run(t->rig, 50 * MILLISECOND_NS);
    board_rig_stall_watch(t->rig, 0, false);
    board_rig_run(t->rig, 3 * SECOND_NS);
    assert_int_equal(t->answers, 1);
    return t->verdict;
}

static void nothing_goes_for_absence_that_is_desired_again(void **state)
{
    static const struct scene suspect = {.suspect = "RUNNING a@c1", .cell = "lost incarnation=7"};
    static const struct scene ordinary = {.ordinary = "RUNNING a@c1", .cell = "lost incarnation=7"};
    static const struct scene *const scenes[] = {&suspect, &ordinary};
    static const char *const moves[] = {"resolve", "stop"};
    for (size_t i = 0; i < 2; i++) {
        struct race t;
        assert_int_equal(absent(&t, scenes[i], moves[i], NULL), PLAN_COMMIT);
        race_done(&t);
        assert_int_equal(absent(&t, scenes[i], moves[i], desired_again), PLAN_REFUSE);
        race_done(&t);
        assert_int_equal(absent(&t, scenes[i], moves[i],
                                the_domain_goes), PLAN_REFUSE);
        race_done(&t);
    }
}

/* A stop of what stood on a lost cell must not take away the record of a rep that is back. */
static void a_stop_on_a_lost_cell_waits_for_a_rep_that_is_back(void **state)
{
    static const struct scene scene = {.ordinary = "RUNNING a@c1 stopping",
                                       .cell = "lost incarnation=7"};
    struct race t;
    assert_int_equal(race(&t, &scene, "stop", NULL), PLAN_COMMIT);
    assert_null(instance(&t, ORDINARY));
    race_done(&t);
    race(&t, &scene, "stop", cell_returns);
    assert_true(instance(&t, ORDINARY)->stopping);
    race_done(&t);
}

static void an_evacuating_one_stays_when_its_cell_is_back(void **state)
{
    static const struct scene scene = {.evacuating = "RUNNING a@c1", .cell = "lost incarnation=7"};
    stopped(&scene, "vacate", cell_returns, PLAN_REFUSE);
}

/* ---- removal beside suspect ------------------------------------------------------------------ */

/* Removed on a copy that does not know yet that the instance became SUSPECT: both records are seen
 * to in the end, or the SUSPECT one would stand for ever in a stale domain. */
static void a_removal_finds_what_became_suspect(void **state)
{
    struct race t;
    set(&t, &(struct scene){.ordinary = "RUNNING a@c1", .desired = "instances=2",
                            .cell = "lost incarnation=7"});
    board_rig_stall_watch(t.rig, 0, true);
    suspect_by_another(&t);
    Models__RemoveDesiredLRPRequest r = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    r.process_guid = arena_strdup(&t.arena, ROWS_PROCESS);
    start_op(&t, &remove_row, ACTOR_CLIENT, &r.base);
    board_rig_run(t.rig, 50 * MILLISECOND_NS);
    board_rig_stall_watch(t.rig, 0, false);
    board_rig_run(t.rig, 3 * SECOND_NS);
    assert_int_equal(t.verdict, PLAN_COMMIT);
    assert_null(instance(&t, ORDINARY));
    assert_true(instance(&t, SUSPECT)->stopping);
    race_done(&t);
}

/* ---- board generation ------------------------------------------------------------------------ */

/* After a restore the records stand, and the board generation is younger than they are (design.md
 * 2, Board generation). */
static void a_domain_of_an_older_board_generation_is_not_fresh(void **state)
{
    struct race t;
    struct scene scene = {.ordinary = "RUNNING a@c1", .cell = "present incarnation=7"};
    set(&t, &scene);
    write_domain(&t);
    Board__BoardGenerationRecord younger = BOARD__BOARD_GENERATION_RECORD__INIT;
    younger.id = arena_strdup(&t.arena, "younger");
    struct view *v = board_view(board_rig_board(t.rig, 0), &t.arena);
    put_record(t.rig, key_epoch(&t.arena, view_board_generation(v)), NULL);
    put_record(t.rig, key_epoch(&t.arena, "younger"), &younger.base);
    board_rig_run(t.rig, 10 * SECOND_NS);
    assert_string_equal(board_generation(board_rig_board(t.rig, 0)), "younger");
    start_move(&t, "stop");
    board_rig_run(t.rig, 3 * SECOND_NS);
    assert_int_equal(t.answers, 1);
    assert_int_equal(t.verdict, PLAN_REFUSE);
    write_domain(&t);
    board_rig_run(t.rig, SECOND_NS);
    start_move(&t, "stop");
    board_rig_run(t.rig, 3 * SECOND_NS);
    assert_int_equal(t.answers, 2);
    assert_int_equal(t.verdict, PLAN_COMMIT);
    race_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_lost_who_came_back_or_is_held),
        cmocka_unit_test(nothing_is_released_that_an_operator_keeps),
        cmocka_unit_test(nothing_becomes_suspect_under_a_change),
        cmocka_unit_test(suspect_twice_is_once),
        cmocka_unit_test(no_instance_is_taken_back_beside_one_that_runs),
        cmocka_unit_test(the_last_one_that_runs_does_not_go),
        cmocka_unit_test(nothing_goes_for_absence_that_is_desired_again),
        cmocka_unit_test(a_stop_on_a_lost_cell_waits_for_a_rep_that_is_back),
        cmocka_unit_test(an_evacuating_one_stays_when_its_cell_is_back),
        cmocka_unit_test(a_removal_finds_what_became_suspect),
        cmocka_unit_test(a_domain_of_an_older_board_generation_is_not_fresh),
    };
    return cmocka_run_group_tests_name("races of a loss", tests, NULL, NULL);
}
