/* That etcd went back: who else has seen it, and the mark by which every bbs learns of it
 * (design.md 2, Board generation; docs/restore.md). */
#include "bbs/board/inside.h"
#include "bbs/board/board_generation.h"
#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define WITNESS_NS (60 * SECOND_NS) /* so long one cell waits for a second that says the same */

enum { FEW_CELLS = 2 /* of a board on which one cell's word is enough */ };

/* What the caller has seen and the store, which is no older than this copy was, has not; NULL if it
 * has. The caller had its position before it asked, and the copy has passed the read barrier since.
 */
static const char *evidence(const struct board *b, const Board__FeedRequest *r, struct arena *a)
{
    if (!b->board_generation || strcmp(r->board_generation, b->board_generation) != 0) {
        return NULL;
    }
    if (r->revision > b->revision) {
        return arena_printf(a, "has seen revision %lld, etcd is at %lld", (long long)r->revision,
                            (long long)b->revision);
    }
    const struct copied *heartbeat =
        *r->boot_id ? copy_find(b->copy, key_beat(a, r->boot_id)) : NULL;
    if (heartbeat && copied_version(heartbeat)->mod_revision < r->heartbeat_revision) {
        return arena_printf(a, "has seen a heartbeat of revision %lld, etcd has that of %lld",
                            (long long)r->heartbeat_revision,
                            (long long)copied_version(heartbeat)->mod_revision);
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

/* The first cell that says so waits for another one: a single rep must not stop the whole cluster.
 */
static bool second_cell(struct board *b, const char *cell, const char *what, struct effects *out)
{
    struct fall *f = &b->fall;
    bool waits = f->cell && b->now.mono_ns - f->cell_ns < WITNESS_NS;
    if (cells_up_to(b, FEW_CELLS + 1) <= FEW_CELLS || (waits && strcmp(f->cell, cell) != 0)) {
        return true;
    }
    if (!waits) {
        free(f->cell);
        f->cell = mem_text(cell);
        f->cell_ns = b->now.mono_ns;
        effects_log(
            out, LOG_ERROR_LEVEL,
            "a cell says that etcd lost acknowledged writes: believed when another one does",
            "reason=\"%s %s\"", cell, what);
    }
    return false;
}

void witness_heard(struct board *b, const Board__FeedRequest *r, enum actor actor, const char *name,
                   struct effects *out)
{
    static const unsigned roles = ACTOR_REP | ACTOR_AUCTIONEER | ACTOR_CONVERGER;
    const char *what = b->loaded && (roles & actor) ? evidence(b, r, out->arena) : NULL;
    if (!what || (actor == ACTOR_REP && !second_cell(b, name, what, out))) {
        return;
    }
    fall_found(b, arena_printf(out->arena, "the %s %s %s", actor_name(actor), name, what), out);
    board_want_reload(b, WENT_BACK);
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
        record_decode(a, RECORD_BOARD_GENERATION, value, &m, NULL) < 0) {
        return;
    }
    Board__BoardGenerationRecord *board_generation = (Board__BoardGenerationRecord *)m;
    if (*board_generation->went_back) {
        b->fall.marked = true;
        return;
    }
    board_generation->went_back = b->fall.reason;
    Etcd__TxnRequest *t = ARENA_NEW(a, Etcd__TxnRequest);
    board_generation_rewrite(a, kv, board_generation, t);
    b->fall.mark_id = store_send(b, STORE_TXN, &t->base, TXN_TIMEOUT_NS, on_marked, NULL, out);
}
