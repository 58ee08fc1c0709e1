/* The table of docs/units.md, The agent. The first row that holds is done.
 *  0. The board is not confirmed: a hook that runs goes on and its end is noted, nothing else. The
 *     journal is not understood: nothing is done but rows 1 and 2.
 *  1. A container whose unit is not on the board, not here, or of another guid: recall it. One of
 *     another epoch is kept until an operator recalls it.
 *  2. Dead: recall the container; remove the unit.
 *  3. Dying, never installed, in no scope: it is not deployed just to die.
 *  4. Alive, and there is a reason to end it: destroy it.
 *  5. Dying, with subordinates that are Alive: destroy these.
 *  6. No room is set aside: set it aside. 7. No container: make it. Both when Dying only if hooks
 *     are owed; if they fail then, the hooks count as done: leave each scope, and die.
 *  8. A hook runs: wait, for its time at most. It has ended: note that. It is noted and has not
 *     begun: execute it, once the board does not say any more that one is in error.
 *  9. A hook is in error: nothing, not even die. 10. It is resolved: note it again, or take it as
 *     done. One whose end is lost is noted again without asking.
 * 11. What hooks have set is published; then the hook or the scope that hook_next() names.
 * 12. Dying, no scope left, stop is done: report that; die when no subordinate is left.
 * 13. An Alive relation that it implements and has not entered: enter it; if that brings a
 *     subordinate, get a number first. What was refused waits until its cause is another. */
#include "rep/unit/agent.h"

#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_agent.h"
#include "common/lifecycle/unit_service.h"
#include "common/lifecycle/unit_status.h"
#include "rep/unit/agent_status.h"

#include <assert.h>
#include <string.h>

/* What the rows have in common. */
struct outlook {
    struct arena *arena;
    const struct agent_facts *f;
    bool own;  /* the board has this very unit, of this cell */
    int life;  /* of its record */
    bool understood;         /* the journal is, or there is none to understand */
    Rep__UnitNote *journal;  /* as the board has it */
    struct hook_world world;
    struct hook_step hook;
    bool board_error; /* its status says that a hook is in error */
    Board__UnitStatusRecord *status; /* to be reported */
    bool fails;
};

static struct agent_step step_of(int row, enum agent_act act, const char *why)
{
    return (struct agent_step){.row = row, .act = act, .why = why, .look_again_ns = NEVER_NS};
}

static struct agent_step wait_for(int row, const char *why)
{
    return step_of(row, AGENT_WAIT, why);
}

/* ---- The look at it all ---------------------------------------------------------------------- */

static bool unit_is_here(const struct agent_facts *f)
{
    return f->unit && strcmp(f->unit->guid, f->guid) == 0 &&
           strcmp(f->unit->cell_id, f->cell_id) == 0 &&
           strcmp(f->unit->identity, f->identity) == 0;
}

static enum hook_resolution resolution_of(const Board__UnitStatusRecord *status, bool board_error)
{
    return !board_error                                                  ? HOOK_UNRESOLVED
           : status->resolved == BOARD__UNIT_STATUS_RECORD__RESOLVED__RETRY ? HOOK_RETRY
           : status->resolved == BOARD__UNIT_STATUS_RECORD__RESOLVED__SKIP  ? HOOK_SKIP
                                                                            : HOOK_UNRESOLVED;
}

static void look_at_hooks(struct outlook *o)
{
    const struct agent_facts *f = o->f;
    const Rep__UnitNote *before = f->journal ? f->journal : journal_new(o->arena, f->sight.epoch);
    struct unit_sight seen = f->sight;
    seen.alive = o->life == UNIT_ALIVE;
    seen.resolution = resolution_of(f->status, o->board_error);
    o->journal = journal_adopt(o->arena, before, &seen, false);
    o->world = journal_world(o->arena, o->journal, &seen);
    o->hook = hook_next(&o->world);
    o->status = agent_status_due(o->arena, f, o->journal, &o->world, &o->fails);
}

static struct outlook look(struct arena *a, const struct agent_facts *f)
{
    struct outlook o = {.arena = a, .f = f, .own = unit_is_here(f)};
    assert(f->child_count <= AGENT_CHILDREN_MAX && *f->guid);
    assert(f->journal ? f->container != AGENT_CONTAINER_NONE : !f->run);
    o.life = o.own ? lifecycle_state(&unit_lifecycle, f->unit->state) : UNIT_NONE;
    o.understood = f->journal || f->container == AGENT_CONTAINER_NONE;
    o.board_error =
        o.own && f->status &&
        lifecycle_state(&unit_status_lifecycle, f->status->state) == UNIT_STATUS_ERROR;
    if (o.understood && (o.life == UNIT_ALIVE || o.life == UNIT_DYING)) {
        look_at_hooks(&o);
    }
    return o;
}

static bool is_dying(const struct outlook *o)
{
    return o->life == UNIT_DYING;
}

/* A hook is owed, or one has begun and has no end that counts. */
static bool owes_hook(const struct outlook *o)
{
    return o->world.current.hook || o->hook.act == HOOK_RUN;
}

static bool has_no_room(const struct agent_facts *f)
{
    return !f->room && f->room_lacking;
}

/* Its container cannot be had any more, so that its hooks count as done. */
static bool is_given_up(const struct outlook *o)
{
    enum agent_container c = o->f->container;
    bool without = c == AGENT_CONTAINER_NONE || c == AGENT_CONTAINER_DOWN;
    return is_dying(o) && without &&
           (has_no_room(o->f) || o->f->make_failures >= AGENT_MAKES_MAX);
}

/* ---- Rows 0 to 3 ----------------------------------------------------------------------------- */

static struct agent_step recall(int row, const struct agent_facts *f, const char *why)
{
    assert(f->container != AGENT_CONTAINER_NONE);
    return f->container == AGENT_CONTAINER_ENDING
               ? wait_for(row, "its container is being stopped and deleted")
               : step_of(row, AGENT_RECALL, why);
}

/* Row 1. */
static struct agent_step not_here(const struct agent_facts *f)
{
    bool same_board = f->journal && strcmp(f->journal->epoch, f->sight.epoch) == 0;
    if (f->container == AGENT_CONTAINER_NONE) {
        return wait_for(1, "the unit is not of this cell, and nothing of it is here");
    }
    if (!same_board && !f->recall_asked) {
        return wait_for(1, "unknown: it was told of a board that was restored since, or by another "
                           "version of the rep; `rep recall` ends it");
    }
    return recall(1, f, "its unit is not on the board, not of this cell, or another one");
}

/* Row 2. */
static struct agent_step dead(const struct agent_facts *f)
{
    return f->container == AGENT_CONTAINER_NONE ? step_of(2, AGENT_REMOVE, "it is Dead")
                                                : recall(2, f, "it is Dead");
}

/* Rows 3 and 12: what holds it when it owes nothing any more. */
static struct agent_step die(int row, const struct outlook *o, const char *why)
{
    assert(is_dying(o) && o->f->sight.relation_count == 0);
    return o->f->child_count ? wait_for(row, "its subordinates have to go first")
                             : step_of(row, AGENT_DIE, why);
}

static bool is_undeployed(const struct outlook *o)
{
    return is_dying(o) && !o->journal->installed && !o->journal->hook &&
           o->f->sight.relation_count == 0;
}

/* ---- Rows 4 and 5 ---------------------------------------------------------------------------- */

static const Board__RelationEnd *end_of(const Board__RelationRecord *r, const char *service,
                                        const char *guid)
{
    for (size_t i = 0; i < r->n_ends; i++) {
        if (strcmp(r->ends[i]->service, service) == 0 &&
            (!guid || strcmp(r->ends[i]->service_guid, guid) == 0)) {
            return r->ends[i];
        }
    }
    return NULL;
}

static bool is_alive_relation(const Board__RelationRecord *r)
{
    return lifecycle_state(&relation_lifecycle, r->state) == RELATION_ALIVE;
}

static bool is_container_relation(const Board__RelationRecord *r)
{
    return r->scope == BOARD__ENDPOINT__SCOPE__CONTAINER;
}

static bool is_joined_to(const struct agent_facts *f, const char *principal)
{
    bool joined = false;
    for (size_t i = 0; i < f->relation_count && !joined; i++) {
        const Board__RelationRecord *r = f->relations[i].record;
        joined = is_alive_relation(r) && is_container_relation(r) && end_of(r, principal, NULL);
    }
    return joined;
}

/* Row 4: why a unit that is Alive has to go; NULL = it has not. */
static const char *reason(const struct agent_facts *f)
{
    if (f->service &&
        lifecycle_state(&unit_service_lifecycle, f->service->state) == UNIT_SERVICE_DYING) {
        return "its service is Dying";
    }
    if (!*f->unit->principal) {
        return NULL;
    }
    if (!f->principal || lifecycle_state(&unit_lifecycle, f->principal->state) != UNIT_ALIVE) {
        return "its principal is not Alive";
    }
    return is_joined_to(f, f->principal->service)
               ? NULL
               : "no Alive relation joins its service with its principal's";
}

/* Row 5. */
static const struct agent_child *alive_child(const struct agent_facts *f)
{
    for (size_t i = 0; i < f->child_count; i++) {
        if (f->children[i].alive) {
            return &f->children[i];
        }
    }
    return NULL;
}

static struct agent_step destroy_child(const struct agent_child *c)
{
    struct agent_step s = step_of(5, AGENT_DESTROY_CHILD, "its principal is Dying");
    s.child = c->name;
    return s;
}

/* ---- Rows 6 and 7 ---------------------------------------------------------------------------- */

static struct agent_step publish_first(const struct outlook *o, int row)
{
    struct agent_step s = step_of(row, AGENT_PUBLISH, "its hooks have set it");
    s.relation = o->journal->unpublished[0]->relation;
    return s;
}

/* What it does when its container cannot be had any more. */
static struct agent_step give_up(const struct outlook *o)
{
    const struct agent_facts *f = o->f;
    if (f->sight.relation_count == 0) {
        return die(12, o, "its container could not be made: its hooks count as done");
    }
    if (o->journal->n_unpublished) {
        return publish_first(o, 7);
    }
    struct agent_step s =
        step_of(7, AGENT_LEAVE, "its container could not be made: its hooks count as done");
    s.relation = f->sight.relations[0].number;
    return s;
}

static struct agent_step deploy(const struct outlook *o)
{
    const struct agent_facts *f = o->f;
    if (f->container == AGENT_CONTAINER_MAKING || f->container == AGENT_CONTAINER_ENDING) {
        return wait_for(7, f->container == AGENT_CONTAINER_MAKING
                               ? "its container is being made"
                               : "its former container is being deleted");
    }
    if (!f->room) {
        return f->room_lacking ? wait_for(6, "there is no room for it on this cell")
                               : step_of(6, AGENT_SET_ASIDE, "room for its container");
    }
    if (f->now_ns < f->make_again_ns) {
        struct agent_step s = wait_for(7, "its container could not be made; it is tried again");
        s.look_again_ns = f->make_again_ns;
        return s;
    }
    struct agent_step s = step_of(7, AGENT_MAKE, "it has none");
    s.journal = o->journal;
    return s;
}

/* ---- Rows 8 to 11: hooks --------------------------------------------------------------------- */

static const char *busy(const struct agent_facts *f)
{
    return f->group_busy  ? "a hook of its principal, or of another subordinate of that, runs"
           : f->cell_busy ? "as many hooks run as this cell runs at once"
                          : NULL;
}

/* What is to be done about a hook that the journal notes; it is not for the board to say. */
static struct agent_step after_run(struct arena *a, const struct agent_facts *f,
                                   const Rep__UnitNote *j, int row)
{
    static const enum journal_end ends[] = {[AGENT_RUN_GOOD] = JOURNAL_GOOD,
                                            [AGENT_RUN_BAD] = JOURNAL_BAD,
                                            [AGENT_RUN_LOST] = JOURNAL_LOST};
    assert(f->run != AGENT_RUN_NONE);
    if (f->run == AGENT_RUN_GOES) {
        struct agent_step s = f->now_ns < f->run_limit_ns
                                  ? wait_for(row, "a hook runs")
                                  : step_of(row, AGENT_CUT, "its hook has taken too long");
        s.look_again_ns = s.act == AGENT_WAIT ? f->run_limit_ns : NEVER_NS;
        return s;
    }
    struct agent_step s = step_of(row, AGENT_END, "its hook has ended");
    s.hook = (struct hook_subject){(enum unit_hook)j->hook->hook, j->hook->relation, j->hook->unit};
    s.journal = journal_end(a, j, ends[f->run], f->run_text);
    return s;
}

static struct agent_step report_first(const struct outlook *o, int row)
{
    return o->status ? step_of(row, AGENT_REPORT, "the board has it otherwise")
                     : wait_for(row, "the board says that a hook is in error: resolve it");
}

/* Row 8. Once the board does not say error any more, what somebody resolved counts once. */
static struct agent_step hook_noted(const struct outlook *o)
{
    const struct agent_facts *f = o->f;
    if (f->run != AGENT_RUN_NONE) {
        return after_run(o->arena, f, o->journal, 8);
    }
    if (o->board_error) {
        return report_first(o, 8);
    }
    struct agent_step s =
        busy(f) ? wait_for(8, busy(f)) : step_of(8, AGENT_EXECUTE, "it is noted, and never began");
    s.hook = o->world.current;
    return s;
}

static struct agent_step note(const struct outlook *o, int row)
{
    if (busy(o->f)) {
        return wait_for(row, busy(o->f));
    }
    struct agent_step s = step_of(row, AGENT_NOTE, "it comes next");
    s.hook = o->hook.subject;
    s.journal = journal_begin(o->arena, o->journal, &o->hook, o->f->sight.charm, o->f->token);
    return s;
}

/* Rows 9 and 10. The error may be one of a container that has gone since, with its journal. */
static struct agent_step hook_in_error(const struct outlook *o)
{
    if (!o->world.current.hook) {
        return report_first(o, o->status ? 10 : 9);
    }
    if (o->hook.act == HOOK_WAIT) {
        return wait_for(9, arena_printf(o->arena, "its hook %s is in error: resolve it",
                                        hook_name(o->world.current.hook)));
    }
    if (o->hook.act == HOOK_RUN) {
        return note(o, 10);
    }
    struct agent_step s = step_of(10, AGENT_ACCEPT, "somebody said that it counts as done");
    s.hook = o->world.current;
    s.journal = journal_accept(o->arena, o->journal);
    return s;
}

/* Row 11. */
static struct agent_step go_on(const struct outlook *o)
{
    if (o->journal->n_unpublished) {
        return publish_first(o, 11);
    }
    if (o->hook.act == HOOK_RUN) {
        return note(o, 11);
    }
    assert(o->hook.act == HOOK_LEAVE);
    struct agent_step s = step_of(11, AGENT_LEAVE, "the relation owes it no hook any more");
    s.relation = o->hook.subject.relation;
    return s;
}

/* ---- Row 12 ---------------------------------------------------------------------------------- */

static struct agent_step take_leave(const struct outlook *o)
{
    assert(o->journal->stopped);
    bool told = o->f->status && o->f->status->stopped;
    return told || !o->status ? die(12, o, "its stop has run")
                              : step_of(12, AGENT_REPORT, "its stop has run");
}

/* ---- Row 13 ---------------------------------------------------------------------------------- */

static bool is_member(const struct agent_facts *f, uint32_t relation)
{
    bool member = false;
    for (size_t i = 0; i < f->sight.relation_count; i++) {
        member = member || f->sight.relations[i].number == relation;
    }
    return member;
}

/* Those in whose scope it sits: a subordinate does not enter a relation with a principal's service
 * that is not its principal's. */
static bool implements(const struct agent_facts *f, const Board__RelationRecord *r)
{
    bool sits = !is_container_relation(r) || !*f->unit->principal ||
                end_of(r, f->principal->service, f->principal->service_guid);
    return is_alive_relation(r) && sits && end_of(r, f->unit->service, f->unit->service_guid);
}

/* A principal that enters brings a subordinate of the other service, if it has none. */
static bool brings(const struct agent_facts *f, const struct agent_relation *r)
{
    return is_container_relation(r->record) && !*f->unit->principal &&
           (!r->other || r->other->subordinate);
}

static const struct agent_child *child_of(const struct agent_facts *f,
                                          const struct agent_relation *r)
{
    for (size_t i = 0; i < f->child_count && r->other; i++) {
        if (strcmp(f->children[i].name.service, r->other->name) == 0) {
            return &f->children[i];
        }
    }
    return NULL;
}

struct agent_cause agent_cause_of(const struct agent_facts *f, const struct agent_relation *r)
{
    bool with_child = brings(f, r);
    const struct agent_child *child = with_child ? child_of(f, r) : NULL;
    struct agent_cause c = {.unit = f->revision, .relation = r->revision};
    c.child = child ? child->revision : 0;
    c.service = with_child ? r->other_revision : 0;
    c.number = with_child && !child && r->has_number ? r->number : 0;
    return c;
}

static bool is_refused_still(const struct agent_facts *f, const struct agent_relation *r)
{
    struct agent_cause now = agent_cause_of(f, r);
    return r->was_refused && now.unit == r->refused.unit && now.relation == r->refused.relation &&
           now.child == r->refused.child && now.service == r->refused.service &&
           now.number == r->refused.number;
}

static struct agent_step enter(const struct agent_relation *r)
{
    struct agent_step s = step_of(13, AGENT_ENTER, "it is Alive, and its service has an end there");
    s.relation = r->record->number;
    s.relation_guid = r->record->guid;
    return s;
}

/* 1. Refused, and nothing that it was judged by is another: for good.
 * 2. It brings no subordinate, or has it already: enter.
 * 3. The subordinate that it has takes its leave: not yet.
 * 4. The other service is not known, or not Alive; or it has as many as it may: not now.
 * 5. A number for a new one, then enter with it. */
static struct agent_step try_enter(const struct agent_facts *f, const struct agent_relation *r)
{
    const struct agent_child *child = brings(f, r) ? child_of(f, r) : NULL;
    if (is_refused_still(f, r)) { /* 1 */
        return wait_for(13, "a relation cannot be entered: the board refused it");
    }
    if (!brings(f, r) || (child && child->alive)) { /* 2 */
        return enter(r);
    }
    if (child) { /* 3 */
        return wait_for(13, "a relation cannot be entered yet: its subordinate has to go first");
    }
    if (!r->other ||
        lifecycle_state(&unit_service_lifecycle, r->other->state) != UNIT_SERVICE_ALIVE) { /* 4 */
        return wait_for(13, "a relation cannot be entered: its service is not Alive, or not known");
    }
    if (f->child_count == AGENT_CHILDREN_MAX) { /* 4 */
        return wait_for(13, "a relation cannot be entered: the unit has 8 subordinates");
    }
    struct agent_step s = enter(r);
    if (!r->has_number) { /* 5 */
        s = step_of(13, AGENT_NUMBERS, "a subordinate is to be made");
        s.service = r->other->name;
        return s;
    }
    s.brings_child = true;
    s.child = (struct unit_name){r->other->name, r->number};
    return s;
}

/* The first that can be entered; else the first that waits. */
static struct agent_step enter_relations(const struct agent_facts *f)
{
    struct agent_step first = wait_for(13, "nothing is to be done");
    bool full = f->sight.relation_count >= HOOK_RELATIONS_MAX, held = false;
    for (size_t i = 0; i < f->relation_count; i++) {
        const struct agent_relation *r = &f->relations[i];
        if (is_member(f, r->record->number) || !implements(f, r->record)) {
            continue;
        }
        struct agent_step s =
            full ? wait_for(13, "a relation cannot be entered: it is in 64") : try_enter(f, r);
        if (s.act != AGENT_WAIT) {
            return s;
        }
        first = held ? first : s;
        held = true;
    }
    return first;
}

/* ---- The ladder ------------------------------------------------------------------------------ */

/* Rows 8 to 13: what has its container, or needs none. */
static struct agent_step with_container(const struct outlook *o)
{
    const struct agent_facts *f = o->f;
    bool running = o->world.current.hook && !o->world.error;
    if (running) {
        return hook_noted(o); /* 8 */
    }
    if (o->world.current.hook || o->board_error) {
        return hook_in_error(o); /* 9, 10 */
    }
    if (o->journal->n_unpublished || o->hook.act != HOOK_WAIT) {
        return go_on(o); /* 11 */
    }
    if (is_dying(o)) {
        return take_leave(o); /* 12 */
    }
    assert(o->journal->started);
    return enter_relations(f); /* 13 */
}

/* Rows 3 to 13: a unit of this cell that is not Dead. */
static struct agent_step while_it_lives(const struct outlook *o)
{
    const struct agent_facts *f = o->f;
    const char *why = is_dying(o) ? NULL : reason(f);
    const struct agent_child *child = is_dying(o) ? alive_child(f) : NULL;
    if (is_undeployed(o) && !child) { /* 3 */
        return die(3, o, "it was never installed");
    }
    if (why) { /* 4 */
        return step_of(4, AGENT_DESTROY, why);
    }
    if (child) { /* 5 */
        return destroy_child(child);
    }
    if (is_given_up(o)) { /* 6, 7 */
        return give_up(o);
    }
    if (f->container != AGENT_CONTAINER_UP && (!is_dying(o) || owes_hook(o))) { /* 6, 7 */
        return deploy(o);
    }
    if (f->journal && strcmp(f->journal->epoch, f->sight.epoch) != 0) { /* 8 */
        struct agent_step s = step_of(8, AGENT_ADOPT, "the board was restored");
        s.journal = o->journal;
        return s;
    }
    return with_container(o);
}

struct agent_step agent_next(struct arena *a, const struct agent_facts *f)
{
    struct outlook o = look(a, f);
    const Rep__UnitNote *j = f->journal;
    if (!f->confirmed) { /* 0 */
        return j && j->hook && f->run != AGENT_RUN_NONE
                   ? after_run(a, f, j, 0)
                   : wait_for(0, "no bbs has answered yet: what the board has is not known");
    }
    if (!o.own) {
        return not_here(f); /* 1 */
    }
    if (o.life == UNIT_DEAD) {
        return dead(f); /* 2 */
    }
    if (!o.understood) { /* 0 */
        return wait_for(0, "its journal was written by another version of the rep");
    }
    struct agent_step s = while_it_lives(&o);
    s.status = o.status;
    s.fails = o.status && o.fails;
    return s;
}

/* ---- How far it is --------------------------------------------------------------------------- */

static int state_by_journal(const struct outlook *o)
{
    const Rep__UnitNote *j = o->journal;
    bool current = o->world.current.hook != HOOK_NONE;
    bool failed = current && o->world.error && !j->hook->lost;
    return failed                                  ? UNIT_AGENT_ERROR
           : !j->installed && !current             ? UNIT_AGENT_MADE
           : !j->started                           ? UNIT_AGENT_INSTALLING
           : current                               ? UNIT_AGENT_HOOK
           : j->stopped                            ? UNIT_AGENT_STOPPED
           : o->hook.act == HOOK_LEAVE             ? UNIT_AGENT_LEAVING
                                                   : UNIT_AGENT_IDLE;
}

int agent_state(struct arena *a, const struct agent_facts *f)
{
    struct outlook o = look(a, f);
    if (!o.own || o.life == UNIT_DEAD) {
        return f->container != AGENT_CONTAINER_NONE ? UNIT_AGENT_RECALLED
               : o.own                              ? UNIT_AGENT_UNDEPLOYED
                                                    : UNIT_AGENT_NONE;
    }
    return f->container == AGENT_CONTAINER_UP && o.understood ? state_by_journal(&o)
                                                              : UNIT_AGENT_UNDEPLOYED;
}

const char *agent_act_name(enum agent_act act)
{
    static const char *const names[AGENT_ACT_COUNT] = {
        "wait",      "recall", "remove",  "die",    "destroy", "destroy_child", "set_aside",
        "make",      "adopt",  "note",    "end",    "accept",  "execute",       "cut",
        "publish",   "leave",  "report",  "numbers", "enter"};
    assert(act < AGENT_ACT_COUNT);
    return names[act];
}
