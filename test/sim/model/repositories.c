#include "test/sim/model/repositories.h"

#include "common/definition/answer.h"
#include "common/definition/semver.h"

#include <stdlib.h>
#include <string.h>

/* A commit of one file. */
struct model_commit {
    struct model_commit *next; /* older */
    const char *url, *ref, *file, *text;
    const char *id;
};

struct model_repositories {
    struct arena arena;
    struct model_commit *commits; /* newest first */
    unsigned count;
    const char *fault;
};

struct model_repositories *model_repositories_new(void)
{
    struct model_repositories *m = calloc(1, sizeof(*m));
    if (!m) {
        abort();
    }
    return m;
}

void model_repositories_free(struct model_repositories *m)
{
    if (m) {
        arena_done(&m->arena);
        free(m);
    }
}

void model_repositories_put(struct model_repositories *m, const char *url, const char *ref,
                            const char *file, const char *text)
{
    struct arena *a = &m->arena;
    struct model_commit *c = ARENA_NEW(a, struct model_commit);
    *c = (struct model_commit){.next = m->commits,
                               .url = arena_strdup(a, url),
                               .ref = arena_strdup(a, ref),
                               .file = arena_strdup(a, *file ? file : "lattice.yaml"),
                               .text = arena_strdup(a, text),
                               .id = arena_printf(a, "%040x", ++m->count)};
    m->commits = c;
}

void model_repositories_fail(struct model_repositories *m, const char *fault)
{
    m->fault = fault;
}

static const struct model_commit *find(const struct model_repositories *m, const char *url,
                                       const char *ref, const char *commit, const char *file)
{
    for (const struct model_commit *c = m->commits; c; c = c->next) {
        if (strcmp(c->url, url) == 0 && strcmp(c->file, file) == 0 &&
            (*commit ? strcmp(c->id, commit) == 0 : strcmp(c->ref, ref) == 0)) {
            return c;
        }
    }
    return NULL;
}

static int list_tags(void *context, struct arena *a, const char *url, const char ***ret_tags,
                     size_t *ret_count, struct err *err)
{
    const struct model_repositories *m = context;
    (void)err;
    *ret_tags = ARENA_ARRAY(a, m->count, const char *);
    *ret_count = 0;
    for (const struct model_commit *c = m->commits; c; c = c->next) {
        bool seen = strcmp(c->url, url) != 0;
        for (size_t i = 0; i < *ret_count && !seen; i++) {
            seen = strcmp((*ret_tags)[i], c->ref) == 0;
        }
        if (!seen) {
            (*ret_tags)[(*ret_count)++] = c->ref;
        }
    }
    return 0;
}

/* Files of another commit of the repository are found by the ref of the one that is named. */
static int read_text(void *context, struct arena *a, const struct definition_ask *ask,
                     struct definition_file *ret, struct err *err)
{
    const struct model_repositories *m = context;
    const char *url = *ask->url ? ask->url : ask->from->url;
    const char *commit = *ask->url ? ask->commit : ask->from->commit;
    const char *ref = *ask->tag ? ask->tag : *ask->branch ? ask->branch : "master";
    const char *file = *ask->file ? ask->file : "lattice.yaml";
    if (*ask->version) {
        const char **tags;
        size_t count;
        list_tags(context, a, url, &tags, &count, err);
        ref =
            semver_range_is_valid(ask->version) ? semver_highest(tags, count, ask->version) : NULL;
    }
    const struct model_commit *c = ref ? find(m, url, ref, commit, file) : NULL;
    if (!c) {
        return err_set(err, ERR_NOT_FOUND, "%.80s has no %.40s at %.60s", url, file,
                       *commit ? commit
                       : ref   ? ref
                               : ask->version);
    }
    *ret = (struct definition_file){
        .text = bytes_of(c->text),
        .name = c->file,
        .place = {.url = c->url, .commit = c->id, .version = *ask->version ? c->ref : ""}};
    return 0;
}

static struct resolved answer(void *context, struct node *from,
                              const struct resolve_request *request, struct arena *a)
{
    struct model_repositories *m = context;
    (void)from;
    if (m->fault) {
        return (struct resolved){.fault = m->fault};
    }
    return definition_answer(
        a, request,
        &(struct definition_repositories){
            .read = read_text, .tags = list_tags, .context = m, .system_domain = ""});
}

void model_repositories_serve(struct world *w, struct model_repositories *m)
{
    world_serve_definitions(w, answer, m);
}
