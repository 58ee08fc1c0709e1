#include "common/shell/relay_io.h"

#include "common/base/memory.h"
#include "common/shell/host_io.h"
#include "common/shell/http_client_io.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

/* One, until it was refused, or its reader is through. */
struct relay_cursor {
    struct cursor cursor;
    LIST_ENTRY(relay_cursor) link;
    struct relays *relays;
    uint64_t request_id, call_id;
    int status;            /* of the peer's answer; 0 = its head has not come */
    bool given;            /* the server has the cursor */
    bool closed, complete; /* no more comes of the peer; and that was all */
    bool amid_line;
    char *content_type, *broken;
    char channel[32];
};

struct relays {
    struct host *host;
    struct tls_files files;
    struct http_client *client; /* of its own: its events are no role's. NULL = not needed yet */
    LIST_HEAD(, relay_cursor) all;
    unsigned count;
};

/* ---- The reader's side ----------------------------------------------------------------------- */

static enum cursor_state give_taken(struct cursor *c, struct buf *out, size_t max)
{
    struct relay_cursor *r = (struct relay_cursor *)c;
    assert(r->given);
    if (http_client_take(r->relays->client, r->call_id, out, max) > 0) {
        r->amid_line = out->data[out->size - 1] != '\n';
        return CURSOR_MORE;
    }
    if (!r->closed) {
        return CURSOR_WAIT;
    }
    if (!r->complete) {
        buf_printf(out, "%s%s\n", r->amid_line ? "\n" : "", r->broken);
    }
    return CURSOR_END;
}

static void end(struct cursor *c)
{
    struct relay_cursor *r = (struct relay_cursor *)c;
    http_client_cancel(r->relays->client, r->call_id);
    LIST_REMOVE(r, link);
    r->relays->count--;
    free(r->content_type);
    free(r->broken);
    free(r);
}

static const struct cursor_ops relay_ops = {.fill = give_taken, .free = end};

/* ---- The peer's side ------------------------------------------------------------------------- */

static void tell(const struct relays *s, const struct response *response)
{
    host_deliver(s->host, &(struct event){.kind = EVENT_RESPONSE, .response = *response});
}

/* A reader that has gone takes the cursor with it. */
static void begin_answer(struct relay_cursor *r)
{
    struct relays *s = r->relays;
    struct response begun = {
        .id = r->call_id, .status = 200, .content_type = "", .etag = "", .text = ""};
    r->given = true;
    host_reply(s->host, &(struct reply){.id = r->request_id,
                                        .status = 200,
                                        .content_type = r->content_type,
                                        .etag = "",
                                        .allow = "",
                                        .cursor = &r->cursor,
                                        .size = -1,
                                        .channel = r->channel});
    tell(s, &begun);
}

/* What the peer says instead, the beginning of it; or why it says nothing. */
static void refuse(struct relay_cursor *r, const struct stream_event *event)
{
    struct relays *s = r->relays;
    SCOPED_BUF(said);
    http_client_take(s->client, r->call_id, &said, RELAY_REFUSAL_MAX);
    struct response response = {
        .id = r->call_id,
        .outcome = r->status ? CALL_ANSWERED : CALL_UNKNOWN,
        .status = r->status,
        .content_type = "",
        .etag = "",
        .body = buf_bytes(&said),
        .text = event->text,
    };
    end(&r->cursor);
    tell(s, &response);
}

static struct relay_cursor *relay_of(const struct relays *s, uint64_t call_id)
{
    struct relay_cursor *r = LIST_FIRST(&s->all);
    while (r && r->call_id != call_id) {
        r = LIST_NEXT(r, link);
    }
    return r;
}

static void on_stream(void *context, const struct stream_event *event)
{
    struct relays *s = context;
    struct relay_cursor *r = relay_of(s, event->id);
    assert(r);
    bool head = !r->status && event->status;
    r->status = event->status;
    r->closed = event->closed;
    r->complete = event->complete;
    if (r->given) {
        host_wake(s->host, r->channel);
    } else if (head && event->status == 200 && !event->closed) {
        begin_answer(r);
    } else if (event->closed || !head) { /* its words follow the head of a refusal */
        refuse(r, event);
    }
}

static void on_response(void *context, const struct response *response)
{
    (void)context;
    (void)response;
    assert(!"a relay makes no call that ends so");
}

/* ---- Beginning and ending -------------------------------------------------------------------- */

void relays_begin(struct relays *s, const struct relay *wanted)
{
    assert(wanted->call.id && wanted->content_type && wanted->broken);
    if (s->count >= RELAYS_MAX) {
        tell(s, &(struct response){.id = wanted->call.id,
                                   .outcome = CALL_REFUSED,
                                   .content_type = "",
                                   .etag = "",
                                   .text = "too many answers are passed on"});
        return;
    }
    if (!s->client) {
        struct http_client_handlers handlers = {
            .on_response = on_response, .on_stream = on_stream, .context = s};
        s->client = http_client_new(&s->files, host_loop(s->host), &handlers);
    }
    struct relay_cursor *r = mem_zeroed(sizeof(*r));
    r->cursor.ops = &relay_ops;
    r->relays = s;
    r->request_id = wanted->request_id;
    r->call_id = wanted->call.id;
    r->content_type = mem_text(wanted->content_type);
    r->broken = mem_text(wanted->broken);
    snprintf(r->channel, sizeof(r->channel), "relay-%llu", (unsigned long long)r->call_id);
    LIST_INSERT_HEAD(&s->all, r, link);
    s->count++;
    http_client_pull(s->client, &wanted->call);
}

struct relays *relays_new(const struct tls_files *files, struct host *host)
{
    struct relays *s = mem_zeroed(sizeof(*s));
    s->host = host;
    s->files = (struct tls_files){
        .ca = mem_text(files->ca), .cert = mem_text(files->cert), .key = mem_text(files->key)};
    LIST_INIT(&s->all);
    return s;
}

void relays_free(struct relays *s)
{
    if (!s) {
        return;
    }
    while (!LIST_EMPTY(&s->all)) {
        end(&LIST_FIRST(&s->all)->cursor);
    }
    http_client_free(s->client);
    free((char *)s->files.ca);
    free((char *)s->files.cert);
    free((char *)s->files.key);
    free(s);
}
