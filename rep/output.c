#include "rep/output.h"

#include <stdlib.h>
#include <string.h>

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* "%2F" and "+" as browsers write them. What is no escape stands for itself. */
static const char *decoded(struct arena *a, const char *text, size_t size)
{
    char *to = arena_alloc(a, size + 1);
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        int high = text[i] == '%' && i + 2 < size ? digit(text[i + 1]) : -1;
        int low = high >= 0 ? digit(text[i + 2]) : -1;
        if (low >= 0 && (high || low)) {
            to[n++] = (char)(high * 16 + low);
            i += 2;
        } else {
            to[n++] = text[i] == '+' ? ' ' : text[i];
        }
    }
    return to;
}

/* The first value of a name in the query; NULL when it is not there. */
static const char *value_of(struct arena *a, const char *query, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = query; *at; at += *at == '&') {
        size_t part = strcspn(at, "&");
        if (part > size && strncmp(at, name, size) == 0 && at[size] == '=') {
            return decoded(a, at + size + 1, part - size - 1);
        }
        at += part;
    }
    return NULL;
}

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
    const char *lines = value_of(out->arena, q->query, "lines");
    const char *follow = value_of(out->arena, q->query, "follow");
    const char *stream = value_of(out->arena, q->query, "stream");
    int r = lines ? number_of("lines", lines, OUTPUT_LINES_MAX, &wanted.lines, err) : 0;
    r = r == 0 && stream ? stream_of(stream, &wanted, err) : r;
    if (r < 0) {
        return r;
    }
    wanted.guid = arena_strdup(out->arena, guid);
    wanted.follow = follow && strcmp(follow, "0") != 0;
    effects_add(out, EFFECT_OUTPUT)->output = wanted;
    return 0;
}

int output_list(const struct request *q, struct effects *out, struct err *err)
{
    const char *process_guid = value_of(out->arena, q->query, "process_guid");
    const char *text = value_of(out->arena, q->query, "index");
    int64_t index = 0;
    if (!process_guid || !text) {
        return err_set(err, ERR_INVALID, "process_guid and index say of what");
    }
    int r = number_of("index", text, INT32_MAX, &index, err);
    if (r == 0) {
        effects_add(out, EFFECT_OUTPUT)->output = (struct output_request){
            .id = q->id, .label = output_label(out->arena, process_guid, (int32_t)index)};
    }
    return r;
}

const char *output_label(struct arena *a, const char *process_guid, int32_t index)
{
    return arena_printf(a, "%s/%d", process_guid, (int)index);
}
