#include "test/api/diego_rows.h"

#include "common/base/bytes.h"
#include "common/base/map.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 9, EXPANSIONS_MAX = 10000 };

struct reader {
    struct arena *arena;
    const char *path;
    int line;
    struct map lets;
    const char *title;
    struct sequence *first, *last;
    struct row **row_end;
    struct row *row; /* the last one */
    struct row_event **event_end;
};

static void __attribute__((noreturn, format(printf, 2, 3)))
bad(const struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: ", r->path, r->line);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

/* ---- @NAME(x, y) ----------------------------------------------------------------------------- */

static const char *trimmed(struct arena *a, const char *from, const char *to)
{
    while (from < to && *from == ' ') {
        from++;
    }
    while (from < to && to[-1] == ' ') {
        to--;
    }
    return arena_strndup(a, from, (size_t)(to - from));
}

/* The arguments after an opening parenthesis; `*at` goes behind the closing one. Commas and
 * parentheses in nested parentheses, braces or quotes belong to an argument. */
static unsigned read_arguments(struct reader *r, const char **at, const char *list[])
{
    unsigned count = 0, depth = 0;
    bool quoted = false;
    const char *from = *at;
    for (;; (*at)++) {
        char c = **at;
        if (!c || count == ARGUMENTS_MAX) {
            bad(r, "the arguments do not end");
        }
        quoted ^= c == '"';
        if (quoted) {
            continue;
        }
        if (depth == 0 && (c == ',' || c == ')')) {
            list[count++] = trimmed(r->arena, from, *at);
            from = *at + 1;
            if (c == ')') {
                (*at)++;
                return count;
            }
        }
        depth += c == '(' || c == '{';
        depth -= depth > 0 && (c == ')' || c == '}');
    }
}

/* The built-in @REPEAT(text, times). */
static void append_repeated(struct reader *r, const char *list[], unsigned count, struct buf *out)
{
    if (count != 2) {
        bad(r, "@REPEAT takes a text and a number");
    }
    for (int i = atoi(list[1]); i > 0; i--) {
        buf_append_string(out, list[0]);
    }
}

static void append_filled(struct reader *r, const char *body, const char *list[], unsigned count,
                          struct buf *out)
{
    for (; *body; body++) {
        if (body[0] == '%' && body[1] >= '1' && body[1] <= '9') {
            unsigned n = (unsigned)(body[1] - '1');
            if (n >= count) {
                bad(r, "an argument is missing: %%%u", n + 1);
            }
            buf_append_string(out, list[n]);
            body++;
        } else {
            buf_append(out, body, 1);
        }
    }
}

static const char *expanded(struct reader *r, const char *text)
{
    for (unsigned rounds = 0; strchr(text, '@'); rounds++) {
        if (rounds > EXPANSIONS_MAX) {
            bad(r, "a name stands for itself");
        }
        const char *at = strchr(text, '@'), *end = at + 1;
        while (*end == '_' || (*end >= 'A' && *end <= 'Z') || (*end >= '0' && *end <= '9')) {
            end++;
        }
        const char *name = arena_strndup(r->arena, at + 1, (size_t)(end - at - 1));
        bool repeat = strcmp(name, "REPEAT") == 0;
        const char *body = map_get(&r->lets, name);
        const char *list[ARGUMENTS_MAX];
        unsigned count = 0;
        if (!body && !repeat) {
            bad(r, "unknown name: @%s", name);
        }
        if (*end == '(') {
            end++;
            count = read_arguments(r, &end, list);
        }
        SCOPED_BUF(out);
        buf_append(&out, text, (size_t)(at - text));
        if (repeat) {
            append_repeated(r, list, count, &out);
        } else {
            append_filled(r, body, list, count, &out);
        }
        buf_append_string(&out, end);
        text = arena_strdup(r->arena, buf_string(&out));
    }
    return text;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The next word of the line; `*at` goes behind it and the space after it. */
static const char *word(struct reader *r, const char **at)
{
    size_t size = strcspn(*at, " ");
    const char *w = arena_strndup(r->arena, *at, size);
    *at += size;
    *at += strspn(*at, " ");
    return w;
}

/* "NAME text" or "NAME(what, they, are) text": the words are for readers, the text counts them. */
static void begin_let(struct reader *r, const char *at)
{
    size_t size = strcspn(at, " (");
    const char *name = arena_strndup(r->arena, at, size);
    at += size;
    if (*at == '(') {
        at += strcspn(at, ")");
        at += *at == ')';
    }
    map_put(&r->lets, name, (void *)(uintptr_t)(at + strspn(at, " ")));
}

static void begin_sequence(struct reader *r, const char *at)
{
    struct sequence *s = ARENA_NEW(r->arena, struct sequence);
    const char *file = strrchr(r->path, '/') ? strrchr(r->path, '/') + 1 : r->path;
    s->file = r->path;
    s->name = arena_printf(r->arena, "%.*s_%s", (int)strcspn(file, "."), file, word(r, &at));
    *(r->last ? &r->last->next : &r->first) = s;
    r->last = s;
    r->row_end = &s->rows;
    r->row = NULL;
    r->title = "";
}

static struct row *begin_row(struct reader *r, enum row_kind kind)
{
    if (!r->last) {
        bad(r, "a row before the first sequence");
    }
    struct row *row = ARENA_NEW(r->arena, struct row);
    *row = (struct row){
        .kind = kind,
        .title = r->title,
        .line = r->line,
        .method = "POST",
        .path = "",
        .who = "",
        .trace_id = "",
        .request = "",
        .stream = "",
        .answer = "",
    };
    *r->row_end = row;
    r->row_end = &row->next;
    r->row = row;
    r->event_end = &row->events;
    r->last->row_count++;
    return row;
}

static void begin_stream(struct reader *r, const char *at)
{
    struct row *row = begin_row(r, ROW_STREAM);
    row->stream = word(r, &at);
    row->method = word(r, &at);
    row->path = word(r, &at);
    row->request = at;
}

static void begin_request(struct reader *r, const char *line)
{
    struct row *row = begin_row(r, ROW_REQUEST);
    const char *how = word(r, &line);
    row->path = word(r, &line);
    if (strcmp(how, ">wait") == 0) {
        row->wait = true;
    } else if (strcmp(how, ">hex") == 0) {
        row->hex = true;
    } else if (how[1]) {
        row->method = how + 1;
    }
    if (strncmp(line, "as ", 3) == 0) {
        word(r, &line);
        row->who = word(r, &line);
    }
    if (strncmp(line, "trace ", 6) == 0) {
        word(r, &line);
        row->trace_id = word(r, &line);
    }
    row->request = line;
}

static void begin_answer(struct reader *r, const char *line)
{
    if (!r->row || r->row->kind != ROW_REQUEST) {
        bad(r, "an answer without a request");
    }
    struct row *row = r->row;
    const char *how = word(r, &line);
    row->answer = line;
    if (strcmp(how, "<error") == 0) {
        const char *type = word(r, &line);
        row->answer = arena_printf(r->arena, "error { type: %s message: \"%s\" }", type, line);
    } else if (strcmp(how, "<hex") == 0) {
        row->answer_kind = ANSWER_HEX;
    } else if (strcmp(how, "<http") == 0) {
        row->answer_kind = ANSWER_HTTP;
        row->status = atoi(word(r, &line));
        row->answer = line;
    } else if (how[1]) {
        bad(r, "unknown kind of answer: %s", how);
    }
}

static void begin_event(struct reader *r, const char *at)
{
    if (!r->row) {
        bad(r, "an event without a request");
    }
    struct row_event *e = ARENA_NEW(r->arena, struct row_event);
    e->stream = word(r, &at);
    e->name = word(r, &at);
    e->text = at;
    e->line = r->line;
    *r->event_end = e;
    r->event_end = &e->next;
}

static void take_line(struct reader *r, const char *line)
{
    static const struct {
        const char *mark;
        void (*begin)(struct reader *r, const char *rest);
        bool whole; /* the mark belongs to what is read */
    } kinds[] = {
        {"let ", begin_let, false}, {"== ", begin_sequence, false}, {"+ ", begin_stream, false},
        {">", begin_request, true}, {"<", begin_answer, true},      {"! ", begin_event, false},
    };
    if (strncmp(line, "- ", 2) == 0) {
        r->title = arena_strdup(r->arena, line + 2);
        return;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strncmp(line, kinds[i].mark, strlen(kinds[i].mark)) == 0) {
            const char *rest = line + (kinds[i].whole ? 0 : strlen(kinds[i].mark));
            const char *text = strncmp(line, "let ", 4) == 0 ? rest : expanded(r, rest);
            kinds[i].begin(r, arena_strdup(r->arena, text));
            return;
        }
    }
    bad(r, "what is this line?");
}

/* Lines that begin with a space are joined to the one before, so that a name's arguments may stand
 * on several. */
struct sequence *rows_read(struct arena *a, const char *path)
{
    struct reader r = {.arena = a, .path = path};
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    SCOPED_BUF(joined);
    if (!f) {
        bad(&r, "cannot be opened");
    }
    map_init(&r.lets);
    int number = 0;
    for (bool more = true; more;) {
        more = getline(&line, &capacity, f) >= 0;
        number++;
        size_t size = more ? strcspn(line, "\n") : 0;
        if (more && line[0] == ' ' && joined.size) {
            buf_append_string(&joined, " ");
            buf_append(&joined, line + strspn(line, " "), size - strspn(line, " "));
            continue;
        }
        if (joined.size) {
            take_line(&r, buf_string(&joined));
        }
        buf_clear(&joined);
        r.line = number;
        if (more && size && line[0] != '#') {
            buf_append(&joined, line, size);
        }
    }
    free(line);
    fclose(f);
    map_done(&r.lets, NULL);
    return r.first;
}
