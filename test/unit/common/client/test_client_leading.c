/* What every role has of which one leads: that it follows what it said, hears its changes after its
 * leader, and ends as it should. */
#include "common/client/leading.h"
#include "test/tool/cmocka.h"
#include "test/unit/drive.h"
#include "test/unit/bbs/board/feed_frames.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct leading life; /* first */
    struct drive drive;
    struct arena arena;
    struct buf sent;
    size_t acted;       /* steps in which the role came to what it is there for */
    bool held_when_put; /* what the leader knew of the lock when the role heard of it */
};

static void on_change(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record, struct effects *out)
{
    struct fixture *x = context;
    if (change == FEED_CLIENT_PUT && strcmp(key, "lead/auctioneer") == 0) {
        x->held_when_put = x->life.leader.held;
    }
}

static void step(void *target, const struct event *ev, struct effects *out)
{
    struct fixture *x = target;
    if (leading_begin(&x->life, ev, out)) {
        leading_elect(&x->life, ev, out);
        x->acted++;
        leading_end(&x->life, ev, out);
    }
}

static const struct role_ops ops = {.name = "auctioneer"};

static const struct leading_selector selectors[] = {
    {"actual", "UNCLAIMED", NULL},
    {"lead", NULL, "lead/auctioneer"},
    {"beat", NULL, NULL},
};

static void begin(struct fixture *x, const char *boards, const struct leading_selector *list,
                  size_t count)
{
    *x = (struct fixture){0};
    arena_init(&x->arena);
    buf_init(&x->sent);
    leading_init(&x->life, &(struct leading_config){
                               .ops = &ops,
                               .name = "auctioneer-1",
                               .boards = boards,
                               .url = "https://me:1",
                               .selectors = list,
                               .selector_count = count,
                               .on_change = on_change,
                           });
    drive_init(&x->drive, step, x);
}

static void end(struct fixture *x)
{
    leading_done(&x->life);
    drive_done(&x->drive);
    buf_done(&x->sent);
    arena_done(&x->arena);
}

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    begin(x, "https://a:1", selectors, sizeof(selectors) / sizeof(selectors[0]));
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    end(x);
    free(x);
    return 0;
}

static const Board__FeedRequest *asked(struct fixture *x)
{
    drive_start(&x->drive);
    const struct call *call = drive_call(&x->drive, "https://a:1/v1/board/feed", 0);
    assert_non_null(call);
    ProtobufCAllocator allocator = arena_protobuf(&x->arena);
    return board__feed_request__unpack(&allocator, call->body.size, call->body.data);
}

static void it_follows_what_the_role_named(void **state)
{
    struct fixture *x = *state;
    const Board__FeedRequest *r = asked(x);
    assert_int_equal(r->n_selectors, 3);
    for (size_t i = 0; i < r->n_selectors; i++) {
        const char *state_named = selectors[i].state, *prefix = selectors[i].key_prefix;
        assert_string_equal(r->selectors[i]->type, selectors[i].type);
        assert_string_equal(r->selectors[i]->state, state_named ? state_named : "");
        assert_string_equal(r->selectors[i]->key_prefix, prefix ? prefix : "");
    }
}

static void as_many_selectors_as_the_bound_are_followed(void **state)
{
    struct fixture *x = *state;
    struct leading_selector many[LEADING_SELECTORS_MAX] = {{"lead", NULL, NULL},
                                                           {"beat", NULL, NULL}};
    for (size_t i = 2; i < LEADING_SELECTORS_MAX; i++) {
        many[i] = (struct leading_selector){"cell", NULL, arena_printf(&x->arena, "cell/%zu", i)};
    }
    struct fixture most;
    begin(&most, "https://a:1", many, LEADING_SELECTORS_MAX);
    const Board__FeedRequest *r = asked(&most);
    assert_int_equal(r->n_selectors, LEADING_SELECTORS_MAX);
    assert_string_equal(r->selectors[LEADING_SELECTORS_MAX - 1]->key_prefix,
                        many[LEADING_SELECTORS_MAX - 1].key_prefix);
    end(&most);
}

static void the_leader_hears_of_the_lock_before_the_role(void **state)
{
    struct fixture *x = *state;
    drive_start(&x->drive);
    Board__LeaderLockRecord other = BOARD__LEADER_LOCK_RECORD__INIT;
    other.holder = arena_strdup(&x->arena, "other");
    frame_reset(&x->sent, "e1");
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__RECORD, "lead/auctioneer", &other.base, 5);
    drive_stream(&x->drive, x->life.feed_client.call_id, buf_bytes(&x->sent));
    assert_true(x->held_when_put);
}

/* Once, and then it does nothing any more. */
static void assert_ends_with(struct fixture *x, const char *text)
{
    drive_start(&x->drive);
    const struct effect *e = drive_effect(&x->drive, EFFECT_EXIT, 0);
    assert_non_null(e);
    assert_int_equal(e->exit.code, LEADING_EXIT_USAGE);
    assert_non_null(strstr(e->exit.text, text));
    drive_timer(&x->drive);
    assert_int_equal(x->drive.out.count, 0);
    assert_int_equal(x->acted, 0);
}

static void a_role_that_is_refused_ends_at_once(void **state)
{
    struct fixture *x = *state;
    struct err why;
    err_set(&why, ERR_INVALID, "no such scoring");
    leading_refuse(&x->life, &why);
    assert_ends_with(x, "no such scoring");
}

static void of_two_reasons_the_first_stands(void **state)
{
    struct fixture *x = *state;
    struct err why;
    end(x);
    begin(x, "http://a:1", selectors, sizeof(selectors) / sizeof(selectors[0]));
    err_set(&why, ERR_INVALID, "no such scoring");
    leading_refuse(&x->life, &why);
    assert_ends_with(x, "not https");
}

/* Once a bbs is there again a leader must be found within 8 s (design.md 6), 6 s of which a
 * standby waits. */
static void it_never_waits_for_long_to_follow_again(void **state)
{
    struct fixture *x = *state;
    drive_start(&x->drive);
    int64_t due = 0;
    for (int i = 0; i < 10; i++) {
        drive_closed(&x->drive, x->life.feed_client.call_id);
        due = x->life.feed_client.retry_ns - x->drive.now.mono_ns;
        assert_in_range(due, FEED_CLIENT_BACK_OFF_NS, LEADING_BACK_OFF_MAX_NS);
        drive_advance(&x->drive, due / MILLISECOND_NS + 1);
        assert_int_not_equal(x->life.feed_client.call_id, 0);
    }
    assert_int_equal(due, LEADING_BACK_OFF_MAX_NS);
}

/* A program may lead under another name than its own: a CRM leads as the site. */
static void it_leads_under_the_name_that_it_was_given(void **state)
{
    struct fixture *x = *state;
    leading_done(&x->life);
    leading_init(&x->life, &(struct leading_config){.ops = &ops,
                                                    .lead_name = "site",
                                                    .name = "crm-1",
                                                    .boards = "https://a:1",
                                                    .url = "https://me:1",
                                                    .selectors = selectors,
                                                    .selector_count = 3,
                                                    .on_change = on_change});
    drive_start(&x->drive);
    frame_reset(&x->sent, "e1");
    frame_current(&x->sent, "e1", 5);
    drive_stream(&x->drive, x->life.feed_client.call_id, buf_bytes(&x->sent));
    const struct call *call = drive_call(&x->drive, "/v1/board/leader_lock", 0);
    assert_non_null(call);
    ProtobufCAllocator allocator = arena_protobuf(&x->arena);
    const Board__LeaderLockRequest *r =
        board__leader_lock_request__unpack(&allocator, call->body.size, call->body.data);
    assert_string_equal(r->leader_lock->role, "site");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_follows_what_the_role_named),
        TEST(as_many_selectors_as_the_bound_are_followed),
        TEST(the_leader_hears_of_the_lock_before_the_role),
        TEST(it_never_waits_for_long_to_follow_again),
        TEST(a_role_that_is_refused_ends_at_once),
        TEST(of_two_reasons_the_first_stands),
        TEST(it_leads_under_the_name_that_it_was_given),
    };
    return cmocka_run_group_tests_name("leading", tests, NULL, NULL);
}
