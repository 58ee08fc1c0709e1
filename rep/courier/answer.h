/* What a courier answers: one file, written by rename at the very end, a line each thing. Who
 * started the courier reads it with answer_parse(). Pure. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "rep/container/cache_plan.h"

#include <stdbool.h>
#include <stdint.h>

struct courier_answer {
    bool done;
    /* done: */
    char digest[CACHE_DIGEST_BYTES + 1]; /* of the content ("sha256-<hex>"); "" after sweep; pull:
                                            of the image's configuration */
    int64_t size;                        /* bytes of the content: fetched, unpacked, packed, sent */
    int64_t moved;   /* bytes that came or went over the network, all attempts together; 0: it
                        was there */
    int64_t entries; /* place: of the archive; 0 when its tree was there. pull: layers */
    /* not done: */
    enum err_code code;
    char text[240]; /* a sentence without full stop, one line; never with a URL. Of one that is
                       done: why a registry did not answer, so that the image that was there is
                       taken; else "" */
};

enum { COURIER_ANSWER_BYTES = 1024 }; /* no answer is longer */

/* Gives back what answer_print() was given. -ERR_INVALID for anything else. */
int answer_parse(struct bytes file, struct courier_answer *ret, struct err *err);

/* Appends it. Line feeds and other control characters of the text become blanks. */
void answer_print(const struct courier_answer *answer, struct buf *out);
