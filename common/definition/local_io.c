#include "common/definition/local_io.h"

#include "common/appfile/app_file_io.h"
#include "common/definition/file_name.h"

#include <string.h>

struct definition_local {
    const char *root;      /* the definition itself */
    const char *directory; /* with a slash behind, or "" */
};

static int read_local(void *context, struct arena *a, const struct definition_ask *ask,
                      struct definition_file *ret, struct err *err)
{
    const struct definition_local *l = context;
    const char *name = l->root;
    if (strcmp(ask->file, l->root) != 0) {
        const char *fault = definition_file_name_fault(a, ask->file);
        if (fault) {
            return err_set(err, ERR_INVALID, "%s", fault);
        }
        name = arena_printf(a, "%s%s", l->directory, ask->file);
    }
    *ret = (struct definition_file){.name = name, .place = {"", "", ""}};
    return app_file_read(a, name, &ret->text, err);
}

struct definition_files definition_local_files(struct arena *a, const char *file)
{
    struct definition_local *l = ARENA_NEW(a, struct definition_local);
    const char *slash = strrchr(file, '/');
    l->root = arena_strdup(a, file);
    l->directory = slash ? arena_strndup(a, file, (size_t)(slash - file) + 1) : "";
    return (struct definition_files){.read = read_local, .context = l};
}
