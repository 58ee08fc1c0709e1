/* What the CRM of a site may ask at the centre: its keys, its feed, its moves and its
 * heartbeats. */
#include "bbs/route/crm.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* A row is what acme/paris owns or not, by the feed and by moves alike. */
static const struct {
    const char *kind, *key;
    bool own;
} keys[] = {
    {"cloudlet", "acme/paris", true},
    {"cloudletinfo", "acme/paris", true},
    {"maintenance", "acme/paris", true},
    {"clusterinst", "acme/paris/dev/web", true},
    {"appinst", "acme/paris/dev/web/dev/shop/1.0", true},
    {"cloudlet", "acme/paris2", false},
    {"cloudlet", "acme/pari", false},
    {"cloudlet", "acme/paris/", false},
    {"cloudletinfo", "acme/paris/x", false},
    {"clusterinst", "acme/paris2/dev/web", false},
    {"clusterinst", "acme/paris", false},
    {"clusterinst", "acme/paris/", false},
    {"appinst", "acme/rome/dev/web/dev/shop/1.0", false},
    {"appinst", "acme/parisdev/web", false},
    {"app", "acme/paris", false},
    {"appdef", "acme/paris/1.0/1", false},
    {"maintenance", "acme/rome", false},
    {"refs", "acme/paris", false},
    {"progress", "acme/paris", false},
    {"use", "acme/paris", false},
    {"name", "acme/paris", false},
    {"desired", "acme/paris", false},
    {"cell", "cell-1", false},
    {"", "", false},
};

static void each_key(void **state)
{
    SCOPED_ARENA(a);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *key = arena_printf(&a, "%s/%s", keys[i].kind, keys[i].key);
        Board__Subject subject = BOARD__SUBJECT__INIT;
        Board__Move move = BOARD__MOVE__INIT, bare = BOARD__MOVE__INIT, *moves[] = {&move, &bare};
        Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
        subject.kind = (char *)(uintptr_t)keys[i].kind;
        subject.key = (char *)(uintptr_t)keys[i].key;
        move.subject = &subject;
        request.moves = moves;
        request.n_moves = 1;
        const char *foreign = crm_foreign(&a, "acme/paris", &request);
        if (crm_owns(&a, "acme/paris", key) != keys[i].own || !foreign != keys[i].own) {
            fail_msg("%s is%s its own", key, keys[i].own ? " not" : "");
        }
        request.n_moves = 2;
        assert_non_null(crm_foreign(&a, "acme/paris", &request)); /* one without a subject */
    }
}

/* Nothing that it selects is kept; where it is, is. */
static void the_feed_is_what_it_owns(void **state)
{
    SCOPED_ARENA(a);
    Board__FeedRequest asked = BOARD__FEED_REQUEST__INIT;
    Board__Selector all = BOARD__SELECTOR__INIT, *selectors[] = {&all};
    char topic[] = "desired/", generation[] = "g", boot[] = "b", *topics[] = {topic};
    asked.n_selectors = asked.n_topics = asked.n_new_topics = 1;
    asked.selectors = selectors;
    asked.topics = asked.new_topics = topics;
    asked.board_generation = generation;
    asked.revision = 7;
    asked.boot_id = boot;
    asked.heartbeat_revision = 5;
    const Board__FeedRequest *r = crm_feed(&a, "acme/paris", &asked);
    assert_int_equal(r->n_selectors, 0);
    assert_int_equal(r->n_new_topics, 0);
    assert_int_equal(r->n_topics, 5);
    for (size_t i = 0; i < r->n_topics; i++) {
        const char *key = arena_printf(&a, "%s%s", r->topics[i],
                                       r->topics[i][strlen(r->topics[i]) - 1] == '/' ? "x" : "");
        assert_true(crm_owns(&a, "acme/paris", key));
    }
    assert_string_equal(r->board_generation, "g");
    assert_int_equal(r->revision, 7);
    assert_string_equal(r->boot_id, "b");
    assert_int_equal(r->heartbeat_revision, 5);
}

static void a_heartbeat_is_of_the_session(void **state)
{
    SCOPED_ARENA(a);
    Board__CloudletInfoRecord info = BOARD__CLOUDLET_INFO_RECORD__INIT;
    assert_string_equal(session_refused(&a, "acme/paris", NULL, 1),
                        "cloudlet acme/paris has no session: open one");
    assert_non_null(session_refused(&a, "acme/paris", &info, 0)); /* none was ever opened */
    info.session = 7;
    info.former_session = 6;
    assert_null(session_refused(&a, "acme/paris", &info, 7));
    assert_string_equal(session_refused(&a, "acme/paris", &info, 6),
                        "session 6 of cloudlet acme/paris is over: the board's is 7");
    assert_non_null(session_refused(&a, "acme/paris", &info, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key),
        cmocka_unit_test(the_feed_is_what_it_owns),
        cmocka_unit_test(a_heartbeat_is_of_the_session),
    };
    return cmocka_run_group_tests_name("crm access", tests, NULL, NULL);
}
