/* Which domains are fresh (DESIGN 5, freshness and clocks). Pure. */
#ifndef COMMON_MODEL_FRESHNESS_H
#define COMMON_MODEL_FRESHNESS_H

#include "board.pb-c.h"
#include "common/contract/moment.h"

#include <stdbool.h>

/* Fresh only if the stored expiry lies ahead on the wall clock and this process has seen the
 * present revision (since `seen_since_ns`, monotonic) for less than the ttl; doubt means stale.
 * NULL, a domain that nobody upserted, is not fresh. */
bool domain_fresh(const Board__DomainRecord *domain, int64_t seen_since_ns, struct moment now);

/* The stored expiry has passed on the wall clock. */
bool domain_expired(const Board__DomainRecord *domain, int64_t wall_ns);

#endif
