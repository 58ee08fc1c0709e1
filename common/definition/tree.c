/* Reads a definition with all that it refers to, and lists its components. */
#include "common/definition/definition.h"

#include "common/appfile/app.h"
#include "common/base/map.h"
#include "common/definition/file_name.h"
#include "common/definition/template.h"
#include "common/model/component_path.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A reference that is being followed, and those that led to it. */
struct definition_link {
    const struct definition_link *from;
    const char *identity; /* of the file and its parameters */
    size_t length;
};

/* A file that is being read. */
struct definition_reading {
    const char *file;
    struct definition_place place;
    const char *reference;
    const struct definition_link *link;
};

struct definition_walk {
    struct arena *arena;
    const struct definition_files *files;
    const struct definition_options *options;
    struct definition_tree *tree;
    size_t capacity;
    size_t nodes;
    struct buf log;
    struct map commits; /* value: not NULL, of no meaning */
};

static const char *const kind_names[] = {"system", "service", "job", "reference"};

static struct definition_source source_of(struct definition_walk *w,
                                          const struct definition_reading *r, const char *path)
{
    return (struct definition_source){
        .arena = w->arena, .file = r->file, .path = path, .faults = &w->tree->faults};
}

/* ---- What was read -------------------------------------------------------------------------- */

static void note_read(struct definition_walk *w, const char *path, const struct definition_file *f)
{
    if (!*f->place.url) {
        return;
    }
    const char *line =
        arena_printf(w->arena, "%s: %s of %s%s%s at %s\n", path, f->name, f->place.url,
                     *f->place.version ? " " : "", f->place.version, f->place.commit);
    map_put(&w->commits, arena_printf(w->arena, "%s %s", f->place.url, f->place.commit), w);
    if (w->log.size + strlen(line) <= DEFINITION_LOG_BYTES_MAX) {
        buf_append_string(&w->log, line);
    }
}

static struct definition_part *add_part(struct definition_walk *w, const struct definition_part *p,
                                        const struct definition_source *s)
{
    struct definition_tree *t = w->tree;
    if (t->count == DEFINITION_COMPONENTS_MAX) {
        return NULL;
    }
    if (t->count == w->capacity) {
        struct definition_part *old = t->parts;
        w->capacity = w->capacity ? 2 * w->capacity : 64;
        t->parts = ARENA_ARRAY(w->arena, w->capacity, struct definition_part);
        if (old) {
            memcpy(t->parts, old, t->count * sizeof(*old));
        }
    }
    t->parts[t->count] = *p;
    if (++t->count == DEFINITION_COMPONENTS_MAX) {
        definition_mistake(s, p->node, "", "the definition has more than %d components",
                           DEFINITION_COMPONENTS_MAX - 1);
    }
    return &t->parts[t->count - 1];
}

/* ---- Kinds ---------------------------------------------------------------------------------- */

/* -1: told. */
static int kind_of(const struct definition_source *s, const struct node *n)
{
    const struct node *type = node_given(n, "type");
    if (n->kind != NODE_MAP) {
        definition_mistake(s, n, "", "must be a map: a component with its type");
        return -1;
    }
    if (!type || type->kind != NODE_TEXT) {
        definition_mistake(s, type ? type : n, "type",
                           "%s: v1/system, v1/service, v1/job or v1/reference",
                           type ? "must be a text" : "is missing");
        return -1;
    }
    const char *slash = strchr(type->text, '/');
    if (!slash) {
        definition_mistake(s, type, "type", "\"%.60s\" is not VERSION/KIND, as v1/service",
                           type->text);
        return -1;
    }
    if (strncmp(type->text, "v1/", 3) != 0) {
        definition_mistake(s, type, "type", "\"%.60s\": the only version there is is v1",
                           type->text);
        return -1;
    }
    for (int i = 0; i < DEFINITION_KIND_COUNT; i++) {
        if (strcmp(slash + 1, kind_names[i]) == 0) {
            return i;
        }
    }
    definition_mistake(s, type, "type", "\"%.60s\": there are system, service, job and reference",
                       type->text);
    return -1;
}

static unsigned place_of(enum definition_kind kind)
{
    static const unsigned places[] = {DK_SYSTEM, DK_SERVICE, DK_JOB, DK_REFERENCE};
    return places[kind];
}

/* ---- References ----------------------------------------------------------------------------- */

static const char *text_member(const struct definition_source *s, const struct node *map,
                               const char *key)
{
    const struct node *v = node_given(map, key);
    if (v && !node_is_scalar(v)) {
        definition_mistake(s, v, key, "must be a text");
        v = NULL;
    }
    return v ? v->text : "";
}

static bool read_repository(const struct definition_source *s, const struct node *n,
                            struct definition_ask *ask)
{
    size_t before = s->faults->count;
    if (!definition_check_keys(s, n, "git_repository", DK_REPOSITORY)) {
        return false;
    }
    ask->url = text_member(s, n, "url");
    ask->branch = text_member(s, n, "branch");
    ask->commit = text_member(s, n, "commit");
    ask->tag = text_member(s, n, "tag");
    ask->version = text_member(s, n, "version");
    ask->file = text_member(s, n, "file");
    if (!*ask->url) {
        definition_mistake(s, n, "git_repository.url", "is missing");
    }
    if (!!*ask->branch + !!*ask->commit + !!*ask->tag + !!*ask->version > 1) {
        definition_mistake(s, n, "git_repository",
                           "say one of branch, commit, tag and version, not several");
    }
    const struct node *key = node_given(n, "ssh_key");
    if (key) {
        ask->ssh_key = definition_secret_name(s->arena, key);
        if (!ask->ssh_key) {
            definition_mistake(s, key, "git_repository.ssh_key",
                               "must be {$secret: NAME}: a key is no text of a file");
        }
    }
    return s->faults->count == before;
}

/* False: told. */
static bool read_reference(const struct definition_source *s, const struct node *n,
                           struct definition_ask *ask)
{
    const struct node *repository = node_given(n, "git_repository");
    const struct node *file = node_given(n, "file");
    const struct node *parameters = node_given(n, "parameters");
    size_t before = s->faults->count;
    definition_check_keys(s, n, "", DK_REFERENCE);
    if (!repository == !file) {
        definition_mistake(s, n, "", "a reference has git_repository or file, %s",
                           file ? "not both" : "one of them");
    }
    if (parameters && parameters->kind != NODE_MAP) {
        definition_mistake(s, parameters, "parameters", "must be a map");
    }
    if (repository && !file) {
        read_repository(s, repository, ask);
    } else if (file) {
        ask->file = text_member(s, n, "file");
        if (!*ask->file) {
            definition_mistake(s, file, "file", "must not be empty");
        }
    }
    return s->faults->count == before;
}

static const char *reference_text(struct arena *a, const struct definition_ask *ask,
                                  const struct definition_file *f)
{
    if (!*ask->url) {
        return ask->file;
    }
    const char *of = *ask->branch    ? ask->branch
                     : *ask->tag     ? ask->tag
                     : *ask->version ? f->place.version
                                     : ask->commit;
    return arena_printf(a, "%s%s%s%s%s", ask->url, *of ? " " : "", of, *ask->file ? " " : "",
                        ask->file);
}

/* What says whether a reference leads to itself: the file and what it is given. */
static const char *identity_of(struct arena *a, const struct definition_file *f,
                               const struct node *parameters)
{
    SCOPED_BUF(text);
    buf_printf(&text, "%s\n%s\n%s\n", f->place.url, f->place.commit, f->name);
    if (parameters) {
        definition_json(parameters, false, &text);
    }
    return arena_strdup(a, buf_string(&text));
}

static const struct node *read_component(struct definition_walk *w,
                                         const struct definition_reading *r, const char *path,
                                         const struct node *n);

/* The one document of a file. NULL: told. */
static const struct node *parse_file(struct definition_walk *w, const struct definition_source *s,
                                     const struct definition_file *f)
{
    struct node **documents = NULL;
    size_t count = 0;
    struct err err = {.text = ""};
    if (appfile_documents(w->arena, f->name, f->text, &documents, &count, &err) < 0) {
        definition_fault(w->arena, &w->tree->faults, "%s: %s", s->path, err.text);
        return NULL;
    }
    if (count != 1) {
        const char *what = count ? arena_printf(w->arena, "has %zu documents, not one", count)
                                 : "is empty: a definition begins with its type";
        definition_fault(w->arena, &w->tree->faults, "%s: %s: %s", s->path, f->name, what);
        return NULL;
    }
    return documents[0];
}

/* What stands in a file, as the component at `path`. NULL: told. */
static const struct node *read_file(struct definition_walk *w, const struct definition_ask *ask,
                                    const struct definition_link *link, const char *path,
                                    const struct node *parameters, const struct node *at,
                                    const struct definition_source *from)
{
    struct definition_tree *t = w->tree;
    struct definition_file f = {.name = "", .place = {"", "", ""}};
    struct err err = {.text = ""};
    int result = w->files->read(w->files->context, w->arena, ask, &f, &err);
    if (result == -ERR_DENIED && *ask->ssh_key) {
        t->needs = *t->needs ? t->needs : ask->ssh_key;
        return NULL;
    }
    if (result < 0) {
        if (from) {
            definition_mistake(from, at, "", "%s", err.text);
        } else {
            definition_fault(w->arena, &t->faults, "%s", err.text);
        }
        return NULL;
    }
    struct definition_link here = {.from = link,
                                   .identity = identity_of(w->arena, &f, parameters),
                                   .length = link ? link->length + 1 : 0};
    for (const struct definition_link *l = link; l; l = l->from) {
        if (strcmp(l->identity, here.identity) == 0) {
            definition_mistake(from, at, "", "a cycle: %s leads to itself", f.name);
            return NULL;
        }
    }
    if (here.length > DEFINITION_CHAIN_MAX) {
        definition_mistake(from, at, "", "more than %d references lead to each other",
                           DEFINITION_CHAIN_MAX);
        return NULL;
    }
    note_read(w, path, &f);
    struct definition_reading r = {
        .file = f.name,
        .place = f.place,
        .reference = link ? reference_text(w->arena, ask, &f) : "",
        .link = &here,
    };
    if (!link) {
        t->place = f.place;
    }
    struct definition_source s = source_of(w, &r, path);
    const struct node *document = parse_file(w, &s, &f);
    if (!document) {
        return NULL;
    }
    struct definition_template template = {.source = &s, .nodes = &w->nodes};
    document = definition_template(&template, document, parameters);
    return document ? read_component(w, &r, path, document) : NULL;
}

/* Who wants a part of the definition is not kept from it by a repository beside that part. */
static bool stays_unread(const struct definition_options *o, const struct definition_ask *ask,
                         const char *path)
{
    const char *wanted = o->path && *o->path ? o->path : "/";
    return (*ask->url && o->keep_repositories) ||
           (!component_path_within(path, wanted) && !component_path_within(wanted, path));
}

static const struct node *follow(struct definition_walk *w, const struct definition_reading *r,
                                 const char *path, const struct node *n)
{
    struct definition_source s = source_of(w, r, path);
    struct definition_ask ask = {.url = "",
                                 .branch = "",
                                 .commit = "",
                                 .tag = "",
                                 .version = "",
                                 .ssh_key = "",
                                 .file = "",
                                 .from = &r->place};
    if (!read_reference(&s, n, &ask)) {
        return NULL;
    }
    const char *fault = *ask.url && w->options->keep_repositories
                            ? definition_url_fault(w->arena, ask.url, true)
                            : NULL;
    if (fault) {
        definition_mistake(&s, n, "git_repository.url", "%s", fault);
        return NULL;
    }
    if (stays_unread(w->options, &ask, path)) {
        add_part(w,
                 &(struct definition_part){.path = path,
                                           .kind = DEFINITION_REFERENCE,
                                           .node = n,
                                           .file = r->file,
                                           .reference = r->reference,
                                           .commit = r->place.commit},
                 &s);
        return n;
    }
    return read_file(w, &ask, r->link, path, node_given(n, "parameters"), n, &s);
}

/* ---- Components ----------------------------------------------------------------------------- */

static void check_siblings(const struct definition_source *s, const struct node *components)
{
    struct map seen;
    map_init(&seen);
    for (size_t i = 0; i < components->count; i++) {
        char *lower = arena_strdup(s->arena, components->keys[i]);
        for (char *c = lower; *c; c++) {
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
        }
        const char *other = map_put(&seen, lower, (void *)components->keys[i]);
        if (other) {
            definition_mistake(s, components->items[i], components->keys[i],
                               "differs from %.63s in capitals only: both would have one address",
                               other);
        }
    }
    map_done(&seen, NULL);
}

/* The map with its components read. NULL: told. */
static const struct node *read_components(struct definition_walk *w,
                                          const struct definition_reading *r, const char *path,
                                          const struct node *components)
{
    struct definition_source s = source_of(w, r, path);
    if (components->kind != NODE_MAP) {
        definition_mistake(&s, components, "components", "must be a map from name to component");
        return NULL;
    }
    check_siblings(&s, components);
    struct node *made = arena_copy(w->arena, components, sizeof(*components));
    made->items = ARENA_ARRAY(w->arena, components->count, struct node *);
    bool good = true;
    for (size_t i = 0; i < components->count && w->tree->count < DEFINITION_COMPONENTS_MAX; i++) {
        const char *fault = component_name_fault(w->arena, components->keys[i]);
        const char *child =
            fault ? path : component_path_child(w->arena, path, components->keys[i]);
        fault = fault ? fault : component_path_fault(w->arena, child);
        if (fault) {
            definition_mistake(&s, components->items[i], "components", "%s", fault);
        } else {
            made->items[i] = (struct node *)read_component(w, r, child, components->items[i]);
        }
        good = good && made->items[i];
    }
    return good ? made : NULL;
}

static const struct node *read_system(struct definition_walk *w, const struct definition_reading *r,
                                      const char *path, const struct node *n)
{
    const struct node *components = node_given(n, "components");
    if (!components) {
        return n;
    }
    components = read_components(w, r, path, components);
    if (!components) {
        return NULL;
    }
    struct node *made = arena_copy(w->arena, n, sizeof(*n));
    made->items = ARENA_ARRAY(w->arena, n->count, struct node *);
    for (size_t i = 0; i < n->count; i++) {
        bool own = strcmp(n->keys[i], "components") == 0;
        made->items[i] = own ? (struct node *)components : n->items[i];
    }
    return made;
}

static const struct node *read_component(struct definition_walk *w,
                                         const struct definition_reading *r, const char *path,
                                         const struct node *n)
{
    struct definition_source s = source_of(w, r, path);
    struct definition_template template = {.source = &s, .nodes = &w->nodes};
    int kind = kind_of(&s, n);
    n = kind < 0 ? NULL : definition_secrets(&template, n);
    if (!n) {
        return NULL;
    }
    if (kind == DEFINITION_REFERENCE) {
        return follow(w, r, path, n);
    }
    definition_check_keys(&s, n, "", place_of((enum definition_kind)kind));
    if (!add_part(w,
                  &(struct definition_part){.path = path,
                                            .kind = (enum definition_kind)kind,
                                            .node = n,
                                            .file = r->file,
                                            .reference = r->reference,
                                            .commit = r->place.commit},
                  &s)) {
        return NULL;
    }
    return kind == DEFINITION_SYSTEM ? read_system(w, r, path, n) : n;
}

static int compare_parts(const void *x, const void *y)
{
    const struct definition_part *one = x, *other = y;
    return component_path_compare(one->path, other->path);
}

static void check_root(struct definition_walk *w)
{
    const struct definition_tree *t = w->tree;
    if (t->count > 0 && t->parts[0].kind != DEFINITION_SYSTEM &&
        t->parts[0].kind != DEFINITION_REFERENCE) {
        definition_fault(w->arena, &w->tree->faults, "/: a definition is a v1/system, not a v1/%s",
                         kind_names[t->parts[0].kind]);
    }
}

void definition_resolve(struct arena *a, const struct definition_files *files,
                        const struct definition_ask *ask, const struct definition_options *options,
                        struct definition_tree *ret)
{
    struct definition_walk w = {
        .arena = a, .files = files, .options = options, .tree = ret, .log = buf_empty()};
    *ret = (struct definition_tree){.needs = "", .place = {"", "", ""}};
    map_init(&w.commits);
    ret->root = read_file(&w, ask, NULL, "/", NULL, NULL, NULL);
    check_root(&w);
    if (ret->count > 1) {
        qsort(ret->parts, ret->count, sizeof(*ret->parts), compare_parts);
    }
    ret->log = arena_strdup(a, buf_string(&w.log));
    ret->commits = ARENA_ARRAY(a, w.commits.count, const char *);
    MAP_EACH(&w.commits, n)
    {
        ret->commits[ret->commit_count++] = arena_strdup(a, map_key(n));
    }
    map_done(&w.commits, NULL);
    buf_done(&w.log);
    assert(ret->root || ret->faults.count > 0 || *ret->needs);
}
