/* A site's board in memory, as far as a CRM asks it: for benchmarks of a centre, which host many
 * CRMs in one process. It stands for the site's bbs, etcd and cells: there is one large cell,
 * whoever asks for lead/site has it, each move is done, and what is desired runs at once. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/map.h"

enum { SITE_BOARD_NAME_BYTES = 64 };

struct site_board {
    char generation[SITE_BOARD_NAME_BYTES]; /* also the identity of the site */
    struct map records;                     /* key -> */
    int64_t revision;
    struct buf news; /* frames that the feed has not been given yet */
};

/* `name` is unlike those of other sites. */
void site_board_init(struct site_board *b, const char *name);
void site_board_done(struct site_board *b);

/* Answers a call to this path, without the host. Gives the status. */
int site_board_ask(struct site_board *b, const char *path, struct bytes body, struct buf *answer);

/* Who leads there has given that back. */
void site_board_leave(struct site_board *b);

/* What a feed that opens now begins with, in place of all news. */
void site_board_snapshot(struct site_board *b, struct buf *out);
/* Moves the news to the end of `out`. */
void site_board_news(struct site_board *b, struct buf *out);
void site_board_heartbeat(const struct site_board *b, struct buf *out);
