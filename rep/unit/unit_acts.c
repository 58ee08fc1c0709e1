/* What the table of a unit's agent says, carried out. */
#include "rep/container/note.h"
#include "rep/container/operation.h"
#include "rep/container/spec.h"
#include "rep/inside.h"
#include "rep/unit/agent_status.h"
#include "rep/unit/cell_unit.h"
#include "rep/unit/hook_text.h"
#include "rep/unit/unit_moves.h"
#include "rep/unit/unit_shape.h"
#include "rep/unit/unit_tools.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define HOOK_PROGRAM UNIT_TOOLS_PATH "/rep-hook"

/* How long what the feed lacks yet is waited for. */
#define CHARM_AGAIN_NS (1 * SECOND_NS)

/* ---- The note -------------------------------------------------------------------------------- */

static bool may_ask(struct rep *r, struct container *c)
{
    return c->op == OP_NONE && !operation_must_wait(r, c);
}

/* The unit has come to the charm that its journal names: what COMMAND is, that one says, and if it
 * is another one it begins again. */
static void follow_charm(struct cell_unit *u, Rep__UnitOf *of, struct arena *a)
{
    const struct unit_knowledge *k = &u->table->knowledge;
    const Board__Charm *old = unit_knowledge_charm(k, a, u->name.service, of->charm);
    const Board__Charm *now = unit_knowledge_charm(k, a, u->name.service, of->journal->charm);
    bool same = old && now && old->run && now->run &&
                strcmp(unit_command(a, old->run), unit_command(a, now->run)) == 0;
    of->restart = of->restart || (of->command_run && !same);
    of->charm = of->journal->charm;
}

void unit_note(struct rep *r, struct container *c, const Rep__UnitOf *what,
               const Rep__UnitNote *journal, struct effects *out)
{
    struct cell_unit *u = cell_unit_of(c);
    assert(c->op == OP_NONE && c->made);
    Rep__UnitOf of = *what; /* shallow, as the next: copied deeply, the originals stay whole */
    Rep__Note note = *c->about;
    of.journal = journal ? (Rep__UnitNote *)(uintptr_t)journal : of.journal;
    if (of.journal && *of.journal->charm && strcmp(of.charm, of.journal->charm) != 0) {
        follow_charm(u, &of, out->arena);
    }
    note.unit = &of;
    if (u->noting) {
        rep__note__free_unpacked(u->noting, NULL);
    }
    u->noting = note_copy(&note);
    struct verb_call *call = operation_verb(r, c, OP_NOTE, out);
    call->note = note_pack(out->arena, u->noting);
    call->durable = true;
}

/* A hook that begins gets a number that no run of this container had. */
static void note_journal(struct rep *r, struct container *c, const struct agent_step *s,
                         struct effects *out)
{
    if (!may_ask(r, c)) {
        return;
    }
    assert(s->journal);
    Rep__UnitOf of = *c->about->unit;
    if (s->act == AGENT_NOTE) {
        assert(s->journal->hook && !s->journal->hook->run);
        of.last_run = of.last_run < RUN_FIRST ? RUN_FIRST : of.last_run + 1;
        s->journal->hook->run = of.last_run;
        unit_tools_freeze(r, cell_unit_of(c), c, s->journal);
        cell_unit_of(c)->act_wait = (struct unit_wait){0}; /* what was moved before is done */
    }
    unit_note(r, c, &of, s->journal, out);
}

static uint32_t hook_run_of(const Rep__Note *about)
{
    const Rep__UnitNote *j = about->unit->journal;
    return j && j->hook ? j->hook->run : 0;
}

/* It has come to an error, or is to run again; with which it is about a relation, that stands
 * behind its name. */
static void log_bad_end(const struct cell_unit *u, const struct container *c,
                        const Rep__UnitNoteHook *h, struct effects *out)
{
    struct arena *a = out->arena;
    const char *name = unit_hook_name(&u->table->knowledge, a, u->name.service, h);
    const char *of = h->relation ? arena_printf(a, " relation=%u", h->relation) : "";
    effects_log(out, LOG_INFO_LEVEL, h->lost ? "hook lost" : "hook failed",
                "%s hook=%s%s run=%u attempt=%u why=\"%s\"", c->kind->words(c, a),
                name ? name : hook_name((enum unit_hook)h->hook), of, h->run, h->attempt,
                hook_end_reason(h->text));
}

/* What was told of the hook, or the command, before is of another run. */
static void noted(struct rep *r, struct container *c, const struct verb_answer *answer,
                  struct effects *out)
{
    struct cell_unit *u = cell_unit_of(c);
    if (unit_tools_noted(r, u, c, answer, out)) {
        return;
    }
    Rep__Note *note = u->noting;
    u->noting = NULL;
    if (answer->outcome != VERB_DONE) {
        rep__note__free_unpacked(note, NULL);
        effects_log(out, LOG_WARN_LEVEL, "note not written", "%s why=\"%s\"",
                    c->kind->words(c, out->arena), answer->text);
        operation_retry_later(r, c);
        return;
    }
    c->failures = 0;
    uint32_t hook = hook_run_of(c->about), command = c->about->unit->command_run;
    if (cell_unit_runs_hook(c) && hook == hook_run_of(note) &&
        !unit_hook_is_going(note->unit->journal)) {
        log_bad_end(u, c, note->unit->journal->hook, out);
    }
    if (hook && hook != hook_run_of(note)) {
        unit_run_clear(&u->hook);
        free(u->output);
        u->output = NULL;
        u->cut_signals = 0;
        u->forget = hook;
    }
    if (command && command != note->unit->command_run) {
        unit_run_clear(&u->command);
        u->forget = command;
    }
    container_learn(c, note);
}

/* ---- Hooks ----------------------------------------------------------------------------------- */

/* Its process: what it runs, the tools face tells it, by its number. One that the charm does not
 * have has come out well. */
static void execute(struct rep *r, struct cell_unit *u, struct container *c,
                    const struct agent_facts *f, struct effects *out)
{
    struct arena *a = out->arena;
    const Rep__UnitNoteHook *h = f->journal->hook;
    assert(h && h->run >= RUN_FIRST && f->run == AGENT_RUN_NONE);
    const Board__Charm *charm =
        unit_knowledge_charm(&u->table->knowledge, a, u->name.service, h->charm);
    if (!may_ask(r, c)) {
        return;
    }
    if (!charm && f->service && strcmp(f->service->charm, h->charm) != 0) {
        const char *why = "its charm went before it began"; /* it runs again, by the one there is */
        unit_note(r, c, c->about->unit, journal_end(a, f->journal, JOURNAL_LOST, why), out);
        return;
    }
    if (!charm || !charm->run) {
        cell_unit_due(u, r->now.mono_ns + CHARM_AGAIN_NS);
        return;
    }
    const char *name = unit_hook_name(&u->table->knowledge, a, u->name.service, h);
    if (!unit_charm_has_hook(charm, name)) {
        unit_note(r, c, c->about->unit, journal_end(a, f->journal, JOURNAL_GOOD, ""), out);
        return;
    }
    const char **args = ARENA_ARRAY(a, 3, const char *);
    args[0] = "run";
    args[1] = arena_printf(a, "%u", h->run);
    struct step_process *p = ARENA_NEW(a, struct step_process);
    *p = spec_process_of_unit(a, charm->run, c->about, r->config.address, h->run);
    p->path = HOOK_PROGRAM;
    p->args = args;
    p->user = "0";
    p->dir = "/";
    u->running = h->run;
    effects_log(out, LOG_INFO_LEVEL, "hook begins", "%s hook=%s run=%u attempt=%u",
                c->kind->words(c, a), name, h->run, h->attempt);
    operation_verb(r, c, OP_RUN, out)->run = p;
}

/* It began; or that is told by what the driver lists. Asked again, what has begun fails. */
static void ran(struct rep *r, struct container *c, const struct verb_answer *answer,
                struct effects *out)
{
    struct cell_unit *u = cell_unit_of(c);
    assert(u->running >= RUN_FIRST);
    struct unit_run *run = u->running == c->about->unit->command_run ? &u->command : &u->hook;
    u->running = 0;
    if (answer->outcome == VERB_DONE) {
        c->failures = 0;
        run->begun_ns = run->begun ? run->begun_ns : r->now.mono_ns;
        run->begun = true;
        return;
    }
    effects_log(out, LOG_WARN_LEVEL, "run not begun", "%s why=\"%s\"",
                c->kind->words(c, out->arena), answer->text);
    listing_want(&r->listing);
    operation_retry_later(r, c);
}

/* As far as its first NUL; a letter that is none becomes a question mark. */
static char *printable(struct bytes data)
{
    char *text = strndup(data.size ? (const char *)data.data : "", data.size);
    assert(text);
    for (char *p = text; *p; p++) {
        bool plain = (*p >= ' ' && *p < 0x7f) || *p == '\n' || *p == '\t';
        *p = plain ? *p : '?';
    }
    return text;
}

static void read_output(struct rep *r, struct cell_unit *u, struct container *c,
                        struct effects *out)
{
    const struct unit_run *run = &u->hook;
    bool bad = run->ended && (run->exit_code || run->exit_signal);
    if (bad && !u->output && cell_unit_runs_hook(c) && may_ask(r, c)) {
        operation_verb(r, c, OP_READ, out)->step = hook_run_of(c->about);
    }
}

/* TERM, and after a while KILL, as a container's end. */
static void cut(struct rep *r, struct cell_unit *u, struct container *c, struct effects *out)
{
    if (u->cut_signals && r->now.mono_ns < u->cut_again_ns) {
        cell_unit_due(u, u->cut_again_ns);
    } else if (c->op == OP_NONE) {
        assert(hook_run_of(c->about) >= RUN_FIRST);
        struct verb_call *call = operation_verb(r, c, OP_SIGNAL, out);
        call->signal = u->cut_signals ? SIGKILL : SIGTERM;
        call->step = hook_run_of(c->about);
        u->cut_signals++;
        u->cut_again_ns = r->now.mono_ns + r->config.stop_grace_ns;
        cell_unit_due(u, u->cut_again_ns);
    }
}

static void forget_run(struct rep *r, struct cell_unit *u, struct container *c, struct effects *out)
{
    if (u->forget && c->phase == PHASE_RUNNING && may_ask(r, c)) {
        operation_verb(r, c, OP_FORGET, out)->step = u->forget;
        u->forget = 0;
    }
}

void unit_acted(struct rep *r, struct container *c, const struct verb_answer *answer,
                struct effects *out)
{
    struct cell_unit *u = cell_unit_of(c);
    if (answer->verb == VERB_NOTE) {
        noted(r, c, answer, out);
    } else if (answer->verb == VERB_RUN) {
        ran(r, c, answer, out);
    } else if (answer->verb == VERB_READ) {
        bool done = answer->outcome == VERB_DONE;
        free(u->output);
        u->output = printable(done ? answer->data : (struct bytes){0});
    }
}

/* ---- The table's word ------------------------------------------------------------------------ */

/* No room: it is tried again, as often as that may have changed. */
static void set_aside(struct rep *r, struct cell_unit *u, const struct agent_facts *f,
                      struct effects *out)
{
    u->room_lacked = !r->drain.over && !unit_set_aside(r, u, f->unit, out);
    if (!u->room_lacked) {
        return;
    }
    u->room_lacking = true;
    u->room_again_ns = r->now.mono_ns + UNIT_ROOM_AGAIN_NS;
    cell_unit_due(u, u->room_again_ns);
    cell_unit_queue(u); /* its status says so */
}

static void make(struct rep *r, struct cell_unit *u, struct container *c,
                 const struct agent_step *s, struct effects *out)
{
    assert(c && !c->deleting && s->journal);
    if (r->drain.over) {
        return; /* until then it is no new work: its hooks may have to run yet */
    }
    if (c->phase == PHASE_COMPLETED) {
        c->keep_note = true;
        container_delete(c, "it is begun anew", out);
    } else {
        unit_make(u, s, out);
    }
}

/* What the board has of it already is noted as published. */
static void publish(struct rep *r, struct cell_unit *u, struct container *c,
                    const struct agent_facts *f, const struct agent_step *s, struct effects *out)
{
    SCOPED_ARENA(a);
    if (unit_move_of_act(&a, &u->table->knowledge, f, s, (struct unit_address){.address = ""})) {
        unit_want_move(r, u, s);
    } else if (c && f->journal && may_ask(r, c)) {
        unit_note(r, c, c->about->unit, journal_published(&a, f->journal, s->relation), out);
    }
}

static void wait(struct rep *r, struct cell_unit *u, struct container *c,
                 const struct agent_facts *f, struct effects *out)
{
    if (!c) {
        return;
    }
    if (f->container == AGENT_CONTAINER_MAKING && f->confirmed) {
        unit_launch(r, u, out);
    } else if (f->container == AGENT_CONTAINER_UP) {
        read_output(r, u, c, out);
        forget_run(r, u, c, out);
    }
}

/* Of a note alone nothing stops. One that stays all the same is listed again. */
static void recall(struct rep *r, struct cell_unit *u, struct container *c,
                   const struct agent_step *s, struct effects *out)
{
    if (c) {
        container_abandon(c, s->why, out);
        return;
    }
    assert(u->kept);
    effects_log(out, LOG_INFO_LEVEL, "note of a unit deleted", "unit_guid=%s why=\"%s\"", u->guid,
                s->why);
    r->listing.removed_id = r->next_id;
    operation_remove(r, u->guid, out);
    cell_unit_keep(u, NULL);
    cell_unit_queue(u);
}

void unit_act(struct rep *r, struct cell_unit *u, const struct agent_facts *f,
              const struct agent_step *s, struct effects *out)
{
    struct container *c = cell_unit_container(u);
    if (s->status) {
        unit_want_status(r, u);
    }
    switch (s->act) {
    case AGENT_WAIT:
        wait(r, u, c, f, out);
        break;
    case AGENT_RECALL:
        recall(r, u, c, s, out);
        break;
    case AGENT_SET_ASIDE:
        set_aside(r, u, f, out);
        break;
    case AGENT_MAKE:
        make(r, u, c, s, out);
        break;
    case AGENT_ADOPT:
    case AGENT_NOTE:
    case AGENT_END:
    case AGENT_ACCEPT:
        note_journal(r, c, s, out);
        break;
    case AGENT_EXECUTE:
        execute(r, u, c, f, out);
        break;
    case AGENT_CUT:
        cut(r, u, c, out);
        break;
    case AGENT_REMAKE:
        c->keep_note = c->made;
        container_abandon(c, s->why, out);
        break;
    case AGENT_PUBLISH:
        publish(r, u, c, f, s, out);
        break;
    case AGENT_REPORT:
        break; /* its status says it */
    default:
        unit_want_move(r, u, s);
        break;
    }
}
