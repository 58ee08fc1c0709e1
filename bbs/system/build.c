/* POST of a build: a definition is to be resolved and written as a tree. */
#include "bbs/system/build.h"

#include "common/lifecycle/build.h"

#include <assert.h>
#include <string.h>

static const Board__BuildRequest *asked(const struct op_input *in)
{
    return (const Board__BuildRequest *)in->request;
}

/* Builds of a system take turns by its record. */
static const char *build_target(struct arena *a, const struct op_input *in)
{
    return key_system(a, asked(in)->system);
}

void check_one_target(struct validation *v, size_t count, const char *targets)
{
    if (count != 1) {
        SCOPED_ARENA(a);
        say(v, arena_printf(&a, "give exactly one of %s, not %zu", targets, count));
    }
}

void check_definition(struct validation *v, ProtobufCBinaryData text)
{
    if (text.len > BUILD_SOURCE_BYTES_MAX) {
        SCOPED_ARENA(a);
        say(v, arena_printf(&a, "the definition has %zu bytes, and may have %d", text.len,
                            BUILD_SOURCE_BYTES_MAX));
    }
}

void check_version(struct validation *v, const char *version)
{
    bool good = strlen(version) <= BUILD_VERSION_BYTES_MAX;
    for (const char *c = version; *c; c++) {
        good = good && (unsigned char)*c > ' ' && *c != 0x7f;
    }
    if (!good) {
        SCOPED_ARENA(a);
        say(v, arena_printf(&a, "a version has at most %d characters, and no spaces",
                            BUILD_VERSION_BYTES_MAX));
    }
}

void valid_build(struct validation *v, const Board__BuildRequest *request)
{
    check_system_id(v, request->system);
    check_action_id(v, request->id);
    check_one_target(v,
                     (size_t)(*request->version != 0) + (*request->path != 0) +
                         (request->definition.len > 0),
                     "version, path and definition");
    if (*request->path) {
        check_component_path(v, request->path);
    }
    check_version(v, request->version);
    check_definition(v, request->definition);
}

/* ---- What is decided ------------------------------------------------------------------------- */

struct build_op_snapshot {
    struct system_facts of;
    const Board__BuildRecord *build;
    const Board__SourceRecord *source;
    size_t count;
};

static void build_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct build_op_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    s->of = system_facts_gather(v, asked(in)->system, NULL);
    if (s->of.system) {
        s->build = view_message(v, key_build(a, s->of.uid, asked(in)->id));
        s->source = view_message(v, key_source(a, asked(in)->id));
        s->count = view_peek_count(v, key_range_of(a, RECORD_BUILD, s->of.uid));
    }
}

/* Whether it was asked for as this one is. The text of a definition goes when its build is over:
 * then it is not compared. */
static bool same_build(const struct build_op_snapshot *s, const Board__BuildRequest *r)
{
    const Board__BuildRecord *b = s->build;
    bool text = !s->source || (s->source->text.len == r->definition.len &&
                               memcmp(s->source->text.data, r->definition.data,
                                      r->definition.len) == 0);
    bool version = *r->version ? strcmp(b->version, r->version) == 0 : true;
    return strcmp(b->path, r->path) == 0 && b->definition == (r->definition.len > 0) && version &&
           text;
}

Board__BuildRecord *build_new(struct arena *a, const struct system_facts *f, const char *id,
                              struct moment now)
{
    Board__BuildRecord *b = arena_message(a, &board__build_record__descriptor);
    assert(*id && *f->uid);
    b->id = borrowed(id);
    b->uid = borrowed(f->uid);
    b->system = borrowed(f->id);
    b->state = borrowed(build_lifecycle.states[BUILD_PENDING]);
    b->message = borrowed("waits to be resolved");
    b->root = borrowed("/");
    b->created_at = now.wall_ns;
    return b;
}

void source_put(struct plan *p, const struct system_facts *f, const char *id,
                ProtobufCBinaryData text, enum actor actor)
{
    Board__SourceRecord *s = arena_message(p->arena, &board__source_record__descriptor);
    assert(text.len > 0 && text.len <= BUILD_SOURCE_BYTES_MAX);
    s->uid = borrowed(f->uid);
    s->build = borrowed(id);
    s->text = text;
    plan_put(p, key_source(p->arena, id), "build", actor, &s->base);
}

/* 1. The system takes no builds: ResourceNotFound, ResourceConflict.
 * 2. It was asked for before: nothing. Its id is another one's: ResourceExists.
 * 3. There are as many as may be: ResourceConflict.
 * 4. It is pending; a definition is kept beside it. */
static void build_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct build_op_snapshot *s = snapshot;
    const Board__BuildRequest *r = asked(in);
    if (system_facts_refused(&s->of, p)) { /* 1 */
        return;
    }
    if (s->build && same_build(s, r)) { /* 2 */
        p->record = &s->build->base;
        return;
    }
    if (s->build || s->source) {
        p->record = &s->of.system->base;
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceExists,
                    "build %s is another one: give another id", r->id);
        return;
    }
    if (too_many(p, &s->of, s->count, ACTIONS_MAX, "builds")) { /* 3 */
        return;
    }
    assert(lifecycle_transition(&build_lifecycle, BUILD_NONE, in->actor, BUILD_TRIGGER_BUILD,
                                BUILD_IF_OPEN) == BUILD_PENDING);
    Board__BuildRecord *b = build_new(p->arena, &s->of, r->id, in->now); /* 4 */
    b->version = r->version;
    b->path = r->path;
    b->root = *r->path ? r->path : b->root;
    b->definition = r->definition.len > 0;
    plan_put(p, key_build(p->arena, b->uid, b->id), "build", in->actor, &b->base);
    if (b->definition) {
        source_put(p, &s->of, b->id, r->definition, in->actor);
    }
    p->record = &b->base;
}

const struct op_row build_row = {
    .name = "build",
    .target = build_target,
    .gather = build_gather,
    .decide = build_decide,
    .snapshot_size = sizeof(struct build_op_snapshot),
};
