#include "rep/unit/cell_unit.h"

#include "common/base/memory.h"
#include "common/base/message.h"
#include "common/charmfile/charm.h"
#include "common/lifecycle/hook.h"
#include "rep/container/back_off.h"
#include "rep/container/operation.h"
#include "rep/inside.h"
#include "rep/instance/host_ports.h"
#include "rep/steps/exit_text.h"
#include "rep/unit/unit_tools.h"
#include "rep/unit/workload.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ------------------------------------------------------------------------------- */

void cell_units_init(struct cell_units *t, struct rep *r)
{
    *t = (struct cell_units){.rep = r, .due_ns = NEVER_NS};
    unit_knowledge_init(&t->knowledge, r->config.cell_id);
    map_init(&t->by_guid);
    TAILQ_INIT(&t->queue);
    TAILQ_INIT(&t->hooks);
}

static void unit_free(void *value)
{
    struct cell_unit *u = value;
    if (u->noting) {
        rep__note__free_unpacked(u->noting, NULL);
    }
    unit_tools_done(u->table->rep, u, NULL);
    free(u->hook.text);
    free(u->command.text);
    free(u->output);
    free(u->make_error);
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
        u->due_ns = NEVER_NS;
        map_put(&t->by_guid, guid, u);
    }
    return u;
}

struct cell_unit *cell_unit_of(struct container *c)
{
    const Rep__UnitOf *of = c->about->unit;
    assert(c->kind == &unit_kind && of);
    return cell_unit_named(&c->table->rep->units, container_guid(c),
                           (struct unit_name){of->service, of->number});
}

struct container *cell_unit_container(const struct cell_unit *u)
{
    struct container *c = container_find(&u->table->rep->containers, u->guid);
    return c && c->kind == &unit_kind ? c : NULL;
}

void cell_unit_queue(struct cell_unit *u)
{
    if (!u->queued) {
        u->queued = true;
        TAILQ_INSERT_TAIL(&u->table->queue, u, queue_link);
    }
}

void cell_unit_due(struct cell_unit *u, int64_t due_ns)
{
    u->due_ns = earlier_ns(u->due_ns, due_ns);
    u->table->due_ns = earlier_ns(u->table->due_ns, due_ns);
}

/* Nothing of it is here, nor wanted. */
static void forget(struct cell_unit *u)
{
    struct cell_units *t = u->table;
    assert(!u->moving && !u->busy && !cell_unit_container(u));
    if (u->queued) {
        TAILQ_REMOVE(&t->queue, u, queue_link);
    }
    map_remove(&t->by_guid, u->guid);
    unit_free(u);
    t->machine.due = true;
}

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

static bool hook_is_going(const Rep__UnitNote *j)
{
    return j && j->hook && lifecycle_state(&hook_lifecycle, j->hook->state) != HOOK_RUN_ENDED;
}

bool cell_unit_runs_hook(const struct container *c)
{
    return c && hook_is_going(c->about->unit->journal);
}

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

void unit_run_clear(struct unit_run *run)
{
    free(run->text);
    *run = (struct unit_run){0};
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
    } else if (c->end == END_DISOWNED && c->phase == PHASE_COMPLETED) {
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
        return;
    }
    TAILQ_REMOVE(&t->hooks, u, busy_link);
    t->hook_count--;
    MAP_EACH(&t->by_guid, n)
    {
        struct cell_unit *other = map_value(n);
        if (other->waits_turn) {
            cell_unit_queue(other);
        }
    }
}

static void entered(struct container *c)
{
    struct rep *r = c->table->rep;
    struct cell_unit *u = cell_unit_of(c);
    cell_unit_queue(u);
    if (c->phase == PHASE_RUNNING) {
        u->was_up = true;
        u->up_ns = r->now.mono_ns;
        u->make_failures = 0;
    } else if (c->phase == PHASE_RESERVED || c->phase == PHASE_NONE) {
        u->was_up = false;
        u->forget = u->running = 0;
        u->tool_changes = u->tool_written = u->tool_writing = 0;
        u->stop_signals = 0;
        unit_run_clear(&u->hook);
        unit_run_clear(&u->command);
        set_busy(u, false);
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
    if (of->journal) {
        SCOPED_ARENA(a);
        Rep__UnitNote *j;
        if (journal_read(&a, message_packed(&a, &of->journal->base), &j, NULL) < 0) {
            rep__unit_note__free_unpacked(of->journal, NULL);
            of->journal = NULL;
            return;
        }
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

/* /state tells of instances and tasks; what a unit takes is in what is left. */
static void state(const struct container *c, struct arena *a, Cell__CellState *s)
{
    (void)c, (void)a, (void)s;
}

static void measured(const struct container *c, struct arena *a, Cell__ContainerMetrics *figures,
                     Cell__CellMetrics *all)
{
    (void)c, (void)a, (void)figures, (void)all;
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
    .record = record,
    .record_key = record_key,
    .stray = stray,
    .state = state,
    .measured = measured,
};

/* ---- What its agent looks at ----------------------------------------------------------------- */

static enum agent_container container_seen(const struct container *c)
{
    if (!c || (c->phase == PHASE_RESERVED && !c->deleting)) {
        return AGENT_CONTAINER_NONE;
    }
    if (c->deleting || container_stop_asked(c)) {
        return AGENT_CONTAINER_ENDING;
    }
    return c->phase == PHASE_RUNNING     ? AGENT_CONTAINER_UP
           : c->phase == PHASE_COMPLETED ? AGENT_CONTAINER_DOWN
                                         : AGENT_CONTAINER_MAKING;
}

static int64_t hook_timeout_ns(const struct cell_units *t, struct arena *a,
                               const struct cell_unit *u, const Rep__UnitNoteHook *h)
{
    const Board__Charm *charm = unit_knowledge_charm(&t->knowledge, a, u->name.service, h->charm);
    uint32_t seconds =
        charm && charm->hook_timeout_s ? charm->hook_timeout_s : CHARM_HOOK_TIMEOUT_S;
    return (int64_t)seconds * SECOND_NS;
}

/* How its process has ended, for people; the last that it wrote stands below. */
static const char *end_text(struct arena *a, const struct container *c, const struct cell_unit *u,
                            int64_t timeout_ns)
{
    const struct unit_run *run = &u->hook;
    bool late = run->ended_ns - run->begun_ns >= timeout_ns;
    const char *text =
        late ? arena_printf(a, "it was ended after its time of %lld s",
                            (long long)(timeout_ns / SECOND_NS))
        : run->text && run->text[0]
            ? run->text
            : exit_text(a, c->about->log_source, run->exit_code, run->exit_signal,
                        (struct shortage){.memory = run->oom_killed, .disk = run->disk_full});
    return u->output && u->output[0] ? arena_printf(a, "%s\n%s", text, u->output) : text;
}

/* A hook whose container has ended is lost, if its end was not told. Of a bad end what it wrote is
 * read first: until then it goes. */
static void see_run(struct arena *a, struct cell_unit *u, const struct container *c,
                    struct agent_facts *f)
{
    const struct unit_run *run = &u->hook;
    const Rep__UnitNoteHook *h = f->journal->hook;
    int64_t timeout_ns = hook_timeout_ns(u->table, a, u, h);
    assert(timeout_ns > 0 && f->container != AGENT_CONTAINER_NONE);
    bool up = f->container == AGENT_CONTAINER_UP;
    f->run_limit_ns = run->begun ? run->begun_ns + timeout_ns : NEVER_NS;
    if (run->ended) {
        bool good = run->exit_code == 0 && run->exit_signal == 0;
        f->run = good ? AGENT_RUN_GOOD : u->output || !up ? AGENT_RUN_BAD : AGENT_RUN_GOES;
        f->run_limit_ns = u->output || !up ? f->run_limit_ns : NEVER_NS;
        f->run_text = good ? "" : end_text(a, c, u, timeout_ns);
    } else if (run->lost || (run->begun && f->container == AGENT_CONTAINER_DOWN)) {
        f->run = AGENT_RUN_LOST;
        f->run_text = "nobody can tell how it ended";
    } else if (run->begun || u->running) {
        f->run = AGENT_RUN_GOES;
    }
}

static bool same_group(const Rep__UnitOf *of, const char *guid, const struct cell_unit *other)
{
    const struct container *c = cell_unit_container(other);
    const char *mine = of && of->principal_guid[0] ? of->principal_guid : guid;
    const char *its =
        c && c->about->unit->principal_guid[0] ? c->about->unit->principal_guid : other->guid;
    return strcmp(mine, its) == 0;
}

static void see_others(const struct cell_unit *u, const struct container *c, struct agent_facts *f)
{
    const struct cell_unit *other;
    TAILQ_FOREACH(other, &u->table->hooks, busy_link)
    {
        f->group_busy |= other != u && same_group(c ? c->about->unit : NULL, u->guid, other);
    }
    f->cell_busy = u->table->hook_count - u->busy >= UNIT_HOOKS_AT_ONCE;
}

struct agent_facts cell_unit_facts(struct rep *r, struct arena *a, struct cell_unit *u)
{
    struct container *c = cell_unit_container(u);
    const Rep__UnitOf *of = c ? c->about->unit : NULL;
    struct agent_facts f = {
        .cell_id = r->config.cell_id,
        .identity = r->config.identity,
        .guid = u->guid,
        .now_ns = r->now.mono_ns,
        .room = c != NULL,
        .room_lacking = !c && u->room_lacking,
        .container = container_seen(c),
        .make_failures = u->make_failures,
        .make_again_ns = u->make_wait.retry_ns,
        .make_error = u->make_error ? u->make_error : "",
        .run_text = "",
        .text = of ? of->text : "",
        .address = r->config.address,
        .crash_count = of ? of->crash_count : 0,
    };
    if (f.container != AGENT_CONTAINER_NONE) {
        f.journal = of->journal;
        f.ports = c->about->ports;
        f.port_count = c->about->n_ports;
    }
    char *token = ARENA_ARRAY(a, GUID_BYTES, char);
    random_guid(&r->random, token);
    f.token = token;
    unit_knowledge_facts(&u->table->knowledge, a, u->name, u->guid, f.journal, &f);
    f.confirmed = f.confirmed && r->feed_client.current && r->incarnation.open &&
                  listing_is_good(&r->listing);
    if (f.journal && f.container != AGENT_CONTAINER_MAKING && cell_unit_runs_hook(c)) {
        see_run(a, u, c, &f);
    }
    see_others(u, c, &f);
    return f;
}

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
    return c && (cell_unit_runs_hook(c) || hook_is_going(j));
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
    SCOPED_ARENA(scratch);
    struct agent_facts f = cell_unit_facts(r, &scratch, u);
    if (c && c->phase == PHASE_RESERVED && !c->deleting) {
        see_reserved(r, u, c, &f);
    } else if (c && u->offer != OFFER_NONE && is_own(r, u, f.unit)) {
        u->offer = OFFER_NONE;
    } else if (c && u->offer != OFFER_NONE) {
        unit_want_assign(r, u); /* a restored board forgot that it is here */
    }
    if (!c && f.confirmed && !u->moving && !f.unit) {
        forget(u);
        return;
    }
    if (has_to_wait(r, u) && f.confirmed) {
        f.confirmed = false; /* what is known is older than what was answered */
    }
    struct agent_step s = agent_next(&scratch, &f);
    u->waits_turn = s.act == AGENT_WAIT && (f.group_busy || f.cell_busy);
    if (s.look_again_ns != NEVER_NS) {
        cell_unit_due(u, s.look_again_ns);
    }
    if (c && cell_unit_runs_hook(c)) {
        unit_tools_write(r, u, c, out);
    } else {
        unit_tools_done(r, u, out);
    }
    unit_act(r, u, &f, &s, out);
    workload_look(r, u, &f, out);
    set_busy(u, is_busy(u, c));
}

/* ---- All of them ----------------------------------------------------------------------------- */

int64_t cell_units_feed_revision(const struct rep *r)
{
    const struct feed_client *f = &r->feed_client;
    return f->change_revision > f->revision ? f->change_revision : f->revision;
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
            if (unit_name_equal(u->name, list[i].name)) {
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

void cell_units_step(struct rep *r, struct effects *out)
{
    struct cell_units *t = &r->units;
    size_t left_out = unit_knowledge_follow(&t->knowledge, &r->feed_client, out);
    bool news = left_out != t->left_out;
    t->left_out = left_out;
    if (left_out && news) {
        effects_log(out, LOG_WARN_LEVEL, "units not followed", "topics=%zu", left_out);
    }
    queue_touched(r, out);
    queue_due(r);
    for (int i = 0; i < UNITS_A_STEP_MAX && !TAILQ_EMPTY(&t->queue); i++) {
        struct cell_unit *u = TAILQ_FIRST(&t->queue);
        TAILQ_REMOVE(&t->queue, u, queue_link);
        u->queued = false;
        look(r, u, out);
    }
    unit_machine_look(r);
    effects_due(out, TAILQ_EMPTY(&t->queue) ? t->due_ns : r->now.mono_ns);
}
