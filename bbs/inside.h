/* The bbs's inside, for its own files: the role, notices, callbacks. */
#pragma once

#include "bbs/bbs.h"
#include "bbs/board/board.h"
#include "bbs/callbacks.h"
#include "bbs/event/hub.h"
#include "bbs/notices.h"
#include "bbs/rest/logs.h"
#include "bbs/route/route.h"
#include "common/client/askers.h"

struct bbs {
    struct role role;
    struct board *board;
    struct askers askers; /* of notices, callbacks and logs */
    struct notices notices;
    struct callbacks callbacks;
    struct hub *hub;
    struct log_requests logs;
    struct router router;
};

/* What a portion of the job does (bbs/jobs.def), for board_hooks; NULL of a kind of a later
 * version.
 */
const struct op_row *bbs_job_row(void *context, const Board__JobRecord *job);
