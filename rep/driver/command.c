/* Command lines. */
#include "rep/driver/command.h"

#include <assert.h>
#include <string.h>

void command_init(struct command *c)
{
    *c = (struct command){0};
    arena_init(&c->arena);
}

void command_done(struct command *c)
{
    arena_done(&c->arena);
    *c = (struct command){0};
}

void words_add(struct command *c, struct words *w, const char *word)
{
    if (w->count + 1 >= w->capacity) {
        size_t capacity = w->capacity ? 2 * w->capacity : 32;
        const char **list = ARENA_ARRAY(&c->arena, capacity, const char *);
        if (w->count) {
            memcpy(list, w->list, w->count * sizeof(*list));
        }
        w->list = list;
        w->capacity = capacity;
    }
    assert(w->count + 1 < w->capacity);
    w->list[w->count++] = arena_strdup(&c->arena, word);
    w->list[w->count] = NULL;
}

void command_add(struct command *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    words_add(c, &c->argv, arena_vprintf(&c->arena, format, args));
    va_end(args);
}
