/* rep-hook: the program that hooks of units run by, and the tools that they call (docs/units.md,
 * Tools). It is bound into the containers of units with the socket of their rep.
 *
 *   rep-hook run N         becomes the hook of this run: asks the rep for it by the unit's token
 *   rep-hook TOOL WORD...  asks the rep by the hook's token and prints the answer; so does a link
 * to it that bears the tool's name
 *
 * It finds both in the directory that CORKBOARD_DIR names, or HOOK_DIR: `token` (the unit's),
 * `socket/rep`, `tools/` (itself and a link a tool), `hooks/` (made here: the script that runs).
 * What the rep answers is final, but 503; when there is no answer it is asked again for
 * HOOK_PATIENCE_S. Exit statuses: 0; 1 refused, or not answered; 2 used wrongly; of run those of
 * the hook, 126 where it cannot be run. */
#pragma once

#include <stddef.h>

#define HOOK_DIR "/.corkboard"
#define HOOK_DIR_VARIABLE "CORKBOARD_DIR"
#define HOOK_TOKEN_VARIABLE "CORKBOARD_TOKEN"

enum {
    HOOK_PATIENCE_S = 30,
    HOOK_PATH_BYTES = 4096,
    HOOK_TOKEN_BYTES = 256,
    HOOK_BODY_MAX = 1024 * 1024,       /* of what is asked */
    HOOK_ANSWER_MAX = 4 * 1024 * 1024, /* a script, an environment; settings of 4,096 members */
};

enum { HOOK_DONE, HOOK_REFUSED, HOOK_USAGE, HOOK_CANNOT_RUN = 126 };

/* Words that are asked: each with a zero byte behind it. */
struct hook_words {
    char *data; /* owned */
    size_t size;
};

/* -1: they would be more than HOOK_BODY_MAX. */
int hook_words_add(struct hook_words *w, const char *word);
void hook_words_done(struct hook_words *w);

/* Directory/name; -1: it is too long, which is said. */
int hook_path(char path[HOOK_PATH_BYTES], const char *name);

/* POSTs the words. Gives the status of HTTP and the body, which the caller frees and which has a
 * zero byte behind it; -1: nobody answered, which is said. */
int hook_ask(const char *path, const struct hook_words *words, char **ret_body, size_t *ret_size);

/* To standard error, with a line feed, behind "rep-hook: ". */
void hook_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The exit status of the program. */
int hook_run(const char *run);
int hook_tool(int count, char *const *words);
