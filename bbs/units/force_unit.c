#include "bbs/units/force_unit.h"

#include "bbs/board/nested.h"
#include "bbs/units/facts.h"
#include "bbs/units/unit_jobs.h"
#include "bbs/units/units.h"
#include "common/lifecycle/unit.h"
#include "common/model/moves.h"

#include <assert.h>
#include <string.h>

/* All portions of a unit take turns with its moves. */
static const char *unit_of_job(struct arena *a, const struct op_input *in)
{
    const Board__JobRecord *job = in->request;
    struct unit_name name = {"", 0};
    if (job->units) {
        name = (struct unit_name){job->units->service, job->units->number};
    }
    return key_unit(a, name);
}

/* NULL: it is gone, or another has its name. */
static const Board__UnitRecord *gather_unit(struct view *v, const struct op_input *in,
                                            const Board__JobRecord *job)
{
    const Board__UnitRecord *u = view_message(v, unit_of_job(view_arena(v), in));
    return u && strcmp(u->guid, job->units->guid) == 0 ? u : NULL;
}

/* ---- Its memberships depart ------------------------------------------------------------------ */

struct depart_portion {
    const Board__JobRecord *job; /* NULL = it is over */
    bool dying;                  /* the unit is */
    const char *keys[DEPARTED_AT_ONCE];
    const Board__RelationMemberRecord *members[DEPARTED_AT_ONCE];
    size_t count;
    const char *cursor; /* the last scope that was looked at */
    bool end;
};

static void depart_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct depart_portion *s = snapshot;
    struct arena *a = view_arena(v);
    s->job = units_job_gather(v, in);
    const Board__UnitRecord *u = s->job ? gather_unit(v, in, s->job) : NULL;
    s->dying = u && life_of(&unit_lifecycle, u->state) == UNIT_DYING;
    if (!s->dying) {
        return;
    }
    const char *range = key_unit_scopes(a, unit_name_of(u));
    s->cursor = s->job->units->cursor;
    while (s->count < DEPARTED_AT_ONCE) {
        const char *key = units_key_after(v, range, s->cursor);
        if (!key) {
            s->end = true;
            return;
        }
        /* A dying unit enters nothing: no scope comes, and one that goes has no member. */
        const Board__UnitScopeRecord *scope = view_peek_message(v, key);
        s->cursor = key;
        s->keys[s->count] = scope->member;
        s->members[s->count++] = view_message(v, scope->member);
    }
}

/* 1. The job is over: nothing.
 * 2. The unit is gone, or has left all: the job ends.
 * 3. As many memberships as a portion holds depart. */
static void depart_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct depart_portion *s = snapshot;
    if (!s->job) { /* 1 */
        return;
    }
    for (size_t i = 0; i < s->count; i++) { /* 3 */
        unit_depart_put(p, in, s->keys[i], s->members[i]);
    }
    if (!s->dying || s->end) { /* 2 */
        units_job_finish(s->job, in, p);
    } else {
        Board__JobRecord *job = units_job_copy(p->arena, s->job);
        job->units->cursor = arena_strdup(p->arena, s->cursor);
        units_job_advance(job, in, p);
    }
    units_plan_check(p);
}

const struct op_row depart_unit_job_row = {
    .name = "job of departing memberships",
    .target = unit_of_job,
    .gather = depart_gather,
    .decide = depart_decide,
    .snapshot_size = sizeof(struct depart_portion),
};

/* ---- Its end is forced ----------------------------------------------------------------------- */

struct force_portion {
    const Board__JobRecord *job;    /* NULL = it is over */
    const Board__UnitRecord *unit;  /* NULL = it is gone */
    const Board__UnitRecord *child; /* that has to go first, and that no job ends yet */
    struct nested_op move;          /* the next one of its end */
    size_t moves;                   /* 1, or 0: it waits for its subordinates */
};

static void set_move(struct view *v, const char *name, const char *key, const char *guid,
                     struct force_portion *s)
{
    struct arena *a = view_arena(v);
    Board__Move *m = move_new(a, name, key);
    m->body_case = BOARD__MOVE__BODY_UNITS;
    m->units = arena_message(a, &board__units_move__descriptor);
    m->units->guid = arena_strdup(a, guid);
    m->units->forced = true;
    const struct move_family *family =
        key_type(key) == RECORD_RELATION_MEMBER ? &member_moves : &unit_moves;
    s->move = (struct nested_op){.row = move_row_named(family, name)->op, .request = &m->base};
    s->moves = 1;
}

/* Of a dying unit: 1. its subordinates end first, 2. then it leaves one relation after the other,
 * 3. then it dies. */
static void gather_dying(struct view *v, const char *key, struct force_portion *s)
{
    struct arena *a = view_arena(v);
    struct unit_name name = unit_name_of(s->unit), child;
    const char *entry = view_peek_key(v, key_unit_children(a, name), NULL);
    const char *scope = view_peek_key(v, key_unit_scopes(a, name), NULL);
    if (entry) { /* 1 */
        const Board__UnitChildRecord *c = view_message(v, arena_strdup(a, entry));
        const Board__UnitRecord *u =
            unit_name_parse(a, c->unit, &child) ? view_message(v, key_unit(a, child)) : NULL;
        bool same = u && strcmp(u->guid, c->guid) == 0;
        s->child = same && !view_get(v, key_job(a, u->guid, FORCE_UNIT_JOB)) ? u : NULL;
    } else if (scope) { /* 2 */
        const Board__UnitScopeRecord *r = view_message(v, arena_strdup(a, scope));
        set_move(v, "leave", r->member, s->unit->guid, s);
    } else {
        set_move(v, "die", key, s->unit->guid, s); /* 3 */
    }
}

static void force_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct force_portion *s = snapshot;
    const char *key = unit_of_job(view_arena(v), in);
    s->job = units_job_gather(v, in);
    s->unit = s->job ? gather_unit(v, in, s->job) : NULL;
    if (!s->unit) {
        return;
    }
    int life = life_of(&unit_lifecycle, s->unit->state);
    if (life == UNIT_DYING) {
        gather_dying(v, key, s);
    } else {
        set_move(v, life == UNIT_ALIVE ? "destroy" : "remove", key, s->unit->guid, s);
    }
    nested_gather(v, in, &s->move, s->moves);
}

/* 1. The job is over: nothing.
 * 2. The unit is gone: the job ends.
 * 3. A subordinate has to go first: a job of its own ends that, at once.
 * 4. The next of the ordinary moves of its end, forced. */
static void force_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct force_portion *s = snapshot;
    if (!s->job) { /* 1 */
        return;
    }
    if (!s->unit) { /* 2 */
        units_job_finish(s->job, in, p);
    } else if (s->child) { /* 3 */
        force_unit_open(p, in, s->child, -1, in->now.wall_ns);
    } else {
        nested_decide(&s->move, s->moves, in, p); /* 4 */
    }
}

const struct op_row force_unit_job_row = {
    .name = "job of a forced end",
    .target = unit_of_job,
    .gather = force_gather,
    .decide = force_decide,
    .snapshot_size = sizeof(struct force_portion),
};
