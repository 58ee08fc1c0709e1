/* GET /container_metrics (rep-auctioneer.md 2.4): the driver measures, all who ask meanwhile share
 * its answer. */
#pragma once

#include "common/contract/effect.h"

#include <stdbool.h>

struct rep;

/* Requests that wait for one measuring; one more is answered 503. */
enum { METRICS_WAITING_MAX = 64 };

struct metrics {
    uint64_t verb_id; /* of the VERB_MEASURE under way, 0 = none */
    uint64_t waiting[METRICS_WAITING_MAX]; /* request ids */
    size_t count;
};

/* Answers the request when the driver has measured; false: too many wait, the caller answers. */
bool metrics_ask(struct rep *r, uint64_t request_id, struct effects *out);

/* The driver's answer: 200 with the figures of each running container, quotas as reserved (0 = no
 * limit); 500 when it did not measure. */
void metrics_answer(struct rep *r, const struct verb_answer *answer, struct effects *out);

/* A peer that waited has gone. */
void metrics_hangup(struct rep *r, uint64_t request_id);
