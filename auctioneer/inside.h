/* The auctioneer from inside: its parts and what ties them together. For auctioneer/ only. */
#ifndef AUCTIONEER_INSIDE_H
#define AUCTIONEER_INSIDE_H

#include "auctioneer/auction.h"
#include "auctioneer/auctioneer.h"
#include "auctioneer/rules.h"
#include "common/client/leading.h"

struct auctioneer {
    struct leading life; /* first: a struct role * is a struct auctioneer * */
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
