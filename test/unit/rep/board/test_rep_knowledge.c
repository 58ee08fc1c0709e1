/* What a rep knows of its records: by the feed, and by answers that run ahead of it. */
#include "common/model/keys.h"
#include "rep/board/knowledge.h"
#include "test/tool/cmocka.h"

static void learn(struct knowledge *k, const char *key, const char *state, int64_t revision)
{
    Models__ActualLRP record = MODELS__ACTUAL_LRP__INIT;
    record.state = (char *)(uintptr_t)state;
    knowledge_answer(k, key, &record.base, revision);
}

/* Two bbs may answer for one record, the one that was asked first last. */
static void an_older_answer_that_comes_later_changes_nothing(void **state)
{
    struct feed_client feed_client = {0};
    struct knowledge k;
    SCOPED_ARENA(a);
    map_init(&feed_client.records);
    knowledge_init(&k, &feed_client, "cell-1");
    const char *key = key_actual(&a, "web", 0, 0);
    learn(&k, key, "CLAIMED", 11);
    learn(&k, key, "RUNNING", 12);
    learn(&k, key, "CLAIMED", 11);
    assert_string_equal(knowledge_at(&k, &a, key)->state, "RUNNING");
    knowledge_answer(&k, key, NULL, 10); /* that it was not there yet */
    assert_non_null(knowledge_at(&k, &a, key));
    knowledge_answer(&k, key, NULL, 13);
    assert_null(knowledge_at(&k, &a, key));
    knowledge_done(&k);
}

/* An instance's record went, and came anew: the feed told both. Then it begins again, and its
 * snapshot is still to come. */
static void an_answer_that_was_overtaken_stays_so_while_the_feed_begins_again(void **state)
{
    struct feed_client feed_client = {.revision = 11};
    struct knowledge k;
    SCOPED_ARENA(a);
    map_init(&feed_client.records);
    knowledge_init(&k, &feed_client, "cell-1");
    Models__ActualLRPKey index = MODELS__ACTUAL_LRPKEY__INIT;
    index.process_guid = (char *)(uintptr_t) "web";
    const char *key = key_actual(&a, "web", 0, 0);
    knowledge_answer(&k, key, NULL, 12); /* it was removed */
    assert_int_equal(knowledge_of(&k, &a, &index, "i-1", NULL), RECORD_IS_NONE);
    feed_client.revision = 0; /* was 20 */
    feed_client.reached = 20;
    assert_int_equal(knowledge_of(&k, &a, &index, "i-1", NULL), RECORD_IS_UNSEEN);
    learn(&k, key, "CLAIMED", 20); /* that is no news either */
    assert_null(knowledge_at(&k, &a, key));
    learn(&k, key, "CLAIMED", 21);
    assert_non_null(knowledge_at(&k, &a, key));
    knowledge_done(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_answer_that_comes_later_changes_nothing),
        cmocka_unit_test(an_answer_that_was_overtaken_stays_so_while_the_feed_begins_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
