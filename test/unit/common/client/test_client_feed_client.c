/* The feed client: what it makes of a feed, whole, split, broken, silent or malformed. */
#include "common/client/feed_client.h"
#include "test/tool/cmocka.h"
#include "test/unit/drive.h"
#include "test/unit/bbs/board/feed_frames.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

struct fixture {
    struct drive drive;
    struct arena arena;
    uint64_t next_call_id;
    struct boards boards;
    struct feed_client feed_client;
    struct buf changes; /* "reset put:a@3 current " ... */
    struct buf sent;
};

static void note(void *context, enum feed_client_change change, const char *key,
                 const struct followed *record, struct effects *out)
{
    struct fixture *x = context;
    static const char *const names[] = {"reset", "put", "delete", "current"};
    buf_append_string(&x->changes, names[change]);
    if (record) {
        buf_printf(&x->changes, ":%s@%lld", key, (long long)record->mod_revision);
    }
    buf_append_string(&x->changes, " ");
}

static void step(void *target, const struct event *ev, struct effects *out)
{
    struct fixture *x = target;
    feed_client_step(&x->feed_client, ev, out);
}

static const Board__Selector *selectors(void)
{
    static Board__Selector cells = BOARD__SELECTOR__INIT;
    static char type[] = "cell";
    cells.type = type;
    return &cells;
}

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    static const Board__Selector *list[1];
    list[0] = selectors();
    x->next_call_id = 1;
    arena_init(&x->arena);
    buf_init(&x->changes);
    buf_init(&x->sent);
    if (boards_init(&x->boards, &x->arena, "https://a:1,https://b:2", &x->next_call_id, NULL)) {
        return -1;
    }
    x->feed_client = (struct feed_client){.boards = &x->boards,
                                          .selectors = list,
                                          .selector_count = 1,
                                          .on_change = note,
                                          .context = x};
    feed_client_init(&x->feed_client);
    drive_init(&x->drive, step, x);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    feed_client_done(&x->feed_client);
    drive_done(&x->drive);
    buf_done(&x->changes);
    buf_done(&x->sent);
    arena_done(&x->arena);
    free(x);
    return 0;
}

static void send(struct fixture *x)
{
    struct buf once = x->sent;
    buf_init(&x->sent);
    drive_stream(&x->drive, x->feed_client.call_id, buf_bytes(&once));
    buf_done(&once);
}

static void expect_changes(struct fixture *x, const char *changes)
{
    assert_string_equal(buf_string(&x->changes), changes);
    buf_clear(&x->changes);
}

static void change(struct fixture *x, Board__FeedFrame__Kind kind, const char *key, int64_t rev)
{
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    cell.incarnation = (uint64_t)rev;
    frame_change(&x->sent, kind, key, &cell.base, rev);
}

#define RECORD BOARD__FEED_FRAME__KIND__RECORD
#define PUT BOARD__FEED_FRAME__KIND__PUT
#define DELETE BOARD__FEED_FRAME__KIND__DELETE

static void snapshot(struct fixture *x)
{
    frame_reset(&x->sent, "e1");
    change(x, RECORD, "cell/a", 3);
    change(x, RECORD, "cell/b", 4);
    frame_current(&x->sent, "e1", 7);
}

/* Started, with a, b at revision 7. */
static void begin(struct fixture *x)
{
    drive_start(&x->drive);
    snapshot(x);
    send(x);
    assert_true(x->feed_client.current);
    buf_clear(&x->changes);
}

static Board__FeedRequest *asked(struct fixture *x, const char *url)
{
    const struct call *call = drive_call(&x->drive, "/v1/board/feed", 0);
    assert_non_null(call);
    assert_string_equal(call->url, url);
    assert_string_equal(call->method, "POST");
    assert_string_equal(call->content_type, "application/x-protobuf");
    assert_true(call->deadline_ns == NEVER_NS);
    ProtobufCAllocator allocator = arena_protobuf(&x->drive.arena);
    Board__FeedRequest *r =
        board__feed_request__unpack(&allocator, call->body.size, call->body.data);
    assert_non_null(r);
    return r;
}

static void subscribes_from_nothing_at_the_start(void **state)
{
    struct fixture *x = *state;
    drive_start(&x->drive);
    Board__FeedRequest *r = asked(x, "https://a:1/v1/board/feed");
    assert_int_equal(r->n_selectors, 1);
    assert_string_equal(r->selectors[0]->type, "cell");
    assert_string_equal(r->board_generation, "");
    assert_int_equal(r->revision, 0);
    assert_false(x->feed_client.current);
}

static void snapshot_then_changes_make_the_copy(void **state)
{
    struct fixture *x = *state;
    drive_start(&x->drive);
    snapshot(x);
    change(x, PUT, "cell/c", 8);
    change(x, DELETE, "cell/a", 9);
    change(x, PUT, "cell/b", 10);
    send(x);
    expect_changes(x, "reset put:cell/a@3 put:cell/b@4 current put:cell/c@8 delete:cell/a@3 "
                      "put:cell/b@10 ");
    assert_int_equal(x->feed_client.records.count, 2);
    assert_null(feed_client_get(&x->feed_client, "cell/a"));
    const struct followed *b = feed_client_get(&x->feed_client, "cell/b");
    assert_int_equal(b->mod_revision, 10);
    assert_int_equal(b->record->data[0], 1);
    assert_int_equal(b->record->size, 3); /* version byte, incarnation = 10 */
    /* More of revision 10 may come: it is complete when the heartbeat says so. */
    assert_int_equal(x->feed_client.revision, 9);
    frame_heartbeat(&x->sent, "e1", 12);
    send(x);
    assert_int_equal(x->feed_client.revision, 12);
    assert_int_equal(x->feed_client.compared_revision, 12);
    expect_changes(x, "");
}

static void frames_may_be_split_at_each_byte(void **state)
{
    struct fixture *x = *state;
    snapshot(x);
    change(x, PUT, "cell/c", 8);
    struct buf whole = x->sent;
    buf_init(&x->sent);
    for (size_t cut = 0; cut <= whole.size; cut++) {
        feed_client_done(&x->feed_client);
        feed_client_init(&x->feed_client);
        drive_start(&x->drive);
        uint64_t id = x->feed_client.call_id;
        drive_stream(&x->drive, id, (struct bytes){whole.data, cut});
        drive_stream(&x->drive, id, (struct bytes){whole.data + cut, whole.size - cut});
        expect_changes(x, "reset put:cell/a@3 put:cell/b@4 current put:cell/c@8 ");
        assert_int_equal(x->feed_client.partial.size, 0);
    }
    feed_client_done(&x->feed_client);
    feed_client_init(&x->feed_client);
    drive_start(&x->drive);
    for (size_t i = 0; i < whole.size; i++) {
        drive_stream(&x->drive, x->feed_client.call_id, (struct bytes){whole.data + i, 1});
    }
    expect_changes(x, "reset put:cell/a@3 put:cell/b@4 current put:cell/c@8 ");
    buf_done(&whole);
}

static void resumes_below_a_revision_that_may_be_half_told(void **state)
{
    struct fixture *x = *state;
    begin(x);
    change(x, PUT, "cell/c", 9);
    send(x);
    expect_changes(x, "put:cell/c@9 ");
    drive_closed(&x->drive, x->feed_client.call_id);
    assert_false(x->feed_client.current);
    assert_null(drive_call(&x->drive, "feed", 0)); /* backs off first */
    drive_advance(&x->drive, 130);
    Board__FeedRequest *r = asked(x, "https://b:2/v1/board/feed");
    assert_string_equal(r->board_generation, "e1");
    assert_int_equal(r->revision, 8);
    /* What was told already is not told again; what was missing is. */
    change(x, PUT, "cell/c", 9);
    change(x, PUT, "cell/d", 9);
    send(x);
    assert_false(x->feed_client.current);
    frame_heartbeat(&x->sent, "e1", 9);
    send(x);
    expect_changes(x, "put:cell/d@9 current ");
    assert_true(x->feed_client.current);
    assert_int_equal(x->feed_client.records.count, 4);
}

static void a_bbs_that_is_behind_does_not_make_it_current(void **state)
{
    struct fixture *x = *state;
    begin(x);
    drive_closed(&x->drive, x->feed_client.call_id);
    drive_advance(&x->drive, 130);
    frame_heartbeat(&x->sent, "e1", 5);
    send(x);
    assert_false(x->feed_client.current);
    assert_int_equal(x->feed_client.revision, 7);
    frame_heartbeat(&x->sent, "e1", 7);
    send(x);
    assert_true(x->feed_client.current);
}

static void reset_empties_the_copy(void **state)
{
    struct fixture *x = *state;
    begin(x);
    drive_closed(&x->drive, x->feed_client.call_id);
    drive_advance(&x->drive, 130);
    frame_reset(&x->sent, "e2");
    send(x);
    expect_changes(x, "reset ");
    assert_int_equal(x->feed_client.records.count, 0);
    change(x, RECORD, "cell/z", 2);
    frame_current(&x->sent, "e2", 2);
    send(x);
    expect_changes(x, "put:cell/z@2 current ");
    assert_string_equal(x->feed_client.board_generation, "e2");
    assert_int_equal(x->feed_client.revision, 2);
}

/* What answers say of up to there is no news, though the copy is not there any more. */
static void where_it_was_is_known_until_another_board_generation(void **state)
{
    struct fixture *x = *state;
    begin(x);
    assert_int_equal(feed_client_reached(&x->feed_client), 7);
    frame_reset(&x->sent, "e1");
    change(x, RECORD, "cell/a", 3);
    send(x);
    assert_int_equal(x->feed_client.revision, 0);
    assert_int_equal(feed_client_reached(&x->feed_client), 7);
    frame_reset(&x->sent, "e1"); /* and again, before the snapshot was whole */
    send(x);
    assert_int_equal(feed_client_reached(&x->feed_client), 7);
    frame_current(&x->sent, "e1", 9);
    frame_heartbeat(&x->sent, "e2", 12); /* its copy is doubted */
    send(x);
    assert_int_equal(x->feed_client.revision, 0);
    assert_int_equal(feed_client_reached(&x->feed_client), 9);
    drive_advance(&x->drive, 200);
    frame_reset(&x->sent, "e2");
    send(x);
    assert_int_equal(feed_client_reached(&x->feed_client), 0);
}

static void half_a_snapshot_is_not_resumed(void **state)
{
    struct fixture *x = *state;
    assert_false(feed_client_complete(&x->feed_client));
    begin(x);
    assert_true(feed_client_complete(&x->feed_client));
    frame_reset(&x->sent, "e1");
    change(x, RECORD, "cell/a", 3);
    send(x);
    assert_false(feed_client_complete(&x->feed_client));
    drive_closed(&x->drive, x->feed_client.call_id);
    assert_false(feed_client_complete(&x->feed_client)); /* what it has not may be there */
    drive_advance(&x->drive, 130);
    assert_int_equal(asked(x, "https://b:2/v1/board/feed")->revision, 0);
    snapshot(x);
    send(x);
    assert_true(feed_client_complete(&x->feed_client));
}

static void three_missed_heartbeats_lead_to_the_next_bbs(void **state)
{
    struct fixture *x = *state;
    begin(x);
    uint64_t first = x->feed_client.call_id;
    for (int64_t rev = 8; rev < 12; rev++) {
        drive_advance(&x->drive, 1000);
        frame_heartbeat(&x->sent, "e1", rev);
        send(x);
    }
    drive_advance(&x->drive, 3499);
    assert_true(x->feed_client.current);
    assert_int_equal(x->feed_client.call_id, first);
    drive_advance(&x->drive, 1);
    assert_false(x->feed_client.current);
    assert_int_equal(drive_effect(&x->drive, EFFECT_CANCEL, 0)->cancel, first);
    drive_advance(&x->drive, 130);
    assert_int_equal(asked(x, "https://b:2/v1/board/feed")->revision, 11);
    /* A late word of the first one is not ours any more. */
    drive_stream(&x->drive, first, bytes_of("\xff\xff"));
    assert_int_equal(x->feed_client.partial.size, 0);
    assert_string_equal(x->feed_client.url, "https://b:2");
}

static void back_off_grows_to_five_seconds_and_starts_again(void **state)
{
    struct fixture *x = *state;
    drive_start(&x->drive);
    int64_t wait = FEED_CLIENT_BACK_OFF_NS;
    for (int i = 0; i < 10; i++) {
        const char *url = x->feed_client.url;
        drive_closed(&x->drive, x->feed_client.call_id);
        int64_t due = x->drive.out.due_ns - x->drive.now.mono_ns;
        assert_true(due >= earlier_ns(wait, FEED_CLIENT_BACK_OFF_MAX_NS));
        assert_true(due <= earlier_ns(wait + wait / 4, FEED_CLIENT_BACK_OFF_MAX_NS));
        drive_advance(&x->drive, due / MILLISECOND_NS + 1);
        assert_non_null(drive_call(&x->drive, "feed", 0));
        assert_string_not_equal(x->feed_client.url, url);
        wait = earlier_ns(2 * wait, FEED_CLIENT_BACK_OFF_MAX_NS);
    }
    snapshot(x);
    send(x);
    assert_int_equal(x->feed_client.failures, 0);
}

/* A thousand far ones that lose their bbs at once do not come back at once. */
static void far_ones_wait_by_chance_and_hear_for_longer(void **state)
{
    enum { WAITS = 6, MOST_S = 30 };
    struct fixture *x = *state;
    x->feed_client.spread = true;
    x->feed_client.silence_ns = 15 * SECOND_NS;
    x->feed_client.back_off_max_ns = MOST_S * SECOND_NS;
    x->boards.identity = IDENTITY_CENTRE;
    begin(x);
    drive_advance(&x->drive, 14999);
    assert_int_not_equal(x->feed_client.call_id, 0);
    drive_advance(&x->drive, 1);
    assert_int_equal(x->feed_client.call_id, 0);
    x->feed_client.failures = 20;
    int64_t waits[WAITS];
    for (int i = 0; i < WAITS; i++) {
        drive_advance(&x->drive,
                      (x->feed_client.retry_ns - x->drive.now.mono_ns) / MILLISECOND_NS + 1);
        const struct call *call = drive_call(&x->drive, "/v1/board/feed", 0);
        assert_non_null(call);
        assert_int_equal(call->identity, IDENTITY_CENTRE);
        drive_closed(&x->drive, x->feed_client.call_id);
        waits[i] = x->feed_client.retry_ns - x->drive.now.mono_ns;
        assert_in_range(waits[i], MOST_S * SECOND_NS / 2, MOST_S * SECOND_NS);
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(waits[i], waits[k]);
        }
    }
}

/* While a cluster starts a bbs may start as well, or answer that it is not ready: nothing is broken
 * then. */
static void a_clean_start_warns_of_nothing(void **state)
{
    struct fixture *x = *state;
    drive_start(&x->drive);
    for (int i = 0; i < 2 * FEED_CLIENT_CALM_FAILURES; i++) {
        drive_closed(&x->drive, x->feed_client.call_id);
        const struct log_line *line = &drive_effect(&x->drive, EFFECT_LOG, 0)->log;
        bool calm = i < FEED_CLIENT_CALM_FAILURES;
        assert_int_equal(line->level, calm ? LOG_INFO_LEVEL : LOG_WARN_LEVEL);
        assert_string_equal(line->message, calm ? "no feed yet" : "feed broken");
        int64_t due_ns = x->drive.out.due_ns - x->drive.now.mono_ns;
        drive_advance(&x->drive, due_ns / MILLISECOND_NS + 1);
    }
    snapshot(x);
    send(x);
    drive_closed(&x->drive, x->feed_client.call_id); /* now there is something that breaks */
    assert_int_equal(drive_effect(&x->drive, EFFECT_LOG, 0)->log.level, LOG_WARN_LEVEL);
}

static void refuses(struct fixture *x, const char *why, int64_t resume_from)
{
    uint64_t id = x->feed_client.call_id;
    send(x);
    const struct effect *cancel = drive_effect(&x->drive, EFFECT_CANCEL, 0);
    assert_non_null(cancel);
    assert_int_equal(cancel->cancel, id);
    assert_non_null(strstr(drive_effect(&x->drive, EFFECT_LOG, 0)->log.data, why));
    for (int i = 0; i < 600 && !x->feed_client.call_id; i++) {
        drive_advance(&x->drive, 10);
    }
    assert_true(x->feed_client.call_id > id);
    assert_int_equal(x->feed_client.revision, resume_from);
}

static void malformed_feeds_are_left(void **state)
{
    struct fixture *x = *state;
    begin(x);
    buf_append(&x->sent, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11);
    refuses(x, "malformed or too large", 7);

    buf_varint(&x->sent, FEED_CLIENT_FRAME_MAX + 1);
    refuses(x, "malformed or too large", 7);

    buf_append(&x->sent, "\x02\xff\xff", 3);
    refuses(x, "malformed", 7);

    buf_append(&x->sent, "\x00", 1);
    refuses(x, "without kind", 7);

    change(x, RECORD, "cell/x", 8);
    refuses(x, "outside of a snapshot", 7);

    frame_current(&x->sent, "e1", 8);
    refuses(x, "never began", 7);

    change(x, PUT, "", 8);
    refuses(x, "without key", 7);

    change(x, PUT, "cell/x", 7);
    refuses(x, "do not rise", 0);

    change(x, PUT, "cell/x", 8);
    refuses(x, "without a copy", 0);

    frame_heartbeat(&x->sent, "e1", 9);
    refuses(x, "without a snapshot", 0);

    char longest[FEED_CLIENT_BOARD_GENERATION_BYTES + 1];
    memset(longest, 'e', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    frame_reset(&x->sent, longest);
    refuses(x, "board generation is too long", 0);
}

static void the_largest_frame_passes(void **state)
{
    struct fixture *x = *state;
    begin(x);
    Board__FeedFrame frame = BOARD__FEED_FRAME__INIT;
    size_t rest = FEED_CLIENT_FRAME_MAX - 32;
    uint8_t *value = calloc(1, FEED_CLIENT_FRAME_MAX);
    char key[] = "cell/large";
    frame.kind = PUT;
    frame.key = key;
    frame.revision = frame.mod_revision = frame.create_revision = 8;
    frame.record = (ProtobufCBinaryData){.data = value, .len = rest};
    frame.record.len -= board__feed_frame__get_packed_size(&frame) - FEED_CLIENT_FRAME_MAX;
    assert_int_equal(board__feed_frame__get_packed_size(&frame), FEED_CLIENT_FRAME_MAX);
    buf_varint(&x->sent, FEED_CLIENT_FRAME_MAX);
    buf_message(&x->sent, &frame.base);
    send(x);
    expect_changes(x, "put:cell/large@8 ");
    free(value);
}

static void another_board_generation_is_listed_again(void **state)
{
    struct fixture *x = *state;
    begin(x);
    frame_heartbeat(&x->sent, "e2", 9);
    refuses(x, "another board generation", 0);
}

static void heartbeats_that_fall_are_doubted(void **state)
{
    struct fixture *x = *state;
    begin(x);
    frame_heartbeat(&x->sent, "e1", 9);
    frame_heartbeat(&x->sent, "e1", 8);
    refuses(x, "do not rise", 0);
}

/* What it has seen goes with it to the next bbs: which heartbeat of which bbs, until another board
 * generation begins. */
static void the_last_heartbeat_seen_is_reported(void **state)
{
    struct fixture *x = *state;
    begin(x);
    Board__FeedFrame frame = BOARD__FEED_FRAME__INIT;
    frame.kind = BOARD__FEED_FRAME__KIND__HEARTBEAT;
    frame.board_generation = (char *)"e1";
    frame.revision = 9;
    frame.boot_id = (char *)"boot";
    frame.heartbeat_revision = 8;
    buf_varint(&x->sent, board__feed_frame__get_packed_size(&frame));
    buf_message(&x->sent, &frame.base);
    send(x);
    drive_advance(&x->drive, 3500);
    drive_advance(&x->drive, 130);
    const Board__FeedRequest *request = asked(x, "https://b:2/v1/board/feed");
    assert_string_equal(request->board_generation, "e1");
    assert_string_equal(request->boot_id, "boot");
    assert_int_equal(request->heartbeat_revision, 8);
}

static void unknown_frames_are_left_alone(void **state)
{
    struct fixture *x = *state;
    begin(x);
    Board__FeedFrame frame = BOARD__FEED_FRAME__INIT;
    frame.kind = (Board__FeedFrame__Kind)77;
    buf_varint(&x->sent, board__feed_frame__get_packed_size(&frame));
    buf_message(&x->sent, &frame.base);
    send(x);
    assert_true(x->feed_client.current);
    assert_null(drive_effect(&x->drive, EFFECT_CANCEL, 0));
}

static void refused(struct fixture *x, const char *text, bool closed)
{
    drive_event(&x->drive, (struct event){.kind = EVENT_STREAM,
                                          .stream = {.id = x->feed_client.call_id,
                                                     .status = 503,
                                                     .closed = closed,
                                                     .data = bytes_of(text),
                                                     .text = closed ? "the peer ended it" : ""}});
}

static void subscribes_again(struct fixture *x)
{
    for (int i = 0; i < 600 && !x->feed_client.call_id; i++) {
        drive_advance(&x->drive, 10);
    }
    assert_int_not_equal(x->feed_client.call_id, 0);
}

/* The head of an answer comes first, then what it says, then its end: each may be missing. */
static void any_status_but_200_is_a_failure(void **state)
{
    struct fixture *x = *state;
    drive_start(&x->drive);
    uint64_t id = x->feed_client.call_id;
    refused(x, "", false);
    assert_int_equal(x->feed_client.call_id, id); /* what it says may come yet */
    refused(x, "not done: no\n", false);
    assert_int_equal(drive_effect(&x->drive, EFFECT_CANCEL, 0)->cancel, id);
    drive_advance(&x->drive, 130);
    asked(x, "https://b:2/v1/board/feed");
    refused(x, "", false);
    refused(x, "", true);
    assert_null(drive_effect(&x->drive, EFFECT_CANCEL, 0)); /* it has ended */
    assert_int_equal(x->feed_client.call_id, 0);
    subscribes_again(x);
    refused(x, "", false);
    drive_advance(&x->drive, FEED_CLIENT_SILENCE_NS / MILLISECOND_NS - 100);
    assert_int_not_equal(x->feed_client.call_id, 0);
    drive_advance(&x->drive, 100);
    assert_int_equal(x->feed_client.call_id, 0);
    assert_non_null(
        strstr(drive_effect(&x->drive, EFFECT_LOG, 0)->log.data, "why=\"answered 503: it begins"));
}

/* As much of it as one line of a log may have, and nothing that plays with its reader. */
static void the_answer_that_is_no_feed_is_reported(void **state)
{
    struct fixture *x = *state;
    char most[FEED_CLIENT_REPORTED_MAX + 2], full[FEED_CLIENT_REPORTED_MAX + 40];
    memset(most, 'x', sizeof(most) - 1);
    most[sizeof(most) - 1] = 0;
    snprintf(full, sizeof(full), "why=\"answered 503: %.*s\"", FEED_CLIENT_REPORTED_MAX, most);
    const struct {
        const char *text, *why;
    } rows[] = {
        {"not done: etcd lost writes; run bbs restore\n",
         "why=\"answered 503: not done: etcd lost writes; run bbs restore\""},
        {"", "why=\"answered 503: it begins, or does not reach its etcd\""},
        {"\n", "why=\"answered 503: it begins, or does not reach its etcd\""},
        {"two\nlines\n", "why=\"answered 503: two\""},
        {"a \"b\" \033[2J\xc2\x9b \xff\r\n", "why=\"answered 503: a 'b' ?[2J?? ?\""},
        {most, full},
    };
    drive_start(&x->drive);
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        refused(x, rows[i / 2].text, i % 2 || !*rows[i / 2].text);
        const char *told = drive_effect(&x->drive, EFFECT_LOG, 0)->log.data;
        if (!strstr(told, rows[i / 2].why)) {
            fail_msg("%s, not %s", told, rows[i / 2].why);
        }
        subscribes_again(x);
    }
}

static void a_snapshot_that_takes_long_is_alive(void **state)
{
    struct fixture *x = *state;
    drive_start(&x->drive);
    uint64_t id = x->feed_client.call_id;
    frame_reset(&x->sent, "e1");
    send(x);
    for (int i = 0; i < 10; i++) {
        drive_advance(&x->drive, 2000);
        frame_heartbeat(&x->sent, "e1", 9);
        send(x);
    }
    assert_int_equal(x->feed_client.call_id, id);
    assert_false(x->feed_client.current);
}

/* ---- Snapshots to compare ---- */

/* Heartbeats come until one is asked for, and it is asked for at the same bbs. */
static void run_to_refresh(struct fixture *x)
{
    uint64_t id = x->feed_client.call_id;
    int64_t from_ns = x->drive.now.mono_ns, heartbeat = x->feed_client.revision;
    while (x->feed_client.call_id == id &&
           x->drive.now.mono_ns - from_ns <= FEED_CLIENT_REFRESH_NS) {
        frame_heartbeat(&x->sent, "e1", heartbeat);
        send(x);
        drive_advance(&x->drive, 1000);
    }
    assert_true(x->drive.now.mono_ns - from_ns >= FEED_CLIENT_REFRESH_NS / 4 * 3);
    assert_true(x->feed_client.call_id != id);
    assert_int_equal(drive_effect(&x->drive, EFFECT_CANCEL, 0)->cancel, id);
    assert_int_equal(asked(x, "https://a:1/v1/board/feed")->revision, 0);
    assert_true(x->feed_client.current);
    expect_changes(x, "");
}

/* b was put, a deleted and c made, and none of it was told. What is held stays until then. */
static void a_refresh_tells_what_differs_alone(void **state)
{
    struct fixture *x = *state;
    begin(x);
    change(x, PUT, "cell/d", 8);
    send(x);
    expect_changes(x, "put:cell/d@8 ");
    frame_heartbeat(&x->sent, "e1", 9);
    send(x);
    run_to_refresh(x);
    frame_reset_at(&x->sent, "e1", 12);
    change(x, RECORD, "cell/b", 6);
    change(x, RECORD, "cell/c", 7);
    change(x, RECORD, "cell/d", 8);
    send(x);
    expect_changes(x, "put:cell/b@6 put:cell/c@7 ");
    assert_int_equal(feed_client_get(&x->feed_client, "cell/c")->seen.after_ns,
                     0); /* when, nobody knows */
    assert_non_null(feed_client_get(&x->feed_client, "cell/a"));
    frame_current(&x->sent, "e1", 12);
    send(x);
    expect_changes(x, "delete:cell/a@3 ");
    assert_int_equal(x->feed_client.revision, 12);
    assert_int_equal(x->feed_client.records.count, 3);
    change(x, PUT, "cell/e", 13);
    send(x);
    expect_changes(x, "put:cell/e@13 ");
    run_to_refresh(x); /* and again */
}

static int64_t written_after(struct fixture *x, int64_t revision)
{
    change(x, PUT, "cell/d", revision);
    send(x);
    return feed_client_get(&x->feed_client, "cell/d")->seen.after_ns;
}

/* This process stands still for so long. Then it reads what had been sent to it all the while. */
static void stand_still(struct fixture *x, int64_t for_ns, int64_t revision)
{
    x->drive.now.mono_ns += for_ns;
    frame_heartbeat(&x->sent, "e1", revision);
    send(x);
}

/* What comes behind such a heartbeat may have been written before it was read. So it is until the
 * heartbeats have come at their pace for a while. */
static void what_is_read_late_was_not_written_late(void **state)
{
    struct fixture *x = *state;
    begin(x);
    stand_still(x, FEED_CLIENT_GAP_NS - 1, 8); /* at the bound */
    int64_t before_ns = x->drive.now.mono_ns;
    assert_int_equal(written_after(x, 9), before_ns);
    stand_still(x, FEED_CLIENT_GAP_NS, 10);
    assert_int_equal(written_after(x, 11), before_ns);
    stand_still(x, 30 * SECOND_NS, 12);
    assert_int_equal(written_after(x, 13), before_ns);
    for (int64_t left_ns = FEED_CLIENT_SILENCE_NS; left_ns > 0; left_ns -= SECOND_NS / 2) {
        assert_int_equal(written_after(x, x->feed_client.change_revision + 1), before_ns);
        stand_still(x, SECOND_NS / 2, x->feed_client.change_revision);
    }
    assert_int_equal(written_after(x, 100), x->drive.now.mono_ns);
}

/* What another bbs sends was sent since it was asked. */
static void what_is_asked_for_again_was_sent_since(void **state)
{
    struct fixture *x = *state;
    begin(x);
    int64_t before_ns = x->drive.now.mono_ns;
    stand_still(x, 30 * SECOND_NS, 8);
    drive_closed(&x->drive, x->feed_client.call_id);
    drive_advance(&x->drive, 1000);
    int64_t asked_ns = x->feed_client.heard_ns;
    assert_true(asked_ns > before_ns + 30 * SECOND_NS);
    assert_int_equal(written_after(x, 9), before_ns); /* the bbs had it before it was asked */
    frame_heartbeat(&x->sent, "e1", 9);
    send(x);
    assert_int_equal(written_after(x, 10), x->drive.now.mono_ns);
}

static void a_refresh_that_breaks_off_costs_nothing(void **state)
{
    struct fixture *x = *state;
    begin(x);
    run_to_refresh(x);
    frame_reset_at(&x->sent, "e1", 9);
    change(x, RECORD, "cell/c", 9);
    send(x);
    expect_changes(x, "put:cell/c@9 ");
    drive_closed(&x->drive, x->feed_client.call_id);
    drive_advance(&x->drive, 130);
    Board__FeedRequest *r = asked(x, "https://b:2/v1/board/feed");
    assert_string_equal(r->board_generation, "e1");
    assert_int_equal(r->revision, 7);
    change(x, PUT, "cell/c", 9);
    frame_heartbeat(&x->sent, "e1", 9);
    send(x);
    expect_changes(x, "current ");
    assert_int_equal(x->feed_client.records.count, 3);
    uint64_t id = x->feed_client.call_id;
    drive_advance(&x->drive, 1000);
    assert_int_equal(x->feed_client.call_id, id); /* the next one is a whole interval away */
}

/* It would bring back what has gone since. */
static void a_refresh_from_before_is_refused(void **state)
{
    struct fixture *x = *state;
    begin(x);
    run_to_refresh(x);
    frame_reset_at(&x->sent, "e1", 6);
    refuses(x, "older than what it sent", 7);
    assert_int_equal(x->feed_client.records.count, 2);
}

static void a_refresh_of_another_board_generation_is_a_reset(void **state)
{
    struct fixture *x = *state;
    begin(x);
    run_to_refresh(x);
    frame_reset_at(&x->sent, "e2", 2);
    change(x, RECORD, "cell/z", 2);
    frame_current(&x->sent, "e2", 2);
    send(x);
    expect_changes(x, "reset put:cell/z@2 current ");
    assert_int_equal(x->feed_client.records.count, 1);
}

/* The bbs found that its copy was wrong while it told the snapshot, and begins another. */
static void a_refresh_that_begins_again_compares_again(void **state)
{
    struct fixture *x = *state;
    begin(x);
    run_to_refresh(x);
    frame_reset_at(&x->sent, "e1", 9);
    change(x, RECORD, "cell/a", 3);
    frame_reset_at(&x->sent, "e1", 9);
    change(x, RECORD, "cell/b", 4);
    frame_current(&x->sent, "e1", 9);
    send(x);
    expect_changes(x, "delete:cell/a@3 ");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(subscribes_from_nothing_at_the_start),
        TEST(snapshot_then_changes_make_the_copy),
        TEST(frames_may_be_split_at_each_byte),
        TEST(resumes_below_a_revision_that_may_be_half_told),
        TEST(a_bbs_that_is_behind_does_not_make_it_current),
        TEST(reset_empties_the_copy),
        TEST(where_it_was_is_known_until_another_board_generation),
        TEST(half_a_snapshot_is_not_resumed),
        TEST(three_missed_heartbeats_lead_to_the_next_bbs),
        TEST(back_off_grows_to_five_seconds_and_starts_again),
        TEST(far_ones_wait_by_chance_and_hear_for_longer),
        TEST(a_clean_start_warns_of_nothing),
        TEST(malformed_feeds_are_left),
        TEST(the_largest_frame_passes),
        TEST(another_board_generation_is_listed_again),
        TEST(heartbeats_that_fall_are_doubted),
        TEST(the_last_heartbeat_seen_is_reported),
        TEST(unknown_frames_are_left_alone),
        TEST(a_refresh_tells_what_differs_alone),
        TEST(what_is_read_late_was_not_written_late),
        TEST(what_is_asked_for_again_was_sent_since),
        TEST(a_refresh_that_breaks_off_costs_nothing),
        TEST(a_refresh_from_before_is_refused),
        TEST(a_refresh_of_another_board_generation_is_a_reset),
        TEST(a_refresh_that_begins_again_compares_again),
        TEST(any_status_but_200_is_a_failure),
        TEST(the_answer_that_is_no_feed_is_reported),
        TEST(a_snapshot_that_takes_long_is_alive),
    };
    return cmocka_run_group_tests_name("client feed client", tests, NULL, NULL);
}
