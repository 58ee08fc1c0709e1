/* Who refers to a record: what is used does not go (docs/edge.md, The centre's records). Pure. */
#pragma once

#include "bbs/board/op.h"

enum { USES_TOLD_MAX = 3 };

struct uses {
    size_t count;
    const char *names[USES_TOLD_MAX]; /* of the first */
};

/* Those of the record at this key; that there is none is noted. */
void uses_gather(struct view *v, const char *key, struct uses *ret);

/* True, and the plan is refused with the first names, if there is any. */
bool uses_refuse(const struct uses *u, const char *name, struct plan *p);
