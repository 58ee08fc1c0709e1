#include "bbs/event/stream.h"

#include "common/base/memory.h"
#include "common/codec/json_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct wire_event {
    unsigned references;
    bool of_all_cells;
    char *cells[API_EVENT_CELLS];
    struct blob *text[STREAM_VERSIONS];
};

/* A ring of a power of two, as large as what it holds asks for. */
struct stream {
    unsigned references; /* the owner's and one a reader */
    bool closed;
    bool wake;
    uint64_t generation; /* raised by each close */
    size_t readers[STREAM_VERSIONS];
    struct wire_event **ring;
    size_t capacity;
    uint64_t first, next; /* numbers of the events in the ring: [first, next) */
    uint64_t woken;       /* end of those that were there when the readers were woken last */
    size_t bytes;         /* of their texts */
};

struct stream_reader {
    struct cursor cursor;
    struct stream *stream;
    enum stream_version version;
    uint64_t generation;
    uint64_t place;     /* number of the next event to look at */
    uint64_t next_id;   /* for "id:", from 0 for each connection */
    struct blob *text;  /* of the event that was given in part; NULL = none */
    size_t given;       /* of it */
    char cell_id[];
};

enum { RING_MIN = 64 };

/* ---- an event on its way --------------------------------------------------------------------- */

void wire_event_unref(struct wire_event *e)
{
    assert(!e || e->references > 0);
    if (!e || --e->references > 0) {
        return;
    }
    for (size_t i = 0; i < API_EVENT_CELLS; i++) {
        free(e->cells[i]);
    }
    for (size_t i = 0; i < STREAM_VERSIONS; i++) {
        blob_unref(e->text[i]);
    }
    free(e);
}

/* All but the id, which each connection counts for itself. */
static struct blob *text_of(const char *name, struct bytes payload)
{
    SCOPED_BUF(text);
    buf_reserve(&text, payload.size / 3 * 4 + 128);
    buf_printf(&text, "event: %s\ndata: ", name);
    base64_encode(payload, &text);
    buf_append_string(&text, "\n\n");
    return blob_new(text.data, text.size);
}

static size_t event_bytes(const struct wire_event *e)
{
    size_t r0 = e->text[STREAM_R0] == e->text[STREAM_R1] ? 0 : e->text[STREAM_R0]->size;
    return e->text[STREAM_R1]->size + r0 + sizeof(*e);
}

struct wire_event *wire_event_new(const struct api_event *e, struct bytes r1, struct bytes r0)
{
    struct wire_event *w = mem_zeroed(sizeof(*w));
    w->references = 1;
    w->of_all_cells = e->of_all_cells;
    for (size_t i = 0; i < API_EVENT_CELLS; i++) {
        w->cells[i] = e->cells[i] && e->cells[i][0] ? mem_text(e->cells[i]) : NULL;
    }
    w->text[STREAM_R1] = text_of(e->name, r1);
    w->text[STREAM_R0] = r0.data ? text_of(e->name, r0) : blob_ref(w->text[STREAM_R1]);
    return w;
}

static bool passes(const struct wire_event *e, const char *cell_id)
{
    if (!*cell_id || e->of_all_cells) {
        return true;
    }
    for (size_t i = 0; i < API_EVENT_CELLS; i++) {
        if (e->cells[i] && strcmp(e->cells[i], cell_id) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- the ring -------------------------------------------------------------------------------- */

static struct wire_event **slot(const struct stream *s, uint64_t number)
{
    assert(number >= s->first && number <= s->next && number - s->first < s->capacity);
    return &s->ring[number & (s->capacity - 1)];
}

struct stream *stream_new(void)
{
    struct stream *s = mem_zeroed(sizeof(*s));
    s->references = 1;
    return s;
}

static void drop_first(struct stream *s)
{
    assert(s->first < s->next);
    struct wire_event *e = *slot(s, s->first);
    s->first++;
    assert(s->bytes >= event_bytes(e));
    s->bytes -= event_bytes(e);
    assert((s->bytes == 0) == (s->first == s->next));
    wire_event_unref(e);
}

static void drop_all(struct stream *s)
{
    while (s->first < s->next) {
        drop_first(s);
    }
    free(s->ring);
    s->ring = NULL;
    s->capacity = 0;
}

static void stream_unref(struct stream *s)
{
    assert(s->references > 0);
    if (--s->references == 0) {
        assert(stream_readers(s) == 0);
        drop_all(s);
        free(s);
    }
}

void stream_free(struct stream *s)
{
    if (s) {
        stream_close(s);
        s->closed = true;
        stream_unref(s);
    }
}

size_t stream_readers_of(const struct stream *s, enum stream_version version)
{
    return s->readers[version];
}

size_t stream_readers(const struct stream *s)
{
    return s->readers[STREAM_R0] + s->readers[STREAM_R1];
}

static void grow(struct stream *s)
{
    size_t capacity = s->capacity ? 2 * s->capacity : RING_MIN;
    struct wire_event **ring = mem_array(capacity, sizeof(*ring));
    for (uint64_t n = s->first; n < s->next; n++) {
        ring[n & (capacity - 1)] = *slot(s, n);
    }
    free(s->ring);
    s->ring = ring;
    s->capacity = capacity;
}

void stream_add(struct stream *s, struct wire_event *e)
{
    while (s->next - s->first >= STREAM_BEHIND_MAX && s->first < s->woken) {
        drop_first(s);
    }
    if (s->next - s->first == s->capacity) {
        grow(s);
    }
    *slot(s, s->next) = e;
    s->next++;
    e->references++;
    s->bytes += event_bytes(e);
    s->wake = true;
    while (s->bytes > STREAM_BYTES_MAX) {
        drop_first(s);
    }
}

void stream_close(struct stream *s)
{
    drop_all(s);
    s->generation++;
    s->wake = true;
}

bool stream_awaits_wake(const struct stream *s)
{
    return s->wake && stream_readers(s) > 0;
}

bool stream_take_wake(struct stream *s)
{
    bool wake = stream_awaits_wake(s);
    assert(s->woken <= s->next);
    s->wake = false;
    s->woken = s->next;
    return wake;
}

/* ---- readers --------------------------------------------------------------------------------- */

static void append_id(struct buf *out, uint64_t id)
{
    char digits[24], *at = digits + sizeof(digits);
    *--at = '\n';
    do {
        *--at = (char)('0' + id % 10);
        id /= 10;
    } while (id);
    buf_append(out, "id: ", 4);
    buf_append(out, at, (size_t)(digits + sizeof(digits) - at));
}

/* Gives of the text that was begun what there is room for. */
static void give(struct stream_reader *r, struct buf *out, size_t end)
{
    assert(r->given <= r->text->size);
    size_t left = r->text->size - r->given;
    size_t room = out->size < end ? end - out->size : 0;
    size_t size = left < room ? left : room;
    buf_append(out, r->text->data + r->given, size);
    r->given += size;
    if (size == left) {
        blob_unref(r->text);
        r->text = NULL;
    }
}

/* It can not be told all that there is. */
static bool lost(const struct stream_reader *r)
{
    const struct stream *s = r->stream;
    return s->closed || r->generation != s->generation || r->place < s->first;
}

/* The next event that passes its filter; false if there is none yet. */
static bool begin_next(struct stream_reader *r, struct buf *out)
{
    const struct stream *s = r->stream;
    while (r->place < s->next) {
        const struct wire_event *e = *slot(s, r->place++);
        if (passes(e, r->cell_id)) {
            append_id(out, r->next_id++);
            r->text = blob_ref(e->text[r->version]);
            r->given = 0;
            return true;
        }
    }
    return false;
}

static enum cursor_state reader_fill(struct cursor *c, struct buf *out, size_t max)
{
    struct stream_reader *r = (struct stream_reader *)c;
    size_t start = out->size, end = start + max;
    if (r->text) {
        give(r, out, end);
    }
    while (!r->text && out->size < end && !lost(r) && begin_next(r, out)) {
        give(r, out, end);
    }
    if (!r->text && lost(r)) {
        return CURSOR_END;
    }
    return out->size > start ? CURSOR_MORE : CURSOR_WAIT;
}

static void reader_free(struct cursor *c)
{
    struct stream_reader *r = (struct stream_reader *)c;
    struct stream *s = r->stream;
    blob_unref(r->text);
    assert(s->readers[r->version] > 0);
    s->readers[r->version]--;
    if (stream_readers(s) == 0) {
        drop_all(s);
    }
    stream_unref(s);
    free(r);
}

struct cursor *stream_reader(struct stream *s, enum stream_version version, const char *cell_id)
{
    static const struct cursor_ops ops = {.fill = reader_fill, .free = reader_free};
    size_t size = strlen(cell_id);
    assert(size <= STREAM_CELL_BYTES);
    if (stream_readers(s) >= STREAM_READERS_MAX) {
        return NULL;
    }
    struct stream_reader *r = mem_zeroed(sizeof(*r) + size + 1);
    r->cursor.ops = &ops;
    r->stream = s;
    r->version = version;
    r->generation = s->generation;
    r->place = s->next;
    memcpy(r->cell_id, cell_id, size);
    s->references++;
    s->readers[version]++;
    return &r->cursor;
}
