/* A converger under test: its role driven by hand-made events, with feed, lock and answers of a bbs
 * played by hand. */
#pragma once

#include "converger/inside.h"
#include "converger/instances.h"
#include "converger/tasks.h"
#include "test/unit/drive.h"
#include "test/unit/bbs/board/feed_frames.h"

#define RECORD BOARD__FEED_FRAME__KIND__RECORD
#define PUT BOARD__FEED_FRAME__KIND__PUT
#define DELETE BOARD__FEED_FRAME__KIND__DELETE
#define DONE BOARD__MOVE_RESULT__OUTCOME__DONE
#define REFUSED BOARD__MOVE_RESULT__OUTCOME__REFUSED
#define UNKNOWN BOARD__MOVE_RESULT__OUTCOME__UNKNOWN

struct converger_rig {
    struct drive drive;
    struct arena arena; /* of the test */
    struct converger *x;
    struct buf sent; /* frames that rig_send() will send */
    struct buf text;
    int64_t revision;
};

/* For cmocka: a converger that is not started yet, with boards a and b. */
int rig_setup(void **state);
int rig_teardown(void **state);
void rig_begin(struct converger_rig *f, const char *boards);

/* What these keepers hold. */
struct instances_keeper *rig_instances(struct converger_rig *f);
struct tasks *rig_tasks(struct converger_rig *f);

/* Frames of the feed, to be sent together. All records are of domain "d"; those of
 * rig_actual() are on no cell, those of rig_placed() RUNNING. A domain of ttl 0 never expires. */
void rig_change(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *key,
                const ProtobufCMessage *m);
void rig_desired(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                 int instances);
void rig_actual(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                int32_t index, const char *record_state, int64_t since_ns);
void rig_placed(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                int32_t index, Models__ActualLRP__Presence presence, const char *cell);
void rig_cell(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *id,
              Board__CellRecord__State cell_state);
/* A task of these, made, changed and over now; and a frame of it. */
Models__Task *rig_task_row(struct converger_rig *f, const char *guid, Models__Task__State state);
void rig_task(struct converger_rig *f, Board__FeedFrame__Kind kind, const Models__Task *task);
void rig_domain(struct converger_rig *f, Board__FeedFrame__Kind kind, uint32_t ttl_s);
void rig_lock(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *name,
              int64_t ttl_s);
void rig_send(struct converger_rig *f);

/* RESET, and the record with which the board generation began. rig_lead() sends both for "e1",
 * at 1. */
void rig_reset(struct converger_rig *f, const char *board_generation,
               int64_t board_generation_revision);

/* The end of a snapshot, with what was not sent before. */
void rig_current(struct converger_rig *f);

/* The lock is granted. */
void rig_elect(struct converger_rig *f);

/* Started and leading, with the frames so far as the snapshot. */
void rig_leader_lock(struct converger_rig *f);

/* The n-th call of moves in the last step as "create web/0 lose c@1 hold a@1 b@1 ask task t "; ""
 * if there is none. */
const char *rig_moves(struct converger_rig *f, size_t n, uint64_t *ret_call);
#define assert_moves(f, expected, ret_call) assert_string_equal(rig_moves(f, 0, ret_call), expected)

/* The same outcome for each of `count` moves. */
void rig_answer(struct converger_rig *f, uint64_t call, size_t count,
                Board__MoveResult__Outcome outcome);

/* A second passes in which a bbs tells that it heard these cells, ids of one letter with
 * incarnation 1; the converger's own heartbeats are taken. True if moves were sent; then the bbs
 * has told nothing. */
bool rig_second(struct converger_rig *f, const char *cells);

/* Time passes while the board lives; true if moves were sent on the way. */
bool rig_moved_within(struct converger_rig *f, int seconds);
