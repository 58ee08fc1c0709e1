#include "test/table/lifecycles.h"

#include "common/lifecycle/container.h"
#include "common/lifecycle/hook.h"
#include "common/lifecycle/progress.h"
#include "common/lifecycle/tracked.h"
#include "common/lifecycle/unit_agent.h"
#include "common/model/record.h"

#include <assert.h>

/* Those of what is no record, or of several kinds, or of a part of one. */
static const struct lifecycle *const others[] = {&container_lifecycle, &hook_lifecycle,
                                                 &unit_agent_lifecycle, &tracked_lifecycle,
                                                 &progress_lifecycle};

/* The n-th, NULL after the last. */
static const struct lifecycle *nth(size_t n)
{
    for (enum record_type type = 0; type < RECORD_UNKNOWN; type++) {
        const struct lifecycle *l = record_kind(type)->lifecycle;
        if (l && n-- == 0) {
            return l;
        }
    }
    return n < sizeof(others) / sizeof(others[0]) ? others[n] : NULL;
}

size_t lifecycle_count(void)
{
    size_t count = 0;
    while (nth(count)) {
        count++;
    }
    return count;
}

const struct lifecycle *lifecycle_at(size_t n)
{
    const struct lifecycle *l = nth(n);
    assert(l);
    return l;
}
