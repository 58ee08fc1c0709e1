/* A tool: what the rep answers is printed. */
#include "rep/hook/hook_program.h"

#include <stdio.h>
#include <stdlib.h>

static int print(FILE *to, const char *body, size_t size)
{
    if (fwrite(body, 1, size, to) != size || fflush(to) != 0) {
        hook_say("the answer could not be written");
        return -1;
    }
    return 0;
}

static int told(int status, const char *body, size_t size)
{
    if (status == 200) {
        return print(stdout, body, size) < 0 ? HOOK_REFUSED : HOOK_DONE;
    }
    print(stderr, body, size);
    return status == 400 ? HOOK_USAGE : HOOK_REFUSED;
}

int hook_tool(int count, char *const *words)
{
    const char *token = getenv(HOOK_TOKEN_VARIABLE);
    struct hook_words asked = {0};
    char *body;
    size_t size;
    if (!token || !*token) {
        hook_say("%s works in a hook only", words[0]);
        return HOOK_REFUSED;
    }
    int r = hook_words_add(&asked, token);
    for (int i = 0; r == 0 && i < count; i++) {
        r = hook_words_add(&asked, words[i]);
    }
    if (r < 0) {
        hook_say("%s: its arguments have more than %d bytes", words[0], HOOK_BODY_MAX);
        hook_words_done(&asked);
        return HOOK_USAGE;
    }
    int status = hook_ask("/v1/hooks/tool", &asked, &body, &size);
    hook_words_done(&asked);
    r = status < 0 ? HOOK_REFUSED : told(status, body, size);
    free(body);
    return r;
}
