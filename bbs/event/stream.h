/* One stream of events: a bounded ring that any number of readers follow, each with its own place,
 * cell filter and numbers (behaviour.md 16.1). An event's text is made once and shared; a reader
 * costs its cursor. Pure. A reader's cursor belongs to the shell and may outlive the stream.
 *
 *   STREAM_BEHIND_MAX   a reader further behind is cut off: END. What came since the readers were
 *                       woken last does not count against one that had all before it
 *   STREAM_BYTES_MAX    of the ring, whatever the number of events: a reader behind it is cut off
 *   STREAM_READERS_MAX  no more readers are taken
 *   STREAM_CELL_BYTES   of a cell id to filter by: no cell has a longer one */
#pragma once

#include "bbs/event/api_event.h"
#include "common/base/bytes.h"
#include "common/contract/cursor.h"

enum {
    STREAM_BEHIND_MAX = 1024,
    STREAM_BYTES_MAX = 32 * 1024 * 1024,
    STREAM_READERS_MAX = 16384,
    STREAM_CELL_BYTES = 255,
};

/* Payloads as they are now, and those of version 0 (16.2). */
enum stream_version { STREAM_R0, STREAM_R1, STREAM_VERSIONS };

/* ---- an event on its way ---- */

struct wire_event; /* counted */

/* An event of these bytes, r1 and, where they differ, r0 (NULL data = the same). `e` has its name
 * and says what passes it by cell; its message is not looked at. One reference, the caller's. */
struct wire_event *wire_event_new(const struct api_event *e, struct bytes r1, struct bytes r0);
void wire_event_unref(struct wire_event *e); /* accepts NULL */

/* ---- the stream ---- */

struct stream;

/* Without readers; stream_free() when it is not wanted any more. */
struct stream *stream_new(void);
/* Ends all readers; the last of them frees what is left. Accepts NULL. */
void stream_free(struct stream *s);

/* Readers in all, and those of one version: what nobody reads need not be made. */
size_t stream_readers(const struct stream *s);
size_t stream_readers_of(const struct stream *s, enum stream_version version);

/* Adds an event at the end; takes a reference of its own. */
void stream_add(struct stream *s, struct wire_event *e);

/* Ends all present readers, after the event in the middle of which they are: what comes next they
 * would not learn in full (design.md 2: after a gap the streams are closed). */
void stream_close(struct stream *s);

/* Whether there is something new for readers since they were woken last. */
bool stream_awaits_wake(const struct stream *s);
/* The same, and they are woken now. */
bool stream_take_wake(struct stream *s);

/* A new reader, which is sent all that is added from now on. "" = of all cells. NULL when there are
 * STREAM_READERS_MAX. */
struct cursor *stream_reader(struct stream *s, enum stream_version version, const char *cell_id);
