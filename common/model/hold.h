/* The lock tree of a system is one record (docs/systems.md): an entry holds its path exclusively,
 * and every proper prefix of it with intention. So two entries stand against each other exactly
 * where the path of one is that of the other, above it or below it; a teardown holds "/", and
 * stands against all. It is compared by segments: "/a" has nothing to do with "/ab". Pure: each
 * change gives a new record, and nothing is half done. */
#pragma once

#include "common/base/arena.h"

#include "board.pb-c.h"

#include <stdbool.h>

enum { HOLD_ENTRIES_MAX = 256 };

/* The entry of that kind and id; NULL if it holds nothing. */
const Board__Hold *hold_of(const Board__HoldRecord *h, Board__Hold__Kind kind, const char *id);

/* The entry at or above the path, of which there is one at most; NULL = nobody holds the path. */
const Board__Hold *hold_over(const Board__HoldRecord *h, const char *path);

/* Whether the deploy or teardown of this id holds the path: its entry is at it or above it. */
bool hold_covers(const Board__HoldRecord *h, const char *id, const char *path);

/* The entries that stand against one for the path, in the order in which they were taken. Gives
 * their number. They are all at one node: the first from "/" down that refuses. */
size_t hold_conflicts(struct arena *a, const Board__HoldRecord *h, const char *path,
                      const Board__Hold ***ret);

enum hold_answer {
    HOLD_TAKEN,      /* *ret_after has one entry more */
    HOLD_HELD,       /* the same kind and id holds the same path already: nothing changes */
    HOLD_OTHER_PATH, /* it holds another path: nothing changes */
    HOLD_CONFLICT,   /* hold_conflicts() says with whom */
    HOLD_FULL,       /* HOLD_ENTRIES_MAX are held */
};

/* Takes the path of the entry for its kind and id. The entry is borrowed, as are those that stand.
 * *ret_after is left alone but by HOLD_TAKEN. */
enum hold_answer hold_take(struct arena *a, const Board__HoldRecord *h, const Board__Hold *entry,
                           Board__HoldRecord **ret_after);

/* Without the entry of that kind and id; NULL if it holds nothing, which is its caller's error. */
Board__HoldRecord *hold_drop(struct arena *a, const Board__HoldRecord *h, Board__Hold__Kind kind,
                             const char *id);

/* With the entry of that id paused, or not; it must hold. */
Board__HoldRecord *hold_pause(struct arena *a, const Board__HoldRecord *h, const char *id,
                              bool paused);

/* Who holds, for people: "deploy D1 of /a is in progress since 2026-01-02T03:04:05.678Z", "teardown
 * T1 is in progress since ...", of several without the times; three by name, the others counted.
 * `count` is at least 1. */
const char *hold_text(struct arena *a, const Board__Hold *const *holders, size_t count);
