/* A unit as a kind of container, and each look at it: what its agent says is carried out. */
#include "rep/unit/cell_unit.h"

#include "common/base/memory.h"
#include "common/base/message.h"
#include "rep/container/back_off.h"
#include "rep/container/operation.h"
#include "rep/inside.h"
#include "rep/instance/host_ports.h"
#include "rep/unit/unit_tools.h"
#include "rep/unit/workload.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- What it is called ----------------------------------------------------------------------- */

static const char *name_of(const struct container *c, struct arena *a)
{
    const Rep__UnitOf *u = c->about->unit;
    return unit_name_text(a, (struct unit_name){u->service, u->number});
}

static const char *words(const struct container *c, struct arena *a)
{
    return arena_printf(a, "unit=%s", name_of(c, a));
}

static const char *origin(const struct container *c, struct arena *a)
{
    return arena_printf(a, "unit_guid=%s", container_guid(c));
}

/* ---- What its driver tells of its runs ------------------------------------------------------- */

static uint32_t hook_number(const struct container *c)
{
    return cell_unit_runs_hook(c) ? c->about->unit->journal->hook->run : 0;
}

static bool learn_fact(struct unit_run *run, const struct step_fact *fact)
{
    bool *known = fact->kind == FACT_BEGUN   ? &run->begun
                  : fact->kind == FACT_ENDED ? &run->ended
                  : fact->kind == FACT_LOST  ? &run->lost
                                             : NULL;
    if (!known || *known) {
        return false;
    }
    *known = true;
    if (fact->kind == FACT_BEGUN) {
        run->begun_ns = fact->at_ns;
        return true;
    }
    run->ended_ns = fact->at_ns;
    run->exit_code = fact->exit_code;
    run->exit_signal = fact->exit_signal;
    run->oom_killed = fact->oom_killed;
    run->disk_full = fact->disk_full;
    free(run->text);
    run->text = mem_text(fact->text);
    return true;
}

/* Facts of the hook that is noted, and of the command; what else has ended is to be forgotten. */
static bool runs(struct container *c, const struct container_status *s)
{
    struct cell_unit *u = cell_unit_of(c);
    uint32_t hook = hook_number(c), command = c->about->unit->command_run;
    bool news = false;
    for (size_t i = 0; i < s->fact_count; i++) {
        const struct step_fact *fact = &s->facts[i];
        bool over = fact->kind == FACT_ENDED || fact->kind == FACT_LOST;
        if (fact->step == hook && hook) {
            news = learn_fact(&u->hook, fact) || news;
        } else if (fact->step == command && command) {
            news = learn_fact(&u->command, fact) || news;
        } else if (over && fact->step >= RUN_FIRST && fact->step != u->running) {
            u->forget = fact->step;
        }
    }
    if (news) {
        cell_unit_queue(u);
    }
    return news;
}

/* ---- Its life as a container ----------------------------------------------------------------- */

static const char *look_at(struct rep *r, struct container *c, struct effects *out)
{
    struct cell_unit *u = cell_unit_of(c);
    assert(c->op == OP_NONE);
    cell_unit_queue(u);
    if (c->phase == PHASE_RESERVED && u->drop) {
        const char *why = u->drop;
        u->drop = NULL;
        u->offer = OFFER_NONE;
        return why;
    }
    if (container_stop_asked(c) && c->phase == PHASE_RUNNING) {
        operation_signal(r, c, out);
    } else if (c->end == END_DISOWNED && c->phase == PHASE_COMPLETED && !cell_unit_is_shared(u)) {
        container_delete(c, "it is recalled", out);
    }
    if (c->uncertain) {
        listing_want(&r->listing);
    }
    return NULL;
}

static void launched(struct rep *r, struct container *c, const struct verb_answer *answer,
                     struct effects *out)
{
    bool prepare = answer->verb == VERB_PREPARE;
    if (c->phase != (prepare ? PHASE_INITIALIZING : PHASE_CREATED)) {
        return; /* it ended meanwhile */
    }
    if (!prepare || !host_ports_prepared(r, c, answer, out)) {
        operation_launched(r, c, answer, "start", out);
    }
}

static void verb(struct rep *r, struct container *c, const struct verb_answer *answer,
                 struct effects *out)
{
    cell_unit_queue(cell_unit_of(c));
    if (answer->verb == VERB_PREPARE || answer->verb == VERB_START) {
        launched(r, c, answer, out);
    } else if (answer->verb == VERB_PORTS) {
        host_ports_answer(r, c, answer, out);
    } else {
        unit_acted(r, c, answer, out);
    }
}

static int by_turn(const void *a, const void *b)
{
    const struct cell_unit *one = *(struct cell_unit *const *)a;
    const struct cell_unit *other = *(struct cell_unit *const *)b;
    return one->last_turn != other->last_turn
               ? (one->last_turn > other->last_turn) - (one->last_turn < other->last_turn)
               : strcmp(one->guid, other->guid);
}

/* A hook has ended. Of those that wait for the cell the one goes first whose last hook is the
 * longest ago: peers owe each other many, and who is new would wait for all of them. */
static bool wake_waiting(struct cell_units *t)
{
    SCOPED_ARENA(a);
    struct cell_unit **list = ARENA_ARRAY(&a, t->by_guid.count, struct cell_unit *);
    size_t count = 0;
    MAP_EACH(&t->by_guid, n)
    {
        struct cell_unit *u = map_value(n);
        if (u->waits_cell) {
            list[count++] = u;
        }
    }
    qsort(list, count, sizeof(struct cell_unit *), by_turn);
    for (size_t i = 0; i < count; i++) {
        cell_unit_queue(list[i]);
    }
    MAP_EACH(&t->by_guid, n)
    {
        struct cell_unit *other = map_value(n);
        if (other->waits_turn) {
            cell_unit_queue(other);
        }
    }
    return count > 0;
}

/* Which hook begins, and whether one of its group may, hangs on this. */
static void set_busy(struct cell_unit *u, bool busy)
{
    struct cell_units *t = u->table;
    assert(u->busy ? t->hook_count > 0 : t->hook_count < t->by_guid.count);
    if (u->busy == busy) {
        return;
    }
    u->busy = busy;
    if (busy) {
        TAILQ_INSERT_TAIL(&t->hooks, u, busy_link);
        t->hook_count++;
        u->last_turn = ++t->turn_count;
        return;
    }
    TAILQ_REMOVE(&t->hooks, u, busy_link);
    t->hook_count--;
    u->yields = wake_waiting(t);
}

static void entered(struct container *c)
{
    struct rep *r = c->table->rep;
    struct cell_unit *u = cell_unit_of(c);
    cell_unit_queue(u);
    cell_unit_queue_family(u);
    if (c->phase == PHASE_CREATED || c->phase == PHASE_RUNNING) {
        cell_unit_keep(u, NULL); /* it has a note of its own */
    }
    if (c->phase == PHASE_RUNNING) {
        u->was_up = true;
        u->up_ns = r->now.mono_ns;
        u->make_failures = 0;
    } else if (c->phase == PHASE_RESERVED || c->phase == PHASE_NONE) {
        u->was_up = false;
        unit_fetch_clear(&u->fetch);
        u->forget = u->running = 0;
        u->tool_changes = u->tool_written = u->tool_writing = 0;
        u->stop_signals = 0;
        unit_run_clear(&u->hook);
        unit_run_clear(&u->command);
        set_busy(u, false);
    }
}

/* Whether this version understands what its journal says. */
static bool is_understood(const Rep__UnitOf *of)
{
    SCOPED_ARENA(a);
    Rep__UnitNote *j;
    return !of->journal || journal_read(&a, message_packed(&a, &of->journal->base), &j, NULL) == 0;
}

static void forget_journal(Rep__UnitOf *of)
{
    rep__unit_note__free_unpacked(of->journal, NULL);
    of->journal = NULL;
}

static void kept(struct rep *r, const struct container *c)
{
    struct cell_unit *u = cell_unit_find(&r->units, container_guid(c));
    assert(u && c->keep_note);
    cell_unit_keep(u, c->about);
    cell_unit_queue(u);
}

static void found_kept(struct rep *r, const Rep__Note *note)
{
    const Rep__UnitOf *of = note->unit;
    struct cell_unit *u = cell_unit_named(&r->units, note->instance_guid,
                                          (struct unit_name){of->service, of->number});
    if (u->kept) {
        return;
    }
    cell_unit_keep(u, note);
    cell_unit_queue(u);
    if (!is_understood(u->kept->unit)) {
        forget_journal(u->kept->unit);
    }
}

/* An earlier rep made it. What its journal says, when this version understands it, goes on;
 * config-changed comes once. What has ended may have run. */
static void adopted(struct container *c, const struct container_status *s, struct effects *out)
{
    struct cell_unit *u = cell_unit_of(c);
    Rep__UnitOf *of = c->about->unit;
    (void)out;
    u->was_up = s->state == CONTAINER_EXITED || s->state == CONTAINER_RUNNING;
    u->up_ns = c->table->rep->now.mono_ns;
    if (!is_understood(of)) {
        forget_journal(of);
        return;
    }
    if (of->journal) {
        of->journal->config_again = true;
    }
    runs(c, s);
    set_busy(u, cell_unit_runs_hook(c));
}

static void record(struct rep *r, const char *key, const struct followed *f, struct effects *out)
{
    (void)r, (void)key, (void)f, (void)out; /* cell_units_step() looks at what has changed */
}

static const char *record_key(const struct rep *r, const struct container *c, struct arena *a)
{
    (void)r, (void)c, (void)a;
    return NULL;
}

static enum harmony_action stray(const struct rep *r, const char *key)
{
    (void)r, (void)key;
    return HARMONY_NOTHING;
}

static Cell__UnitHere *unit_here(const struct cell_unit *u, const Rep__Note *about,
                                 const char *state, struct arena *a)
{
    Cell__UnitHere *to = arena_message(a, &cell__unit_here__descriptor);
    to->unit = (char *)(uintptr_t)unit_name_text(a, u->name);
    to->guid = u->guid;
    to->service_guid = about->unit->service_guid;
    to->state = (char *)(uintptr_t)(u->unknown ? "unknown" : state);
    to->memory_mb = about->memory_mb;
    to->disk_mb = about->disk_mb;
    return to;
}

static void state(const struct container *c, struct arena *a, Cell__CellState *s)
{
    const struct cell_unit *u = cell_unit_find(&c->table->rep->units, container_guid(c));
    assert(u && s->n_lrps + s->n_tasks + s->n_units < c->table->by_guid.count);
    s->units[s->n_units++] = unit_here(u, c->about, phase_name(c->phase), a);
}

void cell_units_tell_kept(const struct cell_units *t, struct arena *a, Cell__CellState *s)
{
    MAP_EACH(&t->by_guid, n)
    {
        const struct cell_unit *u = map_value(n);
        if (u->kept && !cell_unit_container(u)) {
            s->units[s->n_units++] = unit_here(u, u->kept, "kept", a);
        }
    }
}

static void measured(const struct container *c, struct arena *a, Cell__ContainerMetrics *figures,
                     Cell__CellMetrics *all)
{
    Cell__UnitMetrics *m = arena_message(a, &cell__unit_metrics__descriptor);
    m->unit = (char *)(uintptr_t)name_of(c, a);
    m->guid = c->about->instance_guid;
    m->metrics = figures;
    all->units[all->n_units++] = m;
}

const struct container_kind unit_kind = {
    .words = words,
    .origin = origin,
    .label = name_of,
    .look_at = look_at,
    .verb = verb,
    .runs = runs,
    .entered = entered,
    .adopted = adopted,
    .kept = kept,
    .found_kept = found_kept,
    .record = record,
    .record_key = record_key,
    .stray = stray,
    .state = state,
    .measured = measured,
};

/* ---- One unit -------------------------------------------------------------------------------- */

static bool is_own(const struct rep *r, const struct cell_unit *u, const Board__UnitRecord *unit)
{
    return unit && strcmp(unit->guid, u->guid) == 0 &&
           strcmp(unit->cell_id, r->config.cell_id) == 0 &&
           strcmp(unit->identity, r->config.identity) == 0;
}

/* Its container has ended, and nobody asked for that: it could not be made, or it ran and is to be
 * begun anew, after a while if it did not last. */
static void see_end(struct rep *r, struct cell_unit *u, struct container *c, struct effects *out)
{
    assert(c->phase == PHASE_COMPLETED && !c->deleting && !container_stop_asked(c));
    if (!u->was_up) {
        unit_make_failed(r, u, c->exit_text);
        c->keep_note = c->made;
        container_delete(c, "it could not be made", out);
    } else if (u->up_ns >= 0) {
        bool lasted = r->now.mono_ns - u->up_ns >= UNIT_LASTED_NS;
        u->make_wait.failures = lasted ? 0 : u->make_wait.failures + 1;
        u->make_wait.retry_ns =
            lasted ? 0 : r->now.mono_ns + back_off_ns(&r->random, u->make_wait.failures);
        u->up_ns = -1; /* counted */
    }
}

/* What is set aside for it is given back when the board is known not to have it here. */
static void see_reserved(struct rep *r, struct cell_unit *u, struct container *c,
                         const struct agent_facts *f)
{
    assert(c->phase == PHASE_RESERVED && !c->made);
    if (is_own(r, u, f->unit)) {
        u->offer = OFFER_NONE;
    } else if (u->offer == OFFER_NONE && f->confirmed) {
        u->drop = "its unit is not of this cell";
        container_touch(c);
    } else if (u->offer == OFFER_TAKEN && (r->drain.on || r->now.mono_ns >= c->reserved_until_ns)) {
        u->drop =
            r->drain.on ? "the cell is being emptied" : "the reservation was not used in time";
        container_touch(c);
    } else if (u->offer != OFFER_NONE) {
        cell_unit_due(u, c->reserved_until_ns);
        unit_want_assign(r, u);
    }
}

/* The feed has not come so far as what was answered. Of a revision that is on its way all that is
 * about one unit comes together. */
static bool has_to_wait(const struct rep *r, const struct cell_unit *u)
{
    return u->heard_revision > cell_units_feed_revision(r);
}

/* A hook of it runs, or is being noted. */
static bool is_busy(const struct cell_unit *u, const struct container *c)
{
    const Rep__UnitNote *j = u->noting ? u->noting->unit->journal : NULL;
    return c && (cell_unit_runs_hook(c) || unit_hook_is_going(j));
}

/* Nobody but an operator ends it: /state tells him. */
static void see_unknown(struct rep *r, struct cell_unit *u, bool unknown)
{
    r->containers.version += u->unknown != unknown;
    u->unknown = unknown;
}

/* It is left alone then: people are told once. */
static void see_foreign(struct rep *r, struct cell_unit *u, struct effects *out)
{
    const char *key = unit_foreign(&r->units.knowledge, out->arena, u->name);
    if (key && !u->foreign) {
        effects_log(out, LOG_WARN_LEVEL, "unit left alone",
                    "unit=%s/%u key=%s why=\"a later version has written this record: upgrade the "
                    "rep\"",
                    u->name.service, u->name.number, key);
    }
    u->foreign = key;
}

/* A hook that waits for others for a while is told. */
static void see_turn(const struct rep *r, struct cell_unit *u)
{
    bool waited = u->turn_since_ns != NEVER_NS;
    if (u->waits_turn == waited) {
        return;
    }
    if (waited) {
        cell_unit_turn_over(u);
        return;
    }
    u->turn_since_ns = r->now.mono_ns;
    u->turn_told = false;
    TAILQ_INSERT_TAIL(&u->table->turns, u, turn_link);
}

static void look(struct rep *r, struct cell_unit *u, struct effects *out)
{
    struct container *c = cell_unit_container(u);
    if (c && c->phase == PHASE_COMPLETED && !c->deleting && !container_stop_asked(c)) {
        see_end(r, u, c, out);
    }
    set_busy(u, is_busy(u, c));
    u->waits_turn = false;
    u->room_lacking = u->room_lacking && r->now.mono_ns < u->room_again_ns;
    unit_fetch_look(r, u, out);
    see_foreign(r, u, out);
    SCOPED_ARENA(scratch);
    struct agent_facts f = cell_unit_facts(r, &scratch, u);
    if (c && c->phase == PHASE_RESERVED && !c->deleting) {
        see_reserved(r, u, c, &f);
    } else if (c && u->offer != OFFER_NONE && is_own(r, u, f.unit)) {
        u->offer = OFFER_NONE;
    } else if (c && u->offer != OFFER_NONE) {
        unit_want_assign(r, u); /* a restored board forgot that it is here */
    }
    /* Of a service whose last unit this was nothing else is followed, and need not be. */
    if (!c && !u->kept && !f.unit && !u->moving && !has_to_wait(r, u) && r->feed_client.current &&
        *r->units.knowledge.board_generation) {
        cell_unit_forget(u);
        return;
    }
    if (has_to_wait(r, u) && f.confirmed) {
        f.confirmed = false; /* what is known is older than what was answered */
    }
    struct agent_step s = agent_next(&scratch, &f);
    see_unknown(r, u,
                s.row == 1 && s.act == AGENT_WAIT && f.container != AGENT_CONTAINER_NONE &&
                    f.container != AGENT_CONTAINER_ENDING);
    u->waits_turn = s.act == AGENT_WAIT && (f.group_busy || f.cell_busy);
    see_turn(r, u);
    u->waits_cell = u->waits_turn && !f.group_busy;
    if (u->yields) {
        u->yields = false;
        cell_unit_queue(u); /* behind them */
    }
    if (u->without != s.without) {
        u->without = s.without;
        cell_unit_queue_family(u);
    }
    if (s.look_again_ns != NEVER_NS) {
        cell_unit_due(u, s.look_again_ns);
    }
    if (c && cell_unit_runs_hook(c)) {
        unit_tools_look(r, u, c, out);
    } else {
        unit_tools_done(r, u, is_busy(u, c), out);
    }
    unit_act(r, u, &f, &s, out);
    workload_look(r, u, &f, out);
    set_busy(u, is_busy(u, c));
}

/* ---- All of them ----------------------------------------------------------------------------- */

int cell_units_recall(struct rep *r, const char *guid, struct err *err)
{
    struct cell_unit *u = cell_unit_find(&r->units, guid);
    if (!u || (!u->kept && !cell_unit_container(u))) {
        return err_set(err, ERR_NOT_FOUND, "there is no unit %.40s here: rep containers lists all",
                       guid);
    }
    if (!u->unknown) {
        return err_set(err, ERR_CONFLICT,
                       "unit %.60s/%u is not unknown to the board: bbs units destroy-unit ends it",
                       u->name.service, u->name.number);
    }
    u->recall = true;
    cell_unit_queue(u);
    return 0;
}

void cell_units_record(struct rep *r, const char *key, const struct followed *record)
{
    unit_knowledge_record(&r->units.knowledge, key, record);
    if (key_type(key) == RECORD_MACHINE || key_type(key) == RECORD_MACHINE_CELL) {
        r->units.machine.due = true;
    }
}

void cell_units_reset(struct rep *r)
{
    struct cell_units *t = &r->units;
    unit_knowledge_reset(&t->knowledge);
    unit_knowledge_board_generation(&t->knowledge, r->feed_client.board_generation);
    MAP_EACH(&t->by_guid, n)
    {
        ((struct cell_unit *)map_value(n))->heard_revision = 0;
    }
}

void cell_units_look_again(struct rep *r)
{
    r->units.machine.due = true;
    MAP_EACH(&r->units.by_guid, n)
    {
        cell_unit_queue(map_value(n));
    }
}

/* The board has no record of it that would say so: its principal's is the one that counts. */
static bool was_subordinate_of(const struct cell_unit *u, const char *guid)
{
    const Rep__Note *about = u->unknown ? cell_unit_about(u) : NULL;
    return about && *guid && strcmp(about->unit->principal_guid, guid) == 0;
}

static void queue_touched(struct rep *r, struct effects *out)
{
    struct unit_known *list;
    struct cell_units *t = &r->units;
    size_t count = unit_knowledge_touched(&t->knowledge, out->arena, &list);
    for (size_t i = 0; i < count; i++) {
        if (*list[i].guid) {
            cell_unit_queue(cell_unit_named(t, list[i].guid, list[i].name));
        }
        MAP_EACH(&t->by_guid, n)
        {
            struct cell_unit *u = map_value(n);
            if (unit_name_equal(u->name, list[i].name) || was_subordinate_of(u, list[i].guid)) {
                cell_unit_queue(u);
            }
        }
    }
}

/* Those whose time has come, and those that waited for the feed. */
static void queue_due(struct rep *r)
{
    struct cell_units *t = &r->units;
    int64_t revision = cell_units_feed_revision(r);
    bool moved = t->feed_revision != revision, due = r->now.mono_ns >= t->due_ns;
    t->feed_revision = revision;
    if (!moved && !due) {
        return;
    }
    t->due_ns = NEVER_NS;
    MAP_EACH(&t->by_guid, n)
    {
        struct cell_unit *u = map_value(n);
        if (r->now.mono_ns >= u->due_ns) {
            u->due_ns = NEVER_NS;
            cell_unit_queue(u);
        }
        if (u->heard_revision && !has_to_wait(r, u)) {
            u->heard_revision = 0;
            cell_unit_queue(u);
        }
        t->due_ns = earlier_ns(t->due_ns, u->due_ns);
    }
}

/* Those whose hooks have waited for a while by now. A wait that is over wakes nobody: the others'
 * times are `ret_due`. */
static void queue_turns(struct rep *r, int64_t *ret_due)
{
    struct cell_unit *u;
    *ret_due = NEVER_NS;
    TAILQ_FOREACH(u, &r->units.turns, turn_link)
    {
        int64_t told_ns = u->turn_since_ns + AGENT_HOOK_TOLD_NS;
        if (r->now.mono_ns < told_ns) {
            *ret_due = earlier_ns(*ret_due, told_ns);
        } else if (!u->turn_told) {
            u->turn_told = true;
            cell_unit_queue(u);
        }
    }
}

void cell_units_step(struct rep *r, struct effects *out)
{
    struct cell_units *t = &r->units;
    size_t left_out = unit_knowledge_follow(&t->knowledge, &r->feed_client, out);
    int64_t turns_ns;
    bool news = left_out != t->left_out;
    t->left_out = left_out;
    if (left_out && news) {
        effects_log(out, LOG_WARN_LEVEL, "units not followed", "topics=%zu", left_out);
    }
    queue_touched(r, out);
    queue_due(r);
    queue_turns(r, &turns_ns);
    for (int i = 0; i < UNITS_A_STEP_MAX && !TAILQ_EMPTY(&t->queue); i++) {
        struct cell_unit *u = TAILQ_FIRST(&t->queue);
        TAILQ_REMOVE(&t->queue, u, queue_link);
        u->queued = false;
        look(r, u, out);
    }
    unit_machine_look(r);
    queue_turns(r, &turns_ns);
    effects_due(out, TAILQ_EMPTY(&t->queue) ? earlier_ns(t->due_ns, turns_ns) : r->now.mono_ns);
}
