#include "rep/driver/subnet.h"

#include <arpa/inet.h>
#include <stdio.h>

enum { PREFIX_MIN = 8, PREFIX_MAX = 29, NOBODYS = 3 };

int subnet_parse(const char *text, struct subnet *ret, struct err *err)
{
    char address[ADDRESS_TEXT_BYTES], end;
    int prefix;
    struct in_addr a;
    if (sscanf(text, "%15[0-9.]/%2d%c", address, &prefix, &end) != 2 ||
        inet_pton(AF_INET, address, &a) != 1 || prefix < PREFIX_MIN || prefix > PREFIX_MAX) {
        return err_set(err, ERR_INVALID,
                       "a subnet is an IPv4 block from /%d to /%d, like 10.254.0.0/22, "
                       "not \"%.40s\"",
                       PREFIX_MIN, PREFIX_MAX, text);
    }
    uint32_t base = ntohl(a.s_addr);
    if (base & (UINT32_MAX >> prefix)) {
        return err_set(err, ERR_INVALID, "%s is not the first address of a block of /%d", address,
                       prefix);
    }
    *ret = (struct subnet){base, prefix};
    return 0;
}

uint32_t subnet_size(const struct subnet *s)
{
    return (UINT32_C(1) << (32 - s->prefix)) - NOBODYS;
}

uint32_t subnet_address(const struct subnet *s, uint32_t number)
{
    return s->base + 2 + number % subnet_size(s);
}

uint32_t subnet_gateway(const struct subnet *s)
{
    return s->base + 1;
}

void subnet_text(uint32_t address, char out[ADDRESS_TEXT_BYTES])
{
    struct in_addr a = {htonl(address)};
    inet_ntop(AF_INET, &a, out, ADDRESS_TEXT_BYTES);
}
