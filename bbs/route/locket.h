/* Locket's face: gRPC calls of the service models.Locket (rep-auctioneer.md 6). */
#pragma once

#include "bbs/route/route.h"

/* Answers EVENT_REQUEST of a gRPC call, now or later; a method that nobody knows too. */
void locket_request(struct router *r, const struct request *q, struct effects *out);
