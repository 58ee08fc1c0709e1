/* Locks of outside owners: rows of before, when, plan (rep-auctioneer.md 6;
 * common/lifecycle/lock.def), and when a lock is over. */
#include "bbs/lock/lock.h"
#include "common/model/freshness.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#include <string.h>

enum { TTL_S = 15, REVISION = 7 };

struct lock_row {
    const char *name;
    const char *owner; /* who holds it, with a ttl of 15 s; NULL = nobody */
    int64_t age_ns;    /* for so long this bbs has seen it */
    bool ours;         /* a cell or role of ours bears the name */
    const char *plan;
};

static void fill(struct arena *a, const struct lock_row *row, struct lock_snapshot *s)
{
    *s = (struct lock_snapshot){.ours = row->ours};
    if (row->owner) {
        Board__LockRecord *lock = arena_message(a, &board__lock_record__descriptor);
        lock->key = arena_strdup(a, "k");
        lock->owner = arena_strdup(a, row->owner);
        lock->ttl_s = TTL_S;
        s->lock = lock;
        s->revision = REVISION;
    }
}

static void check(const struct lock_row *row, struct plan *plan)
{
    SCOPED_BUF(printed);
    print_plan(plan, &printed);
    if (strcmp(buf_string(&printed), row->plan) != 0) {
        fail_msg("%s\nexpected:\n%sgot:\n%s", row->name, row->plan, buf_string(&printed));
    }
}

static Models__Resource resource(const char *owner)
{
    Models__Resource r = MODELS__RESOURCE__INIT;
    r.key = (char *)(uintptr_t)"k";
    r.owner = (char *)(uintptr_t)owner;
    r.value = (char *)(uintptr_t)"v";
    r.type_code = MODELS__TYPE_CODE__PRESENCE;
    return r;
}

/* Asked by "me". */
static void locks(void **state)
{
    static const char collision[] = "refuse LockCollision: lock-collision\n";
    static const struct lock_row rows[] = {
        {"1 ours", NULL, 0, true, collision},
        {"1 ours now, though the caller held it", "me", 0, true, collision},
        {"1 ours now, though it is over", "other", 60 * SECOND_NS, true, collision},
        {"1 another's", "other", 0, false, collision},
        {"1 another's, until the last moment", "other", TTL_S * SECOND_NS - 1, false, collision},
        {"2 renewed", "me", 0, false, "put lock/k renew by client\n"},
        {"2 renewed late", "me", 60 * SECOND_NS, false, "put lock/k renew by client\n"},
        {"3 nobody's", NULL, 0, false, "put lock/k claim by client\n"},
        {"3 over", "other", TTL_S * SECOND_NS, false, "put lock/k claim by client\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct plan plan;
        struct random random;
        struct lock_snapshot s;
        plan_init(&plan, &a);
        Models__Resource wanted = resource("me");
        Models__LockRequest r = MODELS__LOCK_REQUEST__INIT;
        r.resource = &wanted;
        r.ttl_in_seconds = 5;
        struct op_input in = row_input(ACTOR_CLIENT, &random, &r.base);
        fill(&a, &rows[i], &s);
        s.since_ns = in.now.mono_ns - rows[i].age_ns;
        lock_decide(&s, &in, &plan);
        check(&rows[i], &plan);
        if (plan.verdict == PLAN_COMMIT) {
            const Board__LockRecord *put = (const Board__LockRecord *)plan.changes->message;
            assert_string_equal(put->key, "k");
            assert_string_equal(put->owner, "me");
            assert_string_equal(put->value, "v");
            assert_int_equal(put->type_code, MODELS__TYPE_CODE__PRESENCE);
            assert_int_equal(put->ttl_s, 5);
        }
    }
}

/* Asked by "me". */
static void releases(void **state)
{
    static const struct lock_row rows[] = {
        {"1 another's", "other", 0, false, "refuse LockCollision: lock-collision\n"},
        {"1 another's, and over", "other", 60 * SECOND_NS, false,
         "refuse LockCollision: lock-collision\n"},
        {"1 ours", NULL, 0, true, "refuse LockCollision: lock-collision\n"},
        {"2 nobody's", NULL, 0, false, "nothing\n"},
        {"3 the caller's", "me", 0, false, "delete lock/k release by client\n"},
        {"3 the caller's, whose name a cell has taken", "me", 0, true,
         "delete lock/k release by client\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct plan plan;
        struct random random;
        struct lock_snapshot s;
        plan_init(&plan, &a);
        Models__Resource wanted = resource("me");
        Models__ReleaseRequest r = MODELS__RELEASE_REQUEST__INIT;
        r.resource = &wanted;
        struct op_input in = row_input(ACTOR_CLIENT, &random, &r.base);
        fill(&a, &rows[i], &s);
        s.since_ns = in.now.mono_ns - rows[i].age_ns;
        release_lock_decide(&s, &in, &plan);
        check(&rows[i], &plan);
    }
}

/* Asked by the converger in term 4, which judged revision 7. */
static void expiries(void **state)
{
    static const struct {
        struct lock_row row;
        int64_t judged, term;
    } rows[] = {
        {{"no lock", NULL, 0, false, "nothing\n"}, REVISION, 4},
        {{"renewed since", "me", 0, false,
          "refuse ResourceConflict: lock k is at revision 7, not at 6 that was judged\n"},
         REVISION - 1, 4},
        {{"over, whatever this bbs has seen", "me", 0, false,
          "delete lock/k expire by converger\n"},
         REVISION, 4},
        {{"an earlier term", "me", 0, false,
          "refuse ResourceConflict: term 3 of the converger is over: the board's is 4\n"},
         REVISION, 3},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct plan plan;
        struct random random;
        struct lock_snapshot s;
        plan_init(&plan, &a);
        Board__Term term = BOARD__TERM__INIT;
        term.role = arena_strdup(&a, "converger");
        term.board_generation = arena_strdup(&a, "e1");
        term.term = rows[i].term;
        Board__Move *m = move_new(&a, "expire", key_lock(&a, "k"));
        m->subject->revision = rows[i].judged;
        m->term = &term;
        struct op_input in = row_input(ACTOR_CONVERGER, &random, &m->base);
        fill(&a, &rows[i].row, &s);
        s.since_ns = in.now.mono_ns;
        s.by.board_generation = "e1";
        s.by.leader_lock_term = 4;
        move_decide(&lock_moves, &s, &in, &plan);
        check(&rows[i].row, &plan);
    }
}

/* The wall clock has no say, and no time to live is too long to count. */
static void a_lock_is_over_after_its_time_and_not_before(void **state)
{
    Board__LockRecord lock = BOARD__LOCK_RECORD__INIT;
    static const struct {
        int64_t ttl_s, seen_ns;
        bool over;
    } rows[] = {
        {1, 0, false},
        {1, SECOND_NS - 1, false},
        {1, SECOND_NS, true},
        {15, 15 * SECOND_NS - 1, false},
        {15, 15 * SECOND_NS, true},
        {INT64_MAX, NEVER_NS - 2 * SECOND_NS, false},
        {15, -SECOND_NS, false}, /* a clock cannot go back; if it did, the lock lives on */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        lock.ttl_s = rows[i].ttl_s;
        for (int64_t wall_ns = 0; wall_ns < 2; wall_ns++) {
            struct moment now = {.mono_ns = SECOND_NS + rows[i].seen_ns,
                                 .wall_ns = wall_ns * (NEVER_NS - 1)};
            assert_int_equal(lock_over(&lock, SECOND_NS, now), rows[i].over);
        }
    }
}

static void roles_names_are_ours(void **state)
{
    assert_true(lock_name_of_role("bbs"));
    assert_true(lock_name_of_role("auctioneer"));
    assert_true(lock_name_of_role("converger"));
    assert_false(lock_name_of_role("rep"));
    assert_false(lock_name_of_role(""));
}

static void only_expire_is_a_move_about_a_lock(void **state)
{
    assert_non_null(move_row_named(&lock_moves, "expire"));
    assert_null(move_row_named(&lock_moves, "claim"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locks),
        cmocka_unit_test(releases),
        cmocka_unit_test(expiries),
        cmocka_unit_test(a_lock_is_over_after_its_time_and_not_before),
        cmocka_unit_test(roles_names_are_ours),
        cmocka_unit_test(only_expire_is_a_move_about_a_lock),
    };
    return cmocka_run_group_tests_name("locks of outside owners", tests, NULL, NULL);
}
