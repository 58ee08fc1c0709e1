/* What bbs logs shows of lines, which of those that ended, and which containers it follows. */
#include "bbs/cli/logs.h"
#include "bbs/cli/logs_watch.h"
#include "common/appfile/app.h"
#include "common/model/keys.h"
#include "common/model/record.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lines ---- */

#define NOW_NS (INT64_C(1767323045678) * 1000000)
#define NOW "2026-01-02T03:04:05.678Z"
#define READ "2026-01-02T03:04:05.000000006Z"

static const struct log_source web0 = {
    .label = "web/0", .process_guid = "web-1", .instance_guid = "g", .cell_id = "c", .index = 0};

static void lines_are_shown_as_wanted(void **state)
{
    static const char text[] = "one\n\033[2J\xc3\xbc\nhalf";
    static const struct {
        bool json, times, labelled, terminal;
        const char *expected;
    } rows[] = {
        {false, false, false, false, "one\n\033[2J\xc3\xbc\nhalf"}, /* a pipe gets what it was */
        {false, false, false, true, "one\n\\u001b[2J\xc3\xbc\nhalf"},
        {false, false, true, false, "web/0 one\nweb/0 \033[2J\xc3\xbc\nweb/0 half\n"},
        {false, true, false, false, "one\n\033[2J\xc3\xbc\nhalf\n"}, /* an older rep has none */
#define BEGIN                                                                                      \
    "{\"instance\":\"web/0\",\"process_guid\":\"web-1\",\"index\":0,\"instance_guid\":\"g\","      \
    "\"cell_id\":\"c\","
        {true, false, true, true,
         BEGIN "\"line\":\"one\"}\n" BEGIN "\"line\":\"\\u001b[2J\xc3\xbc\"}\n" BEGIN
               "\"line\":\"half\"}\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t piece = 1; piece < sizeof(text); piece++) {
            struct log_text t;
            SCOPED_BUF(out);
            log_text_init(&t, &web0);
            t.json = rows[i].json;
            t.times = rows[i].times;
            t.labelled = rows[i].labelled;
            t.terminal = rows[i].terminal;
            for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
                size_t left = sizeof(text) - 1 - at;
                log_text_take(
                    &t, (struct bytes){(const uint8_t *)text + at, left < piece ? left : piece},
                     &out);
            }
            log_text_end(&t, &out);
            assert_string_equal(buf_string(&out), rows[i].expected);
            log_text_done(&t);
        }
    }
}

/* Their times stand before the label. */
static void lines_have_times(void **state)
{
    static const char text[] = READ " one two\n- old\n" READ " \n";
    static const struct {
        bool json, labelled;
        const char *expected;
    } rows[] = {
        {false, false, READ " one two\n- old\n" READ " \n"},
        {false, true, READ " web/0 one two\n- web/0 old\n" READ " web/0 \n"},
        {true, false,
         BEGIN "\"time\":\"" READ "\",\"line\":\"one two\"}\n" BEGIN
               "\"line\":\"old\"}\n" BEGIN "\"time\":\"" READ "\",\"line\":\"\"}\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct log_text t;
        SCOPED_BUF(out);
        log_text_init(&t, &web0);
        t.times = true;
        t.json = rows[i].json;
        t.labelled = rows[i].labelled;
        log_text_take(&t, bytes_of(text), &out);
        log_text_end(&t, &out);
        assert_string_equal(buf_string(&out), rows[i].expected);
        log_text_done(&t);
    }
}

/* Programs are told which stream a line is of, when each is read by itself. */
static void json_names_the_stream(void **state)
{
    struct log_source source = web0;
    struct log_text t;
    SCOPED_BUF(out);
    source.stream = "stderr";
    log_text_init(&t, &source);
    t.json = true;
    log_text_take(&t, bytes_of("bad\n"), &out);
    log_text_done(&t);
    log_text_init(&t, &source);
    log_text_take(&t, bytes_of("bad\n"), &out);
    assert_string_equal(buf_string(&out),
                        BEGIN "\"stream\":\"stderr\",\"line\":\"bad\"}\nbad\n");
    log_text_done(&t);
}

/* One without end is given in parts, under one label. */
static void a_line_is_bounded(void **state)
{
    struct log_text t;
    SCOPED_BUF(out);
    char *part = malloc(LOG_LINE_MAX);
    memset(part, 'x', LOG_LINE_MAX);
    log_text_init(&t, &web0);
    t.labelled = true;
    log_text_take(&t, (struct bytes){(uint8_t *)part, LOG_LINE_MAX - 1}, &out);
    assert_int_equal(out.size, 0);
    log_text_take(&t, (struct bytes){(uint8_t *)part, 1}, &out);
    assert_int_equal(out.size, 6 + LOG_LINE_MAX);
    log_text_take(&t, bytes_of("end\nnext\n"), &out);
    assert_string_equal(buf_string(&out) + 6 + LOG_LINE_MAX, "end\nweb/0 next\n");
    log_text_done(&t);
    free(part);
}

/* A second container began while a line was half shown. */
static void labels_may_begin_later(void **state)
{
    struct log_text t;
    SCOPED_BUF(out);
    log_text_init(&t, &web0);
    log_text_take(&t, bytes_of("one\nha"), &out);
    t.labelled = true;
    log_text_take(&t, bytes_of("lf\ntwo\n"), &out);
    assert_string_equal(buf_string(&out), "one\nhalf\nweb/0 two\n");
    log_text_done(&t);
}

/* ---- Those that ended ---- */

static void a_name_has_its_definitions(void **state)
{
    static const struct {
        const char *name, *guid;
        bool has;
    } rows[] = {
        {"web", "web", true},
        {"web", "web-0123456789", true},
        {"web", "web-abcdef0123", true},
        {"web-0123456789", "web-0123456789", true},
        {"web", "web-api-0123456789", false},
        {"web-api", "web-api-0123456789", true},
        {"web", "webb-0123456789", false},
        {"web", "web-012345678", false},
        {"web", "web-01234567890", false},
        {"web", "web-012345678G", false},
        {"web", "web-ABCDEF0123", false},
        {"web", "web_0123456789", false},
        {"web", "we", false},
        {"web", "", false},
        {"web-0123456789", "web-0123456789-0123456789", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(app_has_guid(rows[i].name, rows[i].guid), rows[i].has);
    }
}

/* "web-1/0 g2 c1, ..." of what two cells keep. */
static const char *newest(struct fixture *f, const char *name, int32_t index)
{
    static const char *const lists[] = {
        "[{\"instance_guid\":\"g1\",\"process_guid\":\"web-0000000001\",\"index\":0,\"removed_at\":"
        "5},"
        "{\"instance_guid\":\"g2\",\"process_guid\":\"web-0000000001\",\"index\":0,\"removed_at\":"
        "7},"
        "{\"instance_guid\":\"g3\",\"process_guid\":\"web-0000000002\",\"index\":1,\"removed_at\":"
        "6}]",
        "[{\"instance_guid\":\"g4\",\"process_guid\":\"web-0000000001\",\"index\":0,\"removed_at\":"
        "6},"
        "{\"instance_guid\":\"g5\",\"process_guid\":\"web-0000000001\",\"index\":1,\"removed_at\":"
        "9},"
        "{\"instance_guid\":\"g6\",\"process_guid\":\"web-api-0000000001\",\"index\":0,"
        "\"removed_at\":8},{\"instance_guid\":\"old\",\"removed_at\":8},"
        "{\"instance_guid\":\"g7\",\"process_guid\":\"shop.web-0000000001\",\"index\":0,"
        "\"removed_at\":7},"
        "{\"instance_guid\":\"g8\",\"process_guid\":\"shop.store.api-0000000001\",\"index\":0,"
        "\"removed_at\":6}]",
    };
    struct log_source all[8], *found;
    size_t count = 0, n;
    const char *text = "";
    for (size_t i = 0; i < 2; i++) {
        const struct log_source cell = {.cell_id = i ? "c2" : "c1", .url = "https://c"};
        assert_int_equal(
            logs_kept(&f->arena, bytes_of(lists[i]), name, index, &cell, &found, &n, &f->err), 0);
        memcpy(all + count, found, n * sizeof(*found));
        count += n;
    }
    count = logs_newest(&f->arena, all, count);
    for (size_t i = 0; i < count; i++) {
        text = arena_printf(&f->arena, "%s%s %s %s, ", text, all[i].label, all[i].instance_guid,
                            all[i].cell_id);
    }
    return text;
}

static void the_newest_of_each_that_ended(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(newest(f, "web", -1), "web-0000000001/1 g5 c2, web-0000000001/0 g2 c1, "
                                              "web-0000000002/1 g3 c1, ");
    assert_string_equal(newest(f, "web", 0), "web/0 g2 c1, ");
    assert_string_equal(newest(f, "web-0000000002", -1), "web-0000000002/1 g3 c1, ");
    assert_string_equal(newest(f, "web-api", -1), "web-api/0 g6 c2, ");
    assert_string_equal(newest(f, "shop:/web", -1), "shop:/web/0 g7 c2, ");
    assert_string_equal(newest(f, "shop:", -1), "shop:/web/0 g7 c2, shop:/store/api/0 g8 c2, ");
    assert_string_equal(newest(f, "shop:/api", -1), "");
    assert_string_equal(newest(f, "we", -1), "");
    assert_string_equal(newest(f, "web", 5), "");
    const struct log_source cell = {.cell_id = "c1"};
    struct log_source *found;
    size_t n;
    static const char *const bad[] = {"", "{}", "no", "[", "404 page"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(
            logs_kept(&f->arena, bytes_of(bad[i]), "web", -1, &cell, &found, &n, &f->err),
            -ERR_INVALID);
    }
    struct log_source ended = web0;
    ended.removed_ns = NOW_NS;
    assert_string_equal(logs_ended_text(&f->arena, &ended, NOW_NS + INT64_C(180000000000)),
                        "web/0 of web-1 on c, removed " NOW ", 3m ago (g)");
}

/* ---- Those that are followed ---- */

#define A "web-00000000aa"
#define B "web-00000000bb"

struct watching {
    struct fixture *f;
    struct logs_watch watch;
    const char *said;
};

static void on_begin(void *watching, const struct log_source *s, bool initial)
{
    struct watching *w = watching;
    w->said = arena_printf(&w->f->arena, "%s%s%s %s on %s; ", w->said, initial ? "had " : "",
                           s->label, s->instance_guid, s->cell_id);
}

static void on_end(void *watching, const char *instance_guid, const char *why)
{
    struct watching *w = watching;
    w->said = arena_printf(&w->f->arena, "%s%s %s; ", w->said, instance_guid, why);
}

static void watch_name(struct watching *w, struct fixture *f, const char *name, int32_t index)
{
    *w = (struct watching){.f = f, .said = ""};
    w->watch = (struct logs_watch){
        .name = name, .index = index, .on_begin = on_begin, .on_end = on_end, .owner = w};
    logs_watch_init(&w->watch);
    logs_watch_connect(&w->watch, false);
}

static void watch_begin(struct watching *w, struct fixture *f, int32_t index)
{
    watch_name(w, f, "web", index);
}

static void frame(struct watching *w, Board__FeedFrame__Kind kind, int64_t revision,
                  const char *key, const ProtobufCMessage *record)
{
    Board__FeedFrame f = BOARD__FEED_FRAME__INIT;
    struct buf packed, bytes, feed;
    buf_init(&packed);
    buf_init(&bytes);
    buf_init(&feed);
    f.kind = kind;
    f.revision = revision;
    f.key = arena_strdup(&w->f->arena, key);
    f.board_generation = arena_strdup(&w->f->arena, "e");
    if (record) {
        record_encode(&bytes, record);
        f.record = (ProtobufCBinaryData){bytes.size, bytes.data};
    }
    buf_message(&packed, &f.base);
    buf_varint(&feed, packed.size);
    buf_append(&feed, packed.data, packed.size);
    assert_int_equal(logs_watch_take(&w->watch, buf_bytes(&feed), &w->f->err), 0);
    buf_done(&packed);
    buf_done(&bytes);
    buf_done(&feed);
}

#define KIND(kind) BOARD__FEED_FRAME__KIND__##kind

/* A record as it is now: "STATE instance-guid cell crashes reason". */
static void actual(struct watching *w, Board__FeedFrame__Kind kind, const char *process_guid,
                   int32_t index, int presence, const char *is)
{
    struct arena *a = &w->f->arena;
    Models__ActualLRP r = MODELS__ACTUAL_LRP__INIT;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    Models__ActualLRPInstanceKey at = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    char words[4][64] = {"", "", "", ""};
    int crashes = 0;
    sscanf(is, "%63s %63s %63s %d %63s", words[0], words[1], words[2], &crashes, words[3]);
    key.process_guid = arena_strdup(a, process_guid);
    key.index = index;
    r.actual_lrp_key = &key;
    r.state = words[0];
    at.instance_guid = strcmp(words[1], "-") == 0 ? arena_strdup(a, "") : words[1];
    at.cell_id = words[2];
    r.actual_lrp_instance_key = &at;
    r.crash_count = crashes;
    r.crash_reason = words[3];
    frame(w, kind, 9, key_actual(a, process_guid, index, presence), &r.base);
}

static void says(struct watching *w, const char *expected)
{
    assert_string_equal(w->said, expected);
    w->said = "";
}

static void desired(struct watching *w, Board__FeedFrame__Kind kind, const char *process_guid)
{
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    lrp.process_guid = arena_strdup(&w->f->arena, process_guid);
    frame(w, kind, 9, key_desired(&w->f->arena, process_guid), &lrp.base);
}

static void an_app_is_followed_through_its_life(void **state)
{
    struct watching w;
    watch_begin(&w, *state, -1);
    frame(&w, KIND(RESET), 0, "", NULL);
    actual(&w, KIND(RECORD), A, 0, 0, "RUNNING g1 c1 0");
    actual(&w, KIND(RECORD), A, 1, 0, "UNCLAIMED - - 0");
    actual(&w, KIND(RECORD), "web-api-00000000aa", 0, 0, "RUNNING other c1 0");
    desired(&w, KIND(RECORD), A);
    assert_false(w.watch.seen);
    frame(&w, KIND(CURRENT), 5, "", NULL);
    assert_true(w.watch.seen);
    says(&w, "had web/0 g1 on c1; ");
    /* Placed, running, crashed, started again. */
    actual(&w, KIND(PUT), A, 1, 0, "CLAIMED g2 c2 0");
    actual(&w, KIND(PUT), A, 1, 0, "RUNNING g2 c2 0");
    says(&w, "web/1 g2 on c2; ");
    actual(&w, KIND(PUT), A, 1, 0, "UNCLAIMED - - 1 Exited");
    actual(&w, KIND(PUT), A, 1, 0, "CLAIMED g3 c1 1 Exited");
    says(&w, "g2 crashed: Exited; web/1 g3 on c1; ");
    actual(&w, KIND(PUT), A, 1, 0, "CRASHED - - 3 Exited");
    says(&w, "g3 crashed: Exited; ");
    /* A lost cell: the old one stays suspect beside the new one. */
    actual(&w, KIND(PUT), A, 0, 2, "RUNNING g1 c1 0");
    actual(&w, KIND(PUT), A, 0, 0, "UNCLAIMED - - 0");
    says(&w, "web/0 g1 on c1; ");
    actual(&w, KIND(PUT), A, 0, 0, "CLAIMED g4 c2 0");
    actual(&w, KIND(DELETE), A, 0, 2, "RUNNING g1 c1 0");
    says(&w, "web/0 g4 on c2; g1 removed; ");
    /* Another definition comes up, then the old one goes. */
    desired(&w, KIND(PUT), B);
    actual(&w, KIND(PUT), B, 0, 0, "CLAIMED g5 c1 0");
    desired(&w, KIND(DELETE), A);
    actual(&w, KIND(DELETE), A, 0, 0, "RUNNING g4 c2 0");
    actual(&w, KIND(DELETE), A, 1, 0, "CRASHED - - 3");
    says(&w, B "/0 g5 on c1; g4 removed; ");
    assert_false(logs_watch_is_gone(&w.watch));
    desired(&w, KIND(DELETE), B);
    assert_false(logs_watch_is_gone(&w.watch));
    actual(&w, KIND(DELETE), B, 0, 0, "RUNNING g5 c1 0");
    says(&w, "g5 removed; ");
    assert_true(logs_watch_is_gone(&w.watch));
    logs_watch_done(&w.watch);
}

static void a_gap_is_made_up_for(void **state)
{
    struct watching w;
    watch_begin(&w, *state, -1);
    frame(&w, KIND(RESET), 0, "", NULL);
    actual(&w, KIND(RECORD), A, 0, 0, "RUNNING g1 c1 0");
    actual(&w, KIND(RECORD), A, 1, 0, "RUNNING g2 c1 0");
    actual(&w, KIND(RECORD), A, 2, 0, "RUNNING g3 c1 0");
    frame(&w, KIND(CURRENT), 5, "", NULL);
    w.said = "";
    assert_int_equal(w.watch.revision, 5);
    assert_string_equal(w.watch.board_generation, "e");
    actual(&w, KIND(PUT), A, 2, 0, "RUNNING g3 c1 0");
    assert_int_equal(w.watch.revision, 8); /* more of revision 9 may come */
    logs_watch_connect(&w.watch, false);
    frame(&w, KIND(RESET), 0, "", NULL);
    actual(&w, KIND(RECORD), A, 0, 0, "RUNNING g1 c1 0");
    actual(&w, KIND(RECORD), A, 1, 0, "RUNNING g4 c2 1 Boom");
    assert_false(logs_watch_is_gone(&w.watch));
    frame(&w, KIND(CURRENT), 20, "", NULL);
    says(&w, "g2 crashed: Boom; web/1 g4 on c2; g3 removed; ");
    logs_watch_done(&w.watch);
}

/* What a bbs did not tell before it was left for another one. */
static void a_snapshot_makes_up_for_silence(void **state)
{
    struct watching w;
    watch_begin(&w, *state, -1);
    frame(&w, KIND(RESET), 5, "", NULL);
    actual(&w, KIND(RECORD), A, 0, 0, "RUNNING g1 c1 0");
    assert_false(w.watch.caught_up);
    frame(&w, KIND(CURRENT), 5, "", NULL);
    assert_true(w.watch.caught_up);
    frame(&w, KIND(HEARTBEAT), 9, "", NULL);
    w.said = "";
    logs_watch_connect(&w.watch, true);
    assert_false(w.watch.caught_up);
    frame(&w, KIND(RESET), 9, "", NULL);
    frame(&w, KIND(HEARTBEAT), 30, "", NULL); /* while a long one is told: nothing is caught up */
    assert_false(w.watch.caught_up);
    actual(&w, KIND(RECORD), A, 0, 0, "RUNNING g2 c1 0");
    frame(&w, KIND(CURRENT), 9, "", NULL);
    says(&w, "g1 replaced; web/0 g2 on c1; ");
    /* One that is behind would bring back what has ended. */
    logs_watch_connect(&w.watch, true);
    Board__FeedFrame f = BOARD__FEED_FRAME__INIT;
    struct buf packed, feed;
    buf_init(&packed);
    buf_init(&feed);
    f.kind = KIND(RESET);
    f.board_generation = (char *)"e";
    f.revision = 8;
    buf_message(&packed, &f.base);
    buf_varint(&feed, packed.size);
    buf_append(&feed, packed.data, packed.size);
    assert_int_equal(logs_watch_take(&w.watch, buf_bytes(&feed), &w.f->err), -ERR_UNAVAILABLE);
    buf_done(&packed);
    buf_done(&feed);
    assert_int_equal(w.watch.revision, 9);
    logs_watch_done(&w.watch);
}

static void of_one_index_nothing_else_is_reported(void **state)
{
    struct watching w;
    watch_begin(&w, *state, 1);
    frame(&w, KIND(RESET), 0, "", NULL);
    desired(&w, KIND(RECORD), A);
    actual(&w, KIND(RECORD), A, 0, 0, "RUNNING g1 c1 0");
    frame(&w, KIND(CURRENT), 5, "", NULL);
    actual(&w, KIND(PUT), A, 1, 0, "RUNNING g2 c1 0");
    actual(&w, KIND(DELETE), A, 0, 0, "RUNNING g1 c1 0");
    says(&w, "web/1 g2 on c1; ");
    logs_watch_done(&w.watch);
}

/* What has no room is counted, and the app is not gone while there may be some. */
static void records_are_bounded(void **state)
{
    struct watching w;
    watch_begin(&w, *state, -1);
    frame(&w, KIND(RESET), 0, "", NULL);
    for (int32_t i = 0; i < LOGS_WATCHED_MAX + 2; i++) {
        actual(&w, KIND(RECORD), A, i, 0, "UNCLAIMED - - 0");
    }
    frame(&w, KIND(CURRENT), 5, "", NULL);
    assert_int_equal(w.watch.beyond, 2);
    for (int32_t i = 0; i < LOGS_WATCHED_MAX; i++) {
        actual(&w, KIND(DELETE), A, i, 0, "UNCLAIMED - - 0");
    }
    assert_false(logs_watch_is_gone(&w.watch));
    frame(&w, KIND(RESET), 0, "", NULL);
    frame(&w, KIND(CURRENT), 6, "", NULL);
    assert_true(logs_watch_is_gone(&w.watch));
    assert_int_equal(logs_watch_take(&w.watch, bytes_of("\xff\xff\xff\xff\x0f"), &w.f->err),
                     -ERR_INVALID);
    logs_watch_done(&w.watch);
}

static void a_name_that_no_process_has_may_be_of_a_removed_one(void **state)
{
    struct fixture *f = *state;
    static const char *const rows[][2] = {
        {"no process \"wbe\"; did you mean \"web\"?",
         "no process \"wbe\"; did you mean \"web\"? If it was removed: bbs logs wbe --previous"},
        {"no process \"wbe\"; bbs ps shows all",
         "no process \"wbe\"; bbs ps shows all; if it was removed: bbs logs wbe --previous"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(logs_no_process("wbe", rows[i][0], &f->err), -ERR_NOT_FOUND);
        assert_string_equal(f->err.text, rows[i][1]);
    }
}

static void a_part_of_a_system_is_followed(void **state)
{
    struct watching w;
    watch_name(&w, *state, "shop:/store", -1);
    frame(&w, KIND(RESET), 0, "", NULL);
    desired(&w, KIND(RECORD), "shop.store.api-0000000001");
    desired(&w, KIND(RECORD), "shop.store.cart-0000000001");
    actual(&w, KIND(RECORD), "shop.store.api-0000000001", 0, 0, "RUNNING g1 c1 0");
    actual(&w, KIND(RECORD), "shop.store.cart-0000000001", 0, 0, "RUNNING g2 c1 0");
    actual(&w, KIND(RECORD), "shop.web-0000000001", 0, 0, "RUNNING g3 c1 0");
    frame(&w, KIND(CURRENT), 5, "", NULL);
    says(&w, "had shop:/store/api/0 g1 on c1; had shop:/store/cart/0 g2 on c1; ");
    /* A roll. */
    desired(&w, KIND(PUT), "shop.store.api-0000000002");
    actual(&w, KIND(PUT), "shop.store.api-0000000002", 0, 0, "RUNNING g4 c2 0");
    says(&w, "shop.store.api-0000000002/0 g4 on c2; ");
    logs_watch_done(&w.watch);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines_are_shown_as_wanted),     TEST(a_line_is_bounded),
        TEST(json_names_the_stream),
        TEST(lines_have_times),
        TEST(a_name_that_no_process_has_may_be_of_a_removed_one),
        TEST(labels_may_begin_later),        TEST(a_name_has_its_definitions),
        TEST(the_newest_of_each_that_ended), TEST(an_app_is_followed_through_its_life),
        TEST(a_part_of_a_system_is_followed),
        TEST(a_gap_is_made_up_for),          TEST(of_one_index_nothing_else_is_reported),
        TEST(records_are_bounded),           TEST(a_snapshot_makes_up_for_silence),
    };
    return cmocka_run_group_tests_name("bbs logs", tests, NULL, NULL);
}
