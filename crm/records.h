/* The centre's records as the CRM goes by them, from its feed: each is read once, when it changes,
 * and what a comparison needs of it is kept. Pure. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/map.h"
#include "crm/harmonise.h"

#include "board.pb-c.h"

struct crm_records {
    const char *cloudlet; /* set by the owner before crm_records_init; must stay valid */
    struct map by_key;    /* of the centre's record -> what it says */
    /* So many cannot be read, for they are of a newer format or are none: whose they are at the
     * site, nobody can tell. */
    size_t unreadable;
};

/* Starts empty; reset is empty again. */
void crm_records_init(struct crm_records *r);
void crm_records_done(struct crm_records *r);
void crm_records_reset(struct crm_records *r);

/* A change of the centre's feed: of clusters and app instances of this cloudlet; all else is left
 * alone. `record`: format version, then the message; empty = it is gone. One by which nothing can
 * be done is kept as one in a state that nobody knows: it has CRM_STATE_FOREIGN. */
void crm_records_change(struct crm_records *r, const char *key, struct bytes record);

/* All that can be read, by key; the list is in the arena, what they say is borrowed until the next
 * change. */
size_t crm_records_list(const struct crm_records *r, struct arena *a, struct crm_record **ret_list);
