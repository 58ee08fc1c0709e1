#include "rep/unit/agent_status.h"

#include "common/base/message.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_status.h"

#include <assert.h>
#include <string.h>

/* ---- Words ----------------------------------------------------------------------------------- */

/* As many bytes of it as the status takes, to the end of a letter. */
static char *first_of(struct arena *a, const char *text)
{
    size_t size = strlen(text);
    if (size > AGENT_STATUS_TEXT_MAX) {
        size = AGENT_STATUS_TEXT_MAX;
        while (size && ((unsigned char)text[size] & 0xc0) == 0x80) {
            size--;
        }
    }
    return arena_strndup(a, text, size);
}

/* What keeps its container from being there, or a hook that is due from running, in this order. */
static Board__UnitLack__Kind lack_kind(const struct agent_facts *f, bool hook_waits)
{
    bool up = f->container == AGENT_CONTAINER_UP;
    return up && hook_waits && (f->group_busy || f->cell_busy) ? BOARD__UNIT_LACK__KIND__TURN
           : up                                                ? BOARD__UNIT_LACK__KIND__NOTHING
           : !f->room && (f->room_lacking || f->room_lacked)   ? BOARD__UNIT_LACK__KIND__ROOM
           : f->make_failures                                  ? BOARD__UNIT_LACK__KIND__CONTAINER
           : f->principal_container != AGENT_PRINCIPAL_UP      ? BOARD__UNIT_LACK__KIND__PRINCIPAL
                                                               : BOARD__UNIT_LACK__KIND__NOTHING;
}

/* 1. What keeps its container from being there. 2. What its hooks say; and members that it is not
 * told of. */
static char *text_of(struct arena *a, const struct agent_facts *f, const struct hook_world *w)
{
    Board__UnitLack__Kind lack = lack_kind(f, false);
    const char *done = w->alive ? "" : ": its hooks count as done";
    size_t untold = hook_untold(w);
    if (lack == BOARD__UNIT_LACK__KIND__ROOM) { /* 1 */
        return arena_printf(a, "no room on its cell%s", done);
    }
    if (lack == BOARD__UNIT_LACK__KIND__CONTAINER) { /* 1 */
        const char *times =
            f->make_failures == 1 ? "once" : arena_printf(a, "%u times", f->make_failures);
        return first_of(a, arena_printf(a, "its container could not be made, %s%s: %s", times,
                                        f->make_failures < AGENT_MAKES_MAX ? "" : done,
                                        f->make_error));
    }
    if (lack == BOARD__UNIT_LACK__KIND__PRINCIPAL) { /* 1 */
        bool gone = f->principal_container == AGENT_PRINCIPAL_GONE;
        return arena_printf(a, "its principal's container is not there%s", gone ? done : "");
    }
    return first_of(
        a, untold ? arena_printf(a, "%zu units more than it can be told of. %s", untold, f->text)
                  : f->text); /* 2 */
}

static const Board__RelationRecord *relation_seen(const struct agent_facts *f, uint32_t number)
{
    for (size_t i = 0; i < f->relation_count; i++) {
        if (f->relations[i].record->number == number) {
            return f->relations[i].record;
        }
    }
    return NULL;
}

/* A hook as people know it: "db-relation-changed" of "db:7" about "store/3"; "" = of none. */
struct said_hook {
    char *hook, *relation, *remote_unit;
};

static struct said_hook words_of(struct arena *a, const struct agent_facts *f,
                                 const struct hook_subject *h)
{
    const Board__RelationRecord *r = h->hook >= HOOK_JOINED ? relation_seen(f, h->relation) : NULL;
    const char *own = NULL, *other = f->unit->service;
    char *none = arena_strdup(a, "");
    struct said_hook w = {arena_strdup(a, hook_name(h->hook)), none, none};
    for (size_t i = 0; r && i < r->n_ends; i++) {
        bool mine = strcmp(r->ends[i]->service, f->unit->service) == 0;
        own = mine ? r->ends[i]->endpoint->name : own;
        other = mine ? other : r->ends[i]->service;
    }
    if (own) {
        w.hook = arena_printf(a, "%s-relation-%s", own, w.hook);
        w.relation = arena_printf(a, "%s:%u", own, h->relation);
    }
    if (own && h->hook != HOOK_BROKEN) {
        w.remote_unit = arena_strdup(a, unit_name_text(a, (struct unit_name){other, h->unit}));
    }
    return w;
}

static struct said_hook words_of_noted(struct arena *a, const struct agent_facts *f,
                                       const Rep__UnitNoteHook *h)
{
    const struct hook_subject s = {(enum unit_hook)h->hook, h->relation, h->unit};
    return words_of(a, f, &s);
}

static void say_failed(struct arena *a, const struct agent_facts *f, const Rep__UnitNoteHook *h,
                       Board__UnitStatusRecord *s)
{
    struct said_hook w = words_of_noted(a, f, h);
    s->hook = w.hook;
    s->relation = w.relation;
    s->remote_unit = w.remote_unit;
    s->output = arena_strdup(a, h->text);
}

/* The hook that has run for a while; NULL = none has. What the board says of this run stands: a rep
 * that was restarted knows its begin by another clock. */
static Board__UnitHookRun *running_of(struct arena *a, const struct agent_facts *f,
                                      const Rep__UnitNote *j)
{
    const Rep__UnitNoteHook *h = j->hook;
    const Board__UnitHookRun *told = f->status->running;
    if (!h || f->run != AGENT_RUN_GOES || f->now_ns - f->run_begun_ns < AGENT_HOOK_TOLD_NS) {
        return NULL;
    }
    struct said_hook w = words_of_noted(a, f, h);
    Board__UnitHookRun *r = arena_message(a, &board__unit_hook_run__descriptor);
    r->hook = w.hook;
    r->relation = w.relation;
    r->remote_unit = w.remote_unit;
    r->attempt = h->attempt;
    r->run = h->run;
    r->since =
        told && told->run == h->run ? told->since : f->wall_ns - (f->now_ns - f->run_begun_ns);
    return r;
}

/* The hook that is due and does not run: one that is noted and never began, or the next one. NULL =
 * none is. */
static const struct hook_subject *
waiting_of(const struct agent_facts *f, const struct hook_world *w, const struct hook_step *next)
{
    bool noted = w->current.hook && !w->error;
    return noted                   ? (f->run == AGENT_RUN_NONE ? &w->current : NULL)
           : next->act == HOOK_RUN ? &next->subject
                                   : NULL;
}

static bool same_lack(const Board__UnitLack *x, const Board__UnitLack *y)
{
    return x && x->kind == y->kind && strcmp(x->hook, y->hook) == 0 &&
           strcmp(x->relation, y->relation) == 0 && strcmp(x->remote_unit, y->remote_unit) == 0;
}

/* NULL = it lacks nothing, or a hook has waited for a moment only. What the board says of the same
 * stands, with its time. */
static Board__UnitLack *lack_of(struct arena *a, const struct agent_facts *f,
                                const struct hook_world *w, const struct hook_step *next)
{
    const struct hook_subject *waits = waiting_of(f, w, next);
    const Board__UnitLack *told = f->status->lack;
    Board__UnitLack *l = arena_message(a, &board__unit_lack__descriptor);
    int64_t waited_ns = 0;
    l->kind = lack_kind(f, waits != NULL);
    if (l->kind == BOARD__UNIT_LACK__KIND__NOTHING) {
        return NULL;
    }
    if (l->kind == BOARD__UNIT_LACK__KIND__TURN) {
        struct said_hook words = words_of(a, f, waits);
        l->hook = words.hook;
        l->relation = words.relation;
        l->remote_unit = words.remote_unit;
        l->hooks = f->group_busy ? 0 : f->hooks_at_once;
        waited_ns = f->turn_since_ns == NEVER_NS ? 0 : f->now_ns - f->turn_since_ns;
    }
    bool stands = same_lack(told, l);
    l->since = stands ? told->since : f->wall_ns - waited_ns;
    bool brief = l->kind == BOARD__UNIT_LACK__KIND__TURN && waited_ns < AGENT_HOOK_TOLD_NS;
    return brief && !stands ? NULL : l;
}

/* ---- State ----------------------------------------------------------------------------------- */

static int state_of(const Rep__UnitNote *j)
{
    return j->stopped     ? UNIT_STATUS_STOPPED
           : j->started   ? UNIT_STATUS_STARTED
           : j->installed ? UNIT_STATUS_INSTALLED
                          : UNIT_STATUS_PENDING;
}

/* Whether the board takes the report, and it leads to that very state. */
static bool is_taken(int from, int to)
{
    uint32_t guards = UNIT_STATUS_IF_OWN |
                      (to == UNIT_STATUS_INSTALLED ? UNIT_STATUS_IF_SAYS_INSTALLED : 0) |
                      (to == UNIT_STATUS_STARTED ? UNIT_STATUS_IF_SAYS_STARTED : 0) |
                      (to == UNIT_STATUS_STOPPED ? UNIT_STATUS_IF_SAYS_STOPPED : 0);
    return lifecycle_transition(&unit_status_lifecycle, from, ACTOR_REP, UNIT_STATUS_TRIGGER_REPORT,
                                guards) == to;
}

/* All that does not hang on the state. */
static Board__UnitStatusRecord *with_facts(struct arena *a, const struct agent_facts *f,
                                           const Rep__UnitNote *j)
{
    Board__UnitStatusRecord *s = arena_copy(a, f->status, sizeof(*s));
    s->charm = arena_strdup(a, j->charm);
    s->address = arena_strdup(a, f->address);
    s->ports = f->ports;
    s->n_ports = f->port_count;
    s->crash_count = f->crash_count;
    s->crash_reason = first_of(a, f->crash_reason ? f->crash_reason : "");
    s->upgrade_error = first_of(a, f->upgrade_error ? f->upgrade_error : "");
    s->upgrade_since = !*s->upgrade_error          ? 0
                       : *f->status->upgrade_error ? f->status->upgrade_since
                                                   : f->wall_ns;
    s->cell_id = f->unit->cell_id;
    s->before = s->hook = s->relation = s->remote_unit = s->output = arena_strdup(a, "");
    s->running = running_of(a, f, j);
    return s;
}

/* 1. A hook is in error: the board has it so. What was resolved stands until that is done, so it is
 *    not said to be done.
 * 2. None is, and the board says error: once that is resolved, what was before. Which resolution it
 *    has done, it says.
 * 3. The state that the journal says, if the board takes it. It may be less than it was, for the
 *    journal went with its container: then the board's stands until a hook has run. */
Board__UnitStatusRecord *agent_status_due(struct arena *a, const struct agent_facts *f,
                                          const Rep__UnitNote *j, const struct hook_world *w,
                                          const struct hook_step *next, bool *ret_fails)
{
    if (!f->status || strcmp(f->status->guid, f->unit->guid) != 0) {
        return NULL;
    }
    int from = lifecycle_state(&unit_status_lifecycle, f->status->state), to = state_of(j);
    bool was_error = from == UNIT_STATUS_ERROR;
    Board__UnitStatusRecord *s = with_facts(a, f, j);
    s->text = text_of(a, f, w);
    s->lack = lack_of(a, f, w, next);
    *ret_fails = w->error && !j->hook->lost;
    if (*ret_fails) { /* 1 */
        say_failed(a, f, j->hook, s);
        s->state = arena_strdup(a, unit_status_lifecycle.states[UNIT_STATUS_ERROR]);
        s->before = was_error ? f->status->before : f->status->state;
        bool same = message_equal(&s->base, &f->status->base);
        s->resolved = BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT;
        return same ? NULL : s;
    }
    if (was_error) { /* 2 */
        s->state = f->status->before;
        return s->resolved == BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT ? NULL : s;
    }
    to = is_taken(from, to) ? to : from; /* 3 */
    s->state = arena_strdup(a, unit_status_lifecycle.states[to]);
    s->stopped = s->stopped || to == UNIT_STATUS_STOPPED;
    return message_equal(&s->base, &f->status->base) ? NULL : s;
}
