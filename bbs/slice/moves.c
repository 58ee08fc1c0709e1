#include "bbs/slice/slice.h"

#include "bbs/board/cell_users.h"
#include "common/lifecycle/cell.h"
#include "common/lifecycle/slice.h"
#include "common/model/pool_tag.h"

#include <assert.h>
#include <string.h>

enum { SAYS_NOTHING, SAYS_WANTED }; /* `reads` of a row */

/* Read at once; bytes of what is said of a slice. */
enum { CELLS_MAX = 10000, TEXT_BYTES_MAX = 256, TAGS_MAX = 16 };

static char *const_text(const char *text)
{
    return (char *)(uintptr_t)text;
}

static const struct slice_snapshot *turn_snapshot(const struct move_turn *t)
{
    return t->snapshot;
}

static const Board__SliceMove *says(const struct move_turn *t)
{
    return move_slice(t->move);
}

static bool says_wanted(const struct move_turn *t)
{
    return t->row->reads == SAYS_WANTED;
}

/* ---- What is read ---------------------------------------------------------------------------- */

static bool names(char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* A list that the record of a later version has longer is cut: the move is refused for its room. */
static void gather_own(struct view *v, char *const *had, size_t had_count, char *const *wanted,
                       size_t wanted_count, struct slice_snapshot *s)
{
    enum { MOST = sizeof(s->own) / sizeof(s->own[0]) };
    for (size_t i = 0; i < had_count + wanted_count && s->own_count < MOST; i++) {
        const char *id = i < had_count ? had[i] : wanted[i - had_count];
        if (i >= had_count && names(had, had_count, id)) {
            continue; /* it has it already */
        }
        const Board__CellRecord *cell = view_message(v, key_cell(view_arena(v), id));
        s->own[s->own_count++] = (struct slice_own_cell){
            .id = id,
            .cell = cell,
            .had = i < had_count,
            .wanted = names(wanted, wanted_count, id),
        };
    }
}

/* Only of cells that come or go. */
static void gather_used(struct view *v, struct slice_snapshot *s)
{
    for (size_t i = 0; i < s->own_count; i++) {
        struct slice_own_cell *c = &s->own[i];
        c->used = c->cell && c->had != c->wanted && cell_is_used(v, c->id);
    }
}

/* None of them is newer when this lands; that one goes makes room only. */
static void gather_others(struct view *v, const char *key, struct slice_snapshot *s)
{
    const struct seen *list;
    view_nothing_newer(v, "slice/");
    int count = view_peek_range(v, "slice/", SLICES_MAX, &list);
    s->too_many = count < 0 || (count == SLICES_MAX && !s->slice);
    for (int i = 0; i < count; i++) {
        if (strcmp(list[i].key, key) != 0) {
            s->others[s->other_count++] = (const Board__SliceRecord *)list[i].message;
        }
    }
}

static void gather_cells(struct view *v, struct slice_snapshot *s)
{
    const struct seen *list;
    int count = view_peek_range(v, "cell/", CELLS_MAX, &list);
    s->cells = ARENA_ARRAY(view_arena(v), count > 0 ? (size_t)count : 0, const Board__CellRecord *);
    for (int i = 0; i < count; i++) {
        s->cells[s->cell_count++] = (const Board__CellRecord *)list[i].message;
    }
}

static void slice_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct slice_snapshot *s = snapshot;
    const char *key = move_subject_key(view_arena(v), in);
    const Board__Move *m = in->request;
    const Board__SliceMove *wanted = move_slice(m);
    bool wants = move_row_named(&slice_moves, m->move)->reads == SAYS_WANTED;
    speaker_gather(v, in, &s->by);
    s->slice = view_message(v, key);
    gather_own(v, s->slice ? s->slice->cells : NULL, s->slice ? s->slice->n_cells : 0,
               wants ? wanted->cells : NULL, wants ? wanted->n_cells : 0, s);
    gather_used(v, s);
    if (wants) {
        gather_others(v, key, s);
        gather_cells(v, s);
    }
}

/* ---- Room ------------------------------------------------------------------------------------ */

static struct slice_room room_of(const Board__NodeSize *node)
{
    return node ? (struct slice_room){node->memory_mb, node->disk_mb, node->containers}
                : (struct slice_room){0};
}

static struct slice_want want_of(const char *uid, uint32_t nodes, const Board__NodeSize *node,
                                 size_t cells)
{
    return (struct slice_want){
        .uid = uid,
        .nodes = nodes < SLICE_NODES_MAX ? nodes : SLICE_NODES_MAX,
        .node = room_of(node),
        .tags = node ? node->placement_tags : NULL,
        .tag_count = node ? node->n_placement_tags : 0,
        .whole_cells = cells > 0,
    };
}

static char **all_tags(struct arena *a, const Models__CellPresence *p)
{
    char **tags = ARENA_ARRAY(a, p->n_placement_tags + p->n_optional_placement_tags, char *);
    size_t count = 0;
    for (size_t i = 0; i < p->n_placement_tags; i++) {
        tags[count++] = p->placement_tags[i];
    }
    for (size_t i = 0; i < p->n_optional_placement_tags; i++) {
        tags[count++] = p->optional_placement_tags[i];
    }
    return tags;
}

/* The uid of the slice that has the cell, now or after the move, "" = none; NULL: a node pool has
 * it. */
static const char *slice_of_cell(const struct move_turn *t, const Board__CellRecord *cell,
                                 bool after)
{
    const struct slice_snapshot *s = turn_snapshot(t);
    struct arena *a = t->plan->arena;
    const char *uid = move_name(a, t->move);
    if (after && names(says(t)->cells, says(t)->n_cells, cell->presence->cell_id)) {
        return uid;
    }
    if (strcmp(cell->pool, slice_tag(a, uid)) == 0) {
        return after ? "" : uid;
    }
    if (!*cell->pool) {
        return "";
    }
    for (size_t i = 0; i < s->other_count; i++) {
        if (strcmp(cell->pool, slice_tag(a, s->others[i]->uid)) == 0) {
            return s->others[i]->uid;
        }
    }
    return NULL;
}

static bool serves(const Board__CellRecord *cell)
{
    return !cell_is_absent(cell) && !cell->evacuating && cell->presence && cell->presence->capacity;
}

static struct slice_cell *cells_of(const struct move_turn *t, bool after, size_t *ret_count)
{
    const struct slice_snapshot *s = turn_snapshot(t);
    struct slice_cell *cells = ARENA_ARRAY(t->plan->arena, s->cell_count, struct slice_cell);
    *ret_count = 0;
    for (size_t i = 0; i < s->cell_count; i++) {
        const Board__CellRecord *cell = s->cells[i];
        const char *slice = serves(cell) ? slice_of_cell(t, cell, after) : NULL;
        if (slice) {
            const Models__CellPresence *p = cell->presence;
            cells[(*ret_count)++] = (struct slice_cell){
                .room = {p->capacity->memory_mb, p->capacity->disk_mb, p->capacity->containers},
                .slice = slice,
                .tags = all_tags(t->plan->arena, p),
                .tag_count = p->n_placement_tags + p->n_optional_placement_tags,
                .required_count = p->n_placement_tags,
            };
        }
    }
    return cells;
}

/* Of the nodes asked for, how many have room beside all that the others had room for without them,
 * on the cells as they are: one node less, and one of another slice's would have none either way.
 * Whole cells take the room of others with them, whatever the nodes. */
static uint32_t nodes_with_room(const struct move_turn *t)
{
    const struct slice_snapshot *s = turn_snapshot(t);
    struct arena *a = t->plan->arena;
    size_t cell_count, now_count, count = s->other_count;
    struct slice_cell *cells = cells_of(t, true, &cell_count);
    struct slice_cell *cells_now = cells_of(t, false, &now_count);
    struct slice_want *wants = ARENA_ARRAY(a, count + 1, struct slice_want);
    for (size_t i = 0; i < count; i++) {
        const Board__SliceRecord *o = s->others[i];
        wants[i] = want_of(o->uid, o->nodes, o->node, o->n_cells);
    }
    wants[count] = want_of(move_name(a, t->move), says(t)->nodes, says(t)->node, says(t)->n_cells);
    const uint32_t *before = slice_fit(a, cells_now, now_count, wants, count);
    for (uint32_t nodes = wants[count].nodes; nodes > 0; nodes--) {
        wants[count].nodes = nodes;
        const uint32_t *after = slice_fit(a, cells, cell_count, wants, count + 1);
        bool as_before = after[count] == nodes;
        for (size_t i = 0; i < count && as_before; i++) {
            as_before = after[i] >= before[i];
        }
        if (as_before) {
            return nodes;
        }
    }
    return 0;
}

static const char *size_text(struct arena *a, const Board__NodeSize *node)
{
    const struct slice_room r = room_of(node);
    return arena_printf(a, "%lld MiB memory, %lld MiB disk, %lld containers%s",
                        (long long)r.memory_mb, (long long)r.disk_mb, (long long)r.containers,
                        node && node->n_placement_tags ? ", with its placement tags" : "");
}

/* Why its nodes have no room; NULL = they have. */
static const char *room_fault(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    uint32_t room = nodes_with_room(t);
    return room == says(t)->nodes
               ? NULL
               : arena_printf(a, "not enough room for %u nodes of %s: %u %s", says(t)->nodes,
                              size_text(a, says(t)->node), room, room == 1 ? "has" : "have");
}

static const char *load_fault(const struct move_turn *t)
{
    const Board__SliceRecord *slice = turn_snapshot(t)->slice;
    struct arena *a = t->plan->arena;
    const struct slice_room node = room_of(says(t)->node);
    size_t count = slice ? slice->n_uses : 0;
    struct slice_load *loads = ARENA_ARRAY(a, count, struct slice_load);
    for (size_t i = 0; i < count; i++) {
        const Board__SliceUse *u = slice->uses[i];
        loads[i] = (struct slice_load){u->owner, u->instances, {u->memory_mb, u->disk_mb, 1}};
    }
    return slice_load_fault(a, loads, count, says(t)->nodes, &node);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static const char *own_tag(const struct move_turn *t)
{
    return slice_tag(t->plan->arena, move_name(t->plan->arena, t->move));
}

/* Why a cell cannot come into the slice; NULL = it can. */
static const char *taken_fault(const struct slice_own_cell *c)
{
    return cell_is_absent(c->cell) ? "is not there"
           : c->cell->evacuating   ? "is being emptied"
           : *c->cell->pool        ? "is another's"
           : c->used               ? "has work on it"
           : !c->cell->presence || c->cell->presence->n_placement_tags > 0
               ? "asks for placement tags"
               : NULL;
}

/* One that is gone, or another's by now, is given back already. */
static bool bears_own_tag(const struct move_turn *t, const struct slice_own_cell *c)
{
    return c->cell && strcmp(c->cell->pool, own_tag(t)) == 0;
}

/* Why the cells cannot change as the move says; NULL = they can. */
static const char *cells_fault(const struct move_turn *t)
{
    const struct slice_snapshot *s = turn_snapshot(t);
    for (size_t i = 0; i < s->own_count; i++) {
        const struct slice_own_cell *c = &s->own[i];
        const char *fault = c->wanted && !c->had                           ? taken_fault(c)
                            : !c->wanted && bears_own_tag(t, c) && c->used ? "has work on it"
                                                                           : NULL;
        if (fault) {
            return arena_printf(t->plan->arena, "cell %s %s", c->id, fault);
        }
    }
    return NULL;
}

/* ---- Guards, and what refuses ---------------------------------------------------------------- */

static uint32_t slice_guards(const struct move_turn *t)
{
    const struct slice_snapshot *s = turn_snapshot(t);
    bool wanted = says_wanted(t);
    bool fits = wanted && !s->too_many && !room_fault(t) && !cells_fault(t);
    bool uses_fit = wanted && !load_fault(t);
    bool unused = !wanted && s->slice && s->slice->n_uses == 0 && !cells_fault(t);
    return SLICE_IF_TERM | (fits ? SLICE_IF_FITS : 0) | (uses_fit ? SLICE_IF_USES_FIT : 0) |
           (unused ? SLICE_IF_UNUSED : 0);
}

static void refuse_it(const struct move_turn *t, const char *why)
{
    SCOPED_ARENA(a);
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "slice %s: %s",
                move_name(&a, t->move), why);
}

/* 1. More slices than there may be.
 * 2. A cell that cannot come or go.
 * 3. What runs in it.
 * 4. Its nodes have no room. */
static void refuse_wanted(const struct move_turn *t)
{
    const struct slice_snapshot *s = turn_snapshot(t);
    struct arena *a = t->plan->arena;
    if (t->from == SLICE_HELD && strcmp(t->row->name, "make") == 0) {
        refuse_it(t, "it is there with other values");
    } else if (s->too_many) { /* 1 */
        refuse_it(t, arena_printf(a, "there are %d slices, which is the most", SLICES_MAX));
    } else if (cells_fault(t)) { /* 2 */
        refuse_it(t, cells_fault(t));
    } else { /* 3, 4 */
        const char *why = load_fault(t);
        refuse_it(t, why ? why : room_fault(t));
    }
}

static void refuse_drop(const struct move_turn *t)
{
    const char *fault = cells_fault(t);
    refuse_it(t, fault ? fault : "something runs in it");
}

static void refuse_slice(const struct move_turn *t)
{
    if (says_wanted(t)) {
        refuse_wanted(t);
    } else {
        refuse_drop(t);
    }
}

/* ---- What the moves do ----------------------------------------------------------------------- */

static void put_cell(const struct move_turn *t, const struct slice_own_cell *c, const char *tag,
                     int trigger, uint32_t guards)
{
    Board__CellRecord *after = arena_copy(t->plan->arena, c->cell, sizeof(*after));
    int state = cell_is_absent(c->cell) ? CELL_LOST : CELL_PRESENT;
    assert(lifecycle_transition(&cell_lifecycle, state, t->in->actor, trigger, guards) == state);
    (void)state, (void)guards;
    after->pool = const_text(tag);
    plan_put(t->plan, key_cell(t->plan->arena, c->id), cell_lifecycle.triggers[trigger],
             t->in->actor, &after->base);
}

static void change_cells(const struct move_turn *t)
{
    const struct slice_snapshot *s = turn_snapshot(t);
    for (size_t i = 0; i < s->own_count; i++) {
        const struct slice_own_cell *c = &s->own[i];
        if (c->wanted && !c->had) {
            put_cell(t, c, own_tag(t), CELL_TRIGGER_ASSIGN, CELL_IF_VACANT);
        } else if (!c->wanted && bears_own_tag(t, c)) {
            put_cell(t, c, "", CELL_TRIGGER_RELEASE, CELL_IF_EMPTY);
        }
    }
}

static void put_slice(const struct move_turn *t)
{
    const Board__SliceRecord *before = turn_snapshot(t)->slice;
    const Board__SliceMove *m = says(t);
    struct arena *a = t->plan->arena;
    Board__SliceRecord *after = arena_message(a, &board__slice_record__descriptor);
    if (before) {
        *after = *before;
    }
    after->uid = const_text(move_name(a, t->move));
    after->owner = m->owner;
    after->digest = m->digest;
    after->nodes = m->nodes;
    after->node = m->node;
    after->n_cells = m->n_cells;
    after->cells = m->cells;
    after->since = before ? before->since : t->in->now.wall_ns;
    change_cells(t);
    move_put(t, move_subject_key(a, t->in), t->from, t->to, &after->base);
}

static void drop_slice(const struct move_turn *t)
{
    change_cells(t);
    move_delete_subject(t);
}

static bool slice_begin(struct move_turn *t)
{
    const struct slice_snapshot *s = turn_snapshot(t);
    t->record = s->slice ? &s->slice->base : NULL;
    t->from = s->slice ? SLICE_HELD : SLICE_NONE;
    if (!speaker_authorised(&s->by, t->in, t->plan)) {
        return false;
    }
    return !(says_wanted(t) && s->slice && strcmp(s->slice->digest, says(t)->digest) == 0);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool is_sorted(char *const *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (strcmp(list[i - 1], list[i]) >= 0) {
            return false;
        }
    }
    return true;
}

static void valid_NOTHING(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    if (strlen(move_name(&a, move)) > TEXT_BYTES_MAX) {
        say_field(v, "key");
    }
}

static void valid_WANTED(struct validation *v, const Board__Move *move)
{
    const Board__SliceMove *m = move_slice(move);
    const Board__NodeSize *node = m->node;
    valid_NOTHING(v, move);
    if (strlen(m->owner) > TEXT_BYTES_MAX) {
        say_field(v, "owner");
    }
    if (!*m->digest || strlen(m->digest) > TEXT_BYTES_MAX) {
        say_field(v, "digest");
    }
    if (m->nodes == 0 || m->nodes > SLICE_NODES_MAX) {
        say_field(v, "nodes");
    }
    if (!node || node->memory_mb <= 0 || node->disk_mb < 0 || node->containers <= 0 ||
        node->n_placement_tags > TAGS_MAX) {
        say_field(v, "node");
    }
    if (m->n_cells > SLICE_CELLS_MAX || !is_sorted(m->cells, m->n_cells) ||
        (m->n_cells && !*m->cells[0])) {
        say_field(v, "cells");
    }
}

static void slice_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&slice_moves, snapshot, in, p);
}

static const struct op_row slice_op = {
    .name = "move of a slice",
    .target = move_subject_key,
    .gather = slice_gather,
    .decide = slice_decide,
    .snapshot_size = sizeof(struct slice_snapshot),
};

#define MOVE_ROW(move, absents, said, decides)                                                     \
    {                                                                                              \
        .name = #move,                                                                             \
        .valid = valid_##said,                                                                     \
        .reads = SAYS_##said,                                                                      \
        .absent = ABSENT_##absents,                                                                \
        .guards = slice_guards,                                                                    \
        .refuse = refuse_slice,                                                                    \
        .decide = decides##_slice,                                                                 \
        .op = &slice_op,                                                                           \
        .op_of_rep = &slice_op,                                                                    \
    },
static const struct move_row rows[] = {
#include "bbs/slice/moves.def"
};

const struct move_family slice_moves = {
    .lifecycle = &slice_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = slice_begin,
};
