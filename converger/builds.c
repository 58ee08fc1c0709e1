#include "converger/builds.h"

#include "common/base/memory.h"
#include "secret_api.pb-c.h"
#include "common/lifecycle/build.h"
#include "common/model/component_path.h"
#include "common/model/head.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What this leader knows of a build. */
struct build_read {
    uint64_t request_id; /* 0 = none is open */
    uint64_t call_id;    /* of the question for the secret `needs`; 0 = none is open */
    char *needs;         /* NULL = it has what it needs, for all that is known */
    struct resolve_key keys[BUILD_KEYS_MAX]; /* texts owned */
    size_t key_count;
    bool read; /* it was answered */
    char *uid, *tree;
    char *fault; /* not "": it cannot be read */
    char *version;
    struct blob *index;
    struct blob **components;
    size_t count;
    char key[];
};

enum { SECRET_ANSWER_MAX = 1024 * 1024 };

/* Of no process: each begins anew. */
static const uint64_t first_seed[2] = {0, 1};

void builds_init(struct builds *b, struct boards *boards)
{
    map_init(&b->by_key);
    b->boards = boards;
    random_seed(&b->random, first_seed);
    b->next_id = 1;
    b->open = 0;
}

static void clear(struct build_read *r)
{
    for (size_t i = 0; i < r->count; i++) {
        blob_unref(r->components[i]);
    }
    blob_unref(r->index);
    free(r->components);
    free(r->uid);
    free(r->tree);
    free(r->fault);
    free(r->version);
    free(r->needs);
    for (size_t i = 0; i < r->key_count; i++) {
        char *value = (char *)(uintptr_t)r->keys[i].value;
        explicit_bzero(value, strlen(value));
        free(value);
        free((char *)(uintptr_t)r->keys[i].name);
    }
}

static void forget(struct builds *b, struct build_read *r)
{
    assert(b->open >= (r->request_id != 0));
    b->open -= r->request_id != 0;
    map_remove(&b->by_key, r->key);
    clear(r);
    free(r);
}

void builds_reset(struct builds *b)
{
    MAP_EACH(&b->by_key, n)
    {
        forget(b, map_value(n));
    }
    assert(b->open == 0);
}

void builds_done(struct builds *b)
{
    builds_reset(b);
    map_done(&b->by_key, NULL);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static struct blob *packed(const ProtobufCMessage *m)
{
    SCOPED_BUF(b);
    buf_message(&b, m);
    return blob_new(b.data, b.size);
}

static void take(struct build_read *r, const struct resolved *a)
{
    assert(!r->components && !r->index);
    bool done = a->done && a->index && a->component_count > 0;
    r->read = true;
    r->version = mem_text(a->version ? a->version : "");
    if (!done) {
        r->fault = mem_text(*a->fault ? a->fault : "its definition has nothing");
        return;
    }
    r->fault = mem_text("");
    r->index = packed(&a->index->base);
    r->components = mem_array(a->component_count, sizeof(*r->components));
    for (size_t i = 0; i < a->component_count; i++) {
        r->components[r->count++] = packed(&a->components[i]->base);
    }
}

static const char *key_value(const struct build_read *r, const char *name)
{
    for (size_t i = 0; i < r->key_count; i++) {
        if (strcmp(r->keys[i].name, name) == 0) {
            return r->keys[i].value;
        }
    }
    return NULL;
}

/* It is read; or it needs a secret more, which is asked for. */
static void hear_resolved(struct builds *b, struct build_read *r, const struct resolved *a)
{
    assert(b->open > 0);
    r->request_id = 0;
    b->open--;
    if (a->needs && *a->needs && !key_value(r, a->needs) && r->key_count < BUILD_KEYS_MAX) {
        r->needs = mem_text(a->needs);
    } else {
        take(r, a);
    }
}

/* A bbs that did not answer is asked again; one that has no such secret says why. */
static void hear_key(struct build_read *r, const struct response *answer)
{
    SCOPED_ARENA(a);
    const char *why;
    const Board__SecretResponse *s = (const Board__SecretResponse *)boards_answer(
        &a, answer, &board__secret_response__descriptor, SECRET_ANSWER_MAX, &why);
    r->call_id = 0;
    if (s && s->error) {
        take(r, &(struct resolved){.fault = s->error->message});
    } else if (s) {
        assert(r->needs && r->key_count < BUILD_KEYS_MAX);
        r->keys[r->key_count++] = (struct resolve_key){r->needs, mem_text(s->value)};
        r->needs = NULL;
    }
}

const char *builds_hear(struct builds *b, const struct event *ev)
{
    random_seed(&b->random, ev->entropy);
    for (struct map_node *n = map_first(&b->by_key); n; n = map_next(n)) {
        struct build_read *r = map_value(n);
        if (ev->kind == EVENT_RESOLVED && r->request_id && r->request_id == ev->resolved.id) {
            hear_resolved(b, r, &ev->resolved);
            return r->uid;
        }
        if (ev->kind == EVENT_RESPONSE && r->call_id && r->call_id == ev->response.id) {
            hear_key(r, &ev->response);
            return r->uid;
        }
    }
    return NULL;
}

/* ---- Moves ----------------------------------------------------------------------------------- */

static void *unpacked(struct arena *a, const ProtobufCMessageDescriptor *type,
                      const struct blob *blob)
{
    ProtobufCAllocator allocator = arena_protobuf(a);
    void *m = protobuf_c_message_unpack(type, &allocator, blob->size, blob->data);
    assert(m);
    return m;
}

static void fail(const struct watched_system *v, const char *id, const char *why,
                 struct system_moves *out)
{
    Board__Move *m = move_of_build(v, "fail", id);
    m->build->message = arena_strdup(v->arena, why);
    system_moves_add(out, "fail", m);
}

static void accept(const struct watched_system *v, const struct build_read *r, const char *id,
                   struct system_moves *out)
{
    Board__Move *m = move_of_build(v, "accept", id);
    const Board__IndexRecord *index =
        unpacked(v->arena, &board__index_record__descriptor, r->index);
    m->build->tree = r->tree;
    m->build->components = (uint32_t)r->count;
    m->build->version = r->version;
    m->build->commits = index->commits;
    m->build->n_commits = index->n_commits;
    system_moves_add(out, "accept", m);
}

static void write_portion(const struct watched_system *v, const struct build_read *r,
                        const Board__BuildRecord *record, struct system_moves *out)
{
    Board__Move *m = move_of_build(v, "write", record->id);
    size_t size = 0, from = record->written;
    m->build->tree = r->tree;
    m->build->from = record->written;
    m->build->written = ARENA_ARRAY(v->arena, BUILD_PORTION_MAX, Board__ComponentRecord *);
    for (size_t i = from; i < r->count && m->build->n_written < BUILD_PORTION_MAX; i++) {
        size += r->components[i]->size;
        if (i > from && size > BUILD_PORTION_BYTES_MAX) {
            break;
        }
        m->build->written[m->build->n_written++] =
            unpacked(v->arena, &board__component_record__descriptor, r->components[i]);
    }
    assert(m->build->n_written > 0);
    system_moves_add(out, "write", m);
}

static void succeed(const struct watched_system *v, const struct build_read *r, const char *id,
                    struct system_moves *out)
{
    Board__Move *m = move_of_build(v, "succeed", id);
    m->build->tree = r->tree;
    m->build->index = unpacked(v->arena, &board__index_record__descriptor, r->index);
    system_moves_add(out, "succeed", m);
}

static void run_build(const struct watched_system *v, const struct build_read *r,
                      const Board__BuildRecord *record, struct system_moves *out)
{
    if (system_is_gone(v)) { /* 1 */
        fail(v, record->id, "the system is being deleted", out);
    } else if (!r || !r->read) { /* 2 */
        return;
    } else if (*r->fault) { /* 3 */
        fail(v, record->id, r->fault, out);
    } else if (record->n_stale > 0) {
        Board__Move *m = move_of_build(v, "collect", record->id);
        m->build->tree = record->stale[0];
        system_moves_add(out, "collect", m);
    } else if (strcmp(record->tree, r->tree) != 0) { /* 4 */
        accept(v, r, record->id, out);
    } else if (record->written < r->count) { /* 5 */
        write_portion(v, r, record, out);
    } else { /* 6 */
        succeed(v, r, record->id, out);
    }
}

/* The record of a build that is not over; NULL = it is none, or of a newer version. */
static const Board__BuildRecord *going_build(const struct watched_system *v, struct map_node *n)
{
    const struct action_seen *seen = map_value(n);
    return seen->type == RECORD_BUILD ? system_record(v, map_key(n), NULL) : NULL;
}

void builds_run(const struct builds *b, const struct watched_system *v, struct system_moves *out)
{
    for (struct map_node *n = map_first(v->going); n; n = map_next(n)) {
        const Board__BuildRecord *record = going_build(v, n);
        if (record && lifecycle_state(&build_lifecycle, record->state) > BUILD_NONE) {
            run_build(v, map_get(&b->by_key, map_key(n)), record, out);
        }
    }
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* The definition that stands at "/": a path build reads the same commit again. NULL = what is
 * lacking has not come, or *ret_fault says why it cannot be. */
static const Board__IndexRecord *index_of_root(const struct watched_system *v,
                                               const char **ret_fault)
{
    const Board__Root *root = head_root(v->head, "/");
    const Board__IndexRecord *index =
        root && *root->tree ? system_record(v, key_index(v->arena, root->tree), NULL) : NULL;
    if (!root || !*root->tree) {
        *ret_fault = "no definition is deployed yet: deploy a version first";
    } else if (index && !*index->url) {
        *ret_fault = "the definition was deployed from a file, not from a repository: deploy the "
                     "file again";
        return NULL;
    }
    return index;
}

/* What is to be read; false: what is needed for that has not come. */
static bool request_of(const struct watched_system *v, const Board__BuildRecord *record,
                       struct resolve_request *ret, const char **ret_fault)
{
    *ret = (struct resolve_request){.system = v->id, .uid = v->uid};
    if (record->definition) {
        const Board__SourceRecord *source =
            system_record(v, key_source(v->arena, record->id), NULL);
        ret->what = RESOLVE_SOURCE;
        if (source) {
            ret->source = (struct bytes){source->text.data, source->text.len};
        }
        return source;
    }
    ret->url = v->system->definition_url;
    ret->version = record->version;
    ret->what = RESOLVE_VERSION;
    if (*record->path && !*record->version) {
        const Board__IndexRecord *index = index_of_root(v, ret_fault);
        ret->what = RESOLVE_PATH;
        ret->path = record->path;
        ret->url = index ? index->url : NULL;
        ret->commit = index ? index->commit : NULL;
        return index;
    }
    if (!*ret->url) {
        *ret_fault = "the system has no repository of versions";
    }
    return *ret->url;
}

static struct build_read *read_new(struct builds *b, const char *key, const char *uid)
{
    struct build_read *r = map_named(&b->by_key, key, offsetof(struct build_read, key));
    char tree[GUID_BYTES];
    random_guid(&b->random, tree);
    r->uid = mem_text(uid);
    r->tree = mem_text(tree);
    return r;
}

/* The secret that is to be had first, NULL = none. */
static const char *key_lacking(const struct watched_system *v, struct build_read *r,
                               const struct resolve_request *request)
{
    const char *own = request->what == RESOLVE_SOURCE ? "" : v->system->ssh_key;
    if (!r->needs && *own && !key_value(r, own)) {
        r->needs = mem_text(own);
    }
    return r->needs;
}

static void ask_for_key(struct builds *b, const struct watched_system *v, struct build_read *r,
                        struct effects *out)
{
    Board__SecretRequest request = BOARD__SECRET_REQUEST__INIT;
    request.system = (char *)(uintptr_t)v->id;
    request.name = r->needs;
    r->call_id = boards_call(b->boards, out, "/v1/board/secret", "", &request.base,
                             v->now.mono_ns + BUILD_KEY_NS);
}

static void ask_for_definition(struct builds *b, const struct watched_system *v,
                               struct build_read *r, struct resolve_request *request,
                               struct effects *out)
{
    const char *own = v->system->ssh_key;
    r->request_id = b->next_id++;
    b->open++;
    request->id = r->request_id;
    request->tree = arena_strdup(out->arena, r->tree);
    request->ssh_key = *own && request->what != RESOLVE_SOURCE ? key_value(r, own) : NULL;
    request->keys = r->keys;
    request->key_count = r->key_count;
    effects_add(out, EFFECT_RESOLVE)->resolve = *request;
}

/* False: it waits for room, or a bbs has not answered, or a fault is to be told. */
static bool go_on(struct builds *b, const struct watched_system *v, const char *key,
                  const Board__BuildRecord *record, struct effects *out)
{
    struct build_read *r = map_get(&b->by_key, key);
    struct resolve_request request;
    const char *fault = NULL;
    if (r && (r->read || r->request_id || r->call_id)) {
        return true;
    }
    bool ready = request_of(v, record, &request, &fault);
    r = r || !(ready || fault) ? r : read_new(b, key, v->uid);
    if (fault) {
        take(r, &(struct resolved){.fault = fault});
        return false; /* to be looked at again: no answer comes that would wake it */
    } else if (ready && key_lacking(v, r, &request)) {
        ask_for_key(b, v, r, out);
        return r->call_id != 0;
    } else if (ready && b->open < RESOLVES_MAX - 1) { /* one is for versions */
        ask_for_definition(b, v, r, &request, out);
    } else {
        return !ready;
    }
    return true;
}

/* Those of the system that are over, or gone. */
static void forget_those_over(struct builds *b, const struct watched_system *v)
{
    const char *prefix = key_range_of(v->arena, RECORD_BUILD, v->uid);
    MAP_EACH(&b->by_key, n)
    {
        struct build_read *r = map_value(n);
        const struct action_seen *seen = map_get(v->actions, r->key);
        if (text_begins(r->key, prefix) && (!seen || seen->over)) {
            forget(b, r);
        }
    }
}

bool builds_resolve(struct builds *b, const struct watched_system *v, struct effects *out)
{
    bool waits = false;
    forget_those_over(b, v);
    for (struct map_node *n = map_first(v->going); n && !system_is_gone(v); n = map_next(n)) {
        const Board__BuildRecord *record = going_build(v, n);
        waits = (record && !go_on(b, v, map_key(n), record, out)) || waits;
    }
    return waits;
}
