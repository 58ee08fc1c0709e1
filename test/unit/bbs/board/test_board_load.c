/* How a board is loaded, and the pages in which long lists are read. */
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/board_asks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void without_etcd_a_bbs_waits_and_says_so_once(void **state)
{
    struct rig *r = board_rig_new(1, 1, &asked_config, NULL);
    board_rig_cut(r, 0, true);
    board_rig_run(r, 60 * SECOND_NS);
    assert_false(board_ready(board_rig_board(r, 0)));
    assert_int_equal(board_rig_logged(r, "waiting for etcd"), 1);
    struct asked a = {0};
    ask(r, 0, &a, "d");
    assert_int_equal(a.result.end, OP_UNAVAILABLE);
    board_rig_cut(r, 0, false);
    assert_true(board_rig_run_ready(r, 11 * SECOND_NS));
    board_rig_free(r);
}

static void two_first_starts_make_one_board_generation(void **state)
{
    for (uint64_t seed = 1; seed < 30; seed++) {
        struct rig *r = board_rig_new(seed, 3, &asked_config, NULL);
        assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
        assert_int_equal(count_prefix(r, "epoch/"), 1);
        assert_string_equal(board_generation(board_rig_board(r, 0)),
                            board_generation(board_rig_board(r, 1)));
        assert_string_equal(board_generation(board_rig_board(r, 0)),
                            board_generation(board_rig_board(r, 2)));
        board_rig_free(r);
    }
}

static void strangers_in_etcd_are_reported_loudly(void **state)
{
    struct rig *r = board_rig_new(1, 1, &asked_config, NULL);
    put_raw(r, "registry/pods/x", bytes_of("y"));
    put_raw(r, "registry/pods/z", bytes_of("y"));
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    /* One prefix, told at each load: before and after the board generation is made. */
    assert_int_equal(
        board_rig_logged(r, "etcd holds keys that are not ours: give Corkboard an etcd of its own"),
        2);
    board_rig_free(r);
}

/* ---- what is known of the time ---- */

static struct sighting sighting_of(struct rig *r, const char *key)
{
    const struct copied *p = copy_find(board_rig_board(r, 0)->copy, key);
    assert_non_null(p);
    return copied_seen(p);
}

/* What a fresh list shows unchanged has stood as long as before; what comes next came after that
 * list was asked for, however late its answer. */
static void a_load_sets_no_time_back(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    Board__DomainRecord domain = BOARD__DOMAIN_RECORD__INIT;
    put_record(r, "domain/old", &domain.base);
    board_rig_run(r, SECOND_NS);
    struct sighting before = sighting_of(r, "domain/old");
    board_rig_run(r, 20 * SECOND_NS);
    int64_t asked_ns = board_rig_now(r);
    board_rig_faults(r)->delay_ns = 900 * MILLISECOND_NS;
    reload_begin(board_rig_board(r, 0), "a test wants it", board_rig_begin(r, 0));
    board_rig_end(r, 0);
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    assert_true(board_rig_now(r) > asked_ns);
    board_rig_faults(r)->delay_ns = 0;
    put_record(r, "domain/new", &domain.base);
    board_rig_run(r, 10 * MILLISECOND_NS);
    assert_int_equal(sighting_of(r, "domain/old").since_ns, before.since_ns);
    assert_int_equal(sighting_of(r, "domain/old").after_ns, before.after_ns);
    assert_int_equal(sighting_of(r, "domain/new").after_ns, asked_ns);
    board_rig_free(r);
}

/* Until a fresh list is there nobody can tell how old the copy is: a feed that begins meanwhile
 * waits. */
static void no_feed_begins_during_a_load(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    struct board *b = board_rig_board(r, 0);
    Board__FeedRequest all = BOARD__FEED_REQUEST__INIT;
    struct cursor *reader = feed_reader(b->feed, &all);
    SCOPED_BUF(frames);
    reload_begin(b, "a test wants it", board_rig_begin(r, 0));
    board_rig_end(r, 0);
    assert_int_equal(reader->ops->fill(reader, &frames, 65536), CURSOR_WAIT);
    assert_int_equal(frames.size, 0);
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    assert_int_equal(reader->ops->fill(reader, &frames, 65536), CURSOR_MORE);
    reader->ops->free(reader);
    board_rig_free(r);
}

/* ---- pages of a long list ---- */

/* The pages' size after one of so many records in so many bytes. */
static int64_t after_page(struct page_size *p, size_t records, size_t bytes)
{
    Etcd__KeyValue kv = ETCD__KEY_VALUE__INIT, **list = calloc(records, sizeof(*list));
    Etcd__RangeResponse page = ETCD__RANGE_RESPONSE__INIT;
    kv.value.len = bytes / records;
    for (size_t i = 0; i < records; i++) {
        list[i] = &kv;
    }
    page.n_kvs = records;
    page.kvs = list;
    page_size_answered(p, &page);
    free(list);
    return p->records;
}

static void pages_grow_and_shrink(void **state)
{
    struct page_size p;
    page_size_init(&p, LOAD_PAGE_BYTES);
    assert_int_equal(p.records, PAGE_RECORDS_FIRST);
    assert_int_equal(after_page(&p, 512, 512 * 100), PAGE_RECORDS_MAX);
    assert_int_equal(after_page(&p, 512, 512 * 16383), 512);
    assert_int_equal(after_page(&p, 4, 4 << 20), PAGE_RECORDS_MIN);
    const Etcd__RangeResponse empty = ETCD__RANGE_RESPONSE__INIT;
    page_size_answered(&p, &empty);
    assert_int_equal(p.records, PAGE_RECORDS_MIN);
    page_size_init(&p, READ_PAGE_BYTES);
    assert_true(page_size_shrink(&p));
    assert_int_equal(p.records, 128);
    assert_int_equal(after_page(&p, 128, 128), 128);
    assert_true(page_size_shrink(&p));
    assert_int_equal(p.records, PAGE_RECORDS_MIN);
    assert_false(page_size_shrink(&p));
    page_size_first(&p);
    assert_int_equal(p.records, PAGE_RECORDS_MIN);
}

enum { LARGE_RECORDS = 600, LARGE_BYTES = 10005 };

/* Records of nothing but one field that nobody knows. */
static void put_large(struct rig *r, const char *prefix)
{
    /* Version; field 2000, 10,000 bytes. */
    static const uint8_t head[] = {1, 0x82, 0x7d, 0x90, 0x4e};
    uint8_t *value = calloc(1, LARGE_BYTES);
    memcpy(value, head, sizeof(head));
    for (unsigned i = 0; i < LARGE_RECORDS; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%s%04u", prefix, i);
        put_raw(r, key, (struct bytes){.data = value, .size = LARGE_BYTES});
        board_rig_run(r, 10 * MILLISECOND_NS);
    }
    free(value);
}

static const size_t large_answer = (PAGE_RECORDS_MIN + 1) * (LARGE_BYTES + 100);

/* The first pages are too large for an answer, the last are not. */
static void a_board_of_large_records_is_loaded(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    put_large(r, "domain/");
    board_rig_faults(r)->answer_bytes = large_answer;
    board_rig_restart(r, 0);
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    Board__BoardState shown = BOARD__BOARD_STATE__INIT;
    board_state(board_rig_board(r, 0), &shown);
    assert_true(shown.records >= LARGE_RECORDS);
    board_rig_free(r);
}

/* The same of the slow list: a change that the watch never told is found behind them. */
static void a_board_of_large_records_is_verified(void **state)
{
    struct bbs_config config = asked_config;
    config.verify_interval_ns = 20 * SECOND_NS;
    struct rig *r = board_rig_new(7, 1, &config, NULL);
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    put_large(r, "domain/");
    board_rig_faults(r)->answer_bytes = large_answer;
    struct board *b = board_rig_board(r, 0);
    board_rig_run(r, 30 * SECOND_NS);
    assert_int_equal(board_rig_logged(r, "the copy of the board differs from etcd"), 0);
    struct version *untold = copy_remove(b->copy, "domain/0599");
    assert_non_null(untold);
    version_unref(untold);
    board_rig_run(r, 30 * SECOND_NS);
    assert_int_equal(board_rig_logged(r, "the copy of the board differs from etcd"), 1);
    board_rig_free(r);
}

/* The watch is opened again at a member of etcd that lags: it tells what comes once it has it, and
 * answers, which are linearizable, would show an etcd that went back. */
static void a_lagging_member_of_etcd_costs_no_reload(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    struct board *b = board_rig_board(r, 0);
    board_rig_run(r, 5 * SECOND_NS);
    Etcd__ResponseHeader header = ETCD__RESPONSE_HEADER__INIT;
    Etcd__WatchResponse opened = ETCD__WATCH_RESPONSE__INIT;
    header.revision = b->watch.revision - 1;
    opened.header = &header;
    struct event ev = {.kind = EVENT_WATCH, .now = board_now(b)};
    ev.watch = (struct watch_event){.id = b->watch.id, .kind = WATCH_OPEN, .response = &opened};
    struct effects *out = board_rig_begin(r, 0);
    assert_true(board_step(b, &ev, out));
    board_rig_end(r, 0);
    assert_true(board_ready(b));
    board_rig_run(r, 10 * SECOND_NS);
    assert_int_equal(board_rig_logged(r, "the copy of the board is loaded again"), 0);
    board_rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_etcd_a_bbs_waits_and_says_so_once),
        cmocka_unit_test(two_first_starts_make_one_board_generation),
        cmocka_unit_test(strangers_in_etcd_are_reported_loudly),
        cmocka_unit_test(a_load_sets_no_time_back),
        cmocka_unit_test(no_feed_begins_during_a_load),
        cmocka_unit_test(pages_grow_and_shrink),
        cmocka_unit_test(a_board_of_large_records_is_loaded),
        cmocka_unit_test(a_board_of_large_records_is_verified),
        cmocka_unit_test(a_lagging_member_of_etcd_costs_no_reload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
