/* An auctioneer under test: its role driven by hand-made events, with feed, lock, cells and answers
 * of a bbs played by hand. */
#pragma once

#include "auctioneer/inside.h"
#include "test/decide/cell_rows.h"
#include "test/unit/drive.h"
#include "test/unit/bbs/board/feed_frames.h"

#define RECORD BOARD__FEED_FRAME__KIND__RECORD
#define PUT BOARD__FEED_FRAME__KIND__PUT
#define DELETE BOARD__FEED_FRAME__KIND__DELETE

enum { PLAY_CREATED_AT = 900 }; /* of every task */

struct auction_rig {
    struct drive drive;
    struct arena arena; /* of the test */
    struct auctioneer_config config;
    struct role *role;
    struct auctioneer *x;
    /* Of the cells that play_cell() shows from now on. */
    const char *pool; /* NULL = of none */
    bool pool_leaves;
    const char *tag;  /* placement tag of what play_desired() and play_task() show; NULL = none */
    struct buf sent; /* frames that play_send() will send */
    int64_t revision;
    uint64_t request_id;
    struct buf text;
};

/* For cmocka: an auctioneer that is not started yet, with boards a and b; and begun again, after a
 * change of `config`. */
int play_setup(void **state);
int play_teardown(void **state);
void play_begin(struct auction_rig *f);
void play_end(struct auction_rig *f);

/* Frames of the feed, to be sent together. Each record is of a revision of its own; those of a
 * snapshot share one. */
void play_cell(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *id,
               Board__CellRecord__State cell_state);
/* 100 MB, 50 MB, 7 pids, volume driver nfs, definition-1, in some-domain. */
void play_desired(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                  int instances);
/* The same of another definition. */
void play_desired_as(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                     int instances, const char *definition_id);
void play_actual_with(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                      int32_t index, const char *placement_error);
void play_actual(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                 int32_t index);
/* A Pending task, as large as an instance, with so many rejections. Gives its revision. */
int64_t play_task(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                  int32_t rejections);
/* The lock of the auctioneers. */
void play_lock(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *holder,
               int64_t revision);
void play_send(struct auction_rig *f);
/* The end of a snapshot, with what was not sent before. */
void play_current(struct auction_rig *f);
/* The board lives; sends what was not sent before. */
void play_heartbeat(struct auction_rig *f);

/* The answer to the question for the lock in the last step. */
void play_elect(struct auction_rig *f);

/* Another one has the lock. */
void play_depose(struct auction_rig *f);

/* Started and leading, with these cells ("a b") and nothing to place. */
void play_leader_lock(struct auction_rig *f, const char *cells);

/* Leading, and "web" is desired with so many instances, which are all unclaimed. */
void play_unclaimed(struct auction_rig *f, const char *cells, int instances);

/* A cell with driver nfs and 1000 MB of each; b has 1 MB less of memory than a, and so on, so that
 * of those equally used the first is the best. */
Cell__CellState *play_row(struct auction_rig *f, const char *id);

/* The question to a cell in the last step, NULL if it was not asked; its call; its answer. */
const struct call *play_asked_state(struct auction_rig *f, const char *id);
uint64_t play_state_call(struct auction_rig *f, const char *id);
void play_tell_state(struct auction_rig *f, uint64_t call, const Cell__CellState *s);

/* The work handed to a cell in the last step; NULL if none. */
Cell__Work *play_work(struct auction_rig *f, const char *id, uint64_t *ret_call);

/* The cell that was asked answers that all of it is free, and is handed work. */
Cell__Work *play_hand_out(struct auction_rig *f, const char *id, uint64_t *ret_call);

/* Of three instances two are handed to cell a, whose work this gives, and one to b. */
Cell__Work *play_hand_out_three(struct auction_rig *f, uint64_t *ret_call_a, uint64_t *ret_call_b);

/* The cell takes all but the first `back` instances, or tasks, of the work. */
void play_take_work(struct auction_rig *f, const Cell__Work *w, uint64_t call, size_t back);
void play_take_tasks(struct auction_rig *f, const Cell__Work *w, uint64_t call, size_t back);

/* Cell a, which was asked, answers that its memory is full, so that the only job finds no room.
 * Gives its state. */
Cell__CellState *play_refuse(struct auction_rig *f);
/* The same from the beginning: of "web/0"; and of task "t", which was rejected so often before.
 * Gives the task's revision; ret_full may be NULL. */
Cell__CellState *play_refuse_lrp(struct auction_rig *f);
int64_t play_refuse_task(struct auction_rig *f, int32_t rejections, Cell__CellState **ret_full);

/* The fail and reject moves of the last step: "web/0=text t@12=text ". */
const char *play_failed(struct auction_rig *f, uint64_t *ret_call);
/* So many moves were done, or refused. */
void play_applied(struct auction_rig *f, uint64_t call, size_t moves);
void play_refused(struct auction_rig *f, uint64_t call, size_t moves);

/* Gives the role its next timer if it is due now. */
void play_go_on(struct auction_rig *f);

/* Seconds pass while the board lives; true if a cell was asked or moves were sent on the way. */
bool play_asked_within(struct auction_rig *f, int seconds);
/* The same, and whenever cell a is asked it is as full as before; true if moves were sent on the
 * way. */
bool play_told_within(struct auction_rig *f, int seconds, const Cell__CellState *full);

/* A request; `path` with its query. */
const struct reply *play_ask(struct auction_rig *f, const char *unit, const char *method,
                             const char *path, const char *type, struct bytes body);
const struct reply *play_post(struct auction_rig *f, const char *unit, const char *path,
                              const char *json);
extern const char play_task_hint[]; /* of task "t", to be posted */
bool play_body_is(const struct reply *r, const char *text);
