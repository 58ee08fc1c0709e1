#include "rep/unit/unit_tools.h"

#include "common/base/memory.h"
#include "rep/container/call.h"
#include "rep/container/note.h"
#include "rep/container/operation.h"
#include "rep/container/spec.h"
#include "rep/inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- The hook -------------------------------------------------------------------------------- */

/* The unit's own end of the hook's relation, and the other one, which is the same of a peer
 * relation. False: it is not known. */
static bool ends_of(const struct unit_knowledge *k, struct arena *a, const char *service,
                    uint32_t relation, const Board__RelationEnd **ret_own,
                    const Board__RelationEnd **ret_other)
{
    const Board__RelationRecord *r = unit_knowledge_relation(k, a, relation);
    for (size_t i = 0; r && i < r->n_ends; i++) {
        if (strcmp(r->ends[i]->service, service) == 0) {
            *ret_own = r->ends[i];
            *ret_other = r->ends[r->n_ends - 1 - i];
            return true;
        }
    }
    return false;
}

const char *unit_hook_name(const struct unit_knowledge *k, struct arena *a, const char *service,
                           const Rep__UnitNoteHook *h)
{
    const Board__RelationEnd *own, *other;
    if (h->hook < HOOK_JOINED) {
        return hook_name((enum unit_hook)h->hook);
    }
    return ends_of(k, a, service, h->relation, &own, &other)
               ? arena_printf(a, "%s-relation-%s", own->endpoint->name,
                              hook_name((enum unit_hook)h->hook))
               : NULL;
}

static const char *remote_unit(const struct unit_knowledge *k, struct arena *a, const char *service,
                               const Rep__UnitNoteHook *h)
{
    const Board__RelationEnd *own, *other;
    bool has = h->hook >= HOOK_JOINED && h->hook != HOOK_BROKEN &&
               ends_of(k, a, service, h->relation, &own, &other);
    return has ? unit_name_text(a, (struct unit_name){other->service, h->unit}) : "";
}

bool unit_charm_has_hook(const Board__Charm *charm, const char *name)
{
    bool has = false;
    for (size_t i = 0; name && i < charm->n_hooks && !has; i++) {
        has = strcmp(charm->hooks[i]->name, name) == 0;
    }
    return has;
}

/* ---- Who asks -------------------------------------------------------------------------------- */

/* Takes as long for one that is nearly right as for any other of its length. */
static bool same_token(const char *one, const char *other)
{
    size_t size = strlen(one);
    unsigned char differs = 0;
    if (size == 0 || size != strlen(other)) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        differs |= (unsigned char)(one[i] ^ other[i]);
    }
    return differs == 0;
}

/* The unit whose hook runs and whose token this is: its own, or its hook's. */
static struct cell_unit *unit_of_token(struct rep *r, const char *token, bool of_hook,
                                       struct container **ret_container)
{
    MAP_EACH(&r->units.by_guid, n)
    {
        struct cell_unit *u = map_value(n);
        struct container *c = cell_unit_container(u);
        if (!cell_unit_runs_hook(c) || c->phase != PHASE_RUNNING) {
            continue;
        }
        const Rep__UnitOf *of = c->about->unit;
        if (same_token(of_hook ? of->journal->hook->token : of->token, token)) {
            *ret_container = c;
            return u;
        }
    }
    return NULL;
}

/* ---- What its tools see ---------------------------------------------------------------------- */

/* "8080:31000 9090:31001": container and host port of each. */
static const char *ports_text(struct arena *a, const Rep__Note *about)
{
    const char *text = "";
    for (size_t i = 0; i < about->n_ports; i++) {
        text = arena_printf(a, "%s%s%u:%u", text, *text ? " " : "", about->ports[i]->container_port,
                            about->ports[i]->host_port);
    }
    return text;
}

/* With the journal that notes the hook. */
static struct unit_frozen *freeze_now(struct rep *r, struct cell_unit *u, const Rep__Note *about,
                                      const Rep__UnitNote *j)
{
    const struct unit_knowledge *k = &r->units.knowledge;
    unit_thaw(u);
    struct unit_frozen *f = u->frozen = mem_zeroed(sizeof(*f));
    arena_init(&f->arena);
    f->run = j->hook->run;
    unit_knowledge_tools(k, &f->arena, u->name, j->hook->charm, j, &f->world);
    f->world.remote_unit = remote_unit(k, &f->arena, u->name.service, j->hook);
    f->world.address = arena_strdup(&f->arena, r->config.address);
    f->world.ports = ports_text(&f->arena, about);
    return f;
}

void unit_tools_freeze(struct rep *r, struct cell_unit *u, const struct container *c,
                       const Rep__UnitNote *j)
{
    SCOPED_ARENA(a);
    const struct unit_knowledge *k = &r->units.knowledge;
    const Board__Charm *charm = unit_knowledge_charm(k, &a, u->name.service, j->hook->charm);
    if (!charm || unit_charm_has_hook(charm, unit_hook_name(k, &a, u->name.service, j->hook))) {
        freeze_now(r, u, c->about, j);
    }
}

/* NULL: what the board says is not known as it is. */
static struct unit_frozen *freeze(struct rep *r, struct cell_unit *u, const struct container *c)
{
    const Rep__UnitNote *j = c->about->unit->journal;
    if (u->frozen && u->frozen->run == j->hook->run) {
        return u->frozen;
    }
    bool known = r->feed_client.current && unit_knowledge_known(&r->units.knowledge, u->name);
    unit_thaw(u);
    return known ? freeze_now(r, u, c->about, j) : NULL;
}

void unit_tools_give(struct rep *r, const Rep__UnitOf *of, struct container_spec *spec,
                     struct arena *a)
{
    if (!r->config.tools_dir || !r->config.tools_socket_dir) {
        return;
    }
    struct cell_bind *binds = ARENA_ARRAY(a, 2, struct cell_bind);
    struct given_file *token = ARENA_NEW(a, struct given_file);
    binds[0] = (struct cell_bind){r->config.tools_dir, UNIT_TOOLS_PATH, false};
    binds[1] = (struct cell_bind){r->config.tools_socket_dir, UNIT_SOCKET_PATH, false};
    *token = (struct given_file){UNIT_TOKEN_PATH, bytes_of(of->token)};
    assert(spec->bind_count == 0 && spec->file_count == 0 && *of->token);
    spec->binds = binds;
    spec->bind_count = 2;
    spec->files = token;
    spec->file_count = 1;
}

/* ---- What a hook runs ------------------------------------------------------------------------ */

struct variables {
    struct arena *arena;
    struct name_value *list;
    size_t count;
};

static void set_variable(struct variables *v, const char *name, const char *value)
{
    for (size_t i = 0; i < v->count; i++) {
        if (strcmp(v->list[i].name, name) == 0) {
            v->list[i].value = value;
            return;
        }
    }
    v->list[v->count++] = (struct name_value){.name = name, .value = value};
}

/* The container's, and what tells of the hook. */
static void hook_environment(struct rep *r, struct cell_unit *u, const struct container *c,
                             const Board__Charm *charm, const char *hook, struct arena *a,
                             struct tools_hook *ret)
{
    enum { OWN = 8 };
    const Rep__UnitNoteHook *h = c->about->unit->journal->hook;
    const struct tool_world *w = &u->frozen->world;
    struct step_process p =
        spec_process_of_unit(a, charm->run, c->about, r->config.address, h->run);
    struct variables v = {.arena = a, .list = ARENA_ARRAY(a, p.env_count + OWN, struct name_value)};
    const Board__RelationEnd *own, *other;
    for (size_t i = 0; i < p.env_count; i++) {
        v.list[v.count++] = p.env[i];
    }
    set_variable(&v, "CORKBOARD_MACHINE", w->machine);
    set_variable(&v, "CORKBOARD_ADDRESS", w->address);
    set_variable(&v, "CORKBOARD_HOOK", hook);
    set_variable(&v, "CORKBOARD_ATTEMPT", arena_printf(a, "%u", h->attempt));
    if (h->hook >= HOOK_JOINED &&
        ends_of(&r->units.knowledge, a, u->name.service, h->relation, &own, &other)) {
        set_variable(&v, "CORKBOARD_RELATION", own->endpoint->name);
        set_variable(&v, "CORKBOARD_RELATION_ID",
                     arena_printf(a, "%s:%u", own->endpoint->name, h->relation));
        set_variable(&v, "CORKBOARD_REMOTE_UNIT", w->remote_unit);
    }
    ret->env = v.list;
    ret->env_count = v.count;
}

static enum tools_found hook(void *context, const char *token, uint32_t run, struct arena *a,
                             struct tools_hook *ret)
{
    struct rep *r = context;
    struct container *c;
    struct cell_unit *u = unit_of_token(r, token, false, &c);
    const Rep__UnitNoteHook *h = u ? c->about->unit->journal->hook : NULL;
    if (!h || h->run != run) {
        return TOOLS_NONE;
    }
    const struct unit_knowledge *k = &r->units.knowledge;
    const Board__Charm *charm = unit_knowledge_charm(k, a, u->name.service, h->charm);
    const char *name = unit_hook_name(k, a, u->name.service, h);
    if (!freeze(r, u, c) || !charm || !charm->run || !name) {
        return TOOLS_LATER;
    }
    *ret = (struct tools_hook){.token = h->token, .path = "", .script = ""};
    for (size_t i = 0; i < charm->n_hooks; i++) {
        if (strcmp(charm->hooks[i]->name, name) == 0) {
            ret->path = charm->hooks[i]->path;
            ret->script = charm->hooks[i]->script;
        }
    }
    hook_environment(r, u, c, charm, name, a, ret);
    return TOOLS_FOUND;
}

/* While another note is being written, which would come over what is changed now, it has to wait.
 */
static enum tools_found world(void *context, const char *token, struct arena *a,
                              struct tool_world *ret, const char **ret_guid)
{
    struct rep *r = context;
    struct container *c;
    struct cell_unit *u = unit_of_token(r, token, true, &c);
    (void)a;
    if (!u) {
        return TOOLS_NONE;
    }
    if (u->noting || !freeze(r, u, c)) {
        return TOOLS_LATER;
    }
    *ret = u->frozen->world;
    ret->journal = c->about->unit->journal;
    *ret_guid = u->guid;
    return TOOLS_FOUND;
}

/* ---- What they change ------------------------------------------------------------------------ */

static void say(struct rep *r, const struct container *c, const char *text, struct effects *out)
{
    struct verb_call *call = container_call(r, c, VERB_SAY, SIGNAL_TIMEOUT_NS, out);
    call->source = "HOOK";
    call->text = arena_strdup(out->arena, text);
}

static uint64_t take(void *context, const char *guid, const struct tool_answer *answer,
                     struct effects *out)
{
    struct rep *r = context;
    struct cell_unit *u = cell_unit_find(&r->units, guid);
    struct container *c = u ? cell_unit_container(u) : NULL;
    assert(c && !u->noting);
    Rep__UnitOf of = *c->about->unit; /* shallow, as the next: copied deeply */
    Rep__Note note = *c->about;
    if (answer->log) {
        say(r, c, answer->log, out);
    }
    if (!answer->journal && !answer->status && !answer->restart) {
        /* What it asked for stands already, if only in memory. */
        return u->tool_changes > u->tool_written ? u->tool_changes : 0;
    }
    of.journal = answer->journal ? answer->journal : of.journal;
    of.text = answer->status ? (char *)(uintptr_t)answer->status : of.text;
    of.restart = of.restart || answer->restart;
    note.unit = &of;
    container_learn(c, note_copy(&note));
    cell_unit_queue(u);
    return ++u->tool_changes;
}

static void write_changes(struct rep *r, struct cell_unit *u, struct container *c,
                          struct effects *out)
{
    if (u->tool_changes == u->tool_written || c->op != OP_NONE || operation_must_wait(r, c)) {
        return;
    }
    struct verb_call *call = operation_verb(r, c, OP_NOTE, out);
    call->note = note_pack(out->arena, c->about);
    call->durable = true;
    u->tool_writing = u->tool_changes;
}

/* A note of the agent has all that was changed before it. */
bool unit_tools_noted(struct rep *r, struct cell_unit *u, struct container *c,
                      const struct verb_answer *answer, struct effects *out)
{
    bool done = answer->outcome == VERB_DONE, own = !u->noting;
    uint64_t written = own ? u->tool_writing : u->tool_changes;
    u->tool_writing = 0;
    if (own && !done) {
        effects_log(out, LOG_WARN_LEVEL, "note not written", "%s why=\"%s\"",
                    c->kind->words(c, out->arena), answer->text);
        operation_retry_later(r, c);
    }
    if (done && written > u->tool_written) {
        u->tool_written = written;
        tools_face_written(&r->tools, u->guid, written, "", out);
    } else if (!done) {
        tools_face_written(&r->tools, u->guid, written, "the cell could not write it: ask again",
                           out);
    }
    return own;
}

void unit_tools_done(struct rep *r, struct cell_unit *u, bool begins, struct effects *out)
{
    if (!begins) {
        unit_thaw(u);
    }
    tools_face_dropped(&r->tools, u->guid, out);
}

void unit_tools_look(struct rep *r, struct cell_unit *u, struct container *c, struct effects *out)
{
    if (u->hook.begun && c->phase == PHASE_RUNNING) {
        freeze(r, u, c);
    }
    write_changes(r, u, c, out);
}

void unit_tools_init(struct rep *r)
{
    r->units.tools = (struct tools_owner){.context = r, .hook = hook, .world = world, .take = take};
    r->tools_owner = &r->units.tools;
}
