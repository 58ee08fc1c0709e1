/* What the agent of a unit looks at: the board, its container, its journal, the runs there, and the
 * others of its cell. */
#include "common/charmfile/charm.h"
#include "common/lifecycle/unit.h"
#include "rep/inside.h"
#include "rep/steps/exit_text.h"
#include "rep/unit/cell_unit.h"
#include "rep/unit/hook_text.h"

#include <signal.h>
#include <string.h>

static enum agent_container container_seen(const struct cell_unit *u, const struct container *c)
{
    if (!c || (c->phase == PHASE_RESERVED && !c->deleting)) {
        return u->kept ? AGENT_CONTAINER_DOWN : AGENT_CONTAINER_NONE;
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

/* How its process has ended, for people. */
static const char *end_text(struct arena *a, const struct cell_unit *u, int64_t timeout_ns)
{
    const struct unit_run *run = &u->hook;
    bool late = run->ended_ns - run->begun_ns >= timeout_ns;
    const char *how = late ? arena_printf(a, "it was ended after its time of %lld s",
                                          (long long)(timeout_ns / SECOND_NS))
                      : run->text && run->text[0]
                          ? run->text
                          : exit_status_text(a, run->exit_code, run->exit_signal,
                                             (struct shortage){.memory = run->oom_killed,
                                                               .disk = run->disk_full});
    return hook_end_text(a, how, u->output ? u->output : "");
}

/* It was killed, and not by us: by whoever killed its container, of whose end nobody has heard yet,
 * or by itself. */
static bool was_killed(const struct cell_unit *u)
{
    const struct unit_run *run = &u->hook;
    bool by_signal = run->exit_signal == SIGKILL || run->exit_code == 128 + SIGKILL; /* by driver */
    return by_signal && !run->oom_killed && u->cut_signals == 0;
}

/* A hook whose container has ended is lost, if its end was not told, or came of that. So the end of
 * one that was killed counts after a while only. Of a bad end what it wrote is read first: until
 * then it goes. */
static void see_run(struct rep *r, struct arena *a, struct cell_unit *u, struct agent_facts *f)
{
    const struct unit_run *run = &u->hook;
    const Rep__UnitNoteHook *h = f->journal->hook;
    int64_t timeout_ns = hook_timeout_ns(u->table, a, u, h);
    assert(timeout_ns > 0 && f->container != AGENT_CONTAINER_NONE);
    bool up = f->container == AGENT_CONTAINER_UP;
    f->run_begun_ns = run->begun ? run->begun_ns : NEVER_NS;
    f->run_limit_ns = run->begun ? run->begun_ns + timeout_ns : NEVER_NS;
    int64_t counts_ns = run->ended_ns + UNIT_KILLED_NS;
    bool waits = run->ended && up && was_killed(u) && r->now.mono_ns < counts_ns;
    bool lost = run->lost || (run->begun && !run->ended && f->container == AGENT_CONTAINER_DOWN) ||
                (run->ended && !up && was_killed(u));
    if (waits) {
        f->run = AGENT_RUN_GOES;
        f->run_limit_ns = NEVER_NS;
        cell_unit_due(u, counts_ns);
    } else if (lost) {
        f->run = AGENT_RUN_LOST;
        f->run_text = "nobody can tell how it ended";
    } else if (run->ended) {
        bool good = run->exit_code == 0 && run->exit_signal == 0;
        f->run = good ? AGENT_RUN_GOOD : u->output || !up ? AGENT_RUN_BAD : AGENT_RUN_GOES;
        f->run_limit_ns = u->output || !up ? f->run_limit_ns : NEVER_NS;
        f->run_text = good ? "" : end_text(a, u, timeout_ns);
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
    f->cell_busy = u->yields || u->table->hook_count - u->busy >= u->table->rep->config.hooks;
    f->hooks_at_once = (uint32_t)u->table->rep->config.hooks;
    f->turn_since_ns = u->turn_since_ns;
}

const Models__DesiredLRP *cell_unit_other_run(const struct cell_unit *u, struct arena *a)
{
    const struct unit_knowledge *k = &u->table->knowledge;
    const struct container *c = cell_unit_container(u);
    const Rep__UnitOf *of = c ? c->about->unit : NULL;
    if (container_seen(u, c) != AGENT_CONTAINER_UP || !*of->shape) {
        return NULL;
    }
    const Board__UnitServiceRecord *s = unit_knowledge_service(k, a, u->name.service);
    bool same = s && strcmp(s->guid, of->service_guid) == 0;
    const struct unit_outline *o =
        same ? unit_knowledge_outline(k, a, u->name.service, s->charm) : NULL;
    bool other = o && o->shape && strcmp(of->shape, o->shape) != 0;
    const Board__Charm *charm =
        other ? unit_knowledge_charm(k, a, u->name.service, s->charm) : NULL;
    return charm ? charm->run : NULL;
}

/* While the image of the next charm is not here, there is no other charm than the one that the
 * container was made by, as long as the board has that. */
static void see_upgrade(const struct cell_unit *u, struct arena *a, const Rep__UnitOf *of,
                        struct agent_facts *f)
{
    bool other = f->service && cell_unit_other_run(u, a);
    bool stays = other && !u->fetch.here &&
                 unit_knowledge_charm(&u->table->knowledge, a, u->name.service, of->charm);
    f->remake = other && !stays;
    if (stays) {
        f->sight.charm = of->charm;
        f->upgrade_error = u->fetch.error ? u->fetch.error : "";
    }
}

/* Its record says whose subordinate it is; of what the board does not have, its container's note.
 */
static const char *see_principal(const struct cell_unit *u, struct arena *a, const Rep__UnitOf *of,
                                 struct agent_facts *f)
{
    if (f->unit && strcmp(f->unit->guid, u->guid) == 0) {
        return f->unit->principal_guid;
    }
    f->principal =
        of && *of->principal_guid
            ? unit_knowledge_of_guid(&u->table->knowledge, a, of->principal, of->principal_guid)
            : NULL;
    return of ? of->principal_guid : "";
}

/* It is gone when the board has no such unit, or its agent says so. */
static enum agent_principal principal_seen(const struct cell_units *t, const struct agent_facts *f,
                                           const char *guid)
{
    if (!*guid) {
        return AGENT_PRINCIPAL_UP;
    }
    const struct cell_unit *p = cell_unit_find(t, guid);
    const struct container *c = p ? cell_unit_container(p) : NULL;
    bool up = p && container_seen(p, c) == AGENT_CONTAINER_UP;
    bool gone = !f->principal || (p && p->without);
    return up ? AGENT_PRINCIPAL_UP : gone ? AGENT_PRINCIPAL_GONE : AGENT_PRINCIPAL_DOWN;
}

/* It looks at all that are here. */
static bool may_need_alone(const struct agent_facts *f)
{
    bool lives = f->unit && strcmp(f->unit->guid, f->guid) == 0 &&
                 lifecycle_state(&unit_lifecycle, f->unit->state) != UNIT_DEAD;
    return !lives || f->container != AGENT_CONTAINER_UP;
}

struct agent_facts cell_unit_facts(struct rep *r, struct arena *a, struct cell_unit *u)
{
    struct container *c = cell_unit_container(u);
    const Rep__Note *about = cell_unit_about(u);
    const Rep__UnitOf *of = about ? about->unit : NULL;
    struct agent_facts f = {
        .cell_id = r->config.cell_id,
        .identity = r->config.identity,
        .incarnation = r->config.incarnation,
        .guid = u->guid,
        .now_ns = r->now.mono_ns,
        .wall_ns = r->now.wall_ns,
        .run_begun_ns = NEVER_NS,
        .room = c != NULL,
        .room_lacking = !c && u->room_lacking,
        .room_lacked = !c && u->room_lacked,
        .container = container_seen(u, c),
        .recall_asked = u->recall,
        .make_failures = u->make_failures,
        .make_again_ns = u->make_wait.retry_ns,
        .make_error = u->make_error ? u->make_error : "",
        .run_text = "",
        .upgrade_error = "",
        .text = of ? of->text : "",
        .address = r->config.address,
        .crash_count = of ? of->crash_count : 0,
        .crash_reason = of ? of->crash_reason : "",
    };
    f.anew = f.container == AGENT_CONTAINER_DOWN; /* no driver begins one again */
    f.gone = f.anew && about == u->kept;
    if (f.container != AGENT_CONTAINER_NONE) {
        f.journal = of->journal;
        f.ports = about != u->kept ? about->ports : NULL;
        f.port_count = f.ports ? about->n_ports : 0;
    }
    f.noting = u->noting && unit_hook_is_going(u->noting->unit->journal);
    char *token = ARENA_ARRAY(a, GUID_BYTES, char);
    random_guid(&r->random, token);
    f.token = token;
    unit_knowledge_facts(&u->table->knowledge, a, u->name, u->guid, f.journal, &f);
    f.confirmed = f.confirmed && r->feed_client.current && r->incarnation.open &&
                  listing_is_good(&r->listing);
    if (f.journal && f.container != AGENT_CONTAINER_MAKING && cell_unit_runs_hook(c)) {
        see_run(r, a, u, &f);
    }
    see_upgrade(u, a, of, &f);
    see_others(u, c, &f);
    f.principal_container = principal_seen(u->table, &f, see_principal(u, a, of, &f));
    f.shared = may_need_alone(&f) && cell_unit_is_shared(u);
    return f;
}
