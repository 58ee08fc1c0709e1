/* A kind of container: what an LRP instance, a task and a unit do differently, a row each
 * (instance.h, cell_task.h, cell_unit.h). Everything else of a container is the same for them. */
#pragma once

#include "board.pb-c.h"
#include "cell.pb-c.h"
#include "common/client/feed_client.h"
#include "rep/container/container.h"
#include "rep/container/harmonise.h"

struct rep;
struct move_order;

/* KIND_TASK for what has a task's note, or stands at a task's key; KIND_UNIT for what has a unit's
 * note, or stands at the key of anything else that the cell follows. */
enum { KIND_INSTANCE, KIND_TASK, KIND_UNIT, KIND_COUNT };

struct container_kind {
    bool has_index; /* it is found by process_guid and index, too */
    bool has_proxy; /* which takes memory beside its own (rep-auctioneer.md 2.2) */

    /* ---- What it is called; in the arena */

    /* Who it is, in a log line: "instance_guid=..."; and what it is of: "process_guid=... index=0".
     * */
    const char *(*words)(const struct container *c, struct arena *a);
    const char *(*origin)(const struct container *c, struct arena *a);
    /* The name under which its output is kept when it is gone (note.h). */
    const char *(*label)(const struct container *c, struct arena *a);

    /* ---- Its life */

    /* The next step of one that has no operation and is not being deleted. Why it is over, with
     * nothing left to delete; NULL: it is not. */
    const char *(*look_at)(struct rep *r, struct container *c, struct effects *out);
    /* The end of a verb but SIGNAL and REMOVE; its operation is over already. */
    void (*verb)(struct rep *r, struct container *c, const struct verb_answer *answer,
                 struct effects *out);
    /* What its driver tells of its runs (driver.h, VERB_RUN). True: there is more than was known.
     * NULL: it has none. */
    bool (*runs)(struct container *c, const struct container_status *s);
    /* Its phase has changed; its process has ended with status 0. NULL: nothing. */
    void (*entered)(struct container *c);
    void (*ended_well)(struct container *c);
    /* An earlier rep left it, to be adopted in this state: before its phase follows (NULL:
     * nothing), and after. */
    void (*found)(struct container *c, enum container_state state);
    void (*adopted)(struct container *c, const struct container_status *s, struct effects *out);

    /* ---- Its record on the board */

    /* The record at this key of the feed has changed. */
    void (*record)(struct rep *r, const char *key, const struct followed *record,
                   struct effects *out);
    /* The key, in the arena, of the record that is left without a container when this one is gone;
     * NULL: none is known. */
    const char *(*record_key)(const struct rep *r, const struct container *c, struct arena *a);
    /* The message of a move for it, in the arena. May fill in what `o` knows of the record. */
    Board__Move *(*move)(const struct rep *r, struct arena *a, struct container *c,
                         struct move_order *o);
    /* Nothing of it is there but the note that was kept: it has just been removed, as `c`; or a
     * listing found it, of this guid. NULL: its kind keeps none. */
    void (*kept)(struct rep *r, const struct container *c);
    void (*found_kept)(struct rep *r, const Rep__Note *note);
    /* A bbs answered its move, for good or ill. */
    void (*settled)(struct rep *r, struct container *c, const struct move_order *o,
                    const Board__MoveResult *result, struct effects *out);

    /* ---- A record without a container */

    /* The move that the table asks for the record at this key; HARMONY_NOTHING, too, when there is
     * none, when it has a container, or is another cell's. */
    enum harmony_action (*stray)(const struct rep *r, const char *key);
    /* Its message, in the arena; NULL when the record is no stray any more. */
    Board__Move *(*stray_move)(const struct rep *r, struct arena *a, struct move_order *o);
    /* A bbs answered it. False: the record was gone from the feed already, and nothing was learned.
     * */
    bool (*stray_settled)(struct rep *r, const struct move_order *o,
                          const Board__MoveResult *result);

    /* ---- What the cell tells of it; in the arena, borrowing from the container */

    /* Adds it to /state, whose lists have room. */
    void (*state)(const struct container *c, struct arena *a, Cell__CellState *s);
    /* Adds these figures of it to /container_metrics, whose lists have room. */
    void (*measured)(const struct container *c, struct arena *a, Cell__ContainerMetrics *figures,
                     Cell__CellMetrics *all);
};
