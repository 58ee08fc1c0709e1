/* What the converger knows of a record, as a message. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/client/feed_client.h"

struct kept;

/* What the record at the key says, in the arena; NULL = it is gone (NULL), or this version cannot
 * read it. */
const void *message_of(struct arena *a, const char *key, const struct followed *record);
/* The same of what the copy has there. */
const void *message_at(const struct kept *k, struct arena *a, const char *key);
