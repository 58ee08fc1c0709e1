/* The calls of a gRPC connection: from the frames that nghttp2 reads to requests of the role, and
 * from its replies to headers, data and trailers. */
#include "common/shell/grpc_connection_io.h"

#include "common/shell/grpc.h"
#include "common/shell/http_connection_io.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ids of HTTP servers are small. */
static const uint64_t id_bit = UINT64_C(1) << 63;

bool grpc_server_id(uint64_t id)
{
    return id & id_bit;
}

/* ---- What calls hold ------------------------------------------------------------------------- */

static void hold(struct grpc_call *call, size_t bytes)
{
    call->connection->held += bytes;
    call->connection->server->held += bytes;
}

static void let_go(struct grpc_call *call, struct buf *b)
{
    call->connection->held -= b->size;
    call->connection->server->held -= b->size;
    buf_done(b);
    buf_init(b);
}

/* What all others hold is no reason to refuse a peer a little. */
static bool room_for(const struct grpc_call *call, size_t bytes)
{
    const struct grpc_connection *c = call->connection;
    return c->held + bytes <= GRPC_HELD_SURE_BYTES ||
           (c->held + bytes <= GRPC_HELD_BYTES && c->server->held + bytes <= GRPC_HELD_ALL_BYTES);
}

/* The only thing that its connection holds may be of any size, but one alone passes the bound of
 * all. */
static bool room_alone(const struct grpc_call *call)
{
    const struct grpc_connection *c = call->connection;
    return c->held == 0 && c->server->held < GRPC_HELD_ALL_BYTES;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static nghttp2_nv header(const char *name, const char *value)
{
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                        .value = (uint8_t *)(uintptr_t)value,
                        .namelen = strlen(name),
                        .valuelen = strlen(value)};
}

/* nghttp2 fails here only for a stream or connection that is about to go. */
static void ignore(int result)
{
    (void)result;
}

static void submit_trailer(struct grpc_call *call)
{
    nghttp2_nv status = header("grpc-status", "0");
    ignore(nghttp2_submit_trailer(call->connection->session, call->stream, &status, 1));
}

/* The next piece of a message; the trailers follow the last one. */
static ssize_t give_answer(nghttp2_session *session, int32_t stream, uint8_t *out, size_t max,
                           uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)session, (void)stream, (void)context;
    struct grpc_call *call = source->ptr;
    size_t left = call->answer.size - call->given;
    size_t size = left < max ? left : max;
    memcpy(out, call->answer.data + call->given, size);
    call->given += size;
    if (call->given == call->answer.size) {
        *flags = NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        submit_trailer(call);
    }
    grpc_timer(call->timer, call->connection->server->times.stall_ms);
    return (ssize_t)size;
}

static void begin_answer(struct grpc_call *call)
{
    struct grpc_connection *c = call->connection;
    call->phase = GRPC_PHASE_ANSWER;
    call->id = 0;
    let_go(call, &call->body);
    grpc_timer(call->timer, c->server->times.stall_ms);
    int64_t left = c->frames_left + GRPC_FREE_FRAMES_A_CALL;
    c->frames_left = left < GRPC_FREE_FRAMES_MAX ? left : GRPC_FREE_FRAMES_MAX;
}

/* Headers that are trailers at once. */
static void refuse(struct grpc_call *call, struct grpc_fault fault)
{
    char status[16], http_status[16];
    SCOPED_BUF(text);
    begin_answer(call);
    grpc_message_encode(&text, fault.text);
    snprintf(status, sizeof(status), "%d", (int)fault.status);
    snprintf(http_status, sizeof(http_status), "%d", fault.http_status);
    nghttp2_nv headers[] = {
        header(":status", http_status), header("content-type", "application/grpc"),
        header("grpc-status", status), header("grpc-message", buf_string(&text))};
    size_t count = sizeof(headers) / sizeof(headers[0]) - (text.size ? 0 : 1);
    ignore(nghttp2_submit_response(call->connection->session, call->stream, headers, count, NULL));
}

static void refuse_as(struct grpc_call *call, enum grpc_status status, const char *text)
{
    refuse(call, (struct grpc_fault){.status = status, .http_status = 200, .text = text});
}

/* The prefix and the message, in memory of our own until the peer has taken them. */
static void frame(struct buf *out, struct bytes m)
{
    uint8_t prefix[GRPC_FRAME_HEADER_BYTES] = {0, (uint8_t)(m.size >> 24), (uint8_t)(m.size >> 16),
                                               (uint8_t)(m.size >> 8), (uint8_t)m.size};
    buf_reserve(out, sizeof(prefix) + m.size);
    buf_append(out, prefix, sizeof(prefix));
    buf_append(out, m.data, m.size);
}

static void answer(struct grpc_call *call, struct bytes message)
{
    size_t size = GRPC_FRAME_HEADER_BYTES + message.size;
    begin_answer(call);
    if (!room_for(call, size) && !room_alone(call)) {
        refuse_as(call, GRPC_RESOURCE_EXHAUSTED, "too many answers were not taken");
        return;
    }
    frame(&call->answer, message);
    hold(call, call->answer.size);
    nghttp2_nv headers[] = {header(":status", "200"), header("content-type", "application/grpc")};
    nghttp2_data_provider provider = {.source.ptr = call, .read_callback = give_answer};
    ignore(nghttp2_submit_response(call->connection->session, call->stream, headers,
                                   sizeof(headers) / sizeof(headers[0]), &provider));
}

void grpc_call_reply(struct grpc_call *call, const struct reply *reply)
{
    struct grpc_connection *c = call->connection;
    assert(call->phase == GRPC_PHASE_ROLE && !reply->cursor);
    if (reply->grpc_status == GRPC_OK) {
        answer(call, reply->body);
    } else {
        refuse_as(call, (enum grpc_status)reply->grpc_status, reply->grpc_message);
    }
    if (!c->inside) {
        grpc_connection_flush(c);
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* The role is not to answer any more. */
static void take_from_role(struct grpc_call *call)
{
    struct grpc_server *s = call->connection->server;
    uint64_t id = call->id;
    if (id) {
        call->id = 0;
        id_table_remove(&s->by_id, id);
        if (!s->freeing) {
            s->handlers.on_hangup(s->handlers.context, id);
        }
    }
}

void grpc_call_free(struct grpc_call *call)
{
    struct grpc_connection *c = call->connection;
    take_from_role(call);
    TAILQ_REMOVE(&c->calls, call, link);
    if (--c->call_count == 0 && c->settled) {
        grpc_timer(c->timer, c->server->times.idle_ms);
    }
    let_go(call, &call->body);
    let_go(call, &call->answer);
    grpc_head_done(&call->head);
    event_free(call->timer);
    free(call);
}

/* Rules 3 and 6. */
static void on_deadline(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct grpc_call *call = context;
    struct grpc_connection *c = call->connection;
    assert(!c->inside);
    c->inside = true; /* the role may answer other calls of this connection when it hears of it */
    if (call->phase == GRPC_PHASE_ANSWER) {
        ignore(nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, call->stream,
                                         NGHTTP2_CANCEL));
    } else {
        take_from_role(call);
        refuse_as(call, GRPC_DEADLINE_EXCEEDED, "the call took too long");
    }
    c->inside = false;
    grpc_connection_flush(c);
}

static struct grpc_call *call_new(struct grpc_connection *c, int32_t stream)
{
    struct grpc_call *call = calloc(1, sizeof(*call));
    if (!call || !(call->timer = evtimer_new(c->server->base, on_deadline, call))) {
        abort();
    }
    call->connection = c;
    call->stream = stream;
    buf_init(&call->body);
    buf_init(&call->answer);
    TAILQ_INSERT_TAIL(&c->calls, call, link);
    if (c->call_count++ == 0 && c->settled) {
        grpc_timer(c->timer, 0);
    }
    grpc_timer(call->timer, c->server->times.request_ms);
    return call;
}

/* The shorter of the two; grpc-timeout counts from here. */
static void head_complete(struct grpc_call *call)
{
    struct grpc_fault fault = grpc_head_fault(&call->head);
    int64_t timeout_ms = (call->head.timeout_ns + MILLISECOND_NS - 1) / MILLISECOND_NS;
    if (fault.status != GRPC_OK) {
        refuse(call, fault);
    } else if (timeout_ms && timeout_ms < call->connection->server->times.request_ms) {
        grpc_timer(call->timer, timeout_ms);
    }
}

/* Once the role has it, only its own time limit ends it. */
static void give_to_role(struct grpc_call *call, struct bytes message)
{
    struct grpc_connection *c = call->connection;
    struct grpc_server *s = c->server;
    struct request r = {
        .id = id_bit | ++s->last_id,
        .method = "POST",
        .path = call->head.path ? call->head.path : "",
        .query = "",
        .trace_id = call->head.trace_id ? call->head.trace_id : "",
        .accept = "",
        .content_type = "application/grpc",
        .if_none_match = "",
        .peer = {.unit = c->unit, .name = c->name},
        .body = message,
        .grpc = true,
    };
    call->phase = GRPC_PHASE_ROLE;
    call->id = r.id;
    if (!call->head.timeout_ns) {
        grpc_timer(call->timer, 0);
    } else if (call->head.timeout_ns > c->server->times.request_ms * MILLISECOND_NS) {
        grpc_timer(call->timer, call->head.timeout_ns / MILLISECOND_NS);
    }
    id_table_add(&s->by_id, r.id, call);
    /* The role may answer before this returns, and the answer lets go of the body. */
    struct buf body = call->body;
    buf_init(&call->body);
    c->held -= body.size;
    s->held -= body.size;
    s->handlers.on_request(s->handlers.context, &r);
    buf_done(&body);
}

static void body_complete(struct grpc_call *call)
{
    struct bytes message;
    struct grpc_fault fault =
        grpc_body_message(buf_bytes(&call->body), GRPC_MESSAGE_BYTES, &message);
    if (fault.status == GRPC_OK) {
        give_to_role(call, message);
    } else {
        refuse(call, fault);
    }
}

/* ---- What nghttp2 tells ---------------------------------------------------------------------- */

static struct grpc_call *call_of(nghttp2_session *session, int32_t stream)
{
    return stream ? nghttp2_session_get_stream_user_data(session, stream) : NULL;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct grpc_connection *c = context;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        int32_t stream = frame->hd.stream_id;
        ignore(nghttp2_session_set_stream_user_data(session, stream, call_new(c, stream)));
    }
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                     void *context)
{
    (void)flags, (void)context;
    struct grpc_call *call = call_of(session, frame->hd.stream_id);
    if (call && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        grpc_head_add(&call->head, (struct bytes){.data = name, .size = name_size},
                      (struct bytes){.data = value, .size = value_size});
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data,
                   size_t size, void *context)
{
    (void)flags, (void)context;
    struct grpc_call *call = call_of(session, stream);
    if (!call || call->phase != GRPC_PHASE_REQUEST) {
        return 0; /* it has its answer already */
    }
    if (!room_for(call, size)) {
        refuse_as(call, GRPC_RESOURCE_EXHAUSTED, "too much is sent at once");
        return 0;
    }
    buf_append(&call->body, data, size);
    hold(call, size);
    struct grpc_fault fault = grpc_body_fault(buf_bytes(&call->body), GRPC_MESSAGE_BYTES);
    if (fault.status != GRPC_OK) {
        refuse(call, fault);
    }
    return 0;
}

/* Rule 4. One that brings a call on is not free; of a type that it does not know nghttp2 says
 * nothing, but drops it as it comes. */
static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *head, void *context)
{
    (void)session;
    struct grpc_connection *c = context;
    bool asks = head->type == NGHTTP2_HEADERS || head->type == NGHTTP2_CONTINUATION ||
                (head->type == NGHTTP2_DATA && head->length > 0);
    if (asks) {
        return 0;
    }
    int64_t now_ns = shell_now_ns();
    int64_t earned = (now_ns - c->counted_ns) / (SECOND_NS / GRPC_FREE_FRAMES_A_SECOND);
    if (earned > 0) {
        c->counted_ns = now_ns;
        c->frames_left += earned;
        c->frames_left =
            c->frames_left < GRPC_FREE_FRAMES_MAX ? c->frames_left : GRPC_FREE_FRAMES_MAX;
    }
    if (c->frames_left-- == 0) {
        log_printf(c->server->log, LOG_WARN_LEVEL, "a peer floods", "name=%s", c->name);
        grpc_connection_calm(c);
    }
    return 0;
}

static void settle(struct grpc_connection *c)
{
    c->settled = true;
    grpc_timer(c->timer, c->call_count ? 0 : c->server->times.idle_ms);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct grpc_connection *c = context;
    struct grpc_call *call = call_of(session, frame->hd.stream_id);
    if (frame->hd.type == NGHTTP2_SETTINGS && !c->settled) {
        settle(c);
    }
    if (call && frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        head_complete(call);
    }
    bool ends = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (call && ends && call->phase == GRPC_PHASE_REQUEST) {
        body_complete(call);
    }
    return 0;
}

/* An answer that came before the request's end: what still comes is not wanted. */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)context;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->hd.flags & NGHTTP2_FLAG_END_STREAM &&
        nghttp2_session_get_stream_remote_close(session, frame->hd.stream_id) == 0) {
        ignore(nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                         NGHTTP2_NO_ERROR));
    }
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t code, void *context)
{
    (void)code, (void)context;
    struct grpc_call *call = call_of(session, stream);
    if (call) {
        grpc_call_free(call);
    }
    return 0;
}

void grpc_stream_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
}
