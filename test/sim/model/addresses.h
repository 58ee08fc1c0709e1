/* The addresses of a model cell's own network, by number from 1. */
#pragma once

#include "common/base/arena.h"

#include <stdbool.h>

enum { MODEL_ADDRESSES_MAX = 250 };

struct model_addresses {
    unsigned count;
    bool taken[MODEL_ADDRESSES_MAX + 1];
};

/* The lowest that nobody has; 0: there is none. */
unsigned model_address_take(struct model_addresses *a);
void model_address_give(struct model_addresses *a, unsigned number); /* 0: nothing */
const char *model_address(struct arena *arena, unsigned number);
