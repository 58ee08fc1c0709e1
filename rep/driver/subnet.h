/* The addresses of a cell's own network: IPv4, in host byte order. Pure. */
#pragma once

#include "common/base/err.h"

#include <stdint.h>

/* Enough for an address as text. */
enum { ADDRESS_TEXT_BYTES = 16 };

/* Of the block the first address is nobody's, the second the containers' gateway, the last
 * nobody's; the rest are theirs. */
struct subnet {
    uint32_t base;
    int prefix;
};

/* From "10.254.0.0/22": /8 to /29, its first address. -ERR_INVALID with err. */
int subnet_parse(const char *text, struct subnet *ret, struct err *err);

/* How many containers it has addresses for, and the address of the one of that number, which counts
 * round. */
uint32_t subnet_size(const struct subnet *s);
uint32_t subnet_address(const struct subnet *s, uint32_t number);
uint32_t subnet_gateway(const struct subnet *s);

/* "10.254.0.5". */
void subnet_text(uint32_t address, char out[ADDRESS_TEXT_BYTES]);
