/* Cells, leaders' locks, domains: rows of before, when, plan (design.md 5, 6; behaviour.md 7). */
#include "bbs/cell/cell.h"
#include "bbs/domain/domain.h"
#include "bbs/leader_lock/leader_lock.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* ---- incarnations
 * -------------------------------------------------------------------------------- */

static void incarnations(void **state)
{
    static const struct {
        const char *name;
        const char *stands; /* NULL = none */
        const char *wanted;
        const char *plan;
        bool leave, known;
        int64_t until_s; /* of the record then */
        int64_t since_s; /* the same; 0 = now */
    } rows[] = {
        {"a new cell", NULL, "present incarnation=1 identity=A", "put cell/c1 open by rep\n"},
        {"0 a late report", NULL, "present incarnation=1 identity=A",
         "refuse ResourceNotFound: cell c1 is unknown, or has left: register the cell first\n",
         .known = true},
        {"3 a report", "present incarnation=5 identity=A zone=z",
         "present incarnation=5 identity=A zone=y", "put cell/c1 open by rep\n", .known = true},
        {"1 an older incarnation", "present incarnation=5 identity=A",
         "present incarnation=4 identity=A",
         "refuse ResourceConflict: incarnation 4 of cell c1 is older than the board's 5: a newer "
         "rep "
         "of this state directory has taken over\n"},
        {"1 a stranger", "present incarnation=5 identity=A", "present incarnation=9 identity=B",
         "refuse ResourceConflict: cell c1 is present and has another state directory: start the "
         "rep with that one, give it another cell id, or wait until the cell is lost\n"},
        {"1 a stranger with the predecessor's incarnation", "lost incarnation=5 identity=A",
         "present incarnation=5 identity=B",
         "refuse ResourceConflict: cell c1 is lost, and incarnation 5 is not higher than the "
         "board's "
         "5: raise it above that and open again\n"},
        {"1 a lost cell's own incarnation", "lost incarnation=5 identity=A",
         "present incarnation=5 identity=A",
         "refuse ResourceConflict: cell c1 is lost, and incarnation 5 is not higher than the "
         "board's "
         "5: raise it above that and open again\n"},
        {"1 a lost cell's older incarnation", "lost incarnation=5 identity=A",
         "present incarnation=4 identity=A",
         "refuse ResourceConflict: cell c1 is lost, and incarnation 4 is not higher than the "
         "board's "
         "5: raise it above that and open again\n"},
        {"2 the same again", "present incarnation=5 identity=A zone=z since=10",
         "present incarnation=5 identity=A zone=z", "nothing\n"},
        {"3 restarted", "present incarnation=5 identity=A", "present incarnation=6 identity=A",
         "put cell/c1 open by rep\n"},
        {"3 restarted, by a clock that is behind", "present incarnation=5 identity=A since=1020",
         "present incarnation=6 identity=A", "put cell/c1 open by rep\n", .since_s = 1020},
        {"3 the same incarnation, another zone", "present incarnation=5 identity=A zone=z",
         "present incarnation=5 identity=A zone=y", "put cell/c1 open by rep\n"},
        {"3 restarted in a node pool, which gives it back",
         "present incarnation=5 identity=A pool=pool:u//:m#1 leaves",
         "present incarnation=6 identity=A", "put cell/c1 open by rep\n"},
        {"3 back from lost", "lost incarnation=5 identity=A", "present incarnation=6 identity=A",
         "put cell/c1 open by rep\n"},
        {"3 a stranger on a lost cell", "lost incarnation=5 identity=A until=1100",
         "present incarnation=6 identity=B", "put cell/c1 open by rep\n"},
        {"3 it begins to be emptied", "present incarnation=5 identity=A",
         "present incarnation=5 identity=A until=1100", "put cell/c1 open by rep\n",
         .until_s = 1100},
        {"2 a retry of what came before that", "present incarnation=5 identity=A until=1100",
         "present incarnation=5 identity=A", "nothing\n"},
        {"3 restarted while it is emptied: its rep says so itself",
         "present incarnation=5 identity=A until=1100",
         "present incarnation=6 identity=A until=1090", "put cell/c1 open by rep\n",
         .until_s = 1090},
        {"3 the board went back to when it was emptied",
         "present incarnation=5 identity=A until=1100", "present incarnation=6 identity=A",
         "put cell/c1 open by rep\n"},
        {"3 back from lost while it is emptied", "lost incarnation=5 identity=A until=1100",
         "present incarnation=6 identity=A until=1100", "put cell/c1 open by rep\n",
         .until_s = 1100},
        {"3 back from lost, and emptied no more", "lost incarnation=5 identity=A until=1100",
         "present incarnation=6 identity=A", "put cell/c1 open by rep\n"},
        {"4 it leaves", "present incarnation=5 identity=A until=1100",
         "present incarnation=5 identity=A", "delete cell/c1 leave by rep\n", .leave = true},
        {"4 lost meanwhile", "lost incarnation=5 identity=A", "present incarnation=5 identity=A",
         "delete cell/c1 leave by rep\n", .leave = true},
        {"4 again", NULL, "present incarnation=5 identity=A", "nothing\n", .leave = true},
        {"4 an older incarnation", "present incarnation=6 identity=A",
         "present incarnation=5 identity=A",
         "refuse ResourceConflict: incarnation 5 of cell c1 is over: the board's is 6\n",
         .leave = true},
        {"4 a newer incarnation", "present incarnation=4 identity=A",
         "present incarnation=5 identity=A",
         "refuse ResourceConflict: incarnation 5 of cell c1 is over: the board's is 4\n",
         .leave = true},
        {"4 a stranger", "present incarnation=5 identity=B", "present incarnation=5 identity=A",
         "refuse ResourceConflict: incarnation 5 of cell c1 is over: the board's is 5\n",
         .leave = true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct plan plan;
        SCOPED_BUF(printed);
        struct random random;
        plan_init(&plan, &a);
        Board__CellRequest r = BOARD__CELL_REQUEST__INIT;
        r.cell = row_cell(&a, rows[i].wanted);
        r.leave = rows[i].leave;
        r.known = rows[i].known;
        struct cell_snapshot s = {.cell = rows[i].stands ? row_cell(&a, rows[i].stands) : NULL};
        struct op_input in = row_input(ACTOR_REP, &random, &r.base);
        cell_decide(&s, &in, &plan);
        print_plan(&plan, &printed);
        if (strcmp(buf_string(&printed), rows[i].plan) != 0) {
            fail_msg("%s\nexpected:\n%sgot:\n%s", rows[i].name, rows[i].plan,
                     buf_string(&printed));
        }
        if (plan.verdict == PLAN_COMMIT && !r.leave) {
            const Board__CellRecord *after = (const Board__CellRecord *)plan.record;
            assert_int_equal(after->state, BOARD__CELL_RECORD__STATE__PRESENT);
            assert_int_equal(after->incarnation, r.cell->incarnation);
            assert_int_equal(after->evacuating, rows[i].until_s != 0);
            assert_int_equal(after->evacuate_until, rows[i].until_s * SECOND_NS);
            assert_string_equal(after->pool, s.cell ? s.cell->pool : "");
            assert_int_equal(after->pool_leaves, s.cell && s.cell->pool_leaves);
            int64_t since_s = rows[i].since_s ? rows[i].since_s : ROWS_NOW_S;
            assert_int_equal(after->since, since_s * SECOND_NS);
        }
    }
}

static void cells_are_validated(void **state)
{
    SCOPED_ARENA(a);
    struct validation v = {0};
    Board__CellRequest r = BOARD__CELL_REQUEST__INIT;
    valid_cell(&v, &r);
    assert_string_equal(validation_text(&v), "Invalid field: cell");
    validation_done(&v);
    v = (struct validation){0};
    r.cell = row_cell(&a, "present incarnation=0");
    r.cell->presence->cell_id = r.cell->presence->rep_url = r.cell->identity;
    valid_cell(&v, &r);
    assert_string_equal(
        validation_text(&v),
        "Invalid field: cell_id, Invalid field: identity, Invalid field: incarnation, "
        "Invalid field: rep_url");
    validation_done(&v);
    v = (struct validation){0};
    r.cell = row_cell(&a, "present incarnation=1 identity=A");
    valid_cell(&v, &r);
    assert_true(validation_ok(&v));
    validation_done(&v);
}

static void heartbeats(void **state)
{
    SCOPED_ARENA(a);
    assert_string_equal(incarnation_refused(&a, NULL, "c1", 5),
                        "cell c1 is unknown: register the cell first");
    assert_string_equal(incarnation_refused(&a, row_cell(&a, "lost incarnation=5"), "c1", 5),
                        "cell c1 is lost: register the cell first");
    assert_string_equal(incarnation_refused(&a, row_cell(&a, "present incarnation=6"), "c1", 5),
                        "incarnation 5 of cell c1 is over: the board's is 6");
    assert_null(incarnation_refused(&a, row_cell(&a, "present incarnation=5"), "c1", 5));
    assert_string_equal(term_refused(&a, "auctioneer", 4, 3),
                        "term 3 of the auctioneer is over: the board's is 4");
    assert_non_null(term_refused(&a, "auctioneer", 0, 3));
    assert_non_null(term_refused(&a, "auctioneer", 0, 0)); /* nobody leads */
    assert_null(term_refused(&a, "auctioneer", 3, 3));
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void locks(void **state)
{
    static const struct {
        const char *name;
        const char *holder; /* that stands, in term 7; NULL = free */
        int64_t displace, release;
        const char *plan;
    } rows[] = {
        {"1 given back", "me", 0, 7, "delete lead/auctioneer release by auctioneer\n"},
        {"1 another term", "me", 0, 6, "nothing\n"},
        {"1 another's", "you", 0, 7, "nothing\n"},
        {"1 free already", NULL, 0, 7, "nothing\n"},
        {"2 free", NULL, 0, 0, "put lead/auctioneer acquire by auctioneer\n"},
        {"2 free, though a holder was to be displaced", NULL, 7, 0,
         "put lead/auctioneer acquire by auctioneer\n"},
        {"3 held by the caller", "me", 0, 0, "nothing\n"},
        {"4 displaced", "you", 7, 0, "delete lead/auctioneer displace by auctioneer\n"},
        {"5 of another term: not displaced", "you", 6, 0,
         "refuse ResourceConflict: you leads as auctioneer in term 7\n"},
        {"5 held by another", "you", 0, 0,
         "refuse ResourceConflict: you leads as auctioneer in term 7\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct plan plan;
        SCOPED_BUF(printed);
        struct random random;
        plan_init(&plan, &a);
        Board__LeaderLockRecord wanted = BOARD__LEADER_LOCK_RECORD__INIT,
                                stands = BOARD__LEADER_LOCK_RECORD__INIT;
        wanted.role = stands.role = arena_strdup(&a, "auctioneer");
        wanted.holder = arena_strdup(&a, "me");
        stands.holder = arena_strdup(&a, rows[i].holder);
        Board__LeaderLockRequest r = BOARD__LEADER_LOCK_REQUEST__INIT;
        r.leader_lock = &wanted;
        r.displace = rows[i].displace;
        r.release = rows[i].release;
        struct leader_lock_snapshot s = {0};
        if (rows[i].holder) {
            s = (struct leader_lock_snapshot){.leader_lock = &stands, .term = 7};
        }
        struct op_input in = row_input(ACTOR_AUCTIONEER, &random, &r.base);
        leader_lock_decide(&s, &in, &plan);
        print_plan(&plan, &printed);
        if (strcmp(buf_string(&printed), rows[i].plan) != 0) {
            fail_msg("%s\nexpected:\n%sgot:\n%s", rows[i].name, rows[i].plan,
                     buf_string(&printed));
        }
    }
}

/* ---- domains --------------------------------------------------------------------------------- */

static void upserts(void **state)
{
    static const struct {
        bool known;
        uint32_t ttl_before_s, ttl_s;
        bool put, restored;
    } rows[] = {
        {false, 0, 0, true}, {false, 0, 30, true}, {true, 0, 0, false}, {true, 0, 0, true, true},
        {true, 30, 0, true}, {true, 0, 30, true},  {true, 30, 30, true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct plan plan;
        struct random random;
        plan_init(&plan, &a);
        Models__UpsertDomainRequest r = MODELS__UPSERT_DOMAIN_REQUEST__INIT;
        r.domain = arena_strdup(&a, "d/1");
        r.ttl = rows[i].ttl_s;
        Board__DomainRecord before = BOARD__DOMAIN_RECORD__INIT;
        before.ttl_s = rows[i].ttl_before_s;
        struct domain_snapshot s = {.domain = rows[i].known ? &before : NULL,
                                    .seen.in_this_board_generation = !rows[i].restored};
        struct op_input in = row_input(ACTOR_CLIENT, &random, &r.base);
        upsert_domain_decide(&s, &in, &plan);
        assert_int_equal(plan.change_count, rows[i].put ? 1 : 0);
        if (rows[i].put) {
            const Board__DomainRecord *d = (const Board__DomainRecord *)plan.changes->message;
            assert_string_equal(plan.changes->key, "domain/d%2F1");
            assert_int_equal(d->expires_at,
                             r.ttl ? (ROWS_NOW_S + r.ttl) * (int64_t)SECOND_NS : 0);
        }
    }
}

static void freshness(void **state)
{
    static const struct {
        const char *name;
        uint32_t ttl_s;
        int64_t expires_ms, seen_ms, now_mono_ms, now_wall_ms;
        bool fresh, listed, restored;
        int64_t late_ms; /* it was written so long before it was seen at most; -1 = nobody knows */
    } rows[] = {
        {"forever", 0, 0, 0, 9000000, 9000000, true, true},
        {"forever, found", 0, 0, 0, 9000000, 9000000, true, true, .late_ms = -1},
        {"forever, before a restore", 0, 0, 0, 9000000, 9000000, false, false, true},
        {"ahead, before a restore", 10, 20000, 5000, 14999, 19400, false, false, true},
        {"ahead", 10, 20000, 5000, 14999, 19400, true, true},
        {"expired on the wall", 10, 20000, 5000, 6000, 20000, false, false},
        {"a clock set back does not bring it back", 10, 20000, 5000, 15000, 12000, false, false},
        {"the list rounds the second down", 10, 20200, 5000, 6000, 20300, false, true},
        {"the list rounds the second up", 10, 20000, 5000, 6000, 19500, true, false},
        {"told late, within its time", 10, 20000, 5000, 12999, 19400, true, true, .late_ms = 2000},
        {"told late, maybe beyond it", 10, 20000, 5000, 13000, 19400, false, true, .late_ms = 2000},
        /* A bbs that was started again with a clock hours behind. */
        {"found, and no older than a clock says", 10, 20000, 5000, 6000, 12000, false, true,
         .late_ms = -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Board__DomainRecord d = BOARD__DOMAIN_RECORD__INIT;
        d.ttl_s = rows[i].ttl_s;
        d.expires_at = rows[i].expires_ms * MILLISECOND_NS;
        struct moment now = {.mono_ns = rows[i].now_mono_ms * MILLISECOND_NS,
                             .wall_ns = rows[i].now_wall_ms * MILLISECOND_NS};
        int64_t after_ms = rows[i].late_ms < 0 ? 0 : rows[i].seen_ms - rows[i].late_ms;
        struct domain_seen seen = {.at = {.since_ns = rows[i].seen_ms * MILLISECOND_NS,
                                          .after_ns = after_ms * MILLISECOND_NS},
                                   .in_this_board_generation = !rows[i].restored};
        if (domain_fresh(&d, seen, now) != rows[i].fresh ||
            domain_listed(&d, seen, now) != rows[i].listed) {
            fail_msg("%s", rows[i].name);
        }
    }
    assert_true(domain_in_board_generation(8, 7));
    assert_false(domain_in_board_generation(7, 7));
    assert_false(domain_in_board_generation(7, 0)); /* it is not known: doubt means stale */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incarnations), cmocka_unit_test(cells_are_validated),
        cmocka_unit_test(heartbeats),    cmocka_unit_test(locks),
        cmocka_unit_test(upserts),  cmocka_unit_test(freshness),
    };
    return cmocka_run_group_tests_name("cells, locks, domains", tests, NULL, NULL);
}
