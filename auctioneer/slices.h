/* The slices of the board, from the feed: what they keep free (reserve.h). Pure. */
#pragma once

#include "board.pb-c.h"
#include "common/base/arena.h"
#include "common/base/map.h"

#include <stdbool.h>

struct slices {
    struct map by_uid; /* -> its record */
};

void slices_init(struct slices *s);
void slices_done(struct slices *s);

/* Changes of the feed. True: less is reserved than before, so that what was refused may have room.
 */
bool slices_put(struct slices *s, const char *uid, const Board__SliceRecord *record);
bool slices_gone(struct slices *s, const char *uid);
void slices_reset(struct slices *s);

/* All of them by uid, in the arena; they live until the next change. */
const Board__SliceRecord **slices_list(const struct slices *s, struct arena *a, size_t *ret_count);
