/* A leader, by the record of its leader lock. */
#include "bbs/cli/leader_io.h"

#include "bbs/cli/frames.h"
#include "common/cli/cli_io.h"
#include "common/codec/scan.h"
#include "common/model/record.h"

#include <assert.h>
#include <string.h>

enum {
    SNAPSHOT_MS = 3000,
    ASK_MS = 2000, /* it is worth a short wait */
};

struct snapshot {
    struct leader_asker *asker;
    struct buf partial;
};

/* True: the snapshot is complete. */
static bool take_frame(struct leader_asker *q, struct bytes body)
{
    ProtobufCMessage *m, *leader_lock;
    struct arena *a = &q->s->arena;
    if (scan_and_unpack(a, &board__feed_frame__descriptor, body, FRAME_MAX * 8, &m, NULL) < 0) {
        return true;
    }
    const Board__FeedFrame *f = (const Board__FeedFrame *)m;
    if (f->kind == BOARD__FEED_FRAME__KIND__RECORD &&
        record_decode(a, RECORD_LEADER_LOCK, (struct bytes){f->record.data, f->record.len},
                      &leader_lock, NULL) == 0 &&
        strcmp(((const Board__LeaderLockRecord *)leader_lock)->role, q->role) == 0) {
        q->url = ((const Board__LeaderLockRecord *)leader_lock)->url;
    }
    q->complete = f->kind == BOARD__FEED_FRAME__KIND__CURRENT;
    return q->complete;
}

/* A negative answer ends the stream: all was read. */
static int take(void *owner, struct bytes bytes)
{
    struct snapshot *s = owner;
    uint64_t size;
    buf_append(&s->partial, bytes.data, bytes.size);
    for (;;) {
        int used = bytes_varint(buf_bytes(&s->partial), &size);
        if (used < 0 || (used > 0 && size > FRAME_MAX)) {
            return -ERR_INVALID;
        }
        if (used == 0 || s->partial.size - (size_t)used < size) {
            return 0;
        }
        if (take_frame(s->asker, (struct bytes){s->partial.data + used, (size_t)size})) {
            return -ERR_EXISTS;
        }
        buf_consume(&s->partial, (size_t)used + (size_t)size);
    }
}

static void find_leader(struct leader_asker *q)
{
    struct snapshot snapshot = {.asker = q};
    Board__Selector selector = BOARD__SELECTOR__INIT, *list[] = {&selector};
    Board__FeedRequest request = BOARD__FEED_REQUEST__INIT;
    selector.type = arena_strdup(&q->s->arena, record_type_name(RECORD_LEADER_LOCK));
    request.n_selectors = 1;
    request.selectors = list;
    q->sought = true;
    q->complete = false;
    q->url = "";
    buf_init(&snapshot.partial);
    cli_client_limit(q->s->client, session_at_most_ms(q->s, SNAPSHOT_MS));
    (void)cli_client_stream(q->s->client, "/v1/board/feed", &request.base, SNAPSHOT_MS, take,
                            &snapshot, NULL);
    cli_client_limit(q->s->client, session_left_ms(q->s));
    buf_done(&snapshot.partial);
}

struct bytes leader_ask(struct leader_asker *q, const char *path)
{
    struct cli_client *c = NULL;
    struct bytes body = {0};
    struct err why;
    if (!q->sought) {
        find_leader(q);
    }
    assert(q->sought && q->url);
    if (!*q->url || q->silence) {
        return body; /* that it does not answer is waited for once */
    }
    int r = cli_client_open(q->s->call, q->url, &c, &why);
    if (r == 0) {
        cli_client_limit(c, session_at_most_ms(q->s, ASK_MS));
        r = cli_client_get(c, &q->s->arena, path, &body, &why);
    }
    cli_client_close(c);
    if (r < 0 && r != -ERR_NOT_FOUND) {
        q->silence = arena_strdup(&q->s->arena, why.text);
    }
    return r < 0 ? (struct bytes){0} : body;
}

const char *leader_lack(struct leader_asker *q)
{
    if (!q->sought) {
        (void)leader_ask(q, "/state");
    }
    return leader_lack_text(&q->s->arena, q->role, *q->url != 0, q->complete, q->silence);
}
