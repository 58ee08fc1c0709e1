/* Upserting a domain (behaviour.md 7). */
#include "bbs/domain/domain.h"
#include "bbs/route/route.h"

void route_upsert_domain(struct ask *ask, struct effects *out)
{
    struct validation v;
    validation_init(&v);
    valid_upsert_domain(&v, (const Models__UpsertDomainRequest *)ask->in.request);
    if (ask_valid(ask, &v, out)) {
        ask_op(ask, &upsert_domain_row, out);
    }
}
