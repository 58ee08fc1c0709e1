#include "auctioneer/cells.h"

#include "common/base/memory.h"
#include "common/codec/scan.h"
#include "common/model/pool_tag.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void cell_free(void *value)
{
    struct cell *cell = value;
    arena_done(&cell->arena);
    free(cell->url);
    free(cell->pool);
    free(cell->identity);
    free(cell->etag);
    free(cell);
}

void cells_init(struct cells *c, uint64_t *next_call_id)
{
    *c = (struct cells){.next_call_id = next_call_id};
    map_init(&c->by_id);
    machines_init(&c->machines);
}

void cells_done(struct cells *c)
{
    if (c) {
        map_done(&c->by_id, cell_free);
        machines_done(&c->machines);
        free(c->queue);
    }
}

/* ---- Changes of the feed --------------------------------------------------------------------- */

static struct cell *cell_new(const char *id)
{
    struct cell *cell = mem_zeroed(sizeof(*cell) + strlen(id) + 1);
    strcpy(cell->id, id);
    cell->url = mem_text("");
    cell->pool = mem_text("");
    cell->identity = mem_text("");
    cell->etag = mem_text("");
    cell->why = "not asked yet";
    arena_init(&cell->arena);
    return cell;
}

static void forget_state(struct cell *cell, const char *why)
{
    cell->usable = false;
    cell->why = why;
    cell->told = cell->state = NULL;
    cell->etag[0] = 0;
    arena_done(&cell->arena);
}

/* By the state that it answered, and by what its node pool says. */
static void rely(struct cell *cell)
{
    cell->why = cell->state->evacuating ? "evacuating"
                : cell->pool_leaves     ? CELL_POOL_LEAVES_TEXT
                                        : "";
    cell->usable = !*cell->why;
}

static size_t without_pools(char *const *tags, size_t count, char **ret)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!pool_tag_is(tags[i])) {
            ret[kept++] = tags[i];
        }
    }
    return kept;
}

Cell__CellState *cell_state_in_pool(struct arena *a, const Cell__CellState *told, const char *pool)
{
    Cell__CellState *s = arena_copy(a, told, sizeof(*s));
    s->placementtags = ARENA_ARRAY(a, told->n_placementtags + 1, char *);
    s->n_placementtags =
        without_pools(told->placementtags, told->n_placementtags, s->placementtags);
    s->optionalplacementtags = ARENA_ARRAY(a, told->n_optionalplacementtags + 1, char *);
    s->n_optionalplacementtags = without_pools(
        told->optionalplacementtags, told->n_optionalplacementtags, s->optionalplacementtags);
    if (*pool) {
        s->placementtags[s->n_placementtags++] = arena_strdup(a, pool);
    }
    return s;
}

static void set_pool(struct cell *cell)
{
    if (cell->told) {
        cell->state = cell_state_in_pool(&cell->arena, cell->told, cell->pool);
    }
}

void cells_record(struct cells *c, const char *cell_id, const Board__CellRecord *record)
{
    struct cell *cell = map_get(&c->by_id, cell_id);
    if (!cell) {
        cell = cell_new(cell_id);
        map_put(&c->by_id, cell_id, cell);
    }
    const char *url = record->presence ? record->presence->rep_url : "";
    if (strcmp(cell->url, url) != 0 || cell->incarnation != record->incarnation) {
        /* Another process: what we know of it is of no use, and it has not been slow yet. */
        free(cell->url);
        cell->url = mem_text(url);
        cell->incarnation = record->incarnation;
        cell->pause_until_ns = 0;
        forget_state(cell, "not asked yet");
    }
    if (strcmp(cell->pool, record->pool) != 0) {
        free(cell->pool);
        cell->pool = mem_text(record->pool);
        set_pool(cell);
    }
    cell->pool_leaves = record->pool_leaves;
    if (cell->pool_leaves && cell->usable) {
        rely(cell);
    }
    if (strcmp(cell->identity, record->identity) != 0) {
        free(cell->identity);
        cell->identity = mem_text(record->identity);
    }
    cell->present = record->state == BOARD__CELL_RECORD__STATE__PRESENT && *url;
    if (!cell->present) {
        cell->usable = false;
        cell->why = "lost";
    } else {
        c->grew = true;
    }
}

void cells_gone(struct cells *c, const char *cell_id)
{
    struct cell *cell = map_get(&c->by_id, cell_id);
    if (cell) {
        cell->present = cell->usable = false; /* freed before the next look: calls may be open */
        cell->why = "not on the board";
    }
}

void cells_reset(struct cells *c)
{
    MAP_EACH(&c->by_id, n)
    {
        cells_gone(c, map_key(n));
    }
    machines_reset(&c->machines);
}

void cells_machine(struct cells *c, const char *key, const Board__MachineRecord *record)
{
    bool opened =
        record ? machines_put(&c->machines, key, record) : machines_gone(&c->machines, key);
    c->grew = c->grew || opened;
}

void cells_machine_cell(struct cells *c, const char *cell_id,
                        const Board__MachineCellRecord *record)
{
    if (record) {
        machines_cell_put(&c->machines, record);
    } else {
        machines_cell_gone(&c->machines, cell_id);
    }
}

struct machine_sight cells_machine_of(const struct cells *c, const struct cell *cell)
{
    return machines_see(&c->machines, cell->id, cell->identity);
}

/* ---- Looking --------------------------------------------------------------------------------- */

static void ask(struct cells *c, struct cell *cell, const struct event *ev, struct effects *out)
{
    uint64_t id = (*c->next_call_id)++;
    c->open[c->open_count].id = id;
    c->open[c->open_count++].cell = cell;
    struct effect *e = effects_add(out, EFFECT_CALL);
    e->call = (struct call){
        .id = id,
        .method = "GET",
        .url = arena_printf(out->arena, "%s/state", cell->url),
        .content_type = "",
        .accept = "application/x-protobuf",
        .if_none_match = arena_strdup(out->arena, cell->state ? cell->etag : ""),
        .trace_id = "",
        .deadline_ns = ev->now.mono_ns + CELL_CALL_NS,
    };
}

static void ask_more(struct cells *c, const struct event *ev, struct effects *out)
{
    while (c->asked < c->queued && c->open_count < CELL_CALLS_MAX) {
        ask(c, c->queue[c->asked++], ev, out);
    }
    c->looking = c->open_count > 0;
}

static void begin_queue(struct cells *c)
{
    assert(!c->looking);
    struct cell **queue = mem_resized(c->queue, c->by_id.count + 1, sizeof(struct cell *));
    c->queue = queue;
    c->queued = c->asked = 0;
}

void cells_look_awaited(struct cells *c, const struct event *ev, struct effects *out)
{
    begin_queue(c);
    MAP_EACH(&c->by_id, n)
    {
        struct cell *cell = map_value(n);
        if (cell->present && cell->awaited && ev->now.mono_ns >= cell->pause_until_ns) {
            c->queue[c->queued++] = cell;
        }
    }
    ask_more(c, ev, out);
}

void cells_look(struct cells *c, const struct event *ev, struct effects *out)
{
    begin_queue(c);
    MAP_EACH(&c->by_id, n)
    {
        struct cell *cell = map_value(n);
        cell->left_out = false;
        cell->returns = 0;
        if (!cell->present) {
            if (strcmp(cell->why, "lost") != 0) {
                cell_free(map_remove(&c->by_id, map_key(n)));
            }
        } else if (ev->now.mono_ns >= cell->pause_until_ns) {
            c->queue[c->queued++] = cell;
        }
    }
    ask_more(c, ev, out);
}

/* Than was left of what it had when last seen. It may show the same as then, as what it took is
 * over. */
static bool has_more_room(const struct cells *c, const struct cell *cell,
                          const Cell__CellState *now)
{
    const Cell__CellState *before = cell->state;
    const Cell__Resources *n = now->availableresources, *b = before->availableresources;
    if (c->starting_counts && now->startingcontainercount < before->startingcontainercount) {
        return true;
    }
    if (!n || !b) {
        return n && !b;
    }
    return n->memorymb > b->memorymb - cell->taken.memory_mb ||
           n->diskmb > b->diskmb - cell->taken.disk_mb ||
           n->containers > b->containers - cell->taken.containers;
}

void cell_took(struct cell *cell, int64_t memory_mb, int64_t disk_mb)
{
    cell->taken.memory_mb += memory_mb;
    cell->taken.disk_mb += disk_mb;
    cell->taken.containers++;
}

static bool frees_more(const Cell__Resources *now, const Cell__Resources *before)
{
    static const Cell__Resources none = CELL__RESOURCES__INIT;
    const Cell__Resources *n = now ? now : &none, *b = before ? before : &none;
    return n->memorymb > b->memorymb || n->diskmb > b->diskmb || n->containers > b->containers;
}

/* A state that may be relied on, or why not (rep-auctioneer.md 4). */
static void take_state(struct cells *c, struct cell *cell, const Cell__CellState *state,
                       const char *etag, struct arena *arena)
{
    if (strcmp(state->cell_id, cell->id) != 0) {
        forget_state(cell, "another cell answers at its address");
        arena_done(arena);
        return;
    }
    cell->grew = !cell->state || has_more_room(c, cell, state);
    c->grew = c->grew || cell->grew || !cell->usable;
    cell->frees_more = cell->frees_more ||
                       frees_more(state->beingfreed, cell->state ? cell->state->beingfreed : NULL);
    arena_done(&cell->arena);
    cell->arena = *arena;
    cell->told = state;
    set_pool(cell);
    memset(&cell->taken, 0, sizeof(cell->taken));
    free(cell->etag);
    cell->etag = mem_text(etag);
    rely(cell);
}

static void on_answer(struct cells *c, struct cell *cell, const struct event *ev)
{
    const struct response *r = &ev->response;
    if (r->outcome != CALL_ANSWERED) {
        bool late = r->outcome == CALL_UNKNOWN;
        cell->usable = false;
        cell->why = late ? "did not answer in time" : "cannot be reached";
        cell->pause_until_ns = late ? ev->now.mono_ns + CELL_PAUSE_NS : 0;
    } else if (r->status == 304 && cell->state) {
        bool was = cell->usable;
        rely(cell);
        c->grew = c->grew || (!was && cell->usable);
    } else if (r->status != 200) {
        forget_state(cell, "answered with an error");
    } else {
        struct arena arena;
        ProtobufCMessage *m;
        arena_init(&arena);
        if (scan_and_unpack(&arena, &cell__cell_state__descriptor, r->body, CELL_STATE_MAX, &m,
                            NULL) < 0) {
            arena_done(&arena);
            forget_state(cell, "answered with a malformed state");
        } else {
            take_state(c, cell, (const Cell__CellState *)m, r->etag, &arena);
        }
    }
}

bool cells_step(struct cells *c, const struct event *ev, struct effects *out)
{
    for (size_t i = 0; ev->kind == EVENT_RESPONSE && i < c->open_count; i++) {
        if (c->open[i].id != ev->response.id) {
            continue;
        }
        struct cell *cell = c->open[i].cell;
        c->open[i] = c->open[--c->open_count];
        if (cell->present) {
            on_answer(c, cell, ev);
        }
        ask_more(c, ev, out);
        return true;
    }
    return false;
}

void cells_stop_looking(struct cells *c, struct effects *out)
{
    for (size_t i = 0; i < c->open_count; i++) {
        effects_add(out, EFFECT_CANCEL)->cancel = c->open[i].id;
    }
    c->open_count = c->queued = c->asked = 0;
    c->looking = false;
}

/* ---- For the decision ------------------------------------------------------------------------ */

size_t cells_usable(const struct cells *c, struct arena *a, struct schedule_cell **ret_cells,
                    struct cell ***ret_from)
{
    struct schedule_cell *list = ARENA_ARRAY(a, c->by_id.count, struct schedule_cell);
    struct cell **from = ARENA_ARRAY(a, c->by_id.count, struct cell *);
    size_t count = 0;
    MAP_EACH(&c->by_id, n)
    {
        struct cell *cell = map_value(n);
        if (cell->state && (cell->usable || cell->left_out)) {
            list[count] = (struct schedule_cell){.state = cell->state,
                                                 .closed = cell->left_out,
                                                 .machine = cells_machine_of(c, cell)};
            from[count++] = cell;
        }
    }
    *ret_cells = list;
    *ret_from = from;
    return count;
}

void cell_returned(struct cell *cell)
{
    if (++cell->returns >= CELL_RETURNS_MAX) {
        cell_leave_out(cell, "gave work back");
    }
}

void cell_leave_out(struct cell *cell, const char *why)
{
    cell->left_out = true;
    cell->usable = false;
    cell->why = why;
}
