#include "common/model/crash_policy.h"

#include "common/contract/moment.h"

const struct crash_policy CRASH_POLICY_DEFAULT = {
    .reset_ns = 300 * SECOND_NS,
    .immediate_below = 3,
    .backoff_base_ns = 30 * SECOND_NS,
    .backoff_max_ns = 960 * SECOND_NS,
    .restarts_max = 200,
};

int64_t crash_wait_ns(const struct crash_policy *policy, int32_t count)
{
    if (count >= policy->restarts_max) {
        return NEVER_NS;
    }
    int64_t wait_ns = policy->backoff_base_ns;
    for (int32_t n = policy->immediate_below; n < count && wait_ns < policy->backoff_max_ns; n++) {
        wait_ns *= 2;
    }
    return earlier_ns(wait_ns, policy->backoff_max_ns);
}

int64_t crash_restart_ns(const struct crash_policy *policy, int32_t count, int64_t since_ns)
{
    int64_t wait_ns = crash_wait_ns(policy, count);
    return wait_ns == NEVER_NS ? NEVER_NS : since_ns + wait_ns;
}
