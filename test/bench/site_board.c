#include "test/bench/site_board.h"

#include "board.pb-c.h"
#include "common/base/memory.h"
#include "common/model/keys.h"
#include "common/model/record.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "test/unit/bbs/board/feed_frames.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAD_KEY "lead/site"
#define SITE_KEY "site/identity"
#define CELL "cell-1"

/* Of the cell: more than any benchmark asks for. */
enum { CELL_MEMORY_MB = 8 << 20, CELL_DISK_MB = 8 << 20, CELL_CONTAINERS = 65536 };

struct site_record {
    int64_t revision;
    struct blob *value; /* format version and message */
};

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void record_free(void *value)
{
    struct site_record *r = value;
    blob_unref(r->value);
    free(r);
}

/* ---- Records --------------------------------------------------------------------------------- */

static void frame(struct buf *out, Board__FeedFrame__Kind kind, const char *key,
                  const struct site_record *r, int64_t revision)
{
    Board__FeedFrame f = BOARD__FEED_FRAME__INIT;
    f.kind = kind;
    f.key = text(key);
    f.record = (ProtobufCBinaryData){.data = r->value->data, .len = r->value->size};
    f.revision = revision;
    f.create_revision = f.mod_revision = r->revision;
    buf_varint(out, board__feed_frame__get_packed_size(&f));
    buf_message(out, &f.base);
}

static void put(struct site_board *b, const char *key, const ProtobufCMessage *m)
{
    SCOPED_BUF(value);
    record_encode(&value, m);
    struct site_record *r = mem_zeroed(sizeof(*r));
    r->revision = ++b->revision;
    r->value = blob_new(value.data, value.size);
    struct site_record *before = map_put(&b->records, key, r);
    if (before) {
        record_free(before);
    }
    frame(&b->news, BOARD__FEED_FRAME__KIND__PUT, key, r, r->revision);
}

static void erase(struct site_board *b, const char *key)
{
    struct site_record *r = map_remove(&b->records, key);
    if (r) {
        frame(&b->news, BOARD__FEED_FRAME__KIND__DELETE, key, r, ++b->revision);
        record_free(r);
    }
}

static void put_cell(struct site_board *b)
{
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    Models__CellPresence presence = MODELS__CELL_PRESENCE__INIT;
    Models__CellCapacity capacity = MODELS__CELL_CAPACITY__INIT;
    capacity.memory_mb = CELL_MEMORY_MB;
    capacity.disk_mb = CELL_DISK_MB;
    capacity.containers = CELL_CONTAINERS;
    presence.cell_id = text(CELL);
    presence.capacity = &capacity;
    cell.presence = &presence;
    cell.incarnation = 1;
    put(b, "cell/" CELL, &cell.base);
}

void site_board_init(struct site_board *b, const char *name)
{
    *b = (struct site_board){.revision = 1};
    snprintf(b->generation, sizeof(b->generation), "%s", name);
    map_init(&b->records);
    buf_init(&b->news);
    put_cell(b);
}

void site_board_done(struct site_board *b)
{
    map_done(&b->records, record_free);
    buf_done(&b->news);
}

void site_board_leave(struct site_board *b)
{
    erase(b, LEAD_KEY);
}

/* ---- The feed -------------------------------------------------------------------------------- */

void site_board_snapshot(struct site_board *b, struct buf *out)
{
    frame_reset(out, b->generation);
    MAP_EACH(&b->records, n)
    {
        frame(out, BOARD__FEED_FRAME__KIND__RECORD, map_key(n), map_value(n), 0);
    }
    frame_current(out, b->generation, b->revision);
    buf_clear(&b->news);
}

void site_board_news(struct site_board *b, struct buf *out)
{
    buf_append(out, b->news.data, b->news.size);
    buf_clear(&b->news);
}

void site_board_heartbeat(const struct site_board *b, struct buf *out)
{
    frame_heartbeat(out, b->generation, b->revision);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void lead(struct site_board *b, const ProtobufCMessage *m, struct buf *answer)
{
    const Board__LeaderLockRequest *q = (const Board__LeaderLockRequest *)m;
    Board__LeaderLockResponse r = BOARD__LEADER_LOCK_RESPONSE__INIT;
    Board__Term term = BOARD__TERM__INIT;
    if (q->release) {
        erase(b, LEAD_KEY);
    } else {
        put(b, LEAD_KEY, &q->leader_lock->base);
        term.role = text("site");
        term.board_generation = b->generation;
        term.term = b->revision;
        r.leader_lock = q->leader_lock;
        r.term = &term;
    }
    buf_message(answer, &r.base);
}

static void hear(struct site_board *b, const ProtobufCMessage *m, struct buf *answer)
{
    (void)m;
    Board__HeartbeatResponse r = BOARD__HEARTBEAT_RESPONSE__INIT;
    r.board_generation = b->generation;
    buf_message(answer, &r.base);
}

static void move_site(struct site_board *b, const Board__Move *m)
{
    Board__SiteRecord r = BOARD__SITE_RECORD__INIT;
    r.identity = b->generation;
    r.cloudlet = m->site->cloudlet;
    r.board_generation = m->site->board_generation;
    put(b, SITE_KEY, &r.base);
}

static void move_slice(struct site_board *b, const Board__Move *m)
{
    SCOPED_ARENA(a);
    const char *key = arena_printf(&a, "slice/%s", m->subject->key);
    if (strcmp(m->move, "drop") == 0) {
        erase(b, key);
        return;
    }
    Board__SliceRecord r = BOARD__SLICE_RECORD__INIT;
    r.uid = m->subject->key;
    r.owner = m->slice->owner;
    r.digest = m->slice->digest;
    r.nodes = m->slice->nodes;
    r.node = m->slice->node;
    put(b, key, &r.base);
}

static void apply(struct site_board *b, const ProtobufCMessage *m, struct buf *answer)
{
    const Board__ApplyRequest *q = (const Board__ApplyRequest *)m;
    SCOPED_ARENA(a);
    Board__ApplyResponse r = BOARD__APPLY_RESPONSE__INIT;
    r.board_generation = b->generation;
    r.results = ARENA_ARRAY(&a, q->n_moves, Board__MoveResult *);
    for (size_t i = 0; i < q->n_moves; i++) {
        const Board__Move *one = q->moves[i];
        bool site = strcmp(one->subject->kind, "site") == 0;
        assert(site || strcmp(one->subject->kind, "slice") == 0);
        (site ? move_site : move_slice)(b, one);
        r.results[r.n_results] = arena_message(&a, &board__move_result__descriptor);
        r.results[r.n_results]->outcome = BOARD__MOVE_RESULT__OUTCOME__DONE;
        r.results[r.n_results++]->revision = b->revision;
    }
    buf_message(answer, &r.base);
}

static void put_instance(struct site_board *b, const Models__DesiredLRP *d, int32_t index)
{
    SCOPED_ARENA(a);
    Models__ActualLRP lrp = MODELS__ACTUAL_LRP__INIT;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    Models__ActualLRPInstanceKey instance = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    key.process_guid = d->process_guid;
    key.index = index;
    key.domain = d->domain;
    instance.instance_guid = arena_printf(&a, "%s-%d", d->process_guid, index);
    instance.cell_id = text(CELL);
    lrp.actual_lrp_key = &key;
    lrp.actual_lrp_instance_key = &instance;
    lrp.state = text("RUNNING");
    put(b, key_actual(&a, d->process_guid, index, 0), &lrp.base);
}

static void desire(struct site_board *b, const ProtobufCMessage *m, struct buf *answer)
{
    const Models__DesiredLRP *d = ((const Models__DesireLRPRequest *)m)->desired_lrp;
    Models__DesiredLRPLifecycleResponse r = MODELS__DESIRED_LRPLIFECYCLE_RESPONSE__INIT;
    SCOPED_ARENA(a);
    put(b, key_desired(&a, d->process_guid), &d->base);
    for (int32_t i = 0; i < d->instances; i++) {
        put_instance(b, d, i);
    }
    buf_message(answer, &r.base);
}

static void remove_desired(struct site_board *b, const ProtobufCMessage *m, struct buf *answer)
{
    const char *guid = ((const Models__RemoveDesiredLRPRequest *)m)->process_guid;
    Models__DesiredLRPLifecycleResponse r = MODELS__DESIRED_LRPLIFECYCLE_RESPONSE__INIT;
    SCOPED_ARENA(a);
    const char *prefix = key_actual_process(&a, guid);
    struct map_node *n;
    erase(b, key_desired(&a, guid));
    while ((n = map_from(&b->records, prefix)) &&
           strncmp(map_key(n), prefix, strlen(prefix)) == 0) {
        erase(b, arena_strdup(&a, map_key(n)));
    }
    buf_message(answer, &r.base);
}

static void accept(struct site_board *b, const ProtobufCMessage *m, struct buf *answer)
{
    (void)b, (void)m;
    Models__DesiredLRPLifecycleResponse r = MODELS__DESIRED_LRPLIFECYCLE_RESPONSE__INIT;
    buf_message(answer, &r.base);
}

static const struct {
    const char *path;
    const ProtobufCMessageDescriptor *body;
    void (*answer)(struct site_board *b, const ProtobufCMessage *m, struct buf *answer);
} calls[] = {
    {"/v1/board/leader_lock", &board__leader_lock_request__descriptor, lead},
    {"/v1/board/heartbeat", &board__heartbeat_request__descriptor, hear},
    {"/v1/board/apply", &board__apply_request__descriptor, apply},
    {"/v1/desired_lrp/desire.r2", &models__desire_lrprequest__descriptor, desire},
    {"/v1/desired_lrp/remove", &models__remove_desired_lrprequest__descriptor, remove_desired},
    {"/v1/domains/upsert", NULL, accept},
};

int site_board_ask(struct site_board *b, const char *path, struct bytes body, struct buf *answer)
{
    SCOPED_ARENA(a);
    ProtobufCAllocator allocator = arena_protobuf(&a);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strcmp(path, calls[i].path) == 0) {
            const ProtobufCMessage *m =
                calls[i].body
                    ? protobuf_c_message_unpack(calls[i].body, &allocator, body.size, body.data)
                    : NULL;
            assert(m || !calls[i].body);
            calls[i].answer(b, m, answer);
            return 200;
        }
    }
    return 404;
}
