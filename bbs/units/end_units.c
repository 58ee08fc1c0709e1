#include "bbs/units/end_units.h"

#include "bbs/board/nested.h"
#include "bbs/units/facts.h"
#include "bbs/units/references.h"
#include "bbs/units/unit_jobs.h"
#include "bbs/units/units.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"
#include "common/lifecycle/unit_status.h"
#include "common/model/moves.h"

#include <assert.h>
#include <string.h>

/* Records of units that one portion looks through; changes and compares of those that it destroys,
 * which leave room for the job and the service. */
enum { UNITS_SEEN_MAX = 512, CHANGES_MAX = 60, COMPARES_MAX = 108 };

void end_units_open(struct plan *p, const struct op_input *in, const Board__UnitServiceRecord *s,
                    bool forced, int64_t max_wait_ms)
{
    Board__JobRecord *job = units_job_new(p->arena, in, BOARD__JOB_RECORD__KIND__END_UNITS, s->guid,
                                          forced ? FORCE_UNITS_JOB : "units");
    job->units->service = s->name;
    job->units->guid = s->guid;
    job->units->since = in->now.wall_ns;
    job->units->forced = forced;
    job->units->max_wait_ms = max_wait_ms;
    job->not_before = forced ? in->now.wall_ns + force_wait_ns(max_wait_ms) : 0;
    units_job_open(job, in, p);
}

/* It waits for a machine: nothing of it is anywhere. */
struct waiting_unit {
    struct unit_name name;
    bool status;
};

struct end_units_portion {
    const Board__JobRecord *job; /* NULL = it is over */
    bool service, dying;         /* the job's service is there; it is dying */
    bool all;                    /* those that are on machines too */
    struct waiting_unit waiting[END_UNITS_AT_ONCE];
    size_t waiting_count;
    struct drop drop; /* with these */
    struct nested_op moves[NESTED_OPS_MAX];
    size_t move_count;
    unsigned changes, compares;
    const Board__UnitRecord *forced[FORCED_AT_ONCE]; /* of a forced job: no other one ends them */
    size_t forced_count;
    const char *cursor; /* the last unit that was looked at */
    bool end;           /* no unit comes after it */
};

static bool unit_is_alive(const Board__UnitRecord *u)
{
    return life_of(&unit_lifecycle, u->state) == UNIT_ALIVE;
}

/* False: the portion has no room for it. */
static bool take_waiting(struct view *v, struct unit_name name, struct gone_keys *gone,
                         struct end_units_portion *s)
{
    struct arena *a = view_arena(v);
    if (s->move_count > 0 || s->waiting_count == END_UNITS_AT_ONCE) {
        return false;
    }
    const Board__UnitRecord *u = view_message(v, key_unit(a, name));
    bool status = view_get(v, key_unit_status(a, name));
    bool alone = view_range_empty(v, key_unit_children(a, name)) &&
                 view_range_empty(v, key_unit_scopes(a, name));
    if (u && alone) {
        gone_add(gone, key_unit(a, name));
        s->waiting[s->waiting_count++] = (struct waiting_unit){name, status};
    }
    return true;
}

static bool take_placed(struct view *v, const char *key, const Board__UnitRecord *u,
                        struct end_units_portion *s)
{
    struct arena *a = view_arena(v);
    unsigned scopes = (unsigned)view_peek_count(v, key_unit_scopes(a, unit_name_of(u)));
    bool many = scopes > UNIT_SCOPES_AT_ONCE; /* a job says of those that they depart */
    unsigned changes = s->changes + 1 + (many ? 1 : scopes);
    unsigned compares = s->compares + 12 + (many ? 0 : 2 * scopes);
    if (!s->all) {
        return true; /* its agent comes first */
    }
    /* Of two that go at once each would name the other one as the witness: one goes alone. */
    const Board__UnitStatusRecord *status =
        view_peek_message(v, key_unit_status(a, unit_name_of(u)));
    bool goes = status && life_of(&unit_status_lifecycle, status->state) == UNIT_STATUS_PENDING;
    bool first = s->move_count == 0 && s->waiting_count == 0;
    if (!first && (goes || s->waiting_count > 0 || s->move_count == NESTED_OPS_MAX ||
                   changes > CHANGES_MAX || compares > COMPARES_MAX)) {
        return false;
    }
    Board__Move *m = move_new(a, "destroy", key);
    m->body_case = BOARD__MOVE__BODY_UNITS;
    m->units = arena_message(a, &board__units_move__descriptor);
    m->units->guid = u->guid;
    s->moves[s->move_count++] =
        (struct nested_op){.row = move_row_named(&unit_moves, "destroy")->op, .request = &m->base};
    s->changes = goes ? CHANGES_MAX : changes;
    s->compares = compares;
    return true;
}

/* Whatever its life: a job of its own ends it. */
static bool take_forced(struct view *v, const Board__UnitRecord *u, struct end_units_portion *s)
{
    if (s->forced_count == FORCED_AT_ONCE) {
        return false;
    }
    if (!view_get(v, key_job(view_arena(v), u->guid, FORCE_UNIT_JOB))) {
        s->forced[s->forced_count++] = u;
    }
    return true;
}

static void look_through(struct view *v, struct end_units_portion *s, struct gone_keys *gone)
{
    struct arena *a = view_arena(v);
    const char *range = key_range_of(a, RECORD_UNIT, s->job->units->service);
    const char *last = s->job->units->cursor;
    s->cursor = last;
    for (int i = 0; i < UNITS_SEEN_MAX; i++) {
        const char *key = units_key_after(v, range, s->cursor);
        if (!key) {
            s->end = true;
            return;
        }
        const Board__UnitRecord *u = view_peek_message(v, key);
        bool waits = u && strcmp(u->place, UNIT_PLACE_UNASSIGNED) == 0;
        bool forced = u && s->job->units->forced;
        bool taken =
            forced || !u || !unit_is_alive(u) ||
            (waits ? take_waiting(v, unit_name_of(u), gone, s) : take_placed(v, key, u, s));
        if (!taken || (forced && !take_forced(v, u, s))) {
            return;
        }
        s->cursor = key;
    }
}

static void end_units_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct end_units_portion *s = snapshot;
    struct gone_keys gone = {.count = 0};
    s->job = units_job_gather(v, in);
    if (!s->job) {
        return;
    }
    const Board__UnitServiceRecord *service = units_job_service(v, s->job);
    s->service = service;
    s->dying = service && life_of(&unit_service_lifecycle, service->state) == UNIT_SERVICE_DYING;
    s->all = s->job->units->left > 0 || s->job->units->forced;
    if (!s->dying) {
        return;
    }
    look_through(v, s, &gone);
    nested_gather(v, in, s->moves, s->move_count);
    if (s->waiting_count > 0) {
        drop_gather(v, in, service->name, service->guid, &gone, &s->drop);
    }
}

static void put_waiting_end(const struct waiting_unit *w, const struct op_input *in, struct plan *p)
{
    life_change(p, in, &unit_lifecycle, UNIT_ALIVE, UNIT_TRIGGER_DESTROY,
                UNIT_IF_PRINCIPAL | UNIT_IF_PENDING | UNIT_IF_NO_CHILDREN | UNIT_IF_NO_SCOPES |
                    UNIT_IF_SERVICE_DYING,
                key_unit(p->arena, w->name), NULL);
    if (w->status) {
        life_change(p, in, &unit_status_lifecycle, UNIT_STATUS_PENDING, UNIT_STATUS_TRIGGER_END, 0,
                    key_unit_status(p->arena, w->name), NULL);
    }
}

/* 1. The job is over: nothing.
 * 2. The service is gone, or not dying: the job ends. A forced one waits for many relations.
 * 3. What the portion found ends; the job goes on from there.
 * 4. Those that wait are through: the others follow, when their agents have had their time.
 * 5. All are through: the job ends. */
static void end_units_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct end_units_portion *s = snapshot;
    if (!s->job) { /* 1 */
        return;
    }
    if (!s->dying) { /* 2 */
        if (!s->service || !s->job->units->forced) {
            units_job_finish(s->job, in, p);
        }
        return;
    }
    if (!nested_decide(s->moves, s->move_count, in, p)) { /* 3 */
        return;
    }
    for (size_t i = 0; i < s->waiting_count; i++) {
        put_waiting_end(&s->waiting[i], in, p);
    }
    if (s->waiting_count > 0) {
        drop_put_alone(&s->drop, in, p);
    }
    for (size_t i = 0; i < s->forced_count; i++) {
        force_unit_open(p, in, s->forced[i], -1, in->now.wall_ns);
    }
    Board__JobRecord *job = units_job_copy(p->arena, s->job);
    job->units->cursor = arena_strdup(p->arena, s->cursor);
    if (s->end && s->all) { /* 5 */
        units_job_finish(job, in, p);
    } else {
        if (s->end) { /* 4 */
            job->units->left = 1;
            job->units->cursor = arena_strdup(p->arena, "");
            job->not_before = job->units->since + END_UNITS_AGENTS_S * SECOND_NS;
        }
        units_job_advance(job, in, p);
    }
    units_plan_check(p);
}

const struct op_row end_units_job_row = {
    .name = "job of ended units",
    .target = units_job_of_service,
    .gather = end_units_gather,
    .decide = end_units_decide,
    .snapshot_size = sizeof(struct end_units_portion),
};
