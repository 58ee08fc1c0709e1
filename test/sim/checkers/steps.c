/* Containers with steps: their facts, and what the board says of them. */
#include "models/actual_lrp.pb-c.h"
#include "rep/container/note.h"
#include "rep/steps/machine.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"

#include <string.h>

static enum steps_where where_of(const struct container_status *s)
{
    return s->state == CONTAINER_PREPARED || s->state == CONTAINER_STARTING ? STEPS_BEFORE
                                                                           : STEPS_INSIDE;
}

/* What is to be done next of its steps, in the arena; *ret_none: it has none. */
static struct steps_orders orders_of(struct node *cell, const char *guid, struct arena *a,
                                     bool *ret_none)
{
    struct container_status s;
    struct steps_orders o = {0};
    Rep__Note *note;
    *ret_none = true;
    if (model_containers_status(node_containers(cell), guid, a, &s) &&
        note_read(s.note, guid, &note, NULL) == 0) {
        const struct action_tree tree = {note->steps, note->n_steps};
        *ret_none = tree.count == 0;
        if (tree.count > 0) {
            o = steps_next(a, &tree, s.facts, s.fact_count, node_mono_ns(cell), where_of(&s));
        }
        rep__note__free_unpacked(note, NULL);
    }
    return o;
}

bool steps_still_begin(struct node *cell, const char *guid)
{
    SCOPED_ARENA(a);
    bool none;
    struct steps_orders o = orders_of(cell, guid, &a, &none);
    return !none && !o.ready && !o.over;
}

unsigned steps_never_started(struct node *cell)
{
    const struct model_containers *m = node_containers(cell);
    unsigned count = 0;
    const char *guid;
    for (int n = 0; (guid = model_containers_made(m, n)); n++) {
        SCOPED_ARENA(a);
        bool none;
        bool over = orders_of(cell, guid, &a, &none).over;
        count += over && model_containers_state(m, guid) == CONTAINER_PREPARED;
    }
    return count;
}

bool steps_run(struct node *cell, const char *guid)
{
    SCOPED_ARENA(a);
    bool none;
    bool over = orders_of(cell, guid, &a, &none).over;
    return model_containers_state(node_containers(cell), guid) != CONTAINER_EXITED &&
           (none || !over);
}

/* A transfer may begin as often as it was lost, and once more. */
static void check_once(struct checkers *k, const struct action_tree *tree,
                       const struct container_status *s)
{
    uint8_t begun[STEPS_MAX] = {0}, ended[STEPS_MAX] = {0};
    for (size_t i = 0; i < s->fact_count; i++) {
        const struct step_fact *f = &s->facts[i];
        if (f->step >= RUN_FIRST) { /* a run: who asks for them holds them to it */
            continue;
        }
        begun[f->step] += f->kind == FACT_BEGUN;
        ended[f->step] += f->kind == FACT_ENDED || f->kind == FACT_LOST;
        bool transfer = f->step < tree->count && f->step > 0 && tree_is_transfer(tree, f->step);
        unsigned most = !transfer                                 ? 1U
                        : ended[f->step] < TRANSFER_BEGINS_MAX - 1 ? ended[f->step] + 1U
                                                                  : TRANSFER_BEGINS_MAX;
        if (begun[f->step] > most || ended[f->step] > begun[f->step]) {
            checkers_report(k, "steps", "step %u of %s began %u times and ended %u times", f->step,
                            s->guid, begun[f->step], ended[f->step]);
        }
    }
}

static bool is_cut(const Rep__Note *note, const struct container_status *s, uint32_t step)
{
    for (size_t i = 0; i < s->fact_count; i++) {
        const struct step_fact *f = &s->facts[i];
        if (f->kind == FACT_CUT && f->step <= step && f->step < note->n_steps &&
            step < note->steps[f->step]->end) {
            return true;
        }
    }
    return false;
}

void check_cut(struct checkers *k, struct node *cell, const struct verb_call *call)
{
    SCOPED_ARENA(a);
    struct container_status s;
    Rep__Note *note;
    if (call->verb != VERB_SIGNAL || call->step == 0 || call->step >= RUN_FIRST /* a run */ ||
        !model_containers_status(node_containers(cell), call->guid, &a, &s) ||
        note_read(s.note, call->guid, &note, NULL) < 0) {
        return;
    }
    if (!is_cut(note, &s, call->step)) {
        checkers_report(k, "steps", "%s ends step %u of %s, and no fact says that it is cut",
                        node_name(cell), call->step, call->guid);
    }
    rep__note__free_unpacked(note, NULL);
}

static bool says_running(struct checkers *k, const char *guid)
{
    const struct instance *i = map_get(&k->instances, guid);
    for (int presence = 0; i && presence < 3; presence++) {
        const Models__ActualLRP *r =
            (const Models__ActualLRP *)history_now(&k->history, i->keys[presence]);
        const Models__ActualLRPInstanceKey *key = r ? r->actual_lrp_instance_key : NULL;
        if (key && strcmp(key->instance_guid, guid) == 0 && strcmp(r->state, "RUNNING") == 0) {
            return true;
        }
    }
    return false;
}

static void check_one(struct checkers *k, const struct node *cell, const struct container_status *s)
{
    SCOPED_ARENA(a);
    Rep__Note *note;
    if (note_read(s->note, s->guid, &note, NULL) < 0) {
        return;
    }
    const struct action_tree tree = {note->steps, note->n_steps};
    if (tree.count > 0) {
        struct steps_orders o = steps_next(&a, &tree, s->facts, s->fact_count,
                                           node_mono_ns(cell), where_of(s));
        k->seen[SEEN_STEPPED]++;
        check_once(k, &tree, s);
        /* A hole: ordinary clients who say RUNNING of what is not theirs. */
        if (!k->strays && !o.ready && says_running(k, s->guid)) {
            checkers_report(k, "steps", "%s is RUNNING, and not all that can has begun", s->guid);
        }
    }
    rep__note__free_unpacked(note, NULL);
}

void check_steps(struct checkers *k)
{
    for (unsigned i = 0; i < k->cluster->options.cells; i++) {
        struct node *cell = k->cluster->cells[i];
        struct model_containers *m = node_containers(cell);
        const char *guid;
        for (int n = 0; (guid = model_containers_guid(m, n)); n++) {
            SCOPED_ARENA(a);
            struct container_status s;
            if (model_containers_status(m, guid, &a, &s)) {
                check_one(k, cell, &s);
            }
        }
    }
}

/* How far the programs of step `n` and beneath have come: some run, or one is that has ended. */
struct progress {
    bool runs, ended;
};

static struct progress progress_of(const Rep__Note *note, const struct container_status *s,
                                   uint32_t n)
{
    struct progress p = {0};
    for (uint32_t step = n; step < note->steps[n]->end; step++) {
        enum step_fact_kind last = FACT_KIND_COUNT;
        for (size_t i = 0; i < s->fact_count; i++) {
            last = s->facts[i].step == step && s->facts[i].kind != FACT_CUT ? s->facts[i].kind
                                                                            : last;
        }
        p.runs = p.runs || last == FACT_BEGUN;
        p.ended = p.ended || (step == n && last == FACT_ENDED); /* it is a program itself */
    }
    return p;
}

/* By the facts alone, without the machine's word. */
static void check_together(const Rep__Note *note, const struct container_status *s,
                           struct buf *ret_why)
{
    const struct action_tree tree = {note->steps, note->n_steps};
    for (uint32_t n = 0; n < tree.count; n++) {
        bool runs = false, ended = false;
        if (tree.steps[n]->kind != REP__STEP__KIND__CODEPENDENT) {
            continue;
        }
        TREE_EACH(&tree, n, child)
        {
            struct progress p = progress_of(note, s, child);
            runs = runs || p.runs;
            ended = ended || p.ended;
        }
        if (runs && ended) {
            buf_printf(ret_why, "of step %u of %s one has ended, and others run on; ", n, s->guid);
        }
    }
}

void check_codependent(struct checkers *k, struct buf *ret_why)
{
    for (unsigned i = 0; i < k->cluster->options.cells; i++) {
        struct model_containers *m = node_containers(k->cluster->cells[i]);
        const char *guid;
        for (int n = 0; (guid = model_containers_guid(m, n)); n++) {
            SCOPED_ARENA(a);
            struct container_status s;
            Rep__Note *note;
            if (model_containers_status(m, guid, &a, &s) &&
                note_read(s.note, guid, &note, NULL) == 0) {
                check_together(note, &s, ret_why);
                rep__note__free_unpacked(note, NULL);
            }
        }
    }
}
