/* The rep's HTTP interface (rep-auctioneer.md 2): one row a route, with who may call it. */
#pragma once

#include "common/base/path_pattern.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"

struct rep;

/* Bounds of bodies. A /work carries some hundred bytes for each LRP. */
enum { WORK_BODY_MAX = 4 * 1024 * 1024, UPDATE_BODY_MAX = 1024 * 1024, EMPTY_BODY_MAX = 64 * 1024 };

/* Answers it with exactly one reply. */
void request_handle(struct rep *r, const struct request *q, struct effects *out);

/* rep/http/routes.def as a table; a path that it has not has EMPTY_BODY_MAX. */
extern const struct path_table rep_routes;
