#include "bbs/cli/logs.h"

#include "bbs/cli/name.h"
#include "common/base/time_text.h"
#include "common/cli/table.h"
#include "common/codec/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lines ---- */

void log_text_init(struct log_text *t, const struct log_source *source)
{
    *t = (struct log_text){.source = source};
    buf_init(&t->line);
}

void log_text_done(struct log_text *t)
{
    buf_done(&t->line);
}

static void add_content(struct log_text *t, struct bytes text, struct buf *out)
{
    if (t->terminal) {
        printable_take(&t->printable, text, out);
    } else {
        buf_append(out, text.data, text.size);
    }
}

static void add_json(struct log_text *t, struct bytes time, struct bytes line, struct buf *out)
{
    const struct log_source *s = t->source;
    SCOPED_BUF(text);
    buf_append_string(&text, "{\"instance\":");
    json_string_text(bytes_of(s->label), &text);
    if (s->index >= 0) {
        buf_append_string(&text, ",\"process_guid\":");
        json_string_text(bytes_of(s->process_guid), &text);
        buf_printf(&text, ",\"index\":%d", (int)s->index);
    }
    buf_append_string(&text, ",\"instance_guid\":");
    json_string_text(bytes_of(s->instance_guid), &text);
    buf_append_string(&text, ",\"cell_id\":");
    json_string_text(bytes_of(s->cell_id), &text);
    if (s->removed_ns) {
        buf_printf(&text, ",\"removed_at\":%lld", (long long)s->removed_ns);
    }
    if (time.size > 1) {
        buf_append_string(&text, ",\"time\":");
        json_string_text(time, &text);
    }
    if (s->stream) {
        buf_append_string(&text, ",\"stream\":");
        json_string_text(bytes_of(s->stream), &text);
    }
    buf_append_string(&text, ",\"line\":");
    json_string_text(line, &text);
    buf_append_string(&text, "}\n");
    add_content(t, buf_bytes(&text), out);
}

/* The word that its rep has put before it, which goes with its space; nothing where an older rep
 * put none. */
static struct bytes take_time(struct bytes *line)
{
    const uint8_t *space = memchr(line->data, ' ', line->size);
    struct bytes word = {line->data, space ? (size_t)(space - line->data) : 0};
    int64_t ns;
    char text[LOG_TIME_MAX + 1] = "";
    if (word.size == 0 || word.size > LOG_TIME_MAX) {
        return (struct bytes){0};
    }
    memcpy(text, word.data, word.size);
    if (strcmp(text, "-") != 0 && !wall_parse(text, &ns)) {
        return (struct bytes){0};
    }
    line->data += word.size + 1;
    line->size -= word.size + 1;
    return word;
}

/* A line, with its end or without it when it is cut here. */
static void add_line(struct log_text *t, struct bytes line, struct buf *out)
{
    bool whole = line.size > 0 && line.data[line.size - 1] == '\n';
    struct bytes time = t->times && !t->continued ? take_time(&line) : (struct bytes){0};
    if (t->json) {
        line.size -= whole;
        add_json(t, time, line, out);
    } else {
        if (time.size > 0) {
            buf_append(out, time.data, time.size);
            buf_append_string(out, " ");
        }
        if (t->labelled && !t->continued) {
            buf_printf(out, "%s ", t->source->label);
        }
        add_content(t, line, out);
    }
    t->continued = !whole;
}

void log_text_take(struct log_text *t, struct bytes bytes, struct buf *out)
{
    if (!t->json && !t->times && !t->labelled && t->line.size == 0) {
        add_content(t, bytes, out);
        t->continued = bytes.size > 0 ? bytes.data[bytes.size - 1] != '\n' : t->continued;
        return;
    }
    buf_append(&t->line, bytes.data, bytes.size);
    size_t at = 0;
    const uint8_t *end;
    while (at < t->line.size && (end = memchr(t->line.data + at, '\n', t->line.size - at))) {
        size_t size = (size_t)(end - (t->line.data + at)) + 1;
        add_line(t, (struct bytes){t->line.data + at, size}, out);
        at += size;
    }
    buf_consume(&t->line, at);
    if (t->line.size >= LOG_LINE_MAX) {
        add_line(t, buf_bytes(&t->line), out);
        buf_clear(&t->line);
    }
}

void log_text_end(struct log_text *t, struct buf *out)
{
    if (t->line.size > 0) {
        add_line(t, buf_bytes(&t->line), out);
        buf_clear(&t->line);
    }
    if (t->terminal) {
        printable_end(&t->printable, out);
    }
    if (t->continued && !t->json && (t->labelled || t->times)) {
        buf_append_string(out, "\n"); /* or another's line would go on here */
    }
    t->continued = false;
}

/* ---- Those that ended ---- */

static const char *text_of(const json_t *one, const char *key)
{
    const char *text = json_string_value(json_object_get(one, key));
    return text ? text : "";
}

int logs_kept(struct arena *a, struct bytes list, const char *name, int32_t index,
              const struct log_source *cell, struct log_source **ret_sources, size_t *ret_count,
              struct err *err)
{
    json_t *all = json_loadb((const char *)list.data, list.size, 0, NULL);
    if (!json_is_array(all)) {
        json_decref(all);
        return err_set(err, ERR_INVALID, "%.60s lists nothing that can be read", cell->cell_id);
    }
    struct log_source *sources = ARENA_ARRAY(a, json_array_size(all), struct log_source);
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *one = json_array_get(all, i);
        const char *guid = text_of(one, "process_guid");
        int32_t at = (int32_t)json_integer_value(json_object_get(one, "index"));
        const char *called = name_of_guid(a, name, guid);
        if (!called || (index >= 0 && at != index)) {
            continue;
        }
        struct log_source *s = &sources[count++];
        *s = *cell;
        s->process_guid = arena_strdup(a, guid);
        s->instance_guid = arena_strdup(a, text_of(one, "instance_guid"));
        s->index = at;
        s->label = arena_printf(a, "%s/%d", called, (int)at);
        s->removed_ns = json_integer_value(json_object_get(one, "removed_at"));
    }
    json_decref(all);
    *ret_sources = sources;
    *ret_count = count;
    return 0;
}

static int newest_first(const void *left, const void *right)
{
    const struct log_source *a = left, *b = right;
    if (a->removed_ns != b->removed_ns) {
        return a->removed_ns > b->removed_ns ? -1 : 1;
    }
    if (a->index != b->index) {
        return a->index < b->index ? -1 : 1;
    }
    int guids = strcmp(a->process_guid, b->process_guid);
    return guids ? guids : strcmp(a->instance_guid, b->instance_guid);
}

static bool is_same(const struct log_source *a, const struct log_source *b)
{
    return a->index == b->index && strcmp(a->process_guid, b->process_guid) == 0;
}

/* Whether both are of one app or service, whatever their index. */
static bool is_namesake(const struct log_source *a, const struct log_source *b)
{
    size_t size = (size_t)(strrchr(a->label, '/') - a->label) + 1;
    return strncmp(a->label, b->label, size) == 0 && !strchr(b->label + size, '/');
}

int logs_no_process(const char *name, const char *said, struct err *err)
{
    size_t size = strlen(said);
    bool asks = size > 0 && said[size - 1] == '?';
    return err_set(err, ERR_NOT_FOUND, "%.150s%s was removed: bbs logs %.40s --previous", said,
                   asks ? " If it" : "; if it", name);
}

size_t logs_newest(struct arena *a, struct log_source *sources, size_t count)
{
    size_t kept = 0;
    bool several = false;
    if (count > 0) {
        qsort(sources, count, sizeof(*sources), newest_first);
    }
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < kept && !is_same(&sources[k], &sources[i])) {
            k++;
        }
        if (k == kept) {
            sources[kept++] = sources[i];
        }
    }
    for (size_t i = 0; i < kept; i++) {
        for (size_t k = 0; !several && k < i; k++) {
            several = is_namesake(&sources[k], &sources[i]) &&
                      strcmp(sources[k].process_guid, sources[i].process_guid) != 0;
        }
    }
    for (size_t i = 0; several && i < kept; i++) {
        sources[i].label = arena_printf(a, "%s/%d", sources[i].process_guid, (int)sources[i].index);
    }
    return kept;
}

const char *logs_ended_text(struct arena *a, const struct log_source *s, int64_t now_ns)
{
    char time[WALL_TEXT_BYTES];
    return arena_printf(a, "%s of %s on %s, removed %s, %s ago (%s)", s->label, s->process_guid,
                        s->cell_id, wall_text(s->removed_ns, time),
                        age_text(a, now_ns - s->removed_ns), s->instance_guid);
}
