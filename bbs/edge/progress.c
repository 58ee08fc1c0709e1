#include "bbs/edge/progress.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* The lines at the front that are never left out; the next one tells what was. */
enum { FRONT = PROGRESS_LINES_MAX / 2 - 1 };

Board__ProgressRecord *progress_of(struct arena *a, const Board__ProgressRecord *before,
                                   const char *kind, const char *name, const char *uid,
                                   uint64_t request, const char *word)
{
    Board__ProgressRecord *p = arena_message(a, &board__progress_record__descriptor);
    assert(uid[0] && request && (!before || before->n_lines <= PROGRESS_LINES_MAX));
    bool same = before && strcmp(before->uid, uid) == 0 && before->request == request;
    p->kind = arena_strdup(a, kind);
    p->name = arena_strdup(a, name);
    p->uid = arena_strdup(a, uid);
    p->request = request;
    p->word = arena_strdup(a, word);
    p->next = before ? before->next : 1;
    p->n_lines = before ? before->n_lines : 0;
    p->lines = ARENA_ARRAY(a, PROGRESS_LINES_MAX, Board__ProgressLine *);
    for (size_t i = 0; i < p->n_lines; i++) {
        p->lines[i] = before->lines[i];
    }
    if (same) {
        p->end = before->end;
        p->ended_at = before->ended_at;
        p->error = before->error;
    }
    return p;
}

static Board__ProgressLine *line_of(struct arena *a, uint32_t number, int64_t at, const char *text)
{
    Board__ProgressLine *line = arena_message(a, &board__progress_line__descriptor);
    size_t size = strlen(text);
    if (size > PROGRESS_LINE_BYTES_MAX) {
        size = PROGRESS_LINE_BYTES_MAX;
        while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) {
            size--;
        }
    }
    line->number = number;
    line->at = at;
    line->text = arena_strndup(a, text, size);
    return line;
}

/* Makes room for one: the line that tells what is left out comes, or tells of one more. */
static void leave_one_out(struct arena *a, Board__ProgressRecord *p)
{
    assert(p->n_lines == PROGRESS_LINES_MAX);
    const Board__ProgressLine *out = p->lines[FRONT + 1];
    uint32_t first = p->lines[FRONT - 1]->number + 1;
    p->lines[FRONT] = line_of(a, out->number, out->at,
                              arena_printf(a, "(lines %u to %u are left out)", first, out->number));
    for (size_t i = FRONT + 1; i + 1 < p->n_lines; i++) {
        p->lines[i] = p->lines[i + 1];
    }
    p->n_lines--;
}

void progress_line(struct arena *a, Board__ProgressRecord *p, int64_t wall_ns, const char *text)
{
    assert(p->n_lines <= PROGRESS_LINES_MAX);
    if (*p->end) {
        return;
    }
    if (p->n_lines == PROGRESS_LINES_MAX) {
        leave_one_out(a, p);
    }
    p->lines[p->n_lines++] = line_of(a, p->next++, wall_ns, text);
}

void progress_end(struct arena *a, Board__ProgressRecord *p, int64_t wall_ns, const char *end,
                  const char *error)
{
    assert(end[0]);
    if (!*p->end) {
        p->end = arena_strdup(a, end);
        p->ended_at = wall_ns;
        p->error = arena_strdup(a, error);
    }
}
