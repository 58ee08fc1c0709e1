/* Which domains are fresh, and which locks are over (design.md 5, Freshness and clocks). Pure. */
#pragma once

#include "board.pb-c.h"
#include "common/model/sighting.h"

#include <stdbool.h>

/* How this process knows the present revision of a domain's record. */
struct domain_seen {
    struct sighting at;
    bool in_this_board_generation; /* it was written since the board generation began */
};

/* A record that came back with a restore says nothing: somebody must upsert it again (design.md 2,
 * Board generation). `board_generation_revision` is the create-revision of the board generation's
 * key, 0 = not known. */
bool domain_in_board_generation(int64_t mod_revision, int64_t board_generation_revision);

/* Fresh only if it was upserted in this board generation, the stored expiry lies ahead on the wall
 * clock and the upsert cannot be older than the ttl: this process saw it written. Of an upsert that
 * was there before this process nothing but its wall clock would tell the age; doubt means stale,
 * until the next one. NULL, a domain that nobody upserted, is not fresh. */
bool domain_fresh(const Board__DomainRecord *domain, struct domain_seen seen, struct moment now);

/* Whether the list shows it: as far as the stored expiry, with now rounded to the nearest second
 * (behaviour.md 7), and what this process has seen of it tell. Nothing is stopped by that. */
bool domain_listed(const Board__DomainRecord *domain, struct domain_seen seen, struct moment now);

/* Its time is over for good: its record may go. */
bool domain_over(const Board__DomainRecord *domain, struct sighting seen, struct moment now);

/* A lock of an owner outside the cluster is over: this process has seen its present revision for
 * the whole time to live. Each renewal is a new revision, and none is seen before it is written, so
 * that a lock never ends early, whatever any wall clock says; a process that starts again, or whose
 * board was restored, gives every lock its whole time once more (design.md 5; rep-auctioneer.md 6).
 * In doubt a lock lives on. `since_ns`: monotonic, when the present revision was first seen. */
bool lock_over(const Board__LockRecord *lock, int64_t since_ns, struct moment now);
