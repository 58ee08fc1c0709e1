#include "rep/driver/id_range.h"

#include "common/contract/driver.h"

#include <stdio.h>

struct id_range id_range_of(uint32_t first)
{
    return (struct id_range){first, first > 0 ? CONTAINER_IDS : 0};
}

bool id_range_map(struct id_range r, uint32_t inside, uint32_t *ret_outside)
{
    if (r.first > 0 && inside >= r.count) {
        return false;
    }
    *ret_outside = r.first + inside;
    return true;
}

/* A number of at most ten digits and the character behind it. */
static bool take_number(struct bytes *text, char end, uint32_t *ret)
{
    uint64_t n = 0;
    size_t i = 0;
    for (; i < text->size && i < 10 && text->data[i] >= '0' && text->data[i] <= '9'; i++) {
        n = n * 10 + (uint64_t)(text->data[i] - '0');
    }
    if (i == 0 || i >= text->size || text->data[i] != (uint8_t)end || n > UINT32_MAX) {
        return false;
    }
    *text = (struct bytes){text->data + i + 1, text->size - i - 1};
    *ret = (uint32_t)n;
    return true;
}

bool id_range_parse(struct bytes text, struct id_range *ret)
{
    struct id_range r;
    if (!take_number(&text, ' ', &r.first) || !take_number(&text, '\n', &r.count) ||
        text.size > 0 || r.first == 0 || r.count == 0 || r.count > UINT32_MAX - r.first) {
        return false;
    }
    *ret = r;
    return true;
}

void id_range_print(struct id_range r, struct buf *out)
{
    buf_printf(out, "%u %u\n", r.first, r.count);
}
