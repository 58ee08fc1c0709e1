#include "rep/driver/process_limits.h"

#include <assert.h>
#include <string.h>

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* JSON's numbers have a sign; more than it leaves is as good as no limit. */
static void append_limit(json_t *list, const char *type, uint64_t most)
{
    json_int_t n = (json_int_t)least(most, INT64_MAX);
    assert(n >= 0);
    json_array_append_new(list, json_pack("{s:s, s:I, s:I}", "type", type, "hard", n, "soft", n));
}

json_t *process_limits(const struct container_spec *spec, const struct oci_facts *facts,
                       bool with_init)
{
    json_t *list = json_array();
    append_limit(list, LIMIT_NOFILE,
                 least(spec->nofile ? spec->nofile : NOFILE_DEFAULT, facts->nofile_hard));
    if (spec->nproc > 0) {
        uint64_t wanted = least(spec->nproc, INT64_MAX) + with_init;
        append_limit(list, LIMIT_NPROC, least(wanted, facts->nproc_hard));
    }
    return list;
}

long long process_limit_of(const json_t *process, const char *type)
{
    size_t i;
    json_t *limit;
    json_array_foreach(json_object_get(process, "rlimits"), i, limit) {
        const char *own = json_string_value(json_object_get(limit, "type"));
        if (own && strcmp(own, type) == 0) {
            return json_integer_value(json_object_get(limit, "hard"));
        }
    }
    return 0;
}

static bool cut(uint64_t wanted, uint64_t hard, const char *what, struct buf *why)
{
    if (wanted <= hard) {
        return false;
    }
    buf_printf(why,
               "a container wants %llu %s, but the hard limit here is %llu: no process gets more",
               (unsigned long long)wanted, what, (unsigned long long)hard);
    return true;
}

bool process_limits_cut(const struct container_spec *spec, const struct oci_facts *facts,
                        struct buf *why)
{
    uint64_t files = spec->nofile, processes = spec->nproc;
    for (size_t i = 0; i < spec->step_count; i++) {
        files = spec->steps[i].nofile > files ? spec->steps[i].nofile : files;
        processes = spec->steps[i].nproc > processes ? spec->steps[i].nproc : processes;
    }
    return cut(files, facts->nofile_hard, "open files (nofile)", why) ||
           cut(processes, facts->nproc_hard, "processes (nproc)", why);
}
