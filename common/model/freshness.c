#include "common/model/freshness.h"

bool domain_in_board_generation(int64_t mod_revision, int64_t board_generation_revision)
{
    return board_generation_revision > 0 && mod_revision > board_generation_revision;
}

static bool expired(const Board__DomainRecord *domain, int64_t wall_ns)
{
    return domain->expires_at <= wall_ns;
}

static int64_t ttl_ns(const Board__DomainRecord *domain)
{
    return domain->ttl_s * SECOND_NS;
}

bool domain_fresh(const Board__DomainRecord *domain, struct domain_seen seen, struct moment now)
{
    if (!domain || !seen.in_this_board_generation) {
        return false;
    }
    return domain->ttl_s == 0 || (!expired(domain, now.wall_ns) && seen.at.after_ns != 0 &&
                                  now.mono_ns - seen.at.after_ns < ttl_ns(domain));
}

bool domain_listed(const Board__DomainRecord *domain, struct domain_seen seen, struct moment now)
{
    int64_t second_ns = (now.wall_ns + SECOND_NS / 2) / SECOND_NS * SECOND_NS;
    return seen.in_this_board_generation &&
           (domain->ttl_s == 0 || (!expired(domain, second_ns) &&
                                   surely_left_ns(ttl_ns(domain), seen.at, now) > 0));
}

bool domain_over(const Board__DomainRecord *domain, struct sighting seen, struct moment now)
{
    int64_t began_ns = (domain->expires_at > 0 ? domain->expires_at : 0) - ttl_ns(domain);
    return domain->ttl_s != 0 && kept_left_ns(ttl_ns(domain), began_ns, seen, seen, now) <= 0;
}

bool lock_over(const Board__LockRecord *lock, int64_t since_ns, struct moment now)
{
    return (now.mono_ns - since_ns) / SECOND_NS >= lock->ttl_s;
}
