/* The engine of the board, for the files of bbs/board alone: one struct, one subject a file. The
 * layer above uses board.h, op.h and view.h. */
#ifndef BBS_BOARD_ENGINE_H
#define BBS_BOARD_ENGINE_H

#include "bbs/board/await.h"
#include "bbs/board/batch.h"
#include "bbs/board/board.h"
#include "bbs/board/copy.h"
#include "bbs/board/feed.h"
#include "common/base/map.h"

#include <sys/queue.h>

enum {
    TRANSACTIONS_MAX = 256,         /* most slots a bbs may be configured to have */
    TRANSACTIONS_DEFAULT = 16,
    STORE_BUCKETS = 64,
    OPS_MAX = 16384,                /* open at once, 16 KiB each; more are answered 503 */
    CONFLICTS_MAX = 8,              /* of one op, then UNAVAILABLE */
    FETCHES_MAX = 8,                /* rounds of fetching for one op, then UNAVAILABLE */
    PAGE_RECORDS_FIRST = 512,       /* of the first page of a long list */
    PAGE_RECORDS_MAX = 8192,        /* of every page */
    PAGE_RECORDS_MIN = 32,          /* so few fit an answer whatever their size */
    LOAD_PAGE_BYTES = 8 * 1024 * 1024, /* that a page of the load should have; what the shell takes
                                          is more */
    READ_PAGE_BYTES = 2 * 1024 * 1024, /* the same while others are served: one step takes it all */
    FETCH_KEYS = 32,                /* of one transaction that fetches by key */
    BARRIER_WAITERS_MAX = 16384,    /* ops and reads; more are answered 503 */
    BATCH_LOOK_AHEAD = 256,         /* ready ops looked at for one batch */
    BATCH_WORTH = 64,               /* ready records that are sent although others fly */
    FEED_RING_DEFAULT = 65536,
    FEED_RING_BYTES_DEFAULT = 128 * 1024 * 1024,
    BEAT_CELLS_MAX = 20000,
    BEAT_LEADERS_MAX = 64,
    BEAT_BYTES_MAX = 1024 * 1024,   /* of what one put tells; etcd refuses 1.5 MiB */
    TOUCHED_MAX = 200000,           /* keys that change during a pass of verify.c */
};

/* Put after the last key of a page: the next page begins there. (Between the two stand only keys
 * with a NUL byte, which are not ours.) */
#define PAGE_NEXT "\x01"

#define OP_DEADLINE_NS (5 * SECOND_NS)
#define TXN_TIMEOUT_NS (2 * SECOND_NS)
#define PAGE_TIMEOUT_NS (5 * SECOND_NS)
#define BARRIER_TIMEOUT_NS (1 * SECOND_NS)
#define WATCH_PATIENCE_NS (200 * MILLISECOND_NS) /* then a commit answers from its own result */
#define BEHIND_MAX_NS (5 * SECOND_NS)            /* then the copy is rebuilt */
#define GROUP_WAIT_NS (5 * MILLISECOND_NS) /* most that a ready op waits for the next batch */
#define BACKOFF_MIN_NS (100 * MILLISECOND_NS)
#define BACKOFF_MAX_NS (5 * SECOND_NS)
#define STOP_MAX_NS (2 * SECOND_NS)

/* ---- store.c: open calls to etcd ---- */

typedef void store_done(struct board *b, void *context, const struct store_answer *answer,
                        struct effects *out);

struct store_open {
    LIST_ENTRY(store_open) link;
    uint64_t id;
    store_done *done;
    void *context;
    unsigned epoch_number;  /* of the board when it was sent */
    int64_t known_revision; /* likewise: a linearizable answer shows no less */
};

/* Sends a call (the message must live in out->arena) and gives its id; `done` comes once. */
uint64_t store_send(struct board *b, enum store_call call, const ProtobufCMessage *message,
                    int64_t timeout_ns, store_done *done, void *context, struct effects *out);

/* No `done` of this call comes any more; 0 and unknown ids are fine. */
void store_forget(struct board *b, uint64_t id);

/* Gives an answer to who waits for it. False if nobody here does. */
bool store_answered(struct board *b, const struct store_answer *answer, struct effects *out);

/* Whether the call certainly had no effect: etcd's own "unavailable" and "deadline exceeded" may
 * come after a proposal that still lands. */
bool store_certainly_refused(const struct store_answer *answer);

/* What went wrong, for texts. */
const char *store_text(const struct store_answer *answer);

/* 100 ms, 200 ms, ... 5 s. */
int64_t backoff_ns(unsigned failures);

/* etcd does not answer as it should: logged once until board_well(). */
void board_trouble(struct board *b, const char *text, struct effects *out);
void board_well(struct board *b, struct effects *out);

/* ---- page.c: how many records a page of a long list has ---- */

struct page_size {
    size_t bytes;    /* that a page should have */
    int64_t records; /* of the next page */
    int64_t bound;   /* of every page; falls with each that was not answered */
};

/* For a list whose pages should have so many bytes. */
void page_size_init(struct page_size *p, size_t bytes);
/* The list begins anew: nothing is known of its records, the bound stays. */
void page_size_first(struct page_size *p);
/* The next page has as many as make `bytes` if they weigh what those of this page did, at least
 * PAGE_RECORDS_MIN, at most PAGE_RECORDS_MAX. */
void page_size_answered(struct page_size *p, const Etcd__RangeResponse *page);
/* A page was not answered: too large for an answer, or for its time, maybe. The next has a quarter,
 * and none has more any longer. False if it was as small as pages get: then that is not why. */
bool page_size_shrink(struct page_size *p);

/* ---- load.c, watch.c, apply.c: what makes the copy ---- */

struct load {
    bool active;
    uint64_t call_id;
    struct copy *copy;
    int64_t revision; /* 0 before the first page */
    int64_t asked_ns; /* when that was asked for */
    unsigned part;
    struct buf next_key;
    struct page_size page;
    unsigned failures;
    int64_t retry_ns; /* NEVER_NS: not waiting */
    struct map strangers; /* unknown top-level prefixes */
    bool complete;        /* the copy is whole: reload_step() takes it */
    const struct version *epoch; /* of the copy then */
};

/* ---- fall.c: etcd went back ---- */

struct fall {
    bool is;         /* found: nothing is served in this epoch any more */
    char *reason;    /* how it is known */
    char *text;      /* for who asks: what happened and what to do */
    int64_t say_ns;  /* when it is logged again */
    bool marked;     /* on the board, for every bbs */
    uint64_t mark_id;
    char *cell;      /* the one cell that has said so; NULL = none */
    int64_t cell_ns; /* when */
};

/* It is known by this reason (copied); reload_step() loads the copy anew, which waits for the epoch. */
void fall_found(struct board *b, const char *reason, struct effects *out);
/* Another epoch, or the board ends. */
void fall_over(struct board *b);
void fall_timer(struct board *b, struct effects *out);

/* ---- witness.c: how it is known, and how all bbs learn of it ---- */

/* As board_witness(): calls fall_found() if it is proved. */
void witness_heard(struct board *b, const Board__FeedRequest *r, enum actor actor, const char *name,
                   struct effects *out);
/* Marks the epoch that stands at `kv`, if that is still to be done. */
void fall_mark(struct board *b, const Etcd__KeyValue *kv, struct effects *out);

/* One change as the watch told it, not yet in the copy. */
struct news {
    STAILQ_ENTRY(news) link;
    int64_t revision;
    int64_t previous_revision; /* of the value before, 0 = not told */
    enum record_type type;
    struct version *item;   /* after a put of a record that the copy keeps */
    struct blob *outside;   /* of others: what was put, or what stood there before it went */
    bool deleted;
    char key[];
};

STAILQ_HEAD(news_list, news);

struct watch {
    uint64_t id; /* 0 = none */
    bool open;
    unsigned failures;
    int64_t retry_ns;
    int64_t revision; /* last one in `list` or applied */
    struct news_list list;
};

/* Lists the board into load.copy, from the beginning, until load.complete. */
void load_begin(struct board *b, struct effects *out);
void load_timer(struct board *b, struct effects *out);
void load_done(struct board *b);

void watch_start(struct board *b, struct effects *out);
void watch_stop(struct board *b, struct effects *out);
bool watch_step(struct board *b, const struct watch_event *ev, struct effects *out);
void watch_timer(struct board *b, struct effects *out);
void watch_done(struct board *b);

/* Brings what the watch told into the copy, revision by revision. */
void apply_news(struct board *b, struct effects *out);

/* ---- view.c ---- */

/* What an op has fetched from outside the copy. */
struct fetched {
    const char *key; /* or prefix */
    struct seen *list;
    size_t count;
};

struct view {
    struct board *board;
    struct arena *arena;
    struct read_set *reads;  /* NULL: nothing is noted */
    struct fetched *fetched; /* of the op, NULL = none */
    size_t fetched_count;
    const char *missing[FETCH_KEYS]; /* to be fetched before the decision */
    size_t missing_count;
};

/* The record decoded into the arena; NULL if it cannot be decoded. */
const struct seen *seen_of(struct arena *a, struct version *item);

/* ---- outside.c: records that the copy does not keep ---- */

/* Takes what was read. */
struct outside_taker {
    void *context;
    /* Found at keys[asked], or under that prefix (then in key order); borrowed. */
    void (*record)(void *context, size_t asked, const Etcd__KeyValue *kv);
    /* One answer of etcd was given whole: true if no more is wanted. NULL: all is. */
    bool (*enough)(void *context, struct effects *out);
    /* What was given is void: the revision was compacted away meanwhile, it begins anew. Never when
     * the caller named the revision. */
    void (*anew)(void *context);
    /* Once, at the end: at which revision it was read, or a text that says what went wrong. */
    void (*done)(void *context, int64_t revision, const char *text, struct effects *out);
};

/* Reads keys and prefixes (ending in "/") at one revision (0 = etcd's present one). `keys` must live
 * until `done`. */
void outside_start(struct board *b, const char *const *keys, size_t count, int64_t revision,
                   const struct outside_taker *taker, struct effects *out);
void outside_reads_free(struct board *b, struct effects *nowhere);

/* ---- fetch.c: the same for an op, decoded ---- */

struct fetch_result {
    struct fetched *list; /* whose blobs `done` takes over: fetched_release() */ 
    size_t count;     /* one for each key asked, in that order */
    int64_t revision;           /* of etcd, when it was read */
    const char *text;           /* what went wrong; then nothing else holds */
};

typedef void fetch_done(void *context, const struct fetch_result *result, struct effects *out);

/* Into the arena, which must live until `done`, as must the keys. */
void fetch_start(struct board *b, struct arena *arena, const char *const *keys, size_t count,
                 fetch_done *done, void *context, struct effects *out);

/* Gives the blobs back. */
void fetched_release(struct fetched *list, size_t count);

/* ---- barrier.c ---- */

typedef void barrier_done(void *context, bool passed, struct effects *out);

struct barrier_waiter {
    TAILQ_ENTRY(barrier_waiter) link;
    LIST_ENTRY(barrier_waiter) all;
    struct await await;
    struct board *board;
    barrier_done *done;
    void *context;
    bool queued; /* in one of the lists below */
    bool flying;
};

TAILQ_HEAD(barrier_waiters, barrier_waiter);

struct barrier {
    uint64_t call_id;               /* 0 = none in flight */
    struct barrier_waiters flying;  /* wait for the answer of that call */
    struct barrier_waiters next;    /* came later: wait for the next call */
    LIST_HEAD(, barrier_waiter) all;
    size_t waiting;
    int64_t retry_ns;               /* no call before */
};

/* Passes the read barrier: done once, with true from a copy that is as fresh as the store was at
 * this call, or false after 1 s. Never from within. */
void barrier_wait(struct board *b, barrier_done *done, void *context, struct effects *out);
/* The same for board_barrier(). */
void barrier_read(struct board *b, struct arena *arena, board_read *read, void *context,
                  struct effects *out);
void barrier_send(struct board *b, struct effects *out);
void barrier_free(struct board *b, struct effects *nowhere);

/* ---- op.c ---- */

enum op_state {
    OP_TURN,     /* others with its target come first */
    OP_QUEUED,   /* to be gathered and decided */
    OP_FETCHING, /* records outside the copy are on their way */
    OP_CATCH_UP, /* the copy must reach a revision first */
    OP_CONFIRM,  /* its answer waits for the next transaction that confirms */
    OP_CONFIRMING, /* which travels */
    OP_READY,    /* waits for a transaction */
    OP_FLYING,   /* travels, or its outcome is being settled */
    OP_LANDED,   /* committed: waits for the watch */
    OP_OVER,
};

struct turn; /* of the ops with one target */

struct op {
    TAILQ_ENTRY(op) link; /* in the queue, the ready list, its turn's or its slot's list */
    LIST_ENTRY(op) all;
    struct board *board;
    struct arena *arena;
    const struct op_row *row;
    struct op_input in;
    struct random random;
    op_done *done;
    void *context;
    uint64_t id;
    enum op_state state;
    struct turn *turn;
    struct await life; /* answers UNAVAILABLE at the op's deadline */
    struct await wait; /* for a revision of the copy */
    bool answered;
    /* What etcd has confirmed last, and what it refused last: `list` NULL = nothing. */
    struct reads_seen {
        const struct compare *list;
        size_t count;
    } confirmed, refused;
    unsigned conflicts;
    unsigned fetches;
    unsigned epoch_number; /* of the board when it was gathered */
    struct fetched *fetched;
    size_t fetched_count;
    struct plan *plan;
    struct commit commit;
    int64_t ready_ns;
    int64_t revision;  /* of its commit */
    int64_t landed_ns; /* when that was known */
    bool told;         /* its notices were given */
};

TAILQ_HEAD(op_list, op);

/* As board_op(); it is run by the next ops_run(). */
void op_start(struct board *b, const struct op_row *row, const struct op_input *in,
              struct arena *arena, op_done *done, void *context, struct effects *out);

/* Runs queued ops until there are none, or the step has done enough. */
void ops_run(struct board *b, struct effects *out);

/* How a transaction with this op in it ended (commit.c and confirm.c tell): committed at `revision`;
 * confirmed: what it read stood so at `revision`, it decides again once the copy has that; lost: what
 * it read moved, likewise; left: nothing of its own moved, it travels again; failed: answered
 * UNAVAILABLE with this text. */
void op_committed(struct op *op, int64_t revision, struct effects *out);
void op_confirmed(struct op *op, int64_t revision);
void op_lost(struct op *op, int64_t revision, struct effects *out);
void op_left(struct op *op);
/* What it read is to be confirmed: its op->commit has the compares, and no writes. Ends in
 * op_confirmed, op_lost, or op_failed after 1 s. */
void op_unconfirmed(struct op *op);
void op_failed(struct op *op, const char *text, struct effects *out);

/* The epoch is another: what was gathered from the old one is gathered anew, what was committed in
 * it is answered UNAVAILABLE. What is in flight is judged when its answer comes. */
void ops_new_epoch(struct board *b);

void ops_free(struct board *b, struct effects *nowhere);

/* ---- confirm.c: answers that commit nothing ---- */

enum { CONFIRM_CALLS = 4 }; /* that travel at once */

struct confirm_call {
    bool flying;
    unsigned epoch_number; /* of the board when it was sent */
    struct op_list ops;  /* that travel with it */
    struct batch *batch; /* what they read, for its failure reads */
};

struct confirms {
    struct confirm_call calls[CONFIRM_CALLS];
    int64_t retry_ns;    /* no call before */
};

void confirms_init(struct board *b);
void confirms_send(struct board *b, struct effects *out);
void confirms_free(struct board *b);

/* ---- cause.c, commit.c: transactions, their slots, unknown outcomes ---- */

enum slot_state {
    SLOT_IDLE,
    SLOT_FLYING,   /* a transaction with it is on its way */
    SLOT_VOIDING,  /* the outcome is unknown: being settled */
    SLOT_WAITING,  /* the same, before the next try */
};

struct slot;

/* `landed_revision` > 0: the transaction landed at that revision; 0: it never did and never will;
 * -1: nobody can tell any more (the slot's key was deleted). */
typedef void slot_settled(struct slot *s, int64_t landed_revision, struct effects *out);

struct slot {
    struct board *board;
    unsigned number;
    enum slot_state state;
    int64_t mod_revision; /* of its key as we know it; 0 = not there */
    uint64_t sequence;    /* of its last transaction */
    unsigned failures;
    struct await retry;
    slot_settled *settled; /* whom slot_settle() tells */
    struct op_list ops;   /* that travel with it */
    struct batch *batch;  /* what they made, for its failure reads */
};

/* Sends what is ready, as long as there are free slots. */
void commits_send(struct board *b, struct effects *out);
int64_t commits_due_ns(const struct board *b);
void commits_free(struct board *b);
bool commits_idle(const struct board *b); /* no transaction is open or unsettled */

/* The Range at this place of a failure branch; NULL if none is there. */
const Etcd__RangeResponse *txn_range(const Etcd__TxnResponse *r, size_t at);
/* Whether the batch's failure reads, which begin at place `first`, show that what `c` read has moved. */
bool batch_moved(const struct batch *batch, const struct commit *c, const Etcd__TxnResponse *r,
                 size_t first);

/* The compares that every transaction has, and a cause's record; in `arena`. */
Etcd__Compare *epoch_compare(struct board *b, struct arena *arena);
Etcd__Compare *slot_compare(const struct slot *s, struct arena *arena);
struct bytes cause_encode(const Board__CauseRecord *record, struct arena *arena);

/* Settles the slot whose transaction ended unknown: voids it under the compare that it is
 * unchanged. `settled` is called once, when that is known. */
void slot_settle(struct slot *s, slot_settled *settled, struct effects *out);

/* ---- beat.c ---- */

struct beats {
    uint64_t call_id;
    uint64_t number;            /* of the last put */
    int64_t next_ns;
    int64_t sent_ns;            /* when the last put was sent */
    int64_t unconfirmed_ns;     /* when the first put without answer was sent; NEVER_NS = none */
    bool confirmed;             /* ever */
    struct map cells;           /* heard: cell_id -> struct heard */
    struct map leaders;
    size_t bytes;               /* that both weigh in a put */
};

void beats_timer(struct board *b, struct effects *out);
int64_t beats_due_ns(const struct board *b);
void beats_free(struct board *b);
/* Deletes what this bbs has left on the board; `done` comes when that is known. */
void beats_leave(struct board *b, struct effects *out);
/* Since when (monotonic) the beat key of this bbs has not changed; INT64_MIN when there is none. */
int64_t beat_since_ns(const struct board *b, const char *boot_id);
/* The mod-revision of our own beat key in the copy; 0 when it is not there. */
int64_t beat_revision(const struct board *b);

/* ---- sweep.c: what bbs that are gone have left on the board ---- */

struct sweep {
    int64_t next_ns;
    uint64_t call_id;
    struct buf from;     /* causes from this key on are to be looked at; empty = all */
    char *orphan;        /* boot id of causes without a beat key; NULL = none is known */
    int64_t orphan_ns;   /* since when */
};

void sweep_timer(struct board *b, struct effects *out);
int64_t sweep_due_ns(const struct board *b);
void sweep_free(struct board *b);
/* Deletes a bbs's beat key and causes if the compare about its beat key holds (NULL: in any
 * case). */
void sweep_bbs(struct board *b, const char *boot_id, const struct compare *beat, store_done *done,
               struct effects *out);

/* ---- removals.c: marks of removals that nobody needs any more ---- */

#define REMOVAL_KEPT_NS (86400 * SECOND_NS) /* however long a cell is away */
enum { REMOVALS_MAX = 10000 };              /* on the board; the oldest go */

struct removals {
    int64_t next_ns;
    uint64_t call_id; /* of the open transaction; 0 = none */
    bool more;        /* than it deletes */
};

void removals_timer(struct board *b, struct effects *out);
int64_t removals_due_ns(const struct board *b);

/* ---- job.c ---- */

struct jobs {
    struct map runs;  /* job id -> struct job_run */
    int64_t due_ns;
};

extern const struct op_row job_adopt_row; /* of a silent worker's job, by another; for tests */
void board_jobs_noted(struct board *b, const char *key);  /* it was put or deleted */
void board_jobs_reset(struct board *b);                   /* the copy was loaded anew */
void board_jobs_timer(struct board *b, struct effects *out);
void board_jobs_free(struct board *b);

/* ---- health.c, verify.c ---- */

enum { HEALTH_SAMPLES = 16 };

struct health {
    struct {
        int64_t mono_ns;
        int64_t revision;
    } samples[HEALTH_SAMPLES]; /* positions of the copy, one each half minute */
    unsigned sample_count;
    int64_t sample_ns;
    int64_t compact_ns;
    uint64_t compact_id;
    bool read_only;
    int64_t full_ns;         /* since when */
    int64_t recover_ns;
    int64_t recover_wait_ns; /* before the first try */
    int64_t recovered_ns;    /* when writes were last taken again; 0 = never */
    unsigned recover_failures;
    uint64_t recover_id;
    uint64_t alarm_member;
};

void health_timer(struct board *b, struct effects *out);
/* The epoch is another: revisions noted so far are of another history. */
void health_reset(struct board *b);
int64_t health_due_ns(const struct board *b);
void health_out_of_space(struct board *b, struct effects *out);
/* A write that was sent then has landed. */
void health_wrote(struct board *b, int64_t sent_ns, struct effects *out);

/* The slow list that verifies the copy. */
struct verify {
    bool active;
    int64_t next_ns;       /* when the next pass, or the next page of this one, begins */
    int64_t ended_ns;      /* when the last pass ended */
    uint64_t call_id;
    unsigned part;         /* of the key space */
    char *from;            /* the page begins after this key; "" = at the start of the part */
    struct page_size size;
    const Etcd__RangeResponse *page; /* waits for the copy to reach its revision */
    struct arena page_arena;
    struct await wait;
    struct map touched;    /* keys that changed since the pass began */
};

void verify_timer(struct board *b, struct effects *out);
int64_t verify_due_ns(const struct board *b);
/* There is reason to doubt the copy: the next pass begins now, unless one has just ended. */
void verify_soon(struct board *b);
/* A key of the copy changed. */
void verify_touched(struct board *b, const char *key);
/* The copy was loaded anew: a pass that was under way ends. */
void verify_reset(struct board *b);
void verify_free(struct board *b);

/* ---- the board ---- */

struct board {
    struct bbs_config config;
    char *url, *name;
    struct board_hooks hooks;
    struct moment now;
    struct random random;
    uint64_t last_id;
    char boot_id[GUID_BYTES];
    char *epoch; /* NULL before the first load */
    int64_t epoch_revision; /* create-revision of its key */
    unsigned epoch_number;  /* how many epochs this bbs has seen */
    /* etcd went back and has the same epoch still: revisions repeat from there on, so nothing is
     * served until `bbs restore` has made the epoch anew. */
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
    const char *reload_why; /* it is to be loaded anew, and why; NULL = it is not */
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
    LIST_HEAD(, outside_read) outside_reads;
    int64_t heartbeat_ns;
    bool heartbeat_waits;

    struct beats beats;
    struct sweep sweep;
    struct removals removals;
    struct jobs jobs;
    struct health health;
    struct verify verify;

    uint64_t ops, transactions, conflicts; /* counted for /v1/board/state */
    uint64_t reloads, differences, settled; /* likewise: what stood in for what failed */
};

/* Forgets what a callback of a board that is ending wanted done: the effects of one hold the bound,
 * those of all who wait do not. */
void effects_forget(struct effects *nowhere);

/* The copy is to be loaded anew, for this reason (static), before anything else is done. */
void board_want_reload(struct board *b, const char *why);
#define EPOCH_GONE "the board's epoch is gone: it was restored"
#define WENT_BACK "etcd went back to an older revision"

/* ---- reload.c ---- */

/* Gives up the copy and loads it anew; `why` is logged unless it is NULL. */
void reload_begin(struct board *b, const char *why, struct effects *out);

/* Takes a copy that is complete, and loads it anew if that is wanted. After every call that may have
 * noted either. */
void reload_step(struct board *b, struct effects *out);

#endif
