/* etcd went back to an older revision within the epoch: acknowledged writes are lost, by a restore or
 * by a disk or a machine that forgot them. How a bbs knows, how all of them learn of it, and what it
 * says until the epoch is made anew (DESIGN 2, Epoch; docs/restore.md). */
#include "bbs/board/engine.h"
#include "bbs/board/epoch.h"

#include <stdlib.h>
#include <string.h>

#define SAY_AGAIN_NS (60 * SECOND_NS)
#define WITNESS_NS (60 * SECOND_NS) /* so long one cell waits for a second that says the same */

enum { FEW_CELLS = 2 /* of a board on which one cell's word is enough */ };

static const char what_to_do[] = "etcd lost acknowledged writes or was restored: run `bbs restore`";

static char *copy_string(const char *s)
{
    char *copy = strdup(s);
    if (!copy) {
        abort();
    }
    return copy;
}

static void say(struct board *b, struct effects *out)
{
    b->fall.say_ns = b->now.mono_ns + SAY_AGAIN_NS;
    effects_log(out, LOG_ERROR_LEVEL, what_to_do, "epoch=%s reason=\"%s\"", b->epoch, b->fall.reason);
}

void fall_found(struct board *b, const char *reason, struct effects *out)
{
    if (!b->fall.is) {
        b->fall.is = true;
        b->fall.reason = copy_string(reason);
        b->fall.text = copy_string(
            arena_printf(out->arena, "%s, see docs/restore.md (%s)", what_to_do, reason));
        say(b, out);
    }
}

void fall_over(struct board *b)
{
    free(b->fall.reason);
    free(b->fall.text);
    free(b->fall.cell);
    b->fall = (struct fall){0};
}

void fall_timer(struct board *b, struct effects *out)
{
    if (b->fall.is && b->fall.say_ns <= b->now.mono_ns) {
        say(b, out);
    }
}

const char *board_went_back(const struct board *b)
{
    return b->fall.is ? b->fall.text : NULL;
}

/* ---- witnesses ---- */

/* What the caller has seen and the store, which is no older than this copy was, has not; NULL if it
 * has. The caller had its position before it asked, and the copy has passed the read barrier since. */
static const char *evidence(const struct board *b, const Board__FeedRequest *r, struct arena *a)
{
    if (!b->epoch || strcmp(r->epoch, b->epoch) != 0) {
        return NULL;
    }
    if (r->revision > b->revision) {
        return arena_printf(a, "has seen revision %lld, etcd is at %lld", (long long)r->revision,
                            (long long)b->revision);
    }
    const struct copied *beat = *r->boot_id ? copy_find(b->copy, key_beat(a, r->boot_id)) : NULL;
    if (beat && copied_version(beat)->mod_revision < r->beat_revision) {
        return arena_printf(a, "has seen a beat of revision %lld, etcd has that of %lld",
                            (long long)r->beat_revision,
                            (long long)copied_version(beat)->mod_revision);
    }
    return NULL;
}

static unsigned cells_up_to(const struct board *b, unsigned max)
{
    unsigned count = 0;
    for (struct copied *p = copy_from(b->copy, "cell/"); p && count < max; p = copy_next(p)) {
        if (copied_version(p)->type != RECORD_CELL) {
            break;
        }
        count++;
    }
    return count;
}

/* The first cell that says so waits for another one: a single rep must not stop the whole cluster. */
static bool second_cell(struct board *b, const char *cell, const char *what, struct effects *out)
{
    struct fall *f = &b->fall;
    bool waits = f->cell && b->now.mono_ns - f->cell_ns < WITNESS_NS;
    if (cells_up_to(b, FEW_CELLS + 1) <= FEW_CELLS || (waits && strcmp(f->cell, cell) != 0)) {
        return true;
    }
    if (!waits) {
        free(f->cell);
        f->cell = copy_string(cell);
        f->cell_ns = b->now.mono_ns;
        effects_log(out, LOG_ERROR_LEVEL,
                    "a cell says that etcd lost acknowledged writes: believed when another one does",
                    "reason=\"%s %s\"", cell, what);
    }
    return false;
}

bool board_witness(struct board *b, const Board__FeedRequest *r, enum actor actor, const char *name,
                   struct effects *out)
{
    static const unsigned roles = ACTOR_REP | ACTOR_AUCTIONEER | ACTOR_CONVERGER;
    const char *what = b->loaded && (roles & actor) ? evidence(b, r, out->arena) : NULL;
    if (!what || (actor == ACTOR_REP && !second_cell(b, name, what, out))) {
        return b->fall.is;
    }
    fall_found(b, arena_printf(out->arena, "the %s %s %s", actor_name(actor), name, what), out);
    load_start(b, "etcd went back to an older revision", out);
    return true;
}

/* ---- the mark, by which every bbs learns of it, those that are started later too ---- */

static void on_marked(struct board *b, void *context, const struct store_answer *answer,
                      struct effects *out)
{
    (void)context, (void)out;
    b->fall.mark_id = 0;
    b->fall.marked = answer->outcome == STORE_DONE;
}

void fall_mark(struct board *b, const Etcd__KeyValue *kv, struct effects *out)
{
    struct arena *a = out->arena;
    ProtobufCMessage *m;
    struct bytes value = {.data = kv->value.data, .size = kv->value.len};
    if (b->fall.marked || b->fall.mark_id ||
        record_decode(a, RECORD_EPOCH, value, &m, NULL) < 0) {
        return;
    }
    Board__EpochRecord *epoch = (Board__EpochRecord *)m;
    if (*epoch->went_back) {
        b->fall.marked = true;
        return;
    }
    epoch->went_back = b->fall.reason;
    Etcd__TxnRequest *t = ARENA_NEW(a, Etcd__TxnRequest);
    epoch_rewrite(a, kv, epoch, t);
    b->fall.mark_id = store_send(b, STORE_TXN, &t->base, TXN_TIMEOUT_NS, on_marked, NULL, out);
}
