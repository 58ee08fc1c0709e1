#include "bbs/board/cell_users.h"
#include "bbs/pool/pool.h"
#include "common/base/message.h"
#include "common/lifecycle/cell.h"
#include "common/lifecycle/job_run.h"
#include "common/lifecycle/pool.h"
#include "common/lifecycle/system.h"
#include "common/model/component_path.h"
#include "common/model/pool_record.h"
#include "common/model/pool_tag.h"
#include "common/model/service_record.h"

#include <assert.h>
#include <string.h>

enum { DEFINED = 1, ON_CELL = 2, NAMES = 4 }; /* bits of `reads` */

/* Read at once: services and runs of a system; bytes of what is said of a pool. */
enum { NAMES_MAX = 10000, CELLS_MAX = 10000, MESSAGE_BYTES_MAX = 4096 };

static char *const_text(const char *text)
{
    return (char *)(uintptr_t)text;
}

static int pool_state_of(const Board__PoolRecord *pool)
{
    return pool ? lifecycle_state(&pool_lifecycle, pool->state) : POOL_NONE;
}

/* ---- What is read ---------------------------------------------------------------------------- */

static const struct pool_snapshot *turn_snapshot(const struct move_turn *t)
{
    return t->snapshot;
}

static const Board__PoolMove *says(const struct move_turn *t)
{
    return move_pool(t->move);
}

/* A service of the system runs the epoch, or is to. */
static bool service_names(const Board__ServiceRecord *s, const char *name, uint32_t epoch)
{
    for (size_t i = 0; i < s->n_revisions; i++) {
        const Board__Revision *r = s->revisions[i];
        if (service_revision_stands(s, r) && r->pool_epoch == epoch &&
            strcmp(r->pool, name) == 0) {
            return true;
        }
    }
    return false;
}

/* A run of the system has a Task with the tag of the epoch. */
static bool run_names(const Board__JobRunRecord *r, const char *name, uint32_t epoch)
{
    int state = lifecycle_state(&job_run_lifecycle, r->state);
    bool over = state == JOB_RUN_SUCCEEDED || state == JOB_RUN_FAILED;
    return !over && r->pool_epoch == epoch && strcmp(r->pool, name) == 0;
}

/* More than may be are taken for one that names it. */
static bool is_named(struct view *v, const char *uid, const char *name, uint32_t epoch)
{
    struct arena *a = view_arena(v);
    const char *services = key_range_of(a, RECORD_SERVICE, uid);
    const char *runs = key_range_of(a, RECORD_JOB_RUN, uid);
    const struct seen *list;
    view_nothing_newer(v, services);
    view_nothing_newer(v, runs);
    int count = view_peek_range(v, services, NAMES_MAX, &list);
    bool named = count < 0;
    for (int i = 0; i < count && !named; i++) {
        named = service_names((const Board__ServiceRecord *)list[i].message, name, epoch);
    }
    count = named ? 0 : view_peek_range(v, runs, NAMES_MAX, &list);
    named = named || count < 0;
    for (int i = 0; i < count && !named; i++) {
        named = run_names((const Board__JobRunRecord *)list[i].message, name, epoch);
    }
    return named;
}

static void gather_cell(struct view *v, const char *cell_id, struct pool_snapshot *s)
{
    s->cell = view_message(v, key_cell(view_arena(v), cell_id));
    s->busy = s->cell && cell_is_used(v, cell_id);
}

static bool serves(const Board__CellRecord *cell)
{
    return !cell_is_absent(cell) && !cell->evacuating;
}

/* The cells of the epoch. Not compared: one that is lost in the same moment is replaced later, and
 * one too many goes again. */
static void count_cells(struct view *v, uint32_t number, struct pool_snapshot *s)
{
    const struct seen *list;
    int count = view_peek_range(v, "cell/", CELLS_MAX, &list);
    const char *tag = pool_tag(view_arena(v), s->pool->uid, s->pool->name, number);
    for (int i = 0; i < count; i++) {
        const Board__CellRecord *cell = (const Board__CellRecord *)list[i].message;
        if (strcmp(cell->pool, tag) == 0) {
            s->serving += serves(cell);
            s->staying += !cell->pool_leaves;
            s->serving_and_staying += serves(cell) && !cell->pool_leaves;
        }
    }
}

static void pool_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct pool_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = in->request;
    const char *uid = move_name(a, m), *name = move_part(a, m);
    unsigned reads = move_row_named(&pool_moves, m->move)->reads;
    const struct seen *seen = view_get(v, move_subject_key(a, in));
    const Board__SystemRecord *system = view_message(v, key_system(a, move_pool(m)->system));
    speaker_gather(v, in, &s->by);
    s->board_generation = view_board_generation(v);
    s->pool = seen ? (const Board__PoolRecord *)seen->message : NULL;
    s->revision = seen ? seen->mod_revision : 0;
    s->system = system && strcmp(system->uid, uid) == 0 ? system : NULL;
    if (reads & DEFINED) {
        s->defined = pool_defined(v, view_message(v, key_head(a, uid)), name);
    }
    if (s->pool && reads & ON_CELL) {
        gather_cell(v, move_pool(m)->cell_id, s);
        count_cells(v, move_pool(m)->epoch, s);
    }
    if (s->pool && reads & NAMES) {
        s->named = is_named(v, uid, name, move_pool(m)->epoch);
    }
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static int system_state_of(const struct pool_snapshot *s)
{
    return s->system ? lifecycle_state(&system_lifecycle, s->system->state) : SYSTEM_NONE;
}

static bool system_goes(const struct pool_snapshot *s)
{
    int state = system_state_of(s);
    return state == SYSTEM_NONE || state == SYSTEM_DELETING;
}

static bool is_open(const struct pool_snapshot *s)
{
    int state = system_state_of(s);
    return state > SYSTEM_PENDING && state != SYSTEM_FAILED && state != SYSTEM_DELETING;
}

static bool is_whole(const Board__NodePool *defined)
{
    return defined && strcmp(defined->instance_type, POOL_SHARED_TYPE) != 0;
}

/* adjust says no type: it is that of the newest epoch. */
static uint32_t defined_pool_guards(const struct move_turn *t)
{
    const struct pool_snapshot *s = turn_snapshot(t);
    const Board__NodePool *d = s->defined;
    const char *type = *says(t)->instance_type || !s->pool ? says(t)->instance_type
                                                           : s->pool->instance_type;
    bool so = is_open(s) && is_whole(d) && strcmp(d->instance_type, type) == 0 &&
              d->num_instances == says(t)->wanted;
    return (so ? POOL_IF_WANTED : 0) |
           (system_goes(s) || !is_whole(d) ? POOL_IF_UNWANTED : 0);
}

/* Nothing is given or taken in a board generation in which nobody confirmed the system. What goes
 * needs no word. */
static uint32_t confirmed_guard(const struct pool_snapshot *s)
{
    bool confirmed =
        s->system && strcmp(s->system->board_generation, s->board_generation) == 0;
    return confirmed || system_goes(s) ? POOL_IF_CONFIRMED : 0;
}

static const Board__PoolEpoch *epoch_of(const struct move_turn *t)
{
    const Board__PoolRecord *pool = turn_snapshot(t)->pool;
    for (size_t i = 0; i < pool->n_epochs; i++) {
        if (pool->epochs[i]->number == says(t)->epoch) {
            return pool->epochs[i];
        }
    }
    return NULL;
}

static bool has_cell(const Board__PoolEpoch *e, const char *cell_id)
{
    for (size_t i = 0; e && i < e->n_cells; i++) {
        if (strcmp(e->cells[i], cell_id) == 0) {
            return true;
        }
    }
    return false;
}

static const char *own_tag(const struct move_turn *t)
{
    const Board__PoolRecord *pool = turn_snapshot(t)->pool;
    return pool_tag(t->plan->arena, pool->uid, pool->name, says(t)->epoch);
}

static bool is_of_type(struct arena *a, const Models__CellPresence *p, const char *instance_type)
{
    const char *tag = pool_type_tag(a, instance_type);
    for (size_t i = 0; i < p->n_optional_placement_tags; i++) {
        if (strcmp(p->optional_placement_tags[i], tag) == 0) {
            return true;
        }
    }
    return false;
}

/* A cell that asks for tags of its own takes nothing of a pool. */
static bool is_vacant(const struct move_turn *t, const Board__PoolEpoch *e)
{
    const struct pool_snapshot *s = turn_snapshot(t);
    const Board__CellRecord *cell = s->cell;
    return !cell_is_absent(cell) && !cell->evacuating && !*cell->pool && !s->busy &&
           cell->presence && cell->presence->n_placement_tags == 0 &&
           is_of_type(t->plan->arena, cell->presence, e->instance_type);
}

/* The pool can do without the cell. */
static bool is_spare(const struct move_turn *t, const Board__PoolEpoch *e)
{
    const struct pool_snapshot *s = turn_snapshot(t);
    bool newest = e == pool_newest(s->pool);
    return e->released || cell_is_absent(s->cell) || s->cell->evacuating ||
           strcmp(s->cell->pool, own_tag(t)) != 0 ||
           (newest && e->n_cells > (size_t)s->pool->wanted);
}

static uint32_t cell_pool_guards(const struct move_turn *t)
{
    const struct pool_snapshot *s = turn_snapshot(t);
    const Board__PoolEpoch *e = epoch_of(t);
    if (!e) {
        return 0;
    }
    bool newest = e == pool_newest(s->pool);
    size_t wanted = (size_t)s->pool->wanted;
    bool has = s->cell && strcmp(s->cell->pool, own_tag(t)) == 0;
    bool goes = has && s->cell->pool_leaves;
    return confirmed_guard(s) | (newest && s->serving < wanted ? POOL_IF_LACKING : 0) |
           (is_vacant(t, e) ? POOL_IF_VACANT : 0) | (is_spare(t, e) ? POOL_IF_SPARE : 0) |
           (newest && has && !goes && s->staying > wanted ? POOL_IF_SURPLUS : 0) |
           (newest && goes && serves(s->cell) && s->serving_and_staying < wanted ? POOL_IF_MISSED
                                                                                 : 0) |
           (!has || !s->busy ? POOL_IF_EMPTY_CELL : 0);
}

static uint32_t names_pool_guards(const struct move_turn *t)
{
    const struct pool_snapshot *s = turn_snapshot(t);
    const Board__PoolEpoch *e = epoch_of(t);
    bool old = e && e != pool_newest(s->pool);
    return confirmed_guard(s) | (old && !s->named ? POOL_IF_UNNAMED : 0);
}

static uint32_t seen_pool_guards(const struct move_turn *t)
{
    static const uint32_t seen[POOL_STATE_COUNT] = {
        [POOL_UPDATING] = POOL_IF_SEEN_UPDATING, [POOL_SCALING] = POOL_IF_SEEN_SCALING,
        [POOL_STABLE] = POOL_IF_SEEN_STABLE,     [POOL_FAILED] = POOL_IF_SEEN_FAILED};
    int state = lifecycle_state(&pool_lifecycle, says(t)->state);
    return state >= 0 ? seen[state] : 0;
}

static uint32_t left_pool_guards(const struct move_turn *t)
{
    return turn_snapshot(t)->pool->n_epochs ? 0 : POOL_IF_NO_EPOCHS;
}

/* ---- How a record changes -------------------------------------------------------------------- */

static bool is_short(const Board__PoolRecord *pool)
{
    const Board__PoolEpoch *newest = pool_newest(pool);
    return newest && newest->n_cells < (size_t)pool->wanted;
}

/* A copy in the state to which the lifecycle leads. */
static Board__PoolRecord *changed(const struct move_turn *t)
{
    const Board__PoolRecord *before = turn_snapshot(t)->pool;
    Board__PoolRecord *after = arena_message(t->plan->arena, &board__pool_record__descriptor);
    assert(t->to > POOL_NONE && t->to < POOL_STATE_COUNT);
    *after = *before;
    after->state = const_text(pool_lifecycle.states[t->to]);
    if (t->from != t->to) {
        after->since = t->in->now.wall_ns > before->since ? t->in->now.wall_ns : before->since;
    }
    return after;
}

/* Since when it is short of cells is told by each change. */
static void put(const struct move_turn *t, Board__PoolRecord *after)
{
    assert(after->n_epochs <= POOL_EPOCHS_MAX && after->wanted <= POOL_CELLS_MAX);
    after->short_since = !is_short(after)      ? 0
                         : after->short_since ? after->short_since
                                              : t->in->now.wall_ns;
    move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to, &after->base);
}

static void put_changed(const struct move_turn *t, Board__PoolRecord *after)
{
    if (!message_equal(&turn_snapshot(t)->pool->base, &after->base)) {
        put(t, after);
    }
}

static uint32_t highest_number(const Board__PoolRecord *r)
{
    uint32_t highest = 0;
    for (size_t i = 0; i < r->n_epochs; i++) {
        highest = r->epochs[i]->number > highest ? r->epochs[i]->number : highest;
    }
    return highest;
}

/* With one epoch more, of this type. */
static void add_epoch(struct arena *a, Board__PoolRecord *r, const char *instance_type)
{
    Board__PoolEpoch *e = arena_message(a, &board__pool_epoch__descriptor);
    Board__PoolEpoch **list = ARENA_ARRAY(a, r->n_epochs + 1, Board__PoolEpoch *);
    e->number = highest_number(r) + 1;
    e->instance_type = const_text(instance_type);
    if (r->n_epochs) {
        memcpy(list, r->epochs, r->n_epochs * sizeof(*list));
    }
    list[r->n_epochs++] = e;
    r->epochs = list;
    r->instance_type = e->instance_type;
}

/* With an epoch of this type as the newest: one that it has yet and that is not over, with what
 * runs there, or one more. False: it has as many as may be. */
static bool take_type(struct arena *a, Board__PoolRecord *r, const char *instance_type)
{
    for (size_t i = 0; i < r->n_epochs; i++) {
        Board__PoolEpoch *e = r->epochs[i];
        if (!e->released && strcmp(e->instance_type, instance_type) == 0) {
            r->epochs = arena_copy(a, r->epochs, r->n_epochs * sizeof(Board__PoolEpoch *));
            memmove(&r->epochs[i], &r->epochs[i + 1],
                    (r->n_epochs - i - 1) * sizeof(Board__PoolEpoch *));
            r->epochs[r->n_epochs - 1] = e;
            r->instance_type = e->instance_type;
            return true;
        }
    }
    if (r->n_epochs < POOL_EPOCHS_MAX) {
        add_epoch(a, r, instance_type);
        return true;
    }
    return false;
}

/* With this one in the place of that of its number; NULL: without that. */
static void set_epoch(struct arena *a, Board__PoolRecord *r, uint32_t number, Board__PoolEpoch *e)
{
    Board__PoolEpoch **list = ARENA_ARRAY(a, r->n_epochs, Board__PoolEpoch *);
    size_t count = 0;
    for (size_t i = 0; i < r->n_epochs; i++) {
        bool own = r->epochs[i]->number == number;
        if (!own || e) {
            list[count++] = own ? e : r->epochs[i];
        }
    }
    r->epochs = list;
    r->n_epochs = count;
}

/* A copy of the epoch that has the cell, or has it not; in byte order. */
static Board__PoolEpoch *with_cell(struct arena *a, const Board__PoolEpoch *e, const char *cell_id,
                                   bool has)
{
    Board__PoolEpoch *after = arena_copy(a, e, sizeof(*after));
    after->cells = ARENA_ARRAY(a, e->n_cells + 1, char *);
    after->n_cells = 0;
    for (size_t i = 0; i < e->n_cells; i++) {
        int order = strcmp(e->cells[i], cell_id);
        if (has && order > 0) {
            after->cells[after->n_cells++] = const_text(cell_id);
            has = false;
        }
        if (order != 0) {
            after->cells[after->n_cells++] = e->cells[i];
        }
    }
    if (has) {
        after->cells[after->n_cells++] = const_text(cell_id);
    }
    return after;
}

/* ---- What the moves do ----------------------------------------------------------------------- */

static void refuse_it(const struct move_turn *t, const char *why)
{
    SCOPED_ARENA(a);
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "node pool %s: %s",
                move_part(&a, t->move), why);
}

static void refuse_more_epochs(const struct move_turn *t)
{
    refuse_it(t, arena_printf(t->plan->arena,
                              "it has %d epochs, which is the most: it is renewed again when no "
                              "service is on one of the older ones",
                              POOL_EPOCHS_MAX));
}

static Board__PoolRecord *fresh(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    Board__PoolRecord *r = arena_message(a, &board__pool_record__descriptor);
    r->uid = const_text(move_name(a, t->move));
    r->name = const_text(move_part(a, t->move));
    r->system = turn_snapshot(t)->system->id;
    r->state = const_text(pool_lifecycle.states[t->to]);
    r->since = t->in->now.wall_ns;
    return r;
}

/* One that was being deleted keeps the cells that it has. */
static void open_pool(const struct move_turn *t)
{
    const struct pool_snapshot *s = turn_snapshot(t);
    Board__PoolRecord *after = s->pool ? changed(t) : fresh(t);
    assert(t->to == POOL_PENDING && is_whole(s->defined));
    after->wanted = says(t)->wanted;
    after->message = const_text("waits for a converger to look at it");
    if (take_type(t->plan->arena, after, says(t)->instance_type)) {
        put(t, after);
    } else {
        refuse_more_epochs(t);
    }
}

static void adjust_pool(const struct move_turn *t)
{
    Board__PoolRecord *after = changed(t);
    after->wanted = says(t)->wanted;
    if (after->wanted != turn_snapshot(t)->pool->wanted) {
        put(t, after);
    }
}

/* One that it had before and still has is its newest again, with what runs there. */
static void renew_pool(const struct move_turn *t)
{
    const Board__PoolRecord *before = turn_snapshot(t)->pool;
    Board__PoolRecord *after = changed(t);
    after->wanted = says(t)->wanted;
    if (strcmp(before->instance_type, says(t)->instance_type) == 0 &&
        before->wanted == after->wanted) {
        return; /* so already */
    }
    if (take_type(t->plan->arena, after, says(t)->instance_type)) {
        put(t, after);
    } else {
        refuse_more_epochs(t);
    }
}

/* The cell's record with this pool, which it leaves or not, by a move that its own lifecycle
 * has. */
static void put_cell(const struct move_turn *t, const char *tag, bool leaves, int trigger,
                     uint32_t guards)
{
    const Board__CellRecord *before = turn_snapshot(t)->cell;
    Board__CellRecord *after = arena_copy(t->plan->arena, before, sizeof(*after));
    int state = before->state == BOARD__CELL_RECORD__STATE__LOST ? CELL_LOST : CELL_PRESENT;
    assert(lifecycle_transition(&cell_lifecycle, state, t->in->actor, trigger, guards) == state);
    (void)state, (void)trigger, (void)guards;
    after->pool = const_text(tag);
    after->pool_leaves = leaves;
    plan_put(t->plan, key_cell(t->plan->arena, says(t)->cell_id), t->row->name, t->in->actor,
             &after->base);
}

/* 1. It has as many cells as may be, those of older epochs among them: ResourceConflict.
 * 2. Cell and pool say so in one transaction. */
static void assign_pool(const struct move_turn *t)
{
    const struct pool_snapshot *s = turn_snapshot(t);
    struct arena *a = t->plan->arena;
    if (pool_cells(s->pool) >= POOL_CELLS_MAX) { /* 1 */
        refuse_it(t, arena_printf(a, "it has %d cells, which is the most", POOL_CELLS_MAX));
        return;
    }
    Board__PoolRecord *after = changed(t); /* 2 */
    set_epoch(a, after, says(t)->epoch, with_cell(a, epoch_of(t), says(t)->cell_id, true));
    put_cell(t, own_tag(t), false, CELL_TRIGGER_ASSIGN, CELL_IF_VACANT);
    put(t, after);
}

/* The pool's own record says nothing of it. */
static void mark_pool(const struct move_turn *t)
{
    put_cell(t, own_tag(t), true, CELL_TRIGGER_MARK, 0);
}

static void keep_pool(const struct move_turn *t)
{
    put_cell(t, own_tag(t), false, CELL_TRIGGER_KEEP, CELL_IF_MARKED);
}

static void retire_pool(const struct move_turn *t)
{
    const Board__PoolEpoch *e = epoch_of(t);
    Board__PoolRecord *after = changed(t);
    Board__PoolEpoch *over = arena_copy(t->plan->arena, e, sizeof(*over));
    over->released = true;
    set_epoch(t->plan->arena, after, e->number, e->n_cells ? over : NULL);
    put_changed(t, after);
}

/* One that the pool has no more is only struck out. */
static void release_pool(const struct move_turn *t)
{
    const struct pool_snapshot *s = turn_snapshot(t);
    struct arena *a = t->plan->arena;
    const Board__PoolEpoch *e = epoch_of(t);
    Board__PoolRecord *after = changed(t);
    Board__PoolEpoch *less = with_cell(a, e, says(t)->cell_id, false);
    assert(less->n_cells + 1 == e->n_cells);
    set_epoch(a, after, e->number, e->released && less->n_cells == 0 ? NULL : less);
    if (s->cell && strcmp(s->cell->pool, own_tag(t)) == 0) {
        put_cell(t, "", false, CELL_TRIGGER_RELEASE, CELL_IF_EMPTY);
    }
    put(t, after);
}

static void observe_pool(const struct move_turn *t)
{
    Board__PoolRecord *after = changed(t);
    after->message = says(t)->message;
    put_changed(t, after);
}

static void delete_pool(const struct move_turn *t)
{
    Board__PoolRecord *after = changed(t);
    assert(t->to == POOL_DELETING);
    after->message = const_text("its cells are given back when nothing is on them");
    put(t, after);
}

static void remove_pool(const struct move_turn *t)
{
    assert(turn_snapshot(t)->pool->n_epochs == 0);
    move_delete_subject(t);
}

/* ---- What refuses, or is as it should be ----------------------------------------------------- */

/* It was done before. */
static bool is_done(const struct move_turn *t)
{
    const char *name = t->row->name;
    const Board__PoolEpoch *e = epoch_of(t);
    bool living = t->from > POOL_NONE && t->from != POOL_DELETING;
    bool has = has_cell(e, says(t)->cell_id);
    const Board__CellRecord *cell = turn_snapshot(t)->cell;
    bool own = has && cell && strcmp(cell->pool, own_tag(t)) == 0;
    return (strcmp(name, "mark") == 0 && own && cell->pool_leaves) ||
           (strcmp(name, "keep") == 0 && own && !cell->pool_leaves) ||
           (strcmp(name, "open") == 0 && living) || (strcmp(name, "assign") == 0 && has) ||
           (strcmp(name, "release") == 0 && !has) ||
           (strcmp(name, "retire") == 0 && (!e || e->released)) ||
           (strcmp(name, "delete") == 0 && t->from == POOL_DELETING);
}

static bool pool_begin(struct move_turn *t)
{
    const struct pool_snapshot *s = turn_snapshot(t);
    t->record = s->pool ? &s->pool->base : NULL;
    t->from = pool_state_of(s->pool);
    if (!speaker_authorised(&s->by, t->in, t->plan)) {
        return false;
    }
    if (strcmp(t->row->name, "observe") == 0 && s->pool &&
        t->move->subject->revision != s->revision) {
        refuse_it(t, "it is another by now: look again");
        return false;
    }
    return !s->pool || !is_done(t);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void valid_pool_move(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    const Board__PoolMove *m = move_pool(move);
    const char *name = move->move;
    bool of_cell = strcmp(name, "assign") == 0 || strcmp(name, "mark") == 0 ||
                   strcmp(name, "keep") == 0 || strcmp(name, "release") == 0;
    bool of_type = strcmp(name, "open") == 0 || strcmp(name, "renew") == 0;
    if (component_subname_fault(&a, move_part(&a, move), true)) {
        say_field(v, "key");
    }
    if (!*m->system) {
        say_field(v, "system");
    }
    if (of_cell && !*m->cell_id) {
        say_field(v, "cell_id");
    }
    if ((of_cell || strcmp(name, "retire") == 0) && m->epoch == 0) {
        say_field(v, "epoch");
    }
    if (of_type && (pool_type_fault(m->instance_type) ||
                    strcmp(m->instance_type, POOL_SHARED_TYPE) == 0)) {
        say_field(v, "instance_type");
    }
    if (m->wanted < 0 || m->wanted > POOL_CELLS_MAX) {
        say_field(v, "wanted");
    }
    if (strlen(m->message) > MESSAGE_BYTES_MAX) {
        say_field(v, "message");
    }
}

static void pool_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&pool_moves, snapshot, in, p);
}

static const struct op_row pool_op = {
    .name = "move of a node pool",
    .target = move_subject_key,
    .gather = pool_gather,
    .decide = pool_decide,
    .snapshot_size = sizeof(struct pool_snapshot),
};

#define MOVE_ROW(move, absents, read, guard, refusal, decides)                                     \
    static void refuse_##move(const struct move_turn *t)                                           \
    {                                                                                              \
        refuse_it(t, refusal);                                                                     \
    }
#include "bbs/pool/moves.def"

#define MOVE_ROW(move, absents, read, guard, refusal, decides)                                     \
    {                                                                                              \
        .name = #move, .valid = valid_pool_move, .reads = read, .absent = ABSENT_##absents,        \
        .guards = guard##_pool_guards, .refuse = refuse_##move, .decide = decides##_pool,          \
        .op = &pool_op, .op_of_rep = &pool_op,                                                     \
    },
static const struct move_row rows[] = {
#include "bbs/pool/moves.def"
};

const struct move_family pool_moves = {
    .lifecycle = &pool_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = pool_begin,
};
