/* What the judge found. Pure. */
#pragma once

#include "common/base/bytes.h"
#include "test/chaos/judge/history.h"

enum { VERDICT_SHOWN_MAX = 20 }; /* of one promise; the others are counted */

/* The promises of design.md 6 that a history can show, and the harness's own. */
enum promise {
#define PROMISE(id, name, says) PROMISE_##id,
#include "test/chaos/judge/promises.def"
#undef PROMISE
    PROMISES
};

struct verdict {
    struct buf violations; /* lines */
    int found[PROMISES];
    int64_t looked[PROMISES]; /* how much there was to judge */
    int undecided;            /* records whose search reached a bound */
};

void verdict_init(struct verdict *v);
void verdict_done(struct verdict *v);

/* How many violations there are in all. */
int verdict_count(const struct verdict *v);

/* A promise was broken. `lines` are the lines of the history that show it; one of file "" is left
 * out. */
void verdict_add(struct verdict *v, enum promise promise, const struct place *lines, int line_count,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

extern const char *const promise_names[PROMISES];
extern const char *const promise_texts[PROMISES];
