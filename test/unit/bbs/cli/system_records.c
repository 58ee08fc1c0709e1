#include "test/unit/bbs/cli/system_records.h"

#include "common/model/record.h"

static void frame(struct records_feed *f, Board__FeedFrame *x)
{
    SCOPED_BUF(body);
    x->revision = f->revision;
    x->mod_revision = f->revision;
    buf_message(&body, &x->base);
    buf_varint(&f->bytes, body.size);
    buf_append(&f->bytes, body.data, body.size);
}

static void mark(struct records_feed *f, Board__FeedFrame__Kind kind)
{
    Board__FeedFrame x = BOARD__FEED_FRAME__INIT;
    x.kind = kind;
    x.board_generation = arena_strdup(f->arena, "g1");
    frame(f, &x);
}

void shown_reset(struct records_feed *f)
{
    mark(f, BOARD__FEED_FRAME__KIND__RESET);
}

void shown_current(struct records_feed *f)
{
    mark(f, BOARD__FEED_FRAME__KIND__CURRENT);
}

void shown_heartbeat(struct records_feed *f)
{
    mark(f, BOARD__FEED_FRAME__KIND__HEARTBEAT);
}

void shown_put(struct records_feed *f, const char *key, const ProtobufCMessage *m)
{
    Board__FeedFrame x = BOARD__FEED_FRAME__INIT;
    struct bytes record = record_encoded(f->arena, m);
    f->revision++;
    x.kind = BOARD__FEED_FRAME__KIND__PUT;
    x.key = arena_strdup(f->arena, key);
    x.record = (ProtobufCBinaryData){record.size, (uint8_t *)(uintptr_t)record.data};
    frame(f, &x);
}

void shown_delete(struct records_feed *f, const char *key)
{
    Board__FeedFrame x = BOARD__FEED_FRAME__INIT;
    f->revision++;
    x.kind = BOARD__FEED_FRAME__KIND__DELETE;
    x.key = arena_strdup(f->arena, key);
    frame(f, &x);
}

void shown_give(struct records_feed *f, struct system_board *b, size_t piece)
{
    for (size_t at = 0; at < f->bytes.size; at += piece) {
        size_t left = f->bytes.size - at;
        (void)system_board_take(b, (struct bytes){f->bytes.data + at, left < piece ? left : piece},
                                NULL);
    }
    buf_clear(&f->bytes);
}

static int64_t ago(int seconds)
{
    return (int64_t)(RECORDS_NOW_S - seconds) * 1000000000;
}

Board__SystemRecord *shown_record(struct arena *a, const char *state, const char *message)
{
    Board__SystemRecord *s = arena_message(a, &board__system_record__descriptor);
    s->id = arena_strdup(a, "shop");
    s->uid = arena_strdup(a, "u1");
    s->version = arena_strdup(a, "1.4.0");
    s->state = arena_strdup(a, state);
    s->message = arena_strdup(a, message);
    s->board_generation = arena_strdup(a, "g1");
    s->created_at = ago(500);
    s->since = ago(60);
    return s;
}

Board__ServiceRecord *shown_service(struct arena *a, const char *path, const char *state,
                                    int instances, const int counts[4], const char *message)
{
    Board__ServiceRecord *s = arena_message(a, &board__service_record__descriptor);
    s->counts = arena_message(a, &board__counts__descriptor);
    s->counts->total = counts[0];
    s->counts->updated = counts[1];
    s->counts->available = counts[2];
    s->counts->terminating = counts[3];
    s->rolling = arena_message(a, &board__rolling__descriptor);
    s->rolling->deadline_s = 60;
    s->uid = arena_strdup(a, "u1");
    s->system = arena_strdup(a, "shop");
    s->path = arena_strdup(a, path);
    s->state = arena_strdup(a, state);
    s->message = arena_strdup(a, message);
    s->instances = instances;
    s->generation = s->observed = 3;
    s->progress_at = ago(20);
    s->since = ago(30);
    return s;
}

Board__DeployRecord *shown_deploy(struct arena *a, const char *id, const char *path,
                                  const char *state, const char *message)
{
    Board__DeployRecord *d = arena_message(a, &board__deploy_record__descriptor);
    d->id = arena_strdup(a, id);
    d->uid = arena_strdup(a, "u1");
    d->system = arena_strdup(a, "shop");
    d->target = arena_strdup(a, "version");
    d->version = arena_strdup(a, "1.5.0");
    d->before_version = arena_strdup(a, "1.4.0");
    d->path = arena_strdup(a, path);
    d->state = arena_strdup(a, state);
    d->message = arena_strdup(a, message);
    d->created_at = d->started_at = ago(42);
    return d;
}

Board__HoldRecord *shown_hold(struct arena *a, const Board__DeployRecord *d, bool paused)
{
    Board__HoldRecord *h = arena_message(a, &board__hold_record__descriptor);
    h->uid = arena_strdup(a, "u1");
    h->holds = ARENA_ARRAY(a, 1, Board__Hold *);
    if (d) {
        h->n_holds = 1;
        h->holds[0] = arena_message(a, &board__hold__descriptor);
        h->holds[0]->kind = BOARD__HOLD__KIND__DEPLOY;
        h->holds[0]->id = d->id;
        h->holds[0]->path = d->path;
        h->holds[0]->paused = paused;
        h->holds[0]->since = d->started_at;
    }
    return h;
}
