/* The feed: a bounded ring of changes that any number of readers follow, each with its own
 * selectors and place (design.md 2, Feed). Pure. A reader's cursor belongs to the shell and may
 * outlive the board. */
#pragma once

#include "bbs/board/copy.h"
#include "bbs/board/picker.h"
#include "common/contract/cursor.h"

#include "board.pb-c.h"

struct feed;

enum { FEED_SELECTORS_MAX = 64, FEED_TOPICS_MAX = 4096, FEED_READERS_MAX = 16384 };

/* For resuming it keeps so many changes; fewer where the values that they replaced weigh more than
 * `ring_bytes`, but those of the last revision in any case. */
struct feed *feed_new(size_t ring_changes, size_t ring_bytes);
/* Ends all readers; the last of them frees what is left. */
void feed_free(struct feed *f);

/* The copy was loaded (again): all readers get RESET and a snapshot. `copy` and `board_generation`
 * are borrowed until the next reset or feed_free(). */
void feed_reset(struct feed *f, const struct copy *copy, const char *board_generation,
                int64_t revision);

/* The copy is being loaded: readers wait. */
void feed_pause(struct feed *f);

/* One change of the copy, in order; references are taken. `before` or `after` may be NULL. */
void feed_change(struct feed *f, int64_t revision, struct version *before, struct version *after);

/* All changes of `revision` were given: readers may show them. */
void feed_advance(struct feed *f, int64_t revision);

/* Whose feed it is: heartbeats say so. Borrowed until feed_free(). */
void feed_serves(struct feed *f, const char *boot_id);

/* `revision` passed the read barrier; the heartbeat key of this bbs stood at `heartbeat_revision`,
 * 0 = none. */
void feed_heartbeat(struct feed *f, int64_t revision, int64_t heartbeat_revision);

/* Whether there is something new for readers since the last call. */
bool feed_take_wake(struct feed *f);

/* A new reader; NULL when there are FEED_READERS_MAX, or the request has too many selectors or
 * topics. */
struct cursor *feed_reader(struct feed *f, const Board__FeedRequest *request);
size_t feed_reader_count(const struct feed *f);
