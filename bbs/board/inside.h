/* The board's inside, for the files of bbs/board alone: one struct, one subject a file and a
 * header. The layer above uses board.h, op.h and view.h.
 *
 * Calls go one way: board.c steps and does what was noted; below it stand the subjects, of which
 * none calls board.c back; below them store.c, copy.c, feed.c; state.c is what all may note. */
#pragma once

#include "bbs/board/barrier.h"
#include "bbs/board/heartbeat.h"
#include "bbs/board/board.h"
#include "bbs/board/commit.h"
#include "bbs/board/confirm.h"
#include "bbs/board/fall.h"
#include "bbs/board/feed.h"
#include "bbs/board/gather.h"
#include "bbs/board/health.h"
#include "bbs/board/job.h"
#include "bbs/board/load.h"
#include "bbs/board/ops.h"
#include "bbs/board/removals.h"
#include "bbs/board/state.h"
#include "bbs/board/store.h"
#include "bbs/board/sweep.h"
#include "bbs/board/verify.h"
#include "bbs/board/watch.h"

struct board {
    struct bbs_config config;
    char *url, *name;
    struct board_hooks hooks;
    struct moment now;
    struct random random;
    uint64_t last_id;
    char boot_id[GUID_BYTES];
    char *board_generation; /* NULL before the first load */
    int64_t board_generation_revision; /* create-revision of its key */
    unsigned board_generation_number; /* how many board generations this bbs has seen */
    /* etcd went back and has the same board generation still: revisions repeat from there on, so
     * nothing is served until `bbs restore` has made the board generation again. */
    struct fall fall;
    bool started;
    bool in_trouble;
    bool pumping;
    bool ending; /* board_free() is at work: every callback comes with a failure */
    int64_t stop_ns; /* when EVENT_STOP came; 0 = not yet */
    bool leaving;    /* our keys are being taken back */
    bool left;       /* they are gone */
    bool exited;

    LIST_HEAD(, store_open) open[STORE_BUCKETS];

    struct copy *copy;
    int64_t revision; /* the position of the copy */
    int64_t applied_ns; /* when it stood there first: what comes was written since */
    bool loaded;
    const char *reload_why; /* it is to be loaded again, and why; NULL = it is not */
    unsigned loads;
    struct load load;
    struct watch watch;
    struct feed *feed;
    struct awaits awaits;
    /* "A copy more than 5 s behind is rebuilt": the highest revision an answer showed, and the one
     * that the copy must reach in time. */
    int64_t known_revision;
    uint64_t raft_term; /* of its last answer; 0 = none yet */
    struct await behind;

    struct map turns; /* target -> struct turn */
    struct op_list queued;
    struct op_list ready;
    size_t ready_records;
    struct op_list unconfirmed;
    LIST_HEAD(, op) all_ops;
    size_t op_count;
    struct slot slots[TRANSACTIONS_MAX];
    unsigned flying;
    struct barrier barrier;
    struct confirms confirms;
    int64_t heartbeat_ns;
    bool heartbeat_waits;

    struct heartbeats heartbeats;
    struct sweep sweep;
    struct removals removals;
    struct jobs jobs;
    struct etcd_health health;
    struct verify verify;

    uint64_t ops, transactions, conflicts; /* counted for /v1/board/state */
    uint64_t reloads, differences, settled; /* likewise: what stood in for what failed */
};
