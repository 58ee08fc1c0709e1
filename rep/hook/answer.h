/* What the rep answers to rep-hook, read: whatever it is, it is an answer or none. Pure. */
#pragma once

#include <stddef.h>

enum { HOOK_HEAD_MAX = 8192, HOOK_ENVIRONMENT_MAX = 4096 };

/* An answer in HTTP/1.1, all of it, with a zero byte behind: gives its status; the body is moved to
 * the front, with a zero byte behind, and `size` is the body's. -1: it is no whole answer. */
int hook_read_http(char *data, size_t *size);

/* What a run becomes; all of it borrows from the body. */
struct hook_answer {
    const char *token, *path, *script;
    char *environment[HOOK_ENVIRONMENT_MAX + 4]; /* and what is added to it */
    size_t count;
};

/* The body of an answer to `run`: words, each with a zero byte behind it, as has the body. -1: it
 * is malformed, or has more variables. */
int hook_read_words(struct hook_answer *ret, char *body, size_t size);
