/* The board as a bbs holds it: the memory copy, the watch that alone changes it, the read barrier,
 * group commit with causes, the feed, jobs, heartbeats, and the health of etcd (design.md 2). Pure:
 * driven by the role's events. */
#pragma once

#include "bbs/bbs.h"
#include "bbs/board/copy.h"
#include "bbs/board/op.h"
#include "bbs/board/view.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"

struct board;

/* One record changed. Borrowed during the call (take references to keep versions and blobs), the
 * cause until the step returns. */
struct board_change {
    const char *key;
    enum record_type type;
    struct version *before; /* NULL: it was made */
    struct version *after;  /* NULL: it is gone */
    const Board__CauseRecord__Change *cause; /* its entry; NULL = a stranger's */
};

/* What the layer above tells the board at the start. All pure callbacks. */
struct board_hooks {
    void *context;
    /* The next portion of a job: which op does it (a row whose request is the Board__JobRecord).
     * The op's plan moves the job's cursor or deletes the job. */
    const struct op_row *(*job_row)(void *context, const Board__JobRecord *job);
    /* Each change of the copy, in the order of the watch: those of one revision, then on_revision,
     * when the copy stands at it. For waiters and event streams. */
    void (*on_change)(void *context, const struct board_change *change, struct effects *out);
    void (*on_revision)(void *context, int64_t revision, struct effects *out);
    /* Committed by this process, or decided to be so already: the notices of its plan. */
    void (*on_notice)(void *context, const struct notice *n, const char *trace_id,
                      struct effects *out);
    /* The copy was loaded again after a gap: on_change has missed what lies between (design.md 2:
     * after a gap Diego's event streams are closed). Not called for the first load. May be NULL,
     * as may each of these. */
    void (*on_reset)(void *context, struct effects *out);
};

/* Config and hooks are copied. */
struct board *board_new(const struct bbs_config *config, const struct board_hooks *hooks);

/* Everything open ends first: its callbacks are called with a failure and their effects go nowhere.
 * So free the board before what the callbacks touch. Accepts NULL. */
void board_free(struct board *b);

/* Give it every event. True if the event was its own (START, TIMER and STOP are everybody's). */
bool board_step(struct board *b, const struct event *ev, struct effects *out);

/* The copy is loaded, the watch delivers, the board generation is known. Before that: 503. */
bool board_ready(const struct board *b);

/* etcd is out of quota: writes are answered 503, reads go on. */
bool board_read_only(const struct board *b);

/* Texts live as long as the board, board_generation() until the next load ("" before the first).
 * The moment is that of the step. */
const char *board_boot_id(const struct board *b);
const char *board_generation(const struct board *b);
struct moment board_now(const struct board *b);

/* Ids for this role's calls, shared with the layer above so that no two are equal. */
uint64_t board_next_id(struct board *b);

/* A random UUID in the arena, for what a request makes without naming it. */
char *board_new_guid(struct board *b, struct arena *a);

/* Waits for the read barrier (1 s at most), then calls `read` once within a step: with a view of a
 * copy as fresh as the store, on which only peeks and selects are made, or with NULL and a text
 * when it was not passed. Takes over the arena (board_arena), freed after `read`. */
typedef void board_read(void *context, struct view *v, const char *text, struct effects *out);
void board_barrier(struct board *b, struct arena *arena, board_read *read, void *context,
                   struct effects *out);

/* The present copy without a barrier, for what decides nothing. Lives in `arena`. */
struct view *board_view(struct board *b, struct arena *arena);

/* A feed reader: the cursor for EFFECT_REPLY on channel "feed". The request is copied. Call it from
 * within board_barrier's `read`, so that the snapshot is as fresh as the store. The cursor may
 * outlive the board; it then ends. A reader's safe position to resume at is the revision of the
 * last CURRENT or HEARTBEAT, or one less than that of the last PUT or DELETE (a revision's changes
 * may be cut in two by a broken connection). NULL when there are too many readers or
 * selectors: 503. */
struct cursor *board_feed(struct board *b, const Board__FeedRequest *request);
#define BOARD_FEED_CHANNEL "feed"

/* A heartbeat arrived; counted in this bbs's next put. False: refused, for our own last put is
 * unconfirmed for 2 s (design.md 6). */
bool board_heartbeat(struct board *b, const Board__HeartbeatRequest *heartbeat);

/* The text of a refusal when etcd went back to an older revision within the board generation;
 * otherwise NULL. Acknowledged writes are lost then, and the bbs serves nothing until `bbs restore`
 * has made the board generation again. Lives until the board's next event. */
const char *board_went_back(const struct board *b);

/* Looks at the position in a request for the feed, from within board_barrier's `read`. A reader
 * that has seen more of this board generation than etcd has proves that etcd went back. The board
 * believes our own roles at once; a cell if another one said so within a minute, or where there are
 * no more than two, so that one wrong rep stops nobody; and no other client. True if etcd went
 * back: the answer is board_went_back(). */
bool board_witness(struct board *b, const Board__FeedRequest *r, enum actor actor, const char *name,
                   struct effects *out);

/* Fills in what /v1/board/state shows; strings live as long as the board. */
void board_state(const struct board *b, Board__BoardState *state);
