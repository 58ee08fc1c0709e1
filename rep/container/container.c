#include "rep/container/container.h"

#include "common/base/memory.h"
#include "common/model/keys.h"
#include "rep/container/kind.h"
#include "rep/container/note.h"
#include "rep/inside.h"
#include "rep/steps/exit_text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int due_compare(const struct container *a, const struct container *b)
{
    if (a->due_ns != b->due_ns) {
        return a->due_ns < b->due_ns ? -1 : 1;
    }
    return strcmp(container_guid(a), container_guid(b));
}

RB_GENERATE_INTERNAL(container_due, container, due_link, due_compare,
                     static __attribute__((unused)))

void containers_init(struct containers *t, struct rep *rep,
                     const struct container_kind *const *kinds)
{
    *t = (struct containers){.rep = rep, .kinds = kinds};
    TAILQ_INIT(&t->queue);
    TAILQ_INIT(&t->unproven);
}

void container_image(struct container *c, const char *name, Rep__Image *image)
{
    char *copy = name ? mem_text(name) : NULL; /* `name` may be the old one */
    if (c->image) {
        rep__image__free_unpacked(c->image, NULL);
    }
    free(c->image_name);
    c->image = image;
    c->image_name = copy;
}

static void container_free(void *value)
{
    struct container *c = value;
    container_checks_done(c);
    rep__note__free_unpacked(c->about, NULL);
    container_steps_done(&c->steps);
    free(c->address);
    container_image(c, NULL, NULL);
    free(c->exit_text);
    free(c->result);
    free(c);
}

void containers_done(struct containers *t)
{
    map_done(&t->by_index, NULL);
    map_done(&t->by_guid, container_free);
    containers_init(t, t->rep, t->kinds);
}

/* Room for a process_guid of any length is not needed: bbs lets 255 bytes pass; longer ones would
 * only share an entry, which costs the notice of a repeated reservation. */
struct index_name {
    char text[288];
};

static struct index_name index_name(const char *process_guid, int32_t index)
{
    struct index_name n;
    snprintf(n.text, sizeof(n.text), "%.255s/%d", process_guid, (int)index);
    return n;
}

static struct index_name index_name_of(const struct container *c)
{
    return index_name(c->about->key->process_guid, c->about->key->index);
}

const struct container_kind *container_kind_of(const struct containers *t, const Rep__Note *about)
{
    return t->kinds[about->task ? KIND_TASK : about->unit ? KIND_UNIT : KIND_INSTANCE];
}

const struct container_kind *container_kind_at(const struct containers *t, const char *key)
{
    enum record_type type = key_type(key);
    return t->kinds[type == RECORD_TASK     ? KIND_TASK
                    : type == RECORD_ACTUAL ? KIND_INSTANCE
                                            : KIND_UNIT];
}

struct container *container_add(struct containers *t, Rep__Note *about)
{
    assert((about->key || about->task || about->unit) && about->instance_guid[0] != '\0');
    assert(!map_get(&t->by_guid, about->instance_guid));
    struct container *c = mem_zeroed(sizeof(*c));
    c->kind = container_kind_of(t, about);
    c->about = about;
    c->exit_text = mem_text("");
    c->due_ns = NEVER_NS;
    c->table = t;
    map_put(&t->by_guid, about->instance_guid, c);
    if (c->kind->has_index) {
        map_put(&t->by_index, index_name_of(c).text, c);
    }
    return c;
}

struct container *container_find(const struct containers *t, const char *guid)
{
    return map_get(&t->by_guid, guid);
}

struct container *container_of_index(const struct containers *t, const char *process_guid,
                                     int32_t index)
{
    return map_get(&t->by_index, index_name(process_guid, index).text);
}

static bool phase_is_starting(int p)
{
    return p == PHASE_RESERVED || p == PHASE_INITIALIZING || p == PHASE_CREATED;
}

void container_unproven(struct container *c, int64_t now_ns)
{
    assert(!c->start_judged && c->phase == PHASE_RUNNING);
    if (!c->unproven) {
        c->unproven = true;
        c->running_since_ns = now_ns;
        TAILQ_INSERT_TAIL(&c->table->unproven, c, unproven_link);
    }
}

void container_judged(struct container *c)
{
    if (c->unproven) {
        TAILQ_REMOVE(&c->table->unproven, c, unproven_link);
    }
    c->unproven = false;
    c->start_judged = true;
}

static void container_drop(struct container *c)
{
    struct containers *t = c->table;
    assert(c->phase == PHASE_NONE && c->op == OP_NONE);
    container_judged(c);
    checks_unqueue(c);
    container_due(c, NEVER_NS);
    if (c->queued) {
        TAILQ_REMOVE(&t->queue, c, queue_link);
    }
    map_remove(&t->by_guid, container_guid(c));
    if (c->kind->has_index && map_get(&t->by_index, index_name_of(c).text) == c) {
        map_remove(&t->by_index, index_name_of(c).text);
    }
    container_free(c);
}

bool container_may_tell(struct container *c, const struct effects *out)
{
    bool room = out->count < CONTAINER_LOGS_A_STEP_MAX;
    c->table->untold += !room;
    return room;
}

void containers_tell_rest(struct containers *t, struct effects *out)
{
    if (t->untold) {
        effects_log(out, LOG_INFO_LEVEL, "container changes left out", "count=%u", t->untold);
        t->untold = 0;
    }
}

/* What an operator looks for by name stands apart from the steps on the way there. */
static void tell_change(struct container *c, int to, const char *why, struct effects *out)
{
    if (!container_may_tell(c, out)) {
        return;
    }
    const char *data = arena_printf(out->arena, "%s %s from=%s to=%s why=\"%s\"",
                                    c->kind->words(c, out->arena), c->kind->origin(c, out->arena),
                                    phase_name(c->phase), phase_name(to), why);
    if (to == PHASE_RUNNING) {
        effects_log_single(out, LOG_INFO_LEVEL, "container runs", "%s", data);
    } else if (to == PHASE_COMPLETED) {
        effects_log_single(out, LOG_INFO_LEVEL, "container ended", "%s", data);
    } else {
        effects_log(out, LOG_INFO_LEVEL, "container changed", "%s", data);
    }
}

void container_transition(struct container *c, int trigger, const char *why, struct effects *out)
{
    int to = lifecycle_transition(&container_lifecycle, c->phase, ACTOR_REP, trigger, 0);
    assert(to >= 0);
    tell_change(c, to, why, out);
    struct containers *t = c->table;
    t->starting -= phase_is_starting(c->phase);
    t->starting += phase_is_starting(to);
    assert(t->starting <= t->by_guid.count);
    t->version++;
    c->phase = to;
    if (c->kind->entered) {
        c->kind->entered(c);
    }
    c->failures = 0;
    c->attempts = 0;
    c->retry_ns = 0;
    if (c->phase == PHASE_NONE) {
        container_drop(c);
    } else {
        container_touch(c);
    }
}

void container_set_text(struct container *c, const char *text)
{
    assert(text);
    char *copy = mem_text(text); /* `text` may be the old words */
    free(c->exit_text);
    c->exit_text = copy;
}

bool container_stop_asked(const struct container *c)
{
    return c->end != END_ITS_OWN;
}

bool container_drains(const struct container *c)
{
    return container_stop_asked(c) && c->table->rep->now.mono_ns < c->drained_ns;
}

/* Only what runs and is well may be routed to. What ends otherwise does not come here. Routers have
 * `drain` from when they could hear of it: from now, or from when its routes went. */
static int64_t drained_ns(const struct container *c)
{
    const struct rep *r = c->table->rep;
    assert(r->drain_ns >= 0 && c->unrouted_ns <= r->now.mono_ns);
    if (c->phase != PHASE_RUNNING || checks_failed(c) || r->drain_ns == 0) {
        return 0;
    }
    int64_t heard_ns = c->about->routed ? r->now.mono_ns : c->unrouted_ns;
    return heard_ns ? heard_ns + r->drain_ns : 0;
}

void container_stop(struct container *c, enum container_end end, const char *why,
                    struct effects *out)
{
    assert(end != END_ITS_OWN);
    if (container_stop_asked(c)) {
        c->end = c->end == END_DISOWNED ? END_DISOWNED : end;
        return;
    }
    c->end = end;
    c->signals = 0;
    c->drained_ns = drained_ns(c);
    c->table->version++;
    container_touch(c);
    if (container_may_tell(c, out)) { /* at an evacuation's limit all are asked */
        effects_log(out, LOG_INFO_LEVEL, "stop asked", "%s state=%s why=\"%s\"",
                    c->kind->words(c, out->arena), phase_name(c->phase), why);
    }
}

void container_delete(struct container *c, const char *why, struct effects *out)
{
    if (c->deleting) {
        return;
    }
    c->deleting = true;
    container_touch(c);
    if (container_may_tell(c, out)) {
        effects_log(out, LOG_INFO_LEVEL, "container to be deleted", "%s state=%s why=\"%s\"",
                    c->kind->words(c, out->arena), phase_name(c->phase), why);
    }
}

/* As Diego's rep: a running one may end in good order. */
void container_abandon(struct container *c, const char *why, struct effects *out)
{
    if (c->phase == PHASE_RUNNING) {
        container_stop(c, END_DISOWNED, why, out);
    } else {
        container_delete(c, why, out);
    }
}

void container_ended(struct container *c, bool well)
{
    assert(c->phase == PHASE_COMPLETED);
    if (well && c->kind->ended_well) {
        c->kind->ended_well(c);
    }
}

void container_exited(struct container *c, int trigger, const struct container_status *s,
                      struct effects *out)
{
    assert(s->state == CONTAINER_EXITED);
    c->process_gone = true;
    bool ran = !s->text || s->text[0] == '\0';
    bool well = s->exit_code == 0 && s->exit_signal == 0 && ran;
    const char *text;
    if (container_has_steps(c)) {
        step_facts_learn(c, s);
        text = step_facts_end(out->arena, c, s, &well);
    } else {
        text = exit_text_of(out->arena, s, c->about->log_source);
    }
    container_complete(c, trigger, text, out);
    container_ended(c, well);
    bool ports = c->about->n_ports > 0 && !c->about->joined[0];
    c->ports_doubted = ran && !well && !s->oom_killed && !s->disk_full && ports;
}

void container_never_ran(struct container *c, const char *text, struct effects *out)
{
    c->process_gone = true;
    container_complete(c, PHASE_TRIGGER_FAILED, text, out);
}

void container_complete(struct container *c, int trigger, const char *text, struct effects *out)
{
    /* What its checks found is why it was ended, whatever it says of its end. */
    bool unhealthy = checks_failed(c) && !container_stop_asked(c);
    text = unhealthy ? c->about->health->failed : text;
    container_set_text(c, text);
    c->uncertain = false;
    container_transition(c, trigger, text, out);
    assert(c->phase == PHASE_COMPLETED);
}

void container_addressed(struct container *c, const char *address)
{
    if (address && (!c->address || strcmp(c->address, address) != 0)) {
        free(c->address);
        c->address = mem_text(address);
    }
}

void container_learn(struct container *c, Rep__Note *about)
{
    assert(strcmp(about->instance_guid, container_guid(c)) == 0);
    assert(container_kind_of(c->table, about) == c->kind);
    c->unrouted_ns = about->routed      ? 0
                     : c->about->routed ? c->table->rep->now.mono_ns
                                        : c->unrouted_ns;
    rep__note__free_unpacked(c->about, NULL);
    c->about = about;
    c->table->version++;
}

void container_touch(struct container *c)
{
    c->late = false;
    if (!c->queued) {
        c->queued = true;
        TAILQ_INSERT_TAIL(&c->table->queue, c, queue_link);
    }
}

static void due_set(struct container *c, int64_t due_ns)
{
    if (c->due_ns != NEVER_NS) {
        RB_REMOVE(container_due, &c->table->due, c);
    }
    c->due_ns = due_ns;
    if (c->due_ns != NEVER_NS) {
        RB_INSERT(container_due, &c->table->due, c);
    }
}

void container_due(struct container *c, int64_t due_ns)
{
    if (due_ns == NEVER_NS || due_ns < c->due_ns) {
        due_set(c, due_ns);
    }
}

struct container *containers_next(struct containers *t)
{
    struct container *c = TAILQ_FIRST(&t->queue);
    if (c) {
        assert(c->queued);
        TAILQ_REMOVE(&t->queue, c, queue_link);
        c->queued = false;
    }
    return c;
}

int64_t containers_wake(struct containers *t, int64_t now_ns)
{
    struct container *c;
    while ((c = RB_MIN(container_due, &t->due)) && c->due_ns <= now_ns) {
        due_set(c, NEVER_NS);
        container_touch(c);
    }
    assert(!c || c->due_ns > now_ns);
    return c ? c->due_ns : NEVER_NS;
}

const char *container_guid(const struct container *c)
{
    return c->about->instance_guid;
}

const char *phase_name(int phase)
{
    assert(phase >= 0 && (size_t)phase < container_lifecycle.state_count);
    return container_lifecycle.states[phase];
}

bool container_is_starting(const struct container *c)
{
    return phase_is_starting(c->phase);
}

bool container_has_begun(const struct container *c)
{
    assert(!c->steps.inside || container_has_steps(c));
    assert(!c->checks.going || c->about->health);
    bool goes = c->steps.inside || c->checks.going;
    return c->phase == PHASE_RUNNING || (c->phase == PHASE_CREATED && goes);
}

const char *exit_text_of(struct arena *a, const struct container_status *s, const char *source)
{
    if (s->text && s->text[0] != '\0') {
        return arena_strdup(a, s->text);
    }
    return exit_text(a, source, s->exit_code, s->exit_signal,
                     (struct shortage){.memory = s->oom_killed, .disk = s->disk_full});
}
