#include "test/chaos/truth/proc_text.h"

#include <stdlib.h>
#include <string.h>

const char *environ_word(struct bytes variables, const char *name)
{
    const char *at = (const char *)variables.data, *end = at + variables.size;
    size_t size = strlen(name);
    while (at < end) {
        if (strncmp(at, name, size) == 0 && at[size] == '=') {
            return at + size + 1;
        }
        at += strnlen(at, (size_t)(end - at)) + 1;
    }
    return NULL;
}

/* Behind the command's name, which may hold blanks and brackets: the third field. */
static const char *third(const char *stat)
{
    const char *bracket = strrchr(stat, ')');
    return bracket && bracket[1] == ' ' ? bracket + 2 : NULL;
}

int64_t stat_begun(const char *stat)
{
    const char *at = third(stat);
    for (int field = 3; at && field < 22; field++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at && *at >= '0' && *at <= '9' ? strtoll(at, NULL, 10) : -1;
}

bool stat_has_ended(const char *stat)
{
    const char *at = third(stat);
    return !at || *at == 'Z' || *at == 'X';
}

bool status_is_first(const char *status)
{
    const char *line = strstr(status, "\nNSpid:");
    int count = 0;
    long last = 0;
    for (char *at = line ? (char *)line + 7 : NULL, *end; at; at = end, count++) {
        long n = strtol(at, &end, 10);
        if (end == at || *at == '\n') {
            break;
        }
        last = n;
        if (*end == '\n' || *end == 0) {
            count++;
            break;
        }
    }
    return count > 1 && last == 1;
}
