#include "test/tool/echo_role.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 64, CALL_TIMEOUT_MS = 1500 };

/* An answer that waits: for a call (call_id), for a time (due_ns). */
struct pending {
    uint64_t request_id;
    uint64_t call_id;
    int64_t due_ns;
    bool stream, relay;
    int status;
    size_t bytes;
};

struct echo {
    struct role role;
    struct buf published; /* published and kept */
    bool cut;
    bool stubborn;
    size_t requests, hangups, cursors, fills, timers;
    uint64_t last_call_id;
    struct pending pending[CALLS_MAX];
};

/* ---- Cursors ------------------------------------------------------------------------------- */

struct echo_cursor {
    struct cursor cursor;
    struct echo *echo;
    enum { GIVE_BYTES, GIVE_FLOOD, GIVE_PUBLISHED } what;
    size_t at, end;
};

static enum cursor_state cursor_more(struct cursor *cursor, struct buf *out, size_t max)
{
    struct echo_cursor *c = (struct echo_cursor *)cursor;
    struct echo *e = c->echo;
    e->fills++;
    if (e->cut && c->what == GIVE_PUBLISHED) {
        return CURSOR_CUT;
    }
    size_t end = c->what == GIVE_FLOOD       ? c->at + max
                 : c->what == GIVE_PUBLISHED ? e->published.size
                                             : c->end;
    size_t size = end - c->at < max ? end - c->at : max;
    if (c->what == GIVE_PUBLISHED && size) {
        buf_append(out, e->published.data + c->at, size);
    } else {
        buf_reserve(out, size);
        for (size_t i = 0; i < size; i++) {
            out->data[out->size++] = (uint8_t)('a' + (c->at + i) % 26);
        }
    }
    c->at += size;
    if (c->what == GIVE_BYTES && c->at == c->end) {
        return CURSOR_END;
    }
    return size ? CURSOR_MORE : CURSOR_WAIT;
}

static void cursor_gone(struct cursor *cursor)
{
    struct echo_cursor *c = (struct echo_cursor *)cursor;
    c->echo->cursors--;
    free(c);
}

static const struct cursor_ops cursor_ops = {.fill = cursor_more, .free = cursor_gone};

static void stream(struct echo *e, uint64_t id, int what, size_t end, int64_t size,
                   struct effects *out)
{
    struct echo_cursor *c = calloc(1, sizeof(*c));
    *c = (struct echo_cursor){.cursor = {&cursor_ops}, .echo = e, .what = what, .end = end};
    e->cursors++;
    struct effect *f = effects_add(out, EFFECT_REPLY);
    f->reply = (struct reply){
        .id = id,
        .status = 200,
        .content_type = what == GIVE_BYTES ? "text/plain" : "text/event-stream; charset=utf-8",
        .etag = "",
        .allow = "",
        .cursor = &c->cursor,
        .size = size,
        .channel = what == GIVE_BYTES ? "" : "published"};
}

/* ---- Requests ------------------------------------------------------------------------------ */

static void say(const struct request *r, struct effects *out, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(const struct request *r, struct effects *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(out->arena, format, args);
    va_end(args);
    effects_reply(out, r->id, 200, "text/plain", bytes_of(text));
}

static struct pending *find(struct echo *e, uint64_t call_id)
{
    for (size_t i = 0; i < CALLS_MAX; i++) {
        if (e->pending[i].call_id == call_id) {
            return &e->pending[i];
        }
    }
    abort();
}

static void call(struct echo *e, const struct event *ev, enum effect_kind kind,
                 struct effects *out)
{
    struct pending *p = find(e, 0);
    *p = (struct pending){.request_id = ev->request.id,
                          .call_id = ++e->last_call_id,
                          .due_ns = NEVER_NS,
                          .stream = kind == EFFECT_SUBSCRIBE};
    struct effect *f = effects_add(out, kind);
    bool centre = strcmp(ev->request.path, "/centre") == 0;
    f->call = (struct call){
        .identity = centre ? IDENTITY_CENTRE : IDENTITY_OWN,
        .id = p->call_id,
        .method = ev->request.body.size ? "POST" : "GET",
        .url = arena_strdup(out->arena, ev->request.query),
        .content_type = ev->request.body.size ? "text/x-test" : "",
        .accept = "text/accepted",
        .if_none_match = "",
        .trace_id = "trace-1",
        .body = {arena_copy(out->arena, ev->request.body.data, ev->request.body.size),
                 ev->request.body.size},
        .deadline_ns = kind == EFFECT_CALL ? ev->now.mono_ns + CALL_TIMEOUT_MS * MILLISECOND_NS
                                           : NEVER_NS};
}

static void pass_on(struct echo *e, const struct event *ev, struct effects *out)
{
    call(e, ev, EFFECT_CALL, out);
    find(e, e->last_call_id)->relay = true;
    struct call called = out->list[out->count - 1].call;
    out->list[out->count - 1].kind = EFFECT_RELAY;
    out->list[out->count - 1].relay = (struct relay){.request_id = ev->request.id,
                                                     .call = called,
                                                     .content_type = "text/relayed",
                                                     .broken = "-- broken off --"};
}

static void tick(struct echo *e, const struct event *ev)
{
    struct pending *p = find(e, 0);
    *p = (struct pending){.request_id = ev->request.id, .call_id = ++e->last_call_id};
    p->due_ns = ev->now.mono_ns + atoll(ev->request.query) * MILLISECOND_NS;
}

static void launch(struct echo *e, const struct request *r, struct effects *out)
{
    struct pending *p = find(e, 0);
    *p = (struct pending){.request_id = r->id, .call_id = ++e->last_call_id, .due_ns = NEVER_NS};
    const char **words = ARENA_ARRAY(out->arena, 3, const char *);
    words[0] = "/bin/sh";
    words[1] = "-c";
    words[2] = arena_strndup(out->arena, (const char *)r->body.data, r->body.size);
    effects_add(out, EFFECT_LAUNCH)->launch =
        (struct launch){.id = p->call_id, .words = words, .count = 3};
}

static void cancel_all(struct echo *e, struct effects *out)
{
    for (size_t i = 0; i < CALLS_MAX; i++) {
        struct pending *p = &e->pending[i];
        if (p->call_id) {
            effects_add(out, EFFECT_CANCEL)->cancel = p->call_id;
            effects_reply(out, p->request_id, 200, "text/plain", bytes_of("cancelled"));
            *p = (struct pending){0};
        }
    }
}

static void publish(struct echo *e, const struct request *r, struct effects *out)
{
    buf_append(&e->published, r->body.data, r->body.size);
    effects_add(out, EFFECT_WAKE)->wake = "published";
    say(r, out, "published");
}

static void on_request(struct echo *e, const struct event *ev, struct effects *out)
{
    const struct request *r = &ev->request;
    size_t number = strtoul(r->query, NULL, 10);
    const char *path = r->path;
    e->requests++;
    if (r->too_large) {
        say(r, out, "too large");
    } else if (strcmp(path, "/echo") == 0 || strcmp(path, "/small") == 0) {
        effects_reply(out, r->id, 200, "application/x-echo", r->body);
        out->list[out->count - 1].reply.etag = "tag";
    } else if (strcmp(path, "/who") == 0) {
        say(r, out, "%s|%s|%s|%s|%s|%s|%s|%s|%s", r->peer.unit, r->peer.name, r->method, r->path,
            r->query, r->trace_id, r->accept, r->content_type, r->if_none_match);
    } else if (strcmp(path, "/status") == 0) {
        effects_reply(out, r->id, (int)number, "", (struct bytes){0});
        out->list[out->count - 1].reply.retry_after_s = 1;
    } else if (strcmp(path, "/answer") == 0) {
        effects_reply(out, r->id, (int)number, "application/json", r->body);
    } else if (strcmp(path, "/denied") == 0) { /* the body is the answer's */
        effects_reply(out, r->id, 403, "application/x-protobuf", r->body);
    } else if (strcmp(path, "/unsure") == 0) {
        effects_reply(out, r->id, 503, "text/plain", bytes_of("it may have been done\n"));
    } else if (strcmp(path, "/lost") == 0) { /* as a bbs whose etcd went back */
        effects_reply(out, r->id, 503, "text/plain", bytes_of(ECHO_LOST "\n"));
    } else if (strcmp(path, "/list") == 0) {
        stream(e, r->id, GIVE_BYTES, number, (int64_t)number, out);
    } else if (strcmp(path, "/chunks") == 0) {
        stream(e, r->id, GIVE_BYTES, number, -1, out);
    } else if (strcmp(path, "/short") == 0) {
        stream(e, r->id, GIVE_BYTES, number - 1, (int64_t)number, out);
    } else if (strcmp(path, "/flood") == 0) {
        stream(e, r->id, GIVE_FLOOD, 0, -1, out);
    } else if (strcmp(path, "/stream") == 0) {
        stream(e, r->id, GIVE_PUBLISHED, 0, -1, out);
    } else if (strcmp(path, "/publish") == 0) {
        publish(e, r, out);
    } else if (strcmp(path, "/cut") == 0) {
        e->cut = true;
        publish(e, r, out);
    } else if (strcmp(path, "/call") == 0 || strcmp(path, "/centre") == 0) {
        call(e, ev, EFFECT_CALL, out);
    } else if (strcmp(path, "/launch") == 0) { /* the body is a script */
        launch(e, r, out);
    } else if (strcmp(path, "/relay") == 0) {
        pass_on(e, ev, out);
    } else if (strcmp(path, "/subscribe") == 0) {
        call(e, ev, EFFECT_SUBSCRIBE, out);
    } else if (strcmp(path, "/cancel") == 0) {
        cancel_all(e, out);
        say(r, out, "done");
    } else if (strcmp(path, "/counts") == 0) {
        say(r, out, "requests=%zu hangups=%zu cursors=%zu fills=%zu timers=%zu", e->requests,
            e->hangups, e->cursors, e->fills, e->timers);
    } else if (strcmp(path, "/tick") == 0) {
        tick(e, ev);
    } else if (strcmp(path, "/stubborn") == 0) {
        e->stubborn = true;
        say(r, out, "stubborn");
    } else if (strcmp(path, "/stop") == 0) {
        effects_log(out, LOG_INFO_LEVEL, "stops", "code=%zu", number);
        say(r, out, "stopping");
        effects_exit(out, (int)number, "it was asked to");
    } else if (strcmp(path, "/never") != 0) {
        effects_reply(out, r->id, 404, "text/plain; charset=utf-8",
                      bytes_of("404 page not found\n"));
    }
}

/* ---- The rest ------------------------------------------------------------------------------ */

static void on_response(struct echo *e, const struct response *r, struct effects *out)
{
    static const char *const outcomes[] = {
        [CALL_ANSWERED] = "answered", [CALL_REFUSED] = "refused", [CALL_UNKNOWN] = "unknown"};
    struct pending *p = find(e, r->id);
    if (p->relay && r->outcome == CALL_ANSWERED && r->status == 200) {
        *p = (struct pending){0};
        return;
    }
    const char *text = arena_printf(out->arena, "%s|%d|%s|%s|%.*s|%s", outcomes[r->outcome],
                                    r->status, r->content_type, r->etag, (int)r->body.size,
                                    r->body.size ? (const char *)r->body.data : "", r->text);
    effects_reply(out, p->request_id, 200, "text/plain", bytes_of(text));
    *p = (struct pending){0};
}

static void on_stream(struct echo *e, const struct stream_event *n, struct effects *out)
{
    struct pending *p = find(e, n->id);
    p->bytes += n->data.size;
    p->status = n->status;
    if (n->closed) {
        const char *text = arena_printf(out->arena, "%d|%zu|%s", p->status, p->bytes, n->text);
        effects_reply(out, p->request_id, 200, "text/plain", bytes_of(text));
        *p = (struct pending){0};
    }
}

static void on_launched(struct echo *e, const struct launched *l, struct effects *out)
{
    struct pending *p = find(e, l->id);
    effects_reply(out, p->request_id, 200, "text/plain",
                  bytes_of(arena_printf(out->arena, "%d|%s", l->status, l->text)));
    *p = (struct pending){0};
}

static void echo_step(struct role *role, const struct event *ev, struct effects *out)
{
    struct echo *e = (struct echo *)role;
    switch (ev->kind) {
    case EVENT_REQUEST:
        on_request(e, ev, out);
        break;
    case EVENT_HANGUP:
        e->hangups++;
        break;
    case EVENT_RESPONSE:
        on_response(e, &ev->response, out);
        break;
    case EVENT_STREAM:
        on_stream(e, &ev->stream, out);
        break;
    case EVENT_LAUNCHED:
        on_launched(e, &ev->launched, out);
        break;
    case EVENT_TIMER:
        e->timers++;
        break;
    case EVENT_STOP:
        if (!e->stubborn) {
            effects_exit(out, 0, "SIGTERM");
        }
        break;
    default:
        break;
    }
    for (size_t i = 0; i < CALLS_MAX; i++) {
        struct pending *p = &e->pending[i];
        if (p->call_id && p->due_ns && p->due_ns <= ev->now.mono_ns) {
            effects_reply(out, p->request_id, 200, "text/plain", bytes_of("tick"));
            *p = (struct pending){0};
        } else if (p->call_id && p->due_ns) {
            effects_due(out, p->due_ns);
        }
    }
}

static size_t echo_limit(const struct role *role, const char *path)
{
    return strcmp(path, "/small") == 0 ? ECHO_SMALL_BYTES : ECHO_BODY_BYTES;
}

static void echo_free(struct role *role)
{
    struct echo *e = (struct echo *)role;
    buf_done(&e->published);
    free(e);
}

static const struct role_ops echo_ops = {
    .name = "echo", .step = echo_step, .body_limit = echo_limit, .free = echo_free};

struct role *echo_new(void)
{
    struct echo *e = calloc(1, sizeof(*e));
    e->role.ops = &echo_ops;
    buf_init(&e->published);
    return &e->role;
}
