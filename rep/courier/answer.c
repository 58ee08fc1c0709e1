#include "rep/courier/answer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* ---- writing ---- */

static void print_text(const char *text, struct buf *out)
{
    buf_append_string(out, "text ");
    for (const char *c = text; *c; c++) {
        buf_append(out, is_control(*c) ? " " : c, 1);
    }
    buf_append_string(out, "\n");
}

void answer_print(const struct courier_answer *answer, struct buf *out)
{
    if (answer->done) {
        assert(answer->digest[0] == '\0' || cache_digest_valid(answer->digest));
        assert(answer->size >= 0 && answer->moved >= 0 && answer->entries >= 0);
        buf_printf(out, "done\ndigest %s\nsize %lld\nmoved %lld\nentries %lld\n", answer->digest,
                   (long long)answer->size, (long long)answer->moved, (long long)answer->entries);
        print_text(answer->text, out);
        return;
    }
    assert(answer->code > 0 && answer->code < ERR_CODE_COUNT);
    buf_printf(out, "failed\ncode %d\n", (int)answer->code);
    print_text(answer->text, out);
}

/* ---- reading ---- */

/* The value of the next line, which must be "NAME VALUE"; NULL when it is not. It is cut off by a
 * zero in place of its line feed. */
static const char *value(char **at, const char *name)
{
    size_t n = strlen(name);
    char *line = *at, *end = strchr(line, '\n');
    if (!end || strncmp(line, name, n) != 0 || line[n] != ' ') {
        return NULL;
    }
    *end = '\0';
    *at = end + 1;
    return line + n + 1;
}

static bool number(char **at, const char *name, int64_t *ret)
{
    const char *text = value(at, name);
    size_t n = text ? strlen(text) : 0;
    if (n == 0 || n > 18 || strspn(text, "0123456789") != n || (text[0] == '0' && n > 1)) {
        return false;
    }
    *ret = 0;
    for (size_t i = 0; i < n; i++) {
        *ret = *ret * 10 + (text[i] - '0');
    }
    return true;
}

static bool text_read(char **at, char ret[], size_t size)
{
    const char *text = value(at, "text");
    size_t n = text ? strlen(text) : size;
    for (size_t i = 0; i < n && n < size; i++) {
        if (is_control(text[i])) {
            return false;
        }
    }
    if (n >= size) {
        return false;
    }
    memcpy(ret, text, n + 1);
    return **at == '\0';
}

static bool done_read(char *at, struct courier_answer *a)
{
    const char *digest = value(&at, "digest");
    if (!digest || (digest[0] && !cache_digest_valid(digest))) {
        return false;
    }
    snprintf(a->digest, sizeof(a->digest), "%s", digest);
    a->done = true;
    return number(&at, "size", &a->size) && number(&at, "moved", &a->moved) &&
           number(&at, "entries", &a->entries) && text_read(&at, a->text, sizeof(a->text));
}

static bool failed_read(char *at, struct courier_answer *a)
{
    int64_t code;
    if (!number(&at, "code", &code) || code < 1 || code >= ERR_CODE_COUNT) {
        return false;
    }
    a->code = (enum err_code)code;
    return text_read(&at, a->text, sizeof(a->text));
}

int answer_parse(struct bytes file, struct courier_answer *ret, struct err *err)
{
    char text[COURIER_ANSWER_BYTES + 1];
    struct courier_answer a = {0};
    bool good = false;
    if (file.size > 0 && file.size < sizeof(text) && !memchr(file.data, '\0', file.size)) {
        memcpy(text, file.data, file.size);
        text[file.size] = '\0';
        good = strncmp(text, "done\n", 5) == 0     ? done_read(text + 5, &a)
               : strncmp(text, "failed\n", 7) == 0 ? failed_read(text + 7, &a)
                                                   : false;
    }
    if (!good) {
        return err_set(err, ERR_INVALID, "the answer is not what a courier writes");
    }
    *ret = a;
    return 0;
}
