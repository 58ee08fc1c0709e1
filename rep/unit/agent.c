/* The table of docs/units.md, The agent. The first row that holds is done.
 *  0. The board is not confirmed: a hook that runs goes on and its end is noted, nothing else. The
 *     journal is not understood: nothing is done but rows 1 and 2.
 *  1. A container whose unit is not on the board, not here, or of another guid: recall it. One of
 *     another epoch is kept until an operator recalls it; but of a subordinate, what its principal
 *     waits for goes: all of it if that is Dead, and the container alone if that has ended.
 *  2. Dead: recall the container; remove the unit.
 *  3. Dying, never installed, in no scope: it is not deployed just to die. A hook that is being
 * noted while that is heard begins.
 *  4. Alive, and there is a reason to end it: destroy it.
 *  5. Dying, with subordinates that are Alive: destroy these.
 *  6. No room is set aside: set it aside. 7. No container: make it; if files of one went, with what
 *     is left of its journal, once the end of its hook is noted, and an error said. Both when Dying
 *     only if hooks are owed; if they fail then, the hooks count as done: leave each scope, and
 *     die. Of a subordinate: its principal's container is there first; if that ends, its own goes,
 *     and is made anew. What subordinates share is deleted after theirs, in rows 1 and 2 too.
 *  8. A hook runs: wait, for its time at most. It has ended: note that. It is noted and has not
 *     begun: execute it, once the board does not say any more that one is in error.
 *  9. A hook is in error: nothing, not even die. 10. It is resolved: note it again, or take it as
 *     done. One whose end is lost is noted again without asking.
 * 11. What hooks have set is published; then the hook or the scope that hook_next() names. If that
 *     comes with a charm that asks for another container, the one that is there goes first, and
 *     row 7 makes the next.
 * 12. Dying, no scope left, stop is done: report that; die when no subordinate is left.
 * 13. An Alive relation that it implements and has not entered: enter it; if that brings a
 *     subordinate, get a number first. What was refused waits until its cause is another. */
#include "rep/unit/agent.h"

#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_agent.h"
#include "common/lifecycle/unit_status.h"
#include "rep/unit/agent_relations.h"
#include "rep/unit/agent_status.h"

#include <assert.h>
#include <string.h>

/* What the rows have in common. */
struct outlook {
    struct arena *arena;
    const struct agent_facts *f;
    bool own;               /* the board has this very unit, of this cell */
    int life;               /* of its record */
    bool understood;        /* the journal is, or there is none to understand */
    Rep__UnitNote *journal; /* as the board has it */
    struct hook_world world;
    struct hook_step hook;
    bool board_error;                /* its status says that a hook is in error */
    Board__UnitStatusRecord *status; /* to be reported */
    bool fails;
};

/* ---- The look at it all ---------------------------------------------------------------------- */

static bool unit_is_here(const struct agent_facts *f)
{
    return f->unit && strcmp(f->unit->guid, f->guid) == 0 &&
           strcmp(f->unit->cell_id, f->cell_id) == 0 && strcmp(f->unit->identity, f->identity) == 0;
}

static enum hook_resolution resolution_of(const Board__UnitStatusRecord *status, bool board_error)
{
    return !board_error                                                     ? HOOK_UNRESOLVED
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
    o->status = agent_status_due(o->arena, f, o->journal, &o->world, &o->hook, &o->fails);
}

static struct outlook look(struct arena *a, const struct agent_facts *f)
{
    struct outlook o = {.arena = a, .f = f, .own = unit_is_here(f)};
    assert(f->child_count <= AGENT_CHILDREN_MAX && *f->guid);
    assert(f->journal ? f->container != AGENT_CONTAINER_NONE : !f->run);
    o.life = o.own ? lifecycle_state(&unit_lifecycle, f->unit->state) : UNIT_NONE;
    o.understood = f->journal || f->container == AGENT_CONTAINER_NONE;
    o.board_error = o.own && f->status &&
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

static bool is_without(const struct agent_facts *f)
{
    return f->container == AGENT_CONTAINER_NONE || f->container == AGENT_CONTAINER_DOWN;
}

/* More of it than a note that outlives it. */
static bool has_files(const struct agent_facts *f)
{
    bool gone = f->container == AGENT_CONTAINER_DOWN && f->gone;
    return f->container != AGENT_CONTAINER_NONE && !gone;
}

static bool cannot_be_had(const struct agent_facts *f)
{
    return has_no_room(f) || f->make_failures >= AGENT_MAKES_MAX ||
           f->principal_container == AGENT_PRINCIPAL_GONE;
}

/* Its container cannot be had any more, so that its hooks count as done. */
static bool is_given_up(const struct outlook *o)
{
    return is_dying(o) && is_without(o->f) && cannot_be_had(o->f);
}

#define SHARED "the containers of its subordinates have to go first"

/* ---- Rows 0 to 3 ----------------------------------------------------------------------------- */

static struct agent_step recall(int row, const struct agent_facts *f, const char *why)
{
    assert(f->container != AGENT_CONTAINER_NONE);
    return f->container == AGENT_CONTAINER_ENDING
               ? agent_wait(row, "its container is being stopped and deleted")
           : f->shared ? agent_wait(row, SHARED)
                       : agent_step_of(row, AGENT_RECALL, why);
}

static bool principal_is_dead(const struct agent_facts *f)
{
    return f->principal && lifecycle_state(&unit_lifecycle, f->principal->state) == UNIT_DEAD;
}

/* Row 1, what a restored board forgot. The board may be restored once more, from a later snapshot:
 * that is for an operator to know.
 *  a. Its principal is Dead. This board never gives that a subordinate again, and it is not gone
 *     before the containers that stand on its own.
 *  b. The container of its principal has ended, and is made anew when no other one stands on it.
 *     What is known goes then too, but for its journal. */
static struct agent_step forgotten(const struct agent_facts *f)
{
    if (principal_is_dead(f)) { /* a */
        return recall(1, f, "a restored board forgot it, and its principal is Dead");
    }
    bool stands = f->principal && f->principal_container != AGENT_PRINCIPAL_UP;
    if (stands && f->journal && has_files(f) && f->container != AGENT_CONTAINER_ENDING) { /* b */
        return agent_step_of(1, AGENT_REMAKE,
                             "a restored board forgot it, and its principal's container has ended");
    }
    return agent_wait(1, "unknown: it was told of a board that was restored since, or by another "
                         "version of the rep; `rep recall` ends it");
}

/* Row 1. */
static struct agent_step not_here(const struct agent_facts *f)
{
    bool same_board = f->journal && strcmp(f->journal->epoch, f->sight.epoch) == 0;
    if (f->container == AGENT_CONTAINER_NONE) {
        return agent_wait(1, "the unit is not of this cell, and nothing of it is here");
    }
    return same_board || f->recall_asked
               ? recall(1, f, "its unit is not on the board, not of this cell, or another one")
               : forgotten(f);
}

/* Row 2. */
static struct agent_step dead(const struct agent_facts *f)
{
    return f->container == AGENT_CONTAINER_NONE ? agent_step_of(2, AGENT_REMOVE, "it is Dead")
                                                : recall(2, f, "it is Dead");
}

/* Rows 3 and 12: what holds it when it owes nothing any more. */
static struct agent_step die(int row, const struct outlook *o, const char *why)
{
    assert(is_dying(o) && o->f->sight.relation_count == 0);
    return o->f->child_count ? agent_wait(row, "its subordinates have to go first")
                             : agent_step_of(row, AGENT_DIE, why);
}

/* One whose container went with a hook in error is not: the error stands until it is resolved. */
static bool is_undeployed(const struct outlook *o)
{
    return is_dying(o) && !o->journal->installed && !o->journal->hook && !o->board_error &&
           o->f->sight.relation_count == 0;
}

/* ---- Row 5 ----------------------------------------------------------------------------------- */

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
    struct agent_step s = agent_step_of(5, AGENT_DESTROY_CHILD, "its principal is Dying");
    s.child = c->name;
    return s;
}

/* ---- Rows 6 and 7 ---------------------------------------------------------------------------- */

static struct agent_step publish_first(const struct outlook *o, int row)
{
    struct agent_step s = agent_step_of(row, AGENT_PUBLISH, "its hooks have set it");
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
        agent_step_of(7, AGENT_LEAVE, "its container could not be made: its hooks count as done");
    s.relation = f->sight.relations[0].number;
    return s;
}

/* The container of a subordinate that stands on one that has ended. A Dying one runs its last hooks
 * there if nothing else comes, and needs none when it has run them. */
static bool has_to_go(const struct outlook *o)
{
    const struct agent_facts *f = o->f;
    bool last = is_dying(o) && (f->principal_container == AGENT_PRINCIPAL_GONE || !owes_hook(o));
    return f->principal_container != AGENT_PRINCIPAL_UP && has_files(f) && !last;
}

/* Likewise, or it has none yet. */
static struct agent_step without_principal(const struct agent_facts *f)
{
    assert(f->principal_container != AGENT_PRINCIPAL_UP);
    return !has_files(f) ? agent_wait(7, "its principal's container has to be there first")
           : f->container == AGENT_CONTAINER_ENDING
               ? agent_wait(7, "its former container is being deleted")
               : agent_step_of(7, AGENT_REMAKE,
                               "its principal's container has ended: it is made anew with that");
}

/* When more is to be done about a hook that goes: it is reported, or cut. */
static int64_t next_look_ns(const struct agent_facts *f)
{
    int64_t told_ns = f->run_begun_ns == NEVER_NS ? NEVER_NS : f->run_begun_ns + AGENT_HOOK_TOLD_NS;
    return f->now_ns < told_ns && told_ns < f->run_limit_ns ? told_ns : f->run_limit_ns;
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
                                  ? agent_wait(row, "a hook runs")
                                  : agent_step_of(row, AGENT_CUT, "its hook has taken too long");
        s.look_again_ns = s.act == AGENT_WAIT ? next_look_ns(f) : NEVER_NS;
        return s;
    }
    struct agent_step s = agent_step_of(row, AGENT_END, "its hook has ended");
    s.hook = (struct hook_subject){(enum unit_hook)j->hook->hook, j->hook->relation, j->hook->unit};
    s.journal = journal_end(a, j, ends[f->run], f->run_text);
    return s;
}

static struct agent_step report_first(const struct outlook *o, int row)
{
    return o->status ? agent_step_of(row, AGENT_REPORT, "the board has it otherwise")
                     : agent_wait(row, "the board says that a hook is in error: resolve it");
}

/* Before the journal forgets it with its container: how its hook ended is noted, and if it is in
 * error, the board says so. */
static bool owes_end(const struct outlook *o, struct agent_step *ret)
{
    const Rep__UnitNoteHook *h = o->journal->hook;
    if (o->world.current.hook && !o->world.error && o->f->run != AGENT_RUN_NONE) {
        *ret = after_run(o->arena, o->f, o->journal, 7);
        return true;
    }
    if (o->world.current.hook && o->world.error && !h->lost && o->status) {
        *ret = report_first(o, 7);
        return true;
    }
    return false;
}

static struct agent_step deploy(const struct outlook *o)
{
    const struct agent_facts *f = o->f;
    bool remade = f->container == AGENT_CONTAINER_DOWN && f->anew;
    struct agent_step first;
    if (remade && owes_end(o, &first)) {
        return first;
    }
    if (f->principal_container != AGENT_PRINCIPAL_UP) {
        return without_principal(f);
    }
    if (f->container == AGENT_CONTAINER_MAKING || f->container == AGENT_CONTAINER_ENDING) {
        return agent_wait(7, f->container == AGENT_CONTAINER_MAKING
                                 ? "its container is being made"
                                 : "its former container is being deleted");
    }
    if (!f->room) {
        return f->room_lacking ? agent_wait(6, "there is no room for it on this cell")
                               : agent_step_of(6, AGENT_SET_ASIDE, "room for its container");
    }
    if (f->shared) {
        return agent_wait(7, SHARED);
    }
    if (f->now_ns < f->make_again_ns) {
        struct agent_step s = agent_wait(7, "its container could not be made; it is tried again");
        s.look_again_ns = f->make_again_ns;
        return s;
    }
    struct agent_step s = agent_step_of(7, AGENT_MAKE, "it has none");
    s.journal = remade ? journal_anew(o->arena, o->journal) : o->journal;
    return s;
}

/* ---- Rows 8 to 11: hooks --------------------------------------------------------------------- */

static const char *busy(const struct agent_facts *f)
{
    return f->group_busy  ? "a hook of its principal, or of another subordinate of that, runs"
           : f->cell_busy ? "as many hooks run as this cell runs at once"
                          : NULL;
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
    struct agent_step s = busy(f) ? agent_wait(8, busy(f))
                                  : agent_step_of(8, AGENT_EXECUTE, "it is noted, and never began");
    s.hook = o->world.current;
    return s;
}

/* With which its charm comes: in a container that was made for that. */
static bool installs(enum unit_hook hook)
{
    return hook == HOOK_INSTALL || hook == HOOK_UPGRADE;
}

/* A hook begins first where a container was made anew, or the rep came back: that is where those
 * that it is related to hear of another address. */
static const Rep__UnitNote *where_it_is(const struct outlook *o)
{
    const struct agent_facts *f = o->f;
    uint32_t port = f->port_count ? f->ports[0]->host_port : 0;
    return o->journal->n_unpublished || !*f->address
               ? o->journal
               : journal_reached(o->arena, o->journal, f->address, port);
}

static struct agent_step note(const struct outlook *o, int row)
{
    if (busy(o->f)) {
        return agent_wait(row, busy(o->f));
    }
    if (o->f->remake && installs(o->hook.subject.hook)) {
        return agent_step_of(row, AGENT_REMAKE, "its charm asks for another container");
    }
    struct agent_step s = agent_step_of(row, AGENT_NOTE, "it comes next");
    s.hook = o->hook.subject;
    s.journal = journal_begin(o->arena, where_it_is(o), &o->hook, o->f->sight.charm, o->f->token);
    return s;
}

/* Rows 9 and 10. The error may be one of a container that has gone since, with its journal. */
static struct agent_step hook_in_error(const struct outlook *o)
{
    if (!o->world.current.hook) {
        return report_first(o, o->status ? 10 : 9);
    }
    if (o->hook.act == HOOK_WAIT) {
        return agent_wait(9, arena_printf(o->arena, "its hook %s is in error: resolve it",
                                          hook_name(o->world.current.hook)));
    }
    if (o->hook.act == HOOK_RUN) {
        return note(o, 10);
    }
    struct agent_step s = agent_step_of(10, AGENT_ACCEPT,
                                        o->world.resolution == HOOK_SKIP
                                            ? "somebody said that it counts as done"
                                            : "it has left the relation that it was about");
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
    struct agent_step s = agent_step_of(11, AGENT_LEAVE, "the relation owes it no hook any more");
    s.relation = o->hook.subject.relation;
    return s;
}

/* ---- Row 12 ---------------------------------------------------------------------------------- */

static struct agent_step take_leave(const struct outlook *o)
{
    assert(o->journal->stopped);
    bool told = o->f->status && o->f->status->stopped;
    return told || !o->status ? die(12, o, "its stop has run")
                              : agent_step_of(12, AGENT_REPORT, "its stop has run");
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
    return agent_enter_next(f); /* 13 */
}

/* Rows 3 to 13: a unit of this cell that is not Dead. */
static struct agent_step while_it_lives(const struct outlook *o)
{
    const struct agent_facts *f = o->f;
    const char *why = is_dying(o) ? NULL : agent_reason(f);
    const struct agent_child *child = is_dying(o) ? alive_child(f) : NULL;
    if (is_undeployed(o) && !child) { /* 3 */
        return f->noting ? agent_wait(3, "its hook is being noted")
                         : die(3, o, "it was never installed");
    }
    if (why) { /* 4 */
        return agent_step_of(4, AGENT_DESTROY, why);
    }
    if (child) { /* 5 */
        return destroy_child(child);
    }
    if (is_given_up(o)) { /* 6, 7 */
        return give_up(o);
    }
    if (has_to_go(o) || (f->container != AGENT_CONTAINER_UP && (!is_dying(o) || owes_hook(o)))) {
        return deploy(o); /* 6, 7 */
    }
    if (has_files(f) && f->journal && strcmp(f->journal->epoch, f->sight.epoch) != 0) { /* 8 */
        struct agent_step s = agent_step_of(8, AGENT_ADOPT, "the board was restored");
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
                   : agent_wait(0, "no bbs has answered yet: what the board has is not known");
    }
    if (!o.own) {
        return not_here(f); /* 1 */
    }
    if (o.life == UNIT_DEAD) {
        return dead(f); /* 2 */
    }
    if (!o.understood) { /* 0 */
        return agent_wait(0, "its journal was written by another version of the rep");
    }
    struct agent_step s = while_it_lives(&o);
    s.status = o.status;
    s.fails = o.status && o.fails;
    s.without = is_without(f) && (cannot_be_had(f) || (is_dying(&o) && !owes_hook(&o)));
    return s;
}

/* ---- How far it is --------------------------------------------------------------------------- */

static int state_by_journal(const struct outlook *o)
{
    const Rep__UnitNote *j = o->journal;
    bool current = o->world.current.hook != HOOK_NONE;
    bool failed = current && o->world.error && !j->hook->lost;
    return failed                      ? UNIT_AGENT_ERROR
           : !j->installed && !current ? UNIT_AGENT_MADE
           : !j->started               ? UNIT_AGENT_INSTALLING
           : current                   ? UNIT_AGENT_HOOK
           : j->stopped                ? UNIT_AGENT_STOPPED
           : o->hook.act == HOOK_LEAVE ? UNIT_AGENT_LEAVING
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
        "wait",   "recall",  "remove", "die",    "destroy", "destroy_child", "set_aside",
        "make",   "adopt",   "note",   "end",    "accept",  "execute",       "cut",
        "remake", "publish", "leave",  "report", "numbers", "enter"};
    assert(act < AGENT_ACT_COUNT);
    return names[act];
}
