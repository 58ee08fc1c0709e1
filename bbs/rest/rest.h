/* Systems in JSON (docs/rest.md): from a request to its handler, by the table rest.def. What is
 * asked is turned into an op or a look at the board, and what these give into JSON. Decides nothing
 * itself. */
#pragma once

#include "bbs/route/route.h"
#include "common/contract/effect.h"

#include "rest.pb-c.h"

/* A request on its way; lives in the arena of its ask. */
struct rest {
    struct ask *ask;
    const struct rest_row *row;
    const char *system; /* the parameters of the path; "" = it has none */
    const char *name;   /* of what is in the system */
    const char *query;
    const void *body;   /* decoded; NULL = the row has none */
    /* For the answer of an op: */
    const char *missing; /* code when what it is about is not there: "INVALID_BUILD_ID" */
    const char *invalid; /* code when the request is refused for what it says */
    bool of_system;      /* it is about the system itself, not about what is in it */
    int status;          /* of a success */
    /* What is shown of plan->record; NULL = nothing: {}. */
    const ProtobufCMessage *(*show)(struct arena *a, const ProtobufCMessage *record);
};

/* Gives an answer of what the board has. `system`: of the path; NULL = there is none, of PEEK. */
typedef void rest_read(struct rest *q, struct view *v, const Board__SystemRecord *system,
                       struct effects *out);

/* Changes something: ends in rest_op() or rest_refuse_now(). */
typedef void rest_write(struct rest *q, struct effects *out);

/* rest.def as a table. */
extern const struct path_table rest_paths;

/* Whether the path is one of these, or would be if it existed: each of /v1 that is like none of
 * bbs_routes. A POST of such a one is not: it may be of another Diego, whose clients know the text
 * of a 404. */
bool rest_owns(const char *method, const char *path);

/* Answers EVENT_REQUEST of such a path, now or later. */
void rest_request(struct router *r, const struct request *q, struct effects *out);

/* Answers a request whose caller may not make it; false: it may. */
bool rest_denies(const struct router *r, const struct request *q, struct effects *out);

/* Runs an op on `request` and answers with q->show of its plan->record, or with its refusal. What
 * q->ask->faults says is answered instead, as q->invalid. */
void rest_op(struct rest *q, const struct op_row *row, const ProtobufCMessage *request,
             struct effects *out);

/* A UUID for what a request makes without naming it. */
char *rest_new_id(struct rest *q);

/* The handlers. */
#define REST_KIND_READ rest_read
#define REST_KIND_PEEK rest_read
#define REST_KIND_WRITE rest_write
#define REST_KIND_LARGE rest_write
#define REST(method, pattern, body, callers, kind, handler) REST_KIND_##kind rest_##handler;
#include "bbs/rest/rest.def"
