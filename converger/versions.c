#include "converger/versions.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Ids of builds never come so far. */
#define FIRST_ID (UINT64_C(1) << 62)

/* Of one system. */
struct listed {
    uint64_t request_id; /* 0 = none is open */
    int64_t asked_ns;    /* monotonic; 0 = never */
    bool read;           /* what follows was */
    char *fault;         /* "" = none */
    char **versions;
    size_t count;
    char uid[];
};

static void forget_list(struct listed *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->versions[i]);
    }
    free(s->versions);
    free(s->fault);
    s->versions = NULL;
    s->fault = NULL;
    s->count = 0;
    s->read = false;
}

static void free_listed(void *listed)
{
    forget_list(listed);
    free(listed);
}

void versions_init(struct versions *l)
{
    *l = (struct versions){.next_id = FIRST_ID};
    map_init(&l->by_uid);
}

void versions_done(struct versions *l)
{
    map_done(&l->by_uid, free_listed);
}

void versions_reset(struct versions *l)
{
    map_done(&l->by_uid, free_listed);
    map_init(&l->by_uid);
    l->open = 0;
}

/* ---- An answer ------------------------------------------------------------------------------- */

static void take_list(struct listed *s, const struct resolved *r)
{
    assert(r->version_count <= RESOLVE_VERSIONS_MAX);
    forget_list(s);
    s->fault = mem_text(r->done ? "" : r->fault);
    s->versions = mem_array(r->version_count + 1, sizeof(*s->versions));
    for (size_t i = 0; r->done && i < r->version_count; i++) {
        s->versions[s->count++] = mem_text(r->versions[i]);
    }
    s->read = true;
}

const char *versions_hear(struct versions *l, const struct event *ev)
{
    if (ev->kind != EVENT_RESOLVED || l->open == 0 || ev->resolved.id != l->open) {
        return NULL;
    }
    l->open = 0;
    MAP_EACH(&l->by_uid, n)
    {
        struct listed *s = map_value(n);
        if (s->request_id == ev->resolved.id) {
            s->request_id = 0;
            take_list(s, &ev->resolved);
            return s->uid;
        }
    }
    return NULL;
}

void versions_forget(struct versions *l, const char *uid)
{
    struct listed *s = map_remove(&l->by_uid, uid);
    if (s) {
        l->open = s->request_id ? 0 : l->open;
        free_listed(s);
    }
}

/* ---- What the board is told ------------------------------------------------------------------ */

static bool is_known(const struct listed *s, const Board__VersionsRecord *r)
{
    bool same = r && strcmp(r->fault, s->fault) == 0;
    same = same && (*s->fault || r->n_versions == s->count);
    for (size_t i = 0; same && !*s->fault && i < s->count; i++) {
        same = strcmp(r->versions[i], s->versions[i]) == 0;
    }
    return same;
}

void versions_run(const struct versions *l, const struct watched_system *v,
                  struct system_moves *out)
{
    const struct listed *s = map_get(&l->by_uid, v->uid);
    const Board__VersionsRecord *r =
        s && s->read ? system_record(v, key_versions(v->arena, v->uid), NULL) : NULL;
    if (!s || !s->read || is_known(s, r)) {
        return;
    }
    Board__Move *m = move_of_system(v, "list");
    m->system->versions = s->versions;
    m->system->n_versions = s->count;
    m->system->fault = s->fault;
    system_moves_add(out, "list", m);
}

/* ---- What is asked --------------------------------------------------------------------------- */

static struct listed *listed_of(struct versions *l, const char *uid)
{
    return map_named(&l->by_uid, uid, offsetof(struct listed, uid));
}

/* 1. It is not open, has no repository, or one that a secret opens: never.
 * 2. It is being listed: the answer wakes it.
 * 3. It was listed within five minutes: when they are over.
 * 4. Another one is being listed: soon.
 * 5. It is listed now. */
int64_t versions_resolve(struct versions *l, const struct watched_system *v, struct effects *out)
{
    int64_t now_ns = v->now.mono_ns;
    bool wanted = system_is_open(v) && v->confirmed && *v->system->definition_url &&
                  !*v->system->ssh_key;
    if (!wanted) { /* 1 */
        return NEVER_NS;
    }
    struct listed *s = listed_of(l, v->uid);
    if (s->request_id) { /* 2 */
        return NEVER_NS;
    }
    if (s->asked_ns && now_ns - s->asked_ns < VERSIONS_EACH_NS) { /* 3 */
        return s->asked_ns + VERSIONS_EACH_NS;
    }
    if (l->open) { /* 4 */
        return now_ns + VERSIONS_AGAIN_NS;
    }
    s->request_id = l->open = l->next_id++; /* 5 */
    s->asked_ns = now_ns;
    effects_add(out, EFFECT_RESOLVE)->resolve = (struct resolve_request){
        .id = s->request_id,
        .what = RESOLVE_TAGS,
        .system = arena_strdup(out->arena, v->id),
        .uid = arena_strdup(out->arena, v->uid),
        .url = arena_strdup(out->arena, v->system->definition_url),
    };
    return NEVER_NS;
}
