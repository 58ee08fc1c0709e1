/* Drives boards alone (without the rest of a bbs) against the model etcd on virtual time, with the
 * faults that the engine must bear: answers out of order, lost requests, lost answers, requests
 * that land long after they were given up, watches that lag, break and begin again. */
#pragma once

#include "bbs/board/board.h"
#include "test/sim/model/etcd.h"

enum { RIG_BOARDS_MAX = 4 };

struct rig_faults {
    unsigned lost;          /* of 1000 calls: the request is never carried out */
    unsigned answer_lost;   /* of 1000 calls: carried out, the answer never comes */
    unsigned late;          /* of 1000 calls: carried out up to 4 s after it was given up */
    unsigned watch_breaks;  /* of 1000 deliveries */
    size_t answer_bytes;    /* larger answers never come; 0 = all do */
    int64_t delay_ns;       /* most, one way */
    int64_t watch_lag_ns;   /* most */
};

struct rig;

struct rig *board_rig_new(uint64_t seed, unsigned boards, const struct bbs_config *config,
                    const struct board_hooks *hooks);
void board_rig_free(struct rig *r);

struct rig_faults *board_rig_faults(struct rig *r); /* may be changed at any time */
struct model_etcd *board_rig_etcd(struct rig *r);
struct random *board_rig_random(struct rig *r);
struct board *board_rig_board(struct rig *r, unsigned n);
int64_t board_rig_now(const struct rig *r);

/* While cut, this board's calls are lost and its watch is silent. */
void board_rig_cut(struct rig *r, unsigned n, bool cut);

/* While stalled, this board's watch is silent, and nothing else. */
void board_rig_stall_watch(struct rig *r, unsigned n, bool stalled);

/* Ends the board as kill -9 would and starts a new one in its place. */
void board_rig_restart(struct rig *r, unsigned n);

/* etcd is restored from a snapshot that was taken at `revision`: what is under way ends unknown,
 * watches break. */
void board_rig_restore(struct rig *r, int64_t revision);

/* What `bbs restore` does: the board generation is made again, under this id. */
void board_rig_new_board_generation(struct rig *r, const char *id);

/* EVENT_STOP. */
void board_rig_stop(struct rig *r, unsigned n);
bool board_rig_exited(const struct rig *r, unsigned n);

/* Effects that a test's own calls into a board make go through here, between begin and end. The
 * board learns the time first, as a request would tell it. */
struct effects *board_rig_begin(struct rig *r, unsigned n);
void board_rig_end(struct rig *r, unsigned n);

/* Runs for this long, or until nothing more is due. */
void board_rig_run(struct rig *r, int64_t duration_ns);
/* Until all boards are ready; false when they are not within `limit_ns`. */
bool board_rig_run_ready(struct rig *r, int64_t limit_ns);

/* How often this text was logged (any board). */
unsigned board_rig_logged(const struct rig *r, const char *message);
/* Calls of this kind that reached etcd. */
unsigned board_rig_calls(const struct rig *r, enum store_call call);

/* One call to the model, for tests; the answer lives in `arena`. */
const ProtobufCMessage *board_rig_ask(struct rig *r, struct arena *arena, enum store_call call,
                                const ProtobufCMessage *message);
