#include "rep/hook/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The value of a header of the head, which ends with a zero byte; NULL = it has none. */
static const char *header(const char *head, const char *name)
{
    size_t size = strlen(name);
    for (const char *line = strchr(head, '\n'); line; line = strchr(line, '\n')) {
        line++;
        if (strncasecmp(line, name, size) == 0 && line[size] == ':') {
            return line + size + 1 + strspn(line + size + 1, " \t");
        }
    }
    return NULL;
}

int hook_read_http(char *data, size_t *size)
{
    char *end = strstr(data, "\r\n\r\n");
    int status = 0;
    if (!end || end - data > HOOK_HEAD_MAX || sscanf(data, "HTTP/1.%*1[01] %3d", &status) != 1) {
        return -1;
    }
    *end = '\0';
    const char *length = header(data, "Content-Length");
    size_t head = (size_t)(end - data) + 4, body = *size - head;
    char *after = NULL;
    unsigned long long wanted = length ? strtoull(length, &after, 10) : 0;
    if (!length || after == length || wanted > body) {
        return -1; /* it broke off */
    }
    memmove(data, data + head, (size_t)wanted);
    data[wanted] = '\0';
    *size = (size_t)wanted;
    return status;
}

/* ---- What is to run -------------------------------------------------------------------------- */

static char *next_word(char **at, const char *end)
{
    char *word = *at;
    if (word >= end) {
        return NULL;
    }
    *at = word + strlen(word) + 1;
    return word;
}

int hook_read_words(struct hook_answer *ret, char *body, size_t size)
{
    char *at = body, *word;
    const char *end = body + size;
    ret->token = next_word(&at, end);
    ret->path = next_word(&at, end);
    ret->script = next_word(&at, end);
    ret->count = 0;
    while ((word = next_word(&at, end)) && ret->count < HOOK_ENVIRONMENT_MAX) {
        ret->environment[ret->count++] = word;
    }
    return ret->script && !word ? 0 : -1;
}
