#include "bbs/rest/rest.h"

#include "bbs/rest/answer.h"
#include "bbs/rest/refusal.h"
#include "common/codec/json.h"
#include "common/model/not_done.h"

#include <assert.h>
#include <string.h>

enum rest_kind { READ, PEEK, WRITE, LARGE };

enum { BODY_READ = 4096, BODY_PEEK = 4096, BODY_WRITE = BODY_SMALL };

struct rest_row {
    struct path_row at;
    const ProtobufCMessageDescriptor *body; /* NULL = it is ignored */
    actor_set callers;
    enum rest_kind kind;
    rest_read *read;   /* READ, PEEK */
    rest_write *write; /* WRITE, LARGE */
};

/* `none` in the table. */
#define none__descriptor (*(const ProtobufCMessageDescriptor *)NULL)
#define HANDLER_READ .read
#define HANDLER_PEEK .read
#define HANDLER_WRITE .write
#define HANDLER_LARGE .write

static const struct rest_row rows[] = {
#define REST(method, pattern, body_, callers_, kind_, handler)                                     \
    {                                                                                              \
        .at = {method, pattern, BODY_##kind_},                                                     \
        .body = &body_##__descriptor,                                                              \
        .callers = callers_,                                                                       \
        .kind = kind_,                                                                             \
        HANDLER_##kind_ = rest_##handler,                                                          \
    },
#include "bbs/rest/rest.def"
};

const struct path_table rest_paths = PATH_TABLE(rows);

#define PREFIX "/v1/"

/* Of "/v1/tasks/list.r3" the length up to "tasks". */
static size_t family_size(const char *path)
{
    return strlen(PREFIX) + strcspn(path + strlen(PREFIX), "/.");
}

static bool has_family(const struct path_table *t, const char *path)
{
    size_t size = family_size(path);
    bool has = false;
    for (size_t i = 0; i < t->count && !has; i++) {
        const char *pattern = path_row_at(t, i)->pattern;
        has = strncmp(pattern, path, size) == 0 && strchr("/.", pattern[size]); /* or its end */
    }
    return has;
}

bool rest_owns(const char *method, const char *path)
{
    if (!text_begins(path, PREFIX)) {
        return strcmp(path, "/health") == 0 || strcmp(path, "/v1") == 0;
    }
    return has_family(&rest_paths, path) ||
           (strcmp(method, "POST") != 0 && !has_family(&bbs_routes, path));
}

/* ---- Looks ----------------------------------------------------------------------------------- */

/* The system is looked at first (docs/rest.md, Errors). */
static void look(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct rest *q = context;
    if (!v) {
        rest_not_now(out, q->ask->request_id);
        return;
    }
    const Board__SystemRecord *system =
        *q->system ? view_peek_message(v, key_system(view_arena(v), q->system)) : NULL;
    struct refusal refusal;
    assert(q->row->read && (*q->system || q->row->kind == PEEK));
    if (q->row->kind == READ && system_refusal(out->arena, q->system, system, &refusal)) {
        rest_refuse(out, q->ask->request_id, refusal.status, refusal.code, "%s", refusal.text);
    } else {
        q->row->read(q, v, system, out);
    }
}

/* ---- Requests -------------------------------------------------------------------------------- */

bool rest_denies(const struct router *r, const struct request *q, struct effects *out)
{
    const struct path_match m = path_find(&rest_paths, q->method, q->path, out->arena);
    const struct rest_row *row = m.row;
    if (!row || m.allow || actor_among(route_caller(r, q), row->callers)) {
        return false;
    }
    rest_refuse(out, q->id, 403, "FORBIDDEN", "%s",
                caller_refusal(out->arena, q, row->callers, ROUTE_CLIENT_REMEDY));
    return true;
}

/* The body decoded; none at all is an empty object. False: it is answered. */
static bool decode(struct rest *q, const struct request *request, struct effects *out)
{
    struct err err = {0};
    ProtobufCMessage *body;
    if (!q->row->body) {
        return true;
    }
    if (request->too_large || request->body.size > q->row->at.body_max) {
        rest_refuse_now(
            q, out, 413, "INVALID_REQUEST",
            arena_printf(out->arena, "the body has more than %zu KiB", q->row->at.body_max / 1024));
        return false;
    }
    struct bytes text = request->body.size ? request->body : bytes_of("{}");
    if (json_decode(q->ask->arena, q->row->body, text, CODEC_STRICT, &body, &err) < 0) {
        rest_refuse_now(q, out, 400, "INVALID_REQUEST",
                        arena_printf(out->arena, "the body cannot be read: %s", err.text));
        return false;
    }
    q->body = body;
    return true;
}

static void begin(struct router *r, const struct request *request, const struct path_match *m,
                  struct effects *out)
{
    const struct rest_row *row = m->row;
    struct ask *ask = ask_new(r, request, row->callers);
    struct rest *q = ARENA_NEW(ask->arena, struct rest);
    *q = (struct rest){
        .ask = ask,
        .row = row,
        .system = arena_strdup(ask->arena, m->parameters[0]),
        .name = arena_strdup(ask->arena, m->parameters[1]),
        .query = arena_strdup(ask->arena, request->query),
        .missing = "INVALID_SYSTEM_ID",
        .invalid = "INVALID_REQUEST",
        .status = 200,
    };
    if (!decode(q, request, out)) {
        return;
    }
    assert(!row->read != !row->write);
    if (row->write) {
        row->write(q, out);
    } else {
        board_barrier(r->board, ask->arena, look, q, out);
    }
}

void rest_request(struct router *r, const struct request *q, struct effects *out)
{
    const struct path_match m = path_find(&rest_paths, q->method, q->path, out->arena);
    const struct rest_row *row = m.row;
    if (board_went_back(r->board)) {
        rest_unavailable(out, q->id, NOT_DONE "%s", board_went_back(r->board));
    } else if (!board_ready(r->board)) {
        rest_not_now(out, q->id);
    } else if (!row) {
        rest_refuse(out, q->id, 404, "INVALID_PATH", "there is no %s", "such path: docs/rest.md");
    } else if (m.allow) {
        rest_refuse(out, q->id, 405, "INVALID_METHOD", "%s is not for this path, but %s", q->method,
                    m.allow);
        out->list[out->count - 1].reply.allow = m.allow;
    } else if (!rest_denies(r, q, out)) {
        if (row->write && board_read_only(r->board)) {
            rest_not_now(out, q->id);
        } else {
            begin(r, q, &m, out);
        }
    }
}
