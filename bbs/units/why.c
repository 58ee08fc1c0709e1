#include "bbs/units/why_facts.h"

#include "bbs/units/unit_jobs.h"

#include "common/lifecycle/machine.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"
#include "common/lifecycle/unit_status.h"

#include <assert.h>
#include <string.h>

/* ---- A unit ---------------------------------------------------------------------------------- */

struct unplaced {
    const char *text, *ends;
};

/* A machine that is asked for, and has no unit of it yet: what of it, and what ends that. It may
 * never take the unit (1), or not as it stands (2); otherwise it has to have room (3). */
static struct unplaced unready_of(struct explaining *e, uint32_t n, const char *name)
{
    struct arena *a = e->why->arena;
    const Board__MachineRecord *m = why_find(e, key_machine(a, n));
    const Board__CellRecord *cell = m ? why_find(e, key_cell(a, m->cell_id)) : NULL;
    bool own = cell && strcmp(cell->identity, m->identity) == 0;
    const char *never = !m                                                       ? "is gone"
                        : life_of(&machine_lifecycle, m->state) != MACHINE_ALIVE ? "goes"
                        : !m->host_units     ? "is not for units"
                        : own && *cell->pool ? "a node pool has, for its own services"
                                             : NULL;
    if (never) { /* 1 */
        return (struct unplaced){never, arena_printf(a,
                                                     "bbs units destroy-unit %s, for it takes "
                                                     "no other machine",
                                                     name)};
    }
    const char * or = arena_printf(a, "or bbs units destroy-unit %s", name);
    if (m->cordoned) { /* 2 */
        return (struct unplaced){"is cordoned", arena_printf(a, "bbs units uncordon %u", n)};
    }
    if (!own || cell_is_absent(cell)) { /* 2 */
        return (struct unplaced){"is down", arena_printf(a, "cell %s is back, %s", m->cell_id, or)};
    }
    if (cell->evacuating) { /* 2 */
        return (struct unplaced){"is being emptied",
                                 arena_printf(a,
                                              "cell %s is back when its rep has ended and is "
                                              "started again, %s",
                                              m->cell_id, or)};
    }
    return (struct unplaced){"has to have room", arena_printf(a, "room on it, %s", or)}; /* 3 */
}

static struct unplaced unplaced_of(struct explaining *e, const struct unit_facts *f)
{
    const Board__UnitNeeds *needs = f->unit->needs;
    if (!needs || !needs->on_machine) {
        return (struct unplaced){needs && needs->unused
                                     ? "it waits for a machine that never had a unit"
                                     : "it waits for a machine",
                                 "a cell that fits has room"};
    }
    struct unplaced u = unready_of(e, needs->machine, f->name);
    assert(*u.text && *u.ends);
    u.text =
        arena_printf(e->why->arena, "it waits for machine %u, which %s", needs->machine, u.text);
    return u;
}

static void explain_unplaced(struct explaining *e, const char *key, const struct unit_facts *f)
{
    struct unplaced u = unplaced_of(e, f);
    why_hold(e, key, f->unit->created_at, u.text, u.ends);
    e->why->unplaced = true;
}

/* The count stands while the command runs again, till that has run for a while: it is told as the
 * tree tells it. Since when no record says. */
static void hold_by_command(struct explaining *e, const struct unit_facts *f, const char *key)
{
    struct arena *a = e->why->arena;
    const Board__UnitStatusRecord *s = f->status;
    const char *times = s->crash_count == 1 ? "once" : arena_printf(a, "%d times", s->crash_count);
    why_hold(
        e, key, 0,
        arena_printf(a, "its command has ended %s, and is begun again each time%s%s", times,
                     *s->crash_reason ? ": " : "", s->crash_reason),
        arena_printf(a,
                     "it runs for the time of the setting crash_reset; bbs units logs %s shows "
                     "what it writes",
                     f->name));
}

/* It goes on by the charm that it runs. */
static void hold_by_image(struct explaining *e, const struct unit_facts *f, const char *key)
{
    struct arena *a = e->why->arena;
    why_hold(e, key, f->status->upgrade_since,
             arena_printf(a, "it stays at its charm, and its service has another one: %s",
                          f->status->upgrade_error),
             arena_printf(a, "an image that its cell can have: bbs units upgrade %s FILE",
                          f->unit->service));
}

/* Nobody moves it. Since when the cell is being emptied no record says. */
static void hold_by_emptied(struct explaining *e, const struct unit_facts *f)
{
    struct arena *a = e->why->arena;
    why_hold(e, key_cell(a, f->unit->cell_id), 0,
             arena_printf(a, "cell %s, on which it is, is being emptied", f->unit->cell_id),
             arena_printf(a,
                          "bbs units destroy-unit %s, or the limit of that time: then it is down "
                          "until the cell is back",
                          f->forced));
}

/* What holds it, and beside that that its cell is being emptied. */
static void explain_alive_unit(struct explaining *e, const char *key, const struct unit_facts *f)
{
    bool started =
        f->status && life_of(&unit_status_lifecycle, f->status->state) == UNIT_STATUS_STARTED;
    if (!*f->unit->cell_id) {
        explain_unplaced(e, key, f);
    } else if (!started || f->absent) {
        bool said = f->status && *f->status->text;
        why_hold_by_unit(e, f, key, "",
                         said ? f->status->text : "it is being installed and started",
                         f->status ? f->status->since : f->unit->since);
    } else if (why_running_of(f) || why_lack_of(f)) {
        why_hold_by_unit(e, f, key, "", "", f->status->since);
    } else if (*f->status->upgrade_error) {
        hold_by_image(e, f, key);
    } else if (f->status->crash_count > 0) {
        hold_by_command(e, f, key);
    }
    if (f->emptied) {
        hold_by_emptied(e, f);
    }
    e->why->done = e->why->count == 0;
}

static const char *relation_text(struct explaining *e, const Board__RelationRecord *r)
{
    struct arena *a = e->why->arena;
    return arena_printf(a, "relation %u (%s)", r->number,
                        relation_canonical(a, r->ends, r->n_ends));
}

/* A subordinate that is there, and what of itself holds that; `text` begins the hold. */
static void hold_by_child(struct explaining *e, const Board__UnitRecord *of, const char *key,
                          const Board__UnitChildRecord *child, const char *text)
{
    struct arena *a = e->why->arena;
    struct unit_name name;
    bool known = unit_name_parse(a, child->unit, &name);
    const Board__UnitRecord *u = known ? why_find(e, key_unit(a, name)) : NULL;
    struct unit_facts f = u ? why_unit_facts(e, u) : (struct unit_facts){.name = child->unit};
    const char *there = arena_printf(a, "%sits subordinate %s is there", text, child->unit);
    if (f.absent || f.in_error || why_running_of(&f) || why_lack_of(&f)) {
        why_hold_by_unit(e, &f, key, arena_printf(a, "%s: ", there), "", of->since);
        return;
    }
    why_hold(e, key, of->since, there,
             arena_printf(a, "%s goes: bbs units why %s", child->unit, child->unit));
}

/* 1. What its agent is stopped by, or does. 2. The relations that it is in, 3. its subordinates.
 * 4. None of them: its last steps. One that is on no machine never gets here: it goes at once. */
static void explain_dying_unit(struct explaining *e, const char *key, const struct unit_facts *f)
{
    struct arena *a = e->why->arena;
    struct unit_name name = unit_name_of(f->unit);
    const char *scopes = key_unit_scopes(a, name), *children = key_unit_children(a, name);
    if (f->absent || f->in_error || why_running_of(f) || why_lack_of(f)) { /* 1 */
        why_hold_by_unit(e, f, key, "", "", f->unit->since);
    }
    BELOW(e, scopes, n) /* 2 */
    {
        uint32_t number = 0;
        bool known = number_of_key(a, map_key(n), &number);
        const Board__RelationRecord *r = known ? why_find(e, key_relation(a, number)) : NULL;
        const char *in = r ? relation_text(e, r) : arena_printf(a, "relation %u", number);
        why_hold(e, map_key(n), f->unit->since, arena_printf(a, "it is in %s", in),
                 arena_printf(a, "the agent of %s, which leaves it", f->name));
    }
    BELOW(e, children, n) /* 3 */
    {
        hold_by_child(e, f->unit, map_key(n), map_value(n), "");
    }
    if (e->why->count == 0) { /* 4 */
        bool stopped = f->status && f->status->stopped;
        why_hold_by_unit(e, f, key, "",
                         stopped ? "it is stopped, and not dead yet"
                                 : "it runs the hooks that it owes, stop is the last",
                         f->unit->since);
    }
}

static void explain_unit(struct explaining *e, const char *key, const void *record)
{
    const Board__UnitRecord *u = record;
    struct unit_facts f = why_unit_facts(e, u);
    e->why->subject = arena_printf(e->why->arena, "unit %s", f.name);
    switch (life_of(&unit_lifecycle, u->state)) {
    case UNIT_ALIVE:
        explain_alive_unit(e, key, &f);
        break;
    case UNIT_DYING:
        explain_dying_unit(e, key, &f);
        break;
    default:
        why_hold(e, key, u->since,
                 f.absent ? "it is dead, and its record goes"
                          : "it is dead, and its container goes",
                 f.absent || !*u->cell_id ? "the converger"
                                          : arena_printf(e->why->arena, "the agent of %s", f.name));
    }
}

/* ---- A relation, a service, a machine -------------------------------------------------------- */

/* Who is in a relation; `text` begins each. Units of `told`, a service, are told of already. */
static void explain_members(struct explaining *e, const Board__RelationRecord *r, const char *text,
                            const char *told)
{
    struct arena *a = e->why->arena;
    const char *members = key_relation_members(a, r->number);
    BELOW(e, members, n)
    {
        struct member_name name;
        bool known = member_of_key(a, map_key(n), &name);
        const Board__UnitRecord *u = known ? why_find(e, key_unit(a, name.unit)) : NULL;
        const char *unit = known ? unit_name_text(a, name.unit) : map_key(n);
        if (u && strcmp(u->service, told) == 0) {
            continue;
        }
        if (!u) {
            why_hold(e, map_key(n), r->since,
                     arena_printf(a, "%sunit %s is in it, and gone", text, unit),
                     "nobody: this is a fault of the cluster, please report it");
            continue;
        }
        struct unit_facts f = why_unit_facts(e, u);
        why_hold_by_unit(e, &f, map_key(n), arena_printf(a, "%sunit %s is in it: ", text, unit),
                         "its agent runs the hooks that it owes", r->since);
    }
}

static void explain_relation(struct explaining *e, const char *key, const void *record)
{
    const Board__RelationRecord *r = record;
    (void)key;
    e->why->subject = relation_text(e, r);
    e->why->done = life_of(&relation_lifecycle, r->state) == RELATION_ALIVE;
    if (!e->why->done) {
        explain_members(e, r, "", "");
    }
}

static void explain_service_unit(struct explaining *e, const char *key, const Board__UnitRecord *u)
{
    struct arena *a = e->why->arena;
    struct unit_facts f = why_unit_facts(e, u);
    const char *text = arena_printf(a, "unit %s is %s: ", f.name, u->state);
    const char *children = key_unit_children(a, unit_name_of(u));
    if (*u->cell_id) {
        why_hold_by_unit(e, &f, key, text, "its agent ends it", u->since);
    } else {
        why_hold(e, key, u->since, arena_printf(a, "%sit is on no machine", text),
                 "the job that ends its units");
    }
    BELOW(e, children, n)
    {
        hold_by_child(e, u, map_key(n), map_value(n), text);
    }
}

/* ---- An alive service ------------------------------------------------------------------------ */

/* What may be wrong with its units, in the order in which it is told. */
enum ailment {
    AILS_ERROR,
    AILS_DOWN,
    AILS_UNPLACED,
    AILS_LACK,
    AILS_EMPTIED,
    AILS_HOOK,
    AILS_COUNT,
    AILS_NOTHING = AILS_COUNT
};

struct ailing {
    const char *key; /* of the first; NULL = none ails so */
    const char *name, *forced, *down_ends;
    int64_t since;
    size_t count;
    const char *named; /* "web/1 (its hook install has failed), web/3 (...)" */
};

/* How it is not as it should be: `ret_text` says why, since when. 1. A hook is in error, and nobody
 * has resolved it; 2. nobody speaks for its cell; 3. it is on no machine; 4. it lacks something
 * there; 5. what its service's charm asks for cannot be had; 6. its cell is being emptied; 7. it
 * has run a hook for a while. */
static enum ailment ailment_of(struct explaining *e, const struct unit_facts *f,
                               const char **ret_text, int64_t *ret_since)
{
    const Board__UnitStatusRecord *s = f->status;
    int life = life_of(&unit_lifecycle, f->unit->state);
    if (life != UNIT_DEAD && f->in_error &&
        s->resolved == BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT) { /* 1 */
        *ret_text = arena_printf(e->why->arena, "its hook %s has failed", s->hook);
        *ret_since = s->since;
        return AILS_ERROR;
    }
    if (life != UNIT_DEAD && f->absent) { /* 2 */
        *ret_text = f->absent;
        *ret_since = f->absent_since;
        return AILS_DOWN;
    }
    if (life == UNIT_ALIVE && !*f->unit->cell_id) { /* 3 */
        struct unplaced u = unplaced_of(e, f);
        *ret_text = u.text;
        *ret_since = f->unit->created_at;
        return AILS_UNPLACED;
    }
    if (life != UNIT_DEAD && why_lack_of(f)) { /* 4 */
        *ret_text = why_lack_told(e, f).text;
        *ret_since = s->lack->since;
        return AILS_LACK;
    }
    if (life == UNIT_ALIVE && s && *s->upgrade_error) { /* 5 */
        *ret_text = arena_printf(e->why->arena, "it stays at its charm: %s", s->upgrade_error);
        *ret_since = s->upgrade_since;
        return AILS_LACK;
    }
    if (life == UNIT_ALIVE && f->emptied) { /* 6 */
        *ret_text = arena_printf(e->why->arena, "cell %s", f->unit->cell_id);
        *ret_since = 0;
        return AILS_EMPTIED;
    }
    if (life != UNIT_DEAD && why_running_of(f)) { /* 7 */
        *ret_text = why_running_text(e->why->arena, s);
        *ret_since = s->running->since;
        return AILS_HOOK;
    }
    return AILS_NOTHING;
}

static void add_ailing(struct explaining *e, struct ailing *to, const char *key,
                       const struct unit_facts *f, const char *text, int64_t since)
{
    struct arena *a = e->why->arena;
    if (to->count++ == 0) {
        *to = (struct ailing){.key = key,
                              .name = f->name,
                              .forced = f->forced,
                              .down_ends = why_force_ends(e, f, "the cell is back"),
                              .since = since,
                              .count = 1,
                              .named = ""};
    }
    to->since = since < to->since ? since : to->since;
    if (to->count <= NAMED_MAX) {
        to->named =
            arena_printf(a, "%s%s%s (%s)", to->named, *to->named ? ", " : "", f->name, text);
    }
}

static void hold_by_ailing(struct explaining *e, enum ailment kind, const struct ailing *u)
{
    static const char *const are[AILS_COUNT] = {
        "in error", "down", "on no machine", "held up", "on a cell that is being emptied",
        "in a hook"};
    struct arena *a = e->why->arena;
    const char *each = u->count > 1 ? ", and so of each" : "";
    assert(kind < AILS_COUNT && u->count > 0);
    const char *ends =
        kind == AILS_ERROR
            ? arena_printf(a, "bbs units resolved %s, with --retry or --skip%s", u->name, each)
        : kind == AILS_DOWN ? arena_printf(a, "%s%s", u->down_ends, each)
        : kind == AILS_UNPLACED
            ? arena_printf(a, "a cell that fits has room: bbs units why %s", u->name)
        : kind == AILS_EMPTIED
            ? arena_printf(a,
                           "bbs units destroy-unit %s%s, or the limit of that time: then they are "
                           "down until the cell is back",
                           u->forced, each)
        : kind == AILS_HOOK
            ? arena_printf(a, "the end of the hook, or of the time that its charm gives it%s", each)
            : arena_printf(a, "what bbs units why %s says%s", u->name, each);
    const char *text = u->count == 1
                           ? arena_printf(a, "1 unit is %s: %s", are[kind], u->named)
                           : arena_printf(a, "%zu units are %s: %s", u->count, are[kind], u->named);
    if (u->count > NAMED_MAX) {
        text = arena_printf(a, "%s and %zu more", text, u->count - NAMED_MAX);
    }
    why_hold(e, u->key, u->since, text, ends);
}

/* Of its units those that are not as they should be, a hold for each way of that. */
static void explain_alive_service(struct explaining *e, const char *units)
{
    struct ailing all[AILS_COUNT] = {{0}};
    BELOW(e, units, n)
    {
        const char *text;
        int64_t since;
        struct unit_facts f = why_unit_facts(e, map_value(n));
        enum ailment kind = ailment_of(e, &f, &text, &since);
        if (kind != AILS_NOTHING) {
            add_ailing(e, &all[kind], map_key(n), &f, text, since);
        }
    }
    for (int kind = 0; kind < AILS_COUNT; kind++) {
        if (all[kind].key) {
            hold_by_ailing(e, (enum ailment)kind, &all[kind]);
        }
    }
    e->why->done = e->why->count == 0;
}

/* ---- A dying service ------------------------------------------------------------------------- */

/* Its units; its relations, and who of the other side holds those. */
static void explain_service(struct explaining *e, const char *key, const void *record)
{
    struct arena *a = e->why->arena;
    const Board__UnitServiceRecord *s = record;
    const char *units = key_range_of(a, RECORD_UNIT, s->name);
    const char *relations = key_range_of(a, RECORD_UNIT_SERVICE_RELATION, s->name);
    (void)key;
    e->why->subject = arena_printf(a, "unit service %s", s->name);
    if (life_of(&unit_service_lifecycle, s->state) == UNIT_SERVICE_ALIVE) {
        explain_alive_service(e, units);
        return;
    }
    BELOW(e, units, n)
    {
        explain_service_unit(e, map_key(n), map_value(n));
    }
    BELOW(e, relations, n)
    {
        uint32_t number = ((const Board__RelationNameRecord *)map_value(n))->number;
        const Board__RelationRecord *r = why_find(e, key_relation(a, number));
        const char *text = r ? relation_text(e, r) : arena_printf(a, "relation %u", number);
        why_hold(e, map_key(n), r ? r->since : s->since,
                 arena_printf(a, "%s is %s", text, r ? r->state : "gone"),
                 arena_printf(a, "the last of its units leaves it: bbs units why %u", number));
        if (r) {
            explain_members(e, r, arena_printf(a, "%s: ", text), s->name);
        }
    }
}

static void explain_dead_machine(struct explaining *e, const char *key,
                                 const Board__MachineRecord *m)
{
    struct arena *a = e->why->arena;
    const Board__CellRecord *cell = why_find(e, key_cell(a, m->cell_id));
    if (m->leave && cell && strcmp(cell->identity, m->identity) == 0) {
        why_hold(e, key_cell(a, m->cell_id), cell->since,
                 arena_printf(a, "cell %s has to leave first, as was asked", m->cell_id),
                 arena_printf(a, "cell %s is drained and leaves", m->cell_id));
        return;
    }
    why_hold(e, key, m->since, "it is dead, and its record goes", "the converger");
}

/* Of its principals how many there are, and the first three. */
static const char *principals_text(struct explaining *e, const char *units)
{
    struct arena *a = e->why->arena;
    const char *text = "";
    size_t count = 0;
    BELOW(e, units, n)
    {
        struct unit_name name;
        const char *unit = unit_of_key(a, map_key(n), &name) ? unit_name_text(a, name) : "";
        if (count++ < NAMED_MAX) {
            text = arena_printf(a, "%s%s%s", text, *text ? ", " : "", unit);
        }
    }
    const char *more = count > NAMED_MAX ? arena_printf(a, " and %zu more", count - NAMED_MAX) : "";
    return count == 0   ? "no unit"
           : count == 1 ? arena_printf(a, "unit %s", text)
                        : arena_printf(a, "%zu units: %s%s", count, text, more);
}

/* 1. Somebody forces its end: the job does the rest. 2. Nobody speaks for its cell: what is on it
 * is down. 3. The cell is being emptied: its rep ends when the units are off it, or at the limit,
 * and nobody moves them. Since when no record says. */
static void explain_alive_machine(struct explaining *e, const char *key,
                                  const Board__MachineRecord *m, const char *units)
{
    struct arena *a = e->why->arena;
    int64_t since = m->since;
    const char *absent = why_absence(e, m->cell_id, m->identity, &since);
    const Board__CellRecord *cell = why_find(e, key_cell(a, m->cell_id));
    const char *on = principals_text(e, units);
    assert(absent || cell);
    const char *job_key = key_job(a, m->guid, FORCE_MACHINE_JOB);
    const Board__JobRecord *job = why_find(e, job_key);
    if (job) { /* 1 */
        why_hold(e, job_key, job->units->since,
                 arena_printf(a, "it is ended by force; %s on it", on),
                 arena_printf(a,
                              "its units, which go when their agents end them, or %s; then the "
                              "machine goes",
                              why_force_time(a, job)));
    }
    if (absent) { /* 2 */
        why_hold(e, key, since, arena_printf(a, "%s; %s on it", absent, on),
                 m->manage ? "the cell is back"
                 : job
                     ? "the force, or the cell is back"
                     : arena_printf(a, "the cell is back, or bbs units destroy-machine %u --force",
                                    m->number));
    } else if (cell->evacuating) { /* 3 */
        why_hold(
            e, key_cell(a, m->cell_id), 0,
            arena_printf(a, "cell %s is being emptied; %s on it", m->cell_id, on),
            "bbs units destroy-unit of each, or the limit of that time, when its rep ends and they "
            "are down");
    }
    e->why->done = e->why->count == 0;
}

/* Its principals; what still runs of it; its record. */
static void explain_machine(struct explaining *e, const char *key, const void *record)
{
    struct arena *a = e->why->arena;
    const Board__MachineRecord *m = record;
    int life = life_of(&machine_lifecycle, m->state);
    int64_t since = m->since;
    const char *units = key_machine_units(a, m->number);
    e->why->subject = arena_printf(a, "machine %u", m->number);
    if (life == MACHINE_ALIVE) {
        explain_alive_machine(e, key, m, units);
    } else if (life == MACHINE_DEAD) {
        explain_dead_machine(e, key, m);
    } else if (life == MACHINE_DYING) {
        BELOW(e, units, n)
        {
            struct unit_name name;
            const char *unit = unit_of_key(a, map_key(n), &name) ? unit_name_text(a, name) : "";
            why_hold(e, map_key(n), m->since, arena_printf(a, "unit %s is on it", unit),
                     arena_printf(a, "bbs units destroy-unit %s", unit));
        }
        const char *absent = why_absence(e, m->cell_id, m->identity, &since);
        why_hold(e, key, m->since,
                 absent ? arena_printf(a, "%s, and it is not taken for dead yet", absent)
                        : "its agent ends what runs of it",
                 absent ? "the converger" : arena_printf(a, "the rep of cell %s", m->cell_id));
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

bool units_why(struct arena *a, const struct map *records, const char *key, struct unit_why *ret)
{
    static void (*const explain[RECORD_TYPE_COUNT])(struct explaining *, const char *,
                                                    const void *) = {
        [RECORD_UNIT] = explain_unit,
        [RECORD_UNIT_SERVICE] = explain_service,
        [RECORD_RELATION] = explain_relation,
        [RECORD_MACHINE] = explain_machine,
    };
    struct explaining e = {.records = records, .why = ret};
    const void *record = map_get(records, key);
    if (!record || !explain[key_type(key)]) {
        return false;
    }
    *ret = (struct unit_why){.arena = a};
    explain[key_type(key)](&e, key, record);
    assert(!ret->done || ret->count == 0);
    return true;
}
