/* Finding one's way in a file of a container's log, from its end or by time, without reading all of
 * it. */
#include "rep/driver/output_parts.h"

#include <string.h>
#include <unistd.h>

enum { BLOCK_BYTES = 64 * 1024 };

static ssize_t read_at(int fd, char *block, off_t from, off_t end)
{
    return pread(fd, block, (size_t)(end - from), from);
}

/* Those that begin in `block`, the last first; where the first of them begins in *end, and of the
 * one told of last in *at. */
static bool walk_block(const char *block, off_t from, off_t *end, off_t *at,
                       bool (*visit)(void *context, struct bytes line), void *context)
{
    size_t stop = (size_t)(*end - from);
    bool first = from == 0;
    for (size_t n = stop;;) {
        const char *feed = n > 0 ? memrchr(block, '\n', n) : NULL;
        if (!feed && !first) {
            *end = stop < (size_t)(*end - from) ? from + (off_t)stop : from;
            return false;
        }
        size_t begin = feed ? (size_t)(feed - block) + 1 : 0;
        if (begin < stop) {
            size_t size = stop - begin;
            size -= block[stop - 1] == '\n';
            if (visit(context, (struct bytes){(const uint8_t *)block + begin, size})) {
                return true;
            }
            *at = from + (off_t)begin;
        }
        stop = begin;
        if (!feed) {
            *end = 0;
            return false;
        }
        n = begin - 1;
    }
}

bool output_walk_back(int fd, off_t size, int64_t *budget,
                      bool (*visit)(void *context, struct bytes line), void *context,
                      off_t *ret_at)
{
    static const off_t most = BLOCK_BYTES;
    char block[BLOCK_BYTES];
    off_t end = size, at = size;
    bool stopped = false;
    while (end > 0 && *budget > 0 && !stopped) {
        off_t from = end > most ? end - most : 0;
        if (read_at(fd, block, from, end) < (ssize_t)(end - from)) {
            break;
        }
        *budget -= end - from;
        stopped = walk_block(block, from, &end, &at, visit, context);
    }
    *ret_at = at;
    return stopped;
}

/* How the first line that begins at or after `at` compares, and where it begins; 1 where none that
 * can be read does. */
static int compare(int fd, off_t at, off_t size, const char *since, off_t *ret_begin)
{
    enum { ENOUGH = LOG_PART_SIZE + LOG_HEAD_SIZE * 2 };
    char block[ENOUGH];
    struct log_line_parts line;
    off_t end = at + ENOUGH < size ? at + ENOUGH : size;
    ssize_t n = read_at(fd, block, at, end);
    const char *feed = n > 0 && at > 0 ? memchr(block, '\n', (size_t)n) : NULL;
    size_t begin = feed ? (size_t)(feed - block) + 1 : 0;
    if (n <= 0 || (at > 0 && !feed) ||
        !log_line_parse((struct bytes){(const uint8_t *)block + begin, (size_t)n - begin}, &line)) {
        return 1;
    }
    *ret_begin = at + (off_t)begin;
    return memcmp(line.time, since, LOG_TIME_SIZE);
}

bool output_begins_before(int fd, const char *since)
{
    off_t begin, size = lseek(fd, 0, SEEK_END);
    return compare(fd, 0, size, since, &begin) < 0;
}

off_t output_since(int fd, off_t size, const char *since)
{
    off_t low = 0, high = size, begin;
    while (high - low > BLOCK_BYTES) {
        off_t middle = low + (high - low) / 2;
        if (compare(fd, middle, size, since, &begin) < 0) {
            low = begin;
        } else {
            high = middle;
        }
    }
    return low;
}
