#include "test/sim/model/addresses.h"

#include <assert.h>

unsigned model_address_take(struct model_addresses *a)
{
    for (unsigned i = 1; i <= a->count; i++) {
        if (!a->taken[i]) {
            a->taken[i] = true;
            return i;
        }
    }
    return 0;
}

void model_address_give(struct model_addresses *a, unsigned number)
{
    assert(number == 0 || a->taken[number]);
    a->taken[number] = false;
}

const char *model_address(struct arena *arena, unsigned number)
{
    assert(number > 0 && number <= MODEL_ADDRESSES_MAX);
    return arena_printf(arena, "10.254.0.%u", number);
}
