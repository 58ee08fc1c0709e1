#include "rep/container/back_off.h"

#include "common/contract/moment.h"

int64_t back_off_ns(struct random *random, unsigned failures)
{
    const int64_t first_ns = 100 * MILLISECOND_NS, most_ns = 5 * SECOND_NS;
    int64_t wait_ns = first_ns;
    for (unsigned i = 1; i < failures && wait_ns < most_ns; i++) {
        wait_ns *= 2;
    }
    wait_ns = earlier_ns(wait_ns, most_ns);
    return wait_ns + (int64_t)random_below(random, (uint64_t)wait_ns / 4);
}
