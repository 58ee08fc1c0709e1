/* The records of the centre as the CRM goes by them: what it follows, decoded. Pure; all in the
 * given arena. */
#pragma once

#include "common/base/map.h"
#include "crm/harmonise.h"

#include "board.pb-c.h"

struct crm_records {
    const Board__ClusterInstRecord **clusters; /* those that can be read, by key */
    const Board__AppInstRecord **apps;
    size_t cluster_count, app_count;
    struct crm_record *list; /* the same, first the clusters */
    size_t count;
    /* One cannot be read, for it is of a newer format or is none: whose it is at the site, nobody
     * can tell. */
    bool unreadable;
};

/* Of a feed's records (struct followed, by key) the clusters and app instances of this cloudlet.
 * One by which nothing can be done is left alone, as one in a state that nobody knows: it has
 * CRM_STATE_FOREIGN. */
void crm_records_read(const struct map *followed, const char *cloudlet, struct arena *a,
                      struct crm_records *ret);
