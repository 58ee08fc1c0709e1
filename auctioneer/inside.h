/* The auctioneer from inside: its parts and what ties them together. For auctioneer/ only. */
#ifndef AUCTIONEER_INSIDE_H
#define AUCTIONEER_INSIDE_H

#include "auctioneer/auction.h"
#include "auctioneer/auctioneer.h"
#include "auctioneer/rules.h"
#include "common/client/duty.h"
#include "common/client/follower.h"
#include "common/client/leader.h"

enum { SELECTOR_COUNT = 6 };

struct auctioneer {
    struct role role; /* first: a struct role * is a struct auctioneer * */
    struct arena forever;
    const char *name;
    struct duty duty;
    struct moment now;

    uint64_t next_call_id;
    struct boards boards;
    Board__Selector selectors[SELECTOR_COUNT];
    const Board__Selector *selector_list[SELECTOR_COUNT];
    struct follower follower;
    struct leader leader;
    struct pool pool;
    struct cells cells;
    struct report report;
    struct schedule_rules rules;
    struct auction auction;
};

/* Answers a request (rep-auctioneer.md 3). */
void request_handle_auction(struct auctioneer *x, const struct request *q, struct effects *out);

/* Largest body of a path. */
size_t request_auction_body_max(const char *path);

#endif
