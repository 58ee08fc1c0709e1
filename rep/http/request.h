/* The rep's HTTP interface (rep-auctioneer.md 2): one row a route, with who may call it. */
#ifndef REP_HTTP_REQUEST_H
#define REP_HTTP_REQUEST_H

#include "common/contract/effect.h"
#include "common/contract/event.h"

struct rep;

/* Bounds of bodies. A /work carries some hundred bytes for each LRP. */
enum { WORK_BODY_MAX = 4 * 1024 * 1024, UPDATE_BODY_MAX = 1024 * 1024, EMPTY_BODY_MAX = 64 * 1024 };

/* Answers it with exactly one reply. */
void request_handle(struct rep *r, const struct request *q, struct effects *out);

/* For role_ops.body_limit. */
size_t request_body_limit(const char *path);

#endif
