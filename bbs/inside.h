/* The bbs's inside, for its own files: routes, notices, callbacks. */
#ifndef BBS_INSIDE_H
#define BBS_INSIDE_H

#include "bbs/bbs.h"
#include "bbs/board/board.h"
#include "bbs/callbacks.h"
#include "bbs/event/hub.h"
#include "bbs/notices.h"
#include "bbs/waiters.h"
#include "common/client/askers.h"
#include "common/contract/caller.h"
#include "common/lifecycle/actor.h"

struct bbs {
    struct role role;
    bool any_client;
    struct board *board;
    struct askers askers; /* of notices and callbacks */
    struct notices notices;
    struct callbacks callbacks;
    struct waiters waiters;
    struct hub *hub;
};

/* What an ordinary client with another certificate can do: for caller_refusal(). */
#define BBS_CLIENT_REMEDY CALLER_REMEDY ", or run the bbs with --any-client"

/* Who asks: ACTOR_STRANGER is a client where bbs_config.any_client says so. */
enum actor bbs_caller(const struct bbs *b, const struct request *q);

/* What a slice of the job does (bbs/jobs.def), for board_hooks; NULL of a kind of a later version. */
const struct op_row *bbs_job_row(void *context, const Board__JobRecord *job);

#endif
