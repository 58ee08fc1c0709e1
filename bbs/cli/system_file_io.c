/* Definitions in files: bbs systems check, and what --file sends. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/systems_io.h"
#include "common/cli/cli_io.h"
#include "common/cli/printable.h"
#include "common/codec/json.h"
#include "common/definition/check.h"
#include "common/definition/local_io.h"

#include <stdio.h>
#include <string.h>

/* Whatever it names is read; nobody is asked. */
static void check(struct arena *a, const char *file, const char *system,
                  struct definition_checked *ret)
{
    struct definition_files files = definition_local_files(a, file);
    definition_check(a, &files, file, system, ret);
}

/* All mistakes at once: there may be more than an error's text has room for. */
static int tell_faults(struct arena *a, const struct definition_checked *c)
{
    size_t shown =
        c->list.count < DEFINITION_FAULTS_MAX ? c->list.count : (size_t)DEFINITION_FAULTS_MAX;
    for (size_t i = 0; i < shown; i++) {
        fprintf(stderr, "bbs: %s\n", text_printable(a, c->list.list[i]));
    }
    if (c->list.count > shown) {
        fprintf(stderr, "bbs: and %zu more\n", c->list.count - shown);
    }
    return CLI_USAGE;
}

int system_file_read(struct arena *a, const char *file, const char *system, struct bytes *ret,
                     struct err *err)
{
    struct definition_checked c;
    (void)err;
    check(a, file, system, &c);
    if (!c.good) {
        return tell_faults(a, &c);
    }
    *ret = c.text;
    return 0;
}

static const char *plural(struct arena *a, size_t n, const char *noun)
{
    return arena_printf(a, "%zu %s%s", n, noun, n == 1 ? "" : "s");
}

static const char *summary(struct arena *a, const char *file, const struct definition_checked *c)
{
    const char *more = c->references == 0
                           ? ""
                           : arena_printf(a, "; %s to git repositories, which a build reads",
                                          plural(a, c->references, "reference"));
    return arena_printf(a, "%s is good: %s, %s, %s%s\n", file, plural(a, c->systems, "system"),
                        plural(a, c->services, "service"), plural(a, c->jobs, "job"), more);
}

static void json_summary(const char *file, const struct definition_checked *c, struct buf *out)
{
    buf_append_string(out, "{\"file\":");
    json_string_text(bytes_of(file), out);
    buf_printf(out, ",\"good\":%s,\"faults\":", c->good ? "true" : "false");
    json_string_text(bytes_of(c->faults), out);
    buf_printf(out, ",\"systems\":%zu,\"services\":%zu,\"jobs\":%zu}\n", c->systems, c->services,
               c->jobs);
}

int bbs_system_check_run(const struct invocation *call, struct err *err)
{
    const char *file = call->arguments[0], *output = "table";
    struct definition_checked c;
    SCOPED_BUF(out);
    int r = cli_choice(call, "output", &output, err);
    if (r < 0) {
        return r;
    }
    check(call->arena, file, "", &c);
    if (strcmp(output, "json") == 0) {
        json_summary(file, &c, &out);
        r = cli_print(buf_bytes(&out), err);
        return r < 0 ? r : c.good ? CLI_DONE : CLI_USAGE;
    }
    return c.good ? cli_print(bytes_of(summary(call->arena, file, &c)), err)
                  : tell_faults(call->arena, &c);
}
