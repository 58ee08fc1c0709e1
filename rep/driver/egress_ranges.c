#include "rep/driver/egress_ranges.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

/* An address that reads as text[0..size); 4 or 6, 0 when it is none. */
static int parse_address(const char *text, size_t size, uint32_t *ret)
{
    char copy[INET6_ADDRSTRLEN];
    struct in_addr four;
    struct in6_addr six;
    if (size >= sizeof(copy)) {
        return 0;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (inet_pton(AF_INET, copy, &four) == 1) {
        *ret = ntohl(four.s_addr);
        return 4;
    }
    return inet_pton(AF_INET6, copy, &six) == 1 ? 6 : 0;
}

/* -1: not a number of at most `max`. */
static int parse_prefix(const char *text, size_t size, int max)
{
    int value = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || size > 3) {
            return -1;
        }
        value = value * 10 + (text[i] - '0');
    }
    return size > 0 && value <= max ? value : -1;
}

/* As parse_address(). */
static int parse_block(const char *text, size_t size, size_t slash, struct address_range *ret)
{
    uint32_t address = 0;
    int family = parse_address(text, slash, &address);
    int prefix = parse_prefix(text + slash + 1, size - slash - 1, family == 6 ? 128 : 32);
    if (family == 0 || prefix < 0) {
        return 0;
    }
    uint32_t mask = prefix == 0 || family == 6 ? 0 : UINT32_MAX << (32 - prefix);
    *ret = (struct address_range){address & mask, address | ~mask};
    return family;
}

static int parse_destination(const char *text, size_t size, struct address_range *ret)
{
    size_t n = 0;
    while (n < size && text[n] != '-' && text[n] != '/') {
        n++;
    }
    if (n < size && text[n] == '/') {
        return parse_block(text, size, n, ret);
    }
    int family = parse_address(text, n, &ret->first);
    if (n == size) {
        ret->last = ret->first;
        return family;
    }
    int other = parse_address(text + n + 1, size - n - 1, &ret->last);
    return family == other && (family != 4 || ret->first <= ret->last) ? family : 0;
}

static int by_first(const void *a, const void *b)
{
    const struct address_range *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* In place; the filter's sets take no ranges that overlap. */
static int merge(struct address_range *list, int count)
{
    int kept = 0;
    qsort(list, (size_t)count, sizeof(*list), by_first);
    for (int i = 1; i < count; i++) {
        struct address_range *last = &list[kept];
        if (last->last == UINT32_MAX || list[i].first <= last->last + 1) {
            last->last = list[i].last > last->last ? list[i].last : last->last;
        } else {
            list[++kept] = list[i];
        }
    }
    return count > 0 ? kept + 1 : 0;
}

size_t egress_destinations(const char *const *destinations, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found++;
        for (const char *at = destinations[i]; (at = strchr(at, ',')); at++) {
            found++;
        }
    }
    return found;
}

int egress_ranges(struct arena *a, const char *const *destinations, size_t count,
                  struct address_range **ret_ranges, struct err *err)
{
    size_t most = egress_destinations(destinations, count);
    struct address_range *list = ARENA_ARRAY(a, most, struct address_range);
    int found = 0;
    for (size_t i = 0; i < count; i++) {
        for (const char *text = destinations[i];; text++) {
            size_t size = strcspn(text, ",");
            int family = parse_destination(text, size, &list[found]);
            if (family == 0) {
                return err_set(err, ERR_INVALID, "no address, block or range: %.*s",
                               size > 64 ? 64 : (int)size, text);
            }
            found += family == 4;
            text += size;
            if (!*text) {
                break;
            }
        }
    }
    *ret_ranges = list;
    return merge(list, found);
}
