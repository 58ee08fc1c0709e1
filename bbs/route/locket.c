/* Whoever has a certificate of the cluster may read; names are for ordinary clients, for our own
 * roles have incarnations and locks of their own. Errors in the order of the spec: type, time,
 * owner; then what does not fit. */
#include "bbs/route/locket.h"

#include "bbs/lock/lock.h"
#include "bbs/lock/resource.h"
#include "common/codec/json_text.h"
#include "common/codec/scan.h"

#include <string.h>

enum { LOCKET_DECODED_MAX = 1024 * 1024 };

typedef void locket_handler(struct ask *ask, struct effects *out);

struct locket_method {
    const char *path;
    const ProtobufCMessageDescriptor *request;
    bool writes;
    locket_handler *handle;
};

static void refuse(struct ask *ask, enum grpc_status status, const char *text, struct effects *out)
{
    effects_grpc_refuse(out, ask->request_id, status, text);
    ask_end(ask);
}

static bool known_type(Models__TypeCode type)
{
    return type == MODELS__TYPE_CODE__LOCK || type == MODELS__TYPE_CODE__PRESENCE;
}

/* ---- Lock, Release --------------------------------------------------------------------------- */

static enum grpc_status status_of(const struct plan *p)
{
    switch (p->error_type) {
    case MODELS__ERROR__TYPE__LockCollision:
        return GRPC_ALREADY_EXISTS;
    case MODELS__ERROR__TYPE__InvalidRequest: /* a record that is too large */
        return GRPC_INVALID_ARGUMENT;
    default:
        return GRPC_INTERNAL;
    }
}

/* LockResponse and ReleaseResponse are both empty. */
static void changed(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    Models__LockResponse response = MODELS__LOCK_RESPONSE__INIT;
    if (result->end == OP_UNAVAILABLE) {
        effects_grpc_refuse(out, ask->request_id, GRPC_UNAVAILABLE, result->text);
    } else if (result->plan->verdict == PLAN_REFUSE) {
        effects_grpc_refuse(out, ask->request_id, status_of(result->plan),
                            result->plan->error_message);
    } else {
        effects_grpc(out, ask->request_id, &response.base);
    }
}

/* A client in Go cannot decode an answer with text that is not UTF-8: one such lock would hide all.
 */
static bool fits(const char *text, size_t characters_max)
{
    return text_characters(text) <= characters_max && utf8_valid(bytes_of(text));
}

/* What is wrong with it; NULL if nothing is. */
static const char *fault_of(const Models__LockRequest *r, enum grpc_status *ret_status)
{
    *ret_status = GRPC_INVALID_ARGUMENT;
    if (!r->resource || !known_type(r->resource->type_code)) {
        *ret_status = GRPC_NOT_FOUND;
        return "invalid-type";
    }
    if (r->ttl_in_seconds <= 0) {
        return "invalid-ttl";
    }
    if (!r->resource->owner[0] || !fits(r->resource->owner, LOCK_NAME_CHARACTERS_MAX)) {
        return "invalid-owner";
    }
    if (!fits(r->resource->key, LOCK_NAME_CHARACTERS_MAX)) {
        return "invalid-key";
    }
    return fits(r->resource->value, LOCK_VALUE_CHARACTERS_MAX) ? NULL : "invalid-value";
}

static void handle_lock(struct ask *ask, struct effects *out)
{
    enum grpc_status status;
    const char *fault = fault_of((const Models__LockRequest *)ask->in.request, &status);
    if (fault) {
        refuse(ask, status, fault, out);
        return;
    }
    board_op(ask->router->board, &lock_row, &ask->in, ask->arena, changed, ask, out);
}

/* No resource is the resource without a name. */
static void handle_release(struct ask *ask, struct effects *out)
{
    Models__ReleaseRequest *r = (Models__ReleaseRequest *)(uintptr_t)ask->in.request;
    if (!r->resource) {
        r->resource = arena_message(ask->arena, &models__resource__descriptor);
    }
    board_op(ask->router->board, &release_lock_row, &ask->in, ask->arena, changed, ask, out);
}

/* ---- Fetch, FetchAll ------------------------------------------------------------------------- */

static void fetch_read(void *context, struct view *v, const char *text, struct effects *out)
{
    struct ask *ask = context;
    if (!v) {
        effects_grpc_refuse(out, ask->request_id, GRPC_UNAVAILABLE, text);
        return;
    }
    const Models__FetchRequest *r = ask->in.request;
    Models__FetchResponse response = MODELS__FETCH_RESPONSE__INIT;
    response.resource = resource_named(v, r->key, board_now(ask->router->board));
    if (response.resource) {
        effects_grpc(out, ask->request_id, &response.base);
    } else {
        effects_grpc_refuse(out, ask->request_id, GRPC_NOT_FOUND, "resource-not-found");
    }
}

static void handle_fetch(struct ask *ask, struct effects *out)
{
    ask_read(ask, fetch_read, out);
}

static void fetch_all_read(void *context, struct view *v, const char *text, struct effects *out)
{
    struct ask *ask = context;
    if (!v) {
        effects_grpc_refuse(out, ask->request_id, GRPC_UNAVAILABLE, text);
        return;
    }
    const Models__FetchAllRequest *r = ask->in.request;
    Models__FetchAllResponse response = MODELS__FETCH_ALL_RESPONSE__INIT;
    response.n_resources =
        resources_of(v, r->type_code, board_now(ask->router->board), &response.resources);
    effects_grpc(out, ask->request_id, &response.base);
}

static void handle_fetch_all(struct ask *ask, struct effects *out)
{
    const Models__FetchAllRequest *r = ask->in.request;
    if (known_type(r->type_code)) {
        ask_read(ask, fetch_all_read, out);
    } else {
        refuse(ask, GRPC_NOT_FOUND, "invalid-type", out);
    }
}

/* ---- Methods --------------------------------------------------------------------------------- */

static const struct locket_method methods[] = {
    {"/models.Locket/Lock", &models__lock_request__descriptor, true, handle_lock},
    {"/models.Locket/Release", &models__release_request__descriptor, true, handle_release},
    {"/models.Locket/Fetch", &models__fetch_request__descriptor, false, handle_fetch},
    {"/models.Locket/FetchAll", &models__fetch_all_request__descriptor, false, handle_fetch_all},
};

static const struct locket_method *find(const char *path)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(methods[i].path, path) == 0) {
            return &methods[i];
        }
    }
    return NULL;
}

void locket_request(struct router *r, const struct request *q, struct effects *out)
{
    const struct locket_method *method = find(q->path);
    actor_set callers = method && method->writes ? ACTOR_CLIENT : ACTORS_ANYBODY;
    if (!method) {
        effects_grpc_refuse(out, q->id, GRPC_UNIMPLEMENTED,
                            arena_printf(out->arena, "unknown method %s", q->path));
    } else if (!actor_among(route_caller(r, q), callers)) {
        effects_grpc_refuse(out, q->id, GRPC_PERMISSION_DENIED,
                            caller_refusal(out->arena, q, ACTOR_CLIENT, ROUTE_CLIENT_REMEDY));
    } else if (board_went_back(r->board)) {
        effects_grpc_refuse(out, q->id, GRPC_UNAVAILABLE, board_went_back(r->board));
    } else if (!board_ready(r->board) || (method->writes && board_read_only(r->board))) {
        effects_grpc_refuse(out, q->id, GRPC_UNAVAILABLE,
                            "the board cannot be reached or takes no writes");
    } else {
        struct ask *ask = ask_new(r, q, callers);
        ProtobufCMessage *message;
        if (scan_and_unpack(ask->arena, method->request, q->body, LOCKET_DECODED_MAX, &message,
                            NULL) < 0) {
            refuse(ask, GRPC_INTERNAL, "the request is malformed", out);
            return;
        }
        ask->in.request = message;
        method->handle(ask, out);
    }
}
