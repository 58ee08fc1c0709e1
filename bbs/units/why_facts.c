#include "bbs/units/why_facts.h"

#include "bbs/units/unit_jobs.h"

#include "common/lifecycle/unit_status.h"

#include <assert.h>
#include <string.h>

const void *why_find(const struct explaining *e, const char *key)
{
    return map_get(e->records, key);
}

void why_hold(struct explaining *e, const char *by, int64_t since_ns, const char *text,
              const char *ends)
{
    struct unit_why *w = e->why;
    assert(*text && *ends);
    if (w->count == UNIT_HOLDS_MAX) {
        w->more++;
        return;
    }
    w->holds[w->count++] = (struct unit_hold){
        .by = arena_strdup(w->arena, by), .since_ns = since_ns, .text = text, .ends = ends};
}

/* ---- What a unit waits for ------------------------------------------------------------------- */

const char *why_absence(struct explaining *e, const char *cell_id, const char *identity,
                        int64_t *ret_since)
{
    struct arena *a = e->why->arena;
    const Board__CellRecord *cell = why_find(e, key_cell(a, cell_id));
    if (!cell) {
        *ret_since = 0;
        return arena_printf(a, "cell %s has left", cell_id);
    }
    *ret_since = cell->since;
    if (cell_is_absent(cell)) {
        return arena_printf(a, "cell %s is lost", cell_id);
    }
    return strcmp(cell->identity, identity) != 0 ? arena_printf(a, "cell %s was made anew", cell_id)
                                                 : NULL;
}

const char *why_force_time(struct arena *a, const Board__JobRecord *job)
{
    assert(job->units);
    int64_t wait_ns = force_wait_ns(job->units->max_wait_ms);
    return wait_ns == 0 ? "at once"
                        : arena_printf(a, "%lld s after it was asked for",
                                       (long long)((wait_ns + SECOND_NS - 1) / SECOND_NS));
}

struct unit_facts why_unit_facts(struct explaining *e, const Board__UnitRecord *u)
{
    struct arena *a = e->why->arena;
    struct unit_facts f = {.unit = u, .name = unit_name_text(a, unit_name_of(u))};
    f.forced = *u->principal ? u->principal : f.name;
    f.status = why_find(e, key_unit_status(a, unit_name_of(u)));
    f.in_error = f.status && life_of(&unit_status_lifecycle, f.status->state) == UNIT_STATUS_ERROR;
    f.absent_since = u->since;
    if (*u->cell_id) {
        const Board__CellRecord *cell = why_find(e, key_cell(a, u->cell_id));
        f.absent = why_absence(e, u->cell_id, u->identity, &f.absent_since);
        f.emptied = !f.absent && cell->evacuating;
    }
    const Board__JobRecord *job = why_find(e, key_job(a, u->guid, FORCE_UNIT_JOB));
    f.force = job ? why_force_time(a, job) : NULL;
    assert(!f.emptied || !f.absent);
    return f;
}

const char *why_force_ends(struct explaining *e, const struct unit_facts *f, const char *beside)
{
    struct arena *a = e->why->arena;
    return f->force
               ? arena_printf(a, "%s, or its force, %s", beside, f->force)
               : arena_printf(a, "%s, or bbs units destroy-unit %s --force", beside, f->forced);
}

/* The last line of what a hook wrote, behind ": "; as much as a line of a table bears. "" = it
 * wrote nothing. */
static const char *last_words(struct arena *a, const char *output)
{
    enum { SHOWN = 200 };
    size_t end = strlen(output), begin;
    while (end > 0 && (output[end - 1] == '\n' || output[end - 1] == ' ')) {
        end--;
    }
    for (begin = end; begin > 0 && output[begin - 1] != '\n' && end - begin < SHOWN; begin--) {
    }
    assert(begin <= end && end - begin <= SHOWN);
    return begin < end ? arena_printf(a, ": %.*s", (int)(end - begin), output + begin) : "";
}

static const char *error_text(struct arena *a, const Board__UnitStatusRecord *s)
{
    bool open = s->resolved == BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT;
    const char *of = *s->relation ? arena_printf(a, " of relation %s", s->relation) : "";
    const char *with = *s->remote_unit ? arena_printf(a, " with %s", s->remote_unit) : "";
    const char *what = s->resolved == BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT     ? "has failed"
                       : s->resolved == BOARD__UNIT_STATUS_RECORD__RESOLVED__RETRY ? "runs again"
                                                                                   : "is skipped";
    return arena_printf(a, "its hook %s%s%s %s%s", s->hook, of, with, what,
                        open ? last_words(a, s->output) : "");
}

/* "its hook db-relation-changed of relation db:7 with store/3 runs", and what it says. */
const char *why_running_text(struct arena *a, const Board__UnitStatusRecord *s)
{
    const Board__UnitHookRun *run = s->running;
    const char *of = *run->relation ? arena_printf(a, " of relation %s", run->relation) : "";
    const char *with = *run->remote_unit ? arena_printf(a, " with %s", run->remote_unit) : "";
    const char *again = run->attempt > 1 ? arena_printf(a, ", attempt %u", run->attempt) : "";
    return arena_printf(a, "its hook %s%s%s runs%s%s%s", run->hook, of, with, again,
                        *s->text ? ": " : "", s->text);
}

/* The hook that its agent runs; while the cell is absent nobody knows. */
const Board__UnitHookRun *why_running_of(const struct unit_facts *f)
{
    return f->status && !f->absent && !f->in_error ? f->status->running : NULL;
}

/* What it lacks on its cell; likewise. */
const Board__UnitLack *why_lack_of(const struct unit_facts *f)
{
    return f->status && !f->absent ? f->status->lack : NULL;
}

static bool is_of_group(struct explaining *e, const struct unit_facts *f, struct unit_name name)
{
    const Board__UnitRecord *u = why_find(e, key_unit(e->why->arena, name));
    return u && strcmp(*u->principal ? u->principal : unit_name_text(e->why->arena, name),
                       f->forced) == 0;
}

/* Whose hooks run where this one waits: on its cell, or of its group alone. Those that have just
 * begun are not on the board. `ret_forced` is whom one has to force to end the first. */
static const char *turns_text(struct explaining *e, const struct unit_facts *f, bool group,
                              const char **ret_forced)
{
    struct arena *a = e->why->arena;
    const char *all = arena_printf(a, "%s/", record_type_name(RECORD_UNIT_STATUS)), *text = "";
    size_t count = 0;
    *ret_forced = NULL;
    BELOW(e, all, n)
    {
        const Board__UnitStatusRecord *s = map_value(n);
        struct unit_name name;
        if (!s->running || strcmp(s->cell_id, f->unit->cell_id) != 0 ||
            !unit_of_key(a, map_key(n), &name) || (group && !is_of_group(e, f, name))) {
            continue;
        }
        const Board__UnitRecord *u = why_find(e, key_unit(a, name));
        const char *shown = unit_name_text(a, name);
        if (count++ < NAMED_MAX) {
            text = arena_printf(a, "%s%s%s (%s)", text, *text ? ", " : "", shown, s->running->hook);
        }
        *ret_forced = *ret_forced ? *ret_forced : u && *u->principal ? u->principal : shown;
    }
    return count > NAMED_MAX ? arena_printf(a, "%s and %zu more", text, count - NAMED_MAX) : text;
}

/* "its hook start waits for its turn: on cell c1 4 hooks run, as many as it runs at once: web/0
 * (install), ..." */
static struct told_lack turn_told(struct explaining *e, const struct unit_facts *f)
{
    struct arena *a = e->why->arena;
    const Board__UnitLack *l = f->status->lack;
    const char *forced, *by = turns_text(e, f, l->hooks == 0, &forced);
    const char *of = *l->relation ? arena_printf(a, " of relation %s", l->relation) : "";
    const char *with = *l->remote_unit ? arena_printf(a, " with %s", l->remote_unit) : "";
    const char *taken =
        l->hooks
            ? arena_printf(a, "%u of %u hooks run on cell %s", l->hooks, l->hooks, f->unit->cell_id)
            : arena_printf(a, "a hook of %s, or of a subordinate of that, runs", f->forced);
    return (struct told_lack){
        arena_printf(a, "its hook %s%s%s waits for its turn: %s%s%s", l->hook, of, with, taken,
                     *by ? ": " : "", by),
        forced ? arena_printf(a,
                              "the end of one of them, or of the time that its charm gives it, or "
                              "bbs units destroy-unit %s --force",
                              forced)
               : "the end of one of them, or of the time that its charm gives it"};
}

/* What its container needs. Who is dying and does not get it goes without. */
struct told_lack why_lack_told(struct explaining *e, const struct unit_facts *f)
{
    struct arena *a = e->why->arena;
    const Board__UnitStatusRecord *s = f->status;
    const char *service = f->unit->service;
    switch (s->lack->kind) {
    case BOARD__UNIT_LACK__KIND__TURN:
        return turn_told(e, f);
    case BOARD__UNIT_LACK__KIND__ROOM:
        return (struct told_lack){
            arena_printf(a, "there is no room for its container on cell %s", f->unit->cell_id),
            arena_printf(a, "room comes, which bbs cells shows, or bbs units destroy-unit %s",
                         f->forced)};
    case BOARD__UNIT_LACK__KIND__PRINCIPAL:
        return (struct told_lack){
            arena_printf(a, "the container of its principal %s is not there", f->unit->principal),
            arena_printf(a, "that is there: bbs units why %s", f->unit->principal)};
    default:
        return (struct told_lack){
            *s->text ? s->text : "its container could not be made",
            arena_printf(a,
                         "the agent of %s, which tries again, or another charm: bbs units upgrade "
                         "%s FILE",
                         f->name, service)};
    }
}

void why_hold_by_unit(struct explaining *e, const struct unit_facts *f, const char *by,
                      const char *text, const char *works, int64_t since_ns)
{
    struct arena *a = e->why->arena;
    if (f->absent) {
        why_hold(e, by, f->absent_since, arena_printf(a, "%s%s", text, f->absent),
                 why_force_ends(e, f, "the cell is back"));
    }
    if (f->in_error) {
        bool open = f->status->resolved == BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT;
        why_hold(e, by, open ? f->status->since : 0, /* when it was resolved no record says */
                 arena_printf(a, "%s%s", text, error_text(a, f->status)),
                 open ? arena_printf(a, "bbs units resolved %s, with --retry or --skip", f->name)
                      : arena_printf(a, "the agent of %s", f->name));
    }
    if (why_lack_of(f)) {
        struct told_lack told = why_lack_told(e, f);
        why_hold(e, by, f->status->lack->since, arena_printf(a, "%s%s", text, told.text),
                 told.ends);
    }
    const Board__UnitHookRun *run = why_running_of(f);
    if (run) {
        why_hold(e, by, run->since, arena_printf(a, "%s%s", text, why_running_text(a, f->status)),
                 "the end of the hook, or of the time that its charm gives it");
    } else if (!f->absent && !f->in_error && !why_lack_of(f)) {
        const char *said = f->status ? f->status->text : "";
        bool more = *said && strcmp(said, works) != 0;
        why_hold(e, by, since_ns,
                 arena_printf(a, "%s%s%s%s", text, works, more ? ": " : "", more ? said : ""),
                 arena_printf(a, "the agent of %s", f->name));
    }
}
