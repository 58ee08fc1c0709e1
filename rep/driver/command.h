/* The words of a command line and of its environment, in an arena of their own. Pure. */
#pragma once

#include "common/base/arena.h"

#include <stddef.h>

struct words {
    const char **list; /* NULL-terminated once there is one */
    size_t count, capacity;
};

struct command {
    struct arena arena;
    struct words argv;
    struct words env; /* none: the caller's own */
};

void command_init(struct command *c);
void command_done(struct command *c);

/* Appends one word; the word is copied. */
void words_add(struct command *c, struct words *w, const char *word);
void command_add(struct command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
