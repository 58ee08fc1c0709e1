#include "rep/http/output.h"

#include "common/base/query.h"
#include "common/base/time_text.h"
#include "rep/container/note.h"

#include <stdlib.h>
#include <string.h>

static int number_of(const char *name, int64_t least, const char *text, int64_t most,
                     int64_t *ret_value, struct err *err)
{
    size_t digits = strspn(text, "0123456789");
    int64_t value = digits > 0 && digits <= 10 && !text[digits] ? strtoll(text, NULL, 10) : -1;
    if (value < least || value > most) {
        return err_set(err, ERR_INVALID, "%s must be a number from %lld to %lld", name,
                       (long long)least, (long long)most);
    }
    *ret_value = value;
    return 0;
}

static int stream_of(const char *text, struct output_request *wanted, struct err *err)
{
    if (strcmp(text, "stdout") == 0) {
        wanted->stream = OUTPUT_STDOUT;
    } else if (strcmp(text, "stderr") == 0) {
        wanted->stream = OUTPUT_STDERR;
    } else {
        return err_set(err, ERR_INVALID, "stream must be stdout or stderr");
    }
    return 0;
}

/* A time in UTC, "2026-01-02T03:04:05Z" or with decimals of the second, or how long ago, "10m",
 * "1h30m". */
static int since_of(const char *text, int64_t now_ns, int64_t *ret_ns, struct err *err)
{
    int64_t ago_ns;
    if (wall_parse(text, ret_ns)) {
        *ret_ns = *ret_ns > 0 ? *ret_ns : 1;
    } else if (duration_parse(text, &ago_ns)) {
        *ret_ns = now_ns > ago_ns ? now_ns - ago_ns : 1;
    } else {
        return err_set(err, ERR_INVALID,
                       "since must be a time (2026-01-02T03:04:05Z) or how long ago (10m)");
    }
    return 0;
}

static bool is_on(const char *value)
{
    return value && strcmp(value, "0") != 0;
}

int output_ask(const struct request *q, const char *guid, int64_t now_ns, struct effects *out,
               struct err *err)
{
    struct arena *a = out->arena;
    struct output_request wanted = {.id = q->id, .lines = -1};
    const char *lines = query_value(a, q->query, "lines");
    const char *tail = query_value(a, q->query, "tail");
    const char *stream = query_value(a, q->query, "stream");
    const char *since = query_value(a, q->query, "since");
    int r = lines ? number_of("lines", 0, lines, OUTPUT_LINES_MAX, &wanted.lines, err) : 0;
    r = r == 0 && tail ? number_of("tail", 1, tail, OUTPUT_LINES_MAX, &wanted.tail, err) : r;
    r = r == 0 && stream ? stream_of(stream, &wanted, err) : r;
    r = r == 0 && since ? since_of(since, now_ns, &wanted.since_ns, err) : r;
    if (r == 0 && lines && tail) {
        r = err_set(err, ERR_INVALID, "lines is of each stream, tail of both: not both of them");
    }
    if (r < 0) {
        return r;
    }
    wanted.guid = note_name_of_task(a, guid); /* an instance's is its own */
    wanted.source = query_value(a, q->query, "source");
    wanted.follow = is_on(query_value(a, q->query, "follow"));
    wanted.times = is_on(query_value(a, q->query, "times"));
    wanted.sources = is_on(query_value(a, q->query, "sources"));
    effects_add(out, EFFECT_OUTPUT)->output = wanted;
    return 0;
}

int output_list(const struct request *q, struct effects *out, struct err *err)
{
    const char *process_guid = query_value(out->arena, q->query, "process_guid");
    const char *begin = query_value(out->arena, q->query, "process_guid_prefix");
    const char *text = query_value(out->arena, q->query, "index");
    int64_t index = 0;
    if (begin && *begin && !process_guid && !text) {
        effects_add(out, EFFECT_OUTPUT)->output =
            (struct output_request){.id = q->id, .label = begin, .label_begins = true};
        return 0;
    }
    if (begin || !process_guid || !text) {
        return err_set(err, ERR_INVALID,
                       "process_guid and index, or process_guid_prefix alone, say of what");
    }
    int r = number_of("index", 0, text, INT32_MAX, &index, err);
    if (r == 0) {
        effects_add(out, EFFECT_OUTPUT)->output = (struct output_request){
            .id = q->id, .label = note_label(out->arena, process_guid, (int32_t)index)};
    }
    return r;
}
