#include "rep/unit/workload.h"

#include "rep/container/operation.h"
#include "rep/container/spec.h"
#include "rep/inside.h"
#include "rep/steps/exit_text.h"
#include "rep/unit/cell_unit.h"

#include <assert.h>
#include <signal.h>

/* The first few times it is begun again at once. So often that an instance would stay crashed, a
 * unit waits the longest time. */
static int64_t wait_ns(const struct crash_policy *p, int32_t count)
{
    int64_t wait_ns = count < p->immediate_below ? 0 : crash_wait_ns(p, count);
    return earlier_ns(wait_ns, p->backoff_max_ns);
}

/* Rule 2: its last ends are told till they count no more. */
static struct workload_step while_it_lasts(const struct workload_facts *w,
                                           const struct crash_policy *p)
{
    assert(w->begun && w->crash_count > 0);
    return w->ran_ns > p->reset_ns
               ? (struct workload_step){WORKLOAD_LASTS, 0, 0, NEVER_NS}
               : (struct workload_step){WORKLOAD_WAIT, w->crash_count, 0,
                                        w->now_ns + (p->reset_ns - w->ran_ns) + 1};
}

/* 1. It has ended: that counts, whatever it said of its end. One that ran for long enough counts
 *    from 1 again. One that a hook asked to end does not count, and begins again at once.
 * 2. It is not wanted: nothing. It runs: nothing, but where a hook, or an upgrade, asked that it
 *    ends. When it has run for so long that its next end counts as the first, none is told
 *    any more.
 * 3. Its time has not come: wait.
 * 4. No number is noted for it: that goes first, so that a rep that comes after knows its run.
 * 5. It begins. */
struct workload_step workload_next(const struct workload_facts *w, const struct crash_policy *p)
{
    struct workload_step s = {.crash_count = w->crash_count, .look_again_ns = NEVER_NS};
    if (w->given && w->over && w->restart) { /* 1 */
        s.act = WORKLOAD_COUNT;
        return s;
    }
    if (w->given && w->over) { /* 1 */
        s.act = WORKLOAD_COUNT;
        s.crash_count = w->ran_ns > p->reset_ns      ? 1
                        : w->crash_count < INT32_MAX ? w->crash_count + 1
                                                     : w->crash_count;
        s.wait_ns = wait_ns(p, s.crash_count);
        assert(s.wait_ns >= 0 && s.crash_count > 0);
        return s;
    }
    if (!w->wanted || w->begun) { /* 2 */
        bool ends = (w->wanted && w->restart) || (w->begun && w->gone);
        s.act = ends ? WORKLOAD_STOP : WORKLOAD_WAIT;
        return ends || !w->begun || w->crash_count == 0 ? s : while_it_lasts(w, p);
    }
    if (w->now_ns < w->again_ns) { /* 3 */
        s.look_again_ns = w->again_ns;
        return s;
    }
    s.act = w->given ? WORKLOAD_BEGIN : WORKLOAD_GIVE; /* 4, 5 */
    return s;
}

/* ---- Carried out ----------------------------------------------------------------------------- */

static struct workload_facts see(struct rep *r, const struct cell_unit *u,
                                 const struct container *c, const struct unit_outline *charm)
{
    const Rep__UnitNote *j = c->about->unit->journal;
    const struct unit_run *run = &u->command;
    return (struct workload_facts){
        .wanted = j && j->started && !j->stopped && charm && charm->has_command,
        .gone = charm && !charm->has_command,
        .given = c->about->unit->command_run != 0,
        .begun = run->begun,
        .over = run->ended || run->lost,
        .restart = c->about->unit->restart && !cell_unit_runs_hook(c),
        .ran_ns = !run->begun               ? 0
                  : run->ended || run->lost ? run->ended_ns - run->begun_ns
                                            : r->now.mono_ns - run->begun_ns,
        .crash_count = c->about->unit->crash_count,
        .now_ns = r->now.mono_ns,
        .again_ns = u->command_again_ns,
    };
}

static void begin(struct rep *r, struct cell_unit *u, struct container *c, struct effects *out)
{
    const Board__Charm *charm = unit_knowledge_charm(&u->table->knowledge, out->arena,
                                                     u->name.service, c->about->unit->charm);
    struct step_process *p = ARENA_NEW(out->arena, struct step_process);
    uint32_t number = c->about->unit->command_run;
    assert(number >= RUN_FIRST && charm && charm->run);
    *p = spec_process_of_unit(out->arena, charm->run, c->about, r->config.address, number);
    u->running = number;
    operation_verb(r, c, OP_RUN, out)->run = p;
}

static const char *end_text(struct arena *a, const struct container *c, const struct unit_run *run)
{
    return !run->ended ? "nobody can tell how it ended"
           : run->text && run->text[0]
               ? run->text
               : exit_text(a, c->about->log_source, run->exit_code, run->exit_signal,
                           (struct shortage){.memory = run->oom_killed, .disk = run->disk_full});
}

/* One that a hook asked to end has no reason of its own. */
static void count(struct rep *r, struct cell_unit *u, struct container *c,
                  const struct workload_step *s, struct effects *out)
{
    Rep__UnitOf of = *c->about->unit;
    effects_log(out, LOG_INFO_LEVEL, "command ended", "%s count=%d again_s=%lld",
                c->kind->words(c, out->arena), (int)s->crash_count,
                (long long)(s->wait_ns / SECOND_NS));
    of.command_run = 0;
    if (s->crash_count != of.crash_count) {
        of.crash_reason = arena_strdup(out->arena, end_text(out->arena, c, &u->command));
    }
    of.crash_count = s->crash_count;
    of.restart = of.restart && cell_unit_runs_hook(c);
    u->stop_signals = 0;
    u->command_again_ns = r->now.mono_ns + s->wait_ns;
    unit_note(r, c, &of, NULL, out);
}

static void stop(struct rep *r, struct cell_unit *u, struct container *c, struct effects *out)
{
    if (u->stop_signals && r->now.mono_ns < u->stop_again_ns) {
        cell_unit_due(u, u->stop_again_ns);
        return;
    }
    struct verb_call *call = operation_verb(r, c, OP_SIGNAL, out);
    call->signal = u->stop_signals ? SIGKILL : SIGTERM;
    call->step = c->about->unit->command_run;
    u->stop_signals++;
    u->stop_again_ns = r->now.mono_ns + r->config.stop_grace_ns;
    cell_unit_due(u, u->stop_again_ns);
}

void workload_look(struct rep *r, struct cell_unit *u, const struct agent_facts *f,
                   struct effects *out)
{
    struct container *c = cell_unit_container(u);
    if (!c || f->container != AGENT_CONTAINER_UP || !f->confirmed || c->op != OP_NONE ||
        operation_must_wait(r, c)) {
        return;
    }
    const struct unit_outline *charm = unit_knowledge_outline(
        &u->table->knowledge, out->arena, u->name.service, c->about->unit->charm);
    struct workload_facts w = see(r, u, c, charm);
    struct workload_step s = workload_next(&w, &r->crash);
    Rep__UnitOf of = *c->about->unit;
    if (s.look_again_ns != NEVER_NS) {
        cell_unit_due(u, s.look_again_ns);
    }
    switch (s.act) {
    case WORKLOAD_WAIT:
        break;
    case WORKLOAD_GIVE:
        of.last_run = of.last_run < RUN_FIRST ? RUN_FIRST : of.last_run + 1;
        of.command_run = of.last_run;
        of.restart = of.restart && cell_unit_runs_hook(c); /* it begins now */
        unit_note(r, c, &of, NULL, out);
        break;
    case WORKLOAD_BEGIN:
        begin(r, u, c, out);
        break;
    case WORKLOAD_COUNT:
        count(r, u, c, &s, out);
        break;
    case WORKLOAD_LASTS:
        of.crash_count = 0;
        of.crash_reason = arena_strdup(out->arena, "");
        unit_note(r, c, &of, NULL, out);
        break;
    case WORKLOAD_STOP:
        stop(r, u, c, out);
        break;
    }
}
