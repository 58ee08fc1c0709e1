#include "rep/driver/log_line.h"

#include "rep/driver/output_parts.h"

#include <string.h>

/* ---- One line -------------------------------------------------------------------------------- */

static bool is_time(const uint8_t *text)
{
    static const char form[] = "0000-00-00T00:00:00.000000000Z";
    for (int i = 0; i < LOG_TIME_SIZE; i++) {
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != (uint8_t)form[i]) {
            return false;
        }
    }
    return true;
}

bool log_line_parse(struct bytes line, struct log_line_parts *ret)
{
    const uint8_t *head = line.data;
    if (line.size < LOG_FLAG_AT + 3 || !is_time(head)) {
        return false;
    }
    bool out = memcmp(head + LOG_TIME_SIZE, " stdout ", 8) == 0;
    bool err = memcmp(head + LOG_TIME_SIZE, " stderr ", 8) == 0;
    uint8_t flag = head[LOG_FLAG_AT];
    if ((!out && !err) || (flag != 'F' && flag != 'P') || head[LOG_FLAG_AT + 1] != ' ') {
        return false;
    }
    const uint8_t *source = head + LOG_FLAG_AT + 2, *end = head + line.size;
    const uint8_t *space = memchr(source, ' ', (size_t)(end - source));
    if (!space || space == source || space - source > LOG_SOURCE_SIZE) {
        return false;
    }
    *ret = (struct log_line_parts){
        .time = (const char *)head,
        .to_stderr = err,
        .whole = flag == 'F',
        .source = {source, (size_t)(space - source)},
        .text = {space + 1, (size_t)(end - space) - 1},
    };
    return true;
}

static bool of_stream(const struct output_choice *choice, bool to_stderr)
{
    return choice->stream == OUTPUT_BOTH ||
           choice->stream == (to_stderr ? OUTPUT_STDERR : OUTPUT_STDOUT);
}

bool output_chosen(const struct output_choice *choice, const struct log_line_parts *line)
{
    return of_stream(choice, line->to_stderr) &&
           (!choice->source[0] || bytes_equal(line->source, bytes_of(choice->source))) &&
           (!choice->since[0] || memcmp(line->time, choice->since, LOG_TIME_SIZE) >= 0);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void add_head(const struct output_text *t, struct bytes time, struct bytes source,
                     struct buf *out)
{
    if (t->choice.times) {
        buf_append(out, time.data, time.size);
        buf_append_string(out, " ");
    }
    if (t->choice.sources) {
        buf_append(out, source.data, source.size);
        buf_append_string(out, " ");
    }
}

/* Its line, if parts of it were read; else a free place, or NULL. */
static struct unfinished_line *unfinished_of(struct output_text *t,
                                             const struct log_line_parts *line)
{
    struct unfinished_line *place = NULL;
    for (size_t i = 0; i < OUTPUT_UNFINISHED; i++) {
        struct unfinished_line *u = &t->unfinished[i];
        if (u->used && u->to_stderr == line->to_stderr &&
            bytes_equal(line->source, bytes_of(u->source))) {
            return u;
        }
        place = u->used ? place : u;
    }
    return place;
}

static void end_line(struct unfinished_line *u)
{
    buf_done(&u->text);
    *u = (struct unfinished_line){0};
}

static void add_part(struct output_text *t, struct unfinished_line *u,
                     const struct log_line_parts *line, struct buf *out)
{
    if (!u->used) {
        u->used = true;
        u->to_stderr = line->to_stderr;
        memcpy(u->source, line->source.data, line->source.size);
        buf_init(&u->text);
        add_head(t, (struct bytes){(const uint8_t *)line->time, LOG_TIME_SIZE}, line->source,
                 &u->text);
    }
    buf_append(&u->text, line->text.data, line->text.size);
    if (u->text.size >= OUTPUT_LINE_BYTES) {
        buf_append(out, u->text.data, u->text.size);
        buf_clear(&u->text);
        u->shown = true;
    }
}

static void add_line(struct output_text *t, const struct log_line_parts *line, struct buf *out)
{
    struct unfinished_line *u = unfinished_of(t, line);
    if (!line->whole && u) {
        add_part(t, u, line, out);
        return;
    }
    if (u && u->used) {
        buf_append(out, u->text.data, u->text.size);
        end_line(u);
    } else {
        add_head(t, (struct bytes){(const uint8_t *)line->time, LOG_TIME_SIZE}, line->source, out);
    }
    buf_append(out, line->text.data, line->text.size);
    buf_append_string(out, "\n");
}

void output_text_take(struct output_text *t, struct bytes line, struct buf *out)
{
    struct log_line_parts parts;
    bool ends = line.size > 0 && line.data[line.size - 1] == '\n';
    if (!log_line_parse((struct bytes){line.data, line.size - ends}, &parts)) {
        add_head(t, bytes_of("-"), bytes_of("-"), out);
        buf_append(out, line.data, line.size);
        if (!ends) {
            buf_append_string(out, "\n");
        }
    } else if (!output_chosen(&t->choice, &parts)) {
        return;
    } else if (t->skip[parts.to_stderr] > 0) {
        t->skip[parts.to_stderr] -= parts.whole;
    } else {
        add_line(t, &parts, out);
    }
}

void output_text_plain(struct output_text *t, bool to_stderr, struct bytes bytes, struct buf *out)
{
    if (!of_stream(&t->choice, to_stderr) || t->choice.source[0]) {
        return;
    }
    for (size_t at = 0; at < bytes.size;) {
        const uint8_t *end = memchr(bytes.data + at, '\n', bytes.size - at);
        size_t size = end ? (size_t)(end - (bytes.data + at)) + 1 : bytes.size - at;
        if (!t->within[to_stderr]) {
            add_head(t, bytes_of("-"), bytes_of("-"), out);
        }
        buf_append(out, bytes.data + at, size);
        t->within[to_stderr] = !end;
        at += size;
    }
}

void output_text_end(struct output_text *t, struct buf *out)
{
    for (size_t i = 0; i < OUTPUT_UNFINISHED; i++) {
        struct unfinished_line *u = &t->unfinished[i];
        if (u->used) {
            buf_append(out, u->text.data, u->text.size);
            buf_append_string(out, "\n");
            end_line(u);
        }
    }
}

void output_text_done(struct output_text *t)
{
    for (size_t i = 0; i < OUTPUT_UNFINISHED; i++) {
        if (t->unfinished[i].used) {
            end_line(&t->unfinished[i]);
        }
    }
}
