#include "rep/http/request.h"

#include "common/base/query.h"
#include "common/codec/json.h"
#include "common/codec/scan.h"
#include "common/contract/caller.h"
#include "rep/container/note.h"
#include "rep/http/cell_state.h"
#include "rep/http/output.h"
#include "rep/http/work.h"
#include "rep/inside.h"
#include "rep/instance/instance.h"
#include "rep/task/cell_task.h"

#include <string.h>

#define PROTOBUF_TYPE "application/x-protobuf"
#define JSON_TYPE "application/json"
#define TEXT_TYPE "text/plain; charset=utf-8"

enum { BODY_DECODED_MAX = 64 * 1024 * 1024 };

typedef void handler(struct rep *r, const struct request *q, const char *const *parameters,
                     struct effects *out);

static handler ping, evacuate, recall, state, metrics, work, stop, update, cancel, reset, logs,
    log_list;

static const struct route {
    struct path_row at;
    actor_set callers;
    bool admin_only;
    handler *handle;
} routes[] = {
#define ROUTE(method, pattern, callers, body_max, admin_only, handler)                             \
    {{method, pattern, body_max}, callers, admin_only, handler},
#include "rep/http/routes.def"
#undef ROUTE
};

const struct path_table rep_routes = PATH_TABLE(routes);

/* ---- Routing --------------------------------------------------------------------------------- */

static void answer_text(const struct request *q, int status, const char *text, struct effects *out)
{
    effects_reply(out, q->id, status, TEXT_TYPE, bytes_of(arena_printf(out->arena, "%s\n", text)));
}

static void answer_empty(const struct request *q, int status, struct effects *out)
{
    effects_reply(out, q->id, status, "", (struct bytes){0});
}

void request_handle(struct rep *r, const struct request *q, struct effects *out)
{
    const struct path_match m = path_find(&rep_routes, q->method, q->path, out->arena);
    const struct route *route = m.row;
    if (!route || (route->admin_only && !q->admin)) {
        answer_text(q, 404, "404 page not found", out);
    } else if (m.allow) {
        answer_text(q, 405, "Method Not Allowed", out);
        out->list[out->count - 1].reply.allow = m.allow;
    } else if (!actor_among(actor_of_unit(q->peer.unit), route->callers)) {
        answer_text(q, 403, caller_refusal(out->arena, q, route->callers, CALLER_REMEDY), out);
    } else if (q->too_large) {
        answer_text(q, 400, "the body is too large", out);
    } else {
        route->handle(r, q, m.parameters, out);
    }
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* Decodes by the request's content type: protobuf among ourselves, JSON otherwise. */
static const ProtobufCMessage *read_body(const struct request *q,
                                         const ProtobufCMessageDescriptor *descriptor,
                                         struct effects *out)
{
    ProtobufCMessage *m;
    struct err err;
    int code = strcmp(q->content_type, PROTOBUF_TYPE) == 0
                   ? scan_and_unpack(out->arena, descriptor, q->body, BODY_DECODED_MAX, &m, &err)
                   : json_decode(out->arena, descriptor, q->body, CODEC_OWN, &m, &err);
    if (code < 0) {
        answer_text(q, 400, err.text, out);
        return NULL;
    }
    return m;
}

static bool wants_protobuf(const struct request *q)
{
    return strcmp(q->accept, PROTOBUF_TYPE) == 0 ||
           (q->accept[0] == '\0' && strcmp(q->content_type, PROTOBUF_TYPE) == 0);
}

/* In JSON with our own fields, too, if `flags` says so. */
static void answer_flagged(const struct request *q, int status, const ProtobufCMessage *m,
                           const char *etag, unsigned flags, struct effects *out)
{
    SCOPED_BUF(body);
    struct err err;
    bool protobuf = wants_protobuf(q);
    if (protobuf) {
        buf_message(&body, m);
    } else if (json_encode(m, flags, &body, &err) < 0) {
        answer_text(q, 500, err.text, out);
        return;
    }
    effects_reply(out, q->id, status, protobuf ? PROTOBUF_TYPE : JSON_TYPE, buf_bytes(&body));
    out->list[out->count - 1].reply.etag = etag;
}

static void answer_message(const struct request *q, int status, const ProtobufCMessage *m,
                           const char *etag, struct effects *out)
{
    answer_flagged(q, status, m, etag, 0, out);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

static void ping(struct rep *r, const struct request *q, const char *const *parameters,
                 struct effects *out)
{
    (void)r;
    (void)parameters;
    answer_empty(q, 200, out);
}

static void evacuate(struct rep *r, const struct request *q, const char *const *parameters,
                     struct effects *out)
{
    (void)parameters;
    drain_begin(r, "POST /evacuate", out);
    drain_await_kept(r, q->id, out);
}

static void state(struct rep *r, const struct request *q, const char *const *parameters,
                  struct effects *out)
{
    (void)parameters;
    const char *tag = cell_state_tag(r, out->arena, wants_protobuf(q));
    bool well = cell_state_is_well(r);
    const char *checks = query_value(out->arena, q->query, "checks");
    if (checks && strcmp(checks, "1") == 0) { /* they change all the time: no tag holds them */
        Cell__CellState *s = cell_state_make(r, out->arena);
        cell_state_add_checks(r, out->arena, s);
        answer_flagged(q, well ? 200 : 503, &s->base, "", CODEC_OWN, out);
        return;
    }
    if (well && strcmp(q->if_none_match, tag) == 0) {
        answer_empty(q, 304, out);
        out->list[out->count - 1].reply.etag = tag;
        return;
    }
    answer_message(q, well ? 200 : 503, &cell_state_make(r, out->arena)->base, well ? tag : "",
                   out);
}

/* Ours: a unit of another epoch, which no board knows, is ended with no hook (docs/units.md). */
static void recall(struct rep *r, const struct request *q, const char *const *parameters,
                   struct effects *out)
{
    struct err err;
    int result = cell_units_recall(r, parameters[0], &err);
    if (result < 0) {
        answer_text(q, result == -ERR_NOT_FOUND ? 404 : 409, err.text, out);
        return;
    }
    answer_empty(q, 200, out);
}

static void metrics(struct rep *r, const struct request *q, const char *const *parameters,
                    struct effects *out)
{
    (void)parameters;
    if (!metrics_ask(r, q->id, out)) {
        answer_text(q, 503, "too many wait for the metrics", out);
    }
}

/* Diego's rep has it for its simulation alone: nothing is reset on a real cell. */
static void reset(struct rep *r, const struct request *q, const char *const *parameters,
                  struct effects *out)
{
    (void)r;
    (void)parameters;
    answer_text(q, 500, "not a simulated cell", out);
}

/* Ours: what a container wrote (README); it goes past the step. */
static void logs(struct rep *r, const struct request *q, const char *const *parameters,
                 struct effects *out)
{
    struct err err;
    if (output_ask(q, parameters[0], r->now.wall_ns, out, &err) < 0) {
        answer_text(q, 400, err.text, out);
    }
}

static void log_list(struct rep *r, const struct request *q, const char *const *parameters,
                     struct effects *out)
{
    struct err err;
    (void)r;
    (void)parameters;
    if (output_list(q, out, &err) < 0) {
        answer_text(q, 400, err.text, out);
    }
}

static void work(struct rep *r, const struct request *q, const char *const *parameters,
                 struct effects *out)
{
    (void)parameters;
    const Cell__Work *wanted = (const Cell__Work *)read_body(q, &cell__work__descriptor, out);
    if (!wanted) {
        return;
    }
    if (wanted->cell_id[0] != '\0' && strcmp(wanted->cell_id, r->config.cell_id) != 0) {
        answer_text(q, 500,
                    arena_printf(out->arena, "work for cell %.64s reached cell %s", wanted->cell_id,
                                 r->config.cell_id),
                    out);
        return;
    }
    answer_message(q, 200, &work_take(r, wanted, out)->base, "", out);
}

/* The container that the path names; answers 500 when there is none (rep-auctioneer.md 2). */
static struct container *named(struct rep *r, const struct request *q,
                               const char *const *parameters, struct effects *out)
{
    struct container *c = container_find(&r->containers, parameters[1]);
    if (!c || c->kind != &instance_kind ||
        strcmp(c->about->key->process_guid, parameters[0]) != 0) {
        answer_text(q, 500, "no such container", out);
        return NULL;
    }
    return c;
}

static void stop(struct rep *r, const struct request *q, const char *const *parameters,
                 struct effects *out)
{
    struct container *c = named(r, q, parameters, out);
    if (c) {
        container_stop(c, END_SHUTDOWN, "a bbs asks for its stop", out);
        answer_empty(q, 202, out);
    }
}

static void cancel(struct rep *r, const struct request *q, const char *const *parameters,
                   struct effects *out)
{
    cell_task_cancel(r, parameters[0], query_value(out->arena, q->query, "attempt"), out);
    answer_empty(q, 202, out);
}

/* A member that is null or absent is left unchanged (rep-auctioneer.md 2.3), unless our own bbs
 * says that it replaces; in JSON one that is empty replaces too. */
static void update(struct rep *r, const struct request *q, const char *const *parameters,
                   struct effects *out)
{
    const Cell__LRPUpdate *update =
        (const Cell__LRPUpdate *)read_body(q, &cell__lrpupdate__descriptor, out);
    struct container *c = update ? named(r, q, parameters, out) : NULL;
    if (!c) {
        return;
    }
    Rep__Note about = *c->about; /* shallow, copied deeply below */
    if (update->replaces || update->internal_routes) {
        about.n_internal_routes = update->n_internal_routes;
        about.internal_routes = update->internal_routes;
    }
    about.routed = update->replaces ? update->routed : about.routed;
    if (update->replaces || update->metric_tags) {
        about.n_metric_tags = update->n_metric_tags;
        about.metric_tags =
            ARENA_ARRAY(out->arena, update->n_metric_tags, Rep__Note__MetricTagsEntry *);
        for (size_t i = 0; i < update->n_metric_tags; i++) {
            Rep__Note__MetricTagsEntry *tag = ARENA_NEW(out->arena, Rep__Note__MetricTagsEntry);
            rep__note__metric_tags_entry__init(tag);
            tag->key = update->metric_tags[i]->key;
            tag->value = update->metric_tags[i]->value;
            about.metric_tags[i] = tag;
        }
    }
    container_learn(c, note_copy(&about));
    c->note_wanted = c->start_wanted = true;
    c->note_failures = 0;
    c->note_retry_ns = 0;
    container_touch(c);
    answer_empty(q, 202, out);
}
