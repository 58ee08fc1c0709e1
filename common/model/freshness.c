#include "common/model/freshness.h"

bool domain_expired(const Board__DomainRecord *domain, int64_t wall_ns)
{
    return domain->ttl_s != 0 && domain->expires_at <= wall_ns;
}

bool domain_fresh(const Board__DomainRecord *domain, int64_t seen_since_ns, struct moment now)
{
    if (!domain) {
        return false;
    }
    return domain->ttl_s == 0 || (!domain_expired(domain, now.wall_ns) &&
                                  now.mono_ns - seen_since_ns < domain->ttl_s * SECOND_NS);
}
