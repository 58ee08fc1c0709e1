#include "common/client/feed_client.h"

#include "common/base/memory.h"
#include "common/base/message.h"
#include "common/codec/scan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void followed_free(void *value)
{
    struct followed *r = value;
    blob_unref(r->record);
    free(r);
}

void feed_client_init(struct feed_client *f)
{
    assert(f->boards && f->on_change);
    map_init(&f->records);
    map_init(&f->topics);
    map_init(&f->new_topics);
    f->topics_added = f->tells_topics = false;
    buf_init(&f->partial);
    f->board_generation[0] = f->boot_id[0] = 0;
    f->heartbeat_revision = 0;
    f->revision = f->reached = f->change_revision = f->compared_revision = 0;
    f->snapshot = f->current = f->was_current = f->refreshes = false;
    f->listing = 0;
    f->refresh_ns = 0;
    f->call_id = 0;
    f->refused = 0;
    f->url = NULL;
    f->heard_ns = f->retry_ns = f->now_ns = f->reported_ns = 0;
    f->gathered_ns = f->sent_ns = 0;
    f->failures = 0;
}

void feed_client_done(struct feed_client *f)
{
    if (f) {
        map_done(&f->records, followed_free);
        map_done(&f->topics, NULL);
        map_done(&f->new_topics, NULL);
        buf_done(&f->partial);
    }
}

const struct followed *feed_client_get(const struct feed_client *f, const char *key)
{
    return map_get(&f->records, key);
}

int64_t feed_client_reached(const struct feed_client *f)
{
    assert(f->revision >= 0 && f->reached >= 0);
    return f->revision ? f->revision : f->reached;
}

/* There is no copy to go on with. */
static void lose_position(struct feed_client *f)
{
    f->reached = feed_client_reached(f);
    f->revision = 0;
    assert(feed_client_reached(f) == f->reached);
}

static void tell(struct feed_client *f, enum feed_client_change change, const char *key,
                 const struct followed *record, struct effects *out)
{
    f->on_change(f->context, change, key, record, out);
}

bool feed_client_complete(const struct feed_client *f)
{
    return f->revision > 0 && !f->snapshot;
}

/* ---- Topics -------------------------------------------------------------------------------- */

bool feed_client_add_topic(struct feed_client *f, const char *topic, struct effects *out)
{
    if (map_get(&f->topics, topic) || map_get(&f->new_topics, topic)) {
        return true;
    }
    if (f->topics.count + f->new_topics.count == FEED_CLIENT_TOPICS_MAX) {
        return false;
    }
    assert(f->topics.count + f->new_topics.count < FEED_CLIENT_TOPICS_MAX);
    map_put(&f->new_topics, topic, f);
    f->topics_added = true;
    f->current = false;
    effects_due(out, f->now_ns);
    return true;
}

static size_t list_topics(const struct map *topics, struct arena *a, char ***ret_list)
{
    size_t count = 0;
    *ret_list = ARENA_ARRAY(a, topics->count, char *);
    MAP_EACH(topics, n)
    {
        (*ret_list)[count++] = (char *)(uintptr_t)map_key(n);
    }
    return count;
}

/* All that the open subscription asked for is held. If topics were added since, they are among the
 * new ones, and all of these are asked for again. */
static void topics_reported(struct feed_client *f)
{
    if (f->topics_added) {
        return;
    }
    f->tells_topics = false;
    MAP_EACH(&f->new_topics, n)
    {
        map_put(&f->topics, map_key(n), f);
        map_remove(&f->new_topics, map_key(n));
    }
}

/* ---- The connection ------------------------------------------------------------------------ */

bool feed_client_holds_topic(const struct feed_client *f, const char *topic)
{
    return map_get(&f->topics, topic) && !(f->snapshot && !f->refreshes);
}

/* From after `revision`; 0 = a snapshot first. */
static void subscribe(struct feed_client *f, const struct event *ev, const char *url,
                      int64_t revision, struct effects *out)
{
    Board__FeedRequest request = BOARD__FEED_REQUEST__INIT;
    request.n_selectors = f->selector_count;
    request.selectors = (Board__Selector **)(uintptr_t)f->selectors;
    request.revision = revision;
    request.board_generation = f->board_generation;
    request.boot_id = f->boot_id;
    request.heartbeat_revision = f->heartbeat_revision;
    request.n_topics = list_topics(&f->topics, out->arena, &request.topics);
    request.n_new_topics = list_topics(&f->new_topics, out->arena, &request.new_topics);
    f->topics_added = false;
    f->tells_topics = revision > 0 && request.n_new_topics > 0;
    f->url = url;
    assert(revision >= 0 && !f->topics_added);
    f->call_id = boards_next_id(f->boards);
    assert(f->call_id);
    f->refused = 0;
    f->heard_ns = f->sent_ns = ev->now.mono_ns;
    f->gathered_ns = 0;
    f->compared_revision = 0;
    buf_clear(&f->partial);
    struct effect *e = effects_add(out, EFFECT_SUBSCRIBE);
    e->call = (struct call){
        .identity = f->boards->identity,
        .id = f->call_id,
        .method = "POST",
        .url = arena_printf(out->arena, "%s/v1/board/feed", f->url),
        .content_type = "application/x-protobuf",
        .accept = "application/x-protobuf-stream",
        .if_none_match = "",
        .trace_id = "",
        .body = message_packed(out->arena, &request.base),
        .deadline_ns = NEVER_NS,
    };
}

/* At the bbs that tells it now, which is not behind what it has reported. */
static void refresh(struct feed_client *f, const struct event *ev, struct effects *out)
{
    assert(f->current && f->call_id);
    effects_add(out, EFFECT_CANCEL)->cancel = f->call_id;
    f->refreshes = true;
    subscribe(f, ev, f->url, 0, out);
}

static int64_t refresh_after_ns(uint64_t entropy)
{
    return FEED_CLIENT_REFRESH_NS - (int64_t)(entropy % (uint64_t)(FEED_CLIENT_REFRESH_NS / 4));
}

/* 100 ms, 200 ms ... 5 s unless told otherwise, and up to a quarter more by chance, so that a
 * thousand feed clients of a dead bbs do not come to the next one in the same instant. */
static int64_t back_off_ns(const struct feed_client *f, uint64_t entropy)
{
    int64_t wait = FEED_CLIENT_BACK_OFF_NS;
    int64_t most = f->back_off_max_ns ? f->back_off_max_ns : FEED_CLIENT_BACK_OFF_MAX_NS;
    assert(most >= wait);
    for (unsigned i = 1; i < f->failures && wait < most; i++) {
        wait *= 2;
    }
    if (f->spread) {
        wait = earlier_ns(wait, most);
        return wait / 2 + (int64_t)(entropy % (uint64_t)(wait / 2));
    }
    wait += (int64_t)(entropy % (uint64_t)(wait / 4));
    return earlier_ns(wait, most);
}

static int64_t silence_max_ns(const struct feed_client *f)
{
    return f->silence_ns ? f->silence_ns : FEED_CLIENT_SILENCE_NS;
}

/* A half snapshot cannot be resumed; what was held when one was asked for to compare can. */
static void leave_snapshot(struct feed_client *f)
{
    if (f->snapshot && !f->refreshes) {
        lose_position(f);
    }
    f->refresh_ns = f->refreshes ? 0 : f->refresh_ns; /* following goes before */
    f->snapshot = f->refreshes = false;
}

/* At the bbs that tells it now, from where it is. */
static void subscribe_to_topics(struct feed_client *f, const struct event *ev, struct effects *out)
{
    assert(f->call_id && f->topics_added);
    effects_add(out, EFFECT_CANCEL)->cancel = f->call_id;
    leave_snapshot(f);
    subscribe(f, ev, f->url, f->revision, out);
}

void feed_client_retake_topics(struct feed_client *f, const char *const *topics, size_t count,
                               struct effects *out)
{
    assert(count <= FEED_CLIENT_TOPICS_MAX);
    map_done(&f->topics, NULL);
    map_done(&f->new_topics, NULL);
    for (size_t i = 0; i < count; i++) {
        map_put(&f->new_topics, topics[i], f);
    }
    leave_snapshot(f);
    lose_position(f);
    f->topics_added = true;
    f->current = false;
    effects_due(out, f->now_ns);
}

/* This bbs is no use now: another one, after the back-off. */
static void give_up(struct feed_client *f, const struct event *ev, const char *why,
                    struct effects *out)
{
    assert(f->call_id && f->url);
    if (!f->was_current && f->failures < FEED_CLIENT_CALM_FAILURES) {
        effects_log(out, LOG_INFO_LEVEL, "no feed yet", "url=%s why=\"%s\"", f->url, why);
    } else {
        effects_log(out, LOG_WARN_LEVEL, "feed broken", "url=%s why=\"%s\"", f->url, why);
    }
    boards_failed(f->boards, f->url);
    f->call_id = 0;
    f->current = false;
    leave_snapshot(f);
    f->failures++;
    f->retry_ns = ev->now.mono_ns + back_off_ns(f, ev->entropy[0]);
    buf_clear(&f->partial);
}

static void cut(struct feed_client *f, const struct event *ev, const char *why, struct effects *out)
{
    effects_add(out, EFFECT_CANCEL)->cancel = f->call_id;
    give_up(f, ev, why, out);
}

/* ---- Frames: each gives NULL, or why the feed cannot be trusted ------------------------------ */

/* A snapshot begins that is compared with what is held. One of before that would bring back what
 * has gone. */
static const char *compare_with(struct feed_client *f, const Board__FeedFrame *frame)
{
    assert(f->refreshes);
    if (frame->revision < f->revision || frame->revision < f->change_revision) {
        return "its snapshot is older than what it sent";
    }
    f->snapshot = true;
    f->listing++;
    return NULL;
}

static const char *on_reset(struct feed_client *f, const Board__FeedFrame *frame,
                            struct effects *out)
{
    if (strlen(frame->board_generation) >= sizeof(f->board_generation)) {
        return "the board generation is too long";
    }
    if (f->refreshes && strcmp(f->board_generation, frame->board_generation) == 0) {
        return compare_with(f, frame);
    }
    f->refreshes = false;
    if (f->revision > 0) {
        effects_log(out, LOG_INFO_LEVEL, "the feed begins again", "url=%s revision=%lld why=\"%s\"",
                    f->url, (long long)f->revision,
                    strcmp(f->board_generation, frame->board_generation) != 0
                        ? "another board generation"
                        : "what followed is not kept");
    }
    map_done(&f->records, followed_free);
    lose_position(f);
    if (strcmp(f->board_generation, frame->board_generation) != 0) {
        f->boot_id[0] = 0;
        f->heartbeat_revision = 0;
        f->reached = 0;
    }
    strcpy(f->board_generation, frame->board_generation);
    f->change_revision = f->compared_revision = 0;
    f->snapshot = true;
    f->current = false;
    tell(f, FEED_CLIENT_RESET, "", NULL, out);
    return NULL;
}

static void put(struct feed_client *f, const Board__FeedFrame *frame, struct effects *out)
{
    struct followed *r = map_get(&f->records, frame->key);
    if (r) {
        r->listing = f->listing;
    }
    if (r && r->mod_revision >= frame->mod_revision) {
        return; /* reported again after a resume, or in a snapshot to compare */
    }
    if (!r) {
        r = mem_zeroed(sizeof(*r));
        r->listing = f->listing;
        map_put(&f->records, frame->key, r);
    }
    blob_unref(r->record);
    r->record = blob_new(frame->record.data, frame->record.len);
    /* What a snapshot tells was there before. */
    bool reported = frame->kind != BOARD__FEED_FRAME__KIND__RECORD;
    r->seen = (struct sighting){.since_ns = f->now_ns, .after_ns = reported ? f->reported_ns : 0};
    r->made = r->create_revision == frame->create_revision ? r->made : r->seen;
    r->create_revision = frame->create_revision;
    r->mod_revision = frame->mod_revision;
    assert(r->made.since_ns <= r->seen.since_ns);
    tell(f, FEED_CLIENT_PUT, frame->key, r, out);
}

static void erase(struct feed_client *f, const Board__FeedFrame *frame, struct effects *out)
{
    struct followed *r = map_get(&f->records, frame->key);
    if (!r || r->mod_revision > frame->revision) {
        return; /* reported again after a resume */
    }
    map_remove(&f->records, frame->key);
    tell(f, FEED_CLIENT_DELETE, frame->key, r, out);
    followed_free(r);
}

/* What the snapshot that was compared has not is gone, and nobody reported. */
static void erase_unlisted(struct feed_client *f, struct effects *out)
{
    MAP_EACH(&f->records, n)
    {
        struct followed *r = map_value(n);
        if (r->listing != f->listing) {
            const char *key = arena_strdup(out->arena, map_key(n));
            map_remove(&f->records, key);
            tell(f, FEED_CLIENT_DELETE, key, r, out);
            followed_free(r);
        }
    }
}

static const char *on_record(struct feed_client *f, const Board__FeedFrame *frame,
                             struct effects *out)
{
    if (!f->snapshot && !f->tells_topics) {
        return "a record outside of a snapshot";
    }
    if (!*frame->key) {
        return "a record without key";
    }
    put(f, frame, out);
    return NULL;
}

static void caught_up(struct feed_client *f, struct effects *out)
{
    assert(f->revision > 0 && !f->snapshot);
    if (!f->current && !f->topics_added) {
        f->current = f->was_current = true;
        f->failures = 0;
        tell(f, FEED_CLIENT_CURRENT, "", NULL, out);
    }
}

static const char *on_current(struct feed_client *f, const Board__FeedFrame *frame,
                              struct effects *out)
{
    if (!f->snapshot || frame->revision <= 0) {
        return "the end of a snapshot that never began";
    }
    if (f->refreshes) {
        erase_unlisted(f, out);
    }
    f->revision = f->change_revision = frame->revision;
    f->reported_ns = f->sent_ns;
    f->snapshot = f->refreshes = false;
    f->refresh_ns = 0;
    topics_reported(f);
    caught_up(f, out);
    return NULL;
}

/* The copy may not be trusted: the next feed begins with a snapshot. */
static const char *doubt(struct feed_client *f, const char *why)
{
    lose_position(f);
    return why;
}

/* More changes of the same revision may follow, so the position stays below it. */
static const char *take_change(struct feed_client *f, const Board__FeedFrame *frame,
                               struct effects *out)
{
    if (f->snapshot || !f->revision) {
        return "a change without a copy to apply it to";
    }
    if (!*frame->key) {
        return "a change without key";
    }
    if (frame->revision <= f->revision || frame->revision < f->change_revision) {
        return doubt(f, "revisions do not rise");
    }
    topics_reported(f);
    f->change_revision = frame->revision;
    f->revision = frame->revision - 1;
    if (frame->kind == BOARD__FEED_FRAME__KIND__DELETE) {
        erase(f, frame, out);
    } else {
        put(f, frame, out);
    }
    return NULL;
}

static const char *on_heartbeat(struct feed_client *f, const Board__FeedFrame *frame,
                                struct effects *out)
{
    if (f->snapshot) {
        return NULL; /* a long snapshot is alive */
    }
    if (!f->revision) {
        return "heartbeats without a snapshot";
    }
    if (strcmp(frame->board_generation, f->board_generation) != 0) {
        /* Restored from a backup (design.md 2, Board generation). */
        return doubt(f, "another board generation");
    }
    if (frame->revision < f->compared_revision) {
        return doubt(f, "revisions do not rise");
    }
    f->compared_revision = frame->revision;
    topics_reported(f);
    if (strlen(frame->boot_id) < sizeof(f->boot_id) && *frame->boot_id) {
        strcpy(f->boot_id, frame->boot_id);
        f->heartbeat_revision = frame->heartbeat_revision;
    }
    if (frame->revision >= f->revision) {
        /* Not below: the bbs is not behind what we know, so all up to here has been reported. */
        f->revision = frame->revision;
        f->reported_ns = f->sent_ns;
        caught_up(f, out);
    }
    return NULL;
}

static const char *on_frame(struct feed_client *f, const Board__FeedFrame *frame,
                            struct effects *out)
{
    switch (frame->kind) {
    case BOARD__FEED_FRAME__KIND__NONE:
        return "a frame without kind";
    case BOARD__FEED_FRAME__KIND__RESET:
        return on_reset(f, frame, out);
    case BOARD__FEED_FRAME__KIND__RECORD:
        return on_record(f, frame, out);
    case BOARD__FEED_FRAME__KIND__CURRENT:
        return on_current(f, frame, out);
    case BOARD__FEED_FRAME__KIND__PUT:
    case BOARD__FEED_FRAME__KIND__DELETE:
        return take_change(f, frame, out);
    case BOARD__FEED_FRAME__KIND__HEARTBEAT:
        return on_heartbeat(f, frame, out);
    default:
        return NULL; /* a newer bbs says more than we know (rolling upgrades) */
    }
}

/* Takes one frame from the front of `in`. Gives its whole size, 0 when more bytes are needed; on
 * bad input sets *ret_why. */
static size_t take_frame(struct feed_client *f, struct bytes in, struct effects *out,
                         const char **ret_why)
{
    uint64_t size;
    int prefix = bytes_varint(in, &size);
    if (prefix == 0) {
        return 0;
    }
    if (prefix < 0 || size > FEED_CLIENT_FRAME_MAX) {
        *ret_why = "a frame is malformed or too large";
        return 0;
    }
    if (in.size - (size_t)prefix < size) {
        return 0;
    }
    struct bytes body = {.data = in.data + prefix, .size = (size_t)size};
    ProtobufCMessage *m;
    if (scan_and_unpack(out->arena, &board__feed_frame__descriptor, body, 2 * FEED_CLIENT_FRAME_MAX,
                        &m, NULL) < 0) {
        *ret_why = "a frame is malformed";
    } else {
        *ret_why = on_frame(f, (const Board__FeedFrame *)m, out);
    }
    return (size_t)prefix + (size_t)size;
}

/* What is read after a gap goes by when it may have been sent, and not by when it is read: else a
 * change of that gap would look as if it had been written after it. */
static void learn_sent(struct feed_client *f, int64_t now_ns)
{
    if (now_ns - f->heard_ns >= FEED_CLIENT_GAP_NS) {
        f->gathered_ns = now_ns + FEED_CLIENT_SILENCE_NS;
    }
    f->sent_ns = now_ns >= f->gathered_ns ? now_ns : f->sent_ns;
    assert(f->reported_ns <= f->sent_ns && f->sent_ns <= now_ns);
}

static void on_data(struct feed_client *f, const struct event *ev, struct effects *out)
{
    learn_sent(f, ev->now.mono_ns);
    buf_append(&f->partial, ev->stream.data.data, ev->stream.data.size);
    const char *why = NULL;
    size_t done = 0;
    while (!why && done < f->partial.size) {
        struct bytes rest = buf_bytes(&f->partial);
        size_t size = take_frame(
            f, (struct bytes){.data = rest.data + done, .size = rest.size - done}, out, &why);
        if (size == 0) {
            break;
        }
        done += size;
        f->heard_ns = ev->now.mono_ns;
    }
    assert(done <= f->partial.size);
    buf_consume(&f->partial, done);
    if (why) {
        cut(f, ev, why, out);
    }
}

/* "answered 503: not done: ...": the first line of what it says, so that the log stays a log. A bbs
 * that is not ready says nothing, as Diego's does. */
static const char *refusal(struct arena *a, int status, struct bytes body)
{
    char text[FEED_CLIENT_REPORTED_MAX + 1];
    size_t size = 0;
    for (; size < body.size && size < FEED_CLIENT_REPORTED_MAX && body.data[size] != '\n'; size++) {
        uint8_t c = body.data[size];
        text[size] = c == '"' ? '\'' : c < ' ' || c > '~' ? '?' : (char)c;
    }
    size -= size > 0 && body.data[size - 1] == '\r';
    text[size] = 0;
    const char *unsaid = status == 503 ? "it begins, or does not reach its etcd" : "";
    const char *said = size ? text : unsaid;
    return arena_printf(a, "answered %d%s%s", status, *said ? ": " : "", said);
}

/* The head comes before what it says, and is waited for no longer than a heartbeat would be. */
static void on_refusal(struct feed_client *f, const struct event *ev, struct effects *out)
{
    const struct stream_event *stream = &ev->stream;
    const char *why = refusal(out->arena, stream->status, stream->data);
    if (stream->closed) {
        give_up(f, ev, why, out);
    } else if (stream->data.size > 0) {
        cut(f, ev, why, out);
    } else {
        f->refused = stream->status;
    }
}

static void on_silence(struct feed_client *f, const struct event *ev, struct effects *out)
{
    const char *missed = f->silence_ns ? "no heartbeat came" : "three heartbeats missed";
    cut(f, ev, f->refused ? refusal(out->arena, f->refused, (struct bytes){0}) : missed, out);
}

static void on_stream(struct feed_client *f, const struct event *ev, struct effects *out)
{
    const struct stream_event *stream = &ev->stream;
    if (stream->status != 200 && stream->status != 0) {
        on_refusal(f, ev, out);
    } else if (stream->closed) {
        give_up(f, ev, stream->text, out);
    } else {
        on_data(f, ev, out);
    }
}

void feed_client_hurry(struct feed_client *f, struct effects *out)
{
    if (!f->call_id) {
        f->retry_ns = earlier_ns(f->retry_ns, f->now_ns);
        effects_due(out, f->retry_ns);
    }
}

bool feed_client_step(struct feed_client *f, const struct event *ev, struct effects *out)
{
    f->now_ns = ev->now.mono_ns;
    bool own = ev->kind == EVENT_STREAM && f->call_id && ev->stream.id == f->call_id;
    if (own) {
        on_stream(f, ev, out);
    }
    if (f->call_id && ev->now.mono_ns - f->heard_ns >= silence_max_ns(f)) {
        on_silence(f, ev, out);
    }
    if (f->call_id && f->topics_added) {
        subscribe_to_topics(f, ev, out);
    }
    if (!f->call_id && ev->now.mono_ns >= f->retry_ns) {
        subscribe(f, ev, boards_url(f->boards), f->revision, out);
    }
    if (f->current && !f->refresh_ns) {
        f->refresh_ns = ev->now.mono_ns + refresh_after_ns(ev->entropy[0]);
    }
    bool awaits = f->current && !f->refreshes; /* the time of the next snapshot */
    if (awaits && ev->now.mono_ns >= f->refresh_ns) {
        refresh(f, ev, out);
        awaits = false;
    }
    effects_due(out, f->call_id ? f->heard_ns + silence_max_ns(f) : f->retry_ns);
    effects_due(out, awaits ? f->refresh_ns : NEVER_NS);
    return own;
}
