#include "rep/unit/hook_text.h"

#include <string.h>

static size_t without_blanks(const char *text)
{
    size_t size = strlen(text);
    while (size && strchr(" \t\n", text[size - 1])) {
        size--;
    }
    return size;
}

static size_t last_line_at(const char *text, size_t size)
{
    while (size && text[size - 1] != '\n') {
        size--;
    }
    return size;
}

const char *hook_end_text(struct arena *a, const char *how, const char *output)
{
    size_t size = without_blanks(output), at = last_line_at(output, size);
    size_t line = size - at < HOOK_LAST_LINE_MAX ? size - at : HOOK_LAST_LINE_MAX;
    return size ? arena_printf(a, "%.*s\n%s: %.*s", (int)size, output, how, (int)line, output + at)
                : how;
}

const char *hook_end_reason(const char *text)
{
    return text + last_line_at(text, strlen(text));
}
