/* A stream of events and its readers: framing, filters, and each bound
 * of bbs/event/stream.h. */
#include "bbs/event/stream.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

/* Adds an event whose payload is the text given, of this cell (NULL = of all). */
static void tell_of(struct stream *s, const char *cell, struct bytes payload)
{
    struct api_event e = {.name = "x", .of_all_cells = !cell, .cells = {cell}};
    struct wire_event *w = wire_event_new(&e, payload, (struct bytes){0});
    stream_add(s, w);
    wire_event_unref(w);
}

static void tell(struct stream *s, const char *payload)
{
    tell_of(s, NULL, bytes_of(payload));
}

/* What the shell does at the end of a step. */
static void end_step(struct stream *s)
{
    stream_take_wake(s);
}

static enum cursor_state take(struct cursor *c, size_t chunk, struct buf *got)
{
    enum cursor_state state;
    do {
        size_t before = got->size;
        state = cursor_fill(c, got, chunk);
        assert_true(state != CURSOR_MORE || got->size > before);
        assert_true(got->size - before <= chunk + 64); /* an id may exceed it */
    } while (state == CURSOR_MORE);
    return state;
}

static void expect(struct cursor *c, enum cursor_state wanted, const char *text)
{
    SCOPED_BUF(got);
    assert_int_equal(take(c, 1024, &got), wanted);
    assert_string_equal(buf_string(&got), text);
}

static size_t count(struct cursor *c, enum cursor_state wanted)
{
    SCOPED_BUF(got);
    size_t n = 0;
    assert_int_equal(take(c, 64 * 1024, &got), wanted);
    for (const char *at = buf_string(&got); (at = strstr(at, "id: ")); at++) {
        n++;
    }
    return n;
}

static void frames(void **state)
{
    struct stream *s = stream_new();
    tell(s, "nobody reads this");
    struct cursor *c = stream_reader(s, STREAM_R1, "");
    expect(c, CURSOR_WAIT, "");
    tell(s, "a");
    tell(s, "bcd");
    expect(c, CURSOR_WAIT, "id: 0\nevent: x\ndata: YQ==\n\nid: 1\nevent: x\ndata: YmNk\n\n");
    struct cursor *late = stream_reader(s, STREAM_R1, ""); /* its ids are its own */
    tell(s, "e");
    expect(c, CURSOR_WAIT, "id: 2\nevent: x\ndata: ZQ==\n\n");
    expect(late, CURSOR_WAIT, "id: 0\nevent: x\ndata: ZQ==\n\n");
    cursor_free(c);
    cursor_free(late);
    stream_free(s);
}

static void filters_and_versions(void **state)
{
    struct stream *s = stream_new();
    struct cursor *all = stream_reader(s, STREAM_R1, "");
    struct cursor *one = stream_reader(s, STREAM_R1, "c1");
    struct cursor *old = stream_reader(s, STREAM_R0, "c2");
    assert_int_equal(stream_readers(s), 3);
    assert_int_equal(stream_readers_of(s, STREAM_R0), 1);
    tell_of(s, "c1", bytes_of("1"));
    tell_of(s, "", bytes_of("2"));
    struct api_event both = {.name = "y", .cells = {"c1", "c2"}};
    struct wire_event *w = wire_event_new(&both, bytes_of("new"), bytes_of("old"));
    stream_add(s, w);
    wire_event_unref(w);
    assert_int_equal(count(all, CURSOR_WAIT), 3);
    expect(one, CURSOR_WAIT, "id: 0\nevent: x\ndata: MQ==\n\nid: 1\nevent: y\ndata: bmV3\n\n");
    expect(old, CURSOR_WAIT, "id: 0\nevent: y\ndata: b2xk\n\n");
    cursor_free(all);
    cursor_free(one);
    cursor_free(old);
    assert_int_equal(stream_readers(s), 0);
    stream_free(s);
}

static void wakes(void **state)
{
    struct stream *s = stream_new();
    tell(s, "nobody");
    assert_false(stream_take_wake(s));
    struct cursor *c = stream_reader(s, STREAM_R1, "");
    assert_false(stream_take_wake(s));
    tell(s, "a");
    assert_true(stream_awaits_wake(s));
    assert_true(stream_take_wake(s));
    assert_false(stream_take_wake(s));
    stream_close(s);
    assert_true(stream_take_wake(s));
    cursor_free(c);
    stream_free(s);
}

/* One event may be larger than a chunk: it comes in pieces, and every chunk is bounded. */
static void large_events_in_pieces(void **state)
{
    enum { SIZE = 300 * 1000 };
    struct stream *s = stream_new();
    struct cursor *c = stream_reader(s, STREAM_R1, "");
    uint8_t *payload = calloc(1, SIZE);
    assert_non_null(payload);
    tell_of(s, NULL, (struct bytes){payload, SIZE});
    tell(s, "b");
    SCOPED_BUF(got);
    assert_int_equal(take(c, 4096, &got), CURSOR_WAIT);
    const char *text = buf_string(&got), *second = strstr(text, "id: 1\n");
    assert_non_null(second);
    assert_int_equal(second - text, strlen("id: 0\nevent: x\ndata: \n\n") + SIZE / 3 * 4);
    assert_string_equal(second, "id: 1\nevent: x\ndata: Yg==\n\n");
    /* Closed in the middle of one: it is finished, then the stream ends. */
    tell_of(s, NULL, (struct bytes){payload, SIZE});
    buf_clear(&got);
    assert_int_equal(cursor_fill(c, &got, 4096), CURSOR_MORE);
    stream_close(s);
    tell(s, "after the gap");
    assert_int_equal(take(c, 64 * 1024, &got), CURSOR_END);
    assert_int_equal(got.size, strlen("id: 2\nevent: x\ndata: \n\n") + SIZE / 3 * 4);
    free(payload);
    cursor_free(c);
    stream_free(s);
}

static void closed_streams(void **state)
{
    struct stream *s = stream_new();
    struct cursor *before = stream_reader(s, STREAM_R1, "");
    tell(s, "a");
    stream_close(s);
    struct cursor *after = stream_reader(s, STREAM_R1, "");
    expect(before, CURSOR_END, "");
    expect(after, CURSOR_WAIT, "");
    tell(s, "b");
    assert_int_equal(count(after, CURSOR_WAIT), 1);
    tell(s, "c");
    stream_free(s); /* readers outlive it */
    expect(after, CURSOR_END, "");
    cursor_free(before);
    cursor_free(after);
}

/* ---- bounds ---- */

static void behind_by_so_many(void **state)
{
    struct stream *s = stream_new();
    struct cursor *just = stream_reader(s, STREAM_R1, ""), *over = stream_reader(s, STREAM_R1, "");
    for (int i = 0; i < STREAM_BEHIND_MAX; i++) {
        tell(s, "a");
        end_step(s);
    }
    assert_int_equal(count(just, CURSOR_WAIT), STREAM_BEHIND_MAX);
    tell(s, "one more");
    end_step(s);
    assert_int_equal(count(just, CURSOR_WAIT), 1);
    assert_int_equal(count(over, CURSOR_END), 0);
    cursor_free(just);
    cursor_free(over);
    stream_free(s);
}

/* What one step tells is no fault of a reader that had all before it. */
static void much_at_once(void **state)
{
    enum { MUCH = 5 * STREAM_BEHIND_MAX };
    struct stream *s = stream_new();
    struct cursor *c = stream_reader(s, STREAM_R1, ""), *over = stream_reader(s, STREAM_R1, "");
    for (int i = 0; i < MUCH; i++) {
        tell(s, "a");
    }
    end_step(s);
    assert_int_equal(count(c, CURSOR_WAIT), MUCH);
    tell(s, "b");
    end_step(s);
    assert_int_equal(count(c, CURSOR_WAIT), 1);
    assert_int_equal(count(over, CURSOR_END), 0);
    cursor_free(c);
    cursor_free(over);
    stream_free(s);
}

static void bytes_of_the_ring(void **state)
{
    enum { SIZE = 900 * 1000, TEXT = SIZE / 3 * 4, FIT = STREAM_BYTES_MAX / (TEXT + 256) };
    struct stream *s = stream_new();
    struct cursor *just = stream_reader(s, STREAM_R1, ""), *over = stream_reader(s, STREAM_R1, "");
    uint8_t *payload = calloc(1, SIZE);
    assert_non_null(payload);
    for (int i = 0; i < FIT; i++) {
        tell_of(s, NULL, (struct bytes){payload, SIZE});
    }
    assert_int_equal(count(just, CURSOR_WAIT), FIT);
    tell_of(s, NULL, (struct bytes){payload, SIZE});
    assert_int_equal(count(just, CURSOR_WAIT), 1);
    assert_int_equal(count(over, CURSOR_END), 0);
    free(payload);
    cursor_free(just);
    cursor_free(over);
    stream_free(s);
}

static void number_of_readers(void **state)
{
    struct stream *s = stream_new();
    struct cursor **list = calloc(STREAM_READERS_MAX, sizeof(struct cursor *));
    assert_non_null(list);
    for (int i = 0; i < STREAM_READERS_MAX; i++) {
        list[i] = stream_reader(s, i % 2 ? STREAM_R1 : STREAM_R0, "");
        assert_non_null(list[i]);
    }
    assert_null(stream_reader(s, STREAM_R1, ""));
    tell(s, "a");
    for (int i = 0; i < STREAM_READERS_MAX; i++) {
        assert_int_equal(count(list[i], CURSOR_WAIT), 1);
        cursor_free(list[i]);
    }
    struct cursor *again = stream_reader(s, STREAM_R1, "");
    assert_non_null(again);
    cursor_free(again);
    free(list);
    stream_free(s);
}

static void length_of_a_cell_id(void **state)
{
    char id[STREAM_CELL_BYTES + 1];
    memset(id, 'c', STREAM_CELL_BYTES);
    id[STREAM_CELL_BYTES] = 0;
    struct stream *s = stream_new();
    struct cursor *c = stream_reader(s, STREAM_R1, id);
    tell_of(s, id, bytes_of("a"));
    tell_of(s, "c", bytes_of("b"));
    assert_int_equal(count(c, CURSOR_WAIT), 1);
    cursor_free(c);
    stream_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames),
        cmocka_unit_test(filters_and_versions),
        cmocka_unit_test(wakes),
        cmocka_unit_test(large_events_in_pieces),
        cmocka_unit_test(closed_streams),
        cmocka_unit_test(behind_by_so_many),
        cmocka_unit_test(much_at_once),
        cmocka_unit_test(bytes_of_the_ring),
        cmocka_unit_test(number_of_readers),
        cmocka_unit_test(length_of_a_cell_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
