/* Queries for logs (bbs/rest/log_query.h). */
#include "bbs/rest/log_query.h"
#include "test/tool/cmocka.h"

#include <string.h>

static void what_is_wanted_is_asked_in_the_words_of_a_rep(void **state)
{
    static const struct {
        const char *query, *words;
    } rows[] = {
        {"", "follow=0"},
        {"follow=true", "follow=1"},
        {"follow=0&timestamps=1", "follow=0&times=1"},
        {"tail=1", "follow=0&tail=1"},
        {"tail=1000000", "follow=0&tail=1000000"},
        {"tail=007", "follow=0&tail=7"},
        {"since=90s&follow=1", "follow=1&since=90s"},
        {"since=2h", "follow=0&since=2h"},
        {"sinceTime=2026-01-02T03:04:05Z", "follow=0&since=2026-01-02T03:04:05Z"},
        {"sinceTime=2026-01-02T03%3A04%3A05.5Z&tail=3",
         "follow=0&tail=3&since=2026-01-02T03:04:05.5Z"},
        {"previous=true&timestamps=true", "follow=0&times=1"},
        {"&&follow=1&", "follow=1"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct log_query q;
        struct err err;
        assert_int_equal(log_query_read(&a, rows[i].query, &q, &err), 0);
        assert_string_equal(q.words, rows[i].words);
        assert_int_equal(q.previous, strstr(rows[i].query, "previous") != NULL);
    }
}

static void an_instance_is_a_guid_or_an_index(void **state)
{
    SCOPED_ARENA(a);
    struct log_query q;
    struct err err;
    assert_int_equal(log_query_read(&a, "instance=12&sidecar=proxy", &q, &err), 0);
    assert_string_equal(q.instance, "12");
    assert_int_equal(q.index, 12);
    assert_string_equal(q.sidecar, "proxy");
    assert_int_equal(log_query_read(&a, "instance=2147483647", &q, &err), 0);
    assert_int_equal(q.index, INT32_MAX);
    assert_int_equal(log_query_read(&a, "instance=2147483648", &q, &err), 0);
    assert_int_equal(q.index, -1);
    assert_int_equal(log_query_read(&a, "instance=12ab-%2F", &q, &err), 0);
    assert_string_equal(q.instance, "12ab-/");
    assert_int_equal(q.index, -1);
    assert_int_equal(log_query_read(&a, "", &q, &err), 0);
    assert_null(q.instance);
    assert_null(q.sidecar);
}

static void what_cannot_be_is_named(void **state)
{
    static const struct {
        const char *query, *text;
    } rows[] = {
        {"follow=yes", "follow is true or false, not \"yes\""},
        {"previous=maybe", "previous is true or false"},
        {"timestamps=2", "timestamps is true or false"},
        {"follow=1&previous=1", "previous or follow, not both"},
        {"tail=0", "tail is a number from 1 to 1000000, not \"0\""},
        {"tail=1000001", "not \"1000001\""},
        {"tail=99999999999999999999", "tail is a number"},
        {"tail=-1", "tail is a number"},
        {"tail=ten", "not \"ten\""},
        {"tail=1%0a2", "tail is a number"},
        {"since=10", "since is how long ago, as 90s, 10m or 2h, not \"10\""},
        {"since=1d", "since is how long ago"},
        {"since=1h30m", "since is how long ago"},
        {"since=10m%26lines=0", "since is how long ago"},
        {"since=999999999999999h", "since is how long ago"},
        {"sinceTime=yesterday", "sinceTime is a time in UTC"},
        {"sinceTime=2026-01-02T03:04:05%2B01:00", "sinceTime is a time in UTC"},
        {"since=1m&sinceTime=2026-01-02T03:04:05Z", "give one of them"},
        {"folow=1", "there is no parameter \"folow\", but instance"},
        {"follow=1&Tail=3", "there is no parameter \"Tail\""},
        {"=1", "there is no parameter \"\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct log_query q;
        struct err err = {0};
        if (log_query_read(&a, rows[i].query, &q, &err) != -ERR_INVALID ||
            !strstr(err.text, rows[i].text)) {
            fail_msg("%s: %s", rows[i].query, err.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wanted_is_asked_in_the_words_of_a_rep),
        cmocka_unit_test(an_instance_is_a_guid_or_an_index),
        cmocka_unit_test(what_cannot_be_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
