/* The domains as this process has seen them: since when the present revision (DESIGN 5, freshness
 * and clocks). Pure. */
#ifndef CONVERGER_DOMAINS_H
#define CONVERGER_DOMAINS_H

#include "board.pb-c.h"
#include "common/client/follower.h"

struct domains {
    struct map by_key;      /* -> struct domain_sighting */
    int64_t epoch_revision; /* create-revision of the epoch's key; 0 = not known */
};

void domains_init(struct domains *d);
void domains_done(struct domains *d);

/* News of the feed. A revision that was seen before a reset of the copy keeps its age. True if the
 * domain was not fresh before, as far as this process knows, and is now. */
bool domains_put(struct domains *d, const char *key, const struct followed *record,
                 struct moment now);
void domains_gone(struct domains *d, const char *key);
/* The copy is complete again: what it does not hold was deleted meanwhile. */
void domains_current(struct domains *d, const struct follower *f);
/* Another epoch: revisions mean nothing any more, and no domain is fresh until it is upserted. */
void domains_forget(struct domains *d);
/* The present epoch began at this revision. */
void domains_epoch(struct domains *d, int64_t create_revision);

/* Whether nothing of it may be missed (common/model/freshness.h). */
bool domains_fresh(const struct domains *d, struct arena *a, const char *domain, struct moment now);

/* Calls `each` with every domain whose time is over. */
void domains_each_expired(const struct domains *d, struct moment now,
                          void (*each)(void *context, const char *domain), void *context);

#endif
