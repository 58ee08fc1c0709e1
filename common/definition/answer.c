#include "common/definition/answer.h"

#include "common/definition/compile.h"
#include "common/definition/semver.h"
#include "common/model/component_path.h"

#include <assert.h>
#include <string.h>

struct definition_answering {
    const struct resolve_request *request;
    const struct definition_repositories *repositories;
};

static const char *text(const char *s)
{
    return s ? s : "";
}

/* The text that was given, and repositories. */
static int read_either(void *context, struct arena *a, const struct definition_ask *ask,
                       struct definition_file *ret, struct err *err)
{
    const struct definition_answering *x = context;
    const struct resolve_request *q = x->request;
    if (*ask->url || *ask->from->url) {
        return x->repositories->read(x->repositories->context, a, ask, ret, err);
    }
    if (*ask->file) {
        return err_set(err, ERR_INVALID,
                       "file %.80s: this definition was given as a text, beside which no file lies",
                       ask->file);
    }
    *ret = (struct definition_file){.text = q->source, .name = "definition", .place = {"", "", ""}};
    return q->source.size <= RESOLVE_SOURCE_BYTES_MAX
               ? 0
               : err_set(err, ERR_TOO_LARGE, "the definition is larger than %d KiB",
                         RESOLVE_SOURCE_BYTES_MAX >> 10);
}

static struct resolved refused(const struct resolve_request *q, const char *fault,
                               const char *needs)
{
    assert(*fault || *needs);
    return (struct resolved){
        .id = q->id, .fault = fault, .needs = needs, .commit = "", .version = ""};
}

static const char *request_fault(struct arena *a, const struct resolve_request *q)
{
    if (q->what == RESOLVE_VERSION && !semver_is_valid(text(q->version))) {
        return arena_printf(a, "%.80s is no version: a tag like 1.2.3 or v1.2.3",
                            *text(q->version) ? q->version : "\"\"");
    }
    if (q->what == RESOLVE_PATH && !*text(q->commit)) {
        return "the definition was given as a text and not as a version: deploy a file again";
    }
    if (q->what != RESOLVE_TAGS && (!*text(q->system) || !*text(q->uid))) {
        return "it is not said of which system the definition is";
    }
    const char *fault = *text(q->path) ? component_path_fault(a, q->path) : NULL;
    if (fault) {
        return fault;
    }
    return q->what != RESOLVE_SOURCE && !*text(q->url)
               ? "the system has no repository: give its URL, or deploy a file (bbs deploy --file)"
               : NULL;
}

static struct resolved answer_tags(struct arena *a, const struct resolve_request *q,
                                   const struct definition_repositories *repositories)
{
    const char **tags = NULL;
    size_t count = 0, kept = 0;
    struct err err = {.text = ""};
    if (repositories->tags(repositories->context, a, q->url, &tags, &count, &err) < 0) {
        return refused(q, arena_strdup(a, err.text), "");
    }
    const char **versions = ARENA_ARRAY(a, count, const char *);
    for (size_t i = 0; i < count; i++) {
        if (semver_is_valid(tags[i])) {
            versions[kept++] = tags[i];
        }
    }
    semver_sort(versions, kept);
    size_t over = kept > RESOLVE_VERSIONS_MAX ? kept - RESOLVE_VERSIONS_MAX : 0;
    return (struct resolved){.id = q->id,
                             .done = true,
                             .fault = "",
                             .needs = "",
                             .commit = "",
                             .version = "",
                             .versions = versions + over,
                             .version_count = kept - over};
}

struct resolved definition_answer(struct arena *a, const struct resolve_request *q,
                                  const struct definition_repositories *repositories)
{
    static const struct definition_place nowhere = {"", "", ""};
    const char *fault = request_fault(a, q);
    if (fault) {
        return refused(q, fault, "");
    }
    if (q->what == RESOLVE_TAGS) {
        return answer_tags(a, q, repositories);
    }
    struct definition_answering x = {.request = q, .repositories = repositories};
    struct definition_files files = {.read = read_either, .context = &x};
    struct definition_ask ask = {.url = q->what == RESOLVE_SOURCE ? "" : q->url,
                                 .branch = "",
                                 .commit = q->what == RESOLVE_PATH ? q->commit : "",
                                 .tag = q->what == RESOLVE_VERSION ? q->version : "",
                                 .version = "",
                                 .ssh_key = "",
                                 .file = "",
                                 .from = &nowhere};
    struct definition_tree tree;
    struct definition_records records;
    definition_resolve(a, &files, &ask, &(struct definition_options){.path = q->path}, &tree);
    if (*tree.needs) {
        return refused(q, "", tree.needs);
    }
    tree.place.version = q->what == RESOLVE_SOURCE ? "" : text(q->version);
    definition_compile(a, &tree,
                       &(struct definition_target){.system = text(q->system),
                                                   .uid = text(q->uid),
                                                   .tree = text(q->tree),
                                                   .system_domain = repositories->system_domain,
                                                   .path = q->path},
                       &records);
    if (tree.faults.count > 0) {
        return refused(q, definition_fault_text(a, &tree.faults), "");
    }
    return (struct resolved){.id = q->id,
                             .done = true,
                             .fault = "",
                             .needs = "",
                             .commit = tree.place.commit,
                             .version = tree.place.version,
                             .components = records.components,
                             .component_count = records.count,
                             .index = records.index};
}
