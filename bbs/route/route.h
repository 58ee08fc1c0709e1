/* From a request to its handler: the table is routes.def. What stands here knows of the board and
 * of those who wait for it, not of the role around it (bbs/inside.h). */
#pragma once

#include "bbs/board/board.h"
#include "bbs/board/move_family.h"
#include "bbs/event/hub.h"
#include "bbs/lrp/validate.h"
#include "bbs/route/waiters.h"
#include "common/base/path_pattern.h"
#include "common/contract/caller.h"

/* Bodies, in bytes; and what a decoded one may take, whatever its size on the wire. */
enum {
    BODY_SMALL = 256 * 1024,
    BODY_LARGE = 2 * 1024 * 1024,
    BODY_BATCH = 4 * 1024 * 1024,
    BODY_DECODED_MAX = 16 * 1024 * 1024,
};

/* Bytes of a trace id that are kept. It stands with each change of a transaction in its cause, so a
 * long one of a client's choice would make valid requests too large for etcd. */
enum { TRACE_ID_BYTES_MAX = 1024 };

/* What an ordinary client with another certificate can do: for caller_refusal(). */
#define ROUTE_CLIENT_REMEDY CALLER_REMEDY ", or run the bbs with --any-client"

/* What answers the requests to a bbs; board and hub are borrowed. */
struct router {
    struct board *board;
    struct hub *hub;
    bool any_client; /* a certificate that is none of ours is an ordinary client's */
    const struct seal *seal; /* keys for secrets; NULL = none. Set after router_init() */
    struct log_requests *logs; /* bbs/rest/logs.h; set after router_init() */
    struct waiters waiters;
};

/* Board and hub are borrowed. */
void router_init(struct router *r, struct board *board, struct hub *hub, bool any_client);

/* Nobody is answered. */
void router_done(struct router *r);

/* A request on its way. It lives in its own arena, which a handler either gives to the board (an
 * op, a barrier: the board frees it after the callback) or ends with ask_end(). */
struct ask {
    struct router *router;
    struct arena *arena;
    uint64_t request_id;
    const struct read_row *read; /* of a READ */
    struct validation faults;    /* of ask_valid() */
    op_done *answer;             /* of ask_op_with_job() */
    bool json;                   /* asked and answered in JSON (docs/units.md, Routes) */
    struct op_input in; /* `request` is the decoded body; now and random are the board's to set */
};

/* Who asks: ACTOR_STRANGER is a client where any_client says so. */
enum actor route_caller(const struct router *r, const struct request *q);

/* Answers EVENT_REQUEST of HTTP, now or later; of gRPC: locket.h. */
void route_request(struct router *r, const struct request *q, struct effects *out);

/* Answers a request whose caller may not make it (docs/certificates.md); false: it may. */
bool route_denies(const struct router *r, const struct request *q, struct effects *out);

/* bbs/route/routes.def as a table; a path that it has not has BODY_SMALL. */
extern const struct path_table bbs_routes;

/* Of a caller among `callers`. Its input lacks the request, which is still to be decoded. */
struct ask *ask_new(struct router *r, const struct request *q, actor_set callers);
void ask_end(struct ask *ask);

/* Answers with everything that is wrong, by `faults`, and ends the ask; true if all is well. Asked
 * by each handler that says faults. */
bool ask_valid(struct ask *ask, struct effects *out);

/* Answers with the message, which may have an error in field 1: in JSON, if that is how it was
 * asked, with a status that tells the error. Does not end the ask. */
void ask_reply(const struct ask *ask, const ProtobufCMessage *m, struct effects *out);

/* The same with an error alone. */
void ask_refuse(const struct ask *ask, Models__Error__Type type, const char *text,
                struct effects *out);

/* Makes it a named move of the family: says its faults, and gives the op that does it. */
const struct op_row *ask_move(struct ask *ask, const struct move_family *family, Board__Move *m);

/* Runs one op on in.request and answers with its error or nothing. */
void ask_op(struct ask *ask, const struct op_row *row, struct effects *out);

/* The op_done of ask_op; its context is the ask. */
void ask_answer(void *context, const struct op_result *result, struct effects *out);

/* Runs an op that may open a job: answered after the last portion of that (design.md 2, Jobs), 5 s
 * later at most; otherwise by `answer`, whose context is the ask. */
void ask_op_with_job(struct ask *ask, const struct op_row *row, op_done *answer,
                     struct effects *out);

/* Passes the read barrier, then calls `read` with the ask as context. */
void ask_read(struct ask *ask, board_read *read, struct effects *out);

/* The handlers. */
typedef void route_handler(struct ask *ask, struct effects *out);
#define ROUTE(method, path, request, callers, body_max, kind, handler)                             \
    route_handler route_##handler;
#include "bbs/route/routes.def"
#undef ROUTE

/* Logs why what ended as OP_UNAVAILABLE did. */
void ask_log_undone(const struct op_result *result, struct effects *out);

/* Answers it, too. */
void ask_answer_unavailable(struct ask *ask, const struct op_result *result, struct effects *out);
