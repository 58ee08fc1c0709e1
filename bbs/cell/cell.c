#include "bbs/cell/cell.h"

#include "common/lifecycle/cell.h"

#include <assert.h>
#include <string.h>


static const Board__CellRecord *asked(const struct op_input *in)
{
    return ((const Board__CellRequest *)in->request)->cell;
}

void valid_cell(struct validation *v, const Board__CellRequest *request)
{
    const Board__CellRecord *cell = request->cell;
    if (!cell || !cell->presence) {
        say_field(v, "cell");
        return;
    }
    if (!cell->presence->cell_id[0]) {
        say_field(v, "cell_id");
    }
    if (!cell->identity[0]) {
        say_field(v, "identity");
    }
    if (cell->incarnation == 0) {
        say_field(v, "incarnation");
    }
    if (strncmp(cell->presence->rep_url, "https://", strlen("https://")) != 0) {
        say_field(v, "rep_url");
    }
    check_length(v, cell->presence->cell_id, NAME_CHARACTERS_MAX);
    check_length(v, cell->presence->zone, NAME_CHARACTERS_MAX);
}

static const char *cell_target(struct arena *a, const struct op_input *in)
{
    return key_cell(a, asked(in)->presence->cell_id);
}

static void cell_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct cell_snapshot *s = snapshot;
    s->cell = view_message(v, cell_target(view_arena(v), in));
}

static bool same_content(const Board__CellRecord *a, const Board__CellRecord *b)
{
    Board__CellRecord left = *a, right = *b;
    left.since = right.since = 0;
    struct buf l, r;
    buf_init(&l);
    buf_init(&r);
    buf_message(&l, &left.base);
    buf_message(&r, &right.base);
    bool same = bytes_equal(buf_bytes(&l), buf_bytes(&r));
    buf_done(&l);
    buf_done(&r);
    return same;
}

int cell_state(const Board__CellRecord *cell)
{
    if (!cell) {
        return CELL_NONE;
    }
    return cell->state == BOARD__CELL_RECORD__STATE__LOST ? CELL_LOST : CELL_PRESENT;
}

static void refuse(struct plan *p, const Board__CellRecord *stands, const Board__CellRecord *wanted)
{
    const char *id = wanted->presence->cell_id;
    if (stands->state == BOARD__CELL_RECORD__STATE__LOST) {
        plan_refuse(
            p, MODELS__ERROR__TYPE__ResourceConflict,
            "cell %s is lost, and incarnation %llu is not higher than the board's %llu: raise "
            "it above that and open again",
            id, (unsigned long long)wanted->incarnation, (unsigned long long)stands->incarnation);
    } else if (strcmp(stands->identity, wanted->identity) == 0) {
        plan_refuse(
            p, MODELS__ERROR__TYPE__ResourceConflict,
            "incarnation %llu of cell %s is older than the board's %llu: a newer rep of this "
            "state directory has taken over",
            (unsigned long long)wanted->incarnation, id, (unsigned long long)stands->incarnation);
    } else {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "cell %s is present and has another state directory: start the rep with that "
                    "one, give it another cell id, or wait until the cell is lost", id);
    }
}

static const Board__CellRecord *opened(struct arena *a, const struct cell_snapshot *s,
                                       const struct op_input *in)
{
    const Board__CellRecord *stands = s->cell;
    Board__CellRecord *record = arena_copy(a, asked(in), sizeof(*record));
    record->state = BOARD__CELL_RECORD__STATE__PRESENT;
    record->pool = stands ? stands->pool : (char *)(uintptr_t)protobuf_c_empty_string;
    record->pool_leaves = stands && stands->pool_leaves;
    record->since = in->now.wall_ns;
    if (stands && stands->since > record->since) {
        record->since = stands->since;
    }
    /* Within an incarnation nobody calls it off: what says nothing of it was sent before it began.
     * */
    if (stands && stands->incarnation == record->incarnation && stands->evacuating) {
        record->evacuating = true;
        record->evacuate_until = stands->evacuate_until;
    }
    return record;
}

/* 4. The cell leaves: its record goes if it is this very incarnation's; no record: nothing; another
 *    incarnation's: ResourceConflict. */
static void leave(const Board__CellRecord *stands, const struct op_input *in, struct plan *p)
{
    const Board__CellRecord *wanted = asked(in);
    if (!stands) {
        return;
    }
    bool own = strcmp(stands->identity, wanted->identity) == 0 &&
               stands->incarnation == wanted->incarnation;
    int to = lifecycle_transition(&cell_lifecycle, cell_state(stands), in->actor,
                                  CELL_TRIGGER_LEAVE, own ? CELL_IF_OWN : 0);
    if (to < 0) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "incarnation %llu of cell %s is over: the board's is %llu",
                    (unsigned long long)wanted->incarnation, wanted->presence->cell_id,
                    (unsigned long long)stands->incarnation);
        return;
    }
    assert(to == CELL_NONE);
    p->record = NULL;
    plan_delete(p, key_cell(p->arena, wanted->presence->cell_id), "leave", in->actor);
}

/* 0. A report of an open incarnation, and no record: ResourceNotFound; the cell has left, or must
 *    open its incarnation again.
 * 1. A present cell is taken over only by its successor: the same state directory, and an
 *    incarnation that did not go back. A lost one by anybody with a higher incarnation, so that
 *    what was asked before the loss is refused. Otherwise ResourceConflict, with the record as it
 *    stands.
 * 2. Nothing differs: nothing.
 * 3. PRESENT with the incarnation given. What was being emptied still is, for a successor of the
 *    same state directory: the operator's word outlives the rep that heard it. Its node pool, of
 *    which a rep knows nothing, has it still. */
void cell_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct cell_snapshot *s = snapshot;
    const Board__CellRecord *wanted = asked(in), *stands = s->cell;
    uint32_t guards = 0;
    bool same_identity = stands && strcmp(stands->identity, wanted->identity) == 0;
    if (same_identity && wanted->incarnation >= stands->incarnation) {
        guards |= CELL_IF_SUCCESSOR;
    }
    if (stands && wanted->incarnation > stands->incarnation) {
        guards |= CELL_IF_HIGHER_INCARNATION;
    }
    p->record = stands ? &stands->base : NULL;
    if (((const Board__CellRequest *)in->request)->leave) { /* 4 */
        leave(stands, in, p);
        return;
    }
    if (!stands && ((const Board__CellRequest *)in->request)->known) { /* 0 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound,
                    "cell %s is unknown, or has left: register the cell first",
                    wanted->presence->cell_id);
        return;
    }
    int to = lifecycle_transition(&cell_lifecycle, cell_state(stands), in->actor, CELL_TRIGGER_OPEN,
                                  guards);
    if (to < 0) { /* 1 */
        refuse(p, stands, wanted);
        return;
    }
    assert(to == CELL_PRESENT);
    const Board__CellRecord *record = opened(p->arena, s, in);
    if (stands && same_content(stands, record)) { /* 2 */
        return;
    }
    p->record = &record->base; /* 3 */
    plan_put(p, key_cell(p->arena, wanted->presence->cell_id), "open", in->actor, &record->base);
}

const struct op_row cell_row = {
    .name = "cell",
    .target = cell_target,
    .gather = cell_gather,
    .decide = cell_decide,
    .snapshot_size = sizeof(struct cell_snapshot),
};
