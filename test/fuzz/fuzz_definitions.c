/* Target: definitions of systems, with the files that they refer to. */
#include "common/definition/answer.h"
#include "common/definition/check.h"
#include "common/definition/compile.h"
#include "common/definition/semver.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

enum { FUZZED_FILES = 4, READS_MAX = 64 };

struct fuzzed_files {
    struct bytes texts[FUZZED_FILES];
    unsigned reads; /* a tree of files that all name each other has no end soon */
};

/* The n-th file is called by its number; others are not there. */
static int read_fuzzed(void *context, struct arena *a, const struct definition_ask *ask,
                       struct definition_file *ret, struct err *err)
{
    struct fuzzed_files *f = context;
    size_t n = *ask->file ? (size_t)(ask->file[0] - '0') : 0;
    (void)a;
    if (++f->reads > READS_MAX || n >= FUZZED_FILES || (*ask->file && ask->file[1])) {
        return *ask->ssh_key ? err_set(err, ERR_DENIED, "no key")
                             : err_set(err, ERR_NOT_FOUND, "there is no such file");
    }
    *ret = (struct definition_file){
        .text = f->texts[n], .name = "lattice.yaml", .place = {ask->url, "c0ffee", ""}};
    return 0;
}

static int list_fuzzed(void *context, struct arena *a, const char *url, const char ***ret_tags,
                       size_t *ret_count, struct err *err)
{
    struct fuzzed_files *f = context;
    (void)url, (void)err;
    *ret_tags = ARENA_ARRAY(a, 2, const char *);
    (*ret_tags)[0] = arena_strndup(a, (const char *)f->texts[0].data, f->texts[0].size);
    (*ret_tags)[1] = "1.2.3";
    *ret_count = 2;
    return 0;
}

static void try_whole(struct arena *a, const struct resolved *r)
{
    FUZZ_REQUIRE(r->done ? !*r->fault && !*r->needs : *r->fault || *r->needs);
    if (!r->done) {
        return;
    }
    FUZZ_REQUIRE(r->index->n_entries == r->component_count && r->component_count > 0);
    for (size_t i = 0; i < r->component_count; i++) {
        const Board__ComponentRecord *c = r->components[i];
        FUZZ_REQUIRE(protobuf_c_message_check(&c->base));
        FUZZ_REQUIRE(strcmp(c->path, r->index->entries[i]->path) == 0);
        if (c->run) {
            FUZZ_REQUIRE(strlen(component_lrp(a, c, "shop", "u1")->process_guid) <= 200);
        }
    }
}

static struct resolved ask_fuzzed(struct arena *a, struct fuzzed_files *f, enum resolve_what what,
                                  struct bytes source)
{
    struct definition_repositories table = {
        .read = read_fuzzed, .tags = list_fuzzed, .context = f, .system_domain = "local.test"};
    f->reads = 0;
    return definition_answer(a,
                             &(struct resolve_request){.what = what,
                                                       .system = "shop",
                                                       .uid = "u1",
                                                       .tree = "t1",
                                                       .url = "u",
                                                       .version = "1.2.3",
                                                       .commit = "c0ffee",
                                                       .source = source},
                             &table);
}

void fuzz_definitions(struct bytes in)
{
    SCOPED_ARENA(a);
    struct fuzzed_files f = {.reads = 0};
    enum resolve_what what = (enum resolve_what)(fuzz_byte(&in) % RESOLVE_TAGS);
    for (size_t i = 1; i < FUZZED_FILES; i++) {
        f.texts[i] = fuzz_piece(&in);
    }
    f.texts[0] = in;
    struct resolved r = ask_fuzzed(&a, &f, what, in);
    try_whole(&a, &r);
    struct resolved tags = ask_fuzzed(&a, &f, RESOLVE_TAGS, in);
    FUZZ_REQUIRE(tags.done && tags.version_count >= 1 && semver_is_valid(tags.versions[0]));
    /* What is joined says the same: it is good again, or lacks what a repository has. */
    struct definition_checked checked;
    f.reads = 0;
    definition_check(&a, &(struct definition_files){.read = read_fuzzed, .context = &f}, "0", "",
                     &checked);
    FUZZ_REQUIRE(checked.good == !*checked.faults);
    if (checked.good && checked.references == 0) {
        struct resolved joined = ask_fuzzed(&a, &f, RESOLVE_SOURCE, checked.text);
        try_whole(&a, &joined);
    }
}
