#include "bbs/route/route.h"

#include "bbs/board/errors.h"
#include "bbs/route/answer.h"
#include "common/codec/json.h"
#include "common/codec/scan.h"
#include "common/model/edge_name.h"
#include "messages.h"

#include <assert.h>
#include <string.h>

enum route_kind { READ, WRITE, KEEPS, STREAM };

struct route {
    struct path_row at;
    const ProtobufCMessageDescriptor *request; /* NULL = the body is ignored */
    actor_set callers;
    enum route_kind kind;
    route_handler *handle;
    const struct read_row *read; /* NULL: it is none of READ */
};

/* `none` in the table. */
#define none__descriptor (*(const ProtobufCMessageDescriptor *)NULL)

#define ROUTE(...)
#define READ(path, request, body_max, row) extern const struct read_row read_##row;
#include "bbs/route/routes.def"
#undef ROUTE

static const struct route routes[] = {
#define ROUTE(method_, path_, request_, callers_, body_max_, kind_, handler_)                      \
    {                                                                                              \
        .at = {method_, path_, BODY_##body_max_},                                                  \
        .request = &request_##__descriptor,                                                        \
        .callers = callers_,                                                                       \
        .kind = kind_,                                                                             \
        .handle = route_##handler_,                                                                \
    },
#define READ(path_, request_, body_max_, row_)                                                     \
    {                                                                                              \
        .at = {"POST", path_, BODY_##body_max_},                                                   \
        .request = &request_##__descriptor,                                                        \
        .callers = ACTORS_ANYBODY,                                                                 \
        .kind = READ,                                                                              \
        .handle = route_read,                                                                      \
        .read = &read_##row_,                                                                      \
    },
#include "bbs/route/routes.def"
#undef ROUTE
};

const struct path_table bbs_routes = PATH_TABLE(routes);

void router_init(struct router *r, struct board *board, struct hub *hub, bool any_client)
{
    assert(!path_table_fault(&bbs_routes));
    *r = (struct router){.board = board, .hub = hub, .any_client = any_client};
    waiters_init(&r->waiters);
}

void router_done(struct router *r)
{
    waiters_done(&r->waiters);
}

/* Those of the layers that are not Diego's. */
static bool is_of_layer(const struct route *route)
{
    return text_begins(route->at.pattern, "/v1/units/") ||
           text_begins(route->at.pattern, "/v1/edge/");
}

/* They are asked in JSON, too. */
static bool is_in_json(const struct route *route, const struct request *q)
{
    return is_of_layer(route) && strcmp(q->content_type, JSON_TYPE) == 0;
}

static bool decode_json(struct ask *ask, const struct route *route, const struct request *q,
                        struct effects *out)
{
    struct err err = {0};
    ProtobufCMessage *message;
    struct bytes text = q->body.size ? q->body : bytes_of("{}");
    const unsigned flags = CODEC_STRICT | CODEC_OWN | CODEC_SNAKE_CASE;
    const char *why = q->too_large || q->body.size > route->at.body_max ? "it is too large"
                      : json_decode(ask->arena, route->request, text, flags, &message, &err) < 0
                          ? err.text
                          : NULL;
    if (why) {
        ask_refuse(ask, MODELS__ERROR__TYPE__InvalidRequest,
                   arena_printf(out->arena, "the body cannot be read: %s", why), out);
    } else {
        ask->in.request = message;
    }
    return !why;
}

/* The body decoded; malformed, too large and too deep are one error (behaviour.md 4). */
static bool decode(struct ask *ask, const struct route *route, const struct request *q)
{
    ProtobufCMessage *message;
    if (!route->request) {
        return true;
    }
    if (q->too_large || q->body.size > route->at.body_max) {
        return false;
    }
    if (scan_and_unpack(ask->arena, route->request, q->body, BODY_DECODED_MAX, &message, NULL)) {
        return false;
    }
    ask->in.request = message;
    return true;
}

static void answer_refused(const struct route *route, uint64_t request_id,
                           Models__Error__Type type, const char *text, struct effects *out)
{
    if (route->kind == KEEPS) {
        answer_evacuation(out, request_id, type, text, true);
    } else {
        answer_error(out, request_id, type, text);
    }
}

static void answer_unreadable(struct ask *ask, const struct route *route, struct effects *out)
{
    if (route->kind == STREAM) {
        answer_broken(out, ask->request_id);
    } else {
        answer_refused(route, ask->request_id, MODELS__ERROR__TYPE__InvalidRequest,
                       error_text(MODELS__ERROR__TYPE__InvalidRequest), out);
    }
}

static bool is_diegos(const struct route *route)
{
    return !text_begins(route->at.pattern, "/v1/board/") && !is_of_layer(route);
}

/* Diego's clients read the error of any answer that is protobuf, whatever its status, and do not
 * ask again; of a text they tell nothing but the status (behaviour.md 5). */
static void answer_denied(const struct request *q, const struct route *route, struct effects *out)
{
    const char *text = caller_refusal(out->arena, q, route->callers, ROUTE_CLIENT_REMEDY);
    if (!is_diegos(route)) {
        answer_text(out, q->id, 403, arena_printf(out->arena, "%s\n", text));
        return;
    }
    answer_refused(route, q->id, MODELS__ERROR__TYPE__UnknownError, text, out);
    out->list[out->count - 1].reply.status = 403;
}

bool route_denies(const struct router *r, const struct request *q, struct effects *out)
{
    const struct path_match m = path_find(&bbs_routes, q->method, q->path, out->arena);
    const struct route *route = m.row;
    if (!route || m.allow) {
        return false;
    }
    enum actor caller = route_caller(r, q);
    if (!actor_among(caller, route->callers)) {
        answer_denied(q, route, out);
        return true;
    }
    const char *unnamed =
        caller == ACTOR_CRM ? edge_name_fault(out->arena, RECORD_CLOUDLET, q->peer.name) : NULL;
    if (unnamed) {
        answer_text(out, q->id, 403,
                    arena_printf(out->arena,
                                 "a certificate with OU crm has its cloudlet as CN: %s\n",
                                 unnamed));
    }
    return unnamed;
}

void route_request(struct router *r, const struct request *q, struct effects *out)
{
    const struct path_match m = path_find(&bbs_routes, q->method, q->path, out->arena);
    const struct route *route = m.row;
    if (board_went_back(r->board)) {
        answer_not_done(out, q->id, board_went_back(r->board));
    } else if (!board_ready(r->board)) {
        answer_unavailable(out, q->id); /* whoever asks for whatever (behaviour.md 3) */
    } else if (!route) {
        answer_text(out, q->id, 404, "404 page not found\n");
    } else if (m.allow) {
        answer_wrong_method(out, q->id, m.allow);
    } else if (route_denies(r, q, out)) {
        return;
    } else if ((route->kind == WRITE || route->kind == KEEPS) && board_read_only(r->board)) {
        answer_unavailable(out, q->id);
    } else {
        struct ask *ask = ask_new(r, q, route->callers);
        ask->read = route->read;
        ask->json = is_in_json(route, q);
        if (ask->json && !decode_json(ask, route, q, out)) {
            ask_end(ask);
        } else if (ask->json) {
            route->handle(ask, out);
        } else if (decode(ask, route, q)) {
            route->handle(ask, out);
        } else {
            answer_unreadable(ask, route, out);
            ask_end(ask);
        }
    }
}
