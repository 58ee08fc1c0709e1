/* What the CRM of a site may ask here, at the centre (docs/edge.md, Two certificates): what is
 * about its own cloudlet, whose name its certificate has. Pure. */
#pragma once

#include "common/base/arena.h"

#include "board.pb-c.h"

#include <stdbool.h>

/* The record at this key is the cloudlet's own, or would be. */
bool crm_owns(struct arena *a, const char *cloudlet, const char *key);

/* The feed that it gets, whatever it selects: all keys that it owns, from where it is. In the
 * arena, borrowing from `asked`. */
const Board__FeedRequest *crm_feed(struct arena *a, const char *cloudlet,
                                   const Board__FeedRequest *asked);

/* The first key that is not its own among those that the moves are about; NULL = none. */
const char *crm_foreign(struct arena *a, const char *cloudlet, const Board__ApplyRequest *moves);

/* Why a heartbeat is not counted, by what the board has of the cloudlet, NULL = nothing; NULL if it
 * is. */
const char *session_refused(struct arena *a, const char *cloudlet,
                            const Board__CloudletInfoRecord *info, uint64_t session);
