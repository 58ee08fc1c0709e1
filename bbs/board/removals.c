/* Marks of removals (removal/...) that nobody needs any more. A mark is for containers of cells
 * that were away when their stop was asked, so it goes once no cell is away, and after a day in any
 * case. */
#include "bbs/board/inside.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_INTERVAL_NS (30 * SECOND_NS)
#define REST_INTERVAL_NS (100 * MILLISECOND_NS) /* for what one transaction does not take */
/* A cell that is back speaks for its containers within two reconcile intervals of its rep, 60 s. */
#define CELL_SETTLED_NS (300 * SECOND_NS)

/* What one transaction deletes: below the 120 compares and the 128 operations of etcd (design.md
 * 2). */
enum { FORGOTTEN_AT_ONCE = 100 };

static const char all_cells[] = "cell/", all_removals[] = "removal/";

static bool present(struct arena *a, const struct version *cell)
{
    ProtobufCMessage *m;
    return record_decode(a, RECORD_CELL, blob_bytes(cell->blob), &m, NULL) == 0 &&
           ((const Board__CellRecord *)m)->state == BOARD__CELL_RECORD__STATE__PRESENT;
}

/* Every cell of the board is there, and has been for long enough to have spoken for what it runs.
 */
static bool cells_are_settled(const struct board *b, struct arena *a)
{
    for (struct copied *p = copy_from(b->copy, all_cells); p; p = copy_next(p)) {
        const struct version *cell = copied_version(p);
        if (cell->type != RECORD_CELL) {
            break;
        }
        if (surely_left_ns(CELL_SETTLED_NS, copied_seen(p), b->now) > 0 || !present(a, cell)) {
            return false;
        }
    }
    return true;
}

/* Records of what the request let run no more: they are marked, and their cell may be lost yet. */
static bool still_stands(const struct board *b, struct arena *a, const Board__RemovalRecord *r)
{
    const char *prefix = key_actual_process(a, r->process_guid);
    struct copied *p = copy_from(b->copy, key_actual_index(a, r->process_guid, r->from_index));
    return p && text_begins(version_key(copied_version(p)), prefix);
}

/* 1. Of another format: a later version's; left alone.
 * 2. Of another board generation: nobody knows whether it was asked in this one.
 * 3. Seen for a day: a cell that is away for longer is taken for gone.
 * 4. No cell is away, and nothing of it stands. */
static bool is_over(const struct board *b, struct arena *a, struct copied *p, bool settled)
{
    ProtobufCMessage *m;
    if (record_decode(a, RECORD_REMOVAL, blob_bytes(copied_version(p)->blob), &m, NULL) < 0) {
        return false; /* 1 */
    }
    const Board__RemovalRecord *r = (const Board__RemovalRecord *)m;
    struct sighting seen = copied_seen(p);
    return strcmp(r->board_generation, b->board_generation) != 0 || /* 2 */
           surely_left_ns(REMOVAL_KEPT_NS, seen, b->now) <= 0 ||     /* 3 */
           (settled && surely_left_ns(CELL_SETTLED_NS, seen, b->now) <= 0 &&
            !still_stands(b, a, r));                                 /* 4 */
}

static int by_age(const void *x, const void *y)
{
    const struct version *const *a = x, *const *b = y;
    return ((*a)->mod_revision > (*b)->mod_revision) - ((*a)->mod_revision < (*b)->mod_revision);
}

static void on_forgotten(struct board *b, void *context, const struct store_answer *answer,
                         struct effects *out)
{
    (void)context, (void)out;
    struct removals *r = &b->removals;
    r->call_id = 0;
    if (answer->outcome == STORE_DONE && r->more) {
        r->next_ns = b->now.mono_ns + REST_INTERVAL_NS; /* until then the watch has reported it */
    }
}

/* Where another bbs was first nothing happens; the next look tells. */
static void forget(struct board *b, struct version *const *list, size_t count, struct effects *out)
{
    struct arena *a = out->arena;
    Etcd__TxnRequest *t = arena_message(a, &etcd__txn_request__descriptor);
    t->compare = ARENA_ARRAY(a, count + 1, Etcd__Compare *);
    t->success = ARENA_ARRAY(a, count, Etcd__RequestOp *);
    t->compare[t->n_compare++] = board_generation_compare(b, a);
    for (size_t i = 0; i < count; i++) {
        const struct compare unchanged = {.kind = COMPARE_UNCHANGED,
                                          .key = version_key(list[i]),
                                          .revision = list[i]->mod_revision};
        t->compare[t->n_compare++] = compare_compile(a, &unchanged);
        t->success[t->n_success++] = etcd_op_delete(a, version_key(list[i]));
    }
    b->removals.call_id =
        store_send(b, STORE_TXN, &t->base, TXN_TIMEOUT_NS, on_forgotten, NULL, out);
}

static size_t count_removals(const struct board *b)
{
    size_t count = 0;
    for (struct copied *p = copy_from(b->copy, all_removals); p; p = copy_next(p)) {
        if (copied_version(p)->type != RECORD_REMOVAL) {
            break;
        }
        count++;
    }
    return count;
}

/* Those that are over; and of what is left the oldest beyond the bound. */
static void look(struct board *b, size_t count, struct effects *out)
{
    struct arena *a = out->arena;
    struct version **over = ARENA_ARRAY(a, count, struct version *);
    struct version **kept = ARENA_ARRAY(a, count, struct version *);
    size_t over_count = 0, kept_count = 0;
    bool settled = cells_are_settled(b, a);
    struct copied *p = copy_from(b->copy, all_removals);
    for (size_t i = 0; i < count; i++, p = copy_next(p)) {
        if (is_over(b, a, p, settled)) {
            over[over_count++] = copied_version(p);
        } else {
            kept[kept_count++] = copied_version(p);
        }
    }
    if (kept_count > REMOVALS_MAX) {
        qsort(kept, kept_count, sizeof(kept[0]), by_age);
        for (size_t i = 0; i < kept_count - REMOVALS_MAX; i++) {
            over[over_count++] = kept[i];
        }
    }
    b->removals.more = over_count > FORGOTTEN_AT_ONCE;
    if (over_count) {
        forget(b, over, b->removals.more ? FORGOTTEN_AT_ONCE : over_count, out);
    }
}

void removals_timer(struct board *b, struct effects *out)
{
    struct removals *r = &b->removals;
    if (!b->loaded || b->stop_ns || r->next_ns > b->now.mono_ns || r->call_id) {
        return;
    }
    r->next_ns = b->now.mono_ns + LOOK_INTERVAL_NS;
    size_t count = count_removals(b);
    if (count) {
        look(b, count, out);
    }
}

int64_t removals_due_ns(const struct board *b)
{
    return b->loaded && !b->stop_ns && !b->removals.call_id ? b->removals.next_ns : NEVER_NS;
}
