/* The hub: makes the events of Diego's API out of the changes of the board, revision by revision,
 * and tells them to the readers of its streams (behaviour.md 16; design.md 2). All of it follows
 * from the watch alone, so every bbs tells the same events in the same order. What nobody reads is
 * not made. Pure. */
#pragma once

#include "bbs/board/board.h"
#include "bbs/event/stream.h"

/* Readers are woken at most so often, for each of them costs a write of its own: with a hundred of
 * them every 10 ms. */
#define HUB_WAKE_NS (100 * MICROSECOND_NS)  /* for each reader ... */
#define HUB_WAKE_MAX_NS (100 * MILLISECOND_NS) /* ... and in all */

struct hub;

/* The board is borrowed. */
struct hub *hub_new(struct board *board);
void hub_free(struct hub *h); /* accepts NULL */

/* The board's hooks of these names. */
void hub_change(struct hub *h, const struct board_change *change);
void hub_revision(struct hub *h);

/* Ends every stream: the copy was loaded again, or this bbs ends. */
void hub_close(struct hub *h);

/* At the end of every step: wakes whose time has come. */
void hub_timer(struct hub *h, struct moment now, struct effects *out);

/* A new reader, which is sent every change after the copy's present revision. Behind the read
 * barrier it misses nothing of what was acknowledged after it asked. NULL: too many. */
struct cursor *hub_reader(struct hub *h, enum stream_kind kind, enum stream_version version,
                          const char *cell_id);

/* On which channel its readers are woken. */
const char *hub_channel(enum stream_kind kind);
