/* The hub: makes the events of Diego's API out of the changes of the board, revision by revision,
 * and tells them to the readers of its streams (behaviour.md 16; design.md 2). All of it follows
 * from the watch alone, so every bbs tells the same events in the same order. What nobody reads is
 * not made. Pure.
 *
 * A DesiredLRP is told whole, and the copy has only its scheduling part: the run part comes with the
 * watch when it is made or goes, and is fetched when the other part changes. What comes after such an
 * event waits for it. */
#ifndef BBS_EVENT_HUB_H
#define BBS_EVENT_HUB_H

#include "bbs/board/board.h"
#include "bbs/event/stream.h"

/* Readers are woken at most so often, for each of them costs a write of its own: with a hundred of
 * them every 10 ms. */
#define HUB_WAKE_NS (100 * MICROSECOND_NS)  /* for each reader ... */
#define HUB_WAKE_MAX_NS (100 * MILLISECOND_NS) /* ... and in all */

/* A run part that was not to be had is asked for again; when it was not to be had for so long, or what
 * waits for it grows over so many bytes (the records of which events are still to be made, and the
 * events of one stream behind them), the streams of LRPs are closed: they would have a gap. */
#define HUB_FETCH_RETRY_NS (200 * MILLISECOND_NS)
#define HUB_FETCH_MAX_NS (5 * SECOND_NS)
enum { HUB_HELD_BYTES_MAX = 32 * 1024 * 1024 };

struct hub;

/* The board is borrowed; it must be freed before the hub, for its fetches end here. */
struct hub *hub_new(struct board *board);
void hub_free(struct hub *h); /* accepts NULL */

/* The board's hooks of these names. */
void hub_change(struct hub *h, const struct board_change *change);
void hub_revision(struct hub *h, int64_t revision);

/* Ends every stream: the copy was loaded anew, or this bbs ends. */
void hub_close(struct hub *h);

/* At the end of every step: fetches what is needed, wakes whose time has come. */
void hub_timer(struct hub *h, struct moment now, struct effects *out);

/* A new reader, which is told every change after the copy's present revision. Behind the read barrier
 * it misses nothing of what was acknowledged after it asked. NULL: too many. */
struct cursor *hub_reader(struct hub *h, enum stream_kind kind, enum stream_version version,
                          const char *cell_id);

/* On which channel its readers are woken. */
const char *hub_channel(enum stream_kind kind);

#endif
