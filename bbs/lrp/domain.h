/* Domains: upsert (behaviour.md 7, DESIGN 5 freshness and clocks). Pure. */
#ifndef BBS_LRP_DOMAIN_H
#define BBS_LRP_DOMAIN_H

#include "bbs/board/op.h"
#include "common/model/freshness.h"
#include "models/domain.pb-c.h"

/* Models__UpsertDomainRequest. */
extern const struct op_row upsert_domain_row;

struct domain_snapshot {
    const Board__DomainRecord *domain; /* as it stands; NULL = none */
    struct domain_seen seen;
};
void upsert_domain_decide(const void *snapshot, const struct op_input *in, struct plan *p);

#endif
