#include "common/model/egress_destination.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

/* An address as 16 bytes, IPv4 mapped into IPv6, so that a range's ends can be compared. */
static bool parse_address(const char *text, size_t size, uint8_t out[16], bool *ret_v4)
{
    char copy[INET6_ADDRSTRLEN];
    if (size >= sizeof(copy)) {
        return false;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (inet_pton(AF_INET, copy, out + 12) == 1) {
        memset(out, 0, 10);
        memset(out + 10, 0xff, 2);
        *ret_v4 = true;
        return true;
    }
    *ret_v4 = false;
    return inet_pton(AF_INET6, copy, out) == 1;
}

static bool parse_prefix(const char *text, size_t size, unsigned max)
{
    unsigned value = 0;
    if (size == 0 || size > 3) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    return value <= max;
}

static bool parse_cidr(const char *text, size_t size, size_t slash)
{
    uint8_t address[16];
    bool v4;
    return parse_address(text, slash, address, &v4) &&
           parse_prefix(text + slash + 1, size - slash - 1, v4 ? 32 : 128);
}

static bool parse_range(const char *text, size_t size, size_t dash)
{
    uint8_t first[16], last[16];
    bool v4;
    return parse_address(text, dash, first, &v4) &&
           parse_address(text + dash + 1, size - dash - 1, last, &v4) &&
           memcmp(first, last, sizeof(first)) <= 0;
}

enum egress_destination egress_destination_of(const char *text, size_t size)
{
    uint8_t address[16];
    bool v4, good;
    size_t n = 0;
    while (n < size && text[n] != '-' && text[n] != '/') {
        n++;
    }
    if (n < size && text[n] == '/') {
        return parse_cidr(text, size, n) ? EGRESS_DESTINATION_GOOD : EGRESS_DESTINATION_NO_BLOCK;
    }
    good = n == size ? parse_address(text, size, address, &v4) : parse_range(text, size, n);
    return good ? EGRESS_DESTINATION_GOOD : EGRESS_DESTINATION_NO_ADDRESS;
}
