/* What the auctioneer shows people: GET /state, and GET /why of what is on no cell. */
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

#include <string.h>

/* The answer of a path, which holds these parts; NULL ends them, and may stand for none. */
static void expect_shown(struct auction_rig *f, const char *path, int status,
                         const char *const *parts)
{
    const struct reply *r = play_ask(f, "somebody", "GET", path, "", bytes_of(""));
    const char *text = arena_strndup(&f->arena, (const char *)r->body.data, r->body.size);
    if (r->status != status) {
        fail_msg("%s: %d %s", path, r->status, text);
    }
    if (status == 200) {
        assert_string_equal(r->content_type, "application/json");
    }
    for (; parts && *parts; parts++) {
        if (!strstr(text, *parts)) {
            fail_msg("%s is not in %s", *parts, text);
        }
    }
}

static void state_says_who_leads_and_what_is_unplaced(void **state)
{
    struct auction_rig *f = *state;
    play_refuse_lrp(f);
    static const char *const parts[] = {"\"name\":\"auctioneer-1\"",
                                        "\"leads\":true",
                                        "\"term\":11",
                                        "\"board_generation\":\"e1\"",
                                        "\"process_guid\":\"web\"",
                                        "\"reason\":\"insufficient resources: memory\"",
                                        "\"cell_id\":\"a\"",
                                        "\"memory_mb\":99",
                                        "\"refused\":1",
                                        NULL};
    expect_shown(f, "/state", 200, parts);
}

static void state_shows_tasks(void **state)
{
    struct auction_rig *f = *state;
    play_refuse_task(f, 0, NULL);
    static const char *const parts[] = {"\"task_guid\":\"t\"", "\"tasks\":1",
                                        "\"reason\":\"insufficient resources: memory\"", NULL};
    expect_shown(f, "/state", 200, parts);
}

static void why_says_what_the_cells_lack(void **state)
{
    struct auction_rig *f = *state;
    play_refuse_task(f, 0, NULL);
    static const char *const task[] = {"\"task_guid\":\"t\"",
                                       "\"state\":\"unplaced\"",
                                       "\"reason\":\"insufficient resources: memory\"",
                                       "\"memory_mb\":100",
                                       "\"cells\":1",
                                       "\"filter\":\"resources\",\"cells\":1",
                                       "\"short_of_memory\":1",
                                       "\"cell_id\":\"a\"",
                                       "\"lacks_memory_mb\":1",
                                       NULL};
    expect_shown(f, "/why?task_guid=t", 200, task);
    play_actual(f, PUT, "web/a", 2);
    play_send(f);
    static const char *const stray[] = {"\"process_guid\":\"web/a\"", "\"index\":2",
                                        "\"state\":\"not desired\"", NULL};
    expect_shown(f, "/why?process_guid=web%2Fa&index=2", 200, stray);
    expect_shown(f, "/why?process_guid=web%2Fa&index=3", 404, NULL);
    expect_shown(f, "/why?task_guid=u", 404, NULL);
}

static void why_asked_wrongly(void **state)
{
    struct auction_rig *f = *state;
    static const char *const wrong[] = {"/why",
                                        "/why?index=1",
                                        "/why?process_guid=web",
                                        "/why?process_guid=web&index=",
                                        "/why?process_guid=web&index=x",
                                        "/why?process_guid=web&index=-1",
                                        "/why?process_guid=web&index=99999999999",
                                        "/why?task_guid=t&process_guid=web&index=1"};
    drive_start(&f->drive);
    static const char *const standby[] = {"the leader is not known", NULL};
    expect_shown(f, "/why?task_guid=t", 503, standby);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        expect_shown(f, wrong[i], 400, NULL);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(state_says_who_leads_and_what_is_unplaced),
        TEST(state_shows_tasks),
        TEST(why_says_what_the_cells_lack),
        TEST(why_asked_wrongly),
    };
    return cmocka_run_group_tests_name("auction shown", tests, NULL, NULL);
}
