/* Which site a cluster is: each move of its CRM, rule by rule (bbs/site). */
#include "bbs/site/site.h"
#include "common/model/moves.h"
#include "test/decide/laid_board.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define GENERATION "E"
#define TERM 5
static const struct moment now = {.wall_ns = 1000 * SECOND_NS, .mono_ns = 50 * SECOND_NS};

struct row {
    const char *rule;
    const char *cloudlet, *follows; /* of the record; NULL = none */
    const char *move, *says, *generation;
    int64_t term;
    const char *plan;
};

static Board__Move *move_of(struct arena *a, const struct row *row)
{
    Board__Move *m = move_new(a, row->move, key_site(a, SITE_KEY_NAME));
    m->term = arena_message(a, &board__term__descriptor);
    m->term->role = arena_strdup(a, "site");
    m->term->board_generation = arena_strdup(a, GENERATION);
    m->term->term = row->term;
    m->body_case = BOARD__MOVE__BODY_SITE;
    m->site = arena_message(a, &board__site_move__descriptor);
    m->site->cloudlet = arena_strdup(a, row->says);
    m->site->board_generation = arena_strdup(a, row->generation);
    return m;
}

static void lay(struct arena *a, struct laid_board *b, const struct row *row)
{
    Board__LeaderLockRecord *lead = arena_message(a, &board__leader_lock_record__descriptor);
    lead->role = arena_strdup(a, "site");
    laid_put(b, key_lead(a, "site"), &lead->base, TERM, TERM, 0);
    if (row->cloudlet) {
        Board__SiteRecord *s = arena_message(a, &board__site_record__descriptor);
        s->identity = arena_strdup(a, "I");
        s->cloudlet = arena_strdup(a, row->cloudlet);
        s->board_generation = arena_strdup(a, row->follows);
        laid_put(b, key_site(a, SITE_KEY_NAME), &s->base, LAID_FIRST + 1, LAID_FIRST + 1, 0);
    }
}

static const char *plan_text(struct arena *a, const struct plan *p)
{
    if (p->verdict == PLAN_REFUSE) {
        return p->error_message;
    }
    if (p->verdict == PLAN_NOTHING) {
        return "nothing";
    }
    const Board__SiteRecord *s = (const Board__SiteRecord *)p->changes->message;
    assert_int_equal(p->change_count, 1);
    return arena_printf(a, "%s %s %s \"%s\"", p->changes->key,
                        strlen(s->identity) == GUID_BYTES - 1 ? "drawn" : s->identity, s->cloudlet,
                        s->board_generation);
}

static void try_row(const struct row *row)
{
    SCOPED_ARENA(a);
    struct random random;
    struct laid_plan p;
    struct laid_board *b = laid_new(now, GENERATION);
    random_seed(&random, (uint64_t[2]){1, 2});
    lay(&a, b, row);
    const Board__Move *m = move_of(&a, row);
    struct op_input in = {.actor = ACTOR_SITE,
                          .peer_name = "crm-1",
                          .trace_id = "",
                          .boot_id = "b",
                          .request = m,
                          .random = &random,
                          .now = now};
    laid_decide(b, move_row_named(&site_moves, m->move)->op, &in, &a, &p);
    const char *is = plan_text(&a, &p.plan);
    if (strcmp(is, row->plan) != 0) {
        fail_msg("%s:\n%s\nnot\n%s", row->rule, is, row->plan);
    }
    assert_true(p.plan.verdict != PLAN_COMMIT || laid_passes(b, &p.reads));
    laid_free(b);
}

static void each_rule(void **state)
{
    static const struct row rows[] = {
        {"named once", NULL, NULL, "name", "acme/paris", "", TERM,
         "site/identity drawn acme/paris \"\""},
        {"and no more", "acme/paris", "G", "name", "acme/paris", "", TERM, "nothing"},
        {"it is another site", "acme/rome", "", "name", "acme/paris", "", TERM,
         "this cluster is the site of cloudlet acme/rome, not of acme/paris"},
        {"the CRM leads no more", NULL, NULL, "name", "acme/paris", "", TERM - 1,
         "term 4 of the site is over: the board's is 5"},
        {"a generation is followed", "acme/paris", "", "follow", "acme/paris", "G", TERM,
         "site/identity I acme/paris \"G\""},
        {"another one", "acme/paris", "G", "follow", "acme/paris", "H", TERM,
         "site/identity I acme/paris \"H\""},
        {"the same", "acme/paris", "G", "follow", "acme/paris", "G", TERM, "nothing"},
        {"not of another site", "acme/rome", "G", "follow", "acme/paris", "H", TERM,
         "this cluster is the site of cloudlet acme/rome, not of acme/paris"},
        {"nor in another term", "acme/paris", "G", "follow", "acme/paris", "H", TERM + 1,
         "term 6 of the site is over: the board's is 5"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        try_row(&rows[i]);
    }
}

static void none_follows_that_has_no_name(void **state)
{
    SCOPED_ARENA(a);
    struct laid_plan p;
    const struct row row = {
        .move = "follow", .says = "acme/paris", .generation = "G", .term = TERM};
    struct laid_board *b = laid_new(now, GENERATION);
    lay(&a, b, &row);
    struct op_input in = {.actor = ACTOR_SITE,
                          .peer_name = "crm-1",
                          .trace_id = "",
                          .boot_id = "b",
                          .request = move_of(&a, &row),
                          .now = now};
    laid_decide(b, move_row_named(&site_moves, "follow")->op, &in, &a, &p);
    assert_int_equal(p.plan.verdict, PLAN_REFUSE);
    assert_int_equal(p.plan.error_type, MODELS__ERROR__TYPE__ResourceNotFound);
    laid_free(b);
}

static void each_fault_is_said(void **state)
{
    static const struct {
        const char *move, *key, *cloudlet, *generation, *fault;
    } rows[] = {
        {"name", "identity", "acme/paris", "", ""},
        {"follow", "identity", "acme/paris", "G", ""},
        {"name", "another", "acme/paris", "", "key"},
        {"name", "identity", "paris", "", "cloudlet"},
        {"name", "identity", "", "", "cloudlet"},
        {"follow", "identity", "acme/paris", "", "board_generation"},
        {"follow", "identity", "acme/paris",
         "12345678901234567890123456789012345678901234567890123456789012345", "board_generation"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct validation v = {0};
        const struct row row = {
            .move = rows[i].move, .says = rows[i].cloudlet, .generation = rows[i].generation};
        Board__Move *m = move_of(&a, &row);
        m->subject->key = arena_strdup(&a, rows[i].key);
        assert_true(move_well_formed(&a, m));
        move_row_named(&site_moves, rows[i].move)->valid(&v, m);
        assert_int_equal(validation_ok(&v), !*rows[i].fault);
        assert_non_null(strstr(*rows[i].fault ? validation_text(&v) : "", rows[i].fault));
        validation_done(&v);
    }
}

static void nobody_else_brings_them(void **state)
{
    for (size_t i = 0; i < site_moves.count; i++) {
        for (int bit = 0; bit < ACTORS_MAX; bit++) {
            enum actor actor = (enum actor)(1 << bit);
            assert_int_equal(move_permitted(&site_moves, &site_moves.rows[i], actor),
                             actor == ACTOR_SITE);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule),
        cmocka_unit_test(none_follows_that_has_no_name),
        cmocka_unit_test(each_fault_is_said),
        cmocka_unit_test(nobody_else_brings_them),
    };
    return cmocka_run_group_tests_name("site moves", tests, NULL, NULL);
}
