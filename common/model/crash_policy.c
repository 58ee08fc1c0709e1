#include "common/model/crash_policy.h"

#include "common/contract/moment.h"

#include <assert.h>

int64_t crash_wait_ns(const struct crash_policy *policy, int32_t count)
{
    assert(policy->backoff_base_ns > 0 && policy->backoff_max_ns > 0);
    if (count >= policy->restarts_max) {
        return NEVER_NS;
    }
    int64_t wait_ns = policy->backoff_base_ns;
    for (int64_t n = policy->immediate_below; n < count && wait_ns < policy->backoff_max_ns; n++) {
        wait_ns *= 2;
    }
    return earlier_ns(wait_ns, policy->backoff_max_ns);
}

int64_t crash_restart_ns(const struct crash_policy *policy, int32_t count, int64_t since_ns)
{
    int64_t wait_ns = crash_wait_ns(policy, count);
    return wait_ns == NEVER_NS ? NEVER_NS : since_ns + wait_ns;
}
