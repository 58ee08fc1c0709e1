/* Locket's face: gRPC calls of the service models.Locket (rep-auctioneer.md 6). */
#ifndef BBS_ROUTE_LOCKET_H
#define BBS_ROUTE_LOCKET_H

#include "bbs/route/route.h"

/* Answers EVENT_REQUEST of a gRPC call, now or later; a method that nobody knows too. */
void locket_request(struct router *r, const struct request *q, struct effects *out);

#endif
