/* The table of a cell's units, and what everybody asks of one. */
#include "common/base/memory.h"
#include "common/lifecycle/hook.h"
#include "rep/container/note.h"
#include "rep/inside.h"
#include "rep/unit/cell_unit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void cell_units_init(struct cell_units *t, struct rep *r)
{
    *t = (struct cell_units){.rep = r, .due_ns = NEVER_NS};
    unit_knowledge_init(&t->knowledge, r->config.cell_id);
    map_init(&t->by_guid);
    TAILQ_INIT(&t->queue);
    TAILQ_INIT(&t->hooks);
    TAILQ_INIT(&t->turns);
}

void unit_thaw(struct cell_unit *u)
{
    if (u->frozen) {
        arena_done(&u->frozen->arena);
        free(u->frozen);
        u->frozen = NULL;
    }
}

void cell_unit_keep(struct cell_unit *u, const Rep__Note *note)
{
    Rep__Note *before = u->kept;
    u->kept = note ? note_copy(note) : NULL;
    u->table->rep->containers.version++; /* /state shows it */
    if (before) {
        rep__note__free_unpacked(before, NULL);
    }
}

/* What is set aside for one that is made anew knows no more than that. */
const Rep__Note *cell_unit_about(const struct cell_unit *u)
{
    const struct container *c = cell_unit_container(u);
    return u->kept && (!c || c->phase == PHASE_RESERVED) ? u->kept : c ? c->about : NULL;
}

static void unit_free(void *value)
{
    struct cell_unit *u = value;
    if (u->noting) {
        rep__note__free_unpacked(u->noting, NULL);
    }
    cell_unit_keep(u, NULL);
    unit_thaw(u);
    unit_fetch_clear(&u->fetch);
    free(u->hook.text);
    free(u->command.text);
    free(u->output);
    free(u->make_error);
    free(u->numbers_of);
    free((char *)(uintptr_t)u->name.service);
    free(u->guid);
    free(u);
}

void cell_units_done(struct cell_units *t)
{
    map_done(&t->by_guid, unit_free);
    unit_knowledge_done(&t->knowledge);
}

struct cell_unit *cell_unit_find(const struct cell_units *t, const char *guid)
{
    return map_get(&t->by_guid, guid);
}

struct cell_unit *cell_unit_named(struct cell_units *t, const char *guid, struct unit_name name)
{
    struct cell_unit *u = cell_unit_find(t, guid);
    assert(*guid && *name.service);
    if (!u) {
        u = mem_zeroed(sizeof(*u));
        u->table = t;
        u->guid = mem_text(guid);
        u->name = (struct unit_name){mem_text(name.service), name.number};
        u->due_ns = u->turn_since_ns = NEVER_NS;
        map_put(&t->by_guid, guid, u);
    }
    return u;
}

struct cell_unit *cell_unit_of(struct container *c)
{
    const Rep__UnitOf *of = c->about->unit;
    assert(of);
    return cell_unit_named(&c->table->rep->units, container_guid(c),
                           (struct unit_name){of->service, of->number});
}

struct container *cell_unit_container(const struct cell_unit *u)
{
    struct container *c = container_find(&u->table->rep->containers, u->guid);
    return c && c->about->unit ? c : NULL;
}

void cell_unit_queue(struct cell_unit *u)
{
    if (!u->queued) {
        u->queued = true;
        TAILQ_INSERT_TAIL(&u->table->queue, u, queue_link);
    }
}

const char *cell_unit_principal(const struct cell_unit *u)
{
    const struct container *c = cell_unit_container(u);
    return c ? c->about->unit->principal_guid : "";
}

bool cell_unit_is_shared(const struct cell_unit *u)
{
    MAP_EACH(&u->table->by_guid, n)
    {
        const struct cell_unit *other = map_value(n);
        const struct container *c = cell_unit_container(other);
        if (c && c->phase != PHASE_RESERVED && strcmp(cell_unit_principal(other), u->guid) == 0) {
            return true;
        }
    }
    return false;
}

static void queue_found(struct cell_units *t, const char *guid)
{
    struct cell_unit *u = cell_unit_find(t, guid);
    if (u) {
        cell_unit_queue(u);
    }
}

/* Subordinates by their records, and by their containers: they may have one alone. */
void cell_unit_queue_family(struct cell_unit *u)
{
    struct cell_units *t = u->table;
    SCOPED_ARENA(a);
    const char **guids;
    size_t count = unit_knowledge_children(&t->knowledge, &a, u->name, &guids);
    const struct cell_unit *principal = cell_unit_find(t, cell_unit_principal(u));
    struct container *shared = principal ? cell_unit_container(principal) : NULL;
    queue_found(t, cell_unit_principal(u));
    if (shared) {
        container_touch(shared); /* its removal waits for this one's */
    }
    for (size_t i = 0; i < count; i++) {
        queue_found(t, guids[i]);
    }
    MAP_EACH(&t->by_guid, n)
    {
        struct cell_unit *other = map_value(n);
        if (strcmp(cell_unit_principal(other), u->guid) == 0) {
            cell_unit_queue(other);
        }
    }
}

void cell_unit_due(struct cell_unit *u, int64_t due_ns)
{
    u->due_ns = earlier_ns(u->due_ns, due_ns);
    u->table->due_ns = earlier_ns(u->table->due_ns, due_ns);
}

void cell_unit_turn_over(struct cell_unit *u)
{
    assert(u->turn_since_ns != NEVER_NS);
    TAILQ_REMOVE(&u->table->turns, u, turn_link);
    u->turn_since_ns = NEVER_NS;
}

void cell_unit_forget(struct cell_unit *u)
{
    struct cell_units *t = u->table;
    assert(!u->moving && !u->busy && !u->kept && !cell_unit_container(u));
    if (u->turn_since_ns != NEVER_NS) {
        cell_unit_turn_over(u);
    }
    if (u->queued) {
        TAILQ_REMOVE(&t->queue, u, queue_link);
    }
    map_remove(&t->by_guid, u->guid);
    unit_free(u);
    t->machine.due = true;
}

/* ---- One of them ------------------------------------------------------------------------------
 */

bool unit_hook_is_going(const Rep__UnitNote *j)
{
    return j && j->hook && lifecycle_state(&hook_lifecycle, j->hook->state) != HOOK_RUN_ENDED;
}

bool cell_unit_runs_hook(const struct container *c)
{
    return c && unit_hook_is_going(c->about->unit->journal);
}

void unit_run_clear(struct unit_run *run)
{
    free(run->text);
    *run = (struct unit_run){0};
}

int64_t cell_units_feed_revision(const struct rep *r)
{
    const struct feed_client *f = &r->feed_client;
    return f->change_revision > f->revision ? f->change_revision : f->revision;
}

/* ---- All of them ----------------------------------------------------------------------------- */

const char *cell_units_text(const struct cell_units *t, struct arena *a)
{
    enum { NAMED = 8 };
    struct unit_known *list;
    size_t count = unit_knowledge_units(&t->knowledge, a, &list);
    const char *text = "";
    for (size_t i = 0; i < count && i < NAMED; i++) {
        text = arena_printf(a, "%s%s%s", text, i ? " " : "", unit_name_text(a, list[i].name));
    }
    return count > NAMED ? arena_printf(a, "%s and %zu more", text, count - NAMED) : text;
}
