/* Topics of the feed from end to end: a feed of a copy that changes, a feed client on a connection
 * that breaks, and topics that come to it one by one. */
#include "bbs/board/feed.h"
#include "bbs/board/topics.h"
#include "common/base/random.h"
#include "common/client/feed_client.h"
#include "test/tool/cmocka.h"
#include "test/unit/drive.h"

#include <stdlib.h>
#include <string.h>

enum { PROCESSES = 8, TOPICS_MAX = 64, RING = 12 };

struct world {
    struct random random;
    struct arena arena;
    struct copy *copy;
    struct feed *feed;
    int64_t revision;
    struct drive drive;
    uint64_t next_call_id;
    struct boards boards;
    struct feed_client feed_client;
    struct cursor *reader; /* of the open subscription */
    const char *topics[TOPICS_MAX];
    size_t topic_count;
    struct map told;            /* key -> revision of its last put */
    unsigned resumed, currents; /* subscriptions with new topics that were no snapshot; news */
};

static uint64_t draw(struct world *w, uint64_t bound)
{
    return random_below(&w->random, bound);
}

/* ---- The board ------------------------------------------------------------------------------- */

static const char *draw_key(struct world *w)
{
    const char *guid = arena_printf(&w->arena, "p%d", (int)draw(w, PROCESSES));
    switch (draw(w, 4)) {
    case 0:
        return key_cell(&w->arena, guid);
    case 1:
        return key_desired(&w->arena, guid);
    default:
        return key_actual(&w->arena, guid, (int32_t)draw(w, 2), 0);
    }
}

static void change(struct world *w)
{
    static uint8_t empty_record[] = {RECORD_VERSION};
    const struct bytes value = {.data = empty_record, .size = 1};
    const char *key = draw_key(w);
    struct copied *was = copy_find(w->copy, key);
    int64_t made = was ? copied_version(was)->create_revision : w->revision + 1;
    struct version *before, *after = NULL;
    w->revision++;
    if (draw(w, 3)) {
        after = version_new(&w->arena, key, value, made, w->revision);
        before = copy_put(w->copy, version_ref(after), (struct sighting){0});
    } else {
        before = copy_remove(w->copy, key);
    }
    feed_change(w->feed, w->revision, before, after);
    feed_advance(w->feed, w->revision);
    version_unref(before);
    version_unref(after);
}

/* ---- The wire -------------------------------------------------------------------------------- */

/* What is older than what was held is never told, gone or not. */
static void on_change(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record, struct effects *out)
{
    struct world *w = context;
    w->currents += change == FEED_CLIENT_CURRENT;
    if (change == FEED_CLIENT_RESET) {
        map_done(&w->told, NULL);
    } else if (change == FEED_CLIENT_PUT) {
        const int64_t *last = map_get(&w->told, key);
        assert_true(!last || *last < record->mod_revision);
        map_put(&w->told, key, arena_copy(&w->arena, &record->mod_revision, sizeof(int64_t)));
    }
}

static void close_reader(struct world *w)
{
    cursor_free(w->reader);
    w->reader = NULL;
}

/* Carries out what the feed client asked for. */
static void carry_out(struct world *w)
{
    const struct effect *cancel = drive_effect(&w->drive, EFFECT_CANCEL, 0);
    const struct call *call = drive_call(&w->drive, "/v1/board/feed", 0);
    if (cancel || call) {
        close_reader(w);
    }
    if (call) {
        ProtobufCAllocator a = arena_protobuf(&w->arena);
        Board__FeedRequest *r = board__feed_request__unpack(&a, call->body.size, call->body.data);
        assert_non_null(r);
        assert_int_equal(r->n_topics + r->n_new_topics, w->topic_count);
        w->resumed += r->revision > 0 && r->n_new_topics > 0;
        w->reader = feed_reader(w->feed, r);
        assert_non_null(w->reader);
    }
}

static void timer(struct world *w, int64_t ms)
{
    drive_advance(&w->drive, ms);
    carry_out(w);
}

/* Some bytes, or all that there are. */
static bool deliver(struct world *w, size_t max)
{
    SCOPED_BUF(bytes);
    enum cursor_state state = w->reader ? cursor_fill(w->reader, &bytes, max) : CURSOR_WAIT;
    bool some = bytes.size > 0;
    if (some) {
        drive_stream(&w->drive, w->feed_client.call_id, buf_bytes(&bytes));
        carry_out(w);
    }
    if (state == CURSOR_CUT) {
        close_reader(w);
        drive_closed(&w->drive, w->feed_client.call_id);
        carry_out(w);
    }
    return some;
}

/* ---- What is expected ------------------------------------------------------------------------ */

static bool begins(const char *topic, const char *key)
{
    size_t size = strlen(topic);
    return strncmp(topic, key, size) == 0 && (topic[size - 1] == '/' || !key[size]);
}

static bool is_selected(const struct world *w, const char *key)
{
    bool selected = key_type(key) == RECORD_CELL; /* by its selector */
    for (size_t i = 0; i < w->topic_count; i++) {
        selected = selected || begins(w->topics[i], key);
    }
    return selected;
}

static void holds_what_the_board_has(const struct world *w)
{
    size_t count = 0;
    for (struct copied *p = copy_from(w->copy, ""); p; p = copy_next(p)) {
        const struct version *v = copied_version(p);
        const struct followed *held = feed_client_get(&w->feed_client, version_key(v));
        bool selected = is_selected(w, version_key(v));
        assert_true(selected == (held != NULL));
        assert_true(!held || held->mod_revision == v->mod_revision);
        count += selected;
    }
    assert_int_equal(w->feed_client.records.count, count);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void add_topic(struct world *w)
{
    const char *key = draw_key(w), *guid = key_component(&w->arena, key, 1);
    const char *topic = draw(w, 2) ? key : key_actual_process(&w->arena, guid);
    struct effects out;
    if (draw(w, 4) == 0) {
        topic = key_actual_index(&w->arena, guid, (int32_t)draw(w, 2));
    }
    for (size_t i = 0; i < w->topic_count; i++) {
        if (strcmp(w->topics[i], topic) == 0) {
            return;
        }
    }
    effects_init(&out, &w->arena);
    assert_true(feed_client_add_topic(&w->feed_client, topic, &out));
    assert_true(
        feed_client_add_topic(&w->feed_client, topic, &out)); /* once more changes nothing */
    assert_true(out.due_ns <= w->drive.now.mono_ns);
    w->topics[w->topic_count++] = topic;
    if (draw(w, 4)) { /* otherwise another one may come beside it, or a frame of before */
        timer(w, 0);
        drive_timer(&w->drive);
        carry_out(w);
    }
}

static void step(void *target, const struct event *ev, struct effects *out)
{
    struct world *w = target;
    feed_client_step(&w->feed_client, ev, out);
}

static void world_begin(struct world *w, uint64_t seed)
{
    static Board__Selector cells = BOARD__SELECTOR__INIT;
    static char cell[] = "cell";
    static const Board__Selector *const selectors[] = {&cells};
    cells.type = cell;
    *w = (struct world){.next_call_id = 1, .revision = 10};
    map_init(&w->told);
    random_seed(&w->random, (uint64_t[2]){seed, 1});
    arena_init(&w->arena);
    w->copy = copy_new();
    w->feed = feed_new(RING, SIZE_MAX);
    feed_reset(w->feed, w->copy, "e1", w->revision);
    assert_int_equal(boards_init(&w->boards, &w->arena, "https://a:1", &w->next_call_id, NULL), 0);
    w->feed_client = (struct feed_client){.boards = &w->boards,
                                          .selectors = selectors,
                                          .selector_count = 1,
                                          .on_change = on_change,
                                          .context = w};
    feed_client_init(&w->feed_client);
    drive_init(&w->drive, step, w);
    drive_start(&w->drive);
    carry_out(w);
}

static void world_end(struct world *w)
{
    close_reader(w);
    feed_client_done(&w->feed_client);
    drive_done(&w->drive);
    feed_free(w->feed);
    copy_free(w->copy);
    map_done(&w->told, NULL);
    arena_done(&w->arena);
}

static void act(struct world *w)
{
    uint64_t what = draw(w, 100);
    if (what < 50) {
        change(w);
    } else if (what < 85) {
        deliver(w, 1 + draw(w, 200));
    } else if (what < 93) {
        feed_heartbeat(w->feed, w->revision, 0);
    } else if (what < 98) {
        add_topic(w);
    } else if (w->reader && what < 99) {
        close_reader(w);
        drive_closed(&w->drive, w->feed_client.call_id);
        carry_out(w);
    } else {
        timer(w, 50);
    }
}

static void settle(struct world *w)
{
    do {
        timer(w, 500);
        feed_heartbeat(w->feed, w->revision, 0);
        while (deliver(w, 65536)) {
        }
    } while (!w->feed_client.current || w->feed_client.revision < w->revision);
}

/* Whatever is added when, and whatever breaks: in the end it holds what the board has of its
 * topics. */
static void topics_that_come_one_by_one(void **state)
{
    unsigned resumed = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world w;
        world_begin(&w, seed);
        for (int i = 0; i < 200; i++) {
            act(&w);
            if (i % 50 == 49) {
                settle(&w);
                holds_what_the_board_has(&w);
            }
        }
        resumed += w.resumed;
        world_end(&w);
    }
    assert_true(resumed > 100);
}

/* Of topics alone, and of the same topics with a selector that picks nothing: for that one each
 * change is tried. */
static struct cursor *open_beside(struct world *w, const char *const *topics, int64_t revision,
                                  bool tries)
{
    Board__FeedRequest r = BOARD__FEED_REQUEST__INIT;
    Board__Selector nothing = BOARD__SELECTOR__INIT, *selectors[] = {&nothing};
    nothing.type = arena_strdup(&w->arena, "no such type");
    r.topics = (char **)(uintptr_t)topics;
    r.n_topics = 2;
    r.selectors = selectors;
    r.n_selectors = tries;
    r.revision = revision;
    r.board_generation = arena_strdup(&w->arena, "e1");
    struct cursor *c = feed_reader(w->feed, &r);
    assert_non_null(c);
    return c;
}

static size_t tells_the_same(struct cursor *a, struct cursor *b)
{
    SCOPED_BUF(x);
    SCOPED_BUF(y);
    assert_int_equal(cursor_fill(a, &x, 4096), cursor_fill(b, &y, 4096));
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data ? x.data : (const uint8_t *)"",
                        y.data ? y.data : (const uint8_t *)"", x.size);
    return x.size;
}

/* However they come and go, and wherever they resume, what is looked up for all is what each would
 * have found. */
static void readers_of_topics_miss_nothing(void **state)
{
    enum { READERS = 6 };
    size_t told = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world w;
        struct cursor *readers[READERS][2] = {{NULL}};
        world_begin(&w, seed);
        for (int i = 0; i < 300; i++) {
            size_t n = (size_t)draw(&w, READERS);
            uint64_t what = draw(&w, 8);
            if (what == 0 || !readers[n][0]) {
                const char *topics[] = {
                    key_desired(&w.arena, arena_printf(&w.arena, "p%d", (int)draw(&w, PROCESSES))),
                    key_actual_process(&w.arena,
                                       arena_printf(&w.arena, "p%d", (int)draw(&w, PROCESSES)))};
                int64_t revision = draw(&w, 2) ? 0 : w.revision - (int64_t)draw(&w, 8);
                for (int tries = 0; tries < 2; tries++) {
                    cursor_free(readers[n][tries]);
                    readers[n][tries] = open_beside(&w, topics, revision, tries);
                }
            } else if (what < 5) {
                change(&w);
            } else if (what == 5) {
                feed_heartbeat(w.feed, w.revision, 0);
            }
            told += what > 5 && readers[n][0] ? tells_the_same(readers[n][0], readers[n][1]) : 0;
        }
        for (size_t n = 0; n < READERS; n++) {
            cursor_free(readers[n][0]);
            cursor_free(readers[n][1]);
        }
        world_end(&w);
    }
    assert_true(told > 10000);
}

/* Only what the new one selects is told, and that it is complete. */
static void a_new_topic_brings_its_snapshot_alone(void **state)
{
    struct world w;
    world_begin(&w, 1);
    for (int i = 0; i < 100; i++) {
        change(&w);
    }
    settle(&w);
    struct effects out;
    effects_init(&out, &w.arena);
    unsigned currents = w.currents;
    w.topics[w.topic_count++] = "desired/p1";
    assert_true(feed_client_add_topic(&w.feed_client, "desired/p1", &out));
    assert_false(w.feed_client.current);
    drive_timer(&w.drive);
    carry_out(&w);
    assert_int_equal(w.resumed, 1);
    SCOPED_BUF(told);
    cursor_fill(w.reader, &told, 65536);
    assert_true(told.size > 0 && told.size < 100); /* one record and a heartbeat */
    drive_stream(&w.drive, w.feed_client.call_id, buf_bytes(&told));
    assert_int_equal(w.currents, currents + 1);
    holds_what_the_board_has(&w);
    world_end(&w);
}

static void a_feed_client_has_a_bound_of_topics(void **state)
{
    struct world w;
    world_begin(&w, 1);
    struct effects out;
    effects_init(&out, &w.arena);
    for (int i = 0; i < FEED_CLIENT_TOPICS_MAX; i++) {
        w.topic_count++;
        assert_true(
            feed_client_add_topic(&w.feed_client, arena_printf(&w.arena, "actual/t%d/", i), &out));
    }
    assert_false(feed_client_add_topic(&w.feed_client, "actual/t/", &out));
    assert_true(
        feed_client_add_topic(&w.feed_client, "actual/t7/", &out)); /* one that it follows */
    _Static_assert((int)FEED_CLIENT_TOPICS_MAX == (int)FEED_TOPICS_MAX, "a bbs takes them all");
    drive_timer(&w.drive);
    carry_out(&w);
    world_end(&w);
}

static void a_key_is_found_by_its_prefixes(void **state)
{
    SCOPED_ARENA(a);
    struct topics t;
    topics_init(&t, &a, 0);
    assert_false(topics_match(&t, RECORD_ACTUAL, "actual/a/0000000000/0"));
    topics_init(&t, &a, 4);
    topics_add(&t, "actual/a/");
    topics_add(&t, "actual/b/0000000001/");
    topics_add(&t, "desired/c");
    topics_add(&t, ""); /* no key has it */
    assert_true(topics_match(&t, RECORD_ACTUAL, "actual/a/0000000000/0"));
    assert_true(topics_match(&t, RECORD_ACTUAL, "actual/b/0000000001/2"));
    assert_false(topics_match(&t, RECORD_ACTUAL, "actual/b/0000000000/0"));
    assert_false(topics_match(&t, RECORD_ACTUAL, "actual/aa/0000000000/0"));
    assert_true(topics_match(&t, RECORD_DESIRED, "desired/c"));
    assert_false(topics_match(&t, RECORD_DESIRED, "desired/cc"));
    assert_false(topics_match(&t, RECORD_DESIRED, "desired/"));
    assert_false(topics_match(&t, RECORD_TASK, "task/c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_found_by_its_prefixes),
        cmocka_unit_test(readers_of_topics_miss_nothing),
        cmocka_unit_test(a_new_topic_brings_its_snapshot_alone),
        cmocka_unit_test(topics_that_come_one_by_one),
        cmocka_unit_test(a_feed_client_has_a_bound_of_topics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
