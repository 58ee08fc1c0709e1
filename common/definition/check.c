#include "common/definition/check.h"

#include "common/contract/resolver.h"
#include "common/definition/compile.h"
#include "common/definition/template.h"

#include <assert.h>
#include <string.h>

static void count_kinds(const struct definition_tree *t, struct definition_checked *ret)
{
    for (size_t i = 0; i < t->count; i++) {
        enum definition_kind kind = t->parts[i].kind;
        ret->systems += kind == DEFINITION_SYSTEM;
        ret->services += kind == DEFINITION_SERVICE;
        ret->jobs += kind == DEFINITION_JOB;
        ret->references += kind == DEFINITION_REFERENCE;
    }
    ret->parts = t->parts;
    ret->part_count = t->count;
}

/* Its templates are done: what looks like one was meant so. */
static void join(struct arena *a, struct definition_tree *t, struct definition_checked *ret)
{
    SCOPED_BUF(text);
    definition_json(t->root, true, &text);
    if (text.size > RESOLVE_SOURCE_BYTES_MAX) {
        definition_fault(
            a, &t->faults,
            "the definition with its files is larger than %d KiB: put parts of it into "
            "a git repository",
            RESOLVE_SOURCE_BYTES_MAX >> 10);
        return;
    }
    ret->text = (struct bytes){.data = arena_copy(a, text.data, text.size), .size = text.size};
}

void definition_check(struct arena *a, const struct definition_files *files, const char *file,
                      const char *system, struct definition_checked *ret)
{
    static const struct definition_place here = {"", "", ""};
    struct definition_tree tree;
    struct definition_records records;
    struct definition_ask ask = {.url = "",
                                 .branch = "",
                                 .commit = "",
                                 .tag = "",
                                 .version = "",
                                 .ssh_key = "",
                                 .file = file,
                                 .from = &here};
    *ret = (struct definition_checked){.faults = ""};
    definition_resolve(a, files, &ask, &(struct definition_options){.keep_repositories = true},
                       &tree);
    count_kinds(&tree, ret);
    definition_compile(a, &tree,
                       &(struct definition_target){.system = *system ? system : "system",
                                                   .uid = "00000000-0000-4000-8000-000000000000",
                                                   .tree = "",
                                                   .system_domain = ""},
                       &records);
    if (tree.faults.count == 0 && tree.root) {
        join(a, &tree, ret);
    }
    ret->good = tree.faults.count == 0;
    ret->faults = definition_fault_text(a, &tree.faults);
    ret->list = tree.faults;
    assert(!ret->good == (*ret->faults != 0));
}
