/* The bbs's inside, for its own files: routes, lists, notices, callbacks. */
#ifndef BBS_INSIDE_H
#define BBS_INSIDE_H

#include "bbs/bbs.h"
#include "bbs/board/board.h"
#include "bbs/callbacks.h"
#include "bbs/event/hub.h"
#include "bbs/lists.h"
#include "bbs/notices.h"
#include "bbs/waiters.h"

struct bbs {
    struct role role;
    struct board *board;
    struct notices notices;
    struct callbacks callbacks;
    struct waiters waiters;
    struct lists lists;
    struct hub *hub;
};

#endif
