/* Answers: whole ones, and those that a cursor gives in chunks as the reader takes them. */
#include "common/base/memory.h"
#include "common/shell/http_connection_io.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void add_header(struct connection *c, const char *name, const char *value)
{
    if (value && *value) {
        evhttp_add_header(c->request->output_headers, name, value);
    }
}

static void add_number(struct connection *c, const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)value);
    add_header(c, name, text);
}

/* evhttp has given the whole answer to the socket and lets go of the request. Were it to see that
 * the connection closes it would close at once, and a peer that still sends would get a reset in
 * place of the answer; so the signs are taken away and on_adopt() closes (rule 7).
 *
 * evhttp comes here by a deferred callback, and libevent puts those beyond 32 off to the next turn
 * of the loop. The peer's next bytes may have come by then, and their event stand in the queue
 * before on_adopt(). Reading is stopped, which takes that event out; evhttp starts it again at
 * once, and it comes with the next turn. */
static void answered(struct evhttp_request *req, void *context)
{
    struct connection *c = context;
    evhttp_remove_header(req->output_headers, "Connection");
    while (evhttp_remove_header(req->input_headers, "Connection") == 0) {
    }
    req->flags &= ~EVHTTP_PROXY_REQUEST;
    req->major = req->minor = 1;
    connection_deadline(c, 0);
    connection_forget(c);
    bufferevent_disable(c->bev, EV_READ);
    event_active(c->adopt, EV_TIMEOUT, 0);
}

/* What the request says of the connection: HTTP/1.0 closes unless asked to keep, 1.1 the reverse.
 */
static bool peer_closes(const struct evhttp_request *req)
{
    const char *connection = evhttp_find_header(req->input_headers, "Connection");
    if (req->major < 1 || (req->major == 1 && req->minor == 0)) {
        return !connection || strcasecmp(connection, "keep-alive") != 0;
    }
    return connection && strcasecmp(connection, "close") == 0;
}

static bool has_body(const struct connection *c, int status)
{
    return c->request->type != EVHTTP_REQ_HEAD && status != 204 && status != 304;
}

static void add_headers(struct connection *c, const struct reply *r)
{
    add_header(c, "Content-Type", r->content_type);
    add_header(c, "ETag", r->etag);
    add_header(c, "Allow", r->allow);
    if (r->retry_after_s) {
        add_number(c, "Retry-After", r->retry_after_s);
    }
    /* behaviour.md 16.1 */
    static const char event_stream[] = "text/event-stream";
    bool events =
        r->content_type && strncmp(r->content_type, event_stream, sizeof(event_stream) - 1) == 0;
    if (events) {
        add_header(c, "Cache-Control", "no-cache, no-store, must-revalidate");
    }
    add_header(c, "Connection", c->close ? "close" : events ? "keep-alive" : "");
    evhttp_request_set_on_complete_cb(c->request, answered, c);
}

static void answer_whole(struct connection *c, const struct reply *r)
{
    c->phase = PHASE_ANSWER;
    if (r->status != 204 && r->status != 304) {
        add_number(c, "Content-Length", (int64_t)r->body.size);
    }
    if (has_body(c, r->status)) {
        evbuffer_add(c->request->output_buffer, r->body.data, r->body.size);
    }
    evhttp_send_reply(c->request, r->status, NULL, NULL);
}

static void begin_stream(struct connection *c, const struct reply *r)
{
    c->phase = PHASE_STREAM;
    c->cursor = r->cursor;
    c->size = r->size;
    c->given = 0;
    c->cut = false;
    c->endless = r->channel && *r->channel;
    c->channel_name = mem_text(r->channel ? r->channel : "");
    if (r->size >= 0) {
        add_number(c, "Content-Length", r->size);
    }
    evhttp_send_reply_start(c->request, r->status, NULL);
    connection_pump(c);
}

void connection_answer(struct connection *c, const struct reply *r)
{
    struct evhttp_request *req = c->request;
    c->progress_ns = shell_now_ns();
    /* Without chunks (HTTP/1.0) only the end of the connection tells the end of such an answer. */
    bool unchunked = r->cursor && r->size < 0 && (req->major < 1 || req->minor < 1);
    c->close = c->close || peer_closes(req) || unchunked;
    add_headers(c, r);
    connection_deadline(c, c->server->times.stall_ms);
    if (!r->cursor) {
        answer_whole(c, r);
    } else if (has_body(c, r->status)) {
        begin_stream(c, r);
    } else {
        cursor_free(r->cursor);
        c->phase = PHASE_ANSWER;
        if (r->size >= 0 && r->status != 204 && r->status != 304) {
            add_number(c, "Content-Length", r->size);
        }
        evhttp_send_reply(req, r->status, NULL, NULL);
    }
}

void connection_refuse(struct connection *c, int status)
{
    const char *text = status == 417 ? "Expectation Failed\n" : "Bad Request\n";
    struct reply r = {.status = status,
                      .content_type = "text/plain; charset=utf-8",
                      .etag = "",
                      .allow = "",
                      .body = bytes_of(text)};
    c->close = true;
    c->request->major = c->request->minor = 1; /* the request may have got none */
    connection_answer(c, &r);
}

/* ---- Cursors ------------------------------------------------------------------------------- */

static void leave_channel(struct connection *c)
{
    if (c->channel) {
        TAILQ_REMOVE(&c->channel->waiting, c, line);
        if (TAILQ_EMPTY(&c->channel->waiting)) {
            free(map_remove(&c->server->channels, c->channel_name));
        }
        c->channel = NULL;
    }
    if (c->runnable) {
        TAILQ_REMOVE(&c->server->runnable, c, line);
        c->runnable = false;
    }
}

static void join_channel(struct connection *c)
{
    struct map *channels = &c->server->channels;
    struct channel *channel = map_get(channels, c->channel_name);
    if (!channel) {
        channel = mem_zeroed(sizeof(*channel));
        TAILQ_INIT(&channel->waiting);
        map_put(channels, c->channel_name, channel);
    }
    c->channel = channel;
    TAILQ_INSERT_TAIL(&channel->waiting, c, line);
}

void connection_end_stream(struct connection *c)
{
    leave_channel(c);
    cursor_free(c->cursor);
    c->cursor = NULL;
    free(c->channel_name);
    c->channel_name = NULL;
}

/* The reader has taken all that was given. */
static void taken(struct evhttp_connection *evcon, void *context)
{
    struct connection *c = context;
    (void)evcon;
    if (c->cut) {
        connection_cut(c);
    } else if (c->cursor && !c->channel && !c->runnable) {
        connection_pump(c);
    }
}

static void free_chunk(const void *data, size_t size, void *context)
{
    (void)data, (void)size;
    free(context);
}

/* Gives the chunk to the reader: its memory itself, for a stalled reader holds it for long and
 * evbuffers round their own up to powers of two. */
static void give(struct connection *c, struct buf *chunk)
{
    struct evbuffer *piece = evbuffer_new();
    uint8_t *data = realloc(chunk->data, chunk->size);
    if (!data || !piece || evbuffer_add_reference(piece, data, chunk->size, free_chunk, data) < 0) {
        abort();
    }
    c->given += (int64_t)chunk->size;
    buf_init(chunk);
    evhttp_send_reply_chunk_with_cb(c->request, piece, taken, c);
    evbuffer_free(piece);
}

/* The cursor is at its end. An announced length that was not met cannot be mended: the connection
 * breaks, so that the reader knows. */
static void end_well(struct connection *c)
{
    struct http_server *s = c->server;
    if (c->size >= 0 && c->given != c->size) {
        log_printf(s->log, LOG_ERROR_LEVEL, "an answer has not the length that was announced",
                   "path=%s announced=%lld given=%lld", c->path, (long long)c->size,
                   (long long)c->given);
        connection_cut(c);
        return;
    }
    connection_end_stream(c);
    id_table_remove(&s->by_id, c->id);
    c->id = 0;
    c->phase = PHASE_ANSWER;
    c->close = c->close || c->endless; /* behaviour.md 16.1: so its reader is cut off */
    evhttp_send_reply_end(c->request);
}

static void break_off(struct connection *c)
{
    c->cut = true;
    if (evbuffer_get_length(bufferevent_get_output(c->bev)) == 0) {
        connection_cut(c);
    }
}

void connection_pump(struct connection *c)
{
    struct evbuffer *output = bufferevent_get_output(c->bev);
    enum cursor_state state = CURSOR_MORE;
    bool fresh = !evbuffer_get_length(output);
    if (fresh) {
        c->progress_ns = shell_now_ns(); /* the quiet before was not the reader's */
    }
    while (state == CURSOR_MORE && evbuffer_get_length(output) < HTTP_OUTPUT_BYTES) {
        SCOPED_BUF(chunk);
        state = cursor_fill(c->cursor, &chunk, CURSOR_CHUNK_BYTES);
        assert(state != CURSOR_MORE || chunk.size);
        if (c->size >= 0 && c->given + (int64_t)chunk.size > c->size) {
            c->given += (int64_t)chunk.size;
            end_well(c); /* which it is not */
            return;
        }
        if (chunk.size) {
            give(c, &chunk);
        }
    }
    if (fresh && c->size < 0 && evbuffer_get_length(output) <= HTTP_JOINED_BYTES) {
        /* The length of a chunk and its bytes would each be a TLS record, and a write, of its own.
         * What is longer takes several anyhow: it is not worth a copy. */
        evbuffer_pullup(output, -1);
    }
    if (evbuffer_get_length(output) && !evtimer_pending(c->timer, NULL)) {
        connection_deadline(c, c->server->times.stall_ms);
    }
    if (state == CURSOR_WAIT) {
        join_channel(c);
    } else if (state == CURSOR_END) {
        end_well(c);
    } else if (state == CURSOR_CUT) {
        break_off(c);
    }
}
