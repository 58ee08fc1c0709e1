#include "converger/resolver/git_text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { HASH_BYTES = 40, LINE_BYTES_MAX = 255, COMPLAINT_MAX = 160 };

static struct bytes take_line(struct bytes *text, char end)
{
    const uint8_t *at = text->size ? memchr(text->data, end, text->size) : NULL;
    size_t size = at ? (size_t)(at - text->data) : text->size;
    struct bytes line = {text->data, size};
    size_t taken = size + (at != NULL);
    *text = (struct bytes){text->data + taken, text->size - taken};
    return line;
}

static bool is_hash(const char *text)
{
    return strspn(text, "0123456789abcdef") == HASH_BYTES;
}

int git_text_blob(struct arena *a, struct bytes output, const char **ret_blob, struct err *err)
{
    char mode[8] = "", type[12] = "", hash[72] = "";
    const char *text = arena_strndup(a, output.size ? (const char *)output.data : "", output.size);
    if (sscanf(text, "%7s %11s %71s", mode, type, hash) != 3) {
        return err_set(err, ERR_NOT_FOUND, "there is no such file");
    }
    if (strcmp(mode, "120000") == 0) {
        return err_set(err, ERR_INVALID, "it is a symbolic link, which is not followed");
    }
    if (strcmp(type, "blob") != 0) {
        return err_set(err, ERR_INVALID, "it is a %s, not a file",
                       strcmp(type, "tree") == 0 ? "directory" : "submodule");
    }
    *ret_blob = arena_strdup(a, hash);
    return is_hash(hash) && !hash[HASH_BYTES]
               ? 0
               : err_set(err, ERR_INVALID, "git names it by no hash");
}

size_t git_text_lines(struct arena *a, struct bytes output, size_t max, const char ***ret_lines)
{
    size_t count = 0, found = 0;
    for (struct bytes rest = output; rest.size > 0 && found < max;) {
        found += take_line(&rest, '\n').size > 0;
    }
    const char **lines = ARENA_ARRAY(a, found + 1, const char *);
    while (output.size > 0 && count < found) {
        struct bytes line = take_line(&output, '\n');
        if (line.size > 0 && line.size <= LINE_BYTES_MAX) {
            lines[count++] = arena_strndup(a, (const char *)line.data, line.size);
        }
    }
    assert(count <= max);
    *ret_lines = lines;
    return count;
}

const char *git_text_commit(struct arena *a, struct bytes output)
{
    struct bytes line = take_line(&output, '\n');
    const char *text = arena_strndup(a, line.size ? (const char *)line.data : "", line.size);
    return is_hash(text) && !text[HASH_BYTES] ? text : NULL;
}

static const char *tame(struct arena *a, struct bytes line)
{
    size_t size = line.size < COMPLAINT_MAX ? line.size : COMPLAINT_MAX;
    char *kept = arena_strndup(a, (const char *)line.data, size);
    for (size_t i = 0; i < size; i++) {
        bool plain = kept[i] >= ' ' && kept[i] <= '~';
        kept[i] = plain ? kept[i] : '?';
    }
    return kept;
}

const char *git_text_complaint(struct arena *a, struct bytes complaint)
{
    static const char fatal[] = "fatal: ";
    const size_t mark = sizeof(fatal) - 1;
    const char *best = "";
    while (complaint.size > 0) {
        struct bytes line = take_line(&complaint, '\n');
        if (line.size >= mark && memcmp(line.data, fatal, mark) == 0) {
            const char *said = tame(a, (struct bytes){line.data + mark, line.size - mark});
            /* Why it could not was said by ssh, in the line before. */
            return *best && strstr(said, "Could not read from remote repository") ? best : said;
        }
        best = line.size > 0 ? tame(a, line) : best;
    }
    return best;
}
