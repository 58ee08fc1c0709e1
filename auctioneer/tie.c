#include "auctioneer/tie.h"

#include "common/base/random.h"

uint32_t *tie_ranks_in_order(struct arena *a, size_t count)
{
    uint32_t *ranks = ARENA_ARRAY(a, count, uint32_t);
    for (size_t i = 0; i < count; i++) {
        ranks[i] = (uint32_t)i;
    }
    return ranks;
}

uint32_t *tie_ranks(struct arena *a, const uint64_t entropy[2], size_t count)
{
    struct random r;
    uint32_t *ranks = tie_ranks_in_order(a, count);
    random_seed(&r, entropy);
    for (size_t i = count; i > 1; i--) {
        size_t other = random_below(&r, i);
        uint32_t rank = ranks[i - 1];
        ranks[i - 1] = ranks[other];
        ranks[other] = rank;
    }
    return ranks;
}
