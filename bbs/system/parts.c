#include "bbs/system/parts.h"

#include "common/lifecycle/system.h"
#include "common/model/component_path.h"

#include <assert.h>
#include <string.h>

/* ---- The system ------------------------------------------------------------------------------ */

struct system_facts system_facts_gather(struct view *v, const char *id, const char *uid)
{
    const Board__SystemRecord *s = *id ? view_message(v, key_system(view_arena(v), id)) : NULL;
    bool known = s && (!uid || strcmp(s->uid, uid) == 0);
    return (struct system_facts){
        .system = known ? s : NULL,
        .id = id,
        .uid = uid ? uid : s ? s->uid : "",
        .state = known ? lifecycle_state(&system_lifecycle, s->state) : SYSTEM_NONE,
    };
}

bool system_facts_open(const struct system_facts *f)
{
    return f->state == SYSTEM_STABLE || f->state == SYSTEM_UPDATING ||
           f->state == SYSTEM_SCALING || f->state == SYSTEM_DEGRADED;
}

bool system_facts_gone(const struct system_facts *f)
{
    return f->state == SYSTEM_NONE || f->state == SYSTEM_DELETING;
}

const char *system_facts_refusal(struct arena *a, const struct system_facts *f)
{
    if (system_facts_open(f)) {
        return NULL;
    }
    switch (f->state) {
    case SYSTEM_NONE:
        return arena_printf(a, "there is no system %s: bbs systems lists those that are", f->id);
    case SYSTEM_PENDING:
        return arena_printf(a, "system %s is pending: ask again when a converger has opened it",
                            f->id);
    case SYSTEM_FAILED:
        return arena_printf(a, "system %s has failed (%s): delete it, and create it again", f->id,
                            f->system->message);
    case SYSTEM_DELETING:
        return arena_printf(a, "system %s is being deleted", f->id);
    default:
        return arena_printf(a, "system %s is in a state of a newer version", f->id);
    }
}

bool system_facts_refused(const struct system_facts *f, struct plan *p)
{
    const char *why = system_facts_refusal(p->arena, f);
    if (!why) {
        return false;
    }
    p->record = f->system ? &f->system->base : NULL;
    plan_refuse(p, f->system ? MODELS__ERROR__TYPE__ResourceConflict
                             : MODELS__ERROR__TYPE__ResourceNotFound, "%s", why);
    return true;
}

Board__SystemRecord *system_changed(struct arena *a, const Board__SystemRecord *before, int to,
                                    struct moment now)
{
    assert(to > SYSTEM_NONE && to < SYSTEM_STATE_COUNT);
    Board__SystemRecord *after = arena_message(a, &board__system_record__descriptor);
    *after = *before;
    if (strcmp(before->state, system_lifecycle.states[to]) != 0) {
        after->state = borrowed(system_lifecycle.states[to]);
        after->since = now.wall_ns > before->since ? now.wall_ns : before->since;
    }
    return after;
}

static void put_open(struct plan *p, const struct system_facts *f, int to, const char *version,
                     struct moment now)
{
    assert(system_facts_open(f) && f->system);
    if (to == f->state && strcmp(f->system->version, version) == 0) {
        return;
    }
    Board__SystemRecord *after = system_changed(p->arena, f->system, to, now);
    after->version = borrowed(version);
    plan_put(p, key_system(p->arena, after->id), "observe", ACTOR_CONVERGER, &after->base);
}

void system_put_updating(struct plan *p, const struct system_facts *f, const char *version,
                         struct moment now)
{
    put_open(p, f, f->state == SYSTEM_DEGRADED ? SYSTEM_DEGRADED : SYSTEM_UPDATING, version, now);
}

void system_put_stable(struct plan *p, const struct system_facts *f, struct moment now)
{
    assert(system_facts_open(f) && f->system);
    if (f->state != SYSTEM_STABLE || *f->system->message) {
        Board__SystemRecord *after = system_changed(p->arena, f->system, SYSTEM_STABLE, now);
        after->message = borrowed("");
        plan_put(p, key_system(p->arena, after->id), "observe", ACTOR_CONVERGER, &after->base);
    }
}

void system_put_version(struct plan *p, const struct system_facts *f, const char *version,
                        struct moment now)
{
    put_open(p, f, f->state, version, now);
}

const char *system_domain(struct arena *a, const char *uid)
{
    assert(*uid);
    return arena_printf(a, "system.%s", uid);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

enum { MESSAGE_BYTES_MAX = 4096 };

const char *message_cut(struct arena *a, const char *text)
{
    size_t size = strlen(text);
    if (size <= MESSAGE_BYTES_MAX) {
        return text;
    }
    size = MESSAGE_BYTES_MAX;
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) {
        size--; /* within a character */
    }
    assert(size > MESSAGE_BYTES_MAX - 4);
    return arena_strndup(a, text, size);
}

static bool of_an_id(char c, bool upper)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           (upper && ((c >= 'A' && c <= 'Z') || c == '_'));
}

static bool is_id(const char *id, size_t most, bool upper)
{
    size_t size = strlen(id);
    for (size_t i = 0; i < size; i++) {
        if (!of_an_id(id[i], upper)) {
            return false;
        }
    }
    return size > 0 && size <= most;
}

void check_system_id(struct validation *v, const char *id)
{
    if (!is_id(id, SYSTEM_ID_BYTES_MAX, false)) {
        SCOPED_ARENA(a);
        say(v, arena_printf(&a, "\"%.64s\" is no id of a system: 1 to %d of a-z 0-9 -", id,
                            SYSTEM_ID_BYTES_MAX));
    }
}

void check_action_id(struct validation *v, const char *id)
{
    if (!is_id(id, ACTION_ID_BYTES_MAX, true)) {
        SCOPED_ARENA(a);
        say(v, arena_printf(&a, "\"%.64s\" is no id: 1 to %d of A-Z a-z 0-9 - _", id,
                            ACTION_ID_BYTES_MAX));
    }
}

void check_component_path(struct validation *v, const char *path)
{
    SCOPED_ARENA(a);
    const char *fault = component_path_fault(&a, path);
    if (fault) {
        say(v, fault);
    }
}

bool too_many(struct plan *p, const struct system_facts *f, size_t count, size_t most,
              const char *things)
{
    assert(f->system);
    if (count < most) {
        return false;
    }
    p->record = &f->system->base;
    plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                "system %s has %zu %s, and may have %zu: ask again when some are over", f->id,
                count, things, most);
    return true;
}

/* ---- What stands in the trees ---------------------------------------------------------------- */

const Board__IndexRecord *index_peek(struct view *v, const char *tree)
{
    return *tree ? view_peek_message(v, key_index(view_arena(v), tree)) : NULL;
}

/* Room that the compares of a transaction have beside the others of its decision. */
enum { SECRETS_NOTED_MAX = 64 };

bool entry_needs_secret(const Board__IndexRecord__Entry *e, const char *name)
{
    for (size_t i = 0; i < e->n_secrets; i++) {
        if (strcmp(e->secrets[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool secret_is_set(struct view *v, const char *uid, const char *name, size_t *noted)
{
    const char *key = key_secret(view_arena(v), uid, name);
    return (*noted)++ < SECRETS_NOTED_MAX ? view_exists(v, key) : view_peek(v, key) != NULL;
}

struct secret_lack secrets_lacking(struct view *v, const char *uid,
                                   const Board__IndexRecord *const *indices, size_t count)
{
    size_t noted = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t n = 0; n < indices[i]->n_entries; n++) {
            const Board__IndexRecord__Entry *e = indices[i]->entries[n];
            for (size_t s = 0; s < e->n_secrets; s++) {
                if (!secret_is_set(v, uid, e->secrets[s], &noted)) {
                    return (struct secret_lack){.path = e->path, .name = e->secrets[s]};
                }
            }
        }
    }
    return (struct secret_lack){0};
}

/* ---- What is kept ---------------------------------------------------------------------------- */

bool kept_enough(const struct over_when *list, size_t count, struct over_when own, size_t kept)
{
    size_t later = 0;
    assert(kept > 0);
    for (size_t i = 0; i < count; i++) {
        const struct over_when *o = &list[i];
        later += o->completed_at > own.completed_at ||
                 (o->completed_at == own.completed_at && strcmp(o->id, own.id) > 0);
    }
    return later >= kept;
}
