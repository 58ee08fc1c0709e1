#include "common/model/freshness.h"

bool domain_expired(const Board__DomainRecord *domain, int64_t wall_ns)
{
    return domain->ttl_s != 0 && domain->expires_at <= wall_ns;
}

bool domain_in_epoch(int64_t mod_revision, int64_t epoch_revision)
{
    return epoch_revision > 0 && mod_revision > epoch_revision;
}

bool domain_fresh(const Board__DomainRecord *domain, struct domain_seen seen, struct moment now)
{
    if (!domain || !seen.in_this_epoch) {
        return false;
    }
    return domain->ttl_s == 0 || (!domain_expired(domain, now.wall_ns) &&
                                  now.mono_ns - seen.since_ns < domain->ttl_s * SECOND_NS);
}

bool lock_over(const Board__LockRecord *lock, int64_t since_ns, struct moment now)
{
    return (now.mono_ns - since_ns) / SECOND_NS >= lock->ttl_s;
}
