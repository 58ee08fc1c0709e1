/* V10: hooks come in order, each once, one at a time in a principal and its subordinates, and none
 * of a unit that is dead. V15: nobody is told what a hook has set that did not end well. By what
 * the drivers have on their disks, as it is before each verb. */
#include "test/sim/checkers/units.h"

#include "bbs/units/facts.h"
#include "common/base/message.h"
#include "common/lifecycle/unit.h"
#include "rep_note.pb-c.h"
#include "test/sim/model/containers.h"
#include "test/tool/unit_author.h"

#include <string.h>

#define HOOK_PROGRAM "/.corkboard/tools/rep-hook"

/* ---- What is on the disk --------------------------------------------------------------------- */

static const char *run_name(struct arena *a, const char *guid, uint32_t run)
{
    return arena_printf(a, "%s.%u", guid, run);
}

/* A run of a hook has ended well. */
static void note_ends(struct checkers *k, struct seen_unit *u, struct arena *a,
                      const struct container_status *s, unsigned boots)
{
    for (size_t i = 0; i < s->fact_count; i++) {
        const struct step_fact *f = &s->facts[i];
        if (f->kind == FACT_ENDED && f->exit_code == 0 && f->exit_signal == 0) {
            map_put(&k->unit_runs, run_name(a, u->guid, f->step), u);
            u->good = u->good || (f->step == u->run && !u->cut);
            u->boots = boots;
        }
    }
}

static bool same_hook(const Rep__UnitNoteHook *a, const Rep__UnitNoteHook *b)
{
    return a->hook == b->hook && a->relation == b->relation && a->unit == b->unit;
}

static Rep__UnitNote *kept_journal(struct checkers *k, const Rep__UnitNote *j)
{
    struct arena *a = &k->history.arena;
    struct bytes packed = message_packed(a, &j->base);
    ProtobufCAllocator in = arena_protobuf(a);
    return rep__unit_note__unpack(&in, packed.size, packed.data);
}

/* Who goes on to another hook has been through the one before. */
static void follow_journal(struct checkers *k, struct seen_unit *u, const Rep__UnitNote *j)
{
    const Rep__UnitNoteHook *was = u->journal ? u->journal->hook : NULL, *is = j->hook;
    bool ran = was && was->run == u->run; /* else its note came to the disk too late */
    if (ran && (!is || !same_hook(was, is))) {
        unit_author_learns(u->author, u->journal);
    }
    bool another = is && (!was || !same_hook(was, is) || was->run != is->run);
    if (another || !is) {
        u->journal = is ? kept_journal(k, j) : NULL;
    }
}

/* ---- A hook begins --------------------------------------------------------------------------- */

/* A hook runs in another container of the principal and its subordinates. */
static bool group_runs(struct checkers *k, struct node *cell, const struct seen_unit *u)
{
    struct model_containers *m = node_containers(cell);
    const Board__UnitRecord *own = seen_unit_record(k, u);
    const char *guid;
    for (int n = 0; own && (guid = model_containers_guid(m, n)); n++) {
        const struct seen_unit *o = checkers_unit(k, guid);
        const Board__UnitRecord *r = o && o != u ? seen_unit_record(k, o) : NULL;
        const char *group = *own->principal_guid ? own->principal_guid : own->guid;
        bool same = r && (strcmp(r->guid, group) == 0 || strcmp(r->principal_guid, group) == 0);
        int64_t step;
        for (int i = 0; same && (step = model_containers_step(m, guid, i)) >= 0; i++) {
            const struct step_process *p = model_containers_run(m, guid, (uint32_t)step);
            if (p && strcmp(p->path, HOOK_PROGRAM) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Each of these is run once, whatever else happens. */
static bool is_once(const Rep__UnitNoteHook *h)
{
    return h->hook != HOOK_CONFIG_CHANGED && h->hook != HOOK_CHANGED && h->hook != HOOK_UPGRADE;
}

#define REFUSE_IF(condition, text)                                                                 \
    do {                                                                                           \
        if (condition) {                                                                           \
            checkers_report(k, "V10", "%s: hook %s of relation %u about %u: %s", u->key,           \
                            hook_name((enum unit_hook)h->hook), h->relation, h->unit, (text));     \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* A hole: a restored board may bring back a unit that has stopped, and a relation that it has left:
 * what has ended then begins anew. */
static void hook_begins(struct checkers *k, struct node *cell, struct seen_unit *u,
                        const Rep__UnitNote *j, uint32_t run)
{
    static const Rep__UnitNoteHook none = REP__UNIT_NOTE_HOOK__INIT;
    const Rep__UnitNoteHook *h = j && j->hook ? j->hook : &none;
    const Board__UnitRecord *r = seen_unit_record(k, u);
    k->seen[SEEN_HOOKS]++;
    REFUSE_IF(strcmp(h->state, "noted") != 0 || h->run != run, "it begins and is not noted");
    if (!u->lenient) {
        bool alive = r && life_of(&unit_lifecycle, r->state) == UNIT_ALIVE;
        const char *broken = unit_author_refuses(u->author, j);
        REFUSE_IF(broken, broken);
        REFUSE_IF(u->ended && u->ended_by_rep, "its unit is dead");
        REFUSE_IF(h->hook == HOOK_STOP && alive, "its unit is alive");
        REFUSE_IF(u->good && u->boots == node_boots(cell) && u->good_hook.hook == h->hook &&
                      u->good_hook.relation == h->relation && u->good_hook.unit == h->unit &&
                      is_once(h),
                  "it ended well before");
    }
    REFUSE_IF(group_runs(k, cell, u), "another one of its group runs");
    u->run = run;
    u->good = u->cut = false;
    u->good_hook = (struct hook_subject){(enum unit_hook)h->hook, h->relation, h->unit};
}

/* Its files are new: what made them comes again. What the journal that goes with it says that the
 * unit was told it was. */
static void container_begins(struct checkers *k, struct seen_unit *u, struct arena *a,
                             struct bytes packed)
{
    ProtobufCAllocator in = arena_protobuf(a);
    const Rep__Note *note = rep__note__unpack(&in, packed.size, packed.data);
    const Rep__UnitNote *j = note && note->unit ? note->unit->journal : NULL;
    u->author = u->author ? u->author : ARENA_NEW(&k->history.arena, struct unit_author);
    unit_author_begins_anew(u->author, j);
    u->journal = NULL;
    u->run = 0;
    u->good = u->cut = false;
}

void check_unit_hook(struct checkers *k, struct node *cell, const struct verb_call *call)
{
    SCOPED_ARENA(a);
    struct container_status s;
    struct seen_unit *u = checkers_unit(k, call->guid);
    if (u && call->verb == VERB_PREPARE) {
        container_begins(k, u, &a, call->note);
    }
    if (!u || !u->author || !model_containers_status(node_containers(cell), call->guid, &a, &s)) {
        return;
    }
    ProtobufCAllocator in = arena_protobuf(&a);
    const Rep__Note *note = rep__note__unpack(&in, s.note.size, s.note.data);
    const Rep__UnitNote *j = note && note->unit ? note->unit->journal : NULL;
    note_ends(k, u, &a, &s, node_boots(cell));
    if (j) {
        follow_journal(k, u, j);
    }
    u->cut = u->cut || (call->verb == VERB_SIGNAL && call->step == u->run && u->run);
    if (call->verb == VERB_RUN && strcmp(call->run->path, HOOK_PROGRAM) == 0) {
        hook_begins(k, cell, u, j, call->run->step);
    }
}

/* ---- On the board ---------------------------------------------------------------------------- */

/* What a workload's hooks set is the run that set it. */
static void check_told(struct checkers *k, const struct past *p)
{
    const Board__RelationSettingsRecord *r = (const Board__RelationSettingsRecord *)p->message;
    for (size_t i = 0; r && i < r->n_settings; i++) {
        if (strcmp(r->settings[i]->key, UNIT_SETTING_MARK) == 0) {
            k->seen[SEEN_HOOKS_TOLD]++;
            if (!map_get(&k->unit_runs, r->settings[i]->value)) {
                checkers_report(k, "V15", "%s has what run %s has set, which did not end well",
                                p->key, r->settings[i]->value);
            }
        }
    }
}

/* Somebody else than its agent took it out of the relation: it owes no departed. */
static void note_left(struct checkers *k, const struct past *p)
{
    const Board__RelationMemberRecord *was =
        p->message || !p->before ? NULL : (const Board__RelationMemberRecord *)p->before->message;
    struct seen_unit *u = was ? checkers_unit(k, was->unit_guid) : NULL;
    bool rep = p->cause && strcmp(p->cause->actor, actor_name(ACTOR_REP)) == 0;
    if (u && u->author && !rep) {
        unit_author_gives_up(u->author, was->relation_guid);
    }
}

void check_unit_settings(struct checkers *k, const struct passage *p,
                         const struct world_commit *commit)
{
    (void)commit;
    for (size_t i = 0; i < p->count; i++) {
        if (p->list[i]->type == RECORD_RELATION_SETTINGS) {
            check_told(k, p->list[i]);
        } else if (p->list[i]->type == RECORD_RELATION_MEMBER) {
            note_left(k, p->list[i]);
        }
    }
}
