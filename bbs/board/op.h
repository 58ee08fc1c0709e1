/* The op: gather (which records), decide, commit, answer; on conflict gather again, a bounded
 * number of times (design.md 3.3). An endpoint or a named move is a row: which records, which
 * decide function. The engine knows nothing of LRPs. */
#pragma once

#include "bbs/board/view.h"
#include "common/base/random.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "common/contract/plan.h"

struct seal;

/* What an op is asked. Lives in the op's own arena until it is answered. */
struct op_input {
    enum actor actor;
    const char *peer_name;           /* a rep's cell id */
    const char *trace_id;
    const char *boot_id;             /* of this bbs: the worker of a job that the plan makes */
    const void *request;             /* a message, of the type the row expects */
    struct moment now;               /* renewed before each decision */
    struct random *random;           /* for guids; renewed before each decision */
    const struct seal *seal;         /* keys for secrets (common/contract/seal.h); NULL = none */
};

struct op_row {
    const char *name;
    /* Ops with the same target take turns, in order of arrival. A key or prefix in the arena. */
    const char *(*target)(struct arena *a, const struct op_input *in);
    /* Reads records through the view, which notes each read in the read set, into *snapshot
     * (zeroed, snapshot_size bytes). Called again after a conflict. */
    void (*gather)(struct view *v, const struct op_input *in, void *snapshot);
    /* Pure: *snapshot and *in to *plan. */
    void (*decide)(const void *snapshot, const struct op_input *in, struct plan *plan);
    size_t snapshot_size;
    /* An answer that commits nothing is confirmed by etcd, which compares what was read, and
     * decided again at that revision, unless the row is for a rep that repeats itself and the
     * verdict is NOTHING (design.md 2). */
    bool nothing_unconfirmed;
};

/* How an op ended. */
enum op_end {
    OP_DECIDED,     /* plan holds: committed, nothing to do, or refused */
    OP_UNAVAILABLE, /* too many conflicts, store unreachable, not confirmed in time: 503 */
};

struct op_result {
    enum op_end end;
    const struct plan *plan; /* for DECIDED; lives until the callback returns */
    int64_t revision;        /* position the answer was made from, or of the commit */
    const char *text;        /* for UNAVAILABLE */
    /* For UNAVAILABLE: its transaction travelled, and may land or have landed. */
    bool may_have_done;
};

/* Called once, from within a step of the bbs. */
typedef void op_done(void *context, const struct op_result *result, struct effects *out);

struct board;

/* A new, empty arena on the heap: what every function of the engine that takes over an arena wants
 * (it ends with arena_done and free). */
struct arena *board_arena(void);

/* Starts an op. `in` is copied shallowly; all it points to must live in `arena` (from board_arena),
 * which the engine takes over and frees after `done`. `done` may come before this returns (a copy
 * that is not loaded: OP_UNAVAILABLE), but is called exactly once. */
void board_op(struct board *b, const struct op_row *row, const struct op_input *in,
              struct arena *arena, op_done *done, void *context, struct effects *out);
