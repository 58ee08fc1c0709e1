#include "converger/versions.h"

#include "common/base/memory.h"
#include "secret_api.pb-c.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Ids of builds never come so far. */
#define FIRST_ID (UINT64_C(1) << 62)

enum { SECRET_ANSWER_MAX = 1024 * 1024 };

/* Of one system. */
struct listed {
    uint64_t request_id; /* 0 = none is open */
    uint64_t call_id;    /* of the question for the secret that opens it; 0 = none is open */
    char *key;           /* what was answered, until it is listed */
    int64_t asked_ns;    /* monotonic; 0 = never */
    bool unanswered;     /* no bbs told the secret: once */
    bool locked;         /* there is no such secret */
    bool read;           /* what follows was */
    char *fault;         /* "" = none */
    char **versions;
    size_t count;
    char uid[];
};

static void forget_key(struct listed *s)
{
    if (s->key) {
        explicit_bzero(s->key, strlen(s->key));
        free(s->key);
        s->key = NULL;
    }
}

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
    forget_key(listed);
    forget_list(listed);
    free(listed);
}

void versions_init(struct versions *l, struct boards *boards)
{
    *l = (struct versions){.boards = boards, .next_id = FIRST_ID};
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
    l->open = NULL;
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

static void hear_list(struct versions *l, struct listed *s, const struct resolved *r)
{
    s->request_id = 0;
    l->open = NULL;
    forget_key(s);
    take_list(s, r);
}

/* Of one that has no such secret the text says why; a bbs that did not answer is asked again. */
static void hear_key(struct versions *l, struct listed *s, const struct response *answer)
{
    SCOPED_ARENA(a);
    const char *why;
    const Board__SecretResponse *r = (const Board__SecretResponse *)boards_answer(
        &a, answer, &board__secret_response__descriptor, SECRET_ANSWER_MAX, &why);
    s->call_id = 0;
    s->unanswered = !r;
    s->locked = r && r->error;
    if (s->locked) {
        take_list(s, &(struct resolved){.fault = r->error->message});
    } else if (r) {
        s->key = mem_text(r->value);
    }
    if (!s->key) {
        l->open = NULL;
    }
}

const char *versions_hear(struct versions *l, const struct event *ev)
{
    struct listed *s = l->open;
    if (s && ev->kind == EVENT_RESOLVED && s->request_id && s->request_id == ev->resolved.id) {
        hear_list(l, s, &ev->resolved);
        return s->uid;
    }
    if (s && ev->kind == EVENT_RESPONSE && s->call_id && s->call_id == ev->response.id) {
        hear_key(l, s, &ev->response);
        return s->uid;
    }
    return NULL;
}

void versions_forget(struct versions *l, const char *uid)
{
    struct listed *s = map_remove(&l->by_uid, uid);
    if (s) {
        l->open = l->open == s ? NULL : l->open;
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

static void ask_for_key(struct versions *l, struct listed *s, const struct watched_system *v,
                        struct effects *out)
{
    Board__SecretRequest request = BOARD__SECRET_REQUEST__INIT;
    request.system = (char *)(uintptr_t)v->id;
    request.name = v->system->ssh_key;
    s->call_id = boards_call(l->boards, out, "/v1/board/secret", "", &request.base,
                             v->now.mono_ns + VERSIONS_KEY_NS);
}

static void ask_for_list(struct versions *l, struct listed *s, const struct watched_system *v,
                         struct effects *out)
{
    s->request_id = l->next_id++;
    effects_add(out, EFFECT_RESOLVE)->resolve = (struct resolve_request){
        .id = s->request_id,
        .what = RESOLVE_TAGS,
        .system = arena_strdup(out->arena, v->id),
        .uid = arena_strdup(out->arena, v->uid),
        .url = arena_strdup(out->arena, v->system->definition_url),
        .ssh_key = s->key,
    };
}

/* When it is to be listed again; 0 = now. */
static int64_t list_due_ns(const struct listed *s)
{
    return !s->asked_ns || s->key ? 0
                                  : s->asked_ns + (s->unanswered ? VERSIONS_AGAIN_NS
                                                   : s->locked   ? VERSIONS_LOCKED_NS
                                                                 : VERSIONS_EACH_NS);
}

/* 1. It is not open, or has no repository: never.
 * 2. It is being listed, or its secret asked for: the answer wakes it.
 * 3. It was listed within five minutes; within 30 s without its secret; no bbs told that within
 *    one: when they are over.
 * 4. Another one is being listed: soon.
 * 5. A secret opens it, and is not at hand: it is asked for.
 * 6. It is listed now. */
int64_t versions_resolve(struct versions *l, const struct watched_system *v, struct effects *out)
{
    int64_t now_ns = v->now.mono_ns;
    if (!system_is_open(v) || !v->confirmed || !*v->system->definition_url) { /* 1 */
        versions_forget(l, v->uid);
        return NEVER_NS;
    }
    struct listed *s = listed_of(l, v->uid);
    if (s->request_id || s->call_id) { /* 2 */
        return NEVER_NS;
    }
    if (list_due_ns(s) > now_ns) { /* 3 */
        return list_due_ns(s);
    }
    if (l->open && l->open != s) { /* 4 */
        return now_ns + VERSIONS_AGAIN_NS;
    }
    l->open = s;
    s->asked_ns = now_ns;
    if (*v->system->ssh_key && !s->key) { /* 5 */
        ask_for_key(l, s, v, out);
    } else { /* 6 */
        ask_for_list(l, s, v, out);
    }
    return NEVER_NS;
}
