#include "test/tool/page.h"

#include "common/base/bytes.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *page_read(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        return NULL;
    }
    SCOPED_BUF(text);
    char piece[4096];
    for (size_t n; (n = fread(piece, 1, sizeof(piece), f)) > 0;) {
        buf_append(&text, piece, n);
    }
    fclose(f);
    return strdup(buf_string(&text));
}

void page_equals(const char *path, const char *text, const char *command)
{
    char *there = page_read(path);
    if (!there) {
        fail_msg("%s is missing; the tests run from the top of the tree", path);
    }
    size_t line = 1, begin = 0, at = 0;
    for (; there[at] && there[at] == text[at]; at++) {
        if (there[at] == '\n') {
            line++;
            begin = at + 1;
        }
    }
    if (there[at] != text[at]) {
        char is[200], should[200];
        snprintf(is, sizeof(is), "%.*s", (int)strcspn(there + begin, "\n"), there + begin);
        snprintf(should, sizeof(should), "%.*s", (int)strcspn(text + begin, "\n"), text + begin);
        free(there);
        fail_msg("%s:%zu is\n    %s\nand should be\n    %s\n`%s` prints it again", path, line, is,
                 should, command);
    }
    free(there);
}
