#include "bbs/board/feed.h"

#include "bbs/board/topic_index.h"
#include "bbs/board/topics.h"
#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct ring_change {
    int64_t revision;
    struct version *before;
    struct version *after;
};

struct feed {
    unsigned references; /* the board's and one a reader */
    bool closed;
    bool paused;
    bool wake;
    size_t readers;
    const struct copy *copy;
    char *board_generation;
    uint64_t generation; /* raised by each reset; 0 = never loaded */
    int64_t revision;    /* all changes up to it are in the ring and may be shown */
    int64_t base;        /* all changes above it are in the ring */
    struct ring_change *ring;
    size_t capacity;
    size_t bytes, bytes_max; /* of the values before the changes: those after are in the copy, or
                                are before a later change */
    uint64_t first, next; /* numbers of the changes in the ring: [first, next) */
    uint64_t shown;       /* end of the complete revisions */
    uint64_t heartbeat;   /* number of the last one */
    struct topic_index followers; /* readers of topics alone */
    int64_t confirmed_revision;
    const char *boot_id;     /* heartbeats name */
    int64_t heartbeat_revision;
};

struct feed_reader {
    struct cursor cursor;
    struct feed *feed;
    struct arena arena; /* of the pickers, the topics and the board generation asked */
    struct picker *pickers;
    size_t picker_count;
    struct topics topics;
    struct topic_follower *followed; /* of topics alone: each one; else NULL */
    size_t followed_count;
    uint64_t followed_end; /* none of the changes from here on is of one of them */
    const char **new_topics; /* of them: reported before the changes where it resumes */
    size_t new_topic_count;
    const char *resume_board_generation; /* "" = from a snapshot */
    int64_t resume_revision;
    uint64_t generation;      /* of the feed that it follows; 0 = not begun */
    struct version **snapshot;   /* references; NULL when it is sent */
    size_t snapshot_count, snapshot_at, snapshot_capacity;
    bool snapshot_whole; /* not of new topics alone */
    int64_t snapshot_revision;
    uint64_t place;           /* number of the next change to look at */
    uint64_t heartbeat;       /* last one sent */
};

struct feed *feed_new(size_t ring_changes, size_t ring_bytes)
{
    assert(ring_changes > 0);
    struct feed *f = mem_zeroed(sizeof(*f));
    f->ring = mem_array(ring_changes, sizeof(*f->ring));
    f->references = 1;
    f->capacity = ring_changes;
    f->bytes_max = ring_bytes;
    f->paused = true;
    topic_index_init(&f->followers);
    return f;
}

static void drop_first(struct feed *f)
{
    assert(f->first < f->next);
    struct ring_change *c = &f->ring[f->first++ % f->capacity];
    assert(c->revision >= f->base && f->bytes >= version_bytes(c->before));
    f->base = c->revision;
    f->bytes -= version_bytes(c->before);
    assert(f->first < f->next || f->bytes == 0);
    version_unref(c->before);
    version_unref(c->after);
}

static void drop_ring(struct feed *f)
{
    while (f->first < f->next) {
        drop_first(f);
    }
}

static void feed_unref(struct feed *f)
{
    assert(f->references > 0);
    if (--f->references == 0) {
        assert(f->readers == 0 && f->first == f->next);
        topic_index_done(&f->followers);
        free(f->board_generation);
        free(f->ring);
        free(f);
    }
}

void feed_free(struct feed *f)
{
    if (!f) {
        return;
    }
    drop_ring(f);
    f->closed = true;
    f->copy = NULL;
    feed_unref(f);
}

void feed_reset(struct feed *f, const struct copy *copy, const char *board_generation,
                int64_t revision)
{
    drop_ring(f);
    free(f->board_generation);
    f->board_generation = mem_text(board_generation);
    f->copy = copy;
    f->shown = f->next;
    f->base = f->revision = revision;
    f->generation++;
    f->confirmed_revision = 0;
    f->paused = false;
    f->wake = true;
}

void feed_pause(struct feed *f)
{
    f->paused = true;
}

void feed_change(struct feed *f, int64_t revision, struct version *before, struct version *after)
{
    assert(revision > f->revision);
    assert(f->next == f->first || revision >= f->ring[(f->next - 1) % f->capacity].revision);
    if (f->next - f->first == f->capacity) {
        drop_first(f);
    }
    f->ring[f->next++ % f->capacity] = (struct ring_change){
        .revision = revision, .before = version_ref(before), .after = version_ref(after)};
    f->bytes += version_bytes(before);
    const struct version *changed = after ? after : before;
    if (changed) {
        topic_index_note(&f->followers, changed->type, version_key(changed), f->next);
    }
}

void feed_advance(struct feed *f, int64_t revision)
{
    assert(revision >= f->revision); /* positions never fall within a generation */
    while (f->bytes > f->bytes_max && f->first < f->shown) {
        drop_first(f);
    }
    f->wake = f->wake || f->shown != f->next;
    f->shown = f->next;
    f->revision = revision;
}

void feed_serves(struct feed *f, const char *boot_id)
{
    f->boot_id = boot_id;
}

void feed_heartbeat(struct feed *f, int64_t revision, int64_t heartbeat_revision)
{
    f->heartbeat++;
    f->confirmed_revision = revision;
    f->heartbeat_revision = heartbeat_revision;
    f->wake = true;
}

bool feed_take_wake(struct feed *f)
{
    bool wake = f->wake && f->readers > 0;
    f->wake = false;
    return wake;
}

size_t feed_reader_count(const struct feed *f)
{
    return f->readers;
}

/* ---- frames ---- */

static void append_frame(struct buf *out, const Board__FeedFrame *frame)
{
    buf_varint(out, board__feed_frame__get_packed_size(frame));
    buf_message(out, &frame->base);
}

static void append_mark(struct buf *out, const struct feed *f, Board__FeedFrame__Kind kind,
                        int64_t revision)
{
    Board__FeedFrame frame = BOARD__FEED_FRAME__INIT;
    frame.kind = kind;
    frame.board_generation = f->board_generation;
    frame.revision = revision;
    if (kind == BOARD__FEED_FRAME__KIND__HEARTBEAT && f->heartbeat_revision > 0) {
        frame.boot_id = (char *)(uintptr_t)f->boot_id;
        frame.heartbeat_revision = f->heartbeat_revision;
    }
    append_frame(out, &frame);
}

static void append_record(struct buf *out, Board__FeedFrame__Kind kind, int64_t revision,
                          const struct version *item)
{
    Board__FeedFrame frame = BOARD__FEED_FRAME__INIT;
    frame.kind = kind;
    frame.revision = revision;
    frame.key = (char *)(size_t)version_key(item);
    frame.record.data = item->blob->data;
    frame.record.len = item->blob->size;
    frame.create_revision = item->create_revision;
    frame.mod_revision = item->mod_revision;
    append_frame(out, &frame);
}

/* ---- readers ---- */

static bool picks_all(const struct feed_reader *r)
{
    return r->picker_count == 0 && r->topics.slot_count == 0;
}

static bool picks(const struct feed_reader *r, const struct version *item)
{
    if (!item) {
        return false;
    }
    for (size_t i = 0; i < r->picker_count; i++) {
        if (picker_matches(&r->pickers[i], item)) {
            return true;
        }
    }
    return topics_match(&r->topics, item->type, version_key(item)) || picks_all(r);
}

static void drop_snapshot(struct feed_reader *r)
{
    assert(r->snapshot_at <= r->snapshot_count && r->snapshot_count <= r->snapshot_capacity);
    for (size_t i = r->snapshot_at; i < r->snapshot_count; i++) {
        version_unref(r->snapshot[i]);
    }
    free(r->snapshot);
    r->snapshot = NULL;
    r->snapshot_count = r->snapshot_at = r->snapshot_capacity = 0;
}

/* So that an empty snapshot is not NULL. */
static void snapshot_grow(struct feed_reader *r)
{
    r->snapshot_capacity = r->snapshot_capacity ? 2 * r->snapshot_capacity : 256;
    r->snapshot = mem_resized(r->snapshot, r->snapshot_capacity, sizeof(*r->snapshot));
}

static void snapshot_add(struct feed_reader *r, const struct picker *p)
{
    struct picker_walk w = picker_begin(p, r->feed->copy);
    for (struct version *item; (item = picker_next(&w));) {
        if (r->snapshot_count == r->snapshot_capacity) {
            snapshot_grow(r);
        }
        r->snapshot[r->snapshot_count++] = version_ref(item);
    }
}

static int compare_items(const void *a, const void *b)
{
    const struct version *const *x = a, *const *y = b;
    return strcmp(version_key(*x), version_key(*y));
}

/* A record that is picked twice is sent once. What one walk picked is in order already. */
static void sort_unique(struct feed_reader *r)
{
    size_t kept = r->snapshot_count > 0;
    if (r->picker_count > 1 || r->topics.slot_count) {
        qsort(r->snapshot, r->snapshot_count, sizeof(*r->snapshot), compare_items);
    }
    for (size_t i = 1; i < r->snapshot_count; i++) {
        if (r->snapshot[i] == r->snapshot[kept - 1]) {
            version_unref(r->snapshot[i]);
        } else {
            r->snapshot[kept++] = r->snapshot[i];
        }
    }
    r->snapshot_count = kept;
}

/* NULLs in the list are none. */
static void snapshot_add_topics(struct feed_reader *r, const char *const *topics, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (topics[i]) {
            const struct picker topic = picker_of_topic(topics[i]);
            snapshot_add(r, &topic);
        }
    }
}

/* References to all records picked, at the copy's present position; or to those that its new topics
 * pick: the changes from its own place follow, which may be older. */
static void take_snapshot(struct feed_reader *r, bool whole)
{
    const struct picker all = {
        .type = RECORD_TYPE_COUNT, .key_prefix = "", .tags = {"", "", "", ""}};
    snapshot_grow(r);
    if (!whole) {
        snapshot_add_topics(r, r->new_topics, r->new_topic_count);
    } else if (picks_all(r)) {
        snapshot_add(r, &all);
    } else {
        for (size_t i = 0; i < r->picker_count; i++) {
            snapshot_add(r, &r->pickers[i]);
        }
        snapshot_add_topics(r, r->topics.slots, r->topics.slot_count);
    }
    sort_unique(r);
    r->snapshot_whole = whole;
    r->snapshot_revision = r->feed->revision;
}

/* The first change above `revision`. */
static uint64_t place_after(const struct feed *f, int64_t revision)
{
    uint64_t low = f->first, high = f->shown;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (f->ring[middle % f->capacity].revision <= revision) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    assert(low >= f->first && low <= f->shown);
    return low;
}

/* Where it starts: at the position it asked to resume from, or with a snapshot. False: this bbs is
 * behind that position, wait. */
static bool begin(struct feed_reader *r, struct buf *out)
{
    const struct feed *f = r->feed;
    bool resume = r->generation == 0 && *r->resume_board_generation &&
                  strcmp(r->resume_board_generation, f->board_generation) == 0;
    if (resume && r->resume_revision > f->revision) {
        return false;
    }
    r->generation = f->generation;
    r->followed_end = f->next; /* of what there is already nothing is known */
    if (resume && r->resume_revision >= f->base) {
        r->place = place_after(f, r->resume_revision);
        if (r->new_topic_count) {
            take_snapshot(r, false);
        }
        return true;
    }
    drop_snapshot(r);
    take_snapshot(r, true);
    r->place = f->shown;
    append_mark(out, f, BOARD__FEED_FRAME__KIND__RESET, r->snapshot_revision);
    return true;
}

static void fill_snapshot(struct feed_reader *r, struct buf *out, size_t end)
{
    while (r->snapshot_at < r->snapshot_count && out->size < end) {
        struct version *item = r->snapshot[r->snapshot_at++];
        append_record(out, BOARD__FEED_FRAME__KIND__RECORD, r->snapshot_revision, item);
        version_unref(item);
    }
    if (r->snapshot_at == r->snapshot_count) {
        drop_snapshot(r);
        if (r->snapshot_whole) {
            append_mark(out, r->feed, BOARD__FEED_FRAME__KIND__CURRENT, r->snapshot_revision);
        }
    }
}

static void fill_changes(struct feed_reader *r, struct buf *out, size_t end)
{
    const struct feed *f = r->feed;
    assert(r->place >= f->first && r->place <= f->shown && f->shown <= f->next);
    if (r->followed && r->place >= r->followed_end) {
        r->place = f->shown;
    }
    while (r->place < f->shown && out->size < end) {
        const struct ring_change *c = &f->ring[r->place++ % f->capacity];
        if (picks(r, c->after)) {
            append_record(out, BOARD__FEED_FRAME__KIND__PUT, c->revision, c->after);
        } else if (picks(r, c->before)) {
            append_record(out, BOARD__FEED_FRAME__KIND__DELETE, c->revision, c->before);
        }
    }
    if (r->place == f->shown && r->heartbeat != f->heartbeat &&
        f->confirmed_revision > 0 && f->confirmed_revision <= f->revision) {
        r->heartbeat = f->heartbeat;
        /* The reader stands at the copy's position, which is past what passed the barrier: so the
         * frames' revisions never fall. */
        append_mark(out, f, BOARD__FEED_FRAME__KIND__HEARTBEAT, f->revision);
    }
}

static enum cursor_state reader_fill(struct cursor *c, struct buf *out, size_t max)
{
    struct feed_reader *r = (struct feed_reader *)c;
    const struct feed *f = r->feed;
    size_t start = out->size;
    if (f->closed) {
        return CURSOR_END;
    }
    if (f->paused || (r->generation != f->generation && !begin(r, out))) {
        return CURSOR_WAIT;
    }
    if (r->place < f->first) {
        drop_snapshot(r);
        return CURSOR_CUT;
    }
    if (r->snapshot) {
        fill_snapshot(r, out, start + max);
    }
    if (!r->snapshot) {
        fill_changes(r, out, start + max);
    }
    return out->size > start ? CURSOR_MORE : CURSOR_WAIT;
}

static void reader_free(struct cursor *c)
{
    struct feed_reader *r = (struct feed_reader *)c;
    drop_snapshot(r);
    for (size_t i = 0; i < r->followed_count; i++) {
        topic_index_remove(&r->feed->followers, &r->followed[i]);
    }
    arena_done(&r->arena);
    assert(r->feed->readers > 0);
    r->feed->readers--;
    feed_unref(r->feed);
    free(r);
}

static void read_topics(struct feed_reader *r, const Board__FeedRequest *request)
{
    size_t count = request->n_topics, new_count = request->n_new_topics;
    topics_init(&r->topics, &r->arena, count + new_count);
    r->new_topics = ARENA_ARRAY(&r->arena, new_count, const char *);
    for (size_t i = 0; i < count + new_count; i++) {
        const char *topic = arena_strdup(
            &r->arena, i < count ? request->topics[i] : request->new_topics[i - count]);
        topics_add(&r->topics, topic);
        if (i >= count) {
            r->new_topics[r->new_topic_count++] = topic;
        }
    }
}

/* What is asked for by topics alone: changes are looked up for all such readers at once. */
static void follow_topics(struct feed_reader *r)
{
    if (r->picker_count > 0 || r->topics.slot_count == 0) {
        return;
    }
    r->followed = ARENA_ARRAY(&r->arena, r->topics.slot_count, struct topic_follower);
    for (size_t i = 0; i < r->topics.slot_count; i++) {
        if (r->topics.slots[i]) {
            topic_index_add(&r->feed->followers, &r->followed[r->followed_count++],
                            r->topics.slots[i], &r->followed_end);
        }
    }
}

struct cursor *feed_reader(struct feed *f, const Board__FeedRequest *request)
{
    static const struct cursor_ops ops = {.fill = reader_fill, .free = reader_free};
    if (f->readers >= FEED_READERS_MAX || request->n_selectors > FEED_SELECTORS_MAX ||
        request->n_topics + request->n_new_topics > FEED_TOPICS_MAX) {
        return NULL;
    }
    struct feed_reader *r = mem_zeroed(sizeof(*r));
    r->cursor.ops = &ops;
    r->feed = f;
    f->references++;
    f->readers++;
    arena_init(&r->arena);
    r->pickers = ARENA_ARRAY(&r->arena, request->n_selectors, struct picker);
    for (size_t i = 0; i < request->n_selectors; i++) {
        r->pickers[r->picker_count++] = picker_of(&r->arena, request->selectors[i]);
    }
    read_topics(r, request);
    follow_topics(r);
    r->resume_board_generation =
        arena_strdup(&r->arena, request->revision > 0 ? request->board_generation : "");
    r->resume_revision = request->revision;
    return &r->cursor;
}
