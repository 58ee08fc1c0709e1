/* Domains: upsert (behaviour.md 7, design.md 5, Freshness and clocks). Pure. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"
#include "common/model/freshness.h"
#include "models/domain.pb-c.h"

/* Models__UpsertDomainRequest. */
extern const struct op_row upsert_domain_row;

/* The move of the converger: expire. */
extern const struct move_family domain_moves;

/* Domains of what runs in slices: "edge.<uid of the cluster>". */
#define DOMAIN_OF_SITE_PREFIX "edge."

struct domain_snapshot {
    struct speaker by;                 /* of expire, and of the CRM of a site */
    const Board__DomainRecord *domain; /* as it stands; NULL = none */
    struct domain_seen seen;
};
/* Decides a Models__UpsertDomainRequest, from a domain_snapshot. */
void upsert_domain_decide(const void *snapshot, const struct op_input *in, struct plan *p);
