#include "rep/http/output.h"

#include "common/base/query.h"
#include "rep/container/note.h"

#include <stdlib.h>
#include <string.h>

static int number_of(const char *name, const char *text, int64_t most, int64_t *ret_value,
                     struct err *err)
{
    size_t digits = strspn(text, "0123456789");
    int64_t value = digits > 0 && digits <= 10 && !text[digits] ? strtoll(text, NULL, 10) : -1;
    if (value < 0 || value > most) {
        return err_set(err, ERR_INVALID, "%s must be a number from 0 to %lld", name,
                       (long long)most);
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

int output_ask(const struct request *q, const char *guid, struct effects *out, struct err *err)
{
    struct output_request wanted = {.id = q->id, .lines = -1};
    const char *lines = query_value(out->arena, q->query, "lines");
    const char *follow = query_value(out->arena, q->query, "follow");
    const char *stream = query_value(out->arena, q->query, "stream");
    int r = lines ? number_of("lines", lines, OUTPUT_LINES_MAX, &wanted.lines, err) : 0;
    r = r == 0 && stream ? stream_of(stream, &wanted, err) : r;
    if (r < 0) {
        return r;
    }
    wanted.guid = note_name_of_task(out->arena, guid); /* an instance's is its own */
    wanted.follow = follow && strcmp(follow, "0") != 0;
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
    int r = number_of("index", text, INT32_MAX, &index, err);
    if (r == 0) {
        effects_add(out, EFFECT_OUTPUT)->output = (struct output_request){
            .id = q->id, .label = note_label(out->arena, process_guid, (int32_t)index)};
    }
    return r;
}
