/* Where the content of a download goes: into a file, through its checksums, within its bound. In a
 * courier's child alone. */
#pragma once

#include "common/base/err.h"
#include "rep/courier/answer.h"
#include "rep/courier/checksum.h"
#include "rep/courier/errand_io.h"

#include <stddef.h>
#include <stdint.h>

struct sink {
    int fd;
    int64_t bytes_max;
    const struct checksum *wanted; /* NULL: none was asked for */
    struct errand_tell *tell;
    int64_t have, moved, total; /* here now; of all attempts; expected, -1: unknown */
    struct summing sha256, sum; /* sum: of the kind wanted */
    int rc;                     /* below 0: it cannot be taken, says err */
    struct err err;
};

/* Empties it, for content from its beginning. */
void sink_anew(struct sink *s);

/* Content is to come, -1: nobody knows how much. Too much is an error at once. */
void sink_expect(struct sink *s, int64_t more);

/* Takes content; nothing after an error. */
void sink_take(struct sink *s, const void *data, size_t size);

/* Takes all that can be read from `fd`, from its beginning; s->rc says whether it could. */
void sink_take_file(struct sink *s, int fd);

/* All of it is here: fills in digest and sizes, unless the checksum is another. Frees the sums. */
int sink_end(struct sink *s, struct courier_answer *answer, struct err *err);
